/* format/cassette-gather.h - records put together to the interactions of a cassette.
 *
 * What came out of a cassette goes back as it was: each exchange that nobody timed is an
 * interaction, also if it was put into one file with others.
 * Otherwise requests are paired with their answers, and interactions come in the order
 * in which they were complete, as mcp-recorder would have seen them. It knows no
 * traffic from server to client but answers, and no request without one: these are
 * left out. An answer without a request is like one to a body that is no message.
 *
 * Keeps what is not complete, up to LIMIT_OPEN_REQUESTS of them and LIMIT_LINE bytes. */
#ifndef FORMAT_CASSETTE_GATHER_H
#define FORMAT_CASSETTE_GATHER_H

#include "format/cassette-model.h"

struct cassette_gather;

/* Is given each interaction when it is complete; valid during the call. */
struct cassette_sink {
    void (*put)(struct cassette_sink *self, const struct cassette_interaction *i);
};

struct cassette_gather *cassette_gather_new(struct cassette_sink *to);

/* False: more is incomplete than can be kept; the gatherer is of no use any more. */
bool cassette_gather_put(struct cassette_gather *g, const struct record *r) MUST_CHECK;

/* Nothing follows: completes what can be completed without more. */
void cassette_gather_end(struct cassette_gather *g);

/* The same. The metadata is valid until cassette_gather_free(). */
struct cassette_metadata cassette_gather_finish(struct cassette_gather *g);

void cassette_gather_free(struct cassette_gather *g);

#endif
