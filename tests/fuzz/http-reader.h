/* tests/fuzz/http-reader.h - reads heads and bodies of one side of a connection in turn, until
 * an input is rejected or a body has no end.
 *
 * Logs the bodies; the owner reads and logs the heads. */
#ifndef HTTP_READER_H
#define HTTP_READER_H

#include "split-input.h"
#include "wire/body.h"

struct http_reader {
    /* Reads from the front of `*in`. A complete head calls http_reader_begin_body() or sets
     * `done`, a rejected one calls http_reader_reject(). */
    void (*read_head)(struct http_reader *t, struct str *in);
    void (*clear_head)(void *head);
    void *head;
    struct buf *text;

    bool done;
    bool in_body;
    struct body body;
};

void http_reader_begin_body(struct http_reader *t, struct body_framing plan);
void http_reader_reject(struct http_reader *t, const char *why);
void http_reader_run(struct http_reader *t, struct split_input *c);

#endif
