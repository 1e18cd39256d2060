/*
 * Stands in for any program in tests/system/test_shell_oracle.py: writes its
 * argument vector to /log/argv and ends; as "no" it fails.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int
main(int argc, char *argv[])
{
	static char buf[65536];
	const char *name = strrchr(argv[0], '/');
	size_t n = 0, len;
	int i, fd;

	name = name == NULL ? argv[0] : name + 1;
	for (i = 0; i < argc; i++) {
		const char *word = i == 0 ? name : argv[i];

		len = strlen(word) + 1;
		if (n + len + 2 > sizeof(buf))
			break;
		memcpy(buf + n, word, len);
		n += len;
	}
	buf[n++] = '\001';
	buf[n++] = '\0';
	fd = open("/log/argv", O_WRONLY | O_APPEND | O_CREAT, 0666);
	if (fd == -1 || write(fd, buf, n) == -1)
		return (125);
	return (strcmp(name, "no") == 0);
}
