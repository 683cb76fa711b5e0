#include "report/inspect-json.h"

#include "terse.h"
#include "test.h"

static const struct inspect_file file = {
    .path = "a.jsonl", .format = "recording", .bytes = 4100, .notes = 2
};

struct shown {
    struct stats s;
    struct buf text;
    struct json json;
};

static void scan(struct shown *t)
{
    struct json_fault fault;

    buf_clear(&t->text);
    inspect_json_write(&t->text, &t->s, &file);
    assert_int_equal(str_find(buf_str(&t->text), '\n'), t->text.len - 1);
    if (!json_scan(&t->json, buf_str(&t->text), &fault))
        fail_msg("not JSON at %zu, %s: %s", fault.at, fault.what, buf_z(&t->text));
}

static void begin(struct shown *t)
{
    stats_init(&t->s);
    buf_init(&t->text, 8 << 20);
    json_init(&t->json);
}

static void show(struct shown *t, const char *input)
{
    begin(t);
    terse_feed(&t->s.sink, input);
    stats_finish(&t->s);
    scan(t);
}

static void release(struct shown *t)
{
    json_release(&t->json);
    buf_release(&t->text);
    stats_release(&t->s);
}

static struct json_val member(const struct shown *t, const char *name)
{
    struct json_val v = json_get(json_root(&t->json), str_z(name));

    assert_true(json_exists(v));
    return v;
}

static void assert_member(const struct shown *t, const char *name, const char *want)
{
    struct arena a = { 0 };

    assert_str(json_raw(member(t, name)), terse_json(&a, want));
    arena_release(&a);
}

static void absent_values_are_null_or_empty(void **state)
{
    struct shown t;

    (void)state;
    show(&t, "");
    assert_member(&t, "v", "2");
    assert_member(&t, "command", "'inspect'");
    assert_member(&t, "file", "{'path':'a.jsonl','format':'recording','bytes':4100,'notes':2}");
    assert_member(&t, "header", "null");
    assert_member(&t, "client", "null");
    assert_member(&t, "server", "null");
    assert_member(&t, "protocol_version", "null");
    assert_int_equal(json_type(json_get(member(&t, "totals"), STR("duration_ms"))), JSON_NULL);
    assert_member(&t, "sessions", "[]");
    assert_member(&t, "operations", "[]");
    assert_member(&t, "notifications", "[]");
    assert_member(&t, "tools", "[]");
    assert_member(&t, "errors", "{'rpc':[],'tool':0,'http':0,'unanswered':0,'cancelled':0}");
    assert_member(&t, "findings",
                  "[{'rule':'no-footer','count':1,'message':"
                  "'no footer: the recorder did not end properly'}]");
    release(&t);
}

static void the_header_has_the_names_of_the_schema(void **state)
{
    struct shown t;

    (void)state;
    show(&t,
         "| {'type':'header','version':'1.0','recorded_at':'2026-11-15T22:00:00+01:00',"
         "'upstream':'a b','thoughtjack_version':'','tags':[ 'x' , '`u0079' ],"
         "'command':['a','b'],'transport':'stdio','producer':{'version':'2','name':'p'}}\n");
    assert_member(&t, "header",
                  "{'version':'1.0','recorded_at':'2026-11-15T21:00:00.000Z','name':null,"
                  "'tags':['x','y'],'upstream':'a b','command':['a','b'],'transport':'stdio',"
                  "'producer':{'name':'p','version':'2'}}");
    release(&t);
}

static void a_session_is_written_with_its_counts(void **state)
{
    struct shown t;

    (void)state;
    show(&t, "@1000 c2s {'id':0,'method':'initialize','params':{'clientInfo':{'name':'c',"
             "'version':'1'}}}\n"
             "@9000 s2c {'id':0,'result':{'protocolVersion':'2025-11-25','serverInfo':{"
             "'name':'s'}}}\n"
             "@9100 c2s {'id':1,'method':'tools/call','params':{'name':'t'}}\n"
             "@9600 s2c {'id':1,'error':{'code':-32602,'message':''}}\n"
             "@9700 s2c {'method':'notifications/message'}\n"
             "@9800 s2c {'id':7,'result':{}}\n");
    assert_member(&t, "protocol_version", "'2025-11-25'");
    assert_member(&t, "client", "{'name':'c','version':'1'}");
    assert_member(&t, "sessions",
                  "[{'client':{'name':'c','version':'1'},'server':{'name':'s','version':null},"
                  "'protocol_version':'2025-11-25','start_ms':1,'duration_ms':8,'messages':6,"
                  "'requests':2,'errors':1}]");
    assert_member(&t, "operations",
                  "[{'from':'client','method':'initialize','subject':null,'calls':1,"
                  "'retries':0,'polls':0,'pages':0,'tasks':0,'answered':1,'input_required':0,"
                  "'rpc_errors':0,'tool_errors':0,'http_errors':0,'malformed':0,'cancelled':0,"
                  "'late':0,'pending':0,'server_exited':0,'unanswered':0,'p50_us':8000,'p95_us'"
                  ":8000,'max_us':8000,'bytes':157,'results':1,'result_bytes':58,"
                  "'result_max_bytes':58,'result_estimated_tokens':15},"
                  "{'from':'client','method':'tools/call','subject':'t','calls':1,"
                  "'retries':0,'polls':0,'pages':0,'tasks':0,'answered':1,'input_required':0,"
                  "'rpc_errors':1,'tool_errors':0,'http_errors':0,'malformed':0,'cancelled':0,"
                  "'late':0,'pending':0,'server_exited':0,'unanswered':0,'p50_us':500,'p95_us':"
                  "500,'max_us':500,'bytes':97,'results':0,'result_bytes':0,"
                  "'result_max_bytes':0,'result_estimated_tokens':0}]");
    assert_member(&t, "notifications",
                  "[{'from':'server','method':'notifications/message','count':1}]");
    assert_member(&t, "tools", "[{'name':'t','listed':false,'calls':1}]");
    assert_member(&t, "errors",
                  "{'rpc':[{'from':'server','code':-32602,'name':'Invalid params','count':1}],"
                  "'tool':0,'http':0,'unanswered':0,'cancelled':0}");
    assert_member(&t, "findings",
                  "[{'rule':'no-header','count':1,'seq':1,'message':"
                  "'the file does not start with a header (seq 1)'},"
                  "{'rule':'no-footer','count':1,'message':"
                  "'no footer: the recorder did not end properly'},"
                  "{'rule':'unsolicited-response','count':1,'seq':6,'message':"
                  "'1 response without a request (seq 6)'}]");
    release(&t);
}

static void a_listed_tool_has_the_size_of_its_definition(void **state)
{
    struct shown t;

    (void)state;
    show(&t, "c2s {'id':1,'method':'tools/list'}\n"
             "s2c {'id':1,'result':{'tools':[{'name':'t'}]}}\n"
             "c2s {'id':2,'method':'tools/call','params':{'name':'u'}}\n");
    assert_member(&t, "tools",
                  "[{'name':'t','listed':true,'calls':0,'definition_bytes':12,"
                  "'definition_estimated_tokens':3},{'name':'u','listed':false,'calls':1}]");
    release(&t);
}

static void calls_with_server_requests_have_three_durations(void **state)
{
    struct shown t;

    (void)state;
    show(&t, "@1000 c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
             "@2000 s2c {'id':1,'method':'elicitation/create'}\n"
             "@9000 c2s {'id':1,'result':{}}\n"
             "@9500 s2c {'id':1,'result':{}}\n");
    assert_member(
        &t, "operations",
        "[{'from':'client','method':'tools/call','subject':'a','calls':1,"
        "'retries':0,'polls':0,'pages':0,'tasks':0,'answered':1,'input_required':0,"
        "'rpc_errors':0,'tool_errors':0,'http_errors':0,'malformed':0,'cancelled':0,"
        "'late':0,'pending':0,'server_exited':0,'unanswered':0,'p50_us':8500,'p95_us':8500,"
        "'max_us':8500,'server_p50_us':1500,'server_p95_us':1500,"
        "'server_max_us':1500,'wait_p50_us':7000,'wait_p95_us':7000,"
        "'wait_max_us':7000,'bytes':72,'results':1,'result_bytes':2,'result_max_bytes':2,"
        "'result_estimated_tokens':1},"
        "{'from':'server','method':'elicitation/create','subject':null,'calls':1,"
        "'retries':0,'polls':0,'pages':0,'tasks':0,'answered':1,'input_required':0,"
        "'rpc_errors':0,'tool_errors':0,'http_errors':0,'malformed':0,'cancelled':0,"
        "'late':0,'pending':0,'server_exited':0,'unanswered':0,'p50_us':7000,'p95_us':7000,"
        "'max_us':7000,'bytes':58,'results':1,'result_bytes':2,'result_max_bytes':2,"
        "'result_estimated_tokens':1}]");
    assert_str(json_raw(json_get(member(&t, "totals"), STR("operations"))), STR("2"));
    assert_str(
        json_raw(json_get(member(&t, "totals"), STR("outcomes"))),
        STR("{\"none\":0,\"ok\":2,\"rpc-error\":0,\"tool-error\":0,\"http-error\":0,"
            "\"malformed\":0,\"pending\":0,\"cancelled\":0,\"late\":0,\"server-exited\":0}"));
    release(&t);
}

static void invalid_codes_are_null(void **state)
{
    struct shown t;

    (void)state;
    show(&t, "c2s {'id':1,'error':{'code':1e99,'message':''}}\n"
             "s2c {'id':1,'error':{'code':17,'message':''}}\n");
    assert_str(json_raw(json_get(member(&t, "errors"), STR("rpc"))),
               STR("[{\"from\":\"client\",\"code\":null,\"name\":null,\"count\":1},"
                   "{\"from\":\"server\",\"code\":17,\"name\":null,\"count\":1}]"));
    release(&t);
}

static void an_aggregate_row_is_marked(void **state)
{
    struct arena a = { 0 };
    struct json_val last;
    struct shown t;

    (void)state;
    begin(&t);
    for (int i = 0; i < STATS_TOOLS + 1; i++) {
        arena_clear(&a);
        terse_feed(&t.s.sink, arena_printf(&a,
                                           "c2s {'id':0,'method':'initialize'}\n"
                                           "c2s {'id':%d,'method':'tools/call',"
                                           "'params':{'name':'t%d'}}\n"
                                           "s2c {'id':%d,'error':{'code':%d}}\n"
                                           "s2c {'method':'own/%d'}\n",
                                           i, i, i, i, i)
                                  .at);
    }
    stats_finish(&t.s);
    scan(&t);
    assert_int_equal(json_count(member(&t, "tools")), STATS_TOOLS + 1);
    last = json_item(member(&t, "tools"), STATS_TOOLS);
    assert_str(json_raw(last), STR("{\"aggregate\":true,\"calls\":1}"));
    last = json_item(member(&t, "sessions"), STATS_SESSIONS);
    assert_int_equal(json_count(member(&t, "sessions")), STATS_SESSIONS + 1);
    assert_int_equal(json_type(json_get(last, STR("aggregate"))), JSON_TRUE);
    last = json_item(member(&t, "operations"), OP_STATS_ROWS);
    assert_int_equal(json_type(json_get(last, STR("aggregate"))), JSON_TRUE);
    assert_false(json_exists(json_get(last, STR("method"))));
    last = json_item(member(&t, "notifications"), STATS_NOTIFICATIONS);
    assert_int_equal(json_type(json_get(last, STR("aggregate"))), JSON_TRUE);
    last = json_item(json_get(member(&t, "errors"), STR("rpc")), STATS_CODES);
    assert_int_equal(json_type(json_get(last, STR("aggregate"))), JSON_TRUE);
    arena_release(&a);
    release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent_values_are_null_or_empty),
        cmocka_unit_test(the_header_has_the_names_of_the_schema),
        cmocka_unit_test(a_session_is_written_with_its_counts),
        cmocka_unit_test(a_listed_tool_has_the_size_of_its_definition),
        cmocka_unit_test(calls_with_server_requests_have_three_durations),
        cmocka_unit_test(invalid_codes_are_null),
        cmocka_unit_test(an_aggregate_row_is_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
