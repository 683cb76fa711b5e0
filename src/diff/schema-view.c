#include "diff/schema-view.h"

enum { MAX_REFS = 8 };

/* While a view is made. */
struct view_maker {
    struct schema_view *view;
    struct arena *arena;
    bool accepts_null;
    bool has_null_branch; /* parts that are added from now on need not accept null */
};

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

static bool is_null_schema(struct json_val schema)
{
    struct json_val values = json_get(schema, STR("enum"));

    return (has_only(schema, STR("type")) &&
            json_is(json_get(schema, STR("type")), STR("null"))) ||
           (has_only(schema, STR("const")) &&
            json_type(json_get(schema, STR("const"))) == JSON_NULL) ||
           (has_only(schema, STR("enum")) && json_count(values) == 1 &&
            json_type(json_item(values, 0)) == JSON_NULL);
}

static unsigned with_integer(unsigned types)
{
    return types & JSON_SCHEMA_NUMBER ? types | JSON_SCHEMA_INTEGER : types;
}

static void restrict_types(struct view_maker *m, unsigned types)
{
    bool null = types & JSON_SCHEMA_NULL;

    m->view->typed = true;
    m->view->types &= with_integer(types);
    m->accepts_null = m->accepts_null && (null || m->has_null_branch);
}

static void read_type(struct view_maker *m, struct json_val part)
{
    struct json_val type = rule_value(m->view, part, KEYWORD_TYPE);
    unsigned types;

    if (!json_exists(type) || !json_schema_types_parse(type, &types))
        return;
    if (json_type(json_get(part, STR("nullable"))) == JSON_TRUE)
        types |= JSON_SCHEMA_NULL;
    restrict_types(m, types);
}

/* Replaces the values of the view by those of an array that are not null. */
static void set_values(struct view_maker *m, struct json_val list, bool nullable)
{
    struct schema_view *v = m->view;
    struct json_iter it = json_each(list);
    bool null = nullable;

    v->has_values = true;
    v->value_count = 0;
    v->values = arena_alloc(m->arena, (json_count(list) + 1) * sizeof *v->values);
    while (json_next(&it)) {
        if (json_type(it.value) == JSON_NULL)
            null = true;
        else
            v->values[v->value_count++] = it.value;
    }
    m->accepts_null = m->accepts_null && (null || m->has_null_branch);
}

static void read_values(struct view_maker *m, struct json_val part)
{
    struct schema_view *v = m->view;
    struct json_val list = rule_value(v, part, KEYWORD_ENUM);
    struct json_val one = rule_value(v, part, KEYWORD_CONST);
    bool nullable = json_type(json_get(part, STR("nullable"))) == JSON_TRUE;

    if (v->has_values)
        return;
    if (json_type(list) == JSON_ARRAY)
        set_values(m, list, nullable);
    if (!json_exists(one))
        return;
    set_values(m, JSON_VAL_NONE, nullable || json_type(one) == JSON_NULL);
    if (json_type(one) != JSON_NULL) {
        v->values = arena_alloc(m->arena, sizeof *v->values);
        v->values[v->value_count++] = one;
    }
}

/* A union of plain types, or of constants, is the same as `type`, or `enum`. */
static bool join_plain_branches(struct view_maker *m)
{
    struct schema_view *v = m->view;
    unsigned all = 0, types;
    bool types_only = true, values_only = true;

    for (size_t i = 0; i < v->branch_count; i++) {
        struct json_val b = v->branches[i];

        types_only = types_only && has_only(b, STR("type")) &&
                     json_schema_types_parse(json_get(b, STR("type")), &types);
        values_only = values_only && has_only(b, STR("const"));
        all |= types_only ? types : 0;
    }
    if (types_only) {
        restrict_types(m, all | (m->has_null_branch ? JSON_SCHEMA_NULL : 0));
    } else if (values_only && !v->has_values) {
        set_values(m, JSON_VAL_NONE, false);
        v->values = arena_alloc(m->arena, v->branch_count * sizeof *v->values);
        for (size_t i = 0; i < v->branch_count; i++)
            v->values[v->value_count++] = json_get(v->branches[i], STR("const"));
    } else {
        return false;
    }
    v->branch_count = 0;
    return true;
}

static void add_part(struct view_maker *m, struct json_val schema);

static void read_branches(struct view_maker *m, struct json_val part, enum json_keyword k)
{
    struct schema_view *v = m->view;
    struct json_val list = rule_value(v, part, k);
    struct json_iter it = json_each(list);
    bool null = false;

    if (json_type(list) != JSON_ARRAY || !json_count(list))
        return;
    if (v->branch_count) { /* anyOf beside oneOf */
        v->complete = false;
        return;
    }
    v->branches = arena_alloc(m->arena, json_count(list) * sizeof *v->branches);
    v->branch_keyword = k;
    while (json_next(&it)) {
        if (is_null_schema(it.value))
            null = true;
        else
            v->branches[v->branch_count++] = it.value;
    }
    m->has_null_branch = null;
    if (v->branch_count == 1) {
        v->branch_count = 0;
        add_part(m, v->branches[0]);
    } else if (!join_plain_branches(m)) {
        m->accepts_null = m->accepts_null && null;
    }
}

static void read_part(struct view_maker *m, struct json_val part)
{
    const struct json_schema_rule *ref = find_rule(m->view, part, KEYWORD_REF);
    struct json_val all = rule_value(m->view, part, KEYWORD_ALL_OF);

    read_type(m, part);
    read_values(m, part);
    if (ref && json_exists(ref->target))
        add_part(m, ref->target);
    else if (ref)
        m->view->complete = false;
    if (json_count(all) == 1)
        add_part(m, json_item(all, 0));
    else if (json_type(all) == JSON_ARRAY && !json_exists(m->view->conjuncts))
        m->view->conjuncts = all;
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
static void add_part(struct view_maker *m, struct json_val schema)
{
    struct schema_view *v = m->view;

    if (json_type(schema) == JSON_FALSE)
        v->never = true;
    if (json_type(schema) != JSON_OBJECT || has_part(v, schema))
        return;
    if (v->part_count == SCHEMA_VIEW_PARTS) {
        v->complete = false;
        return;
    }
    v->parts[v->part_count++] = schema;
    read_part(m, schema);
}

/* Returns the types that a branch names itself or through $ref; 0: they are not restricted. */
static unsigned branch_types(const struct schema_view *v, struct json_val branch)
{
    unsigned types = 0;

    for (int i = 0; i < MAX_REFS && json_type(branch) == JSON_OBJECT; i++) {
        const struct json_schema_rule *ref = find_rule(v, branch, KEYWORD_REF);
        struct json_val type = rule_value(v, branch, KEYWORD_TYPE);

        if (json_exists(type))
            return json_schema_types_parse(type, &types) ? types : 0;
        branch = ref ? ref->target : JSON_VAL_NONE;
    }
    return 0;
}

/* The types of a union are those of its branches, if all of them have some. */
static void join_branch_types(struct view_maker *m)
{
    unsigned all = 0;

    for (size_t i = 0; i < m->view->branch_count; i++) {
        unsigned types = branch_types(m->view, m->view->branches[i]);

        if (!types)
            return;
        all |= types;
    }
    if (all)
        restrict_types(m, all | (m->has_null_branch ? JSON_SCHEMA_NULL : 0));
}

void schema_view_init(struct schema_view *v, struct json_schema_rules *rules,
                      struct json_val schema, struct arena *a)
{
    struct view_maker m = { .view = v, .arena = a, .accepts_null = true };

    *v = (struct schema_view){ .rules = rules,
                               .complete = true,
                               .types = SCHEMA_VIEW_ANY_TYPE,
                               .conjuncts = JSON_VAL_NONE };
    add_part(&m, schema);
    join_branch_types(&m);
    v->nullable = m.accepts_null && !v->never;
}
