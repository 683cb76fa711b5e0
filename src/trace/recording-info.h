/* trace/recording-info.h - collects protocol version, client info and server info from
 * messages. */
#ifndef TRACE_RECORDING_INFO_H
#define TRACE_RECORDING_INFO_H

#include "base/buf.h"
#include "mcp/message.h"
#include "trace/pairing.h"

/* The latest value of each; empty: not seen. Client and server info are JSON. */
struct recording_info {
    struct buf protocol, client_info, server_info;
    uint64_t sessions; /* initialize requests */
};

void recording_info_init(struct recording_info *f);
void recording_info_release(struct recording_info *f);

/* `request_method` is the method of the request that `m` answers; empty if it answers none. */
void recording_info_update(struct recording_info *f, enum record_dir dir,
                           const struct mcp_message *m, struct str request_method);

/* Whether it is a JSON-RPC error, or a result with isError. */
bool recording_info_is_error(const struct mcp_message *m);

#endif
