/* cmd/reel.h - a recording that is being made: a tap, and the file behind it.
 *
 * The session comes before its recording. No trouble of the file stops it; what went wrong
 * is told, each kind once. Knows no peers: what passes between them goes into `tap`, with
 * reel_now() as the time, and then reel_check() looks whether it was kept. */
#ifndef CMD_REEL_H
#define CMD_REEL_H

#include "cmd/option.h"
#include "cmd/record-place.h"
#include "cmd/redaction.h"
#include "cmd/refused-request.h"
#include "engine/tap.h"
#include "format/live.h"
#include "trace/loss.h"
#include "wire/request.h"

enum { RECORD_SESSION_FAILED = 125 }; /* exit code: we failed, not the server */

struct record_settings {
    const char *name; /* of the recording; may be NULL */
    struct option_list tags;
    char *const *server; /* the command, NULL-terminated; NULL: it is at `url` */
    size_t server_count;
    char *const *env; /* of the server; NULL: ours */
    const char *url;
    uint64_t rotate; /* 0: never */
    size_t max_message;
    int64_t flush_us;
    bool plain;
    bool strict;   /* anything missing is a failure */
    bool log_http; /* log heads and bodies, as mcp-recorder does with --verbose */
    struct redaction *redaction;
};

struct reel {
    const struct app *app;
    struct record_place *place;        /* borrowed */
    const struct record_settings *how; /* borrowed */
    struct tap tap;
    struct live live;
    struct sink counting; /* before the file, if its format does not keep everything */
    struct loss loss;     /* what it does not keep */
    struct refused_request refused; /* only of a server at a URL */
    int64_t started_us;
    struct tap_time asked; /* when the wall clock was last */
    struct err why;        /* of what went wrong last; too large to be made for each line */
    bool together;         /* what is put is not in the file before reel_check() */
    bool left_out;         /* something did not come to the file */
    uint64_t too_long;     /* messages that were, for us */
    const char *aside; /* what an earlier recorder has left here, by its new name; or NULL */
    bool journal_kept; /* it has what the document has not */
    bool any_message;  /* set by the first message that was put, also one that was too long */
    bool answered;     /* set by the first HTTP response of the server; at once for a command */
    bool replace_failed; /* set when the old file could not be replaced, until it could */
    void (*waits)(void *to);
    void *to;
};

/* `waits` is called when only the disk is waited for any more. */
void reel_init(struct reel *r, const struct app *app, struct record_place *place,
               const struct record_settings *how, void (*waits)(void *to), void *to);
void reel_release(struct reel *r);

/* Finds a name that is free, and makes the file if `open`. */
bool reel_settle(struct reel *r, bool open, struct err *e) MUST_CHECK;
void reel_abandon(struct reel *r); /* nothing came of it: the file is removed */

struct tap_time reel_now(struct reel *r);

/* After everything that was put: was it kept? `why` has the reason if not. An old file with
 * the recording's name is replaced here, once something was recorded: a message that passed
 * to or from a server that was there. */
void reel_check(struct reel *r, bool kept);

/* Logs the head of an HTTP request or response, if heads are to be logged. Values of headers
 * that are secret by their names are masked. */
void reel_log_request(struct reel *r, const struct request *head);
void reel_log_response(const struct reel *r, unsigned status, const struct fields *fields);

/* The header, for a server that is reached over `transport`. */
void reel_begin(struct reel *r, struct str transport);

/* The footer and the end of the file. If nothing was recorded and an old file was to be
 * replaced or a document was to be made, the old file stays as it was and no new one is made,
 * which is reported. `code` is what the session ended with, `remark` (may
 * be NULL) what else is to be said in the last line; the exit code. */
int reel_end(struct reel *r, int code, const char *remark);

#endif
