/*
 * judged -j: judges a text as whoever started it, without a service.
 *
 *	judged -j [-e] [-x] [-d DIR] [-w DIR]...
 *
 * Reads at most 64 KiB and a byte from standard input, prints one line of JSON
 * (report.h), exits 0.  -e explains; -x: the input is an argument vector, each
 * argument followed by a NUL; -d is the working directory, -w a workspace.
 * Without -d and -w as in a neuron without a workspace.
 */
#ifndef JUDGED_ALONE_H
#define JUDGED_ALONE_H

struct proc_syscall;

/* Returns an exit status; drops to the filter of the table first. */
int	alone_main(int argc, char **argv, const struct proc_syscall *,
	    unsigned long nsyscalls);

#endif
