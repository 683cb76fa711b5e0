#include "base/appender-lines.h"

#include <stdlib.h>

#include "base/mem.h"

enum { TEXT_MAX = 1 << 30 };

void appender_lines_init(struct appender_lines *p)
{
    *p = (struct appender_lines){ 0 };
    buf_init(&p->text, TEXT_MAX);
}

void appender_lines_release(struct appender_lines *p)
{
    buf_release(&p->text);
    free(p->lines);
}

/* Releases the memory: it may have been large. */
void appender_lines_clear(struct appender_lines *p)
{
    appender_lines_release(p);
    appender_lines_init(p);
}

static struct appender_line *new_line(struct appender_lines *p)
{
    p->lines = mem_reserve(p->lines, &p->cap, p->count + 1, sizeof *p->lines);
    return &p->lines[p->count++];
}

static struct appender_line *add_kind(struct appender_lines *p, enum appender_line_kind kind,
                                      struct str text)
{
    struct appender_line *l = new_line(p);

    *l = (struct appender_line){ .kind = kind, .line.text.len = text.len };
    buf_add(&p->text, text);
    BUG_IF(p->text.full && text.len < MEM_LARGE);
    if (!p->text.full)
        return l;
    p->text.full = false;
    p->count--;
    return NULL;
}

void appender_lines_add_text(struct appender_lines *p, struct str text)
{
    if (text.len)
        add_kind(p, APPENDER_TEXT, text);
}

bool appender_lines_add_record(struct appender_lines *p, const struct line_queue_line *line)
{
    struct appender_line *l = add_kind(p, APPENDER_RECORD, line->text);

    if (!l)
        return false;
    l->line = *line;
    l->line.text.at = NULL;
    return true;
}

void appender_lines_adopt(struct appender_lines *p, struct buf *text,
                          const struct line_queue_line *lines, size_t count)
{
    size_t max = text->max;

    BUG_IF(p->text.len || p->count);
    for (size_t i = 0; i < count; i++) {
        struct appender_line *l = new_line(p);

        *l = (struct appender_line){ .kind = APPENDER_RECORD, .line = lines[i] };
        l->line.text.at = NULL;
    }
    buf_release(&p->text);
    p->text = *text;
    buf_init(text, max);
}

void appender_lines_return(struct appender_lines *p, struct buf *text)
{
    buf_release(text);
    *text = p->text;
    buf_clear(text);
    p->text = (struct buf){ .max = TEXT_MAX };
    p->written_bytes = p->torn_bytes = p->first = p->count = 0;
}

void appender_lines_add_gap(struct appender_lines *p, struct str text,
                            const struct line_queue_loss *reported)
{
    struct appender_line *l = add_kind(p, APPENDER_GAP, text);

    BUG_IF(!l);
    l->reported = *reported;
}

const struct appender_line *appender_lines_advance(struct appender_lines *p, size_t done)
{
    const struct appender_line *l = appender_lines_next(p);

    if (!l || l->line.text.len > done)
        return NULL;
    p->first++;
    p->written_bytes += l->line.text.len;
    return l;
}

struct str appender_lines_unwritten(const struct appender_lines *p)
{
    return str_skip(buf_str(&p->text), p->written_bytes);
}

const struct appender_line *appender_lines_next(const struct appender_lines *p)
{
    return p->first < p->count ? &p->lines[p->first] : NULL;
}

void appender_lines_add_losses(const struct appender_lines *p, struct line_queue_loss *lost,
                               struct line_queue_loss *untold)
{
    for (size_t i = p->first; i < p->count; i++) {
        if (p->lines[i].kind == APPENDER_RECORD)
            line_queue_loss_add_line(lost, &p->lines[i].line);
        line_queue_loss_add(untold, &p->lines[i].reported);
    }
}
