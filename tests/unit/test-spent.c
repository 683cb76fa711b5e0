#include "engine/spent.h"

#include "test.h"

enum { MANY = 100000 };

static void strands_are_used_one_by_one(void **state)
{
    struct spent s;

    (void)state;
    spent_init(&s, MANY);
    for (uint32_t i = 1; i < MANY; i += 3)
        spent_mark(&s, i, true);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(spent_has(&s, i), i % 3 == 1);
    spent_mark(&s, 4, false);
    assert_false(spent_has(&s, 4));
    assert_true(spent_has(&s, 1));
    spent_clear(&s);
    for (uint32_t i = 0; i < MANY; i++)
        assert_false(spent_has(&s, i));
    spent_release(&s);
}

static void what_nobody_used_takes_no_memory(void **state)
{
    struct spent s;
    size_t pages = 0;

    (void)state;
    spent_init(&s, MANY);
    spent_mark(&s, 7, false);
    spent_mark(&s, 50000, true);
    for (size_t i = 0; i < s.page_count; i++)
        pages += s.pages[i] != NULL;
    assert_int_equal(pages, 1);
    spent_release(&s);
}

/* Whether something was passed over must not be asked of all that follows, each time that one
 * is given back. */
static void one_that_is_given_back_was_used_all_the_same(void **state)
{
    struct spent s;

    (void)state;
    spent_init(&s, 100);
    spent_mark(&s, 3, true);
    s.oldest = 50;
    spent_mark(&s, 70, true);
    assert_int_equal(s.oldest, 50);
    spent_mark(&s, 3, false);
    assert_int_equal(s.oldest, 50);
    spent_release(&s);
}

static void queues_keep_their_place(void **state)
{
    struct spent s;

    (void)state;
    spent_init(&s, MANY);
    for (uint32_t i = 1; i < 1000; i++) {
        struct spent_queue *q = spent_queue(&s, i * 7);
        assert_int_equal(q->next, i * 7);
        assert_int_equal(q->last, 0);
        q->next = i;
        q->last = i + 1;
    }
    for (uint32_t i = 1; i < 1000; i++) {
        assert_int_equal(spent_queue(&s, i * 7)->next, i);
        assert_int_equal(spent_queue(&s, i * 7)->last, i + 1);
    }
    assert_int_equal(s.queue_count, 999);
    spent_clear(&s);
    assert_int_equal(spent_queue(&s, 7)->next, 7);
    assert_int_equal(spent_queue(&s, 7 | SPENT_SECOND)->next, 7);
    spent_queue(&s, 7 | SPENT_SECOND)->next = 9;
    assert_int_equal(spent_queue(&s, 7)->next, 7);
    spent_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strands_are_used_one_by_one),
        cmocka_unit_test(what_nobody_used_takes_no_memory),
        cmocka_unit_test(one_that_is_given_back_was_used_all_the_same),
        cmocka_unit_test(queues_keep_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
