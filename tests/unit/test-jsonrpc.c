#include "memory-file.h"
#include "record-summary.h"
#include "terse.h"
#include "test.h"

/* Sides and messages of a file, its remarks and how it ended, however it is shown. JSON
 * is spelled with ' for ", see terse.h. */
static void check_parts(const char *terse, unsigned parts, const char *want)
{
    static const size_t steps[] = { 1, 7, 1 << 20 };
    struct arena a = { 0 };
    struct str text = terse_json(&a, terse);

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct buf seen;

        buf_init(&seen, 1 << 20);
        record_summary_of_file(&seen, &jsonrpc_format, text, steps[i],
                               parts | FEATURE_UNPAIRED | FEATURE_SERVER_MESSAGES);
        assert_str(buf_str(&seen), str_z(want));
        buf_release(&seen);
    }
    arena_release(&a);
}

static void check(const char *terse, const char *want)
{
    check_parts(terse, FEATURE_DIRECTION | FEATURE_BYTES, want);
}

#define REQUEST(id, method) "{'jsonrpc':'2.0','id':" #id ",'method':'" method "'}"
#define NOTIFICATION(method) "{'jsonrpc':'2.0','method':'notifications/" method "'}"
#define RESULT(id, result) "{'jsonrpc':'2.0','id':" #id ",'result':" result "}"
#define ERROR(id) "{'jsonrpc':'2.0','id':" #id ",'error':{'code':1,'message':'m'}}"
#define C2S(message) "c2s " message " \n"
#define S2C(message) "s2c " message " \n"

static void the_direction_follows_from_the_method(void **state)
{
    (void)state;
    check(REQUEST(1, "tools/call") "\n" REQUEST(1, "roots/list") "\n" NOTIFICATION(
              "initialized") "\n" NOTIFICATION("resources/updated") "\n",
          C2S(REQUEST(1, "tools/call")) S2C(REQUEST(1, "roots/list"))
              C2S(NOTIFICATION("initialized")) S2C(NOTIFICATION("resources/updated")) "end");
}

static void a_message_of_unknown_direction_is_from_the_client(void **state)
{
    (void)state;
    check(REQUEST(1, "x/own") "\n" NOTIFICATION("own") "\n" REQUEST(
              2, "ping") "\n" NOTIFICATION("cancelled") "\n",
          C2S(REQUEST(1, "x/own")) C2S(NOTIFICATION("own")) C2S(REQUEST(2, "ping"))
              C2S(NOTIFICATION("cancelled")) "end");
}

static void progress_is_from_the_server(void **state)
{
    (void)state;
    check(NOTIFICATION("progress") "\n" NOTIFICATION("tasks/status") "\n",
          S2C(NOTIFICATION("progress")) S2C(NOTIFICATION("tasks/status")) "end");
}

static void a_response_has_the_opposite_direction_of_its_request(void **state)
{
    (void)state;
    check(REQUEST(1, "tools/list") "\n" REQUEST(2, "roots/list") "\n" RESULT(
              2, "{}") "\n" ERROR(1) "\n",
          C2S(REQUEST(1, "tools/list")) S2C(REQUEST(2, "roots/list")) C2S(RESULT(2, "{}"))
              S2C(ERROR(1)) "end");
}

/* Both sides count from 0: the server sends a request while it works on the client's call. */
static void the_later_of_two_requests_with_one_id_is_answered_first(void **state)
{
    (void)state;
    check(REQUEST(0, "tools/call") "\n" REQUEST(0, "sampling/createMessage") "\n" RESULT(
              0, "{'role':'assistant'}") "\n" RESULT(0, "{'content':[]}") "\n",
          C2S(REQUEST(0, "tools/call")) S2C(REQUEST(0, "sampling/createMessage"))
              C2S(RESULT(0, "{'role':'assistant'}")) S2C(RESULT(0, "{'content':[]}")) "end");
    check(REQUEST(0, "roots/list") "\n" REQUEST(0, "tools/list") "\n" RESULT(
              0, "1") "\n" RESULT(0, "2") "\n",
          S2C(REQUEST(0, "roots/list")) C2S(REQUEST(0, "tools/list")) S2C(RESULT(0, "1"))
              C2S(RESULT(0, "2")) "end");
}

static void ids_are_compared_as_text(void **state)
{
    (void)state;
    check(REQUEST(1, "roots/list") "\n" RESULT('1', "{}") "\n" RESULT(1, "{}") "\n",
          S2C(REQUEST(1, "roots/list")) C2S(RESULT('1', "{}")) S2C(RESULT(1, "{}")) "end");
}

static void a_response_without_request_is_from_the_server(void **state)
{
    (void)state;
    check(RESULT(7, "{}") "\n" ERROR(null) "\n", S2C(RESULT(7, "{}")) S2C(ERROR(null)) "end");
}

static void a_request_with_the_id_of_a_pending_client_request_is_from_the_server(void **state)
{
    (void)state;
    check(REQUEST(5, "tools/call") "\n" REQUEST(5, "ping") "\n" RESULT(5, "{}") "\n",
          C2S(REQUEST(5, "tools/call")) S2C(REQUEST(5, "ping")) C2S(RESULT(5, "{}")) "end");
}

#define CANCEL(id)                                                                             \
    "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':" #id "}}"

static void a_cancellation_has_the_direction_of_its_request(void **state)
{
    (void)state;
    check(REQUEST(1, "tools/call") "\n" REQUEST(2, "roots/list") "\n" CANCEL(2) "\n" CANCEL(
              1) "\n" CANCEL(3) "\n",
          C2S(REQUEST(1, "tools/call")) S2C(REQUEST(2, "roots/list")) S2C(CANCEL(2))
              C2S(CANCEL(1)) C2S(CANCEL(3)) "end");
}

#define TIMED(members) "{'method':'x'," members "}"

static void a_time_is_in_milliseconds_or_absent(void **state)
{
    static const char *const none[] = {
        "'timestamp_ms':-1",
        "'timestamp_ms':0",
        "'timestamp_ms':1.5",
        "'timestamp_ms':'1700000000250'",
        "'timestamp':'2023-11-14T22:13:20Z'",
        "'timestamp_ms':9300000000000000",
        "'time':1700000000250",
    };

    (void)state;
    check_parts(
        TIMED("'timestamp':5,'timestamp_ms':1700000000250") "\n", FEATURE_TIME | FEATURE_BYTES,
        TIMED(
            "'timestamp':5,'timestamp_ms':1700000000250") " at=2023-11-14T22:13:20.250Z \nend");
    check_parts(TIMED("'timestamp':1700000000250") "\n", FEATURE_TIME | FEATURE_BYTES,
                TIMED("'timestamp':1700000000250") " at=2023-11-14T22:13:20.250Z \nend");
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct arena a = { 0 };
        const char *line = arena_printf(&a, TIMED("%s") "\n", none[i]).at;

        check_parts(line, FEATURE_TIME | FEATURE_BYTES,
                    arena_printf(&a, TIMED("%s") " \nend", none[i]).at);
        arena_release(&a);
    }
}

static void an_invalid_line_is_an_error_with_its_position(void **state)
{
    static const struct {
        const char *line, *want;
    } cases[] = {
        { "[]", "2:1: a line must be one JSON-RPC message, an object" },
        { " [{'jsonrpc':'2.0','id':1,'method':'ping'}]",
          "2:2: a batch: a line must be one JSON-RPC message" },
        { "null", "2:1: a line must be one JSON-RPC message, an object" },
        { "{}", "2:1: not a JSON-RPC message" },
        { "{'id':1}", "2:1: not a JSON-RPC message" },
        { "{'id':{},'method':'x'}", "2:1: a JSON-RPC id must not be an object" },
        { "{'id':[1],'result':1}", "2:1: a JSON-RPC id must not be an array" },
        { "{'id':true,'method':'x'}", "2:1: a JSON-RPC id must not be a boolean" },
        { "{'t':'x','dir':'in','raw':1}",
          "2:1: data of format 'trace' starts here, in a file of format 'jsonrpc'" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena a = { 0 };

        check(arena_printf(&a, "{'method':'x'}\n%s\n{}\n", cases[i].line).at,
              arena_printf(&a, "c2s {'method':'x'} \nf:%s", cases[i].want).at);
        arena_release(&a);
    }
}

static void a_response_without_an_id_is_kept_as_it_is(void **state)
{
    struct arena a = { 0 };
    struct memory_writer w;
    struct memory_reader r;

    (void)state;
    check_parts("{'id':null,'result':1}\n", FEATURE_OTHER_JSON,
                "bytes s2c {'id':null,'result':1} \nend");
    memory_writer_init(&w, &jsonrpc_format);
    memory_reader_run(&r, &jsonrpc_format, terse_json(&a, "{'id':null,'result':1}"), 1 << 20,
                      &w.sink);
    memory_writer_finish(&w);
    assert_str(buf_str(&w.text), terse_json(&a, "{'id':null,'result':1}\n"));
    memory_reader_release(&r);
    memory_writer_release(&w);
    arena_release(&a);
}

static void the_probe_recognizes_jsonrpc(void **state)
{
    static const struct terse_head heads[] = {
        { REQUEST(1, "ping"), true },
        { "\n\n" RESULT(1, "{}"), true },
        { "{ 'jsonrpc' : '2.0' , 'method'", true },
        { "{'method':'initialize','params':{'x", true },
        { "{'result':{'tools':[{", true },
        { "{'method':'ping'}", false }, /* could be anything */
        { "{'jsonrpc':'2.0'}", false },
        { "[" REQUEST(1, "ping") "]", true }, /* to be called a batch */
        { "[{'jsonrpc':'2.0','id':", true },
        { "[{}]", false },
        { "[]", false },
        { "{'log':{'version':", false },
        { "", false },
    };

    (void)state;
    terse_check_probe(jsonrpc_format.probe, heads, sizeof heads / sizeof *heads);
}

static void messages_are_written_unchanged_and_other_records_not(void **state)
{
    struct memory_writer f;
    struct arena a = { 0 };

    (void)state;
    memory_writer_init(&f, &jsonrpc_format);
    terse_feed(&f.sink, "c2s { 'id' : 1.0, 'method':'p`u0069ng' }\n"
                        "| {'type':'stderr','text':'x'}\n"
                        "| {'type':'raw','from':'client','text':'7'}\n"
                        "c2s {'hello':'world'}\n"
                        "s2c {'id':1.0,'result':1e400}\n");
    memory_writer_finish(&f);
    assert_str(buf_str(&f.text), terse_json(&a, "{ 'id' : 1.0, 'method':'p`u0069ng' }\n"
                                                "{'id':1.0,'result':1e400}\n"));
    memory_writer_release(&f);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_direction_follows_from_the_method),
        cmocka_unit_test(a_message_of_unknown_direction_is_from_the_client),
        cmocka_unit_test(progress_is_from_the_server),
        cmocka_unit_test(a_response_has_the_opposite_direction_of_its_request),
        cmocka_unit_test(the_later_of_two_requests_with_one_id_is_answered_first),
        cmocka_unit_test(ids_are_compared_as_text),
        cmocka_unit_test(a_response_without_request_is_from_the_server),
        cmocka_unit_test(a_request_with_the_id_of_a_pending_client_request_is_from_the_server),
        cmocka_unit_test(a_cancellation_has_the_direction_of_its_request),
        cmocka_unit_test(a_time_is_in_milliseconds_or_absent),
        cmocka_unit_test(an_invalid_line_is_an_error_with_its_position),
        cmocka_unit_test(a_response_without_an_id_is_kept_as_it_is),
        cmocka_unit_test(the_probe_recognizes_jsonrpc),
        cmocka_unit_test(messages_are_written_unchanged_and_other_records_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
