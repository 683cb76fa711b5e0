/* tests/unit/terse.h - records as short lines of text, both ways.
 *
 *     c2s {'id':1,'method':'ping'}
 *     @2000 conn=2 x=7 s2c {'id':1,'result':{}}
 *
 * `x` is the exchange. JSON has ' for " and ` for \, which keeps it readable in C. */
#ifndef TERSE_H
#define TERSE_H

#include "base/arena.h"
#include "base/buf.h"
#include "trace/record.h"

/* `text` with ' and ` as " and \; into `a`. */
struct str terse_json(struct arena *a, const char *text);

/* A JSON text scanned for good: valid until terse_scanned_release(). */
struct terse_scanned {
    struct arena arena;
    struct json json;
};
struct json_val terse_scan(struct terse_scanned *s, const char *text);
void terse_scanned_release(struct terse_scanned *s);

/* Every line of `text` as a message into `to`, numbered from 1. Lines that start
 * with "| " are lines of a native recording. */
void terse_pour(struct sink *to, const char *text);
void terse_pour_plain(struct sink *to, struct str text); /* with " and \ as they are */

/* A sink that writes down what it is given, one line per record. */
struct terse {
    struct sink sink;
    struct buf text;
    bool refuses; /* takes nothing and says so */
};

void terse_init(struct terse *t);
void terse_release(struct terse *t);

/* What came since the last time. */
#define assert_terse(t, want)                                                                  \
    do {                                                                                       \
        assert_str(buf_str(&(t)->text), str_z(want));                                          \
        buf_clear(&(t)->text);                                                                 \
    } while (0)

#endif
