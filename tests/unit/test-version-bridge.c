#include "replay/version-bridge.h"

#include "loaded-index.h"
#include "parsed-request.h"
#include "terse.h"

static const struct request_rules old = { .stateful = true, .uses_session_ids = true };
static const struct request_rules new = { .stateless = true };

/* The messages to the user. */
struct version_run {
    struct action_sink sink;
    struct actions actions;
    struct buf received;
    struct index script;
    struct version_bridge bridge;
};

static void receive(struct action_sink *self, const struct action *a)
{
    struct version_run *e = (struct version_run *)self;

    assert_int_equal(a->kind, ACTION_REPORT);
    assert_int_equal(a->level, LOG_WARN);
    buf_printf(&e->received, "%.*s|", STR_ARG(a->text));
}

static void open_sink(struct version_run *e, unsigned versions, bool stateless)
{
    *e = (struct version_run){ .sink = { receive },
                               .script = { .versions = versions, .has_stateless = stateless } };
    buf_init(&e->received, 1 << 16);
    actions_init(&e->actions, &e->sink);
}

static void close_sink(struct version_run *e, const char *want)
{
    version_bridge_finish(&e->bridge, &e->actions, &e->script);
    assert_str(buf_str(&e->received), str_z(want));
    actions_release(&e->actions);
    buf_release(&e->received);
}

static void send_http(struct version_run *e, const struct request_rules *rules,
                      const char *line)
{
    struct parsed_request s;
    const struct http_request *c = parsed_request(&s, SESSION_NONE, line);

    version_bridge_check_request(&e->bridge, &e->actions, &e->script, rules, c,
                                 http_request_validate(rules, c, &s.arena).status != 0,
                                 &s.arena);
    parsed_request_release(&s);
}

#define INIT(version)                                                                          \
    "POST {\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":" version "}}"
#define LIST "POST version=2026-07-28 {\"id\":1,\"method\":\"tools/list\",\"params\":{$META}}"
#define PROBE                                                                                  \
    "POST version=2026-07-28 {\"id\":1,\"method\":\"server/discover\",\"params\":{$META}}"

#define V(version) (1u << (version))

#define OLD_ONE                                                                                \
    "a client speaks protocol version 2025-06-18, the recorded client chose 2026-07-28: "      \
    "record again with a client that speaks 2025-06-18, or replay to a client that speaks "    \
    "2026-07-28|"
#define NEW_ONE                                                                                \
    "a client speaks protocol version 2026-07-28, the recorded server only 2025-11-25, "       \
    "2025-03-26: use a client that speaks that version, or record a server that speaks "       \
    "2026-07-28|"

static void a_stateful_client_is_reported_once(void **state)
{
    struct version_run e;

    (void)state;
    open_sink(&e, V(MCP_2026_07_28), true);
    send_http(&e, &new, INIT("\"2025-06-18\""));
    send_http(&e, &new, INIT("\"2025-11-25\""));
    close_sink(&e, OLD_ONE);
}

static void a_stateless_client_is_reported_once(void **state)
{
    struct version_run e;

    (void)state;
    open_sink(&e, V(MCP_2025_11_25) | V(MCP_2025_03_26), false);
    send_http(&e, &old, LIST);
    send_http(&e, &old, LIST);
    close_sink(&e, NEW_ONE);
}

static void a_discover_is_reported_if_no_initialize_follows(void **state)
{
    struct version_run e;

    (void)state;
    open_sink(&e, V(MCP_2025_11_25) | V(MCP_2025_03_26), false);
    send_http(&e, &old, PROBE);
    send_http(&e, &old, INIT("\"2025-11-25\""));
    close_sink(&e, "");
    open_sink(&e, V(MCP_2025_11_25) | V(MCP_2025_03_26), false);
    send_http(&e, &old, PROBE);
    assert_int_equal(e.received.len, 0);
    close_sink(&e, NEW_ONE);
}

static void matching_and_invalid_versions_are_not_reported(void **state)
{
    struct version_run e;

    (void)state;
    open_sink(&e, V(MCP_2026_07_28), true);
    send_http(&e, &new, PROBE);
    send_http(&e, &new, "POST {\"id\":1,\"method\":\"tools/list\"}");
    send_http(&e, &old, "POST {\"id\":1,\"method\":\"tools/list\"}");
    send_http(&e, &old, "POST {\"id\":1,\"result\":{}}");
    send_http(&e, &old, "POST [1]");
    send_http(&e, &old, "GET");
    close_sink(&e, "");
}

static void an_unknown_version_is_reported_as_unknown(void **state)
{
    struct version_run e;

    (void)state;
    open_sink(&e, 0, true);
    send_http(&e, &new, INIT("5"));
    close_sink(&e,
               "a client speaks protocol version 2025-11-25 or earlier, the recorded client "
               "chose 2026-07-28: record again with a client that speaks 2025-11-25 or "
               "earlier, or replay to a client that speaks 2026-07-28|");
    open_sink(&e, 0, false);
    version_bridge_warn(&e.bridge, &e.actions, &e.script, true, STR_NONE);
    close_sink(&e, "a client speaks protocol version 2026-07-28, the recorded server only "
                   "2025-11-25 or earlier: use a client that speaks that version, or record a "
                   "server that speaks 2026-07-28|");
}

static void a_long_client_name_is_cut(void **state)
{
    struct version_run e;

    (void)state;
    open_sink(&e, V(MCP_2026_07_28), true);
    version_bridge_warn(&e.bridge, &e.actions, &e.script, false,
                        STR("0123456789012345678901234567890123456789"));
    close_sink(
        &e, "a client speaks protocol version 0123456789012345678901234567890, the recorded "
            "client chose 2026-07-28: record again with a client that speaks "
            "0123456789012345678901234567890, or replay to a client that speaks 2026-07-28|");
}

static bool is_possible(const char *answer)
{
    struct loaded_index s;
    struct err e = ERR_NONE;
    struct buf text;
    bool possible;

    buf_init(&text, 1 << 16);
    buf_printf(&text, "c2s {'id':1,'method':'tools/call','params':{'name':'t'}}\n%s", answer);
    loaded_index_init(&s, MATCH_SEQUENTIAL, buf_z(&text));
    possible = version_bridge_can_convert(&s.index, 1, &e);
    assert_int_equal(e.kind, ERR_OK);
    loaded_index_release(&s);
    buf_release(&text);
    return possible;
}

static void responses_valid_in_both_protocols_can_be_converted(void **state)
{
    (void)state;
    assert_true(is_possible(""));
    assert_true(is_possible("s2c {'id':1,'result':{'content':[]}}"));
    assert_true(is_possible("s2c {'id':1,'result':{'content':[],'resultType':'complete'}}"));
    assert_true(is_possible("s2c {'id':1,'error':{'code':-32602,'message':'no'}}"));
    assert_true(is_possible("s2c {'id':7,'method':'ping'}\n"
                            "c2s {'id':7,'result':{}}\n"
                            "s2c {'id':1,'result':{'content':[]}}"));
    assert_true(is_possible("s2c {'id':1,'result':{'content':[]}}\n"
                            "s2c {'id':7,'method':'roots/list'}"));
    assert_true(is_possible("s2c {'method':'notifications/message','params':{}}\n"
                            "s2c {'id':1,'result':{'content':[]}}"));
}

static void an_incomplete_response_is_not_converted(void **state)
{
    (void)state;
    assert_false(is_possible("s2c {'id':1,'result':{'resultType':'input_required'}}"));
    assert_false(is_possible("s2c {'id':1,'result':{'resultType':'task','taskId':'x'}}"));
    assert_false(is_possible("s2c {'id':1,'result':{'task':{'taskId':'x'}}}"));
}

static void a_call_with_server_requests_is_not_converted(void **state)
{
    (void)state;
    assert_false(is_possible("s2c {'id':7,'method':'elicitation/create','params':{}}\n"
                             "c2s {'id':7,'result':{'action':'accept'}}\n"
                             "s2c {'id':1,'result':{'content':[]}}"));
    assert_false(is_possible("s2c {'id':7,'method':'ping'}\n"
                             "s2c {'id':8,'method':'own/question'}\n"
                             "s2c {'id':1,'result':{'content':[]}}"));
    assert_false(is_possible("s2c {'id':7,'method':'roots/list'}"));
}

static bool can_be_sent(const char *notification)
{
    struct terse_scanned s;
    bool can = version_bridge_can_send(terse_scan(&s, notification));

    terse_scanned_release(&s);
    return can;
}

static void notifications_of_both_protocols_can_be_converted(void **state)
{
    (void)state;
    assert_true(can_be_sent("{'method':'notifications/message','params':{'level':'info'}}"));
    assert_true(can_be_sent("{'method':'notifications/own'}"));
    assert_false(can_be_sent("{'method':'notifications/tools/list_changed'}"));
    assert_false(can_be_sent("{'method':'notifications/prompts/list_changed'}"));
    assert_false(can_be_sent("{'method':'notifications/resources/list_changed'}"));
    assert_false(can_be_sent("{'method':'notifications/resources/updated',"
                             "'params':{'uri':'a:b'}}"));
    assert_false(can_be_sent("{'method':'notifications/elicitation/complete'}"));
    assert_false(can_be_sent("{'method':'notifications/cancelled','params':{'requestId':7}}"));
}

static void check_newer(const char *method, const char *answer, const char *want)
{
    struct terse_scanned s;
    struct json_splice edit;
    struct json_val root = terse_scan(&s, answer);
    struct buf text;

    buf_init(&text, 1 << 16);
    json_splice_init(&edit, root);
    version_bridge_to_stateless(&edit, root, mcp_method_find(str_z(method)));
    json_splice_apply(&edit, &text);
    assert_str(buf_str(&text), str_z(want));
    buf_release(&text);
    terse_scanned_release(&s);
}

static void a_stateless_response_has_its_type_and_cache_time(void **state)
{
    (void)state;
    check_newer("tools/call", "{'id':1,'result':{'content':[]}}",
                "{\"id\":1,\"result\":{\"content\":[],\"resultType\":\"complete\"}}");
    check_newer("own/thing", "{'id':1,'result':{}}",
                "{\"id\":1,\"result\":{\"resultType\":\"complete\"}}");
    check_newer("tools/list", "{'id':1,'result':{'tools':[]}}",
                "{\"id\":1,\"result\":{\"tools\":[],\"resultType\":\"complete\",\"ttlMs\":0,"
                "\"cacheScope\":\"private\"}}");
    check_newer("resources/read", "{'id':1,'error':{'code':-32002,'message':'no'}}",
                "{\"id\":1,\"error\":{\"code\":-32002,\"message\":\"no\"}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stateful_client_is_reported_once),
        cmocka_unit_test(a_stateless_client_is_reported_once),
        cmocka_unit_test(a_discover_is_reported_if_no_initialize_follows),
        cmocka_unit_test(matching_and_invalid_versions_are_not_reported),
        cmocka_unit_test(an_unknown_version_is_reported_as_unknown),
        cmocka_unit_test(a_long_client_name_is_cut),
        cmocka_unit_test(responses_valid_in_both_protocols_can_be_converted),
        cmocka_unit_test(an_incomplete_response_is_not_converted),
        cmocka_unit_test(a_call_with_server_requests_is_not_converted),
        cmocka_unit_test(notifications_of_both_protocols_can_be_converted),
        cmocka_unit_test(a_stateless_response_has_its_type_and_cache_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
