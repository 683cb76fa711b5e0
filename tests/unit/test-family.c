#include "loop/family.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* A session led by a shell. The test is given all who lose their parents, so that none is
 * missed. */
static pid_t begin(const char *script)
{
    int ready[2];
    pid_t leader;
    char c;

    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    assert_int_equal(pipe(ready), 0);
    leader = fork();
    if (leader == 0) {
        setsid();
        dup2(ready[1], STDOUT_FILENO);
        execl("/bin/bash", "bash", "-c", script, (char *)NULL);
        _exit(1);
    }
    assert_int_equal(read(ready[0], &c, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return leader;
}

/* How many of our children have been ended by the signal; nobody else is left. */
static int ended_by(int signum)
{
    int status, n = 0;

    while (waitpid(-1, &status, 0) > 0)
        n += WIFSIGNALED(status) && WTERMSIG(status) == signum;
    assert_int_equal(errno, ECHILD);
    return n;
}

static void all_groups_of_a_session_are_reached(void **state)
{
    pid_t leader = begin("set -m; sleep 1000 & sleep 1000 & echo; sleep 1000");

    (void)state;
    assert_true(family_signal(leader, 0));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), 0); /* asking harms nobody */
    assert_true(family_signal(leader, SIGTERM));
    assert_true(ended_by(SIGTERM) >= 3);
    assert_false(family_signal(leader, SIGTERM));
}

static void a_signal_comes_once(void **state)
{
    int got[2];
    char text[16];
    ssize_t n;
    pid_t leader;

    (void)state;
    assert_int_equal(pipe(got), 0);
    dup2(got[1], 9);
    leader = begin("trap 'echo one >&9' TERM; set -m; "
                   "bash -c 'trap \"echo two >&9; exit\" TERM; echo; while :; do sleep 0.01; "
                   "done'; exit");
    close(9);
    close(got[1]);
    assert_true(family_signal(leader, SIGTERM));
    waitpid(leader, NULL, 0);
    n = read(got[0], text, sizeof text);
    assert_true(n > 0);
    assert_int_equal(n, 8);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    close(got[0]);
}

static void who_starts_others_meanwhile_is_killed_with_them(void **state)
{
    pid_t leader = begin("trap '' TERM; spawn() { set -m; (spawn2 &) & }; "
                         "spawn2() { while :; do (sleep 1000 &); sleep 0.002; done; }; "
                         "spawn; spawn; echo; sleep 1000");

    (void)state;
    family_kill(leader);
    assert_false(family_signal(leader, 0));
    assert_true(ended_by(SIGKILL) >= 3);
}

static void who_has_ended_does_not_count(void **state)
{
    pid_t leader = begin("echo; exit 3");
    siginfo_t end;
    int status;

    (void)state;
    assert_int_equal(waitid(P_PID, (id_t)leader, &end, WEXITED | WNOWAIT), 0);
    assert_false(family_signal(leader, SIGTERM));
    family_kill(leader);
    assert_int_equal(waitpid(leader, &status, 0), leader);
    assert_int_equal(WEXITSTATUS(status), 3);
}

static void who_made_a_session_of_its_own_is_none_of_it(void **state)
{
    pid_t leader = begin("setsid sh -c 'echo; sleep 0.3; exit 7' & sleep 1000");
    int status = 0, last = 0;

    (void)state;
    family_kill(leader);
    while (waitpid(-1, &status, 0) > 0)
        last = status;
    assert_true(WIFEXITED(last));
    assert_int_equal(WEXITSTATUS(last), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_groups_of_a_session_are_reached),
        cmocka_unit_test(a_signal_comes_once),
        cmocka_unit_test(who_starts_others_meanwhile_is_killed_with_them),
        cmocka_unit_test(who_has_ended_does_not_count),
        cmocka_unit_test(who_made_a_session_of_its_own_is_none_of_it),
    };
    alarm(100); /* who is left must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
