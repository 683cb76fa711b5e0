#include "base/backlog.h"

#include <stdlib.h>

#include "base/mem.h"

void backlog_loss_add_line(struct backlog_loss *to, const struct backlog_line *line)
{
    to->lanes[line->lane].lines++;
    to->lanes[line->lane].messages += line->messages;
    to->lanes[line->lane].bytes += line->bytes;
    to->us = line->us > to->us ? line->us : to->us;
}

void backlog_loss_add(struct backlog_loss *to, const struct backlog_loss *more)
{
    for (int i = 0; i < BACKLOG_LANES; i++) {
        to->lanes[i].lines += more->lanes[i].lines;
        to->lanes[i].messages += more->lanes[i].messages;
        to->lanes[i].bytes += more->lanes[i].bytes;
    }
    to->us = more->us > to->us ? more->us : to->us;
}

bool backlog_loss_any(const struct backlog_loss *l)
{
    uint64_t lines = 0;

    for (int i = 0; i < BACKLOG_LANES; i++)
        lines += l->lanes[i].lines;
    return lines > 0;
}

void backlog_init(struct backlog *b, uint64_t max)
{
    *b = (struct backlog){ .max = max };
}

void backlog_release(struct backlog *b)
{
    while (b->first)
        free(backlog_take(b));
}

static uint64_t weight(const struct backlog_line *line)
{
    return sizeof(struct backlog_item) + line->text.len;
}

void backlog_put(struct backlog *b, const struct backlog_line *line, struct backlog_loss *lost)
{
    struct backlog_item *item;

    while (b->first && b->held + weight(line) > b->max) {
        struct backlog_item *old = backlog_take(b);

        backlog_loss_add_line(lost, &old->line);
        free(old);
    }
    item =
        weight(line) < MEM_LARGE ? mem_grow(NULL, weight(line)) : mem_try(NULL, weight(line));
    if (!item) {
        backlog_loss_add_line(lost, line);
        return;
    }
    item->next = NULL;
    item->line = *line;
    item->line.text = str_n((const char *)(item + 1), line->text.len);
    memcpy(item + 1, line->text.at, line->text.len);
    if (b->first)
        b->last->next = item;
    else
        b->first = item;
    b->last = item;
    b->held += weight(line);
}

struct backlog_item *backlog_take(struct backlog *b)
{
    struct backlog_item *item = b->first;

    if (item) {
        b->first = item->next;
        b->held -= weight(&item->line);
    }
    return item;
}

void backlog_recent_add(struct backlog_recent *r, const struct backlog_line *line)
{
    r->at[r->next] = *line;
    r->next = (r->next + 1) % BACKLOG_RECENT;
    r->count += r->count < BACKLOG_RECENT;
}

uint64_t backlog_recent_cut(struct backlog_recent *r, uint64_t need, struct backlog_loss *lost)
{
    uint64_t bytes = 0;

    for (; r->count && bytes < need; r->count--) {
        r->next = (r->next + BACKLOG_RECENT - 1) % BACKLOG_RECENT;
        bytes += r->at[r->next].text.len;
        backlog_loss_add_line(lost, &r->at[r->next]);
    }
    return bytes;
}
