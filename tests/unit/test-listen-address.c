#include "test.h"
#include "wire/listen-address.h"

static void every_spelling_gives_interface_and_port(void **state)
{
    static const struct {
        const char *text, *host;
        int port;
        enum listen_scope scope;
    } rows[] = {
        { "8080", "", 8080, LISTEN_LOOPBACK },
        { "0", "", 0, LISTEN_LOOPBACK },
        { ":8080", "", 8080, LISTEN_LOOPBACK },
        { ":0", "", 0, LISTEN_LOOPBACK },
        { "localhost:0", "localhost", 0, LISTEN_LOOPBACK },
        { "LOCALHOST:1", "LOCALHOST", 1, LISTEN_LOOPBACK },
        { "127.0.0.1:5555", "127.0.0.1", 5555, LISTEN_LOOPBACK },
        { "127.1:80", "127.1", 80, LISTEN_LOOPBACK },
        { "[::1]:8080", "::1", 8080, LISTEN_LOOPBACK },
        { "[::ffff:127.0.0.1]:8080", "::ffff:127.0.0.1", 8080, LISTEN_LOOPBACK },
        { "*:80", "*", 80, LISTEN_WILDCARD },
        { "0:80", "0", 80, LISTEN_WILDCARD },
        { "0x0:80", "0x0", 80, LISTEN_WILDCARD },
        { "00.0:80", "00.0", 80, LISTEN_WILDCARD },
        { "0.0.0.0:80", "0.0.0.0", 80, LISTEN_WILDCARD },
        { "[::]:80", "::", 80, LISTEN_WILDCARD },
        { "[0::0]:80", "0::0", 80, LISTEN_WILDCARD },
        { "[::ffff:0.0.0.0]:80", "::ffff:0.0.0.0", 80, LISTEN_WILDCARD },
        { "10.0.0.1:80", "10.0.0.1", 80, LISTEN_OTHER },
        { "example.com:65535", "example.com", 65535, LISTEN_OTHER },
        { "a.localhost:80", "a.localhost", 80, LISTEN_OTHER },
        { "[fe80::1]:80", "fe80::1", 80, LISTEN_OTHER },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = ERR_NONE;
        struct listen_address l;

        if (!listen_address_parse(&l, str_z(rows[i].text), &e))
            fail_msg("'%s': %s", rows[i].text, e.msg);
        assert_str(l.host, str_z(rows[i].host));
        assert_int_equal(l.port, rows[i].port);
        if (l.scope != rows[i].scope)
            fail_msg("'%s' has scope %d", rows[i].text, l.scope);
    }
}

static void invalid_addresses_are_rejected_with_an_example(void **state)
{
    static const char *const bad[] = {
        "",
        ":",
        "*",
        "*:",
        "localhost",
        "localhost:",
        "65536",
        ":65536",
        "-1",
        "8080 ",
        "0x50",
        "::",
        "::1",
        ":::80",
        "::1:80x",
        "[::1]",
        "[::1]:",
        "[::1]80",
        "a:b",
        "a:80:90",
        "me@a:80",
        "http://a:80",
        "1.2.3.256:80",
        "*:a",
        "**:80",
        "::ffff:0.0.0.0",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = ERR_NONE;
        struct listen_address l;

        if (listen_address_parse(&l, str_z(bad[i]), &e))
            fail_msg("'%s' is taken", bad[i]);
        assert_int_equal(e.kind, ERR_USAGE);
        assert_non_null(strstr(e.msg, bad[i]));
        assert_non_null(strstr(e.hint, "[::1]:8080"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_gives_interface_and_port),
        cmocka_unit_test(invalid_addresses_are_rejected_with_an_example),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
