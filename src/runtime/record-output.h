/* runtime/record-output.h - writes a recording to a file.
 *
 * Has a traffic recorder, of which the file is a sink. A write error never stops the session;
 * each kind is logged once. Knows no peers: the caller gives traffic to `recorder`. */
#ifndef RUNTIME_RECORD_OUTPUT_H
#define RUNTIME_RECORD_OUTPUT_H

#include "base/str-list.h"
#include "format/live-writer.h"
#include "runtime/record-path.h"
#include "runtime/rejection-log.h"
#include "runtime/traffic-recorder.h"
#include "trace/answered-calls.h"
#include "trace/loss.h"
#include "wire/request-read.h"

enum { RECORD_OUTPUT_FAILED = 125 }; /* exit code: mcpreel failed, not the server */

struct record_settings {
    const char *name; /* name of the recording; may be NULL */
    struct str_list tags;
    char *const *server_argv; /* the server command, NULL-terminated; NULL: the server is at
                                 `server_url` */
    size_t server_argc;
    char *const *server_env; /* NULL: ours */
    const char *server_url;
    uint64_t rotate_bytes; /* 0: never */
    size_t max_message;
    int64_t flush_us;
    bool plain;
    bool strict;       /* any loss makes the exit code RECORD_OUTPUT_FAILED */
    bool log_http;     /* log headers and bodies, like mcp-recorder --verbose */
    bool must_succeed; /* no file is made if the session or a call failed, or a message was
                          lost; with `complete_only` paths, and `calls` */
    struct redaction *redaction;
    struct answered_calls *calls; /* gets all records, too; may be NULL */
    struct buf *report; /* gets the result as JSON (record-report.h) at the end of the session;
                           may be NULL */
};

struct record_output {
    const struct app *app;
    struct record_path *target;             /* borrowed */
    const struct record_settings *settings; /* borrowed */
    struct traffic_recorder recorder;
    struct live_writer writer;
    struct sink counting_sink; /* in front of `writer`: counts what the format cannot store */
    struct loss loss;          /* what the format cannot store */
    struct rejection_log rejection_log; /* only with `server_url` */
    struct err error;  /* the latest error; a member because it is too large for each line */
    bool batch_writes; /* set by the owner: the records of a piece of traffic are written
                          together */
    bool incomplete;   /* set by the first record that did not reach the file */
    const char *moved_journal; /* new name of a journal that a killed recorder left; or NULL */
    bool journal_kept;         /* set at the end if the journal has more than the document */
    bool any_message; /* set by the first message that was put, also one that was too long */
    bool server_responded; /* set by the first HTTP response of the server; at once for a
                              command */
    bool session_failed;   /* set by the owner before the end */
    bool replace_failed;   /* set when the old file could not be replaced, until it could */
    void (*disk_wait)(void *to);
    void *to;
};

/* Calls `disk_wait` when nothing but the disk is waited for. */
void record_output_init(struct record_output *r, const struct app *app,
                        struct record_path *target, const struct record_settings *settings,
                        void (*disk_wait)(void *to), void *to);
void record_output_release(struct record_output *r);

/* Finds a free name, and creates the file if `open`. */
bool record_output_open(struct record_output *r, bool open, struct err *e) MUST_CHECK;
void record_output_remove(
    struct record_output *r); /* removes the file of a session that did not start */

/* Log the headers of an HTTP request or response if `log_http` is set. Values of secret headers
 * are masked. */
void record_output_log_request(struct record_output *r, const struct request_head *head);
void record_output_log_response(const struct record_output *r, unsigned status,
                                const struct headers *fields);

/* Logs a message at level LOG_DEBUG, in pieces. The record is redacted already, so that no
 * secret is split. Does nothing for other records. */
void record_output_log_message(const struct log *log, const struct record *record);

/* Composes all that the header says about the server and its command line. Borrows from the
 * settings and `a`. */
struct record_header record_output_compose_header(const struct record_settings *how,
                                                  struct str transport, struct arena *a);

/* Writes the header. `transport` is that of the server. */
void record_output_write_header(struct record_output *r, struct str transport);

/* Writes the footer, closes the file and logs the result. If nothing was recorded and an old
 * file was to be replaced or a document to be made, the old file stays and no new one is made.
 * `code` is the exit code of the session, `note` (may be NULL) is added to the result line.
 * Returns the exit code. */
int record_output_finish(struct record_output *r, int code, const char *note);

#endif
