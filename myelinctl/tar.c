/*
 * tar archives, decoded strictly.
 */
#include <string.h>

#include "tar.h"

/* Offsets and sizes of a header's fields, POSIX ustar. */
#define NAME		0
#define NAME_SIZE	100
#define MODE		100
#define MODE_SIZE	8
#define SIZE		124
#define SIZE_SIZE	12
#define CHECKSUM	148
#define CHECKSUM_SIZE	8
#define TYPE		156
#define MAGIC		257
#define PREFIX		345
#define PREFIX_SIZE	155

#define SIZE_MAX_BYTES	((uint64_t)1 << 60)

void
tar_init(struct tar *t, const struct tar_ops *ops, void *arg)
{
	memset(t, 0, sizeof(*t));
	t->ops = ops;
	t->arg = arg;
}

static int
bad(struct tar *t, const char *why)
{
	t->state = TAR_BAD;
	t->why = why;
	return (-1);
}

/* ---- fields ---- */

/* Octal digits that end in a NUL or a blank. */
static int
octal(const uint8_t *p, size_t size, uint64_t *value)
{
	size_t i = 0;

	*value = 0;
	while (i < size && p[i] == ' ')
		i++;
	if (i == size || p[i] < '0' || p[i] > '7')
		return (-1);
	for (; i < size && p[i] >= '0' && p[i] <= '7'; i++)
		*value = *value << 3 | (uint64_t)(p[i] - '0');
	return (i == size || p[i] == '\0' || p[i] == ' ' ? 0 : -1);
}

static int
checksum_ok(const uint8_t *block)
{
	uint64_t want, sum = 0;
	size_t i;

	if (octal(block + CHECKSUM, CHECKSUM_SIZE, &want) == -1)
		return (0);
	for (i = 0; i < TAR_BLOCK; i++)
		sum += i >= CHECKSUM && i < CHECKSUM + CHECKSUM_SIZE ? ' ' :
		    block[i];
	return (sum == want);
}

/*
 * The name without "." components and slashes that say nothing, in place.
 * -1 if it leads anywhere but down.
 */
static int
clean(char *name)
{
	char *from = name, *to = name;
	size_t n;

	if (*name == '/')
		return (-1);
	while (*from != '\0') {
		n = strcspn(from, "/");
		if (n == 2 && from[0] == '.' && from[1] == '.')
			return (-1);
		if (n > 0 && !(n == 1 && from[0] == '.')) {
			if (to != name)
				*to++ = '/';
			memmove(to, from, n);
			to += n;
		}
		from += n;
		if (*from == '/')
			from++;
	}
	*to = '\0';
	return (0);
}

/* The name of a header, where no pax header gave one. */
static void
header_name(struct tar *t)
{
	const char *block = (const char *)t->block;
	size_t n = 0;

	if (block[PREFIX] != '\0') {
		n = strnlen(block + PREFIX, PREFIX_SIZE);
		memcpy(t->name, block + PREFIX, n);
		t->name[n++] = '/';
	}
	memcpy(t->name + n, block + NAME, strnlen(block + NAME, NAME_SIZE));
	t->name[n + strnlen(block + NAME, NAME_SIZE)] = '\0';
}

/* ---- pax headers ---- */

static int
pax_number(const char *p, size_t n, uint64_t *value)
{
	size_t i;

	*value = 0;
	for (i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9' || *value > SIZE_MAX_BYTES / 16)
			return (-1);
		*value = *value * 10 + (uint64_t)(p[i] - '0');
	}
	return (n > 0 ? 0 : -1);
}

/* "key=value" of n bytes.  What changes neither name nor size is nothing. */
static int
pax_record(struct tar *t, const char *p, size_t n)
{
	const char *equals = memchr(p, '=', n);
	size_t key, len;

	if (equals == NULL)
		return (bad(t, "a pax record without a value"));
	key = (size_t)(equals - p);
	len = n - key - 1;
	if (key == 4 && memcmp(p, "path", 4) == 0) {
		if (len == 0 || len >= TAR_NAME_MAX ||
		    memchr(equals + 1, '\0', len) != NULL)
			return (bad(t, "a name that is none"));
		memcpy(t->name, equals + 1, len);
		t->name[len] = '\0';
	} else if (key == 4 && memcmp(p, "size", 4) == 0) {
		if (pax_number(equals + 1, len, &t->size) == -1)
			return (bad(t, "a size that is none"));
		t->has_size = 1;
	} else if (key == 8 && memcmp(p, "linkpath", 8) == 0)
		return (bad(t, "a link"));
	return (0);
}

/* Records are "LENGTH key=value\n", with LENGTH counting it all. */
static int
pax_read(struct tar *t)
{
	const char *p = t->pax, *end = t->pax + t->pax_len, *blank;
	uint64_t len;

	while (p < end) {
		blank = memchr(p, ' ', (size_t)(end - p));
		if (blank == NULL ||
		    pax_number(p, (size_t)(blank - p), &len) == -1 ||
		    len > (uint64_t)(end - p) ||
		    len < (uint64_t)(blank - p) + 3 || p[len - 1] != '\n')
			return (bad(t, "a pax header that is none"));
		if (pax_record(t, blank + 1,
		    (size_t)len - (size_t)(blank - p) - 2) == -1)
			return (-1);
		p += len;
	}
	return (0);
}

/* ---- entries ---- */

static void
data_follows(struct tar *t, enum tar_state state, uint64_t size)
{
	t->state = state;
	t->left = size;
	t->padding = (unsigned)(-size & (TAR_BLOCK - 1));
	t->have = 0;
}

/* The data of an entry, or of a pax header, was all there. */
static int
data_done(struct tar *t)
{
	int pax = t->state == TAR_PAX;

	t->state = t->padding > 0 ? TAR_PADDING : TAR_HEADER;
	t->have = 0;
	if (pax)
		return (pax_read(t));
	return (t->ops->end(t->arg) == -1 ? bad(t, NULL) : 0);
}

static int
entry_file(struct tar *t, unsigned mode, uint64_t size)
{
	if (t->name[0] == '\0')
		return (bad(t, "a file without a name"));
	if (t->ops->file(t->arg, t->name, mode, size) == -1)
		return (bad(t, NULL));
	data_follows(t, TAR_DATA, size);
	return (size == 0 ? data_done(t) : 0);
}

static int
entry_directory(struct tar *t, unsigned mode, uint64_t size)
{
	if (size != 0)
		return (bad(t, "a directory with bytes of its own"));
	t->have = 0;
	return (t->ops->directory(t->arg, t->name, mode) == -1 ?
	    bad(t, NULL) : 0);
}

static int
entry(struct tar *t, char type)
{
	uint64_t mode, size;
	int r;

	if (octal(t->block + MODE, MODE_SIZE, &mode) == -1 ||
	    (octal(t->block + SIZE, SIZE_SIZE, &size) == -1 &&
	    !t->has_size))
		return (bad(t, "a header with a number that is none"));
	if (t->has_size)
		size = t->size;
	if (size > SIZE_MAX_BYTES)
		return (bad(t, "a size that is none"));
	if (type == 'x') {
		if (size > TAR_PAX_MAX)
			return (bad(t, "a pax header that is too long"));
		data_follows(t, TAR_PAX, size);
		t->pax_len = 0;
		return (size == 0 ? data_done(t) : 0);
	}
	if (t->name[0] == '\0')
		header_name(t);
	if (clean(t->name) == -1)
		return (bad(t, "a name that leads out of the directory"));
	if (type == '0' || type == '\0')
		r = entry_file(t, (unsigned)mode & 0777, size);
	else if (type == '5')
		r = entry_directory(t, (unsigned)mode & 0777, size);
	else
		r = bad(t, "something that is neither a file nor a directory");
	t->name[0] = '\0';
	t->has_size = 0;
	return (r);
}

static int
header(struct tar *t)
{
	size_t i;

	for (i = 0; i < TAR_BLOCK && t->block[i] == 0; i++)
		;
	if (i == TAR_BLOCK) {
		t->have = 0;
		if (++t->zeros == 2)
			t->state = TAR_END;
		return (0);
	}
	if (t->zeros > 0)
		return (bad(t, "something behind its end"));
	if (memcmp(t->block + MAGIC, "ustar", 6) != 0 ||
	    !checksum_ok(t->block))
		return (bad(t, "a header that is none"));
	return (entry(t, (char)t->block[TYPE]));
}

/* ---- feeding ---- */

static int
feed_data(struct tar *t, const uint8_t *p, size_t n)
{
	if (t->state == TAR_PAX) {
		memcpy(t->pax + t->pax_len, p, n);
		t->pax_len += n;
	} else if (t->ops->bytes(t->arg, p, n) == -1)
		return (bad(t, NULL));
	t->left -= n;
	return (t->left == 0 ? data_done(t) : 0);
}

/* Bytes of p that belong to what is read now, at most n. */
static size_t
wanted(const struct tar *t, size_t n)
{
	uint64_t most = n;

	if (t->state == TAR_HEADER)
		most = TAR_BLOCK - t->have;
	else if (t->state == TAR_PADDING)
		most = t->padding;
	else if (t->state == TAR_DATA || t->state == TAR_PAX)
		most = t->left;
	return (most < n ? (size_t)most : n);
}

int
tar_feed(struct tar *t, const uint8_t *p, size_t n)
{
	size_t part;
	int r = 0;

	for (; n > 0 && r == 0; p += part, n -= part) {
		part = wanted(t, n);
		switch (t->state) {
		case TAR_HEADER:
			memcpy(t->block + t->have, p, part);
			t->have += part;
			r = t->have == TAR_BLOCK ? header(t) : 0;
			break;
		case TAR_DATA:
		case TAR_PAX:
			r = feed_data(t, p, part);
			break;
		case TAR_PADDING:
			t->padding -= (unsigned)part;
			if (t->padding == 0)
				t->state = TAR_HEADER;
			break;
		case TAR_END:
			/* Some fill up to a larger block. */
			break;
		case TAR_BAD:
			r = -1;
			break;
		}
	}
	return (r);
}

int
tar_end(struct tar *t)
{
	if (t->state == TAR_BAD)
		return (-1);
	return (t->state == TAR_END ? 0 : bad(t, "an end in the middle"));
}
