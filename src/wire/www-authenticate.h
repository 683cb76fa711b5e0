/* wire/www-authenticate.h - iterates over the parameters of a WWW-Authenticate header.
 *
 * A header may hold several challenges, each with several parameters; commas separate both.
 * Accepts what servers send, not only valid syntax: a value without quotes ends at a blank or
 * comma, since URLs are written so. Unreadable input ends the iteration. Everything is borrowed
 * from the header value. */
#ifndef WIRE_WWW_AUTHENTICATE_H
#define WIRE_WWW_AUTHENTICATE_H

#include "base/str.h"

struct www_authenticate {
    struct str rest;
    struct str scheme; /* of the current challenge; empty before the first one */
};

struct www_authenticate_param {
    struct str scheme; /* "Bearer"; empty if the header has none */
    struct str name;
    struct str value; /* without quotes; escapes in it are kept */
};

struct www_authenticate www_authenticate_begin(struct str line);

/* Returns false at the end. */
bool www_authenticate_next(struct www_authenticate *c, struct www_authenticate_param *p);

#endif
