/*
 * The one table of the system: every message that one process may send
 * another, who may send it, what it carries and when it is allowed.
 *
 * A receiver reaches its handlers through this table alone (channel_dispatch
 * in imsg.h): a message that its sender may not send on this channel, in this
 * direction, in this state, of this size and with these fds is never handled.
 * The channel is closed instead and the reason logged.  Whoever had an end
 * of it tells supervisord (LOST): if both processes live, the one at END_B is
 * started again, so that there is a new channel and no state of the old one.
 *
 * Who sent a message is decided by the channel it came on, never by what it
 * says.  All numbers are little-endian; a string is a u32 length and its
 * bytes, without NUL; there is no struct and no pointer on the wire.
 */
#ifndef MYELIN_PROTOCOL_H
#define MYELIN_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#include "limits.h"

/*
 * A channel has two ends.  END_A is the end of the process named first:
 *
 *	CONTROL		supervisord	each child
 *	AGENT		policyd		apid on the agent socket
 *	OPERATOR	policyd		apid on the operator socket
 *	JUDGE		policyd		judged
 *	LAUNCH		policyd		neurond
 *	MAKER		neurond		maker
 *	SPAWNER		neurond		spawner
 *	INIT		neurond		PID 1 of a neuron
 *	EGRESS		policyd		egressd
 *
 * DOWN is a message from A to B, UP one from B to A.
 */
enum channel_kind {
	CH_CONTROL	= 1 << 0,
	CH_AGENT	= 1 << 1,
	CH_OPERATOR	= 1 << 2,
	CH_JUDGE	= 1 << 3,
	CH_LAUNCH	= 1 << 4,
	CH_MAKER	= 1 << 5,
	CH_SPAWNER	= 1 << 6,
	CH_INIT		= 1 << 7,
	CH_EGRESS	= 1 << 8
};
#define CH_API		(CH_AGENT | CH_OPERATOR)

enum channel_end { END_A, END_B };
enum msg_dir { DIR_DOWN, DIR_UP };

/*
 * States of a channel, as seen by the receiver.  A row lists the states in
 * which it is allowed; the receiver moves the state (channel_set_state).
 *
 *	NEW	control: before START.  judge: before TOOLS_END.
 *	UP	after that
 */
enum channel_state {
	ST_NEW	= 1 << 0,
	ST_UP	= 1 << 1
};
#define ST_ANY	(ST_NEW | ST_UP)

/*
 * What a passed fd must be.  Checked on the fd itself before a handler runs.
 *
 *	MEMFD	a memfd sealed at least WRITE, SHRINK, GROW and SEAL
 *	PIPE_R	the read end of a pipe made by pipe(2) (pipefs), PIPE_W the other
 *	INPUT	MEMFD or PIPE_R
 *	STREAM	an AF_UNIX SOCK_STREAM socket
 *	SEQ	an AF_UNIX SOCK_SEQPACKET socket
 *	FILE	a regular file open for reading only, or a listening socket
 *	INET	an AF_INET socket: a listening one, or one for datagrams
 *	DIR	a directory; TREE a mount or O_PATH fd; NS a namespace
 *	PROC	a pidfd; ANY is for fds that the kernel alone can judge
 */
enum fd_kind {
	FD_NONE, FD_MEMFD, FD_PIPE_R, FD_PIPE_W, FD_INPUT, FD_STREAM, FD_SEQ,
	FD_FILE, FD_DIR, FD_TREE, FD_NS, FD_PROC, FD_ANY, FD_INET
};

/*
 * ROW(name, channels, direction, fixed bytes, strings, least fds, most fds,
 *     kinds of the fds in order (the last one repeats), states)
 *
 * "fixed" counts the fixed-width fields; "strings" the length-prefixed ones.
 * A message is at least fixed + 4 * strings bytes, and exactly that many if
 * there are no strings.
 *
 * The fields of each row, in order, with S for a string and B for bytes:
 */
#define FDS(...)	{ __VA_ARGS__ }
#define PROTOCOL(ROW)							\
/* ---- supervisord and each child ------------------------------------ */ \
/* START u32 version, u32 uid, u32 gid, u32 open files, u32 flags	\
 *   (PROC_F_*), S root directory ("" for none), S instance id */	\
ROW(START,	CH_CONTROL, DIR_DOWN, 20, 2, 0, 0, FDS(FD_NONE), ST_NEW)	\
/* CONFIG u32 generation, u32 files that follow; the slice */		\
ROW(CONFIG,	CH_CONTROL, DIR_DOWN, 8, 0, 1, 1, FDS(FD_MEMFD), ST_UP)	\
/* CONFIG_FILE u32 generation, u32 index, S name; the open file */	\
ROW(CONFIG_FILE, CH_CONTROL, DIR_DOWN, 8, 1, 1, 1, FDS(FD_FILE), ST_UP)	\
ROW(COMMIT,	CH_CONTROL, DIR_DOWN, 4, 0, 0, 0, FDS(FD_NONE), ST_UP)	\
ROW(ABORT,	CH_CONTROL, DIR_DOWN, 4, 0, 0, 0, FDS(FD_NONE), ST_UP)	\
/* PLUMB u32 channel kind; a new end that replaces the old one */	\
ROW(PLUMB,	CH_CONTROL, DIR_DOWN, 4, 0, 1, 1, FDS(FD_SEQ), ST_UP)	\
ROW(STOP_PROC,	CH_CONTROL, DIR_DOWN, 0, 0, 0, 0, FDS(FD_NONE), ST_ANY)	\
ROW(PING,	CH_CONTROL, DIR_DOWN, 4, 0, 0, 0, FDS(FD_NONE), ST_UP)	\
/* PROCS i32 pid, u32 restarts, u8 state (PROC_ST_*), S name */		\
ROW(PROCS,	CH_CONTROL, DIR_DOWN, 9, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
ROW(CONFIG_OK,	CH_CONTROL, DIR_UP, 4, 0, 0, 0, FDS(FD_NONE), ST_ANY)	\
/* CONFIG_BAD u32 generation, u32 line, S file, S why */		\
ROW(CONFIG_BAD,	CH_CONTROL, DIR_UP, 8, 2, 0, 0, FDS(FD_NONE), ST_ANY)	\
/* READY u32 version: dropped, configured, all channels plumbed */	\
ROW(READY,	CH_CONTROL, DIR_UP, 4, 0, 0, 0, FDS(FD_NONE), ST_ANY)	\
ROW(PONG,	CH_CONTROL, DIR_UP, 4, 0, 0, 0, FDS(FD_NONE), ST_ANY)	\
/* ---- apid and policyd ---------------------------------------------- */ \
/* PEER u32 connection; the client's socket */				\
ROW(PEER,	CH_API, DIR_UP, 4, 0, 1, 1, FDS(FD_STREAM), ST_UP)		\
ROW(PEER_GONE,	CH_API, DIR_UP, 8, 0, 0, 0, FDS(FD_NONE), ST_UP)		\
/* OPEN u32 request, u64 handle, u8 what (OPEN_*), u32 owner uid,	\
 *   u32 owner gid (UINT32_MAX: the peer's), u32 expires s (0: default),	\
 *   S profile, S neuron, S workspace, S preset */			\
ROW(OPEN,	CH_AGENT, DIR_UP, 25, 4, 0, 0, FDS(FD_NONE), ST_UP)	\
/* END u32 request, u64 handle, S id of a neuron or session */		\
ROW(END,	CH_API, DIR_UP, 12, 1, 0, 0, FDS(FD_NONE), ST_UP)		\
/* ASK u32 request, u64 handle, u32 timeout ms (0: default,		\
 *   TIMEOUT_MOST: the limit's), u8 stdin (STDIN_*), u8 flags (ASK_F_*),	\
 *   S session, S tool, S idempotency key; arguments, stdout, stderr	\
 *   [, input] */							\
ROW(ASK,	CH_AGENT, DIR_UP, 18, 3, 3, 4,				\
    FDS(FD_MEMFD, FD_PIPE_W, FD_PIPE_W, FD_INPUT), ST_UP)			\
/* ASK_ONCE: a call in an ephemeral neuron.  ASK's fixed fields, then	\
 *   u32 owner uid, u32 owner gid, S tool, S idempotency key, S profile,	\
 *   S workspace, S preset */						\
ROW(ASK_ONCE,	CH_AGENT, DIR_UP, 26, 5, 3, 4,				\
    FDS(FD_MEMFD, FD_PIPE_W, FD_PIPE_W, FD_INPUT), ST_UP)			\
/* STOP u64 handle, u8 why (STOP_*), S call */				\
ROW(STOP,	CH_AGENT, DIR_UP, 9, 1, 0, 0, FDS(FD_NONE), ST_UP)		\
/* QUERY u32 request, u64 handle, u8 what (QUERY_*), u64 cursor,	\
 *   u32 most, S id */							\
ROW(QUERY,	CH_API, DIR_UP, 25, 1, 0, 0, FDS(FD_NONE), ST_UP)		\
/* PEER_OK u32 connection, u64 handle, u32 principal, S who */		\
ROW(PEER_OK,	CH_API, DIR_DOWN, 16, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* PEER_NO u32 connection, S who, S what is missing */			\
ROW(PEER_NO,	CH_API, DIR_DOWN, 4, 2, 0, 0, FDS(FD_NONE), ST_UP)		\
/* REPLY u32 request, u16 HTTP status, u32 retry after s (0: none),	\
 *   S JSON ("" if it is in the memfd) */				\
ROW(REPLY,	CH_API, DIR_DOWN, 10, 1, 0, 1, FDS(FD_MEMFD), ST_UP)	\
/* ASKED u32 request, u32 principal, u64 output kept, u64 output killed,	\
 *   S call, S session: the call exists */				\
ROW(ASKED,	CH_AGENT, DIR_DOWN, 24, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
/* CALL_JUDGED S call, S JSON: the verdict, as policyd/verdict.h has it */ \
ROW(CALL_JUDGED, CH_AGENT, DIR_DOWN, 0, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
ROW(CALL_STARTED, CH_AGENT, DIR_DOWN, 0, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* CALL_FINISHED S call, S JSON: the call's record without its output */	\
ROW(CALL_FINISHED, CH_AGENT, DIR_DOWN, 0, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
/* ---- policyd and judged -------------------------------------------- */ \
/* TOOL u8 effect, u32 marks, u8 asks, u32 default timeout ms (0: the	\
 *   limit's), 32 bytes SHA-256 of the declaration, S name */		\
ROW(TOOL,	CH_JUDGE, DIR_UP, 42, 1, 0, 0, FDS(FD_NONE), ST_NEW)	\
ROW(TOOLS_END,	CH_JUDGE, DIR_UP, 4, 0, 0, 0, FDS(FD_NONE), ST_NEW)	\
/* JUDGE u64 sequence, u8 stdin (STDIN_*), u8 flags (JUDGE_F_*), S tool,	\
 *   S workspace ("" for none), S principal, S the session's own rules	\
 *   (compact JSON, "" for none); arguments */				\
ROW(JUDGE,	CH_JUDGE, DIR_DOWN, 10, 4, 1, 1, FDS(FD_MEMFD), ST_ANY)	\
/* VERDICT u64 sequence, u8 verdict (VERDICT_*), u8 effect, u32 marks,	\
 *   u32 from, u32 to (bytes of the judged text; both 0: none), u8 flags	\
 *   (VERDICT_F_*), S class, S rule, S where ("FILE:LINE" of an		\
 *   operator's rule, or ""), S command that decided (its words, as far	\
 *   as known), S reason, S next step; the run block [, explanation] */	\
ROW(VERDICT,	CH_JUDGE, DIR_UP, 23, 6, 0, 2, FDS(FD_MEMFD), ST_UP)	\
/* ---- policyd and neurond ------------------------------------------- */ \
/* NEURON_MAKE u32 generation, u32 principal line and MAKE_F_*, u32 uid,	\
 *   u32 gid, B groups (u32s), S neuron, S profile, S workspace ("" for	\
 *   none) */								\
ROW(NEURON_MAKE, CH_LAUNCH, DIR_DOWN, 16, 4, 0, 0, FDS(FD_NONE), ST_UP)	\
ROW(NEURON_DROP, CH_LAUNCH, DIR_DOWN, 0, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* LAUNCH u32 timeout ms, u8 stdin, S neuron, S call, S session;	\
 *   run block, stdout, stderr[, input] */				\
ROW(LAUNCH,	CH_LAUNCH, DIR_DOWN, 5, 3, 3, 4,			\
    FDS(FD_MEMFD, FD_PIPE_W, FD_PIPE_W, FD_INPUT), ST_UP)			\
/* KILL u8 why (END_* cause), S call */					\
ROW(KILL,	CH_LAUNCH, DIR_DOWN, 1, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* NEURON_UP u64 layers (layers.h), u64 device, u64 inode, u32 us it	\
 *   took, S neuron */							\
ROW(NEURON_UP,	CH_LAUNCH, DIR_UP, 28, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* NEURON_GONE u8 cause (GONE_*), S neuron, S why */			\
ROW(NEURON_GONE, CH_LAUNCH, DIR_UP, 1, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
ROW(STARTED,	CH_LAUNCH, DIR_UP, 0, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* ENDED u8 cause (END_*), i32 exit code, i32 signal, u64 cpu us,	\
 *   u64 peak bytes, u32 leftover processes, u8 flags (ENDED_F_*),	\
 *   u32 queue us, u32 start us, u32 run us, u32 end us,		\
 *   S call, S detail */						\
ROW(ENDED,	CH_LAUNCH, DIR_UP, 46, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
/* HELPER i32 pid, u32 restarts, u8 state, S name: maker, spawner */	\
ROW(HELPER,	CH_LAUNCH, DIR_UP, 9, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* ---- each child and supervisord, once more ------------------------- */ \
/* LOST u32 channel kind, u32 ends of that kind it was given so far: the	\
 *   last one is dead, whichever end closed it */			\
ROW(LOST,	CH_CONTROL, DIR_UP, 8, 0, 0, 0, FDS(FD_NONE), ST_ANY)	\
PROTOCOL_NEURON(ROW)							\
/* ---- last: a row's place is its number, and seeds of fuzzers know it - */ \
/* COMMITTED u32 generation: it is in force here.  Of the first		\
 *   generation READY says so. */					\
ROW(COMMITTED,	CH_CONTROL, DIR_UP, 4, 0, 0, 0, FDS(FD_NONE), ST_ANY)	\
/* RELOAD u32 generation in force, u8 result (RELOAD_*) of the last	\
 *   reload, u8 news (0: told again, to a policyd that was started	\
 *   again), S why it was refused: to policyd alone */			\
ROW(RELOAD,	CH_CONTROL, DIR_DOWN, 6, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* MANAGE u32 request, u64 handle, u8 what (MANAGE_*), u32 timeout ms:	\
 *   an operator with the right "manage" asks */				\
ROW(MANAGE,	CH_OPERATOR, DIR_UP, 17, 0, 0, 0, FDS(FD_NONE), ST_UP)	\
/* SIGNAL u32 request, u64 handle, u32 signal (signals.h), S call */	\
ROW(SIGNAL,	CH_AGENT, DIR_UP, 16, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* RESIZE u32 request, u64 handle, u32 size (PTY_SIZE), S call */	\
ROW(RESIZE,	CH_AGENT, DIR_UP, 16, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* CALL_SIGNAL u32 signal, S call */					\
ROW(CALL_SIGNAL, CH_LAUNCH, DIR_DOWN, 4, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* CALL_RESIZE u32 size, S call */					\
ROW(CALL_RESIZE, CH_LAUNCH, DIR_DOWN, 4, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* RUN_RESIZE u32 run, u32 size */					\
ROW(RUN_RESIZE,	CH_INIT, DIR_DOWN, 8, 0, 0, 0, FDS(FD_NONE), ST_ANY)	\
/* TRANSCRIPT u64 handle that asked, S call, S what was denied to it inside	\
 *   ("": nothing): once, when it is over; JSON on one line of its redacted	\
 *   arguments, output and result */					\
ROW(TRANSCRIPT,	CH_AGENT, DIR_UP, 8, 2, 1, 1, FDS(FD_MEMFD), ST_UP)	\
/* TRANSCRIBED u8 kept, S call: what became of it */			\
ROW(TRANSCRIBED, CH_AGENT, DIR_DOWN, 1, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* SESSION_OVER S session, S reason: it has ended, whoever ended it */	\
ROW(SESSION_OVER, CH_AGENT, DIR_DOWN, 0, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
/* ---- apid and policyd, for MCP -------------------------------------- */ \
/* SEAL_KEY 32 bytes: the first message of each channel, the same key as	\
 *   long as the state is there */					\
ROW(SEAL_KEY,	CH_AGENT, DIR_DOWN, 32, 0, 0, 0, FDS(FD_NONE), ST_UP)	\
/* OPEN_NAMED u32 request, u64 handle, S name, S profile, S workspace,	\
 *   S preset: the principal's session of that name, or a new one	\
 *   (owner: the peer) */						\
ROW(OPEN_NAMED,	CH_AGENT, DIR_UP, 12, 4, 0, 0, FDS(FD_NONE), ST_UP)	\
/* END_NAMED u32 request, u64 handle, S name: none of it from now on */	\
ROW(END_NAMED,	CH_AGENT, DIR_UP, 12, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* TOOLS_FOR u32 request, u64 handle, S session, S preset: the tools of	\
 *   QUERY_TOOLS that one of these (or neither: "") leaves */		\
ROW(TOOLS_FOR,	CH_AGENT, DIR_UP, 12, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
/* SECRET_SET u32 request, u64 handle, u8 what (SECRET_*), S name,	\
 *   S value: an operator with the right "manage" registers it */	\
ROW(SECRET_SET,	CH_OPERATOR, DIR_UP, 13, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
/* SECRETS u64 and u64, 32 bytes: keys of the hashes that follow in SECRET	\
 *   rows and take the place of all before at SECRETS_END */		\
ROW(SECRETS,	CH_API, DIR_DOWN, 48, 0, 0, 0, FDS(FD_NONE), ST_UP)	\
/* SECRET B forms: SECRET_FORM_BYTES each: u32 length, u32 hash of the	\
 *   first bytes, u32 of all, 32 bytes HMAC-SHA256 */			\
ROW(SECRET,	CH_API, DIR_DOWN, 0, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* SECRETS_END u32 how many forms there were */				\
ROW(SECRETS_END, CH_API, DIR_DOWN, 4, 0, 0, 0, FDS(FD_NONE), ST_UP)	\
/* ---- apid and policyd, for verdicts ---------------------------------- */ \
/* DRY_JUDGED u32 request, S JSON: what a dry run's verdict is; [its	\
 *   explanation, as VERDICT has it] */					\
ROW(DRY_JUDGED,	CH_AGENT, DIR_DOWN, 4, 1, 0, 1, FDS(FD_MEMFD), ST_UP)	\
/* CALL_SAME u32 request, S call: what was asked is this call, which its	\
 *   idempotency key belongs to */					\
ROW(CALL_SAME,	CH_AGENT, DIR_DOWN, 4, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* ---- approvals ------------------------------------------------------ */ \
/* CALL_ASKING u32 expires ms, S call, S approval, S JSON of the event */	\
ROW(CALL_ASKING, CH_AGENT, DIR_DOWN, 4, 3, 0, 0, FDS(FD_NONE), ST_UP)	\
/* CALL_RESOLVED u8 outcome (APPROVAL_*), S call, S approval, S reason */	\
ROW(CALL_RESOLVED, CH_AGENT, DIR_DOWN, 1, 3, 0, 0, FDS(FD_NONE), ST_UP)	\
/* DECIDE u32 request, u64 handle, u8 decision (DECIDE_*), 32 bytes digest	\
 *   that was looked at, S approval, S reason */				\
ROW(DECIDE,	CH_OPERATOR, DIR_UP, 45, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
/* APPROVAL_SHOWN u32 request, u8 flags (SHOWN_F_*), S JSON ("" if it is in	\
 *   the last memfd): QUERY_APPROVAL of one that is pending; the arguments	\
 *   [, explanation][, input][, JSON] */					\
ROW(APPROVAL_SHOWN, CH_OPERATOR, DIR_DOWN, 5, 1, 1, 4, FDS(FD_MEMFD), ST_UP)	\
/* ---- the audit log -------------------------------------------------- */ \
/* AUDIT_NEWS u64 sequence: there is more on the disk than the last	\
 *   QUERY_AUDIT was told of; once, until it is asked again */		\
ROW(AUDIT_NEWS,	CH_OPERATOR, DIR_DOWN, 8, 0, 0, 0, FDS(FD_NONE), ST_UP)	\
/* SHOWN u32 request, u8 cut, S its arguments without secrets, at most	\
 *   SHOWN_MOST bytes: just before the ASK or ASK_ONCE of that number */	\
ROW(SHOWN,	CH_AGENT, DIR_UP, 5, 1, 0, 0, FDS(FD_NONE), ST_UP)		\
/* ---- keys ----------------------------------------------------------- */ \
/* AUTH u32 connection, S what stands for a token ("" for none), S where	\
 *   it comes from: an address.  PEER_OK or AUTH_NO answers */		\
ROW(AUTH,	CH_AGENT, DIR_UP, 4, 2, 0, 0, FDS(FD_NONE), ST_UP)		\
/* AUTH_NO u32 connection, u16 HTTP status, u32 retry after s, S who ("":	\
 *   nobody), S what is missing ("" with 401).  Unasked: its key was	\
 *   revoked, the connection ends */					\
ROW(AUTH_NO,	CH_AGENT, DIR_DOWN, 10, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
/* KEY_SET u32 request, u64 handle, u8 what (KEY_*), u32 seconds (of life	\
 *   for KEY_ADD, 0: no end; that the old one goes on for KEY_ROTATE),	\
 *   S name (KEY_ADD) or id: an operator with the right "manage" asks */	\
ROW(KEY_SET,	CH_OPERATOR, DIR_UP, 17, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* ---- rules and presets ---------------------------------------------- */ \
/* TOOL_GROUP S tool, which a TOOL has named, S its group */		\
ROW(TOOL_GROUP,	CH_JUDGE, DIR_UP, 0, 2, 0, 0, FDS(FD_NONE), ST_NEW)	\
/* OPEN_RULED: OPEN's fields, then S the session's own rules, JSON */	\
ROW(OPEN_RULED,	CH_AGENT, DIR_UP, 25, 5, 0, 0, FDS(FD_NONE), ST_UP)	\
/* ---- egress ---------------------------------------------------------- */ \
/* LISTENER u8 which (LISTENER_*), S neuron: sockets in its network	\
 *   namespace, in the order of these bits; before its NEURON_UP, and	\
 *   again when LISTENERS_AGAIN asks */					\
ROW(LISTENER,	CH_LAUNCH, DIR_UP, 1, 1, 1, 4, FDS(FD_INET), ST_UP)	\
ROW(LISTENERS_AGAIN, CH_LAUNCH, DIR_DOWN, 0, 0, 0, 0, FDS(FD_NONE), ST_UP) \
/* EGRESS_OPEN u8 which (LISTENER_*), S neuron, S profile, whose hosts it	\
 *   may reach: of the newest generation, whenever that comes */		\
ROW(EGRESS_OPEN, CH_EGRESS, DIR_DOWN, 1, 2, 1, 4, FDS(FD_INET), ST_UP)	\
/* EGRESS_CLOSE S neuron: it is gone */					\
ROW(EGRESS_CLOSE, CH_EGRESS, DIR_DOWN, 0, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* EGRESS_CALL u8 begins, u8 flags (EGRESS_F_*), S neuron, S call: it runs,	\
 *   or runs no more */							\
ROW(EGRESS_CALL, CH_EGRESS, DIR_DOWN, 2, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
/* EGRESS_RUN u32 timeout ms, u8 what (EGRESS_FETCH ...), u64 output most,	\
 *   S neuron, S call: a call that egressd itself carries out; run block,	\
 *   stdout, stderr */							\
ROW(EGRESS_RUN,	CH_EGRESS, DIR_DOWN, 13, 2, 3, 3,			\
    FDS(FD_MEMFD, FD_PIPE_W, FD_PIPE_W), ST_UP)				\
/* EGRESS_KILL u8 why (END_* cause), S call of an EGRESS_RUN */		\
ROW(EGRESS_KILL, CH_EGRESS, DIR_DOWN, 1, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
/* EGRESS_ENDED u8 cause (END_*), i32 exit code, u32 run us, S call,	\
 *   S detail: the end of an EGRESS_RUN */				\
ROW(EGRESS_ENDED, CH_EGRESS, DIR_UP, 9, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
/* EGRESS_GRANT u16 port, u8 what (EGRESS_GRANT_*), u8 flags (EGRESS_F_*),	\
 *   S neuron, S host.  Up: this was granted, before the ENDED of its call.	\
 *   Down: it had been, to an egressd that was started again */		\
ROW(EGRESS_GRANTED, CH_EGRESS, DIR_UP, 4, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
ROW(EGRESS_GRANT, CH_EGRESS, DIR_DOWN, 4, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
/* EGRESS_SPENT S neuron, S host, u16 port: what was granted once is used */ \
ROW(EGRESS_SPENT, CH_EGRESS, DIR_UP, 2, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
/* EGRESS_DENIED u16 port, u8 via (EGRESS_VIA_*), u32 times, S neuron,	\
 *   S host as it was canonical, or escaped, S address ("" if none), S rule	\
 *   ("FILE:LINE" or a word of egressd/refusal.h), S detail, S next step:	\
 *   sent before the client hears of it */				\
ROW(EGRESS_DENIED, CH_EGRESS, DIR_UP, 7, 6, 0, 0, FDS(FD_NONE), ST_UP)	\
/* EGRESS_LOG u16 port, u8 via (EGRESS_VIA_*), u8 why it ended		\
 *   (EGRESS_END_*), u64 bytes up, u64 bytes down, u32 ms, S neuron,	\
 *   S host, S address, S rule: of each that was let through */		\
ROW(EGRESS_LOG,	CH_EGRESS, DIR_UP, 24, 4, 0, 0, FDS(FD_NONE), ST_UP)	\
/* TOOL_EGRESS u8 what (EGRESS_FETCH or EGRESS_GRANT_SESSION), S tool, which	\
 *   a TOOL has named: egressd carries it out, not a neuron */		\
ROW(TOOL_EGRESS, CH_JUDGE, DIR_UP, 1, 1, 0, 0, FDS(FD_NONE), ST_NEW)	\
/* LISTEN u32 slot, u32 generation, u8 which (LISTENER_*); its network	\
 *   namespace */							\
ROW(LISTEN,	CH_MAKER, DIR_DOWN, 9, 0, 1, 1, FDS(FD_NS), ST_ANY)	\
/* LISTENING u32 slot, u32 generation, u32 error (errno, 0 for none),	\
 *   S step; the sockets, in the order of the bits asked for */		\
ROW(LISTENING,	CH_MAKER, DIR_UP, 12, 1, 0, 4, FDS(FD_INET), ST_ANY) \
/* ---- neurond and maker, for protected names -------------------------- */ \
/* PLACE u32 number of the record, u32 ticket: placeholders for names that	\
 *   a workspace lacks; record, the workspace (O_PATH) */		\
ROW(PLACE,	CH_MAKER, DIR_DOWN, 8, 0, 2, 2, FDS(FD_ANY, FD_DIR), ST_ANY) \
/* PLACED u32 number, u32 ticket, u32 error (errno, 0 for none), S why */ \
ROW(PLACED,	CH_MAKER, DIR_UP, 12, 1, 0, 0, FDS(FD_NONE), ST_ANY)	\
/* CLEAR u32 number of the record: they go; record[, the workspace] */	\
ROW(CLEAR,	CH_MAKER, DIR_DOWN, 4, 0, 1, 2, FDS(FD_ANY, FD_DIR), ST_ANY) \
/* CLEARED u32 number, u32 0, u32 error (errno, 0 for none), S "" */	\
ROW(CLEARED,	CH_MAKER, DIR_UP, 12, 1, 0, 0, FDS(FD_NONE), ST_ANY)	\
/* ---- homes of persistent neurons ------------------------------------- */ \
/* HOMES_ASK: a HOME for each that there is, then HOMES_END.  HOME u64	\
 *   bytes on the disk, u64 seconds of its making, S neuron.  HOMES_END	\
 *   u32 how many */							\
ROW(HOMES_ASK,	CH_LAUNCH, DIR_DOWN, 0, 0, 0, 0, FDS(FD_NONE), ST_UP)	\
ROW(HOME,	CH_LAUNCH, DIR_UP, 16, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
ROW(HOMES_END,	CH_LAUNCH, DIR_UP, 4, 0, 0, 0, FDS(FD_NONE), ST_UP)	\
/* HOME_DROP S neuron, which is not live: its home is destroyed.		\
 *   HOME_DROPPED u32 error (errno, 0 for none), S neuron, S why */	\
ROW(HOME_DROP,	CH_LAUNCH, DIR_DOWN, 0, 1, 0, 0, FDS(FD_NONE), ST_UP)	\
ROW(HOME_DROPPED, CH_LAUNCH, DIR_UP, 4, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
/* POOL u32 neurons wanted ready, u32 ready, u64 requests that were met by	\
 *   one, u64 that would have been, had one been ready */		\
ROW(POOL,	CH_LAUNCH, DIR_UP, 24, 0, 0, 0, FDS(FD_NONE), ST_UP)	\
/* HOME_OPEN u32 slot, u32 generation, u32 kuid, u32 uid that owns a new	\
 *   one, u8 it must be there, u64 bytes, u64 inodes, S neuron; the	\
 *   directory of homes */						\
ROW(HOME_OPEN,	CH_MAKER, DIR_DOWN, 33, 1, 1, 1, FDS(FD_DIR), ST_ANY)	\
/* HOME_OPENED u32 slot, u32 generation, u32 error (errno, 0 for none),	\
 *   S why; its mount, its directory, which is locked */			\
ROW(HOME_OPENED, CH_MAKER, DIR_UP, 12, 1, 0, 2, FDS(FD_TREE, FD_DIR), ST_ANY) \
/* HOME_ERASE u32 ticket, S neuron; the directory of homes */		\
ROW(HOME_ERASE,	CH_MAKER, DIR_DOWN, 4, 1, 1, 1, FDS(FD_DIR), ST_ANY)	\
/* HOME_ERASED u32 ticket, u32 0, u32 error (errno, 0 for none), S why */ \
ROW(HOME_ERASED, CH_MAKER, DIR_UP, 12, 1, 0, 0, FDS(FD_NONE), ST_ANY)	\
/* ---- apid and policyd, for persistent neurons ------------------------- */ \
/* HOME_MAKE u32 request, u64 handle, u32 owner uid, u32 owner gid		\
 *   (UINT32_MAX: the peer's), u32 idle expiry s (0: default),	\
 *   u8 1 if its workspace is read-only, S profile, S workspace, S name,	\
 *   S labels (labels.h; "" for none) */				\
ROW(HOME_MAKE,	CH_AGENT, DIR_UP, 25, 4, 0, 0, FDS(FD_NONE), ST_UP)	\
/* NEURONS_FOR u32 request, u64 handle, u64 cursor, u32 most, S name,	\
 *   S label ("KEY" or "KEY=VALUE"): the persistent ones of QUERY_NEURONS	\
 *   that have these ("": any) */						\
ROW(NEURONS_FOR, CH_API, DIR_UP, 24, 2, 0, 0, FDS(FD_NONE), ST_UP)	\
/* ---- neurond and PID 1 of a neuron, for short calls ------------------- */ \
/* RUN_RAN u32 run, i32 exit code, i32 signal, u64 peak bytes, u32 us that it \
 *   ran: RUN_STARTED and RUN_ENDED in one, of what ended at once */	\
ROW(RUN_RAN,	CH_INIT, DIR_UP, 24, 0, 0, 0, FDS(FD_NONE), ST_ANY)	\
/* ---- looking after it ------------------------------------------------ */ \
/* REQUEST u32 request, u64 the number that its client was told: just	\
 *   before what asks for a change under that request */		\
ROW(REQUEST,	CH_API, DIR_UP, 12, 0, 0, 0, FDS(FD_NONE), ST_UP)	\
/* LOG_ASK u8 verbose: an operator asked policyd.  LOG_LEVEL u8 verbose: so	\
 *   it is from now on, until the next configuration */			\
ROW(LOG_ASK,	CH_CONTROL, DIR_UP, 1, 0, 0, 0, FDS(FD_NONE), ST_ANY)	\
ROW(LOG_LEVEL,	CH_CONTROL, DIR_DOWN, 1, 0, 0, 0, FDS(FD_NONE), ST_UP)	\
/* ---- directories of the host that a profile names -------------------- */ \
/* TREES u32 slot, u32 generation, u32 kuid (0: root's files stay root's),	\
 *   u8 directories, u8 1 if the first is the neuron's root, S their paths,	\
 *   each with a newline */						\
ROW(TREES,	CH_MAKER, DIR_DOWN, 14, 1, 0, 0, FDS(FD_NONE), ST_ANY)	\
/* TREES_MADE u32 slot, u32 generation, u32 error (errno, 0 for none),	\
 *   S which and why; detached mounts... */				\
ROW(TREES_MADE,	CH_MAKER, DIR_UP, 12, 1, 0, 6, FDS(FD_TREE), ST_ANY)	\
/* TRANSCRIPT_TEXT u64 handle, S call, S denied, S bytes: TRANSCRIPT of few	\
 *   bytes, which need no memfd */					\
ROW(TRANSCRIPT_TEXT, CH_AGENT, DIR_UP, 8, 3, 0, 0, FDS(FD_NONE), ST_UP)	\
/* OPEN_NAMED_RO: OPEN_NAMED, whose new session has a read-only workspace */ \
ROW(OPEN_NAMED_RO, CH_AGENT, DIR_UP, 12, 4, 0, 0, FDS(FD_NONE), ST_UP)

#include "protocol_neuron.h"

enum msg_type {
	MSG_NONE,
#define ROW(name, ...)	MSG_##name,
	PROTOCOL(ROW)
#undef ROW
	MSG_COUNT
};

struct msg_row {
	const char	*name;
	unsigned	 channels;
	enum msg_dir	 dir;
	uint32_t	 fixed;
	uint32_t	 strings;
	uint8_t		 fds_min;
	uint8_t		 fds_max;
	uint8_t		 kinds[MSG_MAX_FDS_NEURON];
	unsigned	 states;
};

/* The table, indexed by enum msg_type; row MSG_NONE is empty. */
extern const struct msg_row msg_table[MSG_COUNT];

/* Version of the protocol: START carries it, READY answers it. */
#define PROTOCOL_VERSION	1

/* START flags */
#define PROC_F_DEBUG		0x01	/* log to standard error */
#define PROC_F_VERBOSE		0x02
#define PROC_F_TRACE		0x04	/* -T imsg */
#define PROC_F_CHECK		0x08	/* -n: read the slice, say OK, exit */

/* PROCS and HELPER states, in the order of proc_state_name() */
enum proc_status { PROC_ST_STARTING, PROC_ST_UP, PROC_ST_DOWN, PROC_ST_FAILED };

/* RELOAD: how the last one went, in the order of reload_result_name() */
enum reload_result { RELOAD_NONE, RELOAD_OK, RELOAD_REFUSED };

/*
 * MANAGE: what to do.  DRAIN waits for the running calls, up to a time.  PRUNE
 * takes seconds in the place of milliseconds: transcripts that are older go,
 * or would go (PRUNE_LOOK).
 */
enum {
	MANAGE_DRAIN = 1, MANAGE_RESUME = 2, MANAGE_PRUNE = 3,
	MANAGE_PRUNE_LOOK = 4, MANAGE_BACKUP = 5, MANAGE_LOG_BRIEF = 6,
	MANAGE_LOG_VERBOSE = 7
};
#define MANAGE_LAST	MANAGE_LOG_VERBOSE

/* The most bytes that TRANSCRIPT's memfd may hold. */
#define TRANSCRIPT_MAX	(14 * 1024 * 1024)
/* From how many bytes on it is one. */
#define TRANSCRIPT_INLINE	(8 * 1024)

/* SHOWN: of the text, which the record of the call in the audit log has. */
#define SHOWN_MOST		2048

/* SECRET_SET: what to do; SECRET: how much a message holds */
enum { SECRET_ADD = 1, SECRET_DELETE = 2 };
#define SECRET_FORM_BYTES	44
#define SECRET_FORMS_MOST	300

/* KEY_SET: what to do */
enum { KEY_ADD = 1, KEY_REVOKE = 2, KEY_ROTATE = 3 };

/*
 * Principals are numbers: a uid, or from here on a key's name.  No peer with
 * such a uid is let in.
 */
#define PRINCIPAL_KEYS		UINT32_C(0xff000000)

/* OPEN: what to make; HOME_MAKE makes a persistent neuron */
enum { OPEN_SESSION = 1 };
#define OPEN_F_READ_ONLY	0x80	/* with it: the workspace is */

/* stdin of a call */
enum { STDIN_NONE, STDIN_INLINE, STDIN_STREAM };

/* ASK flags */
#define ASK_F_DRY_RUN		0x01
#define ASK_F_PTY		0x02	/* it has a terminal */
#define ASK_F_READ_ONLY		0x04	/* ASK_ONCE: the workspace is */
#define ASK_F_PATIENT		0x08	/* its end is waited for: ASKED may come
					 * with what follows */
#define ASK_FLAGS		0x0f

/* JUDGE flags */
#define JUDGE_F_EGRESS		0x01	/* its neuron has egress */
#define JUDGE_F_EXPLAIN		0x02	/* explain it whatever the verdict */
#define JUDGE_F_GRANTS		0x04	/* request_egress can grant it more */

/*
 * VERDICT flags.  With UNRESOLVED a word is not known before it runs, so no
 * approval of it can be remembered.
 */
#define VERDICT_F_UNRESOLVED	0x01
#define VERDICT_F_NO_EGRESS	0x02	/* denied: it needs the network */

/*
 * The second memfd of VERDICT, where the verdict is ask or JUDGE said EXPLAIN:
 * compact JSON for a person, which policyd passes on unread:
 *
 *	{"commands": [{"words": [S...], "unknown": bool, "from": N, "to": N,
 *	    "class": S, "effect": S, "marks": [S...], "why": S}...],
 *	 "paths": [S...], "cut": bool}
 *
 * "cut" says that more was found than this holds.
 */
#define EXPLANATION_MAX		(256 * 1024)	/* bytes */

/* LISTENER: what listens; addresses and ports in egress.h */
#define LISTENER_PROXY		0x01
#define LISTENER_TLS		0x02
#define LISTENER_PLAIN		0x04
#define LISTENER_DNS		0x08
#define LISTENERS_ALL		0x0f

/*
 * EGRESS_RUN and EGRESS_GRANT: what.  EGRESS_GRANT alone may say NONE: what
 * was granted to the session for that host and port, with these flags, is
 * taken back, and what it let through is closed.
 */
enum {
	EGRESS_FETCH = 1, EGRESS_GRANT_ONCE, EGRESS_GRANT_SESSION,
	EGRESS_GRANT_NONE
};

/* EGRESS_CALL and EGRESS_GRANT: plain HTTP may write, a human said so. */
#define EGRESS_F_WRITES		0x01

/* EGRESS_DENIED and EGRESS_LOG: how it came; egress_via_name() */
enum egress_via {
	EGRESS_VIA_CONNECT = 1, EGRESS_VIA_HTTP, EGRESS_VIA_SOCKS,
	EGRESS_VIA_TLS, EGRESS_VIA_PLAIN, EGRESS_VIA_DNS, EGRESS_VIA_FETCH
};

/* EGRESS_LOG: why it ended; egress_end_name() */
enum egress_end {
	EGRESS_END_CLOSED = 1, EGRESS_END_IDLE, EGRESS_END_TOTAL,
	EGRESS_END_BYTES, EGRESS_END_REVOKED, EGRESS_END_FAILED
};
const char *egress_via_name(unsigned via);	/* "connect" ... or "?" */
const char *egress_end_name(unsigned end);	/* "closed" ... or "?" */

/* The most that JUDGE's rules of a session may be, in bytes. */
#define JUDGE_RULES_MAX		8192

/* ASK: the most bytes of an idempotency key */
#define IDEMPOTENCY_MAX		255

/* ASK: the longest time that the profile's timeout-max allows */
#define TIMEOUT_MOST		UINT32_MAX

/* The size of a terminal in one number, rows and columns from 1 on. */
#define PTY_SIZE(rows, cols)	((uint32_t)(rows) << 16 | (uint32_t)(cols))
#define PTY_ROWS(size)		((size) >> 16)
#define PTY_COLS(size)		((size) & 0xffffU)
#define PTY_SIZE_OK(size)						\
	(PTY_ROWS(size) >= 1 && PTY_ROWS(size) <= PTY_SIZE_MAX &&	\
	PTY_COLS(size) >= 1 && PTY_COLS(size) <= PTY_SIZE_MAX)

/* NEURON_MAKE: with the principal's line, which is a small number */
#define MAKE_F_NO_EGRESS	UINT32_C(0x80000000)	/* whatever the profile */
#define MAKE_F_PERSISTENT	UINT32_C(0x40000000)	/* has a home of its own */
#define MAKE_F_READ_ONLY	UINT32_C(0x20000000)	/* and its workspace is */
#define MAKE_F_KEPT		UINT32_C(0x10000000)	/* that home is there */
#define MAKE_FLAGS		UINT32_C(0xf0000000)

/* BUILD: how */
#define BUILD_F_NO_PTY		0x01	/* no terminals of its own */
#define BUILD_F_EGRESS		0x02	/* a proxy listens inside */
#define BUILD_F_STRICT		0x04	/* the strict variant */
#define BUILD_F_HOME		0x08	/* a tree is its home */
#define BUILD_F_ROOT		0x10	/* a tree is its root */
#define BUILD_F_READ_ONLY	0x20	/* the workspace's tree is read-only */
#define BUILD_F_OVERLAY		0x40	/* which it may change for itself */
#define BUILD_FLAGS		0x7f

/* BUILD: mounts beside workspace, home and root: what its fds leave */
#define BUILD_MOUNTS_MAX	5

/* STOP: why */
enum { STOP_CANCELLED = 1, STOP_OUTPUT_LIMIT = 2, STOP_READER_GONE = 3 };

/* DECIDE: what; REVOKE is of a remembered one, and looks at no digest. */
enum {
	DECIDE_ALLOW_ONCE = 1, DECIDE_ALLOW_SESSION, DECIDE_REJECT_ONCE,
	DECIDE_REVOKE
};

/* States of an approval, and what CALL_RESOLVED says; approval_state_name() */
enum approval_state {
	APPROVAL_PENDING = 1, APPROVAL_ALLOWED, APPROVAL_REJECTED,
	APPROVAL_EXPIRED, APPROVAL_CANCELLED, APPROVAL_CHANGED
};
const char *approval_state_name(unsigned state);	/* "pending" ... or "?" */

/* APPROVAL_SHOWN: what comes, and whether secrets are to be taken out. */
#define SHOWN_F_EXPLANATION	0x01
#define SHOWN_F_INPUT		0x02
#define SHOWN_F_JSON		0x04
#define SHOWN_F_CLEAN		0x08

/* The most bytes of a decision's reason. */
#define DECIDE_REASON_MAX	512

/*
 * QUERY: what.  The operator's plane may ask STATUS, AUDIT, SECRETS and what
 * is behind it; the id of APPROVALS is a state, or a list's name.
 */
enum query_what {
	QUERY_WHOAMI = 1, QUERY_TOOLS, QUERY_LIMITS, QUERY_HEALTH,
	QUERY_NEURONS, QUERY_NEURON, QUERY_SESSIONS, QUERY_SESSION,
	QUERY_CALLS, QUERY_CALL, QUERY_STATUS, QUERY_AUDIT,
	QUERY_TRANSCRIPT, QUERY_SECRETS, QUERY_APPROVALS, QUERY_APPROVAL,
	QUERY_KEYS, QUERY_METRICS
};
#define QUERY_LAST	QUERY_METRICS

/* effects, weakest first, and marks: the words of effect_name(), mark_name() */
enum effect {
	EFFECT_READ = 1, EFFECT_MUTATE_REVERSIBLE, EFFECT_MUTATE_IRREVERSIBLE,
	EFFECT_DESTRUCTIVE
};
#define MARK_NETWORK_READ	0x01
#define MARK_NETWORK_WRITE	0x02
#define MARK_REMOTE_CODE	0x04
#define MARK_ELEVATED		0x08
#define MARK_OPAQUE		0x10
#define MARK_SELF		0x20

/* VERDICT_INVALID: the arguments do not fit the schema; the reason says why. */
enum verdict { VERDICT_ALLOW = 1, VERDICT_ASK, VERDICT_DENY, VERDICT_INVALID };

/* ENDED and KILL: why a call ended.  END_EXITED and END_SIGNALLED are the
 * program's own doing, the others ours, the kernel's or a failure. */
enum end_cause {
	END_EXITED = 1, END_SIGNALLED, END_TIMED_OUT, END_OOM, END_PIDS,
	END_OUTPUT_LIMIT, END_CANCELLED, END_SESSION_ENDED, END_INTERRUPTED,
	END_EXEC_FAILED, END_LAUNCH_FAILED, END_NEURON_LOST
};
#define ENDED_F_SHARED	0x01	/* several calls ran: OOM, pids, cpu shared */
#define ENDED_F_RETIRED	0x02	/* the leaf would not empty: neuron retired */
#define ENDED_F_STARTED	0x04	/* it ran, and no STARTED came before */

/* NEURON_GONE: why */
enum gone_cause { GONE_DROPPED = 1, GONE_FAILED, GONE_REFUSED, GONE_LOST };

const char *effect_name(unsigned effect);	/* "read" ... or "?" */
unsigned    effect_find(const char *name);	/* 0 if there is none */
const char *mark_name(unsigned bit);		/* of one bit, or NULL */
unsigned    mark_find(const char *name);	/* 0 if there is none */
const char *verdict_name(unsigned verdict);
const char *proc_state_name(unsigned status);
const char *reload_result_name(unsigned result);	/* "ok" ... or "?" */
const char *msg_name(unsigned type);		/* "PEER" ... or "?" */
const char *channel_name(unsigned kind);	/* "agent" ... or "?" */

#endif
