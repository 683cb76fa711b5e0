#include "cmd/record-front.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "desk.h"
#include "dial.h"
#include "test.h"

/* Sessions of one client, which does what it has to in a thread of its own and then asks the
 * program to end. */
struct scene {
    struct desk *desk;
    struct log log;
    struct app app;
    struct redaction redaction;
    struct record_settings how;
    struct record_place place;
    struct listening_args listening;
    struct record_front_settings front;
    const char *ask;
    struct buf heard; /* what the client was answered */
    int ready;        /* says where to connect to */
    int interrupts;   /* that follow */
};

static char *nothing[] = { NULL };

static void say(void *to, struct str line)
{
    buf_add(to, line);
}

static void set(struct scene *s, struct desk *d, char **server)
{
    struct redaction_args args = { .server_url = true, .defaults = true };
    struct record_wish wish = { .output = "a.jsonl", .server = server };
    struct err e = ERR_NONE;
    int ends[2];

    *s = (struct scene){ .desk = d, .interrupts = 1 };
    buf_init(&s->heard, 1 << 16);
    s->log = (struct log){ .level = LOG_DEBUG, .put = say, .to = &d->err };
    s->app = (struct app){ .sys = &d->faults.sys, .env = nothing, .log = &s->log };
    assert_true(redaction_init(&s->redaction, &s->app, &args, NULL, &e));
    s->how = (struct record_settings){ .server = server,
                                       .max_message = 1 << 20,
                                       .flush_us = 1000000,
                                       .redaction = &s->redaction };
    while (server[s->how.server_count])
        s->how.server_count++;
    assert_true(record_place_find(&s->place, &s->app, &wish, &e));
    assert_int_equal(pipe(ends), 0);
    s->ready = ends[0];
    s->listening.ready_fd = ends[1];
    s->front = (struct record_front_settings){ .listening = &s->listening, .max_servers = 2 };
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
    while (!strstr(buf_z(&s->heard), "\r\n\r\n") ||
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
    code = record_front_run(&s->app, &s->place, &s->how, &s->front, &e);
    assert_int_equal(e.kind, ERR_OK);
    assert_int_equal(pthread_join(client, NULL), 0);
    return code;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in %s", part, text);
}

#define HEAD "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
#define ASK "{\"id\":1,\"method\":\"initialize\"}"
#define REQUEST HEAD "Content-Length: 30\r\n\r\n" ASK

static void what_passes_is_recorded_until_a_signal_ends_it(void **state)
{
    char *server[] = { "sh", "-c",
                       "read x; echo hello >&2; echo noise; echo '{\"id\":1,\"result\":{}}'; "
                       "read y",
                       NULL };
    struct desk *d = *state;
    struct scene s;
    const char *text;

    set(&s, d, server);
    assert_int_equal(run(&s, REQUEST), 0);
    assert_has(buf_z(&s.heard), "HTTP/1.1 200 OK\r\n");
    assert_has(buf_z(&s.heard), "\r\nMcp-Session-Id: ");
    text = desk_get(d, "a.jsonl");
    assert_has(text, "'transport':'stdio'");
    assert_has(text, "{'type':'proc','ev':'start'");
    assert_has(text, "'dir':'c2s','msg':{'id':1,'method':'initialize'}");
    assert_has(text, "{'type':'stderr','text':'hello");
    assert_has(text, "{'type':'raw','from':'server','why':'not JSON','text':'noise'");
    assert_has(text, "'dir':'s2c','msg':{'id':1,'result':{}}");
    assert_has(text, "'ev':'end','by':'server','clean':true");
    assert_has(text, "{'type':'proc','ev':'exit','exit_code':1");
    assert_has(text, "'type':'footer','total_messages':2");
    assert_has(buf_z(&d->err), "server 1: hello\n");
    assert_has(buf_z(&d->err), "recorded 2 messages in a.jsonl\n");
    assert_has(buf_z(&d->out), "/mcp\n");
    clear(&s);
}

static void what_we_say_in_its_place_is_told_as_ours(void **state)
{
    char *server[] = { "sh", "-c", "read x; exit 3", NULL };
    struct desk *d = *state;
    struct scene s;

    set(&s, d, server);
    assert_int_equal(run(&s, REQUEST), 0);
    assert_has(buf_z(&s.heard), "HTTP/1.1 502 ");
    assert_has(desk_get(d, "a.jsonl"), "'status':502,'by':'mcpreel'");
    assert_has(desk_get(d, "a.jsonl"), "'type':'footer','total_messages':1");
    assert_has(buf_z(&d->err), "server 1 is gone: 'sh' ended with exit code 3\n");
    clear(&s);
}

static void who_is_not_let_in_is_answered_by_us_and_told(void **state)
{
    char *server[] = { "cat", NULL };
    struct desk *d = *state;
    struct scene s;

    set(&s, d, server);
    assert_int_equal(run(&s, "GET /mcp HTTP/1.1\r\nHost: evil\r\n\r\n"), 0);
    assert_has(buf_z(&s.heard), "HTTP/1.1 403 ");
    assert_has(desk_get(d, "a.jsonl"), "'status':403,'by':'mcpreel'");
    assert_has(buf_z(&d->err), "warning: kept out: this Host is not served here; see ");
    clear(&s);
}

static void what_cannot_begin_leaves_no_file(void **state)
{
    char *server[] = { "./no-such-server", NULL };
    char *silent[] = { "cat", NULL };
    struct desk *d = *state;
    struct err e = ERR_NONE;
    struct scene s;

    set(&s, d, server);
    assert_int_equal(record_front_run(&s.app, &s.place, &s.how, &s.front, &e), 127);
    assert_int_equal(e.kind, ERR_PEER);
    e = (struct err)ERR_NONE;
    s.how.server = silent;
    close((int)s.listening.ready_fd); /* nobody can be told */
    assert_int_equal(record_front_run(&s.app, &s.place, &s.how, &s.front, &e), EXIT_IO);
    assert_int_equal(e.kind, ERR_IO);
    assert_int_equal(desk_count(d), 0);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        AT_A_DESK(what_passes_is_recorded_until_a_signal_ends_it),
        AT_A_DESK(what_we_say_in_its_place_is_told_as_ours),
        AT_A_DESK(who_is_not_let_in_is_answered_by_us_and_told),
        AT_A_DESK(what_cannot_begin_leaves_no_file),
    };
    alarm(120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
