#include "base/parcel.h"

#include <stdlib.h>

#include "base/mem.h"

enum { TEXT_MAX = 1 << 30 };

void parcel_init(struct parcel *p)
{
    *p = (struct parcel){ 0 };
    buf_init(&p->text, TEXT_MAX);
}

void parcel_release(struct parcel *p)
{
    buf_release(&p->text);
    free(p->lines);
}

/* What was large once need not stay so. */
void parcel_clear(struct parcel *p)
{
    parcel_release(p);
    parcel_init(p);
}

static struct parcel_line *add_line(struct parcel *p)
{
    p->lines = mem_reserve(p->lines, &p->cap, p->count + 1, sizeof *p->lines);
    return &p->lines[p->count++];
}

static struct parcel_line *add(struct parcel *p, enum parcel_kind kind, struct str text)
{
    struct parcel_line *l = add_line(p);

    *l = (struct parcel_line){ .kind = kind, .line.text.len = text.len };
    buf_add(&p->text, text);
    BUG_IF(p->text.full && text.len < MEM_LARGE);
    if (!p->text.full)
        return l;
    p->text.full = false;
    p->count--;
    return NULL;
}

void parcel_add(struct parcel *p, struct str text)
{
    if (text.len)
        add(p, PARCEL_TEXT, text);
}

bool parcel_add_line(struct parcel *p, const struct backlog_line *line)
{
    struct parcel_line *l = add(p, PARCEL_LINE, line->text);

    if (!l)
        return false;
    l->line = *line;
    l->line.text.at = NULL;
    return true;
}

void parcel_own(struct parcel *p, struct buf *text, const struct backlog_line *lines,
                size_t count)
{
    size_t max = text->max;

    BUG_IF(p->text.len || p->count);
    for (size_t i = 0; i < count; i++) {
        struct parcel_line *l = add_line(p);

        *l = (struct parcel_line){ .kind = PARCEL_LINE, .line = lines[i] };
        l->line.text.at = NULL;
    }
    buf_release(&p->text);
    p->text = *text;
    buf_init(text, max);
}

void parcel_give_back(struct parcel *p, struct buf *text)
{
    buf_release(text);
    *text = p->text;
    buf_clear(text);
    p->text = (struct buf){ .max = TEXT_MAX };
    p->written = p->torn = p->first = p->count = 0;
}

void parcel_add_gap(struct parcel *p, struct str text, const struct backlog_loss *told)
{
    struct parcel_line *l = add(p, PARCEL_GAP, text);

    BUG_IF(!l);
    l->told = *told;
}

const struct parcel_line *parcel_advance(struct parcel *p, size_t done)
{
    const struct parcel_line *l = parcel_next(p);

    if (!l || l->line.text.len > done)
        return NULL;
    p->first++;
    p->written += l->line.text.len;
    return l;
}

struct str parcel_text(const struct parcel *p)
{
    return str_skip(buf_str(&p->text), p->written);
}

const struct parcel_line *parcel_next(const struct parcel *p)
{
    return p->first < p->count ? &p->lines[p->first] : NULL;
}

void parcel_losses(const struct parcel *p, struct backlog_loss *lost,
                   struct backlog_loss *untold)
{
    for (size_t i = p->first; i < p->count; i++) {
        if (p->lines[i].kind == PARCEL_LINE)
            backlog_loss_add_line(lost, &p->lines[i].line);
        backlog_loss_add(untold, &p->lines[i].told);
    }
}
