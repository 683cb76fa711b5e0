#include "wire/url-resolve.h"

#include "test.h"

/* Returns the meaning of a text at `base`; "-": it is rejected. */
static struct str resolved(const char *base, const char *text, struct arena *a)
{
    struct err e = ERR_NONE;
    struct url at, u;
    bool named;

    assert_true(url_parse(&at, str_z(base), &e));
    if (!url_resolve(&u, &named, str_z(text), &at, a, &e)) {
        assert_int_equal(e.kind, ERR_INPUT);
        assert_true(strlen(e.msg) > 0);
        return STR("-");
    }
    assert_null(u.fragment.at);
    return arena_printf(a, "%s%.*s:%d%.*s%s%.*s", named ? "named " : "",
                        STR_ARG(u.authority.host), url_port(&u), STR_ARG(u.path),
                        u.query.at ? "?" : "", STR_ARG(u.query));
}

struct line {
    const char *text, *want;
};

static void check(const char *base, const struct line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena a = { 0 };
        struct str got = resolved(base, lines[i].text, &a);

        if (!str_eq(got, str_z(lines[i].want)))
            fail_msg("'%s' at %s is %.*s, not %s", lines[i].text, base, STR_ARG(got),
                     lines[i].want);
        arena_release(&a);
    }
}

#define CHECK(base, ...)                                                                       \
    do {                                                                                       \
        static const struct line lines_[] = { __VA_ARGS__ };                                   \
        check(base, lines_, sizeof lines_ / sizeof *lines_);                                   \
    } while (0)

static void a_relative_reference_is_resolved(void **state)
{
    (void)state;
    CHECK("http://h:1/a/sse?k=1", { "/message?s=1", "h:1/message?s=1" },
          { "message?s=1", "h:1/a/message?s=1" }, { "./message", "h:1/a/message" },
          { "../message", "h:1/message" }, { "../../../x", "h:1/x" },
          { "?s=1", "h:1/a/sse?s=1" }, { "", "h:1/a/sse?k=1" }, { "#top", "h:1/a/sse?k=1" },
          { "?", "h:1/a/sse?" }, { "/", "h:1/" }, { ".", "h:1/a/" }, { "..", "h:1/" },
          { "b/..", "h:1/a/" }, { "/a/./b/../c#x", "h:1/a/c" }, { "/a//b", "h:1/a//b" },
          { "x?y/../z", "h:1/a/x?y/../z" }, { "a/b:c", "h:1/a/a/b:c" }, { "1:2", "h:1/a/1:2" });
    CHECK("http://h", { "m", "h:80/m" }, { "/m", "h:80/m" }, { "?q", "h:80/?q" },
          { "", "h:80/" });
}

static void an_absolute_url_ignores_the_base(void **state)
{
    (void)state;
    CHECK("https://h/sse", { "https://h/m?s=1", "named h:443/m?s=1" },
          { "http://other:8/x/../y", "named other:8/y" }, { "HTTPS://h", "named h:443/" },
          { "//other/m", "named other:443/m" }, { "https://h/#top", "named h:443/" });
}

static void ambiguous_references_are_rejected(void **state)
{
    (void)state;
    CHECK("http://h/sse", { "/\\other/m", "-" }, { "\\\\other", "-" }, { "/a b", "-" },
          { " /m", "-" }, { "/m\t", "-" }, { "/m\n/x", "-" }, { "/\xc3\xa9", "-" },
          { "http:/m", "-" }, { "http:m", "-" }, { "///other/m", "-" }, { "http://", "-" },
          { "http://user@h/m", "-" }, { "//user:word@h/m", "-" }, { "ftp://h/m", "-" },
          { "javascript:alert(1)", "-" }, { "data:,x", "-" }, { "http://h:99999/", "-" });
}

static bool same(const char *one, const char *other)
{
    struct err e = ERR_NONE;
    struct url a, b;

    assert_true(url_parse(&a, str_z(one), &e));
    assert_true(url_parse(&b, str_z(other), &e));
    return url_same_origin(&a, &b);
}

static void an_origin_is_scheme_host_and_port(void **state)
{
    (void)state;
    assert_true(same("http://h/a", "http://H:80/b"));
    assert_true(same("https://h:443/", "https://h"));
    assert_true(same("http://[::1]:5/", "http://[0:0:0:0:0:0:0:1]:5/"));
    assert_false(same("http://h", "https://h"));
    assert_false(same("http://h:80", "https://h:80"));
    assert_false(same("http://h", "http://h:8080"));
    assert_false(same("http://h", "http://h.other"));
    assert_false(same("http://127.0.0.1:5", "http://localhost:5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_relative_reference_is_resolved),
        cmocka_unit_test(an_absolute_url_ignores_the_base),
        cmocka_unit_test(ambiguous_references_are_rejected),
        cmocka_unit_test(an_origin_is_scheme_host_and_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
