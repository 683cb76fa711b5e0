/* trace/facts.h - who talks to whom in which revision, gathered as messages pass. */
#ifndef TRACE_FACTS_H
#define TRACE_FACTS_H

#include "base/buf.h"
#include "mcp/message.h"
#include "trace/pairing.h"

/* The latest of each; empty: not seen. Client and server info are JSON. */
struct facts {
    struct buf protocol, client_info, server_info;
    uint64_t sessions; /* initialize requests */
};

void facts_init(struct facts *f);
void facts_release(struct facts *f);

/* `asked` is the method of the request that `m` answers; empty if it answers none. */
void facts_see(struct facts *f, enum record_dir dir, const struct mcp_message *m,
               struct str asked);

/* A JSON-RPC error, or a tool's result that says isError. */
bool facts_is_error(const struct mcp_message *m);

#endif
