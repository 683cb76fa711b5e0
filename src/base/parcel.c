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

static struct parcel_line *add(struct parcel *p, struct str text)
{
    struct parcel_line *l;

    p->lines = mem_reserve(p->lines, &p->cap, p->count + 1, sizeof *p->lines);
    l = &p->lines[p->count++];
    *l = (struct parcel_line){ .len = text.len };
    buf_add(&p->text, text);
    BUG_IF(p->text.full);
    return l;
}

void parcel_add(struct parcel *p, struct str text)
{
    if (text.len)
        add(p, text);
}

void parcel_add_line(struct parcel *p, const struct backlog_line *line)
{
    backlog_loss_add_line(&add(p, line->text)->loss, line);
}

void parcel_add_account(struct parcel *p, struct str text, const struct backlog_loss *loss)
{
    struct parcel_line *l = add(p, text);

    l->loss = *loss;
    l->account = true;
}

size_t parcel_advance(struct parcel *p, size_t done)
{
    size_t whole = 0;

    while (p->first < p->count && whole + p->lines[p->first].len <= done)
        whole += p->lines[p->first++].len;
    buf_drop_front(&p->text, whole);
    return whole;
}

const struct parcel_line *parcel_next(const struct parcel *p)
{
    return p->first < p->count ? &p->lines[p->first] : NULL;
}

bool parcel_can_skip(const struct parcel *p)
{
    const struct parcel_line *l = parcel_next(p);

    return l && !p->torn && !l->account && backlog_loss_any(&l->loss);
}

bool parcel_has_short(const struct parcel *p, size_t max)
{
    for (size_t i = p->first; i < p->count; i++)
        if (p->lines[i].len <= max)
            return true;
    return false;
}

void parcel_skip(struct parcel *p, struct backlog_loss *lost)
{
    BUG_IF(!parcel_can_skip(p));
    backlog_loss_add(lost, &p->lines[p->first].loss);
    buf_drop_front(&p->text, p->lines[p->first++].len);
}

void parcel_tell_skipped(struct parcel *p, struct str text, const struct backlog_loss *loss)
{
    struct buf rest = p->text;

    BUG_IF(!p->first);
    if (!text.len)
        return;
    p->lines[--p->first] =
        (struct parcel_line){ .len = text.len, .loss = *loss, .account = true };
    buf_init(&p->text, TEXT_MAX);
    buf_add(&p->text, text);
    buf_add(&p->text, buf_str(&rest));
    BUG_IF(p->text.full);
    buf_release(&rest);
}

void parcel_losses(const struct parcel *p, struct backlog_loss *lost,
                   struct backlog_loss *untold)
{
    for (size_t i = p->first; i < p->count; i++)
        backlog_loss_add(p->lines[i].account ? untold : lost, &p->lines[i].loss);
}
