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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unanswered_request_is_left_out),
        cmocka_unit_test(an_exchange_without_a_response_message_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
