#include "trace/message-store.h"

#include "test.h"

static void a_stored_message_is_read_back(void **state)
{
    struct message_store_memory m;
    struct message_ref a, b;
    struct err e = ERR_NONE;
    struct buf got;

    (void)state;
    message_store_memory_init(&m);
    buf_init(&got, 100);
    buf_add(&got, STR("what was there before"));
    assert_true(m.store.add_message(&m.store, STR("{\"a\":1}"), &a, &e));
    assert_true(m.store.add_message(&m.store, STR("[]"), &b, &e));
    assert_true(m.store.fetch(&m.store, a, &got, &e));
    assert_str(buf_str(&got), STR("{\"a\":1}"));
    assert_true(m.store.fetch(&m.store, b, &got, &e));
    assert_str(buf_str(&got), STR("[]"));
    buf_release(&got);
    message_store_memory_release(&m);
}

static void a_stored_message_is_read_back_on_one_line(void **state)
{
    struct message_store_memory m;
    struct message_ref a;
    struct err e = ERR_NONE;
    struct buf got;

    (void)state;
    message_store_memory_init(&m);
    buf_init(&got, 100);
    assert_true(m.store.add_message(&m.store, STR("{\n\n  \"a\": 1\n}"), &a, &e));
    assert_true(m.store.fetch(&m.store, a, &got, &e));
    assert_str(buf_str(&got), STR("{    \"a\": 1 }"));
    buf_release(&got);
    message_store_memory_release(&m);
}

static void text_that_is_not_a_message_is_read_back_unchanged(void **state)
{
    struct message_store_memory m;
    struct message_ref a;
    struct err e = ERR_NONE;
    struct buf got;

    (void)state;
    message_store_memory_init(&m);
    buf_init(&got, 100);
    assert_true(m.store.add_bytes(&m.store, STR("a\n\0b\n"), &a, &e));
    assert_true(m.store.fetch(&m.store, a, &got, &e));
    assert_str(buf_str(&got), STR("a\n\0b\n"));
    buf_release(&got);
    message_store_memory_release(&m);
}

static void a_too_small_buffer_is_reported(void **state)
{
    struct message_store_memory m;
    struct message_ref a;
    struct err e = ERR_NONE;
    struct buf got;

    (void)state;
    message_store_memory_init(&m);
    buf_init(&got, 3);
    assert_true(m.store.add_message(&m.store, STR("[1,2,3]"), &a, &e));
    assert_false(m.store.fetch(&m.store, a, &got, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    buf_release(&got);
    message_store_memory_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stored_message_is_read_back),
        cmocka_unit_test(a_stored_message_is_read_back_on_one_line),
        cmocka_unit_test(text_that_is_not_a_message_is_read_back_unchanged),
        cmocka_unit_test(a_too_small_buffer_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
