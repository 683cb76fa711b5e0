/* engine/headers-kept.h - what a recording keeps of HTTP header lines.
 *
 * Those that MCP is about are kept with their value. Of any other the value may be a
 * secret, so its name and the length of its value are all. */
#ifndef ENGINE_HEADERS_KEPT_H
#define ENGINE_HEADERS_KEPT_H

#include "base/buf.h"
#include "wire/fields.h"

bool headers_kept(struct str name);

/* [["Accept","application/json"],["Cookie",57]] */
void headers_kept_write(struct buf *to, const struct fields *f);

#endif
