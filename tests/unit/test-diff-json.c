#include "report/diff-json.h"

#include "base/mem.h"
#include "test.h"

static void check(const struct call_diff_entry *entry, const char *want)
{
    struct json_out out;
    struct buf got;

    buf_init(&got, 1 << 20);
    out = json_out_to(&got);
    diff_json_write_entry(&out, entry);
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
}

static void an_entry_has_both_sides_and_its_differences(void **state)
{
    const struct finding findings[] = {
        { .rule = STR_INIT("content-changed"),
          .path = STR_INIT("$.a"),
          .recorded = STR_INIT("1"),
          .live = STR_INIT("2") },
        { .rule = STR_INIT("response-added") },
    };
    struct call_diff_entry entry = { .status = CALL_DIFF_CHANGED,
                                     .method = STR("tools/call"),
                                     .subject = STR("t"),
                                     .before = { .seq = 3, .latency_ms = -1 },
                                     .after = { .seq = 4, .latency_ms = 20 },
                                     .findings = findings,
                                     .finding_count = 2,
                                     .more = 1,
                                     .volatile_count = 5,
                                     .ignored_count = 6 };

    (void)state;
    check(
        &entry,
        "{\"status\":\"changed\",\"moved\":false,\"latency_changed\":false,\"breaking\":false,"
        "\"method\":\"tools/"
        "call\",\"subject\":\"t\",\"before\":{\"seq\":3,\"latency_ms\":null},"
        "\"after\":{\"seq\":4,\"latency_ms\":20},\"differences\":[{\"rule\":"
        "\"content-changed\","
        "\"path\":\"$.a\",\"before\":1,\"after\":2},{\"rule\":\"response-added\","
        "\"path\":null}],"
        "\"more_differences\":1,\"volatile\":5,\"ignored\":6}");
}

static void a_large_value_is_replaced_by_its_size(void **state)
{
    struct finding f = { .rule = STR("content-removed"), .path = STR("$.a") };
    struct call_diff_entry entry = { .status = CALL_DIFF_CHANGED,
                                     .method = STR("m"),
                                     .before = { .seq = 3 },
                                     .findings = &f,
                                     .finding_count = 1 };
    struct buf large;

    (void)state;
    buf_init(&large, 1 << 20);
    buf_add_ch(&large, '1');
    while (large.len <= DIFF_JSON_VALUE)
        buf_add_ch(&large, '0');
    f.recorded = buf_str(&large);
    check(
        &entry,
        "{\"status\":\"changed\",\"moved\":false,\"latency_changed\":false,\"breaking\":false,"
        "\"method\":\"m\",\"subject\":null,\"before\":{\"seq\":3,\"latency_ms\":0},"
        "\"after\":null,\"differences\":[{\"rule\":\"content-removed\",\"path\":\"$.a\","
        "\"before_bytes\":65537}],\"more_differences\":0,\"volatile\":0,\"ignored\":0}");
    buf_release(&large);
}

static void an_unchanged_call_is_left_out(void **state)
{
    struct call_diff_entry entry = { .status = CALL_DIFF_SAME, .method = STR("m") };

    (void)state;
    check(&entry, "");
}

static void totals_have_every_status(void **state)
{
    struct call_diff_totals totals = {
        .count = { 1, 2, 3, 4 }, .moved = 5, .slower = 6, .breaking = 2
    };
    struct json_out out;
    struct buf got;

    (void)state;
    buf_init(&got, 1 << 20);
    out = json_out_to(&got);
    diff_json_write_totals(&out, &totals);
    assert_str(buf_str(&got), STR("{\"same\":1,\"changed\":2,\"added\":3,\"removed\":4,"
                                  "\"breaking\":2,\"moved\":5,\"slower\":6,"
                                  "\"faster\":0,\"exact\":true}"));
    buf_release(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_has_both_sides_and_its_differences),
        cmocka_unit_test(a_large_value_is_replaced_by_its_size),
        cmocka_unit_test(an_unchanged_call_is_left_out),
        cmocka_unit_test(totals_have_every_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
