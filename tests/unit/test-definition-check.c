#include "check/definition-check.h"

#include <stdio.h>

#include "base/buf.h"
#include "ops/op-builder.h"
#include "terse.h"
#include "test.h"

#define LIST(at, tools)                                                                        \
    at "c2s {'id':1,'method':'tools/list'}\n" at "s2c {'id':1,'result':{'tools':[" tools "]}}" \
       "\n"
#define CALL(at, arguments)                                                                    \
    at "c2s {'id':2,'method':'tools/call','params':{'name':'a','arguments':" arguments "}}\n"
#define RESULT(at, result) at "s2c {'id':2,'result':" result "}\n"
#define NUMBER                                                                                 \
    "{'name':'a','inputSchema':{'properties':{'n':{'type':'number'}}},"                        \
    "'outputSchema':{'required':['m']}}"
#define GOOD RESULT("", "{'structuredContent':{'m':1}}")

static const bool nothing[DEFINITION_RULES] = { false };

static void judge(struct finding_list *l, const char *input, const bool *ignored)
{
    struct definition_check c;
    struct op_builder builder;
    struct err e = ERR_NONE;

    finding_list_init(l);
    definition_check_init(&c);
    op_builder_init(&builder, &c.events);
    terse_feed(&builder.sink, input);
    assert_true(op_builder_finish(&builder, &e));
    definition_check_finish(&c, ignored, l);
    op_builder_release(&builder);
    definition_check_release(&c);
}

/* Expects one finding, or with "" none: "RULE: message". */
static void assert_finding(const char *input, const char *want)
{
    struct finding_list l;
    struct buf got;

    buf_init(&got, 4096);
    judge(&l, input, nothing);
    for (size_t i = 0; i < l.count; i++)
        buf_printf(&got, "%s%.*s: %.*s", i ? "\n" : "", STR_ARG(l.at[i].rule),
                   STR_ARG(l.at[i].message));
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
    finding_list_release(&l);
}

static void rules_have_ids(void **state)
{
    (void)state;
    for (enum definition_rule rule = 0; rule < DEFINITION_RULES; rule++)
        assert_int_equal(definition_check_find(str_z(definition_check_id(rule))), rule);
    assert_int_equal(definition_check_find(STR("no-footer")), DEFINITION_RULES);
}

static void arguments_are_judged(void **state)
{
    (void)state;
    assert_finding(LIST("", NUMBER) CALL("", "{'n':1}") GOOD, "");
    assert_finding(LIST("", NUMBER) CALL("", "{'n':'1'}") GOOD CALL("", "{'n':[]}") GOOD,
                   "input-schema: tool 'a': 2 calls with arguments that the inputSchema "
                   "rejects; the first: $.params.arguments.n must be a number (seq 3)");
}

static void absent_arguments_are_an_empty_object(void **state)
{
    (void)state;
    assert_finding(
        LIST("",
             "{'name':'a','inputSchema':{'required':['n']}}") "c2s "
                                                              "{'id':2,'method':'tools/"
                                                              "call','params':{'name':'a'}}\n",
        "input-schema: tool 'a': 1 call with arguments that the inputSchema rejects: "
        "$.params.arguments.n is missing (seq 3)");
}

static void redacted_values_are_not_judged(void **state)
{
    (void)state;
    assert_finding(LIST("", NUMBER) CALL("", "{'n':'[REDACTED:N]'}") GOOD, "");
}

static void results_are_judged(void **state)
{
    (void)state;
    assert_finding(LIST("", NUMBER) CALL("", "{}") RESULT("", "{'structuredContent':{}}"),
                   "output-schema: tool 'a': 1 result that the outputSchema rejects: "
                   "$.result.structuredContent.m is missing (seq 4)");
    assert_finding(LIST("", NUMBER) CALL("", "{}") RESULT("", "{'isError':true}"), "");
    assert_finding(LIST("", NUMBER) "c2s {'id':2,'method':'tools/call','params':{'name':'a',"
                                    "'task':{}}}\n" RESULT("", "{'task':{'taskId':'t',"
                                                               "'status':'working'}}"),
                   "");
    assert_finding(
        LIST("", NUMBER) CALL("", "{}") "s2c {'id':2,'error':{'code':1,'message':''}}\n", "");
}

static void a_call_before_the_list_is_not_judged(void **state)
{
    (void)state;
    assert_finding(CALL("", "{'n':''}") GOOD LIST("", NUMBER), "");
}

static void sessions_are_separate(void **state)
{
    (void)state;
    assert_finding(LIST("conn=1 ", NUMBER) CALL("conn=2 ", "{'n':''}"), "");
    assert_finding(LIST("session=1 ", NUMBER) CALL("session=2 ", "{'n':''}"), "");
    assert_finding(
        LIST("conn=1 ", NUMBER) CALL("conn=1 ", "{'n':''}"),
        "input-schema: tool 'a': 1 call with arguments that the inputSchema rejects: "
        "$.params.arguments.n must be a number (seq 3)");
}

static void hidden_characters_are_counted_once_for_each_definition(void **state)
{
    (void)state;
    assert_finding(LIST("", "{'name':'a','description':'`u200b`u202e'}")
                       LIST("", "{'name':'a','description':'`u200b`u202e'}"),
                   "hidden-characters: tool 'a': 2 hidden characters (1 invisible, 1 "
                   "bidirectional) (seq 2)");
    assert_finding(LIST("", "{'name':'a','description':'plain é'}"), "");
}

static void ignored_rules_have_no_findings(void **state)
{
    const bool ignored[DEFINITION_RULES] = { [DEFINITION_INPUT_SCHEMA] = true };
    struct finding_list l;

    (void)state;
    judge(&l, LIST("", NUMBER) CALL("", "{'n':''}") RESULT("", "{}"), ignored);
    assert_int_equal(l.count, 1);
    assert_str(l.at[0].rule, STR("output-schema"));
    finding_list_release(&l);
}

/* Expects what is said about calls that were not judged. */
static void assert_unjudged(const char *input, const char *want)
{
    struct definition_check c;
    struct op_builder builder;
    struct err e = ERR_NONE;
    struct buf got;

    buf_init(&got, 4096);
    definition_check_init(&c);
    op_builder_init(&builder, &c.events);
    terse_feed(&builder.sink, input);
    assert_true(op_builder_finish(&builder, &e));
    definition_check_write_unjudged(&got, &c.unjudged);
    assert_str(buf_str(&got), str_z(want));
    op_builder_release(&builder);
    definition_check_release(&c);
    buf_release(&got);
}

static void schemas_that_cannot_be_used_are_told(void **state)
{
    (void)state;
    assert_unjudged(LIST("", NUMBER) CALL("", "{'n':1}") GOOD, "");
    assert_unjudged(LIST("", NUMBER) CALL("", "{'n':'1'}") GOOD, ""); /* it is a finding */
    assert_unjudged(LIST("", "{'name':'a','inputSchema':{'$ref':'http://x/y'},"
                             "'outputSchema':{'properties':{'m':{'type':'sting'}}}}")
                        CALL("", "{'n':1}") GOOD,
                    "1 call and 1 result not judged completely by their schema (not checked: "
                    "type, $ref)");
    assert_unjudged(LIST("", NUMBER) CALL("", "{'n':'[REDACTED:KEY]'}") GOOD,
                    "1 call not judged completely by their schema (redacted values)");
}

static void definitions_beyond_the_limit_judge_nothing(void **state)
{
    enum { MANY = DEFINITION_CHECK_TOOLS };
    static char input[(MANY + 2) * 60];
    struct finding_list l;
    size_t n = 0;

    (void)state;
    n += (size_t)snprintf(input, sizeof input,
                          "c2s {'id':1,'method':'tools/list'}\n"
                          "s2c {'id':1,'result':{'tools':[{'name':'t'}");
    for (int i = 0; i < MANY; i++)
        n += (size_t)snprintf(input + n, sizeof input - n, ",{'name':'%d','inputSchema':false}",
                              i);
    n += (size_t)snprintf(input + n, sizeof input - n, "]}}\n");
    for (int i = MANY - 2; i < MANY; i++)
        n += (size_t)snprintf(input + n, sizeof input - n,
                              "c2s {'id':2,'method':'tools/call','params':{'name':'%d'}}\n", i);
    judge(&l, input, nothing);
    assert_int_equal(l.count, 1);
    assert_str(l.at[0].subject, STR("2046"));
    finding_list_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_have_ids),
        cmocka_unit_test(arguments_are_judged),
        cmocka_unit_test(absent_arguments_are_an_empty_object),
        cmocka_unit_test(redacted_values_are_not_judged),
        cmocka_unit_test(results_are_judged),
        cmocka_unit_test(a_call_before_the_list_is_not_judged),
        cmocka_unit_test(sessions_are_separate),
        cmocka_unit_test(hidden_characters_are_counted_once_for_each_definition),
        cmocka_unit_test(ignored_rules_have_no_findings),
        cmocka_unit_test(schemas_that_cannot_be_used_are_told),
        cmocka_unit_test(definitions_beyond_the_limit_judge_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
