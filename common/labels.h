/*
 * Labels of persistent neurons: what their user calls them.  On the wire and
 * in the database they are one text, "KEY=VALUE\n" for each, in the order of
 * their keys; in the API a JSON object.
 */
#ifndef MYELIN_LABELS_H
#define MYELIN_LABELS_H

#include <stddef.h>

#include <jansson.h>

#define LABELS_MOST	16
#define LABEL_KEY_MAX	63	/* bytes: letters, digits, "_", "." and "-" */
#define LABEL_VALUE_MAX	255	/* bytes of UTF-8, no control characters */
#define LABEL_SIZE	(LABEL_KEY_MAX + 1 + LABEL_VALUE_MAX + 1) /* and NUL */
#define LABELS_SIZE	(LABELS_MOST * LABEL_SIZE + 1)

/*
 * The text of an object.  Returns 0, or -1 and what is wrong with which key
 * in why.
 */
int	labels_read(const json_t *, char dst[LABELS_SIZE], char *why,
	    size_t size);
/* 1 if a text is one that labels_read() can have made. */
int	labels_ok(const char *);
/* The object of a text that is ok; NULL when memory is out. */
json_t	*labels_json(const char *);
/* 1 if it has the label: "KEY", whatever its value, or "KEY=VALUE". */
int	labels_have(const char *, const char *label);

#endif
