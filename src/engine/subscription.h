/* engine/subscription.h - what a live client has subscribed to.
 *
 * A filter is the `notifications` of a subscriptions/listen: which changes it asks for.
 * A server sends nothing else on that subscription. */
#ifndef ENGINE_SUBSCRIPTION_H
#define ENGINE_SUBSCRIPTION_H

#include "mcp/message.h"

/* Whether a filter asks for a notification. What no filter can name passes. */
bool subscription_wants(struct json_val filter, const struct mcp_message *notification);

/* What a server that granted `granted` (JSON, as in its acknowledgement) grants who asks for
 * `filter`: the same text if all of it was asked for. Lives in `a` or in its argument. */
struct str subscription_grant(struct json_val filter, struct json_val granted, struct arena *a);

#endif
