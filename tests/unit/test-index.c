#include "index/index.h"

#include "loaded-index.h"
#include "test.h"

static const char *const step_names[] = {
    [STEP_NOTIFICATION] = "send",          [STEP_PROGRESS] = "progress",
    [STEP_SUBSCRIPTION_EVENT] = "event",   [STEP_SERVER_REQUEST] = "ask",
    [STEP_CLIENT_RESPONSE] = "reply",      [STEP_RESPONSE] = "answer",
    [STEP_WAIT_FOR_NOTIFICATION] = "wait",
};

/* "name" of {"id":1,"name":...}: distinguishes messages in these tests. */
static struct str value_of_is(struct str raw)
{
    size_t at = 0;

    while (at < raw.len && !str_starts(str_skip(raw, at), STR("\"is\":\"")))
        at++;
    raw = str_skip(raw, at + 6);
    return str_n(raw.at, str_find(raw, '"'));
}

static void write_step(struct loaded_index *s, struct buf *to, uint32_t step)
{
    const struct recorded_step *at = &s->index.steps[step];
    struct str is = STR_NONE;

    if (at->kind != STEP_WAIT_FOR_NOTIFICATION)
        is = value_of_is(json_raw(loaded_index_step(s, step)));
    buf_printf(to, " %s%s%.*s%s", step_names[at->kind], is.len ? ":" : "", STR_ARG(is),
               at->waits_for_client ? "" : "+");
}

/* One line per call: "METHOD SUBJECT(flags): step:what step:what+" where a plus means that the
 * step does not wait for responses to the server requests before it. */
static void write_call(struct loaded_index *s, struct buf *to, uint32_t op)
{
    unsigned flags = s->index.calls[op].flags;
    struct str method, subject;

    if (!(flags & CALL_PREAMBLE)) {
        method = index_method(&s->index, op)->name;
        subject =
            json_text(mcp_subject(method, json_get(loaded_index_call(s, op), STR("params"))),
                      &s->text.arena);
        buf_add(to, method);
        if (subject.len)
            buf_printf(to, " %.*s", STR_ARG(subject));
        buf_printf(to, "%s%s", flags & CALL_CANCELLED ? " cancelled" : "",
                   flags & CALL_HAS_RESPONSE ? "" : " unanswered");
    }
    buf_add_ch(to, ':');
    for (uint32_t step = index_first_step(&s->index, op); step;
         step = index_next_step(&s->index, op, step))
        write_step(s, to, step);
    buf_add_ch(to, '\n');
}

static void check(const char *recording, const char *want)
{
    struct loaded_index s;
    struct buf text;

    buf_init(&text, 1 << 16);
    loaded_index_init(&s, MATCH_SEQUENTIAL, recording);
    for (uint32_t op = 1; op < s.index.call_count; op++)
        write_call(&s, &text, op);
    assert_str(buf_str(&text), str_z(want));
    buf_release(&text);
    loaded_index_release(&s);
}

static void responses_belong_to_their_requests_in_any_order(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
          "c2s {'id':2,'method':'resources/read','params':{'uri':'u:/x'}}\n"
          "s2c {'id':2,'result':{'is':'two'}}\n"
          "s2c {'id':1,'error':{'is':'one'}}\n",
          "tools/call a: answer:one\n"
          "resources/read u:/x: answer:two\n");
}

static void messages_before_the_first_request_are_the_opening(void **state)
{
    (void)state;
    check("s2c {'method':'notifications/message','params':{'is':'early'}}\n"
          "c2s {'id':1,'method':'a'}\n"
          "s2c {'id':1,'result':{'is':'one'}}\n",
          ": send:early\n"
          "a: answer:one\n");
}

static void a_message_during_one_open_request_belongs_to_it(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "s2c {'id':1,'result':{'is':'one'}}\n"
          "c2s {'id':2,'method':'b'}\n"
          "s2c {'method':'n','params':{'is':'x'}}\n"
          "s2c {'id':9,'method':'roots/list','params':{'is':'q'}}\n"
          "c2s {'id':9,'result':{}}\n"
          "s2c {'id':2,'result':{'is':'two'}}\n",
          "a: answer:one\n"
          "b: send:x ask:q reply answer:two\n");
}

static void with_no_or_several_open_requests_a_message_follows_the_last_one(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "s2c {'id':1,'result':{'is':'one'}}\n"
          "s2c {'method':'n','params':{'is':'after one'}}\n"
          "c2s {'id':2,'method':'b'}\n"
          "c2s {'id':3,'method':'c'}\n"
          "s2c {'method':'n','params':{'is':'between'}}\n"
          "s2c {'id':3,'result':{'is':'three'}}\n"
          "s2c {'method':'n','params':{'is':'in two'}}\n"
          "s2c {'id':2,'result':{'is':'two'}}\n"
          "s2c {'method':'n','params':{'is':'after two'}}\n",
          "a: answer:one send:after one send:between\n"
          "b: send:in two answer:two send:after two\n"
          "c: answer:three\n");
}

static void progress_belongs_to_the_request_with_its_token(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a','params':{'_meta':{'progressToken':1}}}\n"
          "c2s {'id':2,'method':'b','params':{'_meta':{'progressToken':'1'}}}\n"
          "s2c {'method':'notifications/progress','params':{'progressToken':'1','is':'b1'}}\n"
          "s2c {'method':'notifications/progress','params':{'progressToken':1,'is':'a1'}}\n"
          "s2c {'id':1,'result':{'is':'one'}}\n"
          "s2c {'method':'notifications/progress','params':{'progressToken':1,'is':'late'}}\n"
          "s2c {'id':2,'result':{'is':'two'}}\n",
          "a: progress:a1 answer:one progress:late\n"
          "b: progress:b1 answer:two\n");
}

static void a_token_used_again_belongs_to_the_later_request(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a','params':{'_meta':{'progressToken':7}}}\n"
          "s2c {'id':1,'result':{'is':'one'}}\n"
          "c2s {'id':2,'method':'b','params':{'_meta':{'progressToken':7}}}\n"
          "s2c {'method':'notifications/progress','params':{'progressToken':7,'is':'p'}}\n"
          "s2c {'id':2,'result':{'is':'two'}}\n",
          "a: answer:one\n"
          "b: progress:p answer:two\n");
}

static void a_step_waits_for_server_requests_that_were_answered_before_it(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "s2c {'id':1,'method':'q','params':{'is':'q1'}}\n"
          "s2c {'id':2,'method':'q','params':{'is':'q2'}}\n"
          "s2c {'method':'n','params':{'is':'meanwhile'}}\n"
          "c2s {'id':2,'error':{}}\n"
          "s2c {'method':'n','params':{'is':'still'}}\n"
          "c2s {'id':1,'result':{}}\n"
          "s2c {'id':1,'result':{'is':'one'}}\n",
          "a: ask:q1 ask:q2+ send:meanwhile+ reply+ send:still+ reply answer:one\n");
}

static void an_unanswered_server_request_delays_nothing(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "s2c {'id':1,'method':'q','params':{'is':'q'}}\n"
          "s2c {'id':1,'result':{'is':'one'}}\n"
          "c2s {'id':2,'method':'b'}\n"
          "s2c {'id':2,'result':{'is':'two'}}\n",
          "a: ask:q answer:one+\n"
          "b: answer:two\n");
}

static void initialized_is_at_its_recorded_position(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'initialize'}\n"
          "s2c {'method':'n','params':{'is':'before'}}\n"
          "s2c {'id':1,'result':{'is':'hello'}}\n"
          "s2c {'method':'n','params':{'is':'between'}}\n"
          "c2s {'method':'notifications/initialized'}\n"
          "s2c {'method':'n','params':{'is':'after'}}\n",
          "initialize: send:before answer:hello send:between wait send:after\n");
}

/* A file that is piped into a server contains all messages at once. A client that waits for
 * the response before it sends "initialized" must not wait for ever. */
static void an_early_initialized_does_not_delay_the_response(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'initialize'}\n"
          "c2s {'method':'notifications/initialized'}\n"
          "s2c {'method':'n','params':{'is':'before'}}\n"
          "s2c {'id':1,'result':{'is':'hello'}}\n"
          "s2c {'method':'n','params':{'is':'after'}}\n",
          "initialize: send:before answer:hello wait send:after\n");
}

static void a_message_after_a_notification_waits_for_it_without_initialize(void **state)
{
    (void)state;
    check("c2s {'method':'notifications/initialized'}\n"
          "s2c {'method':'n','params':{'is':'x'}}\n"
          "s2c {'method':'n','params':{'is':'y'}}\n",
          ": wait send:x send:y\n");
}

static void a_message_of_a_request_waits_for_no_notification(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "c2s {'method':'notifications/roots/list_changed'}\n"
          "s2c {'method':'n','params':{'is':'x'}}\n"
          "s2c {'id':1,'result':{'is':'one'}}\n"
          "c2s {'method':'notifications/roots/list_changed'}\n"
          "c2s {'id':2,'method':'b'}\n"
          "s2c {'id':2,'result':{'is':'two'}}\n"
          "s2c {'method':'n','params':{'is':'y'}}\n",
          "a: send:x answer:one\n"
          "b: answer:two send:y\n");
}

static void no_message_belongs_to_a_cancelled_request(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "s2c {'id':1,'result':{'is':'one'}}\n"
          "c2s {'id':2,'method':'b'}\n"
          "c2s {'method':'notifications/cancelled','params':{'requestId':2}}\n"
          "c2s {'method':'notifications/cancelled','params':{'requestId':2}}\n"
          "s2c {'method':'n','params':{'is':'x'}}\n",
          "a: answer:one send:x\n"
          "b cancelled unanswered:\n");
}

static void after_a_cancellation_the_other_request_is_the_only_open_one(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "c2s {'id':2,'method':'b'}\n"
          "c2s {'method':'notifications/cancelled','params':{'requestId':2}}\n"
          "s2c {'method':'n','params':{'is':'x'}}\n"
          "s2c {'id':1,'result':{'is':'one'}}\n",
          "a: send:x answer:one\n"
          "b cancelled unanswered:\n");
}

static void a_cancelled_request_may_be_answered(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "c2s {'method':'notifications/cancelled','params':{'requestId':1}}\n"
          "s2c {'id':1,'result':{'is':'one'}}\n"
          "c2s {'id':2,'method':'b'}\n"
          "s2c {'method':'n','params':{'is':'x'}}\n"
          "s2c {'id':2,'result':{'is':'two'}}\n",
          "a cancelled: answer:one\n"
          "b: send:x answer:two\n");
}

static void the_server_cancels_only_its_own_requests(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "s2c {'id':1,'method':'q','params':{'is':'q'}}\n"
          "s2c {'method':'notifications/cancelled','params':{'requestId':1,'is':'c'}}\n"
          "s2c {'id':1,'result':{'is':'one'}}\n",
          "a: ask:q send:c+ answer:one+\n");
}

static void ids_of_the_two_directions_are_separate(void **state)
{
    (void)state;
    check("c2s {'id':0,'method':'a'}\n"
          "s2c {'id':0,'method':'q','params':{'is':'q'}}\n"
          "c2s {'id':0,'result':{'is':'no answer of the server'}}\n"
          "s2c {'id':0,'result':{'is':'zero'}}\n",
          "a: ask:q reply:no answer of the server answer:zero\n");
}

static void a_response_without_request_is_left_out(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "s2c {'id':2,'result':{'is':'stray'}}\n"
          "s2c {'id':null,'error':{'is':'stray'}}\n"
          "s2c {'id':1,'result':{'is':'one'}}\n"
          "s2c {'id':1,'result':{'is':'twice'}}\n",
          "a: answer:one\n");
}

static void other_records_are_skipped(void **state)
{
    (void)state;
    check("| {'type':'header','version':'1.0','recorded_at':'2025-02-04T10:00:00Z',"
          "'upstream':'x','thoughtjack_version':'0.3.0'}\n"
          "| {'type':'raw','from':'server','text':'noise'}\n"
          "| {'type':'stderr','text':'noise'}\n"
          "| {'type':'message','seq':41,'ts':'2025-02-04T10:00:00Z','dir':'c2s',"
          "'msg':{'id':1,'method':'a'}}\n",
          "a:\n");
}

static void invalid_jsonrpc_messages_are_skipped(void **state)
{
    (void)state;
    check("c2s {'id':true,'method':'a'}\n"
          "s2c {'level':'info'}\n",
          "");
}

/* As jq without -c leaves it. A line break there is a blank; in a stream of lines it
 * would be the end of a message. */
static void a_message_over_several_lines_becomes_one_line(void **state)
{
    static const char *const texts[] = { "{\n  'id': 1,\n  'method': 'a'\n}",
                                         "{\n  'id': 1,\r\n  'result': '`n'\n}" };
    struct loaded_index s;

    (void)state;
    loaded_index_init(&s, MATCH_SEQUENTIAL, "");
    index_release(&s.index);
    index_init(&s.index, &s.store.store, &(struct params_rules){ .include_meta = false }, NULL);
    for (int i = 0; i < 2; i++) {
        struct record r = { .kind = RECORD_MESSAGE, .has = HAS_SEQ };
        struct err e = ERR_NONE;
        struct terse_scanned j;

        r.message.dir = i ? TO_CLIENT : TO_SERVER;
        r.message.msg = terse_scan(&j, texts[i]);
        assert_true(s.index.sink.put(&s.index.sink, &r, &e));
        terse_scanned_release(&j);
    }
    assert_str(json_raw(loaded_index_call(&s, 1)), STR("{   \"id\": 1,   \"method\": \"a\" }"));
    assert_str(json_raw(loaded_index_step(&s, 1)),
               STR("{   \"id\": 1,\r   \"result\": \"\\n\" }"));
    loaded_index_release(&s);
}

static void a_stateless_request_makes_the_index_stateless(void **state)
{
    static const struct {
        const char *version;
        bool modern;
    } rows[] = {
        { "2026-07-28", true },
        { "2026`u002d07-28", true },
        { "2025-11-25", false },
        { "1999-01-01", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct loaded_index s;
        struct buf text;

        buf_init(&text, 1 << 16);
        buf_printf(&text,
                   "c2s {'id':1,'method':'tools/list','params':{'_meta':{"
                   "'io.modelcontextprotocol/protocolVersion':'%s'}}}",
                   rows[i].version);
        loaded_index_init(&s, MATCH_SEQUENTIAL, buf_z(&text));
        if (s.index.has_stateless != rows[i].modern)
            fail_msg("%s", rows[i].version);
        loaded_index_release(&s);
        buf_release(&text);
    }
}

/* Call by call: "1/2" is a call of session 1 that counts as its second. */
static void check_sessions(const char *recording, const char *want)
{
    struct loaded_index s;
    struct buf text;

    buf_init(&text, 1 << 16);
    loaded_index_init(&s, MATCH_SEQUENTIAL, recording);
    for (uint32_t op = 1; op < s.index.call_count; op++)
        buf_printf(&text, "%s%u%s", op > 1 ? " " : "", s.index.calls[op].session,
                   s.index.calls[op].flags & CALL_MATCHABLE ? "" : "-");
    buf_add(&text, STR(":"));
    for (size_t i = 0; i < s.index.sessions_with_calls_count; i++)
        buf_printf(&text, " %u", s.index.sessions_with_calls[i]);
    assert_str(buf_str(&text), str_z(want));
    buf_release(&text);
    loaded_index_release(&s);
}

static void every_initialize_and_every_connection_begins_a_session(void **state)
{
    (void)state;
    check_sessions("c2s {'id':1,'method':'initialize'}\nc2s {'id':2,'method':'tools/list'}\n"
                   "c2s {'id':3,'method':'initialize'}\nc2s {'id':4,'method':'tools/list'}\n"
                   "conn=2 c2s {'id':1,'method':'initialize'}\n"
                   "conn=2 c2s {'id':2,'method':'tools/list'}\n"
                   "c2s {'id':5,'method':'tools/list'}\n",
                   "0- 0 1- 1 2- 2 1: 0 1 2");
}

static void a_session_without_requests_is_not_replayed(void **state)
{
    (void)state;
    check_sessions("c2s {'id':1,'method':'initialize'}\n"
                   "conn=1 c2s {'id':1,'method':'server/discover'}\n"
                   "conn=2 c2s {'id':1,'method':'initialize'}\n"
                   "conn=2 c2s {'id':2,'method':'tools/list'}\n",
                   "0- 1- 2- 2: 2");
    check_sessions("c2s {'id':1,'method':'initialize'}\n", "0-: 0");
}

#define MODERN "'params':{'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'}}"

static void stateless_requests_share_one_session(void **state)
{
    (void)state;
    check_sessions("conn=1 c2s {'id':1,'method':'tools/list'," MODERN "}\n"
                   "conn=2 c2s {'id':1,'method':'tools/list'," MODERN "}\n"
                   "conn=3 c2s {'id':1,'method':'initialize'}\n"
                   "conn=3 c2s {'id':1,'method':'tools/list'," MODERN "}\n",
                   "0 0 2- 2: 2 0");
}

static void ids_of_two_connections_are_separate(void **state)
{
    (void)state;
    check("conn=1 c2s {'id':1,'method':'a'}\n"
          "conn=2 c2s {'id':1,'method':'b'}\n"
          "conn=1 s2c {'method':'n','params':{'is':'under a'}}\n"
          "conn=2 s2c {'id':1,'result':{'is':'to b'}}\n"
          "conn=1 s2c {'id':1,'result':{'is':'to a'}}\n"
          "conn=2 s2c {'method':'n','params':{'is':'after b'}}\n",
          "a: send:under a answer:to a\n"
          "b: answer:to b send:after b\n");
}

static void a_subscription_stays_open_and_takes_no_messages(void **state)
{
    (void)state;
    check("c2s {'id':'L','method':'subscriptions/listen'}\n"
          "s2c {'method':'notifications/subscriptions/acknowledged','params':{'is':'ack',"
          "'_meta':{'io.modelcontextprotocol/subscriptionId':'L'}}}\n"
          "c2s {'id':1,'method':'tools/call','params':{'name':'t'}}\n"
          "s2c {'method':'n','params':{'is':'under t'}}\n"
          "s2c {'id':1,'result':{'is':'t'}}\n"
          "s2c {'method':'notifications/tools/list_changed','params':{'is':'news','_meta':{"
          "'io.modelcontextprotocol/subscriptionId':'L'}}}\n"
          "s2c {'id':'L','result':{'is':'the end'}}\n",
          "subscriptions/listen: event:ack\n"
          "tools/call t: send:under t answer:t event:news event:the end\n");
}

static void a_rejected_subscription_has_a_response(void **state)
{
    (void)state;
    check("c2s {'id':'L','method':'subscriptions/listen'}\n"
          "s2c {'id':'L','error':{'is':'no'}}\n",
          "subscriptions/listen: answer:no\n");
}

static void a_redelivered_message_is_not_replayed_twice(void **state)
{
    (void)state;
    check("session=1 x=1 c2s {'id':1,'method':'a'}\n"
          "session=1 x=1 s2c {'id':1,'result':{'is':'one'}}\n"
          "session=1 x=2 redelivers=2 s2c {'id':1,'result':{'is':'again'}}\n",
          "a: answer:one\n");
}

static void a_full_message_store_is_an_error(void **state)
{
    struct err e = ERR_NONE;
    struct record r = { .kind = RECORD_MESSAGE };
    struct terse_scanned j;
    struct loaded_index s;

    (void)state;
    loaded_index_init(&s, MATCH_SEQUENTIAL, "");
    index_release(&s.index);
    index_init(&s.index, &s.store.store, &(struct params_rules){ .include_meta = false }, NULL);
    s.store.text.max = 4;
    r.message.msg = terse_scan(&j, "{'id':1,'method':'a'}");
    assert_false(s.index.sink.put(&s.index.sink, &r, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    terse_scanned_release(&j);
    loaded_index_release(&s);
}

static void an_sse_event_message_without_retry_is_not_stored(void **state)
{
    struct message_store_memory shelf;
    struct index s;

    (void)state;
    message_store_memory_init(&shelf);
    index_init(&s, &shelf.store, &(struct params_rules){ 0 }, NULL);
    index_note_sse_event(&s, 1, STR_NONE);
    index_note_sse_event(&s, 1, STR("{\"n\":1}"));
    index_note_sse_event(&s, 2, STR("{\"n\":2,\"id\":\"a\",\"event\":\"message\"}"));
    index_note_sse_event(&s, 3, STR("{\"event\":\"x\""));
    assert_int_equal(s.sse_events.count, 0);
    for (uint32_t step = 0; step < 5; step++) {
        assert_str(index_sse_event(&s, step)->name, STR("message"));
        assert_int_equal(index_sse_event(&s, step)->retry_ms, -1);
    }
    index_release(&s);
    message_store_memory_release(&shelf);
}

static void other_names_and_retry_times_of_sse_events_are_stored(void **state)
{
    static const struct {
        const char *event, *name;
        int64_t retry_ms;
    } cases[] = {
        { "{\"n\":1,\"retry\":250}", "message", 250 },
        { "{\"n\":1,\"event\":\"message\",\"retry\":0}", "message", 0 },
        { "{\"n\":1,\"event\":\"other\"}", "other", -1 },
        { "{\"event\": \"other\", \"retry\": 7}", "other", 7 },
        { "{\"event\":\"\"}", "message", -1 },
        { "{\"event\":1}", "message", -1 },
        /* This was not sent. */
        { "{\"event\":\"a\\nid: 1\"}", "message", -1 },
        { "{\"event\":\"a\\r\"}", "message", -1 },
        { "{\"retry\":-5}", "message", -1 },
        { "{\"retry\":1e400}", "message", -1 },
        { "{\"retry\":\"1\"}", "message", -1 },
    };
    struct message_store_memory shelf;
    struct index s;

    (void)state;
    message_store_memory_init(&shelf);
    index_init(&s, &shelf.store, &(struct params_rules){ 0 }, NULL);
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++)
        index_note_sse_event(&s, i + 1, str_z(cases[i].event));
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_str(index_sse_event(&s, i + 1)->name, str_z(cases[i].name));
        assert_int_equal(index_sse_event(&s, i + 1)->retry_ms, cases[i].retry_ms);
    }
    index_release(&s);
    message_store_memory_release(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(responses_belong_to_their_requests_in_any_order),
        cmocka_unit_test(messages_before_the_first_request_are_the_opening),
        cmocka_unit_test(a_message_during_one_open_request_belongs_to_it),
        cmocka_unit_test(with_no_or_several_open_requests_a_message_follows_the_last_one),
        cmocka_unit_test(progress_belongs_to_the_request_with_its_token),
        cmocka_unit_test(a_token_used_again_belongs_to_the_later_request),
        cmocka_unit_test(a_step_waits_for_server_requests_that_were_answered_before_it),
        cmocka_unit_test(an_unanswered_server_request_delays_nothing),
        cmocka_unit_test(initialized_is_at_its_recorded_position),
        cmocka_unit_test(an_early_initialized_does_not_delay_the_response),
        cmocka_unit_test(a_message_after_a_notification_waits_for_it_without_initialize),
        cmocka_unit_test(a_message_of_a_request_waits_for_no_notification),
        cmocka_unit_test(no_message_belongs_to_a_cancelled_request),
        cmocka_unit_test(after_a_cancellation_the_other_request_is_the_only_open_one),
        cmocka_unit_test(a_cancelled_request_may_be_answered),
        cmocka_unit_test(the_server_cancels_only_its_own_requests),
        cmocka_unit_test(ids_of_the_two_directions_are_separate),
        cmocka_unit_test(a_response_without_request_is_left_out),
        cmocka_unit_test(other_records_are_skipped),
        cmocka_unit_test(invalid_jsonrpc_messages_are_skipped),
        cmocka_unit_test(a_message_over_several_lines_becomes_one_line),
        cmocka_unit_test(a_stateless_request_makes_the_index_stateless),
        cmocka_unit_test(every_initialize_and_every_connection_begins_a_session),
        cmocka_unit_test(a_session_without_requests_is_not_replayed),
        cmocka_unit_test(stateless_requests_share_one_session),
        cmocka_unit_test(ids_of_two_connections_are_separate),
        cmocka_unit_test(a_subscription_stays_open_and_takes_no_messages),
        cmocka_unit_test(a_rejected_subscription_has_a_response),
        cmocka_unit_test(a_redelivered_message_is_not_replayed_twice),
        cmocka_unit_test(a_full_message_store_is_an_error),
        cmocka_unit_test(an_sse_event_message_without_retry_is_not_stored),
        cmocka_unit_test(other_names_and_retry_times_of_sse_events_are_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
