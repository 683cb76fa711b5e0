/* engine/say.h - what an engine wishes, composed and put into its sink.
 *
 * `id`, `params`, `result` and `data` are JSON text. Borrows everything. What a sink
 * is handed lies in the one buffer here: a sink must not make the engine speak
 * again before it returns. */
#ifndef ENGINE_SAY_H
#define ENGINE_SAY_H

#include "base/buf.h"
#include "engine/step.h"

struct say {
    struct action_sink *out; /* borrowed */
    struct action_way way;   /* of the messages; whoever speaks sets it */
    struct buf text;
};

void say_init(struct say *s, struct action_sink *out);
void say_release(struct say *s);

void say_message(struct say *s, struct str message);
void say_request(struct say *s, struct str id, struct str method, struct str params);
void say_notification(struct say *s, struct str method, struct str params);
void say_result(struct say *s, struct str id, struct str result);

void say_begin(struct say *s);
void say_drop(struct say *s); /* a strand, if somebody on HTTP asked for it */

/* An empty `id` is null, empty `data` is left out. */
void say_error(struct say *s, struct str id, int64_t code, struct str message, struct str data);

void say_report(struct say *s, enum log_level level, const char *fmt, ...) PRINTF(3, 4);
void say_vreport(struct say *s, enum log_level level, const char *fmt, va_list ap);
void say_timer(struct say *s, uint64_t timer, int64_t delay_us);
void say_start_upstream(struct say *s);
void say_upstream(struct say *s, struct str message);
void say_finish(struct say *s, int exit_code);

#endif
