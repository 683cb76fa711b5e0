/* engine/actions.h - composes an engine's actions and puts them into its sink.
 *
 * `id`, `params`, `result` and `data` are JSON text. Everything is borrowed. There is one
 * buffer for composed messages: the sink must not make the engine compose another one before it
 * returns. */
#ifndef ENGINE_ACTIONS_H
#define ENGINE_ACTIONS_H

#include "base/buf.h"
#include "engine/engine.h"

struct actions {
    struct action_sink *out; /* borrowed */
    struct route route;      /* route of the messages that follow; set by the caller */
    struct buf text;         /* the message being composed */
};

void actions_init(struct actions *s, struct action_sink *out);
void actions_release(struct actions *s);

/* Puts an action into the sink as it is. */
static inline void actions_put(struct actions *s, const struct action *a)
{
    s->out->put(s->out, a);
}

/* Send a message to the other side: `message` as it is, or one that is composed here. */
void actions_send(struct actions *s, struct str message);
void actions_send_request(struct actions *s, struct str id, struct str method,
                          struct str params);
void actions_send_notification(struct actions *s, struct str method, struct str params);
void actions_send_result(struct actions *s, struct str id, struct str result);

/* An empty `id` is sent as null, empty `data` is left out. */
void actions_send_error(struct actions *s, struct str id, int64_t code, struct str message,
                        struct str data);

/* Report the start or the cancellation of the recorded call in `route`. Neither does anything
 * for a call that did not come over HTTP. */
void actions_call_started(struct actions *s);
void actions_call_cancelled(struct actions *s);

void actions_report(struct actions *s, enum log_level level, const char *fmt, ...) PRINTF(3, 4);
void actions_vreport(struct actions *s, enum log_level level, const char *fmt, va_list ap);
void actions_set_timer(struct actions *s, uint64_t timer, int64_t delay_us);
void actions_start_upstream(struct actions *s);
void actions_send_upstream(struct actions *s, struct str message);
void actions_finish(struct actions *s, int exit_code);

#endif
