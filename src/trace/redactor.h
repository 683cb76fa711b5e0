/* trace/redactor.h - the door through which records go on their way to a file.
 *
 * A sink that puts what it is given into the next one, without the secrets. What it cannot
 * free of them does not get through: a gap stands in its place.
 *
 * Looks at everything that comes from outside: messages, bytes that are none, standard
 * error, the command, addresses. A record without secrets goes on as it is, uncopied. */
#ifndef TRACE_REDACTOR_H
#define TRACE_REDACTOR_H

#include "trace/own-path.h"
#include "trace/record.h"
#include "trace/redact-json.h"

/* Where something was taken out. */
struct redactor_hit {
    const struct record *record;
    const char *member; /* of the record: "msg", "text", "command", … */
    struct str pointer; /* of a place inside of JSON */
    const char *what;   /* "GITHUB_TOKEN", "jwt", "pattern 1" */
    uint64_t index;     /* of the record, from 0 */
};

struct redactor_watch {
    void (*hit)(struct redactor_watch *self, const struct redactor_hit *hit);
};

/* Lines of a private key that have no end yet. */
struct redactor_open {
    size_t left; /* so many bytes may still belong to it; 0: none is open */
};

struct redactor {
    struct sink sink; /* put records here */
    struct sink *to;  /* borrowed */
    const struct secrets *secrets;
    struct learnt learnt;         /* what becomes known as a secret; anybody may add to it */
    struct redactor_watch *watch; /* may be NULL; borrowed */
    bool keep_url;                /* the server's address stays as it is */
    bool whole_path;              /* no part of its path is kept, not even "/mcp" */
    bool keep_requests;           /* messages of the client stay as they are; */
    uint64_t requests_kept;       /* so many of them had something to redact */
    bool live;      /* text comes in pieces that may be put together: see redactor_finish() */
    uint64_t count; /* of records */
    struct secrets_search search;
    struct marks marks;
    struct redact_json json;
    struct json doc;
    struct buf text, clean;
    struct arena arena;
    struct own_path own_path; /* of the server, unless it is to be kept */
    struct redactor_open raw[2], err;
    struct record held_as; /* what the held text of standard error is part of */
    struct buf held;
    bool skipping; /* a line of it that was too long to be held, up to its end */
};

/* `s` is sealed, and borrowed. `to` may be set later, before the first record. */
void redactor_init(struct redactor *r, const struct secrets *s, struct sink *to);
void redactor_release(struct redactor *r);

/* Nothing follows: puts what is held back. */
bool redactor_finish(struct redactor *r, struct err *e) MUST_CHECK;

/* A text of ours, such as a line of the log: without secrets, appended to `to`. */
void redactor_text(struct redactor *r, struct str text, struct buf *to);

/* The path of a request, for such a text. */
void redactor_path(struct redactor *r, struct str path, struct buf *to);

#endif
