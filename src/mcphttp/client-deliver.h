/* mcphttp/client-deliver.h - delivers the server's messages to the client, and errors for
 * requests that failed.
 *
 * Every message goes to the client as it came. A response completes its pending request; the
 * session learns the negotiated version and the Mcp-Param headers of tools from it. An error
 * without id gets the id of the only request that its exchange carries; if there is no such
 * request, it is logged. The response to a tools/list of mcphttp/client-schemas.h is not
 * delivered.
 *
 * The caller says which exchange a text came on, and adds the requests to `pending`. */
#ifndef MCPHTTP_CLIENT_DELIVER_H
#define MCPHTTP_CLIENT_DELIVER_H

#include "mcphttp/client-exchange.h"
#include "mcphttp/client-pending.h"
#include "mcphttp/client-schemas.h"
#include "mcphttp/client-session.h"
#include "trace/parse-messages.h"

struct client_deliver {
    struct sink sink; /* gets the parsed messages; must be first */
    struct message_parser parser;
    struct actions *actions;          /* borrowed */
    struct client_session *session;   /* borrowed */
    struct arena *arena;              /* borrowed; cleared by the caller */
    struct client_exchange *exchange; /* the text being delivered came on it */
    struct client_pending pending;
    bool initializing; /* set by the caller with initialize; cleared by its response or error */
};

void client_deliver_init(struct client_deliver *t, struct actions *actions,
                         struct client_session *session, struct arena *arena);
void client_deliver_release(struct client_deliver *t);

/* Delivers the data of an SSE event, or any other text that may be a message. */
void client_deliver_text(struct client_deliver *t, struct client_exchange *exchange,
                         struct str text);

/* Parses `text` without delivering it. */
enum parse_kind client_deliver_classify(struct client_deliver *t, struct str text);

/* For the text classified last, which must be a message: the message, and whether it is the
 * response to a request that `exchange` carries. */
struct mcp_message client_deliver_message(const struct client_deliver *t);
bool client_deliver_is_response(const struct client_deliver *t,
                                const struct client_exchange *exchange);

/* Delivers the text classified last, which must be a message or a batch. */
void client_deliver_classified(struct client_deliver *t, struct client_exchange *exchange);

/* Sends an error for each pending request of `carrier`, and logs it. `status` is the HTTP
 * status for the error's data; 0: none. */
void client_deliver_fail(struct client_deliver *t, const void *carrier, unsigned status,
                         struct str why);

/* Sends an error for all pending requests, and logs one line. */
void client_deliver_fail_all(struct client_deliver *t, struct str why);

#endif
