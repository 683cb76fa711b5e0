#include "scenario/env-expand.h"

#include "test.h"

static char host[] = "HOST=example.com", empty[] = "EMPTY=", nested[] = "NESTED=${HOST}";
static char *env[] = { host, empty, nested, NULL };

static void check(const char *text, const char *want)
{
    struct arena a = { 0 };
    struct str out, unset;

    if (!env_expand(str_z(text), env, &a, &out, &unset))
        out = arena_printf(&a, "unset '%.*s'", STR_ARG(unset));
    assert_str(out, str_z(want));
    arena_release(&a);
}

static void variables_are_replaced(void **state)
{
    (void)state;
    check("plain", "plain");
    check("", "");
    check("${HOST}", "example.com");
    check("http://${HOST}:80/${HOST}", "http://example.com:80/example.com");
    check("${ HOST }", "example.com");
    check("${EMPTY}", "");
    check("${NESTED}", "${HOST}");
}

static void defaults_are_for_variables_that_are_not_set(void **state)
{
    (void)state;
    check("${NONE:-x}", "x");
    check("${NONE:-}", "");
    check("${HOST:-x}", "example.com");
    check("${EMPTY:-x}", "");
    check("${NONE:-a\\}b}", "a\\}b");
    check("${NONE}", "unset 'NONE'");
    check("a ${ HOS }", "unset 'HOS'");
    check("${ }", "unset ''");
}

static void other_text_stays(void **state)
{
    (void)state;
    check("$HOST", "$HOST");
    check("${HOST:x}", "${HOST:x}");
    check("${HOST:", "${HOST:");
    check("${HOST", "${HOST");
    check("${}", "${}");
    check("${NONE:-a", "${NONE:-a");
    check("${NONE:-a\\", "${NONE:-a\\");
    check("${X:${HOST}}", "${X:example.com}");
    check("$${HOST}", "$example.com");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_are_replaced),
        cmocka_unit_test(defaults_are_for_variables_that_are_not_set),
        cmocka_unit_test(other_text_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
