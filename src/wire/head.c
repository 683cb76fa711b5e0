#include "wire/head.h"

#include "wire/plain.h"

enum { USUAL = 512 };

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

    if (text.cap > HEAD_KEEP)
        buf_release(&text);
    buf_clear(&text);
    *h = (struct head){ .limits = h->limits, .text = text };
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

/* Lines that are all there, up to the empty one, in one go: of most heads that is all of it.
 * False: what comes first has to be looked at more closely. */
static bool take_lines(struct head *h, struct str *in)
{
    size_t room = h->limits->bytes - h->text.len, lines = h->lines;
    size_t begun = h->text.len - h->line_at; /* of the line at hand */
    struct str left = str_n(in->at, room < in->len ? room : in->len);
    size_t taken, n = 1;

    for (; n && lines < h->limits->lines; begun = 0) {
        size_t run = plain_run(left);

        n = begun + run;
        if (left.len - run < 2 || left.at[run] != '\r' || left.at[run + 1] != '\n' ||
            (lines == 0 && n > h->limits->first_line))
            break;
        lines += n > 0;
        h->whole = n == 0;
        left = str_n(left.at + run + 2, left.len - run - 2);
    }
    taken = (size_t)(left.at - in->at);
    if (!taken)
        return false;
    buf_add(&h->text, str_n(in->at, taken));
    *in = str_skip(*in, taken);
    h->lines = lines;
    h->line_at = h->text.len;
    return true;
}

/* What take_lines() leaves: plain bytes and one that is not, as far as they are there. */
static void take_piece(struct head *h, struct str *in)
{
    size_t n = h->cr ? 0 : plain_run(*in);

    if (n && !add(h, str_n(in->at, n), true))
        return;
    *in = str_skip(*in, n);
    if (!in->len)
        return;
    take_special(h, str_n(in->at, 1));
    *in = str_skip(*in, 1);
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
        if (h->cr || !take_lines(h, in))
            take_piece(h, in);
    }
    return h->why ? HEAD_REFUSED : h->whole ? HEAD_WHOLE : HEAD_MORE;
}
