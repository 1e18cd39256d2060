/*
 * Layers that can be switched off, so that a test can show that it notices.
 *
 * A test that still passes without the layer it is for is no test.  In a build
 * configured with --enable-without, and in no other, WITHOUT(name) stands
 * where a layer is put up or a check is made and says whether the programs are
 * to do without it.  tests/without.tsv names every switch and the tests that
 * must then fail; "make check-without" tries them all.
 *
 * It can't weaken a build that is shipped.  There WITHOUT(name) is the literal
 * 0: the compiler removes the branch, no name, no function and no data of it
 * are in any program, and a test looks for them.  Nor is it a setting in a
 * build that has it: no option, variable, file or message switches anything.
 * tests/without copies the programs and writes the names into the copies;
 * such programs say "+without" for their version, and myelind refuses to run
 * them as anything but a private instance (-p).
 */
#ifndef MYELIN_WITHOUT_H
#define MYELIN_WITHOUT_H

#ifdef MYELIN_WITHOUT

/* 1 if this copy of the program does without the layer of that name. */
int	without(const char *name);

#define WITHOUT(name)	(without(#name) != 0)
#define WITHOUT_BUILT	1
#define WITHOUT_VERSION	"+without"

#else

#define WITHOUT(name)	0
#define WITHOUT_BUILT	0
#define WITHOUT_VERSION	""

#endif
#endif
