#include "runtime/listen-config.h"

#include <stdio.h>
#include <unistd.h>

#include "cli.h"
#include "test.h"

static void assert_at(struct listen_config args, int usual, const char *host, int port)
{
    struct err e = ERR_NONE;
    struct listen_address at;
    bool was_requested;

    if (!listen_config_resolve(&args, usual, &at, &was_requested, &e))
        fail_msg("%s", e.msg);
    assert_true(was_requested);
    assert_str(at.host, str_z(host));
    assert_int_equal(at.port, port);
}

static void an_address_is_given_by_listen_or_port(void **state)
{
    (void)state;
    assert_at((struct listen_config){ .listen = "8080" }, 0, "", 8080);
    assert_at((struct listen_config){ .listen = ":8080" }, 0, "", 8080);
    assert_at((struct listen_config){ .listen = "localhost:0" }, 0, "localhost", 0);
    assert_at((struct listen_config){ .listen = "[::1]:80" }, 0, "::1", 80);
    assert_at((struct listen_config){ .port = 81 }, 0, "", 81);
}

static void the_default_port_is_used_without_a_port(void **state)
{
    (void)state;
    assert_at((struct listen_config){ 0 }, 5555, "", 5555);
    assert_at((struct listen_config){ .port = 81 }, 5555, "", 81);
    assert_at((struct listen_config){ .listen = "127.0.0.1:82" }, 5555, "127.0.0.1", 82);
    assert_at((struct listen_config){ .allow_remote = true }, 5555, "", 5555);
}

static void without_an_address_mcpreel_does_not_listen(void **state)
{
    struct err e = ERR_NONE;
    struct listen_address at;
    bool was_requested = true;

    (void)state;
    assert_true(
        listen_config_resolve(&(struct listen_config){ 0 }, 0, &at, &was_requested, &e));
    assert_false(was_requested);
}

static void assert_refused(struct listen_config args, const char *msg)
{
    struct err e = ERR_NONE;
    struct listen_address at;
    bool was_requested;

    assert_false(listen_config_resolve(&args, 0, &at, &was_requested, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, msg);
}

static void a_public_address_is_accepted_only_with_the_option(void **state)
{
    static const char *const open[] = { "0.0.0.0:80", "*:80",        "[::]:80", "0:80",
                                        "0x0:80",     "10.0.0.1:80", "host:80" };

    (void)state;
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        struct listen_config args = { .listen = open[i] };
        struct err e = ERR_NONE;
        struct listen_address at;
        char msg[128];
        bool was_requested;

        snprintf(msg, sizeof msg, "'%s' can be reached from other machines", open[i]);
        assert_refused(args, msg);
        args.allow_remote = true;
        assert_true(listen_config_resolve(&args, 0, &at, &was_requested, &e));
        assert_int_not_equal(at.scope, LISTEN_LOOPBACK);
    }
}

static void the_options_select_accepted_hosts_and_origins(void **state)
{
    static const char *names[] = { "mcp.example", "https://app.example" };
    struct listen_config args = { .listen = "80",
                                  .allow_host = { names, 1 },
                                  .allow_origin = { names + 1, 1 } };
    struct err e = ERR_NONE;
    struct http_access g;
    struct listen_address at;
    bool was_requested;

    (void)state;
    assert_true(listen_config_resolve(&args, 0, &at, &was_requested, &e));
    g = listen_config_access(&args, &at);
    assert_false(g.allow_remote || g.adds_credentials);
    assert_int_equal(g.host_count, 1);
    assert_string_equal(g.hosts[0], "mcp.example");
    assert_int_equal(g.origin_count, 1);
    assert_string_equal(g.origins[0], "https://app.example");
    assert_true(listen_config_is_public(&args, &at)); /* through the link of that name */
    args.allow_host.count = 0;
    assert_false(listen_config_is_public(&args, &at));
    args = (struct listen_config){ .listen = "*:80", .allow_remote = true };
    assert_true(listen_config_resolve(&args, 0, &at, &was_requested, &e));
    assert_true(listen_config_access(&args, &at).allow_remote);
    assert_true(listen_config_is_public(&args, &at));
}

static void contradicting_options_are_rejected(void **state)
{
    static const char *wrong[] = { "https://app.example/" };

    (void)state;
    assert_refused((struct listen_config){ .listen = "80", .port = 81 },
                   "'--listen' cannot be combined with '--port'");
    assert_refused((struct listen_config){ .port = 80, .allow_host = { wrong, 1 } },
                   "'--allow-host': 'https://app.example/' is not a host name");
    assert_refused((struct listen_config){ .port = 80, .allow_origin = { wrong, 1 } },
                   "'--allow-origin': 'https://app.example/' is not an origin");
}

static void a_descriptor_that_cannot_be_written_is_rejected(void **state)
{
    char msg[80];
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_at((struct listen_config){ .port = 80, .ready_fd = ends[1] }, 0, "", 80);
    snprintf(msg, sizeof msg, "'--ready-fd': descriptor %d cannot be written to", ends[0]);
    assert_refused((struct listen_config){ .port = 80, .ready_fd = ends[0] }, msg);
    close(ends[0]);
    close(ends[1]);
    snprintf(msg, sizeof msg, "'--ready-fd': descriptor %d is not open", ends[1]);
    assert_refused((struct listen_config){ .port = 80, .ready_fd = ends[1] }, msg);
}

static void keep(void *to, struct str line)
{
    buf_add(to, line);
}

static void the_connection_limit_is_logged_once(void **state)
{
    const struct http_exchange_failure overload = { .kind = HTTP_EXCHANGE_OVERLOAD,
                                                    .text = "too many" };
    const struct http_exchange_failure other = { .kind = HTTP_EXCHANGE_INVALID_REQUEST,
                                                 .text = "a NUL byte" };
    struct buf output;
    struct log log = { .level = LOG_INFO, .write = keep, .arg = &output };
    bool was_logged = false;

    (void)state;
    buf_init(&output, 4096);
    listen_config_log_refused(&log, &was_logged, 1, &other);
    assert_int_equal(output.len, 0);
    for (int i = 0; i < 3; i++)
        listen_config_log_refused(&log, &was_logged, 2, &overload);
    assert_str(buf_str(&output),
               STR("mcpreel: warning: the limit of open files is reached: new "
                   "clients get HTTP 503 (raise it with 'ulimit -n')\n"));
    buf_release(&output);
}

static void every_reason_of_rejection_is_logged_once(void **state)
{
    static const struct http_access_decision host = { 403, HTTP_ACCESS_HOST, "not here" };
    static const struct http_access_decision type = { 415, HTTP_ACCESS_CONTENT_TYPE, "not so" };
    struct headers was_requested = { .at = NULL };
    struct buf output;
    struct log log = { .level = LOG_INFO, .write = keep, .arg = &output };
    unsigned was_logged = 0;

    (void)state;
    buf_init(&output, 4096);
    headers_add(&was_requested, STR("Host"), STR("a.example"));
    for (int i = 0; i < 3; i++) {
        listen_config_log_rejected(&log, &was_logged, &was_requested, &host);
        listen_config_log_rejected(&log, &was_logged, NULL, &type);
    }
    assert_str(buf_str(&output),
               STR("mcpreel: warning: rejected an HTTP request for host 'a.example': not here\n"
                   "mcpreel: warning: rejected an HTTP request: not so\n"));
    headers_release(&was_requested);
    buf_release(&output);
}

/* A client can send any text there. */
static void values_of_headers_are_not_logged(void **state)
{
    static const struct {
        enum http_access_reason why;
        struct str name, value;
        const char *was_logged;
    } rows[] = {
        { HTTP_ACCESS_HOST, STR_INIT("Host"), STR_INIT("a.example:80"),
          " for host 'a.example'" },
        { HTTP_ACCESS_HOST, STR_INIT("Host"), STR_INIT("me:secret@a.example"),
          " for host 'a.example'" },
        { HTTP_ACCESS_HOST, STR_INIT("Host"), STR_INIT("a.example/secret"), "" },
        { HTTP_ACCESS_HOST, STR_INIT("Origin"), STR_INIT("https://a.example"), "" },
        { HTTP_ACCESS_ORIGIN, STR_INIT("Origin"), STR_INIT("https://a.example:8443"),
          " from origin 'https://a.example:8443'" },
        { HTTP_ACCESS_ORIGIN, STR_INIT("Origin"),
          STR_INIT("http://me:secret@a.example/secret?key=secret"),
          " from origin 'http://a.example:80'" },
        { HTTP_ACCESS_ORIGIN, STR_INIT("Origin"), STR_INIT("secret"), "" },
        { HTTP_ACCESS_ORIGIN, STR_INIT("Origin"), STR_INIT("null"), "" },
        { HTTP_ACCESS_CROSS_SITE, STR_INIT("Host"), STR_INIT("secret"), "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http_access_decision no = { 403, rows[i].why, "no" };
        struct headers was_requested = { .at = NULL };
        struct buf output, want;
        struct log log = { .level = LOG_DEBUG, .write = keep, .arg = &output };
        unsigned was_logged = 0;

        buf_init(&output, 4096);
        buf_init(&want, 4096);
        buf_printf(&want, "mcpreel: warning: rejected an HTTP request%s: no\n",
                   rows[i].was_logged);
        headers_add(&was_requested, rows[i].name, rows[i].value);
        listen_config_log_rejected(&log, &was_logged, &was_requested, &no);
        assert_str(buf_str(&output), buf_str(&want));
        headers_release(&was_requested);
        buf_release(&output);
        buf_release(&want);
    }
}

static void assert_reported(struct cli *d, bool json, const char *host, const char *want)
{
    struct app app = { .sys = &d->faults.sys, .json = json };
    struct url_authority at = { .host = str_z(host), .port = 80 };
    struct err e = ERR_NONE;

    buf_clear(&d->out);
    assert_true(
        listen_config_announce(&app, &(struct listen_config){ 0 }, &at, STR("/mcp"), &e));
    assert_str(buf_str(&d->out), str_z(want));
}

static void the_url_is_written_to_standard_output(void **state)
{
    assert_reported(*state, false, "127.0.0.1", "http://127.0.0.1:80/mcp\n");
    assert_reported(*state, false, "::1", "http://[::1]:80/mcp\n");
    assert_reported(*state, true, "localhost",
                    "{\"event\":\"listening\",\"url\":\"http://localhost:80/mcp\"}\n");
}

static void the_address_is_written_to_a_descriptor_that_is_then_closed(void **state)
{
    struct cli *d = *state;
    struct app app = { .sys = &d->faults.sys };
    struct url_authority at = { .host = STR_INIT("127.0.0.1"), .port = 80 };
    struct err e = ERR_NONE;
    char output[64];
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_true(listen_config_announce(&app, &(struct listen_config){ .ready_fd = ends[1] },
                                       &at, STR("/mcp"), &e));
    assert_int_equal(read(ends[0], output, sizeof output), 24);
    assert_str(str_n(output, 24), STR("http://127.0.0.1:80/mcp\n"));
    assert_int_equal(read(ends[0], output, sizeof output), 0);
    close(ends[0]);
    buf_clear(&d->out);
    assert_false(listen_config_announce(&app, &(struct listen_config){ .ready_fd = ends[1] },
                                        &at, STR("/mcp"), &e));
    assert_int_equal(e.kind, ERR_IO);
    assert_non_null(strstr(e.msg, "cannot write '--ready-fd'"));
    assert_int_equal(d->out.len, 0); /* the reader of the address gets none */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_given_by_listen_or_port),
        cmocka_unit_test(the_default_port_is_used_without_a_port),
        cmocka_unit_test(without_an_address_mcpreel_does_not_listen),
        cmocka_unit_test(a_public_address_is_accepted_only_with_the_option),
        cmocka_unit_test(the_options_select_accepted_hosts_and_origins),
        cmocka_unit_test(contradicting_options_are_rejected),
        cmocka_unit_test(a_descriptor_that_cannot_be_written_is_rejected),
        cmocka_unit_test(the_connection_limit_is_logged_once),
        cmocka_unit_test(every_reason_of_rejection_is_logged_once),
        cmocka_unit_test(values_of_headers_are_not_logged),
        WITH_CLI(the_url_is_written_to_standard_output),
        WITH_CLI(the_address_is_written_to_a_descriptor_that_is_then_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
