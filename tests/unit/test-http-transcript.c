#include "format/format.h"

#include "memory-file.h"
#include "record-summary.h"
#include "terse.h"
#include "test.h"

enum {
    SHOWN = FEATURE_DIRECTION | FEATURE_BYTES | FEATURE_UNPAIRED | FEATURE_SERVER_MESSAGES |
            FEATURE_TIME | FEATURE_OTHER_JSON | FEATURE_HTTP
};

static void check_format(const struct format *f, const char *terse, const char *want)
{
    struct arena a = { 0 };
    struct buf seen;

    buf_init(&seen, 1 << 20);
    record_summary_of_file(&seen, f, terse_json(&a, terse), 7, SHOWN);
    assert_str(buf_str(&seen), str_z(want));
    buf_release(&seen);
    arena_release(&a);
}

/* A document with these entries. */
static void check(const char *entries, const char *want)
{
    struct arena a = { 0 };
    struct str text =
        arena_printf(&a, "{'transport':'streamable-http','entries':[\n%s]}", entries);

    check_format(&streamable_http_format, text.at, want);
    arena_release(&a);
}

#define PING "{'id':1,'method':'ping'}"
#define RESULT "{'id':1,'result':{}}"

static void each_slot_gives_a_direction(void **state)
{
    (void)state;
    check("{'request':" PING ",'timestamp_ms':1000},{'response':" RESULT ",'sse':null}",
          "c2s " PING " at=1970-01-01T00:00:01.000Z \ns2c " RESULT " \nend");
    check("{'sse':{'data':" PING "}},{'request':" RESULT "}",
          "s2c " PING " event='{}' \nc2s " RESULT " \nend");
    check("{'response':{'a':1}}", "bytes s2c {'a':1} \nend");
}

static void an_event_carries_a_message_as_object_or_string(void **state)
{
    (void)state;
    check("{'sse':{'event':'message','id':'e1','data':" RESULT "}}",
          "s2c " RESULT " event='{'id':'e1'}' \nend");
    check("{'sse':{'data':'{`'id`':1,`n`'result`':{}}'}}",
          "s2c {'id':1, 'result':{}} event='{}' \nend");
    check("{'sse':{'data':'`'{```'id```':1,```'result```':{}}`''}}",
          "s2c " RESULT " event='{}' \nend");
}

static void other_events_are_no_messages(void **state)
{
    (void)state;
    check("{'sse':{'event':'endpoint','data':'/messages'}},"
          "{'sse':{'event':'keepalive','id':'7','data':'{'}},"
          "{'sse':{'data':'ping'}},{'sse':{'data':{'a':1}}},"
          "{'sse':{'event':'other','data':" RESULT "}}",
          "sse event='endpoint' data='/messages' \n"
          "sse id='7' event='keepalive' data='{' \n"
          "sse data='ping' \nsse data='{'a':1}' \n"
          "sse event='other' data='" RESULT "' \nend");
}

static void a_wrong_entry_is_an_error_with_its_number(void **state)
{
#define AT "f:2:3: entry 2: "
#define ONE "an entry must have exactly one of request, response and sse"
    static const struct {
        const char *entry, *want;
    } cases[] = {
        { "{}", AT ONE },
        { "{'request':null}", AT ONE },
        { "{'request':" PING ",'sse':{'data':''}}", AT "'request' and 'sse'; " ONE },
        { "{'response':" RESULT ",'request':" PING "}", AT "'request' and 'response'; " ONE },
        { "7", AT "an entry must be an object" },
        { "{'request':[" PING "]}",
          "f:2:14: entry 2: 'request': a batch: an entry must be one JSON-RPC message" },
        { "{'request':'x'}",
          "f:2:14: entry 2: 'request': a JSON-RPC message must be an object" },
        { "{'response':{'id':true,'result':1}}",
          "f:2:15: entry 2: 'response': a JSON-RPC id must not be a boolean" },
        { "{'sse':7}", "f:2:10: entry 2: 'sse' must be an object" },
        { "{'sse':{'event':'message'}}", "f:2:10: entry 2: 'sse' has no 'data'" },
        { "{'sse':{'data':[1]}}", "f:2:10: entry 2: 'sse.data' must be an object or a string" },
        { "{'sse':{'data':'','id':7}}", "f:2:10: entry 2: 'sse.id' must be a string" },
        { "{'sse':{'data':'','event':7}}", "f:2:10: entry 2: 'sse.event' must be a string" },
        { "{'sse':{'data':'{`'id`':1,'}}",
          "f:2:18: entry 2: 'sse': 'sse.data' is not valid JSON: unexpected end" },
        { "{'sse':{'data':'["
          "{`'id`':1,`'result`':1}]'}}",
          "f:2:18: entry 2: 'sse': a batch in 'sse.data': it must be one JSON-RPC message" },
        { "{'timestamp_ms':1.5,'request':" PING "}",
          "f:2:19: entry 2: 'timestamp_ms' must be a whole number of milliseconds since 1970, "
          "up to the year 9999" },
        { "{'transport':'http-sse','request':" PING "}",
          "f:2:16: entry 2: another transport than 'streamable-http', that of the document" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena a = { 0 };

        check_format(&streamable_http_format,
                     arena_printf(&a,
                                  "{'transport':'streamable-http','entries':[{'request':" PING
                                  "},\n  %s]}",
                                  cases[i].entry)
                         .at,
                     cases[i].want);
        arena_release(&a);
    }
}

static void a_document_has_the_transport_of_its_format(void **state)
{
    (void)state;
    check_format(&http_sse_format, "{'transport':'streamable-http','entries':[]}",
                 "f:1:14: 'transport' must be 'http-sse', not 'streamable-http'");
    check_format(&http_sse_format, "{'transport':'sse-legacy','entries':[]}",
                 "f:1:14: 'transport' must be 'http-sse', not 'sse-legacy'");
    check_format(&streamable_http_format, "{'entries':[]}",
                 "f:1:1: the document has no 'transport'");
    check_format(&streamable_http_format, "{'transport':'streamable-http','entries':{}}",
                 "f:1:42: 'entries' must be an array");
    check_format(&http_sse_format, "{'transport':'http-sse'}", "end");
}

static void duplicate_calls_are_an_error_by_the_rules(void **state)
{
    struct notes notes = { NULL };
    struct arena a = { 0 };
    struct str text = terse_json(
        &a, "{'transport':'http-sse','entries':[{'request':{'id':1,'method':'tools/call'}},\n"
            "{'request':{'id':'1','method':'tools/call'}}]}");
    struct window w = { text, true, 1, "f", &notes };
    struct err e = ERR_NONE;
    struct consumed t = { 0 };
    struct record r;
    void *reader = http_sse_format.open();

    (void)state;
    http_sse_format.set_rules(reader, FORMAT_RULES_DOCUMENTED);
    assert_int_equal(http_sse_format.next(reader, &w, &t, &r, &e), NEXT_ERROR);
    assert_string_equal(e.msg, "f:2:12: entry 2: 'request': duplicate tools/call request id: "
                               "entry 1 has it, too");
    http_sse_format.close(reader);
    arena_release(&a);
}

static void the_probe_recognizes_its_transport(void **state)
{
    static const struct terse_head heads[] = {
        { "{'transport':'streamable-http'", true },
        { "{'a':{'transport':'http-sse'},'transport' : 'streamable-http', 'entries'", true },
        { "{'entries':[{'request':", true }, /* for the error */
        { "{'transport':'websocket','entries':[", true },
        { "{'transport':'http-sse','entries':[", false },
        { "{'log':{'entries':[", false },
        { "{'transport':'stre", false },
        { "", false },
    };

    (void)state;
    terse_check_probe(streamable_http_format.probe, heads, sizeof heads / sizeof heads[0]);
    assert_int_equal(http_sse_format.probe(STR("{\"transport\":\"http-sse\"")), PROBE_SURE);
    assert_int_equal(http_sse_format.probe(STR("{\"entries\":[")), PROBE_NONE);
}

/* Records of another format as a document. */
static void check_written(const struct format *f, const char *records, const char *want)
{
    struct memory_writer w;
    struct arena a = { 0 };

    memory_writer_init(&w, f);
    terse_feed(&w.sink, records);
    memory_writer_finish(&w);
    assert_str(buf_str(&w.text), terse_json(&a, want));
    memory_writer_release(&w);
    arena_release(&a);
}

static void servers_of_legacy_sse_send_events(void **state)
{
    static const char records[] = "c2s " PING "\ns2c {'method':'notifications/message'}\n"
                                  "s2c " RESULT "\n";

    (void)state;
    check_written(&streamable_http_format, records,
                  "{'transport':'streamable-http','entries':[\n{'request':" PING "},\n"
                  "{'sse':{'event':'message','data':{'method':'notifications/message'}}},\n"
                  "{'response':" RESULT "}\n]}\n");
    check_written(&http_sse_format, records,
                  "{'transport':'http-sse','entries':[\n{'request':" PING "},\n"
                  "{'sse':{'event':'message','data':{'method':'notifications/message'}}},\n"
                  "{'sse':{'event':'message','data':" RESULT "}}\n]}\n");
    check_written(&http_sse_format, "", "{'transport':'http-sse','entries':[]}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_slot_gives_a_direction),
        cmocka_unit_test(an_event_carries_a_message_as_object_or_string),
        cmocka_unit_test(other_events_are_no_messages),
        cmocka_unit_test(a_wrong_entry_is_an_error_with_its_number),
        cmocka_unit_test(a_document_has_the_transport_of_its_format),
        cmocka_unit_test(duplicate_calls_are_an_error_by_the_rules),
        cmocka_unit_test(the_probe_recognizes_its_transport),
        cmocka_unit_test(servers_of_legacy_sse_send_events),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
