/*
 * Archives of whoever: whatever comes, in whatever parts, names lead down, and
 * a file gets as many bytes as its header said.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tar.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static uint64_t	left;
static int	in_file;

static void
check_name(const char *name)
{
	const char *p = name;
	size_t n;

	while (*p != '\0') {
		n = strcspn(p, "/");
		if (n == 0 || (n == 1 && p[0] == '.') ||
		    (n == 2 && p[0] == '.' && p[1] == '.'))
			abort();
		p += n;
		if (*p == '/' && *++p == '\0')
			abort();
	}
}

static int
on_directory(void *arg, const char *name, unsigned mode)
{
	(void)arg;
	if (in_file || mode > 0777)
		abort();
	check_name(name);
	return (0);
}

static int
on_file(void *arg, const char *name, unsigned mode, uint64_t size)
{
	(void)arg;
	if (in_file || mode > 0777 || *name == '\0')
		abort();
	check_name(name);
	in_file = 1;
	left = size;
	return (0);
}

static int
on_bytes(void *arg, const uint8_t *p, size_t n)
{
	(void)arg;
	(void)p;
	if (!in_file || n > left)
		abort();
	left -= n;
	return (0);
}

static int
on_end(void *arg)
{
	(void)arg;
	if (!in_file || left != 0)
		abort();
	in_file = 0;
	return (0);
}

static int
feed(const uint8_t *data, size_t size, size_t piece)
{
	static const struct tar_ops ops = {
		on_directory, on_file, on_bytes, on_end
	};
	static struct tar tar;
	size_t n;
	int r = 0;

	in_file = 0;
	tar_init(&tar, &ops, NULL);
	for (; size > 0 && r == 0; data += n, size -= n) {
		n = size < piece ? size : piece;
		r = tar_feed(&tar, data, n);
	}
	return (tar_end(&tar));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (feed(data, size, size) != feed(data, size, 37))
		abort();
	return (0);
}
