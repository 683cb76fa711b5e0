/* runtime/record-output.h - writes a recording: recorder, redactor and file.
 *
 * A write error never stops the session; each kind is logged once. Knows no peers: the caller
 * puts traffic into `recorder` with record_output_now() as the time, then calls
 * record_output_report_errors(). */
#ifndef RUNTIME_RECORD_OUTPUT_H
#define RUNTIME_RECORD_OUTPUT_H

#include "base/str-list.h"
#include "format/live-writer.h"
#include "record/recorder.h"
#include "redact/redaction.h"
#include "runtime/record-path.h"
#include "runtime/refused-request.h"
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
    bool strict;   /* any loss makes the exit code RECORD_OUTPUT_FAILED */
    bool log_http; /* log headers and bodies, like mcp-recorder --verbose */
    struct redaction *redaction;
};

struct record_output {
    const struct app *app;
    struct record_path *target;             /* borrowed */
    const struct record_settings *settings; /* borrowed */
    struct recorder recorder;
    struct live_writer writer;
    struct sink counting_sink; /* in front of `writer`: counts what the format cannot store */
    struct loss loss;          /* what the format cannot store */
    struct refused_request refused; /* only with `server_url` */
    int64_t started_us;
    struct recorder_time wall_clock_read; /* both clocks when the wall clock was last read */
    struct err error;  /* the latest error; a member because it is too large for each line */
    bool batch_writes; /* set by the owner: records are written by record_output_report_errors()
                        */
    bool incomplete;   /* set by the first record that did not reach the file */
    uint64_t too_long; /* count of messages over `max_message` */
    const char *moved_journal; /* new name of a journal that a killed recorder left; or NULL */
    bool journal_kept;         /* set at the end if the journal has more than the document */
    bool any_message; /* set by the first message that was put, also one that was too long */
    bool server_responded; /* set by the first HTTP response of the server; at once for a
                              command */
    bool replace_failed;   /* set when the old file could not be replaced, until it could */
    void (*disk_wait)(void *to);
    void *to;
};

/* Calls `waits` when nothing but the disk is waited for. */
void record_output_init(struct record_output *r, const struct app *app,
                        struct record_path *place, const struct record_settings *how,
                        void (*waits)(void *to), void *to);
void record_output_release(struct record_output *r);

/* Finds a free name, and creates the file if `open`. */
bool record_output_open(struct record_output *r, bool open, struct err *e) MUST_CHECK;
void record_output_remove(
    struct record_output *r); /* removes the file of a session that did not start */

struct recorder_time record_output_now(struct record_output *r);

/* Call it after each record: flushes batched records and logs write errors. `kept`: the record
 * was accepted; else `error` has the reason. Replaces an old file of that name once a message
 * to or from a reachable server was recorded. */
void record_output_report_errors(struct record_output *r, bool kept);

/* Log the headers of an HTTP request or response if `log_http` is set. Values of secret headers
 * are masked. */
void record_output_log_request(struct record_output *r, const struct request_head *head);
void record_output_log_response(const struct record_output *r, unsigned status,
                                const struct headers *fields);

/* Writes the header. `transport` is that of the server. */
void record_output_write_header(struct record_output *r, struct str transport);

/* Writes the footer, closes the file and logs the result. If nothing was recorded and an old
 * file was to be replaced or a document to be made, the old file stays and no new one is made.
 * `code` is the exit code of the session, `remark` (may be NULL) is added to the result line.
 * Returns the exit code. */
int record_output_finish(struct record_output *r, int code, const char *remark);

#endif
