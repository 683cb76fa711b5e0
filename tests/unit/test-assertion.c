#include "check/assertion.h"

#include "terse.h"
#include "test.h"

#define TRAFFIC                                                                                \
    "@0 c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"                            \
    "@10 s2c {'id':1,'result':{'isError':true}}\n"                                             \
    "@20 c2s {'id':2,'method':'tools/call','params':{'name':'b'}}\n"                           \
    "@30 s2c {'id':2,'result':{'text':'found'}}\n"                                             \
    "@5000000 c2s {'id':3,'method':'tools/call','params':{'name':'b'}}\n"

static bool read_one(struct assertion_list *l, const char *text, struct err *e)
{
    return assertion_list_read(l, &(struct str_list){ &text, 1 }, e);
}

/* Returns whether the assertion is true; else checks the message. */
static bool holds(const char *text, const char *message)
{
    struct assertion_check c;
    struct assertion_list list;
    struct finding_list l;
    struct err e = ERR_NONE;
    bool ok;

    finding_list_init(&l);
    assert_true(read_one(&list, text, &e));
    assertion_check_init(&c, &list, "file.jsonl");
    terse_feed(&c.sink, TRAFFIC);
    assertion_check_finish(&c, &l);
    ok = !l.count;
    if (message) {
        assert_int_equal(l.count, 1);
        assert_str(l.at[0].rule, STR("assert"));
        assert_str(l.at[0].message, str_z(message));
    }
    assertion_check_release(&c);
    assertion_list_release(&list);
    finding_list_release(&l);
    return ok;
}

static void operations_are_counted(void **state)
{
    (void)state;
    assert_true(holds("count() == 3", NULL));
    assert_true(holds("count(tool:b) = 2", NULL));
    assert_true(holds("count(tool:b is:ok) == 1", NULL));
    assert_true(holds("count(found) == 1", NULL));
    assert_true(holds("count(gap:>1s) == 1", NULL));
    assert_true(holds("count(is:pending) == 1", NULL));
    assert_true(holds("count(trace:file.jsonl) == 3", NULL));
    assert_true(holds("count((tool:a OR tool:b) -is:ok) == 2", NULL));
}

static void all_comparisons_work(void **state)
{
    static const struct {
        const char *op;
        bool one, two, three; /* with two operations */
    } cases[] = { { "==", false, true, false }, { "!=", true, false, true },
                  { "<", false, false, true },  { "<=", false, true, true },
                  { ">", true, false, false },  { ">=", true, true, false } };
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const bool want[] = { cases[i].one, cases[i].two, cases[i].three };

        for (int n = 0; n < 3; n++)
            assert_int_equal(
                holds(arena_printf(&a, "count(tool:b) %s %d", cases[i].op, n + 1).at, NULL),
                want[n]);
    }
    arena_release(&a);
}

static void a_false_assertion_has_the_count_and_the_first_operation(void **state)
{
    (void)state;
    assert_false(holds("  count(tool:b) == 0 ",
                       "count(tool:b) == 0 is false: the count is 2 (first: seq 3)"));
    assert_false(holds("count(tool:a)>1", "count(tool:a)>1 is false: the count is 1 (seq 1)"));
    assert_false(holds("count(tool:c) > 0", "count(tool:c) > 0 is false: the count is 0"));
}

static void wrong_assertions_are_rejected(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "'': an assertion starts with 'count('" },
        { "sum(x) == 0", "'sum(x) == 0': an assertion starts with 'count('" },
        { "count(x", "'count(x': ')' is missing" },
        { "count(", "'count(': ')' is missing" },
        { "count(x)", "'count(x)': expected ==, !=, <, <=, > or >= after ')'" },
        { "count(x) => 1", "'count(x) => 1': expected a whole number at the end" },
        { "count(x) == ", "'count(x) == ': expected a whole number at the end" },
        { "count(x) == 1.5", "'count(x) == 1.5': expected a whole number at the end" },
        { "count(x) == 99999999999999999999",
          "'count(x) == 99999999999999999999': expected a whole number at the end" },
        { "count(kay:x) == 0", "bad filter at byte 1: unknown key 'kay'" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct assertion_list list;
        struct err e = ERR_NONE;

        assert_false(read_one(&list, cases[i].text, &e));
        assert_string_equal(e.msg, cases[i].message);
        assert_int_equal(e.kind, ERR_USAGE);
        assertion_list_release(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_counted),
        cmocka_unit_test(all_comparisons_work),
        cmocka_unit_test(a_false_assertion_has_the_count_and_the_first_operation),
        cmocka_unit_test(wrong_assertions_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
