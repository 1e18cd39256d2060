/* The normal form of a configuration. */
#include <stdio.h>
#include <string.h>

#include "conf_int.h"
#include "limit_text.h"
#include "protocol.h"

static const struct {
	unsigned	 right;
	const char	*word;
} rights[] = {
	{ RIGHT_APPROVE,	"approve" },
	{ RIGHT_AUDIT,		"audit" },
	{ RIGHT_MANAGE,		"manage" },
};

#define LINE_WIDTH	60	/* of a list; a line has its bound */

#define NRIGHTS	(sizeof(rights) / sizeof(rights[0]))

/* Always quoted, so that no value is taken for a keyword. */
static void
print_quoted(FILE *f, const char *text)
{
	(void)putc('"', f);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			(void)putc('\\', f);
		(void)putc(*text, f);
	}
	(void)putc('"', f);
}

static void
print_word(FILE *f, const char *before, const char *text)
{
	(void)fprintf(f, "%s ", before);
	print_quoted(f, text);
}

static void
print_list(FILE *f, const char *before, const struct strings *list)
{
	size_t column = strlen(before), i, n;

	if (list->n == 0)
		return;
	(void)fprintf(f, "%s", before);
	for (i = 0; i < list->n; i++) {
		n = strlen(list->v[i]) + 4;
		if (i > 0 && column + n > LINE_WIDTH) {
			(void)fputs(",\n\t    ", f);
			column = 0;
		} else
			(void)fputs(i == 0 ? " " : ", ", f);
		print_quoted(f, list->v[i]);
		column += n;
	}
	(void)putc('\n', f);
}

static void
print_limit(FILE *f, const char *before, size_t limit, uint64_t value)
{
	const struct limit_row *row = &limit_table[limit];
	char text[LIMIT_TEXT_MAX];

	(void)fprintf(f, "%s%s %s\n", before, row->keyword,
	    limit_text(row->unit, value, text));
}

/* Those that differ from what stands there if nothing is said. */
static void
print_limits(FILE *f, const char *before, const struct limits *limits,
    const struct limits *unsaid)
{
	size_t i;

	for (i = 0; i < LIMIT_COUNT; i++) {
		if (limits->v[i] != unsaid->v[i])
			print_limit(f, before, i, limits->v[i]);
	}
}

static void
print_instance(FILE *f, const struct conf *conf)
{
	const struct slice *s = conf->slice;

	print_word(f, "instance", s->instance);
	(void)putc('\n', f);
	if (strcmp(s->state, MYELIN_STATEDIR) != 0) {
		print_word(f, "state", s->state);
		(void)putc('\n', f);
	}
	(void)fprintf(f, "private %s\n", s->private ? "yes" : "no");
	if (conf->uids_given)
		(void)fprintf(f, "uids %u %u\n", s->uids_start,
		    s->uids_count);
	if (s->cgroup_parent != NULL) {
		print_word(f, "cgroup parent", s->cgroup_parent);
		(void)putc('\n', f);
	}
	if (conf->verbose)
		(void)fputs("log verbose\n", f);
}

static void
print_tcp(FILE *f, const struct cf_listen *l)
{
	print_word(f, "listen api tcp", l->path);
	(void)fprintf(f, " port %u {\n", l->port);
	if ((l->flags & LISTEN_TOKEN) != 0)
		(void)fputs("\tauthentication required\n", f);
	if ((l->flags & LISTEN_CLEARTEXT) != 0)
		(void)fputs("\tcleartext\n", f);
	print_list(f, "\thost", &l->hosts);
	(void)fputs("}\n", f);
}

static void
print_listens(FILE *f, const struct slice *s)
{
	const struct cf_listen *l;
	size_t i;

	for (i = 0; i < s->nlistens; i++) {
		l = &s->listens[i];
		if ((l->flags & LISTEN_TCP) != 0) {
			print_tcp(f, l);
			continue;
		}
		print_word(f, l->plane == PLANE_AGENT ? "listen api" :
		    "listen operator", l->path);
		if (l->group != NULL)
			print_word(f, " group", l->group);
		(void)fprintf(f, " mode %04o%s\n", (unsigned)l->mode,
		    (l->flags & LISTEN_TOKEN) != 0 ? " require token" : "");
	}
}

static void
print_host(FILE *f, const struct cf_host *h)
{
	char name[EGRESS_NAME_MAX + 3];
	size_t i;

	(void)snprintf(name, sizeof(name), "%s%s", h->suffix ? "*." : "",
	    h->name);
	print_word(f, h->allow ? "\t\tallow host" : "\t\tdeny host", name);
	for (i = 0; i < h->nports; i++)
		(void)fprintf(f, "%s %u", i == 0 ? " port" : ",",
		    (unsigned)h->ports[i]);
	for (i = 0; i < h->methods.n; i++)
		print_word(f, i == 0 ? " method" : ",", h->methods.v[i]);
	if ((h->flags & HOST_F_OPAQUE) != 0)
		(void)fputs(" opaque", f);
	if ((h->flags & HOST_F_PRIVATE) != 0)
		(void)fputs(" private", f);
	(void)putc('\n', f);
}

static void
print_egress(FILE *f, const struct cf_egress *e)
{
	size_t i;

	(void)fputs("\tegress {\n", f);
	if (!e->transparent)
		(void)fputs("\t\ttransparent no\n", f);
	for (i = 0; i < e->nhosts; i++)
		print_host(f, &e->hosts[i]);
	(void)fputs("\t}\n", f);
}

static void
print_trees(FILE *f, const struct cf_trees *t)
{
	const struct cf_mount *m;
	size_t i;

	if (t->root != NULL) {
		print_word(f, "\troot", t->root);
		(void)fputs(t->overlay ? " overlay\n" : "\n", f);
	}
	for (i = 0; i < t->nmounts; i++) {
		m = &t->mounts[i];
		print_word(f, "\tmount", m->path);
		if (strcmp(m->path, m->at) != 0)
			print_word(f, " at", m->at);
		(void)fputs(" read-only\n", f);
	}
}

/* What differs from what stands there if nothing is said. */
static void
print_building(FILE *f, const struct cf_profile *p)
{
	if (p->variant == VARIANT_STRICT)
		(void)fputs("\tvariant strict\n", f);
	if (p->read_only)
		(void)fputs("\tworkspace read-only\n", f);
	if (p->sharing != SHARING_PRINCIPAL)
		(void)fprintf(f, "\tworkspace %s\n", p->sharing ==
		    SHARING_ANY ? "shared" : "exclusive");
	print_trees(f, &p->trees);
}

/* "default" is there without being said, and then as the limits say. */
static void
print_profiles(FILE *f, const struct slice *s)
{
	const struct cf_profile *p;
	struct limits unsaid;
	size_t i;

	for (i = 0; i < s->nprofiles; i++) {
		p = &s->profiles[i];
		if (p->where.line == 0)
			continue;
		print_word(f, "profile", p->name);
		(void)fputs(" {\n\tmode native\n", f);
		print_building(f, p);
		slice_unsaid(s, p->name, &unsaid);
		print_limits(f, "\t", &p->limits, &unsaid);
		if (p->egress.on)
			print_egress(f, &p->egress);
		(void)fputs("}\n", f);
	}
}

static void
print_presets(FILE *f, const struct slice *s)
{
	const struct cf_preset *p;
	size_t i;

	for (i = 0; i < s->npresets; i++) {
		p = &s->presets[i];
		if (p->where.line == 0)
			continue;
		print_word(f, "preset", p->name);
		(void)fprintf(f, " {\n\tcap %s\n", effect_name(p->cap));
		print_list(f, "\tallow tool", &p->allow);
		print_list(f, "\tdeny tool", &p->deny);
		print_list(f, "\tdeny group", &p->deny_groups);
		if (p->elevated == ELEVATED_ASK)
			(void)fputs("\televated ask\n", f);
		if (p->calls_session != 0)
			print_limit(f, "\t", LIMIT_CALLS_SESSION,
			    p->calls_session);
		if (p->hourly != 0)
			print_limit(f, "\t", LIMIT_HOURLY, p->hourly);
		(void)fputs("}\n", f);
	}
}

static void
print_who(FILE *f, const char *before, enum cf_who who, const char *name)
{
	(void)fprintf(f, "%s ", before);
	print_word(f, who == WHO_USER ? "user" : who == WHO_GROUP ? "group" :
	    "key", name);
}

static void
print_principals(FILE *f, const struct slice *s)
{
	const struct cf_principal *p;
	size_t i;

	for (i = 0; i < s->nprincipals; i++) {
		p = &s->principals[i];
		print_who(f, "principal", p->who, p->name);
		print_word(f, " {\n\tpreset", p->preset);
		(void)putc('\n', f);
		print_list(f, "\tprofile", &p->profiles);
		print_list(f, "\tworkspace", &p->workspaces);
		if (p->owner == OWNER_ANY)
			(void)fputs("\towner any\n", f);
		else if (p->owner == OWNER_NAMED) {
			print_word(f, "\towner", p->owner_name);
			(void)putc('\n', f);
		}
		(void)fputs("}\n", f);
	}
}

static void
print_operators(FILE *f, const struct slice *s)
{
	const struct cf_operator *o;
	const char *comma;
	size_t i, j;

	for (i = 0; i < s->noperators; i++) {
		o = &s->operators[i];
		print_who(f, "operator", o->who, o->name);
		(void)fputs(" may", f);
		comma = " ";
		for (j = 0; j < NRIGHTS; j++) {
			if ((o->rights & rights[j].right) == 0)
				continue;
			(void)fprintf(f, "%s%s", comma, rights[j].word);
			comma = ", ";
		}
		(void)putc('\n', f);
	}
}

static void
print_rules(FILE *f, const struct slice *s)
{
	const struct cf_rule *r;
	char text[RULE_TEXT_MAX];
	size_t i, k;

	for (i = 0; i < s->nrules; i++) {
		r = &s->rules[i];
		(void)rule_text(r, text, sizeof(text));
		(void)fprintf(f, "%s%s", text, r->ntests > 0 ? " {\n" : "\n");
		for (k = 0; k < r->ntests; k++) {
			print_word(f, r->tests[k].negative ? "\tnot match" :
			    "\tmatch", r->tests[k].text);
			(void)putc('\n', f);
		}
		if (r->ntests > 0)
			(void)fputs("}\n", f);
	}
}

static void
print_tools(FILE *f, const struct conf *conf)
{
	size_t i;

	if (conf->slice->coerce)
		(void)fputs("tool-input coerce\n", f);
	for (i = 0; i < conf->ntools; i++) {
		print_word(f, "tool", conf->tools[i].path);
		(void)putc('\n', f);
	}
	for (i = 0; i < conf->slice->nhooks; i++) {
		print_word(f, "hook", conf->slice->hooks[i].name);
		print_word(f, "", conf->slice->hooks[i].path);
		(void)putc('\n', f);
	}
}

void
conf_print(const struct conf *conf, FILE *f)
{
	const struct slice *s = conf->slice;
	struct limits initial;

	limits_init(&initial);
	print_instance(f, conf);
	print_listens(f, s);
	print_limits(f, "", &s->limits, &initial);
	print_list(f, "environment allow", &s->env_allow);
	print_tools(f, conf);
	print_profiles(f, s);
	print_presets(f, s);
	print_principals(f, s);
	print_operators(f, s);
	print_rules(f, s);
}
