#include "loop/process-tree.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* A group led by a shell. The test becomes the parent of all orphans, so that none is missed.
 */
static struct process_tree begin(const char *script)
{
    struct process_tree f = { .watchdog = getpid(), .session = getsid(0) };
    int ready[2];
    char c;

    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    assert_int_equal(pipe(ready), 0);
    f.leader = fork();
    if (f.leader == 0) {
        setpgid(0, 0);
        dup2(ready[1], STDOUT_FILENO);
        execl("/bin/bash", "bash", "-c", script, (char *)NULL);
        _exit(1);
    }
    assert_int_equal(read(ready[0], &c, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return f;
}

/* Returns how many of our children were ended by the signal; no other child is left. */
static int ended_by(int signum)
{
    int status, n = 0;

    while (waitpid(-1, &status, 0) > 0)
        n += WIFSIGNALED(status) && WTERMSIG(status) == signum;
    assert_int_equal(errno, ECHILD);
    return n;
}

static void a_signal_reaches_all_process_groups(void **state)
{
    struct process_tree f = begin("set -m; sleep 1000 & sleep 1000 & echo; sleep 1000");

    (void)state;
    assert_true(process_tree_signal(&f, 0));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), 0); /* a query changes nothing */
    assert_true(process_tree_signal(&f, SIGTERM));
    assert_true(ended_by(SIGTERM) >= 3);
    assert_false(process_tree_signal(&f, SIGTERM));
}

static void a_signal_comes_once(void **state)
{
    int got[2];
    char text[16];
    ssize_t n;
    struct process_tree f;

    (void)state;
    assert_int_equal(pipe(got), 0);
    dup2(got[1], 9);
    f = begin("trap 'echo one >&9' TERM; set -m; "
              "bash -c 'trap \"echo two >&9; exit\" TERM; echo; while :; do sleep 0.01; "
              "done'; exit");
    close(9);
    close(got[1]);
    assert_true(process_tree_signal(&f, SIGTERM));
    waitpid(f.leader, NULL, 0);
    n = read(got[0], text, sizeof text);
    assert_true(n > 0);
    assert_int_equal(n, 8);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    close(got[0]);
}

static void processes_started_meanwhile_are_killed_too(void **state)
{
    struct process_tree f =
        begin("trap '' TERM; spawn() { set -m; (spawn2 &) & }; "
              "spawn2() { while :; do (sleep 1000 &); sleep 0.002; done; }; "
              "spawn; spawn; echo; sleep 1000");

    (void)state;
    process_tree_kill(&f);
    assert_true(ended_by(SIGKILL) >= 3); /* on a busy machine they end after the call */
    assert_false(process_tree_signal(&f, 0));
}

static void ended_processes_do_not_count(void **state)
{
    struct process_tree f = begin("echo; exit 3");
    siginfo_t end;
    int status;

    (void)state;
    assert_int_equal(waitid(P_PID, (id_t)f.leader, &end, WEXITED | WNOWAIT), 0);
    assert_false(process_tree_signal(&f, SIGTERM));
    process_tree_kill(&f);
    assert_int_equal(waitpid(f.leader, &status, 0), f.leader);
    assert_int_equal(WEXITSTATUS(status), 3);
}

static void a_process_with_its_own_session_does_not_belong_to_the_tree(void **state)
{
    struct process_tree f = begin("setsid sh -c 'echo; sleep 0.3; exit 7' & sleep 1000");
    int status = 0, last = 0;

    (void)state;
    process_tree_kill(&f);
    while (waitpid(-1, &status, 0) > 0)
        last = status;
    assert_true(WIFEXITED(last));
    assert_int_equal(WEXITSTATUS(last), 7);
}

/* Beside the family there are others in its session, in every place that one can have. */
static void a_process_of_the_session_only_does_not_belong_to_the_tree(void **state)
{
    struct process_tree f = begin("echo; sleep 1000"),
                        other = begin("set -m; sleep 1000 & echo; wait");
    siginfo_t end;

    (void)state;
    f.watchdog = f.leader;
    process_tree_kill(&f);
    assert_int_equal(waitid(P_PID, (id_t)f.leader, &end, WEXITED), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), 0);
    assert_true(process_tree_signal(&other, 0));
    process_tree_kill(&other);
    assert_true(ended_by(SIGKILL) >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_reaches_all_process_groups),
        cmocka_unit_test(a_signal_comes_once),
        cmocka_unit_test(processes_started_meanwhile_are_killed_too),
        cmocka_unit_test(ended_processes_do_not_count),
        cmocka_unit_test(a_process_with_its_own_session_does_not_belong_to_the_tree),
        cmocka_unit_test(a_process_of_the_session_only_does_not_belong_to_the_tree),
    };
    alarm(100); /* a remaining process must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
