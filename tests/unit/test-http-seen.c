#include "engine/http-seen.h"

#include <stdio.h>

#include "test.h"

static void check(struct http_seen *s, const char *id, bool data, bool placed, bool repeated)
{
    struct http_seen_event as = http_seen_note(s, str_z(id), data);

    assert_int_equal(as.placed, placed);
    assert_int_equal(as.repeated, repeated);
}

static void what_an_earlier_answer_had_is_repeated(void **state)
{
    struct http_seen s;

    (void)state;
    http_seen_init(&s);
    check(&s, "1", true, true, false);
    check(&s, "2", false, true, false);
    http_seen_again(&s);
    check(&s, "1", true, false, true);
    check(&s, "1", false, false, false);
    check(&s, "3", true, true, false);
    http_seen_release(&s);
}

static void what_stood_under_an_id_without_data_is_told_once(void **state)
{
    struct http_seen s;

    (void)state;
    http_seen_init(&s);
    check(&s, "1", false, true, false);
    http_seen_again(&s);
    check(&s, "1", true, false, false);
    http_seen_again(&s);
    check(&s, "1", true, false, true);
    http_seen_release(&s);
}

static void within_an_answer_the_same_id_may_stand_everywhere(void **state)
{
    struct http_seen s;

    (void)state;
    http_seen_init(&s);
    for (int i = 0; i < 3; i++)
        check(&s, "1", true, true, false);
    http_seen_release(&s);
}

static void of_very_many_the_latest_are_known(void **state)
{
    struct http_seen s;
    char id[32];

    (void)state;
    http_seen_init(&s);
    for (int i = 0; i <= HTTP_SEEN_MAX; i++) {
        snprintf(id, sizeof id, "%d", i);
        check(&s, id, true, true, false);
        assert_true(s.ids.count <= HTTP_SEEN_MAX);
    }
    http_seen_again(&s);
    check(&s, id, true, false, true);
    check(&s, "0", true, true, false);
    http_seen_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_earlier_answer_had_is_repeated),
        cmocka_unit_test(what_stood_under_an_id_without_data_is_told_once),
        cmocka_unit_test(within_an_answer_the_same_id_may_stand_everywhere),
        cmocka_unit_test(of_very_many_the_latest_are_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
