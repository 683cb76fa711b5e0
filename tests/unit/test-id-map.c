#include "bridge/id-map.h"

#include "terse.h"
#include "test.h"

/* A link, and messages as people write them: ' for ". */
struct bench {
    struct id_map link;
    struct json json;
    struct arena arena;
};

static void open_bench(struct bench *b, bool shared)
{
    *b = (struct bench){ .arena = { 0 } };
    id_map_init(&b->link, shared);
    json_init(&b->json);
}

static void close_bench(struct bench *b)
{
    id_map_release(&b->link);
    json_release(&b->json);
    arena_release(&b->arena);
}

static struct mcp_message message(struct bench *b, const char *text)
{
    struct json_fault fault;

    assert_true(json_scan(&b->json, terse_json(&b->arena, text), &fault));
    return mcp_classify(json_root(&b->json), &b->arena);
}

static struct str map_request(struct bench *b, uint64_t exchange, const char *text)
{
    struct mcp_message m = message(b, text);

    return id_map_add_request(&b->link, exchange, &m);
}

static struct str map_client_message(struct bench *b, const char *text)
{
    struct mcp_message m = message(b, text);

    return id_map_forward(&b->link, &m);
}

static struct id_map_routed route_server_message(struct bench *b, const char *text)
{
    struct mcp_message m = message(b, text);

    return id_map_route(&b->link, &m);
}

#define assert_text(b, got, want) assert_str(got, terse_json(&(b)->arena, want))

static void messages_of_one_client_keep_their_ids(void **state)
{
    struct id_map_routed routed;
    struct bench b;

    (void)state;
    open_bench(&b, false);
    assert_text(&b, map_request(&b, 1, "{ 'id' : 'a', 'method':'x' }"),
                "{ 'id' : 'a', 'method':'x' }");
    assert_text(&b, map_request(&b, 2, "{'id':1,\n'method':'x',\r\n'params':{}}"),
                "{'id':1, 'method':'x',  'params':{}}");
    assert_text(&b, map_client_message(&b, "{'method':'notifications/initialized'}"),
                "{'method':'notifications/initialized'}");
    assert_text(&b, map_client_message(&b, "{'id':1,'result':{}}"), "{'id':1,'result':{}}");
    routed = route_server_message(&b, "{'id':1.0,'result':{}}");
    assert_int_equal(routed.destination, ID_MAP_TO_REQUEST);
    assert_int_equal(routed.request->exchange, 2);
    assert_true(routed.is_final);
    assert_text(&b, routed.text, "{'id':1.0,'result':{}}");
    id_map_remove(&b.link, routed.request);
    assert_int_equal(route_server_message(&b, "{'id':1,'result':{}}").destination,
                     ID_MAP_TO_NONE);
    assert_int_equal(route_server_message(&b, "{'id':'b','result':{}}").destination,
                     ID_MAP_TO_NONE);
    routed = route_server_message(&b, "{'id':null,'error':{}}");
    assert_int_equal(routed.destination, ID_MAP_TO_CLIENT);
    assert_false(routed.is_final);
    close_bench(&b);
}

static void the_older_of_two_requests_with_one_id_is_answered_first(void **state)
{
    struct id_map_routed routed;
    struct bench b;

    (void)state;
    open_bench(&b, false);
    map_request(&b, 1, "{'id':1,'method':'x'}");
    map_request(&b, 2, "{'id':1,'method':'x'}");
    routed = route_server_message(&b, "{'id':1,'result':{}}");
    assert_int_equal(routed.request->exchange, 1);
    id_map_remove(&b.link, routed.request);
    assert_int_equal(route_server_message(&b, "{'id':1,'result':{}}").request->exchange, 2);
    close_bench(&b);
}

static void progress_is_routed_by_token_and_other_messages_to_the_client(void **state)
{
    struct id_map_routed routed;
    struct bench b;

    (void)state;
    open_bench(&b, false);
    map_request(&b, 1, "{'id':1,'method':'x','params':{'_meta':{'progressToken':1}}}");
    map_request(&b, 2, "{'id':2,'method':'x','params':{'_meta':{'progressToken':'1'}}}");
    routed = route_server_message(
        &b, "{'method':'notifications/progress','params':{'progressToken':'1'}}");
    assert_int_equal(routed.request->exchange, 2);
    assert_false(routed.is_final);
    routed = route_server_message(
        &b, "{'method':'notifications/progress','params':{'progressToken':7}}");
    assert_int_equal(routed.destination, ID_MAP_TO_CLIENT);
    routed = route_server_message(&b, "{'method':'notifications/message'}");
    assert_int_equal(routed.destination, ID_MAP_TO_CLIENT);
    assert_false(routed.other_stream || routed.is_request);
    assert_true(
        route_server_message(&b, "{'method':'notifications/tools/list_changed'}").other_stream);
    assert_true(
        route_server_message(&b, "{'method':'notifications/resources/updated'}").other_stream);
    assert_true(route_server_message(&b, "{'id':1,'method':'ping'}").is_request);
    close_bench(&b);
}

static void a_cancelled_request_is_remembered(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, false);
    map_request(&b, 1, "{'id':1,'method':'x'}");
    assert_text(
        &b,
        map_client_message(&b, "{'method':'notifications/cancelled','params':{'requestId':9}}"),
        "{'method':'notifications/cancelled','params':{'requestId':9}}");
    assert_false(b.link.first->cancelled);
    map_client_message(&b, "{'method':'notifications/cancelled','params':{'requestId':1}}");
    assert_true(b.link.first->cancelled);
    close_bench(&b);
}

static void clients_that_share_a_server_get_separate_ids(void **state)
{
    struct id_map_routed routed;
    struct bench b;

    (void)state;
    open_bench(&b, true);
    assert_text(&b, map_request(&b, 1, "{'id':'a','method':'x'}"), "{'id':1,'method':'x'}");
    assert_text(
        &b,
        map_request(&b, 2, "{'method':'x','params':{'_meta':{'progressToken':'t'}},'id':'a'}"),
        "{'method':'x','params':{'_meta':{'progressToken':2}},'id':2}");
    routed = route_server_message(
        &b, "{'method':'notifications/progress','params':{'progressToken':2}}");
    assert_int_equal(routed.request->exchange, 2);
    assert_text(&b, routed.text,
                "{'method':'notifications/progress','params':{'progressToken':'t'}}");
    /* The first one has not requested progress. */
    assert_int_equal(route_server_message(
                         &b, "{'method':'notifications/progress','params':{'progressToken':1}}")
                         .destination,
                     ID_MAP_TO_NONE);
    routed = route_server_message(&b, "{'id':1,'result':{}}");
    assert_int_equal(routed.request->exchange, 1);
    assert_text(&b, routed.text, "{'id':'a','result':{}}");
    id_map_remove(&b.link, routed.request);
    assert_int_equal(route_server_message(&b, "{'id':'2','result':{}}").destination,
                     ID_MAP_TO_NONE);
    assert_int_equal(route_server_message(&b, "{'id':-1,'result':{}}").destination,
                     ID_MAP_TO_NONE);
    assert_int_equal(route_server_message(&b, "{'id':null,'error':{}}").destination,
                     ID_MAP_TO_NONE);
    close_bench(&b);
}

static void a_subscription_keeps_the_clients_id(void **state)
{
    struct id_map_routed routed;
    struct bench b;

#define OF "'_meta':{'io.modelcontextprotocol/subscriptionId':"
    (void)state;
    open_bench(&b, true);
    map_request(&b, 1, "{'id':'l','method':'subscriptions/listen'}");
    map_request(&b, 2, "{'id':'l','method':'subscriptions/listen'}");
    routed = route_server_message(
        &b, "{'method':'notifications/tools/list_changed','params':{" OF "2}}}");
    assert_int_equal(routed.request->exchange, 2);
    assert_text(&b, routed.text,
                "{'method':'notifications/tools/list_changed','params':{" OF "'l'}}}");
    assert_int_equal(route_server_message(&b, "{'method':'n','params':{" OF "3}}}").destination,
                     ID_MAP_TO_NONE);
    routed = route_server_message(
        &b, "{'method':'notifications/cancelled','params':{'requestId':1}}");
    assert_int_equal(routed.request->exchange, 1);
    assert_true(routed.is_final);
    assert_text(&b, routed.text,
                "{'method':'notifications/cancelled','params':{'requestId':'l'}}");
    routed = route_server_message(&b, "{'id':2,'result':{" OF "2}}}");
    assert_true(routed.is_final);
    assert_text(&b, routed.text, "{'id':'l','result':{" OF "'l'}}}");
    close_bench(&b);
#undef OF
}

static void an_ambiguous_message_is_not_delivered(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, true);
    assert_int_equal(route_server_message(&b, "{'method':'notifications/message'}").destination,
                     ID_MAP_TO_NONE);
    map_request(&b, 1, "{'id':1,'method':'x'}");
    assert_int_equal(
        route_server_message(&b, "{'method':'notifications/message'}").request->exchange, 1);
    map_request(&b, 2,
                "{'id':1,'method':'x','params':{'_meta':{'io.modelcontextprotocol/logLevel':"
                "'info'}}}");
    assert_int_equal(
        route_server_message(&b, "{'method':'notifications/message'}").request->exchange, 2);
    assert_int_equal(route_server_message(&b, "{'method':'notifications/other'}").destination,
                     ID_MAP_TO_NONE);
    assert_text(&b, route_server_message(&b, "{'id':5,'method':'ping'}").text,
                "{'jsonrpc':'2.0','id':5,'result':{}}");
    assert_int_equal(route_server_message(&b, "{'id':5,'method':'roots/list'}").destination,
                     ID_MAP_TO_SERVER);
    assert_int_equal(map_client_message(&b, "{'id':5,'result':{}}").len, 0);
    assert_int_equal(
        map_client_message(&b, "{'method':'notifications/cancelled','params':{'requestId':1}}")
            .len,
        0);
    assert_int_equal(map_client_message(&b, "{'method':'notifications/initialized'}").len, 0);
    assert_text(&b, map_client_message(&b, "{'method':'notifications/x'}"),
                "{'method':'notifications/x'}");
    close_bench(&b);
}

static void a_disconnected_client_cancels_its_requests(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, true);
    map_request(&b, 1, "{'id':'a','method':'x'}");
    map_request(&b, 2, "{'id':'a','method':'x'}");
    map_request(&b, 1, "{'id':'b','method':'x'}");
    assert_text(
        &b, id_map_cancel(&b.link, 1),
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':1}}");
    assert_text(
        &b, id_map_cancel(&b.link, 1),
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':3}}");
    assert_int_equal(id_map_cancel(&b.link, 1).len, 0);
    assert_int_equal(b.link.count, 1);
    close_bench(&b);
    open_bench(&b, false);
    map_request(&b, 1, "{'id':'a','method':'x'}");
    assert_text(
        &b, id_map_cancel(&b.link, 1),
        "{'jsonrpc':'2.0','method':'notifications/cancelled','params':{'requestId':'a'}}");
    close_bench(&b);
}

static void an_ambiguous_id_is_reported(void **state)
{
    static const struct {
        const char *text;
        bool clear;
    } cases[] = {
        { "{'jsonrpc':'2.0','id':1,'method':'a','params':{'id':2,'ID':3}}", true },
        { "{'jsonrpc':'2.0','id':1,'method':'a','id':2}", false },
        { "{'jsonrpc':'2.0','id':1,'method':'a','i\\u0064':2}", false },
        { "{'jsonrpc':'2.0','ID':1,'method':'a','id':2}", false },
        { "{'id':1,'method':'a','params':{'_meta':{'progressToken':1}}}", true },
        { "{'id':1,'method':'a','params':{'_meta':{'progressToken':1,'progressToken':2}}}",
          false },
        { "{'id':1,'method':'a','params':{'_meta':{'progressToken':1},'_meta':{}}}", false },
        { "[{'id':1,'method':'a'},{'id':2,'method':'a'}]", true },
        { "[{'id':1,'method':'a'},{'id':2,'id':3,'method':'a'}]", false },
    };
    struct bench b;

    (void)state;
    open_bench(&b, true);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        message(&b, cases[i].text);
        if (id_map_is_unambiguous(json_root(&b.json), &b.arena) != cases[i].clear)
            fail_msg("%s", cases[i].text);
    }
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_one_client_keep_their_ids),
        cmocka_unit_test(the_older_of_two_requests_with_one_id_is_answered_first),
        cmocka_unit_test(progress_is_routed_by_token_and_other_messages_to_the_client),
        cmocka_unit_test(a_cancelled_request_is_remembered),
        cmocka_unit_test(clients_that_share_a_server_get_separate_ids),
        cmocka_unit_test(a_subscription_keeps_the_clients_id),
        cmocka_unit_test(an_ambiguous_message_is_not_delivered),
        cmocka_unit_test(a_disconnected_client_cancels_its_requests),
        cmocka_unit_test(an_ambiguous_id_is_reported),
    };
    return cmocka_run_group_tests_name("server-link", tests, NULL, NULL);
}
