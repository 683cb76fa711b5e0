#include "base/recent.h"

#include "test.h"

static void what_was_kept_is_found(void **state)
{
    struct recent r;
    struct str text;

    (void)state;
    recent_init(&r);
    assert_false(recent_find(&r, 0, 0, &text));
    assert_false(recent_find(&r, 7, 3, &text));
    recent_keep(&r, 7, STR("abc"));
    assert_true(recent_find(&r, 7, 3, &text));
    assert_str(text, STR("abc"));
    assert_false(recent_find(&r, 7, 2, &text));
    assert_false(recent_find(&r, 8, 3, &text));
    recent_keep(&r, 7, STR("xy"));
    assert_true(recent_find(&r, 7, 2, &text));
    assert_str(text, STR("xy"));
    recent_release(&r);
}

static void one_text_takes_the_place_of_another_and_never_its_name(void **state)
{
    struct recent r;
    struct str text;
    size_t known = 0;

    (void)state;
    recent_init(&r);
    for (uint64_t at = 0; at < 10 * RECENT_SLOTS; at++)
        recent_keep(&r, at * 2, str_n((const char *)&at, sizeof at));
    for (uint64_t at = 0; at < 10 * RECENT_SLOTS; at++) {
        if (!recent_find(&r, at * 2, sizeof at, &text))
            continue;
        known++;
        assert_memory_equal(text.at, &at, sizeof at);
    }
    assert_true(known > RECENT_SLOTS / 2 && known <= RECENT_SLOTS);
    recent_release(&r);
}

static void what_is_long_is_not_kept(void **state)
{
    static char many[RECENT_TEXT_MAX + 1];
    struct recent r;
    struct str text;

    (void)state;
    recent_init(&r);
    recent_keep(&r, 1, str_n(many, sizeof many));
    assert_false(recent_find(&r, 1, sizeof many, &text));
    recent_keep(&r, 1, str_n(many, sizeof many - 1));
    assert_true(recent_find(&r, 1, sizeof many - 1, &text));
    recent_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_kept_is_found),
        cmocka_unit_test(one_text_takes_the_place_of_another_and_never_its_name),
        cmocka_unit_test(what_is_long_is_not_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
