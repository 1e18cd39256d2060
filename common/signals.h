/*
 * The signals that a caller may send to what runs in a call: a closed list,
 * by name, and their numbers, which are the same on every architecture that
 * Myelin runs on.
 */
#ifndef MYELIN_SIGNALS_H
#define MYELIN_SIGNALS_H

/* The number of "INT" and kin, without "SIG"; 0 if it is not of the list. */
unsigned signal_find(const char *name);

/* "INT" of 2, or NULL. */
const char *signal_name(unsigned number);

/* All names, "HUP, INT, ...", in static storage. */
const char *signal_names(void);

#endif
