/* format/span-draft.h - what a span needs from the messages of a request that has not ended.
 *
 * Keeps texts of the request and its response until the span is written. Bounded: texts that
 * exceed SPAN_DRAFT_TEXT_MAX, or all drafts SPAN_DRAFT_KEEP_MAX, are left out, and the draft
 * says so; of each span the first SPAN_DRAFT_EVENTS_MAX events are kept. */
#ifndef FORMAT_SPAN_DRAFT_H
#define FORMAT_SPAN_DRAFT_H

#include "base/map.h"
#include "format/span-parties.h"
#include "mcp/trace-context.h"

enum {
    SPAN_DRAFT_TEXT_MAX = 1 << 20,
    SPAN_DRAFT_KEEP_MAX = 16 << 20,
    SPAN_DRAFT_EVENTS_MAX = 128, /* the default of OpenTelemetry SDKs */
    SPAN_DRAFT_ERROR_MAX = 1024, /* bytes of an error's text */
};

/* A notification that belongs to a span. */
struct span_event {
    int64_t us; /* since the recording started; 0 if that is unknown */
    struct str name;
};

struct span_draft {
    uint64_t number;            /* of the operation */
    const struct party *client; /* that the request names */
    bool has_context;           /* `context` and `state` are valid */
    struct mcp_trace_context context;
    uint64_t trace_high, trace_low;        /* the trace of the span */
    struct str state;                      /* tracestate of the request; may be empty */
    struct str arguments, result;          /* JSON; empty: none, or not wanted */
    struct str error;                      /* text of an error; may be empty */
    struct str model;                      /* of a sampling result; may be empty */
    int64_t tokens_in, tokens_out, tokens; /* -1: unknown */
    bool has_code, is_tool_error;          /* the response: a JSON-RPC error with `code`, or
                                              a result with isError */
    int64_t code;
    bool left_out; /* a text was too long to be kept */
    struct span_event *events;
    size_t event_count, event_cap;
    uint64_t events_dropped;
};

struct span_drafts {
    struct map by_number;
    size_t kept; /* bytes of texts and events */
    struct arena scratch;
};

void span_drafts_init(struct span_drafts *d);
void span_drafts_release(struct span_drafts *d);

struct span_draft *span_drafts_add(struct span_drafts *d, uint64_t number);
struct span_draft *span_drafts_find(const struct span_drafts *d, uint64_t number); /* or NULL */
void span_drafts_remove(struct span_drafts *d, struct span_draft *draft);

/* Take what a span needs from a message. With `texts` also arguments, and texts of tool errors;
 * with `results` also results. */
void span_draft_take_request(struct span_drafts *d, struct span_draft *draft,
                             const struct operation_event *ev, bool texts);
void span_draft_take_response(struct span_drafts *d, struct span_draft *draft,
                              const struct operation_event *ev, bool texts, bool results);

void span_draft_add_event(struct span_drafts *d, struct span_draft *draft, int64_t us,
                          struct str name);

#endif
