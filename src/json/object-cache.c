#include "json/object-cache.h"

enum { SMALL_OBJECT = 16 }; /* members that are searched without an index */

void json_object_cache_init(struct json_object_cache *o)
{
    *o = (struct json_object_cache){ .arena = { .blocks = NULL } };
    json_member_index_init(&o->members);
    map_init(&o->lists);
}

void json_object_cache_release(struct json_object_cache *o)
{
    json_member_index_release(&o->members);
    map_release(&o->lists);
    arena_release(&o->arena);
}

static struct json_member_list index_of(struct json_object_cache *o, struct json_val object)
{
    uint64_t number = object.node;
    struct json_member_list *list = map_get(&o->lists, map_number_key(&number));

    if (!list) {
        list = arena_new(&o->arena, struct json_member_list);
        *list = json_member_index_add(&o->members, object, NULL, 0);
        map_put(&o->lists, map_number_key(&number), list);
    }
    return *list;
}

struct json_val json_object_cache_find(struct json_object_cache *o, struct json_val object,
                                       struct str name)
{
    if (json_type(object) != JSON_OBJECT || json_count(object) <= SMALL_OBJECT)
        return json_get(object, name);
    return json_member_index_find(&o->members, index_of(o, object), name,
                                  json_member_hash(name));
}
