#include "trace/untouchable.h"

#include "base/buf.h"
#include "test.h"

/* The untouchable strings and numbers of a message, as they stand there. */
static void assert_untouchable(const char *message, const char *want)
{
    struct json_fault fault;
    struct untouchable u;
    struct buf got;
    struct json j;

    json_init(&j);
    untouchable_init(&u);
    buf_init(&got, 1 << 12);
    assert_true(json_scan(&j, str_z(message), &fault));
    untouchable_find(&u, json_root(&j));
    for (struct json_val v = json_root(&j); v.node < j.count; v.node++)
        if ((json_type(v) == JSON_STRING || json_type(v) == JSON_NUMBER) &&
            untouchable_has(&u, v.node)) {
            buf_add(&got, json_raw(v));
            buf_add_ch(&got, ' ');
        }
    assert_string_equal(buf_z(&got), want);
    buf_release(&got);
    untouchable_release(&u);
    json_release(&j);
}

static void what_the_envelope_needs_is_left_alone(void **state)
{
    (void)state;
    assert_untouchable(
        "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"m\",\"params\":{\"x\":\"y\"}}",
        "\"2.0\" \"a\" \"m\" ");
    assert_untouchable("{\"id\":7,\"id\":8,\"result\":{\"protocolVersion\":\"v\",\"x\":[1]}}",
                       "7 8 \"v\" ");
    assert_untouchable("{\"id\":1,\"error\":{\"code\":5,\"message\":\"m\"}}", "1 ");
}

static void tokens_and_references_to_ids_are_left_alone(void **state)
{
    (void)state;
    assert_untouchable("{\"method\":\"n\",\"params\":{\"progressToken\":\"t\",\"progress\":1}}",
                       "\"n\" \"t\" ");
    assert_untouchable(
        "{\"params\":{\"_meta\":{\"progressToken\":9,\"other\":8},\"requestId\":3}}", "9 3 ");
}

static void schemas_are_left_alone_names_and_all(void **state)
{
    (void)state;
    assert_untouchable(
        "{\"result\":{\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"token\":{\"type\":"
        "\"string\"}}},{\"outputSchema\":{\"a\":1},\"description\":\"d\"}]}}",
        "\"token\" \"type\" \"string\" \"a\" 1 ");
    assert_untouchable("{\"params\":{\"requestedSchema\":{\"b\":2},\"message\":\"m\"}}",
                       "\"b\" 2 ");
    assert_untouchable(
        "{\"result\":{\"inputRequests\":{\"k\":{\"method\":\"e\",\"params\":{\"message\":"
        "\"m\",\"requestedSchema\":{\"c\":3}}}}}}",
        "\"e\" \"c\" 3 ");
}

static void what_tools_return_is_not(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_envelope_needs_is_left_alone),
        cmocka_unit_test(tokens_and_references_to_ids_are_left_alone),
        cmocka_unit_test(schemas_are_left_alone_names_and_all),
        cmocka_unit_test(what_tools_return_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
