/* verify/rebind.h - keeps the values that the live server made, which later requests have in
 * place of the recorded ones: task ids, cursors, handles, URIs of a session.
 *
 * Learns from pairs of responses: a string of REBIND_LENGTH_MIN characters or more that differs
 * at the same path is bound, the recorded one to the live one. Cursors, task ids and request
 * states may be shorter; so may values at the paths of the user (`--rebind`), which may also be
 * numbers. JSON inside strings is searched, too, and the path continues there. Names in lists
 * of tools and prompts are not values of a session, and are never bound. Resources of a list
 * are paired by name.
 *
 * A value that the client sent before a response had it is the client's own, and is never
 * bound; neither is one that was a word of its texts. A value that would be bound, but whose
 * call failed or was not sent, is unavailable: requests that need it are blocked. The first
 * call whose response had it decides.
 *
 * The values of requests are noted before the responses come that may have them, as far ahead
 * as there is room. At most REBIND_MAX values of a kind are kept; the oldest go first, and are
 * counted.
 *
 * A bound value that a later recorded request has, and that looks generated, was made by the
 * server for the session, so that another live value is no difference (rebind_explains()). It
 * looks generated if it has no blank and, recorded or live, a digit or a capital behind a small
 * letter ("doc-81", "aBcXyz", not "Berlin" or "Top 10 widgets"), or if it is a cursor, task id,
 * request state, or at a path of the user. Without the default volatile set every difference
 * counts. Such a value is also found as a
 * word of a longer text: "opened handle-81", and at a path of the user "opened issue 81".
 *
 * A short string or a number that the live server returned differently, and that a later
 * request has, is not bound without a path of the user; rebind_propose() tells the path. */
#ifndef VERIFY_REBIND_H
#define VERIFY_REBIND_H

#include "base/map.h"
#include "mcp/compare-rules.h"

enum { REBIND_LENGTH_MIN = 6, REBIND_MAX = 100000, REBIND_PROPOSALS_MAX = 1000 };

/* Why a value is unavailable. */
struct rebind_loss {
    uint32_t call;    /* whose response would have had it */
    const char *fate; /* of the call: "failed"; a constant */
};

/* The knowledge about a recorded value. */
struct rebind_value {
    struct str live;         /* JSON; empty: unavailable */
    struct rebind_loss loss; /* why it is unavailable */
    bool generated;          /* it looks generated */
    bool used;               /* a request had it after it was bound */
    char text[];             /* storage of `live` */
};

struct rebind {
    struct map values;        /* key of a recorded value to struct rebind_value */
    struct map client_values; /* keys of values that the client made; the value is not used */
    struct map confirmed;     /* hashes of keys of values that later requests have, and that
                                 were in a live response; the same */
    struct map later;     /* hashes of keys of values in requests, those ahead included, to the
                             number of the last noted request that has it; in this order */
    uintptr_t noted;      /* requests that rebind_note_later() has seen */
    uintptr_t sent;       /* requests that rebind_note_request() has seen */
    struct map proposals; /* key of a recorded value that is not bound to the struct str of its
                             path, in `paths` */
    struct arena paths;
    const struct compare_rules *rules; /* borrowed; has the paths of the user */
    uint64_t dropped;                  /* values that were dropped because of the limit */
    struct arena arena;                /* for one call of a function below */
};

void rebind_init(struct rebind *r, const struct compare_rules *rules);
void rebind_release(struct rebind *r);

/* Notes the values of a recorded request that will be sent; to be called for all of them in
 * order, each one before rebind_note_request(), and as early as rebind_has_room() allows. */
void rebind_note_later(struct rebind *r, struct json_val params);

/* Returns whether another request can be noted without dropping values of those ahead. */
bool rebind_has_room(const struct rebind *r);

/* Notes the values of a recorded request that is about to be sent. */
void rebind_note_request(struct rebind *r, struct json_val params);

/* Binds values of the recorded response to those of the live one; both are whole messages. If
 * only one of them is an error, or the result of a tool that failed, nothing is bound. */
void rebind_learn(struct rebind *r, struct str method, struct json_val recorded,
                  struct json_val live);

/* Notes that the values of a response are available as they are: of the recorded response if
 * the live one is the same, else of the live one. */
void rebind_confirm(struct rebind *r, struct str method, struct json_val response);

/* Marks the values of the recorded response to a call that failed or was not sent as
 * unavailable, unless they are bound, confirmed or the client's. */
void rebind_lose(struct rebind *r, struct rebind_loss loss, struct str method,
                 struct json_val recorded);

/* Returns whether two values differ only because the live server made another one of a value
 * that later requests have. */
bool rebind_explains(struct rebind *r, struct json_val recorded, struct json_val live);

/* Returns the path of a response at which the live server returned another value in place of
 * one that the request has, and that is not bound: `--rebind PATH` would bind it. Empty: there
 * is none. */
struct str rebind_propose(struct rebind *r, struct json_val params);

/* Returns the knowledge about a value of a recorded request; NULL: it is sent as recorded. */
const struct rebind_value *rebind_find(struct rebind *r, struct json_val recorded);

#endif
