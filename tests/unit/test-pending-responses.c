#include "mcphttp/pending-responses.h"

#include "action-log.h"

/* Pending responses, and the bytes that were sent. */
struct bench {
    struct action_log scribe;
    struct pending_responses turns;
};

static void open_bench(struct bench *b)
{
    action_log_init(&b->scribe);
    pending_init(&b->turns, &b->scribe.out);
}

static void close_bench(struct bench *b)
{
    pending_release(&b->turns);
    action_log_release(&b->scribe);
}

static struct pending_response *add_request(struct bench *b, uint64_t exchange,
                                            const char *accept)
{
    struct headers f = { .at = NULL };
    struct media_type_accept takes;
    struct pending_response *x;

    headers_add(&f, STR("Accept"), str_z(accept));
    takes = media_type_accept(&f);
    x = pending_add(&b->turns, exchange, &takes, b);
    x->responses_left = 1;
    headers_release(&f);
    return x;
}

#define BOTH "application/json, text/event-stream"

static void responses_are_found_by_their_owner(void **state)
{
    struct pending_response *x;
    struct bench b;
    int other;

    (void)state;
    open_bench(&b);
    assert_null(pending_find_owned(&b.turns, &b));
    assert_false(pending_has_client(&b.turns, &b));
    x = add_request(&b, 1, BOTH);
    assert_ptr_equal(pending_find_owned(&b.turns, &b), x);
    assert_true(pending_has_client(&b.turns, &b));
    assert_null(pending_find_owned(&b.turns, &other));
    assert_false(pending_has_client(&b.turns, &other));
    x->disconnected = true;
    assert_false(pending_has_client(&b.turns, &b));
    pending_remove(&b.turns, pending_find_owned(&b.turns, &b));
    assert_null(pending_find_owned(&b.turns, &b));
    close_bench(&b);
}

static void the_first_message_decides_the_shape_of_the_response(void **state)
{
    struct pending_response *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    pending_respond(&b.turns, add_request(&b, 1, BOTH), STR("{\"a\":1}"));
    assert_logged(&b.scribe, "1 200 json {\"a\":1}\n");
    x = add_request(&b, 2, BOTH);
    assert_true(pending_can_stream(x));
    pending_send(&b.turns, x, STR("{\"b\":1}"));
    pending_respond(&b.turns, x, STR("{\"b\":2}"));
    assert_logged(&b.scribe, "2 200 sse\n2 << {\"b\":1}\n2 << {\"b\":2}\n2 end\n");
    pending_respond(&b.turns, add_request(&b, 3, "text/event-stream"), STR("{\"c\":1}"));
    assert_logged(&b.scribe, "3 200 sse\n3 << {\"c\":1}\n3 end\n");
    x = add_request(&b, 4, "application/json");
    assert_false(pending_can_stream(x));
    pending_respond(&b.turns, x, STR("{\"d\":1}"));
    assert_logged(&b.scribe, "4 200 json {\"d\":1}\n");
    assert_null(pending_find(&b.turns, 4));
    close_bench(&b);
}

static void the_status_depends_on_the_error_only_in_the_stateless_protocol(void **state)
{
    static const char error[] = "{\"error\":{\"code\":-32601}}";
    struct pending_response *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    pending_respond(&b.turns, add_request(&b, 1, BOTH), STR(error));
    x = add_request(&b, 2, BOTH);
    x->stateless = true;
    pending_respond(&b.turns, x, STR(error));
    assert_logged(&b.scribe, "1 200 json {\"error\":{\"code\":-32601}}\n"
                             "2 404 json {\"error\":{\"code\":-32601}}\n");
    close_bench(&b);
}

static void responses_of_a_batch_are_one_array_or_events(void **state)
{
    struct pending_response *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = add_request(&b, 1, BOTH);
    x->responses_left = 2;
    x->is_batch = true;
    pending_respond(&b.turns, x, STR("{\"a\":1}"));
    assert_logged(&b.scribe, "");
    pending_respond(&b.turns, x, STR("{\"a\":2}"));
    assert_logged(&b.scribe, "1 200 json [{\"a\":1},{\"a\":2}]\n");
    x = add_request(&b, 2, "text/event-stream");
    x->responses_left = 2;
    x->is_batch = true;
    pending_respond(&b.turns, x, STR("{\"a\":1}"));
    pending_respond(&b.turns, x, STR("{\"a\":2}"));
    assert_logged(&b.scribe, "2 200 sse\n2 << {\"a\":1}\n2 << {\"a\":2}\n2 end\n");
    close_bench(&b);
}

static struct pending_response *in_session(struct bench *b, uint64_t exchange)
{
    struct pending_response *x = add_request(b, exchange, BOTH);

    x->session = 1;
    x->has_ids = true;
    x->supports_priming = true;
    return x;
}

static void a_resuming_client_gets_missed_events_and_the_stream(void **state)
{
    struct pending_response *x;
    struct bench b;
    bool over;

    (void)state;
    open_bench(&b);
    x = in_session(&b, 1);
    pending_send(&b.turns, x, STR("{\"a\":1}"));
    assert_logged(&b.scribe, "1 200 sse\n1 id=1-1 <<\n1 id=1-2 << {\"a\":1}\n");
    assert_ptr_equal(pending_disconnect(&b.turns, 1), x);
    assert_null(pending_disconnect(&b.turns, 1));
    assert_true(pending_can_stream(x));
    pending_send(&b.turns, x, STR("{\"a\":2}"));
    assert_logged(&b.scribe, "");
    assert_null(pending_resume(&b.turns, 2, STR("1-2"), 5, STR_NONE, &over));
    assert_false(over); /* it is of another session */
    assert_ptr_equal(pending_resume(&b.turns, 1, STR("1-1"), 6, STR_NONE, &over), x);
    assert_false(over);
    assert_logged(&b.scribe, "6 200 sse\n6 id=1-2 << {\"a\":1}\n6 id=1-3 << {\"a\":2}\n");
    assert_ptr_equal(pending_find(&b.turns, 1), x);

    /* Once more, while its exchange is open: the other exchange ends. */
    assert_ptr_equal(pending_resume(&b.turns, 1, STR("1-3"), 7, STR_NONE, &over), x);
    assert_logged(&b.scribe, "7 200 sse\n6 end\n");
    assert_null(pending_disconnect(&b.turns, 6));
    pending_respond(&b.turns, x, STR("{\"a\":3}"));
    assert_logged(&b.scribe, "7 id=1-4 << {\"a\":3}\n7 end\n");
    assert_null(pending_disconnect(&b.turns, 7));
    assert_null(pending_resume(&b.turns, 1, STR("1-3"), 8, STR_NONE, &over));
    assert_true(over);
    assert_logged(&b.scribe, "8 200 sse\n8 id=1-4 << {\"a\":3}\n8 end\n");
    close_bench(&b);
}

static void a_client_with_an_unknown_event_id_gets_the_events_since_then(void **state)
{
    struct pending_response *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = in_session(&b, 1);
    x->responses_left = 0;
    x->supports_priming = false;
    pending_open_stream(&b.turns, x);
    pending_send(&b.turns, x, STR("{\"a\":1}"));
    pending_disconnect(&b.turns, 1);
    pending_send(&b.turns, x, STR("{\"a\":2}"));
    buf_clear(&b.scribe.text);
    pending_rejoin(&b.turns, x, 2);
    assert_logged(&b.scribe, "2 200 sse\n2 id=1-2 << {\"a\":2}\n");
    pending_send(&b.turns, x, STR("{\"a\":3}"));
    assert_logged(&b.scribe, "2 id=1-3 << {\"a\":3}\n");
    pending_remove(&b.turns, x);
    assert_logged(&b.scribe, "2 end\n");
    close_bench(&b);
}

static void a_response_without_client_is_dropped(void **state)
{
    struct pending_response *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    x = in_session(&b, 1);
    assert_ptr_equal(pending_disconnect(&b.turns, 1), x);
    assert_false(pending_can_stream(x));
    pending_respond(&b.turns, x, STR("{\"a\":1}"));
    assert_logged(&b.scribe, "");
    assert_null(pending_find(&b.turns, 1));
    close_bench(&b);
}

static void a_begun_response_is_not_rejected(void **state)
{
    struct http_rejection v = { .status = 502, .code = -32000, .text = STR_INIT("no") };
    struct pending_response *x;
    struct bench b;

    (void)state;
    open_bench(&b);
    pending_reject(&b.turns, add_request(&b, 1, BOTH), &v, STR("7"));
    assert_logged(&b.scribe,
                  "1 502 json {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32000,\"message\":"
                  "\"no\"},\"id\":7}\n");
    x = add_request(&b, 2, BOTH);
    pending_send(&b.turns, x, STR("{}"));
    pending_reject(&b.turns, x, &v, STR("7"));
    assert_logged(&b.scribe, "2 200 sse\n2 << {}\n2 end\n");
    x = add_request(&b, 3, BOTH);
    pending_disconnect(&b.turns, 3);
    pending_reject(&b.turns, x, &v, STR("7"));
    assert_logged(&b.scribe, "");
    add_request(&b, 4, BOTH); /* is given back with the rest */
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(responses_are_found_by_their_owner),
        cmocka_unit_test(the_first_message_decides_the_shape_of_the_response),
        cmocka_unit_test(the_status_depends_on_the_error_only_in_the_stateless_protocol),
        cmocka_unit_test(responses_of_a_batch_are_one_array_or_events),
        cmocka_unit_test(a_resuming_client_gets_missed_events_and_the_stream),
        cmocka_unit_test(a_client_with_an_unknown_event_id_gets_the_events_since_then),
        cmocka_unit_test(a_response_without_client_is_dropped),
        cmocka_unit_test(a_begun_response_is_not_rejected),
    };
    return cmocka_run_group_tests_name("http-turns", tests, NULL, NULL);
}
