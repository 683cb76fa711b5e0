#include "report/findings.h"

#include "test.h"

static void every_finding_has_a_unique_id(void **state)
{
    (void)state;
    for (enum stats_finding_kind i = 0; i < STATS_FINDING_COUNT; i++) {
        struct str id = str_z(findings_id(i));
        assert_true(id.len > 0);
        for (size_t c = 0; c < id.len; c++)
            assert_true((id.at[c] >= 'a' && id.at[c] <= 'z') || id.at[c] == '-');
        for (enum stats_finding_kind other = 0; other < i; other++)
            assert_false(str_eq(id, str_z(findings_id(other))));
    }
}

static void assert_finding_text(struct stats *s, enum stats_finding_kind what,
                                struct stats_finding found, const char *want)
{
    struct finding_list l;

    s->findings[what] = found;
    finding_list_init(&l);
    findings_collect(&l, s, NULL);
    assert_int_equal(l.count, 1);
    assert_str(l.at[0].rule, str_z(findings_id(what)));
    assert_int_equal(l.at[0].severity, FINDING_ERROR);
    assert_str(l.at[0].message, str_z(want));
    finding_list_release(&l);
    s->findings[what] = (struct stats_finding){ 0 };
}

static void a_finding_is_written_as_a_sentence(void **state)
{
    static struct stats s = { .gap_messages = 3, .gap_bytes = 4100 };

    (void)state;
    assert_finding_text(&s, STATS_NO_FOOTER, (struct stats_finding){ .count = 1 },
                        "no footer: the recorder did not end properly");
    assert_finding_text(&s, STATS_UNMATCHED_RESPONSE,
                        (struct stats_finding){ .count = 1, .seq = 7 },
                        "1 response without a request (seq 7)");
    assert_finding_text(&s, STATS_UNMATCHED_RESPONSE,
                        (struct stats_finding){ .count = 2, .seq = 7 },
                        "2 responses without a request (first: seq 7)");
    assert_finding_text(&s, STATS_SERVER_NON_MESSAGE,
                        (struct stats_finding){ .count = 1, .example = STR("hello") },
                        "1 line from the server that is not a message: hello");
    assert_finding_text(&s, STATS_SERVER_NON_MESSAGE,
                        (struct stats_finding){ .count = 2, .example = STR("hello") },
                        "2 lines from the server that are not messages; the first: hello");
    assert_finding_text(
        &s, STATS_UNANSWERED,
        (struct stats_finding){ .count = 1, .example = STR("the server is gone") },
        "1 request without a response: the server is gone");
    assert_finding_text(
        &s, STATS_UNANSWERED,
        (struct stats_finding){ .count = 2, .example = STR("the server is gone") },
        "2 requests without a response; one of them: the server is gone");
    assert_finding_text(
        &s, STATS_GAP,
        (struct stats_finding){ .count = 1, .example = STR("too long to be kept") },
        "1 gap: 3 messages (4.1 kB) not recorded: too long to be kept");
}

static void a_finding_is_found_by_its_id(void **state)
{
    (void)state;
    for (enum stats_finding_kind i = 0; i < STATS_FINDING_COUNT; i++)
        assert_int_equal(findings_find(str_z(findings_id(i))), i);
    assert_int_equal(findings_find(STR("no-such")), STATS_FINDING_COUNT);
    assert_int_equal(findings_find(STR("")), STATS_FINDING_COUNT);
}

static void a_finding_is_found_by_its_former_id(void **state)
{
    (void)state;
    assert_int_equal(findings_find(STR("server-noise")), STATS_SERVER_NON_MESSAGE);
    assert_int_equal(findings_find(STR("client-noise")), STATS_CLIENT_NON_MESSAGE);
    assert_int_equal(findings_find(STR("unasked-answer")), STATS_UNMATCHED_RESPONSE);
    assert_int_equal(findings_find(STR("duplicate-answer")), STATS_DUPLICATE_RESPONSE);
    assert_int_equal(findings_find(STR("late-answer")), STATS_LATE_RESPONSE);
}

static void ignored_findings_are_not_collected(void **state)
{
    static struct stats s = {
        .findings = { [STATS_GAP] = { .count = 1 }, [STATS_UNANSWERED] = { .count = 2 } }
    };
    const bool ignored[STATS_FINDING_COUNT] = { [STATS_GAP] = true };
    struct finding_list l;

    (void)state;
    finding_list_init(&l);
    findings_collect(&l, &s, ignored);
    assert_int_equal(l.count, 1);
    assert_str(l.at[0].rule, STR("unanswered"));
    assert_int_equal(l.at[0].count, 2);
    finding_list_release(&l);
}

static void findings_are_written_as_json_objects(void **state)
{
    static struct stats s = { .findings = {
                                  [STATS_GAP] = { .count = 1 },
                                  [STATS_UNMATCHED_RESPONSE] = { .count = 2, .seq = 7 } } };
    struct finding_list l;
    struct json_out o;
    struct buf b;

    (void)state;
    buf_init(&b, 4096);
    o = json_out_to(&b);
    finding_list_init(&l);
    findings_collect(&l, &s, NULL);
    json_out_object(&o);
    findings_write_json(&o, &l);
    json_out_end_object(&o);
    finding_list_release(&l);
    assert_str(
        buf_str(&b),
        STR("{\"findings\":[{\"rule\":\"gap\",\"count\":1,\"message\":\"1 gap: 0 messages (0 "
            "bytes) not "
            "recorded\"},{\"rule\":\"unsolicited-response\",\"count\":2,\"seq\":7,\"message\":"
            "\"2 "
            "responses without a request (first: seq 7)\"}]}"));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_finding_has_a_unique_id),
        cmocka_unit_test(a_finding_is_written_as_a_sentence),
        cmocka_unit_test(a_finding_is_found_by_its_id),
        cmocka_unit_test(a_finding_is_found_by_its_former_id),
        cmocka_unit_test(ignored_findings_are_not_collected),
        cmocka_unit_test(findings_are_written_as_json_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
