#include "engine/script.h"

#include "terse.h"
#include "test.h"

static const char *const step_names[] = {
    [STEP_SEND] = "send",     [STEP_PROGRESS] = "progress", [STEP_ASK] = "ask",
    [STEP_ANSWER] = "answer", [STEP_HEAR] = "hear",
};

/* "name" of {"id":1,"name":...}: what tells messages apart in these tests. */
static struct str told_apart_by(struct str raw)
{
    size_t at = 0;

    while (at < raw.len && !str_starts(str_skip(raw, at), STR("\"is\":\"")))
        at++;
    raw = str_skip(raw, at + 6);
    return str_n(raw.at, str_find(raw, '"'));
}

/* One line per strand: "METHOD SUBJECT(flags): step:what step:what+" where a plus
 * means that the step does not wait for answers to the questions before it. */
static void write_strand(struct buf *to, const struct script_op *op)
{
    buf_add(to, op->method);
    if (op->subject.len)
        buf_printf(to, " %.*s", STR_ARG(op->subject));
    buf_printf(to, "%s%s:", op->cancelled ? " cancelled" : "",
               op->method.len && !op->answered ? " unanswered" : "");
    for (const struct script_step *s = op->first; s; s = s->next) {
        struct str is = told_apart_by(s->raw);

        assert_ptr_equal(s->op, op);
        buf_printf(to, " %s%s%.*s%s", step_names[s->kind], is.len ? ":" : "", STR_ARG(is),
                   s->waits ? "" : "+");
    }
    buf_add_ch(to, '\n');
}

static void check(const char *recording, const char *want)
{
    struct script s;
    struct buf text;

    script_init(&s);
    buf_init(&text, 1 << 16);
    terse_pour(&s.sink, recording);
    script_finish(&s);
    if (s.opening.first)
        write_strand(&text, &s.opening);
    for (size_t i = 0; i < s.count; i++) {
        assert_int_equal(s.ops[i]->index, i);
        write_strand(&text, s.ops[i]);
    }
    assert_str(buf_str(&text), str_z(want));
    buf_release(&text);
    script_release(&s);
}

static void answers_go_to_their_requests_in_any_order(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'tools/call','params':{'name':'a'}}\n"
          "c2s {'id':2,'method':'resources/read','params':{'uri':'u:/x'}}\n"
          "s2c {'id':2,'result':{'is':'two'}}\n"
          "s2c {'id':1,'error':{'is':'one'}}\n",
          "tools/call a: answer:one\n"
          "resources/read u:/x: answer:two\n");
}

static void what_came_before_anybody_asked_is_the_opening(void **state)
{
    (void)state;
    check("s2c {'method':'notifications/message','params':{'is':'early'}}\n"
          "c2s {'id':1,'method':'a'}\n"
          "s2c {'id':1,'result':{'is':'one'}}\n",
          ": send:early\n"
          "a: answer:one\n");
}

static void what_is_sent_while_one_request_is_open_belongs_to_it(void **state)
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
          "b: send:x ask:q answer:two\n");
}

static void with_none_or_several_open_it_follows_the_last_server_message(void **state)
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

static void progress_goes_to_the_request_that_asked_for_it(void **state)
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

static void a_step_waits_if_all_questions_had_been_answered(void **state)
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
          "a: ask:q1 ask:q2+ send:meanwhile+ send:still+ answer:one\n");
}

static void a_question_never_answered_holds_nothing_up(void **state)
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

static void initialized_stands_where_it_was_said(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'initialize'}\n"
          "s2c {'method':'n','params':{'is':'before'}}\n"
          "s2c {'id':1,'result':{'is':'hello'}}\n"
          "s2c {'method':'n','params':{'is':'between'}}\n"
          "c2s {'method':'notifications/initialized'}\n"
          "s2c {'method':'n','params':{'is':'after'}}\n",
          "initialize: send:before answer:hello send:between hear send:after\n");
}

/* Who pipes a file into a server says all at once. A client that waits for the
 * answer before it says "initialized" must not wait for ever. */
static void initialized_said_early_does_not_hold_up_the_answer(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'initialize'}\n"
          "c2s {'method':'notifications/initialized'}\n"
          "s2c {'method':'n','params':{'is':'before'}}\n"
          "s2c {'id':1,'result':{'is':'hello'}}\n"
          "s2c {'method':'n','params':{'is':'after'}}\n",
          "initialize: send:before answer:hello hear send:after\n");
}

static void what_came_after_a_notification_waits_for_it_without_a_greeting_too(void **state)
{
    (void)state;
    check("c2s {'method':'notifications/initialized'}\n"
          "s2c {'method':'n','params':{'is':'x'}}\n"
          "s2c {'method':'n','params':{'is':'y'}}\n",
          ": hear send:x send:y\n");
}

static void what_is_sent_under_a_request_waits_for_no_notification(void **state)
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

static void nothing_is_sent_under_a_cancelled_request(void **state)
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

static void of_two_requests_with_one_cancelled_the_other_is_the_open_one(void **state)
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

static void a_cancelled_request_may_still_be_answered(void **state)
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

static void the_server_cancels_its_own_questions_not_the_clients_requests(void **state)
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
          "a: ask:q answer:zero\n");
}

static void an_answer_to_nothing_is_left_out(void **state)
{
    (void)state;
    check("c2s {'id':1,'method':'a'}\n"
          "s2c {'id':2,'result':{'is':'stray'}}\n"
          "s2c {'id':null,'error':{'is':'stray'}}\n"
          "s2c {'id':1,'result':{'is':'one'}}\n"
          "s2c {'id':1,'result':{'is':'twice'}}\n",
          "a: answer:one\n");
}

static void other_lines_of_a_recording_are_passed_over(void **state)
{
    (void)state;
    check("| {'type':'header','version':'1.0','recorded_at':'2025-02-04T10:00:00Z',"
          "'upstream':'x','thoughtjack_version':'0.3.0'}\n"
          "| {'type':'raw','from':'server','text':'noise'}\n"
          "| {'type':'stderr','text':'noise'}\n"
          "| {'type':'message','seq':41,'ts':'2025-02-04T10:00:00Z','dir':'c2s',"
          "'msg':{'id':1,'method':'a'}}\n",
          "a unanswered:\n");
}

static void messages_that_are_no_json_rpc_are_passed_over(void **state)
{
    (void)state;
    check("c2s {'id':true,'method':'a'}\n"
          "s2c {'level':'info'}\n",
          "");
}

/* As jq without -c leaves it. A line break there is a blank; in a stream of lines it
 * would be the end of a message. */
static void a_message_over_several_lines_becomes_one(void **state)
{
    static const char *const texts[] = { "{\n  'id': 1,\n  'method': 'a'\n}",
                                         "{\n  'id': 1,\r\n  'result': '`n'\n}" };
    struct script s;

    (void)state;
    script_init(&s);
    for (int i = 0; i < 2; i++) {
        struct record r = { .kind = RECORD_MESSAGE, .has = HAS_SEQ };
        struct err e = ERR_NONE;
        struct terse_scanned j;

        r.message.dir = i ? TO_CLIENT : TO_SERVER;
        r.message.msg = terse_scan(&j, texts[i]);
        assert_true(s.sink.put(&s.sink, &r, &e));
        terse_scanned_release(&j);
    }
    assert_str(s.ops[0]->raw, STR("{   \"id\": 1,   \"method\": \"a\" }"));
    assert_str(s.ops[0]->first->raw, STR("{   \"id\": 1,\r   \"result\": \"\\n\" }"));
    script_release(&s);
}

static void a_modern_request_makes_the_script_modern(void **state)
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
        struct script s;
        struct buf text;

        buf_init(&text, 1 << 16);
        buf_printf(&text,
                   "c2s {'id':1,'method':'tools/list','params':{'_meta':{"
                   "'io.modelcontextprotocol/protocolVersion':'%s'}}}",
                   rows[i].version);
        script_init(&s);
        terse_pour(&s.sink, buf_z(&text));
        if (s.modern != rows[i].modern)
            fail_msg("%s", rows[i].version);
        script_release(&s);
        buf_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_go_to_their_requests_in_any_order),
        cmocka_unit_test(what_came_before_anybody_asked_is_the_opening),
        cmocka_unit_test(what_is_sent_while_one_request_is_open_belongs_to_it),
        cmocka_unit_test(with_none_or_several_open_it_follows_the_last_server_message),
        cmocka_unit_test(progress_goes_to_the_request_that_asked_for_it),
        cmocka_unit_test(a_token_used_again_belongs_to_the_later_request),
        cmocka_unit_test(a_step_waits_if_all_questions_had_been_answered),
        cmocka_unit_test(a_question_never_answered_holds_nothing_up),
        cmocka_unit_test(initialized_stands_where_it_was_said),
        cmocka_unit_test(initialized_said_early_does_not_hold_up_the_answer),
        cmocka_unit_test(what_came_after_a_notification_waits_for_it_without_a_greeting_too),
        cmocka_unit_test(what_is_sent_under_a_request_waits_for_no_notification),
        cmocka_unit_test(nothing_is_sent_under_a_cancelled_request),
        cmocka_unit_test(of_two_requests_with_one_cancelled_the_other_is_the_open_one),
        cmocka_unit_test(a_cancelled_request_may_still_be_answered),
        cmocka_unit_test(the_server_cancels_its_own_questions_not_the_clients_requests),
        cmocka_unit_test(ids_of_the_two_directions_are_separate),
        cmocka_unit_test(an_answer_to_nothing_is_left_out),
        cmocka_unit_test(other_lines_of_a_recording_are_passed_over),
        cmocka_unit_test(messages_that_are_no_json_rpc_are_passed_over),
        cmocka_unit_test(a_message_over_several_lines_becomes_one),
        cmocka_unit_test(a_modern_request_makes_the_script_modern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
