#include "engine/miss.h"

#include "terse.h"
#include "test.h"

static const char recording[] =
    "c2s {'id':1,'method':'tools/call','params':{'name':'add','arguments':{'a':1,'b':2}}}\n"
    "s2c {'id':1,'result':{}}\n"
    "c2s {'id':2,'method':'tools/call','params':{'name':'mul','arguments':{'a':1,'b':3}}}\n"
    "s2c {'id':2,'result':{}}\n"
    "c2s {'id':3,'method':'tools/call','params':{'name':'add','arguments':{'a':5,'b':3}}}\n"
    "s2c {'id':3,'result':{}}\n"
    "c2s {'id':4,'method':'resources/read','params':{'uri':'file:///a'}}\n"
    "s2c {'id':4,'result':{}}\n";

/* The explanation of one miss; data with ' for ". */
struct told {
    struct script script;
    struct terse_scanned live;
    struct miss why;
};

static void explain(struct told *t, const char *recorded, const char *live, bool exhausted)
{
    struct mcp_message m;

    script_init(&t->script);
    terse_pour(&t->script.sink, recorded);
    script_finish(&t->script);
    m = mcp_classify(terse_scan(&t->live, live), &t->live.arena);
    miss_explain(&t->why, &t->script, m.method, m.params, exhausted);
}

static void forget(struct told *t)
{
    miss_release(&t->why);
    terse_scanned_release(&t->live);
    script_release(&t->script);
}

/* Whatever the reason, what to do about it is the same. */
#define HINT "record a session that has it, or go on after misses with --on-unmatched warn"

static void check(const char *live, bool exhausted, const char *message, const char *data,
                  const char *report)
{
    struct arena a = { 0 };
    struct str data_and_hint;
    struct told t;

    explain(&t, recording, live, exhausted);
    assert_str(buf_str(&t.why.message), str_z(message));
    data_and_hint = arena_printf(&a, "%.*s,'hint':'%s'}", (int)strlen(data) - 1, data, HINT);
    assert_str(buf_str(&t.why.data), terse_json(&a, data_and_hint.at));
    assert_str(buf_str(&t.why.report), arena_printf(&a, "%s; %s", report, HINT));
    forget(&t);
    arena_release(&a);
}

static void the_nearest_has_the_fewest_differences(void **state)
{
    (void)state;
    check("{'id':1,'method':'tools/call','params':{'name':'add','arguments':{'a':5,'b':4}}}",
          false, "no recorded answer for tools/call 'add'",
          "{'reason':'never recorded','nearest':{'seq':5,'method':'tools/call','subject':'add',"
          "'differences':[{'path':'$.params.arguments.b','recorded':3,'got':4}]}}",
          "no recorded answer for tools/call 'add'; nearest is #5 tools/call 'add', which "
          "differs at $.params.arguments.b: recorded 3, got 4");
}

static void of_two_as_near_the_first_recorded_one_is_told(void **state)
{
    (void)state;
    check(
        "{'id':1,'method':'tools/call','params':{'name':'add','arguments':{'a':9,'b':9}}}",
        false, "no recorded answer for tools/call 'add'",
        "{'reason':'never recorded','nearest':{'seq':1,'method':'tools/call','subject':'add',"
        "'differences':[{'path':'$.params.arguments.a','recorded':1,'got':9},"
        "{'path':'$.params.arguments.b','recorded':2,'got':9}]}}",
        "no recorded answer for tools/call 'add'; nearest is #1 tools/call 'add', which "
        "differs at $.params.arguments.a: recorded 1, got 9, $.params.arguments.b: recorded 2, "
        "got 9");
}

static void the_same_subject_is_nearer_than_the_same_arguments(void **state)
{
    (void)state;
    check("{'id':1,'method':'tools/call','params':{'name':'mul','arguments':{'x':true}}}",
          false, "no recorded answer for tools/call 'mul'",
          "{'reason':'never recorded','nearest':{'seq':3,'method':'tools/call','subject':'mul',"
          "'differences':[{'path':'$.params.arguments.a','recorded':1},"
          "{'path':'$.params.arguments.b','recorded':3},"
          "{'path':'$.params.arguments.x','got':true}]}}",
          "no recorded answer for tools/call 'mul'; nearest is #3 tools/call 'mul', which "
          "differs at $.params.arguments.a: recorded 1, got nothing, $.params.arguments.b: "
          "recorded 3, got nothing, $.params.arguments.x: recorded nothing, got true");
}

static void a_method_nobody_recorded_has_no_nearest(void **state)
{
    (void)state;
    check("{'id':1,'method':'prompts/get','params':{'name':'p'}}", false,
          "no recorded answer for prompts/get 'p'", "{'reason':'never recorded'}",
          "no recorded answer for prompts/get 'p'");
    check("{'id':1,'method':'own'}", false, "no recorded answer for own",
          "{'reason':'never recorded'}", "no recorded answer for own");
}

static void what_is_used_up_says_so(void **state)
{
    (void)state;
    check("{'id':1,'method':'resources/read','params':{'uri':'file:///a'}}", true,
          "all recorded answers were given for resources/read 'file:///a'",
          "{'reason':'exhausted'}",
          "all recorded answers were given for resources/read 'file:///a'");
}

static void what_does_not_count_for_matching_is_no_difference(void **state)
{
    (void)state;
    check("{'id':1,'method':'resources/read','params':{'_meta':{'progressToken':1},"
          "'uri':'file:///b'}}",
          false, "no recorded answer for resources/read 'file:///b'",
          "{'reason':'never recorded','nearest':{'seq':7,'method':'resources/read',"
          "'subject':'file:///a','differences':[{'path':'$.params.uri',"
          "'recorded':'file:///a','got':'file:///b'}]}}",
          "no recorded answer for resources/read 'file:///b'; nearest is #7 resources/read "
          "'file:///a', which differs at $.params.uri: recorded \"file:///a\", got "
          "\"file:///b\"");
}

static void of_many_differences_five_are_told(void **state)
{
    struct terse_scanned data;
    struct told t;

    (void)state;
    explain(&t, "c2s {'id':1,'method':'m','params':{'a':1,'b':1,'c':1,'d':1,'e':1,'f':1}}",
            "{'id':1,'method':'m','params':{'a':2,'b':2,'c':2,'d':2,'e':2,'f':2}}", false);
    assert_int_equal(
        json_count(json_get(json_get(terse_scan(&data, buf_z(&t.why.data)), STR("nearest")),
                            STR("differences"))),
        5);
    terse_scanned_release(&data);
    forget(&t);
}

/* A request of megabytes must not come back as an error of as many. */
static void long_values_and_names_are_not_repeated(void **state)
{
    struct terse_scanned data;
    struct buf recorded, live;
    struct told t;

    (void)state;
    buf_init(&recorded, 1 << 24);
    buf_init(&live, 1 << 24);
    buf_printf(&recorded, "c2s {'id':1,'method':'tools/call','params':{'name':'%01000000d'}}",
               1);
    buf_printf(&live, "{'id':1,'method':'tools/call','params':{'name':'%01000000d','x':'%d'}}",
               2, 3);
    explain(&t, buf_z(&recorded), buf_z(&live), false);
    assert_true(t.why.message.len < 1024);
    assert_true(t.why.data.len < 16384);
    assert_true(t.why.report.len < 4096);
    terse_scan(&data, buf_z(&t.why.data)); /* is JSON all the same */
    terse_scanned_release(&data);
    forget(&t);
    buf_release(&recorded);
    buf_release(&live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_has_the_fewest_differences),
        cmocka_unit_test(of_two_as_near_the_first_recorded_one_is_told),
        cmocka_unit_test(the_same_subject_is_nearer_than_the_same_arguments),
        cmocka_unit_test(a_method_nobody_recorded_has_no_nearest),
        cmocka_unit_test(what_is_used_up_says_so),
        cmocka_unit_test(what_does_not_count_for_matching_is_no_difference),
        cmocka_unit_test(of_many_differences_five_are_told),
        cmocka_unit_test(long_values_and_names_are_not_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
