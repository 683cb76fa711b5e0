#include "transport/curl-conn.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conn-log.h"
#include "fake-server.h"
#include "test.h"

/* A connection that sends bytes when it is open. */
struct curl_conn_test {
    struct conn_log log;
    struct curl_conn_shared *shared;
    struct curl_conn *conn;
    char url[64];
    struct str response_text;
    size_t send_at_once; /* 0: all of it */
};

static void take_connected(void *to)
{
    struct curl_conn_test *t = to;

    while (t->response_text.len) {
        size_t n = t->send_at_once && t->send_at_once < t->response_text.len
                       ? t->send_at_once
                       : t->response_text.len;

        curl_conn_write(t->conn, str_n(t->response_text.at, n));
        t->response_text = str_skip(t->response_text, n);
    }
}

static void read_conn(void *conn, bool on)
{
    curl_conn_read(conn, on);
}

/* The log is the first member: a pointer to it is one to the struct. */
static const struct curl_conn_events events = { .connected = take_connected,
                                                .failed = conn_log_failed,
                                                .data = conn_log_data,
                                                .end = conn_log_end,
                                                .drained = conn_log_drained };

static void open_conn(struct curl_conn_test *t, const struct curl_conn_config *config)
{
    struct curl_conn_config own = *config;
    struct err e = ERR_NONE;

    *t = (struct curl_conn_test){ .response_text = STR_NONE };
    conn_log_init(&t->log, read_conn);
    snprintf(t->url, sizeof t->url, "%s", config->url);
    own.url = t->url; /* it is borrowed */
    if (!curl_conn_shared_new(&t->shared, t->log.loop, &own, &events, &e))
        fail_msg("%s", e.msg);
    t->conn = curl_conn_open(t->shared, t);
    t->log.connection = t->conn;
}

static void close_conn(struct curl_conn_test *t)
{
    curl_conn_close(t->conn);
    curl_conn_shared_free(t->shared);
    conn_log_release(&t->log);
}

/* openssl's own server, with a certificate of its own. */
struct tls {
    char folder[32], cert[64], key[64];
    pid_t pid;
    int port;
};

static void run(char *const *argv)
{
    pid_t pid = fork();
    int status;

    if (pid == 0) {
        int nothing = open("/dev/null", O_RDWR);

        dup2(nothing, 1);
        dup2(nothing, 2);
        execvp(argv[0], argv);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status != 0)
        fail_msg("'%s' does not work here", argv[0]);
}

static void make_certificate(struct tls *s, const char *names)
{
    char subject[] = "/CN=test", alt[128];
    char *argv[] = { "openssl",
                     "req",
                     "-x509",
                     "-newkey",
                     "ec",
                     "-pkeyopt",
                     "ec_paramgen_curve:prime256v1",
                     "-nodes",
                     "-days",
                     "2",
                     "-keyout",
                     s->key,
                     "-out",
                     s->cert,
                     "-subj",
                     subject,
                     "-addext",
                     alt,
                     NULL };

    snprintf(alt, sizeof alt, "subjectAltName=%s", names);
    snprintf(s->folder, sizeof s->folder, "/tmp/dial-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    snprintf(s->cert, sizeof s->cert, "%s/cert.pem", s->folder);
    snprintf(s->key, sizeof s->key, "%s/key.pem", s->folder);
    run(argv);
}

/* It prints its port. */
static void read_port(struct tls *s, int fd)
{
    char read_bytes[256];
    size_t len = 0;

    while (len < sizeof read_bytes - 1) {
        ssize_t n = read(fd, read_bytes + len, 1);
        char *at;

        assert_int_equal(n, 1);
        read_bytes[++len] = '\0';
        at = read_bytes[len - 1] == '\n' ? strstr(read_bytes, "ACCEPT 127.0.0.1:") : NULL;
        if (at) {
            s->port = (int)strtol(at + 17, NULL, 10);
            return;
        }
    }
    fail_msg("no port in '%s'", read_bytes);
}

static void start_tls(struct tls *s, const char *names, const char *mode)
{
    char way[16];
    char *argv[] = { "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert",
                     s->cert,   "-key",     s->key,    way,           NULL };
    int fds[2];

    *s = (struct tls){ .port = 0 };
    make_certificate(s, names);
    snprintf(way, sizeof way, "%s", mode);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    s->pid = fork();
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(open("/dev/null", O_RDONLY), 0);
        dup2(fds[1], 1);
        dup2(open("/dev/null", O_WRONLY), 2);
        if (chdir(s->folder) == 0)
            execvp(argv[0], argv);
        _exit(127);
    }
    close(fds[1]);
    read_port(s, fds[0]);
    close(fds[0]);
}

static void stop_tls(struct tls *s)
{
    char file[64];

    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    snprintf(file, sizeof file, "%s/much", s->folder);
    unlink(file);
    unlink(s->cert);
    unlink(s->key);
    rmdir(s->folder);
}

static void open_secure(struct curl_conn_test *t, const struct tls *s, bool trusted)
{
    char url[64];

    snprintf(url, sizeof url, "https://127.0.0.1:%d", s->port);
    open_conn(t, &(struct curl_conn_config){ .url = url,
                                             .is_loopback = true,
                                             .cacert = trusted ? s->cert : NULL,
                                             .connect_ms = 5000 });
}

static void tls_connects_to_a_trusted_server(void **state)
{
    struct tls s;
    struct curl_conn_test t;

    (void)state;
    start_tls(&s, "IP:127.0.0.1", "-rev"); /* it sends each line back, reversed */
    open_secure(&t, &s, true);
    t.response_text = STR("drawer\n");
    t.log.stop_at = 7;
    loop_run(t.log.loop);
    assert_str(buf_str(&t.log.text), STR("reward\n"));
    close_conn(&t);
    stop_tls(&s);
}

static void check_untrusted(const char *names, bool trusted, const char *says)
{
    struct tls s;
    struct curl_conn_test t;

    start_tls(&s, names, "-rev");
    open_secure(&t, &s, trusted);
    t.response_text = STR("secret\n");
    loop_run(t.log.loop);
    assert_true(t.log.failed);
    assert_int_equal(t.log.fault, UPSTREAM_CONN_TLS);
    if (!strstr(buf_z(&t.log.text), says))
        fail_msg("'%s' is not about '%s'", buf_z(&t.log.text), says);
    close_conn(&t);
    stop_tls(&s);
}

static void tls_rejects_an_untrusted_server(void **state)
{
    (void)state;
    check_untrusted("IP:127.0.0.1", false, "certificate");
    check_untrusted("DNS:elsewhere.example", true, "name matches");
}

enum { MUCH = 8 << 20 };

static void write_large_file(const struct tls *s)
{
    char file[64];
    FILE *f;

    snprintf(file, sizeof file, "%s/much", s->folder);
    f = fopen(file, "w");
    for (int i = 0; i < MUCH; i++)
        fputc('x', f);
    fclose(f);
}

static void check_large_response(bool pauses)
{
    struct tls s;
    struct curl_conn_test t;

    start_tls(&s, "IP:127.0.0.1", "-WWW"); /* it sends the requested file */
    write_large_file(&s);
    open_secure(&t, &s, true);
    t.log.count_only = true;
    t.log.pauses = pauses;
    t.response_text = STR("GET /much HTTP/1.0\r\n\r\n");
    loop_run(t.log.loop);
    assert_int_equal(t.log.end_count, 1);
    assert_true(t.log.bytes > MUCH && t.log.bytes < MUCH + 200); /* with its head */
    close_conn(&t);
    stop_tls(&s);
}

static void much_data_is_received_over_tls(void **state)
{
    (void)state;
    check_large_response(false);
}

/* TLS has read more from the socket than was requested: no watch reports that. */
static void much_data_is_received_with_pauses(void **state)
{
    (void)state;
    check_large_response(true);
}

static void much_data_is_sent_over_tls(void **state)
{
    char *much = malloc(MUCH);
    struct tls s;
    struct curl_conn_test t;

    (void)state;
    start_tls(&s, "IP:127.0.0.1", "-rev");
    open_secure(&t, &s, true);
    memset(much, 'x', MUCH);
    for (int i = 1000; i < MUCH; i += 1000)
        much[i] = '\n'; /* it takes only so much in a line */
    much[MUCH - 1] = '\n';
    t.log.count_only = true;
    t.log.stop_at = MUCH;
    t.response_text = str_n(much, MUCH);
    t.send_at_once = 50000;
    loop_run(t.log.loop);
    assert_int_equal(t.log.bytes, MUCH);
    free(much);
    close_conn(&t);
    stop_tls(&s);
}

/* Every variable that may be set where the tests run. */
static void set_proxy_env(const char *name, int port)
{
    static const char *const names[] = { "http_proxy", "https_proxy", "HTTPS_PROXY",
                                         "all_proxy",  "ALL_PROXY",   "no_proxy",
                                         "NO_PROXY" };
    char url[64];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    if (!name)
        return;
    snprintf(url, sizeof url, "http://me:pw@127.0.0.1:%d", port);
    setenv(name, url, 1);
}

#define TUNNEL(host)                                                                           \
    "CONNECT " host " HTTP/1.1\r\nHost: " host "\r\nProxy-Authorization: Basic bWU6cHc=\r\n"   \
    "Proxy-Connection: Keep-Alive\r\n\r\n"

static void a_proxy_gets_a_connect_request(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT),
        FAKE_TEXT(SEES, TUNNEL("server.example:80")),
        FAKE_TEXT(SENDS, "HTTP/1.1 200 Here you are\r\n\r\n"),
        FAKE_TEXT(SEES, "hello"),
        FAKE_TEXT(SENDS, "who is there?"),
        FAKE(CLOSE),
        FAKE(DONE)
    };
    struct fake_server p;
    struct curl_conn_test t;

    (void)state;
    fake_server_start(&p, script);
    set_proxy_env("http_proxy", p.port);
    open_conn(&t, &(struct curl_conn_config){ .url = "http://server.example:80",
                                              .connect_ms = 5000 });
    t.response_text = STR("hello");
    loop_run(t.log.loop);
    assert_str(buf_str(&t.log.text), STR("who is there?"));
    fake_server_join(&p);
    close_conn(&t);
    set_proxy_env(NULL, 0);
}

static void the_rejection_of_a_proxy_is_reported(void **state)
{
    static const struct fake_server_step script[] = {
        FAKE(ACCEPT), FAKE_TEXT(SEES, TUNNEL("server.example:443")),
        FAKE_TEXT(SENDS, "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"), FAKE(DONE)
    };
    struct fake_server p;
    struct curl_conn_test t;

    (void)state;
    fake_server_start(&p, script);
    set_proxy_env("https_proxy", p.port);
    open_conn(&t, &(struct curl_conn_config){ .url = "https://server.example:443",
                                              .connect_ms = 5000 });
    loop_run(t.log.loop);
    assert_true(t.log.failed);
    assert_int_equal(t.log.fault, UPSTREAM_CONN_PROXY);
    assert_non_null(strstr(buf_z(&t.log.text), "403"));
    fake_server_join(&p);
    close_conn(&t);
    set_proxy_env(NULL, 0);
}

static void an_unreachable_proxy_is_reported(void **state)
{
    static const struct fake_server_step script[] = { FAKE(DONE) };
    char want[256];
    struct fake_server p;
    struct curl_conn_test t;

    (void)state;
    fake_server_start(&p, script);
    fake_server_join(&p); /* its port is closed */
    set_proxy_env("http_proxy", p.port);
    open_conn(&t, &(struct curl_conn_config){ .url = "http://server.example:80",
                                              .connect_ms = 5000 });
    loop_run(t.log.loop);
    assert_int_equal(t.log.fault, UPSTREAM_CONN_PROXY);
    snprintf(want, sizeof want,
             "cannot connect to the proxy '127.0.0.1:%d' (http_proxy), on the way to "
             "'http://server.example:80': connection refused",
             p.port);
    assert_string_equal(buf_z(&t.log.text), want);
    close_conn(&t);
    setenv("http_proxy", "http://me:pw@no-such.invalid", 1);
    open_conn(&t, &(struct curl_conn_config){ .url = "http://server.example:80",
                                              .connect_ms = 5000 });
    loop_run(t.log.loop);
    assert_int_equal(t.log.fault, UPSTREAM_CONN_PROXY);
    assert_string_equal(buf_z(&t.log.text),
                        "cannot connect to the proxy 'no-such.invalid' (http_proxy), on the "
                        "way to 'http://server.example:80': cannot resolve its name");
    close_conn(&t);
    set_proxy_env(NULL, 0);
}

/* Its proxy would look for the server on the proxy's own machine. */
static void a_loopback_server_needs_no_proxy(void **state)
{
    static const struct fake_server_step script[] = { FAKE(ACCEPT), FAKE_TEXT(SEES, "hello"),
                                                      FAKE(CLOSE), FAKE(DONE) };
    struct fake_server p;
    struct curl_conn_test t;
    char url[64];

    (void)state;
    fake_server_start(&p, script);
    set_proxy_env("all_proxy", 9);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", p.port);
    open_conn(
        &t, &(struct curl_conn_config){ .url = url, .is_loopback = true, .connect_ms = 5000 });
    t.response_text = STR("hello");
    loop_run(t.log.loop);
    assert_int_equal(t.log.end_count, 1);
    fake_server_join(&p);
    close_conn(&t);
    set_proxy_env(NULL, 0);
}

static void an_unknown_host_is_reported(void **state)
{
    struct curl_conn_test t;

    (void)state;
    set_proxy_env(NULL, 0);
    open_conn(&t, &(struct curl_conn_config){ .url = "http://no-such.invalid:80",
                                              .connect_ms = 5000 });
    loop_run(t.log.loop);
    assert_int_equal(t.log.fault, UPSTREAM_CONN_UNKNOWN_HOST);
    assert_string_equal(
        buf_z(&t.log.text),
        "cannot connect to 'http://no-such.invalid:80': cannot resolve its name");
    close_conn(&t);
}

#define REMARK "Uses proxy env variable "

static void the_proxy_is_parsed_from_debug_text(void **state)
{
    static const struct {
        const char *remark, *want;
    } cases[] = {
        { REMARK "http_proxy == 'http://127.0.0.1:1'", "'127.0.0.1:1' (http_proxy)" },
        { REMARK "http_proxy == 'http://127.0.0.1:1/'\n", "'127.0.0.1:1' (http_proxy)" },
        { REMARK "https_proxy == 'proxy:3128'", "'proxy:3128' (https_proxy)" },
        { REMARK "HTTPS_PROXY == 'http://[::1]:80'", "'[::1]:80' (HTTPS_PROXY)" },
        { REMARK "all_proxy == 'socks5h://me@a.example'", "'a.example' (all_proxy)" },
        { REMARK "ALL_PROXY == 'http://me:pw@a.example:8080/x'",
          "'a.example:8080' (ALL_PROXY)" },
        /* Passwords that were not written as they should be. */
        { REMARK "http_proxy == 'http://me:p/w@host:1'", "'host:1' (http_proxy)" },
        { REMARK "http_proxy == 'http://me:p@w@host:1'", "'host:1' (http_proxy)" },
        { REMARK "http_proxy == 'me:p://w@host:1'", "'host:1' (http_proxy)" },
        { REMARK "http_proxy == 'http://me:p'w@host:1'", "'host:1' (http_proxy)" },
        { REMARK "http_proxy == 'http://me:longpassw...", "of http_proxy" },
        { REMARK "http_proxy == 'http://me:pass word", "of http_proxy" },
        { REMARK "http_proxy == 'http://me:pass word'", "of http_proxy" },
        { REMARK "http_proxy == 'http://ho\x1bst'", "of http_proxy" },
        { REMARK "http_proxy == 'http://me:pw'", "of http_proxy" },
        { REMARK "http_proxy == 'http://me:pw123'", "of http_proxy" },
        { REMARK "http_proxy == 'http://[::1]'", "'[::1]' (http_proxy)" },
        { REMARK "http_proxy == ''", "of http_proxy" },
    };
    char text[CURL_CONN_PROXY_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(curl_conn_parse_proxy(str_z(cases[i].remark), text));
        assert_string_equal(text, cases[i].want);
    }
}

static void other_debug_text_is_ignored(void **state)
{
    static const char *const cases[] = {
        "",
        "  Trying 127.0.0.1:1...",
        REMARK,
        REMARK "no_proxy == 'a.example'",
        REMARK "NO_PROXY == 'a.example'",
        REMARK "http_proxy",
        "uses proxy env variable http_proxy == 'http://127.0.0.1:1'",
    };
    char text[CURL_CONN_PROXY_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_false(curl_conn_parse_proxy(str_z(cases[i]), text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tls_connects_to_a_trusted_server),
        cmocka_unit_test(tls_rejects_an_untrusted_server),
        cmocka_unit_test(much_data_is_received_over_tls),
        cmocka_unit_test(much_data_is_received_with_pauses),
        cmocka_unit_test(much_data_is_sent_over_tls),
        cmocka_unit_test(a_proxy_gets_a_connect_request),
        cmocka_unit_test(the_rejection_of_a_proxy_is_reported),
        cmocka_unit_test(an_unreachable_proxy_is_reported),
        cmocka_unit_test(a_loopback_server_needs_no_proxy),
        cmocka_unit_test(an_unknown_host_is_reported),
        cmocka_unit_test(the_proxy_is_parsed_from_debug_text),
        cmocka_unit_test(other_debug_text_is_ignored),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
