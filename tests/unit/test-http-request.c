#include "mcphttp/http-request.h"

#include "parsed-request.h"

static uint64_t key_of(enum session_state state, const char *line)
{
    struct parsed_request s;
    uint64_t key = http_request_hash(parsed_request(&s, state, line), &s.arena);

    parsed_request_release(&s);
    return key;
}

static void assert_same(const char *a, const char *b)
{
    if (key_of(SESSION_LIVE, a) != key_of(SESSION_LIVE, b))
        fail_msg("should be the same:\n  %s\n  %s", a, b);
}

static void assert_differ(const char *a, const char *b)
{
    if (key_of(SESSION_LIVE, a) == key_of(SESSION_LIVE, b))
        fail_msg("should differ:\n  %s\n  %s", a, b);
}

#define LIST "{\"id\":1,\"method\":\"tools/list\"}"

static void ids_and_tokens_do_not_change_the_key(void **state)
{
    (void)state;
    assert_same("POST " LIST, "POST {\"id\":\"other\",\"method\":\"tools/list\"}");
    assert_same("POST " LIST, "POST {\"id\":1,\"method\":\"tools/list\",\"params\":{}}");
    assert_same("POST " LIST, "POST {\"method\":\"tools/list\",\"id\":1,\"jsonrpc\":\"2.0\"}");
    assert_same(
        "POST {\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":{\"progressToken\":1}}}",
        "POST {\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":{\"progressToken\":9}}}");
    assert_same("POST session=1 " LIST, "POST session=2 " LIST);
    assert_same("POST User-Agent:a Authorization:x " LIST, "POST Cookie:b " LIST);
    assert_same("POST Mcp-Method:a Mcp-Name:b " LIST, "POST mcp-name:b mcp-method:a " LIST);
    assert_same("POST origin=self " LIST, "POST origin=none " LIST);
    assert_same("POST accept=application/json,text/event-stream " LIST,
                "POST accept=text/event-stream;q=0.5,application/json " LIST);
}

static void headers_that_a_server_may_reject_change_the_key(void **state)
{
    (void)state;
    assert_differ("POST " LIST, "PUT " LIST);
    assert_differ("POST " LIST, "POST {\"id\":1,\"method\":\"tools/lists\"}");
    assert_differ("POST " LIST, "POST {\"method\":\"tools/list\"}");
    assert_differ("POST " LIST,
                  "POST {\"id\":1,\"method\":\"tools/list\",\"params\":{\"a\":1}}");
    assert_differ("POST " LIST, "POST host=other " LIST);
    assert_differ("POST " LIST, "POST origin=other " LIST);
    assert_differ("POST host=other " LIST, "POST origin=other " LIST);
    assert_differ("POST " LIST, "POST type=text " LIST);
    assert_differ("POST " LIST, "POST type=none " LIST);
    assert_differ("POST " LIST, "POST accept=json " LIST);
    assert_differ("POST accept=json " LIST, "POST accept=sse " LIST);
    assert_differ("POST accept=any " LIST, "POST accept=none " LIST);
    assert_differ("POST " LIST, "POST version=2025-11-25 " LIST);
    assert_differ("POST version=2025-11-25 " LIST, "POST version=2025-06-18 " LIST);
    assert_differ("POST Mcp-Method:a " LIST, "POST Mcp-Name:a " LIST);
    assert_differ("GET", "GET last=1");
    assert_differ("POST raw {", "POST raw [");
    assert_differ("POST raw {", "POST");
    assert_int_not_equal(key_of(SESSION_LIVE, "POST " LIST),
                         key_of(SESSION_NONE, "POST " LIST));
    assert_int_not_equal(key_of(SESSION_ENDED, "POST " LIST),
                         key_of(SESSION_UNKNOWN, "POST " LIST));
}

/* The client's name does not matter; that it is given does. */
static void required_meta_members_change_the_key(void **state)
{
#define CALL(meta) "POST {\"id\":1,\"method\":\"a\",\"params\":{\"_meta\":{" meta "}}}"
#define M "\"io.modelcontextprotocol/"

    (void)state;
    assert_differ(CALL(""), CALL(M "protocolVersion\":\"2026-07-28\""));
    assert_differ(CALL(M "protocolVersion\":\"2026-07-28\""),
                  CALL(M "protocolVersion\":\"2099-01-01\""));
    assert_differ(CALL(M "protocolVersion\":\"\""), CALL(M "protocolVersion\":7"));
    assert_differ(CALL(""), CALL(M "clientCapabilities\":{}"));
    assert_same(CALL(M "clientCapabilities\":{}"),
                CALL(M "clientCapabilities\":{\"sampling\":{}}"));
    assert_differ(CALL(""), CALL(M "clientInfo\":{}"));
    assert_same(CALL(M "clientInfo\":{}"), CALL(M "clientInfo\":{\"name\":\"n\"}"));
}

static void only_a_batch_has_no_key(void **state)
{
    (void)state;
    assert_true(key_of(SESSION_NONE, "POST [" LIST "]") == 0);
    assert_true(key_of(SESSION_NONE, "POST " LIST) != 0);
    assert_true(key_of(SESSION_NONE, "DELETE") != 0);
}

static void the_version_comes_from_header_or_message(void **state)
{
    static const struct {
        const char *line;
        enum mcp_version header, message;
        bool modern;
    } calls[] = {
        { "POST " LIST, MCP_VERSION_UNKNOWN, MCP_VERSION_UNKNOWN, false },
        { "POST version=2025-06-18 " LIST, MCP_2025_06_18, MCP_VERSION_UNKNOWN, false },
        { "POST version=1999-01-01 " LIST, MCP_VERSION_UNKNOWN, MCP_VERSION_UNKNOWN, false },
        { "POST version=2026-07-28 " LIST, MCP_2026_07_28, MCP_VERSION_UNKNOWN, true },
        { "POST {\"id\":1,\"method\":\"a\",\"params\":{$META}}", MCP_VERSION_UNKNOWN,
          MCP_2026_07_28, true },
        { "POST raw {", MCP_VERSION_UNKNOWN, MCP_VERSION_UNKNOWN, false },
        { "POST version=2026-07-28 [" LIST "]", MCP_2026_07_28, MCP_VERSION_UNKNOWN, true },
        { "GET version=2026-07-28", MCP_2026_07_28, MCP_VERSION_UNKNOWN, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct parsed_request s;
        const struct http_request *c = parsed_request(&s, SESSION_NONE, calls[i].line);

        assert_int_equal(http_request_header_version(c), calls[i].header);
        assert_int_equal(http_request_message_version(c, &s.arena), calls[i].message);
        assert_int_equal(http_request_is_stateless(c, &s.arena), calls[i].modern);
        parsed_request_release(&s);
    }
}

static void the_kind_of_a_body_and_its_expected_responses_are_found(void **state)
{
    static const struct {
        const char *body;
        enum parse_kind kind;
        size_t owed;
    } bodies[] = {
        { "", PARSE_EMPTY, 0 },
        { " \n", PARSE_EMPTY, 0 },
        { "{", PARSE_OTHER, 0 },
        { "[]", PARSE_OTHER, 0 },
        { "1", PARSE_OTHER, 0 },
        { "{\"a\":1}", PARSE_OTHER, 0 },
        { LIST, PARSE_MESSAGE, 1 },
        { "{\"method\":\"n\"}", PARSE_MESSAGE, 0 },
        { "{\"method\":\"n\",\"id\":null}", PARSE_MESSAGE, 1 },
        { "{\"id\":1,\"result\":{}}", PARSE_MESSAGE, 0 },
        { "[" LIST ",{\"method\":\"n\"}," LIST ",7]", PARSE_BATCH, 3 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct mcp_message m = { .kind = MCP_OTHER };
        struct http_request c = { .message = &m };
        struct arena a = { NULL, 0 };
        struct json j;

        json_init(&j);
        http_request_parse_body(&c, &j, str_z(bodies[i].body), &m, &a);
        assert_int_equal(c.body_kind, bodies[i].kind);
        if (c.body_kind == PARSE_MESSAGE || c.body_kind == PARSE_BATCH)
            assert_int_equal(http_request_response_count(&c, json_root(&j), &a),
                             bodies[i].owed);
        json_release(&j);
        arena_release(&a);
    }
}

static enum mcp_version version_of(const char *line, enum mcp_version agreed)
{
    struct parsed_request s;
    enum mcp_version v =
        http_request_client_version(parsed_request(&s, SESSION_NONE, line), agreed, &s.arena);

    parsed_request_release(&s);
    return v;
}

static void the_protocol_comes_from_header_method_or_session(void **state)
{
    (void)state;
    assert_int_equal(version_of("POST version=2025-06-18 " LIST, MCP_2025_11_25),
                     MCP_2025_06_18);
    assert_int_equal(version_of("POST " LIST, MCP_2025_11_25), MCP_2025_11_25);
    assert_int_equal(version_of("GET", MCP_2025_03_26), MCP_2025_03_26);
    assert_int_equal(version_of("POST {\"id\":0,\"method\":\"initialize\",\"params\":"
                                "{\"protocolVersion\":\"2024-11-05\"}}",
                                MCP_2025_11_25),
                     MCP_2024_11_05);
}

static void a_header_is_found_without_regard_to_case(void **state)
{
    struct parsed_request s;
    const struct http_request *c = parsed_request(&s, SESSION_NONE, "GET MCP-Session-ID:x");

    (void)state;
    assert_str(http_request_header(c, STR("mcp-session-id")), STR("x"));
    assert_null(http_request_header(c, STR("mcp-name")).at);
    parsed_request_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_and_tokens_do_not_change_the_key),
        cmocka_unit_test(headers_that_a_server_may_reject_change_the_key),
        cmocka_unit_test(required_meta_members_change_the_key),
        cmocka_unit_test(only_a_batch_has_no_key),
        cmocka_unit_test(the_version_comes_from_header_or_message),
        cmocka_unit_test(the_kind_of_a_body_and_its_expected_responses_are_found),
        cmocka_unit_test(the_protocol_comes_from_header_method_or_session),
        cmocka_unit_test(a_header_is_found_without_regard_to_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
