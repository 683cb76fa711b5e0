/* engine/match.h - which recorded request answers a live one.
 *
 * Recorded requests that a mode takes for the same stand in one queue, in recorded order;
 * a live request finds its queue by a hash, so that neither the size of the recording nor
 * that of the queue matters. What was found is then read and compared: a hash proves
 * nothing.
 *
 * One matcher serves any number of live clients: what each has used up is its own
 * (engine/spent.h). Each plays one recorded session, and borrows from the others what its
 * own does not have: first from those of its era. */
#ifndef ENGINE_MATCH_H
#define ENGINE_MATCH_H

#include "engine/fuzzy.h"
#include "engine/queues.h"
#include "engine/wording.h"
#include "mcp/message.h"

/* Every mode takes a recorded request with equal method and params first; sequential and fuzzy
 * look for another one only if there is none. */
enum match_mode {
    MATCH_SEQUENTIAL, /* else the oldest unused one of the same method and subject */
    MATCH_BY_REQUEST, /* no other */
    MATCH_FUZZY,      /* else the one of the same method and subject that is most alike */
    MATCH_STRICT,     /* as by request, and _meta counts */
};

/* When all that was recorded of a request has been given. Whatever is chosen, lists,
 * reads and the like give their last success again; only calls can run out. */
enum match_exhausted {
    EXHAUSTED_ERROR, /* calls miss */
    EXHAUSTED_LAST,  /* the last success again */
    EXHAUSTED_CYCLE, /* from the first on again; polls of a task never */
};

struct match_options {
    enum match_mode mode;
    enum match_exhausted exhausted;
    enum match_exhausted stateless; /* the same for requests that need no session */
    bool total;                     /* sequential: nothing may be passed over */
    bool any_method; /* sequential as mcp-recorder has it: the next one, whatever it is */
    struct leaf_rules rules;
};

enum match_outcome {
    MATCH_FOUND,
    MATCH_AGAIN,     /* all used up; this one is given once more */
    MATCH_EXHAUSTED, /* recorded, but used up; `used` is the latest of them */
    MATCH_NEVER,     /* nothing like it was recorded */
    MATCH_UNCROSSED, /* `op` is of the other era, and cannot be said in this: see session.c */
    MATCH_TOO_EARLY, /* total order: another one is to come first; `op` is that */
    MATCH_BROKEN,    /* the recording could not be read; `matcher.trouble` says why */
};

struct match {
    enum match_outcome outcome;
    uint32_t op;     /* with FOUND, AGAIN and TOO_EARLY */
    uint32_t passed; /* the oldest that was passed over; 0: none */
    uint32_t before; /* with `passed`: what is older than this was found before, or passed */
    uint32_t rival;  /* another one that is as much alike; 0: none */
    uint32_t blur;   /* another one that nothing but a redacted value tells from it; 0: none */
    bool anew;       /* AGAIN: a call that does again all it did, not only answer */
    bool borrowed;   /* from another session */
    bool differs;    /* its params are not those that were asked for */

    /* Of EXHAUSTED: the latest that was given, and whether the other ways to treat the
     * exhausted would have had an answer. Of TOO_EARLY: whether any other order would. */
    uint32_t used;
    bool by_last, by_cycle, by_order;
};

/* What is known already of the live request at hand. */
struct match_insight {
    bool keyed;
    uint32_t key;       /* all its params as a hash; if `keyed` */
    uint64_t hash;      /* their text as one; if `keyed` */
    uint32_t compared;  /* the recorded one that was compared with it last; 0: none */
    bool about;         /* it has the same subject */
    bool equal;         /* it has equal params */
    uint32_t same_text; /* one that is the same letter by letter but for its id; 0: none */
};

/* Queues that a live request may be found in: there are several only if parts of recorded
 * requests were redacted, and then the one where nothing was comes first. */
struct match_places {
    const struct queues *in; /* NULL: they are not those of the live request at hand */
    uint32_t session;
    bool wild;
    uint32_t *at;
    size_t count, cap;
};

struct matcher {
    const struct script *script; /* borrowed */
    struct match_options options;
    struct fuzzy *fuzzy; /* borrowed; fuzzy mode only */
    struct queues queues;
    struct queues equal; /* by params, if `queues` is not; made when it is needed first */
    struct leaves leaves;
    struct script_text text; /* the recorded request that is being compared */
    struct match_insight insight;
    struct match_places places; /* as of the last search */
    struct wording wording;
    struct err trouble;
};

/* The rules a script has to be written with. */
struct leaf_rules matcher_rules(enum match_mode mode, bool number_text);

/* For a script that is finished. */
void matcher_init(struct matcher *m, const struct script *script,
                  const struct match_options *options, struct fuzzy *fuzzy);
void matcher_release(struct matcher *m);

/* Finds, and marks as used. `session`: the recorded one this client plays. Requests of
 * the session (initialize, ping, …) are not the matcher's: they are never used up. */
struct match matcher_take(struct matcher *m, struct spent *spent, uint32_t session,
                          const struct mcp_message *live);

/* Recorded sessions that a client may be assigned to. */
struct match_sessions {
    const uint32_t *at; /* indices of recorded sessions */
    size_t count;
    size_t from;                /* all before it were played */
    const struct spent *played; /* by index of a session */
};

/* The first one not yet played that has a request with equal params, in total order as its
 * first request; `count`: there is none. Marks nothing. */
size_t matcher_find_session(struct matcher *m, const struct match_sessions *among,
                            const struct mcp_message *live);

/* Finds among those that were used up only: nothing new is to be told. */
struct match matcher_repeat(struct matcher *m, struct spent *spent, uint32_t session,
                            const struct mcp_message *live);

#endif
