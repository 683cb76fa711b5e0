#include "diff/schema-compare.h"

#include "base/buf.h"
#include "terse.h"
#include "test.h"

/* tests/contract/ has the cases of each kind of change; here are paths, instances and limits.
 */

static void on_change(void *to, const struct schema_change *change)
{
    struct buf *b = to;

    buf_printf(b, "%d ", (int)change->kind);
    json_location_write(change->path, b);
    buf_printf(b, " %.*s\n", STR_ARG(change->instance));
}

static const struct schema_compare_events events = { on_change };

static void compare(struct buf *seen, struct str before, struct str after)
{
    struct json_fault fault;
    struct json a, b;

    json_init(&a);
    json_init(&b);
    if (!json_scan(&a, before, &fault) || !json_scan(&b, after, &fault))
        fail_msg("%s", fault.what);
    buf_clear(seen);
    schema_compare(json_root(&a), json_root(&b), SCHEMA_INPUT, &events, seen);
    json_release(&a);
    json_release(&b);
}

static void check(const char *before, const char *after, enum schema_change_kind kind,
                  const char *want)
{
    struct arena a = { 0 };
    struct buf seen;

    buf_init(&seen, 1 << 16);
    compare(&seen, terse_json(&a, before), terse_json(&a, after));
    assert_str(buf_str(&seen),
               arena_printf(&a, "%d %s\n", (int)kind, arena_z(&a, terse_json(&a, want))));
    buf_release(&seen);
    arena_release(&a);
}

static void a_change_has_its_place_in_the_schema_and_in_values(void **state)
{
    (void)state;
    check("{'properties':{'ab':{'items':{'type':'string'}}}}",
          "{'properties':{'ab':{'items':{'type':'integer'}}}}", SCHEMA_TYPE_CHANGED,
          "$.properties.ab.items.type $['ab'][*]");
    check("{'additionalProperties':{'type':'string'}}",
          "{'additionalProperties':{'type':'string','maxLength':1}}", SCHEMA_BOUND_TIGHTENED,
          "$.additionalProperties.maxLength $.*");
    check("{'oneOf':[{'title':'A','type':'string'},{'title':'B','type':'number','minimum':1}]}",
          "{'oneOf':[{'title':'B','type':'number','minimum':2},{'title':'A','type':'string'}]}",
          SCHEMA_BOUND_TIGHTENED, "$.anyOf[0].minimum $");
}

static void a_definition_is_compared_once(void **state)
{
    (void)state;
    check("{'properties':{'a':{'$ref':'#/$defs/x'},'b':{'$ref':'#/$defs/x'}},"
          "'$defs':{'x':{'type':'string'}}}",
          "{'properties':{'a':{'$ref':'#/$defs/x'},'b':{'$ref':'#/$defs/x'}},"
          "'$defs':{'x':{'type':'integer'}}}",
          SCHEMA_TYPE_CHANGED, "$.properties.a.type $['a']");
}

/* A definition that was compared at another place changes the oneOf, too. */
static void a_compared_definition_counts_as_a_change_of_oneof(void **state)
{
    static const char *const schema =
        "{\"properties\":{\"a\":{\"anyOf\":[{\"$ref\":\"#/$defs/x\"},{\"minimum\":1}]},"
        "\"b\":{\"oneOf\":[{\"$ref\":\"#/$defs/x\"},{\"maxLength\":2,\"type\":\"string\"}]}},"
        "\"$defs\":{\"x\":{\"type\":\"string\",\"minLength\":%d}}}";
    struct arena a = { 0 };
    struct buf seen;

    (void)state;
    buf_init(&seen, 1 << 16);
    compare(&seen, arena_printf(&a, schema, 3), arena_printf(&a, schema, 2));
    assert_str(buf_str(&seen), arena_printf(&a,
                                            "%d $.properties.a.anyOf[0].minLength $[\"a\"]\n"
                                            "%d $.properties.b.oneOf $[\"b\"]\n",
                                            SCHEMA_BOUND_LOOSENED, SCHEMA_NOT_JUDGED));
    buf_release(&seen);
    arena_release(&a);
}

/* Definitions that refer to the next one twice: without a memory, 2^60 places. */
static void many_ways_to_a_definition_take_linear_time(void **state)
{
    struct buf text[2], seen;

    (void)state;
    for (int side = 0; side < 2; side++) {
        buf_init(&text[side], 1 << 20);
        buf_add(&text[side], STR("{\"$ref\":\"#/$defs/d0\",\"$defs\":{"));
        for (int i = 0; i < 60; i++)
            buf_printf(&text[side],
                       "\"d%d\":{\"properties\":{\"a\":{\"$ref\":\"#/$defs/d%d\"},"
                       "\"b\":{\"$ref\":\"#/$defs/d%d\"}}},",
                       i, i + 1, i + 1);
        buf_printf(&text[side], "\"d60\":{\"type\":\"%s\"}}}", side ? "string" : "integer");
    }
    buf_init(&seen, 1 << 20);
    compare(&seen, buf_str(&text[0]), buf_str(&text[1]));
    assert_int_equal(str_find(buf_str(&seen), '\n') + 1, seen.len); /* one change */
    buf_release(&seen);
    buf_release(&text[0]);
    buf_release(&text[1]);
}

/* A schema of more than 10 MB, with many properties and a long enum. */
static void a_large_schema_takes_little_time(void **state)
{
    struct buf text[2], seen;

    (void)state;
    for (int side = 0; side < 2; side++) {
        buf_init(&text[side], 32 << 20);
        buf_add(&text[side], STR("{\"properties\":{"));
        for (int i = 0; i < 40000; i++)
            buf_printf(&text[side], "%s\"property-%d-%d\":{\"enum\":[%d,\"%0300d\"]}",
                       i ? "," : "", i, side, i, i);
        buf_add(&text[side], STR("},\"enum\":["));
        for (int i = 0; i < 40000; i++)
            buf_printf(&text[side], "%s%d", i ? "," : "", i + side);
        buf_add(&text[side], STR("]}"));
        assert_true(text[side].len > 10000000);
    }
    buf_init(&seen, 64 << 20);
    compare(&seen, buf_str(&text[0]), buf_str(&text[1]));
    assert_true(seen.len > 0);
    buf_release(&seen);
    buf_release(&text[0]);
    buf_release(&text[1]);
}

static bool is_too_complex(const struct buf *seen)
{
    struct arena a = { 0 };
    bool found = str_ends(buf_str(seen), arena_printf(&a, "%d $ $\n", SCHEMA_TOO_COMPLEX));

    arena_release(&a);
    return found;
}

/* Definitions with the next one twice: each search for types has as many steps as it may. */
static void add_slow_definitions(struct buf *to, int branches)
{
    for (int i = 0; i < 14; i++)
        buf_printf(to,
                   "\"d%d\":{\"allOf\":[{\"$ref\":\"#/$defs/d%d\"},"
                   "{\"$ref\":\"#/$defs/d%d\"}]},",
                   i, i + 1, i + 1);
    buf_add(to, STR("\"d14\":{\"type\":\"string\",\"maxLength\":9},"
                    "\"u\":{\"minLength\":1,\"anyOf\":["));
    for (int i = 0; i < branches; i++)
        buf_printf(to, "%s{\"$ref\":\"#/$defs/d0\",\"title\":\"b%d\"}", i ? "," : "", i);
    buf_add(to, STR("]}"));
}

/* A union of unions that have to be searched: a schema of kilobytes. */
static void searches_for_types_are_limited(void **state)
{
    struct buf text, seen;

    (void)state;
    buf_init(&text, 1 << 20);
    buf_init(&seen, 1 << 20);
    for (int branches = 10; branches <= 80; branches += 70) {
        buf_clear(&text);
        buf_add(&text, STR("{\"$defs\":{"));
        add_slow_definitions(&text, branches);
        buf_add(&text, STR("},\"anyOf\":["));
        for (int i = 0; i < branches; i++)
            buf_printf(&text, "%s{\"$ref\":\"#/$defs/u\",\"title\":\"%d\"}", i ? "," : "", i);
        buf_add(&text, STR("]}"));
        compare(&seen, STR("{\"type\":\"string\"}"), buf_str(&text));
        assert_int_equal(is_too_complex(&seen), branches == 80);
        compare(&seen, buf_str(&text), STR("{\"type\":\"string\"}"));
        assert_int_equal(is_too_complex(&seen), branches == 80);
    }
    buf_release(&seen);
    buf_release(&text);
}

/* If its values were read at each place, this would be too complex. */
static void the_values_of_a_definition_are_read_once(void **state)
{
    struct arena a = { 0 };
    struct buf text[2], seen;

    (void)state;
    for (int side = 0; side < 2; side++) {
        buf_init(&text[side], 4 << 20);
        buf_add(&text[side], STR("{\"properties\":{"));
        for (int i = 0; i < 300; i++)
            buf_printf(&text[side], "%s\"p%d\":{\"$ref\":\"#/$defs/e\"%s}", i ? "," : "", i,
                       side && i == 9 ? ",\"title\":\"t\"" : "");
        buf_add(&text[side], STR("},\"$defs\":{\"e\":{\"enum\":["));
        for (int i = 0; i < 30000; i++)
            buf_printf(&text[side], "%s%d", i ? "," : "", i + side);
        buf_add(&text[side], STR("]}}}"));
    }
    buf_init(&seen, 1 << 20);
    compare(&seen, buf_str(&text[0]), buf_str(&text[1]));
    assert_str(buf_str(&seen), arena_printf(&a,
                                            "%d $.properties.p0.enum $[\"p0\"]\n"
                                            "%d $.properties.p0.enum $[\"p0\"]\n"
                                            "%d $.properties.p9.title $[\"p9\"]\n",
                                            SCHEMA_ENUM_VALUES_REMOVED,
                                            SCHEMA_ENUM_VALUES_ADDED, SCHEMA_TITLE_CHANGED));
    arena_release(&a);
    buf_release(&seen);
    buf_release(&text[0]);
    buf_release(&text[1]);
}

static void changes_of_keywords_of_the_wrong_type_are_reported(void **state)
{
    struct buf seen;

    (void)state;
    buf_init(&seen, 1 << 16);
    compare(&seen, STR("{\"properties\":[1],\"required\":{\"a\":1},\"type\":7,\"enum\":{}}"),
            STR("{\"properties\":[2],\"required\":{\"b\":1},\"type\":8,\"enum\":[]}"));
    assert_true(seen.len > 0); /* an enum without values */
    compare(&seen, STR("{\"minimum\":\"a\",\"maxLength\":[]}"), STR("{\"minimum\":\"a\"}"));
    assert_true(str_contains(buf_str(&seen), STR("maxLength")));
    assert_false(str_contains(buf_str(&seen), STR("minimum")));
    buf_release(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_has_its_place_in_the_schema_and_in_values),
        cmocka_unit_test(a_definition_is_compared_once),
        cmocka_unit_test(a_compared_definition_counts_as_a_change_of_oneof),
        cmocka_unit_test(many_ways_to_a_definition_take_linear_time),
        cmocka_unit_test(a_large_schema_takes_little_time),
        cmocka_unit_test(searches_for_types_are_limited),
        cmocka_unit_test(the_values_of_a_definition_are_read_once),
        cmocka_unit_test(changes_of_keywords_of_the_wrong_type_are_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
