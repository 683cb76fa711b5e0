#include "format/span-parties.h"

#include "terse.h"
#include "test.h"

struct told {
    struct span_parties p;
    struct operation op;
};

static const struct party *tell(struct told *t, enum operation_role role, const char *message,
                                uint64_t session, const struct party *client)
{
    struct terse_scanned scanned;
    struct record r = { .kind = RECORD_MESSAGE, .has = session ? HAS_SESSION : 0 };
    const struct operation_message m = { .role = (uint8_t)role };
    const struct operation_event ev = { &t->op, &m, &r };

    r.session = session;
    r.message.dir = role == ROLE_REQUEST ? TO_SERVER : TO_CLIENT;
    r.message.msg = terse_scan(&scanned, message);
    if (role == ROLE_REQUEST)
        client = span_parties_request(&t->p, &ev);
    else
        span_parties_response(&t->p, &ev, client);
    terse_scanned_release(&scanned);
    return client;
}

static void sessions_that_begin_together_keep_their_clients(void **state)
{
    struct told t = { .op = { .kind = OPERATION_REQUEST, .method = STR("initialize") } };
    struct operation op = { .has = HAS_SESSION };
    const struct party *a, *b;

    (void)state;
    span_parties_init(&t.p);
    a = tell(&t, ROLE_REQUEST, "{'params':{'clientInfo':{'name':'a','version':'1'}}}", 0, NULL);
    b = tell(&t, ROLE_REQUEST, "{'params':{'clientInfo':{'name':'b'}}}", 0, NULL);
    tell(&t, ROLE_RESPONSE,
         "{'result':{'protocolVersion':'2025-11-25','serverInfo':{'name':'s'}}}", 1, a);
    tell(&t, ROLE_RESPONSE, "{'result':{'protocolVersion':'2025-06-18'}}", 2, b);
    op.session = 1;
    assert_str(span_parties_client(&t.p, &op)->name, STR("a"));
    assert_str(span_parties_client(&t.p, &op)->version, STR("1"));
    assert_str(span_parties_server(&t.p, &op)->name, STR("s"));
    assert_str(span_parties_protocol(&t.p, &op), STR("2025-11-25"));
    op.session = 2;
    assert_str(span_parties_client(&t.p, &op)->name, STR("b"));
    assert_int_equal(span_parties_server(&t.p, &op)->name.len, 0);
    span_parties_begin_recording(&t.p);
    assert_int_equal(span_parties_client(&t.p, &op)->number, 0);
    span_parties_release(&t.p);
}

static void stateless_requests_name_client_and_version(void **state)
{
    struct told t = { .op = { .kind = OPERATION_REQUEST, .method = STR("tools/list") } };
    const struct operation op = { 0 };

    (void)state;
    span_parties_init(&t.p);
    tell(&t, ROLE_REQUEST,
         "{'params':{'_meta':{'io.modelcontextprotocol/clientInfo':{'name':'c'},"
         "'io.modelcontextprotocol/protocolVersion':'2026-07-28'}}}",
         0, NULL);
    assert_str(span_parties_client(&t.p, &op)->name, STR("c"));
    assert_str(span_parties_protocol(&t.p, &op), STR("2026-07-28"));
    tell(&t, ROLE_RESPONSE,
         "{'result':{'_meta':{'io.modelcontextprotocol/serverInfo':{'name':'s'}}}}", 0,
         span_parties_client(&t.p, &op));
    assert_str(span_parties_server(&t.p, &op)->name, STR("s"));
    span_parties_release(&t.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_that_begin_together_keep_their_clients),
        cmocka_unit_test(stateless_requests_name_client_and_version),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
