#include "engine/unheard.h"

#include <stdio.h>
#include <stdlib.h>

#include "test.h"

static void took(struct unheard *u, const char *want)
{
    struct unheard_item *item = unheard_take(u);

    assert_non_null(item);
    assert_str(str_n(item->text, item->len), str_z(want));
    free(item);
}

static void what_waits_is_taken_in_its_order(void **state)
{
    struct unheard u = { .first = NULL };

    (void)state;
    assert_null(unheard_take(&u));
    unheard_put(&u, STR("one"));
    unheard_put(&u, STR(""));
    assert_int_equal(u.bytes, 3);
    took(&u, "one");
    assert_int_equal(u.bytes, 0);
    unheard_put(&u, STR("three"));
    took(&u, "");
    took(&u, "three");
    assert_null(unheard_take(&u));
    unheard_put(&u, STR("four"));
    unheard_release(&u);
    assert_int_equal(u.count, 0);
}

static void when_there_are_too_many_the_oldest_go(void **state)
{
    struct unheard u = { .first = NULL };
    char text[32];

    (void)state;
    for (int i = 0; i < UNHEARD_MAX + 2; i++) {
        int n = snprintf(text, sizeof text, "%d", i);

        unheard_put(&u, str_n(text, (size_t)n));
    }
    assert_int_equal(u.count, UNHEARD_MAX);
    took(&u, "2");
    unheard_release(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_waits_is_taken_in_its_order),
        cmocka_unit_test(when_there_are_too_many_the_oldest_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
