#include "http-reader.h"

void http_reader_begin_body(struct http_reader *t, struct body_framing plan)
{
    body_init(&t->body, plan);
    t->in_body = true;
}

void http_reader_reject(struct http_reader *t, const char *why)
{
    buf_printf(t->text, "! %s", why);
    t->done = true;
}

static void read_body(struct http_reader *t, struct str *in)
{
    struct str data;

    switch (body_next(&t->body, in, &data)) {
    case BODY_MORE:
        BUG_IF(in->len);
        break;
    case BODY_DATA:
        buf_add(t->text, data);
        break;
    case BODY_REJECTED:
        http_reader_reject(t, reject_reason_text(t->body.chunked.reason));
        break;
    case BODY_END:
        buf_add(t->text, STR("|"));
        body_release(&t->body);
        t->clear_head(t->head);
        t->in_body = false;
        break;
    }
}

void http_reader_run(struct http_reader *t, struct split_input *c)
{
    struct str in;

    while (!t->done && split_input_next(c, &in)) {
        do {
            if (t->in_body)
                read_body(t, &in);
            else
                t->read_head(t, &in);
        } while (!t->done && in.len);
    }
    /* A body without bytes ends without input; a second call must not matter. */
    if (t->in_body && !t->done && t->body.kind != BODY_CHUNKED && !t->body.remaining)
        read_body(t, &(struct str){ NULL, 0 });
    if (t->in_body)
        body_release(&t->body);
}
