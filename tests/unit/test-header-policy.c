#include "mcphttp/header-policy.h"

#include "test.h"

static void assert_written(const struct header *lines, size_t count, const char *want)
{
    struct headers f = { .at = NULL };
    struct buf got;

    for (size_t i = 0; i < count; i++)
        headers_add(&f, lines[i].name, lines[i].value);
    buf_init(&got, 4096);
    header_policy_write(&got, &f);
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
    headers_release(&f);
}

static void what_mcp_is_about_is_kept_as_it_was(void **state)
{
    static const struct header lines[] = {
        { STR_INIT("ACCEPT"), STR_INIT("application/json, text/event-stream") },
        { STR_INIT("mcp-Param-Region"), STR_INIT("=?base64?SGk=?=") },
        { STR_INIT("Mcp-Name"), STR_INIT("echo") },
        { STR_INIT("Mcp-Name"), STR_INIT("echo") },
    };

    (void)state;
    assert_written(lines, 4,
                   "[[\"ACCEPT\",\"application/json, text/event-stream\"],"
                   "[\"mcp-Param-Region\",\"=?base64?SGk=?=\"],"
                   "[\"Mcp-Name\",\"echo\"],[\"Mcp-Name\",\"echo\"]]");
}

static void of_the_rest_only_how_long_it_was(void **state)
{
    static const struct header lines[] = {
        { STR_INIT("Authorization"), STR_INIT("Bearer 12345") },
        { STR_INIT("Mcp-Session-Id"), STR_INIT("abc") },
        { STR_INIT("X-Api-Key"), STR_INIT("") },
        { STR_INIT("Mcp-Param-"), STR_INIT("a") },
    };

    (void)state;
    assert_written(lines, 4,
                   "[[\"Authorization\",12],[\"Mcp-Session-Id\",3],[\"X-Api-Key\",0],"
                   "[\"Mcp-Param-\",1]]");
}

static void no_lines_are_an_empty_list(void **state)
{
    (void)state;
    assert_written(NULL, 0, "[]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_mcp_is_about_is_kept_as_it_was),
        cmocka_unit_test(of_the_rest_only_how_long_it_was),
        cmocka_unit_test(no_lines_are_an_empty_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
