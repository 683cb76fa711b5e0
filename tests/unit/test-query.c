#include "wire/query.h"

#include "test.h"

static void assert_pairs(const char *form, const char *want)
{
    struct str rest = str_z(form);
    struct query_param p;
    struct buf got;

    buf_init(&got, 4096);
    while (query_next(&rest, &p))
        buf_printf(&got, "[%.*s|%.*s%s]", STR_ARG(p.name), STR_ARG(p.value),
                   p.value.at ? "" : "none");
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
}

static void pairs_are_returned_in_order(void **state)
{
    (void)state;
    assert_pairs("a=b&c=d%20e", "[a|b][c|d%20e]");
    assert_pairs("a&b=&=c&d=e=f", "[a|none][b|][|c][d|e=f]");
    assert_pairs("a=1&&b=2&", "[a|1][|none][b|2][|none]");
    assert_pairs("", "[|none]");
    assert_pairs(NULL, "");
}

static void assert_decoded(const char *text, struct str want)
{
    struct buf got;

    buf_init(&got, 4096);
    query_decode(&got, str_z(text));
    assert_str(buf_str(&got), want);
    assert_true(query_equals(str_z(text), want));
    assert_false(query_equals(str_z(text), STR("something else")));
    buf_release(&got);
}

static void valid_escapes_are_decoded_and_invalid_ones_stay(void **state)
{
    (void)state;
    assert_decoded("http%3A%2f%2Fh%3a1", STR("http://h:1"));
    assert_decoded("a+b%2Bc", STR("a b+c"));
    assert_decoded("100%", STR("100%"));
    assert_decoded("%4", STR("%4"));
    assert_decoded("%zz%00", STR("%zz\0"));
    assert_decoded("", STR(""));
}

static void a_part_of_a_name_does_not_match(void **state)
{
    (void)state;
    assert_false(query_equals(STR("resourc"), STR("resource")));
    assert_false(query_equals(STR("resources"), STR("resource")));
    assert_true(query_equals(STR("%72esource"), STR("resource")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_returned_in_order),
        cmocka_unit_test(valid_escapes_are_decoded_and_invalid_ones_stay),
        cmocka_unit_test(a_part_of_a_name_does_not_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
