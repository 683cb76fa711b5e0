/* json/member-index.h - sorts the members of objects for comparison, each name once.
 *
 * Objects with any order and any number of duplicates are compared in n log n steps; of
 * duplicates the last counts. The sorted lists are kept on a stack, because a comparison of
 * objects continues inside them.
 *
 * Ownership: lists belong to the index. A list is a position and a length, valid until it is
 * dropped; memory may move when another is added. */
#ifndef JSON_MEMBER_INDEX_H
#define JSON_MEMBER_INDEX_H

#include "json/json.h"

struct json_member {
    uint64_t hash;   /* of the name */
    struct str name; /* decoded */
    struct json_val value;
};

struct json_member_index {
    struct json_member *at;
    size_t count, cap;
    struct arena names; /* decoded names; kept until the release */
};

struct json_member_list {
    size_t first, count;
};

void json_member_index_init(struct json_member_index *m);
void json_member_index_release(struct json_member_index *m);

/* Pushes the members of `object`, except those named in `skip`. */
struct json_member_list json_member_index_add(struct json_member_index *m,
                                              struct json_val object, const struct str *skip,
                                              size_t skip_count);

/* Drops a list and all lists added after it. */
void json_member_index_drop(struct json_member_index *m, struct json_member_list list);

/* Returns the value of a name, or the absent value. `hash` is json_member_hash(name). */
struct json_val json_member_index_find(const struct json_member_index *m,
                                       struct json_member_list list, struct str name,
                                       uint64_t hash);

uint64_t json_member_hash(struct str name);

#endif
