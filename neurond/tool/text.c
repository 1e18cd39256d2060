/*
 * Looking through bytes.
 */
#include <string.h>

#include "out.h"
#include "text.h"

#define N(a)	(sizeof(a) / sizeof((a)[0]))

/* The bytes at p that are ASCII, in strides of eight. */
static size_t
ascii(const uint8_t *p, size_t n)
{
	uint64_t word;
	size_t i;

	for (i = 0; i + sizeof(word) <= n; i += sizeof(word)) {
		memcpy(&word, p + i, sizeof(word));
		if ((word & 0x8080808080808080ULL) != 0)
			break;
	}
	return (i);
}

/* Checks whole characters; gives where an unfinished one begins, or n. */
static size_t
characters(struct text_scan *s, const uint8_t *p, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i += k) {
		if ((k = ascii(p + i, n - i)) > 0)
			continue;
		if ((k = utf8_length(p + i, n - i)) > 0)
			continue;
		if (n - i < sizeof(s->part))
			return (i);
		s->bad = 1;
		break;
	}
	return (n);
}

static void
validate(struct text_scan *s, const uint8_t *p, size_t n)
{
	size_t from, i;

	while (s->npart > 0 && n > 0 && !s->bad) {
		s->part[s->npart++] = *p++;
		n--;
		if (utf8_length(s->part, s->npart) == s->npart)
			s->npart = 0;
		else if (s->npart == sizeof(s->part))
			s->bad = 1;
	}
	if (s->bad)
		return;
	from = characters(s, p, n);
	/* Fewer than four bytes: the rest may come, or they are wrong. */
	for (i = from; i < n; i++)
		s->part[s->npart++] = p[i];
}

void
text_scan(struct text_scan *s, const uint8_t *p, size_t n)
{
	const uint8_t *at = p, *end = p + n;

	if (n == 0)
		return;
	if (!s->bad && memchr(p, '\0', n) != NULL)
		s->bad = 1;
	if (!s->bad)
		validate(s, p, n);
	while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		s->lf++;
		s->crlf += (at > p ? at[-1] : s->last) == '\r';
		at++;
	}
	s->last = end[-1];
}

int
text_is(const struct text_scan *s)
{
	return (!s->bad && s->npart == 0);
}

const char *
text_eol(const struct text_scan *s)
{
	if (s->lf == 0)
		return ("none");
	if (s->crlf == 0)
		return ("lf");
	return (s->crlf == s->lf ? "crlf" : "mixed");
}

/* ---- media types ---- */

static const struct magic {
	size_t		 at;
	size_t		 len;
	const char	*bytes;
	const char	*type;
} magics[] = {
#define M(at, bytes, type)	{ at, sizeof(bytes) - 1, bytes, type }
	M(0, "\x89PNG\r\n\x1a\n", "image/png"),
	M(0, "\xff\xd8\xff", "image/jpeg"),
	M(0, "GIF87a", "image/gif"),
	M(0, "GIF89a", "image/gif"),
	M(8, "WEBP", "image/webp"),
	M(8, "WAVE", "audio/wav"),
	M(8, "AVI ", "video/x-msvideo"),
	M(0, "II*\0", "image/tiff"),
	M(0, "MM\0*", "image/tiff"),
	M(0, "\0\0\1\0", "image/vnd.microsoft.icon"),
	M(0, "%PDF-", "application/pdf"),
	M(0, "PK\3\4", "application/zip"),
	M(0, "PK\5\6", "application/zip"),
	M(0, "\x1f\x8b", "application/gzip"),
	M(0, "BZh", "application/x-bzip2"),
	M(0, "\xfd" "7zXZ\0", "application/x-xz"),
	M(0, "\x28\xb5\x2f\xfd", "application/zstd"),
	M(0, "7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
	M(0, "\x7f" "ELF", "application/x-elf"),
	M(0, "\0asm", "application/wasm"),
	M(0, "SQLite format 3\0", "application/vnd.sqlite3"),
	M(257, "ustar", "application/x-tar"),
	M(0, "ID3", "audio/mpeg"),
	M(0, "OggS", "audio/ogg"),
	M(0, "fLaC", "audio/flac"),
	M(4, "ftyp", "video/mp4"),
	M(0, "\x1a\x45\xdf\xa3", "video/webm"),
	M(0, "wOFF", "font/woff"),
	M(0, "wOF2", "font/woff2"),
#undef M
};

const char *
media_type(const uint8_t *p, size_t n, int text)
{
	size_t i;

	for (i = 0; i < N(magics); i++) {
		if (n < magics[i].at + magics[i].len || memcmp(p +
		    magics[i].at, magics[i].bytes, magics[i].len) != 0)
			continue;
		/* RIFF holds its kinds. */
		if (magics[i].at == 8 && memcmp(p, "RIFF", 4) != 0)
			continue;
		/* "BZh", "ID3" or "%PDF-" may begin a text as well. */
		if (text && strcmp(magics[i].type, "application/pdf") != 0)
			continue;
		return (magics[i].type);
	}
	return (text ? "text/plain" : "application/octet-stream");
}
