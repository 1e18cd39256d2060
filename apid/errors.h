/*
 * The closed list of error codes of the API.  A client may rely on each: no
 * other code is ever sent, and each has one status.
 */
#ifndef APID_ERRORS_H
#define APID_ERRORS_H

/* ROW(symbol, code, HTTP status) */
#define API_ERRORS(ROW)						\
ROW(BAD_REQUEST,	"bad_request",		400)		\
ROW(UNAUTHORIZED,	"unauthorized",		401)		\
ROW(FORBIDDEN,		"forbidden",		403)		\
ROW(NOT_FOUND,		"not_found",		404)		\
ROW(METHOD,		"method_not_allowed",	405)		\
ROW(CONFLICT,		"conflict",		409)		\
ROW(NEURON_BUSY,	"neuron_busy",		409)		\
ROW(LENGTH,		"length_required",	411)		\
ROW(TOO_LARGE,		"body_too_large",	413)		\
ROW(MEDIA_TYPE,		"unsupported_media_type", 415)		\
ROW(TOO_MANY,		"too_many",		429)		\
ROW(BUDGET,		"budget_exhausted",	429)		\
ROW(INTERNAL,		"internal",		500)		\
ROW(NOT_BUILT,		"not_built",		501)		\
ROW(UNAVAILABLE,	"unavailable",		503)		\
ROW(NO_SPACE,		"no_space",		507)

enum api_error {
#define ROW(sym, code, status)	API_##sym,
	API_ERRORS(ROW)
#undef ROW
	API_ERROR_COUNT
};

const char *api_error_code(enum api_error);
int	    api_error_status(enum api_error);
/* The error a code names, or API_INTERNAL for one that is not in the list. */
enum api_error api_error_find(const char *code);
/* 401 and 500 say nothing but their code. */
int	    api_error_is_mute(enum api_error);
/* The reason phrase of a status that Myelin sends. */
const char *http_reason(int status);

#endif
