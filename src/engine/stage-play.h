/* engine/stage-play.h - a strand that is being played, for those who play it. */
#ifndef ENGINE_STAGE_PLAY_H
#define ENGINE_STAGE_PLAY_H

#include "engine/audience.h"
#include "engine/stage.h"

/* A strand under way for one live request. */
struct stage_play {
    struct stage_play *next;
    uint32_t op, step;             /* step: what comes next; 0: all was sent */
    uint64_t exchange;             /* that brought the live request; 0: none */
    struct str id, token, version; /* the live request's, as JSON; empty: none */
    struct str old_token;          /* the recorded client's, to be looked for; empty: none */
    struct str filter;             /* of a subscription, as JSON */
    struct str listens;            /* of a subscription: the recorded id, as a key */
    struct str topic;              /* that it is blocked by; empty: it is not */
    enum mcp_version asked;        /* what `version` means */
    enum audience_level level;     /* from which on it hears of logs */
    size_t questions;              /* asked and not yet answered */
    uint64_t timer;                /* that it waits for; 0: none */
    int64_t since_us;              /* when the latest thing happened in it */
    uint32_t since_ms;             /* when that was recorded */
    bool again;
    bool crosses;   /* it is of the older era, for a client of the newer one */
    bool waited;    /* what comes next has waited for its time */
    bool announced; /* something was sent that is to be read before the answer is */
    bool open;      /* a subscription that has not ended */
    bool listening; /* it was acknowledged */
    bool gone;      /* to be removed */
};

/* A question of the server's that the live client has not answered. */
struct stage_question {
    struct stage_play *play;
    uint32_t step;
    uint64_t timer;
};

#endif
