#include "diff/schema-properties.h"

#include <stdlib.h>

static int compare_properties(const void *a, const void *b)
{
    const struct schema_property *x = a, *y = b;
    int order = str_cmp(x->name, y->name);

    return order ? order : x->position < y->position ? -1 : x->position > y->position;
}

static void add_property(struct schema_properties *list, struct str name,
                         struct json_val schema, bool required)
{
    list->at[list->count] = (struct schema_property){
        .name = name, .schema = schema, .position = list->count, .required = required
    };
    list->count++;
}

static struct schema_properties list_members(const struct schema_view *v, struct arena *a)
{
    struct schema_properties list = { NULL, 0 };
    size_t room = 0;

    for (size_t i = 0; i < v->part_count; i++)
        room += json_count(json_get(v->parts[i], STR("properties"))) +
                json_count(json_get(v->parts[i], STR("required")));
    list.at = arena_alloc(a, (room + 1) * sizeof *list.at);
    for (size_t i = 0; i < v->part_count; i++) {
        struct json_iter it = json_each(json_get(v->parts[i], STR("properties")));

        while (json_next(&it))
            if (json_exists(it.key))
                add_property(&list, json_text(it.key, a), it.value, false);
    }
    for (size_t i = 0; i < v->part_count; i++) {
        struct json_iter it = json_each(json_get(v->parts[i], STR("required")));

        while (json_next(&it))
            if (!json_exists(it.key) && json_type(it.value) == JSON_STRING)
                add_property(&list, json_text(it.value, a), JSON_VAL_NONE, true);
    }
    return list;
}

struct schema_properties schema_properties_list(const struct schema_view *v, struct arena *a,
                                                uint64_t *work)
{
    struct schema_properties list = list_members(v, a);
    size_t kept = 0;

    *work += list.count;
    qsort(list.at, list.count, sizeof *list.at, compare_properties);
    for (size_t i = 0; i < list.count; i++) {
        if (kept && str_eq(list.at[kept - 1].name, list.at[i].name))
            list.at[kept - 1].required |= list.at[i].required;
        else
            list.at[kept++] = list.at[i];
    }
    list.count = kept;
    return list;
}
