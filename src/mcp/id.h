/* mcp/id.h - compares request ids and progress tokens.
 *
 * Both are strings or numbers. `1` and `"1"` differ, `0` is a valid id, and spelling does not
 * matter: "a" equals "\u0061", 1 equals 1.0. */
#ifndef MCP_ID_H
#define MCP_ID_H

#include "base/buf.h"
#include "json/json.h"

/* Key of an id: two keys are equal exactly if the ids are. "s" and the decoded text, or "n" and
 * the number in canonical spelling; empty if `id` is neither. Allocated in `a`. */
struct str mcp_id_key(struct json_val id, struct arena *a);

/* Appends the same key to `to`. */
void mcp_id_add_key(struct buf *to, struct json_val id);

/* Appends a key under which 1 and "1" are equal: the decoded text of a string, the spelling of
 * a number. */
void mcp_id_add_text_key(struct buf *to, struct json_val id);

#endif
