/* Prints whether a value is valid against a JSON Schema, for comparison with other validators.
 *
 * A text is a schema, a newline and a value. The answer is "valid", "invalid", or what was not
 * checked. */
#include "probe.h"
#include "json/schema.h"

static void check(struct json_val schema, struct json_val value, struct buf *out)
{
    struct json_schema *s = json_schema_new(schema);
    struct json_schema_result r = json_schema_check(s, value, NULL, NULL);

    if (r.verdict == JSON_SCHEMA_VALID || r.verdict == JSON_SCHEMA_INVALID)
        buf_add(out, r.verdict == JSON_SCHEMA_VALID ? STR("valid") : STR("invalid"));
    else
        json_schema_write_unchecked(&r, out);
    json_schema_free(s);
}

static void answer(void *with, struct str text, struct buf *out)
{
    struct str schema_text = str_cut(&text, '\n');
    struct json_fault fault;
    struct json schema, value;

    (void)with;
    json_init(&schema);
    json_init(&value);
    if (json_scan(&schema, schema_text, &fault) && json_scan(&value, text, &fault))
        check(json_root(&schema), json_root(&value), out);
    else
        buf_printf(out, "not JSON: %s", fault.what);
    json_release(&schema);
    json_release(&value);
}

int main(void)
{
    return probe_serve(answer, NULL);
}
