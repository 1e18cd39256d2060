"""The guest's root image: a Debian that differs from a stock one only in the
packages the tests need and one unit.  Made once, then cached."""
import glob
import hashlib
import lzma
import os
import shlex
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SUITES = {"12": "bookworm", "13": "trixie"}
DAYS = 30		# an image older than that is made anew
SIZE = "6G"		# sparse

# systemd as a stock installation has it, what the package depends on, and
# what the tests run.  On the host's own machine what a build needs is added:
# contrib/try is a test.
PACKAGES = """systemd systemd-sysv libpam-systemd dbus udev kmod login passwd
    procps apparmor libevent-core-2.1-7 libjansson4 libseccomp2 libcap2 libbsd0
    libmd0 libsqlite3-0 libssl3 libvectorscan5 python3 git make gcc libcap2-bin
    ca-certificates patch tmux less adduser e2fsprogs sudo curl
    autopkgtest""".split()

# What else test programs that were built elsewhere are linked with.
LIBRARIES = """libc6-dev libc-ares2 libidn2-0 libnettle8 libpcre2-8-0 ripgrep
    libsubunit0""".split()

# The package of the kernel.
KERNELS = {"amd64": "linux-image-cloud-amd64",
           "arm64": "linux-image-cloud-arm64"}

# Everything that a root disk and the report's port need; modules.dep adds
# what these depend on.
MODULES = ("virtio_pci", "virtio_blk", "virtio_console", "virtio_rng")

OPTIONS = ['--aptopt=Acquire::Languages "none"',
           '--aptopt=APT::Install-Recommends "false"'] + [
               "--dpkgopt=path-exclude=/usr/share/%s/*" % d
               for d in ("doc", "man", "locale", "info")]

KERNEL = r"""
cd /var/tmp
p=$(apt-cache depends %s |
    sed -n 's/.*Depends: \(linux-image-6[^ ]*\)$/\1/p')
apt-get -q -o APT::Sandbox::User=root download "$p"
mv "$p"_*.deb kernel.deb
"""


class Failed(Exception):
    pass


def say(text):
    print("vm: " + text, flush=True)


def run(argv, seconds, log, **more):
    """Runs a program to its end; raises Failed with the log's end."""
    with open(log, "ab") as f:
        f.write(("+ %s\n" % shlex.join(argv)).encode())
        f.flush()
        try:
            status = subprocess.run(argv, stdout=f, stderr=f, timeout=seconds,
                                    **more).returncode
        except subprocess.TimeoutExpired:
            status = "none within %d s" % seconds
    if status != 0:
        with open(log, errors="replace") as f:
            tail = "".join(f.readlines()[-20:])
        raise Failed("%s: exit status %s\n%s" % (argv[0], status, tail))


def own():
    """Debian's name for this machine."""
    return subprocess.run(["dpkg", "--print-architecture"], check=True,
                          stdout=subprocess.PIPE).stdout.decode().strip()


def build_packages():
    """BUILD_PACKAGES of contrib/lib.sh."""
    out = subprocess.run(
        ["sh", "-c", ". contrib/lib.sh && echo $BUILD_PACKAGES"], cwd=TOP,
        stdout=subprocess.PIPE, check=True).stdout.decode()
    return out.split()


def sources(suite):
    """The host's own Debian mirrors, as lines of a sources.list."""
    out = subprocess.run(
        ["apt-get", "indextargets", "--format",
         "$(ORIGIN)|$(CODENAME)|$(SITE)|$(RELEASE)|$(COMPONENT)",
         "Created-By: Packages"], stdout=subprocess.PIPE,
        check=True).stdout.decode()
    lines = set()
    for line in out.splitlines():
        origin, codename, site, release, component = line.split("|")
        own = codename.split("-")[0]
        if origin == "Debian" and own in SUITES.values() and \
                component == "main":
            # another release is where this one is
            lines.add("deb %s %s main" % (site, release.replace(own, suite)))
    if not lines:
        raise Failed("apt has no source of Debian")
    return sorted(lines)


def proxy():
    out = subprocess.run(["apt-config", "shell", "P", "Acquire::http::Proxy"],
                         stdout=subprocess.PIPE).stdout.decode().strip()
    if not out:
        return []
    return ["--aptopt=Acquire::http::Proxy %s;" %
            out.partition("=")[2].replace("'", '"')]


def names_in(suite, packages):
    """Some libraries got another name when time_t became wider."""
    wider = {"libevent-core-2.1-7", "libssl3"} if suite == "trixie" else set()
    return [p + "t64" if p in wider else p for p in packages]


def recipe(suite, machine, packages):
    """A name for all that decides what an image holds."""
    h = hashlib.sha256()
    for name in ("image.py", "init.c", "guest/bootstrap",
                 "guest/vm-tests.service"):
        with open(os.path.join(HERE, name), "rb") as f:
            h.update(f.read())
    h.update("\n".join([machine] + packages + sources(suite)).encode())
    return h.hexdigest()[:16]


def bootstrap(root, suite, machine, packages, log):
    q = shlex.quote
    hook = ["--customize-hook=chroot \"$1\" sh -ec %s" %
            q(KERNEL % KERNELS[machine]),
            # /lib is a link in the root, a directory in the package.
            "--customize-hook=dpkg-deb --fsys-tarfile "
            "\"$1/var/tmp/kernel.deb\" | tar -x -C \"$1\" "
            "--keep-directory-symlink",
            "--customize-hook=rm \"$1/var/tmp/kernel.deb\"",
            "--customize-hook=chroot \"$1\" depmod "
            "\"$(ls \"$1/lib/modules\")\"",
            "--customize-hook=install -m 755 %s "
            "\"$1/usr/local/sbin/vm-tests\"" %
            q(os.path.join(HERE, "guest/bootstrap")),
            "--customize-hook=install -m 644 %s \"$1/etc/systemd/system/\"" %
            q(os.path.join(HERE, "guest/vm-tests.service")),
            "--customize-hook=chroot \"$1\" systemctl enable "
            "vm-tests.service",
            "--customize-hook=echo myelin-vm >\"$1/etc/hostname\""]
    foreign = [] if machine == own() else [
        sys.executable, "-B", os.path.join(HERE, "foreign.py"), machine]
    run(foreign + ["mmdebstrap", "--mode=root", "--variant=minbase",
                   "--architectures=" + machine] + OPTIONS + proxy() + hook +
        ["--include=" + ",".join(packages), suite, root, "-"],
        2400 if foreign else 900, log,
        input="\n".join(sources(suite)).encode() + b"\n")


def module_files(root, version):
    """Files of MODULES and what they depend on, in an order to load them."""
    base = os.path.join(root, "lib/modules", version)
    needs, names = {}, {}
    with open(os.path.join(base, "modules.dep")) as f:
        for line in f:
            path, _, rest = line.partition(":")
            needs[path] = rest.split()
            names[os.path.basename(path).split(".")[0]] = path
    order = []

    def add(path):
        # modules.dep lists what must be loaded first last.
        for need in reversed(needs[path]):
            if need not in order:
                add(need)
        if path not in order:
            order.append(path)

    with open(os.path.join(base, "modules.builtin")) as f:
        builtin = {os.path.basename(l.strip()).split(".")[0] for l in f}
    for name in MODULES:
        if name.replace("_", "-") in names:
            name = name.replace("_", "-")
        if name in names:
            add(names[name])
        elif name not in builtin and name.replace("_", "-") not in builtin:
            raise Failed("the kernel has no module %s" % name)
    return [os.path.join(base, p) for p in order]


def cpio_entry(name, mode, data, number):
    head = "070701" + "".join("%08X" % v for v in (
        number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0))
    raw = head.encode() + name.encode() + b"\0"
    raw += b"\0" * (-len(raw) % 4)
    return raw + data + b"\0" * (-len(data) % 4)


def module_of(path):
    """A module as the kernel takes it, and its name."""
    name = os.path.basename(path)
    if name.endswith(".xz"):
        with lzma.open(path) as f:
            return name[:-len(".xz")], f.read()
    with open(path, "rb") as f:
        return name, f.read()


def write_initrd(path, init, paths):
    """A cpio archive (newc), which needs no program to write."""
    modules = [module_of(p) for p in paths]
    order = "\n".join(name for name, _ in modules).encode()
    entries = [("dev", 0o40755, b""), ("modules", 0o40755, b"")]
    with open(init, "rb") as f:
        entries.append(("init", 0o100755, f.read()))
    entries.append(("modules/order", 0o100644, order))
    for name, data in modules:
        entries.append(("modules/" + name, 0o100644, data))
    with open(path, "wb") as f:
        for number, (name, mode, data) in enumerate(entries, 1):
            f.write(cpio_entry(name, mode, data, number))
        f.write(cpio_entry("TRAILER!!!", 0, b"", 0))


def make(directory, suite, machine, compiler, packages, log):
    """Fills directory with root.img, vmlinuz and initrd."""
    root = os.path.join(directory, "root")
    os.mkdir(root)
    os.chmod(root, 0o755)
    begin = time.monotonic()
    bootstrap(root, suite, machine, packages, log)
    say("root made by mmdebstrap: %.0f s" % (time.monotonic() - begin))
    kernel = glob.glob(os.path.join(root, "boot/vmlinuz-*"))[0]
    shutil.copy(kernel, os.path.join(directory, "vmlinuz"))
    version = os.path.basename(kernel)[len("vmlinuz-"):]
    init = os.path.join(directory, "init")
    run(compiler + ["-std=gnu17", "-O2", "-Wall", "-Werror", "-static", "-o",
                    init, os.path.join(HERE, "init.c")], 60, log)
    write_initrd(os.path.join(directory, "initrd"), init,
                 module_files(root, version))
    begin = time.monotonic()
    image = os.path.join(directory, "root.img")
    # with a journal: the power is cut while it is in use
    run(["mke2fs", "-q", "-t", "ext4", "-m", "0", "-L", "myelin-vm", "-d",
         root, image, SIZE], 300, log)
    shutil.rmtree(root)
    say("image written: %.0f s" % (time.monotonic() - begin))


def get(cache, log, release, machine, compiler):
    """The directory of an image that is up to date, made if need be; compiler
    is how gcc for machine is called."""
    suite = SUITES[release]
    more = build_packages() if machine == own() else LIBRARIES
    packages = names_in(suite, sorted(set(PACKAGES + more)))
    name = "image-%s-%s-" % (suite, machine)
    wanted = os.path.join(cache, name + recipe(suite, machine, packages))
    if os.path.exists(os.path.join(wanted, "root.img")) and \
            time.time() - os.stat(wanted).st_mtime < DAYS * 86400:
        return wanted
    for old in glob.glob(os.path.join(cache, name + "*")):
        shutil.rmtree(old)
    part = os.path.join(cache, "image-part-%d" % os.getpid())
    os.mkdir(part)
    try:
        make(part, suite, machine, compiler, packages, log)
        os.rename(part, wanted)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return wanted
