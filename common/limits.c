/*
 * The table of limits.h as data, and the reading of a limit's value.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"

const struct limit_row limit_table[LIMIT_COUNT] = {
#define ROW(sym, kw, sc, un, ini, lo, hi, w)				\
	[LIMIT_##sym] = { .keyword = (kw), .scope = (sc), .unit = (un),	\
	    .initial = (ini), .min = (lo), .max = (hi), .words = (w) },
	LIMIT_TABLE(ROW)
#undef ROW
};

/* What may follow a number, per unit, and what it multiplies by. */
static const struct {
	enum limit_unit	 unit;
	const char	*suffix;
	uint64_t	 times;
} suffixes[] = {
	{ UNIT_COUNT,	"",	1 },
	{ UNIT_BYTES,	"",	1 },
	{ UNIT_BYTES,	"K",	1ULL << 10 },
	{ UNIT_BYTES,	"M",	1ULL << 20 },
	{ UNIT_BYTES,	"G",	1ULL << 30 },
	{ UNIT_BYTES,	"T",	1ULL << 40 },
	{ UNIT_MS,	"",	1000 },
	{ UNIT_MS,	"ms",	1 },
	{ UNIT_MS,	"s",	1000 },
	{ UNIT_MS,	"m",	60000 },
	{ UNIT_MS,	"h",	3600000 },
	{ UNIT_SECONDS,	"",	1 },
	{ UNIT_SECONDS,	"s",	1 },
	{ UNIT_SECONDS,	"m",	60 },
	{ UNIT_SECONDS,	"h",	3600 },
	{ UNIT_SECONDS,	"d",	86400 }
};

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

void
limits_init(struct limits *l)
{
	size_t i;

	for (i = 0; i < LIMIT_COUNT; i++)
		l->v[i] = limit_table[i].initial;
}

int
limit_of_neuron(size_t limit)
{
	/* A pool changes when a neuron is made, not what it is. */
	return (limit_table[limit].scope != SCOPE_HOST && limit != LIMIT_POOL);
}

int
limit_find(const char *keyword)
{
	int i;

	for (i = 0; i < LIMIT_COUNT; i++)
		if (strcmp(limit_table[i].keyword, keyword) == 0)
			return (i);
	return (-1);
}

const char *
limit_unit_name(enum limit_unit unit)
{
	static const char *const names[] = {
		[UNIT_COUNT] = "count",
		[UNIT_BYTES] = "bytes",
		[UNIT_MS] = "ms",
		[UNIT_SECONDS] = "s",
		[UNIT_MILLI] = "1/1000",
		[UNIT_SWITCH] = "switch"
	};

	return (unit < NITEMS(names) ? names[unit] : "?");
}

/* "1.5" is 1500; more than three decimals are refused. */
static int
parse_milli(const char *text, uint64_t *value)
{
	uint64_t v = 0;
	int digits = 0, decimals = -1;

	for (; *text != '\0'; text++) {
		if (*text == '.' && decimals == -1) {
			decimals = 0;
			continue;
		}
		if (!isdigit((unsigned char)*text) || decimals == 3 ||
		    v > UINT64_MAX / 10000)
			return (-1);
		v = v * 10 + (uint64_t)(*text - '0');
		digits++;
		if (decimals >= 0)
			decimals++;
	}
	if (digits == 0 || decimals == 0)
		return (-1);
	for (decimals = decimals < 0 ? 0 : decimals; decimals < 3; decimals++)
		v *= 10;
	*value = v;
	return (0);
}

int
limit_parse(enum limit limit, const char *text, uint64_t *value,
    const char **why)
{
	const struct limit_row *row = &limit_table[limit];
	uint64_t v = 0;
	size_t i;

	if (row->unit == UNIT_MILLI) {
		if (parse_milli(text, value) == 0)
			return (0);
		*why = "expected a number with at most three decimals";
		return (-1);
	}
	if (row->unit == UNIT_SWITCH) {
		*value = strcmp(text, "yes") == 0;
		if (*value == 1 || strcmp(text, "no") == 0)
			return (0);
		*why = "expected yes or no";
		return (-1);
	}
	if (!isdigit((unsigned char)*text)) {
		*why = "expected a number";
		return (-1);
	}
	for (; isdigit((unsigned char)*text); text++) {
		if (v > (UINT64_MAX - 9) / 10) {
			*why = "the number is too large";
			return (-1);
		}
		v = v * 10 + (uint64_t)(*text - '0');
	}
	for (i = 0; i < NITEMS(suffixes); i++) {
		if (suffixes[i].unit != row->unit ||
		    strcmp(suffixes[i].suffix, text) != 0)
			continue;
		if (v > UINT64_MAX / suffixes[i].times) {
			*why = "the number is too large";
			return (-1);
		}
		*value = v * suffixes[i].times;
		return (0);
	}
	*why = row->unit == UNIT_BYTES ? "expected a size such as 512M" :
	    row->unit == UNIT_COUNT ? "expected a plain number" :
	    "expected a time such as 30s";
	return (-1);
}
