#include "json/schema-rules.h"

#include "json/ecma-pattern.h"
#include "json/schema-types.h"

enum { OLD = 1, NEW = 2, BOTH = OLD | NEW };

/* Longer patterns are not compiled; the translation may be longer. */
enum { PATTERN_MAX = 4 << 10, TRANSLATED_MAX = 256 << 10 };
enum { PATTERN_WORK = 1000 }; /* that compiling one counts as */

static const struct {
    struct str name;
    unsigned dialects;
} keywords[KEYWORD_COUNT] = {
    [KEYWORD_TYPE] = { STR_INIT("type"), BOTH },
    [KEYWORD_CONST] = { STR_INIT("const"), BOTH },
    [KEYWORD_ENUM] = { STR_INIT("enum"), BOTH },
    [KEYWORD_REF] = { STR_INIT("$ref"), BOTH },
    [KEYWORD_DYNAMIC_REF] = { STR_INIT("$dynamicRef"), NEW },
    [KEYWORD_RECURSIVE_REF] = { STR_INIT("$recursiveRef"), NEW },
    [KEYWORD_MINIMUM] = { STR_INIT("minimum"), BOTH },
    [KEYWORD_MAXIMUM] = { STR_INIT("maximum"), BOTH },
    [KEYWORD_EXCLUSIVE_MINIMUM] = { STR_INIT("exclusiveMinimum"), BOTH },
    [KEYWORD_EXCLUSIVE_MAXIMUM] = { STR_INIT("exclusiveMaximum"), BOTH },
    [KEYWORD_MULTIPLE_OF] = { STR_INIT("multipleOf"), BOTH },
    [KEYWORD_MIN_LENGTH] = { STR_INIT("minLength"), BOTH },
    [KEYWORD_MAX_LENGTH] = { STR_INIT("maxLength"), BOTH },
    [KEYWORD_PATTERN] = { STR_INIT("pattern"), BOTH },
    [KEYWORD_FORMAT] = { STR_INIT("format"), BOTH },
    [KEYWORD_MIN_ITEMS] = { STR_INIT("minItems"), BOTH },
    [KEYWORD_MAX_ITEMS] = { STR_INIT("maxItems"), BOTH },
    [KEYWORD_UNIQUE_ITEMS] = { STR_INIT("uniqueItems"), BOTH },
    [KEYWORD_PREFIX_ITEMS] = { STR_INIT("prefixItems"), NEW },
    [KEYWORD_ITEMS] = { STR_INIT("items"), BOTH },
    [KEYWORD_CONTAINS] = { STR_INIT("contains"), BOTH },
    [KEYWORD_UNEVALUATED_ITEMS] = { STR_INIT("unevaluatedItems"), NEW },
    [KEYWORD_MIN_PROPERTIES] = { STR_INIT("minProperties"), BOTH },
    [KEYWORD_MAX_PROPERTIES] = { STR_INIT("maxProperties"), BOTH },
    [KEYWORD_REQUIRED] = { STR_INIT("required"), BOTH },
    [KEYWORD_DEPENDENT_REQUIRED] = { STR_INIT("dependentRequired"), NEW },
    [KEYWORD_DEPENDENT_SCHEMAS] = { STR_INIT("dependentSchemas"), NEW },
    [KEYWORD_DEPENDENCIES] = { STR_INIT("dependencies"), OLD },
    [KEYWORD_PROPERTY_NAMES] = { STR_INIT("propertyNames"), BOTH },
    [KEYWORD_PROPERTIES] = { STR_INIT("properties"), BOTH },
    [KEYWORD_PATTERN_PROPERTIES] = { STR_INIT("patternProperties"), BOTH },
    [KEYWORD_ADDITIONAL_PROPERTIES] = { STR_INIT("additionalProperties"), BOTH },
    [KEYWORD_UNEVALUATED_PROPERTIES] = { STR_INIT("unevaluatedProperties"), NEW },
    [KEYWORD_ALL_OF] = { STR_INIT("allOf"), BOTH },
    [KEYWORD_ANY_OF] = { STR_INIT("anyOf"), BOTH },
    [KEYWORD_ONE_OF] = { STR_INIT("oneOf"), BOTH },
    [KEYWORD_NOT] = { STR_INIT("not"), BOTH },
    [KEYWORD_IF] = { STR_INIT("if"), BOTH },
    [KEYWORD_ADDITIONAL_ITEMS] = { STR_INIT("additionalItems"), OLD },
    [KEYWORD_MIN_CONTAINS] = { STR_INIT("minContains"), NEW },
    [KEYWORD_MAX_CONTAINS] = { STR_INIT("maxContains"), NEW },
    [KEYWORD_THEN] = { STR_INIT("then"), BOTH },
    [KEYWORD_ELSE] = { STR_INIT("else"), BOTH },
    [KEYWORD_NONE] = { STR_INIT("invalid schema"), 0 },
};

struct json_schema_pattern {
    struct regex *regex; /* NULL: not compiled */
};

struct str json_keyword_name(enum json_keyword k)
{
    return keywords[k].name;
}

static bool is_schema(struct json_val v)
{
    enum json_type t = json_type(v);

    return t == JSON_OBJECT || t == JSON_TRUE || t == JSON_FALSE;
}

static bool is_array_of_strings(struct json_val v)
{
    struct json_iter it = json_each(v);

    while (json_next(&it))
        if (json_type(it.value) != JSON_STRING)
            return false;
    return json_type(v) == JSON_ARRAY;
}

bool json_keyword_is_valid(enum json_keyword k, struct json_val value)
{
    unsigned types;

    switch (k) {
    case KEYWORD_TYPE:
        return json_schema_types_parse(value, &types);
    case KEYWORD_REF:
    case KEYWORD_DYNAMIC_REF:
    case KEYWORD_PATTERN:
    case KEYWORD_FORMAT:
        return json_type(value) == JSON_STRING;
    case KEYWORD_MINIMUM:
    case KEYWORD_MAXIMUM:
    case KEYWORD_EXCLUSIVE_MINIMUM:
    case KEYWORD_EXCLUSIVE_MAXIMUM:
    case KEYWORD_MULTIPLE_OF:
    case KEYWORD_MIN_LENGTH:
    case KEYWORD_MAX_LENGTH:
    case KEYWORD_MIN_ITEMS:
    case KEYWORD_MAX_ITEMS:
    case KEYWORD_MIN_CONTAINS:
    case KEYWORD_MAX_CONTAINS:
    case KEYWORD_MIN_PROPERTIES:
    case KEYWORD_MAX_PROPERTIES:
        return json_type(value) == JSON_NUMBER;
    case KEYWORD_UNIQUE_ITEMS:
    case KEYWORD_RECURSIVE_REF:
        return json_type(value) != JSON_OBJECT && is_schema(value);
    case KEYWORD_ENUM:
    case KEYWORD_PREFIX_ITEMS:
    case KEYWORD_ALL_OF:
    case KEYWORD_ANY_OF:
    case KEYWORD_ONE_OF:
        return json_type(value) == JSON_ARRAY;
    case KEYWORD_REQUIRED:
        return is_array_of_strings(value);
    case KEYWORD_ITEMS:
        return json_type(value) == JSON_ARRAY || is_schema(value);
    case KEYWORD_DEPENDENT_REQUIRED:
    case KEYWORD_DEPENDENT_SCHEMAS:
    case KEYWORD_DEPENDENCIES:
    case KEYWORD_PROPERTIES:
    case KEYWORD_PATTERN_PROPERTIES:
        return json_type(value) == JSON_OBJECT;
    case KEYWORD_CONTAINS:
    case KEYWORD_UNEVALUATED_ITEMS:
    case KEYWORD_PROPERTY_NAMES:
    case KEYWORD_ADDITIONAL_PROPERTIES:
    case KEYWORD_UNEVALUATED_PROPERTIES:
    case KEYWORD_NOT:
    case KEYWORD_IF:
    case KEYWORD_ADDITIONAL_ITEMS:
    case KEYWORD_THEN:
    case KEYWORD_ELSE:
        return is_schema(value);
    default:
        return true;
    }
}

static unsigned dialects_of(struct json_val root, struct arena *a)
{
    static const struct {
        const char *part;
        unsigned dialects;
    } rows[] = { { "draft-03", OLD }, { "draft-04", OLD }, { "draft-06", OLD },
                 { "draft-07", OLD }, { "2019-09", NEW },  { "2020-12", NEW } };
    struct str uri = json_text(json_get(root, STR("$schema")), a);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_contains(uri, str_z(rows[i].part)))
            return rows[i].dialects;
    return BOTH;
}

/* Adds all subschemas with an $id, outer ones first. Goes as deep as the schema is nested,
 * which the scanner has bounded. */
static void collect_resources(struct json_schema_rules *r, struct json_val v)
{
    struct str id = json_unquoted(json_get(v, STR("$id")));
    struct json_iter it = json_each(v);

    if (id.len && id.at[0] != '#' && v.node != r->root.node) {
        if (r->resource_count < JSON_SCHEMA_MAX_RESOURCES)
            r->resources[r->resource_count] = v;
        r->resource_count++;
    }
    while (json_next(&it))
        if (json_count(it.value))
            collect_resources(r, it.value);
}

void json_schema_rules_init(struct json_schema_rules *r, struct json_val root)
{
    *r = (struct json_schema_rules){ .root = root };
    map_init(&r->nodes);
    map_init(&r->patterns);
    r->dialects = dialects_of(root, &r->arena);
    collect_resources(r, root);
}

void json_schema_rules_release(struct json_schema_rules *r)
{
    for (struct map_entry *e = NULL; (e = map_next(&r->patterns, e));)
        regex_free(((struct json_schema_pattern *)e->value)->regex);
    map_release(&r->nodes);
    map_release(&r->patterns);
    arena_release(&r->arena);
}

static struct json_val resource_around(const struct json_schema_rules *r, struct json_val v)
{
    for (size_t i = r->resource_count; i--;)
        if (json_contains(r->resources[i], v))
            return r->resources[i];
    return r->root;
}

/* Decodes a part of a JSON pointer in a URI: first %41, then ~0 and ~1. */
static struct str decode_part(struct str part, struct arena *a)
{
    char *text = arena_alloc(a, part.len + 1), byte;
    size_t len = 0, kept = 0;

    while (part.len) {
        bool encoded = str_parse_percent(part, &byte);
        text[len++] = encoded ? byte : part.at[0];
        part = str_skip(part, encoded ? 3 : 1);
    }
    for (size_t i = 0; i < len; i++, kept++) {
        bool escape =
            text[i] == '~' && i + 1 < len && (text[i + 1] == '0' || text[i + 1] == '1');
        text[kept] = !escape ? text[i] : text[++i] == '0' ? '~' : '/';
    }
    return str_n(text, kept);
}

static struct json_val follow_part(struct json_schema_rules *r, struct json_val v,
                                   struct str part)
{
    uint64_t index;

    r->work += json_count(v) + part.len;
    part = decode_part(part, &r->arena);
    if (json_type(v) == JSON_OBJECT)
        return json_get(v, part);
    return str_parse_u64(part, &index) ? json_item(v, index) : JSON_VAL_NONE;
}

static struct json_val resolve(struct json_schema_rules *r, struct json_val ref)
{
    struct str text = json_text(ref, &r->arena);
    struct str base = json_text(json_get(r->root, STR("$id")), &r->arena);
    struct json_val at = resource_around(r, ref);

    if (r->resource_count > JSON_SCHEMA_MAX_RESOURCES || json_type(ref) != JSON_STRING)
        return JSON_VAL_NONE;
    base.len = str_find(base, '#');
    if (base.len && str_starts(text, base)) {
        text = str_skip(text, base.len);
        at = r->root;
    }
    if (str_eq(text, STR("#")) || !text.len)
        return at;
    if (!str_starts(text, STR("#/")))
        return JSON_VAL_NONE;
    text = str_skip(text, 1);
    while (text.len && json_exists(at)) {
        text = str_skip(text, 1);
        struct str part = str_n(text.at, str_find(text, '/'));
        at = follow_part(r, at, part);
        text = str_skip(text, part.len);
    }
    return at;
}

static enum json_keyword find_keyword(const struct json_schema_rules *r, struct json_val key)
{
    for (enum json_keyword k = 0; k < KEYWORD_NONE; k++)
        if (keywords[k].dialects & r->dialects && json_is(key, keywords[k].name))
            return k;
    return KEYWORD_NONE;
}

static struct json_schema_node *make_node(struct json_schema_rules *r,
                                          const struct json_val values[KEYWORD_NONE])
{
    bool only_ref = r->dialects == OLD && json_exists(values[KEYWORD_REF]);
    struct json_schema_node *node;
    size_t count = 0;

    for (enum json_keyword k = 0; k < KEYWORD_NONE; k++)
        count += json_exists(values[k]);
    node = arena_alloc(&r->arena, sizeof *node + count * sizeof *node->rules);
    for (enum json_keyword k = 0; k < KEYWORD_NONE; k++)
        if (json_exists(values[k]) && (!only_ref || k == KEYWORD_REF))
            node->rules[node->count++] = (struct json_schema_rule){
                k, values[k], k == KEYWORD_REF ? resolve(r, values[k]) : JSON_VAL_NONE
            };
    return node;
}

const struct json_schema_node *json_schema_rules_of(struct json_schema_rules *r,
                                                    struct json_val schema)
{
    struct json_val values[KEYWORD_NONE] = { JSON_VAL_NONE };
    struct json_iter it = json_each(schema);
    uint64_t number = schema.node;
    struct json_schema_node *node = map_get(&r->nodes, map_number_key(&number));

    if (node)
        return node;
    while (json_next(&it)) {
        enum json_keyword k = find_keyword(r, it.key);
        if (k != KEYWORD_NONE)
            values[k] = it.value;
    }
    r->work += json_count(schema);
    node = make_node(r, values);
    map_put(&r->nodes, map_number_key(&number), node);
    return node;
}

const struct json_schema_rule *json_schema_rule(const struct json_schema_node *node,
                                                enum json_keyword k)
{
    for (size_t i = 0; i < node->count; i++)
        if (node->rules[i].keyword == k)
            return &node->rules[i];
    return NULL;
}

static struct regex *compile_pattern(struct json_schema_rules *r, struct json_val pattern)
{
    struct err e = ERR_NONE;
    struct regex *regex = NULL;
    struct str text = json_text(pattern, &r->arena);
    struct buf b;

    r->work += PATTERN_WORK + text.len;
    if (text.len > PATTERN_MAX || r->pattern_count == JSON_SCHEMA_MAX_PATTERNS)
        return NULL;
    buf_init(&b, TRANSLATED_MAX);
    if (json_ecma_pattern(text, &b) && buf_ok(&b, &e) &&
        regex_new(&regex, buf_str(&b), REGEX_EXACT, &e))
        r->pattern_count++;
    buf_release(&b);
    return regex;
}

const struct regex *json_schema_rules_pattern(struct json_schema_rules *r,
                                              struct json_val pattern)
{
    uint64_t number = pattern.node;
    struct json_schema_pattern *p = map_get(&r->patterns, map_number_key(&number));

    if (!p) {
        p = arena_new(&r->arena, struct json_schema_pattern);
        p->regex = json_type(pattern) == JSON_STRING ? compile_pattern(r, pattern) : NULL;
        map_put(&r->patterns, map_number_key(&number), p);
    }
    return p->regex;
}
