/* wire/ask.h - the head of an HTTP/1.1 request, composed.
 *
 * Header lines go out as they are given, in their order, duplicates and spelling kept,
 * but for those between neighbours only: what Connection names, how the body ends (the
 * plan alone says that) and Expect, since nobody here waits for an answer to it. */
#ifndef WIRE_ASK_H
#define WIRE_ASK_H

#include "base/buf.h"
#include "wire/body.h"
#include "wire/fields.h"

struct ask {
    struct str method;    /* a token */
    struct str target;    /* as it is to stand in the line */
    struct fields fields; /* borrowed, as all of it */
    struct body_plan body;
};

/* What is added to every request to the same server; all borrowed. */
struct ask_manner {
    struct str host;     /* for a request without a Host of its own */
    struct fields extra; /* instead of those of the same name */
};

/* Adds the head with its empty line. What could add a line of its own is a mistake of the
 * caller's: all of it was read, or checked, before. */
void ask_compose(struct buf *to, const struct ask *a, const struct ask_manner *m);

#endif
