/*
 * Paths, folded lexically.  Links are the sandbox's concern.
 */
#include <string.h>

#include "shell/judging.h"
#include "shell/shell.h"

#define PLAIN_MAX	256	/* bytes of a path that are of no weight */

static size_t
fold(char *out, const char *in)
{
	size_t len, n = 0;

	out[n++] = '/';
	while (*in != '\0') {
		while (*in == '/')
			in++;
		for (len = 0; in[len] != '\0' && in[len] != '/'; len++)
			continue;
		if (len == 2 && in[0] == '.' && in[1] == '.') {
			while (n > 1 && out[n - 1] != '/')
				n--;
			if (n > 1)
				n--;
		} else if (len > 0 && !(len == 1 && in[0] == '.')) {
			if (n > 1)
				out[n++] = '/';
			memcpy(out + n, in, len);
			n += len;
		}
		in += len;
	}
	return (n);
}

const char *
shell_path(struct judging *j, const char *cwd, const char *text)
{
	size_t clen = text[0] == '/' || cwd == NULL ? 0 : strlen(cwd);
	size_t tlen = strlen(text);
	char *joined, *out;

	/* Long ones come again and again with each name in a directory. */
	if (clen + tlen > PLAIN_MAX && !judging_afford(j, clen + tlen))
		return (NULL);

	if (text[0] != '/') {
		if (cwd == NULL)
			return (NULL);
		joined = judging_alloc(j, clen + tlen + 2);
		memcpy(joined, cwd, clen);
		joined[clen] = '/';
		memcpy(joined + clen + 1, text, tlen + 1);
		text = joined;
		tlen += clen + 1;
	}
	out = judging_alloc(j, tlen + 2);
	out[fold(out, text)] = '\0';
	return (out);
}
