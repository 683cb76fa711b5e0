#include "test.h"
#include "wire/origin.h"

/* Classifies Host and Origin for a listener on `self`. An invalid Host cannot be part of a
 * request. NULL: no header. */
static const struct seen_row {
    const char *self, *host, *host_is, *origin, *origin_is;
} rows[] = {
    /* on a loopback address: every name of loopback with our port is us */
    { "127.0.0.1:8080", "127.0.0.1:8080", "self", "http://127.0.0.1:8080", "self" },
    { "127.0.0.1:8080", "localhost:8080", "self", "http://localhost:8080", "self" },
    { "127.0.0.1:8080", "LOCALHOST:8080", "self", "HTTP://LocalHost:8080", "self" },
    { "127.0.0.1:8080", "[::1]:8080", "self", "http://[::1]:8080", "self" },
    { "localhost:8080", "127.0.0.1:8080", "self", "http://127.0.0.1:8080", "self" },
    { "[::1]:8080", "localhost:8080", "self", "http://localhost:8080", "self" },

    /* another port */
    { "127.0.0.1:8080", "localhost:8081", "loopback", "http://localhost:6274", "loopback" },
    { "127.0.0.1:8080", "localhost", "loopback", "http://localhost", "loopback" },
    { "127.0.0.1:8080", "127.0.0.2:1", "loopback", "https://127.0.0.2:1", "loopback" },
    { "127.0.0.1:80", "localhost", "self", "http://localhost", "self" },
    { "127.0.0.1:80", "localhost:", "self", "http://localhost:", "self" },
    { "127.0.0.1:443", "localhost", "loopback", "https://localhost", "loopback" },

    /* the same port over TLS is not us */
    { "127.0.0.1:8080", "localhost:8080", "self", "https://localhost:8080", "loopback" },
    { "10.0.0.5:8080", "10.0.0.5:8080", "self", "https://10.0.0.5:8080", "other" },

    /* names that are made to point here */
    { "127.0.0.1:8080", "evil.example:8080", "other", "http://evil.example:8080", "other" },
    { "127.0.0.1:8080", "localhost.evil.example:8080", "other", "http://a.localhost", "other" },
    { "127.0.0.1:8080", "127.0.0.1.nip.example:8080", "other", "http://127.0.0.1.x", "other" },
    { "127.0.0.1:8080", "localhost.:8080", "other", "http://localhost.:8080", "other" },
    { "127.0.0.1:8080", "0.0.0.0:8080", "other", "http://0.0.0.0:8080", "other" },
    { "127.0.0.1:8080", "[::]:8080", "other", "http://[::]:8080", "other" },
    { "127.0.0.1:8080", "0:8080", "other", "http://0:8080", "other" },
    { "127.0.0.1:8080", "127.1:8080", "other", "http://127.1:8080", "other" },
    { "127.0.0.1:8080", "0x7f000001:8080", "other", "http://2130706433:8080", "other" },

    /* an address of ours that others reach, too */
    { "10.0.0.5:8080", "10.0.0.5:8080", "self", "http://10.0.0.5:8080", "self" },
    { "10.0.0.5:8080", "10.0.0.5:80", "other", "http://10.0.0.5", "other" },
    { "10.0.0.5:8080", "10.0.0.6:8080", "other", "http://10.0.0.6:8080", "other" },
    { "10.0.0.5:8080", "localhost:8080", "loopback", "http://localhost:8080", "loopback" },
    { "box.example:8080", "BOX.example:8080", "self", "http://box.EXAMPLE:8080", "self" },
    { "[2001:db8::1]:80", "[2001:DB8:0::1]", "self", "http://[2001:db8::1]", "self" },

    /* every interface */
    { "0.0.0.0:8080", "localhost:8080", "self", "http://127.0.0.1:8080", "self" },
    { "0.0.0.0:8080", "0.0.0.0:8080", "other", "http://0.0.0.0:8080", "other" },
    { "[::]:8080", "[::1]:8080", "self", "http://[::1]:8080", "self" },
    { "[::]:8080", "box.example:8080", "other", "http://box.example:8080", "other" },

    /* none, null, and unparsable ones */
    { "127.0.0.1:8080", "x", "other", NULL, "none" },
    { "127.0.0.1:8080", "", "unreadable", "", "other" },
    { "127.0.0.1:8080", "null", "other", "null", "null" },
    { "127.0.0.1:8080", "a b", "unreadable", "NULL", "other" },
    { "127.0.0.1:8080", "localhost:8080/", "unreadable", "http://localhost:8080/", "other" },
    { "127.0.0.1:8080", "me@localhost:8080", "unreadable", "http://me@localhost:8080",
      "other" },
    { "127.0.0.1:8080", "localhost:8080,x", "unreadable", "http://localhost:8080,x", "other" },
    { "127.0.0.1:8080", "localhost:80808", "unreadable", "http://localhost:80808", "other" },
    { "127.0.0.1:8080", "http://localhost:8080", "unreadable", "localhost:8080", "other" },
    { "127.0.0.1:8080", "localhost:8080 x", "unreadable", "http://localhost:8080 http://a",
      "other" },
    { "127.0.0.1:8080", "::1", "unreadable", "http://localhost:8080?", "other" },
    { "127.0.0.1:8080", "x", "other", "http://localhost:8080#", "other" },
    { "127.0.0.1:8080", "x", "other", "chrome-extension://abcdef", "other" },
    { "127.0.0.1:8080", "x", "other", "file://", "other" },
    { "127.0.0.1:8080", "x", "other", "ws://localhost:8080", "other" },
};

static const char *host_place(const char *text, const struct url_authority *self)
{
    struct url_authority host;

    if (!url_parse_authority(&host, str_z(text)) || host.userinfo.at)
        return "unreadable";
    return origin_kind_name(origin_classify_host(&host, self));
}

static void hosts_and_origins_are_classified_by_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct seen_row *r = &rows[i];
        struct headers f = { .at = NULL };
        struct url_authority self;
        const char *host_is, *origin_is;

        assert_true(url_parse_authority(&self, str_z(r->self)));
        if (r->origin)
            headers_add(&f, STR("oRIGIN"), str_z(r->origin));
        host_is = host_place(r->host, &self);
        origin_is = origin_kind_name(origin_classify(&f, &self));
        if (strcmp(host_is, r->host_is))
            fail_msg("on %s Host '%s' is %s", r->self, r->host, host_is);
        if (strcmp(origin_is, r->origin_is))
            fail_msg("on %s Origin '%s' is %s", r->self, r->origin ? r->origin : "-",
                     origin_is);
        headers_release(&f);
    }
}

static void a_duplicate_origin_is_other(void **state)
{
    struct headers f = { .at = NULL };
    struct url_authority self;

    (void)state;
    assert_true(url_parse_authority(&self, STR("localhost:80")));
    headers_add(&f, STR("Origin"), STR("http://localhost"));
    assert_int_equal(origin_classify(&f, &self), ORIGIN_SELF);
    headers_add(&f, STR("origin"), STR("http://localhost"));
    assert_int_equal(origin_classify(&f, &self), ORIGIN_OTHER);
    headers_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_and_origins_are_classified_by_the_table),
        cmocka_unit_test(a_duplicate_origin_is_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
