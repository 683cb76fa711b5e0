/* engine/upstream.h - a real server behind the recording, for what was not recorded.
 *
 * Started when it is first needed, and greeted with the live client's own initialize:
 * it has to know whom it talks to. Requests go to it under ids of our own; what it sends
 * goes to the client, its answers and its progress under the client's ids and tokens, its
 * questions under ids of ours. Several clients may share it: what is not said to one of
 * them goes with the oldest request that waits. Nothing of it is recorded. Pure: it wishes for
 * a start and for messages to be sent, and is told what came.
 *
 * One that is started is gone for good when it ends. One that is elsewhere may only be down:
 * whoever asks then gets an error that says why, and with the next request it is greeted
 * again, unless a greeting is still to be answered: then it is that which is waited for. What
 * went wrong is told once, until it answers.
 *
 * It is given a minute to answer its greeting. After that it may take its time, but not in
 * silence: if it owes an answer, waits for none of the client's and says nothing for five
 * minutes, it counts as gone. */
#ifndef ENGINE_UPSTREAM_H
#define ENGINE_UPSTREAM_H

#include "base/map.h"
#include "engine/say.h"
#include "mcp/message.h"
#include "trace/recall.h"

enum upstream_state { UPSTREAM_IDLE, UPSTREAM_GREETING, UPSTREAM_READY, UPSTREAM_GONE };

struct upstream {
    struct say *say;  /* borrowed */
    uint64_t *timers; /* borrowed: the last that was set, by anybody */
    enum upstream_state state;
    struct upstream_call *calls; /* forwarded and not answered, the oldest first */
    struct buf hello;            /* params of the live client's initialize; empty: none */
    struct map questions;        /* our id of a question of its to it; owned */
    struct recall called_off;    /* those of our ids whose answer it waits for no more */
    struct map told;             /* what went wrong since it last answered */
    struct arena arena;          /* for one message */
    struct buf text;
    uint64_t last_id;
    uint64_t forwarded;
    uint64_t watch; /* timer: it must have said something by then; 0: none */
    bool heard;     /* it has, or was given something to do, since that was set */
    bool failed;    /* it could not be started or spoken to, or somebody went without it */
    bool returns;   /* it is elsewhere */
    bool started;
    bool greeted; /* and has not answered that yet, nor anybody in its place */
    bool doubted; /* it may not know us any more */
};

/* `returns`: the server is not one that is started, but elsewhere. */
void upstream_init(struct upstream *u, struct say *say, uint64_t *timers, bool returns);
void upstream_release(struct upstream *u);

/* The live client has said who it is. */
void upstream_note_greeting(struct upstream *u, const struct mcp_message *live);

/* A request the recording has no answer for. `modern`: one that needs no greeting. `of` is
 * whoever asks, and only compared; the way of the answer is that of `say` now. */
void upstream_forward(struct upstream *u, const struct mcp_message *live, bool modern,
                      const void *of);

/* What a client says about what it was passed on; false: it is not about that. */
bool upstream_hear_answer(struct upstream *u, const struct mcp_message *live);
bool upstream_hear_cancel(struct upstream *u, const struct mcp_message *live, const void *of);

/* Nobody waits any longer for what `of` asked with an exchange; 0: with any. */
void upstream_forget(struct upstream *u, const void *of, uint64_t exchange);

/* Whoever waits with that exchange cannot be asked what it was to be asked: the server is told,
 * and asks others first from then on. */
void upstream_unasked(struct upstream *u, const void *of, uint64_t exchange);

/* Any other notification of the client's: a server that is there hears it, too. */
void upstream_hear_notification(struct upstream *u, const struct mcp_message *live);

/* What came from it. */
void upstream_hear(struct upstream *u, const struct record *r);
void upstream_closed(struct upstream *u, struct str why);

/* It could not be reached, or has forgotten us; whoever waits is told that next, by itself. */
void upstream_lost(struct upstream *u, struct str why);

bool upstream_hear_timer(struct upstream *u, uint64_t timer); /* false: it is not its */

/* Nobody waits for it any longer: what it owes is answered with errors. */
void upstream_give_up(struct upstream *u, struct str why);

/* What is forwarded from now on is answered with an error. */
static inline bool upstream_is_gone(const struct upstream *u)
{
    return u->state == UPSTREAM_GONE;
}

/* Whether the client still waits for an answer of its. */
static inline bool upstream_owes(const struct upstream *u)
{
    return u->calls != NULL;
}

#endif
