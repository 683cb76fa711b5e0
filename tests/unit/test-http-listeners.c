#include "engine/http-listeners.h"

#include "scribe.h"

/* A mock, as far as listeners are concerned, and what goes out. */
struct bench {
    struct scribe scribe;
    struct http_mock mock;
    struct http_script http;
    struct http_mock_client client;
    struct http_mock_call calls[3];
};

static void open_bench(struct bench *b, uint64_t client, bool has_ids)
{
    *b = (struct bench){ 0 };
    scribe_init(&b->scribe);
    b->http.stream_has_ids = has_ids;
    b->mock.http = &b->http;
    b->client.number = client;
    map_init(&b->mock.calls);
    http_streams_init(&b->mock.streams, &b->scribe.out);
}

static void close_bench(struct bench *b)
{
    unheard_release(&b->client.unheard);
    http_streams_release(&b->mock.streams);
    map_release(&b->mock.calls);
    scribe_release(&b->scribe);
}

static void tell(struct bench *b, struct str text)
{
    static const struct script_event usual = { STR_INIT("message"), -1 };

    http_listeners_tell(&b->mock, &b->client, text, &usual);
}

static struct http_mock_call *listen(struct bench *b, size_t i)
{
    struct http_mock_call *c = &b->calls[i];

    *c = (struct http_mock_call){ .number = i + 1, .client = &b->client, .listens = true };
    map_put(&b->mock.calls, map_number(&c->number), c);
    http_listeners_add(&b->mock, c);
    return c;
}

/* As the mock does it, when the client of a call has gone. */
static void leave(struct bench *b, struct http_mock_call *c)
{
    c->stream->exchange = 0;
    map_remove(&b->mock.calls, map_number(&c->number));
    http_listeners_leave(&b->mock, &b->client, c->stream);
}

static void what_nobody_hears_yet_waits_for_who_listens(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, 1, false);
    tell(&b, STR("{\"a\":1}"));
    tell(&b, STR("{\"b\":2}"));
    assert_wrote(&b.scribe, "");
    listen(&b, 0);
    tell(&b, STR("{\"c\":3}"));
    assert_wrote(&b.scribe, "1 << {\"a\":1}\n1 << {\"b\":2}\n1 << {\"c\":3}\n");
    close_bench(&b);
}

static void of_those_who_share_a_session_the_first_hears_it_and_then_the_next(void **state)
{
    struct http_mock_call *first;
    struct bench b;

    (void)state;
    open_bench(&b, 0, false);
    tell(&b, STR("{\"a\":1}")); /* for nobody in particular */
    first = listen(&b, 0);
    listen(&b, 1);
    tell(&b, STR("{\"b\":2}"));
    assert_wrote(&b.scribe, "1 << {\"b\":2}\n");
    leave(&b, first);
    tell(&b, STR("{\"c\":3}"));
    assert_wrote(&b.scribe, "2 << {\"c\":3}\n");
    close_bench(&b);
}

static void a_stream_that_can_be_gone_on_with_is_kept_until_another_begins(void **state)
{
    struct http_stream *kept;
    struct bench b;

    (void)state;
    open_bench(&b, 1, true);
    leave(&b, listen(&b, 0));
    kept = b.client.ear;
    assert_non_null(kept);
    tell(&b, STR("{\"a\":1}"));
    assert_wrote(&b.scribe, "");
    assert_int_equal(kept->messages, 1);
    listen(&b, 1);
    tell(&b, STR("{\"b\":2}"));
    assert_wrote(&b.scribe, "2 id=2-1 << {\"b\":2}\n");
    assert_int_equal(b.mock.streams.open.count, 1);
    close_bench(&b);
}

static void a_stream_on_which_an_answer_is_owed_stays(void **state)
{
    struct http_mock_call *ear, *asked;
    struct bench b;

    (void)state;
    open_bench(&b, 1, false);
    ear = listen(&b, 0);
    asked = &b.calls[2];
    *asked = (struct http_mock_call){ .number = 3, .client = &b.client, .stream = ear->stream };
    map_put(&b.mock.calls, map_number(&asked->number), asked);
    leave(&b, ear);
    assert_int_equal(b.mock.streams.open.count, 1);
    map_remove(&b.mock.calls, map_number(&asked->number));
    http_listeners_leave(&b.mock, &b.client, asked->stream);
    assert_int_equal(b.mock.streams.open.count, 0);
    assert_null(b.client.ear);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_hears_yet_waits_for_who_listens),
        cmocka_unit_test(of_those_who_share_a_session_the_first_hears_it_and_then_the_next),
        cmocka_unit_test(a_stream_that_can_be_gone_on_with_is_kept_until_another_begins),
        cmocka_unit_test(a_stream_on_which_an_answer_is_owed_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
