/*
 * Stands where a program of Myelin is, and becomes that program, NAME.real,
 * with the clocks of the tree: TREE/clock_step.so is loaded before it
 * (tests/unit/clock_step.c), and reads them from TREE/clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
main(int argc, char *argv[])
{
	char self[512], real[544], tree[512], text[560];
	ssize_t n;
	char *s;

	(void)argc;
	if ((n = readlink("/proc/self/exe", self, sizeof(self) - 1)) == -1)
		return (111);
	self[n] = '\0';
	snprintf(real, sizeof(real), "%s.real", self);
	/* TREE/DIR/NAME */
	memcpy(tree, self, sizeof(tree));
	for (n = 0; n < 2 && (s = strrchr(tree, '/')) != NULL; n++)
		*s = '\0';
	snprintf(text, sizeof(text), "%s/clock_step.so", tree);
	setenv("LD_PRELOAD", text, 1);
	snprintf(text, sizeof(text), "%s/clock", tree);
	setenv("CLOCK_STEP", text, 1);
	execv(real, argv);
	return (111);
}
