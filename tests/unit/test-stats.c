#include "ops/stats.h"

#include "terse.h"
#include "test.h"
#include "trace/limits.h"

#define HEADER                                                                                 \
    "| "                                                                                       \
    "{'type':'header','version':'1.0','recorded_at':'2026-11-15T21:00:00Z','upstream':'srv',"  \
    "'thoughtjack_version':'0.3.0'}\n"
#define HTTP_HEADER                                                                            \
    "| "                                                                                       \
    "{'type':'header','version':'1.0','recorded_at':'2026-11-15T21:00:00Z','upstream':'srv',"  \
    "'thoughtjack_version':'0.3.0','transport':'http'}\n"
#define ENDED_WITH_4                                                                           \
    "| {'type':'footer','total_messages':0,'client_messages':0,'server_messages':0,"           \
    "'duration_ms':1,'exit_code':4}\n"
#define INITIALIZE                                                                             \
    "c2s "                                                                                     \
    "{'id':0,'method':'initialize','params':{'clientInfo':{'name':'cli','version':'1'}}}\n"    \
    "s2c {'id':0,'result':{'protocolVersion':'2025-11-25','serverInfo':{'name':'srv'}}}\n"

static void feed_traffic(struct stats *s, const char *input)
{
    stats_init(s);
    terse_feed(&s->sink, input);
    stats_finish(s);
}

static void messages_are_counted_by_direction_and_kind(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s, HEADER "c2s {'id':1,'method':'ping'}\n"
                            "c2s {'id':2,'method':'ping'}\n"
                            "s2c {'id':1,'result':{}}\n"
                            "s2c {'id':2,'error':{'code':1,'message':''}}\n"
                            "s2c {'method':'notifications/message'}\n"
                            "s2c {'neither':'nor'}\n");
    assert_int_equal(s.messages[TO_SERVER][MCP_REQUEST], 2);
    assert_int_equal(s.messages[TO_CLIENT][MCP_RESULT], 1);
    assert_int_equal(s.messages[TO_CLIENT][MCP_ERROR], 1);
    assert_int_equal(s.messages[TO_CLIENT][MCP_NOTIFICATION], 1);
    assert_int_equal(s.messages[TO_CLIENT][MCP_OTHER], 1);
    assert_int_equal(s.lines[RECORD_MESSAGE], 6);
    assert_int_equal(s.lines[RECORD_HEADER], 1);
    stats_release(&s);
}

static void the_header_is_kept(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s,
                 "| {'type':'header','version':'1.0','recorded_at':'2026-11-15T21:00:00Z',"
                 "'upstream':'python server.py','thoughtjack_version':'0.3.0','name':'nightly',"
                 "'tags':['ci'],'producer':{'name':'mcpreel','version':'0.1.0'},"
                 "'command':['python','server.py'],'transport':'stdio'}\n");
    assert_true(s.header.present);
    assert_str(s.header.version, STR("1.0"));
    assert_int_equal(s.header.recorded_us, INT64_C(1794776400000000));
    assert_str(s.header.upstream, STR("python server.py"));
    assert_str(s.header.name, STR("nightly"));
    assert_str(s.header.tags, STR("[\"ci\"]"));
    assert_str(s.header.command, STR("[\"python\",\"server.py\"]"));
    assert_str(s.header.producer.name, STR("mcpreel"));
    assert_str(s.header.producer.version, STR("0.1.0"));
    assert_str(s.header.transport, STR("stdio"));
    stats_release(&s);
}

static void texts_of_a_header_are_cut_and_too_long_lists_dropped(void **state)
{
    enum { LONG = 70000 };
    static char word[LONG + 1];
    struct arena a = { 0 };
    struct stats s;

    (void)state;
    memset(word, 'x', LONG);
    feed_traffic(&s,
                 arena_printf(&a,
                              "| {'type':'header','version':'1.0','recorded_at':"
                              "'2026-11-15T21:00:00Z','upstream':'%s','thoughtjack_version':'',"
                              "'command':['%s']}\n",
                              word, word)
                     .at);
    assert_int_equal(s.header.upstream.len, STATS_TEXT);
    assert_int_equal(s.header.command.len, 0);
    stats_release(&s);
    arena_release(&a);
}

static void each_initialize_starts_a_session(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s, HEADER "c2s {'id':9,'method':'ping'}\n" INITIALIZE
                            "c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
                            "s2c {'id':1,'result':{'isError':true}}\n"
                            "conn=2 c2s {'id':0,'method':'initialize','params':{'clientInfo':"
                            "{'name':'other'}}}\n"
                            "s2c {'id':5,'method':'ping'}\n" INITIALIZE
                            "conn=2 c2s {'id':6,'method':'ping'}\n");
    assert_int_equal(s.session_count, 3);
    assert_int_equal(s.sessions[0].messages, 5);
    assert_int_equal(s.sessions[0].requests, 2);
    assert_int_equal(s.sessions[0].errors, 1);
    assert_str(s.sessions[0].client.name, STR("cli"));
    assert_str(s.sessions[0].client.version, STR("1"));
    assert_str(s.sessions[0].server.name, STR("srv"));
    assert_int_equal(s.sessions[0].server.version.len, 0);
    assert_str(s.sessions[0].protocol, STR("2025-11-25"));
    assert_str(s.sessions[1].client.name, STR("other"));
    assert_int_equal(s.sessions[1].messages, 2);
    assert_int_equal(s.sessions[1].protocol.len, 0);
    assert_int_equal(s.sessions[2].messages, 2);
    stats_release(&s);
}

/* In Streamable HTTP initialize has no session yet, and another connection may continue it;
 * in HTTP+SSE the two directions are on different ones. */
static void http_sessions_are_counted_by_number(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s, HEADER
                 "conn=1 x=1 c2s {'id':0,'method':'initialize'}\n"
                 "conn=1 session=1 x=1 s2c {'id':0,'result':{'protocolVersion':'2025-11-25'}}\n"
                 "conn=2 session=1 x=2 c2s {'id':1,'method':'ping'}\n"
                 "conn=4 session=2 x=4 c2s {'id':0,'method':'initialize'}\n"
                 "conn=3 session=2 x=3 stream=1 s2c {'id':0,'result':{'protocolVersion':"
                 "'2024-11-05'}}\n"
                 "conn=3 session=2 x=3 stream=1 s2c {'method':'a'}\n"
                 "conn=1 session=1 x=5 c2s {'id':2,'method':'ping'}\n");
    assert_int_equal(s.session_count, 2);
    assert_int_equal(s.sessions[0].messages, 4);
    assert_str(s.sessions[0].protocol, STR("2025-11-25"));
    assert_int_equal(s.sessions[1].messages, 3);
    assert_str(s.sessions[1].protocol, STR("2024-11-05"));
    stats_release(&s);
}

static void sessions_have_a_duration(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s, HEADER "@1000 c2s {'id':0,'method':'initialize'}\n"
                            "@4000 s2c {'id':0,'result':{}}\n");
    assert_int_equal(s.sessions[0].first_us, 1000);
    assert_int_equal(s.sessions[0].last_us, 4000);
    assert_int_equal(s.duration_us, 4000);
    stats_release(&s);
    feed_traffic(&s, HEADER "@5000 c2s {'id':0,'method':'initialize'}\n"
                            "@4000 s2c {'id':0,'result':{}}\n");
    assert_int_equal(s.sessions[0].last_us, 5000);
    stats_release(&s);
}

static void the_stateless_protocol_has_no_sessions_but_client_and_server(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s,
                 HEADER "c2s {'id':1,'method':'tools/list','params':{'_meta':{"
                        "'io.modelcontextprotocol/protocolVersion':'2026-07-28',"
                        "'io.modelcontextprotocol/clientInfo':{'name':'cli','version':'2'}}}}\n"
                        "s2c {'id':1,'result':{'resultType':'complete','tools':[],'_meta':{"
                        "'io.modelcontextprotocol/serverInfo':{'name':'srv'}}}}\n");
    assert_int_equal(s.session_count, 0);
    assert_str(s.protocol, STR("2026-07-28"));
    assert_str(s.client.name, STR("cli"));
    assert_str(s.client.version, STR("2"));
    assert_str(s.server.name, STR("srv"));
    stats_release(&s);
}

static void sessions_over_the_limit_are_counted_together(void **state)
{
    struct stats s;

    (void)state;
    stats_init(&s);
    for (int i = 0; i < STATS_SESSIONS + 5; i++)
        terse_feed(&s.sink, INITIALIZE);
    stats_finish(&s);
    assert_int_equal(s.session_count, STATS_SESSIONS + 5);
    assert_int_equal(s.sessions[STATS_SESSIONS - 1].messages, 2);
    assert_int_equal(s.sessions[STATS_SESSIONS].messages, 10);
    assert_int_equal(s.sessions[STATS_SESSIONS].requests, 5);
    assert_int_equal(s.sessions[STATS_SESSIONS].client.name.len, 0);
    assert_int_equal(s.sessions[STATS_SESSIONS].protocol.len, 0);
    stats_release(&s);
}

static void errors_are_counted_by_code_and_side(void **state)
{
    const struct stats_code *code;
    struct stats s;

    (void)state;
    feed_traffic(&s, HEADER
                 "c2s {'id':1,'method':'a'}\ns2c {'id':1,'error':{'code':-32601}}\n"
                 "c2s {'id':2,'method':'a'}\ns2c {'id':2,'error':{'code':-32601.0}}\n"
                 "s2c {'id':1,'method':'b'}\nc2s {'id':1,'error':{'code':-32601}}\n"
                 "c2s {'id':3,'method':'a'}\ns2c {'id':3,'error':{'code':'x'}}\n"
                 "c2s {'id':4,'method':'tools/call'}\ns2c {'id':4,'result':{'isError':true}}\n"
                 "s2c {'id':null,'error':{'code':-32700}}\n");
    assert_int_equal(s.codes.count, 4);
    code = s.codes.rows[0];
    assert_int_equal(code->code, -32601);
    assert_int_equal(code->count, 2);
    assert_int_equal(code->dir, TO_CLIENT);
    code = s.codes.rows[1];
    assert_int_equal(code->dir, TO_SERVER);
    code = s.codes.rows[2];
    assert_false(code->is_integer);
    assert_int_equal(s.tool_errors, 1);
    stats_release(&s);
}

static void a_failed_task_without_error_message_is_counted(void **state)
{
    const struct stats_code *code;
    struct stats s;

    (void)state;
    feed_traffic(&s, HEADER
                 "c2s {'id':1,'method':'tools/call'}\n"
                 "s2c {'id':1,'result':{'resultType':'task','taskId':'a','status':'working'}}\n"
                 "c2s {'id':2,'method':'tasks/get','params':{'taskId':'a'}}\n"
                 "s2c {'id':2,'result':{'taskId':'a','status':'failed','error':{'code':-9}}}\n"
                 "c2s {'id':3,'method':'tasks/get','params':{'taskId':'a'}}\n"
                 "s2c {'id':3,'result':{'taskId':'a','status':'failed','error':{'code':-9}}}\n"
                 "c2s {'id':4,'method':'tools/call'}\n"
                 "s2c {'id':4,'result':{'resultType':'task','taskId':'b','status':'working'}}\n"
                 "s2c {'method':'notifications/tasks','params':{'taskId':'b',"
                 "'status':'completed','result':{'isError':true}}}\n");
    assert_int_equal(s.codes.count, 1);
    code = s.codes.rows[0];
    assert_int_equal(code->code, -9);
    assert_int_equal(code->count, 1);
    assert_int_equal(s.tool_errors, 1);
    stats_release(&s);
}

static void advertised_and_called_tools_are_counted(void **state)
{
    const struct stats_tool *tool;
    struct stats s;

    (void)state;
    feed_traffic(&s, HEADER
                 "c2s {'id':1,'method':'tools/list'}\n"
                 "s2c {'id':1,'result':{'tools':[{'name':'a'},{'name':'b'},{'no':1},7]}}\n"
                 "c2s {'id':2,'method':'tools/call','params':{'name':'b'}}\n"
                 "s2c {'id':3,'method':'tools/call','params':{'name':'a'}}\n"
                 "s2c {'id':2,'result':{}}\n");
    assert_int_equal(s.tools.count, 2);
    tool = s.tools.rows[0];
    assert_str(tool->name, STR("a"));
    assert_true(tool->advertised);
    assert_int_equal(tool->calls, 0);
    tool = s.tools.rows[1];
    assert_int_equal(tool->calls, 1);
    stats_release(&s);
}

static void notifications_are_counted_by_method_and_side(void **state)
{
    const struct stats_notification *n;
    struct stats s;

    (void)state;
    feed_traffic(&s, HEADER "s2c {'method':'notifications/progress'}\n"
                            "c2s {'method':'notifications/progress'}\n"
                            "s2c {'method':'notifications/progress'}\n");
    assert_int_equal(s.notifications.count, 2);
    n = s.notifications.rows[0];
    assert_str(n->method, STR("notifications/progress"));
    assert_int_equal(n->dir, TO_CLIENT);
    assert_int_equal(n->count, 2);
    stats_release(&s);
}

/* The only finding must be `what`, so often, besides that of the footer. */
static void assert_finding_count(const char *input, enum stats_finding_kind what,
                                 uint64_t count)
{
    struct stats s;

    feed_traffic(&s, input);
    for (enum stats_finding_kind i = 0; i < STATS_FINDING_COUNT; i++) {
        uint64_t want = i == what ? count : 0;
        if (i == STATS_NO_FOOTER && what != STATS_NO_FOOTER)
            continue;
        if (s.findings[i].count != want)
            fail_msg("odd %d: %llu times instead of %llu, in: %s", i,
                     (unsigned long long)s.findings[i].count, (unsigned long long)want, input);
    }
    stats_release(&s);
}

#define PING(id) "c2s {'id':" #id ",'method':'ping'}\ns2c {'id':" #id ",'result':{}}\n"
#define FOOT(client, server, total, errors)                                                    \
    "| {'type':'footer','total_messages':" #total ",'client_messages':" #client                \
    ",'server_messages':" #server ",'duration_ms':1,'errors':" #errors ",'exit_code':0}\n"

static void a_complete_recording_has_no_findings(void **state)
{
    (void)state;
    assert_finding_count(HEADER INITIALIZE
                         "c2s {'method':'notifications/initialized'}\n" PING(1)
                             FOOT(3, 2, 5, 0),
                         STATS_NO_FOOTER, 0);
}

/* Each case has one kind of finding, so often. */
static const struct {
    const char *input;
    enum stats_finding_kind what;
    uint64_t count;
} oddities[] = {
    { PING(1), STATS_NO_HEADER, 1 },
    { "@9000 c2s {'method':'a'}\n" HEADER
      "| {'type':'message','seq':1,'ts':'2026-11-15T21:00:00Z','dir':'c2s','us':5,"
      "'msg':{'method':'a'}}\n" FOOT(1, 0, 1, 0),
      STATS_NO_HEADER, 1 },
    { HEADER PING(1) HEADER PING(1) HEADER, STATS_EXTRA_HEADER, 2 },
    { HEADER PING(1), STATS_NO_FOOTER, 1 },
    { HEADER FOOT(0, 0, 0, 0) PING(1), STATS_AFTER_FOOTER, 2 },
    { HEADER PING(1) FOOT(1, 1, 3, 0), STATS_FOOTER_DIFFERS, 1 },
    { HEADER PING(1) FOOT(2, 0, 2, 0), STATS_FOOTER_DIFFERS, 1 },
    { HEADER PING(1) FOOT(0, 2, 2, 0), STATS_FOOTER_DIFFERS, 1 },
    { HEADER PING(1) FOOT(1, 1, 2, 1), STATS_FOOTER_DIFFERS, 1 },
    { HEADER "| {'type':'gap','messages':2,'bytes':9,'why':'w'}\n", STATS_GAP, 1 },
    { HEADER PING(1) "| {'type':'gap','messages':2,'bytes':9,'why':'w'}\n" FOOT(2, 2, 4, 1),
      STATS_GAP, 1 },
    { HEADER PING(1) "| {'type':'gap','messages':1,'bytes':9,'why':'w'}\n" FOOT(1, 1, 2, 0),
      STATS_GAP, 1 },
    { HEADER "| {'type':'telemetry'}\n| {'type':'x'}\n", STATS_UNKNOWN_LINE, 2 },
    { HEADER "c2s {'a':1}\n", STATS_NOT_JSONRPC, 1 },
    { HEADER "| {'type':'raw','from':'server','text':'hi'}\n", STATS_SERVER_NON_MESSAGE, 1 },
    { HEADER "| {'type':'raw','from':'client','text':'hi'}\n", STATS_CLIENT_NON_MESSAGE, 1 },
    { HEADER "x=1 http 401\n| {'type':'raw','from':'client','exchange':1,'text':''}\n",
      STATS_CLIENT_NON_MESSAGE, 0 },
    { HEADER "x=1 http 202\n| {'type':'raw','from':'server','exchange':1,'text':'Accepted'}\n",
      STATS_SERVER_NON_MESSAGE, 0 },
    { HEADER "x=1 http 200\n| {'type':'raw','from':'server','exchange':1,'text':'Accepted'}\n",
      STATS_SERVER_NON_MESSAGE, 1 },
    { HEADER "s2c {'id':1,'result':{}}\n", STATS_UNMATCHED_RESPONSE, 1 },
    { HEADER PING(1) "s2c {'id':1,'result':{}}\n", STATS_DUPLICATE_RESPONSE, 1 },
    { HEADER "c2s {'id':1,'method':'ping'}\n"
             "c2s {'method':'notifications/cancelled','params':{'requestId':1}}\n"
             "s2c {'id':1,'result':{}}\n",
      STATS_LATE_RESPONSE, 1 },
    { HEADER "x=1 c2s {'id':1,'method':'ping','params':{'_meta':{"
             "'io.modelcontextprotocol/protocolVersion':'2026-07-28'}}}\n"
             "x=1 http end client\n"
             "x=1 s2c {'id':1,'result':{}}\n",
      STATS_LATE_RESPONSE, 1 },
    { HEADER "c2s {'id':1,'method':'ping'}\ns2c {'id':1,'method':'ping'}\n", STATS_UNANSWERED,
      2 },
    { HEADER "s2c {'method':'notifications/progress','params':{'progressToken':1}}\n"
             "c2s {'method':'notifications/cancelled','params':{'requestId':1}}\n",
      STATS_ORPHAN, 2 },
    { HEADER "c2s {'id':1,'method':'ping'}\n" PING(1) "s2c {'id':1,'result':{}}\n",
      STATS_ID_IN_USE, 1 },
    { HEADER "c2s {'id':1,'method':'x','method':'ping'}\ns2c {'id':1,'result':{}}\n",
      STATS_DUPLICATE_KEY, 1 },
    { HEADER "| {'type':'message','seq':2,'ts':'2026-11-15T21:00:00Z','dir':'c2s',"
             "'msg':{'method':'a'}}\n"
             "| {'type':'message','seq':2,'ts':'2026-11-15T21:00:00Z','dir':'c2s',"
             "'msg':{'method':'a'}}\n"
             "| {'type':'message','seq':1,'ts':'2026-11-15T21:00:00Z','dir':'c2s',"
             "'msg':{'method':'a'}}\n",
      STATS_SEQ_ORDER, 2 },
    { HEADER "batch=1:0/3 c2s {'method':'n'}\nbatch=1:2/3 c2s {'method':'n'}\n"
             "batch=2:0/2 c2s {'method':'n'}\n",
      STATS_INCOMPLETE_BATCH, 2 },
    { HEADER "@50 c2s {'method':'a'}\n@49 c2s {'method':'a'}\n@49 c2s {'method':'a'}\n",
      STATS_TIME_ORDER, 1 },
    { HEADER "c2s {'id':1,'method':'tools/list'}\ns2c {'id':1,'result':{'tools':[]}}\n"
             "c2s {'id':2,'method':'tools/call','params':{'name':'a'}}\n"
             "s2c {'id':2,'result':{}}\n",
      STATS_UNLISTED_TOOL, 1 },
    { HEADER "c2s {'id':1,'method':'tools/list'}\n"
             "s2c {'id':1,'result':{'tools':[{'name':'a','title':'x'}]}}\n"
             "c2s {'id':2,'method':'tools/list'}\n"
             "s2c {'id':2,'result':{'tools':[{'title':'`u0078','name':'a'}]}}\n"
             "c2s {'id':3,'method':'tools/list'}\n"
             "s2c {'id':3,'result':{'tools':[{'name':'a','title':'y'}]}}\n",
      STATS_TOOL_CHANGED, 1 },
    { HEADER "| {'type':'proc','ev':'start'}\n| {'type':'proc','ev':'exit','exit_code':3}\n",
      STATS_SERVER_EXIT, 1 },
    { HEADER "| {'type':'proc','ev':'exit','signal':9}\n", STATS_SERVER_EXIT, 1 },
    { HEADER "| {'type':'proc','ev':'failed','why':'not there'}\n", STATS_SERVER_EXIT, 1 },
    { HEADER "| {'type':'footer','total_messages':0,'client_messages':0,"
             "'server_messages':0,'duration_ms':1,'exit_code':2}\n",
      STATS_SERVER_EXIT, 1 },
    { HEADER "| {'type':'proc','ev':'exit','exit_code':2}\n"
             "| {'type':'footer','total_messages':0,'client_messages':0,"
             "'server_messages':0,'duration_ms':1,'exit_code':2}\n",
      STATS_SERVER_EXIT, 1 },
    { HTTP_HEADER "| {'type':'proc','ev':'exit','exit_code':2}\n" ENDED_WITH_4,
      STATS_SERVER_EXIT, 1 },
};

static void each_finding_is_found_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof oddities / sizeof *oddities; i++)
        assert_finding_count(oddities[i].input, oddities[i].what, oddities[i].count);
}

static void features_that_the_format_lacks_are_no_findings(void **state)
{
    struct stats s;

    (void)state;
    stats_init(&s);
    s.features = FEATURE_BYTES;
    terse_feed(&s.sink, PING(1));
    stats_finish(&s);
    assert_int_equal(s.findings[STATS_NO_HEADER].count, 0);
    assert_int_equal(s.findings[STATS_NO_FOOTER].count, 0);
    stats_release(&s);
}

static void a_footer_without_totals_is_not_compared(void **state)
{
    const struct record footer = { .kind = RECORD_FOOTER };
    struct err e = ERR_NONE;
    struct stats s;

    (void)state;
    stats_init(&s);
    terse_feed(&s.sink, HEADER PING(1));
    assert_true(s.sink.put(&s.sink, &footer, &e));
    stats_finish(&s);
    assert_int_equal(s.findings[STATS_FOOTER_DIFFERS].count, 0);
    assert_int_equal(s.findings[STATS_NO_FOOTER].count, 0);
    stats_release(&s);
}

static void without_a_process_record_there_is_no_finding_about_its_exit(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s, HTTP_HEADER ENDED_WITH_4);
    assert_int_equal(s.findings[STATS_SERVER_EXIT].count, 0);
    stats_release(&s);
    feed_traffic(&s,
                 HTTP_HEADER ENDED_WITH_4 HEADER ENDED_WITH_4); /* each header is for its own */
    assert_int_equal(s.findings[STATS_SERVER_EXIT].count, 1);
    stats_release(&s);
}

static void without_any_clock_nothing_is_measured(void **state)
{
    struct stats s;

    (void)state;
    stats_init(&s);
    terse_feed(&s.sink, PING(1));
    stats_finish(&s);
    assert_false(s.has_times);
    assert_null(((const struct op_stats_row *)s.op_stats.rows.rows[0])->times.total);
    stats_release(&s);
}

static void the_first_of_each_kind_is_shown(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s, HEADER PING(1) "s2c {'id':8,'result':{}}\ns2c {'id':9,'result':{}}\n"
                                    "| {'type':'raw','from':'server','text':'hello'}\n"
                                    "| {'type':'raw','from':'server','text':'world'}\n"
                                    "| {'type':'proc','ev':'exit','signal':9}\n");
    assert_int_equal(s.findings[STATS_UNMATCHED_RESPONSE].seq, 3);
    assert_str(s.findings[STATS_SERVER_NON_MESSAGE].example, STR("hello"));
    assert_int_equal(s.findings[STATS_SERVER_NON_MESSAGE].seq, 0);
    assert_str(s.findings[STATS_SERVER_EXIT].example, STR("signal 9"));
    stats_release(&s);
    feed_traffic(&s,
                 HEADER "| {'type':'proc','ev':'exit','signal':15,'why':'mcpreel ended it'}\n");
    assert_str(s.findings[STATS_SERVER_EXIT].example, STR("signal 15: mcpreel ended it"));
    stats_release(&s);
    feed_traffic(&s, HEADER "| {'type':'proc','ev':'failed','why':'not there'}\n");
    assert_str(s.findings[STATS_SERVER_EXIT].example, STR("not there"));
    stats_release(&s);
}

static void a_damaged_end_is_a_finding(void **state)
{
    struct stats s;

    (void)state;
    stats_init(&s);
    stats_damaged_end(&s, 17);
    stats_finish(&s);
    assert_int_equal(s.findings[STATS_DAMAGED_END].count, 17);
    stats_release(&s);
}

static void the_reason_of_a_missing_response_is_reported_if_known(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s,
                 HEADER "session=1 x=1 c2s {'id':1,'method':'nobody knows'}\n"
                        "session=1 x=2 c2s {'id':2,'method':'ping'}\n"
                        "session=1 x=3 c2s {'id':3,'method':'ping'}\n"
                        "| {'type':'http','ev':'end','by':'mcpreel','clean':false,'session':1,"
                        "'exchange':2,'why':'the server is gone'}\n"
                        "| {'type':'http','ev':'end','by':'mcpreel','clean':false,'session':1,"
                        "'exchange':3,'why':'mcpreel was ended'}\n");
    assert_int_equal(s.findings[STATS_UNANSWERED].count, 3);
    assert_str(s.findings[STATS_UNANSWERED].example, STR("the server is gone"));
    stats_release(&s);
}

static void several_recordings_in_one_file_are_separate(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s, HEADER
                 "@1000 c2s {'id':0,'method':'initialize'}\n"
                 "@2000 c2s {'id':1,'method':'ping'}\n" HEADER
                 "| {'type':'message','seq':1,'ts':'2026-11-15T22:00:00Z','dir':'c2s','us':10,"
                 "'msg':{'id':1,'method':'ping'}}\n"
                 "| {'type':'message','seq':2,'ts':'2026-11-15T22:00:00Z','dir':'s2c','us':500,"
                 "'msg':{'id':1,'result':{}}}\n" FOOT(1, 1, 2, 0));
    assert_int_equal(s.op_stats.unanswered, 2);
    assert_int_equal(s.findings[STATS_SEQ_ORDER].count, 0);
    assert_int_equal(s.findings[STATS_TIME_ORDER].count, 0);
    assert_int_equal(s.findings[STATS_ID_IN_USE].count, 0);
    assert_int_equal(((const struct op_stats_row *)s.op_stats.rows.rows[1])->times.total->max,
                     490);
    assert_int_equal(s.findings[STATS_FOOTER_DIFFERS].count, 0);
    assert_int_equal(s.findings[STATS_NO_FOOTER].count, 1);
    assert_int_equal(s.sessions[0].messages, 2);
    assert_int_equal(s.duration_us, 2500);
    stats_release(&s);
}

static void without_monotonic_time_dates_are_used(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s,
                 HEADER "| {'type':'message','seq':1,'ts':'2026-11-15T21:00:01Z','dir':'c2s',"
                        "'msg':{'id':1,'method':'ping'}}\n"
                        "| {'type':'message','seq':2,'ts':'2026-11-15T21:00:00.5Z','dir':'c2s',"
                        "'msg':{'id':2,'method':'ping'}}\n"
                        "| {'type':'message','seq':3,'ts':'2026-11-15T21:00:03Z','dir':'s2c',"
                        "'msg':{'id':1,'result':{}}}\n");
    assert_int_equal(s.duration_us, 3000000);
    assert_int_equal(((const struct op_stats_row *)s.op_stats.rows.rows[0])->times.total->max,
                     2000000);
    assert_int_equal(s.findings[STATS_TIME_ORDER].count, 0);
    stats_release(&s);
}

static void a_recording_lasts_until_its_latest_time(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s, HEADER
                 "@50 c2s {'method':'a'}\n@900 c2s {'method':'a'}\n@70 c2s {'method':'a'}\n");
    assert_int_equal(s.duration_us, 900);
    stats_release(&s);
}

static void extreme_numbers_do_not_overflow(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s,
                 HEADER "| {'type':'message','seq':1,'ts':'0000-01-01T00:00:00Z','dir':'c2s',"
                        "'us':-9223372036854775808,'msg':{'id':1,'method':'ping'}}\n"
                        "| {'type':'message','seq':2,'ts':'9999-12-31T23:59:59Z','dir':'s2c',"
                        "'us':9223372036854775807,'msg':{'id':1,'result':{}}}\n"
                        "| {'type':'gap','messages':9223372036854775807,"
                        "'bytes':9223372036854775807,'why':''}\n"
                        "| {'type':'gap','messages':9223372036854775807,"
                        "'bytes':9223372036854775807,'why':''}\n" HEADER
                        "| {'type':'message','seq':1,'ts':'0000-01-01T00:00:00Z','dir':'c2s',"
                        "'us':9223372036854775807,'msg':{'id':1,'method':'initialize'}}\n");
    assert_int_equal(s.gap_bytes, INT64_MAX);
    assert_int_equal(s.gap_messages, INT64_MAX);
    assert_true(s.duration_us > 0);
    assert_true(s.sessions[0].last_us >= s.sessions[0].first_us);
    stats_release(&s);
}

static void a_redelivered_response_is_not_a_second_one(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s, HEADER PING(1) "redelivers=2 s2c {'id':1,'result':{}}\n"
                                    "redelivers=2 s2c {'id':7,'result':{}}\n");
    assert_int_equal(s.redelivered, 2);
    assert_int_equal(s.messages[TO_CLIENT][MCP_RESULT], 3);
    assert_int_equal(s.findings[STATS_DUPLICATE_RESPONSE].count, 0);
    assert_int_equal(s.findings[STATS_LATE_RESPONSE].count, 0);
    assert_int_equal(s.findings[STATS_UNMATCHED_RESPONSE].count, 0);
    assert_int_equal(s.findings[STATS_ORPHAN].count, 0);
    stats_release(&s);
}

static void a_retry_is_not_another_call_of_a_tool(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s, HEADER
                 "c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
                 "s2c {'id':1,'result':{'resultType':'input_required','requestState':'s'}}\n"
                 "c2s {'id':2,'method':'tools/call','params':{'name':'a',"
                 "'requestState':'s'}}\n"
                 "s2c {'id':2,'result':{}}\n");
    assert_int_equal(((const struct stats_tool *)s.tools.rows[0])->calls, 1);
    stats_release(&s);
}

static void dropped_operations_are_reported(void **state)
{
    struct arena a = { 0 };
    struct stats s;

    (void)state;
    stats_init(&s);
    for (size_t i = 0; i < LIMIT_OPEN_OPERATIONS + 7; i++) {
        arena_clear(&a);
        terse_feed(&s.sink, arena_printf(&a, "c2s {'id':%zu,'method':'ping'}", i).at);
    }
    terse_feed(&s.sink, "s2c {'id':3,'result':{}}");
    stats_finish(&s);
    assert_int_equal(s.findings[STATS_EVICTED].count, 7);
    assert_int_equal(s.findings[STATS_UNANSWERED].count, LIMIT_OPEN_OPERATIONS);
    assert_int_equal(s.findings[STATS_LATE_RESPONSE].count, 1);
    assert_int_equal(s.findings[STATS_UNMATCHED_RESPONSE].count, 0);
    stats_release(&s);
    arena_release(&a);
}

static void stderr_is_counted_in_lines_however_it_is_split(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s, HEADER "| {'type':'stderr','text':'one`ntwo`nthr'}\n"
                            "| {'type':'stderr','text':'ee'}\n"
                            "| {'type':'stderr','text':'`n`nfive'}\n");
    assert_int_equal(s.stderr_lines, 5);
    stats_release(&s);
    feed_traffic(&s,
                 HEADER "| {'type':'stderr','text':'o'}\n| {'type':'stderr','text':'ne`n'}\n");
    assert_int_equal(s.stderr_lines, 1);
    stats_release(&s);
}

static void http_statuses_from_400_on_are_errors(void **state)
{
    struct stats s;

    (void)state;
    feed_traffic(&s, HEADER "| {'type':'http','ev':'response','status':399,'exchange':1}\n"
                            "| {'type':'http','ev':'response','status':400,'exchange':1}\n"
                            "| {'type':'http','ev':'response','status':503,'exchange':1}\n");
    assert_int_equal(s.http_errors, 2);
    assert_int_equal(s.lines[RECORD_HTTP_RESPONSE], 3);
    stats_release(&s);
}

static void all_tables_are_limited(void **state)
{
    struct arena a = { 0 };
    struct stats s;

    (void)state;
    stats_init(&s);
    for (int i = 0; i < 2 * STATS_TOOLS; i++) {
        arena_clear(&a);
        terse_feed(&s.sink, arena_printf(&a,
                                         "c2s {'id':%d,'method':'tools/call',"
                                         "'params':{'name':'t%d'}}\n"
                                         "s2c {'id':%d,'error':{'code':%d}}\n"
                                         "s2c {'method':'own/%d'}\n",
                                         i, i, i, i, i)
                                .at);
    }
    stats_finish(&s);
    assert_int_equal(s.tools.count, STATS_TOOLS);
    assert_int_equal(((const struct stats_tool *)s.tools.overflow)->calls, STATS_TOOLS);
    assert_int_equal(s.codes.count, STATS_CODES);
    assert_int_equal(((const struct stats_code *)s.codes.overflow)->count,
                     2 * STATS_TOOLS - STATS_CODES);
    assert_int_equal(s.notifications.count, STATS_NOTIFICATIONS);
    assert_int_equal(s.op_stats.rows.count, OP_STATS_ROWS);
    assert_true(s.texts.block_bytes < 1 << 16);
    stats_release(&s);
    arena_release(&a);
}

static void values_that_jq_rejects_are_searched_only_if_thorough(void **state)
{
    struct stats s;

    (void)state;
    for (int thorough = 0; thorough < 2; thorough++) {
        char deep[600] = "c2s {'method':'x','params':";
        size_t at = strlen(deep);

        memset(deep + at, '[', 253);
        memset(deep + at + 253, ']', 253);
        memcpy(deep + at + 506, "}\n", 3);
        stats_init(&s);
        s.thorough = thorough;
        terse_feed(&s.sink, HEADER "c2s {'method':'`ud83d'}\nc2s {'method':'`ud83d`ude00'}\n");
        terse_feed(&s.sink, deep);
        stats_finish(&s);
        assert_int_equal(s.findings[STATS_LONE_SURROGATE].count, thorough);
        assert_int_equal(s.findings[STATS_LONE_SURROGATE].seq, thorough);
        assert_int_equal(s.findings[STATS_TOO_DEEP].count, thorough);
        stats_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_counted_by_direction_and_kind),
        cmocka_unit_test(the_header_is_kept),
        cmocka_unit_test(texts_of_a_header_are_cut_and_too_long_lists_dropped),
        cmocka_unit_test(each_initialize_starts_a_session),
        cmocka_unit_test(http_sessions_are_counted_by_number),
        cmocka_unit_test(sessions_have_a_duration),
        cmocka_unit_test(the_stateless_protocol_has_no_sessions_but_client_and_server),
        cmocka_unit_test(sessions_over_the_limit_are_counted_together),
        cmocka_unit_test(errors_are_counted_by_code_and_side),
        cmocka_unit_test(a_failed_task_without_error_message_is_counted),
        cmocka_unit_test(advertised_and_called_tools_are_counted),
        cmocka_unit_test(notifications_are_counted_by_method_and_side),
        cmocka_unit_test(a_complete_recording_has_no_findings),
        cmocka_unit_test(each_finding_is_found_alone),
        cmocka_unit_test(features_that_the_format_lacks_are_no_findings),
        cmocka_unit_test(a_footer_without_totals_is_not_compared),
        cmocka_unit_test(without_a_process_record_there_is_no_finding_about_its_exit),
        cmocka_unit_test(without_any_clock_nothing_is_measured),
        cmocka_unit_test(the_first_of_each_kind_is_shown),
        cmocka_unit_test(a_damaged_end_is_a_finding),
        cmocka_unit_test(the_reason_of_a_missing_response_is_reported_if_known),
        cmocka_unit_test(several_recordings_in_one_file_are_separate),
        cmocka_unit_test(without_monotonic_time_dates_are_used),
        cmocka_unit_test(a_recording_lasts_until_its_latest_time),
        cmocka_unit_test(extreme_numbers_do_not_overflow),
        cmocka_unit_test(a_redelivered_response_is_not_a_second_one),
        cmocka_unit_test(a_retry_is_not_another_call_of_a_tool),
        cmocka_unit_test(dropped_operations_are_reported),
        cmocka_unit_test(stderr_is_counted_in_lines_however_it_is_split),
        cmocka_unit_test(http_statuses_from_400_on_are_errors),
        cmocka_unit_test(all_tables_are_limited),
        cmocka_unit_test(values_that_jq_rejects_are_searched_only_if_thorough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
