#include "diff/schema-match.h"

#include <stdlib.h>

#include "json/equal.h"
#include "json/write.h"

static const struct json_rules by_value = { .numbers_by_value = true };

static int compare_indexes(const void *a, const void *b)
{
    const struct schema_match_item *x = a, *y = b;

    return x->index < y->index ? -1 : x->index > y->index;
}

static int compare_hashes(const void *a, const void *b)
{
    const struct schema_match_item *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return compare_indexes(a, b);
}

struct schema_match_list schema_match_list(const struct json_val *values, size_t count,
                                           struct arena *a)
{
    struct schema_match_list list = { arena_alloc(a, (count + 1) * sizeof *list.at), count };

    for (size_t i = 0; i < count; i++)
        list.at[i] = (struct schema_match_item){ .hash = json_hash(values[i], &by_value),
                                                 .value = values[i],
                                                 .index = i };
    qsort(list.at, count, sizeof *list.at, compare_hashes);
    return list;
}

void schema_match_drop_repeated(struct schema_match_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++)
        if (!kept || list->at[kept - 1].hash != list->at[i].hash)
            list->at[kept++] = list->at[i];
    list->count = kept;
}

void schema_match_equal(struct schema_match_list *a, struct schema_match_list *b)
{
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        if (a->at[i].hash == b->at[k].hash) {
            a->at[i++].matched = true;
            b->at[k++].matched = true;
        } else if (a->at[i].hash < b->at[k].hash) {
            i++;
        } else {
            k++;
        }
    }
}

/* One search for a pair. */
struct pair_search {
    const struct schema_match_events *events;
    void *to;
    bool backwards; /* for an element of the list before */
};

static bool is_same(const struct pair_search *s, const struct schema_match_item *x,
                    const struct schema_match_item *y)
{
    return s->backwards ? s->events->is_same(s->to, y, x) : s->events->is_same(s->to, x, y);
}

static struct schema_match_item *find_same(const struct pair_search *s,
                                           const struct schema_match_item *of,
                                           const struct schema_match_list *among)
{
    struct schema_match_item *found = NULL;

    for (size_t i = 0; i < among->count; i++) {
        if (among->at[i].matched || !is_same(s, of, &among->at[i]))
            continue;
        if (found)
            return NULL;
        found = &among->at[i];
    }
    return found;
}

void schema_match_pairs(struct schema_match_list *before, struct schema_match_list *after,
                        const struct schema_match_events *events, void *to)
{
    const struct pair_search forwards = { events, to, false }, backwards = { events, to, true };

    if (before->count * after->count > SCHEMA_MATCH_PAIRS)
        return;
    for (size_t i = 0; i < before->count; i++) {
        struct schema_match_item *b = &before->at[i], *a;

        if (b->matched)
            continue;
        a = find_same(&forwards, b, after);
        if (!a || find_same(&backwards, a, before) != b)
            continue;
        b->matched = a->matched = true;
        events->matched(to, b, a);
    }
}

struct schema_match_item *schema_match_only(const struct schema_match_list *list)
{
    struct schema_match_item *found = NULL;

    for (size_t i = 0; i < list->count; i++) {
        if (list->at[i].matched)
            continue;
        if (found)
            return NULL;
        found = &list->at[i];
    }
    return found;
}

void schema_match_sort(struct schema_match_list *list)
{
    qsort(list->at, list->count, sizeof *list->at, compare_indexes);
}

void schema_match_write_unmatched(struct buf *to, struct schema_match_list *list)
{
    struct json_out o = json_out_to(to);
    bool any = false;

    schema_match_sort(list);
    for (size_t i = 0; i < list->count; i++) {
        if (list->at[i].matched)
            continue;
        if (!any)
            json_out_array(&o);
        any = true;
        json_out_raw(&o, json_raw(list->at[i].value));
    }
    if (any)
        json_out_end_array(&o);
}
