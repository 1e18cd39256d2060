/*
 * Redaction of streams: every kind, cut at every place, and what is no
 * secret.  The samples are put together here, so that no scanner takes this
 * file for a leak.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scan.h"
#include "secret.h"
#include "unit.h"
#include "values.h"

#define TEXT_MAX	(256 * 1024)

/* A stream as apid reads it: a region that grows, and what went out. */
struct stream {
	struct scan	*scan;
	uint8_t		 region[TEXT_MAX];
	size_t		 size;
	size_t		 gone;
	char		 out[2 * TEXT_MAX];
	size_t		 nout;
};

static struct stream stream;

static void
start(void)
{
	static int ready;

	if (!ready)
		ck_assert_int_eq(scan_init(), 0);
	ready = 1;
	memset(&stream, 0, offsetof(struct stream, region));
	stream.size = stream.gone = stream.nout = 0;
	ck_assert_ptr_nonnull(stream.scan = scan_new());
}

static void
put(const uint8_t *p, size_t n)
{
	memcpy(stream.out + stream.nout, p, n);
	stream.nout += n;
	stream.out[stream.nout] = '\0';
}

static void
took(const struct scan_result *r)
{
	size_t i, at = stream.gone;

	ck_assert_uint_le(r->keep, r->upto);
	ck_assert_uint_le(r->upto, stream.size);
	for (i = 0; i < r->nspans; i++) {
		ck_assert_uint_ge(r->spans[i].start, at);
		ck_assert_uint_le(r->spans[i].end, r->upto);
		put(stream.region + at, r->spans[i].start - at);
		if (!r->spans[i].quiet)
			stream.nout += scan_marker(stream.out + stream.nout,
			    r->spans[i].kind);
		at = r->spans[i].end;
	}
	ck_assert_uint_le(at, r->upto);
	put(stream.region + at, r->upto - at);
	stream.gone = r->upto - r->keep;
	stream.size -= r->keep;
	memmove(stream.region, stream.region + r->keep, stream.size);
}

static unsigned
feed(const char *p, size_t n, int final)
{
	struct scan_result r;

	memcpy(stream.region + stream.size, p, n);
	stream.size += n;
	ck_assert_int_eq(scan_feed(stream.scan, stream.region, stream.size, n,
	    final, &r), 0);
	took(&r);
	return (r.wait);
}

static void
idle(void)
{
	struct scan_result r;

	ck_assert_int_eq(scan_idle(stream.scan, stream.region, stream.size,
	    &r), 0);
	took(&r);
	ck_assert_uint_eq(stream.gone, stream.size);
}

static const char *
whole(const char *text, size_t n)
{
	start();
	feed(text, n, 1);
	scan_free(stream.scan);
	return (stream.out);
}

/* ---- samples ---- */

/* "%36a" is 36 letters and digits, h hexadecimal, u upper case and so on. */
static const char *
expand(const char *shape)
{
	static char text[8192];
	static const char *const sets[256] = {
		['a'] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		    "0123456789",
		['h'] = "0123456789abcdef",
		['u'] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
		['d'] = "0123456789",
		['b'] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		    "0123456789+/"
	};
	static unsigned state = 12345;
	const char *set;
	size_t n = 0;
	long count;
	char *end;

	while (*shape != '\0') {
		if (*shape != '%') {
			text[n++] = *shape++;
			continue;
		}
		count = strtol(shape + 1, &end, 10);
		set = sets[(unsigned char)*end];
		shape = end + 1;
		while (count-- > 0) {
			state = state * 1103515245 + 12345;
			text[n++] = set[(state >> 16) % strlen(set)];
		}
		/* A digit is in it for certain. */
		if (*end == 'a')
			text[n - 2] = '7';
	}
	text[n] = '\0';
	return (text);
}

/* The sample's shape, what of it stays before, the kind, what stays after. */
static const struct {
	const char	*shape;
	const char	*before;
	const char	*kind;
	const char	*after;
} secrets[] = {
	{ "sk-" "ant-api03-%93aAA", "", "anthropic", "" },
	{ "sk-" "ant-admin01-%93aAA", "", "anthropic", "" },
	{ "sk-" "proj-%58aT3Blbk" "FJ%58a", "", "openai", "" },
	{ "sk-" "svcacct-%74aT3Blbk" "FJ%74a", "", "openai", "" },
	{ "sk-" "%20aT3Blbk" "FJ%20a", "", "openai", "" },
	{ "xai" "-%80a", "", "xai", "" },
	{ "AIza" "%35a", "", "google", "" },
	{ "ya29" ".a0%60a", "", "google", "" },
	{ "1//0" "%60a", "", "google", "" },
	{ "GOCSPX" "-%28a", "", "google", "" },
	{ "AKIA" "%16u", "", "aws", "" },
	{ "ASIA" "%16u", "", "aws", "" },
	{ "ABSK" "%110b", "", "aws", "" },
	{ "ghp" "_%36a", "", "github", "" },
	{ "gho" "_%36a", "", "github", "" },
	{ "ghu" "_%36a", "", "github", "" },
	{ "ghs" "_%36a", "", "github", "" },
	{ "ghr" "_%36a", "", "github", "" },
	{ "github" "_pat_%22a_%59a", "", "github", "" },
	{ "glpat" "-%20a", "", "gitlab", "" },
	{ "gldt" "-%20a", "", "gitlab", "" },
	{ "glrt" "-%20a", "", "gitlab", "" },
	{ "GR1348941" "%20a", "", "gitlab", "" },
	{ "xoxb" "-%12d-%12d-%24a", "", "slack", "" },
	{ "xapp" "-1-A%10u-%13d-%64h", "", "slack", "" },
	{ "xoxe" ".xoxp-1-%163a", "", "slack", "" },
	{ "https://hooks.slack" ".com/services/T%8u/B%8u/%24a", "https://",
	    "slack", "" },
	{ "npm" "_%36a", "", "npm", "" },
	{ "pypi" "-AgEIcHlwaS5vcmc%70a", "", "pypi", "" },
	{ "sk" "_live_%24a", "", "stripe", "" },
	{ "rk" "_test_%24a", "", "stripe", "" },
	{ "SG" ".%22a.%43a", "", "sendgrid", "" },
	{ "hf" "_%34a", "", "api-key", "" },
	{ "ey" "J%20a.eyJ%40a.%43a", "", "jwt", "" },
	{ "-----BEGIN " "RSA PRIVATE KEY-----\n%64b\n%64b\n%40b==\n"
	    "-----END RSA PRIVATE " "KEY-----\nend", "", "private-key",
	    "\nend" },
	{ "-----BEGIN " "OPENSSH PRIVATE KEY-----\\n%64b\\n%64b\\n"
	    "-----END OPENSSH PRIVATE " "KEY-----\\n\"}", "", "private-key",
	    "\\n\"}" },
	{ "-----BEGIN " "RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
	    "DEK-Info: AES-128-CBC,%32h\n\n%64b\n%12b=\n-----END RSA PRIVATE "
	    "KEY-----", "", "private-key", "" },
	{ "Authorization: Bearer %40a\r\n", "Authorization: Bearer ",
	    "bearer", "\r\n" },
	{ "authorization: Basic dXNlcjpzZWNyZXQ" "=\n",
	    "authorization: Basic ", "basic", "\n" },
	{ "-H 'Bearer %32a'", "-H 'Bearer ", "bearer", "'" },
	{ "is Basic dXNlcjpzZWNyZXQ" "= ok", "is Basic ", "basic", " ok" },
	{ "pass" "word=hunter2 x", "password=", "password", " x" },
	{ "pass" "word=swordfish\n", "password=", "password", "\n" },
	{ "DB_PASS" "WORD='p@ssw0rd'\n", "DB_PASSWORD='", "password", "'\n" },
	{ "{\"pass" "word\": \"a\\\"b1cdef\", \"n\": 1}",
	    "{\"password\": \"", "password", "\", \"n\": 1}" },
	{ "{\\\"api_" "key\\\": \\\"%20a\\\"}", "{\\\"api_key\\\": \\\"",
	    "key", "\\\"}" },
	{ "{'client_" "secret': 'abc123def'}", "{'client_secret': '",
	    "secret", "'}" },
	{ "to" "ken: %24a\n", "token: ", "token", "\n" },
	{ "se" "cret=%12a&x=1", "secret=", "secret", "&x=1" },
	{ "AWS_SECRET_" "ACCESS_KEY=%40b\n", "AWS_SECRET_ACCESS_KEY=",
	    "secret", "\n" },
	{ "curl --to" "ken %20a -v", "curl --token ", "token", " -v" },
	{ "X-Api-" "Key: %16a\r\n", "X-Api-Key: ", "key", "\r\n" },
	{ "<pass" "word>hunter2</password>", "<password>", "password",
	    "</password>" },
	{ "\"\\npass" "word: hunter22\"", "\"\\npassword: ", "password",
	    "\"" },
	{ "postgres://user:" "hunter2@db/x", "postgres://user:",
	    "url-password", "@db/x" },
	{ "\x1b[01;31m" "ghp" "_%36a\x1b[m", "\x1b[01;31m", "github",
	    "\x1b[m" },
	{ "\\n" "ghp" "_%36a", "\\n", "github", "" },
};
#define NSECRETS	(sizeof(secrets) / sizeof(secrets[0]))

static const char *
expected(size_t i)
{
	static char text[512];

	snprintf(text, sizeof(text), "%s[redacted:%s]%s", secrets[i].before,
	    secrets[i].kind, secrets[i].after);
	return (text);
}

START_TEST(test_kinds)
{
	char text[8192];

	strcpy(text, expand(secrets[_i].shape));
	ck_assert_msg(strcmp(whole(text, strlen(text)), expected(
	    (size_t)_i)) == 0, "%s became %s", text, stream.out);
}
END_TEST

/* Wherever a read cuts it, and whatever stands around it. */
START_TEST(test_cut_anywhere)
{
	char text[8192], want[8192];
	size_t n, cut;

	snprintf(text, sizeof(text), "some text\n%s",
	    expand(secrets[_i].shape));
	snprintf(want, sizeof(want), "some text\n%s", expected((size_t)_i));
	n = strlen(text);
	for (cut = 0; cut <= n; cut++) {
		start();
		feed(text, cut, 0);
		feed(text + cut, n - cut, 0);
		feed("", 0, 1);
		scan_free(stream.scan);
		ck_assert_msg(strcmp(stream.out, want) == 0,
		    "cut at %zu: %s became %s", cut, text, stream.out);
	}
	/* Byte by byte. */
	start();
	for (cut = 0; cut < n; cut++)
		feed(text + cut, 1, 0);
	feed("", 0, 1);
	scan_free(stream.scan);
	ck_assert_str_eq(stream.out, want);
}
END_TEST

/*
 * The pipe idles in the middle of it: what went out until then is not the
 * whole, and what comes then is masked.
 */
START_TEST(test_idle_anywhere)
{
	char text[8192], secret[8192];
	size_t n, cut, before, after;

	strcpy(text, expand(secrets[_i].shape));
	n = strlen(text);
	before = strlen(secrets[_i].before);
	after = strlen(secrets[_i].after);
	snprintf(secret, sizeof(secret), "%.*s", (int)(n - before - after),
	    text + before);
	for (cut = 1; cut < n; cut++) {
		start();
		feed(text, cut, 0);
		idle();
		feed(text + cut, n - cut, 0);
		feed("", 0, 1);
		scan_free(stream.scan);
		ck_assert_msg(strstr(stream.out, secret) == NULL,
		    "idle at %zu: %s", cut, stream.out);
		ck_assert_msg(strstr(stream.out, "[redacted:") != NULL,
		    "idle at %zu: %s", cut, stream.out);
	}
}
END_TEST

/* Secrets beside and inside of others, and values longer than is looked at. */
static const struct {
	const char	*shape;
	const char	*want;
} together[] = {
	/* the secret that may belong to the id hides where the token begins */
	{ "AKIA" "%16u xoxe" ".xoxp-1-%40a\n", "[redacted:aws] "
	    "[redacted:slack]\n" },
	{ "https://glpat" "-%20a:hunter22@h/x", "https://[redacted:gitlab]:"
	    "[redacted:url-password]@h/x" },
	{ "https://ghp" "_%36a:@h/x", "https://[redacted:github]:@h/x" },
	{ "https://user:ghp" "_%36a@h/x", "https://user:"
	    "[redacted:url-password]@h/x" },
	{ "to" "ken.ghp_%36a=%20a\n", "token.[redacted:github]="
	    "[redacted:token]\n" },
	{ "<to" "ken>%300a</token>", "<token>[redacted:token]</token>" },
	{ "pass" "word=\"%159a\\\"%20a\" x", "password=\""
	    "[redacted:password]\" x" },
};

/* Wherever two reads cut it. */
START_TEST(test_together)
{
	char text[1024];
	size_t n, first, second;

	strcpy(text, expand(together[_i].shape));
	n = strlen(text);
	for (first = 0; first <= n; first++)
		for (second = first; second <= n; second += 1 + n / 7) {
			start();
			feed(text, first, 0);
			feed(text + first, second - first, 0);
			feed(text + second, n - second, 0);
			feed("", 0, 1);
			scan_free(stream.scan);
			ck_assert_msg(strcmp(stream.out, together[_i].want)
			    == 0, "cut at %zu and %zu: %s became %s", first,
			    second, text, stream.out);
		}
}
END_TEST

/* ---- what is none ---- */

static const char *const harmless[] = {
	"commit %40h\nAuthor: A <a@example.org>\n",
	"sha256:%64h", "sha512-%86b==", "integrity sha1-%27b=",
	"\"integrity\": \"sha512-%86b==\",", "%8h-%4h-%4h-%4h-%12h",
	"data:image/png;base64,iVBORw0KGgo%900b=",
	"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI%43b user@host",
	"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ%340b= user@host",
	"-----BEGIN CERTIFICATE-----\n%64b\n-----END CERTIFICATE-----\n",
	"-----BEGIN PUBLIC KEY-----\n%64b\n-----END PUBLIC KEY-----\n",
	"if (strstr(p, \"-----BEGIN PRIVATE KEY-----\") != NULL) return 1;",
	".css-%6h{color:#%6h}.sk-circle-fade-dot-1{top:0}",
	"style.%20h.css app.%8h.js chunk-%8h.js",
	"function e(t,n){return t.token=n.token,t.key=n.key||e}",
	"var a=e.password,b=e.secret;c(a,b);d.auth=function(){}",
	"password: string;", "password?: string", "token: str = None",
	"token = os.environ[\"TOKEN\"]", "password = getpass.getpass()",
	"api_key=config.api_key", "secret = self.secret",
	"f(password=password, token=token)", "token: Option<String>,",
	"const token = await getToken();", "auth: HTTPBasicAuth(user)",
	"password=$PASSWORD", "TOKEN=${TOKEN}", "token: ${{ secrets.T1 }}",
	"\"token\": \"<your token 1>\"", "secret: \"{{ vault_x1 }}\"",
	"\"js-tokens\": \"^4.0.0\"", "\"cookie\": \"0.5.0\"",
	"\"token-types\": \"^5.0.1\"", "max_tokens: 4096",
	"token_count=12345678", "{\"tokenType\": \"identifier9\"}",
	"token_url: https://example.org/oauth2/token",
	"password_file = /run/secrets/db1", "Enter password: ",
	"\"password\": \"Your password\"", "basic authentication is used",
	"Bearer of good news and of 12 tidings", "the key is: value1",
	"sort_key=abc12345", "keyboard: querty12", "monkey=banana123",
	"http://127.0.0.1:8080/path@2", "https://example.org/a:b@c",
	"git@github.com:owner/repo.git", "user:pass is the form",
	"task-%24a", "disk-0123456789012345678901", "%40h %40h",
	"risk-%24h", "eyes eyJ short", "AKIA is a prefix", "npm_config_cache",
	"npm_package_dependencies_something_very_long", "ghp_short",
	"xoxo-hugs-and-kisses", "token", "password", "secret:", "auth://x",
	"Token::new(1)", "impl Token { fn key(&self) -> u64 }",
	"passport=ABC123456", "path_patterns: a1b2c3d4e5",
	"pass: 12, fail: 3", "author: someone123", "authors=people12",
	"oauth2: enabled", "KEY=value", "PASSWORD_MIN_LENGTH=12345",
	"compass: n0rth123", "bypass=yes12345x", "key: \"a1b2c3d4\"",
};
#define NHARMLESS	(sizeof(harmless) / sizeof(harmless[0]))

START_TEST(test_harmless)
{
	const char *text = expand(harmless[_i]);
	size_t n;

	start();
	scan_free(stream.scan);

	ck_assert_msg(scan_text(text, strlen(text), &n) == NULL,
	    "%s became %s", text, whole(text, strlen(text)));
}
END_TEST

/* Nothing of a prompt is held, and of the rest only what may be a key. */
START_TEST(test_prompts)
{
	static const char *const texts[] = {
		"Password: ", "Enter your token: ", "$ ", "(y/N) ", "100%",
		"login", "-> ", "Password for user@host",
		"https://host:", "a secret"
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		start();
		ck_assert_msg(feed(texts[i], strlen(texts[i]), 0) == 0,
		    "%s is held", texts[i]);
		ck_assert_str_eq(stream.out, texts[i]);
		scan_free(stream.scan);
	}
	start();
	ck_assert_uint_eq(feed("about a sk", 10, 0), SCAN_WEAK_MS);
	ck_assert_str_eq(stream.out, "about a ");
	idle();
	ck_assert_str_eq(stream.out, "about a sk");
	scan_free(stream.scan);
	/* What is typed at the prompt is masked all the same. */
	start();
	feed("Password: ", 10, 0);
	idle();
	feed("hunter2!x\n", 10, 0);
	scan_free(stream.scan);
	ck_assert_str_eq(stream.out, "Password: [redacted:password]\n");
}
END_TEST

START_TEST(test_aws_secret_near)
{
	char text[1024], id[64], secret[64];

	strcpy(id, expand("AKIA" "%16u"));
	strcpy(secret, expand("%40a"));
	snprintf(text, sizeof(text), "%s,%s\n", id, secret);
	ck_assert_str_eq(whole(text, strlen(text)),
	    "[redacted:aws],[redacted:aws]\n");
	/* A hash beside it is none, nor is one that is far away. */
	snprintf(text, sizeof(text), "%s %s\n", id, expand("%40h"));
	ck_assert_ptr_nonnull(strstr(whole(text, strlen(text)), text + 21));
	snprintf(text, sizeof(text), "%s %600d %s\n", id, 1, secret);
	ck_assert_ptr_nonnull(strstr(whole(text, strlen(text)), secret));
}
END_TEST

START_TEST(test_counts)
{
	char text[1024];
	size_t n = 0;
	int i;

	for (i = 0; i < 3; i++)
		n += (size_t)sprintf(text + n, "%s\n", expand("ghp" "_%36a"));
	start();
	feed(text, n, 1);
	ck_assert_uint_eq(scan_count(stream.scan), 3);
	scan_free(stream.scan);
	/* What was masked is no secret any more. */
	strcpy(text, stream.out);
	ck_assert_str_eq(whole(text, strlen(text)), text);
}
END_TEST

/* ---- registered values ---- */

static void
set_values(const char *const *v, size_t n)
{
	struct value_form forms[VALUE_FORMS];
	struct value_key key;
	size_t i, j, count, all = 0;

	memset(&key, 7, sizeof(key));
	key.mix[0] = 0x123456789abcdef1;
	key.mix[1] = 0xfedcba9876543211;
	values_begin(&key);
	for (i = 0; i < n; i++) {
		count = value_forms(&key, (const uint8_t *)v[i], strlen(v[i]),
		    forms);
		ck_assert_uint_le(count, VALUE_FORMS);
		for (j = 0; j < count; j++)
			ck_assert_int_eq(values_add(&forms[j]), 0);
		all += count;
	}
	ck_assert_int_eq(values_end((uint32_t)all), 0);
}

START_TEST(test_values)
{
	static const char *const v[] = {
		"correct horse/battery+staple?", "eight888", "correct horse"
	};
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "x correct horse/battery+staple? y", "x [redacted:"
		    "registered] y" },
		{ "a correct horse b", "a [redacted:registered] b" },
		{ "eight888eight888", "[redacted:registered]"
		    "[redacted:registered]" },
		{ "q=correct%20horse%2Fbattery%2Bstaple%3F&", "q=[redacted:"
		    "registered]&" },
		{ "q=correct+horse%2fbattery%2bstaple%3f&", "q=[redacted:"
		    "registered]&" },
		/* base64 of eight888, at each alignment */
		{ "ZWlnaHQ4ODg=", "[redacted:registered]g=" },
		{ "LWVpZ2h0ODg4", "LW[redacted:registered]" },
		{ "LS1laWdodDg4OC0=", "LS1[redacted:registered]C0=" },
		{ "eight88 correct hors", "eight88 correct hors" },
	};
	size_t i, cut, n;

	start();
	scan_free(stream.scan);
	set_values(v, 3);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		n = strlen(rows[i].text);
		for (cut = 0; cut <= n; cut++) {
			start();
			feed(rows[i].text, cut, 0);
			feed(rows[i].text + cut, n - cut, 0);
			feed("", 0, 1);
			scan_free(stream.scan);
			ck_assert_str_eq(stream.out, rows[i].want);
		}
	}
	set_values(v, 0);
	ck_assert(!values_any());
	ck_assert_str_eq(whole("eight888", 8), "eight888");
}
END_TEST

START_TEST(test_value_table)
{
	struct value_form f = { .length = 8 };
	struct value_key key = { { 1, 2 }, { 0 } };

	ck_assert_int_eq(values_end(0), -1);
	ck_assert_int_eq(values_add(&f), -1);
	values_begin(&key);
	f.length = 7;
	ck_assert_int_eq(values_add(&f), -1);
	f.length = VALUE_FORM_MOST + 1;
	ck_assert_int_eq(values_add(&f), -1);
	f.length = 8;
	f.first = 1 << 24;
	ck_assert_int_eq(values_add(&f), -1);
	f.first = 1;
	ck_assert_int_eq(values_add(&f), 0);
	ck_assert_int_eq(values_end(2), -1);
	values_abort();
	ck_assert(!values_any());
}
END_TEST

/* ---- time ---- */

static const char *const floods[] = {
	"a", "-", "sk-", "-sk-", "eyJ", " eyJ", "eyJaaaaaaaaaa.", "://",
	" x://a:", "AIza-", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----\n",
	"token", "token=", "token-", "\\", "\"token\":\"", "key", "key=",
	"key-", "Bearer ", "xoxb-", "A", "AKIA", "secret=a.b.", "pass\n",
	"glpat-", " AKIAABCDEFGHIJKLMNOP ", "password=hunter2 ",
};

START_TEST(test_linear)
{
	const size_t size = 1 << 20, step = 64 * 1024;
	const char *unit = floods[_i];
	struct timespec a, b;
	char *text;
	size_t i;

	ck_assert_ptr_nonnull(text = malloc(size));
	for (i = 0; i < size; i++)
		text[i] = unit[i % strlen(unit)];
	start();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (i = 0; i < size; i += step) {
		feed(text + i, step, i + step == size);
		stream.nout = 0;
		ck_assert_uint_lt(stream.size, 16 * 1024);
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	scan_free(stream.scan);
	ck_assert_msg(b.tv_sec - a.tv_sec < 3, "\"%s\" took %ld s", unit,
	    (long)(b.tv_sec - a.tv_sec));
	free(text);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("scan");
	TCase *tc = tcase_create("scan");

	tcase_add_loop_test(tc, test_kinds, 0, NSECRETS);
	tcase_add_loop_test(tc, test_cut_anywhere, 0, NSECRETS);
	tcase_add_loop_test(tc, test_idle_anywhere, 0, NSECRETS);
	tcase_add_loop_test(tc, test_together, 0,
	    sizeof(together) / sizeof(together[0]));
	tcase_add_loop_test(tc, test_harmless, 0, NHARMLESS);
	tcase_add_test(tc, test_prompts);
	tcase_add_test(tc, test_aws_secret_near);
	tcase_add_test(tc, test_counts);
	tcase_add_test(tc, test_values);
	tcase_add_test(tc, test_value_table);
	tcase_add_loop_test(tc, test_linear, 0,
	    sizeof(floods) / sizeof(floods[0]));
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
