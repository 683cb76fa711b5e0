#include "engine/http-seen.h"

#include <stdio.h>

#include "test.h"

struct want {
    bool placed, known, repeated;
};

static const struct want new_place = { .placed = true }, old_place = { 0 },
                         other_data = { .known = true },
                         same_data = { .known = true, .repeated = true };

static void check(struct http_seen *s, const char *id, const char *data, struct want want)
{
    struct http_seen_event as = http_seen_note(s, str_z(id), str_z(data));

    assert_int_equal(as.placed, want.placed);
    assert_int_equal(as.known, want.known);
    assert_int_equal(as.repeated, want.repeated);
}

static void what_an_earlier_answer_had_is_repeated(void **state)
{
    struct http_seen s;

    (void)state;
    http_seen_init(&s);
    check(&s, "1", "a", new_place);
    check(&s, "2", "", new_place);
    http_seen_again(&s);
    check(&s, "1", "a", same_data);
    check(&s, "1", "", old_place);
    check(&s, "3", "a", new_place);
    http_seen_release(&s);
}

static void other_data_under_a_known_id_is_not(void **state)
{
    struct http_seen s;

    (void)state;
    http_seen_init(&s);
    check(&s, "1", "a", new_place);
    http_seen_again(&s);
    check(&s, "1", "b", other_data);
    check(&s, "1", "b", other_data); /* within an answer everything is told */
    http_seen_again(&s);
    check(&s, "1", "a", same_data);
    check(&s, "1", "b", same_data);
    check(&s, "1", "c", other_data);
    http_seen_release(&s);
}

static void what_stood_under_an_id_without_data_is_told_once(void **state)
{
    struct http_seen s;

    (void)state;
    http_seen_init(&s);
    check(&s, "1", "", new_place);
    http_seen_again(&s);
    check(&s, "1", "a", old_place);
    http_seen_again(&s);
    check(&s, "1", "a", same_data);
    http_seen_release(&s);
}

static void within_an_answer_the_same_id_may_stand_everywhere(void **state)
{
    struct http_seen s;

    (void)state;
    http_seen_init(&s);
    for (int i = 0; i < 3; i++)
        check(&s, "1", "a", new_place);
    http_seen_release(&s);
}

/* Most answers are no streams: they need not pay for it. */
static void nothing_is_held_before_the_first_id(void **state)
{
    struct http_seen s;

    (void)state;
    http_seen_init(&s);
    http_seen_again(&s);
    assert_null(s.rows.rows);
    check(&s, "1", "a", new_place);
    assert_non_null(s.rows.rows);
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
        check(&s, id, "a", new_place);
        assert_true(s.rows.count <= HTTP_SEEN_MAX);
        assert_null(s.rows.others);
    }
    http_seen_again(&s);
    check(&s, id, "a", same_data);
    check(&s, "0", "a", new_place);
    http_seen_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_earlier_answer_had_is_repeated),
        cmocka_unit_test(other_data_under_a_known_id_is_not),
        cmocka_unit_test(what_stood_under_an_id_without_data_is_told_once),
        cmocka_unit_test(within_an_answer_the_same_id_may_stand_everywhere),
        cmocka_unit_test(nothing_is_held_before_the_first_id),
        cmocka_unit_test(of_very_many_the_latest_are_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
