#include "diff/call-list.h"

#include "terse.h"
#include "test.h"

struct loaded {
    struct message_store_memory store;
    struct index index;
    struct call_list calls;
    struct compare_rules rules;
};

static void load(struct loaded *l, const char *recording, const char *ignored_field)
{
    struct params_rules rules = { .ignore = &l->rules };
    struct err e = ERR_NONE;

    compare_rules_init(&l->rules);
    if (ignored_field && !compare_rules_add_field(&l->rules, str_z(ignored_field), &e))
        fail_msg("%s", e.msg);
    message_store_memory_init(&l->store);
    call_list_init(&l->calls, &l->index);
    index_init(&l->index, &l->store.store, &rules, &l->calls.observer);
    terse_feed(&l->index.sink, recording);
    index_finish(&l->index);
}

static void release(struct loaded *l)
{
    call_list_release(&l->calls);
    index_release(&l->index);
    message_store_memory_release(&l->store);
    compare_rules_release(&l->rules);
}

#define CALL(name, args)                                                                       \
    "c2s {'id':1,'method':'tools/call','params':{'name':'" name "','arguments':" args "}}\n"
#define POLL(task) "c2s {'id':1,'method':'tasks/get','params':{'taskId':'" task "'}}\n"
#define PAGE(cursor) "c2s {'id':1,'method':'tools/list','params':{'cursor':'" cursor "'}}\n"

static void keys_are_those_of_method_and_params(void **state)
{
    struct loaded l;

    (void)state;
    load(&l,
         CALL("a", "{'x':1,'y':2}") CALL("a", "{'y':2.0,'x':1}") CALL("a", "{'x':2}")
             CALL("b", "{'x':1,'y':2}"),
         NULL);
    assert_int_equal(l.calls.count, 4);
    assert_true(l.calls.items[0].key == l.calls.items[1].key);
    assert_true(l.calls.items[0].key != l.calls.items[2].key);
    assert_true(l.calls.items[0].key != l.calls.items[3].key);
    assert_true(l.calls.items[0].kind == l.calls.items[2].kind);
    assert_true(l.calls.items[0].kind != l.calls.items[3].kind);
    release(&l);
}

static void ignored_params_do_not_count(void **state)
{
    struct loaded l;

    (void)state;
    load(&l, CALL("a", "{'x':1,'y':2}") CALL("a", "{'x':2,'y':2}"), "x");
    assert_true(l.calls.items[0].key == l.calls.items[1].key);
    release(&l);
}

static void lists_and_polls_of_a_method_are_of_one_kind(void **state)
{
    struct loaded l;

    (void)state;
    load(&l, POLL("t1") POLL("t2") PAGE("p") PAGE("q"), NULL);
    assert_true(l.calls.items[0].kind == l.calls.items[1].kind);
    assert_true(l.calls.items[0].key != l.calls.items[1].key);
    assert_true(l.calls.items[2].kind == l.calls.items[3].kind);
    assert_true(l.calls.items[1].kind != l.calls.items[2].kind);
    release(&l);
}

static void the_handshake_and_pings_are_left_out(void **state)
{
    struct loaded l;

    (void)state;
    load(&l,
         "c2s {'id':0,'method':'initialize'}\nc2s {'id':1,'method':'ping'}\n"
         "c2s {'id':2,'method':'server/discover'}\n" CALL("a", "{}"),
         NULL);
    assert_int_equal(l.calls.count, 1);
    assert_int_equal(l.calls.calls[0], 4);
    release(&l);
}

static bool is_even(void *arg, uint32_t call, bool *is, struct err *e)
{
    if (call == *(uint32_t *)arg)
        return err_set(e, ERR_INPUT, "failed");
    *is = call % 2 == 0;
    return true;
}

static void calls_are_selected(void **state)
{
    struct err e = ERR_NONE;
    uint32_t fails_at = 0;
    struct loaded l;

    (void)state;
    load(&l, CALL("a", "{}") CALL("b", "{}") CALL("c", "{}") CALL("d", "{}"), NULL);
    assert_true(call_list_select(&l.calls, is_even, &fails_at, &e));
    assert_int_equal(l.calls.count, 2);
    assert_int_equal(l.calls.calls[0], 2);
    assert_int_equal(l.calls.calls[1], 4);
    fails_at = 4;
    assert_false(call_list_select(&l.calls, is_even, &fails_at, &e));
    assert_string_equal(e.msg, "failed");
    release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_those_of_method_and_params),
        cmocka_unit_test(ignored_params_do_not_count),
        cmocka_unit_test(lists_and_polls_of_a_method_are_of_one_kind),
        cmocka_unit_test(the_handshake_and_pings_are_left_out),
        cmocka_unit_test(calls_are_selected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
