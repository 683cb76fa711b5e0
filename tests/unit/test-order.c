#include "index/order.h"

#include "loaded-index.h"
#include "test.h"

/* "s0: request a, notification b, response a; s1: …" of a recording. */
static void check(const char *recording, const char *want)
{
    static const char *const names[] = { "request", "notification", "response" };
    struct loaded_index s;
    struct index_order order;
    struct params_rules rules =
        matcher_rules(&(struct match_options){ .mode = MATCH_BY_REQUEST }, false);
    struct buf got;

    buf_init(&got, 1 << 16);
    index_order_init(&order);
    message_store_memory_init(&s.store);
    index_message_init(&s.text);
    index_init(&s.index, &s.store.store, &rules, NULL);
    s.index.order = &order;
    terse_feed(&s.index.sink, recording);
    index_finish(&s.index);
    for (uint32_t session = 0; session < s.index.session_count; session++) {
        buf_printf(&got, "%ss%u:", session ? "; " : "", session);
        for (uint32_t i = index_order_first(&order, session); i; i = order.items[i].next) {
            uint32_t number = order.items[i].number;
            struct json_val root = order.items[i].kind == ORDER_NOTIFICATION
                                       ? loaded_index_step(&s, number)
                                       : loaded_index_call(&s, number);

            buf_printf(&got, " %s ", names[order.items[i].kind]);
            buf_add(&got, json_unquoted(json_get(root, STR("method"))));
        }
    }
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
    index_release(&s.index);
    index_message_release(&s.text);
    message_store_memory_release(&s.store);
    index_order_release(&order);
}

static void requests_notifications_and_responses_are_in_recorded_order(void **state)
{
    (void)state;
    check(
        "c2s {'id':1,'method':'a'}\n"
        "c2s {'id':2,'method':'b'}\n"
        "s2c {'id':2,'result':{}}\n"
        "c2s {'method':'notifications/x'}\n"
        "s2c {'method':'notifications/y'}\n"
        "s2c {'id':1,'result':{}}\n"
        "c2s {'id':3,'method':'c'}\n",
        "s0: request a request b response b notification notifications/x response a request c");
}

static void each_initialize_begins_an_order(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'initialize','params':{}}\n"
          "s2c {'id':1,'result':{}}\n"
          "c2s {'id':1,'method':'initialize','params':{}}\n"
          "c2s {'method':'notifications/initialized'}\n",
          "s0: request initialize response initialize; "
          "s1: request initialize notification notifications/initialized");
}

static void a_get_stream_is_wanted_if_the_session_had_one_or_was_not_on_http(void **state)
{
    struct index_order order;

    (void)state;
    index_order_init(&order);
    assert_true(index_order_wants_get(&order, 0)); /* unknown */
    index_order_note_http(&order, 1);
    index_order_note_http(&order, 2);
    index_order_note_get(&order, 2);
    assert_true(index_order_wants_get(&order, 0));
    assert_false(index_order_wants_get(&order, 1));
    assert_true(index_order_wants_get(&order, 2));
    order.had_get = true;
    assert_true(index_order_wants_get(&order, 1));
    index_order_release(&order);
}

static void a_session_without_messages_has_no_order(void **state)
{
    struct index_order order;

    (void)state;
    index_order_init(&order);
    index_order_add(&order, 2, ORDER_REQUEST, 7, 0);
    assert_int_equal(index_order_first(&order, 0), 0);
    assert_int_equal(order.items[index_order_first(&order, 2)].number, 7);
    assert_int_equal(index_order_first(&order, 9), 0);
    index_order_release(&order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_notifications_and_responses_are_in_recorded_order),
        cmocka_unit_test(each_initialize_begins_an_order),
        cmocka_unit_test(a_get_stream_is_wanted_if_the_session_had_one_or_was_not_on_http),
        cmocka_unit_test(a_session_without_messages_has_no_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
