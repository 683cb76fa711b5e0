/* engine/step.h - how an engine is driven: events in, wishes out, no I/O.
 *
 * Whoever drives it does what the actions say, in order, and feeds back what comes
 * of it. The time of an event is part of the event. An engine that has finished may still
 * be told what its peers do. */
#ifndef ENGINE_STEP_H
#define ENGINE_STEP_H

#include "base/log.h"
#include "trace/record.h"
#include "wire/fields.h"
#include "wire/place.h"

enum event_kind {
    EVENT_OPENED, /* a peer is there */
    EVENT_RECORD, /* it sent this */
    EVENT_TIMER,  /* the time of an ACTION_SET_TIMER has come */
    EVENT_CLOSED, /* it will send nothing more */

    /* Of an engine that has asked for a server behind it: */
    EVENT_UPSTREAM,        /* the server sent this */
    EVENT_UPSTREAM_CLOSED, /* it is gone, or could not be started: `why` */
    EVENT_UPSTREAM_LOST,   /* it could not be reached just now, or has forgotten us: `why` */

    /* Of an engine whose peers are on HTTP: */
    EVENT_REQUEST, /* one of them sent all of `request`, and waits for the answer */
    EVENT_GONE,    /* it does not wait any longer; a speaker's may not, for a `why` */

    /* Of an engine that is the client of a server on HTTP: */
    EVENT_SAY,    /* `text`, a line, is for the server */
    EVENT_TAKEN,  /* all of what was asked as `exchange` is on its way */
    EVENT_HEAD,   /* its answer begins, with `status` and `fields` */
    EVENT_DATA,   /* `text` is some of the answer's body */
    EVENT_WHOLE,  /* that was all of it */
    EVENT_FAILED, /* there will be no answer, or no more of it: `why` */
};

/* Borrowed, as all in it: the body until the engine is done with the event, the rest until it
 * answers. */
struct step_request {
    struct str method, path;
    const struct fields *fields;
    enum place host, origin;
    struct str body;
    struct str query; /* `at` is NULL without one */
};

struct event {
    enum event_kind kind;
    int64_t now_us;
    const struct record *record; /* EVENT_RECORD, EVENT_UPSTREAM; borrowed */
    uint64_t timer;              /* EVENT_TIMER: which one */
    struct str why;              /* where `why` is named above */
    uint64_t server;             /* of upstream events: which, of an engine that has several */
    uint64_t exchange;           /* EVENT_REQUEST, EVENT_GONE: never 0, never used twice */
    bool hurry;                  /* EVENT_CLOSED: we are to end, and soon */
    const struct step_request *request;
    struct str text; /* EVENT_SAY, EVENT_DATA; borrowed, as the fields */
    unsigned status;
    const struct fields *fields;
};

enum action_kind {
    ACTION_SEND,      /* `text` is a message for the peer, without newline */
    ACTION_REPORT,    /* `text` is for the user, as important as `level` */
    ACTION_SET_TIMER, /* send an EVENT_TIMER with `timer` after `delay_us` */
    ACTION_FINISH,    /* once all is sent: end with `exit_code` */

    ACTION_START_UPSTREAM, /* the server behind us is needed now; each once */
    ACTION_SEND_UPSTREAM,  /* `text` is a message for it */
    ACTION_END_UPSTREAM,   /* nobody needs it any longer */
    ACTION_UNHEARD,        /* `text`, which it said, reaches no client; `own`: it is for us */

    /* Only for peers on HTTP: what is recorded under `seq` begins to answer `exchange`. */
    ACTION_BEGIN,
    ACTION_DROP, /* and one of the answers that `exchange` is owed will never come */

    /* To `exchange`, which is over after the first and the last of these: */
    ACTION_ANSWER, /* with `status` and `fields`; `text` is all of the body */
    ACTION_OPEN,   /* a stream of events, with `fields` */
    ACTION_WRITE,  /* `text` is some of its bytes */
    ACTION_END,

    /* Of an engine that is the client of a server on HTTP: */
    ACTION_ASK,     /* the server for `ask`, as `exchange`: never 0, never used twice */
    ACTION_ABANDON, /* `exchange`: no event is to tell of it any more. Nobody wants its answer;
                     * or `text` says what is wrong with that
                     */
    ACTION_FAULT,   /* `exchange`, whose end is being told: `text` is wrong with the answer */
};

/* Borrowed, as all in it. */
struct step_ask {
    struct str method, target;
    struct fields fields;
    struct str body; /* `at` is NULL without one */
};

/* Where a message belongs, for peers that have more than one way. */
struct action_way {
    uint64_t exchange; /* that brought the request it belongs to; 0: none */
    uint32_t seq;      /* of the recorded request; 0: none */
    uint32_t step;     /* of the script, that the message is; 0: none */
    bool apart;        /* it was recorded on another stream than that request's */
    bool last;         /* it answers a request */
    bool asks;         /* it is a request, which something waits for the answer of */
};

struct action {
    enum action_kind kind;
    struct str text;       /* borrowed during the call */
    struct action_way way; /* ACTION_SEND, ACTION_BEGIN; of others that have one `exchange` */
    unsigned status;
    const struct fields *fields;
    /* ACTION_ANSWER, ACTION_WRITE: what no server said, but the engine itself;
     * ACTION_SEND_UPSTREAM: what no client said. */
    bool own;
    struct str why;             /* if so, and nothing more comes: why */
    uint64_t server;            /* of those that are about one, in an engine that has several */
    const struct step_ask *ask; /* ACTION_ASK */
    enum log_level level;
    uint64_t timer; /* never 0, never used twice */
    int64_t delay_us;
    int exit_code;
};

struct action_sink {
    void (*put)(struct action_sink *self, const struct action *a);
};

#endif
