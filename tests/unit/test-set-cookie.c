#include "wire/set-cookie.h"

#include "test.h"

/* `want` NULL: it passes as it is. */
static void assert_home(const char *host, const char *line, const char *want)
{
    struct url_authority server;
    struct buf out;

    assert_true(url_parse_authority(&server, str_z(host)));
    buf_init(&out, 4096);
    set_cookie_drop_domain(&out, str_z(line), &server);
    assert_str(buf_str(&out), want ? str_z(want) : STR(""));
    buf_release(&out);
}

static void the_domain_of_the_server_is_removed(void **state)
{
    (void)state;
    assert_home("auth.example.org", "sid=1; Domain=example.org; Path=/; Secure; HttpOnly",
                "sid=1; Path=/; Secure; HttpOnly");
    assert_home("auth.example.org:8443", "sid=1;domain=.Example.ORG", "sid=1");
    assert_home("example.org", "sid=1; DOMAIN = example.org ; Max-Age=5", "sid=1; Max-Age=5");
    assert_home("localhost", "a=b; Domain=localhost", "a=b");
    assert_home("10.1.2.3", "a=b; Domain=10.1.2.3; Path=/x", "a=b; Path=/x");
    assert_home("[::1]:80", "a=b; Domain=::1", "a=b");
    assert_home("a.b.example.org", "=v;x; Domain=b.example.org;;y=\"1\"", "=v;x;;y=\"1\"");
}

static void the_last_domain_counts(void **state)
{
    (void)state;
    assert_home("a.example.org", "k=v; Domain=evil.example; Domain=example.org", "k=v");
    assert_home("a.example.org", "k=v; Domain=example.org; Path=/; Domain=evil.example", NULL);
}

static void a_foreign_domain_is_kept(void **state)
{
    static const char *const lines[] = {
        "k=v; Domain=evil.example",
        "k=v; Domain=org",
        "k=v; Domain=.org",
        "k=v; Domain=b.auth.example.org",
        "k=v; Domain=uth.example.org",
        "k=v; Domain=xauth.example.org",
        "k=v; Domain=",
        "k=v; Domain",
        "k=v; Domain=.",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_home("auth.example.org", lines[i], NULL);
    assert_home("10.1.2.3", "k=v; Domain=2.3", NULL);
}

static void without_a_domain_nothing_changes(void **state)
{
    (void)state;
    assert_home("example.org", "k=v; Path=/; SameSite=Lax", NULL);
    assert_home("example.org", "Domain=example.org; Path=/", NULL); /* that is its name */
    assert_home("example.org", "k=v; X-Domain=example.org", NULL);
    assert_home("example.org", "", NULL);
    assert_home("example.org", ";", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_domain_of_the_server_is_removed),
        cmocka_unit_test(the_last_domain_counts),
        cmocka_unit_test(a_foreign_domain_is_kept),
        cmocka_unit_test(without_a_domain_nothing_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
