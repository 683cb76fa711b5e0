#include "scenario/env-expand.h"

#include "base/buf.h"
#include "test.h"

enum { FILE_MAX = 4 << 20 };

static char host[] = "HOST=example.com", empty[] = "EMPTY=", nested[] = "NESTED=${HOST}";
static char *env[] = { host, empty, nested, NULL };

static void check(const char *text, const char *want)
{
    struct arena a = { 0 };
    struct str out, unset;
    size_t room = 1000;

    if (env_expand(str_z(text), env, &room, &a, &out, &unset) != ENV_EXPANDED)
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
    check("${NONE:-a\\\\}b}", "a\\\\b}");
    check("${NONE:-${NONE:-\\}}${NONE:-b}", "${NONE:-\\}b");
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
    check("${NONE:-${HOST\\}", "unset 'HOST\\'");
    check("${NONE:-${HOST:-\\}", "${NONE:-${HOST:-\\}");
    check("${:${HOST}", "${:example.com");
    check("${X:${HOST}}", "${X:example.com}");
    check("$${HOST}", "$example.com");
}

static void the_room_for_all_texts_is_limited(void **state)
{
    struct arena a = { 0 };
    struct str out, unset;
    size_t room = 25;

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(env_expand(STR("${HOST}/"), env, &room, &a, &out, &unset),
                         ENV_EXPANDED);
    assert_int_equal(room, 1);
    assert_int_equal(env_expand(STR("no reference"), env, &room, &a, &out, &unset),
                     ENV_EXPANDED);
    assert_int_equal(env_expand(STR("${HOST}"), env, &room, &a, &out, &unset), ENV_TOO_LONG);
    assert_int_equal(env_expand(STR("${NONE}"), env, &room, &a, &out, &unset), ENV_UNSET);
    assert_int_equal(room, 1);
    arena_release(&a);
}

/* The text of a whole file, with `part` repeated. */
static void check_repeated(struct str part)
{
    struct arena a = { 0 };
    struct str out, unset;
    size_t room = FILE_MAX + 1;
    struct buf text;

    buf_init(&text, FILE_MAX);
    while (text.len + part.len < FILE_MAX)
        buf_add(&text, part);
    assert_int_equal(env_expand(buf_str(&text), env, &room, &a, &out, &unset), ENV_EXPANDED);
    assert_str(out, buf_str(&text));
    buf_release(&text);
    arena_release(&a);
}

/* If the end of the text were searched for from each of them, this would take minutes. */
static void unclosed_references_are_read_once(void **state)
{
    (void)state;
    check_repeated(STR("${"));
    check_repeated(STR("${a"));
    check_repeated(STR("${a:-"));
    check_repeated(STR("${a:-\\}"));
    check_repeated(STR("${${${${${${${:"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_are_replaced),
        cmocka_unit_test(defaults_are_for_variables_that_are_not_set),
        cmocka_unit_test(other_text_stays),
        cmocka_unit_test(unclosed_references_are_read_once),
        cmocka_unit_test(the_room_for_all_texts_is_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
