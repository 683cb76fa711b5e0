#include "engine/http-said.h"

#include "test.h"

static void lines_come_in_the_order_they_were_said(void **state)
{
    struct http_said s = { 0 };

    (void)state;
    http_said_add(&s, STR("one"), false);
    http_said_add(&s, STR("four"), true);
    assert_int_equal(s.bytes, 7);
    assert_str(s.first->text, STR("one"));
    assert_false(s.first->answers);
    http_said_pop(&s);
    assert_str(s.first->text, STR("four"));
    assert_true(s.first->answers);
    assert_int_equal(s.bytes, 4);
    http_said_pop(&s);
    assert_null(s.first);
    assert_int_equal(s.bytes, 0);
    http_said_add(&s, STR_NONE, false);
    http_said_add(&s, STR("x"), false);
    assert_int_equal(s.first->text.len, 0);
    http_said_release(&s);
    assert_null(s.first);
    assert_int_equal(s.bytes, 0);
}

static void what_never_goes_is_waited_for_in_vain(void **state)
{
    struct http_waits w = { 0 };
    struct http_said s = { 0 };

    (void)state;
    http_said_add(&s, STR("{\"id\":1,\"method\":\"a\"}"), false);
    http_said_add(&s, STR("{\"id\":1,\"result\":{}}"), true);
    http_said_add(&s, STR("[{\"id\":\"b\",\"method\":\"c\"},{\"method\":\"d\"}]"), false);
    http_said_give_up(&s, &w);
    assert_null(s.first);
    assert_str(http_waits_of(&w, NULL)->method, STR("a"));
    http_waits_remove(&w, w.first);
    assert_str(http_waits_of(&w, NULL)->id, STR("\"b\""));
    http_waits_remove(&w, w.first);
    assert_null(w.first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_in_the_order_they_were_said),
        cmocka_unit_test(what_never_goes_is_waited_for_in_vain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
