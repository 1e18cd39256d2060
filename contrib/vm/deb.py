"""The Debian package: built, built again and compared, looked at by lintian, and
installed and purged by piuparts in a Debian that has nothing else."""
import hashlib
import os
import shutil
import subprocess
import time

import foreign
import image
from image import TOP, Failed, run, say

SUITE = image.SUITES["12"]
OPTIONS = "nocheck parallel=%d" % os.cpu_count()


def source_files():
    """The files of a clean checkout, and what is new in this one."""
    out = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-coz",
                          "--exclude-standard"], cwd=TOP, check=True,
                         stdout=subprocess.PIPE).stdout
    return [f for f in out.split(b"\0")
            if f and os.path.lexists(os.path.join(TOP.encode(), f))]


def unpack(work, log, name):
    """A clean copy of the source; its directory."""
    source = os.path.join(work, name)
    os.makedirs(source)
    run(["tar", "-c", "-f", work + "/source.tar", "--null", "-T", "-"], 60,
        log, cwd=TOP, input=b"\0".join(source_files()) + b"\0")
    run(["tar", "-x", "-f", work + "/source.tar", "-C", source], 60, log)
    return source


def built(source, begin):
    """The package that a build left beside its source."""
    debs = [f for f in os.listdir(os.path.dirname(source))
            if f.startswith("myelin_") and f.endswith(".deb")]
    if len(debs) != 1:
        raise Failed("the build left %s" % debs)
    say("package built: %.0f s" % (time.monotonic() - begin))
    return os.path.join(os.path.dirname(source), debs[0])


def build(work, log, name="package/myelin", **more):
    """Builds the Debian package from a clean copy; returns its path."""
    begin = time.monotonic()
    source = unpack(work, log, name)
    env = dict(os.environ, DEB_BUILD_OPTIONS=OPTIONS,
               **{"LC_ALL": "C.UTF-8", **more})
    run(["dpkg-buildpackage", "-us", "-uc", "-b"], 900, log, cwd=source,
        env=env)
    return built(source, begin)


def build_foreign(cross, cache, machine, work, log):
    """The same for another machine, in a root that has its compiler."""
    begin = time.monotonic()
    source = unpack(work, log, "package/myelin")
    run(foreign.inside(cross, cache, source) + [
        "DEB_BUILD_OPTIONS=" + OPTIONS, "dpkg-buildpackage", "-us", "-uc",
        "-b", "-a" + machine, "-Pcross,nocheck"], 1800, log)
    return built(source, begin)


def digests(package):
    """Of a package and of its debugging symbols."""
    found = {}
    directory = os.path.dirname(package)
    for name in os.listdir(directory):
        if name.endswith(".deb"):
            with open(os.path.join(directory, name), "rb") as f:
                found[name] = hashlib.sha256(f.read()).hexdigest()
    return found


def differs(package, _cache, work, log):
    """Builds it again: elsewhere, later, in another zone and language, for
    another user's umask.  1 if a byte is another one."""
    old = os.umask(0o027)
    try:
        again = build(work, log, "another/place/for/myelin-again",
                      TZ="Pacific/Kiritimati", LC_ALL="C",
                      HOME="/nonexistent", USER="somebody")
    finally:
        os.umask(old)
    first, second = digests(package), digests(again)
    shutil.rmtree(os.path.join(work, "another"))
    if first == second and len(first) == 2:
        return 0
    print("failed: built twice, the package is not the same:\n    %s\n    %s"
          % (first, second))
    return 1


def lint(package, _cache, _work, _log):
    """lintian's errors and warnings: 1 if there are some."""
    begin = time.monotonic()
    directory = os.path.dirname(package)
    changes = [f for f in os.listdir(directory) if f.endswith(".changes")][0]
    p = subprocess.run(["lintian", "--allow-root", "--fail-on",
                        "error,warning", changes], cwd=directory,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       timeout=300)
    say("lintian: exit status %d, %.0f s" % (p.returncode, time.monotonic() -
                                             begin))
    if p.returncode == 0:
        return 0
    print("failed: lintian\n    " + p.stdout.decode(errors="replace")
          .strip().replace("\n", "\n    "))
    return 1


def bare(cache, log):
    """A Debian with what is essential, apt, and systemd, which the package
    would bring and which leaves directories of its own; as an archive."""
    lines = image.sources(SUITE)
    include = "--include=systemd"
    path = os.path.join(cache, "bare-%s.tar.gz" % hashlib.sha256(
        "\n".join(lines + [include]).encode()).hexdigest()[:16])
    if os.path.exists(path) and \
            time.time() - os.stat(path).st_mtime < image.DAYS * 86400:
        return path
    part = os.path.join(cache, "bare-part-%d.tar.gz" % os.getpid())
    try:
        run(["mmdebstrap", "--mode=root", "--variant=minbase", include] +
            image.proxy() + [SUITE, part, "-"], 900, log,
            input="\n".join(lines).encode() + b"\n")
        os.rename(part, path)
    finally:
        if os.path.exists(part):
            os.unlink(part)
    return path


def leaves(package, cache, work, log):
    """piuparts: 1 if the package leaves something when it is purged, or its
    scripts fail where no service runs."""
    begin = time.monotonic()
    base = bare(cache, log)
    mirrors = [a for line in image.sources(SUITE) if line.split()[2] == SUITE
               for a in ("-m", line.split()[1] + " main")]
    try:
        run(["piuparts", "-b", base, "-d", SUITE] + mirrors +
            ["--no-eatmydata", "--scriptsdir", "/etc/piuparts/scripts", "-t",
             work, package], 900, log, env=dict(os.environ, LC_ALL="C.UTF-8"))
    except Failed as e:
        print("failed: piuparts: %s" % e)
        return 1
    say("piuparts: %.0f s" % (time.monotonic() - begin))
    return 0
