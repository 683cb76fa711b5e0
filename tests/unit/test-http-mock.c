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
static const char recorded[] =
    "1 POST " HELLO "\n"
    "1 200 json session=1 {\"id\":0,\"result\":{"
    "\"protocolVersion\":\"2025-11-25\"}}\n"
    "2 GET session=1\n2 200 sse session=1\n2 id=a <<\n"
    "3 POST session=1 " CALL(
        "ask") "\n3 200 sse session=1\n"
               "3 id=b << " ASKS "\n"
               "4 POST session=1 {\"id\":0,\"result\":{}}\n4 202\n"
               "2 id=c << " HEARD "\n3 id=d << " DONE "\n3 end\n"
               "5 POST session=1 " CALL(
                   "cut") "\n5 200 sse session=1\n"
                          "5 id=e <<\n5 end\n"
                          "6 GET session=1 last=e\n6 200 sse session=1\n"
                          "6 id=f << " HEARD "\n6 id=g << " DONE "\n6 end\n"
                          "7 POST session=1 " CALL(
                              "json") "\n"
                                      "7 200 json session=1 " DONE "\n"
                                      "8 POST modern " LISTEN "\n8 200 sse\n8 gone\n"
                                      "9 POST session=1 " CALL("never") "\n9 gone\n";

static const char *const asked[] = {
    "POST " HELLO,
    "POST session=%d " HELLO,
    "GET session=%d",
    "GET session=%d version=2025-11-25 last=1-1",
    "GET session=%d last=2-2",
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

static unsigned char minted;

static void mint(void *to, size_t size)
{
    memset(to, ++minted, size);
}

static void step(void *engine, const struct event *ev)
{
    http_mock_step(engine, ev);
}

static void let_loose(struct crowd *c)
{
    for (uint64_t next = 1; next < CROWD_EXCHANGES;) {
        uint64_t what = crowd_throw(c, 10);

        if (what < 6)
            crowd_ask(c, next++, asked, sizeof asked / sizeof *asked, 4);
        else if (what < 8)
            crowd_leave(c, crowd_throw(c, next));
        else
            crowd_ring(c, false);
    }
    crowd_tell(c, (struct event){ .kind = EVENT_CLOSED });
    while (!c->finished && c->timer_count)
        crowd_ring(c, false);
}

static void whatever_clients_do_each_exchange_ends_once(void **state)
{
    static const struct leaf_rules rules = { .meta = false };
    static const struct http_mock_options options = { .mock.on_miss = ON_MISS_WARN,
                                                      .random = mint };
    struct str rest = str_z(recorded);
    struct shelf_memory shelf;
    struct http_script http;
    struct http_tape tape;
    struct script script;

    (void)state;
    shelf_memory_init(&shelf);
    script_init(&script, &shelf.shelf, &rules, NULL);
    http_script_init(&http, &script.sink, &shelf.shelf);
    http_tape_init(&tape, &http.sink);
    while (rest.len)
        http_tape_line(&tape, str_cut(&rest, '\n'));
    http_tape_release(&tape);
    script_finish(&script);
    http_script_finish(&http);
    for (uint64_t round = 1; round <= CROWD_ROUNDS; round++) {
        struct http_mock m;
        struct crowd c;

        minted = 0;
        crowd_begin(&c, round, step, &m);
        http_mock_init(&m, &script, &http, NULL, &options, &c.out);
        let_loose(&c);
        crowd_end(&c);
        http_mock_release(&m);
    }
    http_script_release(&http);
    script_release(&script);
    shelf_memory_release(&shelf);
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
