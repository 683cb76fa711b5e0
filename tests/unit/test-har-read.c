#include "format/har-read.h"

#include "record-summary.h"
#include "terse.h"
#include "test.h"

enum { TEXT_MAX = 1 << 20 };

/* An entry in terse_json()'s manner. */
#define POST(start, time, headers, sent, status, answer)                                       \
    "{'startedDateTime':'2026-05-12T23:00:0" start "Z','time':" time                           \
    ",'request':{'method':'POST','url':'http://h/mcp?key=k','headers':[" headers               \
    "],'postData':{'text':'" sent "'}},'response':{'status':" status                           \
    ",'headers':[],'content':{" answer "}}}"
#define JSON_BODY(text) "'mimeType':'application/json; charset=utf-8','text':'" text "'"
#define SSE_BODY(text) "'mimeType':'text/event-stream','text':'" text "'"
#define PING "{`'jsonrpc`':`'2.0`',`'id`':1,`'method`':`'ping`'}"
#define PONG "{`'jsonrpc`':`'2.0`',`'id`':1,`'result`':{}}"
#define NOTE "{`'jsonrpc`':`'2.0`',`'method`':`'notifications/message`'}"
#define SESSION "{'name':'MCP-Session-Id','value':'s'}"

/* Reads entries; the records are in terse's notation. */
static void assert_read(const char *entries, const char *want)
{
    struct arena a = { 0 };
    struct buf got;

    buf_init(&got, TEXT_MAX);
    record_summary_of_file(
        &got, &har_format,
        terse_json(&a,
                   arena_printf(&a, "{'log':{'version':'1.2','entries':[%s]}}\n", entries).at),
        TEXT_MAX,
        FEATURE_BYTES | FEATURE_SERVER_MESSAGES | FEATURE_UNPAIRED | FEATURE_DIRECTION |
            FEATURE_HTTP | FEATURE_RAW | FEATURE_OTHER_JSON);
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
    arena_release(&a);
}

static void assert_error(const char *entries, const char *want)
{
    struct arena a = { 0 };
    struct buf got;

    buf_init(&got, TEXT_MAX);
    record_summary_of_file(
        &got, &har_format,
        terse_json(&a, arena_printf(&a, "{'log':{'version':'1.2','entries':%s}}", entries).at),
        TEXT_MAX, FEATURE_DIRECTION);
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
    arena_release(&a);
}

static void a_post_is_an_exchange_without_headers_and_query(void **state)
{
    (void)state;
    assert_read(POST("0", "5", "{'name':'Authorization','value':'Bearer x'}", PING, "200",
                     JSON_BODY(PONG)),
                "http 5 method='POST' path='/mcp' body='message' exchange=1 \n"
                "c2s {'jsonrpc':'2.0','id':1,'method':'ping'} exchange=1 \n"
                "http 6 media='json' by='server' status=200 exchange=1 \n"
                "s2c {'jsonrpc':'2.0','id':1,'result':{}} exchange=1 \n"
                "http 7 clean by='server' exchange=1 \nend");
}

static void events_of_a_stream_are_messages(void **state)
{
    (void)state;
    assert_read(
        POST("0", "5", "", PING, "200",
             SSE_BODY(":hi`nid: 4`nevent: message`ndata: " NOTE "`n`ndata: " PONG "`n`n")),
        "http 5 method='POST' path='/mcp' body='message' exchange=1 \n"
        "c2s {'jsonrpc':'2.0','id':1,'method':'ping'} exchange=1 \n"
        "http 6 media='sse' by='server' status=200 exchange=1 stream=1 \n"
        "sse comment='hi' exchange=1 stream=1 \n"
        "s2c {'jsonrpc':'2.0','method':'notifications/message'} "
        "event='{'n':1,'id':'4','event':'message'}' exchange=1 stream=1 \n"
        "s2c {'jsonrpc':'2.0','id':1,'result':{}} event='{'n':2}' exchange=1 stream=1 \n"
        "http 7 clean by='server' exchange=1 stream=1 \nend");
}

/* The ids are secrets: a recording has numbers. */
static void session_ids_become_numbers(void **state)
{
    (void)state;
    assert_read(POST("0", "5", SESSION, NOTE, "202", "'mimeType':''"),
                "http 5 method='POST' path='/mcp' body='message' session=1 exchange=1 \n"
                "c2s {'jsonrpc':'2.0','method':'notifications/message'} session=1 exchange=1 \n"
                "http 6 media='none' by='server' status=202 session=1 exchange=1 \n"
                "http 7 clean by='server' session=1 exchange=1 \nend");
}

static void other_entries_are_counted(void **state)
{
    (void)state;
    assert_read(
        POST("0", "1", "", "{`'id`':1,`'method`':`'ping`'}", "200", JSON_BODY("{}")) "," POST(
            "0", "1", "", "[]", "200", JSON_BODY("[1]")) ",{},{'request':5}"
                                                         "," POST("0", "1", "", NOTE, "202",
                                                                  "'mimeType':''"),
        "http 5 method='POST' path='/mcp' body='message' exchange=1 \n"
        "c2s {'jsonrpc':'2.0','method':'notifications/message'} exchange=1 \n"
        "http 6 media='none' by='server' status=202 exchange=1 \n"
        "http 7 clean by='server' exchange=1 \n"
        "1:35 entries that are not MCP, dropped: 4 of 5\nend");
}

static void a_file_without_messages_is_an_error(void **state)
{
    (void)state;
    assert_error("[{},{'request':5}]", "f:1:35: the HAR has no MCP traffic; entries: 2");
    assert_error("[]", "end");
}

/* Entries lie in the file in the order of their starts; responses come when they end. */
static void overlapping_exchanges_are_ordered_by_time(void **state)
{
    (void)state;
    assert_read(POST("0", "3000.5", "", PING, "200",
                     JSON_BODY(PONG)) "," POST("1", "1", "", NOTE, "202", "'mimeType':''"),
                "http 5 method='POST' path='/mcp' body='message' exchange=1 \n"
                "c2s {'jsonrpc':'2.0','id':1,'method':'ping'} exchange=1 \n"
                "http 5 method='POST' path='/mcp' body='message' exchange=2 \n"
                "c2s {'jsonrpc':'2.0','method':'notifications/message'} exchange=2 \n"
                "http 6 media='none' by='server' status=202 exchange=2 \n"
                "http 7 clean by='server' exchange=2 \n"
                "http 6 media='json' by='server' status=200 exchange=1 \n"
                "s2c {'jsonrpc':'2.0','id':1,'result':{}} exchange=1 \n"
                "http 7 clean by='server' exchange=1 \nend");
}

static void a_body_that_is_missing_is_noted(void **state)
{
    (void)state;
    assert_read(POST("0", "5", "", PING, "200", "'mimeType':'text/event-stream'"),
                "http 5 method='POST' path='/mcp' body='message' exchange=1 \n"
                "c2s {'jsonrpc':'2.0','id':1,'method':'ping'} exchange=1 \n"
                "http 6 media='sse' by='server' status=200 exchange=1 stream=1 \n"
                "http 7 clean by='server' exchange=1 stream=1 \n"
                "1:35 responses without a body, because the browser did not keep it: 1\nend");
}

static void a_body_that_is_no_message_is_kept(void **state)
{
    (void)state;
    assert_read(POST("0", "5", "", PING, "200", JSON_BODY("{broken")),
                "http 5 method='POST' path='/mcp' body='message' exchange=1 \n"
                "c2s {'jsonrpc':'2.0','id':1,'method':'ping'} exchange=1 \n"
                "http 6 media='json' by='server' status=200 exchange=1 \n"
                "bytes s2c {broken why='not JSON' exchange=1 \n"
                "http 7 clean by='server' exchange=1 \nend");
}

static void a_wrong_value_is_an_error_with_its_entry(void **state)
{
    (void)state;
    assert_error("{}", "f:1:35: 'log' must have an array 'entries'");
    assert_error("[{},7]", "f:1:39: entry 2: not an object");
    assert_error("[{'_mcpreel':{}}]", "f:1:36: entry 1: 'startedDateTime' must be a date and "
                                      "time like 2026-05-12T23:00:00.000Z");
    assert_error("[{'response':{'content':{'encoding':'base64','text':'!'}}}]",
                 "f:1:87: entry 1: the response is not valid base64");
    assert_error("[" POST("0", "-5", "", PING, "200", JSON_BODY(PONG)) "]",
                 "f:1:85: entry 1: 'time' must be milliseconds, from 0 to a year");
    assert_error("[" POST("0", "1e300", "", PING, "200", JSON_BODY(PONG)) "]",
                 "f:1:85: entry 1: 'time' must be milliseconds, from 0 to a year");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_post_is_an_exchange_without_headers_and_query),
        cmocka_unit_test(events_of_a_stream_are_messages),
        cmocka_unit_test(session_ids_become_numbers),
        cmocka_unit_test(other_entries_are_counted),
        cmocka_unit_test(a_file_without_messages_is_an_error),
        cmocka_unit_test(overlapping_exchanges_are_ordered_by_time),
        cmocka_unit_test(a_body_that_is_missing_is_noted),
        cmocka_unit_test(a_body_that_is_no_message_is_kept),
        cmocka_unit_test(a_wrong_value_is_an_error_with_its_entry),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
