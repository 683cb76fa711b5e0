/* tests/unit/terse.h - records as short lines of text, parsed and written.
 *
 *     c2s {'id':1,'method':'ping'}
 *     @2000 conn=2 s2c {'id':1,'result':{}}
 *     session=1 x=4 stream=2 redelivers=7 s2c {'id':1,'result':{}}
 *     batch=1:0/2 c2s {'id':1,'method':'ping'}       (the first of two)
 *     latency=20 s2c {'id':1,'result':{}}            (in milliseconds)
 *     raw s2c what a server should not print
 *     x=4 stream=2 http 200 resumes 1                (the last two may be missing)
 *     x=4 http end client                            (then maybe "cut", and why)
 *
 * `x` is the exchange. Marks stand in the order @ conn session x stream redelivers latency
 * batch. JSON has ' for " and ` for \, which keeps it readable in C. */
#ifndef TERSE_H
#define TERSE_H

#include "base/arena.h"
#include "base/buf.h"
#include "format/format.h"
#include "trace/record.h"

/* `text` with ' and ` as " and \; into `a`. */
struct str terse_json(struct arena *a, const char *text);

/* How a file may start, in terse_json()'s manner; the probe of a format must know its own. */
struct terse_head {
    const char *text;
    bool is_own;
};
void terse_check_probe(enum probe_rank (*probe)(struct str head),
                       const struct terse_head *heads, size_t count);

/* A JSON text scanned for good: valid until terse_scanned_release(). */
struct terse_scanned {
    struct arena arena;
    struct json json;
};
struct json_val terse_scan(struct terse_scanned *s, const char *text);
void terse_scanned_release(struct terse_scanned *s);

/* Every line of `text` as a message into `to`, numbered from 1. Lines that start
 * with "| " are lines of a native recording. */
void terse_feed(struct sink *to, const char *text);
void terse_feed_plain(struct sink *to, struct str text); /* with " and \ as they are */

/* A sink that writes one line per record. */
struct terse {
    struct sink sink;
    struct buf text;
    bool fails;    /* rejects every record */
    bool no_times; /* writes neither times nor latencies */
};

void terse_init(struct terse *t);
void terse_release(struct terse *t);

/* Returns the text since the last call. */
#define assert_terse(t, want)                                                                  \
    do {                                                                                       \
        assert_str(buf_str(&(t)->text), str_z(want));                                          \
        buf_clear(&(t)->text);                                                                 \
    } while (0)

#endif
