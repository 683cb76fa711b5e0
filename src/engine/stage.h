/* engine/stage.h - strands of a script, played to one client.
 *
 * A strand starts when its request arrives and sends its messages in order, each as
 * early as it may: a question of the server's holds up what the recorded server
 * sent only after the answer, and progress reaches the client a moment before the
 * answer does. What the client minted (ids, progress tokens, the
 * revision it asked for) is put in as the live client has it; every other byte is
 * the recorded one. Knows nothing of how requests are matched. */
#ifndef ENGINE_STAGE_H
#define ENGINE_STAGE_H

#include "base/buf.h"
#include "engine/say.h"
#include "engine/script.h"

struct stage {
    struct say say;
    struct stage_play *plays; /* strands under way, in order of their requests */
    struct map asked;         /* id of a question to the strand that waits for it */
    struct buf capabilities;  /* the live client's, as JSON; empty: none */
    struct buf text;          /* what is being composed */
    struct json json;         /* the recorded message that is being sent */
    struct arena arena;       /* for one message */
    uint64_t answered, renamed;
    uint64_t timers;  /* set so far */
    struct map heard; /* method of a client's notification to how often it came */
};

void stage_init(struct stage *s, struct action_sink *out);
void stage_release(struct stage *s);

/* A new session: nothing is under way, the client can do what `capabilities` (its
 * own object) says. */
void stage_reset(struct stage *s, struct json_val capabilities);

/* Starts a strand for a live request. `again`: it was played before, so only
 * progress and the answer are sent, or a client that reacts to a notification by
 * asking again would never come to rest. `live` may be NULL: nobody asked. */
void stage_play(struct stage *s, const struct script_op *op, const struct mcp_message *live,
                bool again);

/* The live client answered a question; false: nobody had asked it. */
bool stage_hear_answer(struct stage *s, struct json_val id);

void stage_hear_notification(struct stage *s, struct str method);
void stage_hear_cancel(struct stage *s, struct json_val id); /* it gave up a request */
void stage_hear_timer(struct stage *s, uint64_t timer);

/* Whether something is still to be sent for which only time must pass. */
bool stage_needs_time(const struct stage *s);

/* Answers that come from no recording; `id`, `result` and `data` are JSON. */
void stage_send_error(struct stage *s, struct str id, int64_t code, struct str message,
                      struct str data);
void stage_send_result(struct stage *s, struct str id, struct str result);

void stage_report(struct stage *s, enum log_level level, const char *fmt, ...) PRINTF(3, 4);

#endif
