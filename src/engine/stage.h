/* engine/stage.h - strands of a script, played to one client.
 *
 * A strand starts when its request arrives and sends its messages in order, each as
 * early as it may: a question of the server's holds up what the recorded server
 * sent only after the answer; progress, and what goes to another stream, reach the
 * client a moment before the answer does; and with timing on each message waits as long
 * after the one before it as it did then. No strand waits for another. What the client minted
 * (ids, progress tokens, subscription ids, the revision it asked for) is put in as the live
 * client has it; every other byte is the recorded one. Knows nothing of how requests are
 * matched. */
#ifndef ENGINE_STAGE_H
#define ENGINE_STAGE_H

#include "base/buf.h"
#include "engine/say.h"
#include "engine/script.h"

struct review;

struct stage {
    struct say *say;             /* borrowed */
    const struct script *script; /* borrowed */
    struct review *review;       /* borrowed: told what becomes of questions, and tokens */
    double pace;                 /* recorded delays times this; 0: none */
    uint64_t *timers;            /* borrowed: the last that was set, by anybody */
    int64_t now_us;              /* whoever calls sets it */
    uint64_t exchange;           /* that brings what is heard; whoever calls sets it; or 0 */
    bool crosses;                /* what is played has to be put in the newer era's way */

    struct stage_play *plays; /* strands under way, in order of their requests */
    struct map asked;         /* id of a question to struct stage_question */
    struct buf capabilities;  /* the live client's, as JSON; empty: none */
    enum mcp_version version; /* that it agreed to; UNKNOWN: none yet */
    struct map heard;         /* method of a client's notification to how often it came */
    struct buf text;          /* what is being composed */
    struct script_text read;  /* the recorded message that is being sent */
    uint64_t answered, renamed;
    struct err trouble; /* ERR_OK, or why the recording could not be read */
};

void stage_init(struct stage *s, const struct script *script, struct say *say,
                struct review *review, double pace, uint64_t *timers);
void stage_release(struct stage *s);

/* A new session: the client can do what `capabilities` (its own object) says, and nothing
 * is under way, unless others are served on the stage, too. */
void stage_reset(struct stage *s, struct json_val capabilities, bool shared);

/* Starts a strand for a live request. `again`: it was played before, so only
 * progress and the answer are sent, or a client that reacts to a notification by
 * asking again would never come to rest. `live` may be NULL: nobody asked. */
void stage_play(struct stage *s, uint32_t op, const struct mcp_message *live, bool again);

/* What a strand can be blocked by, and since when by the clock of the recording. */
struct stage_block {
    struct str topic; /* empty: it is not */
    uint32_t since_ms;
};

/* The same, but nothing is sent before stage_unblock() has the same topic, or for a moment;
 * with timing on as long as it was sent after `since_ms`. */
void stage_play_blocked(struct stage *s, uint32_t op, const struct mcp_message *live,
                        bool again, struct stage_block block);

/* What has the same topic is blocked from now on for as long as if it began now. */
void stage_block(struct stage *s, struct stage_block block);

/* An empty topic is all of them. */
void stage_unblock(struct stage *s, struct str topic);

/* The live client answered a question; false: nobody had asked it. */
bool stage_hear_answer(struct stage *s, const struct mcp_message *live);

/* What the client was asked and has not answered, it never will: under one exchange, which it
 * cannot be asked on, or at all (0), as it says no more. What waits for that waits no longer.
 */
void stage_hear_silence(struct stage *s, uint64_t exchange);

void stage_hear_notification(struct stage *s, struct str method);
void stage_hear_cancel(struct stage *s, struct json_val id); /* it gave up a request */
void stage_hear_gone(struct stage *s, uint64_t exchange);    /* all that it brought */
void stage_hear_timer(struct stage *s, uint64_t timer);

/* From now on no time is let pass as it was recorded: what waits for that is sent. */
void stage_hurry(struct stage *s);

/* Whether a strand is under way and has not come past one of its steps yet. */
bool stage_has_before(const struct stage *s, uint32_t op, uint32_t step);

/* Whether an answer is still to be sent for which only time must pass. What else is due,
 * nobody waits for. */
bool stage_needs_time(const struct stage *s);

#endif
