#include "runtime/traffic-recorder.h"

#include "terse-traffic.h"

#define CALL(n) "{\"id\":" #n ",\"method\":\"ping\"}"
#define RESULT(n) "{\"id\":" #n ",\"result\":{}}"

static void connections_are_recorded_under_their_numbers(void **state)
{
    struct terse_traffic t;

    (void)state;
    terse_traffic_init(&t);
    traffic_recorder_add_start(&t.recorder, 1);
    traffic_recorder_add_start(&t.recorder, 2);
    traffic_recorder_add_line(&t.recorder, 1, TO_SERVER, STR(CALL(1)));
    traffic_recorder_add_line(&t.recorder, 2, TO_SERVER, STR(CALL(1)));
    traffic_recorder_add_line(&t.recorder, 2, TO_CLIENT, STR(RESULT(1)));
    traffic_recorder_add_stderr(&t.recorder, 2, STR("hm"));
    traffic_recorder_add_too_long(&t.recorder, 1, TO_CLIENT, 99);
    traffic_recorder_add_exit(&t.recorder, 1, 3, 0, STR_NONE);
    assert_int_equal(traffic_recorder_too_long(&t.recorder), 1);
    assert_terse(&t.records, "conn=1 proc start\n"
                             "conn=2 proc start\n"
                             "conn=1 #1 c2s {'id':1,'method':'ping'}\n"
                             "conn=2 #2 c2s {'id':1,'method':'ping'}\n"
                             "conn=2 #3 s2c {'id':1,'result':{}}\n"
                             "conn=2 stderr hm\n"
                             "conn=1 gap s2c messages=1 bytes=99 (too long to be kept)\n"
                             "conn=1 proc exit code=3\n");
    assert_int_equal(t.failures.len, 0);
    terse_traffic_release(&t);
}

static void every_record_passes_the_redactor(void **state)
{
    struct terse_traffic t;

    (void)state;
    terse_traffic_init(&t);
    traffic_recorder_add_line(
        &t.recorder, 1, TO_SERVER,
        STR("{\"id\":1,\"method\":\"x\",\"params\":{\"password\":\"hunter2hunter2\"}}"));
    assert_null(strstr(buf_z(&t.records.text), "hunter2"));
    assert_non_null(strstr(buf_z(&t.records.text), "[REDACTED"));
    terse_traffic_release(&t);
}

struct second_sink {
    struct terse records;
    unsigned flushed;
};

static void count_flush(void *to)
{
    struct second_sink *s = to;

    s->flushed++;
}

static void a_sink_that_fails_keeps_no_record_from_another(void **state)
{
    struct second_sink second = { .flushed = 0 };
    struct terse_traffic t;

    (void)state;
    terse_traffic_init(&t);
    terse_init(&second.records);
    second.records.no_times = true;
    traffic_recorder_add_sink(&t.recorder, &(struct traffic_recorder_sink){
                                               &second.records.sink, count_flush, &second });
    t.records.fails = true;
    traffic_recorder_add_line(&t.recorder, 1, TO_SERVER, STR(CALL(1)));
    t.records.fails = false;
    traffic_recorder_add_line(&t.recorder, 1, TO_CLIENT, STR(RESULT(1)));
    assert_terse(&t.records, "conn=1 #2 s2c {'id':1,'result':{}}\n");
    assert_terse(&second.records, "conn=1 #1 c2s {'id':1,'method':'ping'}\n"
                                  "conn=1 #2 s2c {'id':1,'result':{}}\n");
    assert_str(buf_str(&t.failures), STR("no room\n"));
    assert_int_equal(second.flushed, 2);
    terse_release(&second.records);
    terse_traffic_release(&t);
}

static void an_exchange_is_recorded_and_its_errors_are_reported(void **state)
{
    static const struct headers none = { .at = NULL };
    struct http_recorder_request q = { .conn = 4,
                                       .method = STR("POST"),
                                       .path = STR("/mcp"),
                                       .headers = &none,
                                       .is_endpoint = true,
                                       .has_body = true };
    struct terse_traffic t;
    struct http_recorder_exchange *x;

    (void)state;
    terse_traffic_init(&t);
    x = http_recorder_begin(&t.recorder.http, &q);
    http_recorder_request_data(x, STR(CALL(1)));
    http_recorder_request_end(x, traffic_recorder_now(&t.recorder));
    traffic_recorder_commit(&t.recorder);
    assert_non_null(strstr(buf_z(&t.records.text), "conn=4 x=1 #1 c2s {'id':1"));
    t.records.fails = true;
    http_recorder_response(x, 200, &none, HTTP_RECORDER_BY_SERVER,
                           traffic_recorder_now(&t.recorder));
    traffic_recorder_commit(&t.recorder);
    traffic_recorder_commit(&t.recorder);
    assert_str(buf_str(&t.failures), STR("no room\n"));
    http_recorder_end(x, HTTP_RECORDER_BY_SERVER, true, STR_NONE,
                      traffic_recorder_now(&t.recorder));
    terse_traffic_release(&t);
}

static void time_never_goes_back(void **state)
{
    struct recorder_time before = { 0 };
    struct terse_traffic t;

    (void)state;
    terse_traffic_init(&t);
    for (int i = 0; i < 1000; i++) {
        struct recorder_time now = traffic_recorder_now(&t.recorder);

        assert_true(now.us >= before.us && now.wall_us > 0);
        before = now;
    }
    terse_traffic_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_are_recorded_under_their_numbers),
        cmocka_unit_test(every_record_passes_the_redactor),
        cmocka_unit_test(a_sink_that_fails_keeps_no_record_from_another),
        cmocka_unit_test(an_exchange_is_recorded_and_its_errors_are_reported),
        cmocka_unit_test(time_never_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
