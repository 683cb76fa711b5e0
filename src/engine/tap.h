/* engine/tap.h - what passes, as records.
 *
 * Takes whole lines and what else is seen of a session, makes one record of each,
 * numbers them, measures latencies and keeps count. Does no I/O and knows no
 * format: the records go to a sink. That the sink fails is told, and is no reason
 * to stop: the next record may find the disk healthy again.
 *
 * Comments of a stream, and lines that are no JSON-RPC message, would take up many times their
 * size in a file. Of each exchange (on stdio: of each direction of a process) the first
 * TAP_NOISE_KEPT are records of their own; the others are counted, and one record with their
 * number and size is made before the next message or event of the exchange, at its end, and
 * after every TAP_NOISE_COUNTED. */
#ifndef ENGINE_TAP_H
#define ENGINE_TAP_H

#include "trace/facts.h"
#include "trace/intake.h"
#include "trace/pairing.h"
#include "trace/record.h"

enum { TAP_NOISE_KEPT = 32, TAP_NOISE_COUNTED = 4096 };

struct tap_time {
    int64_t us;      /* monotonic, since the start */
    int64_t wall_us; /* since 1970 */
};

/* Where something was said. */
struct tap_place {
    unsigned has; /* of HAS_CONN, HAS_SESSION, HAS_EXCHANGE, HAS_STREAM, HAS_REDELIVERS */
    uint64_t conn, session, exchange, stream;
    struct str event;    /* JSON: around a message, in a stream of events */
    uint64_t redelivers; /* the number of a message that this is once more */
};

struct tap {
    struct sink sink; /* takes what the intake makes of a line */
    struct sink *to;  /* borrowed */
    struct tap_place at;
    struct intake intake;
    struct pairing pairs;
    struct facts facts;
    struct map noise; /* kind and place to struct tap_noise */
    struct tap_time now;
    uint64_t seq, messages[2], errors;
    struct str asks; /* the id of the text taken in last, as JSON, if that was one request */
};

void tap_init(struct tap *t, struct sink *to);
void tap_release(struct tap *t);

/* The header; the record's own members of that kind are the caller's to fill. */
bool tap_begin(struct tap *t, const struct record_header *header, struct tap_time now,
               struct err *e) MUST_CHECK;

/* One line without its newline, whatever is in it. Blank lines are no records. */
bool tap_line(struct tap *t, enum record_dir dir, struct str line, struct tap_time now,
              struct err *e) MUST_CHECK;

/* The same of what was said over HTTP: all of a body, or the data of an event. */
bool tap_text(struct tap *t, const struct tap_place *at, enum record_dir dir, struct str text,
              struct tap_time now, struct err *e) MUST_CHECK;

/* What a text would be taken for; and to take it in then, without reading it again: nothing
 * but tap_around() may come between. */
enum intake_kind tap_look(struct tap *t, struct str text);
bool tap_seen(struct tap *t, const struct tap_place *at, enum record_dir dir,
              struct tap_time now, struct err *e) MUST_CHECK;

/* Something around the messages of HTTP; all but place and time are the caller's to fill. */
bool tap_around(struct tap *t, const struct tap_place *at, struct record *r,
                struct tap_time now, struct err *e) MUST_CHECK;

/* A line that was too long to be kept. */
bool tap_too_long(struct tap *t, enum record_dir dir, uint64_t bytes, struct tap_time now,
                  struct err *e) MUST_CHECK;

bool tap_stderr(struct tap *t, struct str bytes, struct tap_time now, struct err *e) MUST_CHECK;
bool tap_started(struct tap *t, struct tap_time now, struct err *e) MUST_CHECK;

/* `signum` 0: it exited by itself with `code`. `why` is what else is known; may be empty. */
bool tap_exited(struct tap *t, int code, int signum, struct str why, struct tap_time now,
                struct err *e) MUST_CHECK;

/* The footer; `exit_code` as the recorder itself will end. */
bool tap_end(struct tap *t, int exit_code, struct tap_time now, struct err *e) MUST_CHECK;

#endif
