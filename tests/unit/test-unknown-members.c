#include "test.h"
#include "trace/unknown-members.h"

static bool is_known_member(const void *self, struct str name)
{
    (void)self;
    return str_eq(name, STR("a"));
}

/* Returns the members collected from a line of the format 'own'. */
static struct str collect_unknown(struct arena *a, struct str line, struct str foreign)
{
    struct json_fault fault;
    struct str extra;
    struct json j;

    json_init(&j);
    assert_true(json_scan(&j, line, &fault));
    extra =
        unknown_members_collect(json_root(&j), STR("own"), is_known_member, NULL, foreign, a);
    json_release(&j);
    return extra;
}

static void known_members_are_not_collected(void **state)
{
    struct arena a = { 0 };

    (void)state;
    assert_null(collect_unknown(&a, STR("{\"a\":1,\"a\":2}"), STR_NONE).at);
    assert_null(collect_unknown(&a, STR("{}"), STR("{}")).at);
    assert_null(collect_unknown(&a, STR("[1]"), STR_NONE).at);
    arena_release(&a);
}

static void unknown_members_are_kept_unchanged_by_format(void **state)
{
    struct arena a = { 0 };

    (void)state;
    assert_str(collect_unknown(&a, STR("{\"x\":1.0,\"a\":2,\"\\u0079\":[ ]}"), STR_NONE),
               STR("{\"own\":{\"x\":1.0,\"y\":[ ]}}"));
    assert_str(collect_unknown(&a, STR("{\"x\":1}"), STR("{\"other\":{\"z\":null}}")),
               STR("{\"own\":{\"x\":1},\"other\":{\"z\":null}}"));
    assert_str(collect_unknown(&a, STR("{\"a\":1}"), STR("{\"other\":{\"z\":null}}")),
               STR("{\"other\":{\"z\":null}}"));
    arena_release(&a);
}

static void unknown_members_are_written_by_their_format(void **state)
{
    struct str extra = STR("{\"own\":{\"x\":1,\"y\":{}},\"other\":{\"z\":2}}");
    struct json_out o;
    struct buf b;

    (void)state;
    buf_init(&b, 4096);
    o = json_out_to(&b);
    json_out_object(&o);
    json_out_key_int(&o, STR("a"), 0);
    unknown_members_write_own(&o, extra, STR("own"));
    unknown_members_write_foreign(&o, STR("foreign"), extra, STR("own"));
    unknown_members_write_own(&o, STR_NONE, STR("own"));
    unknown_members_write_own(&o, STR("{\"own\":[1]}"), STR("own"));
    unknown_members_write_foreign(&o, STR("foreign"), STR("{\"own\":{\"x\":1}}"), STR("own"));
    json_out_end_object(&o);
    assert_str(buf_str(&b),
               STR("{\"a\":0,\"x\":1,\"y\":{},\"foreign\":{\"other\":{\"z\":2}}}"));
    buf_release(&b);
}

static void members_of_another_format_are_not_written(void **state)
{
    (void)state;
    assert_false(unknown_members_has_foreign(STR_NONE, STR("own")));
    assert_false(unknown_members_has_foreign(STR("{\"own\":{\"x\":1}}"), STR("own")));
    assert_true(unknown_members_has_foreign(STR("{\"own\":{\"x\":1}}"), STR("other")));
    assert_true(unknown_members_has_foreign(STR("{\"own\":{},\"other\":{}}"), STR("own")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_members_are_not_collected),
        cmocka_unit_test(unknown_members_are_kept_unchanged_by_format),
        cmocka_unit_test(unknown_members_are_written_by_their_format),
        cmocka_unit_test(members_of_another_format_are_not_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
