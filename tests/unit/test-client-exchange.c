#include "mcphttp/client-exchange.h"

#include <stdio.h>

#include "test.h"

enum { SECOND_US = 1000000 };

struct bench {
    struct action_sink out;
    struct actions actions;
    struct client_exchanges talks;
    struct buf did;
};

static void put(struct action_sink *self, const struct action *a)
{
    struct bench *b = (struct bench *)self;

    buf_printf(&b->did, "%s %llu;", a->kind == ACTION_HTTP_REQUEST ? "ask" : "abandon",
               (unsigned long long)a->route.exchange);
}

static void open_bench(struct bench *b)
{
    *b = (struct bench){ .out = { put } };
    actions_init(&b->actions, &b->out);
    buf_init(&b->did, 1 << 10);
}

static void close_bench(struct bench *b)
{
    client_exchange_release_all(&b->talks);
    actions_release(&b->actions);
    buf_release(&b->did);
}

static void send_request(struct bench *b, struct client_exchange *t, int64_t now_us)
{
    struct action_request a = { .method = STR("GET") };

    client_exchange_send(&b->talks, t, &b->actions, &a, now_us);
}

static void ignore(void *to, struct str name, struct str data, bool repeated)
{
    (void)to;
    (void)name;
    (void)data;
    (void)repeated;
}

/* A stream of one event. */
static void receive_stream(struct client_exchange *t, const char *event)
{
    struct url server = { .path = STR("/") };
    struct headers f = { 0 };

    headers_add(&f, STR("Content-Type"), STR("text/event-stream"));
    client_response_reset(&t->response);
    client_response_head(&t->response, 200, &f, &server);
    client_response_data(&t->response, str_z(event), ignore, NULL);
    headers_release(&f);
}

static void exchanges_are_found_by_their_pending_requests(void **state)
{
    struct bench b;
    struct client_exchange *one, *other;

    (void)state;
    open_bench(&b);
    one = client_exchange_add(&b.talks, CLIENT_EXCHANGE_POST);
    other = client_exchange_add(&b.talks, CLIENT_EXCHANGE_GET);
    send_request(&b, one, 1);
    send_request(&b, other, 1);
    other->timer = 5;
    assert_ptr_equal(client_exchange_find(&b.talks, 1), one);
    assert_ptr_equal(client_exchange_find(&b.talks, 2), other);
    assert_null(client_exchange_find(&b.talks, 3));
    assert_ptr_equal(client_exchange_find_timer(&b.talks, 5), other);
    send_request(&b, one, 2);
    assert_null(client_exchange_find(&b.talks, 1));
    assert_ptr_equal(client_exchange_find(&b.talks, 3), one);
    client_exchange_abort(one, &b.actions, STR_NONE);
    client_exchange_free_finished(&b.talks);
    assert_ptr_equal(b.talks.first, other);
    assert_str(buf_str(&b.did), STR("ask 1;ask 2;ask 3;abandon 3;"));
    close_bench(&b);
}

static void only_streams_with_event_ids_can_be_resumed(void **state)
{
    struct bench b;
    struct client_exchange *t;

    (void)state;
    open_bench(&b);
    t = client_exchange_add(&b.talks, CLIENT_EXCHANGE_POST);
    assert_false(client_exchange_can_resume(t));
    receive_stream(t, "data:\n\n");
    assert_false(client_exchange_can_resume(t));
    receive_stream(t, "id: 1\ndata:\n\n");
    assert_true(client_exchange_can_resume(t));
    t->stateless = true;
    assert_false(client_exchange_can_resume(t));
    t->stateless = false;
    t->response.status = 404;
    assert_false(client_exchange_can_resume(t));
    close_bench(&b);
}

static void failed_attempts_are_counted_and_delay_the_next(void **state)
{
    struct bench b;
    struct client_exchange *t;

    (void)state;
    open_bench(&b);
    t = client_exchange_add(&b.talks, CLIENT_EXCHANGE_GET);
    assert_int_equal(client_exchange_retry_delay_us(t), SECOND_US);
    for (int i = 1; i <= 8; i++) {
        send_request(&b, t, 0);
        client_exchange_count_try(t, SECOND_US);
        assert_int_equal(client_exchange_retry_delay_us(t),
                         (int64_t)SECOND_US << (i < 6 ? i : 6));
    }
    send_request(&b, t, 0);
    receive_stream(t, ": nothing\n\n");
    client_exchange_count_try(t, SECOND_US); /* it ended at once */
    assert_int_equal(t->failed_tries, 9);
    client_exchange_count_try(t, 10 * (int64_t)SECOND_US); /* it did not */
    assert_int_equal(t->failed_tries, 0);
    close_bench(&b);
}

static void the_servers_retry_time_is_used_within_limits(void **state)
{
    struct bench b;
    struct client_exchange *t;

    (void)state;
    open_bench(&b);
    t = client_exchange_add(&b.talks, CLIENT_EXCHANGE_GET);
    t->response.retry_ms = 0;
    assert_int_equal(client_exchange_retry_delay_us(t), SECOND_US / 10);
    t->response.retry_ms = 200;
    assert_int_equal(client_exchange_retry_delay_us(t), 201000); /* rather late than early */
    t->failed_tries = 2;
    assert_int_equal(client_exchange_retry_delay_us(t), 4 * SECOND_US);
    t->response.retry_ms = 30000;
    assert_int_equal(client_exchange_retry_delay_us(t), 30001000);
    t->response.retry_ms = INT64_MAX;
    assert_int_equal(client_exchange_retry_delay_us(t), 3600 * (int64_t)SECOND_US);
    close_bench(&b);
}

static void end_at_once(struct bench *b, struct client_exchange *t, const char *event)
{
    send_request(b, t, 0);
    receive_stream(t, event);
    client_exchange_count_try(t, 1);
}

static void only_new_events_or_ids_reset_the_count_of_attempts(void **state)
{
    struct bench b;
    struct client_exchange *t;

    (void)state;
    open_bench(&b);
    t = client_exchange_add(&b.talks, CLIENT_EXCHANGE_POST);
    end_at_once(&b, t, "id: 1\nretry: 0\ndata: a\n\n");
    assert_int_equal(t->failed_tries, 0);
    for (unsigned i = 1; i <= 5; i++) {
        assert_true(client_exchange_can_resume(t));
        end_at_once(&b, t, i % 2 ? "id: 1\nretry: 0\ndata:\n\n" : "id: 1\ndata: a\n\n");
        assert_int_equal(t->failed_tries, i);
    }
    assert_false(client_exchange_can_resume(t));
    end_at_once(&b, t, "id: 2\ndata: b\n\n");
    assert_int_equal(t->failed_tries, 0);
    close_bench(&b);
}

static void the_interval_of_polls_grows(void **state)
{
    struct bench b;
    struct client_exchange *t;
    int64_t wanted = SECOND_US / 10;
    char event[32];

    (void)state;
    open_bench(&b);
    t = client_exchange_add(&b.talks, CLIENT_EXCHANGE_POST);
    for (int i = 0; i < 100; i++, wanted *= 2) {
        snprintf(event, sizeof event, "id: %d\nretry: 0\ndata:\n\n", i);
        end_at_once(&b, t, event);
        assert_true(client_exchange_can_resume(t));
        if (wanted > 5 * SECOND_US)
            wanted = 5 * SECOND_US;
        assert_int_equal(client_exchange_retry_delay_us(t), wanted);
    }
    end_at_once(&b, t, "id: news\ndata: a\n\n");
    assert_int_equal(client_exchange_retry_delay_us(t), SECOND_US / 10);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchanges_are_found_by_their_pending_requests),
        cmocka_unit_test(only_streams_with_event_ids_can_be_resumed),
        cmocka_unit_test(failed_attempts_are_counted_and_delay_the_next),
        cmocka_unit_test(the_servers_retry_time_is_used_within_limits),
        cmocka_unit_test(only_new_events_or_ids_reset_the_count_of_attempts),
        cmocka_unit_test(the_interval_of_polls_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
