#include "match/used-set.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { WORD = 64, PAGE_WORDS = 64, PAGE = WORD * PAGE_WORDS, STATES_INITIAL = 16 };

void used_set_init(struct used_set *s, size_t calls)
{
    *s = (struct used_set){ .page_count = calls / PAGE + 1, .oldest_unused = 1 };
    s->pages = mem_alloc(s->page_count * sizeof *s->pages);
}

static void free_content(struct used_set *s)
{
    for (size_t i = 0; i < s->page_count; i++) {
        free(s->pages[i]);
        s->pages[i] = NULL;
    }
    free(s->states);
    s->states = NULL;
    s->state_count = s->state_cap = 0;
    s->oldest_unused = 1;
    s->newest_found = 0;
}

void used_set_release(struct used_set *s)
{
    free_content(s);
    free(s->pages);
    s->pages = NULL;
}

void used_set_clear(struct used_set *s)
{
    free_content(s);
}

bool used_set_has(const struct used_set *s, uint32_t call)
{
    const uint64_t *page = s->pages[call / PAGE];

    return page && page[call % PAGE / WORD] >> call % WORD & 1;
}

void used_set_mark(struct used_set *s, uint32_t call, bool used)
{
    uint64_t **page = &s->pages[call / PAGE], bit = (uint64_t)1 << call % WORD;

    if (!*page && !used)
        return;
    if (!*page)
        *page = mem_alloc(PAGE_WORDS * sizeof **page);
    if (used)
        (*page)[call % PAGE / WORD] |= bit;
    else
        (*page)[call % PAGE / WORD] &= ~bit;
}

static struct candidate_state *find_state(const struct used_set *s, uint32_t name)
{
    size_t at = name * (size_t)0x9e3779b1u & (s->state_cap - 1);

    while (s->states[at].list && s->states[at].list != name)
        at = (at + 1) & (s->state_cap - 1);
    return &s->states[at];
}

static void grow_states(struct used_set *s)
{
    struct used_set old = *s;

    s->state_cap = old.state_cap ? old.state_cap * 2 : STATES_INITIAL;
    s->states = mem_alloc(s->state_cap * sizeof *s->states);
    for (size_t i = 0; i < old.state_cap; i++)
        if (old.states[i].list)
            *find_state(s, old.states[i].list) = old.states[i];
    free(old.states);
}

struct candidate_state *used_set_state(struct used_set *s, uint32_t name)
{
    struct candidate_state *q;

    if (s->state_count * 2 >= s->state_cap)
        grow_states(s);
    q = find_state(s, name);
    if (!q->list) {
        *q = (struct candidate_state){ .list = name,
                                       .next_unused =
                                           name & ~(USED_SET_EQUAL | USED_SET_REDUCED) };
        s->state_count++;
    }
    return q;
}
