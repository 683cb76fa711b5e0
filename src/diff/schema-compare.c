#include "diff/schema-compare.h"

#include <stdlib.h>

#include "base/mem.h"
#include "diff/schema-bounds.h"
#include "diff/schema-match.h"
#include "diff/schema-properties.h"
#include "diff/schema-references.h"
#include "diff/schema-view.h"
#include "json/equal.h"
#include "json/write.h"

enum { TEXT_MAX = 64 << 20 };  /* bytes of a value of a change */
enum { MAX_REFS = 64 };        /* followed from one place */
enum { VIEW_STEPS = 16 };      /* of a view: the work of one comparison */
enum { RENAME_PAIRS = 10000 }; /* that are tried */

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
    uint64_t work, view_work;
    uint64_t changes; /* of what is valid */
    bool too_complex;
    struct map compared; /* pairs of subschemas; `changes` where there was one, else itself */
    struct buf instance; /* of the current subschema */
    struct buf texts[2]; /* before, after of a change */
    struct arena arena;
};

/* The relation of two subschemas to those around them. */
enum schema_role {
    SCHEMA_SELF,   /* nothing: each has a place of its own */
    SCHEMA_BRANCH, /* branches: whether null is valid, was compared */
    SCHEMA_SINGLE, /* a branch and a schema that is no union: annotations were compared, too */
    SCHEMA_OTHER,  /* versions of something else: annotations may differ */
};

/* Two subschemas at the same place. */
struct schema_pair {
    struct json_val schemas[2];
    enum schema_role role;
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

    c->changes += kind < SCHEMA_DEFAULT_CHANGED;
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
static void compare_as(struct schema_comparison *c, struct json_val before,
                       struct json_val after, enum schema_role role);

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
    return !v->typed && !v->has_values && !v->never && !v->branch_count && v->nullable;
}

static void compare_null(struct schema_comparison *c, const struct schema_pair *p)
{
    if (p->before.nullable != p->after.nullable &&
        (p->role == SCHEMA_SELF || p->role == SCHEMA_OTHER))
        emit_bool(c, p->after.nullable ? SCHEMA_NULLABLE_ADDED : SCHEMA_NULLABLE_REMOVED,
                  p->after.nullable);
}

/* The same where another change says it if one side accepts everything. */
static void compare_null_if_closed(struct schema_comparison *c, const struct schema_pair *p)
{
    if (!is_open(&p->before) && !is_open(&p->after))
        compare_null(c, p);
}

/* Whether branches or conjuncts are compared one by one: these tell their types. */
static bool are_listed(const struct schema_pair *p)
{
    return (p->before.branch_count && p->after.branch_count) || p->before.conjunct_count ||
           p->after.conjunct_count;
}

static unsigned part_types_of(const struct schema_view *v)
{
    return v->never ? 0 : v->part_types;
}

/* Returns false if no value can be valid on both sides: the rest need not be compared. */
static bool compare_types(struct schema_comparison *c, const struct schema_pair *p)
{
    const struct schema_view *b = &p->before, *a = &p->after;
    unsigned old = types_of(b), new = types_of(a), lost, gained;
    bool listed = are_listed(p);

    if (b->has_values || a->has_values) {
        if ((b->has_values && !a->has_values && !values_fit(b, a)) ||
            (a->has_values && !b->has_values && !values_fit(a, b))) {
            emit_types(c, SCHEMA_TYPE_CHANGED, p);
            return false;
        }
        compare_null_if_closed(c, p);
        return true;
    }
    lost = old & ~(listed ? part_types_of(a) : new);
    gained = new & ~(listed ? part_types_of(b) : old);
    if (lost && gained) {
        emit_types(c, SCHEMA_TYPE_CHANGED, p);
        return (old & new) != 0;
    }
    if (lost || gained)
        emit_types(c, lost ? SCHEMA_TYPE_NARROWED : SCHEMA_TYPE_WIDENED, p);
    if (lost || gained || b->branch_count || a->branch_count)
        compare_null_if_closed(c, p);
    else
        compare_null(c, p);
    return true;
}

static struct schema_match_list list_values(struct schema_comparison *c,
                                            const struct json_val *values, size_t count)
{
    c->work += count;
    return schema_match_list(values, count, &c->arena);
}

static struct str unmatched_text(struct buf *to, struct schema_match_list *list)
{
    buf_clear(to);
    schema_match_write_unmatched(to, list);
    return buf_str(to);
}

static void compare_values(struct schema_comparison *c, const struct schema_pair *p)
{
    const struct schema_view *b = &p->before, *a = &p->after;
    struct schema_match_list old = list_values(c, b->values, b->value_count);
    struct schema_match_list new = list_values(c, a->values, a->value_count);
    struct str removed, added;

    if (!b->has_values && !a->has_values)
        return;
    schema_match_drop_repeated(&old);
    schema_match_drop_repeated(&new);
    if (b->has_values && a->has_values)
        schema_match_equal(&old, &new);
    removed = unmatched_text(&c->texts[0], &old);
    added = unmatched_text(&c->texts[1], &new);
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

static void on_bound(void *to, enum schema_change_kind kind, struct str keyword,
                     struct json_val old, struct json_val new)
{
    emit_at(to, kind, keyword, json_raw(old), json_raw(new));
}

static void compare_bounds(struct schema_comparison *c, const struct schema_pair *p)
{
    static const struct schema_bounds_events events = { on_bound };

    schema_bounds_compare(&p->before, &p->after, &events, c);
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
static bool may_be_renamed(const struct schema_property *a, const struct schema_property *b)
{
    size_t longer = a->name.len > b->name.len ? a->name.len : b->name.len;

    if (a->renamed || b->renamed || !json_exists(a->schema) || !json_exists(b->schema))
        return false;
    return (a->position == b->position || str_distance(a->name, b->name) * 2 <= longer) &&
           json_equal(a->schema, b->schema, &without_annotations);
}

/* The properties that only one side has. */
struct unpaired {
    struct schema_property **at;
    size_t count;
};

/* Returns the only one that `p` may be under another name; NULL: there is none, or several. */
static struct schema_property *find_renamed(const struct schema_property *p,
                                            const struct unpaired *among)
{
    struct schema_property *found = NULL;

    for (size_t i = 0; i < among->count; i++) {
        if (!may_be_renamed(p, among->at[i]))
            continue;
        if (found)
            return NULL;
        found = among->at[i];
    }
    return found;
}

static void emit_renamed(struct schema_comparison *c, struct schema_property *old,
                         struct schema_property *new)
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
        struct schema_property *new = find_renamed(removed->at[i], added);

        if (new &&find_renamed(new, removed) == removed->at[i])
            emit_renamed(c, removed->at[i], new);
    }
}

static enum schema_change_kind added_kind(const struct schema_comparison *c,
                                          const struct schema_pair *p,
                                          const struct schema_property *added)
{
    if (c->direction == SCHEMA_OUTPUT && is_closed(&p->before))
        return SCHEMA_PROPERTY_ADDED_CLOSED;
    return added->required ? SCHEMA_PROPERTY_REQUIRED_ADDED : SCHEMA_PROPERTY_ADDED;
}

static enum schema_change_kind removed_kind(const struct schema_comparison *c,
                                            const struct schema_pair *p,
                                            const struct schema_property *removed)
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

static struct str schema_text(const struct schema_property *p)
{
    return json_exists(p->schema) ? json_raw(p->schema) : STR("true");
}

/* Returns the schema of all properties that are not named; absent: there is none. */
static struct json_val further_schema(const struct schema_view *v)
{
    struct json_val schema = schema_view_get(v, KEYWORD_ADDITIONAL_PROPERTIES);

    return json_type(schema) == JSON_OBJECT ? schema : JSON_VAL_NONE;
}

static void emit_unpaired(struct schema_comparison *c, const struct schema_pair *p,
                          const struct unpaired *list, bool added)
{
    struct json_val further = further_schema(added ? &p->before : &p->after);

    for (size_t i = 0; i < list->count; i++) {
        const struct schema_property *x = list->at[i];
        size_t len;

        if (x->renamed)
            continue;
        len = enter_property(c, x->name);
        if (added)
            emit(c, added_kind(c, p, x), STR_NONE, schema_text(x));
        else
            emit(c, removed_kind(c, p, x), schema_text(x), STR_NONE);
        if (json_exists(further))
            compare_as(c, added ? further : x->schema, added ? x->schema : further,
                       SCHEMA_OTHER);
        leave_property(c, len);
    }
}

static struct json_val property_schema(const struct schema_property *p,
                                       const struct schema_view *v)
{
    struct json_val further = schema_view_get(v, KEYWORD_ADDITIONAL_PROPERTIES);

    if (json_exists(p->schema))
        return p->schema;
    return json_type(further) == JSON_FALSE ? further : further_schema(v);
}

static void compare_property(struct schema_comparison *c, const struct schema_pair *p,
                             const struct schema_property *old,
                             const struct schema_property *new)
{
    size_t len = enter_property(c, old->name);

    if (old->required != new->required)
        emit_bool(c, new->required ? SCHEMA_REQUIRED_ADDED : SCHEMA_REQUIRED_REMOVED,
                  new->required);
    compare(c, property_schema(old, &p->before), property_schema(new, &p->after));
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
    struct schema_properties old = schema_properties_list(&p->before, &c->arena, &c->work);
    struct schema_properties new = schema_properties_list(&p->after, &c->arena, &c->work);
    struct unpaired removed = { arena_alloc(&c->arena, (old.count + 1) * sizeof *removed.at),
                                0 };
    struct unpaired added = { arena_alloc(&c->arena, (new.count + 1) * sizeof *added.at), 0 };
    size_t i = 0, k = 0;

    while (i < old.count || k < new.count) {
        int order = i == old.count   ? 1
                    : k == new.count ? -1
                                     : str_cmp(old.at[i].name, new.at[k].name);

        if (!order)
            compare_property(c, p, &old.at[i++], &new.at[k++]);
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

/* A search for the branches, or the conjuncts, that belong together. */
struct element_pairing {
    struct schema_comparison *c;
    struct str keyword;
    struct str name; /* member that names an element */
    enum schema_role role;
    unsigned overlap; /* types of values that several elements of a oneOf may accept */
    bool touched;     /* an element with such a type changed */
};

/* Compares two elements as versions of the same one. */
static void compare_element(void *to, const struct schema_match_item *old,
                            const struct schema_match_item *new)
{
    struct element_pairing *p = to;
    uint64_t changes = p->c->changes;

    push_name(p->c, p->keyword);
    push_index(p->c, old->index < new->index ? old->index : new->index);
    compare_as(p->c, old->value, new->value, p->role);
    p->c->depth -= 2;
    p->touched |= p->c->changes != changes && (old->types | new->types) & p->overlap;
}

/* Returns whether both have a member, and the same value of it. */
static bool have_same(struct json_val a, struct json_val b, struct str name)
{
    struct json_val x = json_get(a, name), y = json_get(b, name);

    return json_exists(x) && json_exists(y) && !differ(x, y);
}

static bool have_same_name(void *to, const struct schema_match_item *before,
                           const struct schema_match_item *after)
{
    const struct element_pairing *p = to;

    return have_same(before->value, after->value, p->name);
}

static bool have_same_types(void *to, const struct schema_match_item *before,
                            const struct schema_match_item *after)
{
    (void)to;
    return before->types == after->types;
}

static bool share_types(void *to, const struct schema_match_item *before,
                        const struct schema_match_item *after)
{
    (void)to;
    return before->types & after->types;
}

/* Lists subschemas with the types of their values. */
static struct schema_match_list list_schemas(struct schema_comparison *c,
                                             struct json_schema_rules *rules,
                                             const struct json_val *schemas, size_t count)
{
    struct schema_match_list list = list_values(c, schemas, count);

    for (size_t i = 0; i < count; i++)
        list.at[i].types =
            schema_view_types(rules, list.at[i].value, &c->view_work) & SCHEMA_VIEW_ANY_TYPE;
    return list;
}

static struct schema_match_list list_branches(struct schema_comparison *c,
                                              const struct schema_view *v)
{
    return list_schemas(c, v->rules, v->branches, v->branch_count);
}

static struct schema_match_list list_conjuncts(struct schema_comparison *c,
                                               const struct schema_view *v)
{
    return list_schemas(c, v->rules, v->conjuncts, v->conjunct_count);
}

static void match_by_name(struct element_pairing *p, struct schema_match_list *old,
                          struct schema_match_list *new, struct str name)
{
    static const struct schema_match_events by_name = { have_same_name, compare_element };

    p->name = name;
    schema_match_pairs(old, new, &by_name, p);
}

/* Compares equal elements, too: a definition that they refer to may have changed. */
static void compare_equal(struct element_pairing *p, struct schema_match_list *old,
                          struct schema_match_list *new)
{
    size_t k = 0;

    schema_match_equal(old, new);
    for (size_t i = 0; i < old->count; i++) {
        if (!old->at[i].matched)
            continue;
        while (!new->at[k].matched)
            k++;
        compare_element(p, &old->at[i], &new->at[k++]);
    }
}

static bool has_unmatched_of_types(const struct schema_match_list *list, unsigned types)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->at[i].matched && list->at[i].types & types)
            return true;
    return false;
}

static void emit_elements(struct schema_comparison *c, enum schema_change_kind kind,
                          struct str keyword, struct schema_match_list *list, bool added)
{
    schema_match_sort(list);
    for (size_t i = 0; i < list->count; i++) {
        struct str text = json_raw(list->at[i].value);

        if (!list->at[i].matched)
            emit_at(c, kind, keyword, added ? STR_NONE : text, added ? text : STR_NONE);
    }
}

/* Compares two lists of subschemas. `added` is the kind of one that was added; the next kind is
 * that of a removed one. */
static void compare_lists(struct element_pairing *p, struct schema_match_list old,
                          struct schema_match_list new, enum schema_change_kind added)
{
    static const struct schema_match_events by_types = { have_same_types, compare_element };
    static const struct schema_match_events by_any_type = { share_types, compare_element };
    struct schema_match_item *b, *a;

    compare_equal(p, &old, &new);
    match_by_name(p, &old, &new, STR("$ref"));
    match_by_name(p, &old, &new, STR("title"));
    match_by_name(p, &old, &new, STR("type"));
    schema_match_pairs(&old, &new, &by_types, p);
    schema_match_pairs(&old, &new, &by_any_type, p);
    b = schema_match_only(&old);
    a = schema_match_only(&new);
    if (b && a) {
        b->matched = a->matched = true;
        compare_element(p, b, a);
    }
    p->touched |=
        has_unmatched_of_types(&old, p->overlap) || has_unmatched_of_types(&new, p->overlap);
    emit_elements(p->c, added + 1, p->keyword, &old, false);
    emit_elements(p->c, added, p->keyword, &new, true);
}

/* One side has branches, the other is one schema that is none of them. */
static void compare_single(struct schema_comparison *c, const struct schema_view *single,
                           const struct schema_view *all, bool added)
{
    struct schema_match_list list = list_values(c, all->branches, all->branch_count);
    struct str text = unmatched_text(&c->texts[0], &list);

    emit_at(c,
            !is_open(single) ? SCHEMA_NOT_JUDGED
            : added          ? SCHEMA_CONJUNCT_ADDED
                             : SCHEMA_CONJUNCT_REMOVED,
            json_keyword_name(all->branch_keyword), added ? STR_NONE : text,
            added ? text : STR_NONE);
}

/* Compares two unions. If a branch of oneOf changes, a value may become valid for two of them,
 * and so for none. */
static void compare_unions(struct schema_comparison *c, const struct schema_view *b,
                           const struct schema_view *a)
{
    struct element_pairing pairing = { .c = c,
                                       .keyword = STR("anyOf"),
                                       .role = SCHEMA_BRANCH,
                                       .overlap = b->overlap | a->overlap };
    bool same = b->branch_keyword == a->branch_keyword;

    if (!same)
        emit(c, SCHEMA_NOT_JUDGED,
             name_json(&c->texts[0], json_keyword_name(b->branch_keyword)),
             name_json(&c->texts[1], json_keyword_name(a->branch_keyword)));
    compare_lists(&pairing, list_branches(c, b), list_branches(c, a), SCHEMA_BRANCH_ADDED);
    if (same && (pairing.touched || b->overlap != a->overlap))
        emit_at(c, SCHEMA_NOT_JUDGED, json_keyword_name(KEYWORD_ONE_OF),
                json_raw(schema_view_get(b, KEYWORD_ONE_OF)),
                json_raw(schema_view_get(a, KEYWORD_ONE_OF)));
}

static void compare_branches(struct schema_comparison *c, const struct schema_pair *p)
{
    const struct schema_view *b = &p->before, *a = &p->after;

    if (b->branch_count && a->branch_count)
        compare_unions(c, b, a);
    else if (a->branch_count)
        compare_single(c, b, a, true);
    else if (b->branch_count)
        compare_single(c, a, b, false);
}

static void compare_conjuncts(struct schema_comparison *c, const struct schema_pair *p)
{
    const struct schema_view *b = &p->before, *a = &p->after;
    struct element_pairing pairing = { .c = c, .keyword = STR("allOf"), .role = SCHEMA_SELF };

    if (b->conjunct_count || a->conjunct_count)
        compare_lists(&pairing, list_conjuncts(c, b), list_conjuncts(c, a),
                      SCHEMA_CONJUNCT_ADDED);
}

/* A schema as a union of one. */

/* A schema, and a union that was made of it or that it was made of. */
struct single_pair {
    const struct schema_view *single, *all;
    struct json_val schema; /* of `single` */
    bool added;             /* the union is the later one */
};

/* Returns whether a schema says only types, which branches of the union accept as well. */
static bool is_covered(const struct single_pair *s)
{
    return schema_view_is_plain(s->single) &&
           !(s->single->types & ~schema_view_plain_types(s->all));
}

static bool is_same_definition(const struct single_pair *s,
                               const struct schema_match_item *branch)
{
    struct json_val core = schema_view_core(s->single->rules, s->schema);
    struct json_val other = schema_view_core(s->all->rules, branch->value);

    for (size_t i = 0; i < s->single->part_count; i++)
        if (have_same(s->single->parts[i], branch->value, STR("$ref")))
            return true;
    return json_equal(core, other, &without_annotations);
}

static bool is_same_title(const struct single_pair *s, const struct schema_match_item *branch)
{
    struct json_val title = json_get(branch->value, STR("title"));
    struct json_val own = schema_view_member(s->single, STR("title"));

    return json_exists(title) && json_exists(own) && !differ(title, own);
}

static bool is_same_type(const struct single_pair *s, const struct schema_match_item *branch)
{
    return branch->types == s->single->types;
}

static bool has_common_type(const struct single_pair *s, const struct schema_match_item *branch)
{
    return branch->types & s->single->types;
}

/* Returns the branch that the schema is a version of; NULL: there is none, or several. */
static struct schema_match_item *find_version(const struct single_pair *s,
                                              const struct schema_match_list *list)
{
    static bool (*const is[])(const struct single_pair *, const struct schema_match_item *) = {
        is_same_definition, is_same_title, is_same_type, has_common_type
    };

    for (size_t k = 0; k < sizeof is / sizeof *is; k++) {
        struct schema_match_item *found = NULL;
        size_t count = 0;

        for (size_t i = 0; i < list->count; i++) {
            if (!is[k](s, &list->at[i]))
                continue;
            found = &list->at[i];
            count++;
        }
        if (count == 1)
            return found;
    }
    return NULL;
}

static void compare_version(struct schema_comparison *c, const struct single_pair *s,
                            struct schema_match_list *list, struct schema_match_item *found)
{
    struct str keyword = json_keyword_name(s->all->branch_keyword);

    push_name(c, keyword);
    push_index(c, found->index);
    if (s->added)
        compare_as(c, s->schema, found->value, SCHEMA_SINGLE);
    else
        compare_as(c, found->value, s->schema, SCHEMA_SINGLE);
    c->depth -= 2;
    found->matched = true;
    emit_elements(c, s->added ? SCHEMA_BRANCH_ADDED : SCHEMA_BRANCH_REMOVED, keyword, list,
                  s->added);
}

/* Returns whether several branches of a oneOf may accept values of the schema: a value that two
 * of them accept is not valid. */
static bool has_overlap(const struct single_pair *s)
{
    return types_of(s->single) & s->all->overlap;
}

/* Whether one side is nothing but a union, and the other one a schema that has types. */
static bool is_single_pair(const struct schema_pair *p)
{
    const struct schema_view *b = &p->before, *a = &p->after;

    return !is_invalid(p, KEYWORD_TYPE) &&
           ((!b->branch_count && types_of(b) && !is_open(b) && schema_view_is_union(a)) ||
            (!a->branch_count && types_of(a) && !is_open(a) && schema_view_is_union(b)));
}

static void compare_single_pair(struct schema_comparison *c, const struct schema_pair *p)
{
    bool added = !p->before.branch_count;
    const struct single_pair s = { added ? &p->before : &p->after,
                                   added ? &p->after : &p->before,
                                   added ? p->schemas[0] : p->schemas[1], added };
    struct schema_match_list list = list_branches(c, s.all);
    struct schema_match_item *found;
    bool covered;

    if (!(types_of(s.single) & types_of(s.all))) {
        emit_types(c, SCHEMA_TYPE_CHANGED, p);
        return;
    }
    compare_null(c, p);
    covered = is_covered(&s);
    if (schema_view_is_used_up(c->view_work))
        return;
    found = covered ? NULL : find_version(&s, &list);
    if (covered && types_of(s.single) != types_of(s.all))
        emit_types(c, added ? SCHEMA_TYPE_WIDENED : SCHEMA_TYPE_NARROWED, p);
    if (found)
        compare_version(c, &s, &list, found);
    if (has_overlap(&s) || !(covered || found))
        compare_single(c, s.single, s.all, added);
}

/* Everything. */

static void compare_pair(struct schema_comparison *c, const struct schema_pair *p)
{
    bool known = schema_view_is_unresolved(&p->before) == schema_view_is_unresolved(&p->after);

    if (p->role != SCHEMA_SINGLE && p->role != SCHEMA_OTHER)
        compare_annotations(c, p);
    if (!known)
        compare_not_judged(c, p);
    if (known && is_single_pair(p)) {
        compare_single_pair(c, p);
        return;
    }
    if (!known || !compare_types(c, p))
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

/* Returns whether it is a $ref, with nothing but annotations beside it. */
static bool is_ref(struct json_schema_rules *rules, struct json_val schema)
{
    return skip_refs(rules, schema).node != schema.node;
}

/* Two subschemas, by their places in the documents. */
struct pair_key {
    uint64_t at[2];
};

static struct pair_key key_of(struct schema_comparison *c, struct json_val before,
                              struct json_val after, enum schema_role role)
{
    struct json_val old = skip_refs(&c->rules[0], before);
    struct json_val new = skip_refs(&c->rules[1], after);

    return (struct pair_key){ { (uint64_t)(json_exists(old) ? old.node : UINT32_MAX) << 32 |
                                    (json_exists(new) ? new.node : UINT32_MAX),
                                role } };
}

/* Returns a view of nothing but the keywords of the schema itself. */
static struct schema_view own_keywords(struct json_schema_rules *rules, struct json_val schema)
{
    return (struct schema_view){ .rules = rules, .parts = { schema }, .part_count = 1 };
}

/* Compares the annotations beside a $ref whose target was compared before. */
static void compare_ref_annotations(struct schema_comparison *c, struct json_val before,
                                    struct json_val after)
{
    const struct schema_pair p = { .schemas = { before, after },
                                   .before = own_keywords(&c->rules[0], before),
                                   .after = own_keywords(&c->rules[1], after) };

    if (is_ref(&c->rules[0], before) && is_ref(&c->rules[1], after))
        compare_annotations(c, &p);
}

/* Returns false if the views cannot be made completely. */
static bool view_pair(struct schema_comparison *c, struct schema_pair *p,
                      enum schema_view_conjuncts conjuncts)
{
    schema_view_init(&p->before, &c->rules[0], p->schemas[0], conjuncts, &c->arena,
                     &c->view_work);
    schema_view_init(&p->after, &c->rules[1], p->schemas[1], conjuncts, &c->arena,
                     &c->view_work);
    return !schema_view_is_used_up(c->view_work);
}

static void compare_views(struct schema_comparison *c, struct json_val before,
                          struct json_val after, enum schema_role role)
{
    struct schema_pair *p = mem_new(struct schema_pair); /* too large for a recursion's stack */
    bool viewed;

    *p = (struct schema_pair){ .schemas = { before, after }, .role = role };
    viewed = view_pair(c, p, SCHEMA_VIEW_JOINED);
    if (p->before.conjunct_count || p->after.conjunct_count)
        viewed = view_pair(c, p, SCHEMA_VIEW_APART);
    if (viewed)
        compare_pair(c, p);
    free(p);
}

/* Compares a pair, unless it was compared before, or is being compared: a recursive schema. */
static void compare_as(struct schema_comparison *c, struct json_val before,
                       struct json_val after, enum schema_role role)
{
    struct pair_key key = key_of(c, before, after, role);
    struct str name = str_n((const char *)&key, sizeof key);
    const void *known = map_get(&c->compared, name);
    uint64_t changes = c->changes;

    if (++c->work + c->view_work / VIEW_STEPS > SCHEMA_COMPARE_WORK ||
        c->nesting == SCHEMA_COMPARE_DEPTH) {
        c->too_complex = true;
        return;
    }
    if (known) {
        c->changes += known == &c->changes;
        compare_ref_annotations(c, before, after);
        return;
    }
    map_put(&c->compared, name, c);
    c->nesting++;
    compare_views(c, before, after, role);
    c->nesting--;
    if (c->changes != changes)
        map_put(&c->compared, name, &c->changes);
}

static void compare(struct schema_comparison *c, struct json_val before, struct json_val after)
{
    compare_as(c, before, after, SCHEMA_SELF);
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
    if (c->too_complex || schema_view_is_used_up(c->view_work))
        emit(c, SCHEMA_TOO_COMPLEX, STR_NONE, STR_NONE);
    release_comparison(c);
    free(c);
}
