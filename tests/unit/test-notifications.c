#include "verify/notifications.h"

#include "loaded-index.h"
#include "terse.h"
#include "test.h"

/* A recorded session, and the live one. */
struct rig {
    struct message_store_memory store;
    struct index index;
    struct index_order order;
    struct notifications live;
    struct buf found; /* "METHOD\n", or "METHOD RECORDED LIVE\n" */
};

static void begin(struct rig *r, const char *recording, bool http)
{
    struct params_rules rules =
        matcher_rules(&(struct match_options){ .mode = MATCH_BY_REQUEST }, false);

    index_order_init(&r->order);
    message_store_memory_init(&r->store);
    index_init(&r->index, &r->store.store, &rules, NULL);
    r->index.order = &r->order;
    terse_feed(&r->index.sink, recording);
    index_finish(&r->index);
    notifications_init(&r->live, &r->index, &r->order, 0, http);
    buf_init(&r->found, 1000);
}

static void end(struct rig *r)
{
    notifications_release(&r->live);
    index_release(&r->index);
    message_store_memory_release(&r->store);
    index_order_release(&r->order);
    buf_release(&r->found);
}

static void add_method(void *arg, struct str method)
{
    struct rig *r = arg;

    buf_printf(&r->found, "%.*s\n", STR_ARG(method));
}

static void add_counts(void *arg, struct str method, uint64_t recorded, uint64_t live)
{
    struct rig *r = arg;

    buf_printf(&r->found, "%.*s %llu %llu\n", STR_ARG(method), (unsigned long long)recorded,
               (unsigned long long)live);
}

/* Compares the missing kinds of the first call, sent when `sent_at` notifications had come. */
static void assert_missing(struct rig *r, uint64_t sent_at, bool got_progress, const char *want)
{
    const struct notifications_call call = { 1, sent_at, got_progress };

    buf_clear(&r->found);
    assert_int_equal(notifications_find_missing(&r->live, &call, NULL, NULL), *want != '\0');
    (void)notifications_find_missing(&r->live, &call, add_method, r);
    assert_str(buf_str(&r->found), str_z(want));
}

#define CALL                                                                                   \
    "c2s {'id':5,'method':'tools/call','params':{'name':'a','_meta':{'progressToken':5}}}\n"   \
    "s2c {'method':'notifications/progress','params':{'progressToken':5,'progress':1}}\n"      \
    "s2c {'method':'notifications/message','params':{'data':1}}\n"                             \
    "s2c {'method':'notifications/message','params':{'data':2}}\n"                             \
    "s2c {'method':'notifications/tools/list_changed'}\n"                                      \
    "s2c {'id':5,'result':{}}\n"                                                               \
    "s2c {'method':'notifications/late'}\n"

static void each_kind_of_a_call_must_come_after_it_was_sent(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, CALL, false);
    assert_missing(&r, 0, false,
                   "notifications/progress\nnotifications/message\n"
                   "notifications/tools/list_changed\n");
    notifications_add(&r.live, STR("notifications/message"));
    assert_missing(&r, 0, true, "notifications/tools/list_changed\n");
    assert_missing(&r, 1, true, "notifications/message\nnotifications/tools/list_changed\n");
    end(&r);
}

static void a_kind_of_the_session_may_come_before_the_call(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, CALL, false);
    notifications_add(&r.live, STR("notifications/tools/list_changed"));
    assert_missing(&r, 1, true, "notifications/message\n");
    end(&r);
}

static void a_kind_of_the_session_may_get_lost_if_only_the_live_one_is_on_http(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, CALL, true);
    assert_missing(&r, 0, true, "notifications/message\n");
    end(&r);
    begin(&r, CALL, true);
    index_order_note_http(&r.order, 0);
    notifications_init(&r.live, &r.index, &r.order, 0, true);
    assert_missing(&r, 0, true, "notifications/message\nnotifications/tools/list_changed\n");
    end(&r);
}

static void kinds_that_came_more_or_less_often_are_found(void **state)
{
    struct rig r;

    (void)state;
    begin(&r, CALL, false);
    notifications_add(&r.live, STR("notifications/message"));
    notifications_add(&r.live, STR("notifications/progress"));
    notifications_add(&r.live, STR("notifications/new"));
    notifications_add(&r.live, STR("notifications/late"));
    notifications_compare_counts(&r.live, add_counts, &r);
    assert_str(buf_str(&r.found), STR("notifications/message 2 1\n"
                                      "notifications/tools/list_changed 1 0\n"
                                      "notifications/new 0 1\n"));
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_a_call_must_come_after_it_was_sent),
        cmocka_unit_test(a_kind_of_the_session_may_come_before_the_call),
        cmocka_unit_test(a_kind_of_the_session_may_get_lost_if_only_the_live_one_is_on_http),
        cmocka_unit_test(kinds_that_came_more_or_less_often_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
