/*
 * The grammar of shell text, but for compound commands: lists, pipelines,
 * simple commands, redirects.
 */
#include <string.h>

#include "parse_internal.h"

void
parser_init(struct parser *p, struct judging *j, const char *s, size_t len,
    enum dialect dialect)
{
	memset(p, 0, sizeof(*p));
	p->j = j;
	p->s = s;
	p->len = len;
	p->dialect = dialect;
	p->may_reserve = 1;
}

struct node *
node_new(struct parser *p, enum node_kind kind, size_t from)
{
	struct node *n = judging_alloc(p->j, kind == NODE_SIMPLE ?
	    offsetof(struct node, left) : sizeof(*n));

	n->kind = kind;
	n->from = place(p, from);
	return (n);
}

static struct node *
node_end(struct parser *p, struct node *n)
{
	if (n != NULL)
		n->to = p->fixed ? p->to : (uint32_t)p->pos;
	return (n);
}

/* ---- redirects ---- */

static const struct {
	const char	*text;
	enum redir_op	 op;
	int		 bash;
} redirs[] = {
	/* the longer ones first */
	{ "<<<", REDIR_HERE_STRING, 1 }, { "<<-", REDIR_HERE_TABS, 0 },
	{ "<<", REDIR_HERE, 0 }, { "<&", REDIR_DUP_IN, 0 },
	{ "<>", REDIR_BOTH, 0 }, { "<", REDIR_IN, 0 },
	{ ">>", REDIR_APPEND, 0 }, { ">&", REDIR_DUP_OUT, 0 },
	{ ">|", REDIR_CLOBBER, 0 }, { ">", REDIR_OUT, 0 },
	{ "&>>", REDIR_ALL_APPEND, 1 }, { "&>", REDIR_ALL, 1 }
};

static int
find_redir(struct parser *p)
{
	size_t i;
	int c = peek(p);

	if (c != '<' && c != '>' && c != '&')
		return (-1);
	for (i = 0; i < sizeof(redirs) / sizeof(redirs[0]); i++)
		if ((!redirs[i].bash || is_bash(p)) && at(p, redirs[i].text)) {
			/* "<(" begins a word */
			if (redirs[i].text[1] == '\0' && is_bash(p) &&
			    peek_at(p, 1) == '(')
				return (-1);
			return ((int)i);
		}
	return (-1);
}

/* Digits in front of < or >. */
static int
take_fd(struct parser *p, int *fd)
{
	size_t saved = p->pos;
	long v = 0;
	int c, n = 0;

	while ((c = peek(p)) >= '0' && c <= '9') {
		if (v < 100000)
			v = v * 10 + (c - '0');
		p->pos++;
		n++;
	}
	if (n > 0 && (c == '<' || c == '>') && find_redir(p) >= 0) {
		*fd = (int)v;
		return (1);
	}
	if (p->error == PARSE_OK)
		p->pos = saved;
	return (0);
}

/* What "{" begins, where that is the name of a descriptor. */
static const char *
take_braced(struct parser *p)
{
	size_t saved = p->pos, n = 0;
	char buf[128];
	int c;

	p->pos++;
	while ((n == 0 ? is_name_start(c = peek(p)) : is_name(c = peek(p)) ||
	    c == '[' || c == ']') && n < sizeof(buf) - 1) {
		buf[n++] = (char)c;
		p->pos++;
	}
	buf[n] = '\0';
	if (n > 0 && peek(p) == '}') {
		p->pos++;
		c = peek(p);
		if ((c == '<' || c == '>') && find_redir(p) >= 0)
			return (judging_strndup(p->j, buf, n));
	}
	if (p->error == PARSE_OK)
		p->pos = saved;
	return (NULL);
}

/* {name} in front of < or >. */
static const char *
take_fd_name(struct parser *p)
{
	return (is_bash(p) && peek(p) == '{' ? take_braced(p) : NULL);
}

/* 1 if what stands here may begin a redirect. */
static int
may_redirect(struct parser *p)
{
	int c = peek(p);

	return (c == '<' || c == '>' || c == '&' || c == '{' ||
	    (c >= '0' && c <= '9'));
}

struct ast_redir *
parse_redirect(struct parser *p)
{
	struct ast_redir *r;
	const char *name = NULL;
	size_t from;
	int fd = -1, i;

	skip_blanks(p);
	if (!may_redirect(p))
		return (NULL);
	if (!take_fd(p, &fd))
		name = take_fd_name(p);
	if ((i = find_redir(p)) < 0)
		return (NULL);
	take(p, redirs[i].text);
	r = judging_alloc(p->j, sizeof(*r));
	r->op = redirs[i].op;
	r->fd = fd;
	r->fd_name = name;
	skip_blanks(p);
	peek(p);
	from = p->pos;
	/* ">f 3<g" has a target, "> 3<g" has none: 3 is of the next one. */
	if (take_fd(p, &fd) || take_fd_name(p) != NULL ||
	    (r->target = parse_word(p, 0)) == NULL) {
		syntax_error(p, "a redirect has no target");
		return (NULL);
	}
	if (r->op == REDIR_HERE || r->op == REDIR_HERE_TABS)
		heredoc_add(p, r, from, p->pos);
	p->may_reserve = 0;
	return (r);
}

struct node *
parse_redirects(struct parser *p, struct node *n)
{
	struct ast_redir **end = &n->redirs, *r;

	while ((r = parse_redirect(p)) != NULL) {
		*end = r;
		end = &r->next;
	}
	return (node_end(p, n));
}

/* ---- simple commands ---- */

/* Builtins behind whose name words may be assignments with arrays. */
static int
takes_assignments(const struct ast_word *w)
{
	static const char *const names[] = {
		"alias", "declare", "export", "local", "readonly", "typeset",
		"eval", "let"
	};
	size_t i;

	if (w->parts == NULL || w->parts->next != NULL ||
	    w->parts->kind != PART_TEXT)
		return (0);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (w->parts->text[0] == names[i][0] &&
		    strcmp(w->parts->text, names[i]) == 0)
			return (1);
	return (0);
}

/* As dash wants a function's name to be. */
static int
is_plain_name(const struct ast_word *w)
{
	size_t i;

	if (w->parts == NULL || w->parts->next != NULL ||
	    w->parts->kind != PART_TEXT ||
	    !is_name_start((unsigned char)w->parts->text[0]))
		return (0);
	for (i = 1; i < w->parts->len; i++)
		if (!is_name((unsigned char)w->parts->text[i]))
			return (0);
	return (1);
}

/* "name ()": the word is behind us. */
static struct node *
parse_function(struct parser *p, const struct ast_word *w, size_t from,
    size_t to)
{
	advance(p);
	skip_blanks(p);
	if (peek(p) != ')') {
		syntax_error(p, "( is not expected here");
		return (NULL);
	}
	advance(p);
	p->may_reserve = 1;
	if (!is_bash(p) && w->name == NULL && !is_plain_name(w))
		syntax_error(p, "a function can't have this name");
	return (parse_function_body(p, judging_strndup(p->j, p->s + from,
	    to - from), from));
}

struct words {
	struct ast_word	**assigns_end;
	struct ast_word	**words_end;
	int		 nwords;
	int		 assigns;	/* arrays may be assigned */
};

/* Adds the word that stands here; 0 if there is none. */
static int
add_word(struct parser *p, struct node *n, struct words *ws)
{
	struct ast_word *w;

	w = parse_word(p, ws->nwords == 0 || ws->assigns ? WORD_ASSIGNS : 0);
	if (w == NULL)
		return (0);
	if (ws->nwords == 0 && w->name != NULL) {
		*ws->assigns_end = w;
		ws->assigns_end = &w->next;
		return (1);
	}
	if (ws->nwords++ == 0)
		ws->assigns = takes_assignments(w);
	*ws->words_end = w;
	ws->words_end = &w->next;
	(void)n;
	return (1);
}

struct node *
parse_simple(struct parser *p)
{
	struct words ws = { 0 };
	struct ast_redir **redirs_end, *r;
	struct node *n;
	size_t from, to;
	int any = 0;

	skip_blanks(p);
	peek(p);
	from = p->pos;
	n = node_new(p, NODE_SIMPLE, from);
	ws.assigns_end = &n->assigns;
	ws.words_end = &n->words;
	redirs_end = &n->redirs;
	for (;; any = 1) {
		if ((r = parse_redirect(p)) != NULL) {
			*redirs_end = r;
			redirs_end = &r->next;
			continue;
		}
		if (!add_word(p, n, &ws))
			break;
		to = p->pos;
		skip_blanks(p);
		if (peek(p) == '(' && ws.nwords == 1 && n->assigns == NULL &&
		    n->redirs == NULL)
			return (parse_function(p, n->words, from, to));
	}
	if (peek(p) == '(')
		syntax_error(p, "( is not expected here");
	return (any ? node_end(p, n) : NULL);
}

/* ---- pipelines and lists ---- */

struct node *
parse_command(struct parser *p)
{
	enum reserved word;

	skip_blanks(p);
	if (peek(p) == '(')
		return (node_end(p, parse_paren(p)));
	word = reserved(p);
	switch (word) {
	case RES_NONE:
		return (parse_simple(p));
	case RES_IN:
	case RES_COND_END:
	case RES_NOT:
	case RES_TIME:
		/* "time" behind a pipe is a program */
		if (word == RES_TIME)
			return (parse_simple(p));
		return (NULL);
	default:
		return (node_end(p, parse_compound(p, word)));
	}
}

static struct node *
want_command(struct parser *p)
{
	struct node *n = parse_command(p);

	if (n == NULL)
		syntax_error(p, "a command is expected here");
	return (n);
}

static struct node *
parse_stages(struct parser *p)
{
	struct node *pipe, *n, **end;
	size_t from;

	skip_blanks(p);
	from = p->pos;
	if ((n = want_command(p)) == NULL)
		return (NULL);
	skip_blanks(p);
	if (peek(p) != '|' || at(p, "||"))
		return (n);
	pipe = node_new(p, NODE_PIPE, from);
	pipe->left = n;
	end = &n->next;
	while (peek(p) == '|' && !at(p, "||")) {
		take(p, "|");
		if (is_bash(p) && take(p, "&"))
			n->piped_stderr = 1;
		skip_newlines(p);
		if ((n = want_command(p)) == NULL)
			return (NULL);
		*end = n;
		end = &n->next;
		skip_blanks(p);
	}
	return (node_end(p, pipe));
}

/* "time" with its options; 1 if it stood here. */
static int
take_time(struct parser *p)
{
	if (!take_reserved(p, RES_TIME))
		return (0);
	skip_blanks(p);
	if (at(p, "-p") && is_meta(peek_at(p, 2)))
		take(p, "-p");
	skip_blanks(p);
	if (at(p, "--") && is_meta(peek_at(p, 2)))
		take(p, "--");
	return (1);
}

static struct node *
parse_pipeline(struct parser *p)
{
	struct node *n;
	size_t from;
	int negated = 0, timed = 0, prefixes = 0;

	skip_blanks(p);
	from = p->pos;
	for (;; prefixes++) {
		if (take_reserved(p, RES_NOT))
			negated = !negated;
		else if (take_time(p))
			timed = 1;
		else
			break;
		if (!is_bash(p))
			break;
	}
	skip_blanks(p);
	if ((prefixes > 0 || negated) && is_bash(p) && at_separator(p) &&
	    !at(p, ";;")) {
		n = node_new(p, NODE_SIMPLE, from);
		n->truth_only = 1;
		return (node_end(p, n));
	}
	if ((n = parse_stages(p)) == NULL)
		return (NULL);
	n->negated = negated;
	n->timed = timed;
	return (n);
}

static struct node *
parse_and_or(struct parser *p)
{
	struct node *n, *both;
	size_t from;

	skip_blanks(p);
	from = p->pos;
	n = parse_pipeline(p);
	while (n != NULL) {
		skip_blanks(p);
		if (take(p, "&&"))
			both = node_new(p, NODE_AND, from);
		else if (take(p, "||"))
			both = node_new(p, NODE_OR, from);
		else
			break;
		skip_newlines(p);
		both->left = n;
		both->right = parse_pipeline(p);
		if (both->right == NULL)
			return (NULL);
		n = node_end(p, both);
	}
	return (n);
}

/* 1 if a list ends here: at a closing word or sign. */
static int
list_ends(struct parser *p)
{
	int c = peek(p);

	if (c == END || c == ')' || at(p, ";;") || at(p, ";&"))
		return (1);
	switch (reserved(p)) {
	case RES_THEN:
	case RES_ELIF:
	case RES_ELSE:
	case RES_FI:
	case RES_ESAC:
	case RES_DO:
	case RES_DONE:
	case RES_CLOSE:
		return (1);
	default:
		return (0);
	}
}

/* What separates two commands: ';', '&', '\n', or 0. */
static int
take_separator(struct parser *p)
{
	skip_blanks(p);
	if (at(p, ";;") || at(p, ";&"))
		return (0);
	if (take(p, ";"))
		return (';');
	if (peek(p) == '&' && !at(p, "&&") && !(is_bash(p) && at(p, "&>"))) {
		take(p, "&");
		return ('&');
	}
	if (peek(p) == '\n')
		return ('\n');
	return (0);
}

static struct item *
add_item(struct parser *p, struct item ***end, struct node *n)
{
	struct item *item = judging_alloc(p->j, sizeof(*item));

	item->node = n;
	**end = item;
	*end = &item->next;
	return (item);
}

struct list *
parse_list(struct parser *p, int may_be_empty)
{
	struct list *list = judging_alloc(p->j, sizeof(*list));
	struct item **end = &list->first, *item;
	struct node *n;
	int c;

	if (!parse_enter(p))
		return (list);
	for (skip_newlines(p); !list_ends(p); skip_newlines(p)) {
		if ((n = parse_and_or(p)) == NULL)
			break;
		item = add_item(p, &end, n);
		c = take_separator(p);
		item->async = c == '&';
		if (c == 0)
			break;
	}
	if (list->first == NULL && !may_be_empty)
		syntax_error(p, "a command is expected here");
	parse_leave(p);
	return (list);
}

struct list *
parse_parens(struct parser *p)
{
	struct heredoc *heredocs = p->heredocs, **end = p->heredocs_end;
	int reserve = p->may_reserve, extglob = p->extglob;
	struct list *list;

	p->heredocs = NULL;
	p->may_reserve = 1;
	list = parse_list(p, 1);
	skip_newlines(p);
	if (peek(p) != ')')
		syntax_error(p, "a ( is not closed");
	if (p->heredocs != NULL) {
		/* Their bodies come behind the line that holds all this. */
		*p->heredocs_end = heredocs;
		if (heredocs != NULL)
			p->heredocs_end = end;
	} else {
		p->heredocs = heredocs;
		p->heredocs_end = end;
	}
	advance(p);
	p->may_reserve = reserve;
	p->extglob = extglob;
	return (list);
}

int
parser_next(struct parser *p, struct list **out)
{
	struct list *list;
	struct item **end;
	struct node *n;
	int c;

	p->may_reserve = 1;
	skip_newlines(p);
	if (peek(p) == END && p->error == PARSE_OK)
		return (0);
	list = judging_alloc(p->j, sizeof(*list));
	end = &list->first;
	do {
		if ((n = parse_and_or(p)) == NULL) {
			syntax_error(p, "a command is expected here");
			break;
		}
		c = take_separator(p);
		add_item(p, &end, n)->async = c == '&';
		skip_blanks(p);
	} while (c != 0 && c != '\n' && peek(p) != '\n' && peek(p) != END);
	if (peek(p) == '\n')
		take_newline(p);
	else if (peek(p) != END)
		syntax_error(p, "not expected here");
	*out = list;
	return (p->error == PARSE_OK ? 1 : -1);
}

int
parser_quoted(struct parser *p, struct part **out)
{
	struct parts w;

	parts_init(&w);
	parse_parts(p, &w, MODE_ALL, 0);
	*out = parts_flush(p, &w);
	return (p->error == PARSE_OK ? 0 : -1);
}

int
parser_words(struct parser *p, struct ast_word **out)
{
	struct ast_word **end = out, *w;

	*out = NULL;
	for (skip_newlines(p); (w = parse_word(p, 0)) != NULL;
	    skip_newlines(p)) {
		*end = w;
		end = &w->next;
	}
	if (peek(p) != END)
		syntax_error(p, "not expected here");
	return (p->error == PARSE_OK ? 0 : -1);
}
