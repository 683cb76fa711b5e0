/* replay/replay-report.h - counts how a replay went: requests matched and unmatched, calls
 * never used, which rules let requests match, and how clients answered server requests.
 *
 * Keeps the first REPLAY_REPORT_MAX misses, matches by a rule and notes; the others are only
 * counted. Borrows the index. */
#ifndef REPLAY_REPLAY_REPORT_H
#define REPLAY_REPLAY_REPORT_H

#include "match/match-reason.h"
#include "match/miss-report.h"

enum { REPLAY_REPORT_MAX = 100 };

struct replay_report_miss {
    struct str method, subject;
    const char *reason;
    struct str text;  /* the line that the log has */
    uint32_t nearest; /* call; 0: none */
};

/* A request that is not equal to the call that it matched. Paths and rules are the first
 * ones. */
struct replay_report_reason {
    uint32_t call;
    struct str paths[MATCH_REASON_PATHS];
    size_t path_count;
    size_t rules[MATCH_REASON_RULES]; /* their numbers; see match/match-reason.h */
    size_t rule_count;
};

/* The outcome of a server request. */
enum server_request_outcome {
    SERVER_REQUEST_SENT,        /* it was sent; another outcome may follow */
    SERVER_REQUEST_DIFFERS,     /* the live response differs from the recorded one */
    SERVER_REQUEST_UNSUPPORTED, /* not sent: the client does not support it */
    SERVER_REQUEST_NO_RESPONSE, /* the client did not respond */
    SERVER_REQUEST_OUTCOMES,
};

struct replay_report_note {
    struct str method;
    enum server_request_outcome outcome;
    uint32_t call; /* that it belongs to */
};

/* The effect of --record-mode on the recording. */
struct replay_report_recording {
    const char *mode;             /* NULL: nothing is reported */
    uint64_t appended, rewritten; /* calls */
    const char *written;          /* the file that was written; NULL: none */
};

struct replay_report {
    const struct index *index;                /* borrowed */
    struct replay_report_recording recording; /* set by the owner */
    struct used_set used;                     /* by any client */
    struct used_set skipped;                  /* by any client */
    uint64_t skipped_count;
    struct used_set token_calls; /* calls whose sent texts have a recorded token */
    uint64_t token_count;
    uint64_t version_refused; /* requests whose version is not in the recording */
    uint64_t server_requests[SERVER_REQUEST_OUTCOMES];
    struct replay_report_note notes[REPLAY_REPORT_MAX];
    size_t note_count;
    uint64_t requests; /* that the matcher got */
    uint64_t matched, repeated, from_other_session, params_differ, redacted, ambiguous,
        unmatched, forwarded;
    struct replay_report_miss misses[REPLAY_REPORT_MAX];
    size_t miss_count;
    const struct match_options *match; /* borrowed */
    uint64_t *rule_requests;           /* by number of a rule: requests that needed it */
    uint64_t values_ignored;           /* requests that needed a rule that ignores values */
    struct replay_report_reason reasons[REPLAY_REPORT_MAX];
    size_t reason_count;
    struct arena arena;
};

/* Borrows `match`, which has the rules. */
void replay_report_init(struct replay_report *r, const struct index *idx,
                        const struct match_options *match);
void replay_report_release(struct replay_report *r);

/* `used`: the used set of the client. */
void replay_report_add_match(struct replay_report *r, const struct match *m,
                             const struct used_set *used);

/* Notes why a call matched that is not equal to the request. */
void replay_report_add_reason(struct replay_report *r, uint32_t call,
                              const struct match_reason *why);

/* Appends the rules of the user that requests needed, with the number of requests of each:
 * "ignore_paths '$..etag' (2), match search=fuzzy (1)". Only rules that ignore values, or only
 * modes for tools. */
void replay_report_write_rules(const struct replay_report *r, enum match_rule_kind kind,
                               struct buf *to);

/* Returns the number of requests that needed such a rule. */
uint64_t replay_report_rule_requests(const struct replay_report *r, enum match_rule_kind kind);

void replay_report_add_miss(struct replay_report *r, const struct mcp_message *live,
                            const struct miss_report *why);

/* Notes that a recorded progress token was sent in a text of a call. */
void replay_report_add_token(struct replay_report *r, uint32_t call);

void replay_report_add_refusal(struct replay_report *r);
void replay_report_add_server_request(struct replay_report *r, uint32_t call, struct str method,
                                      enum server_request_outcome what);

/* Returns the number of calls that no client used. */
uint64_t replay_report_unused_count(const struct replay_report *r);

/* Return the next unused call after `call` (0: the first), or the next one with a recorded
 * token in its texts; 0: there is none. */
uint32_t replay_report_next_unused(const struct replay_report *r, uint32_t call);
uint32_t replay_report_next_token(const struct replay_report *r, uint32_t call);

/* Writes a JSON object on one line. `exit_code` is that of the replay. */
void replay_report_write(const struct replay_report *r, struct buf *to, int exit_code);

/* Reads the subject of a recorded request; empty: it has none. Lives in `t`. */
struct str replay_report_read_subject(const struct replay_report *r, uint32_t call,
                                      struct index_message *t);

/* Appends "#12 tools/call name", as recorded. */
void replay_report_write_name(const struct replay_report *r, uint32_t call, struct buf *to);

#endif
