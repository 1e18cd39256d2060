/*
 * Argument bytes, judged with three tools: what is allowed must come out as a
 * run block that PID 1 would take.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"
#include "judge.h"
#include "protocol.h"
#include "runblock.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

#define TOOL(name, schema, argv)					\
	"{\"name\":\"" name "\",\"title\":\"\",\"description\":\"\","	\
	"\"effect\":\"read\",\"marks\":[],\"asks\":false,\"pty\":true,"	\
	"\"input_schema\":" schema ",\"argv\":" argv "}"

#define NTOOLS	3
static const char *const names[NTOOLS] = { "exec", "grep", "read" };
static const char *const declarations[NTOOLS] = {
	TOOL("exec", "{\"type\":\"object\",\"properties\":{\"argv\":{\"type\":"
	    "\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1}},"
	    "\"required\":[\"argv\"],\"additionalProperties\":false}",
	    "[{\"args\":\"argv\"}]"),
	TOOL("grep", "{\"type\":\"object\",\"properties\":{\"p\":{\"type\":"
	    "\"string\",\"maxLength\":9},\"n\":{\"type\":\"integer\","
	    "\"minimum\":0},\"v\":{\"type\":\"boolean\"}},\"required\":"
	    "[\"p\"],\"additionalProperties\":false}",
	    "[\"/bin/grep\",{\"arg\":\"n\",\"flag\":\"-m\"},{\"arg\":\"v\","
	    "\"flag\":\"-v\"},\"-e\",{\"arg\":\"p\",\"limit\":\"argument\"}]"),
	"{\"name\":\"read\",\"title\":\"\",\"description\":\"\","
	"\"effect\":\"read\",\"marks\":[],\"asks\":false,"
	"\"input_schema\":{\"type\":\"object\",\"properties\":{\"p\":"
	"{\"type\":\"string\"},\"q\":{}},\"additionalProperties\":false},"
	"\"exactly_one\":[[\"p\",\"q\"]],\"body\":\"read\"}"
};

static struct tools tools;

static void
load(void)
{
	struct tool tool;
	struct why why;
	size_t i;
	int line;

	for (i = 0; i < NTOOLS; i++) {
		if (tool_parse(&tool, names[i],
		    (const uint8_t *)declarations[i],
		    strlen(declarations[i]), &line, &why) == -1 ||
		    tools_add(&tools, &tool) == -1)
			abort();
	}
}

static const struct judge_place place = {
	.workspace = "/srv/src", .principal = "uid:1000", .rules = "",
	.explain = 1
};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct limits limits;
	struct judgement j;
	struct runblock *rb;
	const uint8_t *map;
	const char *why;
	size_t n, i;

	limits_init(&limits);
	if (tools.n == 0)
		load();
	for (i = 0; i < NTOOLS; i++) {
		judge(&tools, &limits, names[i], &place, data, size, &j);
		if (j.explain_fd != -1)
			close(j.explain_fd);
		if (j.run_fd == -1)
			continue;
		if ((map = memfd_map(j.run_fd, RUNBLOCK_BODY_MAX,
		    &n)) == NULL ||
		    (rb = runblock_decode(map, n, &why)) == NULL)
			abort();
		runblock_free(rb);
		memfd_unmap(map, n);
		close(j.run_fd);
	}
	return (0);
}
