#include "json/equal.h"

#include "base/buf.h"
#include "base/hash.h"
#include "json/member-index.h"
#include "json/number.h"

/* Longer than the normal form of any number in a text we scan. */
#define NORMAL_MAX (JSON_MAX_TEXT + 64)

/* Scratch for one call, and the rules. Recursion below goes as deep as the values
 * are nested, which the scanner has bounded. */
struct equal_context {
    const struct json_rules *rules;
    struct json_member_index members;
    struct buf number[2];
};

static const struct json_rules no_rules;

static void init_context(struct equal_context *c, const struct json_rules *rules)
{
    c->rules = rules ? rules : &no_rules;
    json_member_index_init(&c->members);
    buf_init(&c->number[0], NORMAL_MAX);
    buf_init(&c->number[1], NORMAL_MAX);
}

static void release_context(struct equal_context *c)
{
    json_member_index_release(&c->members);
    buf_release(&c->number[0]);
    buf_release(&c->number[1]);
}

static struct str number_text(struct equal_context *c, int slot, struct json_val v)
{
    if (!c->rules->numbers_by_value)
        return json_raw(v);
    buf_clear(&c->number[slot]);
    json_number_normalize(json_raw(v), &c->number[slot]);
    return buf_str(&c->number[slot]);
}

static struct json_member_list sorted_members(struct equal_context *c, struct json_val v,
                                              bool outermost)
{
    return json_member_index_add(&c->members, v, c->rules->skip,
                                 outermost ? c->rules->skip_count : 0);
}

static uint64_t hash_value(struct equal_context *c, struct json_val v, bool outermost);

/* A sum, so that the order does not matter. */
static uint64_t hash_object(struct equal_context *c, struct json_val v, bool outermost)
{
    struct json_member_list list = sorted_members(c, v, outermost);
    uint64_t sum = 0;

    for (size_t i = list.first; i < list.first + list.count; i++) {
        uint64_t name = c->members.at[i].hash;
        sum += hash_mix(name, hash_value(c, c->members.at[i].value, false));
    }
    json_member_index_drop(&c->members, list);
    return hash_mix(sum, JSON_OBJECT);
}

static uint64_t hash_value(struct equal_context *c, struct json_val v, bool outermost)
{
    struct json_iter it = json_each(v);
    uint64_t h;

    switch (json_type(v)) {
    case JSON_NUMBER:
        return hash_bytes(number_text(c, 0, v), JSON_NUMBER);
    case JSON_STRING:
        return hash_bytes(json_text(v, &c->members.names), JSON_STRING);
    case JSON_OBJECT:
        return hash_object(c, v, outermost);
    case JSON_ARRAY:
        h = JSON_ARRAY;
        while (json_next(&it))
            h = hash_mix(h, hash_value(c, it.value, false));
        return h;
    default:
        return hash_mix(json_type(v), 0);
    }
}

uint64_t json_hash(struct json_val v, const struct json_rules *rules)
{
    struct equal_context c;
    uint64_t h;

    init_context(&c, rules);
    h = hash_value(&c, v, true);
    release_context(&c);
    return h;
}

static bool equal_values(struct equal_context *c, struct json_val a, struct json_val b,
                         bool outermost);

static bool equal_arrays(struct equal_context *c, struct json_val a, struct json_val b)
{
    struct json_iter left = json_each(a), right = json_each(b);

    if (json_count(a) != json_count(b))
        return false;
    while (json_next(&left) && json_next(&right))
        if (!equal_values(c, left.value, right.value, false))
            return false;
    return true;
}

static bool equal_objects(struct equal_context *c, struct json_val a, struct json_val b,
                          bool outermost)
{
    struct json_member_list left = sorted_members(c, a, outermost),
                            right = sorted_members(c, b, outermost);
    bool same = left.count == right.count;

    for (size_t i = 0; same && i < left.count; i++) {
        struct json_member l = c->members.at[left.first + i];
        struct json_member r = c->members.at[right.first + i];
        same = l.hash == r.hash && str_eq(l.name, r.name) &&
               equal_values(c, l.value, r.value, false);
    }
    json_member_index_drop(&c->members, left);
    return same;
}

static bool equal_strings(struct equal_context *c, struct json_val a, struct json_val b)
{
    if (str_eq(json_raw(a), json_raw(b)))
        return true;
    return json_is(a, json_text(b, &c->members.names));
}

static bool equal_values(struct equal_context *c, struct json_val a, struct json_val b,
                         bool outermost)
{
    if (json_type(a) != json_type(b))
        return false;
    switch (json_type(a)) {
    case JSON_NUMBER:
        return str_eq(number_text(c, 0, a), number_text(c, 1, b));
    case JSON_STRING:
        return equal_strings(c, a, b);
    case JSON_ARRAY:
        return equal_arrays(c, a, b);
    case JSON_OBJECT:
        return equal_objects(c, a, b, outermost);
    default:
        return true;
    }
}

bool json_equal(struct json_val a, struct json_val b, const struct json_rules *rules)
{
    struct equal_context c;
    bool same;

    if (json_exists(a) && json_exists(b) && str_eq(json_raw(a), json_raw(b)))
        return true; /* what is spelled alike means the same under any rules */
    init_context(&c, rules);
    same = equal_values(&c, a, b, true);
    release_context(&c);
    return same;
}
