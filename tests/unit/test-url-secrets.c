#include "redact/url-secrets.h"

#include "base/buf.h"
#include "test.h"

/* The parts that count, each with its name in front and a '!' if it counts by that. */
static void assert_parts(bool (*next)(struct str, size_t, struct url_secrets_hit *),
                         const char *text, const char *want)
{
    struct url_secrets_hit part = { .span = { 0, 0 } };
    struct buf got;

    buf_init(&got, 1 << 10);
    while (next(str_z(text), part.span.end, &part))
        buf_printf(&got, "%.*s%s%.*s ", STR_ARG(part.name), part.by_name ? "!" : "=",
                   (int)(part.span.end - part.span.at), text + part.span.at);
    assert_string_equal(buf_z(&got), want);
    buf_release(&got);
}

static void parts_of_a_path_are_secret_if_they_look_random(void **state)
{
    (void)state;
    assert_parts(url_secrets_find_in_path, "/s/9d1f6c2a111142228333/mcp/k3yk3yk3yk3y",
                 "=9d1f6c2a111142228333 =k3yk3yk3yk3y ");
    assert_parts(url_secrets_find_in_path, "/.well-known/oauth-protected-resource/v1/mcp", "");
    assert_parts(url_secrets_find_in_path, "/20261116071500/authorization-server/", "");
    assert_parts(url_secrets_find_in_path, "", "");
    assert_parts(url_secrets_find_in_path, "/s/[REDACTED:session-12]/mcp", "");
}

static void values_of_a_query_are_secret_by_name_or_look(void **state)
{
    static const char *const named[] = {
        "token", "access_token", "api_key",   "apiKey",     "exaApiKey",
        "key",   "auth",         "sessionId", "session_id", "sid",
        "sig",   "code",         "signature", "password",   "X-Amz-Signature",
    };

    (void)state;
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        struct buf query, want;

        buf_init(&query, 100);
        buf_init(&want, 100);
        buf_printf(&query, "a=b&%s=x&c", named[i]);
        buf_printf(&want, "%s!x ", named[i]);
        assert_parts(url_secrets_find_in_query, buf_z(&query), buf_z(&want));
        buf_release(&query);
        buf_release(&want);
    }
    assert_parts(url_secrets_find_in_query, "u=9d1f6c2a1111&v=2;w=abcdef123456",
                 "u=9d1f6c2a1111 w=abcdef123456 ");
    assert_parts(url_secrets_find_in_query, "9d1f6c2a1111", "=9d1f6c2a1111 ");
    assert_parts(url_secrets_find_in_query, "page=2&order=descending&empty=&token=&=x", "");
    assert_parts(url_secrets_find_in_query, "token=[REDACTED:token]&u=[REDACTED:session-12]",
                 "");
    assert_parts(url_secrets_find_in_query, "", "");
}

static void assert_hidden(const char *url, const char *text, const char *want)
{
    struct url_secrets o = { .has_query = false };
    struct buf got;

    buf_init(&got, 1 << 10);
    url_secrets_add_url(&o, str_z(url), NULL);
    if (url_secrets_redact(&o, str_z(text), &got) != (want != NULL))
        fail_msg("'%s' of '%s': got '%s'", text, url, buf_z(&got));
    assert_str(buf_str(&got), str_z(want));
    url_secrets_release(&o);
    buf_release(&got);
}

static void parts_of_the_server_path_are_removed_everywhere(void **state)
{
    static const char url[] = "HTTPS://h.example/key/v/mcp?x=/y";

    (void)state;
    assert_hidden(url, "/key/v/mcp", "/[REDACTED]/[REDACTED]/mcp");
    assert_hidden(url, "/key/messages?id=1", "/[REDACTED]/messages?id=1");
    assert_hidden(url, "/.well-known/x/key/v/mcp", "/.well-known/x/[REDACTED]/[REDACTED]/mcp");
    assert_hidden("http://h/it's;a,key", "/it's;a,key/x", "/[REDACTED]/x");
    assert_hidden(url, "https://h.example/key", "https://h.example/[REDACTED]");
    assert_hidden(url, "[[\"a\",\"x=\\\"http://h/key\\\"\"]]",
                  "[[\"a\",\"x=\\\"http://h/[REDACTED]\\\"\"]]");
}

static void parts_are_removed_in_any_spelling(void **state)
{
    static const char url[] = "http://h/k%65y.1/a%zz/mcp";

    (void)state;
    assert_hidden(url, "/key.1/mcp", "/[REDACTED]/mcp");
    assert_hidden(url, "/%6b%65%79%2e%31/x", "/[REDACTED]/x");
    assert_hidden(url, "/K%65y.1/a%zz/a%ZZ", "/K%65y.1/[REDACTED]/a%ZZ");
    assert_hidden(url, "/k%65y.1%", NULL);
    assert_hidden(url, "/k%6", NULL);
}

static void other_parts_stay(void **state)
{
    static const char url[] = "http://h/key/mcp";

    (void)state;
    assert_hidden(url, "/", NULL);
    assert_hidden(url, "/mcp", NULL);
    assert_hidden(url, "/keys/monkey", NULL);
    assert_hidden(url, "key", NULL);
    assert_hidden("http://h/[REDACTED]", "/[REDACTED]", NULL);
    assert_hidden("http://h/", "/x", NULL);
    assert_hidden("http://h", "/x", NULL);
    assert_hidden("stdio://h/key", "/key", NULL);
}

static void a_path_of_ordinary_names_may_be_shown(void **state)
{
    (void)state;
    assert_true(url_secrets_is_plain_path(STR("/")));
    assert_true(url_secrets_is_plain_path(STR("/mcp")));
    assert_true(url_secrets_is_plain_path(STR("/mcp/sse")));
    assert_false(url_secrets_is_plain_path(STR("/key/mcp")));
    assert_false(url_secrets_is_plain_path(STR("/MCP")));
}

static bool is_long(struct str part)
{
    return part.len > 4;
}

static void the_caller_selects_which_parts_are_searched(void **state)
{
    struct url_secrets o = { .has_query = false };
    struct buf got;

    (void)state;
    buf_init(&got, 1 << 10);
    url_secrets_add_url(&o, STR("http://h/abc/abcdef?q"), is_long);
    assert_true(o.has_query);
    assert_true(url_secrets_redact(&o, STR("/abc/abcdef"), &got));
    assert_str(buf_str(&got), STR("/abc/[REDACTED]"));
    url_secrets_release(&o);
    buf_release(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_path_are_secret_if_they_look_random),
        cmocka_unit_test(values_of_a_query_are_secret_by_name_or_look),
        cmocka_unit_test(parts_of_the_server_path_are_removed_everywhere),
        cmocka_unit_test(parts_are_removed_in_any_spelling),
        cmocka_unit_test(other_parts_stay),
        cmocka_unit_test(a_path_of_ordinary_names_may_be_shown),
        cmocka_unit_test(the_caller_selects_which_parts_are_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
