#include "trace/recording-info.h"

#include "terse.h"
#include "test.h"

/* What passes goes through a pairing, as wherever facts are gathered. */
struct gathering {
    struct sink sink;
    struct pairing pairs;
    struct recording_info info;
};

static bool gather(struct sink *self, const struct record *r, struct err *e)
{
    struct gathering *g = (struct gathering *)self;
    const struct pairing_request *asked = NULL;
    struct arena a = { 0 };
    struct mcp_message m = mcp_classify(r->message.msg, &a);

    (void)e;
    if (m.kind == MCP_REQUEST)
        pairing_add_request(&g->pairs, r, &m, 0);
    else if (mcp_is_response(&m))
        asked = pairing_match_response(&g->pairs, r, &m);
    recording_info_update(&g->info, r->message.dir, &m, asked ? asked->method : STR_NONE);
    arena_release(&a);
    return true;
}

static void see(struct gathering *g, const char *traffic)
{
    *g = (struct gathering){ .sink = { gather } };
    pairing_init(&g->pairs);
    recording_info_init(&g->info);
    terse_feed(&g->sink, traffic);
}

static void forget(struct gathering *g)
{
    pairing_release(&g->pairs);
    recording_info_release(&g->info);
}

static void the_greeting_tells_who_and_which_revision(void **state)
{
    struct gathering g;

    (void)state;
    see(&g, "c2s {'id':1,'method':'initialize','params':{'protocolVersion':'2025-11-25',"
            "'clientInfo':{'name':'c'}}}\n"
            "s2c {'id':1,'result':{'protocolVersion':'2025-06-18','serverInfo':{'name':'s'}}}");
    assert_str(buf_str(&g.info.protocol), STR("2025-06-18"));
    assert_str(buf_str(&g.info.client_info), STR("{\"name\":\"c\"}"));
    assert_str(buf_str(&g.info.server_info), STR("{\"name\":\"s\"}"));
    assert_int_equal(g.info.sessions, 1);
    forget(&g);
}

static void in_the_era_without_greeting_every_message_tells(void **state)
{
    struct gathering g;

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
    forget(&g);
}

static void the_latest_word_counts(void **state)
{
    struct gathering g;

    (void)state;
    see(&g, "c2s {'id':1,'method':'initialize','params':{'clientInfo':{'name':'first'}}}\n"
            "s2c {'id':1,'result':{'protocolVersion':'2024-11-05','serverInfo':{'v':1}}}\n"
            "c2s {'id':1,'method':'initialize','params':{'clientInfo':{'name':'second'}}}\n"
            "s2c {'id':1,'result':{'protocolVersion':'2025-03-26','serverInfo':{'v':2}}}");
    assert_str(buf_str(&g.info.protocol), STR("2025-03-26"));
    assert_str(buf_str(&g.info.client_info), STR("{\"name\":\"second\"}"));
    assert_str(buf_str(&g.info.server_info), STR("{\"v\":2}"));
    assert_int_equal(g.info.sessions, 2);
    forget(&g);
}

static void nobody_speaks_for_the_other_side(void **state)
{
    struct gathering g;

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
    forget(&g);
}

static void an_escaped_revision_is_decoded(void **state)
{
    struct gathering g;

    (void)state;
    see(&g, "c2s {'id':1,'method':'initialize'}\n"
            "s2c {'id':1,'result':{'protocolVersion':'2025`u002d11-25'}}");
    assert_str(buf_str(&g.info.protocol), STR("2025-11-25"));
    forget(&g);
}

static void what_is_of_the_wrong_type_is_no_fact(void **state)
{
    struct gathering g;

    (void)state;
    see(&g, "c2s {'id':1,'method':'initialize','params':{'clientInfo':'c'}}\n"
            "s2c {'id':1,'result':{'protocolVersion':20251125,'serverInfo':['s']}}");
    assert_int_equal(g.info.protocol.len, 0);
    assert_int_equal(g.info.client_info.len, 0);
    assert_int_equal(g.info.server_info.len, 0);
    forget(&g);
}

static void a_fact_of_megabytes_is_not_kept(void **state)
{
    struct gathering g;
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
    forget(&g);
    buf_release(&long_one);
}

static void an_error_is_one_of_the_protocol_or_of_a_tool(void **state)
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
        cmocka_unit_test(the_greeting_tells_who_and_which_revision),
        cmocka_unit_test(in_the_era_without_greeting_every_message_tells),
        cmocka_unit_test(the_latest_word_counts),
        cmocka_unit_test(nobody_speaks_for_the_other_side),
        cmocka_unit_test(an_escaped_revision_is_decoded),
        cmocka_unit_test(what_is_of_the_wrong_type_is_no_fact),
        cmocka_unit_test(a_fact_of_megabytes_is_not_kept),
        cmocka_unit_test(an_error_is_one_of_the_protocol_or_of_a_tool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
