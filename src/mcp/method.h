/* mcp/method.h - every method of every revision, one row each.
 *
 * A row is about messages of their own: what modern servers ask inside a result
 * (inputRequests) has the names and capabilities of old, but is none. */
#ifndef MCP_METHOD_H
#define MCP_METHOD_H

#include "mcp/version.h"
#include "json/json.h"

enum mcp_dir { MCP_C2S = 1, MCP_S2C = 2, MCP_BOTH = 3 };

/* What kind of thing a request asks for: decides how replay answers it again. */
enum mcp_class {
    MCP_CLASS_OTHER,
    MCP_CLASS_SESSION, /* initialize, server/discover, ping: never consumed */
    MCP_CLASS_LIST,    /* pages of definitions */
    MCP_CLASS_READ,    /* reads, gets, completion: may be asked again */
    MCP_CLASS_CALL,    /* tools/call: each call counts */
    MCP_CLASS_POLL,    /* tasks/get and its kin: a sequence that advances */
    MCP_CLASS_LISTEN,  /* subscriptions/listen: stays open */
};

struct mcp_method {
    struct str name;
    bool notification;
    enum mcp_dir dir; /* in any of its revisions */
    enum mcp_class class;
    enum mcp_version since, until; /* first and last revision that has it */
    struct str subject;    /* the params member that names its object: "name", "uri", … */
    struct str capability; /* what a client asked this must have declared; else empty */
};

/* NULL if no revision knows it. */
const struct mcp_method *mcp_method_find(struct str name);

/* All rows, NULL-named at the end. */
extern const struct mcp_method mcp_methods[];

/* What a message is about: its tool, prompt, URI or task, for a completion what its
 * reference names; absent if its method names nothing. */
struct json_val mcp_subject(struct str method, struct json_val params);

/* The same where the method was found already; NULL is one that nobody knows. */
struct json_val mcp_method_subject(const struct mcp_method *m, struct json_val params);

#endif
