/* trace/filter.h - a question about messages and operations, as people type it.
 *
 *     tool:read_* is:error -server-dur:<500ms
 *
 *     query   = or
 *     or      = and *( ("OR" / "|") and )
 *     and     = term *( ["AND"] term )           a blank means AND
 *     term    = ["-" / "!" / "NOT"] ( "(" or ")" / KEY op values / PATH [op values] / text )
 *     op      = ":" / "=" / "!=" / ">" / ">=" / "<" / "<=" / "~"
 *     values  = value *( "," value )             any of them
 *     value   = [">" / ">=" / "<" / "<="] word / "string" / /regex/ / from..to
 *
 * The keys are a table (trace/filter-key.h). A bare text is looked for in the method, the
 * subject, the id and the whole message. Regular expressions and bare texts do not care
 * about capitals; words after a key do, and may have `*` in them. `KEY!=x` wants a value
 * that is not x; `-KEY:x` is also true where there is none.
 *
 * Pure: no I/O, no clock. Evaluating takes time linear in what is looked at, whatever the
 * query; a query has at most FILTER_TERMS terms.
 *
 * An operation may be larger than memory, so it is judged piece by piece: filter_see()
 * says which terms a view satisfies, those of all its pieces are put together with `|`,
 * and filter_decide() gives the verdict. */
#ifndef TRACE_FILTER_H
#define TRACE_FILTER_H

#include "trace/record.h"
#include "json/json.h"

enum { FILTER_TERMS = 64 };

/* What numbers a view has. */
enum filter_has {
    FILTER_CODE = 1u << 0,
    FILTER_STATUS = 1u << 1,
    FILTER_DUR = 1u << 2,
    FILTER_SERVER_DUR = 1u << 3,
    FILTER_WAIT = 1u << 4,
    FILTER_GAP = 1u << 5,
    FILTER_SIZE = 1u << 6,
    FILTER_REQ_SIZE = 1u << 7,
    FILTER_RES_SIZE = 1u << 8,
    FILTER_T = 1u << 9,
    FILTER_WALL = 1u << 10,
};

enum filter_kind {
    KIND_REQ = 1u << 0,
    KIND_RES = 1u << 1,
    KIND_NOTIF = 1u << 2,
    KIND_OP = 1u << 3,
    KIND_MALFORMED = 1u << 4,
    KIND_STDERR = 1u << 5,
    KIND_HTTP = 1u << 6,
};

enum filter_dir { DIR_C2S = 1u << 0, DIR_S2C = 1u << 1 };

/* What a thing is, beyond its kind. */
enum filter_is {
    IS_OK = 1u << 0,
    IS_RPC_ERROR = 1u << 1,
    IS_TOOL_ERROR = 1u << 2,
    IS_HTTP_ERROR = 1u << 3,
    IS_MALFORMED = 1u << 4,
    IS_PENDING = 1u << 5,
    IS_CANCELLED = 1u << 6,
    IS_LATE = 1u << 7,
    IS_SLOW = 1u << 8,
    IS_ORPHAN = 1u << 9,
    IS_DUPLICATE = 1u << 10,
    IS_RETRY = 1u << 11,
    IS_MRTR = 1u << 12,
    IS_TASK = 1u << 13,
    IS_PROGRESS = 1u << 14,
    IS_REDACTED = 1u << 15,
    IS_DRIFT = 1u << 16,
    IS_MARKED = 1u << 17,
    IS_BINARY = 1u << 18,
    IS_INFERRED = 1u << 19,
    IS_SERVER_EXITED = 1u << 20,
};

/* What a message holds; see filter_content(). */
enum filter_content {
    CONTENT_STRUCTURED = 1u << 0,
    CONTENT_IMAGE = 1u << 1,
    CONTENT_AUDIO = 1u << 2,
    CONTENT_RESOURCE = 1u << 3,
    CONTENT_LINK = 1u << 4,
    CONTENT_ANNOTATIONS = 1u << 5,
    CONTENT_TRACEPARENT = 1u << 6,
    CONTENT_BINARY = 1u << 7, /* base64 of any kind */
};

/* What a filter can see of a message or of an operation. What does not apply stays zero,
 * and no term about it is satisfied. */
struct filter_view {
    unsigned has; /* enum filter_has */
    uint64_t kind, dir, is;
    struct str method, tool, prompt, uri, task;
    struct str id; /* of a string what stands between its quotes */
    bool id_is_number;
    struct str server, trace, session;
    int64_t code, status;
    int64_t dur, server_dur, wait, gap; /* microseconds */
    int64_t size, req_size, res_size;
    int64_t t, wall;         /* microseconds: since the start, since 1970 */
    struct json_val message; /* a JSON-RPC message */
    struct str bytes;        /* or what is none */
};

/* Where in a query something is wrong; `len` may be 0 at its end. */
struct filter_fault {
    size_t at, len;
};

struct filter;

/* An empty query is satisfied by everything. ERR_USAGE says what is wrong and at which
 * byte, counted from 1; the hint what may have been meant. */
bool filter_new(struct filter **out, struct str query, struct filter_fault *fault,
                struct err *e) MUST_CHECK;
void filter_free(struct filter *f); /* NULL is fine */

/* One bit for each term of the query that the view satisfies. */
uint64_t filter_see(const struct filter *f, const struct filter_view *v);

/* What the whole query says if exactly those terms are satisfied. */
bool filter_decide(const struct filter *f, uint64_t seen);

static inline bool filter_matches(const struct filter *f, const struct filter_view *v)
{
    return filter_decide(f, filter_see(f, v));
}

#endif
