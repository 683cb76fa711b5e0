#include "mcp/version.h"

#include "test.h"

static const char *const texts[] = { "2024-10-07", "2024-11-05", "2025-03-26",
                                     "2025-06-18", "2025-11-25", "2026-07-28" };
enum { TEXTS = sizeof texts / sizeof *texts };

static void versions_are_parsed_and_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        enum mcp_version v = mcp_version_parse(str_z(texts[i]));
        assert_int_equal(v, MCP_2024_10_07 + (int)i);
        assert_str(mcp_version_text(v), str_z(texts[i]));
    }
    assert_int_equal(MCP_2024_10_07 + TEXTS - 1, MCP_VERSION_LATEST);
}

static void an_unknown_text_is_an_unknown_version(void **state)
{
    static const char *const others[] = { "",           "1999-01-01",  "2025-11-2",
                                          "DRAFT-2026", "2025-11-255", "2025-11-26",
                                          " 2025-11-25" };

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(mcp_version_parse(str_z(others[i])), MCP_VERSION_UNKNOWN);
    assert_int_equal(mcp_version_parse(STR_NONE), MCP_VERSION_UNKNOWN);
    assert_int_equal(mcp_version_text(MCP_VERSION_UNKNOWN).len, 0);
}

static void only_the_latest_version_is_stateless(void **state)
{
    (void)state;
    for (enum mcp_version v = MCP_2024_10_07; v < MCP_2026_07_28; v++)
        assert_int_equal(mcp_version_protocol(v), MCP_PROTOCOL_STATEFUL);
    assert_int_equal(mcp_version_protocol(MCP_2026_07_28), MCP_PROTOCOL_STATELESS);
    assert_int_equal(mcp_version_protocol(MCP_VERSION_UNKNOWN), MCP_PROTOCOL_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_parsed_and_written),
        cmocka_unit_test(an_unknown_text_is_an_unknown_version),
        cmocka_unit_test(only_the_latest_version_is_stateless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
