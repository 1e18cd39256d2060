/*
 * The rules of sessions in answers.
 */
#ifndef APID_RULES_SHOWN_H
#define APID_RULES_SHOWN_H

#include <stddef.h>

/*
 * Policyd keeps a session's rules as the text that it was sent, and parses
 * none: here they become JSON again in an answer about sessions.  NULL where
 * there are none, else fresh memory and its size.
 */
char	*rules_unfolded(const char *json, size_t, size_t *size);

#endif
