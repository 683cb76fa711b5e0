#include "report/inspect-cassette.h"
#include "terse.h"
#include "test.h"

static void no_note(struct notes *self, uint64_t line, uint64_t byte, const char *text)
{
    (void)self, (void)line, (void)byte, (void)text;
}

/* Checks the output of `inspect` for a cassette; ' and ` as in terse. */
static void check(const char *path, const char *cassette, const char *want)
{
    struct notes notes = { no_note };
    void *reading = cassette_format.open();
    struct inspect_cassette c;
    struct err e = ERR_NONE;
    struct arena a = { 0 };
    struct window w = { terse_json(&a, cassette), true, 1, "f", &notes };
    struct record r;
    enum next_result next;
    struct buf out;

    inspect_cassette_init(&c);
    do {
        struct consumed t = { 0 };

        next = cassette_format.next(reading, &w, &t, &r, &e);
        if (next == NEXT_RECORD)
            assert_true(c.sink.put(&c.sink, &r, &e));
        else if (next == NEXT_ERROR)
            fail_msg("%s", e.msg);
    } while (next != NEXT_END);
    buf_init(&out, 1 << 16);
    inspect_cassette_write(&out, &c, path);
    assert_str(buf_str(&out), str_z(want));
    buf_release(&out);
    inspect_cassette_release(&c);
    cassette_format.close(reading);
    arena_release(&a);
}

static void a_cassette_is_shown_as_by_mcp_recorder(void **state)
{
    (void)state;
    check("some/where/golden.json",
          "{'version':'1.0','metadata':{'recorded_at':'2026-02-17T20:25:23.855390+00:00',"
          "'server_url':'http://127.0.0.1:8000','transport_type':'http',"
          "'protocol_version':'2025-11-25',"
          "'server_info':{'name':'Test Calculator','version':'2.14.5'}},'interactions':["
          "{'type':'jsonrpc_request','request':{'id':0,'method':'initialize'},"
          "'response':{'id':0,'result':{}},'response_is_sse':true,'latency_ms':7},"
          "{'type':'notification','request':{'method':'notifications/initialized'},"
          "'response_status':202,'latency_ms':1},"
          "{'type':'jsonrpc_request','request':{'id':1,'method':'tools/call',"
          "'params':{'name':'add'}},'response_is_sse':true,'latency_ms':18},"
          "{'type':'lifecycle','http_method':'DELETE','http_path':'/mcp','latency_ms':1},"
          "{'type':'lifecycle','http_method':'GET','http_path':'/mcp','response_is_sse':true}"
          "]}",
          "golden.json\n"
          "  Recorded: 2026-02-17 20:25:23\n"
          "  Server:   Test Calculator v2.14.5\n"
          "  Protocol: 2025-11-25\n"
          "  Target:   http://127.0.0.1:8000\n"
          "\n"
          "  Interactions (5):\n"
          "    1. initialize -> 200 SSE (7ms)\n"
          "    2. notifications/initialized -> 202 (1ms)\n"
          "    3. tools/call [add] -> 200 SSE (18ms)\n"
          "    4. DELETE /mcp -> 200 (1ms)\n"
          "    5. GET /mcp -> 200 (0ms)\n"
          "\n"
          "  Summary: 2 requests, 1 notification, 2 lifecycle\n");
}

static void an_empty_cassette_has_a_blank_line_after_its_summary(void **state)
{
    (void)state;
    check("e.json", "{}",
          "e.json\n  Recorded: unknown\n\n  Interactions (0):\n\n  Summary: \n");
}

static void types_are_counted_as_the_cassette_has_them(void **state)
{
    (void)state;
    check("t.json",
          "{'interactions':[{'type':'notification','request':{'id':1,'method':'a'}},"
          "{'type':'notification'},{'type':'lifecycle'},{'type':'jsonrpc_request'}]}",
          "t.json\n  Recorded: unknown\n\n"
          "  Interactions (4):\n"
          "    1. a -> 200 (0ms)\n"
          "    2. unknown -> 200 (0ms)\n"
          "    3. None None -> 200 (0ms)\n"
          "    4. unknown -> 200 (0ms)\n"
          "\n"
          "  Summary: 1 request, 2 notifications, 1 lifecycle\n");
}

/* As Python's get(), `or` and str() have it. */
static void unusual_values_are_shown_as_python_prints_them(void **state)
{
    static const struct {
        const char *info, *line;
    } servers[] = {
        { "{}", "" },
        { "{'x':1}", "  Server:   unknown\n" },
        { "{'name':null}", "  Server:   None\n" },
        { "{'name':true,'version':0}", "  Server:   True\n" },
        { "{'name':'','version':''}", "  Server:   \n" },
        { "{'name':5,'version':1.5}", "  Server:   5 v1.5\n" },
        { "{'name':'a','version':[]}", "  Server:   a\n" },
        { "{'name':'a','version':false}", "  Server:   a\n" },
    };
    static const struct {
        const char *request, *subject;
    } requests[] = {
        { "{}", "unknown" },
        { "{'method':null}", "unknown" },
        { "{'method':''}", "unknown" },
        { "{'method':7}", "7" },
        { "{'method':'tools/call'}", "tools/call" },
        { "{'method':'tools/call','params':[]}", "tools/call" },
        { "{'method':'tools/call','params':{'name':''}}", "tools/call" },
        { "{'method':'tools/call','params':{'name':8}}", "tools/call [8]" },
        { "{'method':'prompts/get','params':{'name':'p'}}", "prompts/get" },
    };
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++)
        check("o", arena_printf(&a, "{'metadata':{'server_info':%s}}", servers[i].info).at,
              arena_printf(&a,
                           "o\n  Recorded: unknown\n%s\n  Interactions (0):\n\n  Summary: \n",
                           servers[i].line)
                  .at);
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        check("o",
              arena_printf(&a, "{'interactions':[{'type':'notification','request':%s}]}",
                           requests[i].request)
                  .at,
              arena_printf(&a,
                           "o\n  Recorded: unknown\n\n  Interactions (1):\n"
                           "    1. %s -> 200 (0ms)\n\n  Summary: 1 notification\n",
                           requests[i].subject)
                  .at);
    arena_release(&a);
}

static void a_date_is_cut_after_19_characters(void **state)
{
    (void)state;
    check("d", "{'metadata':{'recorded_at':'éTé4567890123456789 too much'}}",
          "d\n  Recorded: é é4567890123456789\n\n  Interactions (0):\n\n  Summary: \n");
}

static void text_of_the_cassette_is_escaped(void **state)
{
    (void)state;
    check("a\x1b",
          "{'metadata':{'recorded_at':'`u001b','server_url':'`u001b','protocol_version':"
          "'`u001b','server_info':{'name':'`u001b','version':'`u001b'}},'interactions':["
          "{'type':'jsonrpc_request','request':{'method':'`u001b`n'}},"
          "{'type':'lifecycle','http_method':'`u001b','http_path':'`u202e'}]}",
          "a\\x1b\n"
          "  Recorded: \\x1b\n"
          "  Server:   \\x1b v\\x1b\n"
          "  Protocol: \\x1b\n"
          "  Target:   \\x1b\n"
          "\n"
          "  Interactions (2):\n"
          "    1. \\x1b\\n -> 200 (0ms)\n"
          "    2. \\x1b <U+202E> -> 200 (0ms)\n"
          "\n"
          "  Summary: 1 request, 1 lifecycle\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cassette_is_shown_as_by_mcp_recorder),
        cmocka_unit_test(an_empty_cassette_has_a_blank_line_after_its_summary),
        cmocka_unit_test(types_are_counted_as_the_cassette_has_them),
        cmocka_unit_test(unusual_values_are_shown_as_python_prints_them),
        cmocka_unit_test(a_date_is_cut_after_19_characters),
        cmocka_unit_test(text_of_the_cassette_is_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
