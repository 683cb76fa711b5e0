#include "json/schema-types.h"

#include "json/number.h"
#include "json/write.h"

static const struct {
    struct str name, phrase;
} table[JSON_SCHEMA_TYPE_COUNT] = {
    /* in the order of the bits */
    { STR_INIT("object"), STR_INIT("an object") },
    { STR_INIT("array"), STR_INIT("an array") },
    { STR_INIT("string"), STR_INIT("a string") },
    { STR_INIT("integer"), STR_INIT("an integer") },
    { STR_INIT("number"), STR_INIT("a number") },
    { STR_INIT("boolean"), STR_INIT("a boolean") },
    { STR_INIT("null"), STR_INIT("null") },
};

unsigned json_schema_types_of(struct json_val v)
{
    switch (json_type(v)) {
    case JSON_OBJECT:
        return JSON_SCHEMA_OBJECT;
    case JSON_ARRAY:
        return JSON_SCHEMA_ARRAY;
    case JSON_STRING:
        return JSON_SCHEMA_STRING;
    case JSON_NUMBER:
        return json_number_is_integer(json_raw(v)) ? JSON_SCHEMA_NUMBER | JSON_SCHEMA_INTEGER
                                                   : JSON_SCHEMA_NUMBER;
    case JSON_NULL:
        return JSON_SCHEMA_NULL;
    default:
        return JSON_SCHEMA_BOOLEAN;
    }
}

static bool add_type(struct json_val name, unsigned *types)
{
    for (unsigned i = 0; i < JSON_SCHEMA_TYPE_COUNT; i++)
        if (json_is(name, table[i].name)) {
            *types |= 1u << i;
            return true;
        }
    return false;
}

bool json_schema_types_parse(struct json_val type, unsigned *types)
{
    struct json_iter it = json_each(type);

    *types = 0;
    if (json_type(type) != JSON_ARRAY)
        return add_type(type, types);
    while (json_next(&it))
        if (!add_type(it.value, types))
            return false;
    return *types != 0;
}

void json_schema_types_write(unsigned types, struct buf *to)
{
    bool first = true;

    if (types & JSON_SCHEMA_NUMBER)
        types &= ~(unsigned)JSON_SCHEMA_INTEGER;
    buf_add(to, STR("must be "));
    for (unsigned i = 0; i < JSON_SCHEMA_TYPE_COUNT; i++, types >>= 1) {
        if (!(types & 1))
            continue;
        buf_add(to, first ? STR("") : types == 1 ? STR(" or ") : STR(", "));
        buf_add(to, table[i].phrase);
        first = false;
    }
}

void json_schema_types_write_json(unsigned types, struct buf *to)
{
    struct json_out o = json_out_to(to);
    bool several = types & (types - 1);

    if (several)
        json_out_array(&o);
    for (unsigned i = 0; i < JSON_SCHEMA_TYPE_COUNT; i++)
        if (types & 1u << i)
            json_out_str(&o, table[i].name);
    if (several)
        json_out_end_array(&o);
}
