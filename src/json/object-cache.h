/* json/object-cache.h - finds members of objects; a large object is indexed once.
 *
 * For objects of one JSON text that are searched many times in any order. The last of
 * duplicate names counts, as for json_get(). */
#ifndef JSON_OBJECT_CACHE_H
#define JSON_OBJECT_CACHE_H

#include "base/map.h"
#include "json/member-index.h"

struct json_object_cache {
    struct json_member_index members;
    struct map lists; /* struct json_member_list, by number of the JSON node */
    struct arena arena;
};

void json_object_cache_init(struct json_object_cache *o);
void json_object_cache_release(struct json_object_cache *o);

/* Returns the member with a decoded name, or the absent value. All objects of a cache belong to
 * one struct json, which stays unchanged. */
struct json_val json_object_cache_find(struct json_object_cache *o, struct json_val object,
                                       struct str name);

#endif
