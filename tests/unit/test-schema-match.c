#include "diff/schema-match.h"

#include "terse.h"
#include "test.h"

struct rig {
    struct terse_scanned texts[2];
    struct schema_match_list lists[2];
    struct arena arena;
    struct buf seen;
};

static void begin(struct rig *r, const char *before, const char *after)
{
    const char *texts[2] = { before, after };

    r->arena = (struct arena){ 0 };
    buf_init(&r->seen, 1 << 12);
    for (int i = 0; i < 2; i++) {
        struct json_val values[16];
        struct json_iter it = json_each(terse_scan(&r->texts[i], texts[i]));
        size_t count = 0;

        while (json_next(&it))
            values[count++] = it.value;
        r->lists[i] = schema_match_list(values, count, &r->arena);
    }
}

static void end(struct rig *r)
{
    terse_scanned_release(&r->texts[0]);
    terse_scanned_release(&r->texts[1]);
    arena_release(&r->arena);
    buf_release(&r->seen);
}

static void check_unmatched(struct rig *r, int side, const char *want)
{
    buf_clear(&r->seen);
    schema_match_write_unmatched(&r->seen, &r->lists[side]);
    assert_str(buf_str(&r->seen), str_z(want));
}

static void equal_values_match_as_often_as_both_have_them(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, "[3,1,1,2]", "[1,4,3.0]");
    schema_match_equal(&r.lists[0], &r.lists[1]);
    check_unmatched(&r, 0, "[1,2]");
    check_unmatched(&r, 1, "[4]");
    end(&r);
}

static void repeated_values_are_dropped(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, "[3,1,1,3]", "[]");
    schema_match_drop_repeated(&r.lists[0]);
    check_unmatched(&r, 0, "[3,1]");
    check_unmatched(&r, 1, "");
    end(&r);
}

static bool have_same_type(void *to, const struct schema_match_item *before,
                           const struct schema_match_item *after)
{
    (void)to;
    return json_type(before->value) == json_type(after->value);
}

static void on_match(void *to, const struct schema_match_item *before,
                     const struct schema_match_item *after)
{
    buf_printf(to, "%zu-%zu\n", before->index, after->index);
}

static const struct schema_match_events by_type = { have_same_type, on_match };

static void a_pair_is_the_only_one_on_both_sides(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, "[1,'a',null,'b']", "['c',2,null,null]");
    schema_match_pairs(&r.lists[0], &r.lists[1], &by_type, &r.seen);
    assert_str(buf_str(&r.seen), STR("0-1\n"));
    assert_null(schema_match_only(&r.lists[0]));
    check_unmatched(&r, 0, "[\"a\",null,\"b\"]");
    end(&r);
}

static void the_last_one_without_a_match_is_found(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, "[1,'a']", "['b']");
    schema_match_pairs(&r.lists[0], &r.lists[1], &by_type, &r.seen);
    assert_int_equal(schema_match_only(&r.lists[0])->index, 0);
    assert_null(schema_match_only(&r.lists[1]));
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_values_match_as_often_as_both_have_them),
        cmocka_unit_test(repeated_values_are_dropped),
        cmocka_unit_test(a_pair_is_the_only_one_on_both_sides),
        cmocka_unit_test(the_last_one_without_a_match_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
