#include "diff/schema-references.h"

#include <stdlib.h>

#include "base/mem.h"
#include "json/equal.h"

static const struct json_rules by_value = { .numbers_by_value = true };

struct reference {
    struct str text; /* of the $ref, or the name of the member with all definitions */
    struct json_val target;
    size_t position; /* in which it was found */
};

/* The references of one side, each target once. */
struct references {
    struct json_schema_rules *rules;
    struct reference *at; /* owned */
    size_t count, cap;
    struct map targets; /* by number of the JSON node */
    uint64_t work;
    struct arena arena;
};

static void add(struct references *r, struct str text, struct json_val target)
{
    uint64_t number = target.node;

    if (!json_exists(target) || map_get(&r->targets, map_number_key(&number)))
        return;
    map_put(&r->targets, map_number_key(&number), r);
    r->at = mem_reserve(r->at, &r->cap, r->count + 1, sizeof *r->at);
    r->at[r->count] = (struct reference){ text, target, r->count };
    r->count++;
}

static const struct str definition_members[] = { STR_INIT("$defs"), STR_INIT("definitions") };

static void add_ref(struct references *r, struct json_val schema, struct json_val ref)
{
    const struct json_schema_node *node = json_schema_rules_of(r->rules, schema);
    const struct json_schema_rule *rule = json_schema_rule(node, KEYWORD_REF);

    if (rule && rule->value.node == ref.node && json_exists(rule->target)) {
        add(r, json_text(ref, &r->arena), rule->target);
        return;
    }
    for (size_t i = 0; i < sizeof definition_members / sizeof *definition_members; i++)
        add(r, definition_members[i], json_get(r->rules->root, definition_members[i]));
}

/* Goes as deep as the value is nested, which the scanner has bounded. */
static void collect(struct references *r, struct json_val v)
{
    struct json_iter it = json_each(v);

    r->work++;
    while (json_next(&it)) {
        if (json_is(it.key, STR("$ref")) || json_is(it.key, STR("$dynamicRef")))
            add_ref(r, v, it.value);
        if (json_count(it.value))
            collect(r, it.value);
    }
}

static int compare_references(const void *a, const void *b)
{
    const struct reference *x = a, *y = b;
    int order = str_cmp(x->text, y->text);

    return order ? order : x->position < y->position ? -1 : x->position > y->position;
}

/* Collects the references of a value, those of their targets, and so on; then sorts them. */
static void init_references(struct references *r, struct json_schema_rules *rules,
                            struct json_val v)
{
    *r = (struct references){ .rules = rules };
    map_init(&r->targets);
    collect(r, v);
    for (size_t i = 0; i < r->count && r->work <= SCHEMA_REFERENCES_WORK; i++)
        collect(r, r->at[i].target);
    if (r->count)
        qsort(r->at, r->count, sizeof *r->at, compare_references);
}

static void release_references(struct references *r)
{
    free(r->at);
    map_release(&r->targets);
    arena_release(&r->arena);
}

static bool differ(const struct references *a, const struct references *b)
{
    if (a->count != b->count || a->work > SCHEMA_REFERENCES_WORK ||
        b->work > SCHEMA_REFERENCES_WORK)
        return true;
    for (size_t i = 0; i < a->count; i++)
        if (!str_eq(a->at[i].text, b->at[i].text) ||
            !json_equal(a->at[i].target, b->at[i].target, &by_value))
            return true;
    return false;
}

bool schema_references_differ(struct json_schema_rules rules[2], struct json_val before,
                              struct json_val after, uint64_t *work)
{
    struct references old, new;
    bool result;

    init_references(&old, &rules[0], before);
    init_references(&new, &rules[1], after);
    result = differ(&old, &new);
    *work += old.work + new.work;
    release_references(&old);
    release_references(&new);
    return result;
}

bool schema_references_definitions_differ(const struct json_schema_rules rules[2])
{
    for (size_t i = 0; i < sizeof definition_members / sizeof *definition_members; i++) {
        struct json_val old = json_get(rules[0].root, definition_members[i]);
        struct json_val new = json_get(rules[1].root, definition_members[i]);

        if (json_exists(old) != json_exists(new) ||
            (json_exists(old) && !json_equal(old, new, &by_value)))
            return true;
    }
    return false;
}
