#include "json/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    const struct json_schema *schema;
    struct json_val root, value;
    size_t count;
};

static struct json_val value_at(struct json_val v, struct json_location location)
{
    for (size_t i = 0; i < location.count; i++)
        v = location.steps[i].is_index ? json_item(v, location.steps[i].index)
                                       : json_get(v, location.steps[i].name);
    return v;
}

/* A violation names a value, or one that is missing, and a rule of the schema. */
static bool check(void *arg, const struct json_schema_violation *v)
{
    struct seen *s = arg;
    struct json_val found = value_at(s->value, v->location);
    struct buf b;

    BUG_IF(json_exists(found) != json_exists(v->value) || found.node != v->value.node);
    BUG_IF(!json_contains(s->root, v->rule) || !v->message.len);
    buf_init(&b, 1 << 20);
    json_schema_write_rule(s->schema, v, &b);
    BUG_IF(!b.full && b.at[0] != '$');
    buf_release(&b);
    return ++s->count < 50;
}

static enum json_schema_verdict check_quickly(struct json_val schema, struct json_val value)
{
    struct json_schema *s = json_schema_new(schema);
    enum json_schema_verdict verdict = json_schema_check(s, value, NULL, NULL).verdict;

    json_schema_free(s);
    return verdict;
}

static void validate(struct json_val schema, struct json_val value)
{
    struct json_schema *s = json_schema_new(schema);
    struct seen seen = { s, schema, value, 0 };
    struct json_schema_result r = json_schema_check(s, value, check, &seen);
    struct buf b;

    buf_init(&b, 1 << 10);
    json_schema_write_unchecked(&r, &b);
    BUG_IF((r.verdict == JSON_SCHEMA_INVALID) != (seen.count > 0));
    BUG_IF(r.verdict == JSON_SCHEMA_VALID && b.len);
    BUG_IF((r.verdict == JSON_SCHEMA_PARTIAL || r.verdict == JSON_SCHEMA_TOO_COMPLEX) &&
           !b.len);
    BUG_IF(check_quickly(schema, value) != r.verdict);
    buf_release(&b);
    json_schema_free(s);
}

/* A schema, a newline, a value. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size), first = str_cut(&text, '\n');
    struct json_fault fault;
    struct json schema, value;

    json_init(&schema);
    json_init(&value);
    if (json_scan(&schema, first, &fault) && json_scan(&value, text, &fault))
        validate(json_root(&schema), json_root(&value));
    json_release(&schema);
    json_release(&value);
    return 0;
}
