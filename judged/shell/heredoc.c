/*
 * Here-documents: queued where they stand, read at the end of the line.
 */
#include <string.h>

#include "parse_internal.h"

struct heredoc {
	struct heredoc	*next;
	struct ast_redir *redir;
	const char	*end;		/* the delimiter, quotes removed */
	size_t		 end_len;
};

/* The delimiter is the text of the word; any quote in it makes it literal. */
void
heredoc_add(struct parser *p, struct ast_redir *redir, size_t from, size_t to)
{
	struct heredoc *h = judging_alloc(p->j, sizeof(*h));
	char *end = judging_alloc(p->j, to - from + 1);
	size_t i, n = 0;
	int quote = 0;

	for (i = from; i < to; i++) {
		char c = p->s[i];

		if (c == '\\' && quote != '\'' && i + 1 < to) {
			i++;
			if (p->s[i] == '\n')
				continue;
			redir->quoted = 1;
			if (quote == '"' && strchr("$`\\\"", p->s[i]) == NULL)
				end[n++] = '\\';
			end[n++] = p->s[i];
		} else if (quote != 0 && c == quote) {
			quote = 0;
		} else if (quote == 0 && (c == '\'' || c == '"')) {
			quote = c;
			redir->quoted = 1;
		} else
			end[n++] = c;
	}
	h->redir = redir;
	h->end = end;
	h->end_len = n;
	if (p->heredocs == NULL)
		p->heredocs_end = &p->heredocs;
	*p->heredocs_end = h;
	p->heredocs_end = &h->next;
}

/*
 * One line at p->pos into out, with its newline: how many bytes.  Where the
 * body expands, \newline joins lines before the delimiter is looked for.
 */
static size_t
read_line(struct parser *p, const struct heredoc *h, char *out)
{
	int tabs = h->redir->op == REDIR_HERE_TABS;
	size_t n = 0;
	char c;

	while (tabs && p->pos < p->len && p->s[p->pos] == '\t')
		p->pos++;
	while (p->pos < p->len) {
		c = p->s[p->pos++];
		p->steps++;
		if (!h->redir->quoted && c == '\\' && p->pos < p->len) {
			if (p->s[p->pos] == '\n') {
				p->pos++;
				continue;
			}
			out[n++] = c;
			c = p->s[p->pos++];
		}
		out[n++] = c;
		if (c == '\n')
			break;
	}
	return (n);
}

static void
read_body(struct parser *p, struct heredoc *h)
{
	size_t n, len = 0;
	char *body;

	/* One room for all of them, as any may be as long as the text. */
	if (p->line == NULL)
		p->line = judging_alloc(p->j, p->len + 1);
	body = p->line;
	while (p->pos < p->len) {
		n = read_line(p, h, body + len);
		if ((n == h->end_len || (n == h->end_len + 1 &&
		    body[len + n - 1] == '\n')) &&
		    memcmp(body + len, h->end, h->end_len) == 0)
			break;
		len += n;
	}
	h->redir->body = judging_strndup(p->j, body, len);
	h->redir->body_len = len;
}

void
heredoc_read(struct parser *p)
{
	struct heredoc *h = p->heredocs;

	p->heredocs = NULL;
	for (; h != NULL; h = h->next)
		read_body(p, h);
}
