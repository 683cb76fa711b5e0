#include "mcp/message.h"

#include "test.h"

/* A message borrows from the parsed text, so that is kept here. */
struct parsed_text {
    struct json json;
    struct arena arena;
    struct mcp_message m;
};

static void parse_text(struct parsed_text *l, const char *text)
{
    struct json_fault fault;

    *l = (struct parsed_text){ .arena = { NULL, 0 } };
    json_init(&l->json);
    if (!json_scan(&l->json, str_z(text), &fault))
        fail_msg("not JSON: %s", text);
    l->m = mcp_classify(json_root(&l->json), &l->arena);
}

static void release_parsed(struct parsed_text *l)
{
    json_release(&l->json);
    arena_release(&l->arena);
}

static void every_shape_of_message_has_its_kind(void **state)
{
    static const struct {
        const char *text;
        enum mcp_kind kind;
    } rows[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", MCP_REQUEST },
        { "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}", MCP_REQUEST },
        { "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"ping\"}", MCP_REQUEST },
        { "{\"method\":\"m\",\"params\":{},\"jsonrpc\":\"2.0\",\"id\":\"a\"}", MCP_REQUEST },
        { "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}", MCP_NOTIFICATION },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", MCP_RESULT },
        { "{\"result\":{\"method\":\"inner\"},\"jsonrpc\":\"2.0\",\"id\":1}", MCP_RESULT },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1}}", MCP_ERROR },
        { "[]", MCP_BATCH },
        { "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", MCP_BATCH },
        { "[1,2]", MCP_BATCH },
        { "{}", MCP_OTHER },
        { "null", MCP_OTHER },
        { "7", MCP_OTHER },
        { "\"{}\"", MCP_OTHER },
        { "{\"jsonrpc\":\"2.0\",\"id\":1}", MCP_OTHER },
        { "{\"level\":\"info\",\"message\":\"server started\"}", MCP_OTHER },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct parsed_text l;
        parse_text(&l, rows[i].text);
        if (l.m.kind != rows[i].kind)
            fail_msg("%s is '%s'", rows[i].text, mcp_kind_name(l.m.kind));
        release_parsed(&l);
    }
}

static void incomplete_messages_of_real_programs_are_classified(void **state)
{
    static const struct {
        const char *text;
        enum mcp_kind kind;
    } rows[] = {
        { "{\"id\":1,\"method\":\"ping\"}", MCP_REQUEST },
        { "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", MCP_REQUEST },
        { "{\"id\":1,\"method\":\"ping\",\"result\":null,\"error\":null}", MCP_REQUEST },
        { "{\"id\":1,\"method\":\"ping\",\"result\":{}}", MCP_REQUEST },
        { "{\"id\":null,\"method\":\"ping\"}", MCP_NOTIFICATION },
        { "{\"id\":1,\"result\":null}", MCP_RESULT },
        { "{\"id\":1,\"result\":{},\"error\":null}", MCP_RESULT },
        { "{\"id\":1,\"result\":null,\"error\":{\"code\":1}}", MCP_ERROR },
        { "{\"id\":1,\"result\":{},\"error\":{\"code\":1}}", MCP_ERROR },
        { "{\"id\":1,\"error\":\"no\"}", MCP_ERROR },
        { "{\"id\":1,\"method\":null,\"result\":{}}", MCP_RESULT },
        { "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700}}", MCP_ERROR },
        { "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600}}", MCP_ERROR },
        { "{\"id\":1.5,\"method\":\"ping\"}", MCP_REQUEST },
        { "{\"i\\u0064\":1,\"m\\u0065thod\":\"ping\"}", MCP_REQUEST },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct parsed_text l;
        parse_text(&l, rows[i].text);
        if (l.m.kind != rows[i].kind)
            fail_msg("%s is '%s'", rows[i].text, mcp_kind_name(l.m.kind));
        release_parsed(&l);
    }
}

static void similar_json_is_of_kind_other(void **state)
{
    static const char *const texts[] = {
        "{\"error\":\"invalid_token\",\"error_description\":\"expired\"}",
        "{\"id\":null,\"error\":\"no\"}",
        "{\"result\":{}}",
        "{\"id\":null,\"result\":{}}",
        "{\"id\":1,\"error\":null}",
        "{\"id\":{},\"method\":\"ping\"}",
        "{\"id\":[1],\"result\":{}}",
        "{\"id\":true,\"error\":{}}",
        "{\"id\":1,\"method\":7}",
        "{\"id\":1,\"Method\":\"ping\"}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct parsed_text l;
        parse_text(&l, texts[i]);
        if (l.m.kind != MCP_OTHER)
            fail_msg("%s is '%s'", texts[i], mcp_kind_name(l.m.kind));
        assert_false(json_exists(l.m.id));
        release_parsed(&l);
    }
}

static void an_absent_value_is_of_kind_other(void **state)
{
    struct arena a = { NULL, 0 };

    (void)state;
    assert_int_equal(mcp_classify(JSON_VAL_NONE, &a).kind, MCP_OTHER);
}

static void a_request_has_id_method_and_params(void **state)
{
    struct parsed_text l;

    (void)state;
    parse_text(&l,
               " {\"id\": 7.0, "
               "\"method\":\"tools\\/call\",\"params\":{\"name\":\"x\",\"_meta\":{\"a\":1}},"
               "\"result\":1}");
    assert_str(json_raw(l.m.id), STR("7.0"));
    assert_str(l.m.method, STR("tools/call"));
    assert_str(json_raw(l.m.params), STR("{\"name\":\"x\",\"_meta\":{\"a\":1}}"));
    assert_str(json_raw(l.m.meta), STR("{\"a\":1}"));
    assert_false(json_exists(l.m.result) || json_exists(l.m.error));
    assert_str(json_raw(l.m.root), str_trim(l.json.text));
    release_parsed(&l);
}

static void a_notification_has_no_id(void **state)
{
    struct parsed_text l;

    (void)state;
    parse_text(&l, "{\"id\":null,\"method\":\"notifications/x\",\"params\":[1]}");
    assert_false(json_exists(l.m.id));
    assert_str(l.m.method, STR("notifications/x"));
    assert_str(json_raw(l.m.params), STR("[1]"));
    assert_false(json_exists(l.m.meta));
    release_parsed(&l);
}

static void a_response_has_no_method_and_one_outcome(void **state)
{
    struct parsed_text l;

    (void)state;
    parse_text(&l, "{\"id\":\"a\",\"result\":[2],\"error\":null,\"params\":{}}");
    assert_true(mcp_is_response(&l.m));
    assert_str(json_raw(l.m.id), STR("\"a\""));
    assert_str(json_raw(l.m.result), STR("[2]"));
    assert_false(json_exists(l.m.error) || json_exists(l.m.params));
    assert_int_equal(l.m.method.len, 0);
    release_parsed(&l);

    parse_text(&l, "{\"id\":null,\"result\":[2],\"error\":{\"code\":3}}");
    assert_true(mcp_is_response(&l.m));
    assert_int_equal(json_type(l.m.id), JSON_NULL);
    assert_str(json_raw(l.m.error), STR("{\"code\":3}"));
    assert_false(json_exists(l.m.result));
    release_parsed(&l);
}

static void only_results_and_errors_are_responses(void **state)
{
    static const bool response[] = {
        [MCP_RESULT] = true, [MCP_ERROR] = true, [MCP_BATCH] = false
    };

    (void)state;
    for (enum mcp_kind k = MCP_OTHER; k <= MCP_BATCH; k++)
        assert_int_equal(mcp_is_response(&(struct mcp_message){ .kind = k }), response[k]);
}

static void a_duplicate_member_is_flagged_and_the_last_counts(void **state)
{
    static const struct {
        const char *text;
        bool duplicate;
    } rows[] = {
        { "{\"id\":1,\"method\":\"a\"}", false },
        { "{\"id\":1,\"id\":2,\"method\":\"a\"}", true },
        { "{\"id\":1,\"method\":\"a\",\"m\\u0065thod\":\"b\"}", true },
        { "{\"method\":\"a\",\"params\":{},\"params\":{}}", true },
        { "{\"id\":1,\"result\":{},\"result\":{}}", true },
        { "{\"id\":1,\"error\":{},\"error\":{}}", true },
        { "{\"id\":1,\"method\":\"a\",\"jsonrpc\":1,\"jsonrpc\":2,\"x\":1,\"x\":2}", false },
        { "{\"id\":1,\"method\":\"a\",\"params\":{\"id\":1,\"id\":2}}", false },
    };
    struct parsed_text l;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        parse_text(&l, rows[i].text);
        if (l.m.duplicate_member != rows[i].duplicate)
            fail_msg("%s", rows[i].text);
        release_parsed(&l);
    }
    parse_text(&l, "{\"id\":1,\"method\":\"first\",\"id\":2,\"method\":\"last\"}");
    assert_str(json_raw(l.m.id), STR("2"));
    assert_str(l.m.method, STR("last"));
    release_parsed(&l);
    parse_text(&l, "{\"id\":1,\"method\":\"a\",\"id\":null}");
    assert_int_equal(l.m.kind, MCP_NOTIFICATION);
    release_parsed(&l);
}

static bool is_mismatch(const char *text)
{
    struct parsed_text l;
    bool is;

    parse_text(&l, text);
    is = mcp_error_has_code(&l.m, -32020);
    release_parsed(&l);
    return is;
}

static void an_error_has_its_code(void **state)
{
    (void)state;
    assert_true(is_mismatch("{\"id\":1,\"error\":{\"code\":-32020}}"));
    assert_true(is_mismatch("{\"error\":{\"code\":-32020.0,\"message\":\"x\"}}"));
    assert_false(is_mismatch("{\"id\":1,\"error\":{\"code\":-32021}}"));
    assert_false(is_mismatch("{\"id\":1,\"error\":{\"code\":\"-32020\"}}"));
    assert_false(is_mismatch("{\"id\":1,\"result\":{\"code\":-32020}}"));
    assert_false(is_mismatch("{\"id\":1,\"method\":\"x\",\"error\":{\"code\":-32020}}"));
}

static void every_kind_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(mcp_kind_name(MCP_OTHER), "other");
    assert_string_equal(mcp_kind_name(MCP_REQUEST), "request");
    assert_string_equal(mcp_kind_name(MCP_NOTIFICATION), "notification");
    assert_string_equal(mcp_kind_name(MCP_RESULT), "result");
    assert_string_equal(mcp_kind_name(MCP_ERROR), "error");
    assert_string_equal(mcp_kind_name(MCP_BATCH), "batch");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_of_message_has_its_kind),
        cmocka_unit_test(incomplete_messages_of_real_programs_are_classified),
        cmocka_unit_test(similar_json_is_of_kind_other),
        cmocka_unit_test(an_absent_value_is_of_kind_other),
        cmocka_unit_test(a_request_has_id_method_and_params),
        cmocka_unit_test(a_notification_has_no_id),
        cmocka_unit_test(a_response_has_no_method_and_one_outcome),
        cmocka_unit_test(only_results_and_errors_are_responses),
        cmocka_unit_test(a_duplicate_member_is_flagged_and_the_last_counts),
        cmocka_unit_test(an_error_has_its_code),
        cmocka_unit_test(every_kind_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
