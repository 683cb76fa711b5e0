#include "trace/own-path.h"

#include "test.h"

static void assert_hidden(const char *url, const char *text, const char *want)
{
    struct own_path o = { .query = false };
    struct buf got;

    buf_init(&got, 1 << 10);
    own_path_learn(&o, str_z(url), NULL);
    if (own_path_hide(&o, str_z(text), &got) != (want != NULL))
        fail_msg("'%s' of '%s': got '%s'", text, url, buf_z(&got));
    assert_str(buf_str(&got), str_z(want));
    own_path_release(&o);
    buf_release(&got);
}

static void parts_of_the_path_go_wherever_they_stand(void **state)
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

static void parts_go_in_any_spelling(void **state)
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

static void a_path_of_names_may_be_told(void **state)
{
    (void)state;
    assert_true(own_path_is_plain(STR("/")));
    assert_true(own_path_is_plain(STR("/mcp")));
    assert_true(own_path_is_plain(STR("/mcp/sse")));
    assert_false(own_path_is_plain(STR("/key/mcp")));
    assert_false(own_path_is_plain(STR("/MCP")));
}

static bool is_long(struct str part)
{
    return part.len > 4;
}

static void who_learns_may_choose(void **state)
{
    struct own_path o = { .query = false };
    struct buf got;

    (void)state;
    buf_init(&got, 1 << 10);
    own_path_learn(&o, STR("http://h/abc/abcdef?q"), is_long);
    assert_true(o.query);
    assert_true(own_path_hide(&o, STR("/abc/abcdef"), &got));
    assert_str(buf_str(&got), STR("/abc/[REDACTED]"));
    own_path_release(&o);
    buf_release(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_the_path_go_wherever_they_stand),
        cmocka_unit_test(parts_go_in_any_spelling),
        cmocka_unit_test(other_parts_stay),
        cmocka_unit_test(a_path_of_names_may_be_told),
        cmocka_unit_test(who_learns_may_choose),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
