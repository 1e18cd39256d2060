/*
 * GET /openapi.json: the description of this interface, of which the build
 * makes bytes (local.mk), without the blanks that a person reads it by.
 */
#include "routes.h"

static const char text[] = {
#include "openapi_data.h"
};

void
route_openapi(struct conn *c)
{
	conn_json(c, 200, text, sizeof(text));
}
