#include "loop/process.h"

#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "loop/patience.h"
#include "loop/starved.h"
#include "loop/timer.h"

enum { LOOK_MS = 1 }; /* a round of the loop, in which all is read that has come */

enum process_state { RUNNING, CLOSING, ASKED, KILLED, DRAINING, DONE };

struct process {
    struct child *child;
    struct timer *patience;
    const struct process_events *events;
    void *to;
    enum process_state state;
    uint64_t starved_us;     /* when it was last looked at */
    uint64_t granted_ms;     /* what it got because of that */
    int64_t unread_until_us; /* 0: its output is read */
    int ask_with;
    bool doubted; /* its time is over, unless there is something that we have not read yet */
    bool wanted;  /* its end was asked for: nobody waits for others */
    bool drained; /* all its output was read */
};

static bool is_unread_time_over(const struct process *p)
{
    return p->unread_until_us && clock_mono_us() >= p->unread_until_us;
}

/* Waits for output: PATIENCE_QUIET_MS, but not beyond the limit for unread output. */
static void wait_quiet(struct process *p)
{
    int64_t ms = PATIENCE_QUIET_MS;

    if (p->unread_until_us) {
        int64_t left = (p->unread_until_us - clock_mono_us()) / 1000 + 1;

        ms = left < ms ? left : ms;
    }
    p->doubted = false;
    timer_set(p->patience, ms > 0 ? (uint64_t)ms : 0);
}

static void enter(struct process *p, enum process_state state)
{
    p->state = state;
    switch (state) {
    case CLOSING:
        p->starved_us = starved_us(child_pid(p->child));
        wait_quiet(p);
        break;
    case ASKED:
        child_signal(p->child, p->ask_with);
        timer_set(p->patience, PATIENCE_TERM_MS);
        break;
    case KILLED:
        child_signal(p->child, SIGKILL);
        timer_set(p->patience, PATIENCE_TERM_MS);
        break;
    case DRAINING:
        timer_set(p->patience, PATIENCE_TERM_MS);
        break;
    case DONE:
        timer_stop(p->patience);
        /* Whoever is left of its family must not outlive the session. */
        child_signal(p->child, SIGKILL);
        p->events->done(p->to);
        break;
    case RUNNING:
        BUG("a process does not start twice");
    }
}

static bool is_busy(const struct process *p)
{
    return !p->wanted && !is_unread_time_over(p) && p->events->busy && p->events->busy(p->to);
}

/* What it could not use of its time for want of a processor, it gets once more. */
static bool grant_more_time(struct process *p)
{
    uint64_t now_us = starved_us(child_pid(p->child)), ms = 0;

    if (now_us > p->starved_us) /* else those who had waited may be gone */
        ms = (now_us - p->starved_us) / 1000;
    if (ms > PATIENCE_QUIET_MS)
        ms = PATIENCE_QUIET_MS; /* several at once */
    if (!ms || p->granted_ms + ms > PATIENCE_BUSY_MS)
        return false;
    p->starved_us = now_us;
    p->granted_ms += ms;
    timer_set(p->patience, ms);
    return true;
}

/* If it was silent because we ourselves got no processor, its words are there by now. */
static bool look_once_more(struct process *p)
{
    if (p->doubted)
        return false;
    p->doubted = true;
    timer_set(p->patience, LOOK_MS);
    return true;
}

static void hurry(struct process *p)
{
    if (grant_more_time(p) || look_once_more(p))
        return;
    enter(p, ASKED);
    if (p->events->hurried)
        p->events->hurried(p->to);
}

static void patience_over(void *to)
{
    struct process *p = to;

    if (p->state == ASKED)
        enter(p, KILLED);
    else if (p->state != KILLED && is_busy(p))
        enter(p, p->state);
    else if (p->state == CLOSING)
        hurry(p);
    else
        enter(p, DONE);
}

static void exited(void *to, int code, int signum)
{
    struct process *p = to;

    if (p->state == DONE)
        return;
    p->events->exited(p->to, code, signum);
    enter(p, p->drained ? DONE : DRAINING);
}

bool process_start(struct process **out, struct loop *l, char *const *argv,
                   struct child_fds *fds, const struct process_events *events, void *to,
                   int *errnum, struct err *e)
{
    struct process *p = mem_new(struct process);

    *p = (struct process){ .events = events, .to = to, .ask_with = SIGTERM };
    if (!child_start(&p->child, l, argv, fds, exited, p, errnum, e)) {
        free(p);
        return false;
    }
    p->patience = timer_new(l, patience_over, p);
    *out = p;
    return true;
}

void process_let_go(struct process *p)
{
    if (p->state == RUNNING)
        enter(p, CLOSING);
}

void process_heard(struct process *p)
{
    if (p->state == CLOSING && !is_unread_time_over(p))
        wait_quiet(p);
}

void process_unread(struct process *p)
{
    if (p->state != CLOSING || p->unread_until_us)
        return;
    p->unread_until_us = clock_mono_us() + (int64_t)PATIENCE_UNREAD_MS * 1000;
}

void process_ask(struct process *p, int signum)
{
    p->wanted = true;
    if (signum)
        p->ask_with = signum;
    if (p->state == RUNNING || p->state == CLOSING)
        enter(p, ASKED);
    else if (p->state == DRAINING)
        enter(p, DONE);
}

void process_drained(struct process *p)
{
    p->drained = true;
    if (p->state == DRAINING)
        enter(p, DONE);
}

void process_close(struct process *p)
{
    if (!p)
        return;
    timer_close(p->patience);
    child_close(p->child);
    free(p);
}
