/* ops/operation.h - struct operation: a request with everything that belongs to it.
 *
 * Every request is an operation; so is a notification, a response or a non-message that belongs
 * to none. Operations form families: a retry with the required input, the poll of a task, the
 * next page of a list, a server request and the members of a batch are children of the
 * operation they continue. The first of a family is its root and has the outcome of the family:
 * the outcome of a call that became a task is that of the task.
 *
 * A link that follows from circumstances only (one request in flight) is marked as inferred.
 * Ambiguous messages have no link.
 *
 * Operations are numbered from 1 in the order of their first messages, so parents have lower
 * numbers than their children. They may end in any order. */
#ifndef OPS_OPERATION_H
#define OPS_OPERATION_H

#include "trace/record.h"

enum operation_kind {
    OPERATION_REQUEST,
    OPERATION_BATCH,        /* a JSON-RPC batch; its members are children */
    OPERATION_NOTIFICATION, /* a notification of no open operation */
    OPERATION_RESPONSE,     /* a response without an open request */
    OPERATION_NON_MESSAGE,  /* bytes that are no JSON-RPC message, and of no request */
};

/* Why an operation is the child of another. */
enum operation_link {
    LINK_NONE,
    LINK_SERVER_REQUEST, /* sent by the server while working on the parent */
    LINK_RETRY,          /* the same request with the required input */
    LINK_TASK,           /* about the task that the parent became */
    LINK_PAGE,           /* the next page of the same list */
    LINK_BATCH,          /* sent in the same batch */
    LINK_LATE,           /* came after the parent had ended: second response, late progress */
    LINK_COUNT,
};

/* The role of a message in its operation. */
enum operation_role {
    ROLE_REQUEST,
    ROLE_RESPONSE,
    ROLE_PROGRESS,
    ROLE_LOG,
    ROLE_CANCEL,
    ROLE_TASK_STATUS,  /* status of its task */
    ROLE_EVENT,        /* event of a subscription */
    ROLE_NOTIFICATION, /* any other notification */
    ROLE_NON_MESSAGE,  /* no JSON-RPC message */
    ROLE_REDELIVERED,  /* delivered again on a resumed stream */
    ROLE_COUNT,
};

/* How it ended. */
enum operation_outcome {
    OUTCOME_NONE, /* no request */
    OUTCOME_OK,
    OUTCOME_RPC_ERROR,     /* a JSON-RPC error; `code` */
    OUTCOME_TOOL_ERROR,    /* a result with isError */
    OUTCOME_HTTP_ERROR,    /* an HTTP status without a JSON-RPC response; `status` */
    OUTCOME_MALFORMED,     /* something other than JSON-RPC came */
    OUTCOME_PENDING,       /* open when the recording ended */
    OUTCOME_CANCELLED,     /* the requester cancelled it */
    OUTCOME_LATE,          /* cancelled, then answered; `response` */
    OUTCOME_SERVER_EXITED, /* the server's process ended before the response; `exit_code` */
    OUTCOME_COUNT,
};

/* The response to its own request. */
enum operation_response {
    RESPONSE_NONE,
    RESPONSE_RESULT,
    RESPONSE_ERROR,
    RESPONSE_INPUT_REQUIRED, /* a result that requires input: the request is retried with it */
    RESPONSE_TASK,           /* a result that is the handle of a task */
    RESPONSE_COUNT,
};

enum operation_flag {
    OP_INFERRED = 1u << 0,       /* the link to its parent is inferred */
    OP_ORPHAN = 1u << 1,         /* refers to an unknown request, token or subscription */
    OP_DUPLICATE = 1u << 2,      /* its request was answered before */
    OP_AFTER_END = 1u << 3,      /* came after its operation had ended */
    OP_ID_REUSED = 1u << 4,      /* its id was that of an open request */
    OP_RETRY = 1u << 5,          /* has input responses, even if the first request is unknown */
    OP_INPUT_REQUIRED = 1u << 6, /* the server required input */
    OP_TASK = 1u << 7,           /* is or is about a task */
    OP_MORE_PAGES = 1u << 8,     /* the latest page had a cursor */
    OP_CANCELLED = 1u << 9,      /* was cancelled */
    OP_STATELESS = 1u << 10,     /* of the stateless protocol */
    OP_NON_MESSAGE = 1u << 11,   /* its exchange has bytes that are not JSON-RPC */
    OP_ABORTED = 1u << 12,       /* its exchange ended before the response */
    OP_GAP = 1u << 13,           /* the recording has a gap while it was open */
    OP_EVICTED = 1u << 14,       /* evicted for lack of room: later messages are missing */
    OP_REDACTED = 1u << 15,      /* a message has redacted values */
    OP_REDELIVERED = 1u << 16,   /* a message was redelivered */
    OP_CLOCK_BACK = 1u << 17,    /* a message is older than the one before it */
    OP_HAS_CODE = 1u << 18,      /* `code` is valid */
    OP_TRUNCATED = 1u << 19,     /* a text was truncated */
    OP_HTTP_REJECTED = 1u << 20, /* an error in a rejected HTTP exchange, without a request */
};
enum { OP_FLAG_COUNT = 21 };

/* From this HTTP status on (redirects included) an exchange has no response. */
enum { OPERATION_REJECTED_STATUS = 300 };

struct operation_message {
    uint64_t seq; /* as in the file, else counted from 1; 0: bytes */
    uint8_t role; /* enum operation_role */
    uint8_t dir;  /* enum record_dir */
    bool inferred;
};

/* The first and last messages of an operation are kept. */
enum { OPERATION_KEEP_FIRST = 16, OPERATION_KEEP_LAST = 16, OPERATION_TEXT_MAX = 1024 };

struct operation_messages {
    uint64_t count; /* of all */
    struct operation_message *at;
    size_t kept, cap, ring_start; /* see operation_message_at() */
};

struct operation_progress {
    uint64_t seq;               /* of the latest */
    struct str progress, total; /* JSON numbers; empty: none, or too long */
};

struct operation {
    uint64_t number, parent, root; /* of a root: parent 0, root its own number */
    enum operation_kind kind;
    enum operation_link link;
    enum record_dir dir; /* of its first message */
    unsigned flags;

    uint64_t line; /* of its first message, see record.h */

    struct str method, subject; /* subject: tool, prompt, URI, task; may be empty */
    struct str id;              /* JSON */
    struct str task;            /* id of the task it became or is about */
    struct str why;             /* why its exchange failed, for users; may be empty */
    unsigned has;               /* HAS_CONN, … of record.h: valid ones of these */
    uint64_t conn, session, exchange, stream;
    int64_t exit_code, signal; /* of a server that exited before the response; see `has` */

    /* A root has those of its family, others their own. */
    enum operation_outcome outcome;
    int64_t code;    /* if OP_HAS_CODE */
    uint64_t status; /* HTTP; 0: not known */
    enum operation_response response;

    /* Microseconds since the recording started, and durations; -1: unknown. The total of a root
     * is from the first message of its family to the one that decided the outcome: the server's
     * time plus the time it waited for the client. */
    int64_t first_us, last_us;
    int64_t response_us; /* from its own request to its response */
    int64_t total_us, server_us, wait_us;

    uint64_t bytes, request_bytes, response_bytes; /* of its own messages */
    uint64_t
        family_bytes; /* `bytes`, and those of retries, polls and pages while it was open */
    uint64_t result_bytes; /* of the result, as JSON; of a list: of all pages; of a call that
                              became a task: of the task's result. 0: none */
    uint64_t items;        /* of a list: on all pages */
    uint32_t roles[ROLE_COUNT];         /* how many messages of each role */
    uint32_t children[LINK_COUNT];      /* how many of each link */
    struct operation_progress progress; /* the latest; empty: none */
    struct operation_messages messages; /* its own, not its children's */
};

/* A message was added to an operation, or an operation has ended. */
struct operation_event {
    const struct operation *op;
    const struct operation_message *message; /* NULL: it has ended */
    const struct record *record;             /* the message's; NULL if there is none */
};

/* Events are valid only during the call. Returns false if it cannot take more. */
struct operation_sink {
    bool (*put)(struct operation_sink *self, const struct operation_event *ev, struct err *e);
};

/* The i-th of the kept messages. Dropped messages (messages.count - messages.kept) were between
 * OPERATION_KEEP_FIRST - 1 and OPERATION_KEEP_FIRST. */
const struct operation_message *operation_message_at(const struct operation *op, size_t i);

/* For ops/open-ops. */
void operation_add_message(struct operation *op, const struct operation_message *m);
void operation_release(struct operation *op); /* the list of messages */

/* The word in filters and JSON: "request", "server-request", "progress", "rpc-error". */
const char *operation_kind_name(enum operation_kind kind);
const char *operation_link_name(enum operation_link link);
const char *operation_role_name(enum operation_role role);
const char *operation_outcome_name(enum operation_outcome outcome);
const char *operation_response_name(enum operation_response response);
const char *operation_flag_name(enum operation_flag flag);

#endif
