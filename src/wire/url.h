/* wire/url.h - an http or https URL taken apart, and the authority that Host and Origin share.
 *
 * Strict: what browsers mend (backslashes, blanks, other alphabets) is refused, since
 * two readers could mend it differently. Everything is borrowed from the text. An
 * error never repeats the URL: it may hold a password. */
#ifndef WIRE_URL_H
#define WIRE_URL_H

#include "base/err.h"
#include "base/str.h"
#include "wire/ip.h"

struct url_authority {
    struct str userinfo; /* `at` is NULL without one */
    struct str host;     /* without brackets; never empty */
    struct ip ip;        /* IP_NONE: the host is a name */
    int port;            /* -1: not said */
};

struct url {
    bool https;
    struct url_authority authority;
    struct str path;     /* begins with '/', or is empty */
    struct str query;    /* without its '?'; `at` is NULL without one */
    struct str fragment; /* without its '#'; `at` is NULL without one */
};

/* [userinfo@]host[:port]; a V6 address stands in brackets. */
bool url_authority(struct url_authority *a, struct str text);

/* Nothing in it but what can be seen in ASCII, and no backslash. */
bool url_is_visible(struct str text);

/* Decimal digits up to 65535; -1 if there are none. */
bool url_parse_port(struct str text, int *port);

/* ERR_USAGE, without telling the URL. */
bool url_parse(struct url *u, struct str text, struct err *e) MUST_CHECK;

/* The port that is meant: the scheme's own if none was said. */
int url_port(const struct url *u);

/* The same host, but for case and, of an address, spelling. */
bool url_same_host(const struct url_authority *a, const struct url_authority *b);

/* 'localhost' or an address of this machine alone, written as one usually does. */
bool url_is_loopback(const struct url_authority *a);

#endif
