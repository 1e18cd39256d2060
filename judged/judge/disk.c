/*
 * Programs that make, partition or erase disks.
 */
#include <string.h>

#include "judge_int.h"
#include "options.h"
#include "zone.h"

void
handle_mkfs(const struct subject *s)
{
	static const struct optspec spec = { "tbcCdDEFgGiIjJLmMnNoOrTUVsS",
	    "type label uuid", 0 };
	int disk = 0, any = 0;
	struct optscan o;
	struct opt opt;
	enum zone z;

	opt_begin(&o, s, 1, &spec);
	/* Which letters take a value differs from one to the next, so each
	 * word that could be a device is one. */
	while (opt_next(&o, &opt)) {
		const struct word *w = opt.kind == OPT_OPERAND ? opt.word :
		    opt.value;

		if (w == NULL)
			continue;
		any = 1;
		z = zone_of(s, w);
		if (z == ZONE_DISK || (z == ZONE_OUT &&
		    strncmp(word_start(w), "/dev/", 5) == 0))
			disk = 1;
	}
	if (disk)
		class_find(s, HARD_DISK, "makes a filesystem on a disk");
	else if (any)
		class_find(s, CLASS_DESTROY, "makes a filesystem");
	else
		class_find(s, CLASS_READ, "makes nothing");
}

/* Always the same harm, if there is an operand at all. */
void
handle_disk_tool(const struct subject *s)
{
	struct optscan o;
	struct opt opt;

	opt_begin(&o, s, 1, NULL);
	while (opt_next(&o, &opt)) {
		if (opt.kind != OPT_OPERAND)
			continue;
		class_findf(s, HARD_DISK, "erases or changes a disk: %s",
		    &s->argv[0]);
		return;
	}
	class_find(s, CLASS_READ, "changes nothing");
}

static const struct partition_row {
	const char	*name;
	const char	*reads;		/* options and commands that only show */
} partition_rows[] = {
	{ "fdisk", "-l --list -s --getsz -x --list-details" },
	{ "sfdisk", "-l --list -d --dump -s --show-size -F --list-free "
	    "-g --show-geometry -J --json -V --verify -T --list-types" },
	{ "cfdisk", "" },
	{ "parted", "-l --list print" },
	{ "sgdisk", "-p --print -i --info -v --verify -L --list-types" },
	{ "gdisk", "-l" },
	{ "wipefs", "-n --no-act -J --json -i --noheadings -O --output" },
	{ "hdparm", "-I -i -t -T -g -C -v" },
	{ "badblocks", "-n -v -s -sv -o" },
	{ "nvme", "list list-subsys smart-log id-ctrl id-ns error-log "
	    "show-regs version help" },
	{ "cryptsetup", "status luksDump isLuks luksUUID benchmark open "
	    "close luksOpen luksClose" },
	{ "mdadm", "--detail -D --examine -E --query -Q --monitor" },
	{ "zpool", "list status iostat history get events" },
	{ "zfs", "list get diff holds send userspace version" }
};

static int
in_words(const char *list, const char *word)
{
	size_t n, len = strlen(word);

	for (; *list != '\0'; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (n == len && strncmp(list, word, n) == 0)
			return (1);
	}
	return (0);
}

/*
 * Tools that show as well as change: what only shows is in the table, all
 * else is taken for a change of the disk.
 */
void
handle_partition(const struct subject *s)
{
	const struct partition_row *row = partition_rows;
	const char *text;
	int shows = 0, device = 0;
	size_t i;

	while (strcmp(row->name, s->name) != 0)
		row++;
	for (i = 1; i < s->argc; i++) {
		text = word_start(&s->argv[i]);
		if (in_words(row->reads, text) || (text[0] == '-' &&
		    same_name(s->name, "hdparm") && text[1] != '\0' &&
		    text[1 + strspn(text + 1, "iItTgCv")] == '\0'))
			shows = 1;
		else if (text[0] != '-')
			device = 1;
		if (same_name(s->name, "hdparm") &&
		    strncmp(text, "--security", 10) == 0)
			shows = -1;
		if (same_name(s->name, "wipefs") && (strcmp(text, "-a") ==
		    0 || strncmp(text, "--all", 5) == 0 ||
		    strcmp(text, "-af") == 0 || strcmp(text, "-fa") == 0)) {
			shows = -1;
			break;
		}
		if (same_name(s->name, "badblocks") && text[0] == '-' &&
		    strchr(text, 'w') != NULL)
			shows = -1;
	}
	if (shows == -1)
		class_findf(s, HARD_DISK, "erases a disk: %s", &s->argv[0]);
	else if (shows || !device || same_name(s->name, "badblocks") ||
	    (same_name(s->name, "wipefs") && s->argc == 2) ||
	    (same_name(s->name, "hdparm") && s->argc == 2))
		class_find(s, CLASS_READ, "shows disks");
	else if (same_name(s->name, "hdparm") ||
	    same_name(s->name, "mdadm"))
		class_find(s, CLASS_ELEVATED, "changes a disk's settings");
	else
		class_findf(s, HARD_DISK, "changes a disk: %s", &s->argv[0]);
}
