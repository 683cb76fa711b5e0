#include "record/recorder.h"

#include "terse.h"
#include "test.h"

struct test_recorder {
    struct terse seen;
    struct recorder tap;
    struct arena arena;
};

static void start(struct test_recorder *r)
{
    *r = (struct test_recorder){ .arena = { NULL, 0 } };
    terse_init(&r->seen);
    recorder_init(&r->tap, &r->seen.sink);
}

static void stop(struct test_recorder *r)
{
    recorder_release(&r->tap);
    terse_release(&r->seen);
    arena_release(&r->arena);
}

static struct recorder_time at_ms(int64_t ms)
{
    return (struct recorder_time){ .us = ms * 1000, .wall_us = 1700000000000000 + ms * 1000 };
}

static void pass(struct test_recorder *r, enum record_dir dir, int64_t ms, const char *line)
{
    struct err e = ERR_NONE;

    assert_true(recorder_add_line(&r->tap, 1, dir, terse_json(&r->arena, line), at_ms(ms), &e));
}

static void messages_are_numbered_and_timed(void **state)
{
    struct test_recorder r;

    (void)state;
    start(&r);
    pass(&r, TO_SERVER, 1, "{'method':'a'}");
    pass(&r, TO_CLIENT, 2, "{'method':'b'}");
    pass(&r, TO_SERVER, 3, "garbage");
    pass(&r, TO_SERVER, 3, "  ");
    pass(&r, TO_SERVER, 4, "{'method':'c'}");
    assert_terse(&r.seen, "@1000 conn=1 #1 c2s {'method':'a'}\n"
                          "@2000 conn=1 #2 s2c {'method':'b'}\n"
                          "@3000 conn=1 raw c2s garbage (not JSON)\n"
                          "@4000 conn=1 #3 c2s {'method':'c'}\n");
    stop(&r);
}

static void a_response_has_a_latency_in_either_direction(void **state)
{
    struct test_recorder r;

    (void)state;
    start(&r);
    pass(&r, TO_SERVER, 10, "{'id':1,'method':'a'}");
    pass(&r, TO_CLIENT, 20, "{'id':1,'method':'b'}");
    pass(&r, TO_SERVER, 50, "{'id':1,'result':{}}");
    pass(&r, TO_CLIENT, 99, "{'id':1,'error':{}}");
    assert_terse(&r.seen, "@10000 conn=1 #1 c2s {'id':1,'method':'a'}\n"
                          "@20000 conn=1 #2 s2c {'id':1,'method':'b'}\n"
                          "@50000 conn=1 #3 c2s {'id':1,'result':{}} latency=30\n"
                          "@99000 conn=1 #4 s2c {'id':1,'error':{}} latency=89\n");
    stop(&r);
}

static void a_response_without_request_has_no_latency(void **state)
{
    struct test_recorder r;

    (void)state;
    start(&r);
    pass(&r, TO_CLIENT, 1, "{'id':1,'result':{}}");
    pass(&r, TO_SERVER, 2, "{'id':1,'method':'a'}");
    pass(&r, TO_SERVER, 3, "{'id':1,'result':{}}");
    assert_terse(&r.seen, "@1000 conn=1 #1 s2c {'id':1,'result':{}}\n"
                          "@2000 conn=1 #2 c2s {'id':1,'method':'a'}\n"
                          "@3000 conn=1 #3 c2s {'id':1,'result':{}}\n");
    stop(&r);
}

static void a_clock_that_goes_back_gives_no_negative_latency(void **state)
{
    struct test_recorder r;

    (void)state;
    start(&r);
    pass(&r, TO_SERVER, 5, "{'id':1,'method':'a'}");
    pass(&r, TO_CLIENT, 5, "{'id':1,'result':{}}");
    pass(&r, TO_SERVER, 5, "{'id':1,'method':'a'}");
    pass(&r, TO_CLIENT, 4, "{'id':1,'result':{}}");
    assert_terse(&r.seen, "@5000 conn=1 #1 c2s {'id':1,'method':'a'}\n"
                          "@5000 conn=1 #2 s2c {'id':1,'result':{}} latency=0\n"
                          "@5000 conn=1 #3 c2s {'id':1,'method':'a'}\n"
                          "@4000 conn=1 #4 s2c {'id':1,'result':{}} latency=0\n");
    stop(&r);
}

static void a_batch_is_numbered_element_by_element(void **state)
{
    struct test_recorder r;

    (void)state;
    start(&r);
    pass(&r, TO_SERVER, 1, "[{'id':1,'method':'a'},{'id':2,'method':'b'}]");
    pass(&r, TO_CLIENT, 3, "[{'id':2,'result':{}},7]");
    assert_terse(
        &r.seen,
        "@1000 conn=1 #1 c2s {'id':1,'method':'a'} batch={'id':1,'index':0,'count':2}\n"
        "@1000 conn=1 #2 c2s {'id':2,'method':'b'} batch={'id':1,'index':1,'count':2}\n"
        "@3000 conn=1 #3 s2c {'id':2,'result':{}} latency=2"
        " batch={'id':2,'index':0,'count':2}\n"
        "@3000 conn=1 raw s2c 7 (not JSON-RPC)\n");
    stop(&r);
}

static void other_records_of_a_session_are_recorded(void **state)
{
    const struct record_header header = { .version = STR("1.0"),
                                          .name = STR("n"),
                                          .upstream = STR("srv") };
    struct test_recorder r;
    struct err e = ERR_NONE;

    (void)state;
    start(&r);
    assert_true(recorder_write_header(&r.tap, &header, at_ms(0), &e));
    assert_true(recorder_add_start(&r.tap, 1, at_ms(1), &e));
    assert_true(recorder_add_stderr(&r.tap, 1, STR("oh \"no\"\n"), at_ms(2), &e));
    assert_true(recorder_add_too_long(&r.tap, 1, TO_CLIENT, 99, at_ms(3), &e));
    assert_true(recorder_add_exit(&r.tap, 1, 3, 0, STR_NONE, at_ms(4), &e));
    assert_true(recorder_add_exit(&r.tap, 2, 0, 9, STR("by us"), at_ms(5), &e));
    assert_terse(&r.seen, "@0 header version=1.0 name=n upstream=srv\n"
                          "@1000 conn=1 proc start\n"
                          "@2000 conn=1 stderr oh 'no'\n\n"
                          "@3000 conn=1 gap s2c messages=1 bytes=99 (too long to be kept)\n"
                          "@4000 conn=1 proc exit code=3\n"
                          "@5000 conn=2 proc exit signal=9 (by us)\n");
    stop(&r);
}

static void the_footer_has_the_totals(void **state)
{
    struct test_recorder r;
    struct err e = ERR_NONE;

    (void)state;
    start(&r);
    pass(&r, TO_SERVER, 1,
         "{'id':1,'method':'initialize','params':{'clientInfo':{'name':'c'}}}");
    pass(&r, TO_CLIENT, 2,
         "{'id':1,'result':{'protocolVersion':'2025-06-18','serverInfo':{'name':'s'}}}");
    pass(&r, TO_SERVER, 3, "{'id':2,'method':'tools/call','params':{'name':'t'}}");
    pass(&r, TO_CLIENT, 4, "{'id':2,'result':{'isError':true}}");
    pass(&r, TO_CLIENT, 5, "{'id':null,'error':{}}");
    pass(&r, TO_CLIENT, 6, "no message");
    buf_clear(&r.seen.text);
    assert_true(recorder_write_footer(&r.tap, 7, at_ms(1234), &e));
    assert_terse(&r.seen, "@1234000 footer messages=2+3=5 ms=1234 errors=2 code=7"
                          " protocol=2025-06-18 server={'name':'s'} client={'name':'c'}\n");
    stop(&r);
}

static void the_footer_of_an_empty_session_has_zero_counts(void **state)
{
    struct test_recorder r;
    struct err e = ERR_NONE;

    (void)state;
    start(&r);
    assert_true(recorder_write_footer(&r.tap, 0, at_ms(1), &e));
    assert_terse(&r.seen, "@1000 footer messages=0+0=0 ms=1 errors=0 code=0"
                          " protocol= server= client=\n");
    stop(&r);
}

static void a_failed_sink_is_reported_and_gets_the_next_record(void **state)
{
    struct test_recorder r;
    struct err e = ERR_NONE;

    (void)state;
    start(&r);
    r.seen.fails = true;
    assert_false(recorder_add_line(&r.tap, 1, TO_SERVER, STR("{\"id\":1,\"method\":\"a\"}"),
                                   at_ms(1), &e));
    assert_string_equal(e.msg, "no room");
    r.seen.fails = false;
    pass(&r, TO_CLIENT, 5, "{'id':1,'result':{}}");
    /* The number that is missing shows that something is; pairing has seen it. */
    assert_terse(&r.seen, "@5000 conn=1 #2 s2c {'id':1,'result':{}} latency=4\n");
    stop(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_numbered_and_timed),
        cmocka_unit_test(a_response_has_a_latency_in_either_direction),
        cmocka_unit_test(a_response_without_request_has_no_latency),
        cmocka_unit_test(a_clock_that_goes_back_gives_no_negative_latency),
        cmocka_unit_test(a_batch_is_numbered_element_by_element),
        cmocka_unit_test(other_records_of_a_session_are_recorded),
        cmocka_unit_test(the_footer_has_the_totals),
        cmocka_unit_test(the_footer_of_an_empty_session_has_zero_counts),
        cmocka_unit_test(a_failed_sink_is_reported_and_gets_the_next_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
