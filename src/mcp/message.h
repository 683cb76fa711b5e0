/* mcp/message.h - classifies a JSON value as a JSON-RPC message.
 *
 * Looks at the envelope only, not at params or results. Lenient, because a recorder has to
 * name every message of a sloppy peer:
 * - "jsonrpc" may be missing or wrong;
 * - a method makes a request or notification, even next to a result;
 * - "id": null counts as no id: with a method, it is a notification;
 * - a null error next to a result is ignored, any other error wins over the result;
 * - an error may have no id if it is an object, a result may not.
 * An id that is neither string, number nor null makes it MCP_OTHER. */
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
    struct json_val id;     /* absent in notifications; absent or JSON null in some errors */
    struct str method;      /* decoded; empty in responses */
    struct json_val params; /* requests and notifications; may be absent */
    struct json_val meta;   /* params._meta; may be absent */
    struct json_val result; /* MCP_RESULT */
    struct json_val error;  /* MCP_ERROR */
    bool duplicate_member;  /* id, method, params, result or error occurs twice */
};

/* Classifies `root`. `method` points into the text, or into `a` if it was escaped. */
struct mcp_message mcp_classify(struct json_val root, struct arena *a);

static inline bool mcp_is_response(const struct mcp_message *m)
{
    return m->kind == MCP_RESULT || m->kind == MCP_ERROR;
}

/* True for an error response with that code (mcp/error-code.h). */
bool mcp_error_has_code(const struct mcp_message *m, int64_t code);

const char *mcp_kind_name(enum mcp_kind kind); /* "request", "result", … */

#endif
