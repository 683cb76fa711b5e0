#include "bridge/http-to-stdio.h"

#include <stdlib.h>

#include "bridge/backends.h"
#include "http-line.h"
#include "random-clients.h"
#include "test.h"
#include "text-cases.h"

/* Requests as in playbooks, to a bridge with one session of each kind: 1 is one that was
 * initialized, 2 one of HTTP+SSE, and 3 was the first's before it ended. */
struct reading {
    struct session_ids ids;
    struct json json;
    struct arena arena;
    struct http_line line;
    struct event_request request;
    struct http_to_stdio_request http_request;
};

static void open_reading(struct reading *r)
{
    struct arena *a = &r->arena;
    bool minted;

    memset(r, 0, sizeof *r);
    session_ids_init(&r->ids);
    json_init(&r->json);
    session_ids_add(&r->ids, http_line_session(1, a), &minted);
    session_ids_add(&r->ids, backend_sse_session_id(http_line_session(2, a), a), &minted);
    session_ids_add(&r->ids, http_line_session(3, a), &minted);
    session_ids_end(&r->ids, http_line_session(3, a));
    http_line_read(&r->line, STR_NONE);
}

static void close_reading(struct reading *r)
{
    http_line_release(&r->line);
    session_ids_release(&r->ids);
    json_release(&r->json);
    arena_release(&r->arena);
}

static const struct http_to_stdio_request *read_line(struct reading *r, const char *line)
{
    struct event ev = { .kind = EVENT_HTTP_REQUEST, .exchange = 7, .request = &r->request };

    http_line_release(&r->line);
    http_line_read(&r->line, str_z(line));
    assert_int_equal(r->line.kind, HTTP_LINE_REQUEST);
    r->request = http_line_request(&r->line);
    http_to_stdio_parse_request(&r->http_request, &ev, &r->ids, &r->json, &r->arena);
    assert_int_equal(r->http_request.exchange, 7);
    return &r->http_request;
}

static void a_session_is_found_by_header_or_path(void **state)
{
    static const struct {
        const char *line;
        enum session_state state;
        uint64_t session;
        bool posted;
    } cases[] = {
        { "7 POST {\"id\":1,\"method\":\"a\"}", SESSION_NONE, 0, false },
        { "7 POST session=1 {\"id\":1,\"method\":\"a\"}", SESSION_LIVE, 1, false },
        { "7 POST session=3 {\"id\":1,\"method\":\"a\"}", SESSION_ENDED, 3, false },
        { "7 POST session=9 {\"id\":1,\"method\":\"a\"}", SESSION_UNKNOWN, 0, false },
        /* Each kind of session has names of its own. */
        { "7 POST session=2 {\"id\":1,\"method\":\"a\"}", SESSION_UNKNOWN, 0, false },
        { "7 POST path=/message?sessionId=2 {\"id\":1,\"method\":\"a\"}", SESSION_LIVE, 2,
          true },
        { "7 POST path=/message?sessionId=1 {\"id\":1,\"method\":\"a\"}", SESSION_UNKNOWN, 0,
          true },
    };
    struct reading r;

    (void)state;
    open_reading(&r);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct http_to_stdio_request *q = read_line(&r, cases[i].line);

        if (q->http.session_state != cases[i].state || q->session != cases[i].session ||
            q->http.to_sse_endpoint != cases[i].posted)
            fail_msg("%s: %s %llu", cases[i].line, session_state_name(q->http.session_state),
                     (unsigned long long)q->session);
    }
    close_reading(&r);
}

static void a_get_of_the_sse_path_without_session_opens_one(void **state)
{
    struct reading r;

    (void)state;
    open_reading(&r);
    assert_true(read_line(&r, "7 GET path=/sse")->opens_sse);
    assert_true(read_line(&r, "7 GET path=/a/b/sse")->opens_sse);
    assert_false(read_line(&r, "7 GET path=/mcp")->opens_sse);
    assert_false(read_line(&r, "7 GET path=/sse session=1")->opens_sse);
    assert_false(read_line(&r, "7 POST path=/sse {\"id\":1,\"method\":\"a\"}")->opens_sse);
    close_reading(&r);
}

static void a_message_is_found_by_its_id_and_a_batch_is_not(void **state)
{
    const struct http_to_stdio_request *q;
    struct reading r;

    (void)state;
    open_reading(&r);
    q = read_line(&r, "7 POST {\"id\":\"x\",\"method\":\"initialize\"}");
    assert_str(q->request_id, STR("\"x\""));
    assert_ptr_equal(q->http.message, &q->message);
    assert_true(http_to_stdio_is_initialize(q));
    q = read_line(&r, "7 POST [{\"id\":1,\"method\":\"initialize\"}]");
    assert_str(q->request_id, STR(""));
    assert_false(http_to_stdio_is_initialize(q));
    assert_false(
        http_to_stdio_is_initialize(read_line(&r, "7 POST {\"id\":1,\"method\":\"a\"}")));
    assert_false(
        http_to_stdio_is_initialize(read_line(&r, "7 POST {\"method\":\"initialize\"}")));
    assert_false(http_to_stdio_is_initialize(read_line(&r, "7 GET")));
    close_reading(&r);
}

static void other_paths_are_rejected(void **state)
{
    (void)state;
    assert_true(http_to_stdio_is_mcp_path(STR("/mcp")));
    assert_true(http_to_stdio_is_mcp_path(STR("/")));
    assert_false(http_to_stdio_is_mcp_path(STR("/.well-known/oauth-protected-resource")));
}

/* A playbook: requests of clients (http-line.h), events of servers, and the expected actions.
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
struct playbook_run {
    struct action_sink out;
    struct http_to_stdio front;
    struct buf got; /* and not expected yet */
    struct json json;
    struct arena arena;
    uint64_t timer; /* the last that was set */
    int64_t now_us;
};

static unsigned minted;

static void put_random(void *to, size_t size)
{
    memset(to, (int)++minted, size);
}

static void put(struct action_sink *self, const struct action *a)
{
    struct playbook_run *s = (struct playbook_run *)self;
    unsigned long long server = a->server;

    switch (a->kind) {
    case ACTION_START_UPSTREAM:
        buf_printf(&s->got, "server %llu starts\n", server);
        return;
    case ACTION_SEND_UPSTREAM:
        buf_printf(&s->got, "%sserver %llu >> ", a->by_mcpreel ? "own " : "", server);
        break;
    case ACTION_END_UPSTREAM:
        buf_printf(&s->got, "server %llu ends\n", server);
        return;
    case ACTION_UNDELIVERED:
        buf_printf(&s->got, "%sserver %llu unheard ", a->by_mcpreel ? "own " : "", server);
        break;
    case ACTION_SET_TIMER:
        s->timer = a->timer;
        return;
    case ACTION_FINISH:
        buf_add(&s->got, STR("finish\n"));
        return;
    case ACTION_HTTP_RESPONSE:
    case ACTION_STREAM_OPEN:
    case ACTION_STREAM_WRITE:
    case ACTION_STREAM_END:
        if (a->by_mcpreel)
            buf_add(&s->got, STR("own "));
        http_line_write(&s->got, a);
        if (a->by_mcpreel && a->kind == ACTION_STREAM_END)
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

static void step(struct playbook_run *s, struct event ev)
{
    s->now_us += 1000;
    ev.now_us = s->now_us;
    http_to_stdio_step(&s->front, &ev);
}

static void request(struct playbook_run *s, struct http_line *l)
{
    struct event_request r = http_line_request(l);

    step(s, (struct event){ .kind = EVENT_HTTP_REQUEST, .exchange = l->number, .request = &r });
}

/* "1 << {json}" or "1 gone why", after "server ". */
static bool server_line(struct playbook_run *s, struct str rest)
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
    step(s, (struct event){ .kind = EVENT_UPSTREAM_RECORD, .server = number, .record = &r });
    return true;
}

/* Whether the line is something that happens. */
static bool feed_line(struct playbook_run *s, struct str line)
{
    struct http_line l;
    bool is;

    if (str_starts(line, STR("servers "))) {
        s->front.backends.max = (size_t)strtoul(line.at + strlen("servers "), NULL, 10);
        return true;
    }
    if (str_starts(line, STR("server ")))
        return server_line(s, str_skip(line, strlen("server ")));
    if (str_eq(line, STR("ring")))
        step(s, (struct event){ .kind = EVENT_TIMER, .timer = s->timer });
    else if (str_eq(line, STR("close")))
        step(s, (struct event){ .kind = EVENT_INPUT_CLOSED });
    else {
        http_line_read(&l, line);
        is = l.kind == HTTP_LINE_REQUEST || l.kind == HTTP_LINE_CLIENT_CLOSED;
        if (l.kind == HTTP_LINE_REQUEST)
            request(s, &l);
        else if (l.kind == HTTP_LINE_CLIENT_CLOSED)
            step(s, (struct event){ .kind = EVENT_CLIENT_CLOSED, .exchange = l.number });
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

static bool expect(struct playbook_run *s, struct str line, struct buf *why)
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
    static const struct http_to_stdio_options options = { .max_servers = 16,
                                                          .random = put_random };
    struct playbook_run s = { .out = { put } };
    unsigned number = 0;
    bool ok = true;

    minted = 0;
    buf_init(&s.got, 1 << 20);
    json_init(&s.json);
    http_to_stdio_init(&s.front, &options, &s.out);
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
        else if (!feed_line(&s, line)) {
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
    http_to_stdio_release(&s.front);
    json_release(&s.json);
    arena_release(&s.arena);
    buf_release(&s.got);
    return ok;
}

static void check(const char *text, bool passes, const char *says)
{
    text_cases_check(play, text, passes, says);
}

static void a_playbook_fails_on_every_deviation(void **state)
{
    (void)state;
    check("server 1 starts\n", true, "");
    check("server 1 ends\n", false,
          "1: something else\n  got  server 1 starts\n  want server 1 ends");
    check("server 1 starts\nserver 1 ends\n", false, "2: nothing came\n  want server 1 ends");
    check("server 1 starts\nclose\nserver 1 ends\n", false, "3: not expected\n  got  finish\n");
}

/* How far a server is. */
enum exchange_state { UNUSED, RUNS, ENDS, GONE };

enum { SERVERS = 256, AT_ONCE = 4 };

/* Clients and servers that do anything at any time, and the invariants. */
struct random_run {
    struct random_clients clients;
    struct http_to_stdio front;
    enum exchange_state servers[SERVERS];
    uint64_t started; /* the highest number */
};

static size_t processes(const struct random_run *t)
{
    size_t count = 0;

    for (size_t i = 0; i < SERVERS; i++)
        count += t->servers[i] == RUNS || t->servers[i] == ENDS;
    return count;
}

static void watch_server(void *engine, const struct action *a)
{
    struct random_run *t = engine;
    enum exchange_state *at = &t->servers[a->server];

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

static const char *const client_messages[] = {
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

static const char *const server_messages[] = {
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

static void send_bytes(struct random_run *t, uint64_t server)
{
    struct record r = { .kind = RECORD_MESSAGE };
    struct json_fault fault;
    struct json j;

    if (t->servers[server] != RUNS && t->servers[server] != ENDS)
        return;
    json_init(&j);
    assert_true(json_scan(&j,
                          str_z(server_messages[random_clients_number(
                              &t->clients, sizeof server_messages / sizeof *server_messages)]),
                          &fault));
    r.message = (struct record_message){ .dir = TO_CLIENT, .msg = json_root(&j) };
    random_clients_event(
        &t->clients,
        (struct event){ .kind = EVENT_UPSTREAM_RECORD, .server = server, .record = &r });
    json_release(&j);
}

static void exit_server(struct random_run *t, uint64_t server)
{
    if (t->servers[server] != RUNS && t->servers[server] != ENDS)
        return;
    t->servers[server] = GONE;
    random_clients_event(&t->clients, (struct event){ .kind = EVENT_UPSTREAM_CLOSED,
                                                      .server = server,
                                                      .why = STR("it ended") });
}

static void step_random_clients(void *engine, const struct event *ev)
{
    struct random_run *t = engine;

    http_to_stdio_step(&t->front, ev);
}

static void run_random_steps(struct random_run *t)
{
    struct random_clients *c = &t->clients;

    random_clients_event(c, (struct event){ .kind = EVENT_OPENED });
    for (uint64_t next = 1; next < RANDOM_EXCHANGES;) {
        uint64_t what = random_clients_number(c, 32);

        if (what < 12)
            random_clients_request(c, next++, client_messages,
                                   sizeof client_messages / sizeof *client_messages, 6);
        else if (what < 15)
            random_clients_abort(c, random_clients_number(c, next));
        else if (what < 29)
            send_bytes(t, random_clients_number(c, t->started) + 1);
        else if (what < 31)
            exit_server(t, random_clients_number(c, t->started) + 1);
        else
            random_clients_timer(c, true);
    }
    random_clients_event(c, (struct event){ .kind = EVENT_INPUT_CLOSED });
    for (uint64_t i = 1; i <= t->started; i++)
        exit_server(t, i);
}

static void random_events_end_each_exchange_and_each_backend_once(void **state)
{
    static const struct http_to_stdio_options options = { .max_servers = AT_ONCE,
                                                          .random = put_random };

    (void)state;
    for (uint64_t round = 1; round <= RANDOM_ROUNDS; round++) {
        struct random_run t = { .started = 0 };

        minted = 0;
        random_clients_init(&t.clients, round, step_random_clients, &t);
        t.clients.other = watch_server;
        http_to_stdio_init(&t.front, &options, &t.clients.out);
        run_random_steps(&t);
        random_clients_check_end(&t.clients);
        assert_int_equal(processes(&t), 0);
        assert_int_equal(t.front.backends.all.count, 0);
        assert_int_equal(t.front.backends.active, 0);
        assert_int_equal(t.front.backends.processes, 0);
        http_to_stdio_release(&t.front);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_is_found_by_header_or_path),
        cmocka_unit_test(a_get_of_the_sse_path_without_session_opens_one),
        cmocka_unit_test(a_message_is_found_by_its_id_and_a_batch_is_not),
        cmocka_unit_test(other_paths_are_rejected),
        cmocka_unit_test(a_playbook_fails_on_every_deviation),
        cmocka_unit_test(random_events_end_each_exchange_and_each_backend_once),
    };
    return text_cases_run("http-to-stdio", tests, sizeof tests / sizeof *tests,
                          "tests/playbook/front/*.play", play);
}
