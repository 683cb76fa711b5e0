/* tests/unit/http-tape.h - an HTTP server that is recorded, told in lines (http-line.h).
 *
 * What they say goes through the very tap that `record` has; each a millisecond after the
 * one before it. An answer that is no stream ends its exchange. The server's own paths are
 * /mcp and /sse. */
#ifndef HTTP_TAPE_H
#define HTTP_TAPE_H

#include "engine/http-tap.h"
#include "http-line.h"

enum { HTTP_TAPE_EXCHANGES = 64 };

struct http_tape {
    struct tap tap;
    struct http_tap http;
    struct http_seen *open[HTTP_TAPE_EXCHANGES];
    struct url server;
    struct buf text;
    int64_t ms;
};

void http_tape_init(struct http_tape *t, struct sink *to);
void http_tape_release(struct http_tape *t); /* what is open ends with it */

void http_tape_line(struct http_tape *t, struct str line);

#endif
