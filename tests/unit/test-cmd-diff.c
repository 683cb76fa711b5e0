#include "cli.h"
#include "test.h"

#define REQUEST(id, name)                                                                      \
    "{'jsonrpc':'2.0','id':" #id ",'method':'tools/call','params':{'name':'" name "'}}\n"
#define ANSWER(id, n) "{'jsonrpc':'2.0','id':" #id ",'result':{'n':" #n "}}\n"

static void put_files(struct cli *d)
{
    cli_put_file(d, "a.jsonl", REQUEST(1, "x") ANSWER(1, 1) REQUEST(2, "y") ANSWER(2, 2));
    cli_put_file(d, "b.jsonl", REQUEST(1, "x") ANSWER(1, 5) REQUEST(3, "z") ANSWER(3, 3));
}

#define NO_CONTRACT "no contract on either side: there are no lists\n\n"
#define CHANGES                                                                                \
    "a.jsonl → b.jsonl\n\n" NO_CONTRACT                                                        \
    "~ tools/call x                                 #1 → #1\n"                               \
    "    $.result.n\n      - 1\n      + 5\n"                                                   \
    "- tools/call y                                 #3\n"                                      \
    "+ tools/call z                                    → #3\n\n"                             \
    "1 changed · 1 added · 1 removed\n"

static void differences_are_listed(void **state)
{
    struct cli *d = *state;

    put_files(d);
    assert_run(d, "mcpreel diff a.jsonl b.jsonl", 0, CHANGES, "");
    assert_run(d, "mcpreel diff --exit-code a.jsonl b.jsonl", 1, CHANGES, "");
}

static void a_file_does_not_differ_from_itself(void **state)
{
    struct cli *d = *state;

    put_files(d);
    assert_run(d, "mcpreel diff --exit-code a.jsonl a.jsonl", 0,
               "a.jsonl → a.jsonl\n\n" NO_CONTRACT "2 same\n", "");
}

static void filters_and_rules_apply(void **state)
{
    struct cli *d = *state;

    put_files(d);
    assert_run(d, "mcpreel diff --exit-code --only tool:x --ignore-fields n a.jsonl b.jsonl", 0,
               "a.jsonl → b.jsonl\n\n" NO_CONTRACT "1 same\n", "");
    assert_int_equal(cli_run(d, "mcpreel diff --skip is:nothing a.jsonl b.jsonl"), 2);
    assert_int_equal(cli_run(d, "mcpreel diff --volatile x a.jsonl b.jsonl"), 2);
}

static void json_has_the_calls_and_totals(void **state)
{
    struct cli *d = *state;

    put_files(d);
    assert_int_equal(cli_run(d, "mcpreel diff --json --exit-code a.jsonl b.jsonl"), 1);
    assert_non_null(strstr(buf_z(&d->out), "\"command\":\"diff\",\"before\":\"a.jsonl\""));
    assert_non_null(strstr(buf_z(&d->out), "\"path\":\"$.result.n\",\"before\":1,\"after\":5"));
    assert_non_null(strstr(buf_z(&d->out), "\"exit_code\":1}\n"));
}

static void reports_have_a_verdict_for_each_call(void **state)
{
    struct cli *d = *state;

    put_files(d);
    assert_int_equal(cli_run(d, "mcpreel diff --report junit=r.xml a.jsonl b.jsonl"), 0);
    assert_non_null(strstr(cli_get_file(d, "r.xml"), "failures='3'"));
    assert_int_equal(cli_run(d, "mcpreel diff --report b.jsonl a.jsonl b.jsonl"), 2);
}

static void bad_input_is_one_error(void **state)
{
    struct cli *d = *state;

    put_files(d);
    cli_put_file(d, "empty", "");
    assert_run(d, "mcpreel diff a.jsonl", 2, "",
               "mcpreel: nothing to compare 'a.jsonl' with\n"
               "  mcpreel diff before.jsonl after.jsonl\n"
               "  mcpreel diff --git HEAD session.jsonl\n"
               "  mcpreel diff session.jsonl -- COMMAND\n"
               "  mcpreel diff --url URL session.jsonl\n");
    assert_int_equal(cli_run(d, "mcpreel diff a.jsonl missing.jsonl"), 3);
    assert_int_equal(cli_run(d, "mcpreel diff - a.jsonl"), 2);
    assert_int_equal(cli_run(d, "mcpreel diff --git HEAD a.jsonl b.jsonl"), 2);
    assert_int_equal(cli_run(d, "mcpreel diff empty a.jsonl"), 3);
    assert_int_equal(cli_run(d, "mcpreel diff --timeout 1s a.jsonl b.jsonl"), 2);
    assert_int_equal(cli_run(d, "mcpreel diff a.jsonl b.jsonl -- sh"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(differences_are_listed),
        WITH_CLI(a_file_does_not_differ_from_itself),
        WITH_CLI(filters_and_rules_apply),
        WITH_CLI(json_has_the_calls_and_totals),
        WITH_CLI(reports_have_a_verdict_for_each_call),
        WITH_CLI(bad_input_is_one_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
