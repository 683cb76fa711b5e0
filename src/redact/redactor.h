/* redact/redactor.h - a record sink that removes secrets and passes records on.
 *
 * Everything from outside is searched: messages, bytes that are not messages, standard error,
 * the command, URLs. A record without secrets is passed on unchanged and uncopied. A message
 * from which a secret cannot be removed is replaced by a gap record.
 *
 * Borrows the rules, the next sink and the observer; owns everything else. */
#ifndef REDACT_REDACTOR_H
#define REDACT_REDACTOR_H

#include "redact/redact-json.h"
#include "redact/url-secrets.h"
#include "trace/record.h"

/* One redaction, for the observer. */
struct redactor_hit {
    const struct record *record;
    const char *member;    /* of the record: "msg", "text", "command", … */
    struct str pointer;    /* in the JSON of that member; empty: the whole member */
    const char *rule_name; /* "GITHUB_TOKEN", "jwt", "pattern 1" */
    uint64_t record_index; /* from 0 */
};

struct redactor_observer {
    void (*hit)(struct redactor_observer *self, const struct redactor_hit *hit);
};

/* A private key that began in an earlier record and has not ended. */
struct redactor_pem {
    size_t bytes_left; /* that may still belong to it; 0: none is open */
};

struct redactor {
    struct sink sink;  /* put records here */
    struct sink *next; /* borrowed */

    /* Set by the owner before the first record. */
    struct redactor_observer *observer; /* borrowed; may be NULL */
    bool keep_url;                      /* URLs are not redacted */
    bool redact_whole_path;             /* redacts even a path like "/mcp" */
    bool keep_requests;                 /* client messages stay unchanged */
    bool stderr_in_pieces;              /* a line of standard error may span records; ends with
                                           redactor_finish() */

    struct seen_secrets seen; /* found while recording; the owner adds to it */
    uint64_t requests_kept;   /* client messages with secrets that `keep_requests` kept */

    /* Private. */
    const struct secret_rules *secrets;
    uint64_t record_count;
    struct secret_search search;
    struct placeholders placeholders;
    struct redact_json json;
    struct json doc;
    struct buf scratch, redacted;
    struct arena arena;            /* for one record */
    struct url_secrets server_url; /* parts of the server's URL; empty with `keep_url` */
    struct redactor_pem raw_pem[2], stderr_pem;
    struct record held_record; /* the last record of which text is in `held_stderr` */
    struct buf held_stderr;    /* text whose line has not ended */
    bool skipping_line;        /* set when a line is too long to hold, cleared at its end */
};

/* `s` is sealed and borrowed. `next` may be set later, before the first record. */
void redactor_init(struct redactor *r, const struct secret_rules *s, struct sink *to);
void redactor_release(struct redactor *r);

/* Stops the search for secrets that were found while recording. */
void redactor_ignore_seen(struct redactor *r);

/* With `hide`, placeholders are [REDACTED], without the name of a rule. */
void redactor_hide_rule_names(struct redactor *r, bool hide);

/* Returns how many base64 strings were not searched, by enum redact_json_unsearched. */
const uint64_t *redactor_unsearched(const struct redactor *r);

/* Passes on the held text of standard error. Call it after the last record. */
bool redactor_finish(struct redactor *r, struct err *e) MUST_CHECK;

/* Appends `text`, such as a log line, without its secrets. It is not part of the recording: no
 * rule gets a number and the observer is not called. */
void redactor_redact_text(struct redactor *r, struct str text, struct buf *to);

/* The same for a JSON value. `path` is its place in a message ("$.result.tokens[0]"), whose
 * last name may say that the value is secret; empty: unknown. A value from which a secret
 * cannot be removed, and text that is no JSON, become "[REDACTED]". */
void redactor_redact_value(struct redactor *r, struct str path, struct str value,
                           struct buf *to);

/* The same for the path of a request. */
void redactor_redact_path(struct redactor *r, struct str path, struct buf *to);

/* The same for a server, as the header of a recording has it: its URL, or its command line;
 * `command` (a JSON array of its words) may be empty. */
void redactor_redact_server(struct redactor *r, struct str command, struct str url_or_line,
                            struct buf *to);

#endif
