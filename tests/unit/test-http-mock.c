#include "engine/http-mock.h"

#include "playbook.h"
#include "plays.h"
#include "test.h"

static void check(const char *play, bool passes, const char *says)
{
    struct buf why;

    buf_init(&why, 1 << 16);
    if (playbook_run(str_z(play), &why) != passes)
        fail_msg("%s: %s", passes ? "should pass" : "should fail", buf_z(&why));
    assert_str(buf_str(&why), str_z(says));
    buf_release(&why);
}

#define LIST                                                                                   \
    "recording\n"                                                                              \
    "1 POST {\"id\":1,\"method\":\"tools/list\"}\n"                                            \
    "1 200 json {\"id\":1,\"result\":{}}\n"                                                    \
    "options match=sequential\n"                                                               \
    "1 POST {\"id\":2,\"method\":\"tools/list\"}\n"

/* The playbooks prove nothing unless a wrong one fails. */
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
    struct step_request r = { STR("POST"), STR("/"), &f, PLACE_SELF, PLACE_NONE, body };
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_story_fails_on_everything_that_is_not_as_it_says),
        cmocka_unit_test(the_oldest_session_makes_room_for_a_new_one),
    };
    return plays_run("http-mock", tests, sizeof tests / sizeof *tests,
                     "tests/playbook/http/*.play", playbook_run);
}
