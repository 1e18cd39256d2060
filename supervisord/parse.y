/*
 * The grammar of myelin.conf(5).  Actions only hand over what they matched;
 * what is wrong with a value is said where it is set (conf_set.c), and the
 * reading goes on, so that all errors of a file are reported at once.
 */
%code requires {
#include "conf_int.h"
}

%code {
#include <stdlib.h>
#include <string.h>

#include "protocol.h"

#define YYLLOC_DEFAULT(cur, rhs, n)					\
	((cur) = YYRHSLOC(rhs, (n) != 0 ? 1 : 0))

/* What bison writes is not ours to cast. */
#pragma GCC diagnostic ignored "-Wconversion"

static void	conf_yyerror(struct pos *, struct parser *, const char *);
static void	not_here(struct parser *, struct pos, int, const char *);
static void	list_add(struct strings *, char *);

/* Refused by name: the rest of the entry is dropped. */
#define NOT_HERE(pos, words) do {					\
	not_here(ps, (pos), yychar, (words));				\
	YYERROR;							\
} while (0)
}

%code provides {
int	conf_yylex(CONF_YYSTYPE *, struct pos *, struct parser *);
}

%define api.pure full
%define api.prefix {conf_yy}
%define api.location.type {struct pos}
%define parse.error custom
%define parse.lac full
%locations
%param { struct parser *ps }

%union {
	char		*str;
	int		 num;
	struct strings	 list;
}

%token NL		"the end of the line"
%token <str> STRING	"a word"
%token <str> MACRO	"a macro"
%token <num> LIMIT	"a limit"
%token ALLOW "allow" ANY "any" API "api" ASK "ask" CAP "cap"
%token CGROUP "cgroup" COMMAND "command" DENY "deny" EFFECT "effect"
%token EGRESS "egress" ELEVATED "elevated" MARK "mark" MATCH "match" NOT "not"
%token PATH "path"
%token ENVIRONMENT "environment" GROUP "group" HOOK "hook"
%token INCLUDE "include"
%token INSTANCE "instance" LISTEN "listen" LOG "log" MAY "may" MODE "mode"
%token OPERATOR "operator" OWNER "owner" PARENT "parent" PRESET "preset"
%token PRINCIPAL "principal" PRIVATE "private" PROFILE "profile"
%token STATE "state" TOOL "tool" TOOL_INPUT "tool-input" UIDS "uids"
%token USER "user" WORKSPACE "workspace"
%token AUTHENTICATION "authentication" CLEARTEXT "cleartext" HOST "host"
%token VARIANT "variant" MOUNT "mount" ROOT "root"
%token KEY "key" METHOD "method" OPAQUE "opaque" PORT "port"
%token REQUIRE "require" REQUIRED "required" TCP "tcp" TOKEN "token"
%token TRANSPARENT "transparent"

%type <num> plane who allow_deny
%type <list> list marks words
%type <str> mark

%destructor { free($$); } <str>
%destructor { strings_free(&$$); } <list>

%%

config		: entries
		;

entries		: entry
		| entries sep entry
		;

sep		: ';'				{ yyerrok; }
		| NL				{ yyerrok; }
		;

entry		: %empty
		| MACRO '=' STRING {
			lex_define(ps, @1, $1, $3);
			free($1);
			free($3);
		}
		| INCLUDE STRING {
			lex_include(ps, @1, $2);
			free($2);
		}
		| INSTANCE STRING {
			set_instance(ps, @1, $2);
			free($2);
		}
		| STATE STRING {
			set_state(ps, @1, $2);
			free($2);
		}
		| PRIVATE STRING {
			set_private(ps, @1, $2);
			free($2);
		}
		| UIDS STRING {
			set_uids(ps, @1, $2, NULL);
			free($2);
		}
		| UIDS STRING STRING {
			set_uids(ps, @1, $2, $3);
			free($2);
			free($3);
		}
		| CGROUP PARENT STRING {
			set_cgroup(ps, @1, $3);
			free($3);
		}
		| LOG STRING {
			set_log(ps, @1, $2);
			free($2);
		}
		| LIMIT STRING {
			set_limit(ps, @1, $1, $2);
			free($2);
		}
		| TOOL STRING {
			set_tool(ps, @1, $2);
			free($2);
		}
		| HOOK STRING STRING {
			set_hook(ps, @1, $2, $3);
			free($2);
			free($3);
		}
		| TOOL_INPUT STRING {
			set_tool_input(ps, @1, $2);
			free($2);
		}
		| ENVIRONMENT ALLOW list {
			set_environment(ps, @1, &$3);
			strings_free(&$3);
		}
		| listen
		| profile
		| preset
		| principal
		| operator
		| rule
		| EGRESS {
			NOT_HERE(@1, "egress is a profile's: give it in one");
		}
		| error
		;

listen		: listen_head listen_options
		| listen_tcp_head '{' listen_lines '}' {
			set_listen_tcp_end(ps);
		}
		;

listen_head	: LISTEN plane STRING {
			set_listen(ps, @1, $2, $3);
			free($3);
		}
		;

listen_tcp_head	: LISTEN plane TCP STRING PORT STRING {
			set_listen_tcp(ps, @1, $2, $4, $6);
			free($4);
			free($6);
		}
		;

listen_lines	: listen_line
		| listen_lines sep listen_line
		;

listen_line	: %empty
		| AUTHENTICATION REQUIRED {
			set_listen_flag(ps, @1, LISTEN_TOKEN);
		}
		| CLEARTEXT {
			set_listen_flag(ps, @1, LISTEN_CLEARTEXT);
		}
		| HOST list {
			set_listen_hosts(ps, @1, &$2);
			strings_free(&$2);
		}
		| error
		;

plane		: API				{ $$ = PLANE_AGENT; }
		| OPERATOR			{ $$ = PLANE_OPERATOR; }
		;

listen_options	: %empty
		| listen_options GROUP STRING {
			set_listen_group(ps, @2, $3);
			free($3);
		}
		| listen_options MODE STRING {
			set_listen_mode(ps, @2, $3);
			free($3);
		}
		| listen_options REQUIRE TOKEN {
			set_listen_flag(ps, @2, LISTEN_TOKEN);
		}
		;

profile		: profile_head '{' profile_lines '}'
		;

profile_head	: PROFILE STRING {
			set_profile(ps, @1, $2);
			free($2);
		}
		;

profile_lines	: profile_line
		| profile_lines sep profile_line
		;

profile_line	: %empty
		| MODE STRING {
			set_profile_mode(ps, @1, $2);
			free($2);
		}
		| LIMIT STRING {
			set_profile_limit(ps, @1, $1, $2);
			free($2);
		}
		| VARIANT STRING {
			set_profile_variant(ps, @1, $2);
			free($2);
		}
		| WORKSPACE list {
			set_profile_workspace(ps, @1, &$2);
			strings_free(&$2);
		}
		| MOUNT words {
			set_profile_mount(ps, @1, &$2);
			strings_free(&$2);
		}
		| ROOT words {
			set_profile_root(ps, @1, &$2);
			strings_free(&$2);
		}
		| egress_head '{' egress_lines '}'
		| error
		;

egress_head	: EGRESS {
			set_egress(ps, @1);
		}
		;

egress_lines	: egress_line
		| egress_lines sep egress_line
		;

egress_line	: %empty
		| TRANSPARENT STRING {
			set_egress_transparent(ps, @1, $2);
			free($2);
		}
		| host_head host_options {
			set_host_end(ps);
		}
		| error
		;

host_head	: allow_deny HOST list {
			set_host(ps, @1, $1 == ALLOW, &$3);
			strings_free(&$3);
		}
		;

host_options	: %empty
		| host_options PORT list {
			set_host_ports(ps, @2, &$3);
			strings_free(&$3);
		}
		| host_options METHOD list {
			set_host_methods(ps, @2, &$3);
			strings_free(&$3);
		}
		| host_options OPAQUE {
			set_host_flag(ps, @2, HOST_F_OPAQUE);
		}
		| host_options PRIVATE {
			set_host_flag(ps, @2, HOST_F_PRIVATE);
		}
		;

preset		: preset_head '{' preset_lines '}'
		;

preset_head	: PRESET STRING {
			set_preset(ps, @1, $2);
			free($2);
		}
		;

preset_lines	: preset_line
		| preset_lines sep preset_line
		;

preset_line	: %empty
		| CAP STRING {
			set_preset_cap(ps, @1, $2);
			free($2);
		}
		| allow_deny TOOL list {
			set_preset_tools(ps, @1, $1 == ALLOW, &$3);
			strings_free(&$3);
		}
		| allow_deny GROUP list {
			set_preset_groups(ps, @1, $1 == ALLOW, &$3);
			strings_free(&$3);
		}
		| ELEVATED STRING {
			set_preset_elevated(ps, @1, $2);
			free($2);
		}
		| ELEVATED ASK {
			set_preset_elevated(ps, @1, "ask");
		}
		| LIMIT STRING {
			set_preset_limit(ps, @1, $1, $2);
			free($2);
		}
		| error
		;

allow_deny	: ALLOW				{ $$ = ALLOW; }
		| DENY				{ $$ = DENY; }
		;

rule		: rule_head conditions {
			set_rule_end(ps);
		}
		| rule_head conditions '{' rule_lines '}' {
			set_rule_end(ps);
		}
		;

rule_head	: allow_deny {
			set_rule(ps, @1, $1 == ALLOW ? VERDICT_ALLOW :
			    VERDICT_DENY);
		}
		| ASK {
			set_rule(ps, @1, VERDICT_ASK);
		}
		;

conditions	: condition
		| conditions condition
		;

condition	: TOOL list {
			set_rule_list(ps, @1, RULE_TOOL, &$2);
			strings_free(&$2);
		}
		| EFFECT list {
			set_rule_list(ps, @1, RULE_EFFECT, &$2);
			strings_free(&$2);
		}
		| MARK marks {
			set_rule_list(ps, @1, RULE_MARK, &$2);
			strings_free(&$2);
		}
		| COMMAND words {
			set_rule_list(ps, @1, RULE_COMMAND, &$2);
			strings_free(&$2);
		}
		| PATH list {
			set_rule_list(ps, @1, RULE_PATH, &$2);
			strings_free(&$2);
		}
		| HOST list {
			set_rule_list(ps, @1, RULE_HOST, &$2);
			strings_free(&$2);
		}
		| PRINCIPAL list {
			set_rule_list(ps, @1, RULE_PRINCIPAL, &$2);
			strings_free(&$2);
		}
		| PRINCIPAL USER STRING {
			set_rule_user(ps, @1, $3);
			free($3);
		}
		| WORKSPACE list {
			set_rule_list(ps, @1, RULE_WORKSPACE, &$2);
			strings_free(&$2);
		}
		;

rule_lines	: rule_line
		| rule_lines sep rule_line
		;

rule_line	: %empty
		| MATCH STRING {
			set_rule_test(ps, @1, false, $2);
			free($2);
		}
		| NOT MATCH STRING {
			set_rule_test(ps, @1, true, $3);
			free($3);
		}
		| error
		;

principal	: principal_head '{' principal_lines '}' {
			set_principal_end(ps);
		}
		;

principal_head	: PRINCIPAL who STRING {
			set_principal(ps, @1, $2, $3);
			free($3);
		}
		| PRINCIPAL KEY STRING {
			set_principal(ps, @1, WHO_KEY, $3);
			free($3);
		}
		;

who		: USER				{ $$ = WHO_USER; }
		| GROUP				{ $$ = WHO_GROUP; }
		;

principal_lines	: principal_line
		| principal_lines sep principal_line
		;

principal_line	: %empty
		| PRESET STRING {
			set_principal_preset(ps, @1, $2);
			free($2);
		}
		| PROFILE list {
			set_principal_profiles(ps, @1, &$2);
			strings_free(&$2);
		}
		| WORKSPACE list {
			set_principal_workspaces(ps, @1, &$2);
			strings_free(&$2);
		}
		| OWNER ANY {
			set_principal_owner(ps, @1, NULL);
		}
		| OWNER STRING {
			set_principal_owner(ps, @1, $2);
			free($2);
		}
		| error
		;

operator	: OPERATOR who STRING MAY list {
			set_operator(ps, @1, $2, $3, &$5);
			free($3);
			strings_free(&$5);
		}
		;

list		: STRING {
			$$ = (struct strings){ NULL, 0 };
			list_add(&$$, $1);
		}
		| list ',' optnl STRING {
			$$ = $1;
			list_add(&$$, $4);
		}
		;

/* Two of them are keywords. */
mark		: STRING			{ $$ = $1; }
		| ELEVATED			{ $$ = conf_copy("elevated"); }
		| OPAQUE			{ $$ = conf_copy("opaque"); }
		;

marks		: mark {
			$$ = (struct strings){ NULL, 0 };
			list_add(&$$, $1);
		}
		| marks ',' optnl mark {
			$$ = $1;
			list_add(&$$, $4);
		}
		;

words		: STRING {
			$$ = (struct strings){ NULL, 0 };
			list_add(&$$, $1);
		}
		| words STRING {
			$$ = $1;
			list_add(&$$, $2);
		}
		;

optnl		: %empty
		| optnl NL
		;

%%

static void
list_add(struct strings *list, char *word)
{
	if (strings_add(list, word) == -1)
		fatalx("out of memory");
	free(word);
}

/* bison's own words ("memory exhausted"); syntax errors come below. */
static void
conf_yyerror(struct pos *pos, struct parser *ps, const char *words)
{
	conf_error(ps, *pos, "%s", words);
}

static bool
ends_entry(int token)
{
	return (token == NL || token == ';' || token == '}' ||
	    token == CONF_YYEOF);
}

static void
not_here(struct parser *ps, struct pos pos, int token, const char *words)
{
	conf_error(ps, pos, "%s", words);
	if (token == CONF_YYEMPTY || !ends_entry(token))
		lex_skip_entry(ps, token == '{');
}

/* "a, b or c" of what might have stood there; "" for too much. */
static void
expected(const yypcontext_t *ctx, char *words, size_t size)
{
	yysymbol_kind_t kinds[6];
	size_t used = 0;
	int i, n;

	words[0] = '\0';
	n = yypcontext_expected_tokens(ctx, kinds, 6);
	if (n < 1 || n > 5)
		return;
	for (i = 0; i < n; i++) {
		if (kinds[i] == YYSYMBOL_NL) {
			(void)snprintf(words, size,
			    ", expected the end of the line");
			return;
		}
	}
	for (i = 0; i < n && used < size; i++)
		used += (size_t)snprintf(words + used, size - used, "%s%s",
		    i == 0 ? ", expected " : i == n - 1 ? " or " : ", ",
		    yysymbol_name(kinds[i]));
}

static int
yyreport_syntax_error(const yypcontext_t *ctx, struct parser *ps)
{
	yysymbol_kind_t kind = yypcontext_token(ctx);
	struct pos pos = *yypcontext_location(ctx);
	char words[256];

	if (ps->ended)
		return (0);
	expected(ctx, words, sizeof(words));
	if (ps->reported)
		ps->reported = false;
	else if (ps->unknown)
		conf_error(ps, pos, "unknown keyword \"%s\"", ps->last);
	else if (ps->began)
		conf_error(ps, pos, "\"%s\" has no place here", ps->last);
	else if (kind == YYSYMBOL_NL)
		conf_error(ps, pos, "unexpected end of the line%s", words);
	else
		conf_error(ps, pos, "unexpected \"%s\"%s", ps->last, words);
	switch (kind) {
	case YYSYMBOL_NL:
	case YYSYMBOL_YYEOF:
		break;
	default:
		if (strcmp(ps->last, ";") != 0 && strcmp(ps->last, "}") != 0)
			lex_skip_entry(ps, strcmp(ps->last, "{") == 0);
	}
	return (0);
}
