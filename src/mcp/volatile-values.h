/* mcp/volatile-values.h - recognizes values that differ from run to run: times, random ids,
 * hashes.
 *
 * Decides by the value alone, or by the name of its member (requestId, traceparent, nonce). A
 * plain date, a short number and a word are not volatile: the caller chose them. */
#ifndef MCP_VOLATILE_VALUES_H
#define MCP_VOLATILE_VALUES_H

#include "base/str.h"

/* True for a decoded string that is a date with a time, a UUID, a ULID, 16 hex digits or more,
 * a number of seconds, milli- or microseconds since 1970; each also behind a short prefix
 * ("sha256:…", "req_…"). */
bool mcp_is_volatile_text(struct str text);

/* True for the text of a JSON number that is a time since 1970. */
bool mcp_is_volatile_number(struct str number);

/* True for the name of a member whose value is generated. */
bool mcp_is_volatile_name(struct str name);

#endif
