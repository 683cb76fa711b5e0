#include "filter/filter-parse.h"

#include "test.h"

/* The error message and the span of the error. */
static const struct {
    const char *query;
    size_t at, len;
    const char *msg, *hint;
} wrong[] = {
    { "methd:x", 0, 5, "bad filter at byte 1: unknown key 'methd'", "did you mean 'method'?" },
    { "id:7 (larger:5)", 6, 6, "bad filter at byte 7: unknown key 'larger'",
      "did you mean 'larger-than'?" },
    { "https://x", 0, 5, "bad filter at byte 1: unknown key 'https'",
      "to search for a text with ':', '=', '<', '>' or '~' in it, put it in double quotes" },
    { "is:eror", 3, 4, "bad filter at byte 4: 'is' has no value 'eror'",
      "did you mean 'is:error'?" },
    { "is:qqq", 3, 3, "bad filter at byte 4: 'is' has no value 'qqq'", "" },
    { "has:image,vidio", 10, 5, "bad filter at byte 11: 'has' has no value 'vidio'",
      "did you mean 'has:audio'?" },
    { "tool:", 5, 0, "bad filter at byte 6: expected a value", "" },
    { "tool: x", 5, 1, "bad filter at byte 6: expected a value", "" },
    { "tool:a,", 7, 0, "bad filter at byte 8: expected a value", "" },
    { "tool:a,,b", 7, 1, "bad filter at byte 8: expected a value", "" },
    { "tool:\"abc", 5, 4, "bad filter at byte 6: unterminated string", "" },
    { "\"abc\\\"", 0, 6, "bad filter at byte 1: unterminated string", "" },
    { "(a", 0, 1, "bad filter at byte 1: missing ')'", "" },
    { "a)", 1, 1, "bad filter at byte 2: unexpected ')'", "" },
    { "()", 1, 1, "bad filter at byte 2: expected a text, a key or '('", "" },
    { "a OR", 4, 0, "bad filter at byte 5: expected a text, a key or '('", "" },
    { "a AND", 5, 0, "bad filter at byte 6: expected a text, a key or '('", "" },
    { "| a", 0, 1, "bad filter at byte 1: expected a text, a key or '('", "" },
    { "- a", 1, 1, "bad filter at byte 2: expected a text, a key or '('", "" },
    { "NOT", 3, 0, "bad filter at byte 4: expected a text, a key or '('", "" },
    { "dur:500", 4, 3, "bad filter at byte 5: '500' is not a time such as 500ms, 2s or 1m30s",
      "" },
    { "dur:>x", 5, 1, "bad filter at byte 6: 'x' is not a time such as 500ms, 2s or 1m30s",
      "" },
    { "size:1XB", 5, 3, "bad filter at byte 6: '1XB' is not a size such as 4096, 64KB or 1MB",
      "" },
    { "code:1.5", 5, 3, "bad filter at byte 6: '1.5' is not a whole number", "" },
    { "code:5..1", 5, 4, "bad filter at byte 6: '5..1' ends before it begins", "" },
    { "code:..", 5, 2, "bad filter at byte 6: '..' needs a value before or after it", "" },
    { "t:1m..21:00", 2, 9,
      "bad filter at byte 3: '1m..21:00' has a time since the start and a time of day", "" },
    { "t:noon", 2, 4,
      "bad filter at byte 3: 'noon' is not a moment such as 1m30s, 21:00:05 or "
      "2026-11-15T21:00:05Z",
      "" },
    { "tool>5", 5, 1, "bad filter at byte 6: 'tool' cannot be compared with '<' or '>'", "" },
    { "is~err", 3, 3, "bad filter at byte 4: 'is' takes no pattern", "" },
    { "code:/1/", 5, 3, "bad filter at byte 6: 'code' takes no pattern", "" },
    { "arg.a>x", 6, 1, "bad filter at byte 7: 'x' is not a number", "" },
    { "arg.[", 0, 5, "bad filter at byte 1: bad path '$.[': expected a name or '*' at byte 3",
      "" },
    { "x /(/", 2, 3, "bad filter at byte 3: invalid pattern '(': missing ): (",
      "patterns use the syntax of RE2: no look-around, no back-references" },
    { "a\xff", 1, 1, "bad filter at byte 2: not UTF-8", "" },
};

static void an_error_has_its_position(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct filter_fault fault = { 99, 99 };
        struct err e = ERR_NONE;
        struct filter *f;

        if (filter_new(&f, str_z(wrong[i].query), &fault, &e))
            fail_msg("'%s' was taken", wrong[i].query);
        assert_string_equal(e.msg, wrong[i].msg);
        assert_string_equal(e.hint, wrong[i].hint);
        assert_int_equal(e.kind, ERR_USAGE);
        if (fault.at != wrong[i].at || fault.len != wrong[i].len)
            fail_msg("'%s': %zu+%zu", wrong[i].query, fault.at, fault.len);
    }
}

static bool takes(struct str query)
{
    struct filter_fault fault;
    struct err e = ERR_NONE;
    struct filter *f;

    if (!filter_new(&f, query, &fault, &e))
        return false;
    filter_free(f);
    return true;
}

static void depth_length_and_lists_are_limited(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, 2 * FILTER_QUERY_MAX);
    for (int depth = 1; depth <= 33; depth++) {
        buf_clear(&b);
        for (int i = 0; i < depth; i++)
            buf_add(&b, STR("(-"));
        buf_add_ch(&b, 'x');
        for (int i = 0; i < depth; i++)
            buf_add_ch(&b, ')');
        assert_int_equal(takes(buf_str(&b)), depth <= 32);
    }
    buf_clear(&b);
    buf_add(&b, STR("id:0"));
    for (int i = 1; i < 256; i++)
        buf_printf(&b, ",%d", i);
    assert_true(takes(buf_str(&b)));
    buf_add(&b, STR(",256"));
    assert_false(takes(buf_str(&b)));
    buf_clear(&b);
    for (int i = 0; i < FILTER_QUERY_MAX; i++)
        buf_add_ch(&b, i ? 'x' : '"');
    b.at[b.len - 1] = '"';
    assert_true(takes(buf_str(&b)));
    buf_add_ch(&b, ' ');
    assert_false(takes(buf_str(&b)));
    buf_release(&b);
}

static void every_truncated_query_is_accepted_or_rejected(void **state)
{
    static const char query[] =
        "-(tool:read_*,\"a b\" OR arg['k\\'x'][0]~/x\\/y/i) t:1m..2m $..a!=5 | NOT has:image";

    (void)state;
    for (size_t n = 0; n < sizeof query; n++) {
        char *copy = test_malloc(n + 1);
        memcpy(copy, query, n);
        (void)takes(str_n(copy, n));
        test_free(copy);
    }
    assert_true(takes(str_z(query)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_has_its_position),
        cmocka_unit_test(depth_length_and_lists_are_limited),
        cmocka_unit_test(every_truncated_query_is_accepted_or_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
