#include "engine/http-front.h"

#include <stdlib.h>

#include "crowd.h"
#include "plays.h"
#include "test.h"

/* A story: requests of clients (http-line.h) and what servers do, and what must come of it.
 *
 *     servers N                 how many there may be; before anything else
 *     server 1 << {json}        it says
 *     server 1 gone WHY         it has ended
 *     ring                      the time of the first timer has come
 *     close                     we are to end
 *
 * and in return, in this order: "server 1 starts", "server 1 >> {json}", "server 1 ends",
 * "server 1 unheard {json}", "finish", and what is said to clients; "own" stands before what no
 * server said, before what no client said, and before what a server said to us; and "because
 * WHY" after the end of a stream that no server has ended. Each thing happens a millisecond
 * after the one before it. */
struct story {
    struct action_sink out;
    struct http_front front;
    struct buf got; /* and not expected yet */
    struct json json;
    struct arena arena;
    uint64_t timer; /* the last that was set */
    int64_t now_us;
};

static unsigned minted;

static void mint(void *to, size_t size)
{
    memset(to, (int)++minted, size);
}

static void put(struct action_sink *self, const struct action *a)
{
    struct story *s = (struct story *)self;
    unsigned long long server = a->server;

    switch (a->kind) {
    case ACTION_START_UPSTREAM:
        buf_printf(&s->got, "server %llu starts\n", server);
        return;
    case ACTION_SEND_UPSTREAM:
        buf_printf(&s->got, "%sserver %llu >> ", a->own ? "own " : "", server);
        break;
    case ACTION_END_UPSTREAM:
        buf_printf(&s->got, "server %llu ends\n", server);
        return;
    case ACTION_UNHEARD:
        buf_printf(&s->got, "%sserver %llu unheard ", a->own ? "own " : "", server);
        break;
    case ACTION_SET_TIMER:
        s->timer = a->timer;
        return;
    case ACTION_FINISH:
        buf_add(&s->got, STR("finish\n"));
        return;
    case ACTION_ANSWER:
    case ACTION_OPEN:
    case ACTION_WRITE:
    case ACTION_END:
        if (a->own)
            buf_add(&s->got, STR("own "));
        http_line_write(&s->got, a);
        if (a->own && a->kind == ACTION_END)
            buf_printf(&s->got, " because %.*s", STR_ARG(a->why));
        buf_add_ch(&s->got, '\n');
        return;
    case ACTION_REPORT:
        return;
    default:
        fail_msg("an action that is not for a front");
    }
    buf_add(&s->got, a->text);
    buf_add_ch(&s->got, '\n');
}

static void step(struct story *s, struct event ev)
{
    s->now_us += 1000;
    ev.now_us = s->now_us;
    http_front_step(&s->front, &ev);
}

static void request(struct story *s, struct http_line *l)
{
    struct step_request r = http_line_request(l);

    step(s, (struct event){ .kind = EVENT_REQUEST, .exchange = l->number, .request = &r });
}

/* "1 << {json}" or "1 gone why", after "server ". */
static bool server_line(struct story *s, struct str rest)
{
    uint64_t number = (uint64_t)strtoull(rest.at, NULL, 10);
    struct record r = { .kind = RECORD_MESSAGE };
    struct json_fault fault;

    str_cut(&rest, ' ');
    if (str_starts(rest, STR("gone "))) {
        step(s, (struct event){ .kind = EVENT_UPSTREAM_CLOSED,
                                .server = number,
                                .why = str_skip(rest, 5) });
        return true;
    }
    if (!str_starts(rest, STR("<< ")))
        return false;
    assert_true(json_scan(&s->json, str_skip(rest, 3), &fault));
    r.message = (struct record_message){ .dir = TO_CLIENT, .msg = json_root(&s->json) };
    step(s, (struct event){ .kind = EVENT_UPSTREAM, .server = number, .record = &r });
    return true;
}

/* Whether the line is something that happens. */
static bool happens(struct story *s, struct str line)
{
    struct http_line l;
    bool is;

    if (str_starts(line, STR("servers "))) {
        s->front.servers.max = (size_t)strtoul(line.at + strlen("servers "), NULL, 10);
        return true;
    }
    if (str_starts(line, STR("server ")))
        return server_line(s, str_skip(line, strlen("server ")));
    if (str_eq(line, STR("ring")))
        step(s, (struct event){ .kind = EVENT_TIMER, .timer = s->timer });
    else if (str_eq(line, STR("close")))
        step(s, (struct event){ .kind = EVENT_CLOSED });
    else {
        http_line_read(&l, line);
        is = l.kind == HTTP_LINE_REQUEST || l.kind == HTTP_LINE_GONE;
        if (l.kind == HTTP_LINE_REQUEST)
            request(s, &l);
        else if (l.kind == HTTP_LINE_GONE)
            step(s, (struct event){ .kind = EVENT_GONE, .exchange = l.number });
        http_line_release(&l);
        return is;
    }
    return true;
}

/* $META and $VERSION written out. */
static struct str expand(struct str line, struct arena *a)
{
    struct str text = http_line_expand(line, a);
    const char *at = memmem(text.at, text.len, "$VERSION", 8);

    if (!at)
        return text;
    return arena_printf(a, "%.*s" MCPREEL_VERSION "%.*s", (int)(at - text.at), text.at,
                        STR_ARG(str_skip(text, (size_t)(at - text.at) + 8)));
}

static bool expect(struct story *s, struct str line, struct buf *why)
{
    struct str rest = buf_str(&s->got), got = str_cut(&rest, '\n');

    line = expand(line, &s->arena);
    if (!str_eq(got, line)) {
        buf_printf(why, "something else\n  got  %.*s\n  want %.*s", STR_ARG(got),
                   STR_ARG(line));
        return false;
    }
    buf_drop_front(&s->got, got.len + 1);
    return true;
}

static bool play(struct str text, struct buf *why)
{
    static const struct http_front_options options = { .max_servers = 16, .random = mint };
    struct story s = { .out = { put } };
    unsigned number = 0;
    bool ok = true;

    minted = 0;
    buf_init(&s.got, 1 << 20);
    json_init(&s.json);
    http_front_init(&s.front, &options, &s.out);
    step(&s, (struct event){ .kind = EVENT_OPENED });
    while (ok && text.len) {
        struct str line = str_cut(&text, '\n');
        struct buf wrong;

        number++;
        if (!str_trim(line).len || line.at[0] == '#')
            continue;
        buf_init(&wrong, 1 << 20);
        if (s.got.len)
            ok = expect(&s, line, &wrong);
        else if (!happens(&s, line)) {
            buf_printf(&wrong, "nothing came\n  want %.*s", STR_ARG(line));
            ok = false;
        }
        if (!ok)
            buf_printf(why, "%u: %s", number, buf_z(&wrong));
        buf_release(&wrong);
    }
    if (ok && s.got.len) {
        buf_printf(why, "%u: not expected\n  got  %s", number, buf_z(&s.got));
        ok = false;
    }
    http_front_release(&s.front);
    json_release(&s.json);
    arena_release(&s.arena);
    buf_release(&s.got);
    return ok;
}

static void check(const char *text, bool passes, const char *says)
{
    plays_check(play, text, passes, says);
}

static void a_story_fails_on_everything_that_is_not_as_it_says(void **state)
{
    (void)state;
    check("server 1 starts\n", true, "");
    check("server 1 ends\n", false,
          "1: something else\n  got  server 1 starts\n  want server 1 ends");
    check("server 1 starts\nserver 1 ends\n", false, "2: nothing came\n  want server 1 ends");
    check("server 1 starts\nclose\nserver 1 ends\n", false, "3: not expected\n  got  finish\n");
}

/* How far a server is. */
enum course { UNUSED, RUNS, ENDS, GONE };

enum { SERVERS = 256, AT_ONCE = 4 };

/* Clients and servers that do anything at any time, and what must hold then. */
struct town {
    struct crowd crowd;
    struct http_front front;
    enum course servers[SERVERS];
    uint64_t started; /* the highest number */
};

static size_t processes(const struct town *t)
{
    size_t count = 0;

    for (size_t i = 0; i < SERVERS; i++)
        count += t->servers[i] == RUNS || t->servers[i] == ENDS;
    return count;
}

static void watch_server(void *engine, const struct action *a)
{
    struct town *t = engine;
    enum course *at = &t->servers[a->server];

    if (a->kind == ACTION_START_UPSTREAM) {
        assert_true(a->server > t->started);
        t->started = a->server;
        assert_int_equal(*at, UNUSED);
        *at = RUNS;
        assert_true(processes(t) <= AT_ONCE);
    } else if (a->kind == ACTION_SEND_UPSTREAM) {
        assert_int_equal(*at, RUNS);
        assert_null(memchr(a->text.at, '\n', a->text.len));
    } else if (a->kind == ACTION_END_UPSTREAM) {
        assert_int_equal(*at, RUNS);
        *at = ENDS;
    } else {
        assert_int_not_equal(*at, UNUSED);
    }
}

#define CALL "\"method\":\"tools/call\",\"params\":{\"_meta\":{\"progressToken\":1}}"

static const char *const asked[] = {
    "POST {\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}",
    "POST {\"id\":0,\"method\":\"initialize\"}",
    "POST session=%d {\"id\":0,\"method\":\"initialize\"}",
    "GET session=%d",
    "GET session=%d version=2025-11-25 last=1-1",
    "GET session=%d last=2-2",
    "POST session=%d {\"id\":1," CALL "}",
    "POST session=%d accept=json {\"id\":2," CALL "}",
    "POST session=%d accept=sse {\"id\":1," CALL "}",
    "POST session=%d "
    "[{\"id\":1,\"method\":\"a\"},{\"id\":2,\"method\":\"b\"},{\"method\":\"c\"}]",
    "POST session=%d {\"id\":0,\"result\":{}}",
    "POST session=%d {\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
    "POST {\"id\":1," CALL "}",
    "POST accept=json {\"id\":1," CALL "}",
    "POST [{\"id\":1,\"method\":\"a\"},{\"id\":1,\"method\":\"b\"}]",
    "POST modern {\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{$META}}",
    "POST modern {\"id\":1,\"method\":\"tools/list\",\"params\":{$META}}",
    "GET path=/sse",
    "POST path=/message?sessionId=%d {\"id\":1," CALL "}",
    "POST path=/message?sessionId=%d {\"id\":0,\"result\":{}}",
    "DELETE session=%d",
    "POST session=%d raw {",
};

static const char *const said[] = {
    "{\"id\":\"mcpreel-greeting\",\"result\":{\"supportedVersions\":[\"2026-07-28\"]}}",
    "{\"id\":\"mcpreel-greeting\",\"error\":{\"code\":-32601}}",
    "{\"id\":0,\"result\":{\"protocolVersion\":\"2025-11-25\"}}",
    "{\"id\":0,\"error\":{\"code\":-32022}}",
    "{\"id\":1,\"result\":{}}",
    "{\"id\":2,\"result\":{}}",
    "{\"id\":3,\"error\":{}}",
    "{\"id\":null,\"error\":{}}",
    "{\"id\":0,\"method\":\"roots/list\"}",
    "{\"id\":1,\"method\":\"ping\"}",
    "{\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1}}",
    "{\"method\":\"notifications/message\"}",
    ("{\"method\":\"notifications/tools/list_changed\",\"params\":{\"_meta\":{"
     "\"io.modelcontextprotocol/subscriptionId\":1}}}"),
    "{\"method\":\"notifications/tools/list_changed\"}",
    "{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
};

static void say_something(struct town *t, uint64_t server)
{
    struct record r = { .kind = RECORD_MESSAGE };
    struct json_fault fault;
    struct json j;

    if (t->servers[server] != RUNS && t->servers[server] != ENDS)
        return;
    json_init(&j);
    assert_true(
        json_scan(&j, str_z(said[crowd_throw(&t->crowd, sizeof said / sizeof *said)]), &fault));
    r.message = (struct record_message){ .dir = TO_CLIENT, .msg = json_root(&j) };
    crowd_tell(&t->crowd,
               (struct event){ .kind = EVENT_UPSTREAM, .server = server, .record = &r });
    json_release(&j);
}

static void die(struct town *t, uint64_t server)
{
    if (t->servers[server] != RUNS && t->servers[server] != ENDS)
        return;
    t->servers[server] = GONE;
    crowd_tell(&t->crowd, (struct event){ .kind = EVENT_UPSTREAM_CLOSED,
                                          .server = server,
                                          .why = STR("it ended") });
}

static void step_town(void *engine, const struct event *ev)
{
    struct town *t = engine;

    http_front_step(&t->front, ev);
}

static void let_loose(struct town *t)
{
    struct crowd *c = &t->crowd;

    crowd_tell(c, (struct event){ .kind = EVENT_OPENED });
    for (uint64_t next = 1; next < CROWD_EXCHANGES;) {
        uint64_t what = crowd_throw(c, 32);

        if (what < 12)
            crowd_ask(c, next++, asked, sizeof asked / sizeof *asked, 6);
        else if (what < 15)
            crowd_leave(c, crowd_throw(c, next));
        else if (what < 29)
            say_something(t, crowd_throw(c, t->started) + 1);
        else if (what < 31)
            die(t, crowd_throw(c, t->started) + 1);
        else
            crowd_ring(c, true);
    }
    crowd_tell(c, (struct event){ .kind = EVENT_CLOSED });
    for (uint64_t i = 1; i <= t->started; i++)
        die(t, i);
}

static void whatever_anybody_does_each_exchange_and_each_server_ends_once(void **state)
{
    static const struct http_front_options options = { .max_servers = AT_ONCE, .random = mint };

    (void)state;
    for (uint64_t round = 1; round <= CROWD_ROUNDS; round++) {
        struct town t = { .started = 0 };

        minted = 0;
        crowd_begin(&t.crowd, round, step_town, &t);
        t.crowd.other = watch_server;
        http_front_init(&t.front, &options, &t.crowd.out);
        let_loose(&t);
        crowd_end(&t.crowd);
        assert_int_equal(processes(&t), 0);
        assert_int_equal(t.front.servers.all.count, 0);
        assert_int_equal(t.front.servers.running, 0);
        assert_int_equal(t.front.servers.processes, 0);
        http_front_release(&t.front);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_story_fails_on_everything_that_is_not_as_it_says),
        cmocka_unit_test(whatever_anybody_does_each_exchange_and_each_server_ends_once),
    };
    return plays_run("http-front", tests, sizeof tests / sizeof *tests,
                     "tests/playbook/front/*.play", play);
}
