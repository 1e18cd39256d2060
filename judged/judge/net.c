/*
 * Programs that reach the network.
 */
#include <string.h>
#include <strings.h>

#include "hosts.h"
#include "judge_int.h"
#include "options.h"
#include "zone.h"

/*
 * Reads of the network run if all that they say is known: what is not could
 * carry something out.
 */
void
net_reads(const struct subject *s)
{
	static const char *const outputs[] = { "-o", "--output", "-O",
		"--output-document", "-P", "-fsSLo", "-sSLo", "-sLo", "-Lo",
		"-fLo", "-so", "-sSo", "-fsSo", "-qO", "-d", NULL };
	size_t i;

	for (i = 1; i < s->argc; i++) {
		/* a name of a file here is not sent */
		if ((s->argv[i].flags & WORD_WORKSPACE) != 0 &&
		    in_list(word_start(&s->argv[i - 1]), outputs))
			continue;
		if (!word_known(&s->argv[i])) {
			class_findf(s, CLASS_OPAQUE, "what is asked of the "
			    "network is not known: %s", &s->argv[i]);
			return;
		}
	}
	class_findf(s, CLASS_NET_READ, "%s reads from the network",
	    &s->argv[0]);
}

/* What the operands of a program that has no handler of its own are. */
static enum hosts_kind
kind_of(const char *name)
{
	static const char *const urls[] = { "aria2c", "axel", "lynx", "links",
		"w3m", "elinks", "youtube-dl", "yt-dlp", "wscat", "websocat",
		NULL };
	static const char *const first[] = { "telnet", "ftp", "sftp", "tftp",
		"rsh", "rlogin", "mosh", "ssh-copy-id", NULL };
	static const char *const all[] = { "ping", "ping6", "fping", "host",
		"nslookup", "drill", "whois", "traceroute", "tracepath",
		"mtr", "nmap", NULL };

	return (in_list(name, urls) ? HOSTS_URLS : in_list(name, first) ?
	    HOSTS_FIRST : in_list(name, all) ? HOSTS_ALL : HOSTS_UNSURE);
}

void
handle_net_read(const struct subject *of)
{
	struct subject at = *of, *s = &at;

	if (at.hosts == NULL)
		at.hosts = hosts_of(s, 1, NULL, kind_of(s->name));
	s->out->output.kind = CONTENT_NETWORK;
	net_reads(s);
}

/* socat's UNIX-CONNECT:/path,option... */
static void
socket_addresses(const struct subject *s)
{
	const char *at;
	struct word *path;
	size_t i;

	for (i = 1; i < s->argc; i++) {
		if (s->argv[i].text == NULL ||
		    (at = strchr(s->argv[i].text, ':')) == NULL)
			continue;
		path = word_make(s->j, judging_strndup(s->j, at + 1,
		    strcspn(at + 1, ",!")), &s->argv[i]);
		if (zone_is_own(s, path))
			class_findf(s, HARD_SELF, "Myelin's own: %s", path);
	}
}

void
handle_net_write(const struct subject *of)
{
	struct subject at = *of, *s = &at;

	if (same_name(s->name, "socat"))
		socket_addresses(s);
	if (at.hosts == NULL)
		at.hosts = hosts_of(s, 1, NULL, kind_of(s->name));
	s->out->output.kind = CONTENT_NETWORK;
	class_findf(s, CLASS_NET_WRITE, "%s reaches another host",
	    &s->argv[0]);
}

/* A file that the network wrote. */
static void
downloaded(const struct subject *s, const struct word *path)
{
	static const struct content network = { .kind = CONTENT_NETWORK };
	enum zone z = zone_of(s, path);

	shell_file_set(s->j, s->c, path, &network);
	if (z != ZONE_WORK && z != ZONE_TMP && z != ZONE_SINK &&
	    strcmp(word_start(path), "-") != 0)
		zone_write(s, path, CLASS_MUTATE, "writes a download");
}

/* The last component of a URL: where curl -O and wget put it. */
static const struct word *
url_name(const struct subject *s, const struct word *url)
{
	const char *text = word_start(url), *p = strstr(text, "://");
	size_t n;

	p = p == NULL ? text : p + 3;
	if (strchr(p, '/') == NULL)
		return (word_make(s->j, "index.html", url));
	p = strrchr(p, '/') + 1;
	n = strcspn(p, "?#");
	return (word_make(s->j, n == 0 ? "index.html" :
	    judging_strndup(s->j, p, n), url));
}

/* The file in the directory that an option names, if it names one. */
static const struct word *
in_directory(const struct subject *s, const struct word *directory,
    const struct word *file)
{
	const char *dir = word_static(directory), *name = word_static(file);
	char *path;
	size_t n;

	if (dir == NULL || name == NULL)
		return (directory == NULL ? file : directory);
	n = strlen(dir);
	path = judging_alloc(s->j, n + strlen(name) + 2);
	memcpy(path, dir, n);
	path[n] = '/';
	memcpy(path + n + 1, name, strlen(name));
	return (word_make(s->j, path, file));
}

/* ---- curl ---- */

static const struct optspec curl_spec = { "XdFTouHAebcKmyYzrxUEPQtwCD",
	"request data data-ascii data-binary data-raw data-urlencode json "
	"form form-string upload-file output output-dir user header "
	"user-agent referer range cookie cookie-jar config max-time "
	"connect-timeout retry retry-delay retry-max-time proxy proxy-user "
	"cert key cacert capath limit-rate write-out url resolve connect-to "
	"interface dump-header netrc-file max-redirs speed-limit speed-time "
	"time-cond quote telnet-option ciphers tls-max proto proto-default "
	"proto-redir unix-socket abstract-unix-socket dns-servers "
	"max-filesize stderr trace trace-ascii pass engine cert-type "
	"key-type crlfile noproxy oauth2-bearer mail-from mail-rcpt "
	"url-query variable socks5 socks5-hostname socks4 socks4a "
	"doh-url local-port keepalive-time aws-sigv4", 0 };

static const char *const curl_sends[] = {
	"json", "form-string", "upload-file", "config", "data-raw",
	"data-binary", "data-ascii", "data-urlencode", "mail-from",
	"mail-rcpt", "quote", "telnet-option", NULL
};

/* 1 if the option sends something. */
static int
curl_writes(const struct opt *opt)
{
	size_t i;

	if (opt->kind == OPT_SHORT)
		return (strchr("dFTKQt", opt->letter) != NULL);
	if (strcmp(opt->name, "data") == 0 || strcmp(opt->name, "form") == 0)
		return (1);
	for (i = 0; curl_sends[i] != NULL; i++)
		if (strlen(opt->name) > 2 && strncmp(opt->name, curl_sends[i],
		    strlen(opt->name)) == 0)
			return (1);
	return (0);
}

int
reads_only(const char *method)
{
	return (strcasecmp(method, "GET") == 0 ||
	    strcasecmp(method, "HEAD") == 0 ||
	    strcasecmp(method, "OPTIONS") == 0);
}

/* 1 if an option of curl makes it more than a read. */
static int
curl_option(const struct subject *s, const struct opt *opt)
{
	if (opt_is(opt, 'X', "request")) {
		if (word_static(opt->value) == NULL ||
		    !reads_only(opt->value->text))
			return (1);
	} else if (curl_writes(opt))
		return (1);
	if (opt->value != NULL && (opt_is(opt, 'o', "output") ||
	    opt_is(opt, 'D', "dump-header") || opt_is(opt, 'c',
	    "cookie-jar") || (opt->kind == OPT_LONG &&
	    strncmp(opt->name, "trace", 5) == 0)))
		downloaded(s, opt->value);
	return (0);
}

/* Options that say where curl goes instead of, or beside, its URLs. */
static void
curl_host(struct subject *s, struct finding_hosts *h, const struct opt *opt)
{
	static const char *const names[] = { "proxy", "preproxy", "socks4",
		"socks4a", "socks5", "socks5-hostname", "connect-to",
		"resolve", "config", "unix-socket", "abstract-unix-socket",
		"doh-url", "dns-servers", "proxy1.0", NULL };
	size_t i;

	if (opt->value != NULL && opt_is(opt, 0, "url")) {
		hosts_add(s->j, h, opt->value);
		return;
	}
	if (opt->kind == OPT_LONG && opt->value != NULL &&
	    strstr(opt->name, "unix-socket") != NULL &&
	    zone_is_own(s, opt->value))
		class_findf(s, HARD_SELF, "Myelin's own: %s", opt->value);
	if (opt->kind == OPT_SHORT)
		h->proxied |= opt->letter == 'x' || opt->letter == 'K';
	for (i = 0; opt->kind == OPT_LONG && names[i] != NULL; i++)
		h->proxied |= strncmp(names[i], opt->name,
		    strlen(opt->name)) == 0;
	h->unsure |= h->proxied;
}

void
handle_curl(const struct subject *of)
{
	struct subject at = *of, *s = &at;
	struct finding_hosts *h = hosts_of(s, 1, &curl_spec, HOSTS_URLS);
	const struct word *directory = NULL;
	int writes = 0, named = 0, any = 0;
	struct optscan o;
	struct opt opt;

	at.hosts = h;
	opt_begin(&o, s, 1, &curl_spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind != OPT_OPERAND)
			curl_host(&at, h, &opt);
		if (opt.kind == OPT_OPERAND) {
			any = 1;
			continue;
		}
		if (opt_is(&opt, 0, "url"))
			any = 1;
		if (opt_is(&opt, 'O', "remote-name") || (opt.kind == OPT_LONG &&
		    strcmp(opt.name, "remote-name-all") == 0))
			named = 1;
		if (opt.kind == OPT_LONG && strcmp(opt.name, "output-dir") ==
		    0)
			directory = opt.value;
		writes |= curl_option(s, &opt);
	}
	opt_begin(&o, s, 1, &curl_spec);
	while (named && opt_next(&o, &opt))
		if (opt.kind == OPT_OPERAND)
			downloaded(s, in_directory(s, directory,
			    url_name(s, opt.word)));
	s->out->output.kind = CONTENT_NETWORK;
	if (writes)
		class_find(s, CLASS_NET_WRITE, "curl sends something");
	else if (any || o.uncertain || s->argc > 2)
		net_reads(s);
	else
		class_find(s, CLASS_READ, "curl asks nothing");
}

/* ---- wget ---- */

static const struct optspec wget_spec = { "OPoaetTwQUAiRDIXlB",
	"output-document directory-prefix output-file append-output execute "
	"tries timeout wait quota user-agent accept reject domains include "
	"exclude level base input-file post-data post-file method body-data "
	"body-file header user password limit-rate referer load-cookies "
	"save-cookies proxy-user proxy-password ca-certificate use-askpass",
	0 };

void
handle_wget(const struct subject *of)
{
	struct subject at = *of, *s = &at;
	struct finding_hosts *h = hosts_of(s, 1, &wget_spec, HOSTS_URLS);
	const struct word *to = NULL, *directory = NULL;
	int writes = 0;
	struct optscan o;
	struct opt opt;

	at.hosts = h;
	opt_begin(&o, s, 1, &wget_spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND)
			continue;
		if (opt_is(&opt, 'e', "execute"))
			h->unsure = h->proxied = 1;
		if (opt_is(&opt, 'i', "input-file"))
			h->unsure = 1;
		if (opt_is(&opt, 'O', "output-document"))
			to = opt.value;
		if (opt_is(&opt, 'P', "directory-prefix"))
			directory = opt.value;
		if (opt.kind == OPT_LONG && strlen(opt.name) > 1 &&
		    (opt_is(&opt, 0, "post-data") ||
		    opt_is(&opt, 0, "post-file") ||
		    opt_is(&opt, 0, "body-data") ||
		    opt_is(&opt, 0, "body-file") ||
		    (opt_is(&opt, 0, "method") &&
		    (word_static(opt.value) == NULL ||
		    !reads_only(opt.value->text)))))
			writes = 1;
		if (opt.value != NULL && opt_is(&opt, 0, "use-askpass"))
			subject_hidden_code(s, opt.value);
		if (opt.value != NULL && opt_is(&opt, 'e', "execute") &&
		    strstr(word_start(opt.value), "askpass") != NULL)
			class_find(s, CLASS_OPAQUE, "wget is told to execute "
			    "something");
	}
	s->out->output.kind = CONTENT_NONE;
	if (to != NULL && strcmp(word_start(to), "-") == 0)
		s->out->output.kind = CONTENT_NETWORK;
	else if (to != NULL)
		downloaded(s, to);
	opt_begin(&o, s, 1, &wget_spec);
	while (to == NULL && opt_next(&o, &opt))
		if (opt.kind == OPT_OPERAND)
			downloaded(s, in_directory(s, directory,
			    url_name(s, opt.word)));
	if (writes)
		class_find(s, CLASS_NET_WRITE, "wget sends something");
	else
		net_reads(s);
}

/* ---- ssh and its kin ---- */

static const struct optspec ssh_spec = { "BbcDEeFIiJLlmOopPQRSwW", NULL,
    OPT_STOPS };

/* -o ProxyCommand=..., and configuration that could hold one. */
static void
ssh_option(const struct subject *s, const struct word *value)
{
	static const char *const codes[] = {
		"ProxyCommand", "LocalCommand", "KnownHostsCommand",
		"RemoteCommand", NULL
	};
	const char *text = word_start(value), *eq;
	size_t i, n;

	for (i = 0; codes[i] != NULL; i++) {
		n = strlen(codes[i]);
		if (strncasecmp(text, codes[i], n) != 0)
			continue;
		eq = text + n + strspn(text + n, " =\t");
		if (strcasecmp(eq, "none") != 0)
			subject_hidden_code(s, word_rest(s->j, value,
			    (size_t)(eq - text)));
	}
}

void
handle_ssh(const struct subject *of)
{
	struct subject at = *of, *s = &at;
	struct finding_hosts *h = hosts_of(s, 1, &ssh_spec, HOSTS_FIRST);
	const struct word *line;
	struct optscan o;
	struct opt opt;
	size_t i;

	/* its configuration may lead elsewhere, as -J and -o do */
	h->unsure = 1;
	s->out->output.kind = CONTENT_NETWORK;
	opt_begin(&o, s, 1, &ssh_spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind != OPT_OPERAND) {
			if (opt.value != NULL && opt_is(&opt, 'o', NULL))
				ssh_option(s, opt.value);
			continue;
		}
		break;
	}
	/* without a host it is how another program reaches one: rsync -e */
	if (opt.kind != OPT_OPERAND) {
		class_find(s, CLASS_READ, "ssh reaches no host");
		return;
	}
	at.hosts = h;
	class_find(s, CLASS_NET_WRITE, "acts on another host");
	at.hosts = NULL;
	/* options may stand behind the host, too */
	for (i = opt.at + 1; i < s->argc &&
	    word_start(&s->argv[i])[0] == '-'; i++)
		if (strcmp(word_start(&s->argv[i]), "-p") == 0 ||
		    strcmp(word_start(&s->argv[i]), "-i") == 0 ||
		    strcmp(word_start(&s->argv[i]), "-o") == 0 ||
		    strcmp(word_start(&s->argv[i]), "-l") == 0)
			i++;
	if (i >= s->argc) {
		struct shell_start start = {
			.who = SHELL_ELSEWHERE, .command = s->c,
			.code_on_stdin = 1
		};

		/* a login shell there reads what comes */
		if (s->c->input.kind == CONTENT_TEXT ||
		    s->c->input.whole != NULL)
			shell_judge_content(s->j, &s->c->input, DIALECT_BASH,
			    &start, s->out);
		return;
	}
	line = subject_join(s, i);
	subject_code(s, DIALECT_BASH, SHELL_ELSEWHERE, line);
	s->out->output.kind = CONTENT_NETWORK;
}

static int
is_remote(const struct word *w)
{
	const char *text = word_start(w), *colon;

	if (strstr(text, "://") != NULL)
		return (1);
	colon = strchr(text, ':');
	return (colon != NULL && colon != text && (strchr(text, '/') == NULL ||
	    colon < strchr(text, '/')));
}

void
handle_scp(const struct subject *of)
{
	static const struct optspec spec = { "cDFiJloPSX", NULL, 0 };
	struct subject at = *of, *s = &at;
	const struct word *last = NULL, *from = NULL;
	struct optscan o;
	struct opt opt;

	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND) {
			from = last;
			last = opt.word;
		} else if (opt.value != NULL && opt_is(&opt, 'o', NULL))
			ssh_option(s, opt.value);
		else if (opt.value != NULL && opt_is(&opt, 'S', NULL))
			subject_hidden_code(s, opt.value);
	}
	at.hosts = hosts_of(s, 1, &spec, HOSTS_REMOTES);
	if (last == NULL)
		class_find(s, CLASS_READ, "copies nothing");
	else if (is_remote(last) || !word_known(last))
		class_findf(s, CLASS_NET_WRITE, "copies to another host: %s",
		    last);
	else {
		net_reads(s);
		downloaded(s, last);
		/* into a directory, perhaps */
		if (from != NULL && word_known(from))
			downloaded(s, in_directory(s, last, word_make(s->j,
			    base_name(from->text + strcspn(from->text, ":") +
			    1), from)));
	}
}

/* sftp: as scp, but what it will do there is not in its words. */
void
handle_sftp(const struct subject *s)
{
	static const struct optspec spec = { "BbcDFiJloPRsSX", NULL, 0 };
	struct optscan o;
	struct opt opt;

	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.value != NULL && opt_is(&opt, 'o', NULL))
			ssh_option(s, opt.value);
		else if (opt.value != NULL && opt_is(&opt, 'S', NULL))
			subject_hidden_code(s, opt.value);
	}
	handle_net_write(s);
}

void
handle_nc(const struct subject *of)
{
	static const struct optspec spec = { "IiMmOPpqsTVwXxec", "exec "
	    "sh-exec lua-exec source source-port idle-timeout", 0 };
	struct subject at = *of, *s = &at;
	const struct word *socket;
	struct optscan o;
	struct opt opt;

	s->out->output.kind = CONTENT_NETWORK;
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.value != NULL && (opt_is(&opt, 'e', "exec") ||
		    opt_is(&opt, 'c', "sh-exec")))
			subject_hidden_code(s, opt.value);
	}
	/* what listens, or speaks to a socket of the file system, stays here */
	at.hosts = hosts_of(s, 1, &spec, opt_has(s, 1, &spec, 'l', "listen") ||
	    opt_has(s, 1, &spec, 'U', "unixsock") ? HOSTS_UNSURE :
	    HOSTS_FIRST);
	socket = opt_operand(s, 1, &spec, 0);
	if (socket != NULL && opt_has(s, 1, &spec, 'U', "unixsock") &&
	    zone_is_own(s, socket))
		class_findf(s, HARD_SELF, "Myelin's own: %s", socket);
	class_findf(s, CLASS_NET_WRITE, "%s connects to another host",
	    &s->argv[0]);
}

/*
 * HTTPie and its kin: http [METHOD] URL [ITEM ...].  An item of data, or
 * input, makes it a POST.
 */
void
handle_httpie(const struct subject *s)
{
	static const struct optspec spec = { "apsAo", "auth print style output "
	    "session timeout verify cert proxy auth-type max-redirects", 0 };
	struct optscan o;
	struct opt opt;
	const char *text, *at;
	int writes = 0;
	size_t n = 0;

	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind != OPT_OPERAND) {
			writes |= opt.kind == OPT_LONG &&
			    strncmp(opt.name, "raw", 3) == 0;
			continue;
		}
		text = word_start(opt.word);
		if (n++ == 0 && text[0] != '\0' && text[strspn(text,
		    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")] ==
		    '\0' && s->argc > opt.at + 1) {
			writes |= !reads_only(text) &&
			    strcasecmp(text, "get") != 0 &&
			    strcasecmp(text, "head") != 0;
			n = 0;
			continue;
		}
		/* name==value is a query, name:value a header */
		at = n > 1 ? text + strcspn(text, "=@") : "";
		if (*at != '\0' && !(at[0] == '=' && at[1] == '='))
			writes = 1;
	}
	writes |= s->c->input.kind != CONTENT_INHERITED &&
	    s->c->input.kind != CONTENT_NONE;
	s->out->output.kind = CONTENT_NETWORK;
	if (writes)
		class_findf(s, CLASS_NET_WRITE, "%s sends something",
		    &s->argv[0]);
	else
		net_reads(s);
}
