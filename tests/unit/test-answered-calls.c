#include "trace/answered-calls.h"

#include "terse.h"
#include "test.h"

/* Gives the records that belong to no unanswered request to `out`. */
struct filter {
    struct sink sink;
    struct answered_calls calls;
    struct terse out;
};

static bool put_filtered(struct sink *self, const struct record *r, struct err *e)
{
    struct filter *f = (struct filter *)self;

    return !answered_calls_has(&f->calls, r) || f->out.sink.put(&f->out.sink, r, e);
}

static void assert_filtered(const char *text, uint64_t count, const char *want)
{
    struct filter f = { .sink = { put_filtered } };

    answered_calls_init(&f.calls);
    terse_init(&f.out);
    terse_feed(&f.calls.sink, text);
    assert_int_equal(f.calls.count, count);
    terse_feed(&f.sink, text);
    assert_terse(&f.out, want);
    terse_release(&f.out);
    answered_calls_release(&f.calls);
}

static void an_unanswered_request_is_left_out(void **state)
{
    (void)state;
    assert_filtered("conn=1 c2s {'id':1,'method':'initialize'}\n"
                    "conn=1 s2c {'id':1,'result':{}}\n"
                    "conn=1 c2s {'id':2,'method':'a'}\n"
                    "conn=1 c2s {'id':3,'method':'b'}\n"
                    "conn=1 s2c {'id':9,'method':'roots/list'}\n"
                    "conn=1 s2c {'id':3,'error':{}}\n",
                    1,
                    "conn=1 #1 c2s {'id':1,'method':'initialize'}\n"
                    "conn=1 #2 s2c {'id':1,'result':{}}\n"
                    "conn=1 #4 c2s {'id':3,'method':'b'}\n"
                    "conn=1 #5 s2c {'id':9,'method':'roots/list'}\n"
                    "conn=1 #6 s2c {'id':3,'error':{}}\n");
}

static void an_exchange_without_a_response_message_is_left_out(void **state)
{
    (void)state;
    assert_filtered("x=1 c2s {'id':1,'method':'a'}\n"
                    "x=2 c2s {'id':2,'method':'b'}\n"
                    "x=1 http 200\n"
                    "x=2 http 502\n"
                    "x=1 s2c {'id':1,'result':{}}\n"
                    "x=2 http end error\n"
                    "x=1 http end server\n",
                    1,
                    "x=1 #1 c2s {'id':1,'method':'a'}\n"
                    "x=1 http 200 \n"
                    "x=1 #3 s2c {'id':1,'result':{}}\n"
                    "x=1 http end server\n");
}

#define BROKEN_STREAM                                                                          \
    "x=1 c2s {'id':1,'method':'a'}\n"                                                          \
    "| {'type':'http','ev':'response','by':'server','status':200,'exchange':1,'stream':1}\n"   \
    "| {'type':'http','ev':'end','by':'error','clean':false,'exchange':1}\n"
#define RESUMED_STREAM                                                                         \
    "| {'type':'http','ev':'request','method':'GET','exchange':2}\n"                           \
    "| {'type':'http','ev':'response','by':'server','status':200,'exchange':2,'stream':2,"     \
    "'resumes':{'stream':1}}\n"                                                                \
    "x=2 s2c {'id':1,'result':{}}\n"

static void a_response_may_come_on_a_resumed_stream(void **state)
{
    struct answered_calls calls;
    struct record request = { .kind = RECORD_MESSAGE, .has = HAS_EXCHANGE, .exchange = 1 };

    (void)state;
    answered_calls_init(&calls);
    terse_feed(&calls.sink, BROKEN_STREAM);
    assert_false(answered_calls_has(&calls, &request));
    assert_true(answered_calls_any_failed(&calls));
    terse_feed(&calls.sink, RESUMED_STREAM);
    assert_int_equal(calls.count, 1);
    assert_true(answered_calls_has(&calls, &request));
    assert_false(answered_calls_any_failed(&calls));
    answered_calls_release(&calls);
}

static void assert_failed(const char *text, bool failed)
{
    struct answered_calls calls;

    answered_calls_init(&calls);
    terse_feed(&calls.sink, text);
    assert_int_equal(answered_calls_any_failed(&calls), failed);
    answered_calls_release(&calls);
}

#define HTTP(ev, more) "| {'type':'http','ev':'" ev "','exchange':1," more "}\n"
#define REQUEST "x=1 c2s {'id':1,'method':'a'}\n"

static void a_request_fails_by_its_server_or_connection(void **state)
{
    (void)state;
    assert_failed(REQUEST HTTP("end", "'by':'error','clean':false,'why':'reset'"), true);
    assert_failed(REQUEST HTTP("response", "'by':'mcpreel','status':502")
                      HTTP("end", "'by':'mcpreel','clean':true,'why':'server 1 ended'"),
                  true);
    assert_failed(REQUEST HTTP("end", "'by':'client','clean':false"), false);
    assert_failed(REQUEST HTTP("end", "'by':'server','clean':true"), false);
    assert_failed(
        REQUEST HTTP("end", "'by':'mcpreel','clean':false,'why':'" RECORD_WHY_STOPPED "'"),
        false);
    assert_failed(REQUEST HTTP("response", "'by':'mcpreel','status':404")
                      HTTP("end", "'by':'mcpreel','clean':true,'why':'no such session'"),
                  false);
    assert_failed(HTTP("end", "'by':'error','clean':false"), false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unanswered_request_is_left_out),
        cmocka_unit_test(an_exchange_without_a_response_message_is_left_out),
        cmocka_unit_test(a_response_may_come_on_a_resumed_stream),
        cmocka_unit_test(a_request_fails_by_its_server_or_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
