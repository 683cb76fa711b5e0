#include "base/roster.h"

#include <stdlib.h>

#include "dies.h"
#include "test.h"

struct row {
    uint64_t count;
};

static struct row *row(struct roster *t, const char *name)
{
    struct str part = str_z(name);
    bool fresh;

    return roster_row(t, &part, 1, &fresh);
}

static void a_name_has_one_row_that_starts_with_zeroes(void **state)
{
    const struct str a = STR("a");
    struct roster t;
    struct row *r;
    bool fresh = false;

    (void)state;
    roster_init(&t, sizeof(struct row), 4);
    r = roster_row(&t, &a, 1, &fresh);
    assert_true(fresh);
    assert_int_equal(r->count, 0);
    r->count = 7;
    assert_ptr_equal(roster_row(&t, &a, 1, &fresh), r);
    assert_false(fresh);
    assert_ptr_not_equal(row(&t, "b"), r);
    assert_int_equal(t.count, 2);
    assert_ptr_equal(t.rows[0], r);
    assert_null(t.others);
    roster_release(&t);
}

static void names_beyond_the_limit_share_a_row(void **state)
{
    const struct str d = STR("d");
    struct roster t;
    bool fresh = true;

    (void)state;
    roster_init(&t, sizeof(struct row), 2);
    row(&t, "a")->count++;
    row(&t, "b")->count++;
    row(&t, "c")->count++;
    ((struct row *)roster_row(&t, &d, 1, &fresh))->count++;
    assert_false(fresh);
    assert_int_equal(t.count, 2);
    assert_ptr_equal(row(&t, "c"), t.others);
    assert_int_equal(((struct row *)t.others)->count, 2);
    assert_int_equal(row(&t, "a")->count, 1);
    roster_release(&t);
}

static void where_a_part_ends_matters(void **state)
{
    const struct str one[] = { STR("ab"), STR("c") }, two[] = { STR("a"), STR("bc") };
    const struct str three[] = { STR("ab"), STR("c"), STR("") };
    struct roster t;
    bool fresh;

    (void)state;
    roster_init(&t, sizeof(struct row), 8);
    roster_row(&t, one, 2, &fresh);
    roster_row(&t, two, 2, &fresh);
    assert_true(fresh);
    roster_row(&t, three, 3, &fresh);
    assert_true(fresh);
    roster_row(&t, one, 2, &fresh);
    assert_false(fresh);
    roster_release(&t);
}

static void long_names_are_told_apart_by_their_ends(void **state)
{
    enum { LONG = 100000 };
    char *a = malloc(LONG), *b = malloc(LONG);
    const struct str names[] = { str_n(a, LONG), str_n(b, LONG) };
    struct roster t;
    bool fresh;

    (void)state;
    assert_true(a && b);
    memset(a, 'x', LONG);
    memset(b, 'x', LONG);
    b[LONG - 1] = 'y';
    roster_init(&t, sizeof(struct row), 8);
    roster_row(&t, &names[0], 1, &fresh);
    roster_row(&t, &names[1], 1, &fresh);
    assert_true(fresh);
    roster_row(&t, &names[0], 1, &fresh);
    assert_false(fresh);
    for (size_t i = 0; i < t.count; i++)
        assert_true(map_next(&t.index, NULL)->key.len < 512);
    roster_release(&t);
    free(a);
    free(b);
}

static void name_in_too_many_parts(void)
{
    const struct str parts[ROSTER_PARTS + 1] = { { NULL, 0 } };
    struct roster t;
    bool fresh;

    roster_init(&t, sizeof(struct row), 8);
    roster_row(&t, parts, ROSTER_PARTS + 1, &fresh);
}

static void more_parts_than_agreed_are_a_bug(void **state)
{
    (void)state;
    assert_dies(name_in_too_many_parts, "bug at");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_has_one_row_that_starts_with_zeroes),
        cmocka_unit_test(names_beyond_the_limit_share_a_row),
        cmocka_unit_test(where_a_part_ends_matters),
        cmocka_unit_test(long_names_are_told_apart_by_their_ends),
        cmocka_unit_test(more_parts_than_agreed_are_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
