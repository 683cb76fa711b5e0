/* mcp/trace-context.h - parses the W3C trace context that a request has in its _meta.
 *
 * The members are traceparent and tracestate, without a prefix. */
#ifndef MCP_TRACE_CONTEXT_H
#define MCP_TRACE_CONTEXT_H

#include "base/str.h"

struct mcp_trace_context {
    uint64_t trace_high, trace_low; /* not both 0 */
    uint64_t parent;                /* not 0 */
    uint8_t flags;
};

/* Parses a traceparent header of version 00, or of a later version by its first four parts.
 * Returns false if it is none. */
bool mcp_trace_context_parse(struct mcp_trace_context *c, struct str traceparent);

enum { TRACE_STATE_BYTES = 512, TRACE_STATE_MEMBERS = 32 }; /* maxima of a tracestate */

/* Whether a text is a tracestate: members `key=value` with different keys, separated by commas,
 * within the maxima. */
bool mcp_trace_context_is_state(struct str tracestate);

/* Cuts the next member off a tracestate, without blanks around it; false: there is none. */
bool mcp_trace_context_next_member(struct str *rest, struct str *member);

/* The key of a member. */
struct str mcp_trace_context_key(struct str member);

#endif
