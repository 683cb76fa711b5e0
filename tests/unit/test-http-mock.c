#include "engine/http-mock.h"

#include "crowd.h"
#include "http-tape.h"
#include "playbook.h"
#include "plays.h"
#include "test.h"

static void check(const char *play, bool passes, const char *says)
{
    plays_check(playbook_run, play, passes, says);
}

#define LIST                                                                                   \
    "recording\n"                                                                              \
    "1 POST {\"id\":1,\"method\":\"tools/list\"}\n"                                            \
    "1 200 json {\"id\":1,\"result\":{}}\n"                                                    \
    "options match=sequential\n"                                                               \
    "1 POST {\"id\":2,\"method\":\"tools/list\"}\n"

static void a_story_fails_on_everything_that_is_not_as_it_says(void **state)
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

/* A mock without a recording, and how it answers. */
struct bench {
    struct action_sink out;
    struct shelf_memory shelf;
    struct script script;
    struct http_script http;
    struct http_mock mock;
    struct arena arena;
    uint64_t exchanges;
    unsigned status; /* the last one */
    struct str session;
};

static void note(struct action_sink *self, const struct action *a)
{
    struct bench *b = (struct bench *)self;
    const struct field *f;

    if (a->kind != ACTION_ANSWER)
        return;
    f = fields_next(a->fields, STR("mcp-session-id"), NULL);
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
    static const struct leaf_rules rules = { .meta = false };
    const struct http_mock_options options = { .random = count_up };

    *b = (struct bench){ .out = { note } };
    shelf_memory_init(&b->shelf);
    script_init(&b->script, &b->shelf.shelf, &rules, NULL);
    http_script_init(&b->http, &b->script.sink, &b->shelf.shelf);
    script_finish(&b->script);
    http_script_finish(&b->http);
    http_mock_init(&b->mock, &b->script, &b->http, NULL, &options, &b->out);
}

static void close_bench(struct bench *b)
{
    http_mock_release(&b->mock);
    http_script_release(&b->http);
    script_release(&b->script);
    shelf_memory_release(&b->shelf);
    arena_release(&b->arena);
}

static void post(struct bench *b, struct str session, struct str body)
{
    struct fields f = { .at = NULL };
    struct step_request r = {
        STR("POST"), STR("/"), &f, PLACE_SELF, PLACE_NONE, body, STR_NONE
    };
    struct event ev = { .kind = EVENT_REQUEST, .exchange = ++b->exchanges, .request = &r };

    fields_add(&f, STR("Content-Type"), STR("application/json"));
    if (session.len)
        fields_add(&f, STR("Mcp-Session-Id"), session);
    http_mock_step(&b->mock, &ev);
    fields_release(&f);
}

static void the_oldest_session_makes_room_for_a_new_one(void **state)
{
    static const struct str hello = STR_INIT("{\"id\":0,\"method\":\"initialize\"}");
    static const struct str ping = STR_INIT("{\"id\":1,\"method\":\"ping\"}");
    struct str first, second;
    struct bench b;

    (void)state;
    open_bench(&b);
    post(&b, STR_NONE, hello);
    first = b.session;
    post(&b, STR_NONE, hello);
    second = b.session;
    for (size_t i = 2; i < HTTP_MOCK_CLIENTS; i++)
        post(&b, STR_NONE, hello);
    assert_int_equal(b.mock.clients.count, HTTP_MOCK_CLIENTS);
    post(&b, first, ping);
    assert_int_equal(b.status, 200);
    post(&b, STR_NONE, hello);
    assert_int_equal(b.mock.clients.count, HTTP_MOCK_CLIENTS);
    post(&b, first, ping);
    assert_int_equal(b.status, 404);
    post(&b, second, ping);
    assert_int_equal(b.status, 200);
    close_bench(&b);
}

#define HELLO                                                                                  \
    "{\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"                     \
    "\"2025-11-25\",\"capabilities\":{\"sampling\":{}}}}"
#define CALL(name) "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"}}"
#define DONE "{\"id\":1,\"result\":{\"content\":[]}}"
#define HEARD "{\"method\":\"notifications/message\",\"params\":{}}"
#define ASKS "{\"id\":0,\"method\":\"sampling/createMessage\",\"params\":{}}"
#define LISTEN                                                                                 \
    "{\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{},$META}}"

/* Everything that a recording can have: questions, streams that break off, others' streams. */
static const char *const recorded[] = {
    "1 POST " HELLO,
    "1 200 json session=1 {\"id\":0,\"result\":{\"protocolVersion\":\"2025-11-25\"}}",
    "2 GET session=1",
    "2 200 sse session=1",
    "2 id=a <<",
    "3 POST session=1 " CALL("ask"),
    "3 200 sse session=1",
    "3 id=b << " ASKS,
    "4 POST session=1 {\"id\":0,\"result\":{}}",
    "4 202",
    "2 id=c << " HEARD,
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
    "6 id=g << " HEARD,
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

static const char *const asked[] = {
    "POST " HELLO,
    "POST session=%d " HELLO,
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
    "POST path=/message?sessionId=%d " HELLO,
    "POST path=/message?sessionId=%d " CALL("ask"),
    "POST path=/message?sessionId=%d " CALL("cut"),
    "POST path=/message?sessionId=%d {\"id\":0,\"result\":{}}",
    "POST path=/message?sessionId=%d [" CALL("json") "," CALL("ask") "]",
    "POST path=/message?sessionId=%d " CALL("never"),
    "POST path=/message?sessionId=%d " CALL("unknown"),
};

/* What one client does whose streams break off all the time. */
static const char *const asked_about_streams[] = {
    "POST " HELLO,
    "GET session=%d",
    "GET session=%d",
    "GET session=%d last=$",
    "GET session=%d last=$",
    "POST session=%d version=2025-11-25 " CALL("cut"),
    "POST session=%d " CALL("ask"),
    "POST session=%d {\"id\":0,\"result\":{}}",
};

static unsigned char minted;

static void mint(void *to, size_t size)
{
    memset(to, ++minted, size);
}

static void step(void *engine, const struct event *ev)
{
    http_mock_step(engine, ev);
}

static void let_loose(struct crowd *c, bool alone)
{
    for (uint64_t next = 1; next < CROWD_EXCHANGES;) {
        uint64_t what = crowd_throw(c, 10);

        if (what < 6 && alone)
            crowd_ask(c, next++, asked_about_streams,
                      sizeof asked_about_streams / sizeof *asked_about_streams, 1);
        else if (what < 6)
            crowd_ask(c, next++, asked, sizeof asked / sizeof *asked, 4);
        else if (what < 8)
            crowd_leave(c, alone ? crowd_any(c) : crowd_throw(c, next));
        else
            crowd_ring(c, false);
    }
    crowd_tell(c, (struct event){ .kind = EVENT_CLOSED });
    while (!c->finished && c->timer_count)
        crowd_ring(c, false);
}

/* `named`: the stream of the GET has ids, too. */
static void record_all(struct sink *to, bool named)
{
    struct http_tape tape;

    http_tape_init(&tape, to);
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
        if (named || !str_starts(str_z(recorded[i]), STR("2 id=")))
            http_tape_line(&tape, str_z(recorded[i]));
    http_tape_release(&tape);
}

static void let_crowds_loose(bool named, bool alone)
{
    static const struct leaf_rules rules = { .meta = false };
    const struct http_mock_options options = { .mock.on_miss = ON_MISS_WARN,
                                               .mock.match.exhausted = EXHAUSTED_CYCLE,
                                               .mock.exhausted_given = true,
                                               .random = mint };
    struct shelf_memory shelf;
    struct http_script http;
    struct script script;

    shelf_memory_init(&shelf);
    script_init(&script, &shelf.shelf, &rules, NULL);
    http_script_init(&http, &script.sink, &shelf.shelf);
    record_all(&http.sink, named);
    script_finish(&script);
    http_script_finish(&http);
    for (uint64_t round = 1; round <= CROWD_ROUNDS; round++) {
        struct http_mock m;
        struct crowd c;

        minted = 0;
        crowd_begin(&c, round, step, &m);
        http_mock_init(&m, &script, &http, NULL, &options, &c.out);
        let_loose(&c, alone);
        crowd_end(&c);
        http_mock_release(&m);
    }
    http_script_release(&http);
    script_release(&script);
    shelf_memory_release(&shelf);
}

static void whatever_clients_do_each_exchange_ends_once(void **state)
{
    (void)state;
    let_crowds_loose(true, false);
    let_crowds_loose(false, false);
    let_crowds_loose(true, true);
    let_crowds_loose(false, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_story_fails_on_everything_that_is_not_as_it_says),
        cmocka_unit_test(the_oldest_session_makes_room_for_a_new_one),
        cmocka_unit_test(whatever_clients_do_each_exchange_ends_once),
    };
    return plays_run("http-mock", tests, sizeof tests / sizeof *tests,
                     "tests/playbook/http/*.play", playbook_run);
}
