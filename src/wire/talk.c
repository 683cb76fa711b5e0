#include "wire/talk.h"

enum {
    HELD = 64 << 10,
    MOST = 1 << 20, /* that, and whatever one piece may add */
};

void talk_init(struct talk *t)
{
    buf_init(&t->held, MOST);
}

void talk_release(struct talk *t)
{
    buf_release(&t->held);
}

void talk_end(struct talk *t, talk_fn *fn, void *to)
{
    if (t->held.len)
        fn(to, buf_str(&t->held));
    buf_clear(&t->held);
}

void talk_feed(struct talk *t, struct str bytes, talk_fn *fn, void *to)
{
    struct str whole = bytes;

    if (bytes.len > MOST - HELD) {
        talk_end(t, fn, to);
        fn(to, bytes);
        return;
    }
    while (whole.len && whole.at[whole.len - 1] != '\n')
        whole.len--;
    if (whole.len && t->held.len) {
        buf_add(&t->held, whole);
        talk_end(t, fn, to);
    } else if (whole.len) {
        fn(to, whole);
    }
    buf_add(&t->held, str_skip(bytes, whole.len));
    if (t->held.len > HELD)
        talk_end(t, fn, to);
}
