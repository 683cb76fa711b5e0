#include "turns.h"

void turns_body(struct turns *t, struct body_plan plan)
{
    body_init(&t->body, plan);
    t->in_body = true;
}

void turns_refuse(struct turns *t, const char *why)
{
    buf_printf(t->seen, "! %s", why);
    t->over = true;
}

static void read_body(struct turns *t, struct str *in)
{
    struct str data;

    switch (body_next(&t->body, in, &data)) {
    case BODY_MORE:
        BUG_IF(in->len);
        break;
    case BODY_DATA:
        buf_add(t->seen, data);
        break;
    case BODY_REFUSED:
        turns_refuse(t, refusal_text(t->body.chunked.why));
        break;
    case BODY_END:
        buf_add(t->seen, STR("|"));
        body_release(&t->body);
        t->clear_head(t->head);
        t->in_body = false;
        break;
    }
}

void turns_run(struct turns *t, struct cuts *c)
{
    struct str in;

    while (!t->over && cuts_next(c, &in)) {
        do {
            if (t->in_body)
                read_body(t, &in);
            else
                t->read_head(t, &in);
        } while (!t->over && in.len);
    }
    /* A body of no bytes ends without any; when it is asked again must not matter. */
    if (t->in_body && !t->over && t->body.kind != BODY_CHUNKED && !t->body.left)
        read_body(t, &(struct str){ NULL, 0 });
    if (t->in_body)
        body_release(&t->body);
}
