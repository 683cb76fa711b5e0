/* engine/http-turns.h - requests over HTTP that wait for what a server says, and how it gets
 * to them.
 *
 * An answer is JSON if nothing has to be said before it and the client takes that; else it is
 * a stream of events, which begins with the first thing that is said. A stream whose client
 * may come back has ids and is kept while nobody hears it; who comes back has what it missed,
 * and the turn goes on under its name.
 *
 * Whose turn it is, and what is said, is for others to know. */
#ifndef ENGINE_HTTP_TURNS_H
#define ENGINE_HTTP_TURNS_H

#include "engine/http-answer.h"

struct http_turn {
    uint64_t name;              /* the exchange that brought the request */
    void *of;                   /* the owner's */
    struct http_stream *stream; /* NULL: nothing was said yet */
    size_t owed;                /* answers; 0: it only listens */
    bool takes_json, takes_sse;
    bool gone;          /* nobody is there */
    uint64_t cut;       /* events of the stream that were sent to somebody when it went */
    struct buf answers; /* of a batch */

    /* The owner's to set, before anything is said. */
    uint64_t session;      /* whose the stream is; 0: nobody's in particular */
    struct str session_id; /* for the header of the answer; borrowed; empty: none */
    bool modern;           /* the status of an answer goes by its error */
    bool batch;            /* the answers are one array */
    bool has_ids;          /* its events have */
    bool primes;           /* its client knows events without a message */
};

struct http_turns {
    struct map open;  /* name to struct http_turn */
    struct map moved; /* another exchange on which one goes on, to its name */
    struct http_streams streams;
    struct http_answer answer;
};

void http_turns_init(struct http_turns *t, struct action_sink *out);
void http_turns_release(struct http_turns *t);

/* A request has come, from a client that takes this. */
struct http_turn *http_turns_new(struct http_turns *t, uint64_t exchange,
                                 const struct media_accept *accept, void *of);
struct http_turn *http_turns_find(const struct http_turns *t, uint64_t name);

/* Whether something can be said before the answer. */
bool http_turns_can_say(const struct http_turn *x);
void http_turns_say(struct http_turns *t, struct http_turn *x, struct str message);

/* One of the answers that are owed; after the last one the turn is over. */
void http_turns_answer(struct http_turns *t, struct http_turn *x, struct str message);

/* The stream begins now, though nothing is said yet. */
void http_turns_listen(struct http_turns *t, struct http_turn *x);

/* The turn that goes on after an event of that session's, on another exchange; NULL: the
 * event is not known, and nothing was done. `*over`: there was nothing to go on with but what
 * was missed, which has been sent. */
struct http_turn *http_turns_resume(struct http_turns *t, uint64_t session, struct str event,
                                    uint64_t exchange, struct str session_id, bool *over);

/* The same for whoever does not know where it was: after what was sent when it went. */
void http_turns_rejoin(struct http_turns *t, struct http_turn *x, uint64_t exchange);

/* The client of an exchange has gone; whose turn it was, which waits for it; NULL: nobody's. */
struct http_turn *http_turns_gone(struct http_turns *t, uint64_t exchange);

/* It ends here: as refused if nothing was said yet, else as it is. */
void http_turns_refuse(struct http_turns *t, struct http_turn *x, const struct http_verdict *v,
                       struct str id);

/* It is over for everybody. */
void http_turns_drop(struct http_turns *t, struct http_turn *x);

#endif
