/*
 * A directory as a tar archive that nobody can trip over.
 */
#ifndef MYELIN_TOOL_TAR_H
#define MYELIN_TOOL_TAR_H

struct tool;
struct path;

#define TAR_DEPTH_MAX	64
#define TAR_ENTRIES_MAX	100000
#define TAR_NAME_MAX	4095		/* bytes of a name in the archive */

/*
 * Sends the directory: plain files and directories, with relative names,
 * modes 0644, 0755 and nobody's ids.  Anything else, and what can't be read,
 * is counted in left_out.  0, or -1 after tool_fail(): the archive has then
 * no end.
 */
int	tar_send(struct tool *, const struct path *);

#endif
