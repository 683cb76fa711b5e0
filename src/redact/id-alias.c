#include "redact/id-alias.h"

#include <stdint.h>

#include "trace/limits.h"

void id_alias_init(struct id_alias *a)
{
    *a = (struct id_alias){ 0 };
    map_init(&a->names);
    map_init(&a->used_names);
    map_init(&a->name_counts);
}

void id_alias_release(struct id_alias *a)
{
    map_release(&a->names);
    map_release(&a->used_names);
    map_release(&a->name_counts);
    arena_release(&a->arena);
}

static uint64_t *name_count(struct id_alias *a, struct str rest)
{
    uint64_t *tries = map_get(&a->name_counts, rest);

    if (!tries) {
        tries = arena_alloc(&a->arena, sizeof *tries);
        map_put(&a->name_counts, rest, tries);
    }
    return tries;
}

/* Makes an unused name. An id may itself end in "#N", so several numbers may have to be tried.
 */
static struct str make_name(struct id_alias *a, struct str rest)
{
    uint64_t *tries = name_count(a, rest);
    struct str name;

    do {
        name = ++*tries == 1 ? arena_str(&a->arena, rest)
                             : arena_printf(&a->arena, "%.*s#%llu", STR_ARG(rest),
                                            (unsigned long long)*tries);
    } while (map_get(&a->used_names, name));
    return name;
}

bool id_alias_get(struct id_alias *a, struct str key, struct str rest, struct str *name)
{
    struct str *known = map_get(&a->names, key);

    if (!known) {
        if (a->names.count == LIMIT_ALIASES ||
            key.len + rest.len > LIMIT_ALIAS_TEXT - a->text_bytes)
            return false;
        a->text_bytes += key.len + rest.len;
        known = arena_alloc(&a->arena, sizeof *known);
        *known = make_name(a, rest);
        map_put(&a->names, key, known);
        map_put(&a->used_names, *known, known);
    }
    *name = *known;
    return true;
}
