/*
 * A tree as JSON, in the form in which tests/system/test_shell_tree.py brings
 * shfmt's: kinds, places of words, and the substitutions in them.
 */
#include <stdio.h>

#include "look.h"

static void look_node(struct judging *, const struct node *, int async);

void
look_string(const char *s, size_t len)
{
	size_t i;
	unsigned char c;

	putchar('"');
	for (i = 0; i < len; i++) {
		c = (unsigned char)s[i];
		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < ' ' || c >= 0x7f)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

void
look_list(struct judging *j, const struct list *list)
{
	const struct item *i;

	putchar('[');
	for (i = list == NULL ? NULL : list->first; i != NULL; i = i->next) {
		look_node(j, i->node, i->async);
		if (i->next != NULL)
			putchar(',');
	}
	putchar(']');
}

/* The substitutions in parts, in the order in which they stand. */
static void
look_parts(struct judging *j, const struct part *p, int *first)
{
	for (; p != NULL; p = p->next) {
		switch (p->kind) {
		case PART_DOUBLE:
		case PART_ARITH:
			look_parts(j, p->parts, first);
			break;
		case PART_PARAM:
			look_parts(j, p->param->subscript, first);
			look_parts(j, p->param->word, first);
			look_parts(j, p->param->with, first);
			break;
		case PART_COMMAND:
		case PART_PROCESS:
			if (!*first)
				putchar(',');
			*first = 0;
			look_list(j, p->list);
			break;
		default:
			break;
		}
	}
}

static void
look_word(struct judging *j, const struct ast_word *w)
{
	const struct ast_word *e;
	int first = 1;

	printf("[%u,%u,[", w->from, w->to);
	look_parts(j, w->parts, &first);
	for (e = w->elements; e != NULL; e = e->next)
		look_parts(j, e->parts, &first);
	printf("]]");
}

static void
look_words(struct judging *j, const struct ast_word *w)
{
	putchar('[');
	for (; w != NULL; w = w->next) {
		look_word(j, w);
		if (w->next != NULL)
			putchar(',');
	}
	putchar(']');
}

static void
look_redirs(struct judging *j, const struct ast_redir *r)
{
	putchar('[');
	for (; r != NULL; r = r->next) {
		look_word(j, r->target);
		if (r->next != NULL)
			putchar(',');
	}
	putchar(']');
}

static void
look_arith(struct judging *j, const struct node *n)
{
	int i, first = 1;

	putchar('[');
	for (i = 0; i < 3; i++)
		look_parts(j, n->arith[i], &first);
	putchar(']');
}

static void
look_cond(struct judging *j, const struct cond *c, int *first)
{
	if (c == NULL)
		return;
	look_cond(j, c->a, first);
	if (c->left != NULL)
		look_parts(j, c->left->parts, first);
	if (c->right != NULL)
		look_parts(j, c->right->parts, first);
	look_cond(j, c->b, first);
}

static void
look_case(struct judging *j, const struct node *n)
{
	const struct case_item *i;

	look_word(j, n->subject);
	printf(",[");
	for (i = n->items; i != NULL; i = i->next) {
		putchar('[');
		look_words(j, i->patterns);
		putchar(',');
		look_list(j, i->body);
		putchar(']');
		if (i->next != NULL)
			putchar(',');
	}
	putchar(']');
}

static void
look_stages(struct judging *j, const struct node *n)
{
	putchar('[');
	for (; n != NULL; n = n->next) {
		look_node(j, n, 0);
		if (n->next != NULL)
			putchar(',');
	}
	putchar(']');
}

static void
look_kind(struct judging *j, const struct node *n)
{
	int first = 1;

	switch (n->kind) {
	case NODE_SIMPLE:
		printf("\"simple\",");
		look_words(j, n->assigns);
		putchar(',');
		look_words(j, n->words);
		break;
	case NODE_PIPE:
		printf("\"pipe\",");
		look_stages(j, n->left);
		break;
	case NODE_AND:
	case NODE_OR:
		printf("\"%s\",", n->kind == NODE_AND ? "and" : "or");
		look_node(j, n->left, 0);
		putchar(',');
		look_node(j, n->right, 0);
		break;
	case NODE_SUBSHELL:
	case NODE_GROUP:
		printf("\"%s\",", n->kind == NODE_GROUP ? "group" :
		    "subshell");
		look_list(j, n->body);
		break;
	case NODE_IF:
		printf("\"if\",");
		look_list(j, n->cond);
		putchar(',');
		look_list(j, n->body);
		putchar(',');
		if (n->otherwise != NULL)
			look_node(j, n->otherwise, 0);
		else
			look_list(j, n->other);
		break;
	case NODE_WHILE:
	case NODE_UNTIL:
		printf("\"%s\",", n->kind == NODE_WHILE ? "while" : "until");
		look_list(j, n->cond);
		putchar(',');
		look_list(j, n->body);
		break;
	case NODE_FOR:
	case NODE_SELECT:
		printf("\"%s\",", n->kind == NODE_FOR ? "for" : "select");
		look_string(n->name, __builtin_strlen(n->name));
		putchar(',');
		look_words(j, n->words);
		putchar(',');
		look_list(j, n->body);
		break;
	case NODE_CFOR:
		printf("\"cfor\",");
		look_arith(j, n);
		putchar(',');
		look_list(j, n->body);
		break;
	case NODE_CASE:
		printf("\"case\",");
		look_case(j, n);
		break;
	case NODE_FUNCTION:
		printf("\"function\",");
		look_string(n->name, __builtin_strlen(n->name));
		putchar(',');
		look_node(j, n->function, 0);
		break;
	case NODE_COPROC:
		printf("\"coproc\",");
		look_node(j, n->function, 0);
		break;
	case NODE_ARITH:
		printf("\"arith\",");
		look_arith(j, n);
		break;
	case NODE_COND:
		printf("\"cond\",[");
		look_cond(j, n->test, &first);
		putchar(']');
		break;
	}
}

static void
look_node(struct judging *j, const struct node *n, int async)
{
	printf("[%d,%d,", n->negated, async);
	look_redirs(j, n->redirs);
	putchar(',');
	look_kind(j, n);
	putchar(']');
}
