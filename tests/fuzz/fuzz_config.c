/*
 * Any bytes as a configuration: never a crash, a slice that encodes, and a
 * normal form that says the same.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "conf.h"
#include "conf_fake.h"
#include "conf_same.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
ignore(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct conf_opts opts = {
		.private_dir = "/tmp/x", .names = &fake_names,
		.no_include = 1, .report = ignore
	};
	struct conf *conf;
	int fd;

	conf = conf_load_text("fuzz", (const char *)data, size, &opts);
	if (conf != NULL) {
		if ((fd = slice_encode(conf->slice, 0xfff)) == -1)
			abort();
		(void)close(fd);
		if (!same_again(conf, &opts))
			abort();
	}
	conf_free(conf);
	return (0);
}
