#include "loop/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "loop/timer.h"
#include "temp-dir.h"
#include "test.h"

/* A child, its pipes, and how it ended. */
struct run {
    struct loop *loop;
    struct child *child;
    struct child_fds fds;
    int exits, code, signum;
};

static void note_exit(void *to, int code, int signum)
{
    struct run *r = to;

    r->exits++;
    r->code = code;
    r->signum = signum;
    loop_stop(r->loop);
}

static void start(struct run *r, struct loop *l, const char *script)
{
    char *const argv[] = { "sh", "-c", (char *)(uintptr_t)script, NULL };
    struct err e = ERR_NONE;
    int errnum = 0;

    *r = (struct run){ .loop = l };
    if (!child_start(&r->child, l, argv, &r->fds, note_exit, r, &errnum, &e))
        fail_msg("%s", e.msg);
}

static void finish(struct run *r)
{
    close(r->fds.in);
    close(r->fds.out);
    close(r->fds.err);
    child_close(r->child);
}

/* All that comes until the end. */
static void assert_output(int fd, const char *want)
{
    struct buf got;
    char chunk[256];
    ssize_t n;

    buf_init(&got, 1 << 16);
    while ((n = read(fd, chunk, sizeof chunk)) > 0)
        buf_add(&got, str_n(chunk, (size_t)n));
    assert_int_equal(n, 0);
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
}

static void a_child_has_pipes_to_its_three_streams(void **state)
{
    struct loop *l = loop_new();
    struct run r;

    (void)state;
    start(&r, l,
          "test -p /dev/stdin && test -p /dev/stdout && test -p /dev/stderr || exit 9;"
          "read x; echo \"out $x\"; echo \"err $x\" >&2; exit 3");
    assert_int_equal(write(r.fds.in, "hello\n", 6), 6);
    loop_run(l);
    assert_int_equal(r.exits, 1);
    assert_int_equal(r.code, 3);
    assert_int_equal(r.signum, 0);
    assert_output(r.fds.out, "out hello\n");
    assert_output(r.fds.err, "err hello\n");
    finish(&r);
    loop_free(l);
}

static void a_child_ended_by_a_signal_is_reported(void **state)
{
    struct loop *l = loop_new();
    struct run r;

    (void)state;
    start(&r, l, "kill -9 $$");
    loop_run(l);
    assert_int_equal(r.signum, 9);
    finish(&r);
    start(&r, l, "exit 255");
    loop_run(l);
    assert_int_equal(r.code, 255);
    assert_int_equal(r.signum, 0);
    finish(&r);
    loop_free(l);
}

static void a_child_inherits_environment_and_directory(void **state)
{
    char *here = getcwd(NULL, 0);
    struct loop *l = loop_new();
    struct buf want;
    struct run r;

    (void)state;
    setenv("MCPREEL_TEST", "a b", 1);
    start(&r, l, "pwd -P; echo \"$MCPREEL_TEST\"");
    loop_run(l);
    buf_init(&want, 1 << 12);
    buf_printf(&want, "%s\na b\n", here);
    assert_output(r.fds.out, buf_z(&want));
    finish(&r);
    loop_free(l);
    buf_release(&want);
    free(here);
}

static void a_child_gets_the_environment_set_for_children(void **state)
{
    char *const env[] = { "PATH=/usr/bin:/bin", "MCPREEL_TEST=its own", NULL };
    struct loop *l = loop_new();
    struct run r;

    (void)state;
    setenv("MCPREEL_TEST", "ours", 1);
    loop_set_env(l, env);
    start(&r, l, "echo \"$MCPREEL_TEST\"; env | grep -c .");
    loop_run(l);
    assert_output(r.fds.out, "its own\n3\n"); /* the shell adds PWD */
    finish(&r);
    loop_set_env(l, NULL);
    start(&r, l, "echo \"$MCPREEL_TEST\"");
    loop_run(l);
    assert_output(r.fds.out, "ours\n");
    finish(&r);
    loop_free(l);
}

static void a_child_does_not_inherit_other_descriptors(void **state)
{
    struct loop *l = loop_new();
    int fd = dup(2);
    struct run r;
    char command_text[64];

    (void)state;
    snprintf(command_text, sizeof command_text,
             "test -e /proc/self/fd/%d && echo has || echo not", fd);
    start(&r, l, command_text);
    loop_run(l);
    assert_output(r.fds.out, "has\n");
    finish(&r);
    child_set_cloexec(fd);
    start(&r, l, command_text);
    loop_run(l);
    assert_output(r.fds.out, "not\n");
    finish(&r);
    close(fd);
    loop_free(l);
}

/* Prints the blocked and ignored signals of a child; not with a shell, as those change some
 * of them. */
static void assert_signals_passed_on(struct loop *l, uint64_t blocked, uint64_t ignored)
{
    static const char *const names[] = { "SigBlk:", "SigIgn:" };
    char *const argv[] = { "cat", "/proc/self/status", NULL };
    /* The real-time signals are inherited from our own parent. */
    uint64_t want[] = { blocked, ignored }, classic = 0x7fffffff;
    struct run r = { .loop = l };
    char text[4096];
    struct err e = ERR_NONE;
    ssize_t n;
    int errnum;

    assert_true(child_start(&r.child, l, argv, &r.fds, note_exit, &r, &errnum, &e));
    loop_run(l);
    n = read(r.fds.out, text, sizeof text - 1);
    assert_true(n > 0);
    text[n] = 0;
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(text, names[i]);

        assert_non_null(at);
        assert_int_equal(strtoull(at + strlen(names[i]), NULL, 16) & classic, want[i]);
    }
    finish(&r);
}

/* To the server it must look as if the client had started it: the loop ignores
 * SIGPIPE, the server must not. */
static void a_child_has_default_signal_handlers(void **state)
{
    struct loop *l = loop_new();

    (void)state;
    assert_signals_passed_on(l, 0, 0);
    loop_free(l);
}

static void signals_ignored_or_blocked_before_stay_so(void **state)
{
    static const int ignored[] = { SIGHUP, SIGPIPE, SIGCHLD, SIGXFSZ };
    struct loop *l;
    sigset_t blocked;
    uint64_t mask = 0;

    (void)state;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigaddset(&blocked, SIGCHLD);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) {
        signal(ignored[i], SIG_IGN);
        mask |= UINT64_C(1) << (ignored[i] - 1);
    }
    l = loop_new();
    assert_signals_passed_on(l, UINT64_C(1) << (SIGUSR1 - 1) | UINT64_C(1) << (SIGCHLD - 1),
                             mask);
    loop_free(l);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        assert_true(signal(ignored[i], SIG_DFL) == SIG_IGN); /* as it was */
    sigprocmask(SIG_UNBLOCK, &blocked, NULL);
}

static void a_child_has_our_original_descriptor_limit(void **state)
{
    struct rlimit before, few;
    struct loop *l;
    struct run r;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 321;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    l = loop_new();
    start(&r, l, "ulimit -Sn");
    loop_run(l);
    assert_output(r.fds.out, "321\n");
    finish(&r);
    loop_free(l);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(few.rlim_cur, 321);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void other_children_do_not_inherit_the_pipes(void **state)
{
    struct loop *l = loop_new();
    struct run first, second;

    (void)state;
    start(&first, l, "exec 1>&- 2>&-; while read x; do :; done");
    start(&second, l, "exec cat");
    /* The first closed these; the second, started later, does not have them. */
    assert_output(first.fds.out, "");
    assert_output(first.fds.err, "");
    close(first.fds.in);
    first.fds.in = -1;
    loop_run(l);
    assert_int_equal(first.exits, 1);
    assert_int_equal(second.exits, 0);
    child_signal(second.child, SIGKILL);
    loop_run(l);
    assert_int_equal(second.signum, SIGKILL);
    finish(&first);
    finish(&second);
    loop_free(l);
}

static void a_signal_reaches_the_whole_process_group(void **state)
{
    struct loop *l = loop_new();
    char got[3];
    struct run r;

    (void)state;
    start(&r, l, "sleep 1000 & echo up; wait");
    assert_int_equal(read(r.fds.out, got, 3), 3);
    child_signal(r.child, SIGTERM);
    /* The end comes only when both are gone. */
    assert_output(r.fds.out, "");
    loop_run(l);
    assert_int_equal(r.signum, SIGTERM);
    finish(&r);
    loop_free(l);
}

static void a_signal_reaches_the_group_after_the_child_has_exited(void **state)
{
    struct loop *l = loop_new();
    struct run r;

    (void)state;
    start(&r, l, "sleep 1000 & exit 4");
    loop_run(l);
    assert_int_equal(r.code, 4);
    child_signal(r.child, SIGKILL);
    assert_output(r.fds.out, "");
    child_signal(r.child, SIGKILL); /* no process is left: nothing happens */
    finish(&r);
    loop_free(l);
}

static void a_child_leads_a_process_group_in_our_session(void **state)
{
    struct loop *l = loop_new();
    char want[32];
    struct run r;

    (void)state;
    /* Fields 1, 5 and 6 of stat: process, group, session. */
    start(&r, l, "set -- $(cat /proc/$$/stat); [ $1 = $5 ] && echo leader in $6");
    loop_run(l);
    snprintf(want, sizeof want, "leader in %d\n", (int)getsid(0));
    assert_output(r.fds.out, want);
    finish(&r);
    loop_free(l);
}

static void killing_the_watchdog_kills_the_child(void **state)
{
    struct loop *l = loop_new();
    struct run r;

    (void)state;
    start(&r, l, "trap '' TERM; sleep 1000 & kill -KILL $PPID; sleep 1000");
    loop_run(l);
    assert_int_equal(r.exits, 1);
    assert_int_equal(r.signum, SIGKILL);
    assert_output(r.fds.out, "");
    finish(&r);
    loop_free(l);
}

static void a_failed_start_reports_the_reason_and_leaves_nothing(void **state)
{
    static const struct {
        const char *file;
        int errnum;
        const char *says;
    } rows[] = {
        { "/nowhere/to/be/found", ENOENT,
          "cannot start server '/nowhere/to/be/found': no such file or directory" },
        { "no-such-command-anywhere", ENOENT,
          "cannot start server 'no-such-command-anywhere': command not found in PATH" },
        { "/etc/passwd", EACCES, "cannot start server '/etc/passwd': permission denied" },
        { "/tmp", EACCES, "cannot start server '/tmp': permission denied" },
        { "/etc/passwd/x", ENOTDIR, "cannot start server '/etc/passwd/x': not a directory" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *const argv[] = { (char *)(uintptr_t)rows[i].file, NULL };
        struct loop *l = loop_new();
        struct child_fds fds = { -7, -7, -7 };
        int before = open_fd_count(), errnum = 0;
        struct child *c = NULL;
        struct err e = ERR_NONE;

        assert_false(child_start(&c, l, argv, &fds, note_exit, NULL, &errnum, &e));
        assert_string_equal(e.msg, rows[i].says);
        assert_int_equal(e.kind, ERR_PEER);
        assert_int_equal(errnum, rows[i].errnum);
        assert_null(c);
        loop_run(l);
        /* The loop may have opened descriptors to watch children. */
        assert_in_range(open_fd_count(), before, before + 2);
        loop_free(l);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* and no process */
    }
}

/* Starts it with `limit` as the ceiling of descriptors. */
static bool starts_within(struct run *r, rlim_t limit, int *errnum, struct err *e)
{
    char *const argv[] = { "true", NULL };
    struct rlimit old, few;
    bool ok;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    few = (struct rlimit){ .rlim_cur = limit, .rlim_max = old.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    ok = child_start(&r->child, r->loop, argv, &r->fds, note_exit, r, errnum, e);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    return ok;
}

static void a_start_without_descriptors_is_reported(void **state)
{
    enum { STREAMS = 6, ENOUGH = 100 }; /* three pipes; other descriptors do not matter */
    int without = open_fd_count();
    struct run r = { .loop = loop_new() };
    int before = open_fd_count(), last = dup(0), errnum = 0;
    struct err e = ERR_NONE;
    rlim_t spare = 0;

    (void)state;
    close(last);
    while (spare < ENOUGH && !starts_within(&r, (rlim_t)last + spare, &errnum, &e)) {
        assert_int_equal(errnum, EMFILE);
        assert_in_range(open_fd_count(), before, before + 2);
        assert_string_equal(e.msg, "cannot start server 'true': too many open files");
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* and no process */
        spare++;
    }
    assert_in_range(spare, STREAMS, ENOUGH - 1);
    loop_run(r.loop);
    finish(&r);
    loop_free(r.loop);
    assert_int_equal(open_fd_count(), without);
}

/* As a user with a process limit of 0, which does not apply to root. */
static _Noreturn void be_one_without_processes(void)
{
    static const struct rlimit none = { 0, 0 };
    char *const argv[] = { "true", NULL };
    struct loop *l = loop_new();
    struct child_fds fds;
    struct child *c = NULL;
    struct err e = ERR_NONE;
    int errnum = 0;

    if ((getuid() == 0 && setresuid(65534, 65534, 65534) != 0) ||
        setrlimit(RLIMIT_NPROC, &none) != 0)
        _exit(2);
    if (child_start(&c, l, argv, &fds, note_exit, NULL, &errnum, &e) || errnum != EAGAIN)
        _exit(3);
    _exit(strcmp(e.msg, "cannot start server 'true': resource temporarily unavailable") != 0);
}

static void a_start_without_free_processes_is_reported(void **state)
{
    int status = 0;
    pid_t pid;

    (void)state;
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        be_one_without_processes();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void closing_a_running_child_kills_its_process_group(void **state)
{
    struct loop *l = loop_new();
    struct run r;

    (void)state;
    start(&r, l, "trap '' TERM HUP; sleep 1000 & read x; echo still here");
    child_close(r.child);
    child_close(NULL);
    loop_run(l);
    assert_int_equal(r.exits, 0);
    assert_output(r.fds.out, "");
    /* Neither it nor its watchdog is left as a zombie. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    r.child = NULL;
    finish(&r);
    loop_free(l);
}

static void each_loop_gets_the_events_of_its_own_children(void **state)
{
    struct loop *outer = loop_new(), *inner;
    struct run first, second;

    (void)state;
    start(&first, outer, "read x; exit 3");
    inner = loop_new();
    start(&second, inner, "exit 4");
    loop_run(inner);
    assert_int_equal(second.code, 4);
    finish(&second);
    loop_free(inner);
    assert_int_equal(write(first.fds.in, "\n", 1), 1);
    loop_run(outer);
    assert_int_equal(first.code, 3);
    finish(&first);
    loop_free(outer);
}

/* A number that is still taken is no other group's. */
static void the_pid_is_reserved_until_the_child_is_closed(void **state)
{
    struct loop *l = loop_new();
    struct run r;
    char text[32];
    pid_t pid;

    (void)state;
    start(&r, l, "echo $$");
    loop_run(l);
    assert_int_equal(r.exits, 1);
    text[read(r.fds.out, text, sizeof text - 1)] = 0;
    pid = (pid_t)strtol(text, NULL, 10);
    assert_int_equal(kill(pid, 0), 0);
    finish(&r);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
    loop_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_has_pipes_to_its_three_streams),
        cmocka_unit_test(a_child_ended_by_a_signal_is_reported),
        cmocka_unit_test(a_child_inherits_environment_and_directory),
        cmocka_unit_test(a_child_gets_the_environment_set_for_children),
        cmocka_unit_test(a_child_does_not_inherit_other_descriptors),
        cmocka_unit_test(a_child_has_default_signal_handlers),
        cmocka_unit_test(signals_ignored_or_blocked_before_stay_so),
        cmocka_unit_test(a_child_has_our_original_descriptor_limit),
        cmocka_unit_test(other_children_do_not_inherit_the_pipes),
        cmocka_unit_test(a_signal_reaches_the_whole_process_group),
        cmocka_unit_test(a_signal_reaches_the_group_after_the_child_has_exited),
        cmocka_unit_test(a_child_leads_a_process_group_in_our_session),
        cmocka_unit_test(killing_the_watchdog_kills_the_child),
        cmocka_unit_test(a_failed_start_reports_the_reason_and_leaves_nothing),
        cmocka_unit_test(a_start_without_descriptors_is_reported),
        cmocka_unit_test(a_start_without_free_processes_is_reported),
        cmocka_unit_test(closing_a_running_child_kills_its_process_group),
        cmocka_unit_test(each_loop_gets_the_events_of_its_own_children),
        cmocka_unit_test(the_pid_is_reserved_until_the_child_is_closed),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
