/* wire/cors.h - adds the CORS headers of responses that mcpreel composes itself.
 *
 * Follows the Fetch standard. Responses of an upstream server keep their own CORS headers. The
 * access check (transport/http-access.h) has accepted the origin before, so every origin is
 * allowed here: by its name, never with '*', and with Vary, so that no cache serves the
 * response to another origin. Credentials are not allowed: browsers send no cookies. */
#ifndef WIRE_CORS_H
#define WIRE_CORS_H

#include "wire/request-read.h"

/* Returns whether the request is a CORS preflight, to be answered with 204. */
bool cors_is_preflight(const struct request_head *r);

/* Adds the headers of the response to a preflight. They borrow from the request. */
void cors_add_preflight_headers(struct headers *to, const struct request_head *r);

/* Adds the headers of any other response; none if the request has no Origin. They borrow from
 * the headers of the request. */
void cors_add_headers(struct headers *to, const struct headers *request);

#endif
