#include "engine/http-endpoint.h"

#include "test.h"

/* What `said` comes to at http://server:8080/a/sse?key=1: a target, or "- " and why not. */
static void check(const char *said, const char *want)
{
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct buf target;
    struct url server;

    buf_init(&target, 64);
    assert_true(url_parse(&server, STR("http://server:8080/a/sse?key=1"), &e));
    if (http_endpoint_read(&target, str_z(said), &server, &a, &e)) {
        assert_str(buf_str(&target), str_z(want));
    } else {
        assert_int_equal(e.kind, ERR_PEER);
        assert_str(arena_printf(&a, "- %s", e.msg), str_z(want));
    }
    buf_release(&target);
    arena_release(&a);
}

static void an_address_of_the_server_is_taken(void **state)
{
    (void)state;
    check("/messages?s=1", "/messages?s=1");
    check(" messages \n", "/a/messages");
    check("http://server:8080/m?x", "/m?x");
    check("//SERVER:8080/m", "/m");
    check("//x/y", "- the server wants messages to go elsewhere, to 'http://x:80', and mcpreel "
                   "sends them to nobody but the server it was given");
}

static void elsewhere_is_refused_and_named_by_its_origin_alone(void **state)
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

        check(others[i][0],
              arena_printf(&a,
                           "- the server wants messages to go elsewhere, to '%s', and mcpreel "
                           "sends them to nobody but the server it was given%c",
                           others[i][1], '\0')
                  .at);
        arena_release(&a);
    }
}

static void what_is_no_address_of_http_is_named(void **state)
{
    (void)state;
    check("javascript:alert(1)",
          "- the server wants messages to go to a 'javascript:' address, "
          "which is none of HTTP");
    check("file:///etc/passwd",
          "- the server wants messages to go to a 'file:' address, which is none of HTTP");
    check("http:x", "- the server does not say where messages go to: the URL begins with "
                    "neither 'http://' nor 'https://'");
    check("http://user@server:8080/",
          "- the server does not say where messages go to: the URL names a user");
    check(" \n", "- the server does not say where messages go to: the event is empty");
    check("/a b", "- the server does not say where messages go to: the URL holds a character "
                  "that a URL cannot hold");
}

static void an_address_can_be_too_long(void **state)
{
    (void)state;
    check("/0123456789012345678901234567890123456789012345678901234567890123456789",
          "- the server wants messages to go to an address too long");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_of_the_server_is_taken),
        cmocka_unit_test(elsewhere_is_refused_and_named_by_its_origin_alone),
        cmocka_unit_test(what_is_no_address_of_http_is_named),
        cmocka_unit_test(an_address_can_be_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
