#include "diff/schema-view.h"

#include <string.h>

#include "base/err.h"
#include "diff/schema-match.h"
#include "json/equal.h"

enum { MAX_WRAPPERS = 64, TYPES_DEPTH = 32, MAX_UNIONS = 64 };
enum { MEMBERS_OF_A_STEP = 16 };
enum { MAX_EXCLUSIVE = 128 }; /* branches that are compared with each other */
enum { PROPERTY_STEPS = 4 };
enum { VALUE_PAIRS = 1000 }; /* of two branches */
enum { NAME_PAIRS = 10000 }; /* of properties that are compared */
enum { ALL_TYPES = SCHEMA_VIEW_ANY_TYPE | JSON_SCHEMA_NULL };

static const struct json_rules by_value = { .numbers_by_value = true };

/* While a view is made. */
struct view_maker {
    struct schema_view *view;
    struct arena *arena;
    enum schema_view_conjuncts conjuncts;
    struct json_val unions[MAX_UNIONS]; /* whose branches were added */
    size_t union_count;
    bool joined[SCHEMA_VIEW_PARTS]; /* the part's union has become parts, types or values */
};

static void push(struct view_maker *m, struct json_val **list, size_t *count, size_t *cap,
                 struct json_val v)
{
    if (*count == *cap) {
        size_t room = *cap ? *cap * 2 : 8;
        struct json_val *copy = arena_alloc(m->arena, room * sizeof *copy);

        if (*count)
            memcpy(copy, *list, *count * sizeof *copy);
        *list = copy;
        *cap = room;
    }
    (*list)[(*count)++] = v;
}

static void push_branch(struct view_maker *m, struct json_val branch)
{
    push(m, &m->view->branches, &m->view->branch_count, &m->view->branch_cap, branch);
}

static void push_conjunct(struct view_maker *m, struct json_val schema)
{
    push(m, &m->view->conjuncts, &m->view->conjunct_count, &m->view->conjunct_cap, schema);
}

static const struct json_schema_rule *find_rule(const struct schema_view *v,
                                                struct json_val part, enum json_keyword k)
{
    return json_schema_rule(json_schema_rules_of(v->rules, part), k);
}

static struct json_val rule_value(const struct schema_view *v, struct json_val part,
                                  enum json_keyword k)
{
    const struct json_schema_rule *r =
        json_type(part) == JSON_OBJECT ? find_rule(v, part, k) : NULL;

    return r ? r->value : JSON_VAL_NONE;
}

bool schema_view_is_unresolved(const struct schema_view *v)
{
    const struct json_schema_node *node;

    if (v->complete || v->part_count != 1)
        return false;
    node = json_schema_rules_of(v->rules, v->parts[0]);
    return node->count == 1 && node->rules[0].keyword == KEYWORD_REF &&
           !json_exists(node->rules[0].target);
}

struct json_val schema_view_get(const struct schema_view *v, enum json_keyword keyword)
{
    struct json_val found = JSON_VAL_NONE;

    for (size_t i = 0; i < v->part_count && !json_exists(found); i++)
        found = rule_value(v, v->parts[i], keyword);
    return found;
}

struct json_val schema_view_member(const struct schema_view *v, struct str name)
{
    struct json_val found = JSON_VAL_NONE;

    for (size_t i = 0; i < v->part_count && !json_exists(found); i++)
        found = json_get(v->parts[i], name);
    return found;
}

static bool is_annotation(struct json_val key)
{
    static const struct str names[] = { STR_INIT("title"), STR_INIT("description"),
                                        STR_INIT("examples"), STR_INIT("$comment") };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_is(key, names[i]))
            return true;
    return false;
}

/* Returns whether a subschema has `name` and otherwise only annotations. */
static bool has_only(struct json_val schema, struct str name)
{
    struct json_iter it = json_each(schema);
    bool found = false;

    while (json_next(&it)) {
        if (json_is(it.key, name))
            found = true;
        else if (!is_annotation(it.key))
            return false;
    }
    return found;
}

/* Work. */

bool schema_view_is_used_up(uint64_t work)
{
    return work > SCHEMA_VIEW_WORK;
}

static bool is_used_up(const struct schema_view *v)
{
    return schema_view_is_used_up(*v->work);
}

/* Types. */

static unsigned with_integer(unsigned types)
{
    return types & JSON_SCHEMA_NUMBER ? types | JSON_SCHEMA_INTEGER : types;
}

/* Returns the type of a value; an integer is no other number. */
static unsigned type_of_value(struct json_val v)
{
    unsigned types = json_schema_types_of(v);

    return types & JSON_SCHEMA_INTEGER ? JSON_SCHEMA_INTEGER : types;
}

static unsigned types_of_values(struct json_val list)
{
    struct json_iter it = json_each(list);
    unsigned all = 0;

    while (json_next(&it))
        all |= type_of_value(it.value);
    return all;
}

static bool is_nullable(struct json_val schema)
{
    return json_type(json_get(schema, STR("nullable"))) == JSON_TRUE;
}

struct type_search {
    struct json_schema_rules *rules;
    unsigned left; /* subschemas that it may still look at */
    uint64_t *work;
};

static unsigned find_types(struct type_search *s, struct json_val schema, unsigned depth);

/* Null is valid for oneOf if one branch accepts it, not if several do. */
static unsigned find_types_of_list(struct type_search *s, const struct json_schema_rule *r,
                                   unsigned depth)
{
    bool is_union = r->keyword != KEYWORD_ALL_OF;
    struct json_iter it = json_each(r->value);
    unsigned types = is_union ? 0 : ALL_TYPES;
    size_t nulls = 0;

    if (json_type(r->value) != JSON_ARRAY || !json_count(r->value))
        return ALL_TYPES;
    while (json_next(&it)) {
        unsigned one = find_types(s, it.value, depth);

        types = is_union ? types | one : types & one;
        nulls += (one & JSON_SCHEMA_NULL) != 0;
    }
    if (r->keyword == KEYWORD_ONE_OF && nulls > 1)
        types &= SCHEMA_VIEW_ANY_TYPE;
    return types;
}

static unsigned find_types_of_rule(struct type_search *s, const struct json_schema_rule *r,
                                   unsigned nullable, unsigned depth)
{
    unsigned types;

    switch (r->keyword) {
    case KEYWORD_TYPE:
        *s->work += json_count(r->value);
        return json_schema_types_parse(r->value, &types) ? with_integer(types) | nullable
                                                         : ALL_TYPES;
    case KEYWORD_ENUM:
        *s->work += json_count(r->value);
        return json_type(r->value) == JSON_ARRAY ? types_of_values(r->value) | nullable
                                                 : ALL_TYPES;
    case KEYWORD_CONST:
        return type_of_value(r->value) | nullable;
    case KEYWORD_REF:
        return json_exists(r->target) ? find_types(s, r->target, depth) : ALL_TYPES;
    case KEYWORD_ALL_OF:
    case KEYWORD_ANY_OF:
    case KEYWORD_ONE_OF:
        return find_types_of_list(s, r, depth);
    default:
        return ALL_TYPES;
    }
}

static unsigned find_types(struct type_search *s, struct json_val schema, unsigned depth)
{
    const struct json_schema_node *node;
    unsigned types = ALL_TYPES, nullable;

    if (json_type(schema) == JSON_FALSE)
        return 0;
    if (json_type(schema) != JSON_OBJECT || !depth || !s->left ||
        schema_view_is_used_up(*s->work))
        return ALL_TYPES;
    s->left--;
    *s->work += 1 + json_count(schema) / MEMBERS_OF_A_STEP;
    node = json_schema_rules_of(s->rules, schema);
    nullable = is_nullable(schema) ? JSON_SCHEMA_NULL : 0;
    for (size_t i = 0; i < node->count; i++)
        types &= find_types_of_rule(s, &node->rules[i], nullable, depth - 1);
    return types;
}

unsigned schema_view_types(struct json_schema_rules *rules, struct json_val schema,
                           uint64_t *work)
{
    struct type_search s = { rules, SCHEMA_VIEW_STEPS, work };

    return find_types(&s, schema, TYPES_DEPTH);
}

static void restrict_types(struct view_maker *m, unsigned types)
{
    m->view->typed = true;
    m->view->part_types &= with_integer(types);
}

static void read_type(struct view_maker *m, struct json_val part)
{
    struct json_val type = rule_value(m->view, part, KEYWORD_TYPE);
    unsigned types;

    if (json_exists(type) && json_schema_types_parse(type, &types))
        restrict_types(m, types);
}

/* Values. */

/* Replaces the values of the view by those of an array that are not null. */
static void set_values(struct view_maker *m, struct json_val list)
{
    struct schema_view *v = m->view;
    struct json_iter it = json_each(list);

    *v->work += json_count(list);
    v->has_values = true;
    v->value_count = 0;
    v->values = arena_alloc(m->arena, (json_count(list) + 1) * sizeof *v->values);
    while (json_next(&it))
        if (json_type(it.value) != JSON_NULL)
            v->values[v->value_count++] = it.value;
}

static void read_values(struct view_maker *m, struct json_val part)
{
    struct schema_view *v = m->view;
    struct json_val list = rule_value(v, part, KEYWORD_ENUM);
    struct json_val one = rule_value(v, part, KEYWORD_CONST);

    if (v->has_values)
        return;
    if (json_type(list) == JSON_ARRAY)
        set_values(m, list);
    if (!json_exists(one))
        return;
    set_values(m, JSON_VAL_NONE);
    if (json_type(one) != JSON_NULL) {
        v->values = arena_alloc(m->arena, sizeof *v->values);
        v->values[v->value_count++] = one;
    }
}

/* A value of another type than the schema has is not valid. */
static void drop_values_of_other_types(struct schema_view *v)
{
    size_t kept = 0;

    for (size_t i = 0; i < v->value_count; i++)
        if (type_of_value(v->values[i]) & v->types)
            v->values[kept++] = v->values[i];
    v->value_count = kept;
}

/* Branches. */

static bool is_union_keyword(enum json_keyword k)
{
    return k == KEYWORD_ANY_OF || k == KEYWORD_ONE_OF;
}

struct json_val schema_view_core(struct json_schema_rules *rules, struct json_val schema)
{
    for (int i = 0; i < MAX_WRAPPERS && json_type(schema) == JSON_OBJECT; i++) {
        const struct json_schema_node *node = json_schema_rules_of(rules, schema);
        const struct json_schema_rule *only = node->rules;

        if (node->count != 1)
            break;
        if (only->keyword == KEYWORD_REF && json_exists(only->target))
            schema = only->target;
        else if ((only->keyword == KEYWORD_ALL_OF || is_union_keyword(only->keyword)) &&
                 json_type(only->value) == JSON_ARRAY && json_count(only->value) == 1)
            schema = json_item(only->value, 0);
        else
            break;
    }
    return schema;
}

/* Returns the types of all branches if each is nothing but types, and for oneOf no two have the
 * same; 0: it is not so. */
static unsigned join_types(const struct view_maker *m)
{
    const struct schema_view *v = m->view;
    unsigned all = 0, types;

    for (size_t i = 0; i < v->branch_count; i++) {
        struct json_val type = json_get(v->branches[i], STR("type"));

        if (!has_only(v->branches[i], STR("type")) || !json_schema_types_parse(type, &types))
            return 0;
        types = with_integer(types);
        if (v->branch_keyword == KEYWORD_ONE_OF && types & all & SCHEMA_VIEW_ANY_TYPE)
            return 0;
        all |= types;
    }
    return all;
}

/* Makes the values of the branches those of the view. Returns false if not all are constants,
 * or if a value of oneOf is there twice. */
static bool join_constants(struct view_maker *m)
{
    struct schema_view *v = m->view;
    struct json_val *values = arena_alloc(m->arena, v->branch_count * sizeof *values);
    struct schema_match_list list;

    for (size_t i = 0; i < v->branch_count; i++) {
        if (!has_only(v->branches[i], STR("const")))
            return false;
        values[i] = json_get(v->branches[i], STR("const"));
    }
    if (v->branch_keyword == KEYWORD_ONE_OF) {
        list = schema_match_list(values, v->branch_count, m->arena);
        schema_match_drop_repeated(&list);
        if (list.count != v->branch_count)
            return false;
    }
    v->has_values = true;
    v->values = values;
    v->value_count = v->branch_count;
    return true;
}

/* A union of plain types, or of constants, is the same as `type`, or `enum`. */
static bool join_plain_branches(struct view_maker *m)
{
    struct schema_view *v = m->view;
    unsigned types = v->overlap ? 0 : join_types(m);

    if (types)
        restrict_types(m, types);
    else if (v->overlap || v->has_values || !join_constants(m))
        return false;
    v->branch_count = 0;
    return true;
}

/* Branches that exclude each other. */

static const struct json_schema_rule *
find_object_rule(const struct schema_view *v, struct json_val schema, enum json_keyword k)
{
    return json_type(schema) == JSON_OBJECT ? find_rule(v, schema, k) : NULL;
}

/* Returns the const or enum of a subschema, without which it may have any value: NULL. */
static const struct json_schema_rule *find_values(const struct schema_view *v,
                                                  struct json_val schema)
{
    struct json_val core = schema_view_core(v->rules, schema);
    const struct json_schema_rule *one = find_object_rule(v, core, KEYWORD_CONST);
    const struct json_schema_rule *list = find_object_rule(v, core, KEYWORD_ENUM);

    if (one)
        return one;
    return list && json_type(list->value) == JSON_ARRAY ? list : NULL;
}

static size_t count_values(const struct json_schema_rule *r)
{
    return r->keyword == KEYWORD_ENUM ? json_count(r->value) : 1;
}

static bool has_value(const struct json_schema_rule *r, struct json_val value)
{
    struct json_iter it = json_each(r->value);

    if (r->keyword == KEYWORD_CONST)
        return json_equal(r->value, value, &by_value);
    while (json_next(&it))
        if (json_equal(it.value, value, &by_value))
            return true;
    return false;
}

/* Returns whether both subschemas have values, and none of them in common. */
static bool have_other_values(const struct schema_view *v, struct json_val a, struct json_val b)
{
    const struct json_schema_rule *old = find_values(v, a), *new = find_values(v, b);
    struct json_iter it;

    if (!old || !new || count_values(old) * count_values(new) > VALUE_PAIRS)
        return false;
    *v->work += count_values(old) * count_values(new);
    if (old->keyword == KEYWORD_CONST)
        return !has_value(new, old->value);
    it = json_each(old->value);
    while (json_next(&it))
        if (has_value(new, it.value))
            return false;
    return true;
}

static bool is_required(const struct schema_view *v, struct json_val schema, struct str name)
{
    struct json_val list = rule_value(v, schema, KEYWORD_REQUIRED);
    struct json_iter it = json_each(list);

    *v->work += json_count(list);
    while (json_next(&it))
        if (json_is(it.value, name))
            return true;
    return false;
}

/* Returns whether a property tells the objects of two subschemas apart. */
static bool have_other_property(const struct view_maker *m, struct json_val a,
                                struct json_val b)
{
    const struct schema_view *v = m->view;
    struct json_val x = schema_view_core(v->rules, a), y = schema_view_core(v->rules, b);
    struct json_val others = rule_value(v, y, KEYWORD_PROPERTIES);
    struct json_iter it = json_each(rule_value(v, x, KEYWORD_PROPERTIES));

    while (json_type(others) == JSON_OBJECT && !is_used_up(v) && json_next(&it)) {
        struct str name;

        *v->work += PROPERTY_STEPS;
        if (!json_exists(it.key) || !find_values(v, it.value))
            continue;
        *v->work += json_count(others);
        name = json_text(it.key, m->arena);
        if ((is_required(v, x, name) || is_required(v, y, name)) &&
            have_other_values(v, it.value, json_get(others, name)))
            return true;
    }
    return false;
}

struct typed_branch {
    struct json_val schema;
    unsigned types;
};

/* Returns the types that a subschema may accept, without null: find_types() counts the branches
 * of oneOf that accept null. */
static unsigned non_null_types(const struct schema_view *v, struct json_val schema)
{
    return schema_view_types(v->rules, schema, v->work) & SCHEMA_VIEW_ANY_TYPE;
}

/* Returns the types of values that two branches may both accept. */
static unsigned shared_types(const struct view_maker *m, const struct typed_branch *a,
                             const struct typed_branch *b)
{
    unsigned types = a->types & b->types;

    ++*m->view->work;
    if (types && have_other_values(m->view, a->schema, b->schema))
        return 0;
    if (types & JSON_SCHEMA_OBJECT && have_other_property(m, a->schema, b->schema))
        types &= ~(unsigned)JSON_SCHEMA_OBJECT;
    return types;
}

/* A search for the types of values that several branches may accept. */
struct overlap_search {
    const struct view_maker *m;
    struct typed_branch branches[MAX_EXCLUSIVE];
    size_t count; /* also of those for which there is no room */
    unsigned all, shared;
};

static void add_to_overlap(struct overlap_search *s, struct json_val schema)
{
    const struct schema_view *v = s->m->view;
    unsigned types = non_null_types(v, schema);

    if (s->count < MAX_EXCLUSIVE)
        s->branches[s->count] = (struct typed_branch){ schema, types };
    s->count++;
    s->shared |= s->all & types;
    s->all |= types;
}

static unsigned end_overlap(const struct overlap_search *s)
{
    unsigned shared = 0;

    if (!s->shared || s->count > MAX_EXCLUSIVE)
        return s->shared;
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < i && !is_used_up(s->m->view); k++)
            shared |= shared_types(s->m, &s->branches[i], &s->branches[k]);
    return shared;
}

/* Whether no value is valid for two of the subschemas in an array. */
static bool are_exclusive(const struct view_maker *m, struct json_val list)
{
    struct overlap_search s = { .m = m };
    struct json_iter it = json_each(list);

    while (!is_used_up(m->view) && json_next(&it))
        add_to_overlap(&s, it.value);
    return !end_overlap(&s);
}

static unsigned find_overlap(const struct view_maker *m)
{
    struct overlap_search s = { .m = m };
    const struct schema_view *v = m->view;

    for (size_t i = 0; i < v->branch_count && !is_used_up(v); i++)
        add_to_overlap(&s, v->branches[i]);
    return end_overlap(&s);
}

/* Unions in unions. */

/* Returns the rule of a subschema that is nothing but a union; NULL: it is something else. */
static const struct json_schema_rule *inner_union(const struct view_maker *m,
                                                  struct json_val schema)
{
    struct json_val core = schema_view_core(m->view->rules, schema);
    const struct json_schema_node *node;

    if (json_type(core) != JSON_OBJECT)
        return NULL;
    node = json_schema_rules_of(m->view->rules, core);
    if (node->count != 1 || !is_union_keyword(node->rules[0].keyword) ||
        !json_count(node->rules[0].value))
        return NULL;
    return node->rules;
}

static bool is_added(const struct view_maker *m, struct json_val list)
{
    for (size_t i = 0; i < m->union_count; i++)
        if (m->unions[i].node == list.node)
            return true;
    return false;
}

/* Whether the branches of a union in the union mean the same as branches of the outer one. */
static bool is_flat(const struct view_maker *m, const struct json_schema_rule *inner)
{
    if (m->union_count == MAX_UNIONS || m->view->branch_count >= SCHEMA_VIEW_BRANCHES)
        return false;
    return (m->view->branch_keyword == KEYWORD_ANY_OF && inner->keyword == KEYWORD_ANY_OF) ||
           are_exclusive(m, inner->value);
}

/* A union in itself, or for the second time, adds nothing to anyOf. */
static void add_branches(struct view_maker *m, struct json_val list)
{
    struct schema_view *v = m->view;
    struct json_iter it = json_each(list);

    BUG_IF(m->union_count == MAX_UNIONS);
    m->unions[m->union_count++] = list;
    while (!is_used_up(v) && json_next(&it)) {
        const struct json_schema_rule *inner = inner_union(m, it.value);

        if (inner && is_added(m, inner->value)) {
            if (v->branch_keyword == KEYWORD_ONE_OF)
                v->overlap |= non_null_types(v, it.value);
        } else if (inner && is_flat(m, inner)) {
            add_branches(m, inner->value);
        } else if (schema_view_types(v->rules, it.value, v->work) != JSON_SCHEMA_NULL) {
            push_branch(m, it.value);
        }
    }
}

static void join_part(struct view_maker *m, struct json_val schema);

static void read_branches(struct view_maker *m, struct json_val part, enum json_keyword k)
{
    struct schema_view *v = m->view;
    struct json_val list = rule_value(v, part, k);

    if (json_type(list) != JSON_ARRAY || !json_count(list))
        return;
    /* anyOf beside oneOf; or after a union that became types, but was as large as can be. */
    if (v->branch_count || m->union_count == MAX_UNIONS) {
        v->complete = false;
        return;
    }
    v->branch_keyword = k;
    add_branches(m, list);
    if (v->branch_count < 2 || !join_plain_branches(m)) {
        if (k == KEYWORD_ONE_OF)
            v->overlap |= find_overlap(m);
        if (v->branch_count > 1 || v->overlap)
            return;
    }
    for (size_t i = 0; i < v->part_count; i++)
        m->joined[i] |= v->parts[i].node == part.node;
    if (v->branch_count == 1) {
        v->branch_count = 0;
        join_part(m, v->branches[0]);
    }
}

/* Parts. */

/* Keywords whose meaning depends on each other: two parts do not have several of a group. */
static enum json_keyword group_of(enum json_keyword k)
{
    switch (k) {
    case KEYWORD_CONST:
        return KEYWORD_ENUM;
    case KEYWORD_ONE_OF:
        return KEYWORD_ANY_OF;
    case KEYWORD_PATTERN_PROPERTIES:
    case KEYWORD_ADDITIONAL_PROPERTIES:
    case KEYWORD_UNEVALUATED_PROPERTIES:
        return KEYWORD_PROPERTIES;
    case KEYWORD_PREFIX_ITEMS:
    case KEYWORD_ADDITIONAL_ITEMS:
    case KEYWORD_UNEVALUATED_ITEMS:
    case KEYWORD_CONTAINS:
    case KEYWORD_MIN_CONTAINS:
    case KEYWORD_MAX_CONTAINS:
        return KEYWORD_ITEMS;
    case KEYWORD_THEN:
    case KEYWORD_ELSE:
        return KEYWORD_IF;
    default:
        return k;
    }
}

/* Whether any number of parts can have it: all of them count, or it says nothing. */
static bool is_joinable(const struct json_schema_rule *r)
{
    return r->keyword == KEYWORD_TYPE || r->keyword == KEYWORD_REQUIRED ||
           r->keyword == KEYWORD_ALL_OF ||
           (r->keyword == KEYWORD_REF && json_exists(r->target)) ||
           (r->keyword == KEYWORD_ADDITIONAL_PROPERTIES && json_type(r->value) == JSON_TRUE);
}

static bool share_names(struct json_val a, struct json_val b, uint64_t *work)
{
    struct json_iter it = json_each(a);

    if (json_type(a) != JSON_OBJECT || json_type(b) != JSON_OBJECT ||
        json_count(a) * json_count(b) > NAME_PAIRS)
        return true;
    while (json_next(&it)) {
        struct json_iter other = json_each(b);

        while (json_next(&other)) {
            ++*work;
            if (json_equal(it.key, other.key, &by_value))
                return true;
        }
    }
    return false;
}

static bool rules_collide(const struct json_schema_rule *a, const struct json_schema_rule *b,
                          uint64_t *work)
{
    if (group_of(a->keyword) != group_of(b->keyword))
        return false;
    if (a->keyword == KEYWORD_REF)
        return true; /* one without a target: schema_view_get() finds only one */
    if (is_joinable(b))
        return false;
    if (a->keyword == KEYWORD_PROPERTIES && b->keyword == KEYWORD_PROPERTIES)
        return share_names(a->value, b->value, work);
    return a->keyword != b->keyword || group_of(a->keyword) == KEYWORD_PROPERTIES ||
           group_of(a->keyword) == KEYWORD_ITEMS || group_of(a->keyword) == KEYWORD_ANY_OF ||
           !json_equal(a->value, b->value, &by_value);
}

static bool collides_with(const struct view_maker *m, const struct json_schema_rule *r)
{
    const struct schema_view *v = m->view;

    for (size_t i = 0; i < v->part_count; i++) {
        const struct json_schema_node *part = json_schema_rules_of(v->rules, v->parts[i]);

        if (is_union_keyword(r->keyword) && m->joined[i])
            continue;
        for (size_t k = 0; k < part->count; k++)
            if (rules_collide(r, &part->rules[k], v->work))
                return true;
    }
    return false;
}

/* Returns whether a subschema cannot be a further part. */
static bool collides(const struct view_maker *m, struct json_val schema)
{
    const struct schema_view *v = m->view;
    const struct json_schema_node *node;

    if (json_type(schema) != JSON_OBJECT)
        return false;
    if (v->part_count == SCHEMA_VIEW_PARTS)
        return true;
    node = json_schema_rules_of(v->rules, schema);
    for (size_t i = 0; i < node->count; i++)
        if (!is_joinable(&node->rules[i]) && collides_with(m, &node->rules[i]))
            return true;
    return false;
}

static void read_conjuncts(struct view_maker *m, struct json_val all)
{
    struct json_iter it = json_each(all);

    while (json_type(all) == JSON_ARRAY && !is_used_up(m->view) && json_next(&it)) {
        ++*m->view->work;
        if (m->conjuncts == SCHEMA_VIEW_APART)
            push_conjunct(m, it.value);
        else
            join_part(m, it.value);
    }
}

static void read_part(struct view_maker *m, struct json_val part)
{
    const struct json_schema_rule *ref = find_rule(m->view, part, KEYWORD_REF);

    read_type(m, part);
    read_values(m, part);
    if (ref && json_exists(ref->target))
        join_part(m, ref->target);
    else if (ref)
        m->view->complete = false;
    read_conjuncts(m, rule_value(m->view, part, KEYWORD_ALL_OF));
    read_branches(m, part, KEYWORD_ANY_OF);
    read_branches(m, part, KEYWORD_ONE_OF);
}

static bool has_part(const struct schema_view *v, struct json_val schema)
{
    for (size_t i = 0; i < v->part_count; i++)
        if (v->parts[i].node == schema.node)
            return true;
    return false;
}

/* A $ref to itself adds nothing: the part is there already. */
static void join_part(struct view_maker *m, struct json_val schema)
{
    struct schema_view *v = m->view;

    if (json_type(schema) == JSON_FALSE)
        v->never = true;
    if (json_type(schema) != JSON_OBJECT || has_part(v, schema))
        return;
    if (collides(m, schema)) {
        push_conjunct(m, schema);
        return;
    }
    v->parts[v->part_count++] = schema;
    read_part(m, schema);
}

void schema_view_init(struct schema_view *v, struct json_schema_rules *rules,
                      struct json_val schema, enum schema_view_conjuncts conjuncts,
                      struct arena *a, uint64_t *work)
{
    struct view_maker m = { .view = v, .arena = a, .conjuncts = conjuncts };
    unsigned types;

    *v = (struct schema_view){
        .rules = rules, .complete = true, .part_types = SCHEMA_VIEW_ANY_TYPE, .work = work
    };
    types = schema_view_types(rules, schema, work);
    join_part(&m, schema);
    v->types = v->part_types & types;
    v->nullable = (types & JSON_SCHEMA_NULL) && !v->never;
    if (!v->has_values && v->types != SCHEMA_VIEW_ANY_TYPE)
        v->typed = true;
    drop_values_of_other_types(v);
}

/* Whether no part restricts its values by other keywords than types and a union. */
static bool says_only_types(const struct schema_view *v)
{
    if (v->conjunct_count || !v->complete || v->never || v->has_values)
        return false;
    for (size_t i = 0; i < v->part_count; i++) {
        const struct json_schema_node *part = json_schema_rules_of(v->rules, v->parts[i]);

        for (size_t k = 0; k < part->count; k++)
            if (part->rules[k].keyword == KEYWORD_REQUIRED ||
                !(is_joinable(&part->rules[k]) || is_union_keyword(part->rules[k].keyword)))
                return false;
    }
    return true;
}

bool schema_view_is_union(const struct schema_view *v)
{
    unsigned types = 0;

    if (!v->branch_count || !says_only_types(v))
        return false;
    for (size_t i = 0; i < v->branch_count && !is_used_up(v); i++)
        types |= schema_view_types(v->rules, v->branches[i], v->work);
    return !(types & SCHEMA_VIEW_ANY_TYPE & ~v->part_types);
}

bool schema_view_is_plain(const struct schema_view *v)
{
    return !v->branch_count && says_only_types(v);
}

unsigned schema_view_plain_types(const struct schema_view *v)
{
    unsigned types = 0;

    for (size_t i = 0; i < v->branch_count && !is_used_up(v); i++) {
        struct schema_view branch;
        struct arena a = { 0 };

        schema_view_init(&branch, v->rules, v->branches[i], SCHEMA_VIEW_JOINED, &a, v->work);
        types |= schema_view_is_plain(&branch) ? branch.types : 0;
        arena_release(&a);
    }
    return types;
}
