#include "transport/proxy.h"

#include "test.h"

#define REMARK "Uses proxy env variable "

static void a_remark_tells_which_proxy_it_is(void **state)
{
    static const struct {
        const char *remark, *want;
    } cases[] = {
        { REMARK "http_proxy == 'http://127.0.0.1:1'", "'127.0.0.1:1' (http_proxy)" },
        { REMARK "http_proxy == 'http://127.0.0.1:1/'\n", "'127.0.0.1:1' (http_proxy)" },
        { REMARK "https_proxy == 'proxy:3128'", "'proxy:3128' (https_proxy)" },
        { REMARK "HTTPS_PROXY == 'http://[::1]:80'", "'[::1]:80' (HTTPS_PROXY)" },
        { REMARK "all_proxy == 'socks5h://me@a.example'", "'a.example' (all_proxy)" },
        { REMARK "ALL_PROXY == 'http://me:pw@a.example:8080/x'",
          "'a.example:8080' (ALL_PROXY)" },
        /* Passwords that were not written as they should be. */
        { REMARK "http_proxy == 'http://me:p/w@host:1'", "'host:1' (http_proxy)" },
        { REMARK "http_proxy == 'http://me:p@w@host:1'", "'host:1' (http_proxy)" },
        { REMARK "http_proxy == 'me:p://w@host:1'", "'host:1' (http_proxy)" },
        { REMARK "http_proxy == 'http://me:p'w@host:1'", "'host:1' (http_proxy)" },
        { REMARK "http_proxy == 'http://me:longpassw...", "of http_proxy" },
        { REMARK "http_proxy == 'http://me:pass word", "of http_proxy" },
        { REMARK "http_proxy == 'http://me:pass word'", "of http_proxy" },
        { REMARK "http_proxy == 'http://ho\x1bst'", "of http_proxy" },
        { REMARK "http_proxy == 'http://me:pw'", "of http_proxy" },
        { REMARK "http_proxy == 'http://me:pw123'", "of http_proxy" },
        { REMARK "http_proxy == 'http://[::1]'", "'[::1]' (http_proxy)" },
        { REMARK "http_proxy == ''", "of http_proxy" },
    };
    char text[PROXY_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(proxy_told(str_z(cases[i].remark), text));
        assert_string_equal(text, cases[i].want);
    }
}

static void most_remarks_do_not(void **state)
{
    static const char *const cases[] = {
        "",
        "  Trying 127.0.0.1:1...",
        REMARK,
        REMARK "no_proxy == 'a.example'",
        REMARK "NO_PROXY == 'a.example'",
        REMARK "http_proxy",
        "uses proxy env variable http_proxy == 'http://127.0.0.1:1'",
    };
    char text[PROXY_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_false(proxy_told(str_z(cases[i]), text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_remark_tells_which_proxy_it_is),
        cmocka_unit_test(most_remarks_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
