#include "diff/schema-bounds.h"

#include "json/equal.h"
#include "json/number.h"

static const struct json_rules by_value = { .numbers_by_value = true };

struct bounds_comparison {
    const struct schema_view *before, *after;
    const struct schema_bounds_events *events;
    void *to;
};

static void emit(const struct bounds_comparison *c, enum schema_change_kind kind,
                 struct str keyword, struct json_val old, struct json_val new)
{
    c->events->changed(c->to, kind, keyword, old, new);
}

struct bound {
    struct json_val value; /* absent: none */
    bool exclusive;
};

/* Returns the stricter of an inclusive and an exclusive bound. `sign` is 1 for a lower bound,
 * -1 for an upper one. */
static struct bound strictest(const struct schema_view *v, enum json_keyword inclusive,
                              enum json_keyword exclusive, int sign)
{
    struct bound in = { schema_view_get(v, inclusive), false };
    struct bound ex = { schema_view_get(v, exclusive), true };
    int order;

    if (json_type(in.value) != JSON_NUMBER)
        return json_type(ex.value) == JSON_NUMBER ? ex : (struct bound){ JSON_VAL_NONE, false };
    if (json_type(ex.value) != JSON_NUMBER ||
        !json_number_compare(json_raw(ex.value), json_raw(in.value), &order))
        return in;
    return order * sign >= 0 ? ex : in;
}

static void emit_bound(const struct bounds_comparison *c, struct str name, int tighter,
                       struct json_val old, struct json_val new)
{
    if (tighter)
        emit(c, tighter > 0 ? SCHEMA_BOUND_TIGHTENED : SCHEMA_BOUND_LOOSENED, name, old, new);
}

/* Whether two bounds of integers are the same: above 0, and from 1 on. */
static bool is_same_integer(struct bound old, struct bound new, int sign)
{
    enum { MAX = 1 << 30 };
    int64_t a, b;

    return json_int(old.value, &a) && json_int(new.value, &b) && a > -MAX && a < MAX &&
           b > -MAX && b < MAX && a + old.exclusive * sign == b + new.exclusive *sign;
}

static void compare_bound(const struct bounds_comparison *c, struct str name, struct bound old,
                          struct bound new, int sign)
{
    int order = 0;

    if (!json_exists(old.value) || !json_exists(new.value)) {
        emit_bound(c, name, json_exists(new.value) - json_exists(old.value), old.value,
                   new.value);
        return;
    }
    if (!json_number_compare(json_raw(new.value), json_raw(old.value), &order)) {
        if (!json_equal(old.value, new.value, &by_value))
            emit(c, SCHEMA_NOT_JUDGED, name, old.value, new.value);
        return;
    }
    order *= sign;
    if (!order)
        order = new.exclusive - old.exclusive;
    emit_bound(c, name, (order > 0) - (order < 0), old.value, new.value);
}

static bool is_zero(struct json_val v)
{
    int64_t n;

    return json_int(v, &n) && n == 0;
}

static void compare_count(const struct bounds_comparison *c, enum json_keyword k, int sign)
{
    struct bound old = { schema_view_get(c->before, k), false };
    struct bound new = { schema_view_get(c->after, k), false };

    if (json_type(old.value) != JSON_NUMBER || (sign > 0 && is_zero(old.value)))
        old.value = JSON_VAL_NONE;
    if (json_type(new.value) != JSON_NUMBER || (sign > 0 && is_zero(new.value)))
        new.value = JSON_VAL_NONE;
    compare_bound(c, json_keyword_name(k), old, new, sign);
}

static void compare_multiple(const struct bounds_comparison *c)
{
    struct json_val old = schema_view_get(c->before, KEYWORD_MULTIPLE_OF);
    struct json_val new = schema_view_get(c->after, KEYWORD_MULTIPLE_OF);
    struct str name = json_keyword_name(KEYWORD_MULTIPLE_OF);
    bool multiple;

    if (json_type(old) != JSON_NUMBER || json_type(new) != JSON_NUMBER) {
        emit_bound(c, name, (json_type(new) == JSON_NUMBER) - (json_type(old) == JSON_NUMBER),
                   old, new);
        return;
    }
    if (json_equal(old, new, &by_value))
        return;
    if (json_number_multiple(json_raw(new), json_raw(old), &multiple) && multiple)
        emit_bound(c, name, 1, old, new);
    else if (json_number_multiple(json_raw(old), json_raw(new), &multiple) && multiple)
        emit_bound(c, name, -1, old, new);
    else
        emit(c, SCHEMA_BOUND_CHANGED, name, old, new);
}

static void compare_unique(const struct bounds_comparison *c)
{
    struct json_val old = schema_view_get(c->before, KEYWORD_UNIQUE_ITEMS);
    struct json_val new = schema_view_get(c->after, KEYWORD_UNIQUE_ITEMS);

    emit_bound(c, json_keyword_name(KEYWORD_UNIQUE_ITEMS),
               (json_type(new) == JSON_TRUE) - (json_type(old) == JSON_TRUE), old, new);
}

static void compare_range(const struct bounds_comparison *c, enum json_keyword inclusive,
                          enum json_keyword exclusive, int sign)
{
    struct bound old = strictest(c->before, inclusive, exclusive, sign);
    struct bound new = strictest(c->after, inclusive, exclusive, sign);
    unsigned types = c->before->types | c->after->types;

    if (types != JSON_SCHEMA_INTEGER || !is_same_integer(old, new, sign))
        compare_bound(c, json_keyword_name(inclusive), old, new, sign);
}

void schema_bounds_compare(const struct schema_view *before, const struct schema_view *after,
                           const struct schema_bounds_events *events, void *to)
{
    const struct bounds_comparison comparison = { before, after, events, to }, *c = &comparison;

    compare_range(c, KEYWORD_MINIMUM, KEYWORD_EXCLUSIVE_MINIMUM, 1);
    compare_range(c, KEYWORD_MAXIMUM, KEYWORD_EXCLUSIVE_MAXIMUM, -1);
    compare_count(c, KEYWORD_MIN_LENGTH, 1);
    compare_count(c, KEYWORD_MAX_LENGTH, -1);
    compare_count(c, KEYWORD_MIN_ITEMS, 1);
    compare_count(c, KEYWORD_MAX_ITEMS, -1);
    compare_count(c, KEYWORD_MIN_PROPERTIES, 1);
    compare_count(c, KEYWORD_MAX_PROPERTIES, -1);
    compare_multiple(c);
    compare_unique(c);
}
