/*
 * Texts of the kernel that neurond and PID 1 read, as if they were hostile:
 * paths in them come from whoever mounts on the host.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup.h"
#include "native/inside.h"
#include "native/plan.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cg_host host;
	struct plan plan = { .n = 0 };
	const char *why;
	char dir[256], *text;

	if ((text = malloc(size + 1)) == NULL)
		return (0);
	memcpy(text, data, size);
	text[size] = '\0';
	memset(&host, 0, sizeof(host));
	cg_parse_mounts(&host, text);
	cg_parse_self(&host, text);
	cg_directory(&host.v2, host.v2.own, dir, sizeof(dir));
	plan_add(&plan, "/", "tmpfs", IN_RO);
	plan_add(&plan, "/usr", NULL, IN_RO);
	plan_check(&plan, text, &why);
	free(text);
	return (0);
}
