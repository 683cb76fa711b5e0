#include "redact/redact-verdict.h"

#include "test.h"

struct rig {
    struct secret_rules secrets;
    struct redactor redactor;
    struct redact_verdict verdicts;
};

static void begin(struct rig *r)
{
    struct err e = ERR_NONE;

    secret_rules_init(&r->secrets);
    assert_true(secret_rules_add_value(&r->secrets, STR("KEY"), STR("hunter2hunter2"), &e));
    secret_rules_add_credentials(&r->secrets);
    assert_true(secret_rules_seal(&r->secrets, &e));
    redactor_init(&r->redactor, &r->secrets, NULL);
    redact_verdict_init(&r->verdicts, &r->redactor);
}

static void end(struct rig *r)
{
    redact_verdict_release(&r->verdicts);
    redactor_release(&r->redactor);
    secret_rules_release(&r->secrets);
}

static void every_text_of_a_call_is_redacted(void **state)
{
    const struct finding findings[] = {
        { .rule = STR("content-changed"),
          .message = STR("m hunter2hunter2"),
          .file = STR("hunter2hunter2.jsonl"),
          .path = STR("$.result.hunter2hunter2"),
          .recorded = STR("1"),
          .live = STR("[\"x hunter2hunter2\"]"),
          .hint = STR("h") },
        { .rule = STR("content-changed"), .path = STR("$.a"), .live = STR("2") },
    };
    const struct call_verdict given = { .number = 3,
                                        .method = STR("m/hunter2hunter2"),
                                        .subject = STR("s hunter2hunter2"),
                                        .reason = STR("r hunter2hunter2"),
                                        .findings = findings,
                                        .finding_count = 2 };
    struct call_verdict v;
    struct rig r;

    (void)state;
    begin(&r);
    v = redact_verdict_call(&r.verdicts, &given);
    assert_int_equal(v.number, 3);
    assert_str(v.method, STR("m/[REDACTED:KEY]"));
    assert_str(v.subject, STR("s [REDACTED:KEY]"));
    assert_str(v.reason, STR("r [REDACTED:KEY]"));
    assert_int_equal(v.finding_count, 2);
    assert_str(v.findings[0].message, STR("m [REDACTED:KEY]"));
    assert_str(v.findings[0].file, STR("[REDACTED:KEY].jsonl"));
    assert_str(v.findings[0].path, STR("$.result.[REDACTED:KEY]"));
    assert_str(v.findings[0].recorded, STR("1"));
    assert_str(v.findings[0].live, STR("[\"x [REDACTED:KEY]\"]"));
    assert_str(v.findings[0].hint, STR("h"));
    assert_str(v.findings[1].live, STR("2"));
    end(&r);
}

static void the_name_of_a_member_makes_its_value_secret(void **state)
{
    const struct finding given[] = {
        { .path = STR("$.result.structuredContent.password"), .live = STR("\"tiny\"") },
        { .path = STR("$.result.tokens['api_key'][2]"), .live = STR("\"tiny\"") },
        { .path = STR("$.result.size"), .live = STR("\"tiny\"") },
        { .path = STR("$.result"), .live = STR("{\"password\":\"tiny\",\"a\":1.0}") },
    };
    const char *want[] = { "\"[REDACTED]\"", "\"[REDACTED]\"", "\"tiny\"",
                           "{\"password\":\"[REDACTED]\",\"a\":1.0}" };
    struct rig r;

    (void)state;
    begin(&r);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        assert_str(redact_verdict_finding(&r.verdicts, &given[i]).live, str_z(want[i]));
    end(&r);
}

static void values_that_look_equal_then_are_explained(void **state)
{
    const struct finding given = { .message = STR("the value differs"),
                                   .path = STR("$.result.token"),
                                   .recorded = STR("\"one\""),
                                   .live = STR("\"two\"") };
    struct finding f;
    struct rig r;

    (void)state;
    begin(&r);
    f = redact_verdict_finding(&r.verdicts, &given);
    assert_str(f.recorded, STR("\"[REDACTED]\""));
    assert_str(f.live, STR("\"[REDACTED]\""));
    assert_str(f.message, STR("the values differ in a part that is redacted"));
    end(&r);
}

static void text_that_is_no_json_is_left_out(void **state)
{
    const struct finding given = { .live = STR("oops: \"x") };
    struct rig r;

    (void)state;
    begin(&r);
    assert_str(redact_verdict_finding(&r.verdicts, &given).live, STR("\"[REDACTED]\""));
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_text_of_a_call_is_redacted),
        cmocka_unit_test(the_name_of_a_member_makes_its_value_secret),
        cmocka_unit_test(values_that_look_equal_then_are_explained),
        cmocka_unit_test(text_that_is_no_json_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
