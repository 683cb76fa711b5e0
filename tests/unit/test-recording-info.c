#include "trace/recording-info.h"

#include "terse.h"
#include "test.h"

/* Messages go through a pairing, as in every user of the module. */
struct collected {
    struct sink sink;
    struct pairing pairs;
    struct recording_info info;
};

static bool collect_record(struct sink *self, const struct record *r, struct err *e)
{
    struct collected *g = (struct collected *)self;
    const struct pairing_request *request = NULL;
    struct arena a = { 0 };
    struct mcp_message m = mcp_classify(r->message.msg, &a);

    (void)e;
    if (m.kind == MCP_REQUEST)
        pairing_add_request(&g->pairs, r, &m, 0);
    else if (mcp_is_response(&m))
        request = pairing_match_response(&g->pairs, r, &m);
    recording_info_update(&g->info, r->message.dir, &m, request ? request->method : STR_NONE);
    arena_release(&a);
    return true;
}

static void see(struct collected *g, const char *traffic)
{
    *g = (struct collected){ .sink = { collect_record } };
    pairing_init(&g->pairs);
    recording_info_init(&g->info);
    terse_feed(&g->sink, traffic);
}

static void release_collected(struct collected *g)
{
    pairing_release(&g->pairs);
    recording_info_release(&g->info);
}

static void initialize_has_client_server_and_version(void **state)
{
    struct collected g;

    (void)state;
    see(&g, "c2s {'id':1,'method':'initialize','params':{'protocolVersion':'2025-11-25',"
            "'clientInfo':{'name':'c'}}}\n"
            "s2c {'id':1,'result':{'protocolVersion':'2025-06-18','serverInfo':{'name':'s'}}}");
    assert_str(buf_str(&g.info.protocol), STR("2025-06-18"));
    assert_str(buf_str(&g.info.client_info), STR("{\"name\":\"c\"}"));
    assert_str(buf_str(&g.info.server_info), STR("{\"name\":\"s\"}"));
    assert_int_equal(g.info.sessions, 1);
    release_collected(&g);
}

static void stateless_messages_have_client_and_version_in_meta(void **state)
{
    struct collected g;

    (void)state;
    see(&g, "c2s {'id':1,'method':'tools/list','params':{'_meta':{"
            "'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
            "'io.modelcontextprotocol/clientInfo':{'name':'c'}}}}\n"
            "s2c {'id':1,'result':{'_meta':{"
            "'io.modelcontextprotocol/serverInfo':{'name':'s'}}}}");
    assert_str(buf_str(&g.info.protocol), STR("2026-07-28"));
    assert_str(buf_str(&g.info.client_info), STR("{\"name\":\"c\"}"));
    assert_str(buf_str(&g.info.server_info), STR("{\"name\":\"s\"}"));
    assert_int_equal(g.info.sessions, 0);
    release_collected(&g);
}

static void the_latest_value_counts(void **state)
{
    struct collected g;

    (void)state;
    see(&g, "c2s {'id':1,'method':'initialize','params':{'clientInfo':{'name':'first'}}}\n"
            "s2c {'id':1,'result':{'protocolVersion':'2024-11-05','serverInfo':{'v':1}}}\n"
            "c2s {'id':1,'method':'initialize','params':{'clientInfo':{'name':'second'}}}\n"
            "s2c {'id':1,'result':{'protocolVersion':'2025-03-26','serverInfo':{'v':2}}}");
    assert_str(buf_str(&g.info.protocol), STR("2025-03-26"));
    assert_str(buf_str(&g.info.client_info), STR("{\"name\":\"second\"}"));
    assert_str(buf_str(&g.info.server_info), STR("{\"v\":2}"));
    assert_int_equal(g.info.sessions, 2);
    release_collected(&g);
}

static void client_info_is_read_from_the_clients_messages_only(void **state)
{
    struct collected g;

    (void)state;
    see(&g,
        "s2c {'id':1,'method':'initialize','params':{'clientInfo':{'name':'no'}}}\n"
        "c2s {'id':1,'result':{'protocolVersion':'no','serverInfo':{'name':'no'}}}\n"
        "c2s {'method':'initialize','params':{'clientInfo':{'name':'a notification'}}}\n"
        "s2c {'id':7,'result':{'protocolVersion':'no','serverInfo':{'name':'unasked'}}}\n"
        "c2s {'id':8,'method':'tools/call'}\n"
        "s2c {'id':8,'result':{'protocolVersion':'no','serverInfo':{'name':'no greeting'}}}");
    assert_int_equal(g.info.protocol.len, 0);
    assert_int_equal(g.info.client_info.len, 0);
    assert_int_equal(g.info.server_info.len, 0);
    assert_int_equal(g.info.sessions, 0);
    release_collected(&g);
}

static void an_escaped_revision_is_decoded(void **state)
{
    struct collected g;

    (void)state;
    see(&g, "c2s {'id':1,'method':'initialize'}\n"
            "s2c {'id':1,'result':{'protocolVersion':'2025`u002d11-25'}}");
    assert_str(buf_str(&g.info.protocol), STR("2025-11-25"));
    release_collected(&g);
}

static void values_of_the_wrong_type_are_ignored(void **state)
{
    struct collected g;

    (void)state;
    see(&g, "c2s {'id':1,'method':'initialize','params':{'clientInfo':'c'}}\n"
            "s2c {'id':1,'result':{'protocolVersion':20251125,'serverInfo':['s']}}");
    assert_int_equal(g.info.protocol.len, 0);
    assert_int_equal(g.info.client_info.len, 0);
    assert_int_equal(g.info.server_info.len, 0);
    release_collected(&g);
}

static void a_too_long_value_is_not_kept(void **state)
{
    struct collected g;
    struct buf long_one;

    (void)state;
    buf_init(&long_one, 1 << 20);
    buf_printf(&long_one,
               "c2s {'id':1,'method':'initialize','params':{'clientInfo':{'a':'%100000d'}}}\n"
               "c2s {'id':2,'method':'initialize','params':{}}",
               1);
    see(&g, buf_z(&long_one));
    assert_int_equal(g.info.client_info.len, 0);
    assert_int_equal(g.info.sessions, 2);
    release_collected(&g);
    buf_release(&long_one);
}

static void an_error_is_a_protocol_error_or_a_tool_error(void **state)
{
    static const struct {
        const char *text;
        bool error;
    } rows[] = {
        { "{'id':1,'error':{'code':-1}}", true },
        { "{'id':1,'result':{'isError':true}}", true },
        { "{'id':1,'result':{'isError':false}}", false },
        { "{'id':1,'result':{'isError':'true'}}", false },
        { "{'id':1,'result':{}}", false },
        { "{'id':1,'method':'m','params':{'isError':true}}", false },
        { "{'method':'m','params':{'isError':true}}", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct terse_scanned s;
        struct json_val root = terse_scan(&s, rows[i].text);
        struct mcp_message m = mcp_classify(root, &s.arena);

        if (recording_info_is_error(&m) != rows[i].error)
            fail_msg("%s", rows[i].text);
        terse_scanned_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initialize_has_client_server_and_version),
        cmocka_unit_test(stateless_messages_have_client_and_version_in_meta),
        cmocka_unit_test(the_latest_value_counts),
        cmocka_unit_test(client_info_is_read_from_the_clients_messages_only),
        cmocka_unit_test(an_escaped_revision_is_decoded),
        cmocka_unit_test(values_of_the_wrong_type_are_ignored),
        cmocka_unit_test(a_too_long_value_is_not_kept),
        cmocka_unit_test(an_error_is_a_protocol_error_or_a_tool_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
