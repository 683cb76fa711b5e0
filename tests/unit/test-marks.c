#include "trace/marks.h"

#include "test.h"

static void assert_mark(struct marks *m, int64_t rule, const char *want)
{
    struct buf b;

    buf_init(&b, 64);
    marks_add(m, &b, rule);
    assert_str(buf_str(&b), str_z(want));
    buf_release(&b);
}

static void marks_name_the_variable_or_number_the_rule(void **state)
{
    struct err e = ERR_NONE;
    struct secrets s;
    struct marks m;

    (void)state;
    secrets_init(&s);
    assert_true(secrets_add_value(&s, STR("API_KEY"), STR("hunter22"), &e));
    secrets_add_credentials(&s);
    assert_true(secrets_add_pattern(&s, STR("x+"), &e));
    assert_true(secrets_seal(&s, &e));
    marks_init(&m, &s);
    assert_mark(&m, 0, "[REDACTED:API_KEY]");
    assert_mark(&m, 5, "[REDACTED:rule-1]");
    assert_mark(&m, 3, "[REDACTED:rule-2]");
    assert_mark(&m, 5, "[REDACTED:rule-1]");
    assert_mark(&m, (int64_t)s.count - 1, "[REDACTED:rule-3]");
    assert_mark(&m, MARKS_ANY, "[REDACTED]");
    marks_skip(&m, 7);
    marks_skip(&m, 2);
    assert_mark(&m, 5, "[REDACTED:rule-1]");
    assert_mark(&m, 6, "[REDACTED:rule-8]");
    m.plain = true;
    assert_mark(&m, 0, "[REDACTED]");
    assert_mark(&m, 5, "[REDACTED]");
    marks_release(&m);
    secrets_release(&s);
}

static void a_mark_is_told_from_what_only_holds_one(void **state)
{
    (void)state;
    assert_true(marks_is(STR("[REDACTED]")));
    assert_true(marks_is(STR("[REDACTED:API_KEY]")));
    assert_true(marks_is(STR("[REDACTED:rule-12]")));
    assert_false(marks_is(STR("")));
    assert_false(marks_is(STR("[REDACTED")));
    assert_false(marks_is(STR("[REDACTED] ")));
    assert_false(marks_is(STR("x[REDACTED]")));
    assert_false(marks_is(STR("[REDACTED:a][REDACTED:b]")));
}

static void values_that_were_learnt_have_their_own_names(void **state)
{
    struct learnt_grip g = { .at = NULL };
    struct err e = ERR_NONE;
    struct learnt l;
    struct secrets s;
    struct marks m;

    (void)state;
    secrets_init(&s);
    secrets_add_credentials(&s);
    assert_true(secrets_seal(&s, &e));
    learnt_init(&l);
    learnt_add(&l, &g, STR("X-Api-Key"), STR("apk83hQzL0vMw"));
    learnt_add_session(&l, &g, 12, STR("0f9e8d7c-6b5a"));
    marks_init(&m, &s);
    m.learnt = &l;
    assert_mark(&m, (int64_t)s.count, "[REDACTED:X-Api-Key]");
    assert_mark(&m, (int64_t)s.count + 1, "[REDACTED:session-12]");
    m.plain = true;
    assert_mark(&m, (int64_t)s.count + 1, "[REDACTED]");
    marks_release(&m);
    learnt_let_go(&l, &g);
    learnt_release(&l);
    secrets_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_name_the_variable_or_number_the_rule),
        cmocka_unit_test(a_mark_is_told_from_what_only_holds_one),
        cmocka_unit_test(values_that_were_learnt_have_their_own_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
