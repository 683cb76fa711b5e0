#include "report/finding-text.h"

#include "test.h"

static struct buf to;

static int setup(void **state)
{
    (void)state;
    buf_init(&to, 1 << 16);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_release(&to);
    return 0;
}

static const struct finding changed = { .rule = STR_INIT("content-changed"),
                                        .message = STR_INIT("the value differs"),
                                        .path = STR_INIT("$.a"),
                                        .recorded = STR_INIT("1"),
                                        .live = STR_INIT("2") },
                            removed = { .rule = STR_INIT("content-removed"),
                                        .message = STR_INIT("gone"),
                                        .path = STR_INIT("$.b\n"),
                                        .recorded = STR_INIT("[ ]"),
                                        .hint = STR_INIT("ignore it") },
                            warning = { .rule = STR_INIT("slow"),
                                        .severity = FINDING_WARNING,
                                        .message = STR_INIT("slow") };

static void a_line_has_path_message_and_values(void **state)
{
    (void)state;
    finding_text_write_line(&to, &changed, 80);
    assert_str(buf_str(&to), STR("$.a: 1 → 2"));
    buf_clear(&to);
    finding_text_write_line(&to, &removed, 80);
    assert_str(buf_str(&to), STR("$.b\\n: gone"));
    buf_clear(&to);
    finding_text_write_line(&to, &warning, 80);
    assert_str(buf_str(&to), STR("slow"));
}

static void a_finding_of_no_call_always_has_its_message(void **state)
{
    (void)state;
    finding_text_write(&to, &changed, 80);
    assert_str(buf_str(&to), STR("the value differs\n$.a\n  - 1\n  + 2\n"));
}

static void the_findings_of_a_call_are_chosen_by_severity(void **state)
{
    const struct finding all[] = { changed, warning, removed, changed };
    struct call_verdict v = { .findings = all, .finding_count = 4 };

    (void)state;
    finding_text_write_call(&to, &v, FINDING_ERROR, 2, 80);
    assert_str(buf_str(&to),
               STR("$.a\n  - 1\n  + 2\n$.b\\n: gone\n  - []\n  ignore it\nand 1 more\n"));
    buf_clear(&to);
    finding_text_write_call(&to, &v, FINDING_WARNING, 2, 80);
    assert_str(buf_str(&to), STR("slow\n"));
    assert_ptr_equal(finding_text_first(&v, FINDING_WARNING), &all[1]);
    assert_null(finding_text_first(&v, FINDING_NOTE));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_line_has_path_message_and_values),
        TEST(a_finding_of_no_call_always_has_its_message),
        TEST(the_findings_of_a_call_are_chosen_by_severity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
