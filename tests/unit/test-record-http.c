#include "cmd/record-http.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "desk.h"
#include "dial.h"
#include "peer.h"
#include "test.h"

/* Sessions of one client, which does what it has to in a thread of its own and then asks the
 * program to end. */
struct scene {
    struct desk *desk;
    struct peer upstream;
    struct log log;
    struct app app;
    struct redaction redaction;
    struct record_settings how;
    struct record_place place;
    struct listening_args listening;
    struct remote server;
    struct record_http_settings http;
    const char *ask;
    struct buf heard; /* what the client was answered */
    bool to_the_end;  /* the client waits until it is hung up on */
    int ready;        /* says where to connect to */
    int interrupts;   /* that follow */
    char url[64];
};

static char *nothing[] = { NULL };
static char *host[] = { "host", NULL };

static void say(void *to, struct str line)
{
    buf_add(to, line);
}

static void set(struct scene *s, struct desk *d, const struct peer_step *script)
{
    struct redaction_args args = { .server_url = true, .defaults = true };
    struct record_wish wish = { .output = "a.jsonl", .server = host, .force = true };
    struct err e = ERR_NONE;
    int ends[2];

    *s = (struct scene){ .desk = d, .interrupts = 1 };
    buf_init(&s->heard, 1 << 16);
    peer_start(&s->upstream, script);
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%d/mcp", s->upstream.port);
    s->server.url = s->url;
    s->log = (struct log){ .level = LOG_DEBUG, .put = say, .to = &d->err };
    s->app = (struct app){ .sys = &d->faults.sys, .env = nothing, .log = &s->log };
    assert_true(redaction_init(&s->redaction, &s->app, &args, NULL, &e));
    s->how = (struct record_settings){
        .url = s->url, .max_message = 1 << 20, .flush_us = 1000000, .redaction = &s->redaction
    };
    assert_true(record_place_find(&s->place, &s->app, &wish, &e));
    assert_int_equal(pipe(ends), 0);
    s->ready = ends[0];
    s->listening.ready_fd = ends[1];
    s->http = (struct record_http_settings){ .listening = &s->listening, .server = &s->server };
}

static void clear(struct scene *s)
{
    record_place_release(&s->place);
    redaction_release(&s->redaction);
    buf_release(&s->heard);
    close(s->ready);
}

static int connect_to(int ready)
{
    char text[64] = "";
    size_t len = 0;

    for (ssize_t n; (n = read(ready, text + len, sizeof text - 1 - len)) > 0;)
        len += (size_t)n;
    return dial_port((int)strtol(strrchr(text, ':') + 1, NULL, 10));
}

static void *be_a_client(void *to)
{
    struct scene *s = to;
    int fd = connect_to(s->ready);
    char piece[4096];

    dial_say(fd, str_z(s->ask));
    while (s->to_the_end || !strstr(buf_z(&s->heard), "\r\n\r\n") ||
           buf_str(&s->heard).at[s->heard.len - 1] != '}') {
        ssize_t n = read(fd, piece, sizeof piece);

        if (n <= 0)
            break;
        buf_add(&s->heard, str_n(piece, (size_t)n));
    }
    for (int i = 0; i < s->interrupts; i++)
        kill(getpid(), SIGINT);
    close(fd);
    return NULL;
}

static int run(struct scene *s, const char *ask)
{
    struct err e = ERR_NONE;
    pthread_t client;
    int code;

    s->ask = ask;
    assert_int_equal(pthread_create(&client, NULL, be_a_client, s), 0);
    code = record_http_run(&s->app, &s->place, &s->how, &s->http, &e);
    assert_int_equal(e.kind, ERR_OK);
    assert_int_equal(pthread_join(client, NULL), 0);
    peer_join(&s->upstream);
    return code;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in %s", part, text);
}

#define HEAD "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
#define ASK "{\"id\":1,\"method\":\"ping\"}"
#define SAYS "{\"id\":1,\"result\":{}}"
#define REQUEST HEAD "Content-Length: 24\r\n\r\n" ASK
#define ANSWER                                                                                 \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n" SAYS

static void what_passes_is_recorded_until_a_signal_ends_it(void **state)
{
    static const struct peer_step script[] = { { .does = PEER_ACCEPT },
                                               { PEER_SEES, REQUEST, 0 },
                                               { PEER_SAYS, ANSWER, 0 },
                                               { .does = PEER_DONE } };
    struct desk *d = *state;
    struct scene s;

    set(&s, d, script);
    assert_int_equal(run(&s, REQUEST), 0);
    assert_str(buf_str(&s.heard), STR(ANSWER));
    assert_has(desk_get(d, "a.jsonl"), "'dir':'c2s','msg':{'id':1,'method':'ping'}");
    assert_has(desk_get(d, "a.jsonl"), "'dir':'s2c','msg':{'id':1,'result':{}}");
    assert_has(desk_get(d, "a.jsonl"), "'ev':'end','by':'server','clean':true");
    assert_has(desk_get(d, "a.jsonl"), "'type':'footer','total_messages':2");
    assert_has(buf_z(&d->err), "recorded 2 messages in a.jsonl\n");
    assert_has(buf_z(&d->out), "/mcp\n");
    clear(&s);
}

static void who_is_not_let_in_is_answered_by_us_and_told(void **state)
{
    static const struct peer_step script[] = { { .does = PEER_LONE }, { .does = PEER_DONE } };
    struct desk *d = *state;
    struct scene s;

    set(&s, d, script);
    assert_int_equal(run(&s, "GET /mcp HTTP/1.1\r\nHost: evil\r\n\r\n"), 0);
    assert_has(buf_z(&s.heard), "HTTP/1.1 403 ");
    assert_has(desk_get(d, "a.jsonl"), "'status':403,'by':'mcpreel'");
    assert_has(buf_z(&d->err), "warning: kept out: this Host is not served here; see ");
    clear(&s);
}

static void who_is_kept_out_again_is_told_only_to_who_looks_for_it(void **state)
{
    static const struct peer_step script[] = { { .does = PEER_LONE }, { .does = PEER_DONE } };
    struct desk *d = *state;
    struct scene s;
    const char *said;

    set(&s, d, script);
    s.log.level = LOG_INFO;
    s.to_the_end = true;
    assert_int_equal(run(&s, "GET /mcp HTTP/1.1\r\nHost: evil\r\n\r\n"
                             "TRACE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"
                             "GET /other HTTP/1.1\r\nHost: worse\r\n\r\n"
                             "TRACE /mcp HTTP/1.1\r\nHost: localhost\r\n"
                             "Connection: close\r\n\r\n"),
                     0);
    said = strstr(buf_z(&d->err), "kept out: this Host");
    assert_non_null(said);
    said = strstr(said + 1, "kept out: a method ");
    assert_non_null(said);
    assert_null(strstr(said + 1, "kept out"));
    assert_null(strstr(buf_z(&d->err), "what is asked of '/other' passes"));
    clear(&s);
}

/* The page is not what is wrong with a type: it may read why it is refused. */
static void a_page_can_see_why_it_is_refused_unless_it_is_kept_out(void **state)
{
    static const struct {
        const char *asked, *status;
        bool shared;
    } cases[] = {
        { "POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:1\r\n"
          "Content-Type: text/plain\r\nContent-Length: 0\r\n\r\n",
          "HTTP/1.1 415 ", true },
        { "TRACE /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:1\r\n\r\n",
          "HTTP/1.1 405 ", true },
        { "GET /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\n",
          "HTTP/1.1 403 ", false },
        { "GET /mcp HTTP/1.1\r\nHost: evil\r\nOrigin: http://localhost:1\r\n\r\n",
          "HTTP/1.1 403 ", false },
    };
    static const struct peer_step script[] = { { .does = PEER_LONE }, { .does = PEER_DONE } };
    struct desk *d = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene s;

        set(&s, d, script);
        assert_int_equal(run(&s, cases[i].asked), 0);
        assert_true(str_starts(buf_str(&s.heard), str_z(cases[i].status)));
        assert_int_equal(strstr(buf_z(&s.heard), "Access-Control-Allow-Origin: ") != NULL,
                         cases[i].shared);
        clear(&s);
    }
}

static void a_connection_that_speaks_no_http_is_told(void **state)
{
    static const struct peer_step script[] = { { .does = PEER_LONE }, { .does = PEER_DONE } };
    struct desk *d = *state;
    struct scene s;

    set(&s, d, script);
    assert_int_equal(run(&s, "\x16\x03\x01\r\n\r\n"), 0);
    assert_has(buf_z(&s.heard), "HTTP/1.1 400 ");
    assert_has(buf_z(&d->err), "connection 1 was refused: ");
    clear(&s);
}

static void an_answer_that_breaks_off_is_told_and_recorded_so(void **state)
{
    static const struct peer_step script[] = {
        { .does = PEER_ACCEPT },
        { PEER_SEES, REQUEST, 0 },
        { PEER_SAYS, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", 0 },
        { .does = PEER_RESET },
        { .does = PEER_DONE }
    };
    struct desk *d = *state;
    struct scene s;

    set(&s, d, script);
    assert_int_equal(run(&s, REQUEST), 0);
    assert_has(desk_get(d, "a.jsonl"), "'ev':'end','by':'server','clean':false");
    assert_has(buf_z(&d->err), "request 1 was broken off: ");
    clear(&s);
}

static void who_asks_twice_does_not_wait_for_answers(void **state)
{
    static const struct peer_step script[] = {
        { .does = PEER_ACCEPT },
        { PEER_SEES, REQUEST, 0 },
        { PEER_SAYS, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", 0 },
        { .does = PEER_EOF },
        { .does = PEER_DONE }
    };
    struct desk *d = *state;
    struct scene s;

    set(&s, d, script);
    s.interrupts = 2;
    assert_int_equal(run(&s, REQUEST), 0);
    assert_has(desk_get(d, "a.jsonl"), "'type':'footer'");
    clear(&s);
}

static void what_cannot_begin_leaves_no_file(void **state)
{
    static const struct peer_step script[] = { { .does = PEER_LONE }, { .does = PEER_DONE } };
    struct desk *d = *state;
    struct err e = ERR_NONE;
    struct scene s;

    set(&s, d, script);
    close((int)s.listening.ready_fd); /* nobody can be told */
    assert_int_equal(record_http_run(&s.app, &s.place, &s.how, &s.http, &e), EXIT_IO);
    assert_int_equal(e.kind, ERR_IO);
    e = (struct err)ERR_NONE;
    s.server.url = "nowhere";
    assert_int_equal(record_http_run(&s.app, &s.place, &s.how, &s.http, &e), EXIT_USAGE);
    assert_int_equal(desk_count(d), 0);
    peer_join(&s.upstream);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        AT_A_DESK(what_passes_is_recorded_until_a_signal_ends_it),
        AT_A_DESK(who_is_not_let_in_is_answered_by_us_and_told),
        AT_A_DESK(who_is_kept_out_again_is_told_only_to_who_looks_for_it),
        AT_A_DESK(a_page_can_see_why_it_is_refused_unless_it_is_kept_out),
        AT_A_DESK(a_connection_that_speaks_no_http_is_told),
        AT_A_DESK(an_answer_that_breaks_off_is_told_and_recorded_so),
        AT_A_DESK(who_asks_twice_does_not_wait_for_answers),
        AT_A_DESK(what_cannot_begin_leaves_no_file),
    };
    alarm(120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
