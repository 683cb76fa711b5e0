/* format/span-parties.h - finds the client, the server and the protocol version of operations.
 *
 * Names come from initialize and from the metadata of messages, and hold for the connection or
 * the HTTP session (ops/op-servers.h). Bounded: names are truncated and limited in number. */
#ifndef FORMAT_SPAN_PARTIES_H
#define FORMAT_SPAN_PARTIES_H

#include "base/capped-table.h"
#include "ops/op-servers.h"

struct party {
    uint64_t number; /* from 1 */
    struct str name, version;
};

struct span_parties {
    struct capped_table known; /* of struct party; protocol versions, too */
    struct op_servers clients, servers, protocols;
    struct arena scratch;
};

void span_parties_init(struct span_parties *p);
void span_parties_release(struct span_parties *p);

/* Another recording begins: names of the one before do not hold. */
void span_parties_begin_recording(struct span_parties *p);

/* Takes the names from a request. Returns the client that it names, to be passed on with its
 * response: the response to initialize is the first message of the session. */
const struct party *span_parties_request(struct span_parties *p,
                                         const struct operation_event *ev);
void span_parties_response(struct span_parties *p, const struct operation_event *ev,
                           const struct party *client);

/* Return the party of an operation; one with number 0 and empty texts if it is unknown. */
const struct party *span_parties_client(const struct span_parties *p,
                                        const struct operation *op);
const struct party *span_parties_server(const struct span_parties *p,
                                        const struct operation *op);
struct str span_parties_protocol(const struct span_parties *p, const struct operation *op);

#endif
