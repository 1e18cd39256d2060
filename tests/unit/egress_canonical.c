/*
 * What egressd makes of hosts and addresses, for a test that compares it with
 * another implementation.
 *
 * usage: egress_canonical
 *
 * Each line of standard input is "host HEX" or "address HEX", the bytes that
 * are read.  Each line of standard output is "name NAME", "address HEX CLASS"
 * or the word of a refusal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

#define BYTES_MAX	2048

static int
digit(int c)
{
	const char *digits = "0123456789abcdef", *at = strchr(digits, c);

	return (at == NULL || c == '\0' ? -1 : (int)(at - digits));
}

/* The bytes of hexadecimal text; -1 if it is none. */
static long
bytes_of(const char *hex, char *out)
{
	long n;

	for (n = 0; hex[0] != '\0' && hex[0] != '\n'; hex += 2, n++) {
		if (n == BYTES_MAX || digit(hex[0]) == -1 ||
		    digit(hex[1]) == -1)
			return (-1);
		out[n] = (char)(digit(hex[0]) << 4 | digit(hex[1]));
	}
	return (n);
}

static void
print_address(const struct address *a)
{
	int i;

	printf("address ");
	for (i = 0; i < (a->family == AF_INET ? 4 : 16); i++)
		printf("%02x", a->bytes[i]);
	printf(" %s\n", address_class_name(address_class(a)));
}

int
main(void)
{
	static char line[2 * BYTES_MAX + 32], bytes[BYTES_MAX];
	struct address a;
	struct host h;
	enum refusal r;
	const char *why;
	long n;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		n = bytes_of(strchr(line, ' ') + 1, bytes);
		if (n == -1)
			return (EXIT_FAILURE);
		if (line[0] == 'a') {
			if (address_read(bytes, (size_t)n, &a) == -1)
				printf("bad_address\n");
			else
				print_address(&a);
			continue;
		}
		r = host_read(bytes, (size_t)n, &h, &why);
		if (r != REFUSE_NOT)
			printf("%s\n", refusal_word(r));
		else if (h.is_address)
			print_address(&h.address);
		else
			printf("name %s\n", h.name);
	}
	return (ferror(stdin) || fclose(stdout) != 0 ? EXIT_FAILURE :
	    EXIT_SUCCESS);
}
