#include "wire/www-authenticate.h"

#include "base/buf.h"
#include "test.h"

/* "scheme:name=value" of each parameter, one per line. */
static void assert_read(const char *line, const char *want)
{
    struct www_authenticate c = www_authenticate_begin(str_z(line));
    struct www_authenticate_param p;
    struct buf got;

    buf_init(&got, 4096);
    while (www_authenticate_next(&c, &p))
        buf_printf(&got, "%.*s:%.*s=%.*s\n", STR_ARG(p.scheme), STR_ARG(p.name),
                   STR_ARG(p.value));
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
}

static void parameters_have_their_scheme(void **state)
{
    (void)state;
    assert_read("Bearer realm=\"a\", scope=\"b c\",error=invalid_token",
                "Bearer:realm=a\nBearer:scope=b c\nBearer:error=invalid_token\n");
    assert_read("Bearer   resource_metadata=\"https://h/x?a=b,c\"",
                "Bearer:resource_metadata=https://h/x?a=b,c\n");
}

static void one_header_may_have_several_challenges(void **state)
{
    (void)state;
    assert_read("Basic realm=\"a\", Bearer realm=\"b\", x=1, DPoP algs=\"ES256 ES384\"",
                "Basic:realm=a\nBearer:realm=b\nBearer:x=1\nDPoP:algs=ES256 ES384\n");
    assert_read("Negotiate, Bearer a=1", "Bearer:a=1\n");
    assert_read("Negotiate dGVzdA==, Bearer a=1", "Bearer:a=1\n");
    assert_read("Negotiate dGVz/dA+, , Bearer a=1", "Bearer:a=1\n");
    assert_read("Bearer", "");
    assert_read("", "");
}

static void blanks_are_allowed_where_http_allows_them(void **state)
{
    (void)state;
    assert_read("  Bearer\trealm = \"a\" , b=\tc  ", "Bearer:realm=a\nBearer:b=c\n");
}

static void unquoted_urls_are_parsed(void **state)
{
    (void)state;
    assert_read("Bearer resource_metadata=https://h:1/p?q=r, scope=a",
                "Bearer:resource_metadata=https://h:1/p?q=r\nBearer:scope=a\n");
}

static void escapes_are_kept(void **state)
{
    (void)state;
    assert_read("Bearer a=\"b\\\"c, d=e\", f=g", "Bearer:a=b\\\"c, d=e\nBearer:f=g\n");
    assert_read("Bearer a=\"\"", "Bearer:a=\n");
}

static void unreadable_input_ends_the_iteration(void **state)
{
    (void)state;
    assert_read("Bearer a=1, b=\"no end", "Bearer:a=1\n");
    assert_read("Bearer a=1, b=", "Bearer:a=1\n");
    assert_read("=x, a=1", ":a=1\n");
    assert_read("\"quoted\" a=1", ":a=1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_have_their_scheme),
        cmocka_unit_test(one_header_may_have_several_challenges),
        cmocka_unit_test(blanks_are_allowed_where_http_allows_them),
        cmocka_unit_test(unquoted_urls_are_parsed),
        cmocka_unit_test(escapes_are_kept),
        cmocka_unit_test(unreadable_input_ends_the_iteration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
