/* engine/http-said.h - lines that a client has said and that cannot go to the server yet, the
 * oldest first. */
#ifndef ENGINE_HTTP_SAID_H
#define ENGINE_HTTP_SAID_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/http-waits.h"

struct http_said_line {
    struct http_said_line *next;
    bool answers; /* something that the server asked */
    struct str text;
};

struct http_said {
    struct http_said_line *first, *last;
    size_t bytes; /* of all of them */
};

void http_said_release(struct http_said *s);

void http_said_add(struct http_said *s, struct str text, bool answers); /* copied */
void http_said_pop(struct http_said *s); /* the first is not needed any more; there is one */

/* They will never go: what is asked in them waits, for nobody's answer (`by` is NULL). */
void http_said_give_up(struct http_said *s, struct http_waits *to);

#endif
