#include "json/object-cache.h"

#include <stdio.h>

#include "base/buf.h"
#include "test.h"

/* Objects of all sizes around the one from which on there is an index; every name is found as
 * json_get() finds it, in any order and more than once. */
static void members_are_found_in_objects_of_any_size(void **state)
{
    enum { LARGEST = 40 };
    struct json_object_cache o;
    struct json_fault fault;
    struct json j;
    struct buf b;

    (void)state;
    json_init(&j);
    buf_init(&b, 1 << 20);
    buf_add(&b, STR("[null"));
    for (int size = 0; size < LARGEST; size++) {
        buf_add(&b, STR(",{"));
        for (int i = 0; i < size; i++)
            buf_printf(&b, "%s\"k%d\":%d,\"`\\u006b%d\":%d", i ? "," : "", i, i, i / 2, i);
        buf_add_ch(&b, '}');
    }
    buf_add_ch(&b, ']');
    assert_true(json_scan(&j, buf_str(&b), &fault));
    json_object_cache_init(&o);
    for (int round = 0; round < 2; round++) {
        struct json_iter it = json_each(json_root(&j));
        while (json_next(&it))
            for (int i = 0; i <= LARGEST; i++) {
                char name[2][16];
                snprintf(name[0], sizeof name[0], "k%d", i);
                snprintf(name[1], sizeof name[1], "`k%d", i);
                for (int k = 0; k < 2; k++) {
                    struct json_val want = json_get(it.value, str_z(name[k]));
                    struct json_val got = json_object_cache_find(&o, it.value, str_z(name[k]));
                    assert_int_equal(json_exists(got), json_exists(want));
                    assert_int_equal(got.node, want.node);
                }
            }
    }
    assert_true(o.lists.count > 0 && o.lists.count < LARGEST);
    json_object_cache_release(&o);
    json_release(&j);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_found_in_objects_of_any_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
