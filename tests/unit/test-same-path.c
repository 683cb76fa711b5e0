#include "wire/same-path.h"

#include "test.h"

static void check(const char *a, const char *b, bool same)
{
    if (same_path(str_z(a), str_z(b)) != same || same_path(str_z(b), str_z(a)) != same)
        fail_msg("%s, %s", a, b);
}

static void spellings_of_a_path_are_the_same(void **state)
{
    static const char *const spellings[] = {
        "/mcp",   "/mcp/",     "//mcp",   "/%6dcp",         "/%6Dcp//", "/./mcp",
        "/mcp/.", "/x/../mcp", "/../mcp", "/x/y/../../mcp", "/%2e/mcp", "/x/%2E./mcp",
    };

    (void)state;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        check("/mcp", spellings[i], true);
    check("/", "//", true);
    check("/", "", true);
    check("/", "/..", true);
    check("/a%20b", "/a b", true);
}

static void other_paths_are_not(void **state)
{
    static const char *const others[] = {
        "/",       "/mc",     "/mcp2", "/MCP",  "/x/mcp", "/mcp/x",
        "/mcp/..", "/%2Fmcp", "/%6",   "/mcp%", "/...",
    };

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check("/mcp", others[i], false);
    check("/a%2Fb", "/a/b", false);
    check("/a%2Fb", "/a%2fb", true);
    check("/a%252Fb", "/a%2Fb", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings_of_a_path_are_the_same),
        cmocka_unit_test(other_paths_are_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
