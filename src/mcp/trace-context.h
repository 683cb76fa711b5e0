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

/* Whether a text may be used as the list of a tracestate header: at most 512 visible characters
 * and blanks. */
bool mcp_trace_context_is_state(struct str tracestate);

#endif
