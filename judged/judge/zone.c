/*
 * Where paths lie.
 */
#include <string.h>

#include "hosts.h"
#include "without.h"
#include "../shell/pattern.h"
#include "zone.h"

/* "/x" is that path alone; "/x/" is what lies beneath; "/x*" what begins so. */
struct zone_row {
	const char	*path;
	enum zone	 zone;
};

static const struct zone_row rows[] = {
	{ "/dev/null", ZONE_SINK }, { "/dev/zero", ZONE_SINK },
	{ "/dev/full", ZONE_SINK }, { "/dev/tty", ZONE_SINK },
	{ "/dev/stdin", ZONE_SINK }, { "/dev/stdout", ZONE_SINK },
	{ "/dev/stderr", ZONE_SINK }, { "/dev/fd/", ZONE_SINK },
	{ "/dev/pts/", ZONE_SINK }, { "/proc/self/fd/", ZONE_SINK },
	{ "/dev/random", ZONE_SINK }, { "/dev/urandom", ZONE_SINK },
	{ "/dev/tcp/", ZONE_NET }, { "/dev/udp/", ZONE_NET },
	{ "/dev/shm/", ZONE_TMP }, { "/tmp/", ZONE_TMP },
	{ "/var/tmp/", ZONE_TMP },
	{ "/dev/sd*", ZONE_DISK }, { "/dev/hd*", ZONE_DISK },
	{ "/dev/vd*", ZONE_DISK }, { "/dev/xvd*", ZONE_DISK },
	{ "/dev/nvme*", ZONE_DISK }, { "/dev/mmcblk*", ZONE_DISK },
	{ "/dev/md*", ZONE_DISK }, { "/dev/dm-*", ZONE_DISK },
	{ "/dev/mapper/", ZONE_DISK }, { "/dev/disk/", ZONE_DISK },
	{ "/dev/loop*", ZONE_DISK }, { "/dev/sr*", ZONE_DISK },
	{ "/dev/root", ZONE_DISK },
	{ "/boot", ZONE_BOOT }, { "/boot/", ZONE_BOOT },
	{ "/etc/fstab", ZONE_BOOT }, { "/etc/default/grub", ZONE_BOOT },
	{ "/etc/grub.d/", ZONE_BOOT },
	{ "/etc/crypttab", ZONE_BOOT },
	{ "/proc/sysrq-trigger", ZONE_KERNEL }, { "/dev/mem", ZONE_KERNEL },
	{ "/dev/kmem", ZONE_KERNEL }, { "/dev/port", ZONE_KERNEL },
	{ "/proc/kcore", ZONE_KERNEL },
	{ "/etc/passwd", ZONE_ACCOUNT }, { "/etc/passwd-", ZONE_ACCOUNT },
	{ "/etc/shadow", ZONE_ACCOUNT }, { "/etc/shadow-", ZONE_ACCOUNT },
	{ "/etc/group", ZONE_ACCOUNT }, { "/etc/gshadow", ZONE_ACCOUNT },
	{ "/etc/subuid", ZONE_ACCOUNT }, { "/etc/subgid", ZONE_ACCOUNT },
	{ "/etc/sudoers", ZONE_ACCOUNT }, { "/etc/sudoers.d", ZONE_ACCOUNT },
	{ "/etc/sudoers.d/", ZONE_ACCOUNT },
	{ "/etc/doas.conf", ZONE_ACCOUNT },
	{ "/etc/myelin", ZONE_SELF }, { "/etc/myelin/", ZONE_SELF },
	{ "/var/lib/myelin", ZONE_SELF }, { "/var/lib/myelin/", ZONE_SELF },
	{ "/run/myelin", ZONE_SELF }, { "/run/myelin/", ZONE_SELF },
	{ "/var/run/myelin", ZONE_SELF }, { "/var/run/myelin/", ZONE_SELF },
	{ "/run/myelin-uids", ZONE_SELF }, { "/run/myelin-uids/", ZONE_SELF },
	{ "/usr/libexec/myelin", ZONE_SELF },
	{ "/usr/libexec/myelin/", ZONE_SELF },
	{ "/usr/share/myelin", ZONE_SELF },
	{ "/usr/share/myelin/", ZONE_SELF },
	{ "/usr/sbin/myelin*", ZONE_SELF }, { "/usr/bin/myelin*", ZONE_SELF },
	{ "/usr/lib/systemd/system/myelin*", ZONE_SELF },
	{ "/lib/systemd/system/myelin*", ZONE_SELF },
	{ "/etc/systemd/system/myelin*", ZONE_SELF }
};

#define NROWS	(sizeof(rows) / sizeof(rows[0]))

/* In home or any directory: read by programs that were not asked to. */
static const char *const persist_home[] = {
	".ssh", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout",
	".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".login",
	".cshrc", ".kshrc", ".inputrc", ".gnupg", ".netrc", ".pgpass",
	".aws", ".kube", ".docker", ".gitconfig", ".npmrc", ".pypirc",
	".vimrc", ".exrc", ".gdbinit", ".pam_environment", ".xinitrc",
	".xprofile", ".xsession", ".forward", ".rhosts", ".shosts", ".tmux.conf",
	".screenrc", ".config/autostart", ".config/environment.d",
	".config/systemd", ".config/git",
	".config/fish", ".local/share/systemd", NULL
};

/* Deleting one of these, or all in it, is a wipe. */
static const char *const targets[] = {
	"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32",
	"/lib64", "/libx32", "/proc", "/root", "/run", "/sbin", "/sys",
	"/usr", "/var", NULL
};

/* ---- paths ---- */

/* 1 if path is dir or lies beneath it. */
static int
beneath(const char *path, const char *dir)
{
	size_t n;

	if (dir == NULL)
		return (0);
	n = strlen(dir);
	if (n == 1)
		return (path[0] == '/');
	return (strncmp(path, dir, n) == 0 &&
	    (path[n] == '/' || path[n] == '\0'));
}

static int
row_matches(const struct zone_row *row, const char *path)
{
	size_t n;

	/* Most begin otherwise. */
	if (path[0] != '/' || path[1] != row->path[1])
		return (0);
	n = strlen(row->path);
	if (row->path[n - 1] == '*')
		return (strncmp(path, row->path, n - 1) == 0);
	if (row->path[n - 1] == '/')
		return (strncmp(path, row->path, n) == 0);
	return (strcmp(path, row->path) == 0);
}

/* 0 if no row begins as the path does: as what lies in home. */
static int
in_a_row(const char *path)
{
	static char begins[256], known;
	size_t i;

	for (i = 0; !known && i < NROWS; i++)
		begins[(unsigned char)rows[i].path[1]] = 1;
	known = 1;
	return (path[0] == '/' && begins[(unsigned char)path[1]]);
}

static int
in_roots(const struct subject *s, const char *path)
{
	const struct judge_context *x = judging_context(s->j);
	size_t i;

	if (beneath(path, s->c->home) || beneath(path, x->home))
		return (1);
	for (i = 0; i < x->nroots; i++)
		if (beneath(path, x->roots[i]))
			return (1);
	return (0);
}

/* Names that make even a file of home or a workspace more than a file. */
static int
persists(const struct subject *s, const char *path)
{
	const char *home = s->c->home != NULL ? s->c->home :
	    judging_context(s->j)->home;
	const char *rest, *hooks;
	size_t i, n;

	if (home != NULL && beneath(path, home)) {
		rest = path + strlen(home);
		rest += rest[0] == '/';
		/* all of them are hidden */
		for (i = 0; rest[0] == '.' && persist_home[i] != NULL; i++) {
			n = strlen(persist_home[i]);
			if (strncmp(rest, persist_home[i], n) == 0 &&
			    (rest[n] == '\0' || rest[n] == '/'))
				return (1);
		}
	}
	hooks = strstr(path, "/.git/");
	return (hooks != NULL && (beneath(hooks, "/.git/hooks") ||
	    strcmp(hooks, "/.git/config") == 0));
}

/* What supervisord said is this instance's: state, sockets, configuration. */
static int
is_instance(const struct subject *s, const char *path)
{
	const struct judge_context *x = judging_context(s->j);
	size_t i;

	for (i = 0; i < x->nown; i++)
		if (beneath(path, x->own[i]))
			return (1);
	return (0);
}

enum zone
zone_of_path(const struct subject *s, const char *path)
{
	size_t i;

	if (is_instance(s, path) && !WITHOUT(self_instance))
		return (ZONE_SELF);
	for (i = 0; in_a_row(path) && i < NROWS; i++)
		if (row_matches(&rows[i], path))
			return (rows[i].zone);
	if (!in_roots(s, path))
		return (strcmp(path, "/tmp") == 0 ||
		    strcmp(path, "/var/tmp") == 0 ? ZONE_TMP : ZONE_OUT);
	return (persists(s, path) ? ZONE_PERSIST : ZONE_WORK);
}

/* ---- patterns ---- */

/* Bytes of a pattern up to its first component that is one. */
static size_t
plain_part(const char *text)
{
	size_t n = strcspn(text, "*?[");

	while (n > 0 && text[n - 1] != '/')
		n--;
	return (n);
}

/* Component by component: "*" does not match a slash. */
static int
path_match(const char *pattern, const char *path)
{
	size_t np, nt;

	for (;;) {
		pattern += strspn(pattern, "/");
		path += strspn(path, "/");
		if (*pattern == '\0' || *path == '\0')
			return (*pattern == *path);
		np = strcspn(pattern, "/");
		nt = strcspn(path, "/");
		if (!pattern_match(pattern, np, path, nt))
			return (0);
		pattern += np;
		path += nt;
	}
}

/* A pattern that matches path, or a directory above it. */
static int
path_above(struct judging *j, const char *pattern, const char *path)
{
	size_t n = strlen(path);
	char *dir = judging_strndup(j, path, n);

	for (;;) {
		if (path_match(pattern, dir))
			return (1);
		while (n > 1 && dir[n - 1] != '/')
			n--;
		if (n <= 1)
			return (0);
		dir[--n] = '\0';
	}
}

/* The absolute path of a word, patterns left in; NULL if it isn't known. */
static const char *
absolute(const struct subject *s, const struct word *w)
{
	if (w->text == NULL)
		return (NULL);
	return (shell_path(s->j, s->c->cwd, w->text[0] == '\0' ? "." :
	    w->text));
}

static enum zone
zone_of_pattern(const struct subject *s, const char *path)
{
	enum zone worst = ZONE_WORK, z;
	char *dir;
	size_t i, n;

	/* what it can match of the places that matter most */
	for (i = 0; i < NROWS; i++)
		if (rows[i].zone > worst && rows[i].zone != ZONE_NET &&
		    path_match(path, rows[i].path))
			worst = rows[i].zone;
	for (i = 0; i < judging_context(s->j)->nown; i++)
		if (path_match(path, judging_context(s->j)->own[i]))
			worst = ZONE_SELF;
	n = plain_part(path);
	dir = judging_strndup(s->j, path, n);
	while (n > 1 && dir[n - 1] == '/')
		dir[--n] = '\0';
	z = n == 0 ? ZONE_UNKNOWN : zone_of_path(s, dir);
	/* a directory's own zone says where its files are */
	if (n > 0 && z <= ZONE_OUT && strncmp(dir, "/boot", 5) == 0)
		z = ZONE_BOOT;
	return (z > worst ? z : worst);
}

enum zone
zone_of(const struct subject *s, const struct word *w)
{
	const char *path = absolute(s, w);
	enum zone z;

	if ((w->flags & WORD_WORKSPACE) != 0 &&
	    (w->text == NULL || w->text[0] != '/'))
		return (s->c->cwd == NULL ? ZONE_UNKNOWN :
		    zone_of_path(s, s->c->cwd));
	if (path == NULL)
		return (ZONE_UNKNOWN);
	if ((w->flags & WORD_GLOB) != 0)
		return (zone_of_pattern(s, path));
	if ((w->flags & WORD_PREFIX) == 0)
		return (zone_of_path(s, path));
	/* Only its beginning is known, so only a directory in it counts. */
	if (strchr(w->text, '/') == NULL)
		return (ZONE_UNKNOWN);
	if (w->text[strlen(w->text) - 1] == '/') {
		path = shell_path(s->j, path, "x");
		if (path == NULL)
			return (ZONE_UNKNOWN);
	}
	z = zone_of_path(s, path);
	return (z);
}

int
zone_is_own(const struct subject *s, const struct word *w)
{
	return (zone_of(s, w) == ZONE_SELF);
}

int
zone_in_roots(const struct subject *s, const struct word *w)
{
	const char *path = absolute(s, w);

	return (path != NULL && in_roots(s, path));
}

int
zone_holds_own(const struct subject *s, const struct word *w)
{
	const struct judge_context *x = judging_context(s->j);
	const char *path = absolute(s, w);
	size_t i;

	if (path == NULL || (w->flags & WORD_PREFIX) != 0)
		return (0);
	for (i = 0; i < x->nown; i++)
		if ((w->flags & WORD_GLOB) != 0 ? path_above(s->j, path,
		    x->own[i]) : beneath(x->own[i], path))
			return (1);
	return (0);
}

/* ---- wipes ---- */

static int
is_target(const struct subject *s, const char *path)
{
	const struct judge_context *x = judging_context(s->j);
	size_t i;

	/* each of them is of one component */
	for (i = 0; strchr(path + 1, '/') == NULL && targets[i] != NULL; i++)
		if (strcmp(path, targets[i]) == 0)
			return (1);
	/* home, a workspace, or what lies above them */
	if ((s->c->home != NULL && beneath(s->c->home, path)) ||
	    (x->home != NULL && beneath(x->home, path)))
		return (1);
	for (i = 0; i < x->nroots; i++)
		if (beneath(x->roots[i], path))
			return (1);
	return (0);
}

/* "*", ".*", "?*" and their like: whatever is there. */
static int
matches_all(const char *component)
{
	return (component[0] != '\0' && strcmp(component, ".") != 0 &&
	    strspn(component, "*.?") == strlen(component) &&
	    strchr(component, '*') != NULL);
}

static int
pattern_wipes(const struct subject *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	const struct judge_context *x = judging_context(s->j);
	char *dir;
	size_t i;

	if (slash != NULL && matches_all(slash + 1)) {
		dir = judging_strndup(s->j, path, slash == path ? 1 :
		    (size_t)(slash - path));
		if (strpbrk(dir, "*?[") == NULL)
			return (is_target(s, dir));
	}
	for (i = 0; targets[i] != NULL; i++)
		if (path_match(path, targets[i]))
			return (1);
	if (x->home != NULL && path_match(path, x->home))
		return (1);
	for (i = 0; i < x->nroots; i++)
		if (path_match(path, x->roots[i]))
			return (1);
	return (0);
}

int
zone_wipes(const struct subject *s, const struct word *w)
{
	const char *path = absolute(s, w);

	/* nothing, or a program says so: no operand */
	if (path == NULL || w->text[0] == '\0')
		return (0);
	if ((w->flags & WORD_GLOB) != 0)
		return (pattern_wipes(s, path));
	if ((w->flags & WORD_PREFIX) != 0)
		return (0);
	return (is_target(s, path));
}

int
zone_is_everything(const struct subject *s, const struct word *w)
{
	const char *path, *cwd = s->c->cwd;
	const char *base = judging_context(s->j)->cwd;
	const char *slash;

	if (w->text == NULL || w->text[0] == '\0')
		return (0);
	/* "cd build && rm -rf *" is no more than "rm -rf build/..." */
	if (base == NULL || cwd == NULL || !beneath(cwd, base))
		base = cwd;
	if ((w->flags & WORD_GLOB) != 0) {
		slash = strrchr(w->text, '/');
		if (slash != NULL && slash[1] == '\0')
			return (matches_all(judging_strndup(s->j, w->text,
			    strcspn(w->text, "/"))));
		if (!matches_all(slash == NULL ? w->text : slash + 1))
			return (0);
		if (slash == NULL)
			return (cwd == NULL || strcmp(cwd, base) == 0);
		path = shell_path(s->j, cwd, slash == w->text ? "/" :
		    judging_strndup(s->j, w->text, (size_t)(slash -
		    w->text)));
	} else {
		if ((w->flags & WORD_PREFIX) != 0)
			return (0);
		path = absolute(s, w);
	}
	return (path != NULL && cwd != NULL && beneath(base, path));
}

/* ---- what follows ---- */

static const struct harm {
	enum class_id	 id;
	const char	*rule;
} harms[] = {
	[ZONE_UNKNOWN] = { CLASS_OPAQUE, "a path that is not known: %s" },
	[ZONE_OUT] = { CLASS_ELEVATED, "outside of home, workspace and "
	    "/tmp: %s" },
	[ZONE_PERSIST] = { CLASS_ELEVATED, "run or trusted by other programs "
	    "later: %s" },
	[ZONE_NET] = { CLASS_NET_WRITE, "a connection of the shell: %s" },
	[ZONE_DISK] = { HARD_DISK, "a disk: %s" },
	[ZONE_BOOT] = { HARD_BOOT, "what the host boots with: %s" },
	[ZONE_KERNEL] = { HARD_KERNEL, "the kernel: %s" },
	[ZONE_ACCOUNT] = { HARD_ACCOUNT, "accounts of the host: %s" },
	[ZONE_SELF] = { HARD_SELF, "Myelin's own: %s" }
};

/* What a build or a server says on its way is no change of the work. */
static int
is_log(const struct word *w)
{
	const char *text = word_static(w);
	size_t n;

	if (text == NULL)
		return (0);
	n = strlen(text);
	return (n > 4 && strcmp(text + n - 4, ".log") == 0);
}

/* The host of /dev/tcp/HOST/PORT. */
static const struct finding_hosts *
net_hosts(const struct subject *s, const struct word *w)
{
	struct finding_hosts *h = judging_alloc(s->j, sizeof(*h));
	const char *host = word_start(w);
	size_t n;

	if (strncmp(host, "/dev/tcp/", 9) != 0 &&
	    strncmp(host, "/dev/udp/", 9) != 0)
		h->unsure = 1;
	else {
		host += 9;
		n = strcspn(host, "/");
		if (host[n] == '\0')
			h->unsure = 1;
		else
			hosts_add_text(s->j, h, judging_strndup(s->j, host,
			    n));
	}
	return (h);
}

void
zone_write(const struct subject *s, const struct word *w,
    enum class_id inside, const char *what)
{
	struct subject at = *s;
	enum zone z = zone_of(s, w);

	at.path = w;
	at.hosts = z == ZONE_NET ? net_hosts(s, w) : NULL;
	s = &at;
	if (z == ZONE_SINK)
		class_find(s, CLASS_READ, "writes nothing that stays");
	else if (z == ZONE_WORK && inside == CLASS_MUTATE && is_log(w))
		class_find(s, CLASS_READ, "writes a log");
	else if (z == ZONE_WORK || z == ZONE_TMP)
		class_find(s, inside, what);
	else
		class_findf(s, harms[z].id, harms[z].rule, w);
}

/* .git of any repository; with a slash behind, too. */
static int
names_history(const struct subject *s, const struct word *w)
{
	const char *path = absolute(s, w);
	size_t n = path == NULL ? 0 : strlen(path);

	/* itself, or all in it */
	if (n > 7 && strcmp(path + n - 7, "/.git/*") == 0)
		return (1);
	return (strcmp(base_name(path == NULL ? w->text : path), ".git") ==
	    0);
}

void
zone_delete(const struct subject *s, const struct word *w, int recursive)
{
	struct subject at = *s;
	enum zone z = zone_of(s, w);

	at.path = w;
	at.hosts = NULL;
	if (recursive)
		at.flags |= FINDING_TREE;
	s = &at;
	if (recursive && zone_wipes(s, w)) {
		class_findf(s, HARD_WIPE, "deletes all of %s", w);
		return;
	}
	if (recursive && zone_holds_own(s, w)) {
		class_findf(s, HARD_SELF, "Myelin's own is in %s", w);
		return;
	}
	switch (z) {
	case ZONE_BOOT:
	case ZONE_KERNEL:
	case ZONE_ACCOUNT:
	case ZONE_SELF:
		class_findf(s, harms[z].id, harms[z].rule, w);
		return;
	case ZONE_UNKNOWN:
		class_findf(s, CLASS_OPAQUE, "what is deleted is not known: "
		    "%s", w);
		return;
	case ZONE_WORK:
	case ZONE_TMP:
		break;
	default:
		class_findf(s, CLASS_DESTROY, "deletes outside of home, "
		    "workspace and /tmp: %s", w);
		return;
	}
	if (recursive && (w->flags & (WORD_PREFIX | WORD_FOUND)) ==
	    WORD_PREFIX)
		class_findf(s, CLASS_OPAQUE, "what is deleted is not known: "
		    "%s", w);
	else if (recursive && z == ZONE_WORK && zone_is_everything(s, w))
		class_findf(s, CLASS_DESTROY, "deletes all that is in the "
		    "directory: %s", w);
	else if (recursive && w->text != NULL && names_history(s, w))
		class_find(s, CLASS_DESTROY, "deletes a repository's history");
	else
		class_findf(s, CLASS_LOSE, "deletes %s", w);
}
