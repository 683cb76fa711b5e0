#include "cmd/call-filter.h"

#include "terse.h"
#include "test.h"

/* Which of the calls of a recording are selected: "13". */
static void check(const char *only, const char *skip, const char *want)
{
    static const char recording[] =
        "c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\ns2c {'id':1,'result':{}}\n"
        "c2s {'id':2,'method':'tools/call','params':{'name':'b'}}\ns2c {'id':2,'result':{}}\n"
        "c2s {'id':3,'method':'resources/read','params':{'uri':'u:1'}}\n"
        "s2c {'id':3,'error':{'code':1,'message':'m'}}\n";
    const struct params_rules rules = { .include_meta = false };
    struct message_store_memory store;
    struct err e = ERR_NONE;
    struct index_message text;
    struct call_filter f;
    struct index index;
    struct buf got;
    struct str why;

    buf_init(&got, 100);
    message_store_memory_init(&store);
    index_message_init(&text);
    index_init(&index, &store.store, &rules, NULL);
    terse_feed(&index.sink, recording);
    index_finish(&index);
    if (!call_filter_read(&f, only, skip, &e))
        fail_msg("%s", e.msg);
    assert_int_equal(call_filter_is_given(&f), only || skip);
    for (uint32_t call = 1; call < index.call_count; call++) {
        struct json_val root;

        assert_true(index_read_call(&index, call, &text, &root, &e));
        if (call_filter_selects(&f, &index, call, root, &why))
            buf_printf(&got, "%u", call);
        else
            assert_true(str_starts(why, STR("--")));
    }
    assert_str(buf_str(&got), str_z(want));
    call_filter_release(&f);
    index_release(&index);
    index_message_release(&text);
    message_store_memory_release(&store);
    buf_release(&got);
}

static void calls_are_selected_by_both_filters(void **state)
{
    (void)state;
    check(NULL, NULL, "123");
    check("tool:a", NULL, "1");
    check(NULL, "tool:a", "23");
    check("method:tools/call", "tool:b", "1");
    check("is:rpc-error", NULL, "3");
}

static void a_bad_filter_names_its_option(void **state)
{
    struct err e = ERR_NONE;
    struct call_filter f;

    (void)state;
    assert_false(call_filter_read(&f, "tool:a", "is:nothing", &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_non_null(strstr(e.msg, "option '--skip'"));
    call_filter_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_selected_by_both_filters),
        cmocka_unit_test(a_bad_filter_names_its_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
