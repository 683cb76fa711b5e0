#include "engine/front-server.h"

#include <stdlib.h>

#include "terse.h"
#include "test.h"

static void what_is_too_much_goes_the_oldest_first(void **state)
{
    struct front_server *s = front_server_new(1);
    struct unheard_item *item;
    char *much = calloc(1, FRONT_SERVER_UNHEARD);

    (void)state;
    unheard_put(&s->unheard, STR("a"));
    assert_null(front_server_excess(s));
    unheard_put(&s->unheard, str_n(much, FRONT_SERVER_UNHEARD));
    item = front_server_excess(s);
    assert_str(str_n(item->text, item->len), STR("a"));
    free(item);
    assert_null(front_server_excess(s));
    free(much);
    for (int i = 0; i < UNHEARD_MAX - 1; i++)
        unheard_put(&s->unheard, STR("b"));
    item = front_server_excess(s);
    assert_int_equal(item->len, FRONT_SERVER_UNHEARD);
    free(item);
    assert_null(front_server_excess(s));
    front_server_free(s);
}

static void what_waits_is_freed_with_its_server(void **state)
{
    struct front_server *s = front_server_new(1);

    (void)state;
    s->role = OF_SESSION;
    server_link_init(&s->link, false);
    buf_add(&s->asked, STR("a\n"));
    unheard_put(&s->unheard, STR("b"));
    front_server_free(s);
}

static void it_is_greeted_by_its_era(void **state)
{
    struct front_server s = { .role = SHARED_LEGACY };
    struct json_fault fault;
    struct json j;

    (void)state;
    json_init(&j);
    assert_true(json_scan(&j, front_server_hello(&s), &fault));
    assert_true(json_is(json_get(json_root(&j), STR("method")), STR("initialize")));
    assert_str(json_raw(json_get(json_root(&j), STR("id"))), STR(FRONT_SERVER_HELLO_ID));
    s.role = SHARED_MODERN;
    assert_true(json_scan(&j, front_server_hello(&s), &fault));
    assert_true(json_is(json_get(json_root(&j), STR("method")), STR("server/discover")));
    assert_str(json_raw(json_get(json_root(&j), STR("id"))), STR(FRONT_SERVER_HELLO_ID));
    json_release(&j);
}

static void check_modern(const char *text, bool modern, const char *versions)
{
    struct front_server s = { .role = SHARED_MODERN };
    struct arena a = { 0 };
    struct json_fault fault;
    struct http_verdict v;
    struct mcp_message m;
    struct str named;
    struct json j;

    json_init(&j);
    assert_true(json_scan(&j, terse_json(&a, text), &fault));
    m = mcp_classify(json_root(&j), &a);
    assert_int_equal(front_server_greeted(&s, &m, &named, &v, &a), modern);
    if (modern)
        assert_str(named, terse_json(&a, versions));
    else
        assert_int_equal(v.status, 400);
    json_release(&j);
    arena_release(&a);
}

static void which_answers_are_those_of_the_era_without_sessions(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_too_much_goes_the_oldest_first),
        cmocka_unit_test(what_waits_is_freed_with_its_server),
        cmocka_unit_test(it_is_greeted_by_its_era),
        cmocka_unit_test(which_answers_are_those_of_the_era_without_sessions),
    };
    return cmocka_run_group_tests_name("front-server", tests, NULL, NULL);
}
