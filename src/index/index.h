/* index/index.h - indexes a recording by the client requests that a replay answers.
 *
 * A recorded call is one client request with its steps: the server messages that are its
 * response, report its progress, or are attributed to it (index/attribute.h). A message without
 * an owner is a step of the call of the server message before it, behind the client
 * notification that came before it. Calls are played independently of each other, each from its
 * first step on.
 *
 * The index is a sink: put all records of a recording, then call index_finish(). It holds no
 * messages: those stay in the message store (trace/message-store.h) and are read when needed.
 * It takes 40 bytes for a request and 20 for any other message.
 *
 * Calls and steps are known by number; 0 is none. */
#ifndef INDEX_INDEX_H
#define INDEX_INDEX_H

#include "index/order.h"
#include "mcp/method.h"
#include "mcp/params-hash.h"
#include "mcp/version.h"
#include "trace/message-store.h"
#include "trace/pairing.h"
#include "trace/record.h"

enum step_kind {
    STEP_NOTIFICATION,          /* from the server */
    STEP_PROGRESS,              /* its token is replaced by the live client's */
    STEP_SUBSCRIPTION_EVENT,    /* a notification for a subscription, or its end */
    STEP_SERVER_REQUEST,        /* a request of the server's */
    STEP_CLIENT_RESPONSE,       /* the recorded client's response to one; not sent */
    STEP_RESPONSE,              /* to the request of the call */
    STEP_WAIT_FOR_NOTIFICATION, /* waits until the client has sent a notification `len` times */
    STEP_CLIENT_NOTIFICATION,   /* of no call; only stored for an order (index/order.h) */
    STEP_HTTP_REQUEST,          /* the same; its text is "DELETE /mcp" */
};

struct recorded_step {
    uint32_t offset_low;
    uint32_t len;  /* STEP_WAIT_FOR_NOTIFICATION: the count in the session */
    uint32_t next; /* in its call; the last one is followed by the first */
    uint32_t ms;   /* when it was sent, since the start of the recording */
    uint16_t offset_high;
    int8_t id_offset; /* STEP_RESPONSE: see index/id-offset.h */
    enum step_kind kind : 6;
    bool waits_for_client : 1; /* it was sent when no server request of the call was open */
    bool other_stream : 1;     /* it was sent on another stream than the call's response */
};

enum call_flag {
    CALL_HAS_RESPONSE = 1u << 0,
    CALL_SUCCEEDED = 1u << 1,
    CALL_CANCELLED = 1u << 2,
    CALL_CREATED_TASK = 1u << 3, /* its response is a task */
    CALL_PREAMBLE = 1u << 4,     /* server messages before the first request of a session */
    CALL_MATCHABLE = 1u << 5,    /* has a response, is not initialize, ping or discover */
    CALL_REDACTED = 1u << 6,     /* a part of its params was redacted */
    CALL_TASK_ENDED = 1u << 7, /* its response says that a task has ended or waits for input */
};

/* One client request and the server messages that belong to it. */
struct recorded_call {
    uint32_t offset_low, len; /* where the request is stored */
    uint32_t last_step;       /* 0: none */
    uint32_t seq;             /* of the request */
    uint32_t method;          /* index into `methods` */
    uint32_t session;         /* index into `sessions` */
    uint32_t subject_key;     /* hash of its subject; see index_subject_key() */
    uint32_t params_key;      /* hash of its params */
    uint32_t ms;
    uint16_t offset_high;
    uint8_t flags, open_server_requests; /* of the call, while building */
};

struct index_method {
    struct str name;
    const struct mcp_method *known; /* NULL: in no version of MCP */
};

struct recorded_session {
    uint32_t preamble, initialize_call; /* calls; 0: none */
    uint32_t matchable_count;           /* calls that can be matched */
    enum mcp_version requested_version; /* by the client's initialize */
    enum mcp_version agreed_version;    /* by the server's response */
};

/* Why a request has no response in the recording. */
struct index_rejection {
    unsigned http_status; /* of the rejection; 0: none, or a response followed */
    bool by_mcpreel; /* mcpreel sent the rejection, because the server could not be reached */
    bool unanswered; /* neither a response nor a cancellation was recorded */
};

/* Where the messages of a call are in the file, from 1; 0: unknown. */
struct index_lines {
    uint32_t request, response;
};

/* Gets every matchable call while the index is built. */
struct index_observer {
    bool (*put)(struct index_observer *self, uint32_t call, const struct recorded_call *of,
                const struct params_leaves *leaves, struct err *e) MUST_CHECK;
};

struct index {
    struct sink sink;
    struct message_store *store; /* borrowed */
    struct params_rules rules;
    struct index_observer *observer; /* borrowed; may be NULL */
    struct index_order *order;       /* borrowed; set by the caller before the first record, if
                                        it needs one; else NULL */
    struct arena arena;

    struct recorded_call *calls; /* numbered from 1 */
    size_t call_count, call_cap;
    struct recorded_step *steps; /* numbered from 1 */
    size_t step_count, step_cap;
    struct index_method *methods;
    size_t method_count, method_cap;
    struct recorded_session *sessions;
    size_t session_count, session_cap;
    uint32_t *sessions_with_calls; /* indices of sessions with matchable calls,
                                      `stateless_session` last; never empty */
    size_t sessions_with_calls_count;
    uint32_t *reduced_keys; /* by call: hash of its params without the values that the rules
                               ignore; NULL: the rules ignore none */
    size_t reduced_key_cap;
    bool keeps_lines; /* set by the caller before the first record, if it needs lines; they take
                         8 bytes for a request */
    struct index_lines *lines; /* by call; use index_lines() */
    size_t line_cap, line_count;
    uint64_t unanswered;        /* requests without a response */
    uint32_t stateless_session; /* 1 + its index; 0: no stateless requests */

    struct map method_index;      /* name to index + 1 */
    struct map redacted_params;   /* method and subject key to struct redacted_params */
    struct map unmarked_redacted; /* call to its redacted params that only the recording's
                                     pointers tell */
    struct map rejections;        /* call to struct index_rejection */
    struct map sse_events; /* step to struct index_sse_event, if it has a name or a retry */
    bool has_stateless, has_stateful; /* it has requests of that protocol */
    bool has_redacted_subject;        /* the subject of a request was redacted */
    uint32_t versions; /* one bit for each enum mcp_version of the recorded requests */

    struct index_build *build; /* set until index_finish() */
};

/* Borrows `store` and `observer`, which may be NULL. */
void index_init(struct index *s, struct message_store *store, const struct params_rules *rules,
                struct index_observer *observer);
void index_release(struct index *s);

/* Ends the recording and frees what only building needs. To be called once all records were
 * put. */
void index_finish(struct index *s);

/* While building: makes a step that has no call the last step of `call`. */
void index_append_step(struct index *s, uint32_t call, uint32_t step);

/* A message read from the message store. */
struct index_message {
    struct buf text;
    struct json json;
    struct arena arena;
};

void index_message_init(struct index_message *t);
void index_message_release(struct index_message *t);

/* Reads the stored text of the request of a call, or of the message of a step. */
bool index_fetch_call(const struct index *s, uint32_t call, struct buf *to,
                      struct err *e) MUST_CHECK;
bool index_fetch_step(const struct index *s, uint32_t step, struct buf *to,
                      struct err *e) MUST_CHECK;

/* Reads and parses the request of a call, or the message of a step. Returns false if the
 * message store cannot read it, because the file has changed. */
bool index_read_call(const struct index *s, uint32_t call, struct index_message *t,
                     struct json_val *root, struct err *e) MUST_CHECK;
bool index_read_step(const struct index *s, uint32_t step, struct index_message *t,
                     struct json_val *root, struct err *e) MUST_CHECK;

static inline const struct index_method *index_method(const struct index *s, uint32_t call)
{
    return &s->methods[s->calls[call].method];
}

/* Returns the first step of a call, or the one after another; 0: there is none. */
static inline uint32_t index_first_step(const struct index *s, uint32_t call)
{
    return s->calls[call].last_step ? s->steps[s->calls[call].last_step].next : 0;
}

static inline uint32_t index_next_step(const struct index *s, uint32_t call, uint32_t step)
{
    return step == s->calls[call].last_step ? 0 : s->steps[step].next;
}

/* Returns the notification that a STEP_WAIT_FOR_NOTIFICATION waits for. */
static inline struct str index_awaited_notification(const struct index *s,
                                                    const struct recorded_step *step)
{
    return s->methods[step->offset_low].name;
}

/* Returns the lines of a call; all zero if the index does not keep them. */
static inline struct index_lines index_lines(const struct index *s, uint32_t call)
{
    return call < s->line_count ? s->lines[call] : (struct index_lines){ 0, 0 };
}

/* Returns why a request has no response; all zero if it has one. */
struct index_rejection index_rejection(const struct index *s, uint32_t call);

/* Whether a session is that of all stateless requests. */
static inline bool index_is_stateless(const struct index *s, uint32_t session)
{
    return session + 1 == s->stateless_session;
}

/* Finds the number of a method. Returns false if it was not recorded. */
bool index_find_method(const struct index *s, struct str name, uint32_t *index);

/* Hashes the subject of a request (mcp_subject()) with its cursor, requestState and whether it
 * creates a task. `redacted_subject`: as if the subject had been redacted. */
uint32_t index_subject_key(struct str method, struct json_val params, bool redacted_subject);

/* The same if the subject is known already. */
uint32_t index_subject_key_of(struct json_val subject, struct json_val params,
                              bool redacted_subject);

/* The same for a request without cursor, requestState and task. */
uint32_t index_subject_only_key(struct str subject);

/* Shortens a hash of params to the one that a call keeps. */
static inline uint32_t index_fold_hash(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}

struct index_sse_event {
    struct str name;  /* not empty, without line breaks */
    int64_t retry_ms; /* -1: none */
};

/* While building: notes the SSE event that carried the message of a step, as its record has it
 * (JSON). */
void index_note_sse_event(struct index *s, uint32_t step, struct str event);

/* Returns the SSE event of a step; never NULL. Most have the default name and no retry. */
const struct index_sse_event *index_sse_event(const struct index *s, uint32_t step);

#endif
