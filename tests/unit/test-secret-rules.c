#include "redact/secret-rules.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "test.h"

/* Rules: the value of KEY, the credentials, and the patterns of a test. */
struct finder {
    struct secret_rules secrets;
    struct secret_search search;
};

static void start(struct finder *f, const char *value, const char *pattern)
{
    struct err e = ERR_NONE;

    secret_rules_init(&f->secrets);
    if (value)
        assert_true(secret_rules_add_value(&f->secrets, STR("KEY"), str_z(value), &e));
    secret_rules_add_credentials(&f->secrets);
    if (pattern)
        assert_true(secret_rules_add_pattern(&f->secrets, str_z(pattern), &e));
    assert_true(secret_rules_seal(&f->secrets, &e));
    secret_search_init(&f->search, &f->secrets);
}

static void stop(struct finder *f)
{
    secret_search_release(&f->search);
    secret_rules_release(&f->secrets);
}

/* The hits as "[what]". */
static void assert_hits(struct finder *f, struct str text, const char *want)
{
    struct buf b;

    buf_init(&b, 1 << 12);
    for (size_t i = 0; i < f->search.count; i++) {
        const struct secret_hit *h = &f->search.hits[i];
        buf_printf(&b, "[%.*s]", (int)(h->span.end - h->span.at), text.at + h->span.at);
    }
    assert_string_equal(buf_z(&b), want);
    buf_release(&b);
}

static void assert_finds(struct finder *f, const char *text, const char *want)
{
    secret_search_find(&f->search, str_z(text));
    assert_hits(f, str_z(text), want);
}

static void a_value_is_found_in_its_encodings(void **state)
{
    struct finder f;

    (void)state;
    start(&f, "p@ss/w\"rd \xc3\xa9", NULL);
    assert_finds(&f, "x p@ss/w\"rd \xc3\xa9 y", "[p@ss/w\"rd \xc3\xa9]");
    assert_finds(&f, "{\"a\":\"p@ss\\/w\\\"rd \\u00e9\"}", "[p@ss\\/w\\\"rd \\u00e9]");
    assert_finds(&f, "\\u0070@s\\u0073/w\\u0022rd\\u0020\\u00E9",
                 "[\\u0070@s\\u0073/w\\u0022rd\\u0020\\u00E9]");
    assert_finds(&f, "\"p@ss\\\\/w\\\\\\\"rd \\\\u00e9\"", "[p@ss\\\\/w\\\\\\\"rd \\\\u00e9]");
    assert_finds(&f, "k=p%40ss%2Fw%22rd%20%c3%A9&b", "[p%40ss%2Fw%22rd%20%c3%A9]");
    assert_finds(&f, "k=p@ss/w%22rd+%C3%A9", "[p@ss/w%22rd+%C3%A9]");
    assert_finds(&f, "k=p%2540ss%252Fw%2522rd%2520%25C3%25A9",
                 "[p%2540ss%252Fw%2522rd%2520%25C3%25A9]");
    assert_finds(&f, "<p@ss/w&quot;rd &#233;>", "[p@ss/w&quot;rd &#233;]");
    assert_finds(&f, "x7040732F772272642 704073732f7722726420c3a9 7040",
                 "[704073732f7722726420c3a9]");
    assert_finds(&f, "704073732F7722726420C3A9", "[704073732F7722726420C3A9]");
    assert_finds(&f, "p@ss/w rd \xc3\xa9, P@SS/W\"RD", "");
    stop(&f);
}

/* Text beside a value may look like the start of an escape without being one. */
static void a_value_is_found_beside_text_that_looks_escaped(void **state)
{
    struct finder f;

    (void)state;
    start(&f, "ab\"c-9f8e7d6c", NULL);
    assert_finds(&f, "{\"x\":\"100%ab\\\"c-9f8e7d6c\"}", "[ab\\\"c-9f8e7d6c]");
    stop(&f);
    start(&f, "20secret/pass9", NULL);
    assert_finds(&f, "{\"x\":\"%20secret\\/pass9\"}", "[20secret\\/pass9]");
    stop(&f);
}

static void base64_is_removed_with_adjacent_characters(void **state)
{
    struct finder f;
    struct buf plain, text;

    (void)state;
    start(&f, "hunter2hunter2", NULL);
    for (size_t before = 0; before < 4; before++) {
        buf_init(&plain, 64);
        buf_init(&text, 256);
        buf_add(&plain, str_n("user", before));
        buf_add(&plain, STR("hunter2hunter2"));
        buf_add(&text, STR("\""));
        base64_encode(&text, buf_str(&plain));
        buf_add(&text, STR("\""));
        assert_true(secret_search_find(&f.search, buf_str(&text)));
        assert_int_equal(f.search.count, 1);
        assert_true(f.search.hits[0].span.at <= 1 + before * 4 / 3);
        assert_true(f.search.hits[0].span.end >= 1 + (before + 14) * 4 / 3);
        buf_release(&plain);
        buf_release(&text);
    }
    stop(&f);
}

static void credentials_are_found_without_declaration(void **state)
{
    struct finder f;

    (void)state;
    start(&f, NULL, NULL);
    assert_finds(&f, "{\"t\":\"AKIAIOSFODNN7EXAMPLE\",\"u\":\"postgres://a:b@c\"}",
                 "[AKIAIOSFODNN7EXAMPLE][b]");
    assert_finds(&f, "x\\nAKIAIOSFODNN7EXAMPLE\\n", "[AKIAIOSFODNN7EXAMPLE]");
    assert_finds(&f, "%3A//a%3Ahunter2@c", "[hunter2]");
    assert_finds(&f, "xAKIAIOSFODNN7EXAMPLE", "");
    stop(&f);
}

static void overlapping_hits_are_one_with_the_name_of_the_value(void **state)
{
    struct finder f;

    (void)state;
    start(&f, "IOSFODNN7EXAMPLE", NULL);
    assert_finds(&f, "AKIAIOSFODNN7EXAMPLE", "[AKIAIOSFODNN7EXAMPLE]");
    assert_int_equal(f.search.hits[0].rule, 0);
    stop(&f);
}

static void patterns_are_matched_only_if_a_literal_is_present(void **state)
{
    struct str text = STR("a Session-0123 b");
    struct finder f;

    (void)state;
    start(&f, NULL, "(?i)session-[0-9]+");
    assert_false(secret_search_find(&f.search, STR("nothing of the kind")));
    assert_true(secret_search_find(&f.search, text));
    assert_true(f.search.may_match_pattern);
    secret_search_match_patterns(&f.search, text, false, 0);
    secret_search_merge(&f.search);
    assert_hits(&f, text, "[Session-0123]");
    stop(&f);
}

static void a_pattern_without_literals_is_always_matched(void **state)
{
    struct str text = STR("card 4111111111111111 x");
    struct finder f;

    (void)state;
    start(&f, NULL, "[0-9]{16}");
    assert_true(secret_search_find(&f.search, text));
    secret_search_match_patterns(&f.search, text, false, 0);
    assert_hits(&f, text, "[4111111111111111]");
    stop(&f);
}

static void patterns_are_matched_against_decoded_strings(void **state)
{
    struct str inner = STR("q\\u0041bc%44\\n end");
    struct finder f;

    (void)state;
    start(&f, NULL, "Abc[D%].*?\\s");
    secret_search_find(&f.search, inner);
    secret_search_match_patterns(&f.search, inner, true, 0);
    secret_search_merge(&f.search);
    assert_hits(&f, inner, "[\\u0041bc%44\\n]");
    stop(&f);
}

static void bad_values_and_patterns_are_rejected_without_printing_them(void **state)
{
    static const char *const values[] = { "",           "short",  "  abc  ", "method",
                                          "initialize", "tools/", "REDACTED" };
    static const char *const patterns[] = { "(", "a*", "", "(?=a)b", "(a)\\1", "x|" };
    struct secret_rules s;

    (void)state;
    secret_rules_init(&s);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct err e = ERR_NONE;
        assert_false(secret_rules_add_value(&s, STR("NAME"), str_z(values[i]), &e));
        assert_int_equal(e.kind, ERR_USAGE);
        assert_non_null(strstr(e.msg, "'NAME'"));
        if (i == 1)
            assert_null(strstr(e.msg, "'short"));
        else if (*values[i])
            assert_null(strstr(e.msg, values[i]));
    }
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        struct err e = ERR_NONE;
        assert_false(secret_rules_add_pattern(&s, str_z(patterns[i]), &e));
        assert_int_equal(e.kind, ERR_USAGE);
    }
    secret_rules_release(&s);
}

static void arguments_are_secret_if_they_look_random(void **state)
{
    struct err e = ERR_NONE;
    struct finder f;

    (void)state;
    secret_rules_init(&f.secrets);
    secret_rules_add_credentials(&f.secrets);
    secret_rules_add_argument(&f.secrets, STR("production-server"));
    secret_rules_add_argument(&f.secrets, STR("a1b2c3d4e5f6"));
    assert_true(secret_rules_seal(&f.secrets, &e));
    secret_search_init(&f.search, &f.secrets);
    assert_finds(&f, "production-server a1b2c3d4e5f6", "[a1b2c3d4e5f6]");
    stop(&f);
}

static void too_many_hits_become_one_for_the_text(void **state)
{
    enum { MANY = 70000 };
    struct finder f;
    struct buf b;

    (void)state;
    start(&f, "hunter2", NULL);
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < MANY; i++)
        buf_add(&b, STR("hunter2 "));
    assert_true(secret_search_find(&f.search, buf_str(&b)));
    assert_true(f.search.overflow);
    assert_true(secret_search_find(&f.search, STR("hunter2")));
    assert_false(f.search.overflow);
    buf_release(&b);
    stop(&f);
}

static void too_deeply_escaped_text_is_a_hit(void **state)
{
    const char *deepest = "a%25252525256Cb", *deeper = "a%2525252525256Cb";
    const char *two = "{\"x\":\"%2525252525256C..%2525252525256C\",\"y\":1,"
                      "\"z\":\"%2525252525256C\"}";
    struct finder f;

    (void)state;
    start(&f, "hunter2", NULL);
    assert_finds(&f, deepest, "");
    assert_finds(&f, deeper, "[%2525252525256C]");
    assert_true(f.search.hits[0].drop_whole);
    assert_true(secret_search_has_value(&f.search));
    assert_finds(&f, two, "[%2525252525256C]");
    assert_true(secret_search_is_too_deep(&f.search, str_z(deeper)));
    assert_false(secret_search_is_too_deep(&f.search, str_z(deepest)));
    assert_false(secret_search_is_too_deep(&f.search, STR("plain")));
    assert_finds(&f, "hunter2", "[hunter2]");
    assert_false(f.search.hits[0].drop_whole);
    stop(&f);
    start(&f, NULL, NULL);
    assert_finds(&f, deeper, "");
    assert_false(secret_search_is_too_deep(&f.search, str_z(deeper)));
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_found_in_its_encodings),
        cmocka_unit_test(a_value_is_found_beside_text_that_looks_escaped),
        cmocka_unit_test(base64_is_removed_with_adjacent_characters),
        cmocka_unit_test(credentials_are_found_without_declaration),
        cmocka_unit_test(overlapping_hits_are_one_with_the_name_of_the_value),
        cmocka_unit_test(patterns_are_matched_only_if_a_literal_is_present),
        cmocka_unit_test(a_pattern_without_literals_is_always_matched),
        cmocka_unit_test(patterns_are_matched_against_decoded_strings),
        cmocka_unit_test(bad_values_and_patterns_are_rejected_without_printing_them),
        cmocka_unit_test(arguments_are_secret_if_they_look_random),
        cmocka_unit_test(too_deeply_escaped_text_is_a_hit),
        cmocka_unit_test(too_many_hits_become_one_for_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
