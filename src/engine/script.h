/* engine/script.h - a recording, cut into what to do when a request comes again.
 *
 * Every message of the server belongs to one strand: that of the client's request
 * it answers, reports progress of, or was sent under; what cannot be tied to one
 * request comes right after the server message that preceded it, and after the
 * notification of the client's that came before it. A strand plays from top to
 * bottom once its request arrives, whatever the other strands do.
 *
 * A script is a sink: pour a recording into it, then script_finish(). It is an index:
 * messages lie on a shelf (trace/shelf.h) and are read when they are needed, so that a
 * recording of any size can be played. What is kept takes 40 bytes for a request and 20
 * for any other message, whatever their size.
 *
 * Strands and steps are known by number; 0 is none. */
#ifndef ENGINE_SCRIPT_H
#define ENGINE_SCRIPT_H

#include "engine/leaves.h"
#include "mcp/method.h"
#include "mcp/version.h"
#include "trace/pairing.h"
#include "trace/record.h"
#include "trace/shelf.h"

enum script_step_kind {
    STEP_SEND,     /* a notification */
    STEP_PROGRESS, /* a notification whose token is the client's */
    STEP_EVENT,    /* a notification that a subscription is for */
    STEP_ASK,      /* a request of the server's */
    STEP_REPLY,    /* what the recorded client answered to one; not sent */
    STEP_ANSWER,   /* the answer to the strand's own request */
    STEP_HEAR,     /* not before the client has sent a notification so often */
};

struct script_step {
    uint32_t at_low;
    uint32_t len;  /* STEP_HEAR: how often in the session */
    uint32_t next; /* of its strand; the last is followed by the first */
    uint32_t ms;   /* when it was sent, since the start of the recording */
    uint16_t at_high;
    int8_t id_place; /* STEP_ANSWER: see engine/id-place.h */
    enum script_step_kind kind : 6;
    bool waits : 1; /* when it was sent, all the strand's questions had been answered */
    bool apart : 1; /* it was sent on another stream than the strand's */
};

enum script_flag {
    STRAND_ANSWERED = 1u << 0,
    STRAND_SUCCEEDED = 1u << 1,
    STRAND_CANCELLED = 1u << 2,
    STRAND_TASK = 1u << 3,    /* its answer is the handle of a task */
    STRAND_OPENING = 1u << 4, /* no request: what the server sent before anybody asked */
    STRAND_COUNTS = 1u << 5, /* can be matched: not initialize, ping, …, nor without response */
    STRAND_MASKED = 1u << 6, /* part of its params was redacted */
    STRAND_DUE = 1u << 7,    /* its answer says that a task has ended or wants input */
};

/* A strand: one request of the client and all that followed from it. */
struct script_op {
    uint32_t at_low, len; /* where the request lies */
    uint32_t last;        /* step */
    uint32_t seq;         /* of the request */
    uint32_t method;      /* index into script.methods */
    uint32_t session;     /* index into script.sessions */
    uint32_t subject_key; /* of what it is about */
    uint32_t params_key;  /* of all it says */
    uint32_t ms;
    uint16_t at_high;
    uint8_t flags, questions; /* questions: of the server's not yet answered, while writing */
};

struct script_method {
    struct str name;
    const struct mcp_method *known; /* NULL: of no revision */
};

struct script_session {
    uint32_t opening, greeting; /* strands; 0: none */
    uint32_t count;             /* of requests that count */
    enum mcp_version asked;     /* the revision that the client wished to speak, */
    enum mcp_version agreed;    /* and the one that the server chose */
};

/* Why a request has no response in the recording. */
struct script_refusal {
    unsigned status; /* it was refused over HTTP; 0: it was not, or was answered all the same */
    bool ours;       /* by mcpreel itself, since the server could not */
    bool unanswered; /* no response was recorded, nor was it cancelled */
};

/* Told about every request that counts while the script is written. */
struct script_reader {
    bool (*put)(struct script_reader *self, uint32_t op, const struct script_op *of,
                const struct leaves *leaves, struct err *e) MUST_CHECK;
};

struct script {
    struct sink sink;
    struct shelf *shelf; /* borrowed */
    struct leaf_rules rules;
    struct script_reader *reader; /* borrowed; may be NULL */
    struct arena arena;

    struct script_op *ops; /* from 1 */
    size_t op_count, op_cap;
    struct script_step *steps; /* from 1 */
    size_t step_count, step_cap;
    struct script_method *methods;
    size_t method_count, method_cap;
    struct script_session *sessions;
    size_t session_count, session_cap;
    uint32_t *playable; /* sessions that have requests that count; one at least */
    size_t playable_count;
    uint64_t unanswered; /* requests recorded without a response */
    uint32_t stateless;  /* session of all requests that need none, the last of the playable,
                          * + 1; 0: there are none */

    struct map method_index; /* name to index + 1 */
    struct map masks;        /* method and subject key to struct script_mask */
    struct map hidden;       /* number of a strand to its own mask, if only a pointer told */
    struct map refused;      /* number of a strand to struct script_refusal */
    struct map events;       /* number of a step to struct script_event, where one stands out */
    bool modern, legacy;     /* it has requests of that era */
    bool wild;               /* it has requests whose subject was redacted */
    uint32_t versions;       /* of the recorded requests: a bit for each enum mcp_version */

    struct script_writing *writing; /* NULL when finished */
};

/* `reader` may be NULL. */
void script_init(struct script *s, struct shelf *shelf, const struct leaf_rules *rules,
                 struct script_reader *reader);
void script_release(struct script *s);

/* The recording is over: what is only needed for writing is given back. */
void script_finish(struct script *s);

/* Makes a step that belongs to no strand the last of one, while the script is written. */
void script_link_step(struct script *s, uint32_t op, uint32_t step);

/* A message got back from the shelf. */
struct script_text {
    struct buf text;
    struct json json;
    struct arena arena;
};

void script_text_init(struct script_text *t);
void script_text_release(struct script_text *t);

/* The text of the request of a strand, or of the message of a step, as it stands there. */
bool script_fetch_op(const struct script *s, uint32_t op, struct buf *to,
                     struct err *e) MUST_CHECK;
bool script_fetch_step(const struct script *s, uint32_t step, struct buf *to,
                       struct err *e) MUST_CHECK;

/* The request of a strand, or the message of a step. False if the shelf has it no more:
 * the file has changed. */
bool script_read_op(const struct script *s, uint32_t op, struct script_text *t,
                    struct json_val *root, struct err *e) MUST_CHECK;
bool script_read_step(const struct script *s, uint32_t step, struct script_text *t,
                      struct json_val *root, struct err *e) MUST_CHECK;

static inline const struct script_method *script_method(const struct script *s, uint32_t op)
{
    return &s->methods[s->ops[op].method];
}

/* The first step of a strand and the one after another; 0: there is none. */
static inline uint32_t script_first_step(const struct script *s, uint32_t op)
{
    return s->ops[op].last ? s->steps[s->ops[op].last].next : 0;
}

static inline uint32_t script_next_step(const struct script *s, uint32_t op, uint32_t step)
{
    return step == s->ops[op].last ? 0 : s->steps[step].next;
}

/* Of a STEP_HEAR: the notification's method. */
static inline struct str script_heard(const struct script *s, const struct script_step *step)
{
    return s->methods[step->at_low].name;
}

/* Why a request has no response, if it has none. */
struct script_refusal script_refusal(const struct script *s, uint32_t op);

/* Whether a session is that of all requests that need none. */
static inline bool script_is_stateless(const struct script *s, uint32_t session)
{
    return session + 1 == s->stateless;
}

/* The index of a method; false if no request or notification of it was recorded. */
bool script_find_method(const struct script *s, struct str name, uint32_t *index);

/* What a request is about, as a hash: subject, cursor, round of input, whether it is to
 * become a task. `wild`: as if the subject had been redacted. */
uint32_t script_subject_key(struct str method, struct json_val params, bool wild);

/* The same where the subject is known already. */
uint32_t script_key_about(struct json_val subject, struct json_val params, bool wild);

/* The same of a request that says nothing but its subject. */
uint32_t script_plain_subject_key(struct str subject);

/* The hash of all params as a strand has it. */
static inline uint32_t script_fold(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}

#endif
