/* wire/same-path.h - paths that servers may take for the same.
 *
 * HTTP tells '/mcp', '/mcp/', '//mcp' and '/%6dcp' apart; many servers do not. Whoever watches
 * what is asked of one of them has to watch the others, too. */
#ifndef WIRE_SAME_PATH_H
#define WIRE_SAME_PATH_H

#include "base/str.h"

/* Whether two paths are the same but for escapes of what needs none, empty steps, '.' and '..',
 * and a '/' at the end. An escaped '/' is none. */
bool same_path(struct str a, struct str b);

#endif
