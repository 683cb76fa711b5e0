#include "engine/spent.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { WORD = 64, PAGE_WORDS = 64, PAGE = WORD * PAGE_WORDS, QUEUES_FIRST = 16 };

void spent_init(struct spent *s, size_t strands)
{
    *s = (struct spent){ .page_count = strands / PAGE + 1, .oldest = 1 };
    s->pages = mem_alloc(s->page_count * sizeof *s->pages);
}

static void drop(struct spent *s)
{
    for (size_t i = 0; i < s->page_count; i++) {
        free(s->pages[i]);
        s->pages[i] = NULL;
    }
    free(s->queues);
    s->queues = NULL;
    s->queue_count = s->queue_cap = 0;
    s->oldest = 1;
    s->newest = 0;
}

void spent_release(struct spent *s)
{
    drop(s);
    free(s->pages);
    s->pages = NULL;
}

void spent_clear(struct spent *s)
{
    drop(s);
}

bool spent_has(const struct spent *s, uint32_t strand)
{
    const uint64_t *page = s->pages[strand / PAGE];

    return page && page[strand % PAGE / WORD] >> strand % WORD & 1;
}

void spent_mark(struct spent *s, uint32_t strand, bool used)
{
    uint64_t **page = &s->pages[strand / PAGE], bit = (uint64_t)1 << strand % WORD;

    if (!*page && !used)
        return;
    if (!*page)
        *page = mem_alloc(PAGE_WORDS * sizeof **page);
    if (used)
        (*page)[strand % PAGE / WORD] |= bit;
    else
        (*page)[strand % PAGE / WORD] &= ~bit;
}

static struct spent_queue *find(const struct spent *s, uint32_t name)
{
    size_t at = name * (size_t)0x9e3779b1u & (s->queue_cap - 1);

    while (s->queues[at].name && s->queues[at].name != name)
        at = (at + 1) & (s->queue_cap - 1);
    return &s->queues[at];
}

static void grow(struct spent *s)
{
    struct spent old = *s;

    s->queue_cap = old.queue_cap ? old.queue_cap * 2 : QUEUES_FIRST;
    s->queues = mem_alloc(s->queue_cap * sizeof *s->queues);
    for (size_t i = 0; i < old.queue_cap; i++)
        if (old.queues[i].name)
            *find(s, old.queues[i].name) = old.queues[i];
    free(old.queues);
}

struct spent_queue *spent_queue(struct spent *s, uint32_t name)
{
    struct spent_queue *q;

    if (s->queue_count * 2 >= s->queue_cap)
        grow(s);
    q = find(s, name);
    if (!q->name) {
        *q = (struct spent_queue){ .name = name, .next = name & ~SPENT_SECOND };
        s->queue_count++;
    }
    return q;
}
