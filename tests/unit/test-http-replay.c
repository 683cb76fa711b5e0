#include "replay/http-replay.h"

#include "action-log.h"
#include "line-recorder.h"
#include "playbook.h"
#include "random-clients.h"
#include "test.h"
#include "text-cases.h"

static void check(const char *play, bool passes, const char *says)
{
    text_cases_check(playbook_run, play, passes, says);
}

#define LIST                                                                                   \
    "recording\n"                                                                              \
    "1 POST {\"id\":1,\"method\":\"tools/list\"}\n"                                            \
    "1 200 json {\"id\":1,\"result\":{}}\n"                                                    \
    "options match=sequential\n"                                                               \
    "1 POST {\"id\":2,\"method\":\"tools/list\"}\n"

static void a_playbook_fails_on_every_deviation(void **state)
{
    (void)state;
    check(LIST "1 200 json {\"id\":2,\"result\":{}}\n", true, "");
    check(LIST, false, "6: not expected\n  got  1 200 json {\"id\":2,\"result\":{}}");
    check(LIST "1 200 sse\n", false,
          "6: something else\n  got  1 200 json {\"id\":2,\"result\":{}}\n  want 1 200 sse");
    check(LIST "2 200 json {\"id\":2,\"result\":{}}\n", false,
          "6: something else\n  got  1 200 json {\"id\":2,\"result\":{}}\n"
          "  want 2 200 json {\"id\":2,\"result\":{}}");
    check(LIST "1 200 json session=1 {\"id\":2,\"result\":{}}\n", false,
          "6: something else\n  got  1 200 json {\"id\":2,\"result\":{}}\n"
          "  want 1 200 json session=1 {\"id\":2,\"result\":{}}");
    check(LIST "1 200 json {\"id\":2,\"result\":{}}\n1 end\n", false,
          "7: nothing came\n  want 1 end");
}

/* A replay without a recording, and its responses. */
struct bench {
    struct action_sink out;
    struct message_store_memory shelf;
    struct index script;
    struct http_index http;
    struct http_replay mock;
    struct arena arena;
    uint64_t exchanges;
    unsigned status; /* the last one */
    struct str session;
};

static void note(struct action_sink *self, const struct action *a)
{
    struct bench *b = (struct bench *)self;
    const struct header *f;

    if (a->kind != ACTION_HTTP_RESPONSE)
        return;
    f = headers_next(a->headers, STR("mcp-session-id"), NULL);
    b->status = a->status;
    b->session = f ? arena_str(&b->arena, f->value) : STR_NONE;
}

static void count_up(void *to, size_t size)
{
    static uint64_t last;

    memset(to, 0, size);
    last++;
    memcpy(to, &last, sizeof last);
}

static void open_bench(struct bench *b)
{
    static const struct params_rules rules = { .include_meta = false };
    const struct http_replay_options options = { .random = count_up };

    *b = (struct bench){ .out = { note } };
    message_store_memory_init(&b->shelf);
    index_init(&b->script, &b->shelf.store, &rules, NULL);
    http_index_init(&b->http, &b->script.sink, &b->shelf.store);
    index_finish(&b->script);
    http_index_finish(&b->http);
    http_replay_init(&b->mock, &b->script, &b->http, NULL, &options, &b->out);
}

static void close_bench(struct bench *b)
{
    http_replay_release(&b->mock);
    http_index_release(&b->http);
    index_release(&b->script);
    message_store_memory_release(&b->shelf);
    arena_release(&b->arena);
}

static void post(struct bench *b, struct str session, struct str body)
{
    struct headers f = { .at = NULL };
    struct event_request r = { STR("POST"), STR("/"), &f,      ORIGIN_SELF,
                               ORIGIN_NONE, body,     STR_NONE };
    struct event ev = { .kind = EVENT_HTTP_REQUEST, .exchange = ++b->exchanges, .request = &r };

    headers_add(&f, STR("Content-Type"), STR("application/json"));
    if (session.len)
        headers_add(&f, STR("Mcp-Session-Id"), session);
    http_replay_step(&b->mock, &ev);
    headers_release(&f);
}

static void a_new_session_ends_the_oldest_over_the_limit(void **state)
{
    static const struct str initialize_message =
        STR_INIT("{\"id\":0,\"method\":\"initialize\"}");
    static const struct str ping = STR_INIT("{\"id\":1,\"method\":\"ping\"}");
    struct str first, second;
    struct bench b;

    (void)state;
    open_bench(&b);
    post(&b, STR_NONE, initialize_message);
    first = b.session;
    post(&b, STR_NONE, initialize_message);
    second = b.session;
    for (size_t i = 2; i < HTTP_REPLAY_CLIENTS_MAX; i++)
        post(&b, STR_NONE, initialize_message);
    assert_int_equal(b.mock.clients.count, HTTP_REPLAY_CLIENTS_MAX);
    post(&b, first, ping);
    assert_int_equal(b.status, 200);
    post(&b, STR_NONE, initialize_message);
    assert_int_equal(b.mock.clients.count, HTTP_REPLAY_CLIENTS_MAX);
    post(&b, first, ping);
    assert_int_equal(b.status, 404);
    post(&b, second, ping);
    assert_int_equal(b.status, 200);
    close_bench(&b);
}

#define INITIALIZE                                                                             \
    "{\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"                     \
    "\"2025-11-25\",\"capabilities\":{\"sampling\":{}}}}"
#define CALL(name) "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"}}"
#define DONE "{\"id\":1,\"result\":{\"content\":[]}}"
#define RECEIVED "{\"method\":\"notifications/message\",\"params\":{}}"
#define ASKS "{\"id\":0,\"method\":\"sampling/createMessage\",\"params\":{}}"
#define LISTEN                                                                                 \
    "{\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{},$META}}"

/* Everything that a recording can have: questions, streams that break off, others' streams. */
static const char *const recorded[] = {
    "1 POST " INITIALIZE,
    "1 200 json session=1 {\"id\":0,\"result\":{\"protocolVersion\":\"2025-11-25\"}}",
    "2 GET session=1",
    "2 200 sse session=1",
    "2 id=a <<",
    "3 POST session=1 " CALL("ask"),
    "3 200 sse session=1",
    "3 id=b << " ASKS,
    "4 POST session=1 {\"id\":0,\"result\":{}}",
    "4 202",
    "2 id=c << " RECEIVED,
    "3 id=d << " DONE,
    "3 end",
    "5 POST session=1 " CALL("cut"),
    "5 200 sse session=1",
    "5 id=e <<",
    "5 end",
    "6 GET session=1 last=e",
    "6 200 sse session=1",
    "6 id=f << " ASKS,
    "10 POST session=1 {\"id\":0,\"result\":{}}",
    "10 202",
    "6 id=g << " RECEIVED,
    "6 id=h << " DONE,
    "6 end",
    "7 POST session=1 " CALL("json"),
    "7 200 json session=1 " DONE,
    ("8 POST modern " LISTEN),
    "8 200 sse",
    "8 gone",
    "9 POST session=1 " CALL("never"),
    "9 gone",
};

static const char *const client_messages[] = {
    "POST " INITIALIZE,
    "POST session=%d " INITIALIZE,
    "GET session=%d",
    "GET session=%d version=2025-11-25 last=$",
    "GET session=%d last=$",
    "POST session=%d " CALL("ask"),
    "POST session=%d {\"id\":0,\"result\":{}}",
    "POST session=%d version=2025-11-25 " CALL("cut"),
    "POST session=%d accept=json " CALL("ask"),
    "POST session=%d accept=sse " CALL("json"),
    "POST session=%d [" CALL("json") "," CALL("ask") "]",
    "POST session=%d " CALL("never"),
    "POST session=%d " CALL("unknown"),
    "POST session=%d {\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
    ("POST modern " LISTEN),
    "DELETE session=%d",
    "POST session=%d raw {",
    "GET path=/sse",
    "GET path=/sse",
    "POST path=/message?sessionId=%d " INITIALIZE,
    "POST path=/message?sessionId=%d " CALL("ask"),
    "POST path=/message?sessionId=%d " CALL("cut"),
    "POST path=/message?sessionId=%d {\"id\":0,\"result\":{}}",
    "POST path=/message?sessionId=%d [" CALL("json") "," CALL("ask") "]",
    "POST path=/message?sessionId=%d " CALL("never"),
    "POST path=/message?sessionId=%d " CALL("unknown"),
};

/* The actions of one client whose streams are aborted again and again. */
static const char *const asked_about_streams[] = {
    "POST " INITIALIZE,
    "GET session=%d",
    "GET session=%d",
    "GET session=%d last=$",
    "GET session=%d last=$",
    "POST session=%d version=2025-11-25 " CALL("cut"),
    "POST session=%d " CALL("ask"),
    "POST session=%d {\"id\":0,\"result\":{}}",
};

static unsigned char minted;

static void put_random(void *to, size_t size)
{
    memset(to, ++minted, size);
}

static void step(void *engine, const struct event *ev)
{
    http_replay_step(engine, ev);
}

static void run_random_steps(struct random_clients *c, bool alone)
{
    for (uint64_t next = 1; next < RANDOM_EXCHANGES;) {
        uint64_t what = random_clients_number(c, 10);

        if (what < 6 && alone)
            random_clients_request(c, next++, asked_about_streams,
                                   sizeof asked_about_streams / sizeof *asked_about_streams, 1);
        else if (what < 6)
            random_clients_request(c, next++, client_messages,
                                   sizeof client_messages / sizeof *client_messages, 4);
        else if (what < 8)
            random_clients_abort(c, alone ? random_clients_pick(c)
                                          : random_clients_number(c, next));
        else
            random_clients_timer(c, false);
    }
    random_clients_event(c, (struct event){ .kind = EVENT_INPUT_CLOSED });
    while (!c->finished && c->timer_count)
        random_clients_timer(c, false);
}

/* `named`: the stream of the GET has ids, too. */
static void record_all(struct sink *to, bool named)
{
    struct line_recorder recorder;

    line_recorder_init(&recorder, to);
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
        if (named || !str_starts(str_z(recorded[i]), STR("2 id=")))
            line_recorder_add(&recorder, str_z(recorded[i]));
    line_recorder_release(&recorder);
}

static void run_random_clients(bool named, bool alone)
{
    static const struct params_rules rules = { .include_meta = false };
    const struct http_replay_options options = { .replay.on_miss = ON_MISS_WARN,
                                                 .replay.match.exhausted = EXHAUSTED_CYCLE,
                                                 .replay.exhausted_given = true,
                                                 .random = put_random };
    struct message_store_memory shelf;
    struct http_index http;
    struct index script;

    message_store_memory_init(&shelf);
    index_init(&script, &shelf.store, &rules, NULL);
    http_index_init(&http, &script.sink, &shelf.store);
    record_all(&http.sink, named);
    index_finish(&script);
    http_index_finish(&http);
    for (uint64_t round = 1; round <= RANDOM_ROUNDS; round++) {
        struct http_replay m;
        struct random_clients c;

        minted = 0;
        random_clients_init(&c, round, step, &m);
        http_replay_init(&m, &script, &http, NULL, &options, &c.out);
        run_random_steps(&c, alone);
        random_clients_check_end(&c);
        http_replay_release(&m);
    }
    http_index_release(&http);
    index_release(&script);
    message_store_memory_release(&shelf);
}

static void random_clients_get_one_end_for_each_exchange(void **state)
{
    (void)state;
    run_random_clients(true, false);
    run_random_clients(false, false);
    run_random_clients(true, true);
    run_random_clients(false, true);
}

/* The GET streams of a replay, and the bytes that are sent. */
struct get_bench {
    struct action_log scribe;
    struct http_replay mock;
    struct http_index http;
    struct http_replay_client client;
    struct http_replay_call calls[3];
};

static void open_get_bench(struct get_bench *b, uint64_t client, bool has_ids)
{
    *b = (struct get_bench){ 0 };
    action_log_init(&b->scribe);
    b->http.stream_has_ids = has_ids;
    b->mock.http_index = &b->http;
    b->client.session_number = client;
    map_init(&b->mock.calls);
    event_streams_init(&b->mock.streams, &b->scribe.out);
}

static void close_get_bench(struct get_bench *b)
{
    message_queue_release(&b->client.undelivered);
    event_streams_release(&b->mock.streams);
    map_release(&b->mock.calls);
    action_log_release(&b->scribe);
}

static void feed_line(struct get_bench *b, struct str text)
{
    static const struct index_sse_event usual = { STR_INIT("message"), -1 };

    http_replay_send_on_get_stream(&b->mock, &b->client, text, &usual);
}

static struct http_replay_call *listen(struct get_bench *b, size_t i)
{
    struct http_replay_call *c = &b->calls[i];

    *c = (struct http_replay_call){ .exchange = i + 1, .client = &b->client, .is_get = true };
    map_put(&b->mock.calls, map_number_key(&c->exchange), c);
    http_replay_add_get_stream(&b->mock, c);
    return c;
}

/* As the replay does it when the client of a call has disconnected. */
static void leave(struct get_bench *b, struct http_replay_call *c)
{
    c->stream->exchange = 0;
    map_remove(&b->mock.calls, map_number_key(&c->exchange));
    http_replay_leave_stream(&b->mock, &b->client, c->stream);
}

static void undelivered_messages_wait_for_a_stream(void **state)
{
    struct get_bench b;

    (void)state;
    open_get_bench(&b, 1, false);
    feed_line(&b, STR("{\"a\":1}"));
    feed_line(&b, STR("{\"b\":2}"));
    assert_logged(&b.scribe, "");
    listen(&b, 0);
    feed_line(&b, STR("{\"c\":3}"));
    assert_logged(&b.scribe, "1 << {\"a\":1}\n1 << {\"b\":2}\n1 << {\"c\":3}\n");
    close_get_bench(&b);
}

static void messages_of_a_shared_session_go_to_the_first_stream_then_the_next(void **state)
{
    struct http_replay_call *first;
    struct get_bench b;

    (void)state;
    open_get_bench(&b, 0, false);
    feed_line(&b, STR("{\"a\":1}")); /* for no client */
    first = listen(&b, 0);
    listen(&b, 1);
    feed_line(&b, STR("{\"b\":2}"));
    assert_logged(&b.scribe, "1 << {\"b\":2}\n");
    leave(&b, first);
    feed_line(&b, STR("{\"c\":3}"));
    assert_logged(&b.scribe, "2 << {\"c\":3}\n");
    close_get_bench(&b);
}

static void a_resumable_get_stream_is_kept_until_another_opens(void **state)
{
    struct event_stream *kept;
    struct get_bench b;

    (void)state;
    open_get_bench(&b, 1, true);
    leave(&b, listen(&b, 0));
    kept = b.client.get_stream;
    assert_non_null(kept);
    feed_line(&b, STR("{\"a\":1}"));
    assert_logged(&b.scribe, "");
    assert_int_equal(kept->message_count, 1);
    listen(&b, 1);
    feed_line(&b, STR("{\"b\":2}"));
    assert_logged(&b.scribe, "2 id=2-1 << {\"b\":2}\n");
    assert_int_equal(b.mock.streams.by_number.count, 1);
    close_get_bench(&b);
}

static void a_stream_with_a_pending_response_stays_open(void **state)
{
    struct http_replay_call *stream_call, *pending_call;
    struct get_bench b;

    (void)state;
    open_get_bench(&b, 1, false);
    stream_call = listen(&b, 0);
    pending_call = &b.calls[2];
    *pending_call = (struct http_replay_call){ .exchange = 3,
                                               .client = &b.client,
                                               .stream = stream_call->stream };
    map_put(&b.mock.calls, map_number_key(&pending_call->exchange), pending_call);
    leave(&b, stream_call);
    assert_int_equal(b.mock.streams.by_number.count, 1);
    map_remove(&b.mock.calls, map_number_key(&pending_call->exchange));
    http_replay_leave_stream(&b.mock, &b.client, pending_call->stream);
    assert_int_equal(b.mock.streams.by_number.count, 0);
    assert_null(b.client.get_stream);
    close_get_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_playbook_fails_on_every_deviation),
        cmocka_unit_test(a_new_session_ends_the_oldest_over_the_limit),
        cmocka_unit_test(random_clients_get_one_end_for_each_exchange),
        cmocka_unit_test(undelivered_messages_wait_for_a_stream),
        cmocka_unit_test(messages_of_a_shared_session_go_to_the_first_stream_then_the_next),
        cmocka_unit_test(a_resumable_get_stream_is_kept_until_another_opens),
        cmocka_unit_test(a_stream_with_a_pending_response_stays_open),
    };
    return text_cases_run("http-replay", tests, sizeof tests / sizeof *tests,
                          "tests/playbook/http/*.play", playbook_run);
}
