#include "ops/op-stats.h"

#include "ops/op-builder.h"
#include "terse.h"
#include "test.h"
#include "trace/limits.h"

/* Records in, through the grouping. */
struct op_stats_run {
    struct operation_sink sink;
    struct op_builder builder;
    struct op_stats op_stats;
};

static bool put_operation(struct operation_sink *self, const struct operation_event *ev,
                          struct err *e)
{
    struct op_stats_run *d = (struct op_stats_run *)self;

    (void)e;
    if (!ev->message)
        op_stats_add(&d->op_stats, ev->op);
    return true;
}

static void open_run(struct op_stats_run *d)
{
    *d = (struct op_stats_run){ .sink = { put_operation } };
    op_builder_init(&d->builder, &d->sink);
    op_stats_init(&d->op_stats, OP_STATS_ROWS);
}

static void finish(struct op_stats_run *d)
{
    struct err e = ERR_NONE;

    assert_true(op_builder_finish(&d->builder, &e));
    op_stats_finish(&d->op_stats);
}

static void feed_traffic(struct op_stats_run *d, const char *input)
{
    open_run(d);
    terse_feed(&d->builder.sink, input);
    finish(d);
}

static void close_run(struct op_stats_run *d)
{
    op_builder_release(&d->builder);
    op_stats_release(&d->op_stats);
}

static const struct op_stats_row *row(const struct op_stats_run *d, size_t index)
{
    assert_true(index < d->op_stats.rows.count);
    return d->op_stats.rows.rows[index];
}

static void assert_range(const struct histogram *h, uint64_t count, uint64_t min, uint64_t max)
{
    assert_non_null(h);
    assert_int_equal(h->count, count);
    assert_int_equal(h->min, min);
    assert_int_equal(h->max, max);
}

static void a_row_has_method_and_subject(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "c2s {'id':1,'method':'tools/call','params':{'name':'add'}}\n"
                     "c2s {'id':2,'method':'tools/call','params':{'name':'sub'}}\n"
                     "c2s {'id':3,'method':'tools/call','params':{'name':'a`u0064d'}}\n"
                     "c2s {'id':4,'method':'resources/read','params':{'uri':'add'}}\n"
                     "c2s {'id':5,'method':'ping'}\n"
                     "s2c {'id':5,'method':'ping'}\n"
                     "c2s {'id':6,'method':'own/method','params':{'name':'x'}}\n");
    assert_int_equal(d.op_stats.rows.count, 6);
    assert_str(row(&d, 0)->method, STR("tools/call"));
    assert_str(row(&d, 0)->subject, STR("add"));
    assert_int_equal(row(&d, 0)->calls, 2);
    assert_str(row(&d, 1)->subject, STR("sub"));
    assert_str(row(&d, 2)->method, STR("resources/read"));
    assert_int_equal(row(&d, 3)->dir, TO_SERVER);
    assert_int_equal(row(&d, 3)->subject.len, 0);
    assert_int_equal(row(&d, 4)->dir, TO_CLIENT);
    assert_str(row(&d, 4)->method, STR("ping"));
    assert_str(row(&d, 5)->method, STR("own/method"));
    assert_int_equal(row(&d, 5)->subject.len, 0);
    close_run(&d);
}

static void rows_are_in_the_order_of_requests(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "c2s {'id':1,'method':'a'}\n"
                     "c2s {'id':2,'method':'b'}\ns2c {'id':2,'result':{}}\n"
                     "c2s {'id':3,'method':'c'}\ns2c {'id':3,'result':{}}\n"
                     "s2c {'id':1,'result':{}}\n");
    assert_str(row(&d, 0)->method, STR("a"));
    assert_str(row(&d, 1)->method, STR("b"));
    assert_str(row(&d, 2)->method, STR("c"));
    close_run(&d);
}

static void polls_of_unknown_tasks_share_a_row(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "c2s {'id':1,'method':'tasks/get','params':{'taskId':'a'}}\n"
                     "c2s {'id':2,'method':'tasks/get','params':{'taskId':'b'}}\n");
    assert_int_equal(d.op_stats.rows.count, 1);
    assert_int_equal(row(&d, 0)->calls, 2);
    assert_int_equal(row(&d, 0)->tasks, 0);
    close_run(&d);
}

static void the_duration_is_from_request_to_response(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "@1000 c2s {'id':1,'method':'ping'}\n"
                     "@1500 c2s {'id':2,'method':'ping'}\n"
                     "@2500 s2c {'id':2,'result':{}}\n"
                     "@9000 s2c {'id':1,'result':{}}\n"
                     "@9100 c2s {'id':3,'method':'ping'}\n");
    assert_int_equal(op_stats_answered(row(&d, 0)), 2);
    assert_range(row(&d, 0)->times.total, 2, 1000, 8000);
    assert_null(row(&d, 0)->times.server);
    assert_null(row(&d, 0)->times.wait);
    assert_int_equal(row(&d, 0)->unanswered, 1);
    assert_int_equal(row(&d, 0)->outcomes[OUTCOME_PENDING], 1);
    close_run(&d);
}

static void without_monotonic_time_the_latency_of_the_file_is_used(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "| {'type':'message','seq':1,'ts':'2026-11-15T21:00:00Z','dir':'c2s',"
                     "'msg':{'id':1,'method':'ping'}}\n"
                     "| {'type':'message','seq':2,'ts':'2026-11-15T21:00:00Z','dir':'s2c',"
                     "'msg':{'id':1,'result':{}},'latency_ms':42}\n"
                     "| {'type':'message','seq':3,'ts':'2026-11-15T21:00:00Z','dir':'c2s',"
                     "'msg':{'id':1,'method':'own'}}\n"
                     "| {'type':'message','seq':4,'ts':'2026-11-15T21:00:00Z','dir':'s2c',"
                     "'msg':{'id':1,'result':{}},'latency_ms':9223372036854775807}\n");
    assert_range(row(&d, 0)->times.total, 1, 42000, 42000);
    assert_range(row(&d, 1)->times.total, 1, INT64_MAX / 4, INT64_MAX / 4);
    close_run(&d);
}

static void without_both_times_nothing_is_measured(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "c2s {'id':1,'method':'a'}\n@5000 s2c {'id':1,'result':{}}\n"
                     "@5000 c2s {'id':2,'method':'a'}\ns2c {'id':2,'result':{}}\n");
    assert_int_equal(op_stats_answered(row(&d, 0)), 2);
    assert_null(row(&d, 0)->times.total);
    close_run(&d);
}

static void a_clock_that_goes_back_gives_no_duration(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "@5000 c2s {'id':1,'method':'ping'}\n@4000 s2c {'id':1,'result':{}}\n");
    assert_range(row(&d, 0)->times.total, 1, 0, 0);
    close_run(&d);
}

static void failures_are_counted_by_side(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
                     "s2c {'id':1,'error':{'code':-32602,'message':''}}\n"
                     "c2s {'id':2,'method':'tools/call','params':{'name':'a'}}\n"
                     "s2c {'id':2,'result':{'isError':true}}\n"
                     "c2s {'id':3,'method':'tools/call','params':{'name':'a'}}\n"
                     "s2c {'id':3,'result':{'isError':false}}\n"
                     "x=1 c2s {'id':4,'method':'tools/call','params':{'name':'a'}}\n"
                     "x=1 http 503\n"
                     "x=1 http end server\n"
                     "x=2 c2s {'id':5,'method':'tools/call','params':{'name':'a'}}\n"
                     "x=2 raw s2c <html>\n"
                     "x=2 http end server\n");
    assert_int_equal(row(&d, 0)->calls, 5);
    assert_int_equal(op_stats_answered(row(&d, 0)), 3);
    assert_int_equal(op_stats_errors(row(&d, 0)), 4);
    assert_int_equal(row(&d, 0)->outcomes[OUTCOME_RPC_ERROR], 1);
    assert_int_equal(row(&d, 0)->outcomes[OUTCOME_TOOL_ERROR], 1);
    assert_int_equal(row(&d, 0)->outcomes[OUTCOME_HTTP_ERROR], 1);
    assert_int_equal(row(&d, 0)->outcomes[OUTCOME_MALFORMED], 1);
    assert_int_equal(row(&d, 0)->unanswered, 0);
    close_run(&d);
}

static void a_cancelled_call_is_not_unanswered(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "@10 c2s {'id':1,'method':'ping'}\n"
                     "@10 c2s {'id':2,'method':'ping'}\n"
                     "@10 c2s {'id':3,'method':'ping'}\n"
                     "@20 c2s {'method':'notifications/cancelled','params':{'requestId':1}}\n"
                     "@20 c2s {'method':'notifications/cancelled','params':{'requestId':1}}\n"
                     "@20 c2s {'method':'notifications/cancelled','params':{'requestId':'2'}}\n"
                     "@20 s2c {'method':'notifications/cancelled','params':{'requestId':2}}\n"
                     "@20 c2s {'method':'notifications/cancelled','params':{'requestId':3}}\n"
                     "@20 c2s {'method':'notifications/cancelled'}\n"
                     "@30 s2c {'id':3,'result':{}}\n");
    assert_int_equal(row(&d, 0)->calls, 3);
    assert_int_equal(row(&d, 0)->cancelled, 2);
    assert_int_equal(d.op_stats.cancelled, 2);
    assert_int_equal(row(&d, 0)->outcomes[OUTCOME_CANCELLED], 1);
    assert_int_equal(row(&d, 0)->outcomes[OUTCOME_LATE], 1);
    assert_int_equal(op_stats_answered(row(&d, 0)), 1);
    assert_int_equal(row(&d, 0)->unanswered, 1);
    /* The duration of a cancelled call says nothing about the server. */
    assert_range(row(&d, 0)->times.total, 1, 20, 20);
    close_run(&d);
}

static void a_call_with_input_rounds_is_one_call(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "@1000 c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
                     "@2000 s2c {'id':1,'result':{'resultType':'input_required',"
                     "'requestState':'s1'}}\n"
                     "@5000 c2s {'id':2,'method':'tools/call','params':{'name':'a',"
                     "'inputResponses':{},'requestState':'s1'}}\n"
                     "@6000 s2c {'id':2,'result':{'resultType':'input_required',"
                     "'requestState':'s2'}}\n"
                     "@7000 c2s {'id':3,'method':'tools/call','params':{'name':'a',"
                     "'requestState':'s`u0032'}}\n"
                     "@8000 s2c {'id':3,'result':{'resultType':'complete'}}\n");
    assert_int_equal(d.op_stats.rows.count, 1);
    assert_int_equal(row(&d, 0)->calls, 1);
    assert_int_equal(row(&d, 0)->retries, 2);
    assert_int_equal(row(&d, 0)->input_required, 1);
    assert_int_equal(op_stats_answered(row(&d, 0)), 1);
    assert_int_equal(row(&d, 0)->unanswered, 0);
    assert_range(row(&d, 0)->times.total, 1, 7000, 7000);
    assert_range(row(&d, 0)->times.server, 1, 3000, 3000);
    assert_range(row(&d, 0)->times.wait, 1, 4000, 4000);
    close_run(&d);
}

static void missing_input_leaves_a_call_pending_but_answered(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(
        &d, "c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
            "s2c {'id':1,'result':{'resultType':'input_required','requestState':'s1'}}\n"
            "c2s {'id':2,'method':'tools/call','params':{'name':'b'}}\n"
            "s2c {'id':2,'result':{'resultType':'input_required','requestState':'s2'}}\n"
            "c2s {'id':3,'method':'tools/call','params':{'name':'b','requestState':'s2'}}\n");
    assert_int_equal(row(&d, 0)->outcomes[OUTCOME_PENDING], 1);
    assert_int_equal(row(&d, 0)->unanswered, 0);
    assert_int_equal(row(&d, 1)->calls, 1);
    assert_int_equal(row(&d, 1)->outcomes[OUTCOME_PENDING], 1);
    assert_int_equal(row(&d, 1)->unanswered, 1);
    assert_int_equal(d.op_stats.unanswered, 1);
    close_run(&d);
}

static void a_retry_of_an_unknown_request_is_a_call(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "@7000 c2s {'id':3,'method':'tools/call','params':{'name':'a',"
                     "'requestState':'unknown'}}\n"
                     "@7300 s2c {'id':3,'result':{}}\n");
    assert_int_equal(row(&d, 0)->calls, 1);
    assert_int_equal(row(&d, 0)->retries, 0);
    assert_range(row(&d, 0)->times.total, 1, 300, 300);
    close_run(&d);
}

static void a_task_is_one_call_however_often_it_is_polled(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(
        &d, "@0 c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
            "@5 s2c {'id':1,'result':{'resultType':'task','taskId':'t','status':'working'}}\n"
            "@10 c2s {'id':2,'method':'tasks/get','params':{'taskId':'t'}}\n"
            "@12 s2c {'id':2,'result':{'taskId':'t','status':'working'}}\n"
            "@20 c2s {'id':3,'method':'tasks/get','params':{'taskId':'t'}}\n"
            "@30 s2c {'id':3,'result':{'taskId':'t','status':'failed',"
            "'error':{'code':-1,'message':''}}}\n"
            "@40 c2s {'id':4,'method':'tasks/get','params':{'taskId':'t'}}\n"
            "@41 s2c {'id':4,'result':{'taskId':'t','status':'failed'}}\n");
    assert_int_equal(d.op_stats.rows.count, 2);
    assert_int_equal(row(&d, 0)->calls, 1);
    assert_int_equal(row(&d, 0)->tasks, 1);
    assert_int_equal(row(&d, 0)->polls, 2);
    assert_int_equal(row(&d, 0)->outcomes[OUTCOME_RPC_ERROR], 1);
    assert_range(row(&d, 0)->times.total, 1, 30, 30);
    /* One that comes after the end is a call of its own. */
    assert_str(row(&d, 1)->method, STR("tasks/get"));
    assert_int_equal(row(&d, 1)->calls, 1);
    close_run(&d);
}

static void a_poll_without_response_is_counted_without_a_row(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d,
                 "c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
                 "s2c {'id':1,'result':{'resultType':'task','taskId':'t','status':'working'}}\n"
                 "c2s {'id':2,'method':'tasks/get','params':{'taskId':'t'}}\n");
    assert_int_equal(d.op_stats.rows.count, 1);
    assert_int_equal(row(&d, 0)->outcomes[OUTCOME_PENDING], 1);
    assert_int_equal(row(&d, 0)->unanswered, 0);
    assert_int_equal(d.op_stats.unanswered, 1);
    close_run(&d);
}

static void the_pages_of_a_list_are_one_call(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "@0 c2s {'id':1,'method':'tools/list'}\n"
                     "@1 s2c {'id':1,'result':{'tools':[],'nextCursor':'b'}}\n"
                     "@5 c2s {'id':2,'method':'tools/list','params':{'cursor':'b'}}\n"
                     "@7 s2c {'id':2,'result':{'tools':[]}}\n");
    assert_int_equal(d.op_stats.rows.count, 1);
    assert_int_equal(row(&d, 0)->calls, 1);
    assert_int_equal(row(&d, 0)->pages, 1);
    assert_range(row(&d, 0)->times.total, 1, 7, 7);
    assert_range(row(&d, 0)->times.server, 1, 3, 3);
    close_run(&d);
}

static void the_members_of_a_batch_are_calls_and_the_batch_is_not(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "batch=1:0/2 c2s {'id':1,'method':'a'}\n"
                     "batch=1:1/2 c2s {'id':2,'method':'b'}\n"
                     "s2c {'id':1,'result':{}}\ns2c {'id':2,'result':{}}\n");
    assert_int_equal(d.op_stats.rows.count, 2);
    assert_int_equal(d.op_stats.count, 3);
    assert_int_equal(d.op_stats.outcomes[OUTCOME_OK], 3);
    close_run(&d);
}

static void server_requests_have_a_row_and_their_time_is_subtracted(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "@0 c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
                     "@1 s2c {'id':1,'result':{}}\n"
                     "@10 c2s {'id':2,'method':'tools/call','params':{'name':'a'}}\n"
                     "@12 s2c {'id':1,'method':'elicitation/create'}\n"
                     "@50 c2s {'id':1,'result':{}}\n"
                     "@60 s2c {'id':2,'result':{}}\n");
    assert_range(row(&d, 0)->times.total, 2, 1, 50);
    assert_range(row(&d, 0)->times.server, 2, 1, 12);
    assert_range(row(&d, 0)->times.wait, 2, 0, 38);
    assert_int_equal(row(&d, 1)->dir, TO_CLIENT);
    assert_range(row(&d, 1)->times.total, 1, 38, 38);
    assert_null(row(&d, 1)->times.wait);
    close_run(&d);
}

static void a_subscription_has_no_response_time(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "c2s {'id':1,'method':'subscriptions/listen','params':{}}\n");
    assert_int_equal(row(&d, 0)->calls, 1);
    assert_int_equal(row(&d, 0)->unanswered, 0);
    assert_int_equal(d.op_stats.unanswered, 0);
    close_run(&d);
}

static void a_redelivered_message_is_not_a_call(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "s2c {'id':1,'method':'ping'}\n"
                     "c2s {'id':1,'result':{}}\n"
                     "redelivers=1 s2c {'id':1,'method':'ping'}\n");
    assert_int_equal(d.op_stats.count, 2);
    assert_int_equal(row(&d, 0)->calls, 1);
    assert_int_equal(row(&d, 0)->unanswered, 0);
    close_run(&d);
}

static void all_operations_are_counted_as_show_lists_them(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "c2s {'id':1,'method':'ping'}\ns2c {'id':1,'result':{}}\n"
                     "c2s {'method':'notifications/initialized'}\n"
                     "s2c {'id':7,'error':{'code':1}}\n"
                     "raw s2c listening\n"
                     "c2s {'id':2,'method':'ping'}\n");
    assert_int_equal(d.op_stats.count, 5);
    assert_int_equal(d.op_stats.outcomes[OUTCOME_OK], 1);
    assert_int_equal(d.op_stats.outcomes[OUTCOME_NONE], 1);
    assert_int_equal(d.op_stats.outcomes[OUTCOME_RPC_ERROR], 1);
    assert_int_equal(d.op_stats.outcomes[OUTCOME_MALFORMED], 1);
    assert_int_equal(d.op_stats.outcomes[OUTCOME_PENDING], 1);
    assert_int_equal(d.op_stats.rows.count, 1);
    close_run(&d);
}

static void a_continuation_has_no_outcome_of_its_own(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d, "c2s {'id':1,'method':'tools/call','params':{'name':'a','task':{}}}\n"
                     "s2c {'id':1,'result':{'task':{'taskId':'T','status':'working'}}}\n"
                     "c2s {'id':2,'method':'tasks/result','params':{'taskId':'T'}}\n"
                     "s2c {'id':2,'result':{'isError':true,'content':[]}}\n");
    assert_int_equal(d.op_stats.count, 2);
    assert_int_equal(d.op_stats.continuations, 1);
    assert_int_equal(d.op_stats.outcomes[OUTCOME_TOOL_ERROR], 1);
    assert_int_equal(d.op_stats.outcomes[OUTCOME_OK], 0);
    close_run(&d);
}

static void names_beyond_the_limit_share_a_row(void **state)
{
    struct arena a = { 0 };
    struct op_stats_run d;

    (void)state;
    open_run(&d);
    for (int i = 0; i < OP_STATS_ROWS + 3; i++)
        terse_feed(&d.builder.sink, arena_printf(&a,
                                                 "c2s {'id':%d,'method':'own/%d'}\n"
                                                 "s2c {'id':%d,'result':{}}",
                                                 i, i, i)
                                        .at);
    terse_feed(&d.builder.sink, "c2s {'id':1,'method':'own/999'}\n"
                                "c2s {'id':2,'method':'own/3'}\n");
    finish(&d);
    assert_int_equal(d.op_stats.rows.count, OP_STATS_ROWS);
    assert_int_equal(((const struct op_stats_row *)d.op_stats.rows.overflow)->calls, 4);
    assert_int_equal(op_stats_answered(d.op_stats.rows.overflow), 3);
    assert_int_equal(((const struct op_stats_row *)d.op_stats.rows.overflow)->unanswered, 1);
    assert_int_equal(row(&d, 3)->calls, 2);
    close_run(&d);
    arena_release(&a);
}

static void long_names_are_cut_and_stay_different(void **state)
{
    enum { LONG = 900 };
    char name[LONG + 1];
    struct arena a = { 0 };
    struct op_stats_run d;

    (void)state;
    memset(name, 'x', LONG);
    name[LONG] = '\0';
    feed_traffic(&d,
                 arena_printf(&a,
                              "c2s {'id':1,'method':'tools/call','params':{'name':'%s1'}}\n"
                              "c2s {'id':2,'method':'tools/call','params':{'name':'%s2'}}\n",
                              name, name)
                     .at);
    assert_int_equal(d.op_stats.rows.count, 2);
    assert_int_equal(row(&d, 0)->subject.len, OP_STATS_TEXT);
    close_run(&d);
    arena_release(&a);
}

static void dropped_operations_are_not_counted_as_unanswered(void **state)
{
    enum { MORE = 10 };
    struct arena a = { 0 };
    struct op_stats_run d;

    (void)state;
    open_run(&d);
    for (size_t i = 0; i < LIMIT_OPEN_OPERATIONS + MORE; i++) {
        arena_clear(&a);
        terse_feed(&d.builder.sink, arena_printf(&a, "c2s {'id':%zu,'method':'ping'}", i).at);
    }
    finish(&d);
    assert_int_equal(row(&d, 0)->outcomes[OUTCOME_PENDING], LIMIT_OPEN_OPERATIONS + MORE);
    assert_int_equal(row(&d, 0)->unanswered, LIMIT_OPEN_OPERATIONS);
    close_run(&d);
    arena_release(&a);
}

/* Bytes of a call are those of its messages, retries, polls and pages; the result is the one
 * that ended it. */
static void bytes_and_results_are_those_of_the_call(void **state)
{
    struct op_stats_run d;

    (void)state;
    feed_traffic(&d,
                 "c2s {'id':1,'method':'tools/list'}\n"
                 "s2c {'id':1,'result':{'tools':[],'nextCursor':'c'}}\n"
                 "c2s {'id':2,'method':'tools/list','params':{'cursor':'c'}}\n"
                 "s2c {'id':2,'result':{'tools':[]}}\n"
                 "c2s {'id':3,'method':'tools/call','params':{'name':'a'}}\n"
                 "s2c {'id':3,'result':{'resultType':'task','taskId':'t','status':'working'}}\n"
                 "c2s {'id':4,'method':'tasks/get','params':{'taskId':'t'}}\n"
                 "s2c {'id':4,'result':{'taskId':'t','status':'completed','result':{'x':1}}}\n"
                 "c2s {'id':5,'method':'tools/call','params':{'name':'a'}}\n"
                 "s2c {'id':5,'error':{'code':1}}\n");
    assert_int_equal(d.op_stats.rows.count, 2);
    assert_int_equal(row(&d, 0)->bytes, 30 + 47 + 54 + 30);
    assert_int_equal(row(&d, 0)->results, 1);
    assert_int_equal(row(&d, 0)->result_bytes, 29 + 12);
    assert_int_equal(row(&d, 1)->results, 1);
    assert_int_equal(row(&d, 1)->result_bytes, 7);
    assert_int_equal(row(&d, 1)->result_max, 7);
    assert_int_equal(row(&d, 1)->bytes, 52 + 71 + 53 + 70 + 52 + 27);
    close_run(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_has_method_and_subject),
        cmocka_unit_test(rows_are_in_the_order_of_requests),
        cmocka_unit_test(polls_of_unknown_tasks_share_a_row),
        cmocka_unit_test(the_duration_is_from_request_to_response),
        cmocka_unit_test(without_monotonic_time_the_latency_of_the_file_is_used),
        cmocka_unit_test(without_both_times_nothing_is_measured),
        cmocka_unit_test(a_clock_that_goes_back_gives_no_duration),
        cmocka_unit_test(failures_are_counted_by_side),
        cmocka_unit_test(a_cancelled_call_is_not_unanswered),
        cmocka_unit_test(a_call_with_input_rounds_is_one_call),
        cmocka_unit_test(missing_input_leaves_a_call_pending_but_answered),
        cmocka_unit_test(a_retry_of_an_unknown_request_is_a_call),
        cmocka_unit_test(a_task_is_one_call_however_often_it_is_polled),
        cmocka_unit_test(a_poll_without_response_is_counted_without_a_row),
        cmocka_unit_test(the_pages_of_a_list_are_one_call),
        cmocka_unit_test(the_members_of_a_batch_are_calls_and_the_batch_is_not),
        cmocka_unit_test(server_requests_have_a_row_and_their_time_is_subtracted),
        cmocka_unit_test(a_subscription_has_no_response_time),
        cmocka_unit_test(a_redelivered_message_is_not_a_call),
        cmocka_unit_test(all_operations_are_counted_as_show_lists_them),
        cmocka_unit_test(a_continuation_has_no_outcome_of_its_own),
        cmocka_unit_test(names_beyond_the_limit_share_a_row),
        cmocka_unit_test(long_names_are_cut_and_stay_different),
        cmocka_unit_test(dropped_operations_are_not_counted_as_unanswered),
        cmocka_unit_test(bytes_and_results_are_those_of_the_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
