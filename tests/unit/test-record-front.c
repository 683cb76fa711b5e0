#include "runtime/record-front.h"

#include "record-run.h"

/* With servers that are started for it. */
struct bench {
    struct record_run record_run;
    struct record_front_settings how;
};

static void set(struct bench *b, struct cli *d, char **server)
{
    struct record_path_options wish = { .output = "a.jsonl", .server_argv = server };

    record_run_init(&b->record_run, d, &wish);
    b->record_run.settings.server_argv = server;
    while (server[b->record_run.settings.server_argc])
        b->record_run.settings.server_argc++;
    b->how = (struct record_front_settings){ .listening = &b->record_run.listening,
                                             .max_servers = 2 };
}

static int record(struct bench *b, struct err *e)
{
    return record_front_run(&b->record_run.app, &b->record_run.path, &b->record_run.settings,
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
    return code;
}

#define HEAD "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
#define INITIALIZE "{\"id\":1,\"method\":\"initialize\"}"
#define REQUEST HEAD "Content-Length: 30\r\n\r\n" INITIALIZE

static void sessions_are_recorded_until_a_signal(void **state)
{
    char *server[] = { "sh", "-c",
                       "read x; echo hello >&2; echo noise; echo '{\"id\":1,\"result\":{}}'; "
                       "read y",
                       NULL };
    struct cli *d = *state;
    struct bench b;
    const char *text;

    set(&b, d, server);
    assert_int_equal(run(&b, REQUEST), 0);
    assert_has(buf_z(&b.record_run.received), "HTTP/1.1 200 OK\r\n");
    assert_has(buf_z(&b.record_run.received), "\r\nMcp-Session-Id: ");
    text = cli_get_file(d, "a.jsonl");
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
    record_run_release(&b.record_run);
}

static void responses_of_mcpreel_are_recorded_as_its_own(void **state)
{
    char *server[] = { "sh", "-c", "read x; exit 3", NULL };
    struct cli *d = *state;
    struct bench b;

    set(&b, d, server);
    assert_int_equal(run(&b, REQUEST), 0);
    assert_has(buf_z(&b.record_run.received), "HTTP/1.1 502 ");
    assert_has(cli_get_file(d, "a.jsonl"), "'status':502,'by':'mcpreel'");
    assert_has(cli_get_file(d, "a.jsonl"), "'type':'footer','total_messages':1");
    assert_has(buf_z(&d->err), "server 1 ended: 'sh' ended with exit code 3\n");
    record_run_release(&b.record_run);
}

static void a_rejected_client_gets_a_response_and_is_recorded(void **state)
{
    char *server[] = { "cat", NULL };
    struct cli *d = *state;
    struct bench b;

    set(&b, d, server);
    assert_int_equal(run(&b, "GET /mcp HTTP/1.1\r\nHost: evil\r\n\r\n"), 0);
    assert_has(buf_z(&b.record_run.received), "HTTP/1.1 403 ");
    assert_has(cli_get_file(d, "a.jsonl"), "'status':403,'by':'mcpreel'");
    assert_has(buf_z(&d->err), "warning: rejected an HTTP request: Host is not allowed; see ");
    record_run_release(&b.record_run);
}

static void a_failed_start_leaves_no_file(void **state)
{
    char *server[] = { "./no-such-server", NULL };
    char *silent[] = { "cat", NULL };
    struct cli *d = *state;
    struct err e = ERR_NONE;
    struct bench b;

    set(&b, d, server);
    assert_int_equal(record(&b, &e), 127);
    assert_int_equal(e.kind, ERR_PEER);
    e = (struct err)ERR_NONE;
    b.record_run.settings.server_argv = silent;
    close((int)b.record_run.listening.ready_fd); /* the client cannot be informed */
    assert_int_equal(record(&b, &e), EXIT_IO);
    assert_int_equal(e.kind, ERR_IO);
    assert_int_equal(cli_count_files(d), 0);
    record_run_release(&b.record_run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(sessions_are_recorded_until_a_signal),
        WITH_CLI(responses_of_mcpreel_are_recorded_as_its_own),
        WITH_CLI(a_rejected_client_gets_a_response_and_is_recorded),
        WITH_CLI(a_failed_start_leaves_no_file),
    };
    alarm(120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
