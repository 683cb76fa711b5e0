#include "wire/lines.h"

void lines_init(struct lines *l, size_t max)
{
    *l = (struct lines){ 0 };
    buf_init(&l->pending, max);
}

void lines_release(struct lines *l)
{
    buf_release(&l->pending);
}

/* Bytes of memory kept between lines: those of a long line are freed. */
enum { PENDING_KEEP = 1 << 20 };

static void clear_pending(struct lines *l)
{
    if (l->pending.cap > PENDING_KEEP)
        buf_release(&l->pending);
    buf_clear(&l->pending);
    l->handed_out = false;
}

void lines_feed(struct lines *l, struct str bytes)
{
    BUG_IF(l->input.len);
    if (l->handed_out)
        clear_pending(l);
    l->input = bytes;
}

/* Adds to the unfinished line, or only counts once the line is too long. */
static void append_pending(struct lines *l, struct str part)
{
    if (!l->skipped) {
        buf_add(&l->pending, part);
        if (!l->pending.full)
            return;
        l->skipped = l->pending.len;
        clear_pending(l);
    }
    l->skipped += part.len;
}

static enum lines_next finish_line(struct lines *l, struct str *line, uint64_t *skipped)
{
    if (l->skipped) {
        *skipped = l->skipped;
        l->skipped = 0;
        return LINES_TOO_LONG;
    }
    *line = buf_str(&l->pending);
    l->handed_out = true;
    return LINES_LINE;
}

enum lines_next lines_next(struct lines *l, struct str *line, uint64_t *skipped)
{
    const char *newline;
    struct str part;

    if (l->handed_out)
        clear_pending(l);
    newline = l->input.len ? memchr(l->input.at, '\n', l->input.len) : NULL;
    if (!newline) {
        append_pending(l, l->input);
        l->input = STR_NONE;
        return LINES_MORE;
    }
    part = str_n(l->input.at, (size_t)(newline - l->input.at));
    l->input = str_skip(l->input, part.len + 1);
    if (!l->pending.len && !l->skipped && part.len <= l->pending.max) {
        *line = part;
        return LINES_LINE;
    }
    append_pending(l, part);
    return finish_line(l, line, skipped);
}

enum lines_next lines_end(struct lines *l, struct str *line, uint64_t *skipped)
{
    BUG_IF(l->input.len);
    if (l->handed_out)
        clear_pending(l);
    if (!l->pending.len && !l->skipped)
        return LINES_MORE;
    return finish_line(l, line, skipped);
}
