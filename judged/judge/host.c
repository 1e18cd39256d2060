/*
 * Tools that show something of the host or change it, by their words.
 */
#include <string.h>

#include "../shell/names.h"
#include "class.h"
#include "judge_int.h"
#include "options.h"
#include "self.h"
#include "zone.h"

/*
 * A word of "changes" settles it, then one of "shows"; "x*" is whatever
 * begins so, "-x" also any cluster of letters with x in it if the row has
 * HOST_CLUSTERS.  What neither says: a change, or with HOST_SHOWS none.
 */
static const struct host_row {
	const char	*name;
	const char	*changes;
	const char	*shows;
	unsigned	 flags;
} rows[] = {
#define HOST_SHOWS	0x01	/* shows unless a word says otherwise */
#define HOST_CLUSTERS	0x02
#define HOST_ONE	0x04	/* one operand alone is shown */
#define HOST_SETS	0x08	/* NAME=VALUE changes */
#define HOST_NO_OPERAND	0x10	/* shows as long as there is no operand */
	{ "mount", "", "-l --list -V --version --help", 0 },
	{ "swapon", "-a --all", "-s --show* --summary", 0 },
	{ "sysctl", "-w --write -p* --load* --system", "", HOST_SHOWS |
	    HOST_SETS },
#define TABLES_CHANGE	"-A -D -I -R -F -Z -N -X -P -E --append --delete " \
	"--insert --replace --flush --zero --new* --delete-chain --policy " \
	"--rename-chain"
	{ "iptables", TABLES_CHANGE, "-L -S --list*", HOST_CLUSTERS },
	{ "ip6tables", TABLES_CHANGE, "-L -S --list*", HOST_CLUSTERS },
	{ "arptables", TABLES_CHANGE, "-L -S --list*", HOST_CLUSTERS },
	{ "ebtables", TABLES_CHANGE, "-L --L* --list*", HOST_CLUSTERS },
	{ "ip", "add ad append change chg replace repl delete del d flush f "
	    "set exec attach detach restore -b -batch -force up down", "",
	    HOST_SHOWS },
	{ "bridge", "add append del delete replace set flush -b -batch", "",
	    HOST_SHOWS },
	{ "ifconfig", "", "-a -s", HOST_ONE },
	{ "iwconfig", "", "", HOST_ONE },
	{ "iw", "set del add connect disconnect", "", HOST_SHOWS },
	{ "route", "add del delete flush", "", HOST_SHOWS },
	{ "arp", "-s -d -f --set --delete --file", "", HOST_SHOWS },
	{ "ethtool", "-s -K -G -A -C -L -p -E -f -r -X -N -U --set* --change "
	    "--reset --negotiate --flash", "-i -S -k -g -a -c -l -d -m -T "
	    "--driver --statistics --show*", HOST_ONE },
	{ "dpkg", "-i --install -r --remove -P --purge --unpack --configure "
	    "-A --record-avail --set-selections --clear-selections "
	    "--add-architecture --remove-architecture --update-avail "
	    "--merge-avail --triggers-only", "-l -L -s -S -p -c -I -C -x -X "
	    "-f -V --list --listfiles --status --search --print* --contents "
	    "--info --audit --get-selections --extract --compare-versions "
	    "--verify --field --show --validate*", 0 },
	{ "dpkg-deb", "", "", HOST_SHOWS },
	{ "dpkg-divert", "--add --remove", "--list --listpackage --truename",
	    0 },
	{ "dpkg-statoverride", "--add --remove", "--list", 0 },
	{ "rpm", "", "-q* --query -V* --verify --checksig -K --eval -E "
	    "--showrc --querytags", 0 },
	{ "pacman", "", "-Q* -Si -Ss -Sl -Sg -Sii -F -Fl -Fs -Fx -T", 0 },
	{ "hwclock", "--set --hctosys --systohc -s -w --adjust", "-r --show "
	    "--get --verbose", 0 },
	{ "chkconfig", "--add --del", "--list", 0 },
	{ "auditctl", "", "-l -s", 0 },
	{ "semanage", "-a -d -m -D --add --delete --modify --deleteall",
	    "-l --list", 0 },
	{ "losetup", "-d -D --detach* -c --set*", "-a -l --list --all",
	    HOST_ONE | HOST_NO_OPERAND },
	{ "dmsetup", "", "ls info status table deps targets version", 0 },
	{ "tune2fs", "", "-l", 0 },
	{ "ipset", "add del create destroy flush swap rename restore",
	    "list save test -L", 0 },
	{ "tc", "add del delete change replace set flush", "", HOST_SHOWS },
	{ "update-alternatives", "--install --remove* --set* --auto "
	    "--config --all --force", "--list --display --query "
	    "--get-selections", 0 },
	{ "alternatives", "--install --remove* --set* --auto --config",
	    "--list --display", 0 },
	{ "firewall-cmd", "--add* --remove* --set* --change* --reload "
	    "--complete-reload --new* --delete* --runtime-to-permanent "
	    "--panic-on --panic-off --direct --load*", "--list* --state "
	    "--get* --info* --query* --check-config", 0 },
	{ "journalctl", "--vacuum* --rotate --flush --sync "
	    "--relinquish-var --setup-keys --update-catalog", "",
	    HOST_SHOWS },
	{ "service", "", "status --status-all", 0 },
	{ "dmesg", "-C -c -D -E -n* --clear --read-clear --console*", "",
	    HOST_SHOWS },
	{ "hostname", "-F --file* -b --boot", "-f -s -d -i -I -A -y -a "
	    "--fqdn --long --short --domain --ip-address --all* --alias",
	    HOST_NO_OPERAND },
	{ "domainname", "-F --file*", "", HOST_NO_OPERAND },
	{ "date", "-s* --set*", "-d* -r* -f* --date* --reference* --file* +*",
	    HOST_NO_OPERAND },
	{ "systemd-resolve", "--set* --revert --flush-caches --reset*", "",
	    HOST_SHOWS },
	{ "udevadm", "trigger control settle test", "", HOST_SHOWS },
	{ "sensors-detect", "", "", 0 },
	{ "tailscale", "", "status ip version netcheck ping", 0 },
	{ "wg", "set setconf addconf syncconf", "", HOST_SHOWS },
	{ "rfkill", "block unblock toggle", "", HOST_SHOWS },
	{ "setterm", "", "", HOST_SHOWS }
};
static struct names by_name = NAMES(rows);

static int
listed(const struct host_row *row, const char *list, const struct word *w)
{
	const char *text = word_start(w);
	size_t n;

	for (; *list != '\0'; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (list[n - 1] == '*') {
			if (strncmp(text, list, n - 1) == 0)
				return (1);
		} else if (w->len == n && strncmp(text, list, n) == 0)
			return (1);
		else if ((row->flags & HOST_CLUSTERS) != 0 && n == 2 &&
		    text[0] == '-' && text[1] != '-' && text[1] != '\0' &&
		    strchr(text, list[1]) != NULL)
			return (1);
	}
	return (0);
}

/* What the words say besides: 1 changes, 0 nothing. */
static int
says_change(const struct subject *s, const struct host_row *row, size_t i)
{
	const char *text = word_start(&s->argv[i]);

	if (listed(row, row->changes, &s->argv[i]))
		return (1);
	if ((row->flags & HOST_SETS) != 0 && strchr(text, '=') != NULL &&
	    text[0] != '-')
		return (1);
	/* ip link s DEVICE: set */
	return (same_name(s->name, "ip") && strcmp(text, "s") == 0 &&
	    word_start(&s->argv[i - 1])[0] == 'l');
}

/* Packages unpacked to a directory, a command in a namespace. */
static void
besides(const struct subject *s)
{
	static const char *const unpacks[] = { "-x", "-X", "--extract",
		"--vextract", "-e", "--control", "-R", "--raw-extract", NULL };
	size_t i;

	for (i = 1; i + 1 < s->argc; i++) {
		if (strncmp(s->name, "dpkg", 4) == 0 && in_list(word_start(
		    &s->argv[i]), unpacks)) {
			zone_write(s, &s->argv[s->argc - 1], CLASS_MUTATE,
			    "unpacks a package");
			return;
		}
		if (same_name(s->name, "ip") && i + 2 < s->argc &&
		    word_is(&s->argv[i], "exec")) {
			subject_argv(s, s->argv + i + 2, s->argc - i - 2);
			return;
		}
	}
}

static int
names_own(const struct subject *s)
{
	size_t i;

	for (i = 1; i < s->argc; i++)
		if (self_names(&s->argv[i]))
			return (1);
	return (0);
}

/* Lists without an operand or with certain options, else is elevated. */
void
handle_lister(const struct subject *s)
{
	const struct host_row *row = names_find(&by_name, s->name);
	size_t i, operands = 0;
	int shows, changes = 0, shown = 0;

	for (i = 1; i < s->argc; i++) {
		changes |= says_change(s, row, i);
		shown |= listed(row, row->shows, &s->argv[i]);
		operands += word_start(&s->argv[i])[0] != '-';
	}
	shows = (row->flags & HOST_SHOWS) != 0 || s->argc == 1 || shown ||
	    ((row->flags & HOST_ONE) != 0 && s->argc == 2) ||
	    ((row->flags & HOST_NO_OPERAND) != 0 && operands == 0);
	if (shows && !changes)
		class_find(s, CLASS_READ, "shows something of the host");
	else if (names_own(s))
		class_find(s, HARD_SELF, "changes Myelin's own package or "
		    "service");
	else
		class_findf(s, CLASS_ELEVATED, "%s changes the host",
		    &s->argv[0]);
	besides(s);
}

int
is_lister(const char *name)
{
	return (names_find(&by_name, name) != NULL);
}
