/* A limit's value in words. */
#include <inttypes.h>
#include <stdio.h>

#include "limit_text.h"

static const struct {
	enum limit_unit	 unit;
	uint64_t	 times;
	const char	*suffix;
} scales[] = {
	{ UNIT_BYTES,	GIB(1),	"G" },
	{ UNIT_BYTES,	MIB(1),	"M" },
	{ UNIT_BYTES,	KIB(1),	"K" },
	{ UNIT_MS,	3600000, "h" },
	{ UNIT_MS,	60000,	"m" },
	{ UNIT_MS,	1000,	"s" },
	{ UNIT_MS,	1,	"ms" },
	{ UNIT_SECONDS,	86400,	"d" },
	{ UNIT_SECONDS,	3600,	"h" },
	{ UNIT_SECONDS,	60,	"m" },
	{ UNIT_SECONDS,	1,	"s" },
	{ UNIT_COUNT,	1,	"" },
	{ UNIT_BYTES,	1,	"" },
};

const char *
limit_text(enum limit_unit unit, uint64_t value, char text[LIMIT_TEXT_MAX])
{
	size_t i;
	int len;

	if (unit == UNIT_SWITCH) {
		(void)snprintf(text, LIMIT_TEXT_MAX, "%s",
		    value != 0 ? "yes" : "no");
		return (text);
	}
	if (unit == UNIT_MILLI) {
		len = snprintf(text, LIMIT_TEXT_MAX, "%" PRIu64 ".%03" PRIu64,
		    value / 1000, value % 1000);
		while (len > 0 && text[len - 1] == '0')
			text[--len] = '\0';
		if (len > 0 && text[len - 1] == '.')
			text[--len] = '\0';
		return (text);
	}
	/* Every unit has a row of 1; the last one stands for it. */
	for (i = 0; i + 1 < sizeof(scales) / sizeof(scales[0]); i++) {
		if (scales[i].unit == unit && value % scales[i].times == 0 &&
		    (value != 0 || scales[i].times == 1))
			break;
	}
	(void)snprintf(text, LIMIT_TEXT_MAX, "%" PRIu64 "%s",
	    value / scales[i].times, scales[i].suffix);
	return (text);
}
