/* wire/url.h - parses http and https URLs, and the authority of URL, Host and Origin.
 *
 * Strict: rejects what browsers repair (backslashes, blanks, non-ASCII), since two parsers
 * could repair it differently. Everything is borrowed from the text. Errors never contain the
 * URL: it may hold a password. */
#ifndef WIRE_URL_H
#define WIRE_URL_H

#include "base/err.h"
#include "base/str.h"
#include "wire/ip.h"

struct url_authority {
    struct str userinfo; /* `at` is NULL without one */
    struct str host;     /* without brackets; never empty */
    struct ip ip;        /* IP_NONE: the host is a name */
    int port;            /* -1: not given */
};

struct url {
    bool https;
    struct url_authority authority;
    struct str path;     /* begins with '/', or is empty */
    struct str query;    /* without its '?'; `at` is NULL without one */
    struct str fragment; /* without its '#'; `at` is NULL without one */
};

/* Parses [userinfo@]host[:port]; a V6 address is in brackets. */
bool url_parse_authority(struct url_authority *a, struct str text);

/* Returns whether the text is visible ASCII without backslashes. */
bool url_has_valid_chars(struct str text);

/* Parses decimal digits up to 65535. The port of an empty text is -1. */
bool url_parse_port(struct str text, int *port);

/* Parses a URL. ERR_USAGE; the message does not contain the URL. */
bool url_parse(struct url *u, struct str text, struct err *e) MUST_CHECK;

/* Returns the port, or the default of the scheme if none was given. */
int url_port(const struct url *u);

/* Returns whether two hosts are equal, without regard to case and to the spelling of addresses.
 */
bool url_same_host(const struct url_authority *a, const struct url_authority *b);

/* Returns whether the host is 'localhost' or a loopback address in canonical spelling. */
bool url_is_loopback(const struct url_authority *a);

/* Returns whether a server may take two paths for the same: to HTTP '/mcp', '/mcp/', '//mcp'
 * and
 * '/%6dcp' are different, to many servers they are not. Ignores unnecessary escapes, empty
 * segments, '.' and '..', and a '/' at the end. An escaped '/' is not a separator. */
bool url_same_path(struct str a, struct str b);

#endif
