/* replay/client-filter.h - decides which recorded server messages a live client gets.
 *
 * Notifications by the filter of its subscription (the `notifications` of
 * subscriptions/listen), server requests by its capabilities and protocol version, log messages
 * by the level that it requests. Holds no state. */
#ifndef REPLAY_CLIENT_FILTER_H
#define REPLAY_CLIENT_FILTER_H

#include "mcp/message.h"
#include "mcp/method.h"

/* Whether a filter asks for a notification. True for a notification that no filter can name. */
bool client_filter_wants(struct json_val filter, const struct mcp_message *notification);

/* Returns the part of `granted` (JSON, from a recorded acknowledgement) that `filter` asks for:
 * the same text if that is all of it. Lives in `a` or in `granted`. */
struct str client_filter_grant(struct json_val filter, struct json_val granted,
                               struct arena *a);

/* Whether a client supports a server request. `capabilities` is the client's object, as JSON;
 * `version` may be unknown. */
bool client_filter_supports_request(struct str capabilities, enum mcp_version version,
                                    struct str method, struct json_val params);

/* Level of a log message, and the lowest level that a client gets. In the stateless protocol a
 * request says from which level on it wants logs; in the stateful one the server decides. */
enum client_log_level {
    CLIENT_LOG_ALL = 0,
    CLIENT_LOG_DEBUG,
    CLIENT_LOG_EMERGENCY = CLIENT_LOG_DEBUG + 7,
    CLIENT_LOG_NONE,
};

/* Returns the lowest level that a request with this _meta wants; CLIENT_LOG_ALL in the stateful
 * protocol. */
enum client_log_level client_filter_log_level(struct json_val meta);

/* Whether a message is no log message, or has at least that level. One of unknown level goes to
 * every client that gets logs. */
bool client_filter_accepts_log(enum client_log_level from, struct json_val message);

#endif
