#include "base/capped-table.h"

#include <stdlib.h>

#include "assert-aborts.h"
#include "test.h"

struct seen_row {
    uint64_t count;
};

static struct seen_row *row(struct capped_table *t, const char *name)
{
    struct str part = str_z(name);
    bool fresh;

    return capped_table_row(t, &part, 1, &fresh);
}

static void a_name_has_one_row_initialized_to_zero(void **state)
{
    const struct str a = STR("a");
    struct capped_table t;
    struct seen_row *r;
    bool fresh = false;

    (void)state;
    capped_table_init(&t, sizeof(struct seen_row), 4);
    r = capped_table_row(&t, &a, 1, &fresh);
    assert_true(fresh);
    assert_int_equal(r->count, 0);
    r->count = 7;
    assert_ptr_equal(capped_table_row(&t, &a, 1, &fresh), r);
    assert_false(fresh);
    assert_ptr_not_equal(row(&t, "b"), r);
    assert_int_equal(t.count, 2);
    assert_ptr_equal(t.rows[0], r);
    assert_null(t.overflow);
    capped_table_release(&t);
}

static void names_beyond_the_limit_share_a_row(void **state)
{
    const struct str d = STR("d");
    struct capped_table t;
    bool fresh = true;

    (void)state;
    capped_table_init(&t, sizeof(struct seen_row), 2);
    row(&t, "a")->count++;
    row(&t, "b")->count++;
    row(&t, "c")->count++;
    ((struct seen_row *)capped_table_row(&t, &d, 1, &fresh))->count++;
    assert_false(fresh);
    assert_int_equal(t.count, 2);
    assert_ptr_equal(row(&t, "c"), t.overflow);
    assert_int_equal(((struct seen_row *)t.overflow)->count, 2);
    assert_int_equal(row(&t, "a")->count, 1);
    capped_table_release(&t);
}

static void the_boundaries_of_parts_count(void **state)
{
    const struct str one[] = { STR("ab"), STR("c") }, two[] = { STR("a"), STR("bc") };
    const struct str three[] = { STR("ab"), STR("c"), STR("") };
    struct capped_table t;
    bool fresh;

    (void)state;
    capped_table_init(&t, sizeof(struct seen_row), 8);
    capped_table_row(&t, one, 2, &fresh);
    capped_table_row(&t, two, 2, &fresh);
    assert_true(fresh);
    capped_table_row(&t, three, 3, &fresh);
    assert_true(fresh);
    capped_table_row(&t, one, 2, &fresh);
    assert_false(fresh);
    capped_table_release(&t);
}

static void long_names_with_different_ends_are_different(void **state)
{
    enum { LONG = 100000 };
    char *a = malloc(LONG), *b = malloc(LONG);
    const struct str names[] = { str_n(a, LONG), str_n(b, LONG) };
    struct capped_table t;
    bool fresh;

    (void)state;
    assert_true(a && b);
    memset(a, 'x', LONG);
    memset(b, 'x', LONG);
    b[LONG - 1] = 'y';
    capped_table_init(&t, sizeof(struct seen_row), 8);
    capped_table_row(&t, &names[0], 1, &fresh);
    capped_table_row(&t, &names[1], 1, &fresh);
    assert_true(fresh);
    capped_table_row(&t, &names[0], 1, &fresh);
    assert_false(fresh);
    for (size_t i = 0; i < t.count; i++)
        assert_true(map_next(&t.index, NULL)->key.len < 512);
    capped_table_release(&t);
    free(a);
    free(b);
}

static void name_in_too_many_parts(void)
{
    const struct str parts[CAPPED_TABLE_PARTS + 1] = { { NULL, 0 } };
    struct capped_table t;
    bool fresh;

    capped_table_init(&t, sizeof(struct seen_row), 8);
    capped_table_row(&t, parts, CAPPED_TABLE_PARTS + 1, &fresh);
}

static void too_many_parts_are_a_bug(void **state)
{
    (void)state;
    assert_aborts(name_in_too_many_parts, "bug at");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_one_row_initialized_to_zero),
        cmocka_unit_test(names_beyond_the_limit_share_a_row),
        cmocka_unit_test(the_boundaries_of_parts_count),
        cmocka_unit_test(long_names_with_different_ends_are_different),
        cmocka_unit_test(too_many_parts_are_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
