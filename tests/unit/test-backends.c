#include "bridge/backends.h"

#include <stdlib.h>

#include "engine-run.h"
#include "terse.h"
#include "test.h"

static void the_queue_drops_the_oldest_messages(void **state)
{
    struct backend *s = backend_new(1);
    struct message_queue_item *item;
    char *much = calloc(1, BACKEND_UNDELIVERED_MAX);

    (void)state;
    message_queue_push(&s->undelivered, STR("a"));
    assert_null(backend_take_excess(s));
    message_queue_push(&s->undelivered, str_n(much, BACKEND_UNDELIVERED_MAX));
    item = backend_take_excess(s);
    assert_str(str_n(item->text, item->len), STR("a"));
    free(item);
    assert_null(backend_take_excess(s));
    free(much);
    for (int i = 0; i < MESSAGE_QUEUE_MAX - 1; i++)
        message_queue_push(&s->undelivered, STR("b"));
    item = backend_take_excess(s);
    assert_int_equal(item->len, BACKEND_UNDELIVERED_MAX);
    free(item);
    assert_null(backend_take_excess(s));
    backend_free(s);
}

static void queued_messages_are_freed_with_their_backend(void **state)
{
    struct backend *s = backend_new(1);

    (void)state;
    s->role = BACKEND_SESSION;
    id_map_init(&s->ids, false);
    buf_add(&s->send_queue, STR("a\n"));
    message_queue_push(&s->undelivered, STR("b"));
    backend_free(s);
}

static void the_handshake_depends_on_the_protocol(void **state)
{
    struct backend s = { .role = BACKEND_SHARED_STATEFUL };
    struct json_fault fault;
    struct json j;

    (void)state;
    json_init(&j);
    assert_true(json_scan(&j, backend_handshake_request(&s), &fault));
    assert_true(json_is(json_get(json_root(&j), STR("method")), STR("initialize")));
    assert_str(json_raw(json_get(json_root(&j), STR("id"))), STR(BACKEND_HANDSHAKE_ID));
    s.role = BACKEND_SHARED_STATELESS;
    assert_true(json_scan(&j, backend_handshake_request(&s), &fault));
    assert_true(json_is(json_get(json_root(&j), STR("method")), STR("server/discover")));
    assert_str(json_raw(json_get(json_root(&j), STR("id"))), STR(BACKEND_HANDSHAKE_ID));
    json_release(&j);
}

static void check_modern(const char *text, bool modern, const char *versions)
{
    struct backend s = { .role = BACKEND_SHARED_STATELESS };
    struct arena a = { 0 };
    struct json_fault fault;
    struct http_rejection v;
    struct mcp_message m;
    struct str named;
    struct json j;

    json_init(&j);
    assert_true(json_scan(&j, terse_json(&a, text), &fault));
    m = mcp_classify(json_root(&j), &a);
    assert_int_equal(backend_check_handshake(&s, &m, &named, &v, &a), modern);
    if (modern)
        assert_str(named, terse_json(&a, versions));
    else
        assert_int_equal(v.status, 400);
    json_release(&j);
    arena_release(&a);
}

static void a_stateless_backend_is_recognized_by_its_response(void **state)
{
    (void)state;
    check_modern("{'id':1,'result':{'supportedVersions':['2025-11-25','2026-07-28']}}", true,
                 "['2025-11-25','2026-07-28']");
    check_modern("{'id':1,'error':{'code':-32022,'data':{'supported':['2027-01-01']}}}", true,
                 "['2027-01-01']");
    check_modern("{'id':1,'error':{'code':-32022}}", true, "['2026-07-28']");
    check_modern("{'id':1,'result':{'supportedVersions':['2025-11-25']}}", false, "");
    check_modern("{'id':1,'result':{'supportedVersions':'2026-07-28'}}", false, "");
    check_modern("{'id':1,'result':{}}", false, "");
    check_modern("{'id':1,'error':{'code':-32601}}", false, "");
    check_modern("{'id':1,'error':{'code':-32020}}", false, "");
}

enum { MOST = 2 };

/* Backends and their configuration. */
struct bench {
    struct engine_run engine;
    struct backends servers;
};

static void open_bench(struct bench *b)
{
    engine_run_init(&b->engine, TO_CLIENT, NULL, NULL);
    backends_init(&b->servers, MOST, &b->engine.out);
}

static void close_bench(struct bench *b)
{
    backends_release(&b->servers);
    engine_run_release(&b->engine);
}

static struct backend *take(struct bench *b, enum backend_role role)
{
    return backends_assign(&b->servers, role, 0);
}

static void the_number_of_backends_and_of_waiting_sessions_is_limited(void **state)
{
    struct backend *s[2 * MOST];
    struct bench b;

    (void)state;
    open_bench(&b);
    for (size_t i = 0; i < 2 * MOST; i++) {
        assert_int_equal(backends_room(&b.servers), BACKENDS_ROOM);
        s[i] = take(&b, BACKEND_SESSION);
        assert_int_equal(s[i]->number, i + 1);
        if (i >= MOST - 1)
            assert_int_equal(backends_room(&b.servers), i < 2 * MOST - 1
                                                            ? BACKENDS_ROOM_IF_ONE_RETIRES
                                                            : BACKENDS_NO_ROOM);
        if (i >= MOST - 1 && i < 2 * MOST - 1)
            backends_retire(&b.servers, s[i - (MOST - 1)]);
    }
    assert_actions(&b.engine, "start upstream\nstart upstream\n");
    backends_send(&b.servers, s[2], STR("{\"id\":1}"), false);
    assert_actions(&b.engine, "");
    backends_remove(&b.servers, s[0]);
    assert_actions(&b.engine, "start upstream\nup<< {'id':1}\n");
    assert_null(backends_find(&b.servers, 1));
    assert_ptr_equal(backends_find(&b.servers, 2), s[1]);
    assert_int_equal(backends_room(&b.servers), BACKENDS_ROOM_IF_ONE_RETIRES);
    close_bench(&b);
}

static void the_spare_backend_goes_to_the_first_client(void **state)
{
    struct backend *s;
    struct bench b;

    (void)state;
    open_bench(&b);
    backends_start_spare(&b.servers, 7);
    s = b.servers.spare;
    assert_int_equal(s->last_used_us, 7);
    assert_ptr_equal(take(&b, BACKEND_SESSION), s);
    assert_null(b.servers.spare);
    assert_ptr_not_equal(take(&b, BACKEND_SESSION), s);
    assert_actions(&b.engine, "start upstream\nstart upstream\n");
    close_bench(&b);
}

static void a_retired_spare_backend_is_not_assigned(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    backends_start_spare(&b.servers, 0);
    backends_retire(&b.servers, b.servers.spare);
    assert_null(b.servers.spare);
    assert_int_equal(b.servers.active, 0);
    close_bench(&b);
}

static void clients_without_session_share_one_backend_per_protocol(void **state)
{
    struct backend *legacy, *modern;
    struct bench b;

    (void)state;
    open_bench(&b);
    legacy = take(&b, BACKEND_SHARED_STATEFUL);
    modern = take(&b, BACKEND_SHARED_STATELESS);
    assert_ptr_equal(b.servers.shared[false], legacy);
    assert_ptr_equal(b.servers.shared[true], modern);
    backends_retire(&b.servers, legacy);
    assert_null(b.servers.shared[false]);
    assert_ptr_equal(b.servers.shared[true], modern);
    close_bench(&b);
}

static void a_session_is_found_until_its_backend_retires(void **state)
{
    struct backend *s;
    struct bench b;
    uint64_t session;
    bool minted;

    (void)state;
    open_bench(&b);
    s = take(&b, BACKEND_SESSION);
    memcpy(s->id, "name", sizeof "name");
    s->session = session_ids_add(&b.servers.ids, STR("name"), &minted);
    assert_null(backends_find_session(&b.servers, s->session));
    backends_add_session(&b.servers, s);
    assert_ptr_equal(backends_find_session(&b.servers, s->session), s);
    assert_int_equal(session_ids_find(&b.servers.ids, STR("name"), &session), SESSION_LIVE);
    backends_retire(&b.servers, s);
    assert_null(backends_find_session(&b.servers, s->session));
    assert_int_equal(session_ids_find(&b.servers.ids, STR("name"), &session), SESSION_ENDED);
    close_bench(&b);
}

static void requests_wait_for_the_handshake_response(void **state)
{
    struct backend *s;
    struct bench b;

    (void)state;
    open_bench(&b);
    s = take(&b, BACKEND_SHARED_STATEFUL);
    backends_start_handshake(&b.servers, s);
    assert_true(engine_run_has(&b.engine.actions, "up<< {\"jsonrpc\":\"2.0\",\"id\":"));
    assert_true(engine_run_has(&b.engine.actions, "\ntimer 1 in 60000000 us\n"));
    buf_clear(&b.engine.actions);
    backends_send(&b.servers, s, STR("{\"id\":1}"), false);
    backends_send(&b.servers, s, STR_NONE, false);
    backends_send(&b.servers, s, STR("{\"id\":2}"), false);
    assert_actions(&b.engine, "");
    backends_stop_handshake_timer(&b.servers, s);
    backends_flush_queue(&b.servers, s);
    backends_send(&b.servers, s, STR("{\"id\":3}"), false);
    assert_actions(&b.engine, "up<< {'id':1}\nup<< {'id':2}\nup<< {'id':3}\n");
    assert_null(backends_take_timer(&b.servers, 1));
    close_bench(&b);
}

static void a_handshake_times_out_once(void **state)
{
    struct backend *legacy, *modern;
    struct bench b;

    (void)state;
    open_bench(&b);
    legacy = take(&b, BACKEND_SHARED_STATEFUL);
    modern = take(&b, BACKEND_SHARED_STATELESS);
    backends_start_handshake(&b.servers, legacy);
    backends_start_handshake(&b.servers, modern);
    assert_ptr_equal(backends_take_timer(&b.servers, 1), legacy);
    assert_null(backends_take_timer(&b.servers, 1));
    backends_retire(&b.servers, modern);
    assert_null(backends_take_timer(&b.servers, 2));
    close_bench(&b);
}

static void a_timer_may_expire_after_its_backend_has_ended(void **state)
{
    struct backend *s;
    struct bench b;

    (void)state;
    open_bench(&b);
    s = take(&b, BACKEND_SHARED_STATEFUL);
    backends_start_handshake(&b.servers, s);
    backends_retire(&b.servers, s);
    backends_remove(&b.servers, s);
    assert_int_equal(b.servers.timers.count, 0);
    assert_null(backends_take_timer(&b.servers, 1));
    close_bench(&b);
}

static void undelivered_messages_are_dropped_in_the_end(void **state)
{
    struct backend *s;
    struct bench b;

    (void)state;
    open_bench(&b);
    s = take(&b, BACKEND_SESSION);
    buf_clear(&b.engine.actions);
    backends_keep_undelivered(&b.servers, s, STR("{\"a\":0}"));
    for (int i = 1; i < MESSAGE_QUEUE_MAX - 1; i++)
        backends_keep_undelivered(&b.servers, s, STR("{\"a\":1}"));
    assert_actions(&b.engine, "");
    backends_keep_undelivered(&b.servers, s, STR("{\"a\":1}"));
    assert_actions(&b.engine, "drop {'a':0}\n");
    while (s->undelivered.count > 2)
        free(message_queue_pop(&s->undelivered));
    backends_retire(&b.servers, s);
    assert_actions(&b.engine, "drop {'a':1}\ndrop {'a':1}\n");
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_queue_drops_the_oldest_messages),
        cmocka_unit_test(queued_messages_are_freed_with_their_backend),
        cmocka_unit_test(the_handshake_depends_on_the_protocol),
        cmocka_unit_test(a_stateless_backend_is_recognized_by_its_response),
        cmocka_unit_test(the_number_of_backends_and_of_waiting_sessions_is_limited),
        cmocka_unit_test(the_spare_backend_goes_to_the_first_client),
        cmocka_unit_test(a_retired_spare_backend_is_not_assigned),
        cmocka_unit_test(clients_without_session_share_one_backend_per_protocol),
        cmocka_unit_test(a_session_is_found_until_its_backend_retires),
        cmocka_unit_test(requests_wait_for_the_handshake_response),
        cmocka_unit_test(a_handshake_times_out_once),
        cmocka_unit_test(a_timer_may_expire_after_its_backend_has_ended),
        cmocka_unit_test(undelivered_messages_are_dropped_in_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
