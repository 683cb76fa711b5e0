#include "trace/alias.h"

#include <stdint.h>

#include "trace/limits.h"

void alias_init(struct alias *a)
{
    *a = (struct alias){ 0 };
    map_init(&a->names);
    map_init(&a->taken);
    map_init(&a->tried);
}

void alias_release(struct alias *a)
{
    map_release(&a->names);
    map_release(&a->taken);
    map_release(&a->tried);
    arena_release(&a->arena);
}

static uint64_t *tries_of(struct alias *a, struct str rest)
{
    uint64_t *tries = map_get(&a->tried, rest);

    if (!tries) {
        tries = arena_alloc(&a->arena, sizeof *tries);
        map_put(&a->tried, rest, tries);
    }
    return tries;
}

/* An id may end in what looks like one of our numbers, so a name may be taken all the same. */
static struct str new_name(struct alias *a, struct str rest)
{
    uint64_t *tries = tries_of(a, rest);
    struct str name;

    do {
        name = ++*tries == 1 ? arena_str(&a->arena, rest)
                             : arena_printf(&a->arena, "%.*s#%llu", STR_ARG(rest),
                                            (unsigned long long)*tries);
    } while (map_get(&a->taken, name));
    return name;
}

bool alias_name(struct alias *a, struct str key, struct str rest, struct str *name)
{
    struct str *known = map_get(&a->names, key);

    if (!known) {
        if (a->names.count == LIMIT_ALIASES || key.len + rest.len > LIMIT_ALIAS_TEXT - a->text)
            return false;
        a->text += key.len + rest.len;
        known = arena_alloc(&a->arena, sizeof *known);
        *known = new_name(a, rest);
        map_put(&a->names, key, known);
        map_put(&a->taken, *known, known);
    }
    *name = *known;
    return true;
}
