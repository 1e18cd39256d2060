/*
 * Why egressd lets something not through: a closed list.  The word stands in
 * answers, in the audit and in a call's denials.
 */
#ifndef EGRESSD_REFUSAL_H
#define EGRESSD_REFUSAL_H

#include <stddef.h>

/*
 * ROW(symbol, word, HTTP status, reply of SOCKS5 (RFC 1928, 6), 1 if it is a
 *     denial, 0 if something failed, sentence)
 * A denial is told to policyd (EGRESS_DENIED) before the client hears of it.
 */
#define REFUSALS(ROW)							\
ROW(NOT_LISTED,	"not_listed", 403, 2, 1,				\
    "no line of the profile allows this host")				\
ROW(DENIED,	"denied", 403, 2, 1,					\
    "a line of the profile denies this host")				\
ROW(PORT,	"port", 403, 2, 1,					\
    "the host is allowed, but not on this port")			\
ROW(METHOD,	"method", 403, 2, 1,					\
    "the host may be read, but not written to, by plain HTTP")		\
ROW(NO_PROFILE,	"no_profile", 403, 2, 1,				\
    "the neuron's profile is gone, or has no egress")			\
ROW(LITERAL,	"address_literal", 403, 2, 1,				\
    "the host is an address, which no line names")			\
ROW(BAD_ADDRESS, "bad_address", 403, 2, 1,				\
    "the host is a number, but no address in its usual form")		\
ROW(ADDRESS,	"address", 403, 2, 1,					\
    "an address of the host is not one of the public internet")		\
ROW(NO_SNI,	"no_sni", 403, 2, 1, "the TLS client names no host")	\
ROW(SNI,	"sni", 403, 2, 1, "the TLS client names another host")	\
ROW(ECH,	"ech", 403, 2, 1, "the TLS client hides the host's name") \
ROW(NOT_TLS,	"not_tls", 403, 2, 1, "what was sent is not TLS")	\
ROW(BAD_HOST,	"bad_host", 400, 2, 1, "this can't be a host's name")	\
ROW(BAD_REQUEST, "bad_request", 400, 1, 1, "the request is malformed")	\
ROW(HOST_DIFFERS, "host_differs", 400, 2, 1,				\
    "Host is not the host of the request's target")			\
ROW(FRAMING,	"framing", 400, 1, 1,					\
    "where the request ends can be understood in two ways")		\
ROW(SCHEME,	"scheme", 400, 1, 1,					\
    "only http goes through a request with a whole URL")		\
ROW(BAD_URL,	"bad_url", 400, 1, 1,					\
    "this is no URL of http or https")					\
ROW(BAD_ARGUMENT, "bad_argument", 400, 1, 1, "an argument can't be used") \
ROW(TOO_LARGE,	"too_large", 431, 1, 1, "the request's head is too large") \
ROW(CONNECTIONS, "connections", 429, 1, 1,				\
    "the neuron has as many connections as it may")			\
ROW(BYTES,	"bytes", 403, 2, 1,					\
    "the neuron has moved as many bytes as it may")			\
ROW(OFF,	"off", 403, 2, 1, "egress is off")			\
ROW(UNRESOLVED,	"unresolved", 502, 4, 0, "the host has no address")	\
ROW(UNREACHABLE, "unreachable", 502, 4, 0, "the host can't be reached")	\
ROW(REFUSED,	"connection_refused", 502, 5, 0,			\
    "the host refuses the connection")					\
ROW(TIMEOUT,	"timeout", 504, 6, 0, "the host does not answer in time") \
ROW(UPSTREAM,	"bad_response", 502, 1, 0, "the host's answer is malformed") \
ROW(REDIRECTS,	"redirects", 502, 1, 0, "the host redirects too often")	\
ROW(TLS,	"tls", 502, 1, 0, "TLS with the host failed")		\
ROW(INTERNAL,	"internal", 500, 1, 0, "egressd failed")

enum refusal {
	REFUSE_NOT = 0,			/* nothing is refused */
#define ROW(sym, ...)	REFUSE_##sym,
	REFUSALS(ROW)
#undef ROW
	REFUSE_COUNT
};

/* Bytes of a detail, NUL included. */
#define REFUSAL_DETAIL_MAX	200

const char *refusal_word(enum refusal);		/* "not_listed" ... or "?" */
enum refusal refusal_find(const char *word);	/* REFUSE_NOT: there is none */
int	refusal_status(enum refusal);		/* of HTTP */
int	refusal_socks(enum refusal);		/* the reply of SOCKS5 */
int	refusal_denial(enum refusal);		/* 0: something failed */
const char *refusal_sentence(enum refusal);

/*
 * The next step that a reader is told, or "": what a person writes into the
 * profile, or how an agent asks for it.  Host and port as they were wanted.
 */
void	refusal_next(enum refusal, const char *host, unsigned port, char *,
	    size_t size);

/*
 * A whole answer of HTTP/1.1 with Connection: close: the status and, but
 * for the method HEAD, {"error", "detail", "host", "rule"} as JSON.  detail
 * NULL: the sentence; host and rule may be NULL or hold any bytes.  Returns
 * fresh memory, *size bytes, or NULL when memory is out.
 */
char	*refusal_answer(enum refusal, const char *detail, const char *host,
	    const char *rule, int head, size_t *size);

#endif
