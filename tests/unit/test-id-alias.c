#include "redact/id-alias.h"

#include <stdio.h>

#include "test.h"
#include "trace/limits.h"

static void assert_name(struct id_alias *a, const char *key, const char *rest, const char *want)
{
    struct str name;

    assert_true(id_alias_get(a, str_z(key), str_z(rest), &name));
    assert_str(name, str_z(want));
}

static void different_ids_have_different_aliases(void **state)
{
    struct id_alias a;

    (void)state;
    id_alias_init(&a);
    assert_name(&a, "s1", "X", "X");
    assert_name(&a, "n1", "X", "X#2");
    assert_name(&a, "s2", "Y", "Y");
    assert_name(&a, "s3", "X", "X#3");
    id_alias_release(&a);
}

static void an_id_keeps_its_alias(void **state)
{
    struct id_alias a;

    (void)state;
    id_alias_init(&a);
    assert_name(&a, "s1", "X", "X");
    assert_name(&a, "s2", "X", "X#2");
    assert_name(&a, "s2", "Z", "X#2");
    assert_name(&a, "s1", "X", "X");
    id_alias_release(&a);
}

static void an_alias_that_looks_numbered_is_not_used_twice(void **state)
{
    struct id_alias a;

    (void)state;
    id_alias_init(&a);
    assert_name(&a, "s1", "X#2", "X#2");
    assert_name(&a, "s2", "X", "X");
    assert_name(&a, "s3", "X", "X#3");
    assert_name(&a, "s4", "X#2", "X#2#2");
    id_alias_release(&a);
}

static void the_number_of_aliases_is_limited(void **state)
{
    struct id_alias a;
    struct str name;
    char key[32];

    (void)state;
    id_alias_init(&a);
    for (size_t i = 0; i < LIMIT_ALIASES; i++) {
        snprintf(key, sizeof key, "n%zu", i);
        assert_true(id_alias_get(&a, str_z(key), STR("X"), &name));
    }
    assert_false(id_alias_get(&a, STR("s"), STR("X"), &name));
    assert_name(&a, "n0", "X", "X");
    id_alias_release(&a);
}

static void long_ids_are_stored_as_hashes(void **state)
{
    static char text[9 << 20];
    struct id_alias a;
    struct str name;

    (void)state;
    memset(text, 'x', sizeof text);
    id_alias_init(&a);
    assert_true(id_alias_get(&a, str_n(text, sizeof text), STR("X"), &name));
    assert_false(id_alias_get(&a, str_n(text, sizeof text - 1), STR("X"), &name));
    assert_true(id_alias_get(&a, str_n(text, sizeof text), STR("X"), &name));
    assert_str(name, STR("X"));
    assert_name(&a, "short", "X", "X#2");
    id_alias_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(different_ids_have_different_aliases),
        cmocka_unit_test(an_id_keeps_its_alias),
        cmocka_unit_test(an_alias_that_looks_numbered_is_not_used_twice),
        cmocka_unit_test(the_number_of_aliases_is_limited),
        cmocka_unit_test(long_ids_are_stored_as_hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
