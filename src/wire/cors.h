/* wire/cors.h - what a browser wants to be told before it lets a page of another origin ask us,
 * and see what it is answered (CORS, as the Fetch standard has it).
 *
 * For whoever answers itself; answers of others pass with the lines that they have. Who may
 * come in is judged before, by others: here whoever asks is answered, by its own name and
 * never with '*', and so that nobody keeps the answer for another. Cookies are not spoken of,
 * so that none are sent. */
#ifndef WIRE_CORS_H
#define WIRE_CORS_H

#include "wire/request.h"

/* Whether the browser only asks what a page may send here. It wants to be told with 204. */
bool cors_asks(const struct request *r);

/* Adds the lines of that answer. They borrow from the request. */
void cors_permit(struct fields *to, const struct request *r);

/* Adds the lines of any other answer; none if it was not a page that asked. They borrow from
 * the request's. */
void cors_share(struct fields *to, const struct fields *asked);

#endif
