/* runtime/traffic-recorder.h - records the traffic of any number of connections: recorders,
 * redactor, and the sinks that get the redacted records.
 *
 * Takes lines, HTTP exchanges, standard error and process events of a connection. The functions
 * return nothing, because a session goes on whatever becomes of its recording: a record that
 * does not reach a sink is reported to `failed`, and the other sinks get it anyway. To record a
 * peer, give its owner the recorder (runtime/peer.h). Knows no files and no loop; a file is the
 * sink of runtime/record-output.h. */
#ifndef RUNTIME_TRAFFIC_RECORDER_H
#define RUNTIME_TRAFFIC_RECORDER_H

#include "record/http-recorder.h"
#include "redact/redaction.h"

enum { TRAFFIC_RECORDER_SINKS_MAX = 4 };

struct traffic_recorder_sink {
    struct sink *records;
    void (*flush)(void *to); /* the traffic of these records is about to be forwarded; may be
                                NULL */
    void *to;
};

typedef void traffic_recorder_failed_fn(void *to, const struct err *why);

struct traffic_recorder {
    struct recorder recorder;
    struct http_recorder http;   /* for exchanges: call http_recorder_…() with
                                    traffic_recorder_now(), then traffic_recorder_commit() */
    struct redaction *redaction; /* borrowed */
    struct sink redacted_sink;   /* gives records to `sinks` */
    struct traffic_recorder_sink sinks[TRAFFIC_RECORDER_SINKS_MAX]; /* borrowed */
    size_t sink_count;
    traffic_recorder_failed_fn *failed;
    void *to;
    int64_t started_us;
    struct recorder_time wall_clock_read; /* both clocks when the wall clock was last read */
    struct err error;    /* the latest error; a member because it is too large for each line */
    uint64_t long_lines; /* count of lines over the limit */
};

/* Bodies and events of more than `max_message` bytes are recorded as a gap. `redaction` is for
 * this recorder alone. */
void traffic_recorder_init(struct traffic_recorder *t, struct redaction *redaction,
                           size_t max_message, traffic_recorder_failed_fn *failed, void *to);
void traffic_recorder_release(struct traffic_recorder *t);

/* Adds a sink, before the first record. */
void traffic_recorder_add_sink(struct traffic_recorder *t,
                               const struct traffic_recorder_sink *sink);

/* Sets the HTTP server whose exchanges are recorded. `parsed` resolves the endpoints of
 * HTTP+SSE and is borrowed; secrets of the full `url`, which may be empty, are redacted. */
void traffic_recorder_set_server(struct traffic_recorder *t, const struct url *parsed,
                                 struct str url);

struct recorder_time traffic_recorder_now(struct traffic_recorder *t);

void traffic_recorder_write_header(struct traffic_recorder *t,
                                   const struct record_header *header);
void traffic_recorder_write_footer(struct traffic_recorder *t, int exit_code);

/* Record what came on connection `conn` or happened to its process; as in record/recorder.h. */
void traffic_recorder_add_line(struct traffic_recorder *t, uint64_t conn, enum record_dir dir,
                               struct str line);
void traffic_recorder_add_too_long(struct traffic_recorder *t, uint64_t conn,
                                   enum record_dir dir, uint64_t bytes);
void traffic_recorder_add_stderr(struct traffic_recorder *t, uint64_t conn, struct str bytes);
void traffic_recorder_add_start(struct traffic_recorder *t, uint64_t conn);
void traffic_recorder_add_exit(struct traffic_recorder *t, uint64_t conn, int code, int signum,
                               struct str why);
void traffic_recorder_add_record(struct traffic_recorder *t, const struct recorder_context *at,
                                 struct record *r);

/* Reports the errors of `http`, and flushes the sinks: before the recorded bytes are
 * forwarded. */
void traffic_recorder_commit(struct traffic_recorder *t);

/* Returns the number of lines, bodies and events that were over the limit. */
uint64_t traffic_recorder_too_long(const struct traffic_recorder *t);

#endif
