#include "mcp/version.h"

#include "test.h"

static const char *const texts[] = { "2024-10-07", "2024-11-05", "2025-03-26",
                                     "2025-06-18", "2025-11-25", "2026-07-28" };
enum { TEXTS = sizeof texts / sizeof *texts };

static void text_and_version_stand_for_each_other(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXTS; i++) {
        enum mcp_version v = mcp_version_parse(str_z(texts[i]));
        assert_int_equal(v, MCP_2024_10_07 + (int)i);
        assert_str(mcp_version_text(v), str_z(texts[i]));
    }
    assert_int_equal(MCP_2024_10_07 + TEXTS - 1, MCP_VERSION_LATEST);
}

static void what_is_none_of_ours_is_unknown(void **state)
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

static void the_latest_revision_alone_is_modern(void **state)
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
        cmocka_unit_test(text_and_version_stand_for_each_other),
        cmocka_unit_test(what_is_none_of_ours_is_unknown),
        cmocka_unit_test(the_latest_revision_alone_is_modern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
