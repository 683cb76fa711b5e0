#include "match/used-set.h"

#include "test.h"

enum { MANY = 100000 };

static void calls_are_marked_used_one_by_one(void **state)
{
    struct used_set s;

    (void)state;
    used_set_init(&s, MANY);
    for (uint32_t i = 1; i < MANY; i += 3)
        used_set_mark(&s, i, true);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(used_set_has(&s, i), i % 3 == 1);
    used_set_mark(&s, 4, false);
    assert_false(used_set_has(&s, 4));
    assert_true(used_set_has(&s, 1));
    used_set_clear(&s);
    for (uint32_t i = 0; i < MANY; i++)
        assert_false(used_set_has(&s, i));
    used_set_release(&s);
}

static void unused_calls_take_no_memory(void **state)
{
    struct used_set s;
    size_t pages = 0;

    (void)state;
    used_set_init(&s, MANY);
    used_set_mark(&s, 7, false);
    used_set_mark(&s, 50000, true);
    for (size_t i = 0; i < s.page_count; i++)
        pages += s.pages[i] != NULL;
    assert_int_equal(pages, 1);
    used_set_release(&s);
}

/* Releasing one must not check all later ones for whether they were skipped. */
static void a_call_marked_unused_was_used_before(void **state)
{
    struct used_set s;

    (void)state;
    used_set_init(&s, 100);
    used_set_mark(&s, 3, true);
    s.oldest_unused = 50;
    used_set_mark(&s, 70, true);
    assert_int_equal(s.oldest_unused, 50);
    used_set_mark(&s, 3, false);
    assert_int_equal(s.oldest_unused, 50);
    used_set_release(&s);
}

static void lists_keep_their_state(void **state)
{
    struct used_set s;

    (void)state;
    used_set_init(&s, MANY);
    for (uint32_t i = 1; i < 1000; i++) {
        struct candidate_state *q = used_set_state(&s, i * 7);
        assert_int_equal(q->next_unused, i * 7);
        assert_int_equal(q->last_success, 0);
        q->next_unused = i;
        q->last_success = i + 1;
    }
    for (uint32_t i = 1; i < 1000; i++) {
        assert_int_equal(used_set_state(&s, i * 7)->next_unused, i);
        assert_int_equal(used_set_state(&s, i * 7)->last_success, i + 1);
    }
    assert_int_equal(s.state_count, 999);
    used_set_clear(&s);
    assert_int_equal(used_set_state(&s, 7)->next_unused, 7);
    assert_int_equal(used_set_state(&s, 7 | USED_SET_EQUAL)->next_unused, 7);
    used_set_state(&s, 7 | USED_SET_EQUAL)->next_unused = 9;
    assert_int_equal(used_set_state(&s, 7)->next_unused, 7);
    used_set_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_marked_used_one_by_one),
        cmocka_unit_test(unused_calls_take_no_memory),
        cmocka_unit_test(a_call_marked_unused_was_used_before),
        cmocka_unit_test(lists_keep_their_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
