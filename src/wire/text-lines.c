#include "wire/text-lines.h"

enum {
    HELD = 64 << 10,
    MOST = 1 << 20, /* HELD and one more piece */
};

void text_lines_init(struct text_lines *t)
{
    buf_init(&t->partial_line, MOST);
}

void text_lines_release(struct text_lines *t)
{
    buf_release(&t->partial_line);
}

void text_lines_end(struct text_lines *t, text_lines_fn *fn, void *to)
{
    if (t->partial_line.len)
        fn(to, buf_str(&t->partial_line));
    buf_clear(&t->partial_line);
}

void text_lines_feed(struct text_lines *t, struct str bytes, text_lines_fn *fn, void *to)
{
    struct str whole = bytes;

    if (bytes.len > MOST - HELD) {
        text_lines_end(t, fn, to);
        fn(to, bytes);
        return;
    }
    while (whole.len && whole.at[whole.len - 1] != '\n')
        whole.len--;
    if (whole.len && t->partial_line.len) {
        buf_add(&t->partial_line, whole);
        text_lines_end(t, fn, to);
    } else if (whole.len) {
        fn(to, whole);
    }
    buf_add(&t->partial_line, str_skip(bytes, whole.len));
    if (t->partial_line.len > HELD)
        text_lines_end(t, fn, to);
}
