/*
 * The tool fetch: GET or HEAD of a URL, with its redirects.  It knows no
 * socket: it says whom to dial, takes what came and gives what is to be sent,
 * so that the rules stand between it and every hop.
 *
 *	fetch_new()
 *	while fetch_state() is not FETCH_DONE or FETCH_FAILED:
 *	    FETCH_DIAL	judge and dial fetch_host(), fetch_port();
 *			then fetch_dialled() or fetch_refuse()
 *	    FETCH_TALK	send fetch_output(), say fetch_sent();
 *			give what comes to fetch_input(), the end to fetch_eof()
 *	fetch_result()
 */
#ifndef EGRESSD_FETCH_H
#define EGRESSD_FETCH_H

#include <stddef.h>
#include <stdint.h>

#include "host.h"
#include "tls.h"

#define FETCH_REDIRECTS_MAX	10
#define FETCH_ARGUMENTS_MAX	65536	/* bytes of the arguments' JSON */
/* Bytes of the result: the rest of a pipe's 64 KiB is left. */
#define FETCH_RESULT_MAX	61440

struct fetch;

enum fetch_state { FETCH_DIAL, FETCH_TALK, FETCH_DONE, FETCH_FAILED };

/*
 * Arguments {url, method, headers, max_bytes} as JSON; at most max_bytes of
 * the body go to sink, never more than most: it gets them as they come, also
 * of a fetch that fails later.  Always gives a fetch (its state may be
 * FETCH_FAILED), or NULL when memory is out.  trust must outlive it and may be
 * NULL: https then fails.
 */
typedef void fetch_sink(void *arg, const uint8_t *, size_t);
struct fetch *fetch_new(const char *arguments, size_t size, uint64_t most,
	    const struct fetch_trust *, fetch_sink *, void *arg);
void	fetch_free(struct fetch *);

enum fetch_state fetch_state(const struct fetch *);
const struct host *fetch_host(const struct fetch *);
uint16_t fetch_port(const struct fetch *);
int	fetch_is_tls(const struct fetch *);
const char *fetch_method(const struct fetch *);

/* FETCH_DIAL again, after a redirect: the connection before is to be closed. */
void	fetch_dialled(struct fetch *);
/* The hop is not to be: refused, or failed.  detail as of refusal_answer(). */
void	fetch_refuse(struct fetch *, enum refusal, const char *detail,
	    const char *rule);

const uint8_t *fetch_output(struct fetch *, size_t *size);
void	fetch_sent(struct fetch *, size_t);
void	fetch_input(struct fetch *, const uint8_t *, size_t);
void	fetch_eof(struct fetch *);

/*
 * The tool's result as JSON: {status, url, headers, redirects, bytes,
 * truncated}, or {"error": {"code", "message", "host", "port", "rule", "next"},
 * url, redirects, bytes}, the code a word of refusal.h; at most
 * FETCH_RESULT_MAX bytes: headers, then redirects are left out of one that
 * would be larger.  Fresh memory, or NULL when memory is out.  *failed is 1
 * with an error.
 */
char	*fetch_result(const struct fetch *, int *failed);

#endif
