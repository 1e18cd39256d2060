/*
 * Text that a stranger wrote, for a person who is to decide on it: nothing in
 * it that can't be seen, or that changes what is seen.
 */
#ifndef MYELIN_VISIBLE_H
#define MYELIN_VISIBLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * A copy with every control character but the newline, every character that
 * turns the direction of writing, and every one without a width or with that
 * of a blank written as "<U+202E>", and every byte that is no UTF-8 as "<9F>".
 * Sets *n to its bytes without the NUL.  NULL when memory is out; the
 * caller's to free.
 */
char	*visible_text(const void *, size_t size, size_t *n);

/* 1 if a character would be written so. */
int	visible_hides(uint32_t c);

#endif
