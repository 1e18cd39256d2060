/* Clocks, JSON text and refusals. */

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "util.h"

static uint64_t
clock_us(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts) == -1)
		fatal("clock_gettime");
	return ((uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000);
}

uint64_t
now_us(void)
{
	return (clock_us(CLOCK_MONOTONIC));
}

uint64_t
wall_us(void)
{
	return (clock_us(CLOCK_REALTIME));
}

uint64_t
wall_seconds(void)
{
	return (wall_us() / 1000000);
}

struct timeval
us_timeval(uint64_t us)
{
	struct timeval tv;

	tv.tv_sec = (time_t)(us / 1000000);
	tv.tv_usec = (suseconds_t)(us % 1000000);
	return (tv);
}

/* Most are of the second of the one before. */
const char *
time_text(uint64_t wall, char buf[TIME_TEXT])
{
	static char last[TIME_TEXT];
	static time_t last_second;
	static size_t len;
	time_t seconds = (time_t)(wall / 1000000);
	unsigned ms = (unsigned)(wall / 1000 % 1000);
	struct tm tm;

	if (len == 0 || seconds != last_second) {
		if (gmtime_r(&seconds, &tm) == NULL ||
		    (len = strftime(last, sizeof(last) - sizeof(".000Z"),
		    "%Y-%m-%dT%H:%M:%S", &tm)) == 0) {
			len = 0;
			strlcpy(buf, "1970-01-01T00:00:00.000Z", TIME_TEXT);
			return (buf);
		}
		last_second = seconds;
	}
	memcpy(buf, last, len);
	buf[len] = '.';
	buf[len + 1] = (char)('0' + ms / 100);
	buf[len + 2] = (char)('0' + ms / 10 % 10);
	buf[len + 3] = (char)('0' + ms % 10);
	buf[len + 4] = 'Z';
	buf[len + 5] = '\0';
	return (buf);
}

uint64_t
time_of(const char *text)
{
	struct tm tm;
	const char *p;
	unsigned ms;
	char z, more;

	memset(&tm, 0, sizeof(tm));
	if ((p = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm)) == NULL ||
	    sscanf(p, ".%3u%c%c", &ms, &z, &more) != 2 || z != 'Z')
		return (0);
	return ((uint64_t)timegm(&tm) * 1000000 + ms * 1000);
}

void
hex_sha(const uint8_t digest[32], char hex[SHA_HEX])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < 32; i++) {
		hex[2 * i] = digits[digest[i] >> 4];
		hex[2 * i + 1] = digits[digest[i] & 15];
	}
	hex[64] = '\0';
}

json_t *
json_text(const char *text)
{
	json_t *string;
	char *copy, *p;

	if ((string = json_string(text)) != NULL)
		return (string);
	if ((copy = strdup(text)) == NULL)
		return (NULL);
	for (p = copy; *p != '\0'; p++) {
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	}
	string = json_string(copy);
	free(copy);
	return (string);
}

json_t *
json_text_or_null(const char *text)
{
	if (text == NULL || *text == '\0')
		return (json_null());
	return (json_text(text));
}

json_t *
json_when(uint64_t wall)
{
	char buf[TIME_TEXT];

	if (wall == 0)
		return (json_null());
	return (json_string(time_text(wall, buf)));
}

int
get_text(struct imsg *m, char *dst, size_t size)
{
	const uint8_t *bytes;
	size_t len;

	bytes = imsg_get_bytes(m, &len);
	if (bytes == NULL || len >= size || memchr(bytes, 0, len) != NULL) {
		*dst = '\0';
		return (bytes == NULL || len == 0 ? 0 : -1);
	}
	memcpy(dst, bytes, len);
	dst[len] = '\0';
	return (0);
}

void
get_words(struct imsg *m, char *dst, size_t size)
{
	const uint8_t *bytes;
	size_t len, i;

	bytes = imsg_get_bytes(m, &len);
	if (bytes == NULL)
		len = 0;
	if (len >= size) {
		len = size - 1;
		while (len > 0 && (bytes[len] & 0xc0) == 0x80)
			len--;
	}
	for (i = 0; i < len; i++)
		dst[i] = (char)(bytes[i] < 0x20 || bytes[i] == 0x7f ? ' ' :
		    bytes[i]);
	dst[len] = '\0';
}

static void __printflike(5, 0)
refuse_words(struct refusal *r, unsigned status, const char *code,
    uint32_t retry, const char *fmt, va_list ap)
{
	r->status = status;
	r->code = code;
	r->retry = retry;
	vsnprintf(r->words, sizeof(r->words), fmt, ap);
}

int
refuse(struct refusal *r, unsigned status, const char *code,
    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	refuse_words(r, status, code, 0, fmt, ap);
	va_end(ap);
	return (-1);
}

int
refuse_later(struct refusal *r, unsigned status, const char *code,
    uint32_t retry, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	refuse_words(r, status, code, retry, fmt, ap);
	va_end(ap);
	return (-1);
}
