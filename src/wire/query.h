/* wire/query.h - parses query strings and form bodies: a=b&c=d%20e.
 *
 * Parses like browsers: every text is valid, a malformed escape stands for itself. */
#ifndef WIRE_QUERY_H
#define WIRE_QUERY_H

#include "base/buf.h"

struct query_param {
    struct str name, value; /* still encoded; without '=' value.at is NULL */
    struct str text;        /* name, '=' and value */
};

/* Cuts the next pair off `*rest`; it is empty between two '&'. Returns false at the end. */
bool query_next(struct str *rest, struct query_param *p);

void query_decode(struct buf *to, struct str text); /* '+' becomes a blank */

/* Returns whether the decoded text equals `plain`. */
bool query_equals(struct str text, struct str plain);

#endif
