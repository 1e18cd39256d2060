/*
 * The bounds of edit, for its tests.
 */
#ifndef MYELIN_TOOL_EDIT_H
#define MYELIN_TOOL_EDIT_H

#define EDIT_BYTES_MAX	((size_t)16 << 20)	/* of the file, also after */
#define EDIT_DIFF_MAX	((size_t)64 << 10)	/* of the diff's text */
#define EDITS_MAX	1000			/* edits of one call */

#endif
