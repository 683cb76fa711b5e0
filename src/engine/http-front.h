/* engine/http-front.h - servers on stdio, for any number of clients on HTTP.
 *
 * A stepper: requests and what servers say go in; answers, streams, messages for servers, and
 * the wish for one to start or end come out.
 *
 * A client that initializes gets a server of its own, and a session, which it is told the name
 * of with the answer. A DELETE ends both, and so does the server's own end: what is open is
 * answered with an error then, and the session is unknown from there on, so that its client
 * initializes again. Whoever speaks without a session shares a server with others like it: one
 * for each era, greeted by us. Whether the server speaks the era without sessions is asked of
 * it before the first such request is passed on; if it does not, the client is told what makes
 * it turn to the other one.
 *
 * There are so many servers and no more. Who needs another one then takes the place of the
 * session that has been idle longest, with nobody waiting for anything; if there is none it is
 * told to come back later. A server that is ending still counts: the
 * new one is started when that has ended, and what its client sends waits meanwhile.
 *
 * What a server says goes to the request it belongs to (engine/server-link.h). If that cannot
 * be told, it goes to the only request that is open; else to the stream that the client has
 * opened for such things; else, if it has opened none, to its oldest request; else it waits
 * for a stream, the latest so many. Changes of lists and the like, which no
 * request brings about, go to that stream first of all.
 *
 * Who GETs a path that ends in FRONT_ASK_SSE without a session speaks HTTP+SSE, as 2024-11-05
 * has it: that stream is a session, with a server of its own, and ends with it. Other paths do
 * not matter, but for those where clients look for other things (/.well-known/). */
#ifndef ENGINE_HTTP_FRONT_H
#define ENGINE_HTTP_FRONT_H

#include "engine/front-servers.h"

struct http_front_options {
    size_t max_servers;
    void (*random)(void *to, size_t size); /* bytes nobody can guess, for session ids */
    /* As mcp-recorder: a DELETE without a session is answered 200, and a notification without
     * one 502 if no server is left. */
    bool seed;
};

/* Whether the servers speak the era without sessions. */
enum http_front_modern { MODERN_UNKNOWN, MODERN_YES, MODERN_NO };

struct http_front {
    struct action_sink sink; /* takes what is said to clients */
    struct action_sink *out; /* borrowed */
    struct http_front_options options;
    struct http_turns turns;
    struct sse_sessions sse;
    struct front_servers servers;
    enum http_front_modern modern;
    struct buf versions;       /* that a modern server has named: a JSON array */
    struct http_params params; /* of its tools */
    struct json json;          /* the request at hand */
    struct arena arena;        /* for it */
    struct str own;            /* why what is said now is not a server's; empty: it is */
    bool closed;
    int64_t now_us;
};

void http_front_init(struct http_front *f, const struct http_front_options *options,
                     struct action_sink *out);
void http_front_release(struct http_front *f);

/* EVENT_OPENED: a first server is started, so that it is known soon if none can be.
 * EVENT_REQUEST, EVENT_GONE, EVENT_TIMER, EVENT_UPSTREAM…; EVENT_CLOSED: it is to end. */
void http_front_step(struct http_front *f, const struct event *ev);

/* The session that a server is for, as it is numbered; 0: none, or none yet. */
uint64_t http_front_session(const struct http_front *f, uint64_t server);

#endif
