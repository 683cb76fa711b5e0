#include "cuts.h"
#include "wire/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEEN_MAX = 16 << 20 };

static void add_text(struct buf *to, char mark, struct str s)
{
    buf_printf(to, " %c%zu:", mark, s.len);
    buf_add(to, s);
}

static void describe(const struct reply *r, struct buf *seen)
{
    buf_printf(seen, "[1.%d %u %d %llu %d %d %d", r->minor, r->status, (int)r->body.kind,
               (unsigned long long)r->body.length, r->bodiless, r->until_close, r->keep_alive);
    add_text(seen, 'p', r->phrase);
    for (size_t i = 0; i < r->fields.count; i++) {
        add_text(seen, 'n', r->fields.at[i].name);
        add_text(seen, 'v', r->fields.at[i].value);
    }
    buf_add_ch(seen, ']');
}

/* Whatever is taken can be passed on, and its end is known, or known not to be. */
static void must_be_sound(const struct reply *r)
{
    BUG_IF(r->status < 100 || r->status > 599 || !fields_is_value(r->phrase));
    BUG_IF(r->until_close && (r->keep_alive || r->bodiless || r->body.kind != BODY_NONE));
    BUG_IF(!r->until_close && !r->bodiless && r->body.kind == BODY_NONE);
    BUG_IF(r->minor == 0 && r->body.kind == BODY_CHUNKED);
    BUG_IF(r->fields.count > REPLY_FIELDS_MAX || r->head.text.len > REPLY_HEAD_MAX);
    for (size_t i = 0; i < r->fields.count; i++)
        BUG_IF(!fields_is_token(r->fields.at[i].name) ||
               !fields_is_value(r->fields.at[i].value));
}

/* A connection: heads and bodies in turn, until something is refused, or has no end. */
struct side {
    struct reply reply;
    struct body body;
    bool in_body, over, to_head;
    struct buf *seen;
};

static void step_head(struct side *s, struct str *in)
{
    switch (reply_feed(&s->reply, in, s->to_head)) {
    case REPLY_MORE:
        BUG_IF(in->len);
        break;
    case REPLY_REFUSED:
        buf_printf(s->seen, "! %s", s->reply.why);
        s->over = true;
        break;
    case REPLY_WHOLE:
        must_be_sound(&s->reply);
        describe(&s->reply, s->seen);
        s->over = s->reply.until_close;
        if (s->over)
            break;
        body_init(&s->body,
                  s->reply.bodiless ? (struct body_plan){ .kind = BODY_NONE } : s->reply.body);
        s->in_body = true;
        s->to_head = !s->to_head;
        break;
    }
}

static void step_body(struct side *s, struct str *in)
{
    struct str data;

    switch (body_next(&s->body, in, &data)) {
    case BODY_MORE:
        BUG_IF(in->len);
        break;
    case BODY_DATA:
        buf_add(s->seen, data);
        break;
    case BODY_REFUSED:
        buf_printf(s->seen, "! %s", refusal_text(s->body.chunked.why));
        s->over = true;
        break;
    case BODY_END:
        buf_add(s->seen, STR("|"));
        body_release(&s->body);
        reply_clear(&s->reply);
        s->in_body = false;
        break;
    }
}

static void run(struct cuts *c, struct buf *seen)
{
    struct side s = { .seen = seen };
    struct str in;

    reply_init(&s.reply);
    while (!s.over && cuts_next(c, &in)) {
        do {
            if (s.in_body)
                step_body(&s, &in);
            else
                step_head(&s, &in);
        } while (!s.over && in.len);
    }
    /* A body of no bytes ends without any; when it is asked again must not matter. */
    if (s.in_body && !s.over && s.body.kind != BODY_CHUNKED && !s.body.left)
        step_body(&s, &in);
    if (s.in_body)
        body_release(&s.body);
    reply_release(&s.reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);
    size_t odd = size ? data[size / 2] % 61 + 1 : 1;
    struct buf whole, pieces;

    buf_init(&whole, SEEN_MAX);
    buf_init(&pieces, SEEN_MAX);
    cuts_once(text, size, size, size, run, &whole);
    cuts_once(text, 1, 1, 1, run, &pieces);
    BUG_IF(!str_eq(buf_str(&whole), buf_str(&pieces)));
    cuts_once(text, odd, 1, odd, run, &pieces);
    BUG_IF(!str_eq(buf_str(&whole), buf_str(&pieces)));
    buf_release(&whole);
    buf_release(&pieces);
    return 0;
}
