/* trace/operation.h - what people see: a request with all that belongs to it.
 *
 * Every request is an operation; so is a notification, an answer or a piece of noise that
 * belongs to none. Operations form families: a retry with the input that the server
 * wanted, the poll of a task, the next page of a list, a question of the server's, the
 * members of a batch are children of the operation they go on with. The first of a family
 * is its root, and how the family fared is told there: the outcome of a call that became a
 * task is that of the task.
 *
 * A link is inferred if nothing but the circumstances speak for it; without even those
 * there is none. Nothing is guessed.
 *
 * Operations are numbered from 1 in the order of their first messages, so parents have
 * lower numbers than their children. They may end in any order. */
#ifndef TRACE_OPERATION_H
#define TRACE_OPERATION_H

#include "trace/record.h"

enum operation_kind {
    OPERATION_REQUEST,
    OPERATION_BATCH,        /* several messages sent as one: its children */
    OPERATION_NOTIFICATION, /* one that belongs to no open operation */
    OPERATION_ANSWER,       /* one that no request waits for */
    OPERATION_NOISE,        /* what is no JSON-RPC message, and answers no request */
};

/* What makes an operation the child of another. */
enum operation_link {
    LINK_NONE,
    LINK_ASKED, /* a request of the server's, sent while working on the parent */
    LINK_RETRY, /* the same again, with the input the server wanted */
    LINK_TASK,  /* about the task that the parent became */
    LINK_PAGE,  /* the next page of the same list */
    LINK_BATCH, /* sent in the same batch */
    LINK_STRAY, /* came when the parent was over: a second answer, late progress */
    LINKS,
};

/* What a message is to its operation. */
enum operation_role {
    ROLE_REQUEST,
    ROLE_ANSWER,
    ROLE_PROGRESS,
    ROLE_LOG,
    ROLE_CANCEL,
    ROLE_STATUS, /* how its task is doing */
    ROLE_EVENT,  /* what a subscription is for */
    ROLE_NOTICE, /* any other notification */
    ROLE_NOISE,  /* no JSON-RPC message */
    ROLE_AGAIN,  /* delivered once more, on a resumed stream */
    ROLES,
};

/* How it ended, by who failed. */
enum operation_outcome {
    OUTCOME_NONE, /* nothing was asked */
    OUTCOME_OK,
    OUTCOME_RPC_ERROR,     /* a JSON-RPC error; `code` */
    OUTCOME_TOOL_ERROR,    /* a result with isError: the server works, the tool said no */
    OUTCOME_HTTP_ERROR,    /* an HTTP status and no JSON-RPC answer to it; `status` */
    OUTCOME_MALFORMED,     /* something came, but it was not JSON-RPC */
    OUTCOME_PENDING,       /* not over when the recording was */
    OUTCOME_CANCELLED,     /* the requester cancelled it */
    OUTCOME_LATE,          /* answered all the same; `answer` */
    OUTCOME_SERVER_EXITED, /* the server's process ended before the response; `exit_code` */
    OUTCOMES,
};

/* What its own request was answered with. */
enum operation_answer {
    ANSWER_NONE,
    ANSWER_RESULT,
    ANSWER_ERROR,
    ANSWER_INPUT, /* a result that wants input: the request comes again with it */
    ANSWER_TASK,  /* a result that is the handle of a task */
    ANSWERS,
};

enum operation_flag {
    OP_INFERRED = 1u << 0,     /* its link to the parent */
    OP_ORPHAN = 1u << 1,       /* refers to a request, token or subscription nobody saw */
    OP_DUPLICATE = 1u << 2,    /* answers what was answered before */
    OP_AFTER_END = 1u << 3,    /* came after the end of what it belongs to */
    OP_ID_REUSED = 1u << 4,    /* its id was that of a request that still waited */
    OP_RETRY = 1u << 5,        /* brings input, whether or not it is known for what */
    OP_INPUT = 1u << 6,        /* the server wanted input */
    OP_TASK = 1u << 7,         /* is or is about a task */
    OP_MORE = 1u << 8,         /* the latest page named another */
    OP_CANCELLED = 1u << 9,    /* was given up at some time */
    OP_MODERN = 1u << 10,      /* of the era without sessions */
    OP_NOISY = 1u << 11,       /* something came in its exchange that is not JSON-RPC */
    OP_CUT = 1u << 12,         /* its exchange ended before it was answered */
    OP_GAP = 1u << 13,         /* the recorder lost something meanwhile */
    OP_EVICTED = 1u << 14,     /* given up for want of room: what came later is missing */
    OP_REDACTED = 1u << 15,    /* a message has parts that were not sent so */
    OP_REDELIVERED = 1u << 16, /* a message came once more on a resumed stream */
    OP_CLOCK_BACK = 1u << 17,  /* a message is older than the one before it */
    OP_CODE = 1u << 18,        /* the error has a code that is a whole number */
    OP_CLIPPED = 1u << 19,     /* a text is longer than what is kept of it */
    OP_REFUSED = 1u << 20,     /* an error that HTTP refused an exchange with, and no answer */
};
enum { OP_FLAGS = 21 };

/* HTTP: from here on there is no answer, be it that another address is to be asked. */
enum { OPERATION_REFUSED = 300 };

struct operation_message {
    uint64_t seq; /* as in the file, or counted from 1; 0: bytes, which have none */
    uint8_t role; /* enum operation_role */
    uint8_t dir;  /* enum record_dir */
    bool inferred;
};

/* Of more messages than fit the first and the last are kept. */
enum { OPERATION_FIRST = 16, OPERATION_LAST = 16, OPERATION_TEXT = 1024 };

struct operation_messages {
    uint64_t count; /* of all */
    struct operation_message *at;
    size_t kept, cap, turn; /* see operation_message() */
};

struct operation_progress {
    uint64_t seq;               /* of the latest */
    struct str progress, total; /* as they stand there; empty: none, or too long */
};

struct operation {
    uint64_t number, parent, root; /* parent: 0 in a root; root: its own number there */
    enum operation_kind kind;
    enum operation_link link;
    enum record_dir dir; /* the way of its first message */
    unsigned flags;

    struct str method, subject; /* subject: tool, prompt, URI, task; may be empty */
    struct str id;              /* JSON */
    struct str task;            /* id of the task it became or is about */
    struct str why;             /* what was wrong with its exchange, for people; or empty */
    unsigned has;               /* HAS_CONN, … of record.h: which of these there are */
    uint64_t conn, session, exchange, stream;
    int64_t exit_code, signal; /* of the server, if it exited meanwhile; see `has` */

    /* Of the family if it is a root, else its own. */
    enum operation_outcome outcome;
    int64_t code;    /* if OP_CODE */
    uint64_t status; /* HTTP; 0: not known */
    enum operation_answer answer;

    /* Microseconds since the recording started, and durations; -1: not known. A root's
     * total goes from the first message of the family to the one that decided the
     * outcome; part of it the server held it, and part it waited for the client. */
    int64_t first_us, last_us;
    int64_t own_us; /* from its own request to the answer of that */
    int64_t total_us, server_us, wait_us;

    uint64_t bytes, request_bytes, answer_bytes; /* of its own messages */
    uint64_t items;                              /* of a list: on all pages */
    uint32_t roles[ROLES];                       /* how many messages of each role */
    uint32_t children[LINKS];                    /* how many of each link */
    struct operation_progress progress;          /* if any was made: the latest */
    struct operation_messages messages;          /* its own, not its children's */
};

/* What a consumer is told: a message has joined an operation, or one has ended. */
struct operation_event {
    const struct operation *op;
    const struct operation_message *message; /* NULL: it has ended, and will not change */
    const struct record *record;             /* the message's; NULL if there is none */
};

/* Everything is valid only during the call. Returning false means it can take no more. */
struct operation_sink {
    bool (*put)(struct operation_sink *self, const struct operation_event *ev, struct err *e);
};

/* The i-th of the kept messages; between OPERATION_FIRST - 1 and OPERATION_FIRST those
 * are missing that did not fit: messages.count - messages.kept. */
const struct operation_message *operation_message(const struct operation *op, size_t i);

/* For whoever builds operations. */
void operation_add_message(struct operation *op, const struct operation_message *m);
void operation_release(struct operation *op); /* the list of messages */

/* In a word, as filters and JSON have it: "request", "asked", "progress", "rpc-error". */
const char *operation_kind_name(enum operation_kind kind);
const char *operation_link_name(enum operation_link link);
const char *operation_role_name(enum operation_role role);
const char *operation_outcome_name(enum operation_outcome outcome);
const char *operation_answer_name(enum operation_answer answer);
const char *operation_flag_name(enum operation_flag flag);

#endif
