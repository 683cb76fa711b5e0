#include "report/diff-text.h"

#include "test.h"

static const struct finding changed = { .rule = STR_INIT("content-changed"),
                                        .message = STR_INIT("the value differs"),
                                        .path = STR_INIT("$.result.n"),
                                        .recorded = STR_INIT("1"),
                                        .live = STR_INIT("2") };

static void check(const struct call_diff_entry *entry, const char *want)
{
    const struct diff_text_options options = { .width = 0 };
    struct buf got;

    buf_init(&got, 1 << 20);
    diff_text_write_entry(&got, entry, &options);
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
}

static struct call_diff_entry entry_of(enum call_diff_status status, uint32_t before,
                                       uint32_t after)
{
    return (struct call_diff_entry){ .status = status,
                                     .method = STR("tools/call"),
                                     .subject = STR("search"),
                                     .before = { .seq = before, .latency_ms = 10 },
                                     .after = { .seq = after, .latency_ms = 250 } };
}

static void a_changed_call_has_its_differences(void **state)
{
    struct call_diff_entry entry = entry_of(CALL_DIFF_CHANGED, 5, 7);

    (void)state;
    entry.findings = &changed;
    entry.finding_count = 1;
    entry.more = 3;
    check(&entry,
          "~ tools/call search                            #5 → #7\n"
          "    $.result.n\n      - 1\n      + 2\n    and 3 more, which are only counted\n");
}

/* The kept differences are `count`, the others `more`. */
static void check_end(size_t count, uint64_t more, const char *want)
{
    struct call_diff_entry entry = entry_of(CALL_DIFF_CHANGED, 5, 7);
    const struct diff_text_options options = { .width = 80 };
    struct finding findings[DIFF_TEXT_FINDINGS + 2];
    struct buf got;

    for (size_t i = 0; i < count; i++)
        findings[i] = changed;
    entry.findings = findings;
    entry.finding_count = count;
    entry.more = more;
    buf_init(&got, 1 << 16);
    diff_text_write_entry(&got, &entry, &options);
    assert_true(str_ends(buf_str(&got), str_z(want)));
    buf_release(&got);
}

static void the_hint_says_how_many_differences_are_kept(void **state)
{
    (void)state;
    check_end(DIFF_TEXT_FINDINGS + 2, 0, "    and 2 more; -v shows all\n");
    check_end(DIFF_TEXT_FINDINGS + 2, 5, "    and 7 more; -v shows the first 12\n");
    check_end(DIFF_TEXT_FINDINGS, 5, "    and 5 more, which are only counted\n");
}

static void added_removed_and_moved_calls_are_one_line(void **state)
{
    struct call_diff_entry moved = entry_of(CALL_DIFF_SAME, 5, 7);
    struct call_diff_entry added = entry_of(CALL_DIFF_ADDED, 0, 7);
    struct call_diff_entry removed = entry_of(CALL_DIFF_REMOVED, 5, 0);

    (void)state;
    moved.moved = true;
    check(&moved, "> tools/call search                            #5 → #7  moved\n");
    check(&added, "+ tools/call search                               → #7\n");
    check(&removed, "- tools/call search                            #5\n");
}

static void a_call_that_is_the_same_is_shown_for_its_latency_only(void **state)
{
    struct call_diff_entry entry = entry_of(CALL_DIFF_SAME, 5, 7);

    (void)state;
    check(&entry, "");
    entry.latency_changed = true;
    check(&entry, "= tools/call search                            #5 → #7"
                  "  slower: 10 ms → 250 ms\n");
}

static void totals_leave_out_what_is_not_there(void **state)
{
    struct call_diff_totals totals = { .moved = 0 };
    struct buf got;

    (void)state;
    buf_init(&got, 1 << 20);
    diff_text_write_totals(&got, &totals);
    assert_str(buf_str(&got), STR("no calls\n"));
    buf_clear(&got);
    totals.count[CALL_DIFF_CHANGED] = 2;
    totals.count[CALL_DIFF_SAME] = 210;
    totals.greedy = true;
    diff_text_write_totals(&got, &totals);
    assert_true(str_starts(buf_str(&got), STR("2 changed · 210 same\na stretch of more")));
    buf_release(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_call_has_its_differences),
        cmocka_unit_test(the_hint_says_how_many_differences_are_kept),
        cmocka_unit_test(added_removed_and_moved_calls_are_one_line),
        cmocka_unit_test(a_call_that_is_the_same_is_shown_for_its_latency_only),
        cmocka_unit_test(totals_leave_out_what_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
