#include "json/diff.h"

#include "test.h"

static struct json left, right;

static bool note(void *arg, const struct json_difference *d)
{
    static const char *const marks[] = { "~", "!", "+", "-" };
    struct buf *to = arg;

    buf_add(to, str_z(marks[d->kind]));
    json_location_write(d->location, to);
    if (json_exists(d->left)) {
        buf_add_ch(to, ' ');
        buf_add(to, json_raw(d->left));
    }
    if (json_exists(d->right)) {
        buf_add(to, STR(" > "));
        buf_add(to, json_raw(d->right));
    }
    buf_add_ch(to, '\n');
    return true;
}

static void differ_under(const struct json_rules *rules, const char *a, const char *b,
                         const char *want)
{
    struct json_fault fault;
    struct buf out;

    assert_true(json_scan(&left, str_z(a), &fault));
    assert_true(json_scan(&right, str_z(b), &fault));
    buf_init(&out, 10000);
    assert_true(json_diff(json_root(&left), json_root(&right), rules, note, &out));
    assert_str(buf_str(&out), str_z(want));
    assert_int_equal(json_equal(json_root(&left), json_root(&right), rules), !out.len);
    buf_release(&out);
}

static void differ(const char *a, const char *b, const char *want)
{
    differ_under(NULL, a, b, want);
}

static void equal_values_have_no_difference(void **state)
{
    (void)state;
    differ("{\"a\":[1,\"\\u0041\"],\"b\":{}}", "{\"b\":{},\"\\u0061\":[1,\"A\"]}", "");
    differ("{\"a\":1,\"a\":2}", "{\"a\":2}", "");
    differ("null", " null ", "");
}

static void each_kind_of_difference_has_its_path(void **state)
{
    (void)state;
    differ("{\"params\":{\"arguments\":{\"limit\":5,\"x\":0}}}",
           "{\"params\":{\"arguments\":{\"x\":0,\"limit\":6}}}",
           "~$.params.arguments.limit 5 > 6\n");
    differ("{\"odd key\":[1,2,3,4]}", "{\"odd key\":[1,2,3,true]}",
           "!$['odd key'][3] 4 > true\n");
    differ("{\"a\":1,\"b\":2}", "{\"b\":2,\"c\":3}", "-$.a 1\n+$.c > 3\n");
    differ("[1,2]", "[1]", "-$[1] 2\n");
    differ("[]", "[1,{}]", "+$[0] > 1\n+$[1] > {}\n");
    differ("true", "false", "~$ true > false\n");
    differ("true", "null", "!$ true > null\n");
    differ("{}", "[]", "!$ {} > []\n");
    differ("\"a\"", "\"b\"", "~$ \"a\" > \"b\"\n");
    differ("{\"a\":null}", "{}", "-$.a null\n");
}

static void differences_come_in_the_order_of_the_left_then_of_the_right(void **state)
{
    (void)state;
    differ("{\"z\":1,\"m\":{\"y\":1,\"x\":2},\"a\":3}",
           "{\"k\":0,\"a\":4,\"z\":2,\"m\":{\"x\":3,\"n\":4},\"b\":5}",
           "~$.z 1 > 2\n-$.m.y 1\n~$.m.x 2 > 3\n+$.m.n > 4\n~$.a 3 > 4\n+$.k > 0\n+$.b > 5\n");
}

static void only_the_last_of_duplicates_is_compared(void **state)
{
    (void)state;
    differ("{\"a\":1,\"b\":0,\"a\":2}", "{\"a\":9,\"a\":3}", "-$.b 0\n~$.a 2 > 3\n");
    differ("{}", "{\"a\":9,\"\\u0061\":3}", "+$.a > 3\n");
}

static void diff_uses_the_rules_of_equality(void **state)
{
    const struct str skip[] = { STR("_meta") };
    const struct json_rules rules = {
        .numbers_by_value = true,
        .skip = skip,
        .skip_count = 1,
    };

    (void)state;
    differ("[2]", "[2.0]", "~$[0] 2 > 2.0\n");
    differ_under(&rules, "[2]", "[2.0]", "");
    differ_under(&rules, "{\"_meta\":1,\"a\":{\"_meta\":1}}",
                 "{\"a\":{\"_meta\":2},\"_meta\":3}", "~$.a._meta 1 > 2\n");
    differ_under(&rules, "{}", "{\"_meta\":3}", "");
}

static void an_absent_value_is_a_difference_at_the_root(void **state)
{
    struct json_fault fault;
    struct buf out;

    (void)state;
    buf_init(&out, 1000);
    assert_true(json_scan(&left, STR("1"), &fault));
    assert_true(json_diff(json_root(&left), JSON_VAL_NONE, NULL, note, &out));
    assert_true(json_diff(JSON_VAL_NONE, json_root(&left), NULL, note, &out));
    assert_true(json_diff(JSON_VAL_NONE, JSON_VAL_NONE, NULL, note, &out));
    assert_str(buf_str(&out), STR("-$ 1\n+$ > 1\n"));
    buf_release(&out);
}

static bool stop_at_third(void *arg, const struct json_difference *d)
{
    (void)d;
    return ++*(int *)arg < 3;
}

static void the_comparison_ends_when_the_callback_returns_false(void **state)
{
    struct json_fault fault;
    int n = 0;

    (void)state;
    assert_true(json_scan(&left, STR("{\"a\":[1,2],\"b\":3,\"c\":4}"), &fault));
    assert_true(json_scan(&right, STR("{\"a\":[0,0],\"d\":3}"), &fault));
    assert_false(json_diff(json_root(&left), json_root(&right), NULL, stop_at_third, &n));
    assert_int_equal(n, 3);
}

static bool count(void *arg, const struct json_difference *d)
{
    (void)d;
    ++*(int *)arg;
    return true;
}

/* Quadratic work on these would take minutes. */
static void large_and_deep_values_are_compared(void **state)
{
    enum { MANY = 100000 };
    struct json_fault fault;
    struct buf a, b;
    int n = 0;

    (void)state;
    buf_init(&a, 64 << 20);
    buf_init(&b, 64 << 20);
    for (int i = 0; i < JSON_MAX_DEPTH - 1; i++) {
        buf_add(&a, STR("{\"deep\":"));
        buf_add(&b, STR("{\"deep\":"));
    }
    buf_add_ch(&a, '{');
    buf_add_ch(&b, '{');
    for (int i = 0; i < MANY; i++) {
        buf_printf(&a, "\"k%d\":%d,\"k%d\":%d,", i, i, i % 7, i);
        buf_printf(&b, "\"k%d\":%d,", MANY - i, MANY - i);
    }
    buf_add(&a, STR("\"\":0"));
    buf_add(&b, STR("\"\":0"));
    for (int i = 0; i < JSON_MAX_DEPTH; i++) {
        buf_add_ch(&a, '}');
        buf_add_ch(&b, '}');
    }
    assert_true(json_scan(&left, buf_str(&a), &fault));
    assert_true(json_scan(&right, buf_str(&b), &fault));
    assert_true(json_diff(json_root(&left), json_root(&right), NULL, count, &n));
    assert_int_equal(n, 8); /* k0 to k6 changed or went, the last one is new */
    buf_release(&a);
    buf_release(&b);
}

static int release(void **state)
{
    (void)state;
    json_release(&left);
    json_release(&right);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_values_have_no_difference),
        cmocka_unit_test(each_kind_of_difference_has_its_path),
        cmocka_unit_test(differences_come_in_the_order_of_the_left_then_of_the_right),
        cmocka_unit_test(only_the_last_of_duplicates_is_compared),
        cmocka_unit_test(diff_uses_the_rules_of_equality),
        cmocka_unit_test(an_absent_value_is_a_difference_at_the_root),
        cmocka_unit_test(the_comparison_ends_when_the_callback_returns_false),
        cmocka_unit_test(large_and_deep_values_are_compared),
    };

    return cmocka_run_group_tests(tests, NULL, release);
}
