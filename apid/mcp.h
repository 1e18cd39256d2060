/*
 * The Model Context Protocol on POST /mcp: both eras of it.
 *
 * What a client asks for becomes the same requests that /v1 makes of policyd;
 * there is no second way in.
 */
#ifndef APID_MCP_H
#define APID_MCP_H

struct call;
struct conn;
struct mcp;

void	route_mcp_post(struct conn *);
void	route_mcp_delete(struct conn *);

/*
 * A web page that a browser was led to must not reach this.  1 if Host and
 * Origin of the request are those of a program on this host; else 0 after
 * answering.
 */
int	mcp_guard(struct conn *);

/* The call that a tools/call waits for is finished. */
void	mcp_call_finished(struct call *);
/* The call waits for a person, from now on. */
void	mcp_call_asking(struct call *);
/* It is forgotten, or its result was given. */
void	mcp_held_free(struct call *);

#endif
