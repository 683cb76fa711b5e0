#include "loop/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "loop/family.h"
#include "loop/patience.h"

enum { STEP_MS = 20 }; /* how often it looks whether all are gone */

struct watchdog {
    pid_t pid;
    int lifeline; /* ends when we do */
};

static bool is_there(pid_t leader)
{
    return kill(-leader, 0) == 0 || errno != ESRCH || family_signal(leader, 0);
}

static bool is_gone_within(pid_t leader, int ms)
{
    for (; is_there(leader); ms -= STEP_MS) {
        if (ms <= 0)
            return false;
        poll(NULL, 0, STEP_MS);
    }
    return true;
}

static void end_family(pid_t leader)
{
    if (is_gone_within(leader, PATIENCE_QUIET_MS))
        return;
    family_signal(leader, SIGTERM);
    if (!is_gone_within(leader, PATIENCE_TERM_MS))
        family_kill(leader);
}

/* Nothing here may need a lock: we are the copy of a program that may have threads.
 * All signals are blocked, and stay so. */
static _Noreturn void be_watchdog(int lifeline)
{
    pid_t told, leader = 0;
    ssize_t n;

    setsid();
    /* Not to be taken for what it watches. Past the C library, whose function a sanitizer
     * puts a lock around. */
    syscall(SYS_prctl, PR_SET_NAME, "reel-watchdog", 0, 0, 0);
    if (dup2(lifeline, 0) != 0 || chdir("/") != 0)
        _exit(1);
    closefrom(1);
    while ((n = read(0, &told, sizeof told)) != 0)
        if (n == (ssize_t)sizeof told)
            leader = told;
    if (leader)
        end_family(leader);
    _exit(0);
}

static bool tell(const struct watchdog *w, pid_t leader)
{
    return write(w->lifeline, &leader, sizeof leader) == (ssize_t)sizeof leader;
}

/* It knows the leader, if there is one already, from its first moment on. */
static bool start(struct watchdog *w, pid_t leader)
{
    sigset_t all, before;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    w->lifeline = ends[1];
    if (leader && !tell(w, leader))
        BUG("a pipe that was made just now takes a word");
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    w->pid = fork();
    if (w->pid == 0)
        be_watchdog(ends[0]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[0]);
    if (w->pid > 0)
        return true;
    close(ends[1]);
    return false;
}

struct watchdog *watchdog_start(void)
{
    struct watchdog *w = mem_new(struct watchdog);

    if (start(w, 0))
        return w;
    free(w);
    return NULL;
}

bool watchdog_join(const struct watchdog *w)
{
    return tell(w, getpid());
}

void watchdog_check(struct watchdog *w, pid_t leader)
{
    if (w->pid <= 0 || waitpid(w->pid, NULL, WNOHANG) != w->pid)
        return;
    close(w->lifeline);
    if (!start(w, leader))
        w->pid = w->lifeline = -1; /* the session goes on without it */
}

void watchdog_dismiss(struct watchdog *w)
{
    if (!w)
        return;
    /* It is our child and not waited for, so the number is still its own. */
    if (w->pid > 0) {
        kill(w->pid, SIGKILL);
        waitpid(w->pid, NULL, 0);
        close(w->lifeline);
    }
    free(w);
}
