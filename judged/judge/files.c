/*
 * Programs that change, move or delete files.
 */
#include <string.h>

#include "hosts.h"
#include "judge_int.h"
#include "options.h"
#include "zone.h"

/* ---- deleting ---- */

void
handle_rm(const struct subject *s)
{
	int recursive = opt_has(s, 1, NULL, 'r', "recursive") ||
	    opt_has(s, 1, NULL, 'R', NULL);
	struct optscan o;
	struct opt opt;
	int any = 0;

	opt_begin(&o, s, 1, NULL);
	while (opt_next(&o, &opt)) {
		if (opt.kind != OPT_OPERAND)
			continue;
		any = 1;
		zone_delete(s, opt.word, recursive || o.uncertain);
	}
	if (!any)
		class_find(s, CLASS_READ, "deletes nothing");
}

void
handle_rmdir(const struct subject *s)
{
	static const struct optspec spec = { NULL, NULL, 0 };
	struct optscan o;
	struct opt opt;

	class_find(s, CLASS_MUTATE, "removes empty directories");
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt))
		if (opt.kind == OPT_OPERAND)
			zone_write(s, opt.word, CLASS_MUTATE,
			    "removes empty directories");
}

void
handle_shred(const struct subject *s)
{
	static const struct optspec spec = { "ns", "iterations size "
	    "random-source", 0 };
	struct optscan o;
	struct opt opt;

	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind != OPT_OPERAND)
			continue;
		if (zone_of(s, opt.word) == ZONE_DISK)
			class_findf(s, HARD_DISK, "overwrites a disk: %s",
			    opt.word);
		else
			zone_delete(s, opt.word, 0);
	}
}

/* ---- writing ---- */

void
handle_write_all(const struct subject *s)
{
	static const struct optspec spec = { "mdrtZ", "mode date reference "
	    "time context", 0 };
	struct optscan o;
	struct opt opt;

	class_find(s, CLASS_MUTATE, "makes or changes files");
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt))
		if (opt.kind == OPT_OPERAND)
			zone_write(s, opt.word, CLASS_MUTATE,
			    "makes or changes files");
}

/* The last operand is written, the others are read. */
void
handle_write_last(const struct subject *s)
{
	const struct word *last = NULL;
	struct optscan o;
	struct opt opt;
	size_t n = 0;

	opt_begin(&o, s, 1, NULL);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND) {
			last = opt.word;
			n++;
		}
	}
	if (n < 2)
		class_find(s, CLASS_MUTATE, "makes a file");
	else
		zone_write(s, last, CLASS_MUTATE, "makes a file");
}

void
handle_tee(const struct subject *s)
{
	static const struct optspec spec = { NULL, NULL, 0 };
	struct content copy = s->c->input;
	struct optscan o;
	struct opt opt;

	/* reading a pipe and passing it on is no more than reading */
	class_find(s, CLASS_READ, "passes its input on");
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind != OPT_OPERAND)
			continue;
		zone_write(s, opt.word, CLASS_MUTATE, "writes a copy");
		shell_file_set(s->j, s->c, opt.word, &copy);
	}
}

static const struct word *
target_directory(const struct subject *s, const struct optspec *spec)
{
	struct optscan o;
	struct opt opt;

	opt_begin(&o, s, 1, spec);
	while (opt_next(&o, &opt))
		if (opt_is(&opt, 't', "target-directory"))
			return (opt.value);
	return (NULL);
}

static const struct optspec copy_spec = { "tSgomZ", "target-directory suffix "
    "group owner mode strip-program", 0 };

/* Sources and the target of cp, mv, ln, install; the number of operands. */
static size_t
operands(const struct subject *s, const struct word **list, size_t most)
{
	struct optscan o;
	struct opt opt;
	size_t n = 0;

	opt_begin(&o, s, 1, &copy_spec);
	while (opt_next(&o, &opt))
		if (opt.kind == OPT_OPERAND && n < most)
			list[n++] = opt.word;
	return (n);
}

static const struct word **
operand_list(const struct subject *s, size_t *n)
{
	const struct word **list = judging_alloc(s->j,
	    s->argc * sizeof(*list));

	*n = operands(s, list, s->argc);
	return (list);
}

/* A program whose name is a dangerous one gets another name. */
static void
check_rename(const struct subject *s, const struct word *from)
{
	const char *text = word_static(from), *name;
	const char *slash = text == NULL ? NULL : strrchr(text, '/');
	size_t i;

	/* of a directory of programs: /bin, /usr/sbin */
	if (slash == NULL || slash - text < 3 ||
	    strncmp(slash - 3, "bin", 3) != 0)
		return;
	for (i = 0; (name = judge_dangerous(i)) != NULL; i++) {
		if (strcmp(base_name(text), name) == 0) {
			class_findf(s, CLASS_OPAQUE, "another name for %s",
			    from);
			return;
		}
	}
}

void
handle_cp(const struct subject *s)
{
	const struct word *target = target_directory(s, &copy_spec), **list;
	struct content content;
	size_t n, i;

	list = operand_list(s, &n);
	if (target == NULL && n > 1)
		target = list[--n];
	for (i = 0; i < n; i++)
		check_rename(s, list[i]);
	if (target == NULL) {
		class_find(s, CLASS_MUTATE, "copies files");
		return;
	}
	if (n == 1) {
		shell_file_get(s->j, s->c, list[0], &content);
		if (content.kind != CONTENT_INHERITED)
			shell_file_set(s->j, s->c, target, &content);
	}
	zone_write(s, target, CLASS_MUTATE, "copies files");
}

void
handle_install(const struct subject *s)
{
	const struct word **list;
	size_t n, i;

	if (!opt_has(s, 1, &copy_spec, 'd', "directory")) {
		handle_cp(s);
		return;
	}
	class_find(s, CLASS_MUTATE, "makes directories");
	list = operand_list(s, &n);
	for (i = 0; i < n; i++)
		zone_write(s, list[i], CLASS_MUTATE, "makes directories");
}

/* uniq IN OUT, xxd -r IN OUT */
void
handle_second(const struct subject *s)
{
	static const struct optspec spec = { "fswclgo", "skip-fields "
	    "skip-chars check-chars group all-repeated", 0 };
	const struct word *w = opt_operand(s, 1, &spec, 1);

	class_find(s, CLASS_READ, "shows what it reads");
	if (w != NULL)
		zone_write(s, w, CLASS_MUTATE, "writes a file");
}

void
handle_mktemp(const struct subject *s)
{
	static const struct optspec spec = { "p", "suffix", 0 };
	struct optscan o;
	struct opt opt;

	class_find(s, CLASS_MUTATE, "makes a file");
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		const struct word *w = opt.kind == OPT_OPERAND ? opt.word :
		    opt.letter == 'p' || (opt.kind == OPT_LONG &&
		    strcmp(opt.name, "tmpdir") == 0) ? opt.value : NULL;

		if (w != NULL)
			zone_write(s, w, CLASS_MUTATE, "makes a file");
	}
}

void
handle_mv(const struct subject *s)
{
	const struct word *target = target_directory(s, &copy_spec), **list;
	struct content content;
	size_t n, i;
	enum zone z;

	list = operand_list(s, &n);
	if (target == NULL && n > 1)
		target = list[--n];
	if (target != NULL && n == 1) {
		shell_file_get(s->j, s->c, list[0], &content);
		if (content.kind != CONTENT_INHERITED)
			shell_file_set(s->j, s->c, target, &content);
	}
	class_find(s, CLASS_MUTATE, "moves files");
	for (i = 0; i < n; i++) {
		check_rename(s, list[i]);
		z = zone_of(s, list[i]);
		if (zone_wipes(s, list[i]))
			class_findf(s, HARD_WIPE, "moves all of %s away",
			    list[i]);
		else if (zone_holds_own(s, list[i]))
			class_findf(s, HARD_SELF, "Myelin's own is in %s",
			    list[i]);
		else if (z != ZONE_WORK && z != ZONE_TMP)
			zone_write(s, list[i], CLASS_MUTATE, "moves files");
	}
	if (target != NULL)
		zone_write(s, target, CLASS_MUTATE, "moves files");
}

void
handle_ln(const struct subject *s)
{
	const struct word *target = target_directory(s, &copy_spec), **list;
	struct content content;
	size_t n, i;

	list = operand_list(s, &n);
	if (target == NULL && n > 1)
		target = list[--n];
	for (i = 0; i < n; i++)
		check_rename(s, list[i]);
	if (target != NULL && n == 1) {
		shell_file_get(s->j, s->c, list[0], &content);
		if (content.kind != CONTENT_INHERITED)
			shell_file_set(s->j, s->c, target, &content);
	}
	class_find(s, CLASS_MUTATE, "makes links");
	if (target != NULL)
		zone_write(s, target, CLASS_MUTATE, "makes links");
}

void
handle_truncate(const struct subject *s)
{
	static const struct optspec spec = { "rs", "reference size", 0 };
	struct optscan o;
	struct opt opt;

	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt))
		if (opt.kind == OPT_OPERAND)
			zone_write(s, opt.word, CLASS_LOSE, "cuts a file off");
}

/* 4755, u+s, +s: not of directories alone, as 2775 and g+s are. */
static int
sets_user(const char *mode)
{
	const char *p;

	if (mode[0] >= '0' && mode[0] <= '7')
		return (strlen(mode) >= 4 && (mode[strlen(mode) - 4] & 4) !=
		    0);
	for (p = mode; (p = strchr(p, 's')) != NULL; p++) {
		const char *from = p;

		while (from > mode && from[-1] != ',')
			from--;
		if (memchr(from, '-', (size_t)(p - from)) == NULL &&
		    (strcspn(from, "ua+=") < strcspn(from, "g")))
			return (1);
	}
	return (0);
}

/* chmod, chown, chgrp, setfacl, chattr: FIRST operand is no file. */
void
handle_mode(const struct subject *s)
{
	static const struct optspec acl = { "nmxMX", "modify set remove "
	    "modify-file set-file remove-file restore", 0 };
	static const struct optspec attributes = { "pv", NULL, 0 };
	static const struct optspec modes = { NULL, "reference from", 0 };
	const struct optspec spec = same_name(s->name, "setfacl") ? acl :
	    same_name(s->name, "chattr") ? attributes : modes;
	int recursive = opt_has(s, 1, &spec, 'R', "recursive");
	int owner = !same_name(s->name, "chmod") &&
	    !same_name(s->name, "setfacl");
	int first = !opt_has(s, 1, &spec, 0, "reference") &&
	    !same_name(s->name, "setfacl");
	const char *home = s->c->home, *path;
	struct optscan o;
	struct opt opt;

	class_find(s, CLASS_MUTATE, "changes modes");
	if (owner && same_name(s->name, "chattr"))
		class_find(s, CLASS_ELEVATED, "changes attributes of files");
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind != OPT_OPERAND) {
			/* chmod -x: a mode, no option */
			if (first && opt.kind == OPT_SHORT &&
			    strchr(same_name(s->name, "chmod") ? "rwxXst" :
			    same_name(s->name, "chattr") ?
			    "aAcCdDeFijmPsStTux" : "", opt.letter) != NULL)
				first = 0;
			continue;
		}
		if (first) {
			if (same_name(s->name, "chmod") &&
			    sets_user(word_start(opt.word)))
				class_findf(s, CLASS_ELEVATED, "makes a "
				    "program run with its owner's rights: %s",
				    opt.word);
			first = 0;
			continue;
		}
		path = opt.word->text == NULL ? NULL : shell_path(s->j,
		    s->c->cwd, opt.word->text);
		if (recursive && zone_wipes(s, opt.word) && !(path != NULL &&
		    home != NULL && strcmp(path, home) == 0))
			class_findf(s, HARD_PERM, "changes all of %s",
			    opt.word);
		else if (recursive && zone_wipes(s, opt.word))
			class_findf(s, CLASS_DESTROY, "changes all of %s",
			    opt.word);
		else if (zone_of(s, opt.word) == ZONE_PERSIST &&
		    same_name(s->name, "chmod"))
			class_find(s, CLASS_MUTATE, "changes modes");
		else
			zone_write(s, opt.word, CLASS_MUTATE,
			    "changes modes");
	}
}

/* ---- dd ---- */

void
handle_dd(const struct subject *s)
{
	struct content copy = s->c->input;
	const struct word *out = NULL;
	const char *text;
	size_t i;

	for (i = 1; i < s->argc; i++) {
		text = word_start(&s->argv[i]);
		if (strncmp(text, "of=", 3) == 0)
			out = word_rest(s->j, &s->argv[i], 3);
		else if (strncmp(text, "if=", 3) == 0)
			shell_file_get(s->j, s->c, word_rest(s->j,
			    &s->argv[i], 3), &copy);
		else if (s->argv[i].text == NULL)
			class_findf(s, CLASS_OPAQUE, "what is written is "
			    "not known: %s", &s->argv[i]);
	}
	if (out == NULL)
		class_find(s, CLASS_READ, "copies to its output");
	else {
		if (copy.kind != CONTENT_INHERITED)
			shell_file_set(s->j, s->c, out, &copy);
		zone_write(s, out, CLASS_LOSE, "overwrites a file");
	}
}

/* ---- patch, keys ---- */

/* patch FILE, -o FILE, -d DIRECTORY; else what the patch names, from here. */
void
handle_patch(const struct subject *s)
{
	static const struct optspec spec = { "BDFVYdgioprz", "prefix ifdef "
	    "fuzz version-control basename-prefix directory get input output "
	    "strip reject-file suffix quoting-style read-only", 0 };
	struct optscan o;
	struct opt opt;
	int operands = 0;

	class_find(s, CLASS_MUTATE, "changes files");
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND ? operands++ == 0 :
		    opt.value != NULL && (opt_is(&opt, 'o', "output") ||
		    opt_is(&opt, 'd', "directory")))
			zone_write(s, opt.kind == OPT_OPERAND ? opt.word :
			    opt.value, CLASS_MUTATE, "changes files");
	}
}

/* ssh-keygen writes keys, most often to ~/.ssh. */
void
handle_keygen(const struct subject *s)
{
	static const struct optspec spec = { "abCDEfFIJKmMnNOPRrsStTVwWYZz",
	    NULL, 0 };
	const struct word *file = NULL;
	struct optscan o;
	struct opt opt;
	int shows = 0;

	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt_is(&opt, 'f', NULL))
			file = opt.value;
		else if (opt.kind == OPT_SHORT && opt.letter != 0 &&
		    strchr("lyFBHQ", opt.letter) != NULL)
			shows = 1;
	}
	if (shows)
		class_find(s, CLASS_READ, "shows keys");
	else if (file == NULL)
		class_find(s, CLASS_ELEVATED, "writes keys to ~/.ssh");
	else
		zone_write(s, file, CLASS_MUTATE, "writes a key");
}

/* openssl: connections, and files that -out names. */
void
handle_openssl(const struct subject *s)
{
	static const struct optspec spec = { NULL, "out outform! keyout "
	    "CAcreateserial! in inform! inkey key", OPT_ONE_DASH };
	static const char *const connects[] = { "s_client", "s_server",
		"s_time", "ocsp", "cmp", NULL };
	struct optscan o;
	struct opt opt;

	class_find(s, CLASS_READ, "works on keys and digests");
	if (s->argc > 1 && in_list(word_start(&s->argv[1]), connects))
		handle_net_write(s);
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt))
		if (opt.kind == OPT_LONG && opt.value != NULL &&
		    (strcmp(opt.name, "out") == 0 ||
		    strcmp(opt.name, "keyout") == 0))
			zone_write(s, opt.value, CLASS_MUTATE,
			    "writes a file");
}

/* ---- rsync ---- */

static int
is_remote(const struct word *w)
{
	const char *text = word_start(w), *colon;

	if (strncmp(text, "rsync://", 8) == 0)
		return (1);
	colon = strchr(text, ':');
	return (colon != NULL && colon != text && (strchr(text, '/') == NULL ||
	    colon < strchr(text, '/')));
}

void
handle_rsync(const struct subject *of)
{
	struct subject at = *of, *s = &at;
	static const struct optspec spec = { "efBTMm", "rsh filter exclude "
	    "include exclude-from include-from files-from block-size "
	    "temp-dir partial-dir backup-dir suffix compare-dest copy-dest "
	    "link-dest chmod chown usermap groupmap bwlimit timeout "
	    "contimeout port max-size min-size log-file log-file-format "
	    "out-format password-file address rsync-path sockopts "
	    "remote-option info debug max-delete", 0 };
	const struct word *target = NULL, *last = NULL;
	int dry = opt_has(s, 1, &spec, 'n', "dry-run");
	int deletes = 0, reads = 0;
	struct optscan o;
	struct opt opt;

	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND) {
			if (last != NULL && is_remote(last))
				reads = 1;
			last = target = opt.word;
			continue;
		}
		if (opt.kind == OPT_LONG && (strncmp(opt.name, "delete", 6) ==
		    0 || strncmp(opt.name, "del", 4) == 0))
			deletes = 1;
		if (opt.value != NULL && (opt_is(&opt, 'e', "rsh") ||
		    (opt.kind == OPT_LONG && strcmp(opt.name, "rsync-path") ==
		    0)))
			subject_hidden_code(s, opt.value);
	}
	if (target == NULL) {
		class_find(s, CLASS_READ, "copies nothing");
		return;
	}
	at.hosts = hosts_of(s, 1, &spec, HOSTS_REMOTES);
	if (is_remote(target)) {
		class_findf(s, CLASS_NET_WRITE, "copies to another host: %s",
		    target);
		return;
	}
	if (dry) {
		class_find(s, reads ? CLASS_NET_READ : CLASS_READ,
		    "shows what it would copy");
		return;
	}
	if (deletes && zone_wipes(s, target)) {
		class_findf(s, HARD_WIPE, "deletes all of %s", target);
		return;
	}
	if (reads)
		class_find(s, CLASS_NET_READ, "copies from another host");
	zone_write(s, target, CLASS_MUTATE, "copies files");
}
