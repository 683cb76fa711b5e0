#include "mcphttp/request-validate.h"

#include "parsed-request.h"
#include "terse.h"

/* All kinds of servers: with and without sessions, of one protocol and of both. */
static const struct request_rules stateful = { .stateful = true,
                                               .uses_session_ids = true,
                                               .has_get_stream = true,
                                               .versions = STR_INIT("[\"2025-11-25\"]") };
static const struct request_rules stateless = { .stateful = true, .versions = STR_INIT("[]") };
static const struct request_rules modern = { .stateless = true,
                                             .has_get_stream = true,
                                             .versions = STR_INIT("[\"2026-07-28\"]") };
static const struct request_rules both = { .stateful = true,
                                           .stateless = true,
                                           .uses_session_ids = true,
                                           .has_get_stream = true,
                                           .versions = STR_INIT("[\"2026-07-28\"]") };

struct case_ {
    const char *line;
    enum session_state state;
    unsigned status;
    int64_t code;
};

static void check(const struct request_rules *rules, const struct case_ *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct parsed_request s;
        struct http_rejection v = http_request_validate(
            rules, parsed_request(&s, cases[i].state, cases[i].line), &s.arena);

        if (v.status != cases[i].status || v.code != cases[i].code)
            fail_msg("%s: got %u %lld '%.*s', want %u %lld", cases[i].line, v.status,
                     (long long)v.code, STR_ARG(v.text), cases[i].status,
                     (long long)cases[i].code);
        assert_int_equal(v.status == 405, v.allow.len > 0);
        assert_int_equal(v.status != 0, v.text.len > 0);
        parsed_request_release(&s);
    }
}

#define CHECK(rules, cases) check(&(rules), cases, sizeof cases / sizeof *cases)

#define INIT                                                                                   \
    "{\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}"
#define LIST "{\"id\":1,\"method\":\"tools/list\"}"
#define REJECTION_TEXT "{\"method\":\"notifications/initialized\"}"
#define DONE "{\"id\":1,\"result\":{}}"
#define MLIST "{\"id\":1,\"method\":\"tools/list\",\"params\":{$META}}"
#define MCALL "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",$META}}"
#define LISTEN "{\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{$META}}"
#define MTOLD "{\"method\":\"notifications/cancelled\",\"params\":{$META}}"
#define V26 "version=2026-07-28 "

static void requests_to_a_server_with_sessions_are_validated(void **state)
{
    static const struct case_ cases[] = {
        { "POST " INIT, SESSION_NONE, 0, 0 },
        { "POST " INIT, SESSION_LIVE, 0, 0 },
        { "POST " INIT, SESSION_ENDED, 404, -32001 },
        { "POST " LIST, SESSION_LIVE, 0, 0 },
        { "POST " REJECTION_TEXT, SESSION_LIVE, 0, 0 },
        { "POST " DONE, SESSION_LIVE, 0, 0 },
        { "POST [" LIST "," REJECTION_TEXT "]", SESSION_LIVE, 0, 0 },
        { "POST version=2025-03-26 " LIST, SESSION_LIVE, 0, 0 },
        { "POST " LIST, SESSION_NONE, 400, -32000 },
        { "POST " REJECTION_TEXT, SESSION_NONE, 400, -32000 },
        { "POST [" INIT "]", SESSION_NONE, 400, -32600 },
        { "POST [" LIST "," INIT "]", SESSION_LIVE, 400, -32600 },
        { "POST [" LIST "]", SESSION_NONE, 400, -32000 },
        { "POST " LIST, SESSION_ENDED, 404, -32001 },
        { "POST " LIST, SESSION_UNKNOWN, 404, -32001 },
        { "POST version=1999-01-01 " LIST, SESSION_LIVE, 400, -32000 },
        { "POST version=1999-01-01 " INIT, SESSION_NONE, 0, 0 },
        { "POST type=text " LIST, SESSION_LIVE, 415, -32000 },
        { "POST type=none " LIST, SESSION_LIVE, 415, -32000 },
        { "POST accept=text " LIST, SESSION_LIVE, 406, -32000 },
        { "POST accept=json " LIST, SESSION_LIVE, 0, 0 },
        { "POST accept=sse " LIST, SESSION_LIVE, 0, 0 },
        { "POST accept=any " LIST, SESSION_LIVE, 0, 0 },
        { "POST accept=none " LIST, SESSION_LIVE, 0, 0 },
        { "POST", SESSION_LIVE, 400, -32700 },
        { "POST raw {", SESSION_LIVE, 400, -32700 },
        { "GET", SESSION_LIVE, 0, 0 },
        { "GET", SESSION_NONE, 400, -32000 },
        { "GET", SESSION_ENDED, 404, -32001 },
        { "GET accept=json", SESSION_LIVE, 406, -32000 },
        { "GET accept=any", SESSION_LIVE, 406, -32000 },
        { "GET accept=none", SESSION_LIVE, 406, -32000 },
        { "GET accept=text/event-stream;q=0.1,*/*", SESSION_LIVE, 0, 0 },
        { "GET version=1999-01-01", SESSION_LIVE, 400, -32000 },
        { "DELETE", SESSION_LIVE, 0, 0 },
        { "DELETE", SESSION_NONE, 400, -32000 },
        { "DELETE", SESSION_UNKNOWN, 404, -32001 },
        { "PUT", SESSION_LIVE, 405, -32000 },
        { "OPTIONS", SESSION_NONE, 405, -32000 },
        { "POST modern " MLIST, SESSION_NONE, 400, -32000 },
    };

    (void)state;
    CHECK(stateful, cases);
}

static void requests_to_a_server_without_sessions_and_stream_are_validated(void **state)
{
    static const struct case_ cases[] = {
        { "POST " INIT, SESSION_NONE, 0, 0 },       { "POST " LIST, SESSION_NONE, 0, 0 },
        { "POST " LIST, SESSION_UNKNOWN, 0, 0 },    { "GET", SESSION_NONE, 405, -32000 },
        { "DELETE", SESSION_UNKNOWN, 405, -32000 },
    };

    (void)state;
    CHECK(stateless, cases);
}

static void requests_to_a_stateless_server_are_validated(void **state)
{
    static const struct case_ cases[] = {
        { "POST modern " MLIST, SESSION_NONE, 0, 0 },
        { "POST modern " MCALL, SESSION_UNKNOWN, 0, 0 },
        { "POST " V26 "Mcp-Method:tools/call Mcp-Name:=?base64?dA==?= " MCALL, SESSION_NONE, 0,
          0 },
        { "POST modern " LISTEN, SESSION_NONE, 0, 0 },
        { "POST modern accept=sse " LISTEN, SESSION_NONE, 0, 0 },
        { "POST modern accept=json " LISTEN, SESSION_NONE, 406, -32000 },
        { "POST " V26 MTOLD, SESSION_NONE, 0, 0 },
        { "POST " MTOLD, SESSION_NONE, 0, 0 },
        { "POST " MLIST, SESSION_NONE, 400, -32020 },
        { "POST version=2025-11-25 Mcp-Method:tools/list " MLIST, SESSION_NONE, 400, -32020 },
        { "POST " V26 MLIST, SESSION_NONE, 400, -32020 },
        { "POST " V26 "Mcp-Method:tools/call " MLIST, SESSION_NONE, 400, -32020 },
        { "POST " V26 "Mcp-Method:tools/list Mcp-Name:x " MLIST, SESSION_NONE, 400, -32020 },
        { "POST " V26 "Mcp-Method:tools/call " MCALL, SESSION_NONE, 400, -32020 },
        { "POST " V26 "Mcp-Method:tools/call Mcp-Name:T " MCALL, SESSION_NONE, 400, -32020 },
        { "POST " V26 "Mcp-Method:tools/call Mcp-Name:=?base64?!?= " MCALL, SESSION_NONE, 400,
          -32020 },
        { "POST " V26 "Mcp-Method:tools/list " LIST, SESSION_NONE, 400, -32602 },
        { "POST " LIST, SESSION_NONE, 400, -32602 },
        { "POST " V26 DONE, SESSION_NONE, 400, -32600 },
        { "POST " V26 "[" MLIST "]", SESSION_NONE, 400, -32600 },
        { "POST " INIT, SESSION_NONE, 400, -32022 },
        { "GET", SESSION_NONE, 405, -32000 },
        { "DELETE", SESSION_UNKNOWN, 405, -32000 },
    };

    (void)state;
    CHECK(modern, cases);
}

static void requests_to_a_server_of_both_protocols_are_validated(void **state)
{
    static const struct case_ cases[] = {
        { "POST " INIT, SESSION_NONE, 0, 0 },
        { "POST " LIST, SESSION_LIVE, 0, 0 },
        { "POST " LIST, SESSION_NONE, 400, -32000 },
        { "POST modern " MLIST, SESSION_NONE, 0, 0 },
        { "POST " MLIST, SESSION_NONE, 400, -32020 },
        { "POST version=2099-01-01 {\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":{"
          "\"io.modelcontextprotocol/protocolVersion\":\"2099-01-01\"}}}",
          SESSION_NONE, 400, -32022 },
        { "GET", SESSION_LIVE, 0, 0 },
    };

    (void)state;
    CHECK(both, cases);
}

static void requests_of_other_origins_are_rejected(void **state)
{
    static const struct case_ cases[] = {
        { "POST host=other " INIT, SESSION_NONE, 403, -32000 },
        { "POST origin=other " INIT, SESSION_NONE, 403, -32000 },
        { "POST origin=null " INIT, SESSION_NONE, 403, -32000 },
        { "GET host=other", SESSION_LIVE, 403, -32000 },
        { "POST host=loopback origin=loopback " INIT, SESSION_NONE, 0, 0 },
        { "POST origin=self " INIT, SESSION_NONE, 0, 0 },
    };

    (void)state;
    CHECK(stateful, cases);
    CHECK(both, cases);
}

static struct str rejection_text(const struct request_rules *rules, const char *line,
                                 struct arena *a, struct str *allow)
{
    struct parsed_request s;
    struct http_rejection v =
        http_request_validate(rules, parsed_request(&s, SESSION_NONE, line), &s.arena);
    struct str data = arena_str(a, v.data);

    *allow = v.allow;
    parsed_request_release(&s);
    return data;
}

static void rejections_list_the_supported_values(void **state)
{
    struct arena a = { NULL, 0 };
    struct str allow;

    (void)state;
    assert_str(rejection_text(&modern, "POST " INIT, &a, &allow),
               STR("{\"supported\":[\"2026-07-28\"],\"requested\":\"2025-11-25\"}"));
    assert_str(rejection_text(&modern, "POST {\"id\":1,\"method\":\"initialize\"}", &a, &allow),
               STR("{\"supported\":[\"2026-07-28\"],\"requested\":null}"));
    rejection_text(&modern, "GET", &a, &allow);
    assert_str(allow, STR("POST"));
    rejection_text(&stateless, "GET", &a, &allow);
    assert_str(allow, STR("POST"));
    rejection_text(&stateful, "PUT", &a, &allow);
    assert_str(allow, STR("GET, POST, DELETE"));
    arena_release(&a);
}

static void some_errors_have_an_http_status_in_the_stateless_protocol(void **state)
{
    static const struct {
        const char *message;
        unsigned modern;
    } answers[] = {
        { "{'error':{'code':-32601}}", 404 },
        { "{'error':{'code':-32020}}", 400 },
        { "{'error':{'code':-32021}}", 400 },
        { "{'error':{'code':-32022}}", 400 },
        { "{'error':{'code':-32602}}", 200 },
        { "{'error':{'code':-32000}}", 200 },
        { "{'error':{'code':-32603}}", 200 },
        { "{'error':{'code':'x'}}", 200 },
        { "{'error':{}}", 200 },
        { "{'result':{'code':-32601}}", 200 },
    };
    struct arena a = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct str message = terse_json(&a, answers[i].message);

        assert_int_equal(http_response_status(true, message), answers[i].modern);
        assert_int_equal(http_response_status(false, message), 200);
    }
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_to_a_server_with_sessions_are_validated),
        cmocka_unit_test(requests_to_a_server_without_sessions_and_stream_are_validated),
        cmocka_unit_test(requests_to_a_stateless_server_are_validated),
        cmocka_unit_test(requests_to_a_server_of_both_protocols_are_validated),
        cmocka_unit_test(requests_of_other_origins_are_rejected),
        cmocka_unit_test(rejections_list_the_supported_values),
        cmocka_unit_test(some_errors_have_an_http_status_in_the_stateless_protocol),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
