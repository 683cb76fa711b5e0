#include "transport/dial.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "loop/timer.h"
#include "peer.h"
#include "test.h"

/* A connection that writes down what it is told. */
struct tap {
    struct loop *loop;
    struct dialer *dialer;
    struct dial *dial;
    struct buf seen;
    size_t bytes, stop_at, pause_every;
    int drains, ends;
    bool quiet, clean, failed;
    enum dial_fault fault;
    struct timer *later;
};

static void take_data(void *to, struct str bytes)
{
    struct tap *t = to;

    t->bytes += bytes.len;
    if (!t->quiet)
        buf_add(&t->seen, bytes);
    if (t->pause_every) {
        dial_read(t->dial, false);
        timer_set(t->later, 0);
    }
    if (t->stop_at && t->bytes >= t->stop_at)
        loop_stop(t->loop);
}

static void resume(void *to)
{
    struct tap *t = to;

    dial_read(t->dial, true);
}

static void take_end(void *to, bool clean)
{
    struct tap *t = to;

    t->ends++;
    t->clean = clean;
    loop_stop(t->loop);
}

static void take_failed(void *to, enum dial_fault fault, const struct err *why)
{
    struct tap *t = to;

    assert_int_equal(why->kind, ERR_PEER);
    t->failed = true;
    t->fault = fault;
    buf_printf(&t->seen, "%s", why->msg);
    loop_stop(t->loop);
}

static void take_drained(void *to)
{
    struct tap *t = to;

    t->drains++;
}

static const struct dial_events events = {
    .failed = take_failed, .data = take_data, .end = take_end, .drained = take_drained
};

static void open_tap(struct tap *t, const struct dialer_config *config)
{
    struct err e = ERR_NONE;

    *t = (struct tap){ .loop = loop_new() };
    buf_init(&t->seen, 1 << 20);
    t->later = timer_new(t->loop, resume, t);
    if (!dialer_new(&t->dialer, t->loop, config, &e))
        fail_msg("%s", e.msg);
    t->dial = dial_open(t->dialer, &events, t);
}

static void open_plain(struct tap *t, const struct peer *p)
{
    open_tap(t, &(struct dialer_config){
                    .host = STR("127.0.0.1"), .port = p->port, .connect_ms = 5000 });
}

static void close_tap(struct tap *t)
{
    dial_close(t->dial);
    dialer_free(t->dialer);
    timer_close(t->later);
    loop_free(t->loop);
    buf_release(&t->seen);
}

static void bytes_go_both_ways_until_the_server_closes(void **state)
{
    static const struct peer_step script[] = {
        { PEER_ACCEPT, NULL, 0 }, { PEER_SEES, "one two", 0 }, { PEER_SAYS, "three", 0 },
        { PEER_CLOSE, NULL, 0 },  { PEER_DONE, NULL, 0 },
    };
    struct peer p;
    struct tap t;

    (void)state;
    peer_start(&p, script);
    open_plain(&t, &p);
    dial_write(t.dial, STR("one "));
    dial_write(t.dial, STR("two"));
    dial_flush(t.dial); /* nobody is connected yet: harmless */
    assert_int_equal(dial_queued(t.dial), 7);
    loop_run(t.loop);
    assert_str(buf_str(&t.seen), STR("three"));
    assert_int_equal(t.ends, 1);
    assert_true(t.clean);
    assert_int_equal(t.drains, 1);
    assert_int_equal(dial_queued(t.dial), 0);
    dial_write(t.dial, STR("late")); /* dropped */
    assert_int_equal(dial_queued(t.dial), 0);
    peer_join(&p);
    close_tap(&t);
}

static void a_connection_that_breaks_is_told_from_one_that_ends(void **state)
{
    static const struct peer_step script[] = {
        { PEER_ACCEPT, NULL, 0 },
        { PEER_SEES, "a", 0 },
        { PEER_RESET, NULL, 0 },
        { PEER_DONE, NULL, 0 },
    };
    struct peer p;
    struct tap t;

    (void)state;
    peer_start(&p, script);
    open_plain(&t, &p);
    dial_write(t.dial, STR("a"));
    loop_run(t.loop);
    assert_int_equal(t.ends, 1);
    assert_false(t.clean);
    peer_join(&p);
    close_tap(&t);
}

/* More of them than libcurl is asked to keep together. */
static void many_connections_are_told_apart(void **state)
{
    enum { MANY = 300 };
    static const struct peer_step nobody[] = { { PEER_REST, NULL, 300 },
                                               { PEER_DONE, NULL, 0 } };
    struct dial *many[MANY];
    struct peer p;
    struct tap t;

    (void)state;
    peer_start(&p, nobody); /* the system takes some of them in for it */
    open_plain(&t, &p);
    for (int i = 0; i < MANY; i++)
        many[i] = dial_open(t.dialer, &events, &t);
    for (int i = 0; i < MANY; i += 2)
        dial_close(many[i]);
    for (int i = 1; i < MANY; i += 2)
        dial_close(many[i]);
    peer_join(&p);
    close_tap(&t);
}

/* Who reads slowly on purpose; what TLS has read already must not be forgotten. */
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

/* It says where it listens. */
static void read_port(struct tls *s, int fd)
{
    char said[256];
    size_t len = 0;

    while (len < sizeof said - 1) {
        ssize_t n = read(fd, said + len, 1);
        char *at;

        assert_int_equal(n, 1);
        said[++len] = '\0';
        at = said[len - 1] == '\n' ? strstr(said, "ACCEPT 127.0.0.1:") : NULL;
        if (at) {
            s->port = (int)strtol(at + 17, NULL, 10);
            return;
        }
    }
    fail_msg("no port in '%s'", said);
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

static struct dialer_config secure(const struct tls *s, bool trusted)
{
    return (struct dialer_config){ .https = true,
                                   .host = STR("127.0.0.1"),
                                   .port = s->port,
                                   .connect_ms = 5000,
                                   .cacert = trusted ? str_z(s->cert) : STR_NONE };
}

static void tls_is_spoken_to_whom_is_trusted(void **state)
{
    struct dialer_config config;
    struct tls s;
    struct tap t;

    (void)state;
    start_tls(&s, "IP:127.0.0.1", "-rev"); /* it says backwards what it is told */
    config = secure(&s, true);
    open_tap(&t, &config);
    dial_write(t.dial, STR("drawer\n"));
    t.stop_at = 7;
    loop_run(t.loop);
    assert_str(buf_str(&t.seen), STR("reward\n"));
    close_tap(&t);
    stop_tls(&s);
}

static void check_untrusted(const char *names, bool trusted, const char *says)
{
    struct dialer_config config;
    struct tls s;
    struct tap t;

    start_tls(&s, names, "-rev");
    config = secure(&s, trusted);
    open_tap(&t, &config);
    dial_write(t.dial, STR("secret\n"));
    loop_run(t.loop);
    assert_true(t.failed);
    assert_int_equal(t.fault, DIAL_TLS);
    if (!strstr(buf_z(&t.seen), says))
        fail_msg("'%s' is not about '%s'", buf_z(&t.seen), says);
    close_tap(&t);
    stop_tls(&s);
}

static void nobody_else_is_spoken_to(void **state)
{
    (void)state;
    check_untrusted("IP:127.0.0.1", false, "certificate");
    check_untrusted("DNS:elsewhere.example", true, "name matches");
}

enum { MUCH = 3 << 20 };

static void make_much(const struct tls *s)
{
    char file[64];
    FILE *f;

    snprintf(file, sizeof file, "%s/much", s->folder);
    f = fopen(file, "w");
    for (int i = 0; i < MUCH; i++)
        fputc('x', f);
    fclose(f);
}

static void check_much(size_t pause_every)
{
    struct dialer_config config;
    struct tls s;
    struct tap t;

    start_tls(&s, "IP:127.0.0.1", "-WWW"); /* it sends the file that one asks for */
    make_much(&s);
    config = secure(&s, true);
    open_tap(&t, &config);
    t.quiet = true;
    t.pause_every = pause_every;
    dial_write(t.dial, STR("GET /much HTTP/1.0\r\n\r\n"));
    loop_run(t.loop);
    assert_int_equal(t.ends, 1);
    assert_true(t.bytes > MUCH && t.bytes < MUCH + 200); /* with its head */
    close_tap(&t);
    stop_tls(&s);
}

static void much_comes_whole_through_tls(void **state)
{
    (void)state;
    check_much(0);
}

/* TLS has taken more off the socket than it was asked for: no watch tells of that. */
static void it_does_also_if_one_stops_reading_again_and_again(void **state)
{
    (void)state;
    check_much(1);
}

static void much_goes_whole_through_tls(void **state)
{
    struct dialer_config config;
    char *much = malloc(MUCH);
    struct tls s;
    struct tap t;

    (void)state;
    start_tls(&s, "IP:127.0.0.1", "-rev");
    config = secure(&s, true);
    open_tap(&t, &config);
    memset(much, 'x', MUCH);
    for (int i = 1000; i < MUCH; i += 1000)
        much[i] = '\n'; /* it takes only so much in a line */
    much[MUCH - 1] = '\n';
    t.quiet = true;
    t.stop_at = MUCH;
    for (size_t at = 0; at < MUCH; at += 50000)
        dial_write(t.dial, str_n(much + at, MUCH - at < 50000 ? MUCH - at : 50000));
    loop_run(t.loop);
    assert_int_equal(t.bytes, MUCH);
    free(much);
    close_tap(&t);
    stop_tls(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_go_both_ways_until_the_server_closes),
        cmocka_unit_test(a_connection_that_breaks_is_told_from_one_that_ends),
        cmocka_unit_test(many_connections_are_told_apart),
        cmocka_unit_test(tls_is_spoken_to_whom_is_trusted),
        cmocka_unit_test(nobody_else_is_spoken_to),
        cmocka_unit_test(much_comes_whole_through_tls),
        cmocka_unit_test(it_does_also_if_one_stops_reading_again_and_again),
        cmocka_unit_test(much_goes_whole_through_tls),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
