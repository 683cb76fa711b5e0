#include "wire/head.h"

enum {
    USUAL = 512,
    TEXT_KEEP = 4096, /* what one rare request needed must not stay with its connection */
};

void head_init(struct head *h, const struct head_limits *limits)
{
    *h = (struct head){ .limits = limits };
    buf_init(&h->text, limits->bytes);
}

void head_release(struct head *h)
{
    buf_release(&h->text);
}

void head_clear(struct head *h)
{
    struct buf text = h->text;

    if (text.cap > TEXT_KEEP)
        buf_release(&text);
    buf_clear(&text);
    *h = (struct head){ .limits = h->limits, .text = text };
}

static const bool plain[256] = { ['\t'] = true,
                                 [0x20 ... 0x7e] = true,
                                 [0x80 ... 0xff] = true };

/* Whether one of eight bytes is below a blank or 0x7f. That a byte above such a one may be
 * taken for one, too, does not matter: they are looked at one by one then. */
static bool has_special(const char *at)
{
    const uint64_t ones = UINT64_MAX / 0xff;
    uint64_t eight, del;

    memcpy(&eight, at, sizeof eight);
    del = eight ^ 0x7f * ones;
    return (((eight - 0x20 * ones) & ~eight) | ((del - ones) & ~del)) & 0x80 * ones;
}

static size_t plain_run(struct str in)
{
    size_t n = 0;

    while (in.len - n >= 8 && !has_special(in.at + n))
        n += 8;
    while (n < in.len && plain[(unsigned char)in.at[n]])
        n++;
    return n;
}

/* Adds bytes that are plain, or one that is not; limits come before anything else, so
 * that what is said of a head does not depend on where it was cut. */
static bool add(struct head *h, struct str bytes, bool of_line)
{
    size_t line = h->text.len - h->line_at;

    if (of_line && h->lines == 0 && bytes.len > h->limits->first_line - line)
        h->why = REFUSAL_LINE_LONG;
    else if (bytes.len > h->limits->bytes - h->text.len)
        h->why = REFUSAL_HEAD_LONG;
    else
        buf_add(&h->text, bytes);
    return !h->why;
}

static void end_line(struct head *h)
{
    h->cr = false;
    h->whole = h->text.len - h->line_at == 2;
    h->line_at = h->text.len;
    if (!h->whole && ++h->lines > h->limits->lines)
        h->why = REFUSAL_FIELD_MANY;
}

/* The byte that ended a run of plain ones. */
static void take_special(struct head *h, struct str byte)
{
    if (!add(h, byte, false))
        return;
    if (h->cr && byte.at[0] == '\n')
        end_line(h);
    else if (h->cr)
        h->why = REFUSAL_BARE_CR;
    else if (byte.at[0] == '\r')
        h->cr = true;
    else
        h->why = byte.at[0] == '\n'   ? REFUSAL_BARE_LF
                 : byte.at[0] == '\0' ? REFUSAL_NUL
                                      : REFUSAL_CONTROL;
}

/* A line that is all there, whose end is known to be `n` bytes away if it is an end, in one
 * go. False: it has to be looked at more closely. */
static bool take_line(struct head *h, struct str *in, size_t n)
{
    size_t line = h->text.len - h->line_at;

    if (in->len < n + 2 || in->at[n] != '\r' || in->at[n + 1] != '\n' ||
        n + 2 > h->limits->bytes - h->text.len ||
        (h->lines == 0 && n > h->limits->first_line - line))
        return false;
    buf_add(&h->text, str_n(in->at, n + 2));
    *in = str_skip(*in, n + 2);
    end_line(h);
    return true;
}

/* Most heads come in one piece; the memory does not have to grow line by line then. */
static void make_room(struct head *h, size_t coming)
{
    size_t room = coming < USUAL ? coming : USUAL;

    if (!h->text.cap && room <= h->limits->bytes)
        buf_space(&h->text, room);
}

enum head_next head_feed(struct head *h, struct str *in)
{
    make_room(h, in->len);
    while (in->len && !h->why && !h->whole) {
        size_t n = h->cr ? 0 : plain_run(*in);

        if (!h->cr && take_line(h, in, n))
            continue;
        if (n && !add(h, str_n(in->at, n), true))
            break;
        *in = str_skip(*in, n);
        if (!in->len)
            break;
        take_special(h, str_n(in->at, 1));
        *in = str_skip(*in, 1);
    }
    return h->why ? HEAD_REFUSED : h->whole ? HEAD_WHOLE : HEAD_MORE;
}
