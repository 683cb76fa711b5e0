#include "report/contract-json.h"

#include "contract-sample.h"

static void a_comparison_is_one_object(void **state)
{
    struct contract_sample s;
    struct json_fault fault;
    struct json_val root, findings, first, second;
    struct buf b;
    struct json j;

    (void)state;
    contract_sample_init(&s);
    buf_init(&b, 1 << 16);
    contract_json_write(&b, STR("lock"), &s.report);
    json_init(&j);
    assert_true(json_scan(&j, buf_str(&b), &fault));
    assert_int_equal(str_find(buf_str(&b), '\n') + 1, b.len); /* one line */
    root = json_root(&j);
    findings = json_get(root, STR("findings"));
    first = json_item(findings, 0);
    second = json_item(findings, 1);
    assert_true(json_is(json_get(root, STR("command")), STR("lock")));
    assert_true(json_is(json_get(root, STR("profile")), STR("contract")));
    assert_true(json_is(json_get(root, STR("fail_on")), STR("breaking")));
    assert_str(json_raw(json_get(root, STR("exit_code"))), STR("1"));
    assert_str(json_raw(json_get(root, STR("not_compared"))),
               STR("[{\"list\":\"prompts\",\"lacks\":\"after\"}]"));
    assert_str(
        json_raw(json_get(root, STR("traffic"))),
        STR("{\"calls\":1,\"affected\":1,\"unattributed\":0,\"unattributed_results\":0}"));
    assert_str(json_raw(json_get(root, STR("summary"))),
               STR("{\"breaking\":1,\"security\":0,\"risky\":0,\"routing\":1,\"safe\":0,"
                   "\"cosmetic\":0,\"allowed\":1}"));
    assert_str(json_raw(json_get(first, STR("allowed"))),
               STR("{\"until\":\"2027-01-31\",\"reason\":\"moved\"}"));
    assert_str(json_raw(json_get(first, STR("fails"))), STR("false"));
    assert_str(json_raw(json_get(second, STR("fails"))), STR("true"));
    assert_str(json_raw(json_get(second, STR("after"))), STR("{\"type\":\"string\"}"));
    assert_false(json_exists(json_get(second, STR("before"))));
    assert_str(json_raw(json_get(second, STR("usage"))),
               STR("{\"of\":\"calls\",\"recorded\":1,\"affected\":1,\"not_judged\":0,"
                   "\"seqs\":[7]}"));
    json_release(&j);
    buf_release(&b);
    contract_sample_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_comparison_is_one_object),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
