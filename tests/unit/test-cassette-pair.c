#include "format/cassette-pair.h"

#include "terse.h"
#include "test.h"
#include "trace/limits.h"

/* Writes each interaction: type, status, SSE, latency, messages. */
struct pair_run {
    struct sink in;
    struct cassette_sink out;
    struct cassette_pair *collect_record;
    struct buf seen;
    size_t count;
};

static bool collect_record(struct sink *self, const struct record *r, struct err *e)
{
    struct pair_run *s = (struct pair_run *)self;

    return cassette_pair_put(s->collect_record, r) || err_set(e, ERR_LIMIT, "too much");
}

static void write_down(struct cassette_sink *self, const struct cassette_interaction *i)
{
    struct pair_run *s = (struct pair_run *)((char *)self - offsetof(struct pair_run, out));

    s->count++;
    buf_add(&s->seen, cassette_model_type_name(i->type));
    buf_printf(&s->seen, " %llu%s %llums", (unsigned long long)i->status, i->sse ? " SSE" : "",
               (unsigned long long)i->latency_ms);
    if (i->method.at || i->path.at)
        buf_printf(&s->seen, " %.*s %.*s", STR_ARG(i->method), STR_ARG(i->path));
    if (i->request.at)
        buf_printf(&s->seen, " > %.*s", STR_ARG(i->request));
    if (i->response.at)
        buf_printf(&s->seen, " < %.*s", STR_ARG(i->response));
    buf_add_ch(&s->seen, '\n');
}

static void begin(struct pair_run *s)
{
    *s = (struct pair_run){ .in = { collect_record }, .out = { write_down } };
    buf_init(&s->seen, 1 << 16);
    s->collect_record = cassette_pair_new(&s->out);
}

static void end(struct pair_run *s)
{
    cassette_pair_free(s->collect_record);
    buf_release(&s->seen);
}

/* These records give these interactions and no others. */
static void check(const char *records, const char *want)
{
    struct arena a = { 0 };
    struct pair_run s;

    begin(&s);
    terse_feed(&s.in, records);
    cassette_pair_finish(s.collect_record);
    assert_str(buf_str(&s.seen), terse_json(&a, want));
    end(&s);
    arena_release(&a);
}

#define HEADER(more)                                                                           \
    "| {'type':'header','version':'1.0','recorded_at':'2026-02-17T20:25:23Z',"                 \
    "'upstream':'u','thoughtjack_version':'0.3.0'" more "}\n"
#define CASSETTE HEADER(",'source':{'format':'cassette'}")
#define RECORDING HEADER("")

static void requests_are_paired_with_responses_in_order_of_completion(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "c2s {'id':'1','method':'b'}\n"
          "c2s {'id':2,'method':'c'}\n"
          "s2c {'id':'1','result':{}}\n"
          "s2c {'id':2,'error':{}}\n"
          "s2c {'id':1,'result':{'x':1}}\n",
          "jsonrpc_request 200 0ms > {'id':'1','method':'b'} < {'id':'1','result':{}}\n"
          "jsonrpc_request 200 0ms > {'id':2,'method':'c'} < {'id':2,'error':{}}\n"
          "jsonrpc_request 200 0ms > {'id':1,'method':'a'} < {'id':1,'result':{'x':1}}\n");
}

static void a_notification_is_complete_at_once(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "c2s {'method':'n'}\n"
          "s2c {'id':1,'result':{}}\n",
          "notification 202 0ms > {'method':'n'}\n"
          "jsonrpc_request 200 0ms > {'id':1,'method':'a'} < {'id':1,'result':{}}\n");
}

static void messages_unknown_to_mcp_recorder_are_left_out(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'never answered'}\n"
          "s2c {'method':'notifications/message'}\n"
          "s2c {'id':1,'method':'ping'}\n"
          "c2s {'id':1,'result':{}}\n"
          "| {'type':'http','ev':'request','method':'POST','us':0,'exchange':2}\n"
          "@0 x=2 c2s {'id':2,'result':{}}\n"
          "| {'type':'http','ev':'response','status':202,'us':0,'exchange':2}\n"
          "| {'type':'http','ev':'end','by':'server','clean':true,'us':0,'exchange':2}\n"
          "| {'type':'stderr','text':'x'}\n",
          "");
}

static void responses_without_a_request_are_kept_only_on_http(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "s2c {'id':1,'result':{}}\n"
          "s2c {'id':1,'result':{'again':1}}\n"
          "s2c {'id':null,'error':{}}\n"
          "| {'type':'http','ev':'request','method':'POST','body':'raw','us':0,'exchange':2}\n"
          "| {'type':'http','ev':'response','status':400,'us':0,'exchange':2}\n"
          "@0 x=2 s2c {'id':null,'error':{'code':-32700}}\n"
          "| {'type':'http','ev':'request','method':'GET','path':'/','us':0,'exchange':3}\n"
          "| {'type':'http','ev':'response','status':200,'media':'sse','us':0,'exchange':3}\n"
          "@0 x=3 s2c {'id':7,'result':{}}\n",
          "jsonrpc_request 200 0ms > {'id':1,'method':'a'} < {'id':1,'result':{}}\n"
          "jsonrpc_request 200 0ms < {'id':7,'result':{}}\n"
          "jsonrpc_request 400 0ms < {'id':null,'error':{'code':-32700}}\n"
          "lifecycle 200 SSE 0ms GET /\n");
}

static void latency_is_read_from_the_record_or_measured(void **state)
{
    (void)state;
    check("@1000 c2s {'id':1,'method':'a'}\n"
          "| {'type':'message','seq':2,'ts':'2026-02-17T20:25:23Z','dir':'s2c',"
          "'msg':{'id':1,'result':{}},'latency_ms':7,'us':9999}\n"
          "@1000 c2s {'id':2,'method':'a'}\n"
          "@9999 s2c {'id':2,'result':{}}\n"
          "@1000 c2s {'id':3,'method':'a'}\n"
          "@500 s2c {'id':3,'result':{}}\n",
          "jsonrpc_request 200 7ms > {'id':1,'method':'a'} < {'id':1,'result':{}}\n"
          "jsonrpc_request 200 8ms > {'id':2,'method':'a'} < {'id':2,'result':{}}\n"
          "jsonrpc_request 200 0ms > {'id':3,'method':'a'} < {'id':3,'result':{}}\n");
}

static void an_exchange_has_status_and_media_type(void **state)
{
    (void)state;
    check(
        "| {'type':'http','ev':'request','method':'POST','path':'/mcp','us':0,'exchange':4}\n"
        "@0 x=4 c2s {'id':1,'method':'a'}\n"
        "| {'type':'http','ev':'response','status':200,'media':'sse','us':5000,'exchange':4}\n"
        "@0 x=4 s2c {'method':'notifications/progress'}\n"
        "@6000 x=4 s2c {'id':1,'result':{}}\n"
        "| {'type':'http','ev':'end','by':'server','clean':true,'us':0,'exchange':4}\n"
        "| {'type':'http','ev':'request','method':'POST','us':0,'exchange':5}\n"
        "@0 x=5 c2s {'method':'n'}\n"
        "| {'type':'http','ev':'response','status':204,'us':3000,'exchange':5}\n",
        "jsonrpc_request 200 SSE 6ms > {'id':1,'method':'a'} < {'id':1,'result':{}}\n"
        "notification 204 3ms > {'method':'n'}\n");
}

static void an_exchange_may_end_without_a_response(void **state)
{
    (void)state;
    check("@0 x=1 c2s {'id':1,'method':'a'}\n"
          "| {'type':'http','ev':'response','status':404,'took_ms':2,'us':0,'exchange':1}\n"
          "| {'type':'http','ev':'end','by':'server','clean':true,'us':0,'exchange':1}\n"
          "@0 x=2 c2s {'id':2,'method':'b'}\n"
          "| {'type':'http','ev':'response','status':400,'us':0,'exchange':2}\n"
          "@0 x=2 s2c {'error':{'code':-32700},'id':null}\n"
          "@0 x=2 s2c {'error':{'code':-32701}}\n"
          "| {'type':'http','ev':'end','by':'server','clean':true,'us':0,'exchange':2}\n"
          "@0 x=3 c2s {'id':3,'method':'c'}\n"
          "| {'type':'http','ev':'response','status':200,'us':0,'exchange':3}\n"
          "@0 x=3 s2c {'id':'of another','result':{}}\n",
          "jsonrpc_request 404 2ms > {'id':1,'method':'a'}\n"
          "jsonrpc_request 200 0ms < {'error':{'code':-32701}}\n"
          "jsonrpc_request 400 0ms > {'id':2,'method':'b'} < "
          "{'error':{'code':-32700},'id':null}\n"
          "jsonrpc_request 200 0ms < {'id':'of another','result':{}}\n"
          "jsonrpc_request 200 0ms > {'id':3,'method':'c'}\n");
}

static void a_response_may_come_on_a_resumed_stream(void **state)
{
    (void)state;
    check("@0 x=1 c2s {'id':1,'method':'a'}\n"
          "| {'type':'http','ev':'response','status':200,'media':'sse','exchange':1,"
          "'stream':1,'us':0}\n"
          "| {'type':'http','ev':'end','by':'error','clean':false,'us':0,'exchange':1}\n"
          "| {'type':'http','ev':'request','method':'GET','path':'/mcp','us':0,'exchange':2}\n"
          "| {'type':'http','ev':'response','status':200,'media':'sse','exchange':2,"
          "'stream':2,'resumes':{'stream':1},'us':0}\n"
          "@0 x=2 s2c {'id':1,'result':{}}\n",
          "jsonrpc_request 200 SSE 0ms > {'id':1,'method':'a'} < {'id':1,'result':{}}\n"
          "lifecycle 200 SSE 0ms GET /mcp\n");
    check("@0 x=1 c2s {'id':1,'method':'a'}\n"
          "| {'type':'http','ev':'response','status':200,'media':'sse','us':0,'exchange':1}\n"
          "| {'type':'http','ev':'end','by':'error','clean':false,'us':0,'exchange':1}\n",
          "jsonrpc_request 200 SSE 0ms > {'id':1,'method':'a'}\n");
}

static void exchanges_without_a_message_are_lifecycle_or_unreadable(void **state)
{
    (void)state;
    check(
        "| {'type':'http','ev':'request','method':'DELETE','path':'/','us':9,'exchange':1}\n"
        "| {'type':'http','ev':'response','status':200,'us':2999,'exchange':1}\n"
        "| {'type':'http','ev':'request','method':'POST','body':'raw','us':0,'exchange':2}\n"
        "| {'type':'http','ev':'response','status':400,'us':0,'exchange':2}\n"
        "| {'type':'http','ev':'request','method':'GET','path':'/lost','us':0,'exchange':3}\n",
        "lifecycle 200 2ms DELETE /\n"
        "jsonrpc_request 400 0ms\n");
}

static void a_batch_is_an_interaction_per_message(void **state)
{
    (void)state;
    check("@0 x=1 c2s {'id':1,'method':'a'}\n"
          "@0 x=1 c2s {'id':2,'method':'b'}\n"
          "@0 x=1 c2s {'method':'n'}\n"
          "| {'type':'http','ev':'response','status':200,'media':'json','us':0,'exchange':1}\n"
          "@0 x=1 s2c {'id':2,'result':{}}\n"
          "@0 x=1 s2c {'id':1,'result':{}}\n"
          "| {'type':'http','ev':'end','by':'server','clean':true,'us':0,'exchange':1}\n",
          "jsonrpc_request 200 0ms > {'id':2,'method':'b'} < {'id':2,'result':{}}\n"
          "jsonrpc_request 200 0ms > {'id':1,'method':'a'} < {'id':1,'result':{}}\n"
          "notification 200 0ms > {'method':'n'}\n");
}

static void responses_of_the_recorder_itself_are_left_out(void **state)
{
    (void)state;
    check("@0 x=1 c2s {'id':1,'method':'a'}\n"
          "| {'type':'http','ev':'response','status':403,'by':'mcpreel','us':0,'exchange':1}\n"
          "@0 x=1 s2c {'id':1,'error':{}}\n"
          "| {'type':'http','ev':'end','by':'server','clean':true,'us':0,'exchange':1}\n"
          "| {'type':'http','ev':'request','method':'GET','us':0,'exchange':2}\n"
          "| {'type':'http','ev':'response','status':403,'by':'mcpreel','us':0,'exchange':2}\n",
          "");
}

static void messages_without_their_http_records_are_kept(void **state)
{
    (void)state;
    check("@0 x=1 c2s {'method':'n'}\n"
          "@0 x=2 c2s {'id':1,'method':'a'}\n"
          "@0 x=2 s2c {'id':1,'result':{}}\n"
          "@0 x=3 c2s {'id':1,'method':'never answered'}\n"
          "| {'type':'http','ev':'end','by':'server','clean':true,'us':0,'exchange':4}\n",
          "jsonrpc_request 200 0ms > {'id':1,'method':'a'} < {'id':1,'result':{}}\n"
          "notification 202 0ms > {'method':'n'}\n");
}

/* Ids do not count then, and the pairing of mcp-recorder does not, either. */
static void exchanges_of_a_cassette_are_copied_literally(void **state)
{
    (void)state;
    check(CASSETTE
          "x=1 c2s {'id':1,'method':'a'}\n"
          "| {'type':'http','ev':'response','status':200,'media':'sse','exchange':1}\n"
          "x=1 s2c {'method':'notifications/progress'}\n"
          "x=2 c2s {'id':5,'result':{}}\n"
          "| {'type':'http','ev':'response','status':202,'took_ms':3,'exchange':2}\n"
          "| {'type':'http','ev':'request','kind':'jsonrpc_request','exchange':3}\n"
          "| {'type':'http','ev':'response','status':400,'exchange':3}\n"
          "| {'type':'http','ev':'request','method':'DELETE','path':'/m','exchange':4}\n"
          "| {'type':'http','ev':'response','status':200,'exchange':4}\n"
          "| {'type':'http','ev':'response','status':201,'exchange':5}\n"
          "x=6 c2s {'method':'n'}\n"
          "| {'type':'http','ev':'request','kind':'notification','path':'/','exchange':7}\n"
          "x=7 c2s {'id':1,'method':'a'}\n"
          "| {'type':'stderr','text':'x'}\n"
          "c2s {'method':'of no exchange'}\n",
          "jsonrpc_request 200 SSE 0ms > {'id':1,'method':'a'} < "
          "{'method':'notifications/progress'}\n"
          "jsonrpc_request 202 3ms > {'id':5,'result':{}}\n"
          "jsonrpc_request 400 0ms\n"
          "lifecycle 200 0ms DELETE /m\n"
          "lifecycle 201 0ms\n"
          "notification 200 0ms > {'method':'n'}\n"
          "notification 202 0ms > {'method':'of no exchange'}\n"
          "notification 200 0ms  / > {'id':1,'method':'a'}\n");
}

static void a_cassette_may_share_a_file_with_a_recording(void **state)
{
    (void)state;
    check("x=1 c2s {'id':1,'method':'a'}\n"
          "@5 x=2 c2s {'id':1,'method':'b'}\n"
          "x=1 s2c {'id':'not even its own','result':{}}\n"
          "@9 x=2 s2c {'method':'notifications/progress'}\n"
          "@9 x=2 s2c {'id':1,'result':{}}\n"
          "x=3 c2s {'method':'n'}\n",
          "jsonrpc_request 200 0ms > {'id':1,'method':'b'} < {'id':1,'result':{}}\n"
          "jsonrpc_request 200 0ms > {'id':1,'method':'a'} < "
          "{'id':'not even its own','result':{}}\n"
          "notification 200 0ms > {'method':'n'}\n");
}

static void each_header_resets_the_pairing(void **state)
{
    (void)state;
    check(CASSETTE
          "x=1 c2s {'id':1,'method':'a'}\n" RECORDING "@0 x=1 c2s {'id':1,'method':'b'}\n"
          "| {'type':'http','ev':'response','status':500,'us':0,'exchange':1}\n" CASSETTE
          "x=1 s2c {'id':1,'result':{}}\n",
          "jsonrpc_request 200 0ms > {'id':1,'method':'a'}\n"
          "jsonrpc_request 500 0ms > {'id':1,'method':'b'}\n"
          "lifecycle 200 0ms < {'id':1,'result':{}}\n");
}

static struct cassette_metadata metadata_of(struct pair_run *s, const char *records)
{
    begin(s);
    terse_feed(&s->in, records);
    return cassette_pair_finish(s->collect_record);
}

#define HANDSHAKE                                                                              \
    "c2s {'id':1,'method':'initialize'}\n"                                                     \
    "s2c {'id':1,'result':{'protocolVersion':'2025-11-25','serverInfo':{'name':'s'}}}\n"

static void metadata_comes_from_header_and_handshake(void **state)
{
    struct cassette_metadata m;
    struct pair_run s;

    (void)state;
    m = metadata_of(&s, HEADER(",'transport':'stdio'") HANDSHAKE CASSETTE);
    assert_str(m.recorded_at, STR("2026-02-17T20:25:23+00:00"));
    assert_str(m.server_url, STR("stdio://u"));
    assert_str(m.transport, STR("stdio"));
    assert_str(m.protocol, STR("2025-11-25"));
    assert_str(m.server_info, STR("{\"name\":\"s\"}"));
    end(&s);
}

static void a_cassettes_own_metadata_is_used(void **state)
{
    struct cassette_metadata m;
    struct pair_run s;

    (void)state;
    m = metadata_of(&s, CASSETTE HANDSHAKE);
    assert_null(m.protocol.at);
    assert_null(m.server_info.at);
    end(&s);
}

static void without_a_header_the_first_known_time_is_the_date(void **state)
{
    struct cassette_metadata m;
    struct pair_run s;

    (void)state;
    m = metadata_of(&s, "c2s {'method':'n'}\n"
                        "| {'type':'message','seq':2,'ts':'2026-02-17T20:25:24Z','dir':'c2s',"
                        "'msg':{'method':'n'}}\n");
    assert_str(m.recorded_at, STR("2026-02-17T20:25:24+00:00"));
    assert_str(m.server_url, STR(""));
    end(&s);
    m = metadata_of(&s, "c2s {'method':'n'}\n");
    assert_null(m.recorded_at.at);
    end(&s);
}

/* Unanswered requests are limited, in linear time. */
static void too_many_pending_requests_are_an_error(void **state)
{
    struct terse_scanned request_json;
    struct err e = ERR_NONE;
    struct pair_run s;
    size_t n = 0;

    (void)state;
    begin(&s);
    terse_scan(&request_json, "{'id':1,'method':'x'}");
    for (bool ok = true; ok && n < LIMIT_OPEN_REQUESTS; n++) {
        struct record r = { .kind = RECORD_MESSAGE, .has = HAS_EXCHANGE | HAS_US };

        r.exchange = n;
        r.message.msg = json_root(&request_json.json);
        ok = s.in.put(&s.in, &r, &e);
    }
    /* The last one was too many; the exchange of each counts, too. */
    assert_int_equal(n, LIMIT_OPEN_REQUESTS / 2 + 1);
    cassette_pair_finish(s.collect_record);
    assert_int_equal(s.count, 0);
    end(&s);
    terse_scanned_release(&request_json);
}

/* Megabytes of text count while they wait, and no longer. */
static void too_much_pending_text_is_an_error(void **state)
{
    struct record r = { .kind = RECORD_MESSAGE };
    struct terse_scanned answer;
    struct err e = ERR_NONE;
    struct json_fault fault;
    struct json request_json;
    struct pair_run s;
    struct buf text;
    size_t n;

    (void)state;
    buf_init(&text, LIMIT_LINE);
    buf_add(&text, STR("{\"id\":1,\"method\":\""));
    memset(buf_reserve(&text, 20 << 20), 'x', 20 << 20);
    buf_commit(&text, 20 << 20);
    buf_add(&text, STR("\"}"));
    json_init(&request_json);
    assert_true(json_scan(&request_json, buf_str(&text), &fault));
    terse_scan(&answer, "{'id':1,'result':{}}");
    begin(&s);
    for (n = 0; n < 20; n++) {
        r.message.dir = n % 2 ? TO_CLIENT : TO_SERVER;
        r.message.msg = json_root(n % 2 ? &answer.json : &request_json);
        assert_true(s.in.put(&s.in, &r, &e));
    }
    r.message.dir = TO_SERVER;
    r.message.msg = json_root(&request_json);
    for (n = 0; s.in.put(&s.in, &r, &e) && n < 10;)
        n++;
    assert_int_equal(n, 4);
    end(&s);
    json_release(&request_json);
    terse_scanned_release(&answer);
    buf_release(&text);
}

static void unfinished_exchanges_are_freed(void **state)
{
    struct pair_run s;

    (void)state;
    begin(&s);
    terse_feed(&s.in, "| {'type':'http','ev':'request','method':'POST','us':0,'exchange':1}\n"
                      "@0 x=1 c2s {'id':1,'method':'a'}\n");
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_paired_with_responses_in_order_of_completion),
        cmocka_unit_test(a_notification_is_complete_at_once),
        cmocka_unit_test(messages_unknown_to_mcp_recorder_are_left_out),
        cmocka_unit_test(responses_without_a_request_are_kept_only_on_http),
        cmocka_unit_test(latency_is_read_from_the_record_or_measured),
        cmocka_unit_test(an_exchange_has_status_and_media_type),
        cmocka_unit_test(an_exchange_may_end_without_a_response),
        cmocka_unit_test(a_response_may_come_on_a_resumed_stream),
        cmocka_unit_test(exchanges_without_a_message_are_lifecycle_or_unreadable),
        cmocka_unit_test(a_batch_is_an_interaction_per_message),
        cmocka_unit_test(responses_of_the_recorder_itself_are_left_out),
        cmocka_unit_test(messages_without_their_http_records_are_kept),
        cmocka_unit_test(exchanges_of_a_cassette_are_copied_literally),
        cmocka_unit_test(a_cassette_may_share_a_file_with_a_recording),
        cmocka_unit_test(each_header_resets_the_pairing),
        cmocka_unit_test(metadata_comes_from_header_and_handshake),
        cmocka_unit_test(a_cassettes_own_metadata_is_used),
        cmocka_unit_test(without_a_header_the_first_known_time_is_the_date),
        cmocka_unit_test(too_many_pending_requests_are_an_error),
        cmocka_unit_test(too_much_pending_text_is_an_error),
        cmocka_unit_test(unfinished_exchanges_are_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
