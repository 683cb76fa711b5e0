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

static void requests_and_responses_are_forwarded(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /mcp HTTP/1.1\r\n" HOST JSON
                        "X-A: 1\r\nx-a: 2\r\nContent-Length: 2\r\n\r\n{}"),
        FAKE_TEXT(
            SENDS,
            "HTTP/1.1 200 Fine\r\nContent-Type: application/json\r\nMcp-Session-Id: s\r\n"
            "Keep-Alive: timeout=5\r\nX-B: 1\r\nx-b: 2\r\nContent-Length: 8\r\n\r\n{\"a\": 1}"),
        FAKE_TEXT(SEES, "POST /mcp HTTP/1.1\r\n" HOST JSON "Transfer-Encoding: chunked\r\n\r\n"
                        "1\r\n[\r\n1\r\n]\r\n0\r\n\r\n"),
        FAKE_TEXT(SENDS,
                  "HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        FAKE(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    rig_exchange(&g,
                 "POST /mcp HTTP/1.1\r\n" HOST JSON
                 "X-A: 1\r\nConnection: keep-alive\r\nx-a: 2\r\nContent-Length: 2\r\n\r\n{}",
                 "HTTP/1.1 200 Fine\r\nContent-Type: application/json\r\nMcp-Session-Id: s\r\n"
                 "X-B: 1\r\nx-b: 2\r\nContent-Length: 8\r\n\r\n{\"a\": 1}");
    assert_seen(&g, "1:1 POST /mcp endpoint\nbody '{}'\nasked\nhead 200\nanswer '{\"a\": 1}'\n"
                    "end server clean\n");
    rig_exchange(&g,
                 "POST / HTTP/1.1\r\n" HOST JSON
                 "Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n1;x\r\n]\r\n0\r\nT: x\r\n\r\n",
                 "HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    assert_seen(&g, "2:1 POST / endpoint\nbody '['\nbody ']'\nasked\nhead 202\n"
                    "end server clean\n");
    fake_server_join(&g.server);
    close_rig(&g);
}

static void an_event_stream_is_forwarded_piece_by_piece(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        FAKE_TEXT(
            SENDS,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Accel-Buffering: no\r\n"
            "Transfer-Encoding: chunked\r\n\r\n"),
        FAKE_N(REST, 30),
        FAKE_TEXT(SENDS, "8\r\ndata: a\n\r\n"),
        FAKE_N(REST, 30),
        FAKE_TEXT(SENDS, "1\r\n\n\r\n"),
        FAKE_N(REST, 30),
        FAKE_TEXT(SENDS, "0\r\n\r\n"),
        FAKE(DONE)
    };
    static const char head[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Accel-Buffering: no\r\n"
        "Transfer-Encoding: chunked\r\n\r\n";
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    rig_exchange(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
                 head); /* at once, without any event */
    assert_seen(&g, "1:1 GET /mcp endpoint\nasked\nhead 200\n");
    rig_exchange(&g, "", "8\r\ndata: a\n\r\n");
    rig_exchange(&g, "", "1\r\n\n\r\n");
    rig_exchange(&g, "", "0\r\n\r\n");
    assert_seen(&g, "answer 'data: a\n'\nanswer '\n'\nend server clean\n");
    fake_server_join(&g.server);
    close_rig(&g);
}

/* The copy is with the owner before the client can have the last byte. */
static void the_owner_gets_everything_before_the_client(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
        FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        FAKE_TEXT(
            SENDS,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
        FAKE(DONE)
    };
    static const char sized[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    static const char chunked[] =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    rig_exchange(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
                 "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    assert_true(g.at_end <= (int)strlen(sized));
    assert_int_equal(g.at_commit, g.at_end);
    rig_exchange(
        &g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
    assert_true(g.at_end <= (int)strlen(chunked));
    assert_int_equal(g.at_commit, g.at_end);
    assert_false(g.uncommitted);
    assert_int_equal(g.ends, 2);
    fake_server_join(&g.server);
    close_rig(&g);
}

static void paths_are_mapped_to_the_target(void **state)
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
        char want[128], bytes_to_send[128];
        const struct fake_server_step script[] = {
            FAKE(ACCEPT), FAKE_TEXT(SEES, want), FAKE_TEXT(SENDS, "HTTP/1.1 204 None\r\n\r\n"),
            FAKE(DONE)
        };
        struct rig g;

        snprintf(want, sizeof want, "GET %s HTTP/1.1\r\n" HOST "\r\n", rows[i].sent);
        snprintf(bytes_to_send, sizeof bytes_to_send, "GET %s HTTP/1.1\r\n" HOST "\r\n",
                 rows[i].asked);
        open_rig(&g, script, rows[i].target);
        rig_exchange(&g, bytes_to_send, "HTTP/1.1 204 None\r\n\r\n");
        fake_server_join(&g.server);
        close_rig(&g);
    }
}

/* The heart of it, seen from the client. */
static void a_closed_connection_is_a_502_without_retry(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 204 None\r\n\r\n"),
        FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        FAKE(CLOSE),
        FAKE(LONE),
        FAKE(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    rig_exchange(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 204 None\r\n\r\n");
    rig_exchange(
        &g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
        "HTTP/1.1 502 Bad Gateway\r\nContent-Type: application/json\r\nContent-Length: "
        "115\r\n\r\n"
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":"
        "\"the server closed the connection without a response\"}}");
    buf_clear(&g.received);
    assert_seen(&g, "1:1 GET /mcp endpoint\nasked\nhead 204\nend server clean\n"
                    "2:1 GET /mcp endpoint\nasked\n"
                    "own 502 the server closed the connection without a response\n"
                    "end fault clean\n");
    fake_server_join(&g.server);
    close_rig(&g);
}

static void an_unreachable_server_is_a_502(void **state)
{
    static const struct fake_server_step nothing[] = { FAKE(DONE) };
    char want[300], text[100];
    struct rig g;

    (void)state;
    open_rig(&g, nothing, "/mcp");
    fake_server_join(&g.server);
    snprintf(text, sizeof text, "cannot connect to 'http://127.0.0.1:%d': connection refused",
             g.server.port);
    snprintf(want, sizeof want,
             "HTTP/1.1 502 Bad Gateway\r\nContent-Type: application/json\r\n"
             "Content-Length: %d\r\n\r\n"
             "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32000,\"message\":\"%s\"}}",
             (int)strlen(text) + 61, text);
    rig_exchange(&g, "POST /mcp HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}", want);
    snprintf(want, sizeof want,
             "1:1 POST /mcp endpoint\nbody '{}'\nasked\nown 502 %s\nend fault clean\n", text);
    assert_seen(&g, want);
    close_rig(&g);
}

static bool has_ended(void *to)
{
    return ((struct rig *)to)->ends > 0;
}

static bool has_requested(void *to)
{
    return strstr(buf_z(&((struct rig *)to)->seen), "POST") != NULL;
}

/* A relay whose server has disconnected, and it was noticed: only the head was sent. */
static void lose_server(struct rig *g, const char *head,
                        const struct http_conn_timeouts *patience)
{
    static const struct fake_server_step nothing[] = { FAKE(DONE) };
    struct http_relay_config config = { .listen.timeouts = patience };
    struct err e = ERR_NONE;
    char url[64];

    rig_init(g);
    fake_server_start(&g->server, nothing);
    fake_server_join(&g->server);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", g->server.port);
    config.access = &g->gate;
    config.server.url = str_z(url);
    assert_true(http_relay_open(&g->relay, g->loop, &config, &events, g, &e));
    g->client = raw_client_connect(port_of(g));
    raw_client_send(g->client, str_z(head));
    assert_true(raw_client_run_until(g->loop, has_requested, g));
    for (int i = 0; i < 5; i++)
        raw_client_run_briefly(g->loop);
}

/* The events of the owner, except for the text of the failure, which names the port. */
static void assert_pending(struct rig *g, const char *before, const char *after)
{
    char want[300];

    snprintf(want, sizeof want,
             "1:1 POST /mcp endpoint\n%sown 502 cannot connect to 'http://127.0.0.1:%d': "
             "connection refused\n%s",
             before, g->server.port, after);
    assert_seen(g, want);
}

#define POST "POST /mcp HTTP/1.1\r\n" HOST JSON

static void a_failed_request_is_read_before_the_error(void **state)
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
        raw_client_send(g.client, str_z(ways[i].body));
        raw_client_receive(g.loop, g.client, &g.received, STR("}}"));
        snprintf(head, sizeof head, "%sHTTP/1.1 502 Bad Gateway\r\n", ways[i].first);
        assert_true(str_starts(buf_str(&g.received), str_z(head)));
        assert_non_null(strstr(buf_z(&g.received), "\"id\":7,"));
        assert_pending(&g, "body 'abcd'\nasked\n", "end fault clean\n");
        close_rig(&g);
    }
}

/* It closes its side, or waits for longer than a body may. */
static void an_incomplete_failed_request_gets_its_error(void **state)
{
    struct http_conn_timeouts hasty = http_conn_default_timeouts;
    struct rig g;

    (void)state;
    hasty.body_ms = 200;
    for (int slow = 0; slow < 2; slow++) {
        lose_server(&g, POST "Content-Length: 4\r\n\r\nab", slow ? &hasty : NULL);
        if (!slow)
            shutdown(g.client, SHUT_WR);
        raw_client_receive(g.loop, g.client, &g.received, STR("}}"));
        assert_true(str_starts(buf_str(&g.received), STR("HTTP/1.1 502 Bad Gateway\r\n")));
        assert_non_null(strstr(buf_z(&g.received), "\"id\":null,"));
        assert_pending(&g, "body 'ab'\n", "end fault clean\n");
        assert_int_equal(http_relay_active_count(g.relay), 0);
        close_rig(&g);
    }
}

/* As much of it as is taken now. */
static size_t send_some(struct rig *g, struct str bytes)
{
    ssize_t n = send(g->client, bytes.at, bytes.len, MSG_DONTWAIT | MSG_NOSIGNAL);

    assert_true(n > 0 || errno == EAGAIN);
    raw_client_run_briefly(g->loop);
    return n > 0 ? (size_t)n : 0;
}

/* An endless body is read only up to the limit of stored bodies. */
static void a_large_failed_request_gets_its_error_early(void **state)
{
    static char much[1 << 20];
    struct rig g;

    (void)state;
    lose_server(&g, POST "Content-Length: 1000000000\r\n\r\n", NULL);
    g.count_only = true;
    while (!g.ends)
        send_some(&g, str_n(much, sizeof much));
    assert_true(g.sent > LIMIT_MESSAGE && g.sent <= LIMIT_MESSAGE + sizeof much);
    raw_client_receive(g.loop, g.client, &g.received, STR("}}"));
    assert_true(str_starts(buf_str(&g.received), STR("HTTP/1.1 502 Bad Gateway\r\n")));
    assert_pending(&g, "", "end fault clean\n");
    close_rig(&g);
}

static void a_client_may_close_before_its_error(void **state)
{
    static const struct linger at_once = { .l_onoff = 1 };
    struct rig g;

    (void)state;
    lose_server(&g, POST "Content-Length: 4\r\n\r\nab", NULL);
    setsockopt(g.client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    rig_close_client(&g);
    assert_true(raw_client_run_until(g.loop, has_ended, &g));
    assert_seen(&g, "1:1 POST /mcp endpoint\nbody 'ab'\n"
                    "end client the client has closed the connection\n");
    close_rig(&g);
}

/* The system accepts only a number of connections before accept(). A POST meanwhile waits in
 * the client, if it is large, and is read in the end. */
static void a_connect_timeout_is_a_504(void **state)
{
    static char much[1 << 20];
    struct str rest = str_n(much, sizeof much);
    static const struct fake_server_step script[] = { FAKE(HOLD), FAKE(DONE) };
    struct http_relay_config config = { .server.connect_ms = 50 };
    struct err e = ERR_NONE;
    int others[64];
    char url[64];
    struct rig g;

    (void)state;
    rig_init(&g);
    config.access = &g.gate;
    fake_server_start(&g.server, script);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        others[i] = fake_server_connect(&g.server);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", g.server.port);
    config.server.url = str_z(url);
    assert_true(http_relay_open(&g.relay, g.loop, &config, &events, &g, &e));
    g.client = raw_client_connect(port_of(&g));
    raw_client_send(g.client, STR("GET / HTTP/1.1\r\n" HOST "\r\n"));
    raw_client_receive(g.loop, g.client, &g.received, STR("timed out\"}}"));
    assert_true(str_starts(buf_str(&g.received), STR("HTTP/1.1 504 Gateway Timeout\r\n")));
    buf_clear(&g.received);
    g.count_only = true;
    raw_client_send(g.client, STR(POST "Content-Length: 1048576\r\n\r\n"));
    while (rest.len)
        rest = str_skip(rest, send_some(&g, rest));
    raw_client_receive(g.loop, g.client, &g.received, STR("timed out\"}}"));
    assert_true(str_starts(buf_str(&g.received), STR("HTTP/1.1 504 Gateway Timeout\r\n")));
    assert_int_equal(g.sent, sizeof much);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        close(others[i]);
    fake_server_continue(&g.server);
    fake_server_join(&g.server);
    close_rig(&g);
}

static void a_truncated_response_is_aborted(void **state)
{
    static const struct fake_server_step chunked[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"),
        FAKE(CLOSE), FAKE(DONE)
    };
    static const struct fake_server_step invalid[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nx"),
        FAKE(DONE)
    };
    static const char received_text[] =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n";
    const char *how;
    struct rig g;

    (void)state;
    open_rig(&g, chunked, "/mcp");
    rig_exchange(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n", received_text);
    how = raw_client_receive(g.loop, g.client, &g.received, STR("never"));
    assert_true(strcmp(how, "end") == 0 || strcmp(how, "reset") == 0);
    assert_str(buf_str(&g.received), str_z(received_text)); /* and no last chunk */
    assert_seen(
        &g, "1:1 GET /mcp endpoint\nasked\nhead 200\nanswer 'ab'\n"
            "end server the server closed the connection before its response was complete\n");
    fake_server_join(&g.server);
    close_rig(&g);

    open_rig(&g, invalid, "/mcp");
    rig_exchange(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n", received_text);
    raw_client_receive(g.loop, g.client, &g.received, STR("never"));
    assert_seen(
        &g, "1:1 GET /mcp endpoint\nasked\nhead 200\nanswer 'ab'\n"
            "end fault the server's response is not valid HTTP: a chunk whose size is not a "
            "hexadecimal number\n");
    fake_server_join(&g.server);
    close_rig(&g);
}

static void a_client_abort_is_forwarded(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), FAKE(EOF),
        FAKE(DONE)
    };
    static const struct fake_server_step unanswered[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"), FAKE(EOF),
        FAKE(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    rig_exchange(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    rig_close_client(&g);
    assert_true(raw_client_run_until(g.loop, has_ended, &g));
    fake_server_join(&g.server);
    assert_non_null(strstr(buf_z(&g.seen), "end client "));
    assert_int_equal(http_relay_active_count(g.relay), 0);
    close_rig(&g);

    open_rig(&g, unanswered, "/mcp");
    raw_client_send(g.client, STR("GET /mcp HTTP/1.1\r\n" HOST "\r\n"));
    raw_client_run_briefly(g.loop);
    rig_close_client(&g);
    assert_true(raw_client_run_until(g.loop, has_ended, &g));
    fake_server_join(&g.server);
    assert_non_null(strstr(buf_z(&g.seen), "end client "));
    close_rig(&g);
}

/* The server would wait for a minute. */
static void idle_connections_close_with_their_client(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 204 None\r\nKeep-Alive: timeout=60\r\n\r\n"), FAKE(EOF),
        FAKE(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    rig_exchange(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 204 None\r\n\r\n");
    rig_close_client(&g);
    for (int i = 0; i < 100; i++)
        raw_client_run_briefly(g.loop);
    fake_server_join(&g.server);
    close_rig(&g);
}

static void expect_continue_is_answered(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /mcp HTTP/1.1\r\n" HOST JSON "Content-Length: 2\r\n\r\n{}"),
        FAKE_TEXT(SENDS, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 None\r\n\r\n"), FAKE(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    rig_exchange(&g,
                 "POST /mcp HTTP/1.1\r\n" HOST JSON
                 "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n",
                 "HTTP/1.1 100 Continue\r\n\r\n");
    rig_exchange(&g, "{}", "HTTP/1.1 204 None\r\n\r\n");
    fake_server_join(&g.server);
    close_rig(&g);
}

static void a_rejected_request_does_not_reach_the_server(void **state)
{
    static const struct fake_server_step script[] = { FAKE(LONE), FAKE(DONE) };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    raw_client_send(g.client, STR("GET /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n"));
    raw_client_receive(g.loop, g.client, &g.received, STR("}}"));
    assert_true(str_starts(buf_str(&g.received), STR("HTTP/1.1 403 Forbidden\r\n")));
    buf_clear(&g.received);
    raw_client_send(g.client, STR("POST /mcp HTTP/1.1\r\n" HOST
                                  "Content-Type: text/plain\r\nContent-Length: 0\r\n\r\n"));
    raw_client_receive(g.loop, g.client, &g.received, STR("}}"));
    assert_true(
        str_starts(buf_str(&g.received), STR("HTTP/1.1 415 Unsupported Media Type\r\n")));
    assert_non_null(strstr(buf_z(&g.seen), "own 403 "));
    assert_non_null(strstr(buf_z(&g.seen), "own 415 "));
    assert_int_equal(g.ends, 2);
    fake_server_join(&g.server);
    close_rig(&g);
}

static void the_server_gets_its_own_host(void **state)
{
    char want[128], url[64];
    const struct fake_server_step script[] = { FAKE(ACCEPT), FAKE_TEXT(SEES, want),
                                               FAKE_TEXT(SENDS, "HTTP/1.1 204 None\r\n\r\n"),
                                               FAKE(DONE) };
    struct rig g;

    (void)state;
    rig_init(&g);
    g.own_host = true;
    fake_server_start(&g.server, script);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", g.server.port);
    snprintf(want, sizeof want, "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nA: b\r\n\r\n",
             g.server.port);
    open_url(&g, url);
    rig_exchange(&g, "GET /mcp HTTP/1.1\r\n" HOST "A: b\r\n\r\n", "HTTP/1.1 204 None\r\n\r\n");
    fake_server_join(&g.server);
    close_rig(&g);
}

enum { MUCH = 8 << 20 };

static void a_client_that_does_not_read_makes_the_server_wait(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n"),
        FAKE_N(FLOOD, MUCH), FAKE(DONE)
    };
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n";
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    g.count_only = true;
    raw_client_send(g.client, STR("GET /mcp HTTP/1.1\r\n" HOST "\r\n"));
    for (int i = 0; i < 20; i++)
        raw_client_run_briefly(g.loop);
    assert_true(g.bytes < MUCH); /* the rest waits for the client */
    while (g.received.len < sizeof head - 1 + MUCH)
        assert_string_equal(raw_client_receive(g.loop, g.client, &g.received, STR("x")), "");
    assert_int_equal(g.bytes, MUCH);
    assert_int_equal(g.received.len, sizeof head - 1 + MUCH);
    fake_server_join(&g.server);
    close_rig(&g);
}

/* More than the system holds for both of them. */
enum { VERY_MUCH = 32 << 20 };

static void a_server_that_does_not_read_makes_the_client_wait(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "POST /mcp HTTP/1.1\r\n" HOST JSON "Content-Length: 33554432\r\n\r\n"),
        FAKE(HOLD),
        FAKE_N(GULP, VERY_MUCH),
        FAKE_TEXT(SENDS, "HTTP/1.1 204 None\r\n\r\n"),
        FAKE(DONE)
    };
    char *much = calloc(1, VERY_MUCH);
    struct rig g;
    pid_t pid;

    (void)state;
    open_rig(&g, script, "/mcp");
    g.count_only = true;
    raw_client_send(g.client,
                    STR("POST /mcp HTTP/1.1\r\n" HOST JSON "Content-Length: 33554432\r\n\r\n"));
    pid = fork(); /* a client that can wait for us */
    if (pid == 0) {
        raw_client_send(g.client, str_n(much, VERY_MUCH));
        _exit(0);
    }
    for (int i = 0; i < 100; i++)
        raw_client_run_briefly(g.loop);
    assert_true(g.sent < VERY_MUCH); /* the rest waits for the server */
    fake_server_continue(&g.server);
    assert_string_equal(raw_client_receive(g.loop, g.client, &g.received, STR("None\r\n\r\n")),
                        "");
    assert_int_equal(g.sent, VERY_MUCH);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    fake_server_join(&g.server);
    free(much);
    close_rig(&g);
}

static void note_done(void *to)
{
    loop_stop(to);
}

static void closing_ends_unfinished_requests(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), FAKE(EOF),
        FAKE(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    rig_exchange(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    http_relay_close(g.relay);
    g.relay = NULL;
    assert_int_equal(g.ends, 1);
    assert_non_null(strstr(buf_z(&g.seen), "end self mcpreel was ended\n"));
    fake_server_join(&g.server);
    close_rig(&g);

    open_rig(&g, script, "/mcp");
    rig_exchange(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n",
                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    http_relay_stop(g.relay, 10, note_done, g.loop);
    loop_run(g.loop);
    assert_int_equal(g.ends, 1);
    assert_non_null(strstr(buf_z(&g.seen), "end self "));
    fake_server_join(&g.server);
    close_rig(&g);
}

static void an_invalid_config_is_reported(void **state)
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

static void the_owner_may_rewrite_a_stream(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "Accept-Encoding: identity\r\n\r\n"),
        FAKE_TEXT(SENDS, STREAM_HEAD "2\r\nza\r\n0\r\n\r\n"), FAKE(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    g.edits = true;
    rig_exchange(&g, "GET /mcp HTTP/1.1\r\n" HOST "Accept-Encoding: gzip\r\n\r\n",
                 STREAM_HEAD "5\r\nother\r\n4\r\nrest\r\n0\r\n\r\n");
    assert_seen(&g, "1:1 GET /mcp endpoint\nasked\nhead 200\nanswer 'za'\nend server clean\n");
    fake_server_join(&g.server);
    close_rig(&g);
}

static void the_owner_may_abort_a_stream(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, "GET /mcp HTTP/1.1\r\n" HOST "\r\n"),
        FAKE_TEXT(SENDS, STREAM_HEAD "1\r\nz\r\n"),
        FAKE_N(REST, 30),
        FAKE_TEXT(SENDS, "4\r\nabxc\r\n"),
        FAKE(EOF),
        FAKE(DONE)
    };
    struct rig g;

    (void)state;
    open_rig(&g, script, "/mcp");
    g.edits = true;
    rig_exchange(&g, "GET /mcp HTTP/1.1\r\n" HOST "\r\n", STREAM_HEAD "5\r\nother\r\n");
    buf_clear(&g.received);
    assert_string_not_equal(raw_client_receive(g.loop, g.client, &g.received, STR("never")),
                            "silence");
    assert_str(buf_str(&g.received), STR("2\r\nab\r\n")); /* not even the end of the chunks */
    assert_seen(&g, "1:1 GET /mcp endpoint\nasked\nhead 200\nanswer 'z'\nanswer 'abxc'\n"
                    "end self there is an x in it\n");
    fake_server_join(&g.server);
    close_rig(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_and_responses_are_forwarded),
        cmocka_unit_test(an_event_stream_is_forwarded_piece_by_piece),
        cmocka_unit_test(the_owner_gets_everything_before_the_client),
        cmocka_unit_test(paths_are_mapped_to_the_target),
        cmocka_unit_test(a_closed_connection_is_a_502_without_retry),
        cmocka_unit_test(an_unreachable_server_is_a_502),
        cmocka_unit_test(a_failed_request_is_read_before_the_error),
        cmocka_unit_test(an_incomplete_failed_request_gets_its_error),
        cmocka_unit_test(a_large_failed_request_gets_its_error_early),
        cmocka_unit_test(a_client_may_close_before_its_error),
        cmocka_unit_test(a_connect_timeout_is_a_504),
        cmocka_unit_test(a_truncated_response_is_aborted),
        cmocka_unit_test(a_client_abort_is_forwarded),
        cmocka_unit_test(idle_connections_close_with_their_client),
        cmocka_unit_test(expect_continue_is_answered),
        cmocka_unit_test(a_rejected_request_does_not_reach_the_server),
        cmocka_unit_test(the_server_gets_its_own_host),
        cmocka_unit_test(a_client_that_does_not_read_makes_the_server_wait),
        cmocka_unit_test(a_server_that_does_not_read_makes_the_client_wait),
        cmocka_unit_test(closing_ends_unfinished_requests),
        cmocka_unit_test(an_invalid_config_is_reported),
        cmocka_unit_test(the_owner_may_rewrite_a_stream),
        cmocka_unit_test(the_owner_may_abort_a_stream),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
