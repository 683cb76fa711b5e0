#include "redact/placeholder.h"

#include "test.h"

static void assert_mark(struct placeholders *m, int64_t rule, const char *want)
{
    struct buf b;

    buf_init(&b, 64);
    placeholder_write(m, &b, rule);
    assert_str(buf_str(&b), str_z(want));
    buf_release(&b);
}

static void placeholders_name_the_variable_or_number_the_rule(void **state)
{
    struct err e = ERR_NONE;
    struct secret_rules s;
    struct placeholders m;

    (void)state;
    secret_rules_init(&s);
    assert_true(secret_rules_add_value(&s, STR("API_KEY"), STR("hunter22"), &e));
    secret_rules_add_credentials(&s);
    assert_true(secret_rules_add_pattern(&s, STR("x+"), &e));
    assert_true(secret_rules_seal(&s, &e));
    placeholder_init(&m, &s);
    assert_mark(&m, 0, "[REDACTED:API_KEY]");
    assert_mark(&m, 5, "[REDACTED:rule-1]");
    assert_mark(&m, 3, "[REDACTED:rule-2]");
    assert_mark(&m, 5, "[REDACTED:rule-1]");
    assert_mark(&m, (int64_t)s.count - 1, "[REDACTED:rule-3]");
    assert_mark(&m, PLACEHOLDER_NO_RULE, "[REDACTED]");
    placeholder_reserve(&m, 7);
    placeholder_reserve(&m, 2);
    assert_mark(&m, 5, "[REDACTED:rule-1]");
    assert_mark(&m, 6, "[REDACTED:rule-8]");
    m.no_names = true;
    assert_mark(&m, 0, "[REDACTED]");
    assert_mark(&m, 5, "[REDACTED]");
    placeholder_release(&m);
    secret_rules_release(&s);
}

static void a_placeholder_is_distinguished_from_text_that_contains_one(void **state)
{
    (void)state;
    assert_true(placeholder_matches(STR("[REDACTED]")));
    assert_true(placeholder_matches(STR("[REDACTED:API_KEY]")));
    assert_true(placeholder_matches(STR("[REDACTED:rule-12]")));
    assert_false(placeholder_matches(STR("")));
    assert_false(placeholder_matches(STR("[REDACTED")));
    assert_false(placeholder_matches(STR("[REDACTED] ")));
    assert_false(placeholder_matches(STR("x[REDACTED]")));
    assert_false(placeholder_matches(STR("[REDACTED:a][REDACTED:b]")));
}

static void values_found_while_recording_have_their_own_names(void **state)
{
    struct seen_secrets_refs g = { .values = NULL };
    struct err e = ERR_NONE;
    struct seen_secrets l;
    struct secret_rules s;
    struct placeholders m;

    (void)state;
    secret_rules_init(&s);
    secret_rules_add_credentials(&s);
    assert_true(secret_rules_seal(&s, &e));
    seen_secrets_init(&l);
    seen_secrets_add(&l, &g, STR("X-Api-Key"), STR("apk83hQzL0vMw"));
    seen_secrets_add_session(&l, &g, 12, STR("0f9e8d7c-6b5a"));
    placeholder_init(&m, &s);
    m.seen = &l;
    assert_mark(&m, (int64_t)s.count, "[REDACTED:X-Api-Key]");
    assert_mark(&m, (int64_t)s.count + 1, "[REDACTED:session-12]");
    m.no_names = true;
    assert_mark(&m, (int64_t)s.count + 1, "[REDACTED]");
    placeholder_release(&m);
    seen_secrets_unref(&l, &g);
    seen_secrets_release(&l);
    secret_rules_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placeholders_name_the_variable_or_number_the_rule),
        cmocka_unit_test(a_placeholder_is_distinguished_from_text_that_contains_one),
        cmocka_unit_test(values_found_while_recording_have_their_own_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
