/* mcp/method.h - table of all methods of all protocol revisions.
 *
 * A row describes messages only. In the stateless protocol a server puts its requests into a
 * result (inputRequests): these have method names and capabilities of the table, but are no
 * messages. */
#ifndef MCP_METHOD_H
#define MCP_METHOD_H

#include "mcp/version.h"
#include "json/json.h"

enum mcp_dir { MCP_C2S = 1, MCP_S2C = 2, MCP_BOTH = 3 };

/* Class of a request. Replay decides by it how a recorded call may be used again. */
enum mcp_class {
    MCP_CLASS_OTHER,
    MCP_CLASS_SESSION, /* initialize, server/discover, ping: never consumed */
    MCP_CLASS_LIST,    /* pages of definitions */
    MCP_CLASS_READ,    /* reads, gets, completion: may be repeated */
    MCP_CLASS_CALL,    /* tools/call: each recorded call is used once */
    MCP_CLASS_POLL,    /* tasks/get and similar: a sequence that advances */
    MCP_CLASS_LISTEN,  /* subscriptions/listen: stays open */
};

struct mcp_method {
    struct str name;
    bool notification;
    enum mcp_dir dir; /* in all revisions that have it */
    enum mcp_class class;
    enum mcp_version since, until; /* first and last revision that has it */
    struct str subject;    /* the params member that names its object: "name", "uri", … */
    struct str capability; /* of the client, for a server request; else empty */
};

/* NULL if no revision has it. */
const struct mcp_method *mcp_method_find(struct str name);

/* All rows; the last has a NULL name. */
extern const struct mcp_method mcp_methods[];

/* The subject of a message: the name of its tool or prompt, its URI or its task id; for a
 * completion the name or URI in its reference. Absent if the method has none. */
struct json_val mcp_subject(struct str method, struct json_val params);

/* The same for a row of the table; NULL for an unknown method. */
struct json_val mcp_method_subject(const struct mcp_method *m, struct json_val params);

#endif
