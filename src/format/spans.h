/* format/spans.h - turns operations into the spans of a trace.
 *
 * For formats of traces, which are only written and take operations: they forward them and the
 * records, and write each span and message in their own notation. A recording is one trace:
 *
 *     root span: the recording; internal
 *     └── a span for each request; children of a request are what the server sent meanwhile
 *         └── retries, polls of a task and pages, and the first request itself, below an
 *             internal span of the operation, if there are any
 *
 * A request whose _meta has a traceparent has a span of the receiving side in that trace,
 * because the sender has written its own; the spans below it belong to that trace, too. All
 * others are of the sending side.
 *
 * A span is written when its operation has ended, so children come before their parents. Ids
 * are made from the recording (format/span-ids.h). Bounded by format/span-draft.h. */
#ifndef FORMAT_SPANS_H
#define FORMAT_SPANS_H

#include "format/format.h"
#include "format/span-draft.h"
#include "format/span-ids.h"

/* The numbers of OTLP. */
enum span_kind { SPAN_INTERNAL = 1, SPAN_SERVER = 2, SPAN_CLIENT = 3 };

enum span_status { SPAN_RUNNING, SPAN_COMPLETED, SPAN_FAILED, SPAN_CANCELLED };

enum span_value { SPAN_TEXT, SPAN_INT, SPAN_MS, SPAN_BOOL, SPAN_JSON };

struct span_attribute {
    const char *key;
    enum span_value type;
    struct str text; /* SPAN_TEXT: valid UTF-8; SPAN_JSON */
    int64_t number;  /* SPAN_INT, SPAN_BOOL; microseconds of SPAN_MS */
};

enum { SPAN_ATTRIBUTES_MAX = 64 };

struct span {
    struct uuid id, parent; /* in the trace of the recording; the root has no parent */
    bool has_parent;
    uint64_t trace_high, trace_low; /* W3C Trace Context: the trace */
    uint64_t w3c_parent;            /* 0: none */
    bool in_other_trace;            /* the trace is one of a traceparent */
    bool parent_is_remote;          /* the parent is that of a traceparent */
    const struct span_draft *link;  /* has a context that the span is linked to; or NULL */
    uint8_t flags;                  /* of W3C Trace Context */
    struct str state;               /* tracestate of others; may be empty */
    enum span_kind kind;
    struct str name;
    enum span_status status;
    bool is_error;
    struct str message; /* of the error; may be empty */
    bool is_dated;      /* the times are since 1970, else since the recording started */
    bool has_start;
    int64_t start_us, end_us;            /* 0 if the start is unknown */
    struct str service, service_version; /* that the span is of */
    struct span_attribute attributes[SPAN_ATTRIBUTES_MAX];
    size_t attribute_count;
    const struct span_event *events; /* times like those of the span */
    size_t event_count;
    int64_t event_base_us; /* to be added to the times of events */
    uint64_t events_dropped;
};

enum span_message_kind {
    SPAN_CALL,   /* a request tools/call */
    SPAN_RESULT, /* its response */
    SPAN_NOTIFICATION,
    SPAN_ORPHAN, /* a response without a request */
};

struct span_message {
    enum span_message_kind kind;
    struct uuid id; /* of the message as an event */
    struct uuid span;
    bool has_span; /* else it belongs to the root */
    bool has_time;
    int64_t wall_us;
    enum record_dir dir;
    struct str method, subject;
    bool success; /* of a SPAN_RESULT */
    struct json_val msg;
};

/* Callbacks; `to` is the buffer of the call. put_message may be NULL: then spans have events.
 */
struct span_sink {
    void (*put)(void *state, struct buf *to, const struct span *span);
    void (*put_message)(void *state, struct buf *to, const struct span_message *m);
};

struct spans_config {
    const struct format_options *options; /* borrowed, with its texts */
    const struct span_sink *sink;
    void *state;       /* for the sink */
    bool mplp;         /* add the attributes of MPLP */
    bool always_texts; /* arguments and texts of tool errors, also without `payloads` */
};

struct spans {
    struct spans_config config;
    struct buf *to; /* during a call */
    struct span_ids ids;
    bool has_ids; /* the seed is complete */
    struct span_parties parties;
    struct span_drafts drafts;
    struct span_draft *root;
    struct arena scratch, texts;
    struct str label;          /* of the recording; may be empty */
    struct str transport;      /* in the header; may be empty */
    struct str address;        /* host in the server's URL; empty: unknown */
    int port;                  /* valid with `address` */
    struct str client, server; /* names that came first */
    struct str protocol;       /* the latest; may be empty */
    bool start_known;
    int64_t start_wall_us;
    int64_t last_us; /* of all records, since the start */
    enum span_status status;
    bool has_exit_code;
    int64_t exit_code;
    uint64_t messages; /* given to put_message */
};

void spans_init(struct spans *s, const struct spans_config *config);
void spans_release(struct spans *s);

/* Like the functions of struct format. */
void spans_put(struct spans *s, const struct record *r);
void spans_put_operation(struct spans *s, struct buf *to, const struct format_operation *o);

/* Writes the root span: nothing may be put afterwards. */
void spans_finish(struct spans *s, struct buf *to);

/* The id of the context: that of the user, else one of the recording. */
void spans_write_context_id(const struct spans *s, struct buf *to);

/* Returns the tracestate of a span: our own member with the ids of MPLP, then that of others.
 * Valid until the callback returns. */
struct str spans_state(struct spans *s, const struct span *span);

/* Appends milliseconds with up to three digits. */
void spans_write_ms(struct buf *to, int64_t us);

#endif
