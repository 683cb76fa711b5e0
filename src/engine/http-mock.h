/* engine/http-mock.h - a server made of a recording, for any number of clients on HTTP.
 *
 * A stepper: requests go in, answers and streams come out. A client that initializes gets a
 * session of its own, if the recorded server gave sessions out or was not on HTTP at all;
 * everybody else shares one, as there is nothing to tell them apart by. What an answer says
 * is for engine/session.h; here is decided how it is sent: as JSON or as a stream, as it was
 * recorded unless the client does not take that; with which status; primed and cut off for
 * those who know what that means; and where messages go that answer nothing.
 *
 * Who asks for a stream at the path that the recorded server had for HTTP+SSE, or at
 * HTTP_SCRIPT_SSE_PATH, and names no session, gets one of that kind (engine/sse-sessions.h). At
 * the recorded path nobody is served who posts there, if the recorded server did not.
 *
 * With mcp-recorder's behaviour (`mock.recorder`) session ids are given out but neither
 * required nor checked, and every DELETE is answered 200.
 *
 * There is room for HTTP_MOCK_CLIENTS sessions; whoever comes then takes the place of the
 * oldest, whose client is told to initialize again.
 *
 * Other paths do not matter, but for those where clients look for other things (/.well-known/).
 */
#ifndef ENGINE_HTTP_MOCK_H
#define ENGINE_HTTP_MOCK_H

#include "engine/http-answer.h"
#include "engine/mock.h"
#include "engine/script-event.h"
#include "engine/sse-sessions.h"
#include "engine/unheard.h"

#define HTTP_MOCK_CLIENTS ((size_t)32768)

struct http_mock_options {
    struct mock_options mock;
    void (*random)(void *to, size_t size); /* bytes nobody can guess, for session ids */
};

/* One who has a session, or all who share one. */
struct http_mock_client {
    uint64_t number; /* 0: of those who share one */
    struct mock_client *of;
    struct session *session;
    char id[SESSION_ID_LEN + 2];
    struct http_stream *ear; /* for what answers nothing; NULL: it does not listen */
    struct unheard unheard;
    struct sse_session *sse; /* it speaks HTTP+SSE: all goes there; NULL: it does not */
};

/* An exchange that is not over. */
struct http_mock_call {
    uint64_t number;
    struct http_mock_client *client;
    struct http_stream *stream; /* NULL: nothing was said yet */
    const struct http_fact *fact;
    const struct http_beat *beat; /* of it, that comes next; NULL: none */
    size_t owed;                  /* answers; 0: it only listens */
    bool listens;
    bool modern, batch;
    bool takes_json, takes_sse;
    bool gone;                /* the client has closed */
    enum mcp_version version; /* that its client speaks */
    struct buf answers;       /* of a batch */
};

struct http_mock {
    struct action_sink sink; /* takes what the sessions wish */
    struct action_sink *out; /* borrowed */
    struct http_mock_options options;
    const struct http_script *http; /* borrowed */
    struct http_rules rules;
    struct mock mock;
    struct session_ids ids;
    struct map clients; /* number of a session to struct http_mock_client */
    struct http_mock_client *shared;
    struct http_mock_client *at;     /* whose turn it is; NULL: nobody's */
    struct http_mock_client *passed; /* whose request the server behind was asked last */
    uint64_t unasked;                /* exchange whose client cannot be asked; 0: none */
    struct map calls;                /* number of an exchange to struct http_mock_call */
    struct http_mock_call *newest;   /* of them, if it is there still */
    struct map timers;               /* to the number of the session, + 1 */
    struct http_streams streams;
    struct sse_sessions sse; /* whose `user` is a client */
    struct json json;        /* the request at hand */
    struct arena arena;      /* for it */
    struct arena lasting;    /* for as long as the mock */
    struct http_answer answer;
    uint64_t refused; /* requests that were wrong by the rules */
    uint64_t odd;     /* that were answered as recorded, wrong as they were */
    int64_t now_us;
};

/* `http` stood before `script` when the recording was read. */
void http_mock_init(struct http_mock *m, const struct script *script,
                    const struct http_script *http, struct fuzzy *fuzzy,
                    const struct http_mock_options *options, struct action_sink *out);
void http_mock_release(struct http_mock *m);

/* EVENT_REQUEST, EVENT_GONE, EVENT_TIMER, EVENT_UPSTREAM…; EVENT_CLOSED: it is to end. */
void http_mock_step(struct http_mock *m, const struct event *ev);

#endif
