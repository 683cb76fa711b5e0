#include "index/http-index.h"

#include "line-recorder.h"
#include "parsed-request.h"
#include "terse.h"
#include "test.h"

/* A recording made of lines, what of it went on to the script, and the rest. */
struct bench {
    struct terse passed;
    struct message_store_memory shelf;
    struct http_index http;
    struct line_recorder recorder;
};

static void open_bench(struct bench *b, const char *lines)
{
    struct str rest = str_z(lines);

    terse_init(&b->passed);
    message_store_memory_init(&b->shelf);
    http_index_init(&b->http, &b->passed.sink, &b->shelf.store);
    line_recorder_init(&b->recorder, &b->http.sink);
    while (rest.len)
        line_recorder_add(&b->recorder, str_cut(&rest, '\n'));
    line_recorder_release(&b->recorder);
    http_index_finish(&b->http);
}

static void close_bench(struct bench *b)
{
    http_index_release(&b->http);
    message_store_memory_release(&b->shelf);
    terse_release(&b->passed);
}

static const struct http_anomaly *anomaly_of(struct bench *b, enum session_state state,
                                             const char *line)
{
    struct parsed_request s;
    const struct http_request *c = parsed_request(&s, state, line);
    const struct http_anomaly *odd =
        http_index_find_anomaly(&b->http, c, s.line.path, &s.arena);

    parsed_request_release(&s);
    return odd;
}

static bool has_passed(const struct bench *b, const char *text)
{
    return memmem(b->passed.text.at, b->passed.text.len, text, strlen(text)) != NULL;
}

#define INIT "POST {\"id\":0,\"method\":\"initialize\"}"
#define LIST "{\"id\":1,\"method\":\"tools/list\"}"
#define SESSION                                                                                \
    "1 " INIT "\n"                                                                             \
    "1 200 json session=1 {\"id\":0,\"result\":{}}\n"

static void the_shape_of_a_response_is_found_by_its_request(void **state)
{
    const struct response_shape *f;
    struct bench b;

    (void)state;
    open_bench(&b, SESSION "2 POST session=1 " LIST "\n"
                           "2 200 sse session=1\n"
                           "2 id=a retry=40 <<\n"
                           "2 id=b << {\"id\":1,\"result\":{}}\n"
                           "2 end\n"
                           "3 POST session=1 " LIST "\n"
                           "3 400 json {\"id\":1,\"error\":{\"code\":-32021}}\n"
                           "4 POST session=1 " LIST "\n");
    f = http_index_shape(&b.http, 1);
    assert_true(f->status == 200 && f->json && !f->sse && f->has_response && !f->has_ids);
    f = http_index_shape(&b.http, 3);
    assert_true(f->status == 200 && f->sse && !f->json && f->has_response && f->has_ids);
    assert_true(f->stream_events && f->stream_events->retry_ms == 40 &&
                !f->stream_events->closes_stream && !f->stream_events->next);
    f = http_index_shape(&b.http, 5);
    assert_true(f->status == 400 && f->json && f->has_response && !f->stream_events);
    f = http_index_shape(&b.http, 7);
    assert_true(f->status == 0 && !f->has_response);
    assert_null(http_index_shape(&b.http, 2));
    assert_null(http_index_shape(&b.http, 8));
    close_bench(&b);
}

static void a_stream_can_be_closed_any_number_of_times(void **state)
{
    const struct http_stream_event *event;
    const struct response_shape *f;
    struct bench b;

    (void)state;
    open_bench(&b, SESSION "2 POST session=1 " LIST "\n"
                           "2 200 sse session=1\n"
                           "2 id=a << {\"method\":\"notifications/message\"}\n"
                           "2 end\n"
                           "3 GET session=1 last=a\n"
                           "3 200 sse session=1\n"
                           "3 end\n"
                           "4 GET session=1 last=a\n"
                           "4 200 sse session=1\n"
                           "4 id=b << {\"method\":\"notifications/message\"}\n"
                           "4 id=c retry=5 <<\n"
                           "4 end\n"
                           "5 GET session=1 last=c\n"
                           "5 200 sse session=1\n"
                           "5 id=d << {\"id\":1,\"result\":{}}\n"
                           "5 end\n");
    f = http_index_shape(&b.http, 3);
    assert_true(f->has_response);
    event = f->stream_events;
    assert_true(event->closes_stream && event->after_messages == 1);
    event = event->next;
    assert_true(event->closes_stream && event->after_messages == 1);
    event = event->next;
    assert_true(!event->closes_stream && event->after_messages == 2 && event->retry_ms == 5);
    event = event->next;
    assert_true(event->closes_stream && event->after_messages == 2 && !event->next);
    assert_false(b.http.stream_primed); /* that was no stream of its own */
    close_bench(&b);
}

static void a_closed_stream_has_its_number_of_messages(void **state)
{
    const struct response_shape *f;
    struct bench b;

    (void)state;
    open_bench(&b, SESSION "2 POST session=1 " LIST "\n"
                           "2 200 sse session=1\n"
                           "2 id=a <<\n"
                           "2 id=b << {\"method\":\"notifications/message\"}\n"
                           "2 end\n"
                           "3 GET session=1 last=b\n"
                           "3 200 sse session=1\n"
                           "3 id=c << {\"id\":1,\"result\":{}}\n"
                           "3 end\n"
                           "4 POST session=1 " LIST "\n"
                           "4 200 sse session=1\n"
                           "4 id=d <<\n"
                           "4 gone\n");
    f = http_index_shape(&b.http, 3);
    assert_true(f->stream_events && !f->stream_events->closes_stream &&
                f->stream_events->after_messages == 0 && f->stream_events->retry_ms == -1);
    assert_true(f->stream_events->next && f->stream_events->next->closes_stream &&
                f->stream_events->next->after_messages == 1);
    f = http_index_shape(&b.http, 6);
    assert_null(f->stream_events->next); /* the client left, not the server */
    close_bench(&b);
}

static void the_response_to_an_invalid_request_is_an_anomaly(void **state)
{
    const struct http_anomaly *odd;
    struct bench b;

    (void)state;
    open_bench(&b, SESSION "2 POST session=1 version=1999-01-01 " LIST "\n"
                           "2 400 json {\"id\":1,\"error\":{\"code\":-32000}}\n"
                           "3 POST session=1 version=1999-01-01 " LIST "\n"
                           "3 500 text later\n"
                           "4 POST session=1 type=text " LIST "\n"
                           "4 415 Retry-After:7 text Speak JSON\n"
                           "5 DELETE session=1\n"
                           "5 204\n"
                           "6 POST session=1 {\"id\":1,\"method\":\"late\"}\n"
                           "6 404\n"
                           "7 POST origin=null {\"id\":0,\"method\":\"initialize\"}\n"
                           "7 200 sse\n"
                           "7 << {\"id\":0,\"result\":{}}\n"
                           "7 << {\"method\":\"notifications/message\"}\n"
                           "7 end\n");
    assert_false(has_passed(&b, "tools/list") || has_passed(&b, "'late'"));
    odd = anomaly_of(&b, SESSION_LIVE, "POST version=1999-01-01 " LIST);
    assert_true(odd->status == 400 && odd->invalid_request &&
                !odd->sse); /* the first of them stands */
    assert_str(odd->id, STR("1"));
    assert_true(odd->first && !odd->first->next && !odd->first->text.len);
    odd = anomaly_of(&b, SESSION_LIVE, "POST type=text " LIST);
    assert_int_equal(odd->status, 415);
    assert_str(odd->content_type, STR("text/plain"));
    assert_str(odd->retry_after, STR("7"));
    assert_str(odd->first->text, STR("Speak JSON"));
    odd = anomaly_of(&b, SESSION_ENDED, "POST {\"id\":1,\"method\":\"late\"}");
    assert_true(odd->status == 404 && !odd->first);
    assert_null(anomaly_of(&b, SESSION_LIVE, "POST {\"id\":1,\"method\":\"late\"}"));
    odd = anomaly_of(&b, SESSION_NONE, "POST origin=null {\"id\":0,\"method\":\"initialize\"}");
    assert_true(odd->status == 200 && odd->sse && odd->first->next == odd->last);
    close_bench(&b);
}

static void a_request_accepted_by_allow_options_is_normal(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, "1 POST host=other origin=other {\"id\":0,\"method\":\"initialize\"}\n"
                   "1 200 json {\"id\":0,\"result\":{}}\n");
    assert_true(has_passed(&b, "initialize"));
    assert_null(anomaly_of(&b, SESSION_NONE, "POST {\"id\":0,\"method\":\"initialize\"}"));
    close_bench(&b);
}

static void a_rejected_request_is_an_anomaly_until_it_is_answered(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, SESSION "2 POST session=1 {\"id\":1,\"method\":\"a\"}\n"
                           "2 503 text busy\n"
                           "3 POST session=1 {\"id\":2,\"method\":\"a\"}\n"
                           "3 200 json session=1 {\"id\":2,\"result\":{}}\n"
                           "4 POST session=1 {\"id\":3,\"method\":\"b\"}\n"
                           "4 503 text busy\n"
                           "5 POST session=1 {\"id\":4,\"method\":\"c\"}\n"
                           "5 200 json session=1 {\"id\":4,\"result\":{}}\n"
                           "6 POST session=1 {\"id\":5,\"method\":\"c\"}\n"
                           "6 503 text busy\n"
                           "7 POST session=1 {\"id\":6,\"method\":\"d\"}\n"
                           "7 401 text who?\n"
                           "8 POST session=1 {\"id\":7,\"method\":\"e\"}\n"
                           "8 400 json {\"id\":7,\"error\":{\"code\":-32602}}\n"
                           "9 POST session=1 {\"method\":\"notifications/x\"}\n"
                           "9 500 text\n"
                           "10 POST session=1 {\"method\":\"notifications/x\"}\n"
                           "10 202\n");
    assert_null(anomaly_of(&b, SESSION_LIVE, "POST {\"id\":1,\"method\":\"a\"}"));
    assert_int_equal(anomaly_of(&b, SESSION_LIVE, "POST {\"id\":1,\"method\":\"b\"}")->status,
                     503);
    assert_null(anomaly_of(&b, SESSION_LIVE, "POST {\"id\":1,\"method\":\"c\"}"));
    assert_null(anomaly_of(&b, SESSION_LIVE, "POST {\"id\":1,\"method\":\"d\"}"));
    assert_null(anomaly_of(&b, SESSION_LIVE, "POST {\"id\":1,\"method\":\"e\"}"));
    assert_null(anomaly_of(&b, SESSION_LIVE, "POST {\"method\":\"notifications/x\"}"));
    assert_true(has_passed(&b, "'method':'b'"));
    close_bench(&b);
}

static void a_stream_rejected_once_is_not_an_anomaly(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, SESSION "2 GET session=1\n"
                           "2 200 sse session=1\n"
                           "3 GET session=1\n"
                           "3 409\n"
                           "4 GET session=1 last=x\n"
                           "4 400\n");
    assert_null(anomaly_of(&b, SESSION_LIVE, "GET"));
    assert_int_equal(anomaly_of(&b, SESSION_LIVE, "GET last=y")->status, 400);
    assert_true(b.http.rules.has_get_stream);
    close_bench(&b);
}

static void properties_of_the_server_are_derived(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, SESSION "2 GET session=1\n"
                           "2 200 sse session=1\n"
                           "2 id=a retry=9 <<\n"
                           "3 DELETE session=1\n"
                           "3 405 Allow:POST\n"
                           "2 gone\n");
    assert_true(b.http.seen_http && b.http.rules.uses_session_ids &&
                b.http.rules.has_get_stream);
    assert_true(b.http.stream_primed && b.http.stream_has_ids);
    assert_int_equal(b.http.stream_retry_ms, 9);
    assert_int_equal(b.http.delete_status, 405);
    close_bench(&b);

    open_bench(&b,
               "1 " INIT "\n1 200 json {\"id\":0,\"result\":{}}\n2 GET\n2 405 Allow:POST\n");
    assert_false(b.http.rules.uses_session_ids || b.http.rules.has_get_stream ||
                 b.http.stream_primed);
    assert_int_equal(b.http.delete_status, 0);
    close_bench(&b);
}

/* Nothing is known of HTTP then; clients get what most servers give them. */
static void a_stdio_recording_is_forwarded_unchanged(void **state)
{
    struct terse passed;
    struct http_index h;

    (void)state;
    terse_init(&passed);
    http_index_init(&h, &passed.sink, NULL);
    terse_feed(&h.sink, "c2s {'id':1,'method':'ping'}\ns2c {'id':1,'result':{}}\n");
    http_index_finish(&h);
    assert_terse(&passed, "#1 c2s {'id':1,'method':'ping'}\n#2 s2c {'id':1,'result':{}}\n");
    assert_true(!h.seen_http && h.rules.uses_session_ids && h.rules.has_get_stream);
    assert_null(http_index_shape(&h, 1));
    http_index_release(&h);
    terse_release(&passed);
}

#define STREAM                                                                                 \
    "1 GET path=/sse\n1 200 sse\n1 event=endpoint << /post?sessionId=9\n"                      \
    "2 POST path=/post?sessionId=9 {\"id\":1,\"method\":\"a\"}\n2 202\n"                       \
    "1 << {\"id\":1,\"result\":{}}\n"

static bool opens(const struct bench *b, const char *line)
{
    struct parsed_request s;
    bool so =
        http_index_opens_sse(&b->http, parsed_request(&s, SESSION_NONE, line), s.line.path);

    parsed_request_release(&s);
    return so;
}

/* As on stdio: which stream it was on means nothing. */
static void messages_of_an_http_sse_stream_belong_to_the_session(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, STREAM "1 << {\"method\":\"m\"}\n1 end\n");
    assert_true(has_passed(&b, " session=1 x=2 #1 c2s {'id':1,'method':'a'}\n"));
    assert_true(has_passed(&b, " session=1 #2 s2c {'id':1,'result':{}} "));
    assert_true(has_passed(&b, " session=1 #3 s2c {'method':'m'}"));
    assert_str(b.http.sse_path, STR("/sse"));
    assert_str(b.http.post_path, STR("/post"));
    assert_true(b.http.rules.uses_session_ids && b.http.rules.has_get_stream);
    assert_null(b.http.rejected_post);
    close_bench(&b);
}

static void clients_may_open_http_sse_if_the_recording_allows_it(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, STREAM);
    assert_true(opens(&b, "GET path=/sse"));
    assert_false(opens(&b, "POST path=/sse {}"));
    assert_false(opens(&b, "GET path=/sse session=1"));
    assert_false(opens(&b, "GET path=/sse last=x"));
    assert_false(opens(&b, "GET path=/mcp"));
    assert_str(http_index_sse_path(&b.http), STR("/sse"));
    b.http.sse_path = STR("/events");
    assert_str(http_index_sse_path(&b.http), STR("/events"));
    b.http.sse_path = STR("");
    assert_str(http_index_sse_path(&b.http), STR(""));
    b.http.sse_path = STR("/[REDACTED:rule-1]/events");
    assert_str(http_index_sse_path(&b.http), STR("/sse"));
    assert_true(opens(&b, "GET path=/sse"));
    assert_true(opens(&b, "GET path=/a/events"));
    assert_false(opens(&b, "GET path=/a/b/events"));
    assert_false(opens(&b, "GET path=/a/event"));
    assert_false(opens(&b, "GET path=//events"));
    assert_false(opens(&b, "GET path=/a/events/more"));
    close_bench(&b);
}

static void one_rejected_post_to_the_sse_path_counts_for_all(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b,
               "3 POST path=/sse {\"id\":0,\"method\":\"initialize\"}\n3 405 Allow:GET\n" STREAM
               "4 POST path=/post?sessionId=8 {\"id\":1,\"method\":\"a\"}\n4 404\n");
    assert_int_equal(
        anomaly_of(&b, SESSION_NONE, "POST path=/sse {\"id\":7,\"method\":\"b\"}")->status,
        405);
    assert_null(anomaly_of(&b, SESSION_NONE, "POST {\"id\":0,\"method\":\"initialize\"}"));
    assert_null(anomaly_of(&b, SESSION_NONE, "GET path=/sse"));
    /* The response to an unknown session counts for all requests of that kind. */
    assert_null(anomaly_of(&b, SESSION_UNKNOWN, "POST {\"id\":1,\"method\":\"a\"}"));
    assert_int_equal(b.http.anomalies.count, 1);
    close_bench(&b);
}

/* The name was a secret: it looks otherwise in the header line now, and means the same. */
static void redacted_headers_do_not_contradict_the_body(void **state)
{
    static const char asked[] =
        "| {'type':'http','ev':'request','exchange':1,'method':'POST','state':'none','host':"
        "'self','origin':'none','body':'message','headers':[['Content-Type','application/"
        "json'],"
        "['MCP-Protocol-Version','2026-07-28'],['Mcp-Method','tools/"
        "call'],['Mcp-Name','a']]}\n";
    struct terse passed;
    struct http_index h;

    (void)state;
    for (int redacted = 0; redacted < 2; redacted++) {
        terse_init(&passed);
        http_index_init(&h, &passed.sink, NULL);
        terse_feed(&h.sink, asked);
        terse_feed(&h.sink,
                   redacted ? "| {'type':'message','seq':1,'ts':'2026-01-01T00:00:00Z','dir':"
                              "'c2s','exchange':1,'redacted':['/params/name'],'msg':{'id':1,"
                              "'method':'tools/call','params':{'name':'b'}}}\n"
                            : "x=1 c2s {'id':1,'method':'tools/call','params':{'name':'b'}}\n");
        assert_int_equal(memmem(passed.text.at, passed.text.len, "c2s", 3) != NULL, redacted);
        http_index_release(&h);
        terse_release(&passed);
    }
}

static void responses_of_mcpreel_itself_are_ignored(void **state)
{
    struct terse passed;
    struct http_index h;

    (void)state;
    terse_init(&passed);
    http_index_init(&h, &passed.sink, NULL);
    terse_feed(&h.sink,
               "| {'type':'http','ev':'request','exchange':1,'method':'POST','state':'none',"
               "'host':'self','origin':'none','body':'message','headers':[['Content-Type',"
               "'application/json']]}\n"
               "x=1 c2s {'id':1,'method':'a'}\n"
               "| {'type':'http','ev':'response','exchange':1,'status':502,'by':'mcpreel',"
               "'media':'json'}\n"
               "x=1 s2c {'id':1,'error':{'code':-32000}}\n"
               "x=1 http end mcpreel\n");
    http_index_finish(&h);
    assert_int_equal(http_index_shape(&h, 1)->status, 0);
    assert_int_equal(h.anomalies.count, 0);
    assert_null(memmem(passed.text.at, passed.text.len, "s2c", 3));
    http_index_release(&h);
    terse_release(&passed);
}

static void an_error_of_the_index_is_returned(void **state)
{
    struct terse passed;
    struct http_index h;
    struct record r = { .kind = RECORD_STDERR };
    struct err e = ERR_NONE;

    (void)state;
    terse_init(&passed);
    passed.fails = true;
    http_index_init(&h, &passed.sink, NULL);
    assert_false(h.sink.put(&h.sink, &r, &e));
    http_index_release(&h);
    terse_release(&passed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shape_of_a_response_is_found_by_its_request),
        cmocka_unit_test(a_stream_can_be_closed_any_number_of_times),
        cmocka_unit_test(a_closed_stream_has_its_number_of_messages),
        cmocka_unit_test(the_response_to_an_invalid_request_is_an_anomaly),
        cmocka_unit_test(a_request_accepted_by_allow_options_is_normal),
        cmocka_unit_test(a_rejected_request_is_an_anomaly_until_it_is_answered),
        cmocka_unit_test(a_stream_rejected_once_is_not_an_anomaly),
        cmocka_unit_test(properties_of_the_server_are_derived),
        cmocka_unit_test(a_stdio_recording_is_forwarded_unchanged),
        cmocka_unit_test(messages_of_an_http_sse_stream_belong_to_the_session),
        cmocka_unit_test(clients_may_open_http_sse_if_the_recording_allows_it),
        cmocka_unit_test(one_rejected_post_to_the_sse_path_counts_for_all),
        cmocka_unit_test(redacted_headers_do_not_contradict_the_body),
        cmocka_unit_test(responses_of_mcpreel_itself_are_ignored),
        cmocka_unit_test(an_error_of_the_index_is_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
