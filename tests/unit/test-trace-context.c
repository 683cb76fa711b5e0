#include "mcp/trace-context.h"

#include "base/arena.h"
#include "test.h"

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define VALID "00-" TRACE "-b7ad6b7169203331-01"

static bool accepts(const char *text)
{
    struct mcp_trace_context c;

    return mcp_trace_context_parse(&c, str_z(text));
}

static void a_traceparent_has_four_parts(void **state)
{
    struct mcp_trace_context c;

    (void)state;
    assert_true(mcp_trace_context_parse(&c, STR(VALID)));
    assert_int_equal(c.trace_high, 0x0af7651916cd43dd);
    assert_int_equal(c.trace_low, 0x8448eb211c80319c);
    assert_int_equal(c.parent, 0xb7ad6b7169203331);
    assert_int_equal(c.flags, 1);
}

static void a_later_version_may_have_more_parts(void **state)
{
    (void)state;
    assert_true(accepts("01-" TRACE "-b7ad6b7169203331-00-more"));
    assert_true(accepts("cc-" TRACE "-b7ad6b7169203331-00"));
    assert_false(accepts("01-" TRACE "-b7ad6b7169203331-00more"));
    assert_false(accepts("00-" TRACE "-b7ad6b7169203331-00-more"));
    assert_false(accepts("ff-" TRACE "-b7ad6b7169203331-00"));
}

static void an_invalid_traceparent_is_none(void **state)
{
    static const char *const texts[] = {
        "",
        "00",
        "00-" TRACE,
        "00-" TRACE "-b7ad6b7169203331",
        "00-" TRACE "-b7ad6b7169203331-0",
        "00-" TRACE "-b7ad6b7169203331-0g",
        "00-" TRACE "-B7AD6B7169203331-01",
        "00_" TRACE "-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-" TRACE "-0000000000000000-01",
        " " VALID,
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(accepts(texts[i]));
}

static void a_tracestate_is_a_list_of_different_members(void **state)
{
    (void)state;
    assert_true(mcp_trace_context_is_state(STR("a=1, b=2")));
    assert_true(mcp_trace_context_is_state(STR("a=1,,\tb@c=2 3")));
    assert_true(mcp_trace_context_is_state(STR("0a_-*/=x;y:z")));
    assert_false(mcp_trace_context_is_state(STR_NONE));
    assert_false(mcp_trace_context_is_state(STR("a=\n")));
    assert_false(mcp_trace_context_is_state(STR("a=\xc3\xa9")));
    assert_false(mcp_trace_context_is_state(STR("a=1,a=2")));
    assert_false(mcp_trace_context_is_state(STR("a=1=2")));
    assert_false(mcp_trace_context_is_state(STR("a")));
    assert_false(mcp_trace_context_is_state(STR("=1")));
    assert_false(mcp_trace_context_is_state(STR("a=")));
    assert_false(mcp_trace_context_is_state(STR("A=1")));
    assert_false(mcp_trace_context_is_state(STR(",")));
}

static void a_tracestate_has_a_limit(void **state)
{
    struct arena a = { 0 };
    struct str list = STR("k0=v");
    char text[300];

    (void)state;
    memset(text, 'a', sizeof text);
    assert_true(mcp_trace_context_is_state(arena_printf(&a, "a=%.256s,b=%.251s", text, text)));
    assert_false(mcp_trace_context_is_state(arena_printf(&a, "a=%.257s", text)));
    assert_false(mcp_trace_context_is_state(arena_printf(&a, "a=%.256s,b=%.252s", text, text)));
    assert_false(mcp_trace_context_is_state(arena_printf(&a, "%.257s=a", text)));
    for (int i = 1; i < 32; i++)
        list = arena_printf(&a, "%.*s,k%d=v", STR_ARG(list), i);
    assert_true(mcp_trace_context_is_state(list));
    assert_false(mcp_trace_context_is_state(arena_printf(&a, "%.*s,k=v", STR_ARG(list))));
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_traceparent_has_four_parts),
        cmocka_unit_test(a_later_version_may_have_more_parts),
        cmocka_unit_test(an_invalid_traceparent_is_none),
        cmocka_unit_test(a_tracestate_is_a_list_of_different_members),
        cmocka_unit_test(a_tracestate_has_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
