/* json/members.h - the members of objects in an order that does not depend on the
 * text, each name once.
 *
 * For comparing objects in n log n steps whatever their order and however many
 * duplicates they have: of those the last counts. Lists are kept on a stack,
 * because whoever compares an object goes on with what is inside it.
 *
 * Ownership: lists belong to the stack. A list is an index and a length, valid
 * until it is dropped; the memory below it may move when another is added. */
#ifndef JSON_MEMBERS_H
#define JSON_MEMBERS_H

#include "json/json.h"

struct json_member {
    uint64_t hash;   /* of the name */
    struct str name; /* decoded */
    struct json_val value;
};

struct json_members {
    struct json_member *at;
    size_t count, cap;
    struct arena names; /* those that had to be decoded; kept until the release */
};

struct json_list {
    size_t first, count;
};

void json_members_init(struct json_members *m);
void json_members_release(struct json_members *m);

/* Puts the members of `object` on top, without those named in `skip`. */
struct json_list json_members_add(struct json_members *m, struct json_val object,
                                  const struct str *skip, size_t skip_count);

/* Drops a list and all that were added after it. */
void json_members_drop(struct json_members *m, struct json_list list);

/* The value of a name, or the absent one. `hash` is that of the name, see
 * json_members_hash(). */
struct json_val json_members_find(const struct json_members *m, struct json_list list,
                                  struct str name, uint64_t hash);

uint64_t json_members_hash(struct str name);

#endif
