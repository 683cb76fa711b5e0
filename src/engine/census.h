/* engine/census.h - operations added up: what was asked for, how it ended, how long it took.
 *
 * Takes operations that have ended (trace/operation.h). A row is a direction, a method and
 * the tool, prompt or resource it is about; not the task, because every task is new. What
 * goes on with an operation while that is open, a retry, a poll of its task, a further
 * page, is no call of its own: how the family fared, and how long it took, is told by its
 * head.
 *
 * Bounded: CENSUS_ROWS rows and one for all others, of texts CENSUS_TEXT bytes. */
#ifndef ENGINE_CENSUS_H
#define ENGINE_CENSUS_H

#include "base/histogram.h"
#include "base/roster.h"
#include "trace/operation.h"

enum { CENSUS_ROWS = 512, CENSUS_TEXT = 256 };

/* How long the answered ones took, in microseconds. The latter two are NULL as long as
 * nobody waited for the client, and `total` is what the server held it. */
struct census_times {
    struct histogram *total, *server, *wait;
};

struct census_row {
    uint64_t first;             /* number of the first operation */
    enum record_dir dir;        /* the way the request goes; the shared row: either */
    struct str method, subject; /* empty in the shared row */
    uint64_t calls;
    uint64_t retries, polls, pages; /* further requests of these calls */
    uint64_t wanted_input, tasks;   /* calls in which the server did, and that became one */
    uint64_t outcomes[OUTCOMES];    /* of the calls */
    uint64_t cancelled;             /* calls that were given up, also those answered late */
    uint64_t unanswered;            /* calls, retries and pages without an answer */
    struct census_times times;      /* NULL: nothing was measured */
};

struct census {
    struct roster rows;             /* of struct census_row */
    uint64_t count;                 /* of all operations, whatever they are */
    uint64_t parts;                 /* those that go on with another, which has their outcome */
    uint64_t outcomes[OUTCOMES];    /* of all but the parts */
    uint64_t cancelled, unanswered; /* of requests; of these polls count, too */
};

void census_init(struct census *c);
void census_release(struct census *c);

/* An operation has ended. */
void census_add(struct census *c, const struct operation *op);

/* Nothing more will come: rows stand in the order of their first operations. */
void census_finish(struct census *c);

/* A request that goes on with no other: a retry, poll or page that came after the end of
 * what it belongs to is a call of its own. */
bool census_is_call(const struct operation *op);

/* Calls that were answered in the end, and those of them, or instead of them, that failed:
 * the server, the tool, the transport or the JSON. */
uint64_t census_answered(const struct census_row *row);
uint64_t census_errors(const struct census_row *row);

#endif
