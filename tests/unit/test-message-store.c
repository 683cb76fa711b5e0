#include "trace/message-store.h"

#include "test.h"

static void what_is_kept_comes_back(void **state)
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

static void it_comes_back_on_one_line(void **state)
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

static void what_is_no_message_comes_back_as_it_is(void **state)
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

static void a_reader_with_too_little_room_is_told(void **state)
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
        cmocka_unit_test(what_is_kept_comes_back),
        cmocka_unit_test(it_comes_back_on_one_line),
        cmocka_unit_test(what_is_no_message_comes_back_as_it_is),
        cmocka_unit_test(a_reader_with_too_little_room_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
