/*
 * Log lines.  They go to standard error in debug mode, else to the journal
 * by the datagram socket that supervisord handed over (proc.h).  Every line
 * passes the small redactor (redact.h) first.  errno is kept by all.
 *
 * fatal and fatalx are for processes alone: a library returns its error.
 */
#ifndef MYELIN_LOG_H
#define MYELIN_LOG_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifndef __printflike
#define __printflike(a, b)	__attribute__((__format__(__printf__, a, b)))
#endif

/* fd: a datagram socket to the journal, or -1 for standard error. */
void	log_init(const char *process, int fd, int verbose);
/* Masks, in a line of that size, what a process knows beyond redact.h. */
void	log_set_mask(void (*)(char *line, size_t size));
void	log_set_verbose(int);
int	log_verbose(void);

void	log_warn(const char *, ...) __printflike(1, 2);	 /* adds errno's text */
void	log_warnx(const char *, ...) __printflike(1, 2);
void	log_info(const char *, ...) __printflike(1, 2);
void	log_debug(const char *, ...) __printflike(1, 2); /* if verbose */

/*
 * What a line is about: ids, which become fields of the journal's.  One that
 * is NULL, or not of its form, is left out, so that no text from outside
 * becomes one.
 */
struct log_about {
	uint64_t	 request;	/* request_id(), ids.h; 0 for none */
	const char	*call;
	const char	*session;
	const char	*neuron;
	const char	*approval;
};
void	log_warnx_of(const struct log_about *, const char *, ...)
	    __printflike(2, 3);
void	log_info_of(const struct log_about *, const char *, ...)
	    __printflike(2, 3);
void	log_debug_of(const struct log_about *, const char *, ...)
	    __printflike(2, 3);

/*
 * A line that the journal finds by its MESSAGE_ID, one of LOG_*; fields are
 * more of the journal's, "NAME=VALUE\n" each, with nothing from outside in
 * them, or "".
 */
void	log_event(const char *id, const char *fields, const char *, ...)
	    __printflike(3, 4);
/* The same as a warning: somebody should look. */
void	log_alarm(const char *id, const char *fields, const char *, ...)
	    __printflike(3, 4);
/* myelind(8) documents each; a number that was given stays. */
#define LOG_AUDIT_ANCHOR	"6b0d3f6f7c0f4c1e9a5d1c7a8e2b4f90"
#define LOG_APPROVAL_WAITS	"f4dba1df5f604fadad3e99300631d72a"
#define LOG_APPROVAL_EXPIRED	"8f7f4f1c3a304f549e464a58b8fdb41a"
#define LOG_STORE_FULL		"51fb010183284ddf81c42fe2e2c38b86"
#define LOG_STORE_AGAIN		"3a59bac914a0475883704eeb0b36ac81"
#define LOG_PROCESS_DIED	"687753e832e04da5941134b649e8f9ca"
_Noreturn void	fatal(const char *, ...) __printflike(1, 2);
_Noreturn void	fatalx(const char *, ...) __printflike(1, 2);

#endif
