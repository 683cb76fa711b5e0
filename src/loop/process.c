#include "loop/process.h"

#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "loop/cpu-wait.h"
#include "loop/process-tree.h"
#include "loop/timer.h"

enum { FINAL_READ_MS = 1 }; /* one loop iteration, in which all pending output is read */

enum process_state { RUNNING, AWAITING_EXIT, TERM_SENT, KILL_SENT, DRAINING, DONE };

struct process {
    struct child *child;
    struct timer *timer;
    const struct process_events *events;
    void *arg;
    enum process_state state;
    uint64_t cpu_wait_us;    /* as of the last check */
    uint64_t extra_ms;       /* given so far for waiting for a processor */
    int64_t unread_until_us; /* 0: its output is read */
    int term_signal;
    bool final_read;    /* its time is over; set while pending output is read a last time */
    bool end_requested; /* set by process_terminate(): `busy` no longer counts */
    bool drained;       /* set by process_note_drained() */
};

static bool is_unread_time_over(const struct process *p)
{
    return p->unread_until_us && clock_mono_us() >= p->unread_until_us;
}

/* Waits PROCESS_TREE_QUIET_MS for output, but not beyond the limit for unread output. */
static void start_quiet_timer(struct process *p)
{
    int64_t ms = PROCESS_TREE_QUIET_MS;

    if (p->unread_until_us) {
        int64_t left = (p->unread_until_us - clock_mono_us()) / 1000 + 1;

        ms = left < ms ? left : ms;
    }
    p->final_read = false;
    timer_set(p->timer, ms > 0 ? (uint64_t)ms : 0);
}

static void enter_state(struct process *p, enum process_state state)
{
    p->state = state;
    switch (state) {
    case AWAITING_EXIT:
        p->cpu_wait_us = cpu_wait_us(child_pid(p->child));
        start_quiet_timer(p);
        break;
    case TERM_SENT:
        child_signal(p->child, p->term_signal);
        timer_set(p->timer, PROCESS_TREE_TERM_MS);
        break;
    case KILL_SENT:
        child_signal(p->child, SIGKILL);
        timer_set(p->timer, PROCESS_TREE_TERM_MS);
        break;
    case DRAINING:
        timer_set(p->timer, PROCESS_TREE_TERM_MS);
        break;
    case DONE:
        timer_stop(p->timer);
        /* Remaining processes of the tree must not outlive the session. */
        child_signal(p->child, SIGKILL);
        p->events->done(p->arg);
        break;
    case RUNNING:
        BUG("the process was started before");
    }
}

static bool is_busy(const struct process *p)
{
    return !p->end_requested && !is_unread_time_over(p) && p->events->busy &&
           p->events->busy(p->arg);
}

/* Extends the time by what the process waited for a processor. */
static bool extend_for_cpu_wait(struct process *p)
{
    uint64_t now_us = cpu_wait_us(child_pid(p->child)), ms = 0;

    if (now_us > p->cpu_wait_us) /* else processes that had waited may have ended */
        ms = (now_us - p->cpu_wait_us) / 1000;
    if (ms > PROCESS_TREE_QUIET_MS)
        ms = PROCESS_TREE_QUIET_MS; /* several processes waited at once */
    if (!ms || p->extra_ms + ms > PROCESS_CPU_WAIT_MS)
        return false;
    p->cpu_wait_us = now_us;
    p->extra_ms += ms;
    timer_set(p->timer, ms);
    return true;
}

/* If we ourselves got no processor, its output may be there but unread: reads once more. */
static bool allow_final_read(struct process *p)
{
    if (p->final_read)
        return false;
    p->final_read = true;
    timer_set(p->timer, FINAL_READ_MS);
    return true;
}

static void terminate_if_quiet(struct process *p)
{
    if (extend_for_cpu_wait(p) || allow_final_read(p))
        return;
    enter_state(p, TERM_SENT);
    if (p->events->term_sent)
        p->events->term_sent(p->arg);
}

static void on_timeout(void *to)
{
    struct process *p = to;

    if (p->state == TERM_SENT)
        enter_state(p, KILL_SENT);
    else if (p->state != KILL_SENT && is_busy(p))
        enter_state(p, p->state);
    else if (p->state == AWAITING_EXIT)
        terminate_if_quiet(p);
    else
        enter_state(p, DONE);
}

static void on_exited(void *to, int code, int signum)
{
    struct process *p = to;

    if (p->state == DONE)
        return;
    p->events->exited(p->arg, code, signum);
    enter_state(p, p->drained ? DONE : DRAINING);
}

bool process_start(struct process **out, struct loop *l, char *const *argv,
                   struct child_fds *fds, const struct process_events *events, void *to,
                   int *errnum, struct err *e)
{
    struct process *p = mem_new(struct process);

    *p = (struct process){ .events = events, .arg = to, .term_signal = SIGTERM };
    if (!child_start(&p->child, l, argv, fds, on_exited, p, errnum, e)) {
        free(p);
        return false;
    }
    p->timer = timer_new(l, on_timeout, p);
    *out = p;
    return true;
}

void process_expect_exit(struct process *p)
{
    if (p->state == RUNNING)
        enter_state(p, AWAITING_EXIT);
}

void process_note_output(struct process *p)
{
    if (p->state == AWAITING_EXIT && !is_unread_time_over(p))
        start_quiet_timer(p);
}

void process_note_unread(struct process *p)
{
    if (p->state != AWAITING_EXIT || p->unread_until_us)
        return;
    p->unread_until_us = clock_mono_us() + (int64_t)PROCESS_UNREAD_MS * 1000;
}

void process_terminate(struct process *p, int signum)
{
    p->end_requested = true;
    if (signum)
        p->term_signal = signum;
    if (p->state == RUNNING || p->state == AWAITING_EXIT)
        enter_state(p, TERM_SENT);
    else if (p->state == DRAINING)
        enter_state(p, DONE);
}

void process_note_drained(struct process *p)
{
    p->drained = true;
    if (p->state == DRAINING)
        enter_state(p, DONE);
}

void process_close(struct process *p)
{
    if (!p)
        return;
    timer_close(p->timer);
    child_close(p->child);
    free(p);
}
