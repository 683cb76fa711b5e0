#include "replay/anomaly-response.h"

#include "action-log.h"

/* Responses, and the actions that sent them. */
struct bench {
    struct action_log log;
    struct http_response response;
    struct event_streams streams;
    struct message_store_memory messages;
    struct http_index http;
};

static void open_bench(struct bench *b)
{
    action_log_init(&b->log);
    message_store_memory_init(&b->messages);
    http_index_init(&b->http, NULL, &b->messages.store);
    event_streams_init(&b->streams, &b->log.out);
    http_response_init(&b->response, &b->log.out);
}

static void close_bench(struct bench *b)
{
    http_response_release(&b->response);
    event_streams_release(&b->streams);
    http_index_release(&b->http);
    message_store_memory_release(&b->messages);
    action_log_release(&b->log);
}

static struct http_anomaly_part keep_message(struct bench *b, const char *message)
{
    struct http_anomaly_part part = { .next = NULL };
    struct err e = ERR_NONE;

    assert_true(
        b->messages.store.add_message(&b->messages.store, str_z(message), &part.place, &e));
    return part;
}

static void messages_are_sent_under_the_live_id(void **state)
{
    struct http_anomaly_part part, second;
    struct http_anomaly odd = { .status = 400,
                                .id = STR("7"),
                                .content_type = STR("application/json"),
                                .www_authenticate = STR("Bearer"),
                                .allow = STR("POST") };
    struct bench b;

    (void)state;
    open_bench(&b);
    part = keep_message(&b, "{\"id\":7, \"error\":{\"id\":7}}");
    second = keep_message(&b, "{\"id\":8,\"method\":\"m\"}");
    odd.first = odd.last = &part;
    anomaly_response_send(&b.response, &b.streams, &b.http, &odd, 1, STR("\"x\""));
    assert_logged(&b.log, "1 400 json Allow:POST WWW-Authenticate:Bearer "
                          "{\"id\":\"x\", \"error\":{\"id\":7}}\n");
    part.next = odd.last = &second;
    odd.status = 200;
    odd.sse = true;
    anomaly_response_send(&b.response, &b.streams, &b.http, &odd, 2, STR("9"));
    assert_logged(&b.log, "2 200 sse\n2 << {\"id\":9, \"error\":{\"id\":7}}\n"
                          "2 << {\"id\":8,\"method\":\"m\"}\n2 end\n");
    assert_int_equal(b.streams.by_number.count, 0);
    close_bench(&b);
}

static void a_body_may_be_text_or_missing(void **state)
{
    struct http_anomaly_part part = { .text = STR("No") };
    struct http_anomaly odd = { .status = 415,
                                .content_type = STR("text/plain; charset=utf-8"),
                                .retry_after = STR("3"),
                                .first = &part };
    struct bench b;

    (void)state;
    open_bench(&b);
    anomaly_response_send(&b.response, &b.streams, &b.http, &odd, 1, STR("1"));
    odd.first = NULL;
    anomaly_response_send(&b.response, &b.streams, &b.http, &odd, 2, STR("1"));
    assert_logged(&b.log, "1 415 Retry-After:3 text No\n2 415 Retry-After:3\n");
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_sent_under_the_live_id),
        cmocka_unit_test(a_body_may_be_text_or_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
