#include "diff/contract-traffic.h"

#include "diff/contract.h"
#include "diff/lock-file.h"
#include "loaded-index.h"

struct rig {
    struct surface sides[2];
    struct contract_changes changes;
    struct contract_traffic traffic;
};

static void begin(struct rig *r, const char *before, const char *after)
{
    struct terse_scanned t;
    struct err e = ERR_NONE;

    for (int i = 0; i < 2; i++) {
        surface_init(&r->sides[i]);
        if (!lock_file_read_value(&r->sides[i], terse_scan(&t, i ? after : before), &e))
            fail_msg("%s", e.msg);
        terse_scanned_release(&t);
    }
    contract_changes_init(&r->changes, CONTRACT_PROFILE_CONTRACT, STR_NONE);
    contract_compare(&r->changes, &r->sides[0], &r->sides[1]);
    contract_traffic_init(&r->traffic, &r->changes, &r->sides[0], &r->sides[1]);
}

static void end(struct rig *r)
{
    contract_traffic_release(&r->traffic);
    contract_changes_release(&r->changes);
    surface_release(&r->sides[0]);
    surface_release(&r->sides[1]);
}

static void call(struct rig *r, uint32_t seq, const char *method, const char *params,
                 const char *result)
{
    struct terse_scanned p, q;

    contract_traffic_add_call(&r->traffic, seq, str_z(method), terse_scan(&p, params),
                              terse_scan(&q, result));
    terse_scanned_release(&p);
    terse_scanned_release(&q);
}

#define TOOL(input) "{'tools':[{'name':'s','inputSchema':" input "}]}"
#define STATE(values) "{'properties':{'state':{'enum':" values "}}}"

static void rejected_calls_are_counted_and_named(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, TOOL(STATE("['open','all']")), TOOL(STATE("['open']")));
    call(&r, 7, "tools/call", "{'name':'s','arguments':{'state':'all'}}", "{}");
    call(&r, 9, "tools/call", "{'name':'s','arguments':{'state':'open'}}", "{}");
    call(&r, 11, "tools/call", "{'name':'s'}", "{}");
    call(&r, 13, "tools/call", "{'name':'other'}", "{}");
    call(&r, 14, "ping", "{}", "{}");
    contract_traffic_end(&r.traffic);
    assert_int_equal(r.traffic.calls, 4);
    assert_int_equal(r.traffic.affected, 1);
    assert_int_equal(r.traffic.unattributed, 0);
    assert_int_equal(r.changes.count, 1);
    assert_int_equal(r.changes.at[0].usage.calls, 3);
    assert_int_equal(r.changes.at[0].usage.affected, 1);
    assert_str(r.changes.at[0].finding.message,
               STR("tool 's': an enum lost values; rejects 1 of 3 recorded calls (#7)"));
    assert_true(contract_decide(&r.changes, FAIL_ON_BREAKING_USED));
    end(&r);
}

static void a_breaking_change_may_affect_no_call(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, TOOL(STATE("['open','all']")), TOOL(STATE("['open']")));
    call(&r, 9, "tools/call", "{'name':'s','arguments':{'state':'open'}}", "{}");
    contract_traffic_end(&r.traffic);
    assert_str(r.changes.at[0].finding.message,
               STR("tool 's': an enum lost values; breaking by schema, no recorded call is "
                   "affected"));
    assert_false(contract_decide(&r.changes, FAIL_ON_BREAKING_USED));
    end(&r);
}

static void a_call_that_was_invalid_before_does_not_count(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, TOOL(STATE("['open','all']")), TOOL(STATE("['open']")));
    call(&r, 9, "tools/call", "{'name':'s','arguments':{'state':'x'}}", "{}");
    assert_int_equal(r.changes.at[0].usage.affected, 0);
    assert_int_equal(r.changes.at[0].usage.undecided, 1);
    end(&r);
}

static void a_redacted_value_is_not_judged(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, TOOL("{'properties':{'k':{'type':'string'}}}"),
          TOOL("{'properties':{'k':{'type':'string','maxLength':3}}}"));
    call(&r, 9, "tools/call", "{'name':'s','arguments':{'k':'[REDACTED:KEY]'}}", "{}");
    contract_traffic_end(&r.traffic);
    assert_int_equal(r.changes.at[0].usage.affected, 0);
    assert_str(r.changes.at[0].finding.message,
               STR("tool 's': a limit was tightened or added; breaking by schema, no recorded "
                   "call is affected; 1 not judged"));
    end(&r);
}

#define SHARED(x)                                                                              \
    TOOL("{'properties':{'a':{'$ref':'#/$defs/x'},'b':{'$ref':'#/$defs/x'}},'$defs':{'x':" x   \
         "}}")

/* A definition is compared at its first place only. */
static void a_rejected_call_fails_although_no_change_explains_it(void **state)
{
    static const enum contract_fail_on all[] = { FAIL_ON_BREAKING,
                                                 (enum contract_fail_on)CONTRACT_SECURITY,
                                                 (enum contract_fail_on)CONTRACT_RISKY,
                                                 FAIL_ON_COSMETIC, FAIL_ON_BREAKING_USED };
    struct rig r;

    (void)state;
    begin(&r, SHARED("{'pattern':'^a'}"), SHARED("{'pattern':'^b'}"));
    call(&r, 1, "tools/call", "{'name':'s','arguments':{'b':'ab'}}", "{}");
    assert_int_equal(r.traffic.unattributed, 1);
    assert_int_equal(r.traffic.affected, 1);
    assert_false(contract_decide(&r.changes, FAIL_ON_BREAKING));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_true(contract_traffic_fails(&r.traffic, all[i]));
    assert_false(contract_traffic_fails(&r.traffic, FAIL_ON_NEVER));
    end(&r);
}

static void a_new_output_schema_may_reject_results(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, TOOL("{}"),
          "{'tools':[{'name':'s','inputSchema':{},"
          "'outputSchema':{'properties':{'n':{'type':'integer'}}}}]}");
    call(&r, 3, "tools/call", "{'name':'s'}", "{'structuredContent':{'n':'x'}}");
    call(&r, 4, "tools/call", "{'name':'s'}", "{'structuredContent':{'n':1}}");
    contract_traffic_end(&r.traffic);
    assert_str(r.changes.at[0].finding.message,
               STR("tool 's': outputSchema was added; affects 1 of 2 recorded results (#3)"));
    assert_false(contract_decide(&r.changes, FAIL_ON_BREAKING));
    assert_true(contract_decide(&r.changes, FAIL_ON_BREAKING_USED));
    assert_int_equal(r.traffic.unattributed_results, 0);
    end(&r);
}

static void a_rejected_result_without_a_change_is_counted(void **state)
{
#define OUTPUT_SHARED(x)                                                                       \
    "{'tools':[{'name':'s','inputSchema':{},'outputSchema':{'properties':"                     \
    "{'a':{'$ref':'#/$defs/x'},'b':{'$ref':'#/$defs/x'}},'$defs':{'x':" x "}}}]}"
    struct rig r;

    (void)state;
    begin(&r, OUTPUT_SHARED("{'minLength':1}"), OUTPUT_SHARED("{'minLength':2}"));
    call(&r, 3, "tools/call", "{'name':'s'}", "{'structuredContent':{'b':'x'}}");
    assert_int_equal(r.traffic.unattributed, 0);
    assert_int_equal(r.traffic.unattributed_results, 1);
    assert_true(contract_traffic_fails(&r.traffic, FAIL_ON_BREAKING_USED));
    assert_false(contract_traffic_fails(&r.traffic, FAIL_ON_BREAKING));
    end(&r);
}

/* Each change gets its own calls. */
static void changes_are_distinguished_by_their_values(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, TOOL("{'properties':{'a':{'type':'string'},'b':{'type':'string'},'z':{}}}"),
          TOOL("{'properties':{'a':{'type':'integer'},'b':{'type':'string'},'c':{'type':'"
               "integer'}},"
               "'required':['c','b'],'additionalProperties':false}"));
    call(&r, 1, "tools/call", "{'name':'s','arguments':{'a':'x','b':'x','c':1}}", "{}");
    call(&r, 2, "tools/call", "{'name':'s','arguments':{'b':'x'}}", "{}");
    call(&r, 3, "tools/call", "{'name':'s','arguments':{'b':'x','c':1,'z':0}}", "{}");
    call(&r, 4, "tools/call", "{'name':'s','arguments':{'b':'x','c':1,'y':0}}", "{}");
    for (size_t i = 0; i < r.changes.count; i++) {
        const struct contract_change *c = &r.changes.at[i];
        uint32_t want = str_eq(c->rule->id, STR("tool.input.type.changed"))              ? 1
                        : str_eq(c->rule->id, STR("tool.input.property.required-added")) ? 2
                        : str_eq(c->rule->id, STR("tool.input.required.added"))          ? 0
                                                                                         : 3;
        bool closed = str_eq(c->rule->id, STR("tool.input.additional.closed")); /* 3 and 4 */

        assert_int_equal(c->usage.seqs[0], want);
        assert_int_equal(c->usage.affected, closed ? 2 : want != 0);
    }
    assert_int_equal(r.changes.count, 5);
    assert_int_equal(r.traffic.affected, 4);
    assert_int_equal(r.traffic.unattributed, 0);
    end(&r);
}

static void a_value_inside_a_union_is_attributed(void **state)
{
    struct rig r;

    (void)state;
    begin(&r,
          TOOL("{'properties':{'f':{'anyOf':[{'type':'object','properties':{'n':{}}},"
               "{'type':'null'}]}}}"),
          TOOL("{'properties':{'f':{'anyOf':[{'type':'object','properties':{'n':"
               "{'type':'string'}}},{'type':'null'}]}}}"));
    call(&r, 5, "tools/call", "{'name':'s','arguments':{'f':{'n':1}}}", "{}");
    assert_int_equal(r.changes.at[0].usage.affected, 1);
    assert_int_equal(r.traffic.unattributed, 0);
    end(&r);
}

static void results_are_validated_against_the_output_schema(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, "{'tools':[{'name':'s','outputSchema':{'properties':{'n':{}}}}]}",
          "{'tools':[{'name':'s','outputSchema':{'properties':{'n':{}},'required':['n']}}]}");
    call(&r, 5, "tools/call", "{'name':'s'}", "{'structuredContent':{'n':1}}");
    call(&r, 6, "tools/call", "{'name':'s'}", "{'structuredContent':{}}");
    call(&r, 7, "tools/call", "{'name':'s'}", "{'isError':true,'structuredContent':{}}");
    contract_traffic_end(&r.traffic);
    assert_int_equal(r.changes.at[0].usage.calls, 2);
    assert_true(r.changes.at[0].usage.results);
    end(&r);
}

#define OUTPUT(n) "{'tools':[{'name':'s','outputSchema':{'properties':{'n':" n "}}}]}"

static void results_are_counted_for_another_type(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, OUTPUT("{'type':'integer'}"), OUTPUT("{'type':'string'}"));
    call(&r, 5, "tools/call", "{'name':'s'}", "{'structuredContent':{'n':1}}");
    call(&r, 6, "tools/call", "{'name':'s'}", "{'structuredContent':{'n':2}}");
    contract_traffic_end(&r.traffic);
    assert_str(r.changes.at[0].finding.message,
               STR("tool 's': the type changed; affects 2 of 2 recorded results (#5 #6)"));
    assert_int_equal(r.traffic.affected, 2);
    assert_true(contract_decide(&r.changes, FAIL_ON_BREAKING_USED));
    end(&r);
}

/* A rule that cannot decide is decided by a call that is rejected. */
static void a_risky_change_that_rejects_calls_fails(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, TOOL("{'properties':{'a':{'pattern':'^a'},'b':{}}}"),
          TOOL("{'properties':{'a':{'pattern':'^.b'}}}"));
    call(&r, 5, "tools/call", "{'name':'s','arguments':{'a':'ab'}}", "{}");
    assert_false(contract_decide(&r.changes, FAIL_ON_BREAKING_USED));
    call(&r, 6, "tools/call", "{'name':'s','arguments':{'b':1}}", "{}"); /* is ignored now */
    assert_false(contract_decide(&r.changes, FAIL_ON_BREAKING_USED));
    call(&r, 7, "tools/call", "{'name':'s','arguments':{'a':'ac'}}", "{}");
    contract_traffic_end(&r.traffic);
    assert_str(r.changes.at[0].rule->id, STR("tool.input.pattern.changed"));
    assert_str(r.changes.at[0].finding.message,
               STR("tool 's': a pattern changed; rejects 1 of 3 recorded calls (#7)"));
    assert_int_equal(r.traffic.affected, 1);
    assert_true(contract_decide(&r.changes, FAIL_ON_BREAKING_USED));
    assert_true(contract_decide(&r.changes, FAIL_ON_BREAKING));
    assert_false(contract_decide(&r.changes, FAIL_ON_NEVER));
    end(&r);
}

static void reads_of_a_removed_template_are_counted(void **state)
{
    struct rig r;

    (void)state;
    begin(&r,
          "{'resources':[],'resourceTemplates':[{'uriTemplate':'file:///{p}','name':'f'},"
          "{'uriTemplate':'db:{t}/rows{?n}','name':'d'}]}",
          "{'resources':[{'uri':'file:///a','name':'a'}],'resourceTemplates':["
          "{'uriTemplate':'db:{t}/rows{?n}','name':'d'}]}");
    call(&r, 5, "resources/read", "{'uri':'file:///a'}", "{}"); /* still there */
    call(&r, 6, "resources/read", "{'uri':'file:///b/c'}", "{}");
    call(&r, 7, "resources/read", "{'uri':'db:x/rows?n=1'}", "{}");
    call(&r, 8, "resources/read", "{'uri':'db:x/row'}", "{}");
    contract_traffic_end(&r.traffic);
    assert_str(r.changes.at[0].finding.message,
               STR("template 'file:///{p}' was removed; rejects 1 of 2 recorded calls (#6)"));
    assert_int_equal(r.traffic.affected, 1);
    assert_int_equal(r.traffic.calls, 4);
    assert_true(contract_decide(&r.changes, FAIL_ON_BREAKING_USED));
    end(&r);
}

static void requests_of_a_removed_capability_are_counted(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, "{'capabilities':{'logging':{},'resources':{'subscribe':true}}}",
          "{'capabilities':{'resources':{}}}");
    call(&r, 5, "resources/read", "{'uri':'a'}", "{}");
    call(&r, 6, "resources/subscribe", "{'uri':'a'}", "{}");
    call(&r, 7, "ping", "{}", "{}");
    assert_int_equal(r.changes.count, 2);
    assert_int_equal(r.changes.at[0].usage.affected, 0); /* logging */
    assert_int_equal(r.changes.at[1].usage.affected, 1);
    assert_int_equal(r.traffic.calls, 2);
    assert_int_equal(r.traffic.affected, 1);
    assert_true(contract_decide(&r.changes, FAIL_ON_BREAKING_USED));
    end(&r);
}

static void removed_tools_prompts_and_resources_affect_all_their_calls(void **state)
{
    struct rig r;

    (void)state;
    begin(&r,
          "{'tools':[{'name':'t','title':'T'}],'prompts':[{'name':'p','title':'P'},"
          "{'name':'q','arguments':[]}],'resources':[{'uri':'a:1'}]}",
          "{'tools':[],'prompts':[{'name':'q','arguments':[{'name':'x','required':true}]}],"
          "'resources':[]}");
    call(&r, 1, "tools/call", "{'name':'t'}", "{}");
    call(&r, 2, "prompts/get", "{'name':'p'}", "{}");
    call(&r, 3, "prompts/get", "{'name':'q'}", "{}");
    call(&r, 4, "prompts/get", "{'name':'q','arguments':{'x':'1'}}", "{}");
    call(&r, 5, "resources/read", "{'uri':'a:1'}", "{}");
    assert_int_equal(r.changes.count, 4);
    for (size_t i = 0; i < r.changes.count; i++)
        assert_int_equal(r.changes.at[i].usage.affected, 1);
    assert_int_equal(r.traffic.affected,
                     3); /* a resource that is missing is no breaking change */
    end(&r);
}

static void calls_of_a_recording_are_read(void **state)
{
    struct loaded_index index;
    struct err e = ERR_NONE;
    struct rig r;

    (void)state;
    loaded_index_init(&index, MATCH_BY_REQUEST,
                      "c2s {'id':1,'method':'tools/call','params':{'name':'s','arguments':"
                      "{'state':'all'}}}\n"
                      "s2c {'id':1,'result':{}}\n"
                      "c2s {'id':2,'method':'tools/call','params':{'name':'s'}}\n");
    begin(&r, TOOL(STATE("['open','all']")), TOOL(STATE("['open']")));
    assert_true(contract_traffic_add_index(&r.traffic, &index.index, &e));
    assert_int_equal(r.changes.at[0].usage.calls, 2);
    assert_int_equal(r.changes.at[0].usage.seqs[0], 1);
    end(&r);
    loaded_index_release(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rejected_calls_are_counted_and_named),
        cmocka_unit_test(a_breaking_change_may_affect_no_call),
        cmocka_unit_test(a_call_that_was_invalid_before_does_not_count),
        cmocka_unit_test(a_redacted_value_is_not_judged),
        cmocka_unit_test(a_rejected_call_fails_although_no_change_explains_it),
        cmocka_unit_test(a_new_output_schema_may_reject_results),
        cmocka_unit_test(a_rejected_result_without_a_change_is_counted),
        cmocka_unit_test(changes_are_distinguished_by_their_values),
        cmocka_unit_test(a_value_inside_a_union_is_attributed),
        cmocka_unit_test(results_are_validated_against_the_output_schema),
        cmocka_unit_test(results_are_counted_for_another_type),
        cmocka_unit_test(a_risky_change_that_rejects_calls_fails),
        cmocka_unit_test(reads_of_a_removed_template_are_counted),
        cmocka_unit_test(requests_of_a_removed_capability_are_counted),
        cmocka_unit_test(removed_tools_prompts_and_resources_affect_all_their_calls),
        cmocka_unit_test(calls_of_a_recording_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
