/*
 * grep: lines that match, by ripgrep.
 *
 * What is searched is opened here, beneath a root; ripgrep gets the directory
 * as its working directory, or the file as its standard input, and no path
 * that anybody named.  Pattern and options are items of its arguments, each in
 * a form that can be nothing else.
 */
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "globs.h"
#include "grep_hits.h"
#include "grep_json.h"
#include "grep_run.h"
#include "out.h"
#include "path.h"
#include "tool.h"
#include "without.h"

#define PATTERN_MAX	65536	/* bytes */
#define CONTEXT_MAX	100
#define LIMIT_INITIAL	1000
#define LIMIT_MOST	10000
#define PATH_ROOM	(PATH_ARG_MAX + 1)

struct search {
	struct tool	*t;
	const char	*pattern;
	int		 fixed, ignore_case, ignored, files_only;
	int64_t		 context, limit;
	struct glob	*glob;		/* NULL: every file */
	int		 glob_not;	/* those that don't match */
	int		 glob_whole;	/* of the path, not of the name */
	int		 glob_hidden;	/* hidden files are meant */
	const char	*type;		/* the same for rg, or NULL */
	const char	*prefix;	/* path as it was given, or "" */
	size_t		 prefixlen;
	int		 slash;		/* one is needed behind it */
	int		 one_file;

	struct hits	 hits;
	struct rg_reader reader;
	char		*buffer;	/* of the reader, or of "rg -l" */
	size_t		 nbuffer;
	char		 option[4][GLOB_BYTES_MAX + 32];
};

/* ---- arguments ---- */

/*
 * A glob that rg reads the same way is given to it too, as a file type, so
 * that it doesn't search what is left out here.  (Its own option --glob would
 * also bring back what .gitignore excludes.)
 */
static void
choose_type(struct search *s, const char *glob, size_t len)
{
	if (s->glob_whole || len == 0 || strpbrk(glob, "[]{}\\:") != NULL ||
	    strstr(glob, "**") != NULL)
		return;
	(void)snprintf(s->option[0], sizeof(s->option[0]),
	    "--type-add=myelin:%s", glob);
	s->type = s->glob_not ? "--type-not=myelin" : "--type=myelin";
}

static int
take_glob(struct search *s)
{
	const char *glob, *why;
	size_t len;

	if (arg_str(s->t, "glob", 0, &glob, &len) == -1)
		return (-1);
	if (glob == NULL)
		return (0);
	if (len > 1 && glob[0] == '!') {
		s->glob_not = 1;
		glob++;
		len--;
	}
	s->glob_whole = memchr(glob, '/', len) != NULL;
	s->glob_hidden = glob[0] == '.';
	s->glob = glob_make(glob, len, GLOB_BRACES, &why);
	if (s->glob == NULL)
		return (tool_fail(s->t, TOOL_BAD_ARGUMENT,
		    "the glob %s can't be used: %s", result_quote(glob, len),
		    why));
	if (strlen(glob) == len)
		choose_type(s, glob, len);
	return (0);
}

static int
take_arguments(struct search *s)
{
	struct tool *t = s->t;
	size_t len;

	if (arg_str(t, "pattern", 1, &s->pattern, &len) == -1)
		return (-1);
	if (len > PATTERN_MAX || strlen(s->pattern) != len)
		return (tool_fail(t, TOOL_BAD_ARGUMENT, "pattern is longer "
		    "than %d bytes or has a NUL", PATTERN_MAX));
	if (take_glob(s) == -1 ||
	    arg_bool(t, "fixed", &s->fixed) == -1 ||
	    arg_bool(t, "ignore_case", &s->ignore_case) == -1 ||
	    arg_bool(t, "ignored", &s->ignored) == -1 ||
	    arg_bool(t, "files_only", &s->files_only) == -1 ||
	    arg_int(t, "context", 0, 0, CONTEXT_MAX, &s->context) == -1 ||
	    arg_int(t, "limit", LIMIT_INITIAL, 1, LIMIT_MOST,
	    &s->limit) == -1)
		return (-1);
	return (0);
}

static void
add(struct rg_run *r, const char *arg)
{
	size_t n = 0;

	while (r->argv[n] != NULL)
		n++;
	if (n + 1 < RG_ARGS_MAX)
		r->argv[n] = arg;
}

/* The arguments of rg; all but numbers, pattern and glob are constants. */
static void
make_argv(struct search *s, struct rg_run *r)
{
	static const char *const always[] = { "rg", "--no-config",
	    "--color=never", "--no-follow", "--no-mmap", "--no-messages",
	    "--no-ignore-messages", "--no-ignore-dot", "--no-ignore-global",
	    "--no-require-git", "--crlf" };
	size_t i;

	for (i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		add(r, always[i]);
	if (s->ignored) {
		add(r, "--no-ignore");
		add(r, "--hidden");
		add(r, "--binary");
	}
	if (s->type != NULL && !s->one_file) {
		add(r, s->option[0]);
		add(r, s->type);
	}
	if (s->fixed)
		add(r, "--fixed-strings");
	if (s->ignore_case)
		add(r, "--ignore-case");
	if (s->files_only) {
		add(r, "--files-with-matches");
		add(r, "--null");
	} else {
		add(r, "--json");
		(void)snprintf(s->option[1], sizeof(s->option[1]),
		    "--context=%d", (int)s->context);
		(void)snprintf(s->option[2], sizeof(s->option[2]),
		    "--max-count=%d", (int)s->limit + 1);
		add(r, s->option[1]);
		add(r, s->option[2]);
	}
	if (!WITHOUT(grep_operands))
		add(r, "-e");
	add(r, s->pattern);
	if (!WITHOUT(grep_operands))
		add(r, "--");
	add(r, s->one_file ? "-" : ".");
}

/* ---- the output of rg ---- */

static int
wanted(void *arg, const char *path, size_t len)
{
	const struct search *s = arg;
	const char *name;

	if (s->glob == NULL || s->one_file)
		return (1);
	name = memrchr(path, '/', len);
	name = name == NULL ? path : name + 1;
	/* rg takes hidden files for meant when a type names them */
	if (s->type != NULL && !s->ignored && !s->glob_hidden &&
	    name[0] == '.')
		return (0);
	if (!s->glob_whole) {
		len -= (size_t)(name - path);
		path = name;
	}
	return (glob_match(s->glob, path, len) != s->glob_not);
}

static int
take_lines(void *arg, const char *bytes, size_t len)
{
	struct search *s = arg;

	return (rg_feed(&s->reader, bytes, len));
}

/* Paths that end in a NUL each. */
static int
take_paths(void *arg, const char *bytes, size_t len)
{
	struct search *s = arg;
	const char *nul;
	size_t n;

	for (; len > 0; bytes += n, len -= n) {
		nul = memchr(bytes, '\0', len);
		n = nul == NULL ? len : (size_t)(nul - bytes) + 1;
		if (s->nbuffer + n > PATH_ROOM)
			return (-1);
		memcpy(s->buffer + s->nbuffer, bytes, n);
		s->nbuffer += n;
		if (nul == NULL)
			continue;
		if (hits_path(&s->hits, s->buffer, s->nbuffer - 1) == -1)
			return (1);
		s->nbuffer = 0;
	}
	return (0);
}

/* ---- the answer ---- */

/* The path as it is given back, in malloc'd memory. */
static char *
full_path(const struct search *s, const struct hit_file *f, size_t *len)
{
	size_t n = s->prefixlen;
	char *path = malloc(n + 1 + f->len + 1);

	if (path == NULL)
		return (NULL);
	memcpy(path, s->prefix, n);
	if (!s->one_file) {
		if (s->slash)
			path[n++] = '/';
		memcpy(path + n, f->path, f->len);
		n += f->len;
	}
	*len = n;
	return (path);
}

static int
print_line(struct search *s, const char *path, size_t len,
    const struct hit_line *l)
{
	const char *mark = l->context ? "-" : ":";
	char number[40];

	if (l->line >= 0)
		(void)snprintf(number, sizeof(number), "%s%jd%s", mark,
		    (intmax_t)l->line, mark);
	else
		(void)snprintf(number, sizeof(number), "%s?%s", mark, mark);
	if (out_name(s->t, path, len) == -1 || out_str(s->t, number) == -1 ||
	    (l->skipped > 0 && out_str(s->t, "[...] ") == -1) ||
	    out_bytes(s->t, l->text, l->len) == -1)
		return (-1);
	return (out_str(s->t, l->cut ? " [...]\n" : "\n"));
}

static int
tell_line(struct search *s, json_t *lines, const char *path, size_t len,
    const struct hit_line *l)
{
	json_t *o = json_object();

	if (o == NULL || json_array_append_new(lines, o) == -1)
		return (tool_fail_errno(s->t, ENOMEM, "the answer"));
	result_bytes_into(o, "path", path, len);
	json_object_set_new(o, "line", json_integer(l->line));
	result_bytes_into(o, "text", l->text, l->len);
	if (l->skipped > 0)
		json_object_set_new(o, "skipped",
		    json_integer((json_int_t)l->skipped));
	if (l->cut || l->skipped > 0)
		json_object_set_new(o, "cut", json_true());
	if (l->context)
		json_object_set_new(o, "context", json_true());
	return (print_line(s, path, len, l));
}

static int
tell_lines(struct search *s, const struct hit_file *f, json_t *lines,
    const char *path, size_t len)
{
	size_t i;

	for (i = 0; i < f->n; i++) {
		/* between groups of lines that do not follow each other */
		if (s->context > 0 && (i > 0 ? f->line[i].line !=
		    f->line[i - 1].line + 1 : json_array_size(lines) > 0) &&
		    out_str(s->t, "--\n") == -1)
			return (-1);
		if (tell_line(s, lines, path, len, &f->line[i]) == -1)
			return (-1);
	}
	return (0);
}

static int
tell_file(struct search *s, const struct hit_file *f, json_t *lines,
    json_t *names)
{
	size_t len;
	char *path = full_path(s, f, &len);
	json_t *o;
	int error = -1;

	if (path == NULL)
		return (tool_fail_errno(s->t, ENOMEM, "the answer"));
	if (s->files_only || f->binary >= 0) {
		if ((o = json_object()) == NULL ||
		    json_array_append_new(names, o) == -1) {
			(void)tool_fail_errno(s->t, ENOMEM, "the answer");
			goto out;
		}
		result_bytes_into(o, "path", path, len);
	}
	if (s->files_only) {
		if (out_name(s->t, path, len) == 0)
			error = out_str(s->t, "\n");
		goto out;
	}
	error = tell_lines(s, f, lines, path, len);
	if (error == 0 && f->binary >= 0 &&
	    (out_name(s->t, path, len) == -1 ||
	    out_str(s->t, ": a binary file\n") == -1))
		error = -1;
out:
	free(path);
	return (error);
}

static int
tell(struct search *s, const struct rg_run *r)
{
	struct hits *h = &s->hits;
	json_t *lines = json_array(), *names = json_array();
	size_t i, files = 0;
	int error = 0;

	if (lines == NULL || names == NULL)
		error = tool_fail_errno(s->t, ENOMEM, "the answer");
	hits_sort(h);
	for (i = 0; i < h->n && error == 0; i++) {
		files += s->files_only || h->file[i].matches > 0;
		error = tell_file(s, &h->file[i], lines, names);
	}
	if (error == -1) {
		json_decref(lines);
		json_decref(names);
		return (-1);
	}
	if (s->files_only) {
		json_decref(lines);
		result_set(s->t, "files", names);
	} else {
		result_set(s->t, "matches", lines);
		result_set(s->t, "binary", names);
	}
	result_int(s->t, "count", (int64_t)h->matches);
	result_int(s->t, "file_count", (int64_t)files);
	result_bool(s->t, "more", h->more || r->stop != RG_DONE);
	if (r->stop == RG_LATE)
		result_int(s->t, "stopped_ms", RG_TIME_MS);
	if (r->stop == RG_TOO_MUCH)
		result_int(s->t, "stopped_bytes", (int64_t)RG_OUTPUT_MAX);
	/* with 2 and nothing said, there were files it could not read */
	if (r->status == 2)
		result_bool(s->t, "unread", 1);
	return (0);
}

/* ---- the search ---- */

/* Opens what is to be searched: a directory, or a regular file. */
static int
open_it(struct search *s, const struct path *p, struct rg_run *r)
{
	struct stat st;
	int fd = path_open(s->t, p, O_PATH);

	if (fd == -1)
		return (-1);
	if (fstat(fd, &st) == -1) {
		(void)tool_fail_errno(s->t, errno,
		    result_quote(p->bytes, p->len));
		(void)close(fd);
		return (-1);
	}
	(void)close(fd);
	s->one_file = !S_ISDIR(st.st_mode);
	if (s->one_file)
		r->file = path_open_file(s->t, p, &st);
	else
		r->dir = path_open_dir(s->t, p);
	return (r->file == -1 && r->dir == -1 ? -1 : 0);
}

static int
run(struct search *s, const struct path *p, struct rg_run *r)
{
	r->root = s->t->root[p->root].fd;
	r->time_ms = RG_TIME_MS;
	r->output = s->files_only ? take_paths : take_lines;
	r->arg = s;
	make_argv(s, r);
	if (rg_run(s->t, r) == -1)
		return (-1);
	if (s->hits.no_memory)
		return (tool_fail_errno(s->t, ENOMEM, "the search"));
	if (r->stop == RG_DONE && (r->status < 0 || r->status > 2))
		return (tool_fail(s->t, TOOL_IO, "ripgrep failed: %s",
		    r->nmessage == 0 ? "it said nothing" :
		    result_quote(r->message, r->nmessage)));
	/* It is told to be silent about files that it can't read. */
	if (r->stop == RG_DONE && r->status == 2 && r->nmessage > 0) {
		(void)tool_fail(s->t, TOOL_BAD_ARGUMENT,
		    "ripgrep does not take the pattern: %s",
		    result_quote(r->message, r->nmessage));
		result_bytes_into(s->t->error, "said", r->message,
		    r->nmessage);
		return (-1);
	}
	return (tell(s, r));
}

static int
search(struct search *s, const struct path *p)
{
	struct rg_run r = { .dir = -1, .file = -1 };
	int error = -1;

	if (take_arguments(s) == -1 || open_it(s, p, &r) == -1)
		return (-1);
	s->hits.limit = (size_t)s->limit;
	s->hits.context = s->context;
	s->hits.path_cost = s->prefixlen;
	s->hits.wanted = wanted;
	s->hits.arg = s;
	s->reader.event = hits_event;
	s->reader.arg = &s->hits;
	s->buffer = malloc(s->files_only ? PATH_ROOM : RG_HEAD_MAX);
	s->reader.head = s->buffer;
	s->reader.room = RG_HEAD_MAX;
	if (s->buffer == NULL)
		(void)tool_fail_errno(s->t, ENOMEM, "the search");
	else
		error = run(s, p, &r);
	if (r.dir != -1)
		(void)close(r.dir);
	if (r.file != -1)
		(void)close(r.file);
	return (error);
}

int
body_grep(struct tool *t)
{
	static struct search s;
	struct path p = { .bytes = NULL };
	char *freed = NULL;
	int error = -1;

	s.t = t;
	if (path_arg(t, ".", &p) == 0 && arg_bytes(t, "path", &s.prefix,
	    &s.prefixlen, &freed) == 0) {
		if (s.prefix == NULL || strcmp(s.prefix, ".") == 0) {
			s.prefix = "";
			s.prefixlen = 0;
		}
		s.slash = s.prefixlen > 0 && s.prefix[s.prefixlen - 1] != '/';
		error = search(&s, &p);
	}
	hits_free(&s.hits);
	free(s.buffer);
	free(freed);
	glob_free(s.glob);
	path_free(&p);
	return (error);
}
