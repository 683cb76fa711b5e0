/* mcp/id.h - request ids and progress tokens, which are strings or numbers.
 *
 * `1` and `"1"` differ, `0` is an id like any other, and how a peer spells one
 * ("a" or "\u0061", 1 or 1.0) does not matter. */
#ifndef MCP_ID_H
#define MCP_ID_H

#include "base/buf.h"
#include "json/json.h"

/* Bytes that are equal exactly when two ids are the same: "s" and the decoded
 * text, or "n" and the number in one canonical spelling. Empty if `id` is neither
 * a string nor a number. Points into `a`. */
struct str mcp_id_key(struct json_val id, struct arena *a);

/* The same bytes, at the end of `to`. */
void mcp_id_add(struct buf *to, struct json_val id);

#endif
