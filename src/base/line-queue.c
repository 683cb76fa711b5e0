#include "base/line-queue.h"

#include <stdlib.h>

#include "base/mem.h"

void line_queue_loss_add_line(struct line_queue_loss *to, const struct line_queue_line *line)
{
    to->by_direction[line->direction].lines++;
    to->by_direction[line->direction].messages += line->messages;
    to->by_direction[line->direction].bytes += line->bytes;
    to->us = line->us > to->us ? line->us : to->us;
}

void line_queue_loss_add(struct line_queue_loss *to, const struct line_queue_loss *more)
{
    for (int i = 0; i < LINE_QUEUE_DIRECTIONS; i++) {
        to->by_direction[i].lines += more->by_direction[i].lines;
        to->by_direction[i].messages += more->by_direction[i].messages;
        to->by_direction[i].bytes += more->by_direction[i].bytes;
    }
    to->us = more->us > to->us ? more->us : to->us;
}

bool line_queue_has_loss(const struct line_queue_loss *l)
{
    uint64_t lines = 0;

    for (int i = 0; i < LINE_QUEUE_DIRECTIONS; i++)
        lines += l->by_direction[i].lines;
    return lines > 0;
}

void line_queue_init(struct line_queue *b, uint64_t max)
{
    *b = (struct line_queue){ .max_bytes = max };
}

void line_queue_release(struct line_queue *b)
{
    while (b->first)
        free(line_queue_pop(b));
}

static uint64_t item_bytes(const struct line_queue_line *line)
{
    return sizeof(struct line_queue_item) + line->text.len;
}

void line_queue_push(struct line_queue *b, const struct line_queue_line *line,
                     struct line_queue_loss *lost)
{
    struct line_queue_item *item;

    while (b->first && b->bytes + item_bytes(line) > b->max_bytes) {
        struct line_queue_item *old = line_queue_pop(b);

        line_queue_loss_add_line(lost, &old->line);
        free(old);
    }
    item = item_bytes(line) < MEM_LARGE ? mem_grow(NULL, item_bytes(line))
                                        : mem_try_grow(NULL, item_bytes(line));
    if (!item) {
        line_queue_loss_add_line(lost, line);
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
    b->bytes += item_bytes(line);
}

struct line_queue_item *line_queue_pop(struct line_queue *b)
{
    struct line_queue_item *item = b->first;

    if (item) {
        b->first = item->next;
        b->bytes -= item_bytes(&item->line);
    }
    return item;
}

void line_queue_recent_add(struct line_queue_recent *r, const struct line_queue_line *line)
{
    r->at[r->next] = *line;
    r->next = (r->next + 1) % LINE_QUEUE_RECENT_MAX;
    r->count += r->count < LINE_QUEUE_RECENT_MAX;
}

uint64_t line_queue_recent_cut(struct line_queue_recent *r, uint64_t need,
                               struct line_queue_loss *lost)
{
    uint64_t bytes = 0;

    for (; r->count && bytes < need; r->count--) {
        r->next = (r->next + LINE_QUEUE_RECENT_MAX - 1) % LINE_QUEUE_RECENT_MAX;
        bytes += r->at[r->next].text.len;
        line_queue_loss_add_line(lost, &r->at[r->next]);
    }
    return bytes;
}

void message_queue_release(struct message_queue *u)
{
    struct message_queue_item *item;

    while ((item = message_queue_pop(u)))
        free(item);
}

void message_queue_push(struct message_queue *u, struct str text)
{
    struct message_queue_item *item = mem_alloc(sizeof *item + text.len);

    item->len = text.len;
    memcpy(item->text, text.at, text.len);
    *(u->last ? &u->last->next : &u->first) = item;
    u->last = item;
    u->bytes += item->len;
    if (++u->count > MESSAGE_QUEUE_MAX)
        free(message_queue_pop(u));
}

struct message_queue_item *message_queue_pop(struct message_queue *u)
{
    struct message_queue_item *item = u->first;

    if (!item)
        return NULL;
    u->first = item->next;
    if (!u->first)
        u->last = NULL;
    u->count--;
    u->bytes -= item->len;
    return item;
}
