#include "diff/schema-compare.h"

#include <stdlib.h>

#include "base/mem.h"
#include "diff/schema-references.h"
#include "diff/schema-view.h"
#include "json/equal.h"
#include "json/number.h"
#include "json/write.h"

enum { TEXT_MAX = 64 << 20 };                        /* bytes of a value of a change */
enum { MAX_REFS = 64 };                              /* followed from one place */
enum { RENAME_PAIRS = 10000, BRANCH_PAIRS = 10000 }; /* that are tried */

static const struct json_rules by_value = { .numbers_by_value = true };

/* Annotations do not make a property or a branch another one. */
static const struct str annotation_names[] = { STR_INIT("title"), STR_INIT("description"),
                                               STR_INIT("examples"), STR_INIT("default") };
static const struct json_rules without_annotations = {
    .numbers_by_value = true,
    .skip = annotation_names,
    .skip_count = sizeof annotation_names / sizeof *annotation_names,
};

/* One comparison. Recursion is limited by SCHEMA_COMPARE_DEPTH. */
struct schema_comparison {
    const struct schema_compare_events *events;
    void *to;
    enum schema_direction direction;
    struct json_schema_rules rules[2]; /* before, after */
    struct json_step *steps;
    size_t depth, step_cap;
    unsigned nesting;
    uint64_t work;
    bool too_complex;
    struct map compared; /* pairs of subschemas */
    struct buf instance; /* of the current subschema */
    struct buf texts[2]; /* before, after of a change */
    struct arena arena;
};

/* Two subschemas at the same place. */
struct schema_pair {
    struct schema_view before, after;
};

static void push_name(struct schema_comparison *c, struct str name)
{
    c->steps = mem_reserve(c->steps, &c->step_cap, c->depth + 1, sizeof *c->steps);
    c->steps[c->depth++] = (struct json_step){ .name = name };
}

static void push_index(struct schema_comparison *c, size_t index)
{
    c->steps = mem_reserve(c->steps, &c->step_cap, c->depth + 1, sizeof *c->steps);
    c->steps[c->depth++] = (struct json_step){ .is_index = true, .index = index };
}

static void emit(struct schema_comparison *c, enum schema_change_kind kind, struct str before,
                 struct str after)
{
    const struct schema_change change = { .kind = kind,
                                          .path = { c->steps, c->depth },
                                          .instance = buf_str(&c->instance),
                                          .before = before,
                                          .after = after };

    c->events->changed(c->to, &change);
}

/* The same at the keyword `name` of the current subschema. */
static void emit_at(struct schema_comparison *c, enum schema_change_kind kind, struct str name,
                    struct str before, struct str after)
{
    push_name(c, name);
    emit(c, kind, before, after);
    c->depth--;
}

static void compare(struct schema_comparison *c, struct json_val before, struct json_val after);

/* Compares below the keyword `name`; `instance` is the step that it adds to a value. */
static void compare_below(struct schema_comparison *c, struct str name, struct str instance,
                          struct json_val before, struct json_val after)
{
    size_t len = c->instance.len;

    push_name(c, name);
    buf_add(&c->instance, instance);
    compare(c, before, after);
    c->instance.len = len;
    c->depth--;
}

static bool differ(struct json_val a, struct json_val b)
{
    if (!json_exists(a) || !json_exists(b))
        return json_exists(a) != json_exists(b);
    return !json_equal(a, b, &by_value);
}

/* Types, null and values. */

static struct str types_text(struct schema_comparison *c, int side, const struct schema_view *v)
{
    unsigned types = v->types;

    buf_clear(&c->texts[side]);
    if (v->never)
        return STR("false");
    if (!v->typed)
        return STR_NONE;
    if (types & JSON_SCHEMA_NUMBER)
        types &= ~(unsigned)JSON_SCHEMA_INTEGER;
    json_schema_types_write_json(types | (v->nullable ? JSON_SCHEMA_NULL : 0), &c->texts[side]);
    return buf_str(&c->texts[side]);
}

static unsigned types_of(const struct schema_view *v)
{
    return v->never ? 0 : v->types;
}

/* Returns whether all values have a type that the other side accepts. */
static bool values_fit(const struct schema_view *values, const struct schema_view *other)
{
    for (size_t i = 0; i < values->value_count; i++)
        if (!(json_schema_types_of(values->values[i]) & types_of(other)))
            return false;
    return true;
}

/* An invalid value is ignored everywhere else. */
static bool is_invalid(const struct schema_pair *p, enum json_keyword k)
{
    struct json_val old = schema_view_get(&p->before, k), new = schema_view_get(&p->after, k);

    return (json_exists(old) && !json_keyword_is_valid(k, old)) ||
           (json_exists(new) && !json_keyword_is_valid(k, new));
}

/* compare_not_judged() reports an invalid type. */
static void emit_types(struct schema_comparison *c, enum schema_change_kind kind,
                       const struct schema_pair *p)
{
    struct str before = types_text(c, 0, &p->before), after = types_text(c, 1, &p->after);

    if (is_invalid(p, KEYWORD_TYPE))
        return;
    emit_at(c, kind, STR("type"), before, after);
}

static void emit_bool(struct schema_comparison *c, enum schema_change_kind kind, bool after)
{
    emit(c, kind, after ? STR("false") : STR("true"), after ? STR("true") : STR("false"));
}

static bool is_open(const struct schema_view *v)
{
    return !v->typed && !v->has_values && !v->never && !v->branch_count;
}

static void compare_null(struct schema_comparison *c, const struct schema_pair *p)
{
    if (p->before.nullable == p->after.nullable || is_open(&p->before) || is_open(&p->after))
        return;
    emit_bool(c, p->after.nullable ? SCHEMA_NULLABLE_ADDED : SCHEMA_NULLABLE_REMOVED,
              p->after.nullable);
}

/* Returns false if no value can be valid on both sides: the rest need not be compared. */
static bool compare_types(struct schema_comparison *c, const struct schema_pair *p)
{
    const struct schema_view *b = &p->before, *a = &p->after;
    unsigned old = types_of(b), new = types_of(a);

    if (b->has_values || a->has_values) {
        if ((b->has_values && !a->has_values && !values_fit(b, a)) ||
            (a->has_values && !b->has_values && !values_fit(a, b))) {
            emit_types(c, SCHEMA_TYPE_CHANGED, p);
            return false;
        }
        compare_null(c, p);
        return true;
    }
    if (old == new || (b->branch_count && a->branch_count)) {
        compare_null(c, p);
        return true;
    }
    if (!(old & ~new)) {
        emit_types(c, SCHEMA_TYPE_WIDENED, p);
    } else if (!(new & ~old)) {
        emit_types(c, SCHEMA_TYPE_NARROWED, p);
    } else {
        emit_types(c, SCHEMA_TYPE_CHANGED, p);
        return (old & new) != 0;
    }
    compare_null(c, p);
    return true;
}

struct hashed {
    uint64_t hash;
    struct json_val value;
    size_t index;
    bool matched;
};

static int compare_hashed(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static struct hashed *hash_all(struct schema_comparison *c, const struct json_val *values,
                               size_t count)
{
    struct hashed *list = arena_alloc(&c->arena, (count + 1) * sizeof *list);

    for (size_t i = 0; i < count; i++)
        list[i] = (struct hashed){ json_hash(values[i], &by_value), values[i], i, false };
    qsort(list, count, sizeof *list, compare_hashed);
    c->work += count;
    return list;
}

/* Marks as many elements as both sorted lists have. */
static void match_equal(struct hashed *a, size_t a_count, struct hashed *b, size_t b_count)
{
    for (size_t i = 0, k = 0; i < a_count && k < b_count;) {
        if (a[i].hash == b[k].hash) {
            a[i++].matched = true;
            b[k++].matched = true;
        } else if (a[i].hash < b[k].hash) {
            i++;
        } else {
            k++;
        }
    }
}

/* Leaves one of equal values in a sorted list; returns their number. */
static size_t drop_repeated(struct hashed *list, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (!kept || list[kept - 1].hash != list[i].hash)
            list[kept++] = list[i];
    return kept;
}

static int compare_indexes(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;

    return x->index < y->index ? -1 : x->index > y->index;
}

/* Appends an array of the values that have no match, in their order; nothing if there are
 * none. */
static struct str unmatched_text(struct buf *to, struct hashed *list, size_t count)
{
    struct json_out o = json_out_to(to);
    bool any = false;

    buf_clear(to);
    qsort(list, count, sizeof *list, compare_indexes);
    for (size_t i = 0; i < count; i++) {
        if (list[i].matched)
            continue;
        if (!any)
            json_out_array(&o);
        any = true;
        json_out_raw(&o, json_raw(list[i].value));
    }
    if (any)
        json_out_end_array(&o);
    return buf_str(to);
}

static void compare_values(struct schema_comparison *c, const struct schema_pair *p)
{
    const struct schema_view *b = &p->before, *a = &p->after;
    struct hashed *old = hash_all(c, b->values, b->value_count);
    struct hashed *new = hash_all(c, a->values, a->value_count);
    size_t old_count = drop_repeated(old, b->value_count);
    size_t new_count = drop_repeated(new, a->value_count);
    struct str removed, added;

    if (!b->has_values && !a->has_values)
        return;
    if (b->has_values && a->has_values)
        match_equal(old, old_count, new, new_count);
    removed = unmatched_text(&c->texts[0], old, old_count);
    added = unmatched_text(&c->texts[1], new, new_count);
    if (!b->has_values) {
        emit_at(c, SCHEMA_ENUM_SET, STR("enum"), STR_NONE, added);
    } else if (!a->has_values) {
        emit_at(c, SCHEMA_ENUM_UNSET, STR("enum"), removed, STR_NONE);
    } else {
        if (removed.len)
            emit_at(c, SCHEMA_ENUM_VALUES_REMOVED, STR("enum"), removed, STR_NONE);
        if (added.len)
            emit_at(c, SCHEMA_ENUM_VALUES_ADDED, STR("enum"), STR_NONE, added);
    }
}

/* Bounds. */

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

static void emit_bound(struct schema_comparison *c, struct str name, int tighter,
                       struct json_val old, struct json_val new)
{
    if (tighter)
        emit_at(c, tighter > 0 ? SCHEMA_BOUND_TIGHTENED : SCHEMA_BOUND_LOOSENED, name,
                json_raw(old), json_raw(new));
}

/* Whether two bounds of integers are the same: above 0, and from 1 on. */
static bool is_same_integer(struct bound old, struct bound new, int sign)
{
    enum { MAX = 1 << 30 };
    int64_t a, b;

    return json_int(old.value, &a) && json_int(new.value, &b) && a > -MAX && a < MAX &&
           b > -MAX && b < MAX && a + old.exclusive * sign == b + new.exclusive *sign;
}

static void compare_bound(struct schema_comparison *c, struct str name, struct bound old,
                          struct bound new, int sign)
{
    int order = 0;

    if (!json_exists(old.value) || !json_exists(new.value)) {
        emit_bound(c, name, json_exists(new.value) - json_exists(old.value), old.value,
                   new.value);
        return;
    }
    if (!json_number_compare(json_raw(new.value), json_raw(old.value), &order)) {
        if (differ(old.value, new.value))
            emit_at(c, SCHEMA_NOT_JUDGED, name, json_raw(old.value), json_raw(new.value));
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

static void compare_count(struct schema_comparison *c, const struct schema_pair *p,
                          enum json_keyword k, int sign)
{
    struct bound old = { schema_view_get(&p->before, k), false };
    struct bound new = { schema_view_get(&p->after, k), false };

    if (json_type(old.value) != JSON_NUMBER || (sign > 0 && is_zero(old.value)))
        old.value = JSON_VAL_NONE;
    if (json_type(new.value) != JSON_NUMBER || (sign > 0 && is_zero(new.value)))
        new.value = JSON_VAL_NONE;
    compare_bound(c, json_keyword_name(k), old, new, sign);
}

static void compare_multiple(struct schema_comparison *c, const struct schema_pair *p)
{
    struct json_val old = schema_view_get(&p->before, KEYWORD_MULTIPLE_OF);
    struct json_val new = schema_view_get(&p->after, KEYWORD_MULTIPLE_OF);
    struct str name = json_keyword_name(KEYWORD_MULTIPLE_OF);
    bool multiple;

    if (json_type(old) != JSON_NUMBER || json_type(new) != JSON_NUMBER) {
        emit_bound(c, name, (json_type(new) == JSON_NUMBER) - (json_type(old) == JSON_NUMBER),
                   old, new);
        return;
    }
    if (!differ(old, new))
        return;
    if (json_number_multiple(json_raw(new), json_raw(old), &multiple) && multiple)
        emit_bound(c, name, 1, old, new);
    else if (json_number_multiple(json_raw(old), json_raw(new), &multiple) && multiple)
        emit_bound(c, name, -1, old, new);
    else
        emit_at(c, SCHEMA_BOUND_CHANGED, name, json_raw(old), json_raw(new));
}

static void compare_unique(struct schema_comparison *c, const struct schema_pair *p)
{
    struct json_val old = schema_view_get(&p->before, KEYWORD_UNIQUE_ITEMS);
    struct json_val new = schema_view_get(&p->after, KEYWORD_UNIQUE_ITEMS);

    emit_bound(c, json_keyword_name(KEYWORD_UNIQUE_ITEMS),
               (json_type(new) == JSON_TRUE) - (json_type(old) == JSON_TRUE), old, new);
}

static void compare_range(struct schema_comparison *c, const struct schema_pair *p,
                          enum json_keyword inclusive, enum json_keyword exclusive, int sign)
{
    struct bound old = strictest(&p->before, inclusive, exclusive, sign);
    struct bound new = strictest(&p->after, inclusive, exclusive, sign);
    unsigned types = p->before.types | p->after.types;

    if (types != JSON_SCHEMA_INTEGER || !is_same_integer(old, new, sign))
        compare_bound(c, json_keyword_name(inclusive), old, new, sign);
}

static void compare_bounds(struct schema_comparison *c, const struct schema_pair *p)
{
    compare_range(c, p, KEYWORD_MINIMUM, KEYWORD_EXCLUSIVE_MINIMUM, 1);
    compare_range(c, p, KEYWORD_MAXIMUM, KEYWORD_EXCLUSIVE_MAXIMUM, -1);
    compare_count(c, p, KEYWORD_MIN_LENGTH, 1);
    compare_count(c, p, KEYWORD_MAX_LENGTH, -1);
    compare_count(c, p, KEYWORD_MIN_ITEMS, 1);
    compare_count(c, p, KEYWORD_MAX_ITEMS, -1);
    compare_count(c, p, KEYWORD_MIN_PROPERTIES, 1);
    compare_count(c, p, KEYWORD_MAX_PROPERTIES, -1);
    compare_multiple(c, p);
    compare_unique(c, p);
}

/* Keywords with a value that is only equal or not. */

static void compare_text(struct schema_comparison *c, const struct schema_pair *p,
                         enum json_keyword k, enum schema_change_kind added)
{
    struct json_val old = schema_view_get(&p->before, k), new = schema_view_get(&p->after, k);
    enum schema_change_kind removed = added + 1, changed = added + 2;

    if (differ(old, new))
        emit_at(c,
                !json_exists(old)   ? added
                : !json_exists(new) ? removed
                                    : changed,
                json_keyword_name(k), json_raw(old), json_raw(new));
}

static void compare_member(struct schema_comparison *c, const struct schema_pair *p,
                           struct str name, enum schema_change_kind kind)
{
    struct json_val old = schema_view_member(&p->before, name);
    struct json_val new = schema_view_member(&p->after, name);

    if (differ(old, new))
        emit_at(c, kind, name, json_raw(old), json_raw(new));
}

static void compare_header(struct schema_comparison *c, const struct schema_pair *p)
{
    struct str name = STR("x-mcp-header");
    struct json_val old = schema_view_member(&p->before, name);
    struct json_val new = schema_view_member(&p->after, name);

    if (c->direction == SCHEMA_INPUT && differ(old, new))
        emit_at(c,
                !json_exists(old)   ? SCHEMA_HEADER_ADDED
                : !json_exists(new) ? SCHEMA_HEADER_REMOVED
                                    : SCHEMA_HEADER_CHANGED,
                name, json_raw(old), json_raw(new));
}

/* Whether the other functions compare the keyword. */
static bool is_judged(enum json_keyword k)
{
    switch (k) {
    case KEYWORD_NOT:
    case KEYWORD_IF:
    case KEYWORD_THEN:
    case KEYWORD_ELSE:
    case KEYWORD_DYNAMIC_REF:
    case KEYWORD_RECURSIVE_REF:
    case KEYWORD_UNEVALUATED_ITEMS:
    case KEYWORD_UNEVALUATED_PROPERTIES:
    case KEYWORD_PREFIX_ITEMS:
    case KEYWORD_ADDITIONAL_ITEMS:
    case KEYWORD_CONTAINS:
    case KEYWORD_MIN_CONTAINS:
    case KEYWORD_MAX_CONTAINS:
    case KEYWORD_DEPENDENT_REQUIRED:
    case KEYWORD_DEPENDENT_SCHEMAS:
    case KEYWORD_DEPENDENCIES:
    case KEYWORD_PROPERTY_NAMES:
    case KEYWORD_PATTERN_PROPERTIES:
        return false;
    default:
        return true;
    }
}

/* Equal text has another meaning if a definition behind it differs. */
static bool differ_with_references(struct schema_comparison *c, struct json_val old,
                                   struct json_val new)
{
    return differ(old, new) ||
           (json_exists(old) && schema_references_differ(c->rules, old, new, &c->work));
}

static bool is_changed(struct schema_comparison *c, const struct schema_pair *p,
                       enum json_keyword k, struct json_val old, struct json_val new)
{
    if (k == KEYWORD_REF)
        return false;
    if (is_judged(k))
        return is_invalid(p, k) && differ(old, new);
    return differ_with_references(c, old, new) ||
           (k == KEYWORD_DYNAMIC_REF && json_exists(old) &&
            schema_references_definitions_differ(c->rules));
}

static void compare_not_judged(struct schema_comparison *c, const struct schema_pair *p)
{
    for (enum json_keyword k = 0; k < KEYWORD_NONE; k++) {
        struct json_val old = schema_view_get(&p->before, k);
        struct json_val new = schema_view_get(&p->after, k);

        if (is_changed(c, p, k, old, new))
            emit_at(c, SCHEMA_NOT_JUDGED, json_keyword_name(k), json_raw(old), json_raw(new));
    }
    if (!p->before.complete || !p->after.complete) {
        struct json_val old = schema_view_get(&p->before, KEYWORD_REF);
        struct json_val new = schema_view_get(&p->after, KEYWORD_REF);

        if (differ(old, new) || !json_exists(old) ||
            schema_references_definitions_differ(c->rules))
            emit_at(c, SCHEMA_NOT_JUDGED, json_keyword_name(KEYWORD_REF), json_raw(old),
                    json_raw(new));
    }
}

static bool is_known_keyword(struct json_val key)
{
    static const struct str others[] = {
        STR_INIT("title"),   STR_INIT("description"), STR_INIT("examples"),
        STR_INIT("default"), STR_INIT("$schema"),     STR_INIT("$id"),
        STR_INIT("$anchor"), STR_INIT("$defs"),       STR_INIT("definitions"),
        STR_INIT("$ref"),    STR_INIT("nullable"),    STR_INIT("$comment"),
    };

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (json_is(key, others[i]))
            return true;
    for (enum json_keyword k = 0; k < KEYWORD_NONE; k++)
        if (json_is(key, json_keyword_name(k)))
            return true;
    return false;
}

/* Compares the unknown keywords of `from`. With `only_missing`, those that the other side does
 * not have: the others were compared from there. */
static void compare_unknown(struct schema_comparison *c, const struct schema_pair *p,
                            const struct schema_view *from, bool only_missing)
{
    for (size_t i = 0; i < from->part_count; i++) {
        struct json_iter it = json_each(from->parts[i]);

        while (json_next(&it)) {
            struct str name = json_text(it.key, &c->arena);

            if (is_known_keyword(it.key) ||
                (c->direction == SCHEMA_INPUT && str_eq(name, STR("x-mcp-header"))) ||
                (only_missing && json_exists(schema_view_member(&p->before, name))))
                continue;
            compare_member(c, p, name, SCHEMA_EXTENSION_CHANGED);
        }
        c->work += json_count(from->parts[i]);
    }
}

static void compare_annotations(struct schema_comparison *c, const struct schema_pair *p)
{
    compare_member(c, p, STR("title"), SCHEMA_TITLE_CHANGED);
    compare_member(c, p, STR("description"), SCHEMA_DESCRIPTION_CHANGED);
    compare_member(c, p, STR("examples"), SCHEMA_EXAMPLES_CHANGED);
    compare_member(c, p, STR("default"), SCHEMA_DEFAULT_CHANGED);
    compare_header(c, p);
    compare_unknown(c, p, &p->before, false);
    compare_unknown(c, p, &p->after, true);
}

/* Properties. */

struct property {
    struct str name;
    struct json_val schema; /* absent: only required */
    size_t position;
    bool required;
    bool renamed;
};

struct properties {
    struct property *at; /* sorted by name, each once */
    size_t count;
};

static int compare_properties(const void *a, const void *b)
{
    const struct property *x = a, *y = b;
    int order = str_cmp(x->name, y->name);

    return order ? order : x->position < y->position ? -1 : x->position > y->position;
}

static void add_property(struct properties *list, struct str name, struct json_val schema,
                         bool required)
{
    list->at[list->count] = (struct property){
        .name = name, .schema = schema, .position = list->count, .required = required
    };
    list->count++;
}

static struct properties list_members(struct schema_comparison *c, const struct schema_view *v)
{
    struct properties list = { NULL, 0 };
    size_t room = 0;

    for (size_t i = 0; i < v->part_count; i++)
        room += json_count(json_get(v->parts[i], STR("properties"))) +
                json_count(json_get(v->parts[i], STR("required")));
    list.at = arena_alloc(&c->arena, (room + 1) * sizeof *list.at);
    for (size_t i = 0; i < v->part_count; i++) {
        struct json_iter it = json_each(json_get(v->parts[i], STR("properties")));

        while (json_next(&it))
            if (json_exists(it.key))
                add_property(&list, json_text(it.key, &c->arena), it.value, false);
    }
    for (size_t i = 0; i < v->part_count; i++) {
        struct json_iter it = json_each(json_get(v->parts[i], STR("required")));

        while (json_next(&it))
            if (!json_exists(it.key) && json_type(it.value) == JSON_STRING)
                add_property(&list, json_text(it.value, &c->arena), JSON_VAL_NONE, true);
    }
    c->work += list.count;
    return list;
}

/* Lists the properties of a view. The first of several with a name that has a schema counts; it
 * is required if any of them is. */
static struct properties list_properties(struct schema_comparison *c,
                                         const struct schema_view *v)
{
    struct properties list = list_members(c, v);
    size_t kept = 0;

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

static bool is_closed(const struct schema_view *v)
{
    return json_type(schema_view_get(v, KEYWORD_ADDITIONAL_PROPERTIES)) == JSON_FALSE ||
           json_type(schema_view_get(v, KEYWORD_UNEVALUATED_PROPERTIES)) == JSON_FALSE;
}

static struct str name_json(struct buf *to, struct str name)
{
    buf_clear(to);
    json_write_str(to, name);
    return buf_str(to);
}

/* Two names are similar if at least half of the longer one is the same. */
static bool may_be_renamed(const struct property *a, const struct property *b)
{
    size_t longer = a->name.len > b->name.len ? a->name.len : b->name.len;

    if (a->renamed || b->renamed || !json_exists(a->schema) || !json_exists(b->schema))
        return false;
    return (a->position == b->position || str_distance(a->name, b->name) * 2 <= longer) &&
           json_equal(a->schema, b->schema, &without_annotations);
}

/* The properties that only one side has. */
struct unpaired {
    struct property **at;
    size_t count;
};

/* Returns the only one that `p` may be under another name; NULL: there is none, or several. */
static struct property *find_renamed(const struct property *p, const struct unpaired *among)
{
    struct property *found = NULL;

    for (size_t i = 0; i < among->count; i++) {
        if (!may_be_renamed(p, among->at[i]))
            continue;
        if (found)
            return NULL;
        found = among->at[i];
    }
    return found;
}

static void emit_renamed(struct schema_comparison *c, struct property *old,
                         struct property *new)
{
    struct str before = name_json(&c->texts[0], old->name);
    struct str after = name_json(&c->texts[1], new->name);
    size_t len = c->instance.len;

    buf_printf(&c->instance, "[%.*s]", STR_ARG(before));
    emit_at(c, SCHEMA_PROPERTY_RENAMED, STR("properties"), before, after);
    c->instance.len = len;
    old->renamed = new->renamed = true;
}

static void match_renamed(struct schema_comparison *c, const struct unpaired *removed,
                          const struct unpaired *added)
{
    if (removed->count * added->count > RENAME_PAIRS)
        return;
    for (size_t i = 0; i < removed->count; i++) {
        struct property *new = find_renamed(removed->at[i], added);

        if (new &&find_renamed(new, removed) == removed->at[i])
            emit_renamed(c, removed->at[i], new);
    }
}

static enum schema_change_kind added_kind(const struct schema_comparison *c,
                                          const struct schema_pair *p,
                                          const struct property *added)
{
    if (c->direction == SCHEMA_OUTPUT && is_closed(&p->before))
        return SCHEMA_PROPERTY_ADDED_CLOSED;
    return added->required ? SCHEMA_PROPERTY_REQUIRED_ADDED : SCHEMA_PROPERTY_ADDED;
}

static enum schema_change_kind removed_kind(const struct schema_comparison *c,
                                            const struct schema_pair *p,
                                            const struct property *removed)
{
    if (c->direction == SCHEMA_OUTPUT)
        return removed->required ? SCHEMA_PROPERTY_REQUIRED_REMOVED : SCHEMA_PROPERTY_REMOVED;
    return is_closed(&p->after) ? SCHEMA_PROPERTY_REMOVED_CLOSED : SCHEMA_PROPERTY_REMOVED;
}

/* Goes below a property, in the path and in the instance. Returns the length of the instance
 * before. */
static size_t enter_property(struct schema_comparison *c, struct str name)
{
    size_t len = c->instance.len;

    push_name(c, STR("properties"));
    push_name(c, name);
    buf_add_ch(&c->instance, '[');
    json_write_str(&c->instance, name);
    buf_add_ch(&c->instance, ']');
    return len;
}

static void leave_property(struct schema_comparison *c, size_t len)
{
    c->instance.len = len;
    c->depth -= 2;
}

static struct str schema_text(const struct property *p)
{
    return json_exists(p->schema) ? json_raw(p->schema) : STR("true");
}

static void emit_unpaired(struct schema_comparison *c, const struct schema_pair *p,
                          const struct unpaired *list, bool added)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct property *x = list->at[i];
        size_t len;

        if (x->renamed)
            continue;
        len = enter_property(c, x->name);
        if (added)
            emit(c, added_kind(c, p, x), STR_NONE, schema_text(x));
        else
            emit(c, removed_kind(c, p, x), schema_text(x), STR_NONE);
        leave_property(c, len);
    }
}

static void compare_property(struct schema_comparison *c, const struct property *old,
                             const struct property *new)
{
    size_t len = enter_property(c, old->name);

    if (old->required != new->required)
        emit_bool(c, new->required ? SCHEMA_REQUIRED_ADDED : SCHEMA_REQUIRED_REMOVED,
                  new->required);
    compare(c, old->schema, new->schema);
    leave_property(c, len);
}

static void compare_additional(struct schema_comparison *c, const struct schema_pair *p)
{
    struct json_val old = schema_view_get(&p->before, KEYWORD_ADDITIONAL_PROPERTIES);
    struct json_val new = schema_view_get(&p->after, KEYWORD_ADDITIONAL_PROPERTIES);
    struct str name = json_keyword_name(KEYWORD_ADDITIONAL_PROPERTIES);
    bool was_closed = json_type(old) == JSON_FALSE, closed = json_type(new) == JSON_FALSE;

    if (was_closed != closed)
        emit_at(c, closed ? SCHEMA_ADDITIONAL_CLOSED : SCHEMA_ADDITIONAL_OPENED, name,
                json_raw(old), json_raw(new));
    else if (!closed && (json_type(old) == JSON_OBJECT || json_type(new) == JSON_OBJECT))
        compare_below(c, name, STR(".*"), old, new);
}

static void compare_objects(struct schema_comparison *c, const struct schema_pair *p)
{
    struct properties old = list_properties(c, &p->before);
    struct properties new = list_properties(c, &p->after);
    struct unpaired removed = { arena_alloc(&c->arena, (old.count + 1) * sizeof *removed.at),
                                0 };
    struct unpaired added = { arena_alloc(&c->arena, (new.count + 1) * sizeof *added.at), 0 };
    size_t i = 0, k = 0;

    while (i < old.count || k < new.count) {
        int order = i == old.count   ? 1
                    : k == new.count ? -1
                                     : str_cmp(old.at[i].name, new.at[k].name);

        if (!order)
            compare_property(c, &old.at[i++], &new.at[k++]);
        else if (order < 0)
            removed.at[removed.count++] = &old.at[i++];
        else
            added.at[added.count++] = &new.at[k++];
    }
    match_renamed(c, &removed, &added);
    emit_unpaired(c, p, &removed, false);
    emit_unpaired(c, p, &added, true);
    compare_additional(c, p);
}

static void compare_items(struct schema_comparison *c, const struct schema_pair *p)
{
    struct json_val old = schema_view_get(&p->before, KEYWORD_ITEMS);
    struct json_val new = schema_view_get(&p->after, KEYWORD_ITEMS);
    struct str name = json_keyword_name(KEYWORD_ITEMS);

    if (json_type(old) == JSON_ARRAY || json_type(new) == JSON_ARRAY) {
        if (differ_with_references(c, old, new))
            emit_at(c, SCHEMA_NOT_JUDGED, name, json_raw(old), json_raw(new));
    } else if (json_exists(old) || json_exists(new)) {
        compare_below(c, name, STR("[*]"), old, new);
    }
}

/* Branches of anyOf and oneOf, and elements of allOf. */

struct branches {
    struct hashed *at;
    size_t count;
};

static struct branches hash_branches(struct schema_comparison *c, const struct json_val *values,
                                     size_t count)
{
    return (struct branches){ hash_all(c, values, count), count };
}

static size_t count_unmatched(const struct branches *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->count; i++)
        n += !b->at[i].matched;
    return n;
}

/* Compares two branches as versions of the same one. */
static void compare_branch(struct schema_comparison *c, struct str keyword, struct hashed *old,
                           struct hashed *new)
{
    old->matched = new->matched = true;
    push_name(c, keyword);
    push_index(c, old->index < new->index ? old->index : new->index);
    compare(c, old->value, new->value);
    c->depth -= 2;
}

/* Returns whether two branches have the same value of a member that names them. */
static bool have_same(const struct hashed *a, const struct hashed *b, struct str name)
{
    struct json_val x = json_get(a->value, name), y = json_get(b->value, name);

    return json_exists(x) && json_exists(y) && !differ(x, y);
}

static struct hashed *find_same(const struct hashed *of, const struct branches *among,
                                struct str name)
{
    struct hashed *found = NULL;

    for (size_t i = 0; i < among->count; i++) {
        if (among->at[i].matched || !have_same(of, &among->at[i], name))
            continue;
        if (found)
            return NULL;
        found = &among->at[i];
    }
    return found;
}

static void match_by(struct schema_comparison *c, struct str keyword, struct branches *old,
                     struct branches *new, struct str name)
{
    for (size_t i = 0; i < old->count; i++) {
        struct hashed *b = &old->at[i], *a;

        if (b->matched)
            continue;
        a = find_same(b, new, name);
        if (a && find_same(a, old, name) == b)
            compare_branch(c, keyword, b, a);
    }
}

static struct hashed *only_unmatched(const struct branches *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (!b->at[i].matched)
            return &b->at[i];
    return NULL;
}

/* Compares equal branches, too: a definition that they refer to may have changed. */
static void compare_equal(struct schema_comparison *c, struct str keyword, struct branches *old,
                          struct branches *new)
{
    size_t k = 0;

    match_equal(old->at, old->count, new->at, new->count);
    for (size_t i = 0; i < old->count; i++) {
        if (!old->at[i].matched)
            continue;
        while (!new->at[k].matched)
            k++;
        compare_branch(c, keyword, &old->at[i], &new->at[k++]);
    }
}

static void emit_branches(struct schema_comparison *c, enum schema_change_kind kind,
                          struct str keyword, struct branches *list, bool added)
{
    qsort(list->at, list->count, sizeof *list->at, compare_indexes);
    for (size_t i = 0; i < list->count; i++) {
        struct str text = json_raw(list->at[i].value);

        if (!list->at[i].matched)
            emit_at(c, kind, keyword, added ? STR_NONE : text, added ? text : STR_NONE);
    }
}

/* Compares two lists of subschemas. `added` is the kind of one that was added; the next kind is
 * that of a removed one. */
static void compare_lists(struct schema_comparison *c, struct str keyword, struct branches old,
                          struct branches new, enum schema_change_kind added)
{
    compare_equal(c, keyword, &old, &new);
    if (old.count * new.count <= BRANCH_PAIRS) {
        match_by(c, keyword, &old, &new, STR("$ref"));
        match_by(c, keyword, &old, &new, STR("title"));
        match_by(c, keyword, &old, &new, STR("type"));
    }
    if (count_unmatched(&old) == 1 && count_unmatched(&new) == 1)
        compare_branch(c, keyword, only_unmatched(&old), only_unmatched(&new));
    emit_branches(c, added + 1, keyword, &old, false);
    emit_branches(c, added, keyword, &new, true);
}

/* One side has branches, the other is one schema. Returns whether it is one of the branches;
 * then the others were added or removed. */
static bool compare_as_branch(struct schema_comparison *c, const struct schema_pair *p)
{
    bool added = !p->before.branch_count && p->after.branch_count;
    const struct schema_view *single = added ? &p->before : &p->after;
    const struct schema_view *all = added ? &p->after : &p->before;
    struct branches list;
    bool found = false;

    if (single->branch_count || !all->branch_count || !single->part_count)
        return false;
    list = hash_branches(c, all->branches, all->branch_count);
    for (size_t i = 0; i < list.count && !found; i++)
        found = list.at[i].matched =
            json_equal(single->parts[0], list.at[i].value, &without_annotations);
    if (found)
        emit_branches(c, added ? SCHEMA_BRANCH_ADDED : SCHEMA_BRANCH_REMOVED,
                      json_keyword_name(all->branch_keyword), &list, added);
    return found;
}

/* One side has branches, and the other is none of them. */
static void compare_single(struct schema_comparison *c, const struct schema_view *single,
                           const struct schema_view *all, bool added)
{
    struct branches list = hash_branches(c, all->branches, all->branch_count);
    struct str text = unmatched_text(&c->texts[0], list.at, list.count);

    emit_at(c,
            !is_open(single) ? SCHEMA_NOT_JUDGED
            : added          ? SCHEMA_CONJUNCT_ADDED
                             : SCHEMA_CONJUNCT_REMOVED,
            json_keyword_name(all->branch_keyword), added ? STR_NONE : text,
            added ? text : STR_NONE);
}

static void compare_branches(struct schema_comparison *c, const struct schema_pair *p)
{
    const struct schema_view *b = &p->before, *a = &p->after;

    if (b->branch_count && a->branch_count) {
        if (b->branch_keyword != a->branch_keyword)
            emit(c, SCHEMA_NOT_JUDGED,
                 name_json(&c->texts[0], json_keyword_name(b->branch_keyword)),
                 name_json(&c->texts[1], json_keyword_name(a->branch_keyword)));
        compare_lists(c, STR("anyOf"), hash_branches(c, b->branches, b->branch_count),
                      hash_branches(c, a->branches, a->branch_count), SCHEMA_BRANCH_ADDED);
    } else if (a->branch_count && types_of(b) == types_of(a)) {
        compare_single(c, b, a, true);
    } else if (b->branch_count && types_of(b) == types_of(a)) {
        compare_single(c, a, b, false);
    }
}

static struct branches list_conjuncts(struct schema_comparison *c, struct json_val list)
{
    struct json_val *values = arena_alloc(&c->arena, (json_count(list) + 1) * sizeof *values);
    struct json_iter it = json_each(list);
    size_t n = 0;

    while (json_next(&it))
        values[n++] = it.value;
    return hash_branches(c, values, n);
}

static void compare_conjuncts(struct schema_comparison *c, const struct schema_pair *p)
{
    if (json_exists(p->before.conjuncts) || json_exists(p->after.conjuncts))
        compare_lists(c, STR("allOf"), list_conjuncts(c, p->before.conjuncts),
                      list_conjuncts(c, p->after.conjuncts), SCHEMA_CONJUNCT_ADDED);
}

/* Everything. */

static void compare_pair(struct schema_comparison *c, const struct schema_pair *p)
{
    bool known = schema_view_is_unresolved(&p->before) == schema_view_is_unresolved(&p->after);
    bool comparable = known && compare_types(c, p);

    compare_annotations(c, p);
    if (!known)
        compare_not_judged(c, p);
    if (!comparable || compare_as_branch(c, p))
        return;
    compare_values(c, p);
    compare_bounds(c, p);
    compare_text(c, p, KEYWORD_PATTERN, SCHEMA_PATTERN_ADDED);
    compare_text(c, p, KEYWORD_FORMAT, SCHEMA_FORMAT_ADDED);
    compare_objects(c, p);
    compare_items(c, p);
    compare_branches(c, p);
    compare_conjuncts(c, p);
    compare_not_judged(c, p);
}

/* Follows a $ref that has no other keyword beside it. */
static struct json_val skip_refs(struct json_schema_rules *rules, struct json_val schema)
{
    for (int i = 0; i < MAX_REFS && json_type(schema) == JSON_OBJECT; i++) {
        const struct json_schema_node *node = json_schema_rules_of(rules, schema);
        const struct json_schema_rule *ref = json_schema_rule(node, KEYWORD_REF);

        if (!ref || node->count != 1 || !json_exists(ref->target))
            break;
        schema = ref->target;
    }
    return schema;
}

/* Returns whether the pair was compared before, or is being compared: a recursive schema. */
static bool is_compared(struct schema_comparison *c, struct json_val before,
                        struct json_val after)
{
    struct json_val old = skip_refs(&c->rules[0], before);
    struct json_val new = skip_refs(&c->rules[1], after);
    uint64_t key = (uint64_t)(json_exists(old) ? old.node : UINT32_MAX) << 32 |
                   (json_exists(new) ? new.node : UINT32_MAX);

    if (map_get(&c->compared, map_number_key(&key)))
        return true;
    map_put(&c->compared, map_number_key(&key), c);
    return false;
}

/* Compares the annotations beside a $ref whose target was compared before. */
static void compare_ref_annotations(struct schema_comparison *c, struct schema_pair *p)
{
    if (p->before.part_count < 2 || p->after.part_count < 2)
        return;
    p->before.part_count = p->after.part_count = 1;
    compare_annotations(c, p);
}

static void compare(struct schema_comparison *c, struct json_val before, struct json_val after)
{
    bool compared = is_compared(c, before, after);
    struct schema_pair *p;

    if (++c->work > SCHEMA_COMPARE_WORK || c->nesting == SCHEMA_COMPARE_DEPTH) {
        c->too_complex = true;
        return;
    }
    p = mem_new(struct schema_pair); /* too large for the stack of a recursion */
    schema_view_init(&p->before, &c->rules[0], before, &c->arena);
    schema_view_init(&p->after, &c->rules[1], after, &c->arena);
    c->nesting++;
    if (compared)
        compare_ref_annotations(c, p);
    else
        compare_pair(c, p);
    c->nesting--;
    free(p);
}

static void release_comparison(struct schema_comparison *c)
{
    for (int i = 0; i < 2; i++) {
        json_schema_rules_release(&c->rules[i]);
        buf_release(&c->texts[i]);
    }
    map_release(&c->compared);
    buf_release(&c->instance);
    arena_release(&c->arena);
    free(c->steps);
}

void schema_compare(struct json_val before, struct json_val after,
                    enum schema_direction direction, const struct schema_compare_events *events,
                    void *to)
{
    struct schema_comparison *c;

    if (!differ(before, after))
        return;
    c = mem_new(struct schema_comparison);
    *c = (struct schema_comparison){ .events = events, .to = to, .direction = direction };
    json_schema_rules_init(&c->rules[0], before);
    json_schema_rules_init(&c->rules[1], after);
    map_init(&c->compared);
    buf_init(&c->instance, TEXT_MAX);
    buf_init(&c->texts[0], TEXT_MAX);
    buf_init(&c->texts[1], TEXT_MAX);
    buf_add_ch(&c->instance, '$');
    compare(c, before, after);
    if (c->too_complex)
        emit(c, SCHEMA_TOO_COMPLEX, STR_NONE, STR_NONE);
    release_comparison(c);
    free(c);
}
