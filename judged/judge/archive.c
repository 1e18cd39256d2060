/*
 * Archives, and the table of options that execute.
 */
#include <string.h>

#include "judge_int.h"
#include "options.h"
#include "zone.h"

/* ---- tar ---- */

static const struct optspec tar_spec = { "fCTXbFIgKLNVH", "file directory "
    "files-from exclude exclude-from checkpoint-action use-compress-program "
    "to-command info-script new-volume-script rsh-command "
    "listed-incremental transform strip-components owner group mode mtime "
    "format one-top-level suffix volno-file record-size rmt-command", 0 };

struct tar {
	int			 extracts;
	int			 lists;
	const struct word	*file;
	const struct word	*directory;
	int			 absolute;
};

static void
tar_letters(struct tar *t, const char *letters)
{
	for (; *letters != '\0'; letters++) {
		t->extracts |= *letters == 'x';
		t->lists |= *letters == 't' || *letters == 'd';
		t->absolute |= *letters == 'P';
	}
}

/* "exec=CMD" of a checkpoint; a command elsewhere. */
static void
tar_option(const struct subject *s, struct tar *t, const struct opt *opt)
{
	const char *text;

	if (opt->kind == OPT_SHORT)
		tar_letters(t, (char[]){ opt->letter, '\0' });
	if (opt_is(opt, 0, "extract") || opt_is(opt, 0, "get"))
		t->extracts = opt->kind == OPT_LONG &&
		    strlen(opt->name) > 2 ? 1 : t->extracts;
	if (opt->kind == OPT_LONG && (strcmp(opt->name, "list") == 0 ||
	    strcmp(opt->name, "diff") == 0 || strcmp(opt->name, "compare") ==
	    0))
		t->lists = 1;
	if (opt->value == NULL)
		return;
	text = word_start(opt->value);
	if (opt_is(opt, 'f', "file"))
		t->file = opt->value;
	else if (opt_is(opt, 'C', "directory"))
		t->directory = opt->value;
	else if (opt->kind == OPT_LONG && strlen(opt->name) > 11 &&
	    strncmp("checkpoint-action", opt->name, strlen(opt->name)) == 0) {
		if (strncmp(text, "exec=", 5) == 0)
			subject_hidden_code(s, word_rest(s->j, opt->value, 5));
		else if (opt->value->text == NULL)
			class_find(s, CLASS_OPAQUE, "tar may be told to "
			    "execute a command");
	} else if (opt_is(opt, 'I', "use-compress-program") ||
	    opt_is(opt, 'F', "info-script") || opt_is(opt, 0,
	    "new-volume-script") || opt_is(opt, 0, "rsh-command") ||
	    opt_is(opt, 0, "to-command"))
		subject_hidden_code(s, opt->value);
}

void
handle_tar(const struct subject *s)
{
	struct tar t;
	struct optscan o;
	struct opt opt;
	const char *first = s->argc > 1 ? word_start(&s->argv[1]) : "", *p;
	size_t skip = 1, next = 2;

	memset(&t, 0, sizeof(t));
	/* tar xzf FILE: letters, then their values */
	if (first[0] != '-' && first[0] != '\0' && word_static(&s->argv[1]) !=
	    NULL) {
		tar_letters(&t, first);
		for (p = first; *p != '\0'; p++) {
			if (strchr("fCbTXVgKLNFHI", *p) == NULL ||
			    next >= s->argc)
				continue;
			if (*p == 'f')
				t.file = &s->argv[next];
			else if (*p == 'C')
				t.directory = &s->argv[next];
			next++;
		}
		skip = next;
	}
	opt_begin(&o, s, skip, &tar_spec);
	while (opt_next(&o, &opt))
		if (opt.kind != OPT_OPERAND)
			tar_option(s, &t, &opt);
	if (o.uncertain)
		class_find(s, CLASS_OPAQUE, "tar may be told to execute a "
		    "command");
	/* what was packed is deleted */
	if (!t.extracts && !t.lists && opt_has(s, skip, &tar_spec, 0,
	    "remove-files")) {
		opt_begin(&o, s, skip, &tar_spec);
		while (opt_next(&o, &opt))
			if (opt.kind == OPT_OPERAND)
				zone_delete(s, opt.word, 1);
	}
	if (t.lists && !t.extracts) {
		class_find(s, CLASS_READ, "lists an archive");
	} else if (t.extracts) {
		if (t.absolute)
			class_find(s, CLASS_ELEVATED, "unpacks to wherever "
			    "the archive says");
		if (t.directory != NULL)
			zone_write(s, t.directory, CLASS_MUTATE,
			    "unpacks an archive");
		else
			zone_write(s, word_make(s->j, ".", &s->argv[0]),
			    CLASS_MUTATE, "unpacks an archive");
	} else if (t.file != NULL && strcmp(word_start(t.file), "-") != 0)
		zone_write(s, t.file, CLASS_MUTATE, "packs an archive");
	else
		class_find(s, CLASS_READ, "packs an archive to its output");
}

/* Lists, tests, or puts out what it reads. */
static int
archive_shows(const struct subject *s)
{
	static const struct {
		const char	*name;
		const char	*letters;
		const char	*verbs;
	} shows[] = {
		{ "gzip", "ctl", "" }, { "gunzip", "ctl", "" },
		{ "bzip2", "ct", "" }, { "bunzip2", "ct", "" },
		{ "xz", "ctl", "" }, { "unxz", "ctl", "" },
		{ "zstd", "ctl", "" }, { "unzip", "lvtpZc", "" },
		{ "zip", "", "" }, { "7z", "", "lt" }, { "7za", "", "lt" },
		{ "7zr", "", "lt" }, { "rar", "", "lvtp" },
		{ "unrar", "", "lvtp" }
	};
	static const char *const longs[] = { "stdout", "to-stdout", "test",
		"list", NULL };
	struct optscan o;
	struct opt opt;
	size_t i;

	for (i = 0; strcmp(shows[i].name, s->name) != 0; i++)
		continue;
	if (s->argc > 1 && word_start(&s->argv[1])[0] != '\0' &&
	    strchr(shows[i].verbs, word_start(&s->argv[1])[0]) != NULL &&
	    strchr(" bt", word_start(&s->argv[1])[1]) != NULL)
		return (1);
	if (shows[i].letters[0] == '\0')
		return (0);
	opt_begin(&o, s, 1, NULL);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_SHORT && strchr(shows[i].letters,
		    opt.letter) != NULL)
			return (1);
		if (opt.kind == OPT_LONG && in_list(opt.name, longs))
			return (1);
	}
	/* a filter */
	return (s->name[0] != 'u' && opt_operand(s, 1, NULL, 0) == NULL);
}

/* gpg: what only shows; keys may come from and go to servers. */
void
handle_gpg(const struct subject *s)
{
	static const char *const shows[] = { "list-keys", "list-public-keys",
		"list-secret-keys", "list-packets", "list-sigs", "verify",
		"fingerprint", "check-sigs", "version", "help", "show-keys",
		"export", "print-md", "verify-files", NULL };
	static const char *const fetches[] = { "recv-keys", "receive-keys",
		"refresh-keys", "search-keys", "locate-keys", "fetch-keys",
		NULL };
	static const struct optspec spec = { "oru", "output recipient "
	    "local-user homedir keyserver keyring passphrase cipher-algo "
	    "default-key pinentry-mode", 0 };
	struct optscan o;
	struct opt opt;
	int reads = 0;

	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.value != NULL && opt_is(&opt, 'o', "output")) {
			zone_write(s, opt.value, CLASS_MUTATE,
			    "writes a file");
			reads = -1;
		}
		if (opt.kind == OPT_LONG && strcmp(opt.name, "send-keys") == 0)
			handle_net_write(s);
		else if (opt.kind == OPT_LONG && in_list(opt.name, fetches))
			handle_net_read(s);
		if (reads == 0 && ((opt.kind == OPT_LONG && in_list(opt.name,
		    shows)) || (opt.kind == OPT_SHORT && strchr("kK",
		    opt.letter) != NULL)))
			reads = 1;
	}
	class_find(s, reads == 1 ? CLASS_READ : CLASS_MUTATE,
	    "works on keys and messages");
}

/* gzip, zip, unzip, 7z, ...: files of the workspace change. */
void
handle_archive(const struct subject *s)
{
	static const struct optspec spec = { "dPSoxbnt", NULL, 0 };
	static const char *const replaces[] = { "gzip", "gunzip", "bzip2",
		"bunzip2", "xz", "unxz", "zstd", NULL };
	struct optscan o;
	struct opt opt;
	size_t operands = 0;
	enum zone z;

	if (archive_shows(s)) {
		class_find(s, CLASS_READ, "shows what is packed");
		return;
	}
	class_find(s, CLASS_MUTATE, "packs or unpacks files");
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND) {
			z = zone_of(s, opt.word);
			/* gzip replaces them, zip makes the first */
			if (z > ZONE_OUT || (z == ZONE_OUT &&
			    (in_list(s->name, replaces) || (operands == 0 &&
			    same_name(s->name, "zip")))))
				zone_write(s, opt.word, CLASS_MUTATE,
				    "packs or unpacks files");
			operands++;
		} else if (opt.letter == 'o' && opt.value != NULL &&
		    strncmp(s->name, "7z", 2) == 0)
			zone_write(s, opt.value, CLASS_MUTATE,
			    "unpacks an archive");
		else if (opt.letter == 'd' && opt.value != NULL &&
		    same_name(s->name, "unzip"))
			zone_write(s, opt.value, CLASS_MUTATE,
			    "unpacks an archive");
	}
	if (same_name(s->name, "zip")) {
		for (size_t i = 1; i + 1 < s->argc; i++)
			if (strcmp(word_start(&s->argv[i]), "-TT") == 0 ||
			    strcmp(word_start(&s->argv[i]),
			    "--unzip-command") == 0)
				subject_hidden_code(s, &s->argv[i + 1]);
			else if (strncmp(word_start(&s->argv[i]),
			    "--unzip-command=", 16) == 0)
				subject_hidden_code(s, word_rest(s->j,
				    &s->argv[i], 16));
	}
}

/* ---- options that execute ---- */

static const struct code_row {
	const char	*program;
	char		 letter;
	const char	*name;
	const char	*shorts;	/* that take a value */
	const char	*longs;
} code_rows[] = {
	{ "man", 'P', "pager", "PCrRLmMSse", "pager config-file path "
	    "sections" },
	{ "rg", 0, "pre", "eftgABCmjMdrE", "pre regexp file type glob "
	    "max-count" },
	{ "split", 0, "filter", "abClnt", "filter bytes lines number "
	    "suffix-length additional-suffix" },
	{ "sort", 0, "compress-program", "koStT", "compress-program key "
	    "output buffer-size field-separator temporary-directory "
	    "files0-from parallel" },
	{ "less", 0, NULL, "oOpPtTxbkjyz", NULL },
	{ "pdflatex", 0, "shell-escape", NULL, NULL },
	{ "gdb", 'e', "eval-command", "exiIcpds", "eval-command ex iex "
	    "command x init-eval-command cd d pid p core c exec e symbols s "
	    "se tty args!" },
	{ "lldb", 'o', "one-line", "oOskKSfcnpwa", "one-line "
	    "one-line-before-file source source-before-file file core "
	    "attach-name attach-pid arch" },
	{ "ssh-keygen", 'D', NULL, "bCDfmNOPrRtTVYwz", NULL },
	{ "mysql", 'e', NULL, "ehuPD", NULL },
	{ "cpio", 0, "rsh-command", "FHCEIORM", "rsh-command file" },
	{ "dpkg-source", 0, NULL, NULL, NULL },
	{ "ctags", 0, NULL, NULL, NULL }
};

void
handle_code_options(const struct subject *s)
{
	const struct code_row *row = code_rows;
	struct optspec spec;
	struct optscan o;
	struct opt opt;
	const char *p;
	int operands = 0;

	while (strcmp(row->program, s->name) != 0)
		row++;
	spec.shorts = row->shorts;
	spec.longs = row->longs;
	spec.flags = same_name(s->name, "gdb") ? OPT_ONE_DASH : 0;
	class_find(s, same_name(s->name, "split") ? CLASS_MUTATE :
	    CLASS_READ, "reads and shows");
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		/* gdb --args PROGRAM ..., lldb -- PROGRAM ... */
		if ((row->name != NULL && opt.kind == OPT_LONG &&
		    same_name(s->name, "gdb") &&
		    strcmp(opt.name, "args") == 0) ||
		    (opt.kind == OPT_OPERAND && opt.at > 1 &&
		    same_name(s->name, "lldb") &&
		    word_is(&s->argv[opt.at - 1], "--"))) {
			size_t at = opt.kind == OPT_OPERAND ? opt.at : o.next;

			if (at < s->argc)
				subject_argv(s, s->argv + at, s->argc - at);
			return;
		}
		/* split FILE PREFIX */
		if (opt.kind == OPT_OPERAND && same_name(s->name, "split") &&
		    operands++ == 1)
			zone_write(s, opt.word, CLASS_MUTATE, "writes parts");
		if (opt.kind == OPT_OPERAND || opt.value == NULL)
			continue;
		if (same_name(s->name, "sort") && opt_is(&opt, 'o',
		    "output")) {
			zone_write(s, opt.value, CLASS_MUTATE,
			    "writes what it sorts");
			continue;
		}
		if (same_name(s->name, "gdb") ||
		    same_name(s->name, "lldb")) {
			p = word_start(opt.value);
			if (strncmp(p, "platform ", 9) == 0) {
				opt.value = word_rest(s->j, opt.value, 9);
				p += 9;
			}
			if (strncmp(p, "shell ", 6) == 0)
				subject_hidden_code(s, word_rest(s->j,
				    opt.value, 6));
			else if (p[0] == '!')
				subject_hidden_code(s, word_rest(s->j,
				    opt.value, 1));
			continue;
		}
		if (same_name(s->name, "mysql")) {
			p = strstr(word_start(opt.value), "\\!");
			if (p != NULL)
				subject_hidden_code(s, word_rest(s->j,
				    opt.value, (size_t)(p + 2 -
				    opt.value->text)));
			continue;
		}
		/* a prefix of one letter could be many options */
		if ((row->letter != 0 && opt.letter == row->letter) ||
		    (opt.kind == OPT_LONG && row->name != NULL &&
		    strlen(opt.name) > 1 && opt_is(&opt, 0, row->name)))
			subject_hidden_code(s, opt.value);
	}
	if (o.uncertain && (same_name(s->name, "sort") ||
	    same_name(s->name, "rg")))
		class_findf(s, CLASS_OPAQUE, "%s may be told to execute a "
		    "command", &s->argv[0]);
}
