#include "ops/op-servers.h"

#include "terse.h"
#include "test.h"

static void a_server_is_found_by_session_and_connection(void **state)
{
    const struct record named = { .has = HAS_CONN | HAS_SESSION, .conn = 1, .session = 7 };
    const struct operation by_conn = { .has = HAS_CONN, .conn = 1 },
                           by_session = { .has = HAS_SESSION, .conn = 5, .session = 7 },
                           other = { .has = HAS_SESSION, .conn = 1, .session = 8 };
    struct op_servers s;

    (void)state;
    op_servers_init(&s);
    op_servers_begin_recording(&s);
    assert_int_equal(op_servers_find(&s, &by_conn), 0);
    op_servers_set(&s, &named, 3);
    assert_int_equal(op_servers_find(&s, &by_conn), 3);
    assert_int_equal(op_servers_find(&s, &by_session), 3);
    assert_int_equal(op_servers_find(&s, &other), 0);
    op_servers_begin_recording(&s);
    assert_int_equal(op_servers_find(&s, &by_conn), 0);
    op_servers_release(&s);
}

static bool names_server(const char *method, const char *message, enum record_dir dir)
{
    struct terse_scanned scanned;
    struct record r = { .kind = RECORD_MESSAGE };
    const struct operation op = { .kind = OPERATION_REQUEST, .method = str_z(method) };
    const struct operation_message m = { .role = ROLE_RESPONSE };
    const struct operation_event ev = { &op, &m, &r }, end = { &op, NULL, NULL };
    bool found;

    r.message.dir = dir;
    r.message.msg = terse_scan(&scanned, message);
    found = json_exists(op_servers_info(&ev));
    assert_false(json_exists(op_servers_info(&end)));
    terse_scanned_release(&scanned);
    return found;
}

static void a_response_may_name_the_server(void **state)
{
    static const char named[] = "{'id':1,'result':{'serverInfo':{'name':'a'}}}";

    (void)state;
    assert_true(names_server("initialize", named, TO_CLIENT));
    assert_false(names_server("initialize", named, TO_SERVER));
    assert_false(names_server("ping", named, TO_CLIENT));
    assert_false(names_server("initialize", "{'id':1,'error':{}}", TO_CLIENT));
    assert_true(names_server(
        "ping",
        "{'id':1,'result':{'_meta':{'io.modelcontextprotocol/serverInfo':{'name':'a'}}}}",
        TO_CLIENT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_is_found_by_session_and_connection),
        cmocka_unit_test(a_response_may_name_the_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
