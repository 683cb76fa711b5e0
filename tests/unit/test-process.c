#include "loop/process.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "loop/poll.h"
#include "loop/timer.h"
#include "test.h"

/* A shell script as the process, and its events. */
struct bench {
    struct loop *loop;
    struct process *process;
    struct child_fds fds;
    struct timer *later;
    int code, signum;
    int exited, done, hurried;
    int busy;    /* how often it was reported */
    int away_ms; /* how long the test blocks after the first event */
    int64_t start_us, exited_us, done_us;
};

static void on_exited(void *to, int code, int signum)
{
    struct bench *b = to;

    assert_int_equal(b->done, 0);
    b->exited++;
    b->exited_us = clock_mono_us();
    b->code = code;
    b->signum = signum;
}

static void on_done(void *to)
{
    struct bench *b = to;

    b->done++;
    b->done_us = clock_mono_us();
    loop_stop(b->loop);
}

static void on_term_sent(void *to)
{
    struct bench *b = to;

    b->hurried++;
}

static bool on_busy(void *to)
{
    struct bench *b = to;

    return b->busy-- > 0;
}

static const struct process_events events = {
    .exited = on_exited, .term_sent = on_term_sent, .busy = on_busy, .done = on_done
};

static void start_command(struct bench *b, char *const *argv)
{
    struct err e = ERR_NONE;
    char go;
    int errnum;

    *b = (struct bench){ .loop = loop_new() };
    if (!process_start(&b->process, b->loop, argv, &b->fds, &events, b, &errnum, &e))
        fail_msg("%s", e.msg);
    /* Scripts print "go" when their traps are set. */
    assert_int_equal(read(b->fds.out, &go, 1), 1);
    b->start_us = clock_mono_us();
}

static void start(struct bench *b, const char *script)
{
    char *argv[] = { "/bin/sh", "-c", (char *)(uintptr_t)script, NULL };

    start_command(b, argv);
}

static void close_stdin(struct bench *b)
{
    close(b->fds.in);
    b->fds.in = -1;
}

static void run(struct bench *b)
{
    loop_run(b->loop);
    assert_int_equal(b->done, 1);
}

/* Returns whether no process is left that could write to the process's stdout. */
static bool all_are_gone(struct bench *b)
{
    struct pollfd wait = { .fd = b->fds.out, .events = POLLIN };
    char rest[64];
    ssize_t n;

    do
        n = poll(&wait, 1, 2000) == 1 ? read(b->fds.out, rest, sizeof rest) : -1;
    while (n > 0);
    return n == 0;
}

static void end(struct bench *b)
{
    process_close(b->process);
    timer_close(b->later);
    loop_free(b->loop);
    close(b->fds.out);
    close(b->fds.err);
    if (b->fds.in >= 0)
        close(b->fds.in);
}

/* Not earlier; how much later is the machine's business, up to a point. */
static void assert_ended_after(const struct bench *b, int64_t from_ms)
{
    int64_t ms = (clock_mono_us() - b->start_us) / 1000;

    if (ms < from_ms || ms > from_ms + 5000)
        fail_msg("took %lld ms, not %lld", (long long)ms, (long long)from_ms);
}

static void a_process_that_exits_is_done_when_its_output_is_read(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "echo; exit 3");
    process_note_drained(b.process);
    assert_int_equal(b.done, 0);
    run(&b);
    assert_int_equal(b.exited, 1);
    assert_int_equal(b.code, 3);
    assert_int_equal(b.signum, 0);
    assert_true(b.done_us - b.exited_us < 250000); /* then pipes are not waited for */
    end(&b);
}

static void a_process_that_exits_with_its_stdin_gets_no_signal(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "trap 'exit 9' TERM; echo; cat >/dev/null; exit 4");
    close_stdin(&b);
    process_expect_exit(b.process);
    process_note_drained(b.process);
    run(&b);
    assert_int_equal(b.code, 4);
    assert_int_equal(b.hurried, 0);
    assert_ended_after(&b, 0);
    end(&b);
}

static void a_process_that_stays_gets_sigterm(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "echo; exec sleep 30");
    close_stdin(&b);
    process_expect_exit(b.process);
    process_note_drained(b.process);
    run(&b);
    assert_int_equal(b.signum, SIGTERM);
    assert_int_equal(b.hurried, 1);
    assert_ended_after(&b, 800);
    end(&b);
}

static void a_process_that_ignores_sigterm_is_killed_with_its_group(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "trap '' TERM; echo; sleep 30 & sleep 30; sleep 30");
    close_stdin(&b);
    process_expect_exit(b.process);
    process_note_drained(b.process);
    run(&b);
    assert_int_equal(b.signum, SIGKILL);
    assert_ended_after(&b, 1300);
    assert_true(all_are_gone(&b));
    end(&b);
}

static void receive_output(void *to)
{
    struct bench *b = to;

    process_note_output(b->process);
}

static void a_process_that_writes_gets_more_time(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "echo; exec sleep 30");
    close_stdin(&b);
    process_expect_exit(b.process);
    process_note_drained(b.process);
    b.later = timer_new(b.loop, receive_output, &b);
    timer_set(b.later, 600);
    run(&b);
    assert_ended_after(&b, 1400);
    end(&b);
}

static void receive_word(void *to, bool can_read, bool can_write)
{
    struct bench *b = to;
    char word[64];

    (void)can_write;
    if (can_read && read(b->fds.out, word, sizeof word) > 0)
        process_note_output(b->process);
    if (b->away_ms)
        poll(NULL, 0, b->away_ms);
    b->away_ms = 0;
}

/* Its output is in the pipe, and it is not its fault that it was not read. */
static void a_process_that_writes_while_we_wait_for_a_processor_gets_more_time(void **state)
{
    struct fd_poll *words;
    struct bench b;

    (void)state;
    start(&b, "echo; for i in 1 2 3 4 5 6 7 8 9; do sleep 0.2; echo; done; exit 6");
    words = fd_poll_open(b.loop, b.fds.out, receive_word, &b);
    fd_poll_set(words, true, false);
    close_stdin(&b);
    process_expect_exit(b.process);
    process_note_drained(b.process);
    b.away_ms = 1500;
    run(&b);
    assert_int_equal(b.code, 6);
    assert_int_equal(b.hurried, 0);
    fd_poll_close(words);
    end(&b);
}

enum { BURNERS = 5, BURN_MS = 300 };

/* This test program, which uses so much processor time before it ends. */
static int use_processor(void)
{
    struct timespec used = { 0 };
    char c;

    putchar('\n');
    fflush(stdout);
    while (read(STDIN_FILENO, &c, 1) > 0)
        ;
    while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < BURN_MS)
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return 5;
}

static void load_processor(pid_t burners[BURNERS])
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    for (int i = 0; i < BURNERS; i++) {
        burners[i] = fork();
        assert_true(burners[i] >= 0);
        if (burners[i] == 0) {
            setsid(); /* where shares are by session, too, each has as much as we and it */
            alarm(60);
            for (;;)
                ;
        }
    }
}

/* On an idle machine this takes 0.3 s, so a longer time is due to the machine. */
static void a_process_without_a_processor_gets_more_time(void **state)
{
    char *argv[] = { "/proc/self/exe", "burn", NULL };
    pid_t burners[BURNERS];
    cpu_set_t all;
    struct bench b;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    load_processor(burners);
    start_command(&b, argv);
    close_stdin(&b);
    process_expect_exit(b.process);
    process_note_drained(b.process);
    run(&b);
    for (int i = 0; i < BURNERS; i++) {
        kill(burners[i], SIGKILL);
        waitpid(burners[i], NULL, 0);
    }
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(b.code, 5);
    assert_int_equal(b.hurried, 0);
    end(&b);
}

static void the_requested_signal_is_sent(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "trap 'exit 7' INT; echo; while :; do sleep 0.05; done");
    process_terminate(b.process, SIGINT);
    process_note_drained(b.process);
    run(&b);
    assert_int_equal(b.code, 7);
    assert_ended_after(&b, 0);
    end(&b);
}

static void the_default_signal_is_sigterm(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "trap 'exit 8' TERM; echo; while :; do sleep 0.05; done");
    process_terminate(b.process, 0);
    process_terminate(b.process, 0);
    process_note_drained(b.process);
    run(&b);
    assert_int_equal(b.code, 8);
    end(&b);
}

/* A descendant keeps its stdout open: the wait for that is short. */
static void pipes_held_by_descendants_are_closed_and_these_killed(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "echo; sleep 30 & exit 0");
    run(&b);
    assert_int_equal(b.code, 0);
    assert_ended_after(&b, 500);
    assert_true(all_are_gone(&b));
    end(&b);
}

static void remaining_output_may_arrive_late(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "echo; exit 0");
    b.busy = 2;
    run(&b);
    assert_ended_after(&b, 1500);
    end(&b);
}

static void terminate_process(void *to)
{
    struct bench *b = to;

    process_terminate(b->process, 0);
}

static void on_request_remaining_output_is_not_waited_for(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "echo; sleep 30 & exit 0");
    b.busy = 1000000;
    b.later = timer_new(b.loop, terminate_process, &b);
    timer_set(b.later, 700);
    run(&b);
    assert_ended_after(&b, 700);
    assert_true(all_are_gone(&b));
    end(&b);
}

static void closing_a_running_process_kills_it(void **state)
{
    struct bench b;

    (void)state;
    start(&b, "trap '' TERM; echo; sleep 30 & sleep 30");
    process_close(b.process);
    b.process = NULL;
    assert_true(all_are_gone(&b));
    assert_int_equal(b.exited + b.done, 0);
    end(&b);
}

static void close_in_done(void *to)
{
    struct bench *b = to;

    process_close(b->process);
    b->process = NULL;
    b->done++;
    loop_stop(b->loop);
}

static void a_process_may_be_closed_in_its_done_event(void **state)
{
    static const struct process_events closing = { .exited = on_exited, .done = close_in_done };
    char *argv[] = { "/bin/true", NULL };
    struct bench b = { .loop = loop_new() };
    struct err e = ERR_NONE;
    int errnum;

    (void)state;
    assert_true(process_start(&b.process, b.loop, argv, &b.fds, &closing, &b, &errnum, &e));
    process_note_drained(b.process);
    run(&b);
    end(&b);
}

static void a_failed_start_reports_the_reason(void **state)
{
    char *argv[] = { "/no/such/program", NULL };
    struct loop *l = loop_new();
    struct process *p = NULL;
    struct child_fds fds;
    struct err e = ERR_NONE;
    int errnum = 0;

    (void)state;
    assert_false(process_start(&p, l, argv, &fds, &events, NULL, &errnum, &e));
    assert_int_equal(errnum, ENOENT);
    assert_int_equal(e.kind, ERR_PEER);
    assert_null(p);
    process_close(p);
    loop_free(l);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_exits_is_done_when_its_output_is_read),
        cmocka_unit_test(a_process_that_exits_with_its_stdin_gets_no_signal),
        cmocka_unit_test(a_process_that_stays_gets_sigterm),
        cmocka_unit_test(a_process_that_ignores_sigterm_is_killed_with_its_group),
        cmocka_unit_test(a_process_that_writes_gets_more_time),
        cmocka_unit_test(a_process_that_writes_while_we_wait_for_a_processor_gets_more_time),
        cmocka_unit_test(a_process_without_a_processor_gets_more_time),
        cmocka_unit_test(the_requested_signal_is_sent),
        cmocka_unit_test(the_default_signal_is_sigterm),
        cmocka_unit_test(pipes_held_by_descendants_are_closed_and_these_killed),
        cmocka_unit_test(remaining_output_may_arrive_late),
        cmocka_unit_test(on_request_remaining_output_is_not_waited_for),
        cmocka_unit_test(closing_a_running_process_kills_it),
        cmocka_unit_test(a_process_may_be_closed_in_its_done_event),
        cmocka_unit_test(a_failed_start_reports_the_reason),
    };

    (void)argv;
    alarm(120); /* a loop that does not end must not hang the tests */
    return argc > 1 ? use_processor() : cmocka_run_group_tests(tests, NULL, NULL);
}
