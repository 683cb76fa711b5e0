/* filter/filter.h - evaluates a query of the user on messages and operations.
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
 * The keys are a table (filter/filter-keys.h). A bare text is searched in the method, the
 * subject, the id and the whole message. Regular expressions and bare texts ignore case; words
 * after a key do not, and may contain `*`. `KEY!=x` needs a value that is not x; `-KEY:x` also
 * matches if there is no value.
 *
 * Pure: no I/O, no clock. Evaluation takes time linear in the size of the view, whatever the
 * query; a query has at most FILTER_MAX_TERMS terms.
 *
 * An operation may be larger than memory, so it is evaluated in pieces: filter_match_terms()
 * returns the terms that match one view, the caller combines those of all views with `|`, and
 * filter_eval() evaluates the query on the result. */
#ifndef FILTER_FILTER_H
#define FILTER_FILTER_H

#include "trace/record.h"
#include "json/json.h"

enum { FILTER_MAX_TERMS = 64 };

/* The numbers that a view has. */
enum filter_has {
    FILTER_HAS_CODE = 1u << 0,
    FILTER_HAS_STATUS = 1u << 1,
    FILTER_HAS_DUR = 1u << 2,
    FILTER_HAS_SERVER_DUR = 1u << 3,
    FILTER_HAS_WAIT = 1u << 4,
    FILTER_HAS_GAP = 1u << 5,
    FILTER_HAS_SIZE = 1u << 6,
    FILTER_HAS_REQ_SIZE = 1u << 7,
    FILTER_HAS_RES_SIZE = 1u << 8,
    FILTER_HAS_T = 1u << 9,
    FILTER_HAS_WALL = 1u << 10,
};

enum filter_kind {
    FILTER_KIND_REQ = 1u << 0,
    FILTER_KIND_RES = 1u << 1,
    FILTER_KIND_NOTIF = 1u << 2,
    FILTER_KIND_OP = 1u << 3,
    FILTER_KIND_MALFORMED = 1u << 4,
    FILTER_KIND_STDERR = 1u << 5,
    FILTER_KIND_HTTP = 1u << 6,
};

enum filter_dir { FILTER_DIR_C2S = 1u << 0, FILTER_DIR_S2C = 1u << 1 };

/* Traits of a message or an operation. */
enum filter_is {
    FILTER_IS_OK = 1u << 0,
    FILTER_IS_RPC_ERROR = 1u << 1,
    FILTER_IS_TOOL_ERROR = 1u << 2,
    FILTER_IS_HTTP_ERROR = 1u << 3,
    FILTER_IS_MALFORMED = 1u << 4,
    FILTER_IS_PENDING = 1u << 5,
    FILTER_IS_CANCELLED = 1u << 6,
    FILTER_IS_LATE = 1u << 7,
    FILTER_IS_SLOW = 1u << 8,
    FILTER_IS_ORPHAN = 1u << 9,
    FILTER_IS_DUPLICATE = 1u << 10,
    FILTER_IS_RETRY = 1u << 11,
    FILTER_IS_MRTR = 1u << 12,
    FILTER_IS_TASK = 1u << 13,
    FILTER_IS_PROGRESS = 1u << 14,
    FILTER_IS_REDACTED = 1u << 15,
    FILTER_IS_DRIFT = 1u << 16,
    FILTER_IS_MARKED = 1u << 17,
    FILTER_IS_BINARY = 1u << 18,
    FILTER_IS_INFERRED = 1u << 19,
    FILTER_IS_SERVER_EXITED = 1u << 20,
};

/* Content of a message; see filter_content(). */
enum filter_content {
    FILTER_CONTENT_STRUCTURED = 1u << 0,
    FILTER_CONTENT_IMAGE = 1u << 1,
    FILTER_CONTENT_AUDIO = 1u << 2,
    FILTER_CONTENT_RESOURCE = 1u << 3,
    FILTER_CONTENT_LINK = 1u << 4,
    FILTER_CONTENT_ANNOTATIONS = 1u << 5,
    FILTER_CONTENT_TRACEPARENT = 1u << 6,
    FILTER_CONTENT_BINARY = 1u << 7, /* base64 of any kind */
};

/* The data of a message or an operation that a filter can query. Members that do not apply are
 * zero, and no term about them matches. */
struct filter_view {
    unsigned has; /* enum filter_has */
    uint64_t kind, dir, is;
    struct str method, tool, prompt, uri, task;
    struct str id; /* a string without its quotes */
    bool id_is_number;
    struct str server, trace, session;
    int64_t code, status;
    int64_t dur, server_dur, wait, gap; /* microseconds */
    int64_t size, req_size, res_size;
    int64_t t, wall;         /* microseconds: since the start, since 1970 */
    struct json_val message; /* a JSON-RPC message */
    struct str bytes;        /* bytes that are not a message */
};

/* The wrong part of a query; `len` may be 0 at its end. */
struct filter_fault {
    size_t at, len;
};

struct filter;

/* Parses a query; an empty one matches everything. ERR_USAGE names the error and its byte,
 * counted from 1; the hint suggests a correction. */
bool filter_new(struct filter **out, struct str query, struct filter_fault *fault,
                struct err *e) MUST_CHECK;
void filter_free(struct filter *f); /* NULL is fine */

/* Returns the terms of the query that match the view, one bit each. */
uint64_t filter_match_terms(const struct filter *f, const struct filter_view *v);

/* Evaluates the query, given the terms that match. */
bool filter_eval(const struct filter *f, uint64_t seen);

static inline bool filter_matches(const struct filter *f, const struct filter_view *v)
{
    return filter_eval(f, filter_match_terms(f, v));
}

/* Returns the content of a JSON-RPC message other than text (enum filter_content). Looks only
 * where the protocol puts content: results of tools, prompts and resources, sampling messages
 * and _meta; not in arguments or structured results. */
uint64_t filter_content(struct json_val message);

#endif
