#include "base/map.h"

#include "test.h"

static void what_was_put_is_found_in_order(void **state)
{
    int one, two;
    struct map m;

    (void)state;
    map_init(&m);
    map_put(&m, STR("b"), &one);
    map_put(&m, STR("a"), &two);
    assert_ptr_equal(map_get(&m, STR("a")), &two);
    assert_ptr_equal(map_remove(&m, STR("b")), &one);
    assert_null(map_get(&m, STR("b")));
    assert_str(map_next(&m, NULL)->key, STR("a"));
    map_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_found_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
