/*
 * Judging one command: its program by the table, its redirects, its
 * assignments.
 */
#include <string.h>

#include "judge_int.h"
#include "../shell/names.h"
#include "options.h"
#include "../rules.h"
#include "zone.h"

/* ---- the table ---- */

/* A program with a handler, or of one class whatever its words. */
static const struct program_row {
	const char	*name;
	handler		*fn;
	enum class_id	 id;
} programs[] = {
	{ "rm", handle_rm, 0 }, { "unlink", handle_rm, 0 },
	{ "srm", handle_rm, 0 }, { "trash", handle_rm, 0 },
	{ "grm", handle_rm, 0 }, { "rmdir", handle_rmdir, 0 },
	{ "shred", handle_shred, 0 }, { "wipe", handle_shred, 0 },
	{ "mv", handle_mv, 0 }, { "gmv", handle_mv, 0 },
	{ "cp", handle_cp, 0 }, { "gcp", handle_cp, 0 },
	{ "ln", handle_ln, 0 }, { "link", handle_ln, 0 },
	{ "install", handle_install, 0 },
	{ "mkdir", handle_write_all, 0 }, { "touch", handle_write_all, 0 },
	{ "mkfifo", handle_write_all, 0 }, { "mknod", handle_write_all, 0 },
	{ "chmod", handle_mode, 0 }, { "chown", handle_mode, 0 },
	{ "chgrp", handle_mode, 0 }, { "setfacl", handle_mode, 0 },
	{ "chattr", handle_mode, 0 }, { "truncate", handle_truncate, 0 },
	{ "fallocate", handle_truncate, 0 },
	{ "tee", handle_tee, 0 }, { "sponge", handle_tee, 0 },
	{ "dd", handle_dd, 0 }, { "dcfldd", handle_dd, 0 },
	{ "rsync", handle_rsync, 0 }, { "patch", handle_patch, 0 },
	{ "split", handle_code_options, 0 }, { "csplit", NULL, CLASS_MUTATE },
	{ "mktemp", handle_mktemp, 0 }, { "uniq", handle_second, 0 },
	{ "xxd", handle_second, 0 },
	{ "find", handle_find, 0 }, { "gfind", handle_find, 0 },
	{ "fd", handle_fd, 0 }, { "fdfind", handle_fd, 0 },
	{ "xargs", handle_xargs, 0 }, { "gxargs", handle_xargs, 0 },
	{ "parallel", handle_parallel, 0 },
	/* disks */
	{ "mkswap", handle_mkfs, 0 }, { "mke2fs", handle_mkfs, 0 },
	{ "mkfs", handle_mkfs, 0 }, { "mkdosfs", handle_mkfs, 0 },
	{ "mkntfs", handle_mkfs, 0 },
	{ "wipefs", handle_partition, 0 }, { "fdisk", handle_partition, 0 },
	{ "sfdisk", handle_partition, 0 }, { "cfdisk", handle_partition, 0 },
	{ "parted", handle_partition, 0 }, { "sgdisk", handle_partition, 0 },
	{ "gdisk", handle_partition, 0 }, { "hdparm", handle_partition, 0 },
	{ "badblocks", handle_partition, 0 }, { "nvme", handle_partition, 0 },
	{ "cryptsetup", handle_partition, 0 },
	{ "mdadm", handle_partition, 0 },
	{ "blkdiscard", handle_disk_tool, 0 },
	{ "sg_format", handle_disk_tool, 0 },
	{ "lvremove", NULL, HARD_SNAPSHOT }, { "vgremove", NULL,
	    HARD_SNAPSHOT },
	{ "pvremove", NULL, HARD_SNAPSHOT },
	{ "lvcreate", NULL, CLASS_ELEVATED },
	{ "lvextend", NULL, CLASS_ELEVATED },
	{ "lvresize", NULL, CLASS_ELEVATED },
	{ "lvreduce", NULL, CLASS_ELEVATED },
	{ "vgcreate", NULL, CLASS_ELEVATED },
	{ "vgextend", NULL, CLASS_ELEVATED },
	{ "pvcreate", NULL, HARD_DISK },
	{ "resize2fs", NULL, CLASS_ELEVATED },
	{ "e2fsck", NULL, CLASS_ELEVATED }, { "fsck", NULL, CLASS_ELEVATED },
	{ "fsfreeze", NULL, CLASS_ELEVATED },
	{ "fstrim", NULL, CLASS_ELEVATED },
	/* booting */
	{ "grub-install", NULL, HARD_BOOT }, { "grub2-install", NULL,
	    HARD_BOOT },
	{ "update-grub", NULL, HARD_BOOT }, { "update-grub2", NULL,
	    HARD_BOOT },
	{ "update-initramfs", NULL, HARD_BOOT },
	{ "dracut", NULL, HARD_BOOT }, { "mkinitcpio", NULL, HARD_BOOT },
	{ "kernel-install", NULL, HARD_BOOT },
	{ "lilo", NULL, HARD_BOOT }, { "extlinux", NULL, HARD_BOOT },
	{ "kexec", NULL, HARD_KERNEL },
	/* accounts */
	{ "chpasswd", NULL, HARD_ACCOUNT }, { "newusers", NULL,
	    HARD_ACCOUNT },
	{ "chgpasswd", NULL, HARD_ACCOUNT },
	{ "useradd", NULL, HARD_ACCOUNT }, { "usermod", NULL, HARD_ACCOUNT },
	{ "userdel", NULL, HARD_ACCOUNT }, { "adduser", NULL, HARD_ACCOUNT },
	{ "addgroup", NULL, HARD_ACCOUNT }, { "deluser", NULL,
	    HARD_ACCOUNT },
	{ "delgroup", NULL, HARD_ACCOUNT }, { "groupadd", NULL,
	    HARD_ACCOUNT },
	{ "groupmod", NULL, HARD_ACCOUNT }, { "groupdel", NULL,
	    HARD_ACCOUNT },
	{ "gpasswd", NULL, HARD_ACCOUNT }, { "chsh", NULL, HARD_ACCOUNT },
	{ "chfn", NULL, HARD_ACCOUNT }, { "visudo", NULL, HARD_ACCOUNT },
	{ "vipw", NULL, HARD_ACCOUNT }, { "vigr", NULL, HARD_ACCOUNT },
	{ "pwconv", NULL, HARD_ACCOUNT }, { "pwunconv", NULL,
	    HARD_ACCOUNT },
	/* the host */
	{ "umount", NULL, CLASS_ELEVATED },
	{ "swapoff", NULL, CLASS_ELEVATED },
	{ "modprobe", NULL, CLASS_ELEVATED },
	{ "insmod", NULL, CLASS_ELEVATED }, { "rmmod", NULL,
	    CLASS_ELEVATED },
	{ "depmod", NULL, CLASS_ELEVATED },
	{ "ifup", NULL, CLASS_ELEVATED }, { "ifdown", NULL, CLASS_ELEVATED },
	{ "dhclient", NULL, CLASS_ELEVATED }, { "brctl", NULL,
	    CLASS_ELEVATED },
	{ "iptables-restore", NULL, CLASS_ELEVATED },
	{ "dpkg-reconfigure", NULL, CLASS_ELEVATED },
	{ "shutdown", NULL, CLASS_ELEVATED }, { "reboot", NULL,
	    CLASS_ELEVATED },
	{ "poweroff", NULL, CLASS_ELEVATED }, { "halt", NULL,
	    CLASS_ELEVATED },
	{ "init", NULL, CLASS_ELEVATED }, { "telinit", NULL,
	    CLASS_ELEVATED },
	{ "at", handle_at, 0 }, { "batch", handle_at, 0 },
	{ "update-rc.d", NULL, CLASS_ELEVATED },
	{ "setenforce", NULL,
	    CLASS_ELEVATED },
	{ "setcap", NULL,
	    CLASS_ELEVATED },
	{ "aa-enforce", NULL, CLASS_ELEVATED }, { "aa-complain", NULL,
	    CLASS_ELEVATED },
	{ "aa-disable", NULL, CLASS_ELEVATED },
	{ "apparmor_parser", NULL, CLASS_ELEVATED },
	{ "pw", NULL, CLASS_ELEVATED }, { "launchctl", NULL,
	    CLASS_ELEVATED },
	{ "tcpdump", handle_capture, 0 }, { "tshark", NULL,
	    CLASS_ELEVATED },
	{ "wg-quick", NULL, CLASS_ELEVATED }, { "openvpn", NULL,
	    CLASS_ELEVATED },
	{ "kill", handle_kill, 0 }, { "pkill", handle_pkill, 0 },
	{ "killall", handle_pkill, 0 }, { "killall5", NULL,
	    CLASS_DESTROY },
	{ "skill", handle_pkill, 0 }, { "pgrep", handle_pids, 0 },
	{ "pidof", handle_pids, 0 },
	/* the network */
	{ "curl", handle_curl, 0 }, { "wget", handle_wget, 0 },
	{ "http", handle_httpie, 0 }, { "https", handle_httpie, 0 },
	{ "xh", handle_httpie, 0 }, { "xhs", handle_httpie, 0 },
	{ "curlie", handle_curl, 0 },
	{ "wget2", handle_wget, 0 }, { "aria2c", handle_net_read, 0 },
	{ "axel", handle_net_read, 0 }, { "lynx", handle_net_read, 0 },
	{ "links", handle_net_read, 0 }, { "w3m", handle_net_read, 0 },
	{ "elinks", handle_net_read, 0 },
	{ "ping", handle_net_read, 0 }, { "ping6", handle_net_read, 0 },
	{ "fping", handle_net_read, 0 },
	{ "dig", handle_net_read, 0 }, { "host", handle_net_read, 0 },
	{ "nslookup", handle_net_read, 0 }, { "drill", handle_net_read, 0 },
	{ "whois", handle_net_read, 0 }, { "finger", handle_net_read, 0 },
	{ "traceroute", handle_net_read, 0 },
	{ "tracepath", handle_net_read, 0 }, { "mtr", handle_net_read, 0 },
	{ "youtube-dl", handle_net_read, 0 }, { "yt-dlp", handle_net_read,
	    0 },
	{ "ntpdate", NULL, CLASS_ELEVATED },
	{ "nmap", handle_net_write, 0 }, { "masscan", handle_net_write, 0 },
	{ "nc", handle_nc, 0 }, { "ncat", handle_nc, 0 },
	{ "netcat", handle_nc, 0 }, { "nc.openbsd", handle_nc, 0 },
	{ "nc.traditional", handle_nc, 0 }, { "socat", handle_reach, 0 },
	{ "telnet", handle_net_write, 0 }, { "ftp", handle_net_write, 0 },
	{ "lftp", handle_net_write, 0 }, { "sftp", handle_sftp, 0 },
	{ "tftp", handle_net_write, 0 }, { "rsh", handle_net_write, 0 },
	{ "rlogin", handle_net_write, 0 }, { "rcp", handle_scp, 0 },
	{ "ssh", handle_ssh, 0 }, { "autossh", handle_ssh, 0 },
	{ "slogin", handle_ssh, 0 }, { "mosh", handle_net_write, 0 },
	{ "ssh-copy-id", handle_net_write, 0 }, { "sshfs",
	    handle_net_write, 0 },
	{ "scp", handle_scp, 0 }, { "mail", handle_net_write, 0 },
	{ "mailx", handle_net_write, 0 }, { "mutt", handle_net_write, 0 },
	{ "sendmail", handle_net_write, 0 }, { "swaks",
	    handle_net_write, 0 },
	{ "msmtp", handle_net_write, 0 }, { "smbclient",
	    handle_net_write, 0 },
	{ "rclone", handle_cloud, 0 }, { "s3cmd", handle_cloud, 0 },
	{ "mc", handle_cloud, 0 }, { "gsutil", handle_cloud, 0 },
	{ "wscat", handle_net_write, 0 }, { "websocat",
	    handle_net_write, 0 },
	{ "mosquitto_pub", handle_net_write, 0 }, { "nsupdate",
	    handle_net_write, 0 },
	{ "wormhole", handle_net_write, 0 }, { "croc", handle_net_write, 0 },
	{ "ffsend", handle_net_write, 0 }, { "lt", handle_net_write, 0 },
	{ "frpc", handle_net_write, 0 }, { "bore", handle_net_write, 0 },
	{ "ngrok", handle_net_write, 0 }, { "cloudflared",
	    handle_net_write, 0 },
	{ "gh", handle_gh, 0 }, { "glab", handle_gh, 0 },
	{ "hub", handle_gh, 0 }, { "aws", handle_cloud, 0 },
	{ "gcloud", handle_cloud, 0 }, { "az", handle_cloud, 0 },
	{ "dropdb", NULL, CLASS_DESTROY }, { "dropuser", NULL, CLASS_DESTROY },
	{ "supabase", handle_cloud, 0 }, { "scw", handle_cloud, 0 },
	{ "ibmcloud", handle_cloud, 0 }, { "oci", handle_cloud, 0 },
	{ "vultr-cli", handle_cloud, 0 }, { "exo", handle_cloud, 0 },
	{ "openstack", handle_cloud, 0 }, { "s5cmd", handle_cloud, 0 },
	{ "azcopy", handle_cloud, 0 }, { "railway", handle_cloud, 0 },
	{ "pulumi", handle_cloud, 0 }, { "doctl", handle_cloud, 0 },
	{ "fly", handle_cloud, 0 }, { "flyctl", handle_cloud, 0 },
	{ "heroku", handle_cloud, 0 }, { "eksctl", handle_cloud, 0 },
	{ "linode-cli", handle_cloud, 0 }, { "hcloud", handle_cloud, 0 },
	{ "wrangler", handle_cloud, 0 }, { "firebase", handle_cloud, 0 },
	{ "git", handle_git, 0 },
	/* code */
	{ "sh", handle_shell, 0 }, { "bash", handle_shell, 0 },
	{ "rbash", handle_shell, 0 }, { "dash", handle_shell, 0 },
	{ "ash", handle_shell, 0 }, { "zsh", handle_shell, 0 },
	{ "ksh", handle_shell, 0 }, { "ksh93", handle_shell, 0 },
	{ "mksh", handle_shell, 0 }, { "yash", handle_shell, 0 },
	{ "fish", handle_shell, 0 }, { "csh", handle_shell, 0 },
	{ "tcsh", handle_shell, 0 }, { "-bash", handle_shell, 0 },
	{ "-sh", handle_shell, 0 },
	{ "awk", handle_awk, 0 }, { "gawk", handle_awk, 0 },
	{ "mawk", handle_awk, 0 }, { "nawk", handle_awk, 0 },
	{ "original-awk", handle_awk, 0 },
	{ "sed", handle_sed, 0 }, { "gsed", handle_sed, 0 },
	{ "vim", handle_editor, 0 }, { "vi", handle_editor, 0 },
	{ "nvim", handle_editor, 0 }, { "ex", handle_editor, 0 },
	{ "view", handle_editor, 0 }, { "vimdiff", handle_editor, 0 },
	{ "ed", handle_editor, 0 }, { "nano", handle_editor, 0 },
	{ "make", handle_make, 0 }, { "gmake", handle_make, 0 },
	{ "bmake", handle_make, 0 },
	{ "man", handle_code_options, 0 }, { "rg", handle_code_options, 0 },
	{ "sort", handle_code_options, 0 }, { "less", handle_code_options,
	    0 },
	{ "gdb", handle_code_options, 0 },
	{ "lldb", handle_code_options, 0 }, { "mysql", handle_code_options,
	    0 },
	{ "pdflatex", handle_code_options, 0 },
	{ "cpio", handle_code_options, 0 },
	/* archives */
	{ "tar", handle_tar, 0 }, { "gtar", handle_tar, 0 },
	{ "bsdtar", handle_tar, 0 },
	{ "zip", handle_archive, 0 }, { "unzip", handle_archive, 0 },
	{ "gzip", handle_archive, 0 }, { "gunzip", handle_archive, 0 },
	{ "bzip2", handle_archive, 0 }, { "bunzip2", handle_archive, 0 },
	{ "xz", handle_archive, 0 }, { "unxz", handle_archive, 0 },
	{ "zstd", handle_archive, 0 }, { "7z", handle_archive, 0 },
	{ "7za", handle_archive, 0 }, { "7zr", handle_archive, 0 },
	{ "rar", handle_archive, 0 }, { "unrar", handle_archive, 0 },
	{ "gpg", handle_gpg, 0 }, { "openssl", handle_openssl, 0 },
	{ "crontab", handle_crontab, 0 }, { "ssh-keygen", handle_keygen, 0 },
	{ "ldconfig", NULL, CLASS_ELEVATED }
};
static struct names programs_by_name = NAMES(programs);

/* ---- the programs of the hard denies ---- */

static const char *const dangerous[] = {
	"rm", "mv", "find", "dd", "shred", "mkfs", "mkfs.ext4", "mkfs.xfs",
	"mke2fs", "mkswap", "wipefs", "blkdiscard", "sgdisk", "sfdisk",
	"fdisk", "parted", "cryptsetup", "nvme", "hdparm", "badblocks",
	"chmod", "chown", "chgrp", "setfacl", "chattr", "rsync", "cp", "tee",
	"passwd", "chpasswd", "newusers", "useradd", "usermod", "userdel",
	"adduser", "addgroup", "deluser", "delgroup", "groupadd", "groupmod",
	"groupdel", "gpasswd", "chsh", "chage", "visudo", "vipw",
	"grub-install", "update-grub", "grub-mkconfig", "efibootmgr",
	"bootctl", "update-initramfs", "dracut", "kernel-install", "kexec",
	"zfs", "zpool", "btrfs", "lvremove", "vgremove", "pvremove",
	"snapper", "timeshift", "sh", "bash", "dash", "sudo", "su", "env",
	"xargs", "sed", "truncate", "ln", NULL
};
static struct names dangerous_by_name = NAMES(dangerous);

int
is_dangerous(const char *name)
{
	return (names_find(&dangerous_by_name, name) != NULL ||
	    name_begins(name, "mkfs."));
}

const char *
judge_dangerous(size_t i)
{
	return (i < sizeof(dangerous) / sizeof(dangerous[0]) ? dangerous[i] :
	    NULL);
}

/* ---- one program ---- */

/* An account program that can show as well. */
static int
account_tool(const struct subject *s)
{
	if (same_name(s->name, "passwd")) {
		class_find(s, s->argc > 1 && (word_is(&s->argv[1], "-S") ||
		    word_is(&s->argv[1], "--status")) ? CLASS_READ :
		    HARD_ACCOUNT, "changes a password");
		return (1);
	}
	if (same_name(s->name, "chage")) {
		class_find(s, opt_has(s, 1, NULL, 'l', "list") ? CLASS_READ :
		    HARD_ACCOUNT, "changes when a password expires");
		return (1);
	}
	return (0);
}

static int
boot_tool(const struct subject *s)
{
	static const struct optspec spec = { "bBcdilLnoptuw", "bootnum "
	    "label disk part loader bootnext bootorder timeout", 0 };

	if (same_name(s->name, "efibootmgr")) {
		class_find(s, s->argc == 1 || (s->argc == 2 && (word_is(
		    &s->argv[1], "-v") || word_is(&s->argv[1],
		    "--verbose"))) ? CLASS_READ : HARD_BOOT,
		    "changes how the host boots");
		return (1);
	}
	if (name_begins(s->name, "grub-mkconfig") ||
	    name_begins(s->name, "grub2-mkconfig")) {
		class_find(s, opt_has(s, 1, &spec, 'o', "output") ?
		    HARD_BOOT : CLASS_READ, "writes what the host boots with");
		return (1);
	}
	if (same_name(s->name, "timeshift")) {
		class_find(s, opt_has(s, 1, NULL, 0, "delete") || opt_has(s, 1,
		    NULL, 0, "delete-all") ? HARD_SNAPSHOT : opt_has(s, 1,
		    NULL, 0, "list") ? CLASS_READ : CLASS_ELEVATED,
		    "changes snapshots");
		return (1);
	}
	return (0);
}

/* A file that came from the network is run. */
static int
runs_download(const struct subject *s)
{
	struct content content;

	if (strchr(word_start(&s->argv[0]), '/') == NULL)
		return (0);
	shell_file_get(s->j, s->c, &s->argv[0], &content);
	if (content.kind == CONTENT_NETWORK) {
		class_findf(s, CLASS_REMOTE, "%s came from the network",
		    &s->argv[0]);
		return (1);
	}
	if (content.kind == CONTENT_TEXT) {
		struct shell_start start = {
			.who = SHELL_CHILD, .command = s->c,
			.argv = s->argv, .argc = s->argc
		};

		shell_judge_content(s->j, &content, DIALECT_BASH, &start,
		    s->out);
		return (1);
	}
	return (0);
}

static int
asks_for_help(const struct subject *s)
{
	static const char *const shells[] = { "bash", "sh", "dash", "zsh",
		NULL };
	static const char *const runners[] = { "npx", "pnpx", "bunx", "uvx",
		NULL };

	/* of a subcommand, where that is not what a fetched program is told */
	if (s->argc == 3 && word_is(&s->argv[2], "--help") &&
	    word_static(&s->argv[1]) != NULL && !in_list(s->name, runners) &&
	    s->argv[1].text[strspn(s->argv[1].text,
	    "abcdefghijklmnopqrstuvwxyz-")] == '\0' &&
	    s->argv[1].text[0] != '-' && (same_name(s->name, "git") ||
	    is_subcommand(s->name)))
		return (1);
	if (s->argc != 2 || word_static(&s->argv[1]) == NULL ||
	    in_list(s->name, shells))
		return (0);
	return (strcmp(s->argv[1].text, "--help") == 0 ||
	    strcmp(s->argv[1].text, "--version") == 0);
}

static const struct program_row *
find_program(const char *name)
{
	if (name_begins(name, "mkfs."))
		name = "mkfs";
	return (names_find(&programs_by_name, name));
}

static int
is_interpreter(const char *name)
{
	static const char *const list[] = { "python", "pypy", "perl", "ruby",
		"node", "nodejs", "php", "lua", "Rscript", "tclsh",
		"osascript", "guile", "groovy", "jshell", "emacs", NULL };
	size_t i, n;

	for (i = 0; list[i] != NULL; i++) {
		if (list[i][0] != name[0])
			continue;
		n = strlen(list[i]);
		if (strncmp(name, list[i], n) == 0 &&
		    strspn(name + n, "0123456789.") == strlen(name + n))
			return (1);
	}
	return (0);
}

/* hash -p FILE NAME, alias NAME=PROGRAM: another name for a dangerous one. */
static void
check_names(const struct subject *s)
{
	const char *text, *name, *eq;
	int is_hash = same_name(s->name, "hash");
	size_t i;

	if (!is_hash && !same_name(s->name, "alias"))
		return;
	for (i = 1; i < s->argc; i++) {
		text = word_start(&s->argv[i]);
		if (is_hash && strcmp(text, "-p") == 0 &&
		    i + 1 < s->argc && in_list(base_name(word_start(
		    &s->argv[i + 1])), dangerous))
			class_findf(s, CLASS_OPAQUE, "another name for %s",
			    &s->argv[i + 1]);
		if (is_hash || (eq = strchr(text, '=')) == NULL)
			continue;
		/* with options of its own, or under its own name, it is seen
		 * for what it is */
		name = base_name(eq + 1);
		if (names_find(&dangerous_by_name, name) != NULL &&
		    (strncmp(text, name,
		    strlen(name)) != 0 || text[strlen(name)] != '='))
			class_findf(s, CLASS_OPAQUE, "another name for %s",
			    &s->argv[i]);
	}
}

static void
judge_known(const struct subject *s, struct command **next)
{
	const struct program_row *row;

	if (wrapper_judge(s, next) || account_tool(s) || boot_tool(s))
		return;
	if (is_interpreter(s->name)) {
		handle_interpreter(s);
		return;
	}
	/* a script of the host's: /etc/init.d/ssh stop */
	if (name_begins(s->name, "/etc/init.d/") && s->argc > 1 &&
	    !word_is(&s->argv[1], "status")) {
		class_findf(s, strncmp(s->name + 12, "myelin", 6) == 0 ?
		    HARD_SELF : CLASS_ELEVATED, "%s changes a service",
		    &s->argv[0]);
		return;
	}
	(void)client_escapes(s);
	database_judge(s);
	inline_judge(s);
	if (is_lister(s->name)) {
		handle_lister(s);
		return;
	}
	if ((row = find_program(s->name)) != NULL) {
		if (row->fn != NULL)
			row->fn(s);
		else
			class_findf(s, row->id, "%s", &s->argv[0]);
		return;
	}
	if (!subcommand_judge(s))
		unknown_program(s);
}

/* One program of a command; what a wrapper starts comes next. */
static struct command *
judge_one(struct judging *j, const struct command *c, struct outcome *out)
{
	struct subject s = {
		.j = j, .c = c, .argv = c->argv, .argc = c->argc, .out = out
	};
	const struct word *w = &c->argv[0];
	struct command *next = NULL;

	rules_command(j, c);
	if ((w->flags & WORD_NETWORK) != 0) {
		class_find(&s, CLASS_REMOTE, "the program's name comes from "
		    "the network");
		return (NULL);
	}
	if (w->text == NULL || (w->flags & (WORD_PREFIX | WORD_SPLITS |
	    WORD_GLOB)) != 0) {
		class_findf(&s, CLASS_OPAQUE, "the program's name is not "
		    "known: %s", w);
		return (NULL);
	}
	/* what lies in /etc is named like programs and is none */
	s.name = name_begins(w->text, "/etc/") ? w->text : base_name(w->text);
	/* before its handler, which may know better */
	shell_produce(j, c, &out->output);
	/* what a filter makes of the network's is still the network's */
	if (out->output.kind == CONTENT_UNKNOWN &&
	    c->input.kind == CONTENT_NETWORK)
		out->output.kind = CONTENT_NETWORK;
	check_names(&s);
	if ((c->flags & COMMAND_BUILTIN) != 0) {
		class_findf(&s, same_name(s.name, "alias") && s.argc > 1 &&
		    strchr(word_start(&s.argv[1]), '=') != NULL ?
		    CLASS_MUTATE : CLASS_READ, "%s", w);
		return (NULL);
	}
	if (asks_for_help(&s))
		class_findf(&s, CLASS_READ, "%s shows its usage", w);
	else if (!runs_download(&s))
		judge_known(&s, &next);
	if (next == NULL)
		listing_output(&s);
	return (next);
}

void
judge_program(struct judging *j, const struct command *c,
    struct outcome *out)
{
	while (c != NULL)
		c = judge_one(j, c, out);
}

/* ---- redirects, and a command whole ---- */

static void
judge_redirect(const struct subject *of, const struct redirect *r)
{
	struct subject side = *of, *s = &side;

	s->flags |= FINDING_SIDE;
	switch (r->op) {
	case REDIRECT_READ:
		if (zone_of(s, &r->target) == ZONE_NET)
			zone_write(s, &r->target, CLASS_READ, "");
		break;
	case REDIRECT_DUP:
		break;
	default:
		zone_write(s, &r->target, CLASS_MUTATE, "writes a file");
	}
}

void
judge_forkbomb(struct judging *j, const char *name, uint32_t from,
    uint32_t to)
{
	struct command c = { .from = from, .to = to };
	struct subject s = { .j = j, .c = judging_alloc(j, sizeof(c)),
	    .name = name };

	memcpy((void *)(uintptr_t)s.c, &c, sizeof(c));
	class_find(&s, HARD_FORKBOMB, "a function that starts itself again "
	    "and again");
}

void
judge_command(struct judging *j, const struct command *c,
    struct outcome *out)
{
	struct subject s = {
		.j = j, .c = c, .argv = c->argv, .argc = c->argc,
		.name = "", .out = out
	};
	size_t i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < c->nassigns; i++)
		judge_variable(j, c, c->assigns[i].name,
		    &c->assigns[i].value);
	for (i = 0; i < c->nredirects; i++)
		judge_redirect(&s, &c->redirects[i]);
	if (c->argc == 0)
		class_find(&s, CLASS_READ, "runs no program");
	else
		judge_program(j, c, out);
}
