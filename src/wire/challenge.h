/* wire/challenge.h - WWW-Authenticate: what a server asks for, one parameter after the other.
 *
 * A header line may hold several challenges, and a challenge several parameters, all
 * separated by commas; which comma is which only shows behind it. Reads what servers write,
 * not only what HTTP allows: a value without quotes goes on until a blank or a comma, since
 * addresses are written so. What cannot be read ends it. Pure; everything is borrowed from the
 * line. */
#ifndef WIRE_CHALLENGE_H
#define WIRE_CHALLENGE_H

#include "base/str.h"

struct challenge {
    struct str rest;
    struct str scheme; /* of the challenge that is being read; empty: none has begun */
};

struct challenge_param {
    struct str scheme; /* "Bearer"; empty: the line does not say */
    struct str name;
    struct str value; /* without its quotes; what is escaped in them stays so */
};

struct challenge challenge_of(struct str line);

/* False: that was all. */
bool challenge_next(struct challenge *c, struct challenge_param *p);

#endif
