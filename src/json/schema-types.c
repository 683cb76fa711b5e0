#include "json/schema-types.h"

#include "json/number.h"

/* As bits, in the order of the table. */
enum {
    IS_OBJECT = 1,
    IS_ARRAY = 2,
    IS_STRING = 4,
    IS_INTEGER = 8,
    IS_NUMBER = 16,
    IS_BOOLEAN = 32,
    IS_NULL = 64,
};

enum { TYPE_COUNT = 7 };

static const struct {
    struct str name, phrase;
} table[TYPE_COUNT] = {
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
        return IS_OBJECT;
    case JSON_ARRAY:
        return IS_ARRAY;
    case JSON_STRING:
        return IS_STRING;
    case JSON_NUMBER:
        return json_number_is_integer(json_raw(v)) ? IS_NUMBER | IS_INTEGER : IS_NUMBER;
    case JSON_NULL:
        return IS_NULL;
    default:
        return IS_BOOLEAN;
    }
}

static bool add_type(struct json_val name, unsigned *types)
{
    for (unsigned i = 0; i < TYPE_COUNT; i++)
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

    if (types & IS_NUMBER)
        types &= ~(unsigned)IS_INTEGER;
    buf_add(to, STR("must be "));
    for (unsigned i = 0; i < TYPE_COUNT; i++, types >>= 1) {
        if (!(types & 1))
            continue;
        buf_add(to, first ? STR("") : types == 1 ? STR(" or ") : STR(", "));
        buf_add(to, table[i].phrase);
        first = false;
    }
}
