/*
 * apid's own copy of the tools' declarations: their words and schemas for
 * /v1/tools.  Which tools a principal has, policyd says.
 */
#ifndef APID_TOOLS_H
#define APID_TOOLS_H

#include <jansson.h>
#include <stddef.h>

struct slice;

/* Reads the files "tool/NAME" of a slice, not in force yet.  0, or -1 after
 * slice_bad(). */
int	tools_read(struct slice *);
void	tools_commit(void);
void	tools_abort(void);
/* 1 if the tool is a body of neuron-tool. */
int	tools_has_body(const char *name);

/*
 * policyd's {"tools": [...]} with description and schemas added to each;
 * output_schema is null where none is declared.
 * NULL if that is no such list.
 */
char	*tools_merge(const char *json, size_t n, size_t *size);
void	tools_free_text(char *);
/* The declaration of a tool, or NULL; it stays ours. */
json_t	*tools_find(const char *name);

#endif
