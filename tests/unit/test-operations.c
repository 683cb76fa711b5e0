#include "engine/operations.h"

#include "terse.h"
#include "test.h"
#include "trace/limits.h"

/* Messages of a story go where they belong; what is found is written down. */
struct desk {
    struct sink sink;
    struct operations ops;
    struct buf verdicts; /* one letter per answer, '!' for an id in use */
};

static bool desk_put(struct sink *self, const struct record *r, struct err *e)
{
    struct desk *d = (struct desk *)self;
    const struct pairing_request *asked;
    struct arena a = { 0 };
    struct mcp_message m = mcp_classify(r->message.msg, &a);

    (void)e;
    if (m.kind == MCP_REQUEST && !operations_ask(&d->ops, r, &m))
        buf_add_ch(&d->verdicts, '!');
    if (m.kind == MCP_NOTIFICATION)
        operations_cancel(&d->ops, r, &m);
    if (mcp_is_response(&m))
        buf_add_ch(&d->verdicts, "eldu"[operations_answer(&d->ops, r, &m, &asked)]);
    arena_release(&a);
    return true;
}

static void open_desk(struct desk *d, const char *story)
{
    *d = (struct desk){ .sink = { desk_put } };
    operations_init(&d->ops);
    buf_init(&d->verdicts, 1 << 20);
    terse_pour(&d->sink, story);
}

static void close_desk(struct desk *d)
{
    operations_release(&d->ops);
    buf_release(&d->verdicts);
}

static const struct operation *op(const struct desk *d, size_t index)
{
    assert_true(index < d->ops.rows.count);
    return d->ops.rows.rows[index];
}

static void an_operation_is_a_method_and_what_it_is_about(void **state)
{
    struct desk d;

    (void)state;
    open_desk(&d, "c2s {'id':1,'method':'tools/call','params':{'name':'add'}}\n"
                  "c2s {'id':2,'method':'tools/call','params':{'name':'sub'}}\n"
                  "c2s {'id':3,'method':'tools/call','params':{'name':'a`u0064d'}}\n"
                  "c2s {'id':4,'method':'resources/read','params':{'uri':'add'}}\n"
                  "c2s {'id':5,'method':'ping'}\n"
                  "s2c {'id':5,'method':'ping'}\n"
                  "c2s {'id':6,'method':'own/method','params':{'name':'x'}}\n");
    assert_int_equal(d.ops.rows.count, 6);
    assert_str(op(&d, 0)->method, STR("tools/call"));
    assert_str(op(&d, 0)->subject, STR("add"));
    assert_int_equal(operations_calls(op(&d, 0)), 2);
    assert_str(op(&d, 1)->subject, STR("sub"));
    assert_str(op(&d, 2)->method, STR("resources/read"));
    assert_int_equal(op(&d, 3)->dir, TO_SERVER);
    assert_int_equal(op(&d, 3)->subject.len, 0);
    assert_int_equal(op(&d, 4)->dir, TO_CLIENT);
    assert_str(op(&d, 4)->method, STR("ping"));
    assert_str(op(&d, 5)->method, STR("own/method"));
    assert_int_equal(op(&d, 5)->subject.len, 0);
    close_desk(&d);
}

static void tasks_do_not_make_a_row_each(void **state)
{
    struct desk d;

    (void)state;
    open_desk(&d, "c2s {'id':1,'method':'tasks/get','params':{'taskId':'a'}}\n"
                  "c2s {'id':2,'method':'tasks/get','params':{'taskId':'b'}}\n");
    assert_int_equal(d.ops.rows.count, 1);
    assert_int_equal(op(&d, 0)->requests, 2);
    close_desk(&d);
}

static void latency_is_from_request_to_answer(void **state)
{
    struct desk d;

    (void)state;
    open_desk(&d, "@1000 c2s {'id':1,'method':'ping'}\n"
                  "@1500 c2s {'id':2,'method':'ping'}\n"
                  "@2500 s2c {'id':2,'result':{}}\n"
                  "@9000 s2c {'id':1,'result':{}}\n"
                  "@9100 c2s {'id':3,'method':'ping'}\n");
    assert_int_equal(op(&d, 0)->answered, 2);
    assert_int_equal(op(&d, 0)->latency->count, 2);
    assert_int_equal(op(&d, 0)->latency->min, 1000);
    assert_int_equal(op(&d, 0)->latency->max, 8000);
    assert_int_equal(operations_unanswered(op(&d, 0)), 1);
    close_desk(&d);
}

static void without_a_fine_clock_the_file_itself_says_how_long(void **state)
{
    struct desk d;

    (void)state;
    open_desk(&d, "| {'type':'message','seq':1,'ts':'2026-11-15T21:00:00Z','dir':'c2s',"
                  "'msg':{'id':1,'method':'ping'}}\n"
                  "| {'type':'message','seq':2,'ts':'2026-11-15T21:00:00Z','dir':'s2c',"
                  "'msg':{'id':1,'result':{}},'latency_ms':42}\n"
                  "| {'type':'message','seq':3,'ts':'2026-11-15T21:00:00Z','dir':'c2s',"
                  "'msg':{'id':1,'method':'own'}}\n"
                  "| {'type':'message','seq':4,'ts':'2026-11-15T21:00:00Z','dir':'s2c',"
                  "'msg':{'id':1,'result':{}},'latency_ms':9223372036854775807}\n");
    assert_int_equal(op(&d, 0)->latency->max, 42000);
    assert_int_equal(op(&d, 1)->latency->max, INT64_MAX);
    close_desk(&d);
}

static void without_the_time_of_both_nothing_is_measured(void **state)
{
    struct desk d;

    (void)state;
    open_desk(&d, "c2s {'id':1,'method':'a'}\n@5000 s2c {'id':1,'result':{}}\n"
                  "@5000 c2s {'id':2,'method':'a'}\ns2c {'id':2,'result':{}}\n");
    assert_int_equal(op(&d, 0)->answered, 2);
    assert_null(op(&d, 0)->latency);
    close_desk(&d);
}

static void a_clock_that_steps_back_gives_no_time(void **state)
{
    struct desk d;

    (void)state;
    open_desk(&d, "@5000 c2s {'id':1,'method':'ping'}\n@4000 s2c {'id':1,'result':{}}\n");
    assert_int_equal(op(&d, 0)->latency->count, 1);
    assert_int_equal(op(&d, 0)->latency->max, 0);
    close_desk(&d);
}

static void errors_of_the_protocol_and_of_tools_are_two_things(void **state)
{
    struct desk d;

    (void)state;
    open_desk(&d, "c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
                  "s2c {'id':1,'error':{'code':-32602,'message':''}}\n"
                  "c2s {'id':2,'method':'tools/call','params':{'name':'a'}}\n"
                  "s2c {'id':2,'result':{'isError':true}}\n"
                  "c2s {'id':3,'method':'tools/call','params':{'name':'a'}}\n"
                  "s2c {'id':3,'result':{'isError':false}}\n");
    assert_int_equal(op(&d, 0)->answered, 3);
    assert_int_equal(op(&d, 0)->rpc_errors, 1);
    assert_int_equal(op(&d, 0)->tool_errors, 1);
    close_desk(&d);
}

static void second_answers_are_not_those_nobody_asked_for(void **state)
{
    struct desk d;

    (void)state;
    open_desk(&d, "c2s {'id':1,'method':'ping'}\n"
                  "s2c {'id':1,'result':{}}\n"
                  "s2c {'id':1,'result':{}}\n"
                  "s2c {'id':'1','result':{}}\n"
                  "s2c {'id':2,'result':{}}\n"
                  "c2s {'id':1,'result':{}}\n"
                  "conn=2 s2c {'id':1,'result':{}}\n"
                  "s2c {'id':null,'error':{'code':-32700,'message':''}}\n"
                  "s2c {'id':1.0,'result':{}}\n");
    assert_str(buf_str(&d.verdicts), STR("eduuuuud"));
    assert_int_equal(op(&d, 0)->answered, 1);
    close_desk(&d);
}

static void an_id_may_be_used_again_when_it_is_free(void **state)
{
    struct desk d;

    (void)state;
    open_desk(&d, "c2s {'id':1,'method':'ping'}\n"
                  "s2c {'id':1,'result':{}}\n"
                  "c2s {'id':1,'method':'ping'}\n"
                  "s2c {'id':1,'method':'ping'}\n"
                  "c2s {'id':1,'method':'ping'}\n"
                  "s2c {'id':1,'result':{}}\n"
                  "s2c {'id':1,'result':{}}\n");
    assert_str(buf_str(&d.verdicts), STR("e!ee"));
    close_desk(&d);
}

static void what_is_cancelled_is_not_unanswered(void **state)
{
    struct desk d;

    (void)state;
    open_desk(&d, "c2s {'id':1,'method':'ping'}\n"
                  "c2s {'id':2,'method':'ping'}\n"
                  "c2s {'id':3,'method':'ping'}\n"
                  "c2s {'method':'notifications/cancelled','params':{'requestId':1}}\n"
                  "c2s {'method':'notifications/cancelled','params':{'requestId':1}}\n"
                  "c2s {'method':'notifications/cancelled','params':{'requestId':'2'}}\n"
                  "s2c {'method':'notifications/cancelled','params':{'requestId':2}}\n"
                  "c2s {'method':'notifications/cancelled','params':{'requestId':3}}\n"
                  "c2s {'method':'notifications/cancelled'}\n"
                  "s2c {'id':3,'result':{}}\n");
    assert_str(buf_str(&d.verdicts), STR("l"));
    assert_int_equal(op(&d, 0)->requests, 3);
    assert_int_equal(op(&d, 0)->cancelled, 2);
    assert_int_equal(op(&d, 0)->late, 1);
    assert_int_equal(op(&d, 0)->answered, 1);
    assert_int_equal(operations_unanswered(op(&d, 0)), 1);
    close_desk(&d);
}

static void a_call_that_wants_input_is_one_call(void **state)
{
    struct desk d;

    (void)state;
    open_desk(&d, "@1000 c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
                  "@2000 s2c {'id':1,'result':{'resultType':'input_required',"
                  "'requestState':'s1'}}\n"
                  "@5000 c2s {'id':2,'method':'tools/call','params':{'name':'a',"
                  "'inputResponses':{},'requestState':'s1'}}\n"
                  "@6000 s2c {'id':2,'result':{'resultType':'input_required',"
                  "'requestState':'s2'}}\n"
                  "@7000 c2s {'id':3,'method':'tools/call','params':{'name':'a',"
                  "'requestState':'s`u0032'}}\n"
                  "@8000 s2c {'id':3,'result':{'resultType':'complete'}}\n");
    assert_int_equal(d.ops.rows.count, 1);
    assert_int_equal(operations_calls(op(&d, 0)), 1);
    assert_int_equal(op(&d, 0)->requests, 3);
    assert_int_equal(op(&d, 0)->wanted_input, 2);
    assert_int_equal(op(&d, 0)->answered, 1);
    assert_int_equal(operations_unanswered(op(&d, 0)), 0);
    assert_int_equal(op(&d, 0)->latency->count, 1);
    assert_int_equal(op(&d, 0)->latency->max, 7000);
    close_desk(&d);
}

static void without_state_a_retry_is_timed_alone(void **state)
{
    struct desk d;

    (void)state;
    open_desk(&d, "@1000 c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
                  "@2000 s2c {'id':1,'result':{'resultType':'input_required'}}\n"
                  "@5000 c2s {'id':2,'method':'tools/call','params':{'name':'a',"
                  "'inputResponses':{}}}\n"
                  "@6000 s2c {'id':2,'result':{}}\n"
                  "@7000 c2s {'id':3,'method':'tools/call','params':{'name':'a',"
                  "'requestState':'unknown'}}\n"
                  "@7300 s2c {'id':3,'result':{}}\n");
    assert_int_equal(operations_calls(op(&d, 0)), 1);
    assert_int_equal(op(&d, 0)->latency->min, 300);
    assert_int_equal(op(&d, 0)->latency->max, 1000);
    close_desk(&d);
}

static void who_listens_waits_for_no_answer(void **state)
{
    struct desk d;

    (void)state;
    open_desk(&d, "c2s {'id':1,'method':'subscriptions/listen','params':{}}\n");
    assert_int_equal(op(&d, 0)->requests, 1);
    assert_int_equal(operations_unanswered(op(&d, 0)), 0);
    close_desk(&d);
}

static void another_recording_starts_anew(void **state)
{
    struct desk d;

    (void)state;
    open_desk(&d, "@1000 c2s {'id':1,'method':'ping'}\n"
                  "@2000 c2s {'id':2,'method':'ping'}\n"
                  "@3000 s2c {'id':2,'result':{}}\n");
    operations_restart(&d.ops);
    terse_pour(&d.sink, "@10 s2c {'id':2,'result':{}}\n"
                        "@20 c2s {'id':1,'method':'ping'}\n"
                        "@30 s2c {'id':1,'result':{}}\n");
    assert_str(buf_str(&d.verdicts), STR("eue"));
    assert_int_equal(op(&d, 0)->requests, 3);
    assert_int_equal(operations_unanswered(op(&d, 0)), 1);
    assert_int_equal(op(&d, 0)->latency->min, 10);
    close_desk(&d);
}

static void names_beyond_the_limit_share_a_row(void **state)
{
    struct arena a = { 0 };
    struct desk d;

    (void)state;
    open_desk(&d, "");
    for (int i = 0; i < OPERATIONS_MAX + 3; i++)
        terse_pour(&d.sink, arena_printf(&a, "c2s {'id':%d,'method':'own/%d'}", i, i).at);
    terse_pour(&d.sink, "c2s {'method':'notifications/cancelled','params':{'requestId':514}}\n"
                        "s2c {'id':513,'result':{}}\n"
                        "s2c {'id':511,'result':{}}\n");
    assert_int_equal(d.ops.rows.count, OPERATIONS_MAX);
    assert_int_equal(((const struct operation *)d.ops.rows.others)->requests, 3);
    assert_int_equal(((const struct operation *)d.ops.rows.others)->answered, 1);
    assert_int_equal(((const struct operation *)d.ops.rows.others)->cancelled, 1);
    assert_int_equal(operations_unanswered(d.ops.rows.others), 1);
    assert_int_equal(op(&d, 511)->answered, 1);
    close_desk(&d);
    arena_release(&a);
}

static void long_names_are_cut_but_told_apart(void **state)
{
    enum { LONG = 4000 };
    char name[LONG + 1];
    struct arena a = { 0 };
    struct desk d;

    (void)state;
    memset(name, 'x', LONG);
    name[LONG] = '\0';
    open_desk(&d, "");
    for (int i = 0; i < 2; i++)
        terse_pour(&d.sink, arena_printf(&a,
                                         "c2s {'id':%d,'method':'tools/call',"
                                         "'params':{'name':'%s%d'}}",
                                         i, name, i)
                                .at);
    assert_int_equal(d.ops.rows.count, 2);
    assert_int_equal(op(&d, 0)->subject.len, OPERATIONS_TEXT);
    close_desk(&d);
    arena_release(&a);
}

static void what_waits_is_bounded_by_its_text(void **state)
{
    enum { LONG = 100000 };
    static char name[LONG + 1];
    struct desk d;

    (void)state;
    memset(name, 'x', LONG);
    open_desk(&d, "");
    for (int i = 0; i < 100; i++) {
        struct arena a = { 0 };
        terse_pour(&d.sink, arena_printf(&a,
                                         "c2s {'id':%d,'method':'tools/call',"
                                         "'params':{'name':'%s'}}",
                                         i, name)
                                .at);
        arena_release(&a);
    }
    assert_true(d.ops.pairs.text <= LIMIT_OPEN_TEXT);
    assert_true(d.ops.pairs.text > LIMIT_OPEN_TEXT - 2 * LONG);
    assert_int_equal(operations_unanswered(op(&d, 0)), 100);
    terse_pour(&d.sink, "s2c {'id':0,'result':{}}\ns2c {'id':99,'result':{}}\n");
    assert_str(buf_str(&d.verdicts), STR("ue"));
    close_desk(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operation_is_a_method_and_what_it_is_about),
        cmocka_unit_test(tasks_do_not_make_a_row_each),
        cmocka_unit_test(latency_is_from_request_to_answer),
        cmocka_unit_test(without_a_fine_clock_the_file_itself_says_how_long),
        cmocka_unit_test(without_the_time_of_both_nothing_is_measured),
        cmocka_unit_test(a_clock_that_steps_back_gives_no_time),
        cmocka_unit_test(errors_of_the_protocol_and_of_tools_are_two_things),
        cmocka_unit_test(second_answers_are_not_those_nobody_asked_for),
        cmocka_unit_test(an_id_may_be_used_again_when_it_is_free),
        cmocka_unit_test(what_is_cancelled_is_not_unanswered),
        cmocka_unit_test(a_call_that_wants_input_is_one_call),
        cmocka_unit_test(without_state_a_retry_is_timed_alone),
        cmocka_unit_test(who_listens_waits_for_no_answer),
        cmocka_unit_test(another_recording_starts_anew),
        cmocka_unit_test(names_beyond_the_limit_share_a_row),
        cmocka_unit_test(long_names_are_cut_but_told_apart),
        cmocka_unit_test(what_waits_is_bounded_by_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
