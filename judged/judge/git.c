/*
 * git: what its subcommands do, and the many places where it executes.
 */
#include <string.h>
#include <strings.h>

#include "hosts.h"
#include "judge_int.h"
#include "options.h"
#include "zone.h"

struct git {
	const struct subject	*s;
	struct subject		 sub;	/* argv from the subcommand on */
	const char		*name;	/* of the subcommand */
	const char		*cwd;
};

static void
git_config_option(const struct subject *s, const struct word *w)
{
	const char *text = word_start(w), *eq = strchr(text, '=');

	if (w->text == NULL) {
		class_find(s, CLASS_OPAQUE, "a setting of git's that is not "
		    "known");
		return;
	}
	if (eq != NULL)
		git_key(s, judging_strndup(s->j, text, (size_t)(eq - text)),
		    word_rest(s->j, w, (size_t)(eq + 1 - text)));
}

/* "git --config-env" and what GIT_CONFIG_* would do is asked elsewhere. */

/* ---- subcommands ---- */

typedef void git_handler(const struct git *);

static int
has(const struct git *g, char letter, const char *name)
{
	return (opt_has(&g->sub, 1, NULL, letter, name));
}

static const struct word *
operand(const struct git *g, size_t i)
{
	return (opt_operand(&g->sub, 1, NULL, i));
}

/* 1 if a word of the subcommand is that, wherever it stands. */
static int
has_word(const struct git *g, const char *text)
{
	size_t i;

	for (i = 1; i < g->sub.argc; i++)
		if (word_static(&g->sub.argv[i]) != NULL &&
		    strcmp(g->sub.argv[i].text, text) == 0)
			return (1);
	return (0);
}

static void
destroy_if(const struct git *g, int bad, enum class_id otherwise,
    const char *rule)
{
	class_find(g->s, bad ? CLASS_DESTROY : otherwise, bad ? rule :
	    "changes a repository");
}

static void
git_reset(const struct git *g)
{
	destroy_if(g, has(g, 0, "hard") || has(g, 0, "merge") ||
	    has(g, 0, "keep"), CLASS_MUTATE, "throws uncommitted changes away");
}

static void
git_clean(const struct git *g)
{
	static const struct optspec spec = { "e", "exclude", 0 };

	destroy_if(g, !opt_has(&g->sub, 1, &spec, 'n', "dry-run") &&
	    (opt_has(&g->sub, 1, &spec, 'f', "force") ||
	    opt_has(&g->sub, 1, &spec, 'i', "interactive") ||
	    g->sub.argc > 1), CLASS_READ,
	    "deletes files that are not in the repository");
}

static void
git_checkout(const struct git *g)
{
	size_t i, paths = g->sub.argc;
	int everything = 0;
	const char *text;

	for (i = 1; i < g->sub.argc; i++) {
		text = word_start(&g->sub.argv[i]);
		if (strcmp(text, "--") == 0)
			paths = i + 1;
		if (strcmp(text, ".") == 0 || strcmp(text, "./") == 0 ||
		    strcmp(text, "*") == 0 || strcmp(text, ":/") == 0)
			everything = 1;
	}
	destroy_if(g, everything || paths < g->sub.argc || has(g, 'f',
	    "force") || has(g, 0, "discard-changes"), CLASS_MUTATE,
	    "throws uncommitted changes away");
}

static void
git_restore(const struct git *g)
{
	destroy_if(g, !(has(g, 'S', "staged") && !has(g, 'W', "worktree")),
	    CLASS_MUTATE, "throws uncommitted changes away");
}

static void
git_switch(const struct git *g)
{
	destroy_if(g, has(g, 'f', "force") || has(g, 0, "discard-changes"),
	    CLASS_MUTATE, "throws uncommitted changes away");
}

static void
git_branch(const struct git *g)
{
	static const struct optspec spec = { "u", "set-upstream-to contains "
	    "no-contains merged no-merged sort points-at format", 0 };
	int deletes = opt_has(&g->sub, 1, &spec, 'd', "delete");
	int force = opt_has(&g->sub, 1, &spec, 'f', "force");

	if (opt_has(&g->sub, 1, &spec, 'D', NULL) || (deletes && force))
		class_find(g->s, CLASS_DESTROY, "deletes a branch that may "
		    "not be merged");
	else if (opt_operand(&g->sub, 1, &spec, 0) == NULL &&
	    !opt_has(&g->sub, 1, &spec, 'u', "set-upstream-to"))
		class_find(g->s, CLASS_READ, "lists branches");
	else
		class_find(g->s, CLASS_MUTATE, "changes branches");
}

static void
git_stash(const struct git *g)
{
	const struct word *verb = operand(g, 0);
	const char *text = verb == NULL ? "push" : word_start(verb);

	if (strcmp(text, "clear") == 0 || strcmp(text, "drop") == 0)
		class_find(g->s, CLASS_DESTROY, "throws stashed changes "
		    "away");
	else if (strcmp(text, "list") == 0 || strcmp(text, "show") == 0)
		class_find(g->s, CLASS_READ, "shows stashes");
	else
		class_find(g->s, CLASS_MUTATE, "changes stashes");
}

static void
net_read(const struct git *g, const char *rule)
{
	size_t i;

	for (i = 1; i < g->sub.argc; i++) {
		if (!word_known(&g->sub.argv[i])) {
			class_findf(g->s, CLASS_OPAQUE, "what is asked of "
			    "the network is not known: %s",
			    &g->sub.argv[i]);
			return;
		}
	}
	class_find(g->s, CLASS_NET_READ, rule);
}

/* A directory that is made or filled: outside it is more than a change. */
static void
elsewhere(const struct git *g, const struct word *directory)
{
	struct subject there = *g->s;
	struct command c = *g->s->c, *kept;

	c.cwd = g->cwd;
	kept = judging_alloc(g->s->j, sizeof(*kept));
	*kept = c;
	there.c = kept;
	if (zone_of(&there, directory) > ZONE_UNKNOWN)
		zone_write(&there, directory, CLASS_MUTATE, "makes a "
		    "repository");
}

/* clone, fetch, pull, ls-remote: options and addresses that execute. */
/* ext::COMMAND: "% " is a blank within a word. */
static void
git_ext(const struct git *g, const struct word *w)
{
	char *text = judging_strndup(g->s->j, w->text + 5, w->len - 5), *p;

	for (p = text; *p != '\0'; p++)
		if (p[0] == '%' && p[1] == ' ')
			*p = '\\';
	subject_hidden_code(g->s, word_make(g->s->j, text, w));
	if ((w->flags & WORD_PREFIX) != 0)
		subject_hidden_code(g->s, word_rest(g->s->j, w, 5));
}

static void
git_fetch(const struct git *g)
{
	static const struct optspec spec = { "ucbojX", "upload-pack config "
	    "branch origin depth template reference jobs server-option "
	    "shallow-since exec strategy strategy-option", 0 };
	const char *text;
	struct optscan o;
	struct opt opt;
	int operands = 0;

	opt_begin(&o, &g->sub, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND) {
			text = word_start(opt.word);
			if (operands++ == 1 && strcmp(g->name, "clone") == 0)
				elsewhere(g, opt.word);
			if (strncmp(text, "ext::", 5) == 0)
				git_ext(g, opt.word);
			continue;
		}
		if (opt.value == NULL)
			continue;
		if (opt_is(&opt, 0, "upload-pack") || (opt.letter == 'u' &&
		    strcmp(g->name, "clone") == 0) || (opt.kind == OPT_LONG &&
		    strcmp(opt.name, "exec") == 0))
			subject_hidden_code(g->s, opt.value);
		if (strcmp(g->name, "clone") == 0 && opt_is(&opt, 'c',
		    "config"))
			git_config_option(g->s, opt.value);
	}
	net_read(g, "reads from another repository");
}

static void
git_push(const struct git *g)
{
	static const struct optspec spec = { "o", "receive-pack exec repo "
	    "push-option sendmail-cmd to-cmd cc-cmd header-cmd "
	    "smtp-server! to cc bcc from subject", 0 };
	struct optscan o;
	struct opt opt;

	opt_begin(&o, &g->sub, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_LONG && opt.value != NULL &&
		    (opt_is(&opt, 0, "receive-pack") ||
		    strcmp(opt.name, "exec") == 0 ||
		    ends_with(opt.name, "-cmd")))
			subject_hidden_code(g->s, opt.value);
		if (opt.kind == OPT_OPERAND && strncmp(word_start(opt.word),
		    "ext::", 5) == 0)
			subject_hidden_code(g->s, word_rest(g->s->j, opt.word,
			    5));
	}
	class_find(g->s, CLASS_NET_WRITE, "writes to another repository");
}

static void
git_config(const struct git *g)
{
	static const struct optspec spec = { "ft", "file blob type default "
	    "value", 0 };
	const struct word *key = NULL, *value = NULL;
	struct optscan o;
	struct opt opt;
	const char *text;
	int first = 1, writes = 0, host = 0;

	opt_begin(&o, &g->sub, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind != OPT_OPERAND) {
			if (opt_is(&opt, 'e', "edit") || opt_is(&opt, 0,
			    "unset") || opt_is(&opt, 0, "unset-all") ||
			    opt_is(&opt, 0, "remove-section"))
				writes = 1;
			if (opt_is(&opt, 0, "global") ||
			    opt_is(&opt, 0, "system"))
				writes |= 2;
			if (opt_is(&opt, 0, "system"))
				host = 1;
			continue;
		}
		text = word_start(opt.word);
		if (first && (strcmp(text, "set") == 0 ||
		    strcmp(text, "get") == 0 || strcmp(text, "list") == 0 ||
		    strcmp(text, "unset") == 0)) {
			first = 0;
			continue;
		}
		first = 0;
		if (key == NULL)
			key = opt.word;
		else if (value == NULL)
			value = opt.word;
	}
	if (key != NULL && value != NULL) {
		git_key(g->s, word_start(key), value);
		writes |= 1;
	}
	if (host && (writes & 1) != 0)
		class_find(g->s, CLASS_ELEVATED, "changes git's configuration "
		    "for all of the host");
	class_find(g->s, (writes & 1) != 0 ? CLASS_MUTATE : CLASS_READ,
	    (writes & 1) != 0 ? "changes git's configuration" :
	    "shows git's configuration");
}

static void
git_rebase(const struct git *g)
{
	static const struct optspec spec = { "xsX", "exec strategy "
	    "strategy-option onto", 0 };
	struct optscan o;
	struct opt opt;

	class_find(g->s, CLASS_MUTATE, "rewrites commits");
	opt_begin(&o, &g->sub, 1, &spec);
	while (opt_next(&o, &opt))
		if (opt.value != NULL && opt_is(&opt, 'x', "exec"))
			subject_code(g->s, DIALECT_DASH, SHELL_CHILD,
			    opt.value);
}

/* bisect run CMD..., submodule foreach CMD: the rest is a command. */
static void
git_bisect(const struct git *g)
{
	static const char *const shows[] = { "log", "view", "visualize",
		"terms", "help", NULL };

	class_find(g->s, g->sub.argc > 1 && in_list(word_start(
	    &g->sub.argv[1]), shows) ? CLASS_READ : CLASS_MUTATE,
	    "looks for a commit");
	if (g->sub.argc > 2 && word_is(&g->sub.argv[1], "run"))
		subject_argv(g->s, g->sub.argv + 2, g->sub.argc - 2);
}

static void
git_submodule(const struct git *g)
{
	size_t i;

	for (i = 1; i < g->sub.argc; i++) {
		if (!word_is(&g->sub.argv[i], "foreach"))
			continue;
		while (i + 1 < g->sub.argc && word_start(
		    &g->sub.argv[i + 1])[0] == '-')
			i++;
		if (i + 2 == g->sub.argc)
			subject_code(g->s, DIALECT_DASH, SHELL_CHILD,
			    &g->sub.argv[i + 1]);
		else if (i + 1 < g->sub.argc)
			subject_argv(g->s, g->sub.argv + i + 1,
			    g->sub.argc - i - 1);
		return;
	}
	if (has_word(g, "update") || has_word(g, "add"))
		net_read(g, "reads from another repository");
	else if (has_word(g, "deinit"))
		class_find(g->s, CLASS_LOSE, "removes a submodule's files");
	else
		class_find(g->s, has_word(g, "status") || g->sub.argc == 1 ?
		    CLASS_READ : CLASS_MUTATE, "submodules");
}

static void
git_filter(const struct git *g)
{
	static const struct optspec spec = { "d", "setup env-filter "
	    "tree-filter index-filter parent-filter msg-filter "
	    "commit-filter tag-name-filter subdirectory-filter original", 0 };
	struct optscan o;
	struct opt opt;

	class_find(g->s, CLASS_DESTROY, "rewrites a repository's history");
	opt_begin(&o, &g->sub, 1, &spec);
	while (opt_next(&o, &opt))
		if (opt.kind == OPT_LONG && opt.value != NULL &&
		    (ends_with(opt.name, "-filter") ||
		    strcmp(opt.name, "setup") == 0))
			subject_code(g->s, DIALECT_DASH, SHELL_CHILD,
			    opt.value);
}

static void
git_remote(const struct git *g)
{
	const struct word *verb = operand(g, 0);
	const char *text = verb == NULL ? "" : word_start(verb);

	if (strcmp(text, "update") == 0 || strcmp(text, "show") == 0 ||
	    strcmp(text, "prune") == 0)
		net_read(g, "reads from another repository");
	else
		class_find(g->s, text[0] == '\0' || strcmp(text, "get-url") ==
		    0 ? CLASS_READ : CLASS_MUTATE, "remote repositories");
}

static void
git_init(const struct git *g)
{
	static const struct optspec spec = { "b", "template separate-git-dir "
	    "object-format initial-branch shared! bare!", 0 };
	const struct word *to = opt_operand(&g->sub, 1, &spec, 0);

	class_find(g->s, CLASS_MUTATE, "makes a repository");
	if (to != NULL)
		elsewhere(g, to);
}

static void
git_worktree(const struct git *g)
{
	static const struct optspec spec = { "bB", "reason", 0 };
	const struct word *to = opt_operand(&g->sub, 1, &spec, 1);

	if (to != NULL && has_word(g, "add"))
		elsewhere(g, to);
	if (has_word(g, "remove"))
		destroy_if(g, has(g, 'f', "force"), CLASS_MUTATE,
		    "deletes a working tree with its changes");
	else
		class_find(g->s, has_word(g, "list") ? CLASS_READ :
		    CLASS_MUTATE, "working trees");
}

static void
git_gc(const struct git *g)
{
	int now = strcmp(g->name, "prune") == 0 && !has(g, 'n', "dry-run");
	size_t i;

	for (i = 1; i < g->sub.argc; i++)
		if (strstr(word_start(&g->sub.argv[i]), "=now") != NULL ||
		    strstr(word_start(&g->sub.argv[i]), "=all") != NULL)
			now = 1;
	destroy_if(g, now, CLASS_MUTATE, "deletes what could bring lost "
	    "commits back");
}

static void
git_reflog(const struct git *g)
{
	if (has_word(g, "expire") || has_word(g, "delete"))
		class_find(g->s, CLASS_DESTROY, "deletes what could bring "
		    "lost commits back");
	else
		class_find(g->s, CLASS_READ, "shows a log");
}

static void
git_update_ref(const struct git *g)
{
	destroy_if(g, has(g, 'd', NULL), CLASS_MUTATE, "deletes a reference");
}

static void
git_tag(const struct git *g)
{
	static const struct optspec spec = { "muFn", "message local-user "
	    "file contains sort points-at merged no-merged format", 0 };

	class_find(g->s, opt_operand(&g->sub, 1, &spec, 0) == NULL ||
	    opt_has(&g->sub, 1, &spec, 'l', "list") ? CLASS_READ :
	    CLASS_MUTATE, "tags");
}

/* Options of read commands that execute. */
static void
git_show(const struct git *g)
{
	static const struct optspec spec = { "xt", "extcmd tool output "
	    "open-files-in-pager", 0 };
	struct optscan o;
	struct opt opt;

	class_find(g->s, CLASS_READ, "shows a repository");
	/* files of the repository, named from here */
	if (strcmp(g->name, "ls-files") == 0 || has(g, 0, "name-only") ||
	    (strcmp(g->name, "grep") == 0 && has(g, 'l', "name-only"))) {
		g->s->out->output.kind = CONTENT_UNKNOWN;
		g->s->out->output.names = NAMES_INSIDE;
	}
	opt_begin(&o, &g->sub, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND || opt.value == NULL)
			continue;
		if (strcmp(g->name, "difftool") == 0 && opt_is(&opt, 'x',
		    "extcmd"))
			subject_hidden_code(g->s, opt.value);
		else if (strcmp(g->name, "grep") == 0 && opt_is(&opt, 0,
		    "open-files-in-pager"))
			subject_hidden_code(g->s, opt.value);
		else if (opt_is(&opt, 0, "output"))
			zone_write(g->s, opt.value, CLASS_MUTATE,
			    "writes a file");
	}
	if (strcmp(g->name, "grep") != 0)
		return;
	/* -O takes its value only if it sticks to it */
	for (size_t i = 1; i < g->sub.argc; i++)
		if (strncmp(word_start(&g->sub.argv[i]), "-O", 2) == 0 &&
		    g->sub.argv[i].len > 2)
			subject_hidden_code(g->s, word_rest(g->s->j,
			    &g->sub.argv[i], 2));
}

static void
git_mutate(const struct git *g)
{
	class_find(g->s, CLASS_MUTATE, "changes a repository");
	if (g->s->c->cwd != NULL)
		elsewhere(g, word_make(g->s->j, ".", &g->s->argv[0]));
}

/* format-patch, bundle: files, where they are named or here. */
static void
git_write(const struct git *g)
{
	static const struct optspec spec = { "o", "output-directory "
	    "start-number", 0 };
	struct optscan o;
	struct opt opt;

	class_find(g->s, has(g, 0, "stdout") ? CLASS_READ : CLASS_MUTATE,
	    "writes commits to files");
	opt_begin(&o, &g->sub, 1, &spec);
	while (opt_next(&o, &opt))
		if (opt.value != NULL && opt_is(&opt, 'o',
		    "output-directory"))
			zone_write(g->s, opt.value, CLASS_MUTATE,
			    "writes commits to files");
}

static void
git_archive(const struct git *g)
{
	static const struct optspec spec = { "o", "output remote exec format "
	    "prefix", 0 };
	struct optscan o;
	struct opt opt;

	class_find(g->s, CLASS_READ, "packs a repository");
	opt_begin(&o, &g->sub, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.value == NULL)
			continue;
		if (opt_is(&opt, 'o', "output"))
			zone_write(g->s, opt.value, CLASS_MUTATE,
			    "writes an archive");
		else if (opt_is(&opt, 0, "exec"))
			subject_hidden_code(g->s, opt.value);
		else if (opt_is(&opt, 0, "remote"))
			net_read(g, "reads from another repository");
	}
}

/* lfs, subtree: what their first word says. */
static void
git_twice(const struct git *g)
{
	static const char *const pushes[] = { "push", "lock", "unlock", NULL };
	static const char *const fetches[] = { "pull", "fetch", "clone", "add",
		NULL };
	const struct word *w = opt_operand(&g->sub, 1, NULL, 0);

	if (w != NULL && in_list(word_start(w), pushes))
		git_push(g);
	else if (w != NULL && in_list(word_start(w), fetches))
		git_fetch(g);
	else
		class_find(g->s, CLASS_MUTATE, "changes a repository");
}

static const struct git_row {
	const char	*name;
	git_handler	*fn;
} git_rows[] = {
	{ "add", git_mutate }, { "am", git_mutate }, { "apply", git_mutate },
	{ "archive", git_archive }, { "bisect", git_bisect },
	{ "branch", git_branch }, { "checkout", git_checkout },
	{ "checkout-index", git_checkout },
	{ "cherry-pick", git_mutate }, { "clean", git_clean },
	{ "clone", git_fetch }, { "commit", git_mutate },
	{ "commit-tree", git_mutate }, { "config", git_config },
	{ "daemon", git_push }, { "fast-import", git_mutate },
	{ "fetch", git_fetch }, { "fetch-pack", git_fetch },
	{ "format-patch", git_write }, { "bundle", git_write },
	{ "filter-branch", git_filter }, { "filter-repo", git_filter },
	{ "gc", git_gc }, { "http-push", git_push }, { "init", git_init },
	{ "imap-send", git_push }, { "instaweb", git_push },
	{ "lfs", git_twice },
	{ "ls-remote", git_fetch }, { "maintenance", git_mutate },
	{ "merge", git_mutate }, { "mergetool", git_show },
	{ "mv", git_mutate }, { "notes", git_mutate },
	{ "p4", git_push }, { "prune", git_gc }, { "pull", git_fetch },
	{ "push", git_push }, { "read-tree", git_mutate },
	{ "rebase", git_rebase }, { "reflog", git_reflog },
	{ "remote", git_remote }, { "repack", git_mutate },
	{ "replace", git_mutate }, { "request-pull", git_fetch },
	{ "reset", git_reset }, { "restore", git_restore },
	{ "revert", git_mutate }, { "rm", git_mutate },
	{ "send-email", git_push }, { "send-pack", git_push },
	{ "sparse-checkout", git_mutate }, { "stage", git_mutate },
	{ "stash", git_stash }, { "submodule", git_submodule },
	{ "subtree", git_twice },
	{ "svn", git_push }, { "switch", git_switch },
	{ "symbolic-ref", git_mutate }, { "tag", git_tag },
	{ "update-index", git_mutate }, { "update-ref", git_update_ref },
	{ "worktree", git_worktree }, { "write-tree", git_mutate }
};

void
handle_git(const struct subject *of)
{
	static const struct optspec spec = { "Cc", "git-dir work-tree "
	    "namespace super-prefix config-env exec-path list-cmds", 0 };
	struct subject at = *of, *s = &at;
	struct git g = { .s = s, .cwd = s->c->cwd };
	struct finding_hosts *h;
	struct optspec stops = spec;
	static const char *const network[] = { "clone", "fetch", "pull",
		"push", "ls-remote", "fetch-pack", "send-pack", "archive",
		NULL };
	int configured = 0;
	struct optscan o;
	struct opt opt;
	size_t i;

	stops.flags = OPT_STOPS;
	opt_begin(&o, s, 1, &stops);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND)
			break;
		if (opt.value != NULL && opt_is(&opt, 'c', NULL)) {
			git_config_option(s, opt.value);
			configured = 1;
		}
		configured |= opt_is(&opt, 0, "config-env");
		if (opt.value != NULL && opt_is(&opt, 'C', NULL))
			g.cwd = word_static(opt.value) == NULL ? NULL :
			    shell_path(s->j, g.cwd, opt.value->text);
		if (opt.value != NULL && opt.kind == OPT_LONG &&
		    strcmp(opt.name, "exec-path") == 0)
			class_find(s, CLASS_OPAQUE, "git would execute what "
			    "lies there");
	}
	if (opt.kind != OPT_OPERAND) {
		class_find(s, CLASS_READ, "git shows its usage");
		return;
	}
	g.sub = *s;
	g.sub.argv = s->argv + opt.at;
	g.sub.argc = s->argc - opt.at;
	g.name = word_static(opt.word);
	if (g.name == NULL) {
		class_findf(s, CLASS_OPAQUE, "what git is to do is not known: "
		    "%s", opt.word);
		return;
	}
	/* a remote by its name may be anywhere, and settings rewrite URLs */
	if (in_list(g.name, network)) {
		h = hosts_of(&g.sub, 1, NULL, HOSTS_REPOSITORIES);
		h->unsure |= h->n == 0;
		h->proxied = configured;
		h->unsure |= configured;
		at.hosts = h;
	}
	/* what it changes lies where -C says */
	if (g.cwd != s->c->cwd) {
		struct command *there = judging_alloc(s->j, sizeof(*there));
		struct subject *moved = judging_alloc(s->j, sizeof(*moved));

		*there = *s->c;
		there->cwd = g.cwd;
		*moved = *s;
		moved->c = there;
		g.s = moved;
		g.sub.c = there;
	}
	/* exec-path is given with "=" alone */
	for (i = 0; i < sizeof(git_rows) / sizeof(git_rows[0]); i++) {
		if (strcmp(git_rows[i].name, g.name) == 0) {
			git_rows[i].fn(&g);
			return;
		}
	}
	git_show(&g);
}
