/*
 * Typed random ids: a letter that says what it names, a dash, and 20
 * characters of a 32-letter alphabet (100 bits): "c-7k2m...".  Only policyd
 * makes them; everybody else checks their form with id_ok before use.
 */
#ifndef MYELIN_IDS_H
#define MYELIN_IDS_H

#include <stddef.h>
#include <stdint.h>

#define ID_NEURON	'n'
#define ID_SESSION	's'
#define ID_CALL		'c'
#define ID_APPROVAL	'a'
#define ID_KEY		'k'

#define ID_SIZE		23	/* with its NUL */

/* Fills id.  Randomness is the kernel's; 0, or -1 with errno. */
int	id_make(char type, char id[ID_SIZE]);

/* 1 if text is an id of that type, in exactly its form. */
int	id_ok(char type, const char *text);

/*
 * A request's id, of the number that the apid which has it gave it: "r-" and
 * 16 digits.  0 for none: "".
 */
#define REQUEST_ID_SIZE	19
const char *request_id(uint64_t, char id[REQUEST_ID_SIZE]);
/* 1 if text is one, in exactly its form. */
int	request_id_ok(const char *text);

/* A random number, never 0: handles. */
uint64_t id_random64(void);

#endif
