#include "trace/finding-list.h"

#include "test.h"

static void the_list_owns_copies_in_order(void **state)
{
    char text[] = "first";
    struct finding_list l;

    (void)state;
    finding_list_init(&l);
    finding_list_add(&l,
                     &(struct finding){ .rule = STR("a"), .message = str_z(text), .seq = 7 });
    finding_list_add(&l, &(struct finding){ .rule = STR("b"), .count = 3 });
    text[0] = '?';
    assert_int_equal(l.count, 2);
    assert_str(l.at[0].message, STR("first"));
    assert_int_equal(l.at[0].seq, 7);
    assert_str(l.at[1].rule, STR("b"));
    assert_int_equal(l.at[1].count, 3);
    finding_list_release(&l);
}

static void severities_are_distinguished(void **state)
{
    struct finding_list l;

    (void)state;
    finding_list_init(&l);
    assert_false(finding_list_has(&l, FINDING_ERROR));
    finding_list_add(&l, &(struct finding){ .rule = STR("a"), .severity = FINDING_NOTE });
    assert_false(finding_list_has(&l, FINDING_ERROR));
    assert_true(finding_list_has(&l, FINDING_NOTE));
    finding_list_add(&l, &(struct finding){ .rule = STR("a"), .severity = FINDING_ERROR });
    assert_true(finding_list_has(&l, FINDING_ERROR));
    finding_list_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_owns_copies_in_order),
        cmocka_unit_test(severities_are_distinguished),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
