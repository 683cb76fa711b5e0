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

static void headers_of_mcp_are_kept_with_their_value(void **state)
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

static void only_the_length_of_other_headers_is_kept(void **state)
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

static void no_headers_are_an_empty_list(void **state)
{
    (void)state;
    assert_written(NULL, 0, "[]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_of_mcp_are_kept_with_their_value),
        cmocka_unit_test(only_the_length_of_other_headers_is_kept),
        cmocka_unit_test(no_headers_are_an_empty_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
