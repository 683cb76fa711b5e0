#include "loop/watchdog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "test.h"

enum { FOR_EVER_MS = 30000 };

/* A program with a watchdog, and processes to watch. The test becomes the parent of all
 * orphans, so that none is missed. */
struct watchdog_run {
    int mark[2]; /* the whole family has its writing end */
    pid_t us;
};

struct part {
    int ready;
    const char *script;
};

static void be_family(const void *of)
{
    const struct part *p = of;
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(p->ready, STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", p->script, (char *)NULL);
}

static _Noreturn void be_us(int ready, const char *script)
{
    struct watchdog w;

    if (watchdog_start(&w, be_family, &(struct part){ ready, script }) != 0)
        _exit(1);
    close(ready);
    for (;;)
        pause();
}

/* Waits until the script is ready. */
static void begin(struct watchdog_run *s, const char *script)
{
    int ready[2];
    char c, number[16];

    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    assert_int_equal(pipe(s->mark), 0);
    assert_int_equal(pipe(ready), 0);
    snprintf(number, sizeof number, "%d", s->mark[1]);
    setenv("MARK", number, 1);
    s->us = fork();
    assert_true(s->us >= 0);
    if (s->us == 0) {
        close(s->mark[0]);
        close(ready[0]);
        be_us(ready[1], script);
    }
    close(s->mark[1]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &c, 1), 1);
    close(ready[0]);
}

/* All started processes have ended, and so has the watchdog. */
static void assert_no_process_left(struct watchdog_run *s)
{
    struct pollfd end = { .fd = s->mark[0], .events = POLLIN };
    char text[16];

    do
        assert_int_equal(poll(&end, 1, FOR_EVER_MS), 1);
    while (read(s->mark[0], text, sizeof text) > 0);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    assert_int_equal(errno, ECHILD);
    close(s->mark[0]);
}

static void kill_watched(struct watchdog_run *s)
{
    kill(s->us, SIGKILL);
    assert_int_equal(waitpid(s->us, NULL, 0), s->us);
}

static void when_mcpreel_is_killed_no_process_is_left(void **state)
{
    static const char *const scripts[] = {
        "echo; sleep 1000",
        "trap '' TERM HUP INT; echo; sleep 1000; sleep 1000",
        "sleep 1000 & (trap '' TERM; sleep 1000; sleep 1000) & echo; exit 0",
        "(sleep 1000 & sleep 1000 &) & echo; sleep 1000",
        "echo; kill -STOP $$; sleep 1000",
        "timeout 1000 sleep 1000 & echo; exit 0", /* in a group of its own */
    };
    struct watchdog_run s;

    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        begin(&s, scripts[i]);
        kill_watched(&s);
        assert_no_process_left(&s);
    }
}

/* A server may act after its client is gone: it is not killed at once. */
static void a_process_that_exits_in_time_gets_no_signal(void **state)
{
    struct watchdog_run s;
    char text[32] = "";
    size_t n = 0;
    ssize_t got;

    (void)state;
    begin(&s, "trap 'echo asked >&9; exit' TERM; exec 9>&\"$MARK\"; echo; sleep 0.3; "
              "echo bye >&9; while :; do sleep 0.02; done");
    kill_watched(&s);
    while ((got = read(s.mark[0], text + n, sizeof text - 1 - n)) > 0)
        n += (size_t)got;
    assert_string_equal(text, "bye\nasked\n");
    assert_no_process_left(&s);
}

/* 0 if it has none. */
static pid_t child_of(pid_t parent)
{
    char path[64], text[256] = "";
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", parent, parent);
    f = fopen(path, "r");
    assert_non_null(f);
    if (!fgets(text, sizeof text, f))
        text[0] = 0;
    fclose(f);
    return (pid_t)strtol(text, NULL, 10);
}

static bool is_watchdog(pid_t pid)
{
    char path[64], name[32] = "";
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    f = fopen(path, "r");
    if (!f)
        return false;
    if (!fgets(name, sizeof name, f))
        name[0] = 0;
    fclose(f);
    return str_eq(str_z(name), STR("reel-watchdog\n"));
}

/* Waits until there is one: it takes its name when it is ready. */
static pid_t watchdog_of(pid_t us)
{
    for (int ms = 0; ms < FOR_EVER_MS; ms++) {
        if (is_watchdog(child_of(us)))
            return child_of(us);
        poll(NULL, 0, 1);
    }
    fail_msg("there is no watchdog");
    return 0;
}

static int descriptors_of(pid_t pid)
{
    char path[64];
    struct dirent *entry;
    int n = 0;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    d = opendir(path);
    assert_non_null(d);
    while ((entry = readdir(d)))
        n += entry->d_name[0] != '.';
    closedir(d);
    return n;
}

static void the_watchdog_has_no_descriptors_and_ignores_signals(void **state)
{
    struct watchdog_run s;
    char path[64], where[64];
    pid_t dog;

    (void)state;
    begin(&s, "echo; sleep 1000");
    dog = watchdog_of(s.us);
    for (int ms = 0; descriptors_of(dog) != 1 && ms < FOR_EVER_MS; ms++)
        poll(NULL, 0, 1); /* it has its name a moment before it has let go */
    assert_int_equal(descriptors_of(dog), 1);
    snprintf(path, sizeof path, "/proc/%d/cwd", dog);
    assert_int_equal(readlink(path, where, sizeof where), 1);
    assert_int_equal(where[0], '/');
    assert_int_equal(getsid(dog), dog);
    kill(dog, SIGINT);
    kill(dog, SIGTERM);
    kill(dog, SIGHUP);
    kill(dog, SIGQUIT);
    kill_watched(&s);
    assert_no_process_left(&s);
}

static void start(struct watchdog *w, int *out, const char *script)
{
    int ready[2];

    assert_int_equal(pipe(ready), 0);
    assert_int_equal(watchdog_start(w, be_family, &(struct part){ ready[1], script }), 0);
    close(ready[1]);
    *out = ready[0];
}

static void assert_end(struct watchdog *w, int want_code, int want_signum)
{
    int code = -1, signum = -1;

    assert_true(watchdog_read_exit(w, &code, &signum));
    assert_int_equal(code, want_code);
    assert_int_equal(signum, want_signum);
}

static void the_exit_is_reported_and_the_pid_reserved(void **state)
{
    struct watchdog w;
    int out;

    (void)state;
    start(&w, &out, "(exit 1 &); sleep 0.1; exit 3");
    assert_end(&w, 3, 0);
    assert_int_equal(kill(w.tree.leader, 0), 0);
    watchdog_close(&w);
    assert_int_equal(kill(w.tree.leader, 0), -1);
    close(out);
    start(&w, &out, "ulimit -c 0; kill -SEGV $$");
    assert_end(&w, 0, SIGSEGV);
    watchdog_close(&w);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    close(out);
}

static void a_failed_exec_counts_as_exited(void **state)
{
    struct part p = { -1, "true" };
    struct watchdog w;

    (void)state;
    p.script = NULL; /* the shell has nothing to do */
    assert_int_equal(watchdog_start(&w, be_family, &p), 0);
    assert_end(&w, 2, 0);
    watchdog_close(&w);
}

/* Without it there is still the process itself, with its group. */
static void a_killed_watchdog_is_noticed(void **state)
{
    struct watchdog w;
    char text[4];
    int out, code, signum;

    (void)state;
    start(&w, &out, "trap '' TERM; sleep 1000 & echo up; sleep 1000; sleep 1000");
    assert_int_equal(read(out, text, sizeof text), 3);
    kill(w.pid, SIGKILL);
    assert_false(watchdog_read_exit(&w, &code, &signum));
    assert_true(process_tree_signal(&w.tree, 0));
    process_tree_kill(&w.tree);
    assert_int_equal(read(out, text, sizeof text), 0); /* no process has it any more */
    watchdog_close(&w);
    close(out);
}

static void remaining_processes_are_ended_with_the_watchdog(void **state)
{
    struct watchdog w;
    char text[4];
    int out;

    (void)state;
    start(&w, &out, "trap '' TERM; echo up; sleep 1000; sleep 1000");
    assert_int_equal(read(out, text, sizeof text), 3);
    watchdog_close(&w);
    assert_int_equal(read(out, text, sizeof text), 0);
    close(out);
    while (waitpid(-1, NULL, 0) > 0)
        continue;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(when_mcpreel_is_killed_no_process_is_left),
        cmocka_unit_test(a_process_that_exits_in_time_gets_no_signal),
        cmocka_unit_test(the_watchdog_has_no_descriptors_and_ignores_signals),
        cmocka_unit_test(the_exit_is_reported_and_the_pid_reserved),
        cmocka_unit_test(a_failed_exec_counts_as_exited),
        cmocka_unit_test(a_killed_watchdog_is_noticed),
        cmocka_unit_test(remaining_processes_are_ended_with_the_watchdog),
    };
    alarm(100); /* one that does not let go must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
