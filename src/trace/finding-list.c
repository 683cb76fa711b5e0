#include "trace/finding-list.h"

#include <stdlib.h>

#include "base/mem.h"

void finding_list_init(struct finding_list *l)
{
    *l = (struct finding_list){ .at = NULL };
}

void finding_list_release(struct finding_list *l)
{
    free(l->at);
    arena_release(&l->arena);
}

void finding_list_add(struct finding_list *l, const struct finding *f)
{
    struct finding *copy;

    l->at = mem_reserve(l->at, &l->cap, l->count + 1, sizeof *l->at);
    copy = &l->at[l->count++];
    *copy = *f;
    copy->rule = arena_str(&l->arena, f->rule);
    copy->message = arena_str(&l->arena, f->message);
    copy->file = arena_str(&l->arena, f->file);
    copy->subject = arena_str(&l->arena, f->subject);
    copy->path = arena_str(&l->arena, f->path);
    copy->recorded = arena_str(&l->arena, f->recorded);
    copy->live = arena_str(&l->arena, f->live);
    copy->hint = arena_str(&l->arena, f->hint);
}

bool finding_list_has(const struct finding_list *l, enum finding_severity severity)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->at[i].severity == severity)
            return true;
    return false;
}
