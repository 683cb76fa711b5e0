#include "json/diff.h"

#include "json/member-index.h"

struct diff {
    const struct json_rules *rules;
    bool (*found)(void *arg, const struct json_difference *d);
    void *arg;
    struct json_member_index members;
    struct json_step steps[JSON_MAX_DEPTH];
};

static const struct json_rules no_rules;

static bool report_difference(struct diff *d, enum json_diff_kind kind, size_t depth,
                              struct json_val left, struct json_val right)
{
    const struct json_difference found = { kind, { d->steps, depth }, left, right };

    return d->found(d->arg, &found);
}

static bool compare(struct diff *d, struct json_val left, struct json_val right, size_t depth);

static bool compare_arrays(struct diff *d, struct json_val left, struct json_val right,
                           size_t depth)
{
    struct json_iter a = json_each(left), b = json_each(right);
    bool more_a = json_next(&a), more_b = json_next(&b);

    for (size_t i = 0; more_a || more_b; i++) {
        d->steps[depth] = (struct json_step){ .is_index = true, .index = i };
        if (!compare(d, more_a ? a.value : JSON_VAL_NONE, more_b ? b.value : JSON_VAL_NONE,
                     depth + 1))
            return false;
        more_a = more_a && json_next(&a);
        more_b = more_b && json_next(&b);
    }
    return true;
}

/* The members of `v` that count, in the order of the text, each with the one of the
 * same name in `other`. With `only_new`, those that `other` does not have. */
static bool compare_members(struct diff *d, struct json_val v, struct json_member_list own,
                            struct json_member_list other, bool only_new, size_t depth)
{
    struct json_iter it = json_each(v);

    while (json_next(&it)) {
        struct str name = json_text(it.key, &d->members.names);
        uint64_t hash = json_member_hash(name);
        struct json_val last = json_member_index_find(&d->members, own, name, hash);
        struct json_val match;

        if (!json_exists(last) || last.node != it.value.node)
            continue;
        match = json_member_index_find(&d->members, other, name, hash);
        d->steps[depth] = (struct json_step){ .name = name };
        if (only_new) {
            if (!json_exists(match) && !compare(d, JSON_VAL_NONE, it.value, depth + 1))
                return false;
        } else if (!compare(d, it.value, match, depth + 1)) {
            return false;
        }
    }
    return true;
}

static bool compare_objects(struct diff *d, struct json_val left, struct json_val right,
                            size_t depth)
{
    size_t skip = depth ? 0 : d->rules->skip_count;
    struct json_member_list a = json_member_index_add(&d->members, left, d->rules->skip, skip);
    struct json_member_list b = json_member_index_add(&d->members, right, d->rules->skip, skip);
    bool go_on = compare_members(d, left, a, b, false, depth) &&
                 compare_members(d, right, b, a, true, depth);

    json_member_index_drop(&d->members, a);
    return go_on;
}

static bool is_bool(enum json_type type)
{
    return type == JSON_TRUE || type == JSON_FALSE;
}

/* Goes as deep as the values are nested, which the scanner has bounded. */
static bool compare(struct diff *d, struct json_val left, struct json_val right, size_t depth)
{
    enum json_type a = json_type(left), b = json_type(right);

    if (a != b) {
        if (a == JSON_ABSENT)
            return report_difference(d, JSON_DIFF_ADDED, depth, left, right);
        if (b == JSON_ABSENT)
            return report_difference(d, JSON_DIFF_REMOVED, depth, left, right);
        return report_difference(
            d, is_bool(a) && is_bool(b) ? JSON_DIFF_CHANGED : JSON_DIFF_TYPE_CHANGED, depth,
            left, right);
    }
    if (a == JSON_OBJECT)
        return compare_objects(d, left, right, depth);
    if (a == JSON_ARRAY)
        return compare_arrays(d, left, right, depth);
    return json_equal(left, right, d->rules) ||
           report_difference(d, JSON_DIFF_CHANGED, depth, left, right);
}

bool json_diff(struct json_val left, struct json_val right, const struct json_rules *rules,
               bool (*found)(void *arg, const struct json_difference *d), void *arg)
{
    struct diff d;
    bool all;

    d.rules = rules ? rules : &no_rules;
    d.found = found;
    d.arg = arg;
    json_member_index_init(&d.members);
    all = compare(&d, left, right, 0);
    json_member_index_release(&d.members);
    return all;
}
