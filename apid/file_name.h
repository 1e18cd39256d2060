/*
 * Paths of files in URLs, and the names of downloads in headers.
 */
#ifndef APID_FILE_NAME_H
#define APID_FILE_NAME_H

#include <stddef.h>

/* Of the value below: each byte of a name may be three there, twice. */
#define DISPOSITION_MAX	2048

/*
 * Decodes %XX of a URL's path into dst of size bytes, with a NUL.  0, or -1:
 * a % that two hexadecimal digits do not follow, a NUL, or no room.
 */
int	url_path_decode(const char *, char *dst, size_t size);

/*
 * The value of Content-Disposition for a file of that path: attachment, its
 * last component and a suffix as filename for those who know ASCII alone, and
 * as filename* (RFC 8187).  No byte of the name can end the value or the
 * header; bytes that are not UTF-8 become "_".
 */
void	disposition(const char *path, const char *suffix,
	    char value[DISPOSITION_MAX]);

#endif
