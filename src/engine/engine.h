/* engine/engine.h - the interface between an engine and its driver: events in, actions out.
 *
 * An engine does no I/O and asks no clock. The driver performs the actions in order and reports
 * their outcome as events; each event carries the time it happened. An engine that has put
 * ACTION_FINISH may still get events.
 *
 * Every pointer and string in an event or action is borrowed for the call, unless noted. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/log.h"
#include "trace/record.h"
#include "wire/headers.h"
#include "wire/origin.h"

enum event_kind {
    EVENT_OPENED,       /* the other side is connected */
    EVENT_RECORD,       /* the other side sent `record` */
    EVENT_TIMER,        /* the delay of ACTION_SET_TIMER `timer` is over */
    EVENT_INPUT_CLOSED, /* the other side will send nothing more */

    /* For an engine that put ACTION_START_UPSTREAM: */
    EVENT_UPSTREAM_RECORD, /* the upstream server sent `record` */
    EVENT_UPSTREAM_CLOSED, /* the server ended, or could not be started: `why` */
    EVENT_UPSTREAM_LOST,   /* the server is unreachable now, or lost our session: `why` */

    /* For an engine with HTTP clients: */
    EVENT_HTTP_REQUEST,  /* a client sent all of `request`, and waits for the response */
    EVENT_CLIENT_CLOSED, /* the client of `exchange` is gone. For an engine that is an HTTP
                          * client: stop waiting for the server, with `why` as the error of
                          * open requests if it is not empty
                          */

    /* For an engine that is the client of an HTTP server: */
    EVENT_CLIENT_LINE,    /* `text` is a line for the server */
    EVENT_REQUEST_SENT,   /* the HTTP request of `exchange` is sent completely */
    EVENT_RESPONSE_HEAD,  /* its response begins, with `status` and `headers` */
    EVENT_RESPONSE_DATA,  /* `text` is a piece of the response's body */
    EVENT_RESPONSE_END,   /* the response is complete */
    EVENT_REQUEST_FAILED, /* no response, or no more of it, will come: `why` */
};

/* An HTTP request from a client. The body is borrowed until the engine returns from the event,
 * the rest until it has responded. */
struct event_request {
    struct str method, path;
    const struct headers *headers;
    enum origin_kind host, origin;
    struct str body;
    struct str query; /* `at` is NULL without one */
};

struct event {
    enum event_kind kind;
    int64_t now_us;
    const struct record *record; /* EVENT_RECORD, EVENT_UPSTREAM_RECORD */
    uint64_t timer;              /* EVENT_TIMER: number of the timer */
    struct str why;              /* for the kinds that name `why` above */
    uint64_t server;             /* upstream events, if the engine has several servers */
    uint64_t exchange;           /* HTTP events: number of the exchange; not 0, never reused */
    bool shutting_down;          /* EVENT_INPUT_CLOSED: mcpreel is to exit soon */
    const struct event_request *request; /* EVENT_HTTP_REQUEST */
    struct str text;                     /* EVENT_CLIENT_LINE, EVENT_RESPONSE_DATA */
    unsigned status;                     /* EVENT_RESPONSE_HEAD */
    const struct headers *headers;       /* EVENT_RESPONSE_HEAD */
};

enum action_kind {
    ACTION_SEND,      /* send the message `text`, without newline, to the other side */
    ACTION_REPORT,    /* log `text` with `level` */
    ACTION_SET_TIMER, /* send an EVENT_TIMER with `timer` after `delay_us` */
    ACTION_FINISH,    /* exit with `exit_code` once everything is sent */

    ACTION_START_UPSTREAM, /* start the upstream server; at most once for each */
    ACTION_SEND_UPSTREAM,  /* send the message `text` to it */
    ACTION_END_UPSTREAM,   /* end it; it is not needed any more */
    ACTION_UNDELIVERED,    /* the server's message `text` goes to no client; `by_mcpreel`: it
                            * answers a request of the engine
                            */

    /* Only with HTTP clients: */
    ACTION_CALL_STARTED, /* the recorded call `seq` is played as the response to `exchange` */
    ACTION_CANCELLED,    /* one of the responses that `exchange` waits for will not come */

    /* Respond to `exchange`. ACTION_HTTP_RESPONSE and ACTION_STREAM_END end the exchange. */
    ACTION_HTTP_RESPONSE, /* send `status`, `headers` and the whole body `text` */
    ACTION_STREAM_OPEN,   /* begin an SSE stream with `headers` */
    ACTION_STREAM_WRITE,  /* send the bytes `text` on it */
    ACTION_STREAM_END,

    /* For an engine that is the client of an HTTP server: */
    ACTION_HTTP_REQUEST, /* send `request` as `exchange`: not 0, never reused */
    ACTION_HTTP_ABORT,   /* abort `exchange` and report no more events of it: its response is
                          * not needed, or invalid for the reason `text`
                          */
    ACTION_INVALID_RESPONSE, /* `exchange`, whose EVENT_RESPONSE_END is being handled, got an
                              * invalid response: `text` is the reason
                              */
};

/* An HTTP request to the server. */
struct action_request {
    struct str method, target;
    struct headers headers;
    struct str body; /* `at` is NULL without one */
};

/* The call that a message belongs to, for clients with more than one stream. */
struct route {
    uint64_t exchange; /* exchange of the request; 0: none */
    uint32_t seq;      /* sequence number of the recorded request; 0: none */
    uint32_t step;     /* step of the index that is played; 0: none */
    bool other_stream; /* the message was recorded on another stream than its request's */
    bool is_final;     /* the message is the response */
    bool is_request;   /* the message is a server request whose response is awaited */
};

struct action {
    enum action_kind kind;
    struct str text;
    struct route route; /* ACTION_SEND, ACTION_CALL_STARTED; HTTP actions set `exchange` only */
    unsigned status;
    const struct headers *headers;
    /* ACTION_HTTP_RESPONSE, ACTION_STREAM_WRITE: the engine composed it, no server sent it.
     * ACTION_SEND_UPSTREAM: the engine composed it, no client sent it. */
    bool by_mcpreel;
    struct str why;  /* with `by_mcpreel`, if the exchange ends by it: the reason */
    uint64_t server; /* upstream actions, if the engine has several servers */
    const struct action_request *request; /* ACTION_HTTP_REQUEST */
    enum log_level level;
    uint64_t timer; /* not 0, never reused */
    int64_t delay_us;
    int exit_code;
};

/* Performs the actions. */
struct action_sink {
    void (*put)(struct action_sink *self, const struct action *a);
};

#endif
