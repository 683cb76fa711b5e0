#include "transport/http-relay.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "relay-rig.h"
#include "trace/limits.h"

#define HOST "Host: localhost\r\n"
#define JSON "Content-Type: application/json\r\n"

static void requests_and_answers_pass_in_both_directions(void **state)
{
    static const struct peer_step script[] = {
        PEER(ACCEPT),
        PEER_TEXT(SEES, "POST /mcp HTTP/1.1\r\n" HOST JSON
                        "X-A: 1\r\nx-a: 2\r\nContent-Length: 2\r\n\r\n{}"),
        PEER_TEXT(
            SAYS,
            "HTTP/1.1 200 Fine\r\nContent-Type: application/json\r\nMcp-Session-Id: s\r\n"
            "Keep-Alive: timeout=5\r\nX-B: 1\r\nx-b: 2\r\nContent-Length: 8\r\n\r\n{\"a\": 1}"),
        PEER_TEXT(SEES, "POST /mcp HTTP/1.1\r\n" HOST JSON "Transfer-Encoding: chunked\r\n\r\n"
                        "1\r\n[\r\n1\r\n]\r\n0\r\n\r\n"),
        PEER_TEXT(SAYS, "HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        PEER(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    talk(&g,
         "POST /mcp HTTP/1.1\r\n" HOST JSON
         "X-A: 1\r\nConnection: keep-alive\r\nx-a: 2\r\nContent-Length: 2\r\n\r\n{}",
         "HTTP/1.1 200 Fine\r\nContent-Type: application/json\r\nMcp-Session-Id: s\r\n"
         "X-B: 1\r\nx-b: 2\r\nContent-Length: 8\r\n\r\n{\"a\": 1}");
    assert_seen(&g, "1:1 POST /mcp endpoint\nbody '{}'\nasked\nhead 200\nanswer '{\"a\": 1}'\n"
                    "end server clean\n");
    talk(&g,
         "POST / HTTP/1.1\r\n" HOST JSON
         "Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n1;x\r\n]\r\n0\r\nT: x\r\n\r\n",
         "HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    assert_seen(&g, "2:1 POST / endpoint\nbody '['\nbody ']'\nasked\nhead 202\n"
                    "end server clean\n");
    peer_join(&g.server);
    close_rig(&g);
}

static void an_event_stream_passes_piece_by_piece(void **state)
{
    static const struct peer_step script[] = {
        PEER(ACCEPT),
        PEER_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        PEER_TEXT(
            SAYS,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Accel-Buffering: no\r\n"
            "Transfer-Encoding: chunked\r\n\r\n"),
        PEER_N(REST, 30),
        PEER_TEXT(SAYS, "8\r\ndata: a\n\r\n"),
        PEER_N(REST, 30),
        PEER_TEXT(SAYS, "1\r\n\n\r\n"),
        PEER_N(REST, 30),
        PEER_TEXT(SAYS, "0\r\n\r\n"),
        PEER(DONE)
    };
    static const char head[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Accel-Buffering: no\r\n"
        "Transfer-Encoding: chunked\r\n\r\n";
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    talk(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n", head); /* at once, without any event */
    assert_seen(&g, "1:1 GET /mcp endpoint\nasked\nhead 200\n");
    talk(&g, "", "8\r\ndata: a\n\r\n");
    talk(&g, "", "1\r\n\n\r\n");
    talk(&g, "", "0\r\n\r\n");
    assert_seen(&g, "answer 'data: a\n'\nanswer '\n'\nend server clean\n");
    peer_join(&g.server);
    close_rig(&g);
}

/* The copy is with the owner before the client can have the last byte. */
static void the_owner_has_it_all_before_the_client_has(void **state)
{
    static const struct peer_step script[] = {
        PEER(ACCEPT),
        PEER_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        PEER_TEXT(SAYS, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
        PEER_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        PEER_TEXT(
            SAYS,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
        PEER(DONE)
    };
    static const char sized[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    static const char chunked[] =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    talk(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
         "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    assert_true(g.at_end <= (int)strlen(sized));
    assert_int_equal(g.at_settle, g.at_end);
    talk(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
    assert_true(g.at_end <= (int)strlen(chunked));
    assert_int_equal(g.at_settle, g.at_end);
    assert_false(g.unsettled);
    assert_int_equal(g.ends, 2);
    peer_join(&g.server);
    close_rig(&g);
}

static void paths_are_those_of_the_target(void **state)
{
    static const struct {
        const char *target, *asked, *sent;
    } rows[] = {
        { "/mcp", "/", "/mcp" },
        { "/mcp", "/mcp", "/mcp" },
        { "/mcp", "/?a=b", "/mcp?a=b" },
        { "/mcp", "/mcp?a=%20", "/mcp?a=%20" },
        { "/mcp?key=1", "/mcp", "/mcp?key=1" },
        { "/mcp?key=1", "/mcp?key=1", "/mcp?key=1" },
        { "/mcp?key=1", "/mcp?a=b", "/mcp?key=1&a=b" },
        { "/mcp?key=1", "/other?a=b", "/other?a=b" },
        { "/mcp?key=1", "/mcp?post", "/mcp?post" }, /* told where to post: as it is */
        { "/mcp", "/?post", "/?post" },
        { "/mcp", "/mcp/", "/mcp/" },
        { "/mcp", "/.well-known/x", "/.well-known/x" },
        { "/mcp", "//elsewhere/x", "//elsewhere/x" },
        { "/mcp", "http://localhost/mcp?x", "/mcp?x" },
        { "", "/", "/" },
        { "/", "/", "/" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char want[128], say[128];
        const struct peer_step script[] = { PEER(ACCEPT), PEER_TEXT(SEES, want),
                                            PEER_TEXT(SAYS, "HTTP/1.1 204 None\r\n\r\n"),
                                            PEER(DONE) };
        struct rig g;

        snprintf(want, sizeof want, "GET %s HTTP/1.1\r\n" HOST "\r\n", rows[i].sent);
        snprintf(say, sizeof say, "GET %s HTTP/1.1\r\n" HOST "\r\n", rows[i].asked);
        open_rig(&g, script, rows[i].target);
        talk(&g, say, "HTTP/1.1 204 None\r\n\r\n");
        peer_join(&g.server);
        close_rig(&g);
    }
}

/* The heart of it, seen from the client. */
static void a_request_that_is_dropped_unanswered_is_a_502_and_not_sent_again(void **state)
{
    static const struct peer_step script[] = {
        PEER(ACCEPT),
        PEER_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        PEER_TEXT(SAYS, "HTTP/1.1 204 None\r\n\r\n"),
        PEER_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        PEER(CLOSE),
        PEER(LONE),
        PEER(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    talk(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 204 None\r\n\r\n");
    talk(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
         "HTTP/1.1 502 Bad Gateway\r\nContent-Type: application/json\r\nContent-Length: "
         "114\r\n\r\n"
         "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":"
         "\"the server closed the connection without an answer\"}}");
    buf_clear(&g.heard);
    assert_seen(&g, "1:1 GET /mcp endpoint\nasked\nhead 204\nend server clean\n"
                    "2:1 GET /mcp endpoint\nasked\n"
                    "own 502 the server closed the connection without an answer\n"
                    "end fault clean\n");
    peer_join(&g.server);
    close_rig(&g);
}

static void without_a_server_there_is_an_answer(void **state)
{
    static const struct peer_step nothing[] = { PEER(DONE) };
    char want[300], text[100];
    struct rig g;

    (void)state;
    open_rig(&g, nothing, "/mcp");
    peer_join(&g.server);
    snprintf(text, sizeof text, "cannot connect to 'http://127.0.0.1:%d': connection refused",
             g.server.port);
    snprintf(want, sizeof want,
             "HTTP/1.1 502 Bad Gateway\r\nContent-Type: application/json\r\n"
             "Content-Length: %d\r\n\r\n"
             "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32000,\"message\":\"%s\"}}",
             (int)strlen(text) + 61, text);
    talk(&g, "POST /mcp HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}", want);
    snprintf(want, sizeof want,
             "1:1 POST /mcp endpoint\nbody '{}'\nasked\nown 502 %s\nend fault clean\n", text);
    assert_seen(&g, want);
    close_rig(&g);
}

static bool has_ended(void *to)
{
    return ((struct rig *)to)->ends > 0;
}

static bool has_asked(void *to)
{
    return strstr(buf_z(&((struct rig *)to)->seen), "POST") != NULL;
}

/* A relay whose server is gone, and has been found to be: only the head was sent. */
static void lose_server(struct rig *g, const char *head, const struct http_patience *patience)
{
    static const struct peer_step nothing[] = { PEER(DONE) };
    struct http_relay_config config = { .listen.patience = patience };
    struct err e = ERR_NONE;
    char url[64];

    set_up(g);
    peer_start(&g->server, nothing);
    peer_join(&g->server);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", g->server.port);
    config.gate = &g->gate;
    config.server.url = str_z(url);
    assert_true(http_relay_open(&g->relay, g->loop, &config, &events, g, &e));
    g->client = dial_port(port_of(g));
    dial_say(g->client, str_z(head));
    assert_true(dial_until(g->loop, has_asked, g));
    for (int i = 0; i < 5; i++)
        dial_pause(g->loop);
}

/* What was told to the owner, but for the words of the failure, which name the port. */
static void assert_owed(struct rig *g, const char *before, const char *after)
{
    char want[300];

    snprintf(want, sizeof want,
             "1:1 POST /mcp endpoint\n%sown 502 cannot connect to 'http://127.0.0.1:%d': "
             "connection refused\n%s",
             before, g->server.port, after);
    assert_seen(g, want);
}

#define POST "POST /mcp HTTP/1.1\r\n" HOST JSON

static void whom_the_server_fails_is_heard_out_before_it_is_told(void **state)
{
    static const struct {
        const char *head, *first, *body;
    } ways[] = {
        { "Content-Length: 4\r\n\r\n", "", "abcd" },
        { "Transfer-Encoding: chunked\r\n\r\n", "", "4\r\nabcd\r\n0\r\n\r\n" },
        { "Expect: 100-continue\r\nContent-Length: 4\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
          "abcd" },
    };
    struct rig g;
    char head[200];
    int waits;

    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        snprintf(head, sizeof head, "%s%s", POST, ways[i].head);
        lose_server(&g, head, NULL);
        assert_int_equal(ioctl(g.client, FIONREAD, &waits), 0);
        assert_int_equal(waits, strlen(ways[i].first));
        assert_str(buf_str(&g.seen), STR("1:1 POST /mcp endpoint\n"));
        dial_say(g.client, str_z(ways[i].body));
        dial_hear(g.loop, g.client, &g.heard, STR("}}"));
        snprintf(head, sizeof head, "%sHTTP/1.1 502 Bad Gateway\r\n", ways[i].first);
        assert_true(str_starts(buf_str(&g.heard), str_z(head)));
        assert_non_null(strstr(buf_z(&g.heard), "\"id\":7,"));
        assert_owed(&g, "body 'abcd'\nasked\n", "end fault clean\n");
        close_rig(&g);
    }
}

/* It closes its side, or waits for longer than a body may. */
static void who_never_says_all_of_it_is_told_in_the_end(void **state)
{
    struct http_patience hasty = http_conn_patience;
    struct rig g;

    (void)state;
    hasty.body_ms = 200;
    for (int slow = 0; slow < 2; slow++) {
        lose_server(&g, POST "Content-Length: 4\r\n\r\nab", slow ? &hasty : NULL);
        if (!slow)
            shutdown(g.client, SHUT_WR);
        dial_hear(g.loop, g.client, &g.heard, STR("}}"));
        assert_true(str_starts(buf_str(&g.heard), STR("HTTP/1.1 502 Bad Gateway\r\n")));
        assert_non_null(strstr(buf_z(&g.heard), "\"id\":null,"));
        assert_owed(&g, "body 'ab'\n", "end fault clean\n");
        assert_int_equal(http_relay_open_count(g.relay), 0);
        close_rig(&g);
    }
}

/* As much of it as is taken now. */
static size_t say_some(struct rig *g, struct str bytes)
{
    ssize_t n = send(g->client, bytes.at, bytes.len, MSG_DONTWAIT | MSG_NOSIGNAL);

    assert_true(n > 0 || errno == EAGAIN);
    dial_pause(g->loop);
    return n > 0 ? (size_t)n : 0;
}

/* Of a body without an end no more is read than would be kept. */
static void who_says_too_much_is_told_before_it_has_ended(void **state)
{
    static char much[1 << 20];
    struct rig g;

    (void)state;
    lose_server(&g, POST "Content-Length: 1000000000\r\n\r\n", NULL);
    g.quiet = true;
    while (!g.ends)
        say_some(&g, str_n(much, sizeof much));
    assert_true(g.sent > LIMIT_MESSAGE && g.sent <= LIMIT_MESSAGE + sizeof much);
    dial_hear(g.loop, g.client, &g.heard, STR("}}"));
    assert_true(str_starts(buf_str(&g.heard), STR("HTTP/1.1 502 Bad Gateway\r\n")));
    assert_owed(&g, "", "end fault clean\n");
    close_rig(&g);
}

static void a_client_that_leaves_while_it_is_heard_out_has_left(void **state)
{
    static const struct linger at_once = { .l_onoff = 1 };
    struct rig g;

    (void)state;
    lose_server(&g, POST "Content-Length: 4\r\n\r\nab", NULL);
    setsockopt(g.client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    hang_up(&g);
    assert_true(dial_until(g.loop, has_ended, &g));
    assert_seen(&g, "1:1 POST /mcp endpoint\nbody 'ab'\n"
                    "end client the client has closed the connection\n");
    close_rig(&g);
}

/* The system takes in only so many whom nobody has asked in yet. What is posted meanwhile waits
 * with the client, as far as it is much, and is heard in the end. */
static void a_server_that_takes_too_long_to_connect_to_is_a_504(void **state)
{
    static char much[1 << 20];
    struct str rest = str_n(much, sizeof much);
    static const struct peer_step script[] = { PEER(HOLD), PEER(DONE) };
    struct http_relay_config config = { .server.connect_ms = 50 };
    struct err e = ERR_NONE;
    int others[64];
    char url[64];
    struct rig g;

    (void)state;
    set_up(&g);
    config.gate = &g.gate;
    peer_start(&g.server, script);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        others[i] = peer_knock(&g.server);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", g.server.port);
    config.server.url = str_z(url);
    assert_true(http_relay_open(&g.relay, g.loop, &config, &events, &g, &e));
    g.client = dial_port(port_of(&g));
    dial_say(g.client, STR("GET / HTTP/1.1\r\n" HOST "\r\n"));
    dial_hear(g.loop, g.client, &g.heard, STR("it took too long\"}}"));
    assert_true(str_starts(buf_str(&g.heard), STR("HTTP/1.1 504 Gateway Timeout\r\n")));
    buf_clear(&g.heard);
    g.quiet = true;
    dial_say(g.client, STR(POST "Content-Length: 1048576\r\n\r\n"));
    while (rest.len)
        rest = str_skip(rest, say_some(&g, rest));
    dial_hear(g.loop, g.client, &g.heard, STR("it took too long\"}}"));
    assert_true(str_starts(buf_str(&g.heard), STR("HTTP/1.1 504 Gateway Timeout\r\n")));
    assert_int_equal(g.sent, sizeof much);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        close(others[i]);
    peer_go(&g.server);
    peer_join(&g.server);
    close_rig(&g);
}

static void an_answer_that_is_broken_off_is_broken_off(void **state)
{
    static const struct peer_step chunked[] = {
        PEER(ACCEPT), PEER_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        PEER_TEXT(SAYS, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"),
        PEER(CLOSE), PEER(DONE)
    };
    static const struct peer_step invalid[] = {
        PEER(ACCEPT), PEER_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        PEER_TEXT(SAYS, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nx"),
        PEER(DONE)
    };
    static const char heard[] =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n";
    const char *how;
    struct rig g;

    (void)state;
    open_rig(&g, chunked, "/mcp");
    talk(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n", heard);
    how = dial_hear(g.loop, g.client, &g.heard, STR("never"));
    assert_true(strcmp(how, "end") == 0 || strcmp(how, "reset") == 0);
    assert_str(buf_str(&g.heard), str_z(heard)); /* and no last chunk */
    assert_seen(&g,
                "1:1 GET /mcp endpoint\nasked\nhead 200\nanswer 'ab'\n"
                "end server the server closed the connection before its answer was whole\n");
    peer_join(&g.server);
    close_rig(&g);

    open_rig(&g, invalid, "/mcp");
    talk(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n", heard);
    dial_hear(g.loop, g.client, &g.heard, STR("never"));
    assert_seen(&g, "1:1 GET /mcp endpoint\nasked\nhead 200\nanswer 'ab'\n"
                    "end fault the server's answer is not HTTP: a chunk whose size is not a "
                    "hexadecimal number\n");
    peer_join(&g.server);
    close_rig(&g);
}

static void a_client_that_leaves_ends_its_request_at_the_server(void **state)
{
    static const struct peer_step script[] = {
        PEER(ACCEPT), PEER_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        PEER_TEXT(SAYS, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), PEER(EOF),
        PEER(DONE)
    };
    static const struct peer_step unanswered[] = {
        PEER(ACCEPT), PEER_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"), PEER(EOF),
        PEER(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    talk(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    hang_up(&g);
    assert_true(dial_until(g.loop, has_ended, &g));
    peer_join(&g.server);
    assert_non_null(strstr(buf_z(&g.seen), "end client "));
    assert_int_equal(http_relay_open_count(g.relay), 0);
    close_rig(&g);

    open_rig(&g, unanswered, "/mcp");
    dial_say(g.client, STR("GET /mcp HTTP/1.1\r\n" HOST "\r\n"));
    dial_pause(g.loop);
    hang_up(&g);
    assert_true(dial_until(g.loop, has_ended, &g));
    peer_join(&g.server);
    assert_non_null(strstr(buf_z(&g.seen), "end client "));
    close_rig(&g);
}

/* The server would wait for a minute. */
static void what_a_client_leaves_idle_is_closed_when_it_goes(void **state)
{
    static const struct peer_step script[] = {
        PEER(ACCEPT), PEER_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        PEER_TEXT(SAYS, "HTTP/1.1 204 None\r\nKeep-Alive: timeout=60\r\n\r\n"), PEER(EOF),
        PEER(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    talk(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 204 None\r\n\r\n");
    hang_up(&g);
    for (int i = 0; i < 100; i++)
        dial_pause(g.loop);
    peer_join(&g.server);
    close_rig(&g);
}

static void whoever_waits_for_100_is_told_to_go_on(void **state)
{
    static const struct peer_step script[] = {
        PEER(ACCEPT),
        PEER_TEXT(SEES, "POST /mcp HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}"),
        PEER_TEXT(SAYS, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 None\r\n\r\n"), PEER(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    talk(&g,
         "POST /mcp HTTP/1.1\r\n" HOST JSON "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n",
         "HTTP/1.1 100 Continue\r\n\r\n");
    talk(&g, "{}", "HTTP/1.1 204 None\r\n\r\n");
    peer_join(&g.server);
    close_rig(&g);
}

static void whoever_is_not_let_in_does_not_reach_the_server(void **state)
{
    static const struct peer_step script[] = { PEER(LONE), PEER(DONE) };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    dial_say(g.client, STR("GET /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n"));
    dial_hear(g.loop, g.client, &g.heard, STR("}}"));
    assert_true(str_starts(buf_str(&g.heard), STR("HTTP/1.1 403 Forbidden\r\n")));
    buf_clear(&g.heard);
    dial_say(g.client, STR("POST /mcp HTTP/1.1\r\n" HOST
                           "Content-Type: text/plain\r\nContent-Length: 0\r\n\r\n"));
    dial_hear(g.loop, g.client, &g.heard, STR("}}"));
    assert_true(str_starts(buf_str(&g.heard), STR("HTTP/1.1 415 Unsupported Media Type\r\n")));
    assert_non_null(strstr(buf_z(&g.seen), "own 403 "));
    assert_non_null(strstr(buf_z(&g.seen), "own 415 "));
    assert_int_equal(g.ends, 2);
    peer_join(&g.server);
    close_rig(&g);
}

static void the_server_gets_its_own_host(void **state)
{
    char want[128], url[64];
    const struct peer_step script[] = { PEER(ACCEPT), PEER_TEXT(SEES, want),
                                        PEER_TEXT(SAYS, "HTTP/1.1 204 None\r\n\r\n"),
                                        PEER(DONE) };
    struct rig g;

    (void)state;
    set_up(&g);
    g.own_host = true;
    peer_start(&g.server, script);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", g.server.port);
    snprintf(want, sizeof want, "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nA: b\r\n\r\n",
             g.server.port);
    open_url(&g, url);
    talk(&g, "GET /mcp HTTP/1.1\r\n" HOST "A: b\r\n\r\n", "HTTP/1.1 204 None\r\n\r\n");
    peer_join(&g.server);
    close_rig(&g);
}

enum { MUCH = 8 << 20 };

static void a_client_that_does_not_read_makes_the_server_wait(void **state)
{
    static const struct peer_step script[] = {
        PEER(ACCEPT), PEER_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        PEER_TEXT(SAYS, "HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n"),
        PEER_N(FLOOD, MUCH), PEER(DONE)
    };
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n";
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    g.quiet = true;
    dial_say(g.client, STR("GET /mcp HTTP/1.1\r\n" HOST "\r\n"));
    for (int i = 0; i < 20; i++)
        dial_pause(g.loop);
    assert_true(g.bytes < MUCH); /* the rest waits for the client */
    while (g.heard.len < sizeof head - 1 + MUCH)
        assert_string_equal(dial_hear(g.loop, g.client, &g.heard, STR("x")), "");
    assert_int_equal(g.bytes, MUCH);
    assert_int_equal(g.heard.len, sizeof head - 1 + MUCH);
    peer_join(&g.server);
    close_rig(&g);
}

/* More than the system holds for both of them. */
enum { VERY_MUCH = 32 << 20 };

static void a_server_that_does_not_read_makes_the_client_wait(void **state)
{
    static const struct peer_step script[] = {
        PEER(ACCEPT),
        PEER_TEXT(SEES, "POST /mcp HTTP/1.1\r\n" HOST JSON "Content-Length: 33554432\r\n\r\n"),
        PEER(HOLD),
        PEER_N(GULP, VERY_MUCH),
        PEER_TEXT(SAYS, "HTTP/1.1 204 None\r\n\r\n"),
        PEER(DONE)
    };
    char *much = calloc(1, VERY_MUCH);
    struct rig g;
    pid_t pid;

    (void)state;
    open_rig(&g, script, "/mcp");
    g.quiet = true;
    dial_say(g.client,
             STR("POST /mcp HTTP/1.1\r\n" HOST JSON "Content-Length: 33554432\r\n\r\n"));
    pid = fork(); /* somebody who can wait for us */
    if (pid == 0) {
        dial_say(g.client, str_n(much, VERY_MUCH));
        _exit(0);
    }
    for (int i = 0; i < 100; i++)
        dial_pause(g.loop);
    assert_true(g.sent < VERY_MUCH); /* the rest waits for the server */
    peer_go(&g.server);
    assert_string_equal(dial_hear(g.loop, g.client, &g.heard, STR("None\r\n\r\n")), "");
    assert_int_equal(g.sent, VERY_MUCH);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    peer_join(&g.server);
    free(much);
    close_rig(&g);
}

static void note_done(void *to)
{
    loop_stop(to);
}

static void when_we_end_whatever_is_under_way_has_its_end(void **state)
{
    static const struct peer_step script[] = {
        PEER(ACCEPT), PEER_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        PEER_TEXT(SAYS, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), PEER(EOF),
        PEER(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    talk(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    http_relay_close(g.relay);
    g.relay = NULL;
    assert_int_equal(g.ends, 1);
    assert_non_null(strstr(buf_z(&g.seen), "end self mcpreel was ended\n"));
    peer_join(&g.server);
    close_rig(&g);

    open_rig(&g, script, "/mcp");
    talk(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    http_relay_stop(g.relay, 10, note_done, g.loop);
    loop_run(g.loop);
    assert_int_equal(g.ends, 1);
    assert_non_null(strstr(buf_z(&g.seen), "end self "));
    peer_join(&g.server);
    close_rig(&g);
}

static void what_cannot_be_used_is_told(void **state)
{
    struct http_relay_config config = { .server.url = STR("ftp://x/") };
    struct http_relay *r = NULL;
    struct err e = ERR_NONE;
    struct loop *l = loop_new();

    (void)state;
    assert_false(http_relay_open(&r, l, &config, &events, NULL, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    loop_free(l);
}

#define STREAM_HEAD                                                                            \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

static void the_owner_may_let_other_bytes_go_on(void **state)
{
    static const struct peer_step script[] = {
        PEER(ACCEPT),
        PEER_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "Accept-Encoding: identity\r\n\r\n"),
        PEER_TEXT(SAYS, STREAM_HEAD "2\r\nza\r\n0\r\n\r\n"), PEER(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    g.edits = true;
    talk(&g, "GET /mcp HTTP/1.1\r\n" HOST "Accept-Encoding: gzip\r\n\r\n",
         STREAM_HEAD "5\r\nother\r\n4\r\nrest\r\n0\r\n\r\n");
    assert_seen(&g, "1:1 GET /mcp endpoint\nasked\nhead 200\nanswer 'za'\nend server clean\n");
    peer_join(&g.server);
    close_rig(&g);
}

static void what_the_owner_does_not_let_through_is_broken_off(void **state)
{
    static const struct peer_step script[] = { PEER(ACCEPT),
                                               PEER_TEXT(SEES,
                                                         "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
                                               PEER_TEXT(SAYS, STREAM_HEAD "1\r\nz\r\n"),
                                               PEER_N(REST, 30),
                                               PEER_TEXT(SAYS, "4\r\nabxc\r\n"),
                                               PEER(EOF),
                                               PEER(DONE) };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    g.edits = true;
    talk(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n", STREAM_HEAD "5\r\nother\r\n");
    buf_clear(&g.heard);
    assert_string_not_equal(dial_hear(g.loop, g.client, &g.heard, STR("never")), "silence");
    assert_str(buf_str(&g.heard), STR("2\r\nab\r\n")); /* not even the end of the chunks */
    assert_seen(&g, "1:1 GET /mcp endpoint\nasked\nhead 200\nanswer 'z'\nanswer 'abxc'\n"
                    "end self there is an x in it\n");
    peer_join(&g.server);
    close_rig(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_and_answers_pass_in_both_directions),
        cmocka_unit_test(an_event_stream_passes_piece_by_piece),
        cmocka_unit_test(the_owner_has_it_all_before_the_client_has),
        cmocka_unit_test(paths_are_those_of_the_target),
        cmocka_unit_test(a_request_that_is_dropped_unanswered_is_a_502_and_not_sent_again),
        cmocka_unit_test(without_a_server_there_is_an_answer),
        cmocka_unit_test(whom_the_server_fails_is_heard_out_before_it_is_told),
        cmocka_unit_test(who_never_says_all_of_it_is_told_in_the_end),
        cmocka_unit_test(who_says_too_much_is_told_before_it_has_ended),
        cmocka_unit_test(a_client_that_leaves_while_it_is_heard_out_has_left),
        cmocka_unit_test(a_server_that_takes_too_long_to_connect_to_is_a_504),
        cmocka_unit_test(an_answer_that_is_broken_off_is_broken_off),
        cmocka_unit_test(a_client_that_leaves_ends_its_request_at_the_server),
        cmocka_unit_test(what_a_client_leaves_idle_is_closed_when_it_goes),
        cmocka_unit_test(whoever_waits_for_100_is_told_to_go_on),
        cmocka_unit_test(whoever_is_not_let_in_does_not_reach_the_server),
        cmocka_unit_test(the_server_gets_its_own_host),
        cmocka_unit_test(a_client_that_does_not_read_makes_the_server_wait),
        cmocka_unit_test(a_server_that_does_not_read_makes_the_client_wait),
        cmocka_unit_test(when_we_end_whatever_is_under_way_has_its_end),
        cmocka_unit_test(what_cannot_be_used_is_told),
        cmocka_unit_test(the_owner_may_let_other_bytes_go_on),
        cmocka_unit_test(what_the_owner_does_not_let_through_is_broken_off),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
