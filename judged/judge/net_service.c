/*
 * Clients of services on the network, which say by a verb what they do.
 */
#include <string.h>

#include "class.h"
#include "hosts.h"
#include "judge_int.h"
#include "options.h"

static const char *const read_verbs[] = {
	"list", "ls", "view", "status", "show", "get", "describe", "search",
	"diff", "checks", "logs", "log", "top", "explain", "version", "help",
	"info", "watch", "wait", "whoami", "history", "events",
	"api-resources", "api-versions", "cluster-info", "plan", "validate",
	"fmt", "output", "browse", "completion", "export", "env", "template",
	"lint", "providers", "graph", "state", "rollout", "config", "account",
	"download", "clone", "checkout", "presign", "tail", "inspect",
	"ps", "targets", "open", "regions", "platform", "doctor", "dependency",
	"repo", "console", "preview", "outputs", "check", "find", "scan",
	"query", NULL
};

static int
is_read_verb(const char *text)
{
	return (in_list(text, read_verbs) ||
	    strncmp(text, "list-", 5) == 0 || strncmp(text, "get-", 4) == 0 ||
	    strncmp(text, "describe-", 9) == 0 ||
	    strncmp(text, "batch-get-", 10) == 0 ||
	    strncmp(text, "lookup-", 7) == 0 ||
	    strncmp(text, "filter-", 7) == 0 ||
	    strncmp(text, "search-", 7) == 0 ||
	    strncmp(text, "head-", 5) == 0);
}

void
handle_gh(const struct subject *of)
{
	struct subject at = *of, *s = &at;
	static const struct optspec spec = { "RXfFHqt", "repo method field "
	    "raw-field header jq template input hostname json", 0 };
	const struct word *noun, *verb;
	struct optscan o;
	struct opt opt;
	int writes = 0;

	at.hosts = hosts_of(s, 1, NULL, HOSTS_UNSURE);
	noun = opt_operand(s, 1, &spec, 0);
	verb = opt_operand(s, 1, &spec, 1);
	s->out->output.kind = CONTENT_NETWORK;
	if (noun != NULL && word_is(noun, "api")) {
		opt_begin(&o, s, 1, &spec);
		while (opt_next(&o, &opt)) {
			if (opt_is(&opt, 'X', "method"))
				writes |= word_static(opt.value) == NULL ||
				    !reads_only(opt.value->text);
			else if (opt_is(&opt, 'f', "raw-field") ||
			    opt_is(&opt, 'F', "field") ||
			    opt_is(&opt, 0, "input"))
				writes = 1;
		}
	} else if (noun != NULL && verb != NULL &&
	    in_list(word_start(noun), (const char *const[]){ "alias",
	    "config", "completion", "extension", "browse", "auth", NULL }) &&
	    !word_is(noun, "extension"))
		writes = word_is(noun, "auth") && !in_list(word_start(verb),
		    (const char *const[]){ "status", "token", NULL });
	else if (noun != NULL && word_is(noun, "search"))
		writes = 0;
	else if (verb != NULL)
		writes = !is_read_verb(word_start(verb));
	else
		writes = noun != NULL && !is_read_verb(word_start(noun)) &&
		    !word_is(noun, "browse");
	if (writes)
		class_findf(s, CLASS_NET_WRITE, "%s changes a service",
		    &s->argv[0]);
	else
		net_reads(s);
}

/* Verbs that change, whatever stands beside them. */
static const char *const write_verbs[] = {
	"create", "delete", "update", "set", "add", "remove", "apply",
	"destroy", "deploy", "start", "stop", "restart", "reboot", "run",
	"exec", "put", "import", "invoke", "attach", "detach", "enable",
	"disable", "patch", "replace", "edit", "scale", "terminate", "mb",
	"rb", "rm", "rmdir", "purge", "publish", "send", "write", "ssh",
	"console", "upgrade", "modify", "register", "deregister", "rotate",
	"reset", "restore", "copyto", "move", "moveto", "touch", "mkdir",
	"push", "launch", "up", "down", "upload",
	"upload-batch", NULL
};
static const char *const write_prefixes[] = {
	"create-", "delete-", "update-", "put-", "add-", "remove-", "run-",
	"start-", "stop-", "terminate-", "reboot-", "modify-", "attach-",
	"detach-", "enable-", "disable-", "register-", "deregister-",
	"restore-", "reset-", "set-", "send-", "publish-", "invoke-",
	"import-", "associate-", "disassociate-", "authorize-", "revoke-",
	"tag-", "untag-", "copy-", "cancel-", "purge-", "add_", NULL
};
static const char *const copy_verbs[] = {
	"cp", "sync", "mv", "copy", "get", "put", "download", NULL
};

static int
is_write_verb(const char *text)
{
	size_t i;

	for (i = 0; write_prefixes[i] != NULL; i++)
		if (strncmp(text, write_prefixes[i],
		    strlen(write_prefixes[i])) == 0)
			return (1);
	return (in_list(text, write_verbs));
}

/* A place at the service: s3://..., REMOTE:PATH. */
static int
is_there(const struct word *w)
{
	return (!word_known(w) || strchr(w->text, ':') != NULL);
}

struct cloud {
	int			 reads;
	int			 writes;
	int			 copies;
	int			 any;
	size_t			 operands;
	const struct word	*last;
};

static void
cloud_word(struct cloud *c, const struct word *w)
{
	const char *text = word_start(w);

	c->last = w;
	c->any = 1;
	/* nouns and a verb stand in front, names behind */
	if (c->operands++ > 3 || c->copies)
		return;
	if (!c->reads && is_write_verb(text) && strcmp(text, "put") != 0)
		c->writes = 1;
	else if (in_list(text, copy_verbs) && (strcmp(text, "get") != 0 ||
	    c->operands == 1))
		c->copies = 1;
	else if (!c->writes && is_read_verb(text))
		c->reads = 1;
}

/* aws, gcloud, az, rclone, ...: a verb that reads, or not. */
void
handle_cloud(const struct subject *of)
{
	struct subject at = *of, *s = &at;
	static const struct optspec spec = { "noflcg", "namespace output "
	    "profile region query context kubeconfig filename selector "
	    "project zone format filter subscription resource-group chdir "
	    "endpoint-url page-size max-items file set values bucket key "
	    "name config", 0 };
	struct cloud c;
	struct optscan o;
	struct opt opt;

	at.hosts = hosts_of(s, 1, NULL, HOSTS_UNSURE);
	memset(&c, 0, sizeof(c));
	s->out->output.kind = CONTENT_NETWORK;
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND) {
			cloud_word(&c, opt.word);
			continue;
		}
		c.any |= opt_is(&opt, 0, "help") || opt_is(&opt, 0,
		    "version") ? 0 : 1;
		/* what runs there */
		if (opt.value == NULL && opt.kind == OPT_LONG &&
		    strcmp(opt.name, "delete") == 0)
			c.writes = 1;
	}
	/* copies towards here only read */
	if (c.copies && !c.writes)
		c.writes = is_there(c.last) || (same_name(s->name, "mc") &&
		    strchr("./~", word_start(c.last)[0]) == NULL);
	else if (!c.reads)
		c.writes |= c.any;
	if (c.writes)
		class_findf(s, CLASS_NET_WRITE, "%s changes a service",
		    &s->argv[0]);
	else
		net_reads(s);
}
