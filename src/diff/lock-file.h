/* diff/lock-file.h - the text of a lock file: a server's surface for review.
 *
 *     { "mcpreelLock": 1,
 *       "serverInfo": …, "protocolVersion": …, "capabilities": …, "instructions": …,
 *       "tools": […], "resources": […], "resourceTemplates": […], "prompts": […],
 *       "nameless": { "tools": 1 } }
 *
 * Definitions are complete and in the form of json/canonical.h, lists are sorted by name or
 * URI, so that two lock files of one surface are equal. A list that is not known is left out.
 * "nameless" has the numbers of definitions without a name, if there are such.
 * Readers ignore members that they do not know. */
#ifndef DIFF_LOCK_FILE_H
#define DIFF_LOCK_FILE_H

#include "base/buf.h"
#include "mcp/surface.h"

enum { LOCK_FILE_VERSION = 1 };
enum { LOCK_FILE_MAX = 256 << 20 }; /* bytes */

/* Appends the text, with a newline at its end. */
void lock_file_write(struct buf *to, const struct surface *s);

/* Adds the surface of a text to `s`, which is new. ERR_INPUT says what is wrong and where. */
bool lock_file_read(struct surface *s, struct str text, struct err *e) MUST_CHECK;

/* Adds the members of an object that has the form above; its version is not checked. */
bool lock_file_read_value(struct surface *s, struct json_val root, struct err *e) MUST_CHECK;

/* Returns whether a text is meant to be a lock file, of any version. */
bool lock_file_is_lock(struct str text);

#endif
