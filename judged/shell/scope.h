/*
 * What is known while a text is followed: variables, functions, aliases,
 * files, the working directory.  Each is a slot; every change goes into a
 * trail, so that a subshell or a branch costs what it changed, not what there
 * is.
 */
#ifndef SHELL_SCOPE_H
#define SHELL_SCOPE_H

#include <stddef.h>

#include "judge/command.h"
#include "shell/judging.h"

/* One thing that a variable may hold: a list for arrays, else one word. */
struct alt {
	const struct word	*v;
	size_t			 n;
	unsigned		 flags;
};
#define ALT_UNSET	0x01
#define ALT_ARRAY	0x02
#define ALT_MORE	0x04	/* and any number of unknown elements */
#define ALT_LOOSE	0x08	/* an element may be none or several, so where
				 * the others stand is not known */

/* Of an element, inside the resolver: the paths of a pattern, not one. */
#define WORD_SEVERAL	0x8000

/* At most JUDGE_VALUES_MAX alternatives; immutable. */
struct value {
	size_t			 n;
	const struct alt	*alt;
	unsigned		 attr;
};
#define ATTR_EXPORT	0x01
#define ATTR_INTEGER	0x02
#define ATTR_NAMEREF	0x04
#define ATTR_LOWER	0x08
#define ATTR_UPPER	0x10
#define ATTR_ASSOC	0x20

/* What may come out of a command, or be in a file. */
struct stream {
	size_t		 n;
	struct content	 v[JUDGE_VALUES_MAX];
};

struct function {
	const char		*name;
	const struct node	*body;
	const struct function	*other;	/* or this one; NULL ends */
	int			 maybe;	/* or none at all */
	int			 exported;
	struct defined		*defined;
};

enum slot_kind {
	SLOT_VARIABLE,	/* struct value; NULL: unknown, may be unset */
	SLOT_FUNCTION,	/* struct function; NULL: none */
	SLOT_ALIAS,	/* struct value; NULL: none */
	SLOT_FILE,	/* struct stream; NULL: not touched */
	SLOT_STATE	/* struct value: "cwd", "args", "arg0" */
};

struct slot;

struct scope {
	struct judging	*j;
	struct slot	**table;
	struct slot	*all;
	size_t		 nslots;
	struct change	*trail;
	size_t		 ntrail;
	size_t		 maxtrail;
	unsigned	 stamp;
	uint64_t	 version;	/* of all that slots hold */
};

/* What a branch changed, and to what. */
struct changes {
	struct change	*v;
	size_t		 n;
};

void	scope_init(struct scope *, struct judging *);
const void *scope_get(struct scope *, enum slot_kind, const char *name);
void	scope_set(struct scope *, enum slot_kind, const char *name,
	    const void *data);

size_t	scope_mark(const struct scope *);
/* Undoes all since the mark. */
void	scope_rollback(struct scope *, size_t mark);
/* Undoes all since the mark, and says what it was. */
void	scope_take(struct scope *, size_t mark, struct changes *);
void	scope_apply(struct scope *, const struct changes *);
/*
 * The end of another process: its variables and directory are gone, what it
 * wrote to files is not.
 */
void	scope_leave(struct scope *, size_t mark);
/* One or the other happened (NULL: nothing did); 1 if that changed much. */
int	scope_join(struct scope *, const struct changes *,
	    const struct changes *);
/* What differs from now is unknown from here on; 1 if anything was. */
int	scope_widen(struct scope *, const struct changes *);
/* 1 if all slots may be gone through once more; else that asks. */
int	scope_affords(struct scope *);
/* Calls fn for each slot of a kind that was set. */
void	scope_each(struct scope *, enum slot_kind, void (*fn)(struct scope *,
	    const char *name, const void *data, void *arg), void *arg);

/* ---- values ---- */

const struct value *value_word(struct judging *, const struct word *);
const struct value *value_text(struct judging *, const char *, size_t);
const struct value *value_unset(struct judging *);
const struct value *value_unknown(struct judging *, unsigned word_flags);
const struct value *value_join(struct judging *, const struct value *,
	    const struct value *);
const struct value *value_attr(struct judging *, const struct value *,
	    unsigned attr);
const struct stream *stream_join(struct judging *, const struct stream *,
	    const struct stream *);

/* A word of which nothing is known. */
struct word word_unknown(unsigned flags);
/* ALT_LOOSE if it is true of these; marks patterns as WORD_SEVERAL. */
unsigned words_loose(struct word *, size_t n);
struct word word_text(const char *, size_t);
int	word_same(const struct word *, const struct word *);

#endif
