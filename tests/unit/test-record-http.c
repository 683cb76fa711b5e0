#include "runtime/record-http.h"

#include <stdio.h>

#include "fake-server.h"
#include "record-run.h"

/* With a server that is at a URL already. */
struct bench {
    struct record_run record_run;
    struct fake_server upstream;
    struct remote_config server;
    struct record_http_settings how;
    char url[64];
};

static char *host[] = { "host", NULL };

static void set(struct bench *b, struct cli *d, const struct fake_server_step *script)
{
    struct record_path_options wish = { .output = "a.jsonl",
                                        .server_argv = host,
                                        .force = true };

    record_run_init(&b->record_run, d, &wish);
    fake_server_start(&b->upstream, script);
    snprintf(b->url, sizeof b->url, "http://127.0.0.1:%d/mcp", b->upstream.port);
    b->record_run.settings.server_url = b->url;
    b->server = (struct remote_config){ .url = b->url };
    b->how = (struct record_http_settings){ .listening = &b->record_run.listening,
                                            .server = &b->server,
                                            .keep_host = true };
}

static int record(struct bench *b, struct err *e)
{
    return record_http_run(&b->record_run.app, &b->record_run.path, &b->record_run.settings,
                           &b->how, e);
}

static int run(struct bench *b, const char *ask)
{
    struct err e = ERR_NONE;
    int code;

    record_run_start(&b->record_run, ask);
    code = record(b, &e);
    assert_int_equal(e.kind, ERR_OK);
    record_run_join(&b->record_run);
    fake_server_join(&b->upstream);
    return code;
}

#define HEAD "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
#define PING "{\"id\":1,\"method\":\"ping\"}"
#define SENDS "{\"id\":1,\"result\":{}}"
#define REQUEST HEAD "Content-Length: 24\r\n\r\n" PING
#define ANSWER                                                                                 \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n" SENDS

static void sessions_are_recorded_until_a_signal(void **state)
{
    static const struct fake_server_step script[] = { { .does = FAKE_ACCEPT },
                                                      { FAKE_SEES, REQUEST, 0 },
                                                      { FAKE_SENDS, ANSWER, 0 },
                                                      { .does = FAKE_DONE } };
    struct cli *d = *state;
    struct bench b;

    set(&b, d, script);
    assert_int_equal(run(&b, REQUEST), 0);
    assert_str(buf_str(&b.record_run.received), STR(ANSWER));
    assert_has(cli_get_file(d, "a.jsonl"), "'dir':'c2s','msg':{'id':1,'method':'ping'}");
    assert_has(cli_get_file(d, "a.jsonl"), "'dir':'s2c','msg':{'id':1,'result':{}}");
    assert_has(cli_get_file(d, "a.jsonl"), "'ev':'end','by':'server','clean':true");
    assert_has(cli_get_file(d, "a.jsonl"), "'type':'footer','total_messages':2");
    assert_has(buf_z(&d->err), "recorded 2 messages in a.jsonl\n");
    assert_has(buf_z(&d->out), "/mcp\n");
    record_run_release(&b.record_run);
}

static void a_rejected_client_gets_a_response_and_is_recorded(void **state)
{
    static const struct fake_server_step script[] = { { .does = FAKE_LONE },
                                                      { .does = FAKE_DONE } };
    struct cli *d = *state;
    struct bench b;

    set(&b, d, script);
    b.record_run.path.force = false; /* else a file without messages would be removed */
    assert_int_equal(run(&b, "GET /mcp HTTP/1.1\r\nHost: evil\r\n\r\n"), 0);
    assert_has(buf_z(&b.record_run.received), "HTTP/1.1 403 ");
    assert_has(cli_get_file(d, "a.jsonl"), "'status':403,'by':'mcpreel'");
    assert_has(buf_z(&d->err), "warning: rejected an HTTP request: Host is not allowed; see ");
    record_run_release(&b.record_run);
}

static void repeated_rejections_are_logged_only_with_verbose(void **state)
{
    static const struct fake_server_step script[] = { { .does = FAKE_LONE },
                                                      { .does = FAKE_DONE } };
    struct cli *d = *state;
    struct bench b;
    const char *log_text;

    set(&b, d, script);
    b.record_run.log.level = LOG_INFO;
    b.record_run.until_closed = true;
    assert_int_equal(run(&b, "GET /mcp HTTP/1.1\r\nHost: evil\r\n\r\n"
                             "TRACE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"
                             "GET /other HTTP/1.1\r\nHost: worse\r\n\r\n"
                             "TRACE /mcp HTTP/1.1\r\nHost: localhost\r\n"
                             "Connection: close\r\n\r\n"),
                     0);
    log_text = strstr(buf_z(&d->err), "rejected an HTTP request: Host is");
    assert_non_null(log_text);
    log_text = strstr(log_text + 1, "rejected an HTTP request: the methods ");
    assert_non_null(log_text);
    assert_null(strstr(log_text + 1, "rejected an HTTP"));
    assert_null(strstr(buf_z(&d->err), "requests to '/other' are forwarded"));
    record_run_release(&b.record_run);
}

/* A wrong type is no fault of the page's origin: the page may read the reason. */
static void cors_headers_are_on_rejections_of_accepted_origins_only(void **state)
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
    static const struct fake_server_step script[] = { { .does = FAKE_LONE },
                                                      { .does = FAKE_DONE } };
    struct cli *d = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench b;

        set(&b, d, script);
        assert_int_equal(run(&b, cases[i].asked), 0);
        assert_true(str_starts(buf_str(&b.record_run.received), str_z(cases[i].status)));
        assert_int_equal(
            strstr(buf_z(&b.record_run.received), "Access-Control-Allow-Origin: ") != NULL,
            cases[i].shared);
        record_run_release(&b.record_run);
    }
}

static void a_connection_without_http_is_logged(void **state)
{
    static const struct fake_server_step script[] = { { .does = FAKE_LONE },
                                                      { .does = FAKE_DONE } };
    struct cli *d = *state;
    struct bench b;

    set(&b, d, script);
    assert_int_equal(run(&b, "\x16\x03\x01\r\n\r\n"), 0);
    assert_has(buf_z(&b.record_run.received), "HTTP/1.1 400 ");
    assert_has(buf_z(&d->err), "connection 1 rejected: ");
    record_run_release(&b.record_run);
}

static void an_aborted_response_is_logged_and_recorded(void **state)
{
    static const struct fake_server_step script[] = {
        { .does = FAKE_ACCEPT },
        { FAKE_SEES, REQUEST, 0 },
        { FAKE_SENDS, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", 0 },
        { .does = FAKE_RESET },
        { .does = FAKE_DONE }
    };
    struct cli *d = *state;
    struct bench b;

    set(&b, d, script);
    assert_int_equal(run(&b, REQUEST), 0);
    assert_has(cli_get_file(d, "a.jsonl"), "'ev':'end','by':'server','clean':false");
    assert_has(buf_z(&d->err), "HTTP request 1 aborted: ");
    record_run_release(&b.record_run);
}

static void a_second_signal_ends_without_waiting_for_responses(void **state)
{
    static const struct fake_server_step script[] = {
        { .does = FAKE_ACCEPT },
        { FAKE_SEES, REQUEST, 0 },
        { FAKE_SENDS, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", 0 },
        { .does = FAKE_EOF },
        { .does = FAKE_DONE }
    };
    struct cli *d = *state;
    struct bench b;

    set(&b, d, script);
    b.record_run.sigints = 2;
    assert_int_equal(run(&b, REQUEST), 0);
    assert_has(cli_get_file(d, "a.jsonl"), "'type':'footer'");
    record_run_release(&b.record_run);
}

static void a_failed_start_leaves_no_file(void **state)
{
    static const struct fake_server_step script[] = { { .does = FAKE_LONE },
                                                      { .does = FAKE_DONE } };
    struct cli *d = *state;
    struct err e = ERR_NONE;
    struct bench b;

    set(&b, d, script);
    close((int)b.record_run.listening.ready_fd); /* the client cannot be informed */
    assert_int_equal(record(&b, &e), EXIT_IO);
    assert_int_equal(e.kind, ERR_IO);
    e = (struct err)ERR_NONE;
    b.server.url = "nowhere";
    assert_int_equal(record(&b, &e), EXIT_USAGE);
    assert_int_equal(cli_count_files(d), 0);
    fake_server_join(&b.upstream);
    record_run_release(&b.record_run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(sessions_are_recorded_until_a_signal),
        WITH_CLI(a_rejected_client_gets_a_response_and_is_recorded),
        WITH_CLI(repeated_rejections_are_logged_only_with_verbose),
        WITH_CLI(cors_headers_are_on_rejections_of_accepted_origins_only),
        WITH_CLI(a_connection_without_http_is_logged),
        WITH_CLI(an_aborted_response_is_logged_and_recorded),
        WITH_CLI(a_second_signal_ends_without_waiting_for_responses),
        WITH_CLI(a_failed_start_leaves_no_file),
    };
    alarm(120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
