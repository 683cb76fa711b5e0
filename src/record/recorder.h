/* record/recorder.h - turns the traffic of a session into records.
 *
 * Parses lines and bodies into messages, numbers them, measures latencies and counts. Does no
 * I/O and knows no format: the records go to a sink. If the sink fails, the function returns
 * false and recording goes on; the next record may succeed.
 *
 * SSE comments and lines that are no JSON-RPC message would take many times their size in a
 * file. In each exchange (on stdio: in each direction of a process) the first
 * RECORDER_NOISE_KEPT of them are recorded; the others are counted. A record with their number
 * and size precedes the next message or event of the exchange and its end, and follows every
 * RECORDER_NOISE_BATCH. */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include "trace/pairing.h"
#include "trace/parse-messages.h"
#include "trace/record.h"
#include "trace/recording-info.h"

enum { RECORDER_NOISE_KEPT = 32, RECORDER_NOISE_BATCH = 4096 };

struct recorder_time {
    int64_t us;      /* monotonic, since the start */
    int64_t wall_us; /* since 1970 */
};

/* The connection, session, exchange and stream that a record belongs to. */
struct recorder_context {
    unsigned has; /* of HAS_CONN, HAS_SESSION, HAS_EXCHANGE, HAS_STREAM, HAS_REDELIVERS */
    uint64_t conn, session, exchange, stream;
    struct str event;    /* JSON of the SSE event that carried the message */
    uint64_t redelivers; /* seq of the message that this repeats */
};

struct recorder {
    struct sink parsed;  /* receives the parser's records */
    struct sink *output; /* borrowed */
    struct recorder_context context;
    struct message_parser parser;
    struct pairing pairing;
    struct recording_info info;
    struct map noise; /* kind and context to struct recorder_noise */
    struct recorder_time now;
    uint64_t seq, messages[2], errors;
    struct str
        request_id; /* JSON-RPC id in the latest text, as JSON, if that was one request */
};

void recorder_init(struct recorder *t, struct sink *to);
void recorder_release(struct recorder *t);

/* Writes the header. */
bool recorder_write_header(struct recorder *t, const struct record_header *header,
                           struct recorder_time now, struct err *e) MUST_CHECK;

/* Records a line without its newline, message or not, of connection `conn`. Ignores blank
 * lines. */
bool recorder_add_line(struct recorder *t, uint64_t conn, enum record_dir dir, struct str line,
                       struct recorder_time now, struct err *e) MUST_CHECK;

/* Records a whole HTTP body, or the data of an SSE event. */
bool recorder_add_text(struct recorder *t, const struct recorder_context *at,
                       enum record_dir dir, struct str text, struct recorder_time now,
                       struct err *e) MUST_CHECK;

/* The first parses a text and says what it is; the second records it without parsing it again.
 * Only recorder_add_record() may be called in between. */
enum parse_kind recorder_classify(struct recorder *t, struct str text);
bool recorder_add_classified(struct recorder *t, const struct recorder_context *at,
                             enum record_dir dir, struct recorder_time now,
                             struct err *e) MUST_CHECK;

/* Records anything but a message. The caller fills all but context and time. */
bool recorder_add_record(struct recorder *t, const struct recorder_context *at,
                         struct record *r, struct recorder_time now, struct err *e) MUST_CHECK;

/* Records a gap for a line over the size limit. */
bool recorder_add_too_long(struct recorder *t, uint64_t conn, enum record_dir dir,
                           uint64_t bytes, struct recorder_time now, struct err *e) MUST_CHECK;

bool recorder_add_stderr(struct recorder *t, uint64_t conn, struct str bytes,
                         struct recorder_time now, struct err *e) MUST_CHECK;
bool recorder_add_start(struct recorder *t, uint64_t conn, struct recorder_time now,
                        struct err *e) MUST_CHECK;

/* Records the exit of the server. `signum` 0: it exited with `code`. `why` may be empty. */
bool recorder_add_exit(struct recorder *t, uint64_t conn, int code, int signum, struct str why,
                       struct recorder_time now, struct err *e) MUST_CHECK;

/* Writes the footer. `exit_code` is that of mcpreel. */
bool recorder_write_footer(struct recorder *t, int exit_code, struct recorder_time now,
                           struct err *e) MUST_CHECK;

#endif
