/*
 * The error codes of the API, by their table.
 */
#include <stddef.h>
#include <string.h>

#include "errors.h"
#include "without.h"

static const struct {
	const char	*code;
	int		 status;
} rows[API_ERROR_COUNT] = {
#define ROW(sym, code, status)	[API_##sym] = { code, status },
	API_ERRORS(ROW)
#undef ROW
};

static const struct {
	int		 status;
	const char	*reason;
} reasons[] = {
	{ 200, "OK" },
	{ 201, "Created" },
	{ 202, "Accepted" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 409, "Conflict" },
	{ 411, "Length Required" },
	{ 413, "Content Too Large" },
	{ 415, "Unsupported Media Type" },
	{ 429, "Too Many Requests" },
	{ 500, "Internal Server Error" },
	{ 501, "Not Implemented" },
	{ 503, "Service Unavailable" },
	{ 507, "Insufficient Storage" }
};

const char *
api_error_code(enum api_error e)
{
	return (rows[e].code);
}

int
api_error_status(enum api_error e)
{
	return (rows[e].status);
}

enum api_error
api_error_find(const char *code)
{
	int i;

	for (i = 0; i < API_ERROR_COUNT; i++)
		if (strcmp(rows[i].code, code) == 0)
			return ((enum api_error)i);
	return (API_INTERNAL);
}

int
api_error_is_mute(enum api_error e)
{
	return ((e == API_UNAUTHORIZED || e == API_INTERNAL) &&
	    !WITHOUT(error_mute));
}

const char *
http_reason(int status)
{
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].status == status)
			return (reasons[i].reason);
	return ("Other");
}
