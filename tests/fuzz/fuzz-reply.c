#include "turns.h"
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

/* Every other answer is one to HEAD. */
struct answers {
    struct reply reply;
    bool to_head;
};

static void read_head(struct turns *t, struct str *in)
{
    struct answers *a = t->head;
    struct reply *r = &a->reply;

    switch (reply_feed(r, in, a->to_head)) {
    case REPLY_MORE:
        BUG_IF(in->len);
        break;
    case REPLY_REFUSED:
        turns_refuse(t, r->why);
        break;
    case REPLY_WHOLE:
        must_be_sound(r);
        describe(r, t->seen);
        t->over = r->until_close;
        if (t->over)
            break;
        turns_body(t, r->bodiless ? (struct body_plan){ .kind = BODY_NONE } : r->body);
        a->to_head = !a->to_head;
        break;
    }
}

static void clear_head(void *head)
{
    struct answers *a = head;

    reply_clear(&a->reply);
}

static void run(struct cuts *c, struct buf *seen)
{
    struct answers a = { .to_head = false };
    struct turns t = {
        .read_head = read_head, .clear_head = clear_head, .head = &a, .seen = seen
    };

    reply_init(&a.reply);
    turns_run(&t, c);
    reply_release(&a.reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf seen;

    buf_init(&seen, SEEN_MAX);
    cuts_agree(str_n((const char *)data, size), run, &seen);
    buf_release(&seen);
    return 0;
}
