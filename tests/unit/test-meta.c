#include "mcp/meta.h"

#include "test.h"

static struct json_val scanned(struct json *j, const char *text)
{
    struct json_fault fault;

    json_init(j);
    if (!json_scan(j, str_z(text), &fault))
        fail_msg("not JSON: %s", text);
    return json_root(j);
}

static void a_member_of_meta_is_found(void **state)
{
    struct json j;
    struct json_val params =
        scanned(&j, "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                    "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"c\"},"
                    "\"io.modelcontextprotocol/clientCapabilities\":{},"
                    "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\"},"
                    "\"io.modelcontextprotocol/logLevel\":\"info\","
                    "\"io.modelcontextprotocol/subscriptionId\":3,"
                    "\"io.modelcontextprotocol/related-task\":{\"taskId\":\"t\"}},"
                    "\"io.modelcontextprotocol/logLevel\":\"outside\"}");

    (void)state;
    assert_str(json_raw(mcp_meta(params, MCP_META_VERSION)), STR("\"2026-07-28\""));
    assert_str(json_raw(mcp_meta(params, MCP_META_CLIENT_INFO)), STR("{\"name\":\"c\"}"));
    assert_str(json_raw(mcp_meta(params, MCP_META_CLIENT_CAPABILITIES)), STR("{}"));
    assert_str(json_raw(mcp_meta(params, MCP_META_SERVER_INFO)), STR("{\"name\":\"s\"}"));
    assert_str(json_raw(mcp_meta(params, MCP_META_LOG_LEVEL)), STR("\"info\""));
    assert_str(json_raw(mcp_meta(params, MCP_META_SUBSCRIPTION)), STR("3"));
    assert_str(json_raw(mcp_meta(params, MCP_META_RELATED_TASK)), STR("{\"taskId\":\"t\"}"));
    json_release(&j);
}

static void a_missing_parent_gives_no_member(void **state)
{
    static const char *const texts[] = { "{}",
                                         "[]",
                                         "null",
                                         "{\"_meta\":null}",
                                         "{\"_meta\":[\"x\"]}",
                                         "{\"_meta\":{\"y\":1}}",
                                         "{\"x\":1}" };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct json j;
        assert_false(json_exists(mcp_meta(scanned(&j, texts[i]), STR("x"))));
        json_release(&j);
    }
    assert_false(json_exists(mcp_meta(JSON_VAL_NONE, STR("x"))));
    assert_false(json_exists(mcp_progress_token(JSON_VAL_NONE)));
}

static void a_progress_token_is_a_string_or_a_number(void **state)
{
    static const struct {
        const char *text, *token;
    } rows[] = {
        { "{\"_meta\":{\"progressToken\":0}}", "0" },
        { "{\"_meta\":{\"progressToken\":\"a\"}}", "\"a\"" },
        { "{\"_meta\":{\"progressToken\":null}}", "" },
        { "{\"_meta\":{\"progressToken\":{}}}", "" },
        { "{\"_meta\":{\"progressToken\":true}}", "" },
        { "{\"progressToken\":1}", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct json j;
        assert_str(
            json_raw(mcp_progress_token(json_get(scanned(&j, rows[i].text), MCP_META_KEY))),
            str_z(rows[i].token));
        json_release(&j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_of_meta_is_found),
        cmocka_unit_test(a_missing_parent_gives_no_member),
        cmocka_unit_test(a_progress_token_is_a_string_or_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
