#include "replay/passthrough.h"

#include <stdio.h>

#include "engine-run.h"

struct bench {
    struct engine_run stepper;
    struct actions actions;
    struct passthrough up;
    uint64_t timers;
};

static void ignore_event(void *engine, const struct event *ev)
{
    (void)engine;
    (void)ev;
}

static void set_up_one(struct bench *b, bool returns)
{
    b->timers = 0;
    engine_run_init(&b->stepper, TO_CLIENT, ignore_event, b);
    actions_init(&b->actions, &b->stepper.out);
    passthrough_init(&b->up, &b->actions, &b->timers, returns);
}

static void set_up(struct bench *b)
{
    set_up_one(b, false);
}

static void tear_down(struct bench *b)
{
    passthrough_release(&b->up);
    actions_release(&b->actions);
    engine_run_release(&b->stepper);
}

enum sender {
    CLIENT_REQUEST,
    CLIENT_STATELESS_REQUEST,
    CLIENT_INITIALIZES,
    CLIENT_RESPONDS,
    CLIENT_CANCELS,
    CLIENT_NOTIFIES,
    SERVER
};

static bool feed_line(struct bench *b, enum sender sender, const char *text)
{
    struct record r = { .kind = RECORD_MESSAGE };
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, text), &s.arena);
    bool was_handled = true;

    r.message.msg = m.root;
    if (sender == CLIENT_INITIALIZES)
        passthrough_note_initialize(&b->up, &m);
    else if (sender == CLIENT_RESPONDS)
        was_handled = passthrough_handle_client_response(&b->up, &m);
    else if (sender == CLIENT_NOTIFIES)
        passthrough_handle_notification(&b->up, &m);
    else if (sender == CLIENT_CANCELS)
        was_handled = passthrough_handle_cancel(&b->up, &m, b);
    else if (sender == SERVER)
        passthrough_handle_record(&b->up, &r);
    else
        passthrough_forward(&b->up, &m, sender == CLIENT_STATELESS_REQUEST, b);
    terse_scanned_release(&s);
    return was_handled;
}

#define INITIALIZE                                                                             \
    "up<< {'jsonrpc':'2.0','id':'mcpreel-greeting','method':'initialize','params':"

static void the_upstream_gets_initialize_then_the_request(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    feed_line(&b, CLIENT_INITIALIZES, "{'id':0,'method':'initialize','params':{'who':'live'}}");
    assert_actions(&b.stepper, "");
    feed_line(&b, CLIENT_REQUEST, "{'id':'x','method':'m','params':{'a':1.0}}");
    feed_line(&b, CLIENT_REQUEST, "{'id':7,'method':'n'}");
    assert_actions(&b.stepper,
                   "start upstream\n" INITIALIZE "{'who':'live'}}\ntimer 1 in 60000000 us\n");
    feed_line(&b, SERVER, "{'id':'mcpreel-greeting','result':{}}");
    assert_actions(
        &b.stepper,
        "up<< {'jsonrpc':'2.0','method':'notifications/initialized'}\n"
        "up<< {'id':1,'method':'m','params':{'a':1.0}}\nup<< {'id':2,'method':'n'}\n");
    feed_line(&b, SERVER, "{'id':2,'error':{'code':1}}");
    feed_line(&b, SERVER, "{ 'id':1, 'result':{'x':1.50}}");
    feed_line(&b, SERVER, "{'id':1,'result':{'twice':true}}");
    assert_actions(&b.stepper,
                   "<< {'id':7,'error':{'code':1}}\n<< { 'id':'x', 'result':{'x':1.50}}\n");
    assert_false(passthrough_has_pending(&b.up));
    assert_int_equal(b.up.forwarded, 2);
    tear_down(&b);
}

static void a_stateless_request_needs_no_initialize(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    feed_line(&b, CLIENT_STATELESS_REQUEST, "{'id':3,'method':'m'}");
    assert_actions(&b.stepper,
                   "start upstream\ntimer 1 in 300000000 us\nup<< {'id':1,'method':'m'}\n");
    assert_true(passthrough_has_pending(&b.up));
    tear_down(&b);
}

/* Where messages go, as far as clients on HTTP are concerned. */
struct destination_log {
    struct action_sink out;
    struct buf text;
};

static void note_destination(struct action_sink *self, const struct action *a)
{
    struct destination_log *w = (struct destination_log *)self;

    if (a->kind == ACTION_SEND)
        buf_printf(&w->text, "%llu%s%s %.*s\n", (unsigned long long)a->route.exchange,
                   a->route.is_final ? " last" : "", a->route.is_request ? " asks" : "",
                   STR_ARG(a->text));
}

static void responses_and_progress_go_back_to_the_client(void **state)
{
    struct bench b;
    struct destination_log w = { .out = { note_destination } };

    (void)state;
    set_up(&b);
    buf_init(&w.text, 1 << 16);
    b.actions.route.exchange = 4;
    feed_line(&b, CLIENT_STATELESS_REQUEST,
              "{'id':1,'method':'m','params':{'_meta':{'progressToken':'t'}}}");
    b.actions.route.exchange = 5;
    feed_line(&b, CLIENT_STATELESS_REQUEST,
              "{'id':1,'method':'m','params':{'_meta':{'progressToken':'t'}}}");
    assert_actions(&b.stepper,
                   "start upstream\ntimer 1 in 300000000 us\n"
                   "up<< {'id':1,'method':'m','params':{'_meta':{'progressToken':1}}}\n"
                   "up<< {'id':2,'method':'m','params':{'_meta':{'progressToken':2}}}\n");
    b.actions.out = &w.out;
    feed_line(&b, SERVER, "{'method':'notifications/progress','params':{'progressToken':2}}");
    feed_line(&b, SERVER, "{'method':'notifications/progress','params':{'progressToken':'t'}}");
    feed_line(&b, SERVER, "{'method':'notifications/message'}");
    feed_line(&b, SERVER, "{'id':7,'method':'ping'}");
    feed_line(&b, SERVER, "{'id':2,'result':{}}");
    feed_line(&b, SERVER, "{'id':1,'result':{}}");
    feed_line(&b, SERVER, "{'method':'notifications/message'}");
    assert_str(buf_str(&w.text),
               STR("5 {\"method\":\"notifications/progress\",\"params\":"
                   "{\"progressToken\":\"t\"}}\n"
                   "4 {\"method\":\"notifications/message\"}\n"
                   "4 asks {\"id\":\"mcpreel-up-3\",\"method\":\"ping\"}\n"
                   "5 last {\"id\":1,\"result\":{}}\n4 last {\"id\":1,\"result\":{}}\n"
                   "0 {\"method\":\"notifications/message\"}\n"));
    buf_release(&w.text);
    tear_down(&b);
}

static void requests_of_a_disconnected_client_are_cancelled(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    b.actions.route.exchange = 4;
    feed_line(&b, CLIENT_STATELESS_REQUEST, "{'id':1,'method':'m'}");
    b.actions.route.exchange = 5;
    feed_line(&b, CLIENT_STATELESS_REQUEST, "{'id':1,'method':'m'}");
    buf_clear(&b.stepper.actions);
    passthrough_drop_calls(&b.up, NULL, 0); /* another client */
    passthrough_drop_calls(&b.up, &b, 6);
    assert_actions(&b.stepper, "");
    passthrough_drop_calls(&b.up, &b, 5);
    assert_actions(&b.stepper, "up<< {'jsonrpc':'2.0','method':'notifications/cancelled',"
                               "'params':{'requestId':2}}\n");
    feed_line(&b, SERVER, "{'id':2,'result':{}}");
    assert_actions(&b.stepper, "");
    assert_true(passthrough_has_pending(&b.up));
    passthrough_drop_calls(&b.up, &b, 0);
    assert_false(passthrough_has_pending(&b.up));
    tear_down(&b);
}

/* An unsent request need not be cancelled. */
static void a_request_that_waits_for_initialize_is_dropped(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    feed_line(&b, CLIENT_REQUEST, "{'id':1,'method':'m'}");
    buf_clear(&b.stepper.actions);
    passthrough_drop_calls(&b.up, &b, 0);
    assert_actions(&b.stepper, "");
    tear_down(&b);
}

static void messages_of_the_upstream_are_forwarded(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    feed_line(&b, CLIENT_STATELESS_REQUEST, "{'id':3,'method':'m'}");
    buf_clear(&b.stepper.actions);
    feed_line(&b, SERVER, "{'method':'notifications/message'}");
    feed_line(&b, SERVER, "{'id':0,'method':'roots/list'}");
    assert_actions(&b.stepper, "<< {'method':'notifications/message'}\n"
                               "<< {'id':'mcpreel-up-2','method':'roots/list'}\n");
    assert_false(feed_line(&b, CLIENT_RESPONDS, "{'id':0,'result':{}}"));
    assert_true(feed_line(&b, CLIENT_RESPONDS, "{'id':'mcpreel-up-2','result':{'roots':[]}}"));
    assert_actions(&b.stepper, "up<< {'id':0,'result':{'roots':[]}}\n");
    assert_false(feed_line(&b, CLIENT_RESPONDS, "{'id':'mcpreel-up-2','result':{}}"));
    tear_down(&b);
}

static void a_cancellation_is_forwarded_with_our_id(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    feed_line(&b, CLIENT_STATELESS_REQUEST, "{'id':'x','method':'m'}");
    buf_clear(&b.stepper.actions);
    assert_false(feed_line(&b, CLIENT_CANCELS, "{'method':'c','params':{'requestId':1}}"));
    assert_true(
        feed_line(&b, CLIENT_CANCELS, "{'method':'c','params':{'requestId':'x','why':'w'}}"));
    assert_actions(&b.stepper, "up<< {'method':'c','params':{'requestId':1,'why':'w'}}\n");
    feed_line(&b, SERVER, "{'id':1,'result':{}}");
    assert_actions(&b.stepper, "");
    tear_down(&b);
}

#define GONE                                                                                   \
    "'error':{'code':-32000,'message':'not recorded, and the passthrough server has "          \
    "ended'}}\n"

static void pending_requests_of_an_ended_upstream_get_an_error(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    feed_line(&b, CLIENT_REQUEST, "{'id':1,'method':'m'}");
    buf_clear(&b.stepper.actions);
    passthrough_handle_closed(&b.up, STR("it fell"));
    passthrough_handle_closed(&b.up, STR("it fell again"));
    assert_actions(&b.stepper, "report error passthrough server: it fell\n"
                               "<< {'jsonrpc':'2.0','id':1," GONE);
    feed_line(&b, CLIENT_REQUEST, "{'id':2,'method':'m'}");
    assert_actions(&b.stepper, "<< {'jsonrpc':'2.0','id':2," GONE);
    assert_true(b.up.failed);
    assert_false(passthrough_has_pending(&b.up));
    tear_down(&b);
}

static void an_upstream_that_rejects_initialize_has_ended(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    feed_line(&b, CLIENT_REQUEST, "{'id':1,'method':'m'}");
    buf_clear(&b.stepper.actions);
    feed_line(&b, SERVER, "{'id':'mcpreel-greeting','error':{'code':-1,'message':'no'}}");
    assert_actions(&b.stepper, "report error passthrough server: it rejected initialize: no\n"
                               "<< {'jsonrpc':'2.0','id':1," GONE);
    tear_down(&b);
}

static void notifications_are_forwarded_to_a_ready_upstream(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    feed_line(&b, CLIENT_NOTIFIES, "{'method':'notifications/own'}");
    feed_line(&b, CLIENT_REQUEST, "{'id':1,'method':'m'}");
    feed_line(&b, CLIENT_NOTIFIES, "{'method':'notifications/own'}");
    feed_line(&b, SERVER, "{'id':'mcpreel-greeting','result':{}}");
    buf_clear(&b.stepper.actions);
    feed_line(&b, CLIENT_NOTIFIES, "{'method':'notifications/initialized'}");
    feed_line(&b, CLIENT_NOTIFIES, "{'method':'notifications/own','params':{'a':1.0}}");
    assert_actions(&b.stepper, "up<< {'method':'notifications/own','params':{'a':1.0}}\n");
    tear_down(&b);
}

static void a_silent_upstream_times_out(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    feed_line(&b, CLIENT_STATELESS_REQUEST, "{'id':1,'method':'m'}");
    buf_clear(&b.stepper.actions);
    passthrough_abort(&b.up, STR("it does not respond"));
    assert_actions(&b.stepper, "report error passthrough server: it does not respond\n"
                               "<< {'jsonrpc':'2.0','id':1," GONE);
    assert_false(passthrough_has_pending(&b.up));
    feed_line(&b, SERVER, "{'id':1,'result':{}}");
    assert_actions(&b.stepper, "");
    tear_down(&b);
}

static void an_upstream_without_initialize_response_times_out(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    feed_line(&b, CLIENT_REQUEST, "{'id':1,'method':'m'}");
    buf_clear(&b.stepper.actions);
    assert_false(passthrough_handle_timer(&b.up, b.up.silence_timer + 1)); /* another's */
    assert_true(passthrough_handle_timer(&b.up, b.up.silence_timer));
    assert_actions(&b.stepper,
                   "report error passthrough server: it did not respond to initialize\n"
                   "<< {'jsonrpc':'2.0','id':1," GONE);
    assert_true(b.up.failed);
    assert_false(passthrough_handle_timer(&b.up, 0));
    tear_down(&b);
}

static void only_silence_with_a_pending_response_counts(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    feed_line(&b, CLIENT_STATELESS_REQUEST, "{'id':1,'method':'m'}");
    feed_line(&b, SERVER, "{'method':'notifications/message'}");
    buf_clear(&b.stepper.actions);
    assert_true(
        passthrough_handle_timer(&b.up, b.up.silence_timer)); /* it has sent a message */
    assert_actions(&b.stepper, "timer 2 in 300000000 us\n");
    feed_line(&b, CLIENT_STATELESS_REQUEST, "{'id':2,'method':'m'}");
    buf_clear(&b.stepper.actions);
    assert_true(passthrough_handle_timer(&b.up, b.up.silence_timer)); /* it was just asked */
    assert_actions(&b.stepper, "timer 3 in 300000000 us\n");
    feed_line(&b, SERVER, "{'id':1,'result':{}}");
    feed_line(&b, SERVER, "{'id':2,'result':{}}");
    buf_clear(&b.stepper.actions);
    assert_true(passthrough_handle_timer(&b.up, b.up.silence_timer));
    assert_actions(&b.stepper, ""); /* no request is pending */
    feed_line(&b, CLIENT_STATELESS_REQUEST, "{'id':3,'method':'m'}");
    assert_actions(&b.stepper, "timer 4 in 300000000 us\nup<< {'id':3,'method':'m'}\n");
    assert_true(passthrough_handle_timer(&b.up, b.up.silence_timer));
    assert_actions(&b.stepper, "report error passthrough server: it sent nothing for 300 s\n"
                               "<< {'jsonrpc':'2.0','id':3," GONE);
    tear_down(&b);
}

static void an_upstream_that_ends_without_pending_requests_has_not_failed(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    feed_line(&b, CLIENT_STATELESS_REQUEST, "{'id':1,'method':'m'}");
    feed_line(&b, SERVER, "{'id':7,'method':'q'}");
    feed_line(&b, SERVER, "{'id':1,'result':{}}");
    buf_clear(&b.stepper.actions);
    passthrough_handle_closed(&b.up, STR("done"));
    assert_actions(&b.stepper, "report warn passthrough server: done\n");
    assert_false(b.up.failed);
    assert_true(feed_line(&b, CLIENT_RESPONDS, "{'id':'mcpreel-up-2','result':{}}"));
    feed_line(&b, CLIENT_NOTIFIES, "{'method':'notifications/own'}");
    feed_line(&b, SERVER, "{'id':1,'result':{'late':true}}");
    assert_actions(&b.stepper, "");
    assert_false(b.up.failed);
    feed_line(&b, CLIENT_STATELESS_REQUEST, "{'id':2,'method':'m'}");
    assert_actions(&b.stepper, "<< {'jsonrpc':'2.0','id':2," GONE);
    assert_true(b.up.failed);
    tear_down(&b);
}

#define STATUS_500 "'message':'m','data':{'httpStatus':500}}}"

static void send_and_respond(struct bench *b, const char *answer)
{
    feed_line(b, CLIENT_STATELESS_REQUEST, "{'id':7,'method':'m'}");
    buf_clear(&b->stepper.actions);
    feed_line(b, SERVER, answer);
}

/* A status of HTTP in an error means something only if we have put it there. */
static void an_error_response_with_any_data_is_forwarded(void **state)
{
    struct bench b;

    (void)state;
    set_up_one(&b, false);
    send_and_respond(&b, "{'id':1,'error':{'code':-32000," STATUS_500);
    assert_actions(&b.stepper, "<< {'id':7,'error':{'code':-32000," STATUS_500 "\n");
    tear_down(&b);
    set_up_one(&b, true);
    send_and_respond(&b, "{'id':1,'error':{'code':-32603," STATUS_500);
    assert_actions(&b.stepper, "<< {'id':7,'error':{'code':-32603," STATUS_500 "\n");
    send_and_respond(&b, "{'id':2,'error':{'code':-32000," STATUS_500);
    assert_actions(&b.stepper, "report warn passthrough server: m\n"
                               "<< {'id':7,'error':{'code':-32000," STATUS_500 "\n");
    tear_down(&b);
}

/* A request that needs no initialize does not wait for a late one, and does not fail with it.
 */
static void a_failed_late_initialize_fails_no_other_request(void **state)
{
    struct bench b;

    (void)state;
    set_up_one(&b, true);
    feed_line(&b, CLIENT_REQUEST, "{'id':1,'method':'m'}");
    assert_true(passthrough_handle_timer(&b.up, b.up.silence_timer));
    buf_clear(&b.stepper.actions);
    feed_line(&b, CLIENT_STATELESS_REQUEST, "{'id':2,'method':'m'}");
    feed_line(&b, SERVER, "{'id':'mcpreel-greeting','error':{'code':-1,'message':'no'}}");
    feed_line(&b, SERVER, "{'id':2,'result':{}}");
    assert_actions(&b.stepper, "timer 2 in 300000000 us\nup<< {'id':2,'method':'m'}\n"
                               "report info the passthrough server responds again\n"
                               "<< {'id':2,'result':{}}\n");
    tear_down(&b);
}

static void rejected_requests_are_freed(void **state)
{
    struct bench b;

    (void)state;
    for (int returns = 0; returns < 2; returns++) {
        set_up_one(&b, returns);
        for (int i = 0; i < 1000; i++) {
            char answer[128];

            feed_line(&b, CLIENT_STATELESS_REQUEST, "{'id':3,'method':'m'}");
            snprintf(answer, sizeof answer,
                     "{'id':%d,'error':{'code':-32000,'message':'no\\nsuch thing'}}", i + 1);
            feed_line(&b, SERVER, answer);
        }
        assert_int_equal(b.up.forwarded, 1000);
        assert_true(b.up.arena.block_bytes <= 1024);
        tear_down(&b);
    }
}

static void the_reason_of_a_rejected_initialize_is_freed(void **state)
{
    struct bench b;

    (void)state;
    set_up_one(&b, true);
    for (int i = 0; i < 1000; i++) {
        feed_line(&b, CLIENT_REQUEST, "{'id':3,'method':'m'}");
        feed_line(
            &b, SERVER,
            i % 2 ? "{'id':'mcpreel-greeting','error':{'code':-1,'message':'not\\nnow'}}"
                  : "{'id':'mcpreel-greeting','error':{'code':-32000,'message':'no\\nway'}}");
    }
    assert_int_equal(b.up.forwarded, 1000);
    assert_true(b.up.arena.block_bytes <= 1024);
    tear_down(&b);
}

static void server_requests_are_freed(void **state)
{
    struct bench b;

    (void)state;
    set_up(&b);
    feed_line(&b, CLIENT_STATELESS_REQUEST, "{'id':3,'method':'m'}");
    for (int i = 0; i < 1000; i++) {
        char answer[128];

        feed_line(&b, SERVER, "{'id':'q','method':'roots\\/list'}");
        snprintf(answer, sizeof answer, "{'id':'mcpreel-up-%d','result':{}}", i + 2);
        assert_true(feed_line(&b, CLIENT_RESPONDS, answer));
    }
    assert_int_equal(b.up.server_requests.count, 0);
    assert_true(b.up.arena.block_bytes <= 1024);
    tear_down(&b);
}

/* No request waits for the response then, so it does not excuse silence. */
static void open_server_requests_of_a_failed_upstream_are_cancelled(void **state)
{
    struct bench b;

    (void)state;
    set_up_one(&b, true);
    feed_line(&b, CLIENT_STATELESS_REQUEST, "{'id':3,'method':'m'}");
    feed_line(&b, SERVER, "{'id':'q','method':'roots/list'}");
    passthrough_abort(&b.up, STR("it is slow"));
    assert_int_equal(b.up.server_requests.count, 0);
    feed_line(&b, CLIENT_STATELESS_REQUEST, "{'id':4,'method':'m'}");
    buf_clear(&b.stepper.actions);
    assert_true(feed_line(&b, CLIENT_RESPONDS, "{'id':'mcpreel-up-2','result':{}}"));
    assert_false(feed_line(&b, CLIENT_RESPONDS, "{'id':'mcpreel-up-3','result':{}}"));
    assert_true(passthrough_handle_timer(&b.up, b.up.silence_timer)); /* it was just asked */
    assert_true(passthrough_handle_timer(&b.up, b.up.silence_timer));
    assert_actions(
        &b.stepper,
        "timer 2 in 300000000 us\n"
        "report warn passthrough server: it sent nothing for 300 s\n"
        "<< {'jsonrpc':'2.0','id':4,'error':{'code':-32000,'message':'not recorded, and "
        "the passthrough server does not respond: it sent nothing for 300 s'}}\n");
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_upstream_gets_initialize_then_the_request),
        cmocka_unit_test(a_stateless_request_needs_no_initialize),
        cmocka_unit_test(responses_and_progress_go_back_to_the_client),
        cmocka_unit_test(requests_of_a_disconnected_client_are_cancelled),
        cmocka_unit_test(a_request_that_waits_for_initialize_is_dropped),
        cmocka_unit_test(messages_of_the_upstream_are_forwarded),
        cmocka_unit_test(a_cancellation_is_forwarded_with_our_id),
        cmocka_unit_test(pending_requests_of_an_ended_upstream_get_an_error),
        cmocka_unit_test(an_upstream_that_rejects_initialize_has_ended),
        cmocka_unit_test(notifications_are_forwarded_to_a_ready_upstream),
        cmocka_unit_test(a_silent_upstream_times_out),
        cmocka_unit_test(an_upstream_without_initialize_response_times_out),
        cmocka_unit_test(only_silence_with_a_pending_response_counts),
        cmocka_unit_test(an_upstream_that_ends_without_pending_requests_has_not_failed),
        cmocka_unit_test(an_error_response_with_any_data_is_forwarded),
        cmocka_unit_test(a_failed_late_initialize_fails_no_other_request),
        cmocka_unit_test(rejected_requests_are_freed),
        cmocka_unit_test(the_reason_of_a_rejected_initialize_is_freed),
        cmocka_unit_test(server_requests_are_freed),
        cmocka_unit_test(open_server_requests_of_a_failed_upstream_are_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
