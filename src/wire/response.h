/* wire/response.h - the head of an HTTP/1.1 response, composed.
 *
 * Nothing that came from elsewhere can add a line to it: a name that is no word, or a
 * value or phrase with a control character, is refused. How the body ends is said by
 * the plan alone, whether the connection stays by `close`: header lines that say so
 * themselves are refused, too, so that the two cannot contradict each other. */
#ifndef WIRE_RESPONSE_H
#define WIRE_RESPONSE_H

#include "base/buf.h"
#include "wire/body.h"
#include "wire/fields.h"

struct response {
    unsigned status;       /* 100 to 599 */
    struct str phrase;     /* empty: the usual one */
    struct fields fields;  /* in this order; borrowed */
    struct body_plan body; /* BODY_NONE says nothing: no body, or one until the close */
    bool close;
};

/* Adds the head with its empty line. ERR_INPUT if a field or the phrase is refused, and
 * then `to` is as it was. It is full if there is not room for a little more (256 bytes) than
 * phrase and fields take. */
bool response_compose(struct buf *to, const struct response *r, struct err *e) MUST_CHECK;

struct str response_phrase(unsigned status); /* "Not Found"; empty: none is usual */

/* Whether the head says how the body ends, and so composes that line itself. */
bool response_owns(struct str name);

#endif
