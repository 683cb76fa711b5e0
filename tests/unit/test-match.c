#include "engine/match.h"

#include "terse.h"
#include "test.h"

/* A recording and a matcher over it; every request was answered with a result
 * unless the recording says otherwise. */
struct bench {
    struct script script;
    struct matcher matcher;
};

static void set_up(struct bench *b, enum match_mode mode, const char *recording)
{
    script_init(&b->script);
    terse_pour(&b->script.sink, recording);
    script_finish(&b->script);
    matcher_init(&b->matcher, &b->script, mode);
}

static void tear_down(struct bench *b)
{
    matcher_release(&b->matcher);
    script_release(&b->script);
}

/* `request` is {'method':...,'params':...}; the seq of what is found, negative if it
 * is given again. */
static int ask(struct bench *b, const char *request)
{
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, request), &s.arena);
    const struct script_op *op = NULL;
    enum match_outcome outcome = matcher_take(&b->matcher, m.method, m.params, &op);

    terse_scanned_release(&s);
    if (outcome == MATCH_NEVER || outcome == MATCH_EXHAUSTED)
        assert_null(op);
    switch (outcome) {
    case MATCH_FOUND:
        return (int)op->seq;
    case MATCH_AGAIN:
        return -(int)op->seq;
    case MATCH_EXHAUSTED:
        return 1000;
    case MATCH_NEVER:
        return 0;
    }
    return 0;
}

enum { NEVER = 0, EXHAUSTED = 1000 };

#define CALL(id, tool, args)                                                                   \
    "c2s {'id':" #id ",'method':'tools/call','params':{'name':'" tool "','arguments':" args    \
    "}}\n"                                                                                     \
    "s2c {'id':" #id ",'result':{}}\n"
#define ASK(tool, args)                                                                        \
    "{'method':'tools/call','params':{'name':'" tool "','arguments':" args "}}"

static void sequential_takes_the_oldest_of_the_same_method_and_subject(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_SEQUENTIAL,
           CALL(1, "a", "{'n':1}") CALL(2, "b", "{}") CALL(3, "a", "{'n':2}"));
    assert_int_equal(ask(&b, ASK("a", "{'n':2}")), 1);
    assert_int_equal(ask(&b, ASK("c", "{}")), NEVER);
    assert_int_equal(ask(&b, ASK("a", "{'other':true}")), 5);
    assert_int_equal(ask(&b, ASK("a", "{'n':1}")), EXHAUSTED);
    assert_int_equal(ask(&b, ASK("b", "{}")), 3);
    tear_down(&b);
}

static void by_request_takes_the_oldest_of_the_same_params(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_BY_REQUEST,
           CALL(1, "a", "{'n':1}") CALL(2, "a", "{'n':2}") CALL(3, "a", "{'n':1}"));
    assert_int_equal(ask(&b, ASK("a", "{'n':2}")), 3);
    assert_int_equal(ask(&b, ASK("a", "{'n':1}")), 1);
    assert_int_equal(ask(&b, ASK("a", "{'n':3}")), NEVER);
    assert_int_equal(ask(&b, ASK("a", "{'n':1}")), 5);
    assert_int_equal(ask(&b, ASK("a", "{'n':1}")), EXHAUSTED);
    tear_down(&b);
}

static void params_are_compared_by_meaning(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        { "{'a':1,'b':2}", "{'b':2,'a':1}", true },
        { "{'a':1}", "{'a':1.0}", true },
        { "{'a':'x'}", "{'a':'`u0078'}", true },
        { "{'a':[1,2]}", "{'a':[2,1]}", false },
        { "{'a':1}", "{'a':'1'}", false },
        { "{'a':null}", "{}", false },
        { "{}", "{'_meta':{'progressToken':1}}", true },
        { "{'a':1,'_meta':{'x':1}}", "{'_meta':{'x':2},'a':1}", true },
        { "{'a':{'_meta':1}}", "{'a':{}}", false },
        { "{'name':'t'}", "{'name':'t','arguments':{}}", true },
        { "{'name':'t','arguments':{}}", "{'name':'t','arguments':{'a':1}}", false },
        { "{'name':'t','arguments':{'_meta':1}}", "{'name':'t'}", false },
        { "{'arguments':{}}", "{}", true },
        { "{'arguments':{}}", "{'_meta':{}}", true },
        { "{'arguments':[]}", "{}", false },
        { "{'arguments':{'arguments':{}}}", "{'arguments':{}}", false },
        { "{'a':{}}", "{}", false },
        { "[]", "{}", false },
        { "[1]", "[1]", true },
        { "[1]", "[2]", false },
        { "{'a':1,'a':2}", "{'a':2}", true },
        { "9007199254740993", "9007199254740992", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct terse_scanned a, b;
        struct json_val va = terse_scan(&a, rows[i].a), vb = terse_scan(&b, rows[i].b);

        if (matcher_same_params(va, vb) != rows[i].same ||
            matcher_same_params(vb, va) != rows[i].same)
            fail_msg("%s and %s are%s the same", rows[i].a, rows[i].b,
                     rows[i].same ? " not" : "");
        terse_scanned_release(&a);
        terse_scanned_release(&b);
    }
}

static void absent_params_are_empty_ones(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_BY_REQUEST,
           "c2s {'id':1,'method':'tools/list'}\ns2c {'id':1,'result':{}}\n"
           "c2s {'id':2,'method':'tools/list','params':{}}\ns2c {'id':2,'result':{}}\n"
           "c2s {'id':3,'method':'tools/call','params':{'name':'t'}}\n"
           "s2c {'id':3,'result':{}}\n");
    assert_int_equal(ask(&b, "{'method':'tools/list','params':{'_meta':{'a':1}}}"), 1);
    assert_int_equal(ask(&b, "{'method':'tools/list'}"), 3);
    assert_int_equal(ask(&b, ASK("t", "{}")), 5);
    tear_down(&b);
}

static void lists_reads_and_polls_are_given_again_and_calls_are_not(void **state)
{
    static const struct {
        const char *request;
        int again;
    } rows[] = {
        { "{'id':1,'method':'tools/list'}", -1 },
        { "{'id':1,'method':'prompts/get','params':{'name':'p'}}", -1 },
        { "{'id':1,'method':'resources/read','params':{'uri':'u'}}", -1 },
        { "{'id':1,'method':'completion/complete','params':{}}", -1 },
        { "{'id':1,'method':'tasks/get','params':{'taskId':'t'}}", -1 },
        { "{'id':1,'method':'tools/call','params':{'name':'t'}}", EXHAUSTED },
        { "{'id':1,'method':'logging/setLevel','params':{'level':'info'}}", EXHAUSTED },
        { "{'id':1,'method':'own/method'}", EXHAUSTED },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf recording;
        struct bench b;

        buf_init(&recording, 1 << 12);
        buf_printf(&recording, "c2s %s\ns2c {'id':1,'result':{}}", rows[i].request);
        set_up(&b, MATCH_BY_REQUEST, buf_z(&recording));
        assert_int_equal(ask(&b, rows[i].request), 1);
        for (int k = 0; k < 3; k++)
            if (ask(&b, rows[i].request) != rows[i].again)
                fail_msg("%s", rows[i].request);
        tear_down(&b);
        buf_release(&recording);
    }
}

static void again_means_the_last_success(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_SEQUENTIAL,
           "c2s {'id':1,'method':'tools/list'}\ns2c {'id':1,'result':{}}\n"
           "c2s {'id':2,'method':'tools/list'}\ns2c {'id':2,'result':{}}\n"
           "c2s {'id':3,'method':'tools/list'}\ns2c {'id':3,'error':{}}\n"
           "c2s {'id':4,'method':'tools/list'}\n");
    assert_int_equal(ask(&b, "{'method':'tools/list'}"), 1);
    assert_int_equal(ask(&b, "{'method':'tools/list'}"), 3);
    assert_int_equal(ask(&b, "{'method':'tools/list'}"), 5);
    assert_int_equal(ask(&b, "{'method':'tools/list'}"), 7);
    assert_int_equal(ask(&b, "{'method':'tools/list'}"), -3);
    tear_down(&b);
}

static void without_any_success_a_list_is_exhausted(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_BY_REQUEST,
           "c2s {'id':1,'method':'tools/list'}\ns2c {'id':1,'error':{}}\n");
    assert_int_equal(ask(&b, "{'method':'tools/list'}"), 1);
    assert_int_equal(ask(&b, "{'method':'tools/list'}"), EXHAUSTED);
    tear_down(&b);
}

/* A client that lists anew wants the first page, not the one it got last. */
static void again_prefers_the_same_params(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_SEQUENTIAL,
           "c2s {'id':1,'method':'tools/list'}\ns2c {'id':1,'result':{}}\n"
           "c2s {'id':2,'method':'tools/list','params':{'cursor':'2'}}\n"
           "s2c {'id':2,'result':{}}\n");
    assert_int_equal(ask(&b, "{'method':'tools/list'}"), 1);
    assert_int_equal(ask(&b, "{'method':'tools/list','params':{'cursor':'2'}}"), 3);
    assert_int_equal(ask(&b, "{'method':'tools/list','params':{}}"), -1);
    assert_int_equal(ask(&b, "{'method':'tools/list','params':{'cursor':'2'}}"), -3);
    assert_int_equal(ask(&b, "{'method':'tools/list','params':{'cursor':'9'}}"), -3);
    tear_down(&b);
}

static void requests_of_the_session_are_not_in_it(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_SEQUENTIAL,
           "c2s {'id':1,'method':'initialize'}\ns2c {'id':1,'result':{}}\n"
           "c2s {'id':2,'method':'ping'}\ns2c {'id':2,'result':{}}\n"
           "c2s {'id':3,'method':'server/discover'}\ns2c {'id':3,'result':{}}\n"
           "c2s {'id':4,'method':'tools/list'}\ns2c {'id':4,'result':{}}\n");
    assert_int_equal(ask(&b, "{'method':'initialize'}"), NEVER);
    assert_int_equal(ask(&b, "{'method':'ping'}"), NEVER);
    for (size_t i = 0; i < 3; i++)
        assert_false(matcher_counts(b.script.ops[i]));
    assert_true(matcher_counts(b.script.ops[3]));
    /* And nobody passes them over. */
    assert_null(matcher_passed_over(&b.matcher, b.script.ops[3]));
    tear_down(&b);
}

static void what_was_passed_over_is_the_oldest_that_is_unused(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_BY_REQUEST, CALL(1, "a", "{}") CALL(2, "b", "{}") CALL(3, "c", "{}"));
    assert_int_equal(ask(&b, ASK("c", "{}")), 5);
    assert_ptr_equal(matcher_passed_over(&b.matcher, b.script.ops[2]), b.script.ops[0]);
    assert_int_equal(ask(&b, ASK("a", "{}")), 1);
    assert_null(matcher_passed_over(&b.matcher, b.script.ops[0]));
    assert_ptr_equal(matcher_passed_over(&b.matcher, b.script.ops[2]), b.script.ops[1]);
    assert_true(matcher_used(&b.matcher, b.script.ops[0]));
    assert_false(matcher_used(&b.matcher, b.script.ops[1]));
    assert_int_equal(ask(&b, ASK("b", "{}")), 3);
    assert_null(matcher_passed_over(&b.matcher, b.script.ops[2]));
    tear_down(&b);
}

static void after_a_reset_all_is_unused(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_SEQUENTIAL, CALL(1, "a", "{}") CALL(2, "a", "{}"));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ask(&b, ASK("a", "{}")), 1);
        assert_int_equal(ask(&b, ASK("a", "{}")), 3);
        assert_int_equal(ask(&b, ASK("a", "{}")), EXHAUSTED);
        matcher_reset(&b.matcher);
        assert_false(matcher_used(&b.matcher, b.script.ops[0]));
        assert_ptr_equal(matcher_passed_over(&b.matcher, b.script.ops[1]), b.script.ops[0]);
    }
    tear_down(&b);
}

/* Names come from the client: no spelling of one may pass for another. */
static void odd_names_do_not_run_into_each_other(void **state)
{
    static const enum match_mode modes[] = { MATCH_SEQUENTIAL, MATCH_BY_REQUEST };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct bench b;

        set_up(&b, modes[i],
               "c2s {'id':1,'method':'x`u0000a'}\n"
               "c2s {'id':2,'method':'tools/call b'}\n"
               "c2s {'id':3,'method':'tools/call','params':{'name':'c`u0000d'}}\n");
        assert_int_equal(ask(&b, "{'method':'x`u0000b'}"), NEVER);
        assert_int_equal(ask(&b, "{'method':'x'}"), NEVER);
        assert_int_equal(ask(&b, "{'method':'tools/call','params':{'name':'b '}}"), NEVER);
        assert_int_equal(ask(&b, "{'method':'tools/call','params':{'name':'c'}}"), NEVER);
        assert_int_equal(ask(&b, "{'method':'tools/call','params':{'name':'c`u0000e'}}"),
                         NEVER);
        assert_int_equal(ask(&b, "{'method':'x`u0000a'}"), 1);
        assert_int_equal(ask(&b, "{'method':'tools/call b'}"), 2);
        assert_int_equal(ask(&b, "{'method':'tools/call','params':{'name':'c`u0000d'}}"), 3);
        tear_down(&b);
    }
}

static void an_empty_recording_has_nothing(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b, MATCH_SEQUENTIAL, "");
    assert_int_equal(ask(&b, "{'method':'tools/list'}"), NEVER);
    matcher_reset(&b.matcher);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequential_takes_the_oldest_of_the_same_method_and_subject),
        cmocka_unit_test(by_request_takes_the_oldest_of_the_same_params),
        cmocka_unit_test(params_are_compared_by_meaning),
        cmocka_unit_test(absent_params_are_empty_ones),
        cmocka_unit_test(lists_reads_and_polls_are_given_again_and_calls_are_not),
        cmocka_unit_test(again_means_the_last_success),
        cmocka_unit_test(without_any_success_a_list_is_exhausted),
        cmocka_unit_test(again_prefers_the_same_params),
        cmocka_unit_test(requests_of_the_session_are_not_in_it),
        cmocka_unit_test(what_was_passed_over_is_the_oldest_that_is_unused),
        cmocka_unit_test(after_a_reset_all_is_unused),
        cmocka_unit_test(odd_names_do_not_run_into_each_other),
        cmocka_unit_test(an_empty_recording_has_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
