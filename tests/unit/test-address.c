#include "engine/address.h"

#include "test.h"

/* What a client that asked http://here:5PATH is told of what http://[::1]:3001/a/mcp said:
 * "TARGET told TEXT", "away ORIGIN", or "- " and why it cannot be read. */
static void check(const char *path, const char *said, const char *want)
{
    const struct address_client client = { STR("here:5"), str_z(path) };
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct address at;
    struct url server;

    assert_true(url_parse(&server, STR("http://[::1]:3001/a/mcp"), &e));
    if (!address_read(&at, str_z(said), &server, &client, &a, &e)) {
        assert_int_equal(e.kind, ERR_INPUT);
        assert_str(arena_printf(&a, "- %s", e.msg), str_z(want));
    } else if (at.here) {
        assert_int_equal(e.kind, ERR_OK);
        assert_str(arena_printf(&a, "%.*s told %.*s", STR_ARG(at.target), STR_ARG(at.told)),
                   str_z(want));
    } else {
        assert_str(arena_printf(&a, "away %.*s", STR_ARG(address_origin(&at.meant, &a))),
                   str_z(want));
    }
    arena_release(&a);
}

static void what_leads_through_us_is_told_as_it_was_said(void **state)
{
    (void)state;
    check("/a/mcp", "/a/mcp/?x=1", "/a/mcp/?x=1 told /a/mcp/?x=1");
    check("/a/mcp", "mcp/", "/a/mcp/ told mcp/");
    check("/", "/b", "/b told /b");
}

static void what_would_not_is_told_so_that_it_does(void **state)
{
    (void)state;
    check("/", "mcp/", "/a/mcp/ told /a/mcp/");
    check("/a/mcp", "http://[0:0::1]:3001/b?x", "/b?x told /b?x");
    check("/a/mcp", "//[::1]:3001", "/ told /");
    check("/a/mcp", "http://HERE:5/b", "/b told /b");
    check("/a/mcp", "https://here:5/b", "/b told /b"); /* what is in front of us may speak it */
    check("/a/mcp", "http://here:5//b", "//b told /.//b");
}

static void what_leads_elsewhere_has_an_origin(void **state)
{
    (void)state;
    check("/a/mcp", "https://[::1]:3001/b?secret", "away https://[::1]:3001");
    check("/a/mcp", "//[::2]/b", "away http://[::2]:80");
    check("/a/mcp", "https://other.example/b", "away https://other.example:443");
    check("/a/mcp", "https://here:6/b", "away https://here:6");
}

static void what_can_be_read_in_two_ways_is_not_read(void **state)
{
    (void)state;
    check("/a/mcp", "/\\other/", "- the URL holds a character that a URL cannot hold");
    check("/a/mcp", "/.//other/", "- it would seem to name a host");
    check("/a/mcp", "http://me@[::1]:3001/", "- the URL names a user");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_leads_through_us_is_told_as_it_was_said),
        cmocka_unit_test(what_would_not_is_told_so_that_it_does),
        cmocka_unit_test(what_leads_elsewhere_has_an_origin),
        cmocka_unit_test(what_can_be_read_in_two_ways_is_not_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
