#include "redact/protected-fields.h"

#include "base/buf.h"
#include "test.h"

/* The untouchable strings and numbers of a message, as they stand there. */
static void assert_untouchable(const char *message, const char *want)
{
    struct json_fault fault;
    struct protected_fields u;
    struct buf got;
    struct json j;

    json_init(&j);
    protected_fields_init(&u);
    buf_init(&got, 1 << 12);
    assert_true(json_scan(&j, str_z(message), &fault));
    protected_fields_find(&u, json_root(&j));
    for (struct json_val v = json_root(&j); v.node < j.count; v.node++)
        if ((json_type(v) == JSON_STRING || json_type(v) == JSON_NUMBER) &&
            protected_fields_has(&u, v.node)) {
            buf_add(&got, json_raw(v));
            buf_add_ch(&got, ' ');
        }
    assert_string_equal(buf_z(&got), want);
    buf_release(&got);
    protected_fields_release(&u);
    json_release(&j);
}

static void members_of_the_envelope_are_protected(void **state)
{
    (void)state;
    assert_untouchable(
        "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"m\",\"params\":{\"x\":\"y\"}}",
        "\"2.0\" \"a\" \"m\" ");
    assert_untouchable("{\"id\":7,\"id\":8,\"result\":{\"capabilities\":{\"a\":\"b\"},"
                       "\"protocolVersion\":\"v\",\"x\":[1]}}",
                       "7 8 \"v\" ");
    assert_untouchable("{\"id\":7,\"result\":{\"supportedVersions\":[\"v\",[\"w\"]],"
                       "\"capabilities\":{}}}",
                       "7 \"v\" ");
    assert_untouchable("{\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"v\"}}",
                       "\"initialize\" \"v\" ");
    assert_untouchable("{\"id\":1,\"error\":{\"code\":5,\"message\":\"m\"}}", "1 ");
}

static void tokens_and_references_to_ids_are_protected(void **state)
{
    (void)state;
    assert_untouchable("{\"method\":\"notifications/progress\",\"params\":{\"progressToken\":"
                       "\"t\",\"progress\":1}}",
                       "\"notifications/progress\" \"t\" ");
    assert_untouchable("{\"params\":{\"requestId\":3},\"method\":\"notifications/cancelled\"}",
                       "3 \"notifications/cancelled\" ");
    assert_untouchable(
        "{\"params\":{\"_meta\":{\"progressToken\":9,\"other\":8},\"requestId\":3}}", "9 ");
    assert_untouchable(
        "{\"result\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":5}}}", "5 ");
}

static void schemas_are_protected_with_their_names(void **state)
{
    (void)state;
    assert_untouchable(
        "{\"result\":{\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"token\":{\"type\":"
        "\"string\"}}},{\"outputSchema\":{\"a\":1},\"name\":\"d\"}]}}",
        "\"token\" \"type\" \"string\" \"a\" 1 ");
    assert_untouchable(
        "{\"method\":\"elicitation/create\",\"params\":{\"requestedSchema\":{\"b\":"
        "2},\"message\":\"m\"}}",
        "\"elicitation/create\" \"b\" 2 ");
    assert_untouchable(
        "{\"method\":\"sampling/createMessage\",\"params\":{\"tools\":[{\"name\":"
        "\"t\",\"inputSchema\":{\"b\":2}}]}}",
        "\"sampling/createMessage\" \"b\" 2 ");
    assert_untouchable("{\"result\":{\"inputRequests\":{\"k\":{\"method\":\"elicitation/"
                       "create\",\"params\":{\"message\":"
                       "\"m\",\"requestedSchema\":{\"c\":3}}}}}}",
                       "\"elicitation/create\" \"c\" 3 ");
}

static void results_of_tools_are_not_protected(void **state)
{
    (void)state;
    assert_untouchable(
        "{\"result\":{\"content\":[{\"inputSchema\":\"x\",\"id\":1,\"method\":\"m\"}],"
        "\"structuredContent\":{\"progressToken\":1}}}",
        "");
    assert_untouchable("{\"params\":{\"arguments\":{\"id\":1,\"protocolVersion\":\"v\"}}}", "");
    assert_untouchable("[1,\"a\"]", "");
    assert_untouchable("{\"params\":[\"protocolVersion\"],\"result\":\"x\"}", "");
}

/* The names alone protect nothing: not with another method, not in the result of a tool, not
 * with another type of value. */
static void a_name_alone_does_not_protect(void **state)
{
    static const char everything[] =
        "{\"params\":{\"requestId\":1,\"progressToken\":2,\"protocolVersion\":\"v\","
        "\"requestedSchema\":{\"a\":1},\"inputSchema\":{\"a\":1},\"supportedVersions\":[\"v\"],"
        "\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"a\":1}}]}}";
    static const char *const none[] = {
        everything,
        "{\"params\":{\"arguments\":{\"inputSchema\":{\"a\":1},\"_meta\":{\"progressToken\":1}}"
        "}}",
        "{\"result\":{\"protocolVersion\":\"v\",\"supportedVersions\":[\"v\"]}}",
        "{\"result\":{\"content\":[],\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"a\":1}}]}}",
        "{\"result\":{\"tools\":[{\"inputSchema\":{\"a\":1}}]}}",
        "{\"result\":{\"tools\":[{\"name\":\"t\",\"inputSchema\":\"a\"}]}}",
        "{\"result\":{\"tools\":{\"x\":{\"name\":\"t\",\"inputSchema\":{\"a\":1}}}}}",
        "{\"id\":{\"a\":1},\"method\":[\"m\"],\"jsonrpc\":2}",
        "{\"params\":{\"_meta\":{\"progressToken\":{\"a\":1}}}}",
        "{\"result\":{\"inputRequests\":{\"k\":{\"params\":{\"requestedSchema\":{\"a\":1}}}}}}",
        "{\"result\":{\"inputRequests\":[{\"method\":\"m\"}]}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_untouchable(none[i], "");
    assert_untouchable(
        "{\"method\":\"tools/call\",\"params\":{\"requestId\":1,\"progressToken\":2}}",
        "\"tools/call\" ");
}

static void ids_are_distinguished_from_other_members(void **state)
{
    struct json_fault fault;
    struct protected_fields u;
    struct json j;

    (void)state;
    json_init(&j);
    protected_fields_init(&u);
    assert_true(json_scan(&j, STR("{\"id\":1,\"method\":\"m\"}"), &fault));
    protected_fields_find(&u, json_root(&j));
    assert_true(protected_fields_is_id(&u, json_get(json_root(&j), STR("id")).node));
    assert_false(protected_fields_is_id(&u, json_get(json_root(&j), STR("method")).node));
    assert_false(protected_fields_is_id(&u, 0));
    protected_fields_release(&u);
    json_release(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_of_the_envelope_are_protected),
        cmocka_unit_test(tokens_and_references_to_ids_are_protected),
        cmocka_unit_test(schemas_are_protected_with_their_names),
        cmocka_unit_test(results_of_tools_are_not_protected),
        cmocka_unit_test(a_name_alone_does_not_protect),
        cmocka_unit_test(ids_are_distinguished_from_other_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
