/*
 * JSON written as text, member after member, where it is written for every
 * call: no tree is made of it.  What it writes is what jansson would.
 *
 *	text_open(&t, NULL); text_string(&t, "call", id); text_close(&t);
 */
#ifndef MYELIN_POLICYD_TEXT_H
#define MYELIN_POLICYD_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* Zeroed, or cleared, it is empty.  p: its bytes and a NUL, NULL for none. */
struct text {
	char	*p;
	size_t	 len;
	size_t	 size;
	void	(*clean)(char *);	/* of each text_string(); or NULL */
};

/* Empty again, its memory kept; and its memory let go. */
void	text_clear(struct text *);
void	text_free(struct text *);

/* An object or a list, as a member or (key NULL) as a value or an item. */
void	text_open(struct text *, const char *key);
void	text_close(struct text *);
void	text_list(struct text *, const char *key);
void	text_list_end(struct text *);

/*
 * Of any bytes: where they are no UTF-8, those over 0x7f become "?", as
 * json_text() has it.  The second is null for NULL and "".
 */
void	text_string(struct text *, const char *key, const char *value);
void	text_string_or_null(struct text *, const char *key, const char *value);
/* A word of ours, that needs neither that nor to be cleaned: an id, a name. */
void	text_word(struct text *, const char *key, const char *value);
void	text_word_or_null(struct text *, const char *key, const char *value);
void	text_int(struct text *, const char *key, int64_t value);
void	text_bool(struct text *, const char *key, int value);
void	text_null(struct text *, const char *key);
/* us of the day; null for 0. */
void	text_when(struct text *, const char *key, uint64_t wall);
/* JSON that is text already. */
void	text_json(struct text *, const char *key, const char *json);
/* Bytes as they are. */
void	text_bytes(struct text *, const char *bytes, size_t len);

/* What was written, as a tree, for those who need one. */
json_t	*text_tree(const struct text *);

#endif
