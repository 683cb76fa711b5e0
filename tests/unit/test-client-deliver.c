#include "mcphttp/client-deliver.h"

#include "engine-run.h"

/* A client, a server, and two exchanges with it. */
struct bench {
    struct engine_run client;
    struct actions actions;
    struct client_session peer;
    struct arena arena;
    struct client_deliver deliver;
    struct client_exchanges talks;
    struct client_exchange *one, *other;
};

static void open_bench(struct bench *b)
{
    struct err e = ERR_NONE;
    struct url url;

    *b = (struct bench){ 0 };
    assert_true(url_parse(&url, STR("http://h/mcp"), &e));
    engine_run_init(&b->client, TO_SERVER, NULL, NULL);
    actions_init(&b->actions, &b->client.out);
    client_session_init(&b->peer, &url);
    client_deliver_init(&b->deliver, &b->actions, &b->peer, &b->arena);
    b->one = client_exchange_add(&b->talks, CLIENT_EXCHANGE_POST);
    b->other = client_exchange_add(&b->talks, CLIENT_EXCHANGE_POST);
}

static void close_bench(struct bench *b)
{
    client_deliver_release(&b->deliver);
    client_exchange_release_all(&b->talks);
    client_session_release(&b->peer);
    actions_release(&b->actions);
    engine_run_release(&b->client);
    arena_release(&b->arena);
}

/* The client has sent a request, and `by` has the response. */
static void send_request(struct bench *b, const char *request, struct client_exchange *by)
{
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, request), &b->arena);

    client_pending_add(&b->deliver.pending, &m, by);
    terse_scanned_release(&s);
}

static void receive(struct bench *b, struct client_exchange *of, const char *text)
{
    client_deliver_text(&b->deliver, of, terse_json(&b->arena, text));
}

static void messages_are_forwarded_unchanged(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    receive(&b, b.one, "{ 'method':'n',  'params':{'a':1.0} }");
    receive(&b, b.one, "{'id':1,'method':'roots/list'}");
    receive(&b, b.one, "[{'method':'a'},{'method':'b'}]");
    assert_actions(&b.client, "<< { 'method':'n',  'params':{'a':1.0} }\n"
                              "<< {'id':1,'method':'roots/list'}\n"
                              "<< {'method':'a'}\n<< {'method':'b'}\n");
    receive(&b, b.one, "good morning");
    assert_actions(&b.client,
                   "report warn the server sent data that is not a JSON-RPC message\n");
    close_bench(&b);
}

static void session_state_is_learned_from_the_responses(void **state)
{
    struct terse_scanned s;
    struct mcp_message call;
    struct buf lines;
    struct bench b;

    (void)state;
    open_bench(&b);
    send_request(&b, "{'id':1,'method':'initialize'}", b.one);
    b.deliver.initializing = true;
    receive(&b, b.one, "{'id':1,'result':{'protocolVersion':'2025-11-25'}}");
    assert_false(b.deliver.initializing);
    assert_str(buf_str(&b.peer.version), STR("2025-11-25"));
    send_request(&b, "{'id':2,'method':'tools/list'}", b.one);
    receive(
        &b, b.one,
        "{'id':2,'result':{'tools':[{'name':'t','inputSchema':{'type':'object','properties':"
        "{'city':{'type':'string','x-mcp-header':'City'}}}}]}}");
    assert_false(client_pending_has_any(&b.deliver.pending));
    call = mcp_classify(terse_scan(&s, "{'id':3,'method':'tools/call','params':{'name':'t',"
                                       "'arguments':{'city':'Ulm'}}}"),
                        &b.arena);
    buf_init(&lines, 1 << 16);
    param_headers_to_text(&b.peer.param_headers, &call, &lines, &b.arena);
    assert_non_null(strstr(buf_z(&lines), "Ulm"));
    buf_release(&lines);
    terse_scanned_release(&s);
    close_bench(&b);
}

static void a_response_without_pending_request_is_forwarded_and_logged(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    send_request(&b, "{'id':1,'method':'ping'}", b.one);
    receive(&b, b.one, "{'id':'1','result':{}}");
    assert_actions(&b.client, "<< {'id':'1','result':{}}\n");
    assert_str(buf_str(&b.one->unexpected_id), STR("\"1\""));
    assert_non_null(client_pending_find_first(&b.deliver.pending, b.one));
    close_bench(&b);
}

static void an_error_without_id_answers_the_only_request_of_its_exchange(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    send_request(&b, "{'id':'x','method':'ping'}", b.one);
    send_request(&b, "{'id':2,'method':'ping'}", b.other);
    receive(&b, b.one, "{'error':{'code':1},'id':null}");
    assert_actions(&b.client, "<< {'error':{'code':1},'id':'x'}\n");
    assert_null(client_pending_find_first(&b.deliver.pending, b.one));
    send_request(&b, "{'id':3,'method':'ping'}", b.other);
    receive(&b, b.other, "{'error':{'code':1}}");
    assert_actions(&b.client, "report warn server error without request id: {'code':1}\n");
    close_bench(&b);
}

static void a_tool_list_that_mcpreel_requested_is_not_forwarded(void **state)
{
    struct client_schemas list;
    struct bench b;

    (void)state;
    open_bench(&b);
    client_schemas_init(&list);
    client_schemas_start(&list);
    client_schemas_request(&list, (struct json_val){ 0 }, &b.arena);
    b.one->schemas = &list;
    receive(&b, b.one, "{'method':'n'}");
    assert_false(list.page_received);
    receive(&b, b.one, "{'id':1,'result':{'tools':[]}}");
    assert_true(list.page_received);
    assert_actions(&b.client, "<< {'method':'n'}\n");
    client_schemas_release(&list);
    close_bench(&b);
}

static void classifying_a_message_does_not_deliver_it(void **state)
{
    struct bench b;
    struct str text;

    (void)state;
    open_bench(&b);
    send_request(&b, "{'id':1,'method':'ping'}", b.one);
    text = terse_json(&b.arena, "{'id':1,'result':{}}");
    assert_int_equal(client_deliver_classify(&b.deliver, text), PARSE_MESSAGE);
    assert_int_equal(client_deliver_message(&b.deliver).kind, MCP_RESULT);
    assert_true(client_deliver_is_response(&b.deliver, b.one));
    assert_false(client_deliver_is_response(&b.deliver, b.other));
    assert_actions(&b.client, "");
    client_deliver_classified(&b.deliver, b.one);
    assert_actions(&b.client, "<< {'id':1,'result':{}}\n");
    assert_false(client_deliver_is_response(&b.deliver, b.one));
    assert_int_equal(client_deliver_classify(&b.deliver, STR("no")), PARSE_OTHER);
    assert_int_equal(client_deliver_classify(&b.deliver, STR_NONE), PARSE_EMPTY);
    close_bench(&b);
}

static void a_request_without_response_gets_an_error_with_the_reason(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    send_request(&b, "{'id':1,'method':'initialize'}", b.one);
    send_request(&b, "{'id':2,'method':'ping'}", b.one);
    send_request(&b, "{'id':3,'method':'ping'}", b.other);
    b.deliver.initializing = true;
    client_pending_find_first(&b.deliver.pending, b.one)->next->cancelled = true;
    client_deliver_fail(&b.deliver, b.one, 503, STR("it is closed"));
    assert_actions(&b.client, "report warn initialize: it is closed\n"
                              "<< {'jsonrpc':'2.0','id':1,'error':{'code':-32000,"
                              "'message':'it is closed','data':{'httpStatus':503}}}\n");
    assert_false(b.deliver.initializing);
    assert_null(client_pending_find_first(&b.deliver.pending, b.one));
    client_deliver_fail(&b.deliver, b.other, 0, STR("no"));
    assert_actions(&b.client, "report warn ping: no\n<< {'jsonrpc':'2.0','id':3,'error':{"
                              "'code':-32000,'message':'no'}}\n");
    close_bench(&b);
}

static void all_pending_requests_get_an_error_and_the_log_one_line(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b);
    send_request(&b, "{'id':1,'method':'initialize'}", b.one);
    send_request(&b, "{'id':2,'method':'ping'}", b.other);
    send_request(&b, "{'id':3,'method':'ping'}", b.one);
    b.deliver.initializing = true;
    b.deliver.pending.last->cancelled = true;
    send_request(&b, "{'id':'x','method':'ping'}", NULL);
    client_deliver_fail_all(&b.deliver, STR("no"));
    assert_actions(&b.client,
                   "report warn 3 requests: no\n"
                   "<< {'jsonrpc':'2.0','id':1,'error':{'code':-32000,'message':'no'}}\n"
                   "<< {'jsonrpc':'2.0','id':2,'error':{'code':-32000,'message':'no'}}\n"
                   "<< {'jsonrpc':'2.0','id':'x','error':{'code':-32000,'message':'no'}}\n");
    assert_false(b.deliver.initializing);
    assert_null(b.deliver.pending.first);
    send_request(&b, "{'id':4,'method':'ping'}", b.one);
    b.deliver.pending.last->cancelled = true;
    client_deliver_fail_all(&b.deliver, STR("no"));
    assert_actions(&b.client, "");
    send_request(&b, "{'id':5,'method':'ping'}", b.one);
    client_deliver_fail_all(&b.deliver, STR("no"));
    assert_actions(&b.client, "report warn ping: no\n<< {'jsonrpc':'2.0','id':5,'error':{"
                              "'code':-32000,'message':'no'}}\n");
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_forwarded_unchanged),
        cmocka_unit_test(session_state_is_learned_from_the_responses),
        cmocka_unit_test(a_response_without_pending_request_is_forwarded_and_logged),
        cmocka_unit_test(an_error_without_id_answers_the_only_request_of_its_exchange),
        cmocka_unit_test(a_tool_list_that_mcpreel_requested_is_not_forwarded),
        cmocka_unit_test(classifying_a_message_does_not_deliver_it),
        cmocka_unit_test(a_request_without_response_gets_an_error_with_the_reason),
        cmocka_unit_test(all_pending_requests_get_an_error_and_the_log_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
