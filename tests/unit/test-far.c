#include "transport/far.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ear.h"
#include "peer.h"
#include "test.h"

/* A connection that says something when it is there. */
struct tap {
    struct ear ear;
    struct far_house *house;
    struct far *far;
    char url[64];
    struct str say;
    size_t say_at_once; /* 0: all of it */
};

static void take_connected(void *to)
{
    struct tap *t = to;

    while (t->say.len) {
        size_t n = t->say_at_once && t->say_at_once < t->say.len ? t->say_at_once : t->say.len;

        far_write(t->far, str_n(t->say.at, n));
        t->say = str_skip(t->say, n);
    }
}

static void read_far(void *far, bool on)
{
    far_read(far, on);
}

/* The ear stands first, so that who has the tap has the ear. */
static const struct far_events events = { .connected = take_connected,
                                          .failed = ear_failed,
                                          .data = ear_data,
                                          .end = ear_end,
                                          .drained = ear_drained };

static void open_tap(struct tap *t, const struct far_config *config)
{
    struct far_config own = *config;
    struct err e = ERR_NONE;

    *t = (struct tap){ .say = STR_NONE };
    ear_init(&t->ear, read_far);
    snprintf(t->url, sizeof t->url, "%s", config->url);
    own.url = t->url; /* it is borrowed */
    if (!far_house_new(&t->house, t->ear.loop, &own, &events, &e))
        fail_msg("%s", e.msg);
    t->far = far_open(t->house, t);
    t->ear.connection = t->far;
}

static void close_tap(struct tap *t)
{
    far_close(t->far);
    far_house_free(t->house);
    ear_release(&t->ear);
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

static void open_secure(struct tap *t, const struct tls *s, bool trusted)
{
    char url[64];

    snprintf(url, sizeof url, "https://127.0.0.1:%d", s->port);
    open_tap(t, &(struct far_config){ .url = url,
                                      .here = true,
                                      .cacert = trusted ? s->cert : NULL,
                                      .connect_ms = 5000 });
}

static void tls_is_spoken_to_whom_is_trusted(void **state)
{
    struct tls s;
    struct tap t;

    (void)state;
    start_tls(&s, "IP:127.0.0.1", "-rev"); /* it says backwards what it is told */
    open_secure(&t, &s, true);
    t.say = STR("drawer\n");
    t.ear.stop_at = 7;
    loop_run(t.ear.loop);
    assert_str(buf_str(&t.ear.seen), STR("reward\n"));
    close_tap(&t);
    stop_tls(&s);
}

static void check_untrusted(const char *names, bool trusted, const char *says)
{
    struct tls s;
    struct tap t;

    start_tls(&s, names, "-rev");
    open_secure(&t, &s, trusted);
    t.say = STR("secret\n");
    loop_run(t.ear.loop);
    assert_true(t.ear.failed);
    assert_int_equal(t.ear.fault, DIAL_TLS);
    if (!strstr(buf_z(&t.ear.seen), says))
        fail_msg("'%s' is not about '%s'", buf_z(&t.ear.seen), says);
    close_tap(&t);
    stop_tls(&s);
}

static void nobody_else_is_spoken_to(void **state)
{
    (void)state;
    check_untrusted("IP:127.0.0.1", false, "certificate");
    check_untrusted("DNS:elsewhere.example", true, "name matches");
}

enum { MUCH = 8 << 20 };

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

static void check_much(bool pauses)
{
    struct tls s;
    struct tap t;

    start_tls(&s, "IP:127.0.0.1", "-WWW"); /* it sends the file that one asks for */
    make_much(&s);
    open_secure(&t, &s, true);
    t.ear.quiet = true;
    t.ear.pauses = pauses;
    t.say = STR("GET /much HTTP/1.0\r\n\r\n");
    loop_run(t.ear.loop);
    assert_int_equal(t.ear.ends, 1);
    assert_true(t.ear.bytes > MUCH && t.ear.bytes < MUCH + 200); /* with its head */
    close_tap(&t);
    stop_tls(&s);
}

static void much_comes_whole_through_tls(void **state)
{
    (void)state;
    check_much(false);
}

/* TLS has taken more off the socket than it was asked for: no watch tells of that. */
static void it_does_also_if_one_stops_reading_again_and_again(void **state)
{
    (void)state;
    check_much(true);
}

static void much_goes_whole_through_tls(void **state)
{
    char *much = malloc(MUCH);
    struct tls s;
    struct tap t;

    (void)state;
    start_tls(&s, "IP:127.0.0.1", "-rev");
    open_secure(&t, &s, true);
    memset(much, 'x', MUCH);
    for (int i = 1000; i < MUCH; i += 1000)
        much[i] = '\n'; /* it takes only so much in a line */
    much[MUCH - 1] = '\n';
    t.ear.quiet = true;
    t.ear.stop_at = MUCH;
    t.say = str_n(much, MUCH);
    t.say_at_once = 50000;
    loop_run(t.ear.loop);
    assert_int_equal(t.ear.bytes, MUCH);
    free(much);
    close_tap(&t);
    stop_tls(&s);
}

/* Every variable that may be set where the tests run. */
static void be_told_of_proxy(const char *name, int port)
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

static void a_proxy_is_asked_for_a_tunnel(void **state)
{
    static const struct peer_step script[] = { PEER(ACCEPT),
                                               PEER_TEXT(SEES, TUNNEL("server.example:80")),
                                               PEER_TEXT(SAYS,
                                                         "HTTP/1.1 200 Here you are\r\n\r\n"),
                                               PEER_TEXT(SEES, "hello"),
                                               PEER_TEXT(SAYS, "who is there?"),
                                               PEER(CLOSE),
                                               PEER(DONE) };
    struct peer p;
    struct tap t;

    (void)state;
    peer_start(&p, script);
    be_told_of_proxy("http_proxy", p.port);
    open_tap(&t, &(struct far_config){ .url = "http://server.example:80", .connect_ms = 5000 });
    t.say = STR("hello");
    loop_run(t.ear.loop);
    assert_str(buf_str(&t.ear.seen), STR("who is there?"));
    peer_join(&p);
    close_tap(&t);
    be_told_of_proxy(NULL, 0);
}

static void a_proxy_that_refuses_is_told(void **state)
{
    static const struct peer_step script[] = {
        PEER(ACCEPT), PEER_TEXT(SEES, TUNNEL("server.example:443")),
        PEER_TEXT(SAYS, "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"), PEER(DONE)
    };
    struct peer p;
    struct tap t;

    (void)state;
    peer_start(&p, script);
    be_told_of_proxy("https_proxy", p.port);
    open_tap(&t,
             &(struct far_config){ .url = "https://server.example:443", .connect_ms = 5000 });
    loop_run(t.ear.loop);
    assert_true(t.ear.failed);
    assert_int_equal(t.ear.fault, DIAL_PROXY);
    assert_non_null(strstr(buf_z(&t.ear.seen), "403"));
    peer_join(&p);
    close_tap(&t);
    be_told_of_proxy(NULL, 0);
}

static void a_proxy_that_is_not_there_is_told_as_such(void **state)
{
    static const struct peer_step script[] = { PEER(DONE) };
    char want[256];
    struct peer p;
    struct tap t;

    (void)state;
    peer_start(&p, script);
    peer_join(&p); /* nobody is on its port any more */
    be_told_of_proxy("http_proxy", p.port);
    open_tap(&t, &(struct far_config){ .url = "http://server.example:80", .connect_ms = 5000 });
    loop_run(t.ear.loop);
    assert_int_equal(t.ear.fault, DIAL_PROXY);
    snprintf(want, sizeof want,
             "cannot connect to the proxy '127.0.0.1:%d' (http_proxy), on the way to "
             "'http://server.example:80': connection refused",
             p.port);
    assert_string_equal(buf_z(&t.ear.seen), want);
    close_tap(&t);
    setenv("http_proxy", "http://me:pw@no-such.invalid", 1);
    open_tap(&t, &(struct far_config){ .url = "http://server.example:80", .connect_ms = 5000 });
    loop_run(t.ear.loop);
    assert_int_equal(t.ear.fault, DIAL_PROXY);
    assert_string_equal(buf_z(&t.ear.seen),
                        "cannot connect to the proxy 'no-such.invalid' (http_proxy), on the "
                        "way to 'http://server.example:80': its name has no address");
    close_tap(&t);
    be_told_of_proxy(NULL, 0);
}

/* Its proxy would look for the server on the proxy's own machine. */
static void nobody_here_is_behind_a_proxy(void **state)
{
    static const struct peer_step script[] = { PEER(ACCEPT), PEER_TEXT(SEES, "hello"),
                                               PEER(CLOSE), PEER(DONE) };
    struct peer p;
    struct tap t;
    char url[64];

    (void)state;
    peer_start(&p, script);
    be_told_of_proxy("all_proxy", 9);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", p.port);
    open_tap(&t, &(struct far_config){ .url = url, .here = true, .connect_ms = 5000 });
    t.say = STR("hello");
    loop_run(t.ear.loop);
    assert_int_equal(t.ear.ends, 1);
    peer_join(&p);
    close_tap(&t);
    be_told_of_proxy(NULL, 0);
}

static void a_name_without_an_address_is_told(void **state)
{
    struct tap t;

    (void)state;
    be_told_of_proxy(NULL, 0);
    open_tap(&t,
             &(struct far_config){ .url = "http://no-such.invalid:80", .connect_ms = 5000 });
    loop_run(t.ear.loop);
    assert_int_equal(t.ear.fault, DIAL_UNKNOWN_HOST);
    assert_string_equal(
        buf_z(&t.ear.seen),
        "cannot connect to 'http://no-such.invalid:80': its name has no address");
    close_tap(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tls_is_spoken_to_whom_is_trusted),
        cmocka_unit_test(nobody_else_is_spoken_to),
        cmocka_unit_test(much_comes_whole_through_tls),
        cmocka_unit_test(it_does_also_if_one_stops_reading_again_and_again),
        cmocka_unit_test(much_goes_whole_through_tls),
        cmocka_unit_test(a_proxy_is_asked_for_a_tunnel),
        cmocka_unit_test(a_proxy_that_refuses_is_told),
        cmocka_unit_test(a_proxy_that_is_not_there_is_told_as_such),
        cmocka_unit_test(nobody_here_is_behind_a_proxy),
        cmocka_unit_test(a_name_without_an_address_is_told),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
