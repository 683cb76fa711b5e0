#include "mcphttp/url-rewrite.h"

#include "test.h"

/* The result for a client that requested http://here:5PATH and a reference of
 * http://[::1]:3001/a/mcp: "TARGET told TEXT", "away ORIGIN", or "- " and the reason why it
 * cannot be parsed. */
static void check(const char *path, const char *sent_url, const char *want)
{
    const struct url_rewrite_client client = { STR("here:5"), str_z(path) };
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct url_rewrite at;
    struct url server;

    assert_true(url_parse(&server, STR("http://[::1]:3001/a/mcp"), &e));
    if (!url_rewrite_resolve(&at, str_z(sent_url), &server, &client, &a, &e)) {
        assert_int_equal(e.kind, ERR_INPUT);
        assert_str(arena_printf(&a, "- %s", e.msg), str_z(want));
    } else if (at.is_server) {
        assert_int_equal(e.kind, ERR_OK);
        assert_str(
            arena_printf(&a, "%.*s told %.*s", STR_ARG(at.target), STR_ARG(at.for_client)),
            str_z(want));
    } else {
        assert_str(arena_printf(&a, "away %.*s", STR_ARG(url_rewrite_origin(&at.url, &a))),
                   str_z(want));
    }
    arena_release(&a);
}

static void a_reference_that_stays_with_us_is_forwarded_unchanged(void **state)
{
    (void)state;
    check("/a/mcp", "/a/mcp/?x=1", "/a/mcp/?x=1 told /a/mcp/?x=1");
    check("/a/mcp", "mcp/", "/a/mcp/ told mcp/");
    check("/", "/b", "/b told /b");
}

static void a_reference_that_would_leave_mcpreel_is_rewritten(void **state)
{
    (void)state;
    check("/", "mcp/", "/a/mcp/ told /a/mcp/");
    check("/a/mcp", "http://[0:0::1]:3001/b?x", "/b?x told /b?x");
    check("/a/mcp", "//[::1]:3001", "/ told /");
    check("/a/mcp", "http://HERE:5/b", "/b told /b");
    check("/a/mcp", "https://here:5/b", "/b told /b"); /* a proxy before mcpreel may use it */
    check("/a/mcp", "http://here:5//b", "//b told /.//b");
}

static void a_url_of_another_origin_has_its_origin(void **state)
{
    (void)state;
    check("/a/mcp", "https://[::1]:3001/b?secret", "away https://[::1]:3001");
    check("/a/mcp", "//[::2]/b", "away http://[::2]:80");
    check("/a/mcp", "https://other.example/b", "away https://other.example:443");
    check("/a/mcp", "https://here:6/b", "away https://here:6");
}

static void an_ambiguous_url_is_not_parsed(void **state)
{
    (void)state;
    check("/a/mcp", "/\\other/", "- the URL contains an invalid character");
    check("/a/mcp", "/.//other/", "- the path begins with '//'");
    check("/a/mcp", "http://me@[::1]:3001/", "- the URL names a user");
}

static const char *server_url;

/* The Location for a client that uses us as 'here:5', and behind " | " the path that is not
 * recorded by that, "!" if it is no URL; "none" if it is no redirect. */
static void check_redirect(unsigned status, const char *path, const char *location,
                           const char *want)
{
    const struct url_rewrite_client client = { STR("here:5"), str_z(path) };
    struct headers f = { .at = NULL };
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct redirect to;
    struct url server;
    struct str got = STR("none");

    assert_true(url_parse(&server, str_z(server_url), &e));
    if (location)
        headers_add(&f, STR("Location"), str_z(location));
    if (url_rewrite_redirect(&to, status, &f, &server, &client, &a))
        got =
            arena_printf(&a, "%.*s%s%.*s%s", STR_ARG(to.location), to.warning.len ? " | " : "",
                         STR_ARG(to.warning), to.is_valid_url ? "" : "!");
    assert_str(got, str_z(want));
    headers_release(&f);
    arena_release(&a);
}

static int at_a_host(void **state)
{
    (void)state;
    server_url = "https://h/mcp?key=1";
    return 0;
}

static int at_its_root(void **state)
{
    (void)state;
    server_url = "http://h";
    return 0;
}

static void a_redirect_to_another_spelling_stays_with_us(void **state)
{
    (void)state;
    for (unsigned status = 300; status < 400; status++)
        check_redirect(status, "/mcp", "https://H:443/mcp/?x=1#y", "/mcp/?x=1#y");
    check_redirect(307, "/mcp", "//h/mcp/", "/mcp/");
    check_redirect(307, "/mcp", "/mcp/", "/mcp/");
    check_redirect(307, "/mcp", "mcp/", "mcp/");
    check_redirect(307, "/mcp/", "../mcp", "../mcp");
    check_redirect(307, "/", "http://here:5/%6dcp", "/%6dcp");
    check_redirect(307, "/mcp", "https://here:5/mcp/",
                   "/mcp/"); /* a proxy in front of us uses https */
    check_redirect(307, "/mcp", "https://h//mcp?x", "/.//mcp?x");
}

#define BESIDE                                                                                 \
    " | the server redirects (status 302) to another of its paths: traffic there is "          \
    "not recorded"

static void a_redirect_to_another_path_stays_with_us_and_is_reported(void **state)
{
    (void)state;
    check_redirect(302, "/mcp", "https://h/login?key", "/login?key" BESIDE);
    check_redirect(302, "/mcp", "/login", "/login" BESIDE);
    check_redirect(302, "/mcp/", "login", "login" BESIDE); /* relative to the requested URL */
    check_redirect(302, "/mcp", "https://h", "/" BESIDE);
    check_redirect(302, "/messages", "https://h/messages/", "/messages/" BESIDE);
}

#define AWAY(where)                                                                            \
    " | the server redirects (status 308) to '" where                                          \
    "': clients that follow the redirect bypass mcpreel"

static void a_redirect_to_another_origin_is_forwarded_unchanged(void **state)
{
    (void)state;
    check_redirect(308, "/mcp", "https://far/mcp?key",
                   "https://far/mcp?key" AWAY("https://far:443"));
    check_redirect(308, "/mcp", "http://h/mcp/", "http://h/mcp/" AWAY("http://h:80"));
    check_redirect(308, "/mcp", "//h:444/mcp/", "//h:444/mcp/" AWAY("https://h:444"));
}

static void an_unparsable_redirect_is_forwarded_unchanged(void **state)
{
    (void)state;
    check_redirect(301, "/mcp", "https://me:key@h/mcp",
                   "https://me:key@h/mcp | the server redirects (status 301) to an invalid "
                   "URL: the URL names a user!");
    check_redirect(301, "/mcp", "javascript:alert(1)",
                   "javascript:alert(1) | the server redirects (status 301) to an invalid URL: "
                   "the URL begins with neither 'http://' nor 'https://'!");
}

static void other_statuses_are_not_redirects(void **state)
{
    (void)state;
    check_redirect(201, "/mcp", "https://h/mcp/", "none");
    check_redirect(404, "/mcp", "https://h/mcp/", "none");
    check_redirect(307, "/mcp", NULL, "none");
    check_redirect(307, "/mcp", "", "none");
}

static void a_server_without_path_is_at_its_root(void **state)
{
    (void)state;
    check_redirect(307, "/", "http://h/", "/");
    check_redirect(302, "/", "/mcp", "/mcp" BESIDE);
}

static void check_sent_url(unsigned status, const char *location, const char *want)
{
    struct headers f = { .at = NULL };
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct url server;

    assert_true(url_parse(&server, str_z(server_url), &e));
    if (location)
        headers_add(&f, STR("Location"), str_z(location));
    assert_str(url_rewrite_describe_redirect(status, &f, &server, &a), str_z(want));
    headers_release(&f);
    arena_release(&a);
}

#define SENT_URL(where)                                                                        \
    "the server redirects (status 307) " where                                                 \
    "; mcpreel does not follow redirects: use that URL instead"

static void only_the_origin_of_a_redirect_that_is_not_followed_is_logged(void **state)
{
    (void)state;
    check_sent_url(307, "https://far/mcp?key", SENT_URL("to 'https://far:443'"));
    check_sent_url(307, "//far:7/x", SENT_URL("to 'https://far:7'"));
    check_sent_url(307, "https://h/login?key", SENT_URL("to another of its paths"));
    check_sent_url(307, "/login#x", SENT_URL("to another of its paths"));
    check_sent_url(
        307, "https://H:443/mcp/?key=1",
        SENT_URL("to another spelling of its own path, such as with or without a '/' at the "
                 "end"));
    check_sent_url(301, NULL, "the server redirects (status 301) without a Location");
}

static void an_unparsable_url_is_not_logged(void **state)
{
    (void)state;
    check_sent_url(302, "https://user:pw@evil.example/x?tok=S",
                   "the server redirects (status 302) to an invalid URL: the URL names a user");
}

/* What `sent_url` comes to at http://server:8080/a/sse?key=1: a target, or "- " and the error.
 */
static void check_endpoint(const char *sent_url, const char *want)
{
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct buf target;
    struct url server;

    buf_init(&target, 64);
    assert_true(url_parse(&server, STR("http://server:8080/a/sse?key=1"), &e));
    if (url_rewrite_parse_endpoint(&target, str_z(sent_url), &server, &a, &e)) {
        assert_str(buf_str(&target), str_z(want));
    } else {
        assert_int_equal(e.kind, ERR_PEER);
        assert_str(arena_printf(&a, "- %s", e.msg), str_z(want));
    }
    buf_release(&target);
    arena_release(&a);
}

static void a_url_of_the_server_is_accepted(void **state)
{
    (void)state;
    check_endpoint("/messages?s=1", "/messages?s=1");
    check_endpoint(" messages \n", "/a/messages");
    check_endpoint("http://server:8080/m?x", "/m?x");
    check_endpoint("//SERVER:8080/m", "/m");
    check_endpoint("//x/y",
                   "- the 'endpoint' event points to another origin ('http://x:80'); rejected");
}

static void a_url_of_another_origin_is_rejected_and_logged_by_origin(void **state)
{
    static const char *const others[][2] = {
        { "http://server/m?secret", "http://server:80" },
        { "https://server:8080/secret", "https://server:8080" },
        { "http://other:8080/", "http://other:8080" },
        { "http://[::1]/secret", "http://[::1]:80" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct arena a = { 0 };

        check_endpoint(
            others[i][0],
            arena_printf(&a,
                         "- the 'endpoint' event points to another origin ('%s'); rejected%c",
                         others[i][1], '\0')
                .at);
        arena_release(&a);
    }
}

static void a_url_that_is_not_http_is_named(void **state)
{
    (void)state;
    check_endpoint("javascript:alert(1)",
                   "- the 'endpoint' event has a 'javascript:' URL, which is not HTTP");
    check_endpoint("file:///etc/passwd",
                   "- the 'endpoint' event has a 'file:' URL, which is not HTTP");
    check_endpoint("http:x", "- invalid 'endpoint' event: the URL begins with "
                             "neither 'http://' nor 'https://'");
    check_endpoint("http://user@server:8080/",
                   "- invalid 'endpoint' event: the URL names a user");
    check_endpoint(" \n", "- the server sent an empty 'endpoint' event");
    check_endpoint("/a b", "- invalid 'endpoint' event: the URL contains an invalid character");
}

static void a_too_long_url_is_rejected(void **state)
{
    (void)state;
    check_endpoint("/0123456789012345678901234567890123456789012345678901234567890123456789",
                   "- the URL of the 'endpoint' event is too long");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reference_that_stays_with_us_is_forwarded_unchanged),
        cmocka_unit_test(a_reference_that_would_leave_mcpreel_is_rewritten),
        cmocka_unit_test(a_url_of_another_origin_has_its_origin),
        cmocka_unit_test(an_ambiguous_url_is_not_parsed),
        cmocka_unit_test_setup(a_redirect_to_another_spelling_stays_with_us, at_a_host),
        cmocka_unit_test_setup(a_redirect_to_another_path_stays_with_us_and_is_reported,
                               at_a_host),
        cmocka_unit_test_setup(a_redirect_to_another_origin_is_forwarded_unchanged, at_a_host),
        cmocka_unit_test_setup(an_unparsable_redirect_is_forwarded_unchanged, at_a_host),
        cmocka_unit_test_setup(other_statuses_are_not_redirects, at_a_host),
        cmocka_unit_test_setup(only_the_origin_of_a_redirect_that_is_not_followed_is_logged,
                               at_a_host),
        cmocka_unit_test_setup(an_unparsable_url_is_not_logged, at_a_host),
        cmocka_unit_test_setup(a_server_without_path_is_at_its_root, at_its_root),
        cmocka_unit_test(a_url_of_the_server_is_accepted),
        cmocka_unit_test(a_url_of_another_origin_is_rejected_and_logged_by_origin),
        cmocka_unit_test(a_url_that_is_not_http_is_named),
        cmocka_unit_test(a_too_long_url_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
