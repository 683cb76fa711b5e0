#include "mcp/id.h"

#include "test.h"

/* The same bytes behind existing ones. */
static void check_added(struct json_val id, struct str key)
{
    struct buf b;

    buf_init(&b, JSON_MAX_TEXT);
    buf_add(&b, STR("before "));
    mcp_id_add_key(&b, id);
    assert_str(str_skip(buf_str(&b), 7), key);
    buf_release(&b);
}

/* The key of one JSON text. It points into `a`. */
static struct str key_of(struct arena *a, struct str text)
{
    struct json_fault fault;
    struct json j;
    struct str key;

    json_init(&j);
    if (!json_scan(&j, text, &fault))
        fail_msg("not JSON: %.*s", STR_ARG(text));
    key = mcp_id_key(json_root(&j), a);
    check_added(json_root(&j), key);
    json_release(&j);
    return key;
}

static void all_spellings_of_an_id_have_one_key(void **state)
{
    static const char *const groups[][8] = {
        { "1", "1.0", "1e0", "10e-1", "0.1e1", "0.01E+2", "100000e-05" },
        { "-1", "-1.0", "-10e-1" },
        { "0", "-0", "0.0", "-0.00e5", "0e-7", "0e99999999999999999999" },
        { "1200", "12e2", "1.2e3", "0.0012e+6", "1200.000" },
        { "0.012", "12e-3", "1.2E-2", "0.0120" },
        { "123456789012345678901234567890", "12345678901234567890123456789e1",
          "123456789012345678901234567890.0" },
        { "1e999999999999999999", "1.0e999999999999999999" },
        { "\"a\"", "\"\\u0061\"" },
        { "\"\\u00e9\"", "\"é\"" },
        { "\"\\ud83d\\ude00\"", "\"😀\"" },
        { "\"/\"", "\"\\/\"" },
        { "\"\"" },
        { "\"1\"", "\"\\u0031\"" },
        { "\"n1e1\"" },
        { "\"\\ud83d\"" },
        { "2" },
        { "10" },
        { "1e1000000000000000000" },
        { "9007199254740992" },
        { "9007199254740993" },
    };
    enum { GROUPS = sizeof groups / sizeof *groups };
    struct arena a = { NULL, 0 };
    struct str first[GROUPS];

    (void)state;
    for (size_t g = 0; g < GROUPS; g++) {
        first[g] = key_of(&a, str_z(groups[g][0]));
        assert_true(first[g].len > 0);
        for (size_t i = 1; groups[g][i]; i++)
            assert_str(key_of(&a, str_z(groups[g][i])), first[g]);
        for (size_t other = 0; other < g; other++)
            assert_false(str_eq(first[other], first[g]));
    }
    arena_release(&a);
}

static void huge_exponents_are_counted_exactly(void **state)
{
    struct arena a = { NULL, 0 };

    (void)state;
    assert_str(key_of(&a, STR("1e1000000000000000000")),
               key_of(&a, STR("10e999999999999999999")));
    assert_str(key_of(&a, STR("0.1e-999999999999999999")),
               key_of(&a, STR("1e-1000000000000000000")));
    assert_false(str_eq(key_of(&a, STR("1e1000000000000000000")),
                        key_of(&a, STR("1e999999999999999999"))));
    assert_false(str_eq(key_of(&a, STR("1e1000000000000000000")),
                        key_of(&a, STR("1e-1000000000000000000"))));
    arena_release(&a);
}

static void an_id_of_a_million_digits_has_a_key(void **state)
{
    enum { DIGITS = 1000000 };
    struct arena a = { NULL, 0 };
    char *text = arena_alloc(&a, DIGITS);
    struct str key;

    (void)state;
    memset(text, '7', DIGITS);
    key = key_of(&a, str_n(text, DIGITS));
    assert_int_equal(key.len, 1 + DIGITS + 2);
    assert_true(str_ends(key, STR("7e0")));
    memset(text + 1, '0', DIGITS - 1);
    assert_str(key_of(&a, str_n(text, DIGITS)), key_of(&a, STR("7e999999")));
    arena_release(&a);
}

static void a_nul_is_an_ordinary_byte(void **state)
{
    struct arena a = { NULL, 0 };

    (void)state;
    assert_str(key_of(&a, STR("\"a\\u0000b\"")), STR("sa\0b"));
    assert_false(str_eq(key_of(&a, STR("\"a\\u0000b\"")), key_of(&a, STR("\"a\\u0000c\""))));
    arena_release(&a);
}

static void an_invalid_id_has_no_key(void **state)
{
    static const char *const texts[] = { "null", "true", "false", "{}", "[1]" };
    struct arena a = { NULL, 0 };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(key_of(&a, str_z(texts[i])).len, 0);
    assert_int_equal(mcp_id_key(JSON_VAL_NONE, &a).len, 0);
    arena_release(&a);
}

/* Every decimal m * 10^e of a small range, spelled with the point at every place. */
static void the_position_of_the_decimal_point_does_not_matter(void **state)
{
    (void)state;
    for (int m = 1; m < 1000; m += 7) {
        struct arena a = { NULL, 0 };
        for (int e = -6; e <= 6; e++) {
            struct str plain = key_of(&a, arena_printf(&a, "%de%d", m, e));
            for (int shift = 1; shift <= 4; shift++) {
                int ten = shift == 1 ? 10 : shift == 2 ? 100 : shift == 3 ? 1000 : 10000;
                struct str text =
                    arena_printf(&a, "%d.%0*de%d", m / ten, shift, m % ten, e + shift);
                assert_str(key_of(&a, text), plain);
            }
        }
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_spellings_of_an_id_have_one_key),
        cmocka_unit_test(huge_exponents_are_counted_exactly),
        cmocka_unit_test(an_id_of_a_million_digits_has_a_key),
        cmocka_unit_test(a_nul_is_an_ordinary_byte),
        cmocka_unit_test(an_invalid_id_has_no_key),
        cmocka_unit_test(the_position_of_the_decimal_point_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
