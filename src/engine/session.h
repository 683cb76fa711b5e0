/* engine/session.h - one live client of a mock.
 *
 * Is assigned one recorded session by its first matched request (engine/casting.h); what it
 * has used up starts afresh with each initialize. A request that needs no session is answered
 * from those of its era first, and what they have used up is the same for all clients that have
 * none. initialize, server/discover, ping and notifications are answered for any client and use
 * nothing up. A request the recording has no answer for gets an error that says what is nearest
 * to it, or goes to the server behind the recording. */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include "engine/casting.h"
#include "engine/match.h"
#include "engine/other-era.h"
#include "engine/review.h"
#include "engine/stage.h"
#include "engine/upstream.h"

enum session_on_miss {
    ON_MISS_ERROR, /* an error, and the end of all unless `fail_at_end` */
    ON_MISS_WARN,  /* an error, and on it goes */
    ON_MISS_PASS,  /* the server behind the recording answers */
};

/* What all clients of a mock have in common. */
struct session_host {
    const struct script *script;
    struct matcher *matcher;
    struct review *review;
    struct upstream *upstream;
    struct say *say;
    enum session_on_miss on_miss;
    bool fail_at_end; /* goes on after a miss, and ends with exit code 1 */
    bool recorder;    /* errors in the words of mcp-recorder */
    double pace;
    uint64_t timers; /* set so far */
    struct casting casting;
    struct spent stateless; /* by requests that need no session */
    uint32_t discover;      /* recorded answer to it; 0: none */
    uint32_t ping[2];       /* the same in the older era and in the newer one */
    uint64_t unserved;      /* clients that were refused, and got nothing since */
    bool stranger;          /* so was one that nothing tells from the others */
    struct other_era era;   /* what was told of them */
    int exit_code;          /* to end with */
    bool over;              /* a miss has ended it */
};

struct session {
    struct session_host *host; /* borrowed, as all in it */
    struct stage stage;
    struct spent spent;
    uint32_t plays;         /* index of the recorded session; until `assigned` the next one's */
    bool assigned;          /* set by the first matched request, cleared by initialize */
    bool greeted;           /* set by initialize */
    enum mcp_version asked; /* the version it requests; once `greeted` */
    bool stateless;         /* the request at hand needs no session */
    bool shared;            /* by clients that nothing tells apart */
    bool refused; /* it speaks of another era than the recording, and got nothing so far */
    bool left;    /* the client says no more */
    bool blurred; /* it was told that what was redacted would have told requests apart */
    struct arena arena; /* for one message */
};

void session_host_init(struct session_host *h); /* once the rest of it is filled in */
void session_host_release(struct session_host *h);

void session_init(struct session *s, struct session_host *host);
void session_release(struct session *s);

/* The client is there: what the server said before anybody asked. */
void session_open(struct session *s, int64_t now_us);
void session_hear(struct session *s, const struct record *r, int64_t now_us);

/* The same of a value that an exchange brought, and what it is as a message. */
void session_hear_value(struct session *s, uint64_t exchange, struct json_val v,
                        const struct mcp_message *as, int64_t now_us);

/* The client says no more. `hurry`: and gets at once what would only come later. */
void session_close(struct session *s, bool hurry, int64_t now_us);

/* Over HTTP: nobody waits any longer for what an exchange asked for; or somebody does, but has
 * no stream to be asked on. */
void session_gone(struct session *s, uint64_t exchange, int64_t now_us);
void session_unasked(struct session *s, uint64_t exchange, int64_t now_us);
void session_timer(struct session *s, uint64_t timer, int64_t now_us);

#endif
