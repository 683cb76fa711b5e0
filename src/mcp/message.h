/* mcp/message.h - what a JSON value is as JSON-RPC.
 *
 * Judges the envelope only: params and results are somebody else's. Lenient where
 * real peers are sloppy (a missing "jsonrpc", "id": null on errors, a result next
 * to a method), because a recorder must name what it sees, not refuse it. */
#ifndef MCP_MESSAGE_H
#define MCP_MESSAGE_H

#include "json/json.h"

enum mcp_kind {
    MCP_OTHER, /* JSON, but not JSON-RPC */
    MCP_REQUEST,
    MCP_NOTIFICATION,
    MCP_RESULT,
    MCP_ERROR,
    MCP_BATCH, /* an array; its elements are messages of their own */
};

struct mcp_message {
    enum mcp_kind kind;
    struct json_val root;
    struct json_val id;     /* absent in notifications; may be JSON null in errors */
    struct str method;      /* decoded; empty in responses */
    struct json_val params; /* requests and notifications; may be absent */
    struct json_val result; /* MCP_RESULT */
    struct json_val error;  /* MCP_ERROR */
    bool duplicate;         /* id, method, params, result or error stands there twice */
};

/* `method` points into the text, or into `a` if it was escaped. */
struct mcp_message mcp_classify(struct json_val root, struct arena *a);

static inline bool mcp_is_response(const struct mcp_message *m)
{
    return m->kind == MCP_RESULT || m->kind == MCP_ERROR;
}

const char *mcp_kind_name(enum mcp_kind kind); /* "request", "result", … */

#endif
