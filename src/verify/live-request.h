/* verify/live-request.h - makes the live text of a recorded client message: own id and progress
 * token, values that the live server made, secrets in place of their placeholders. Every other
 * byte stays.
 *
 * A message that cannot be made has a reason: a value is missing because the call that should
 * have told it failed or was not sent (blocked), or a redacted value is unknown (skipped). */
#ifndef VERIFY_LIVE_REQUEST_H
#define VERIFY_LIVE_REQUEST_H

#include "base/buf.h"
#include "verify/rebind.h"

/* Returns whether the value of [REDACTED:NAME] is known and may be sent, and sets `*value`;
 * else may set `*why` to a sentence. */
typedef bool live_request_secret_fn(void *arg, struct str name, struct str *value,
                                    struct str *why);

enum live_request_outcome {
    LIVE_REQUEST_MADE,
    LIVE_REQUEST_BLOCKED, /* `loss` */
    LIVE_REQUEST_SKIPPED, /* `reason` */
};

struct live_request {
    struct rebind *rebind; /* borrowed */
    live_request_secret_fn *secret;
    void *arg;
    struct buf text;         /* the message, of LIVE_REQUEST_MADE */
    struct buf reason;       /* a sentence, of LIVE_REQUEST_SKIPPED */
    struct rebind_loss loss; /* of the needed value, of LIVE_REQUEST_BLOCKED */
    uint64_t rebound;        /* values that were replaced, in all messages */

    /* Internal, while a message is made. */
    struct json_val root;
    struct str id;
    size_t copied; /* bytes of the recorded text that are in `text` */
    enum live_request_outcome outcome;
    struct arena arena;
};

void live_request_init(struct live_request *q, struct rebind *rebind,
                       live_request_secret_fn *secret, void *arg);
void live_request_release(struct live_request *q);

/* Makes the live text of a request or notification. `id` (JSON) replaces the id of a request,
 * its progress token, and the requestId of notifications/cancelled; empty: these stay. */
enum live_request_outcome live_request_make(struct live_request *q, struct json_val recorded,
                                            struct str id);

#endif
