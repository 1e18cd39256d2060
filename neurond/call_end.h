/*
 * How a call ended, in truth.
 */
#ifndef MYELIN_NEUROND_CALL_END_H
#define MYELIN_NEUROND_CALL_END_H

struct call;
struct call_request;

/* ENDED, with the cause found out. */
void	call_report(struct call *);
/* ENDED for a call that never was; closes the request's fds. */
void	call_report_unrun(struct call_request *, unsigned cause,
	    const char *why);
/* Init could not execute the program: where is an enum run_where. */
void	call_unstarted(struct call *, unsigned where, int error);
void	call_request_close(struct call_request *);

#endif
