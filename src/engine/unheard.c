#include "engine/unheard.h"

#include <stdlib.h>

#include "base/mem.h"

void unheard_release(struct unheard *u)
{
    struct unheard_item *item;

    while ((item = unheard_take(u)))
        free(item);
}

void unheard_put(struct unheard *u, struct str text)
{
    struct unheard_item *item = mem_alloc(sizeof *item + text.len);

    item->len = text.len;
    memcpy(item->text, text.at, text.len);
    *(u->last ? &u->last->next : &u->first) = item;
    u->last = item;
    u->bytes += item->len;
    if (++u->count > UNHEARD_MAX)
        free(unheard_take(u));
}

struct unheard_item *unheard_take(struct unheard *u)
{
    struct unheard_item *item = u->first;

    if (!item)
        return NULL;
    u->first = item->next;
    if (!u->first)
        u->last = NULL;
    u->count--;
    u->bytes -= item->len;
    return item;
}
