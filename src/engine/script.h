/* engine/script.h - a recording, cut into what to do when a request comes again.
 *
 * Every message of the server belongs to one strand: that of the client's request
 * it answers, reports progress of, or was sent under; what cannot be tied to one
 * request comes right after the server message that preceded it, and after the
 * notification of the client's that came before it. A strand plays from top to
 * bottom once its request arrives, whatever the other strands do.
 *
 * A script is a sink: pour a recording into it, then script_finish(). It keeps its
 * own copy of every message. */
#ifndef ENGINE_SCRIPT_H
#define ENGINE_SCRIPT_H

#include "mcp/method.h"
#include "trace/pairing.h"
#include "trace/record.h"

enum script_step_kind {
    STEP_SEND,     /* a notification */
    STEP_PROGRESS, /* a notification whose token is the client's */
    STEP_ASK,      /* a request of the server's */
    STEP_ANSWER,   /* the answer to the strand's own request */
    STEP_HEAR,     /* not before the client has sent a notification so often */
};

struct script_step {
    struct script_step *next;
    struct script_op *op;
    enum script_step_kind kind;
    struct str raw; /* the recorded message; of STEP_HEAR, the notification's method */
    uint64_t times; /* STEP_HEAR: how often in the session */
    bool waits;     /* when it was sent, all the strand's questions had been answered */
};

/* A strand: one request of the client and all that followed from it. */
struct script_op {
    size_t index; /* in order of the recording */
    uint64_t seq; /* of the request */
    struct str raw, method, subject;
    const struct mcp_method *known; /* NULL: a method of no revision */
    struct script_step *first, **tail;
    size_t questions; /* of the server's that wait for an answer, while recording */
    bool answered, succeeded, cancelled;
};

struct script {
    struct sink sink;
    struct arena arena;
    struct script_op **ops;
    size_t count, cap;
    struct script_op opening; /* what the server sent before anybody asked */
    bool modern;              /* it has requests of the era without sessions */

    /* While it is being written: */
    struct pairing pairs;
    struct map tokens;      /* progress token to strand */
    struct map heard;       /* method of a client's notification to how often it came */
    struct str just_heard;  /* the last of them, while the server has not spoken since */
    struct script_op *last; /* that of the server's last message */
    size_t in_flight;
};

void script_init(struct script *s);
void script_release(struct script *s);

/* The recording is over: what is only needed for writing is given back. */
void script_finish(struct script *s);

#endif
