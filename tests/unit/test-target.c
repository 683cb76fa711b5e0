#include "trace/target.h"

#include "base/buf.h"
#include "test.h"

/* The parts that count, each with its name in front and a '!' if it counts by that. */
static void assert_parts(bool (*next)(struct str, size_t, struct target_part *),
                         const char *text, const char *want)
{
    struct target_part part = { .span = { 0, 0 } };
    struct buf got;

    buf_init(&got, 1 << 10);
    while (next(str_z(text), part.span.end, &part))
        buf_printf(&got, "%.*s%s%.*s ", STR_ARG(part.name), part.named ? "!" : "=",
                   (int)(part.span.end - part.span.at), text + part.span.at);
    assert_string_equal(buf_z(&got), want);
    buf_release(&got);
}

static void parts_of_a_path_count_if_they_look_made_up(void **state)
{
    (void)state;
    assert_parts(target_path, "/s/9d1f6c2a111142228333/mcp/k3yk3yk3yk3y",
                 "=9d1f6c2a111142228333 =k3yk3yk3yk3y ");
    assert_parts(target_path, "/.well-known/oauth-protected-resource/v1/mcp", "");
    assert_parts(target_path, "/20261116071500/authorization-server/", "");
    assert_parts(target_path, "", "");
    assert_parts(target_path, "/s/[REDACTED:session-12]/mcp", "");
}

static void values_of_a_query_count_by_their_name_or_their_looks(void **state)
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
        assert_parts(target_query, buf_z(&query), buf_z(&want));
        buf_release(&query);
        buf_release(&want);
    }
    assert_parts(target_query, "u=9d1f6c2a1111&v=2;w=abcdef123456",
                 "u=9d1f6c2a1111 w=abcdef123456 ");
    assert_parts(target_query, "9d1f6c2a1111", "=9d1f6c2a1111 ");
    assert_parts(target_query, "page=2&order=descending&empty=&token=&=x", "");
    assert_parts(target_query, "token=[REDACTED:token]&u=[REDACTED:session-12]", "");
    assert_parts(target_query, "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_path_count_if_they_look_made_up),
        cmocka_unit_test(values_of_a_query_count_by_their_name_or_their_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
