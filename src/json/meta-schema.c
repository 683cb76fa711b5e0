#include "json/meta-schema.h"

#include "json/schema.h"

/* http://json-schema.org/draft-07/schema without texts, defaults and formats. */
static const struct str meta_schema = STR_INIT(
    "{\"type\":[\"object\",\"boolean\"],"
    "\"definitions\":{\"schemaArray\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"$ref"
    "\":\"#\"}},"
    "\"nonNegativeInteger\":{\"type\":\"integer\",\"minimum\":0},"
    "\"nonNegativeIntegerDefault0\":{\"allOf\":[{\"$ref\":\"#/definitions/nonNegativeIntege"
    "r\"},{}]},"
    "\"simpleTypes\":{\"enum\":[\"array\",\"boolean\",\"integer\",\"null\",\"number\",\"obj"
    "ect\",\"string\"]},"
    "\"stringArray\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":tr"
    "ue}},"
    "\"properties\":{\"$id\":{\"type\":\"string\"},"
    "\"$schema\":{\"type\":\"string\"},"
    "\"$ref\":{\"type\":\"string\"},"
    "\"$comment\":{\"type\":\"string\"},"
    "\"title\":{\"type\":\"string\"},"
    "\"description\":{\"type\":\"string\"},"
    "\"default\":true,"
    "\"readOnly\":{\"type\":\"boolean\"},"
    "\"examples\":{\"type\":\"array\",\"items\":true},"
    "\"multipleOf\":{\"type\":\"number\",\"exclusiveMinimum\":0},"
    "\"maximum\":{\"type\":\"number\"},"
    "\"exclusiveMaximum\":{\"type\":\"number\"},"
    "\"minimum\":{\"type\":\"number\"},"
    "\"exclusiveMinimum\":{\"type\":\"number\"},"
    "\"maxLength\":{\"$ref\":\"#/definitions/nonNegativeInteger\"},"
    "\"minLength\":{\"$ref\":\"#/definitions/nonNegativeIntegerDefault0\"},"
    "\"pattern\":{\"type\":\"string\"},"
    "\"additionalItems\":{\"$ref\":\"#\"},"
    "\"items\":{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#/definitions/schemaArray\"}]},"
    "\"maxItems\":{\"$ref\":\"#/definitions/nonNegativeInteger\"},"
    "\"minItems\":{\"$ref\":\"#/definitions/nonNegativeIntegerDefault0\"},"
    "\"uniqueItems\":{\"type\":\"boolean\"},"
    "\"contains\":{\"$ref\":\"#\"},"
    "\"maxProperties\":{\"$ref\":\"#/definitions/nonNegativeInteger\"},"
    "\"minProperties\":{\"$ref\":\"#/definitions/nonNegativeIntegerDefault0\"},"
    "\"required\":{\"$ref\":\"#/definitions/stringArray\"},"
    "\"additionalProperties\":{\"$ref\":\"#\"},"
    "\"definitions\":{\"type\":\"object\",\"additionalProperties\":{\"$ref\":\"#\"}},"
    "\"properties\":{\"type\":\"object\",\"additionalProperties\":{\"$ref\":\"#\"}},"
    "\"patternProperties\":{\"type\":\"object\",\"additionalProperties\":{\"$ref\":\"#\"},"
    "\"propertyNames\":{}},"
    "\"dependencies\":{\"type\":\"object\",\"additionalProperties\":{\"anyOf\":[{\"$ref\":"
    "\"#\"},{\"$ref\":\"#/definitions/stringArray\"}]}},"
    "\"propertyNames\":{\"$ref\":\"#\"},"
    "\"const\":true,"
    "\"enum\":{\"type\":\"array\",\"items\":true},"
    "\"type\":{\"anyOf\":[{\"$ref\":\"#/definitions/simpleTypes\"},{\"type\":\"array\",\"it"
    "ems\":{\"$ref\":\"#/definitions/simpleTypes\"},\"minItems\":1,\"uniqueItems\":true}]},"
    "\"format\":{\"type\":\"string\"},"
    "\"contentMediaType\":{\"type\":\"string\"},"
    "\"contentEncoding\":{\"type\":\"string\"},"
    "\"if\":{\"$ref\":\"#\"},"
    "\"then\":{\"$ref\":\"#\"},"
    "\"else\":{\"$ref\":\"#\"},"
    "\"allOf\":{\"$ref\":\"#/definitions/schemaArray\"},"
    "\"anyOf\":{\"$ref\":\"#/definitions/schemaArray\"},"
    "\"oneOf\":{\"$ref\":\"#/definitions/schemaArray\"},"
    "\"not\":{\"$ref\":\"#\"}}}");

static bool is_of_other_dialect(struct json_val schema)
{
    struct arena a = { 0 };
    struct str uri = json_text(json_get(schema, STR("$schema")), &a);
    bool is_other =
        uri.len && !str_contains(uri, STR("draft-07")) && !str_contains(uri, STR("2020-12"));

    arena_release(&a);
    return is_other;
}

static bool write_violation(void *arg, const struct json_schema_violation *v)
{
    struct buf *why = arg;

    json_location_write(v->location, why);
    buf_add_ch(why, ' ');
    buf_add(why, v->message);
    return false;
}

bool json_meta_schema_check(struct json_val schema, struct buf *why)
{
    struct json_schema_result result;
    struct json_schema *compiled;
    struct json_fault fault;
    struct json j;

    if (is_of_other_dialect(schema))
        return true;
    json_init(&j);
    if (!json_scan(&j, meta_schema, &fault))
        BUG("the schema of schemas is not JSON");
    compiled = json_schema_new(json_root(&j));
    result = json_schema_check(compiled, schema, write_violation, why);
    json_schema_free(compiled);
    json_release(&j);
    return result.verdict != JSON_SCHEMA_INVALID;
}
