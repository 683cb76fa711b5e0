#include "base/buf.h"
#include "test.h"
#include "wire/url.h"

static void describe(const struct url_authority *a, struct buf *seen)
{
    if (a->userinfo.at)
        buf_printf(seen, "%.*s @ ", STR_ARG(a->userinfo));
    buf_printf(seen, "%.*s", STR_ARG(a->host));
    if (a->ip.kind != IP_NONE)
        buf_printf(seen, a->ip.kind == IP_V4 ? " (v4)" : " (v6)");
    if (a->port >= 0)
        buf_printf(seen, " : %d", a->port);
}

static void check(const char *text, const char *want)
{
    struct err e = ERR_NONE;
    struct buf seen;
    struct url u;

    buf_init(&seen, 4096);
    if (url_parse(&u, str_z(text), &e)) {
        buf_printf(&seen, "%s ", u.https ? "https" : "http");
        describe(&u.authority, &seen);
        buf_printf(&seen, " -> %d path '%.*s'", url_port(&u), STR_ARG(u.path));
        if (u.query.at)
            buf_printf(&seen, " query '%.*s'", STR_ARG(u.query));
        if (u.fragment.at)
            buf_printf(&seen, " fragment '%.*s'", STR_ARG(u.fragment));
    } else {
        assert_int_equal(e.kind, ERR_USAGE);
        buf_printf(&seen, "%s", e.msg);
    }
    assert_str(buf_str(&seen), str_z(want));
    buf_release(&seen);
}

static void a_url_is_split_into_parts(void **state)
{
    (void)state;
    check("http://localhost:8080/mcp", "http localhost : 8080 -> 8080 path '/mcp'");
    check("https://example.com", "https example.com -> 443 path ''");
    check("HTTP://Example.COM/", "http Example.COM -> 80 path '/'");
    check("http://a?b=c/d@e#f?g", "http a -> 80 path '' query 'b=c/d@e' fragment 'f?g'");
    check("http://a/?#", "http a -> 80 path '/' query '' fragment ''");
    check("http://me:pass@a/b@c", "http me:pass @ a -> 80 path '/b@c'");
    check("http://@a/", "http  @ a -> 80 path '/'");
    check("http://[::1]/x", "http ::1 (v6) -> 80 path '/x'");
    check("http://[2001:db8::1]:90", "http 2001:db8::1 (v6) : 90 -> 90 path ''");
    check("http://127.0.0.1:1", "http 127.0.0.1 (v4) : 1 -> 1 path ''");
    check("http://a:/b", "http a -> 80 path '/b'");
    check("http://a_b.c-d./", "http a_b.c-d. -> 80 path '/'");
}

static void invalid_urls_are_rejected(void **state)
{
    static const char no_scheme[] = "the URL begins with neither 'http://' nor 'https://'";
    static const char no_host[] = "the URL has no valid host and port";
    static const char no_char[] = "the URL contains an invalid character";

    (void)state;
    check("", no_scheme);
    check("localhost:8080", no_scheme);
    check("ftp://a/", no_scheme);
    check("http:/a", no_scheme);
    check("http:a", no_scheme);
    check("http://", no_host);
    check("http:///mcp", no_host);
    check("http://?a", no_host);
    check("http://:80/", no_host);
    check("http://a:65536/", no_host);
    check("http://a:8o/", no_host);
    check("http://a:-1/", no_host);
    check("http://a@b@c/", no_host);
    check("http://.a/", no_host);
    check("http://a..b/", no_host);
    check("http://a%41/", no_host);
    check("http://[::1/", no_host);
    check("http://[::1]a/", no_host);
    check("http://[127.0.0.1]/", no_host);
    check("http://::1/", no_host);
    check("http://1.2.3.256/", no_host);
    check("http://127.0.0.1./", no_host);
    check("http://a b/", no_char);
    check("http://a/\tb", no_char);
    check("http://a/\xc3\xa9", no_char);
    check("http://a\\b", no_char);
    check("http://a/\n", no_char);
}

static void an_error_never_repeats_the_password(void **state)
{
    static const char *const bad[] = { "ftp://me:hunter2@a", "http://me:hunter2@", "hunter2",
                                       "http://me:hunter2@a b" };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = ERR_NONE;
        struct url u;

        assert_false(url_parse(&u, str_z(bad[i]), &e));
        assert_null(strstr(e.msg, "hunter2"));
        assert_null(strstr(e.hint, "hunter2"));
    }
}

static bool same(const char *a, const char *b)
{
    struct url_authority x, y;

    assert_true(url_parse_authority(&x, str_z(a)));
    assert_true(url_parse_authority(&y, str_z(b)));
    return url_same_host(&x, &y);
}

static void hosts_are_compared_without_case_and_spelling(void **state)
{
    (void)state;
    assert_true(same("Example.com:1", "example.COM:2"));
    assert_true(same("127.1", "127.0.0.1"));
    assert_true(same("[::1]", "[0:0::1]"));
    assert_true(same("[::ffff:1.2.3.4]", "1.2.3.4"));
    assert_false(same("[::1]", "127.0.0.1"));
    assert_false(same("localhost", "127.0.0.1"));
    assert_false(same("a", "ab"));
}

static bool loopback(const char *text)
{
    struct url_authority a;

    assert_true(url_parse_authority(&a, str_z(text)));
    return url_is_loopback(&a);
}

static void loopback_is_recognized_in_its_usual_spelling_only(void **state)
{
    (void)state;
    assert_true(loopback("LocalHost:80"));
    assert_true(loopback("127.0.0.1"));
    assert_true(loopback("127.9.9.9:1"));
    assert_true(loopback("[::1]"));
    assert_false(loopback("127.1"));
    assert_false(loopback("0x7f000001"));
    assert_false(loopback("localhost."));
    assert_false(loopback("a.localhost"));
    assert_false(loopback("localhost.example"));
    assert_false(loopback("0.0.0.0"));
    assert_false(loopback("[::]"));
    assert_false(loopback("10.0.0.1"));
}

static void a_port_is_a_number_up_to_65535(void **state)
{
    int port;

    (void)state;
    assert_true(url_parse_port(STR("0"), &port));
    assert_int_equal(port, 0);
    assert_true(url_parse_port(STR("65535"), &port));
    assert_int_equal(port, 65535);
    assert_true(url_parse_port(STR("00080"), &port));
    assert_int_equal(port, 80);
    assert_true(url_parse_port(STR(""), &port));
    assert_int_equal(port, -1);
    assert_false(url_parse_port(STR("65536"), &port));
    assert_false(url_parse_port(STR("99999999999999999999"), &port));
    assert_false(url_parse_port(STR("+1"), &port));
    assert_false(url_parse_port(STR("1 "), &port));
}

static void check_path(const char *a, const char *b, bool same)
{
    if (url_same_path(str_z(a), str_z(b)) != same || url_same_path(str_z(b), str_z(a)) != same)
        fail_msg("%s, %s", a, b);
}

static void spellings_of_a_path_are_equal(void **state)
{
    static const char *const spellings[] = {
        "/mcp",   "/mcp/",     "//mcp",   "/%6dcp",         "/%6Dcp//", "/./mcp",
        "/mcp/.", "/x/../mcp", "/../mcp", "/x/y/../../mcp", "/%2e/mcp", "/x/%2E./mcp",
    };

    (void)state;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        check_path("/mcp", spellings[i], true);
    check_path("/", "//", true);
    check_path("/", "", true);
    check_path("/", "/..", true);
    check_path("/a%20b", "/a b", true);
}

static void other_paths_are_not_equal(void **state)
{
    static const char *const others[] = {
        "/",       "/mc",     "/mcp2", "/MCP",  "/x/mcp", "/mcp/x",
        "/mcp/..", "/%2Fmcp", "/%6",   "/mcp%", "/...",
    };

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check_path("/mcp", others[i], false);
    check_path("/a%2Fb", "/a/b", false);
    check_path("/a%2Fb", "/a%2fb", true);
    check_path("/a%252Fb", "/a%2Fb", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_is_split_into_parts),
        cmocka_unit_test(invalid_urls_are_rejected),
        cmocka_unit_test(an_error_never_repeats_the_password),
        cmocka_unit_test(hosts_are_compared_without_case_and_spelling),
        cmocka_unit_test(loopback_is_recognized_in_its_usual_spelling_only),
        cmocka_unit_test(a_port_is_a_number_up_to_65535),
        cmocka_unit_test(spellings_of_a_path_are_equal),
        cmocka_unit_test(other_paths_are_not_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
