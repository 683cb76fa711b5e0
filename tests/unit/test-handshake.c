#include "client/handshake.h"

#include "test.h"

static void the_texts_name_version_and_capabilities(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 1 << 12);
    handshake_write_initialize(&b, MCP_2025_06_18, STR("{\"roots\":{}}"));
    assert_string_equal(buf_z(&b),
                        "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"roots\":{}},"
                        "\"clientInfo\":{\"name\":\"mcpreel\",\"version\":\"" MCPREEL_VERSION
                        "\"}}");
    buf_clear(&b);
    handshake_write_meta(&b, MCP_2026_07_28, STR("{}"));
    assert_string_equal(
        buf_z(&b),
        "{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"mcpreel\",\"version\":"
        "\"" MCPREEL_VERSION "\"},\"io.modelcontextprotocol/clientCapabilities\":{}}");
    buf_release(&b);
}

static void only_errors_of_the_client_reject_initialize(void **state)
{
    (void)state;
    assert_true(handshake_is_rejection(400));
    assert_true(handshake_is_rejection(404));
    assert_false(handshake_is_rejection(0));
    assert_false(handshake_is_rejection(200));
    assert_false(handshake_is_rejection(401));
    assert_false(handshake_is_rejection(403));
    assert_false(handshake_is_rejection(500));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_texts_name_version_and_capabilities),
        cmocka_unit_test(only_errors_of_the_client_reject_initialize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
