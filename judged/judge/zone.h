/*
 * Where a path lies, and what harm is done by changing or deleting what is
 * there.  Lexical: links are the neuron's matter.
 */
#ifndef JUDGE_ZONE_H
#define JUDGE_ZONE_H

#include "class.h"
#include "command.h"
#include "subject.h"

enum zone {
	ZONE_WORK,		/* beneath home or a workspace's root */
	ZONE_TMP,
	ZONE_SINK,		/* /dev/null, /dev/stdout and the like */
	ZONE_UNKNOWN,
	ZONE_OUT,		/* any other place of the system */
	ZONE_PERSIST,		/* in home, but run or trusted later by others */
	ZONE_NET,		/* /dev/tcp/HOST/PORT of bash */
	ZONE_DISK,
	ZONE_BOOT,
	ZONE_KERNEL,
	ZONE_ACCOUNT,
	ZONE_SELF		/* Myelin's own */
};

/* Of a word of the subject as a path.  A pattern: the worst that it matches. */
enum zone zone_of(const struct subject *, const struct word *);
enum zone zone_of_path(const struct subject *, const char *absolute);

/*
 * 1 if the word names something of Myelin's own, or something that what is
 * this instance's lies beneath.
 */
int	zone_is_own(const struct subject *, const struct word *);
int	zone_holds_own(const struct subject *, const struct word *);

/* 1 if the word, taken as it is, lies beneath home or a workspace's root. */
int	zone_in_roots(const struct subject *, const struct word *);

/*
 * 1 if deleting what the word names deletes all of the system, of home, of a
 * workspace, or of a directory of the system: section "wipe" of the classes.
 */
int	zone_wipes(const struct subject *, const struct word *);
/* 1 if it names all that is in the working directory, or that itself. */
int	zone_is_everything(const struct subject *, const struct word *);

/*
 * Something is written there: the finding that follows.  inside is the class
 * of a write to home, workspace or /tmp, what says the kind of write.
 */
void	zone_write(const struct subject *, const struct word *,
	    enum class_id inside, const char *what);
/* Something is deleted there; recursive if with all that is below. */
void	zone_delete(const struct subject *, const struct word *,
	    int recursive);

#endif
