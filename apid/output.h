/*
 * Reading a call's pipes.
 */
#ifndef APID_OUTPUT_H
#define APID_OUTPUT_H

struct call;
struct output;

/* fd: the read end, taken over.  0, or -1. */
int	output_start(struct output *, struct call *, int stream, int fd);
/* The loop reads from now on.  Not before the call has its id. */
void	output_watch(struct call *);
/* The call runs: gives its stdout's pipe more room, if that is of use. */
void	output_started(struct call *);
/* Its program is gone: reads what is there, and the rest by the loop. */
void	output_ended(struct call *);
/* The ring has room again. */
void	output_resume(struct call *);
/* Reads what is there and closes: nothing more will come. */
void	output_finish(struct output *);
void	output_free(struct output *);

#endif
