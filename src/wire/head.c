#include "wire/head.h"

#include "wire/head-bytes.h"

enum { TYPICAL_SIZE = 512 };

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

/* Adds valid bytes of a line, or one special byte. Checks the limits first, so that the reason
 * of a rejection does not depend on how the input is split. */
static bool append_bytes(struct head *h, struct str bytes, bool of_line)
{
    size_t line = h->text.len - h->line_at;

    if (of_line && h->lines == 0 && bytes.len > h->limits->first_line - line)
        h->reason = REJECT_LINE_TOO_LONG;
    else if (bytes.len > h->limits->bytes - h->text.len)
        h->reason = REJECT_HEAD_TOO_LONG;
    else
        buf_add(&h->text, bytes);
    return !h->reason;
}

static void end_line(struct head *h)
{
    h->after_cr = false;
    h->complete = h->text.len - h->line_at == 2;
    h->line_at = h->text.len;
    if (!h->complete && ++h->lines > h->limits->lines)
        h->reason = REJECT_TOO_MANY_HEADERS;
}

/* Parses the byte after a run of valid ones: CR, LF, or an invalid one. */
static void parse_special(struct head *h, struct str byte)
{
    if (!append_bytes(h, byte, false))
        return;
    if (h->after_cr && byte.at[0] == '\n')
        end_line(h);
    else if (h->after_cr)
        h->reason = REJECT_BARE_CR;
    else if (byte.at[0] == '\r')
        h->after_cr = true;
    else
        h->reason = byte.at[0] == '\n'   ? REJECT_BARE_LF
                    : byte.at[0] == '\0' ? REJECT_NUL
                                         : REJECT_CONTROL_CHAR;
}

/* Parses all complete lines up to the empty one at once: for most heads that is everything.
 * Returns false if the first line is incomplete or invalid: parse_piece() does the rest. */
static bool parse_lines(struct head *h, struct str *in)
{
    size_t room = h->limits->bytes - h->text.len, lines = h->lines;
    size_t begun = h->text.len - h->line_at; /* of the current line */
    struct str left = str_n(in->at, room < in->len ? room : in->len);
    size_t taken, n = 1;

    for (; n && lines < h->limits->lines; begun = 0) {
        size_t run = head_bytes_valid_length(left);

        n = begun + run;
        if (left.len - run < 2 || left.at[run] != '\r' || left.at[run + 1] != '\n' ||
            (lines == 0 && n > h->limits->first_line))
            break;
        lines += n > 0;
        h->complete = n == 0;
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

/* Parses a run of valid bytes and the special byte after it. */
static void parse_piece(struct head *h, struct str *in)
{
    size_t n = h->after_cr ? 0 : head_bytes_valid_length(*in);

    if (n && !append_bytes(h, str_n(in->at, n), true))
        return;
    *in = str_skip(*in, n);
    if (!in->len)
        return;
    parse_special(h, str_n(in->at, 1));
    *in = str_skip(*in, 1);
}

/* Allocates at once for a head that comes in one piece, as most do. */
static void reserve_text(struct head *h, size_t coming)
{
    size_t room = coming < TYPICAL_SIZE ? coming : TYPICAL_SIZE;

    if (!h->text.cap && room <= h->limits->bytes)
        buf_reserve(&h->text, room);
}

enum head_next head_feed(struct head *h, struct str *in)
{
    reserve_text(h, in->len);
    while (in->len && !h->reason && !h->complete) {
        if (h->after_cr || !parse_lines(h, in))
            parse_piece(h, in);
    }
    return h->reason ? HEAD_REJECTED : h->complete ? HEAD_COMPLETE : HEAD_MORE;
}
