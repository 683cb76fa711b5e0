#include "report/value-excerpt.h"

#include "base/text-wrap.h"
#include "test.h"

static void check(struct str value, struct str other, size_t columns, const char *want)
{
    struct buf to;

    buf_init(&to, 1 << 20);
    value_excerpt_write(&to, value, other, columns);
    assert_str(buf_str(&to), str_z(want));
    assert_true(text_wrap_columns(buf_str(&to)) <= columns);
    buf_release(&to);
}

static void a_short_value_is_shown_completely_on_one_line(void **state)
{
    (void)state;
    check(STR("{ \"a\" : [ 1,\n 2 ] }"), STR("{}"), 20, "{\"a\":[1,2]}");
    check(STR("\"x\""), STR_NONE, 20, "\"x\"");
    check(STR("\"12345678901234567\""), STR("1"), 20, "\"12345678901234567\"");
}

static void a_long_value_is_cut_around_the_difference(void **state)
{
    const struct str a = STR("\"the quick brown fox jumps over the lazy dog and sleeps\""),
                     b = STR("\"the quick brown fox jumps over the lazy cat\"");

    (void)state;
    check(a, b, 20, "… the lazy dog and …");
    check(b, a, 20, "… the lazy cat\"");
    check(a, STR("\"the slow\""), 20, "\"the quick brown fo…");
    check(STR("\"the slow\""), a, 20, "\"the slow\"");
    check(a, STR_NONE, 20, "\"the quick brown fo…");
}

static void a_value_that_continues_the_other_shows_its_end(void **state)
{
    (void)state;
    check(STR("[1,2,3,4,5,6,7,8,9,10,11]"), STR("[1,2,3,4,5,6,7,8,9]"), 20,
          "…,5,6,7,8,9,10,11]");
    check(STR("[1,2,3,4,5,6,7,8,9]"), STR("[1,2,3,4,5,6,7,8,9,10,11]"), 20, "…,5,6,7,8,9]");
}

static void a_character_is_never_split(void **state)
{
    const struct str a = STR("\"ääääääääääääääääääääà and more of it\""),
                     b = STR("\"ääääääääääääääääääääá and more of it\"");

    (void)state;
    check(a, b, 20, "…ääääääääääà and mo…");
    check(b, a, 20, "…ääääääääääá and mo…");
}

static void hidden_characters_are_escapes_and_take_their_columns(void **state)
{
    const struct str
        a = STR("\"\xe2\x80\xae\xe2\x80\xae\xe2\x80\xae\xe2\x80\xae\xe2\x80\xae one\""),
        b = STR("\"\xe2\x80\xae\xe2\x80\xae\xe2\x80\xae\xe2\x80\xae\xe2\x80\xae two\"");

    (void)state;
    check(a, b, 20, "…\\u202e one\"");
    check(b, a, 20, "…\\u202e two\"");
    check(STR("\"a\x7f\x7f\x7f\x7f\""), STR("1"), 20, "\"a\\u007f\\u007f…");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_value_is_shown_completely_on_one_line),
        cmocka_unit_test(a_long_value_is_cut_around_the_difference),
        cmocka_unit_test(a_value_that_continues_the_other_shows_its_end),
        cmocka_unit_test(a_character_is_never_split),
        cmocka_unit_test(hidden_characters_are_escapes_and_take_their_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
