/* format/cassette-pair.h - pairs records into the interactions of a cassette.
 *
 * Exchanges that came from a cassette (they have no times) become the original interactions,
 * also if they were combined with other recordings.
 * Otherwise requests are paired with their responses, and interactions come in the order in
 * which they were complete, as in mcp-recorder. A cassette has no server-to-client messages but
 * responses, and no request without a response: these are dropped. A response without a request
 * is stored like the response to a body that is no message.
 *
 * Keeps incomplete interactions: at most LIMIT_OPEN_REQUESTS, and LIMIT_LINE bytes. */
#ifndef FORMAT_CASSETTE_PAIR_H
#define FORMAT_CASSETTE_PAIR_H

#include "format/cassette-model.h"

struct cassette_pair;

/* Receives each complete interaction; valid during the call. */
struct cassette_sink {
    void (*put)(struct cassette_sink *self, const struct cassette_interaction *i);
};

struct cassette_pair *cassette_pair_new(struct cassette_sink *to);

/* Adds a record. Returns false if a limit is exceeded; then it cannot be used any more. */
bool cassette_pair_put(struct cassette_pair *g, const struct record *r) MUST_CHECK;

/* Completes interactions that need no more records. */
void cassette_pair_end(struct cassette_pair *g);

/* The same, and returns the metadata, valid until cassette_pair_free(). */
struct cassette_metadata cassette_pair_finish(struct cassette_pair *g);

void cassette_pair_free(struct cassette_pair *g);

#endif
