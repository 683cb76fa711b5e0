#include "runtime/run-server.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "engine/actions.h"
#include "test.h"

/* An engine that logs its events; on "finish" it finishes, on "timer" it sets
 * one, on "signal" it has one sent. */
struct echo_run {
    struct actions actions;
    struct arena arena;
    int events;
};

static void start_upstream(struct echo_run *p)
{
    actions_start_upstream(&p->actions);
    actions_send_upstream(&p->actions, STR("{\"method\":\"up\"}"));
}

static void echo_step(void *engine, const struct event *ev)
{
    struct echo_run *p = engine;
    struct str method;

    p->events++;
    assert_true(ev->now_us > 0);
    switch (ev->kind) {
    case EVENT_OPENED:
        actions_send(&p->actions, STR("opened"));
        break;
    case EVENT_RECORD:
        if (ev->record->kind == RECORD_RAW) {
            actions_report(&p->actions, LOG_WARN, "raw %.*s", STR_ARG(ev->record->bytes.bytes));
            break;
        }
        assert_int_equal(ev->record->message.dir, TO_SERVER);
        method = json_text(json_get(ev->record->message.msg, STR("method")), &p->arena);
        actions_send(&p->actions, method);
        if (str_eq(method, STR("finish")))
            actions_finish(&p->actions, 7);
        else if (str_eq(method, STR("timer")))
            actions_set_timer(&p->actions, 8, 1000);
        else if (str_eq(method, STR("signal")))
            kill(getpid(), SIGTERM);
        else if (str_eq(method, STR("start")))
            start_upstream(p);
        break;
    case EVENT_TIMER:
        actions_send(&p->actions,
                     arena_printf(&p->arena, "timer %llu", (unsigned long long)ev->timer));
        actions_finish(&p->actions, 4);
        break;
    case EVENT_INPUT_CLOSED:
        actions_send(&p->actions, ev->shutting_down ? STR("closed in a hurry") : STR("closed"));
        actions_finish(&p->actions, 3);
        break;
    case EVENT_UPSTREAM_RECORD:
        actions_send(&p->actions, json_raw(ev->record->message.msg));
        actions_finish(&p->actions, 5);
        break;
    case EVENT_UPSTREAM_CLOSED:
        actions_send(&p->actions, ev->why);
        actions_finish(&p->actions, 6);
        break;
    default:
        fail_msg("nobody is on HTTP");
    }
}

static void add_line(void *to, struct str line)
{
    buf_add(to, line);
}

/* A run of the parrot on pipes in place of our own standard streams. */
struct session {
    int exit_code;
    struct buf out, log;
    int events;
};

static void swap(int fd, int with, int *saved)
{
    *saved = dup(fd);
    assert_true(dup2(with, fd) == fd);
    close(with);
}

static void restore(int fd, int saved)
{
    dup2(saved, fd);
    close(saved);
}

/* `more` keeps the client connected after its input. */
static void play_with(struct session *s, const char *client_input, bool more,
                      char *const *upstream)
{
    int in[2], out[2], saved[2];
    struct log log = { .level = LOG_INFO, .write = add_line, .arg = &s->log };
    struct app app = { .log = &log };
    struct err e = ERR_NONE;
    struct run_server server;
    struct echo_run echo_run = { 0 };
    char text[4096];
    ssize_t n;

    buf_init(&s->out, 1 << 16);
    buf_init(&s->log, 1 << 16);
    assert_true(pipe(in) == 0 && pipe(out) == 0);
    assert_int_equal(write(in[1], client_input, strlen(client_input)), strlen(client_input));
    if (!more)
        close(in[1]);
    swap(0, in[0], &saved[0]);
    swap(1, out[1], &saved[1]);
    run_server_init(&server, &app, echo_step, &echo_run,
                    &(struct peer_target){ .argv = upstream }, NULL);
    actions_init(&echo_run.actions, &server.driver.actions);
    s->exit_code = run_server_run(&server, &e);
    s->events = echo_run.events;
    restore(0, saved[0]);
    restore(1, saved[1]);
    if (more)
        close(in[1]);
    while ((n = read(out[0], text, sizeof text)) > 0)
        buf_add(&s->out, str_n(text, (size_t)n));
    close(out[0]);
    assert_int_equal(e.kind, ERR_OK);
    actions_release(&echo_run.actions);
    arena_release(&echo_run.arena);
}

static void play(struct session *s, const char *client_input, bool more)
{
    play_with(s, client_input, more, NULL);
}

static void end(struct session *s)
{
    buf_release(&s->out);
    buf_release(&s->log);
}

static void lines_become_events_and_actions_become_lines(void **state)
{
    struct session s;

    (void)state;
    play(&s, "{\"method\":\"a\"}\n\n{\"method\":\"b\"}\nnonsense\n[{\"method\":\"c\"}]", false);
    assert_str(buf_str(&s.out), STR("opened\na\nb\nc\nclosed\n"));
    assert_str(buf_str(&s.log), STR("mcpreel: warning: raw nonsense\n"));
    assert_int_equal(s.exit_code, 3);
    end(&s);
}

static void the_engine_decides_when_the_run_ends(void **state)
{
    struct session s;

    (void)state;
    play(&s, "{\"method\":\"finish\"}\n{\"method\":\"unheard\"}\n", true);
    assert_str(buf_str(&s.out), STR("opened\nfinish\n"));
    assert_int_equal(s.exit_code, 7);
    end(&s);
}

static void a_timer_expires(void **state)
{
    struct session s;

    (void)state;
    play(&s, "{\"method\":\"timer\"}\n", true);
    assert_str(buf_str(&s.out), STR("opened\ntimer\ntimer 8\n"));
    assert_int_equal(s.exit_code, 4);
    end(&s);
}

static void a_signal_becomes_input_closed_with_shutting_down(void **state)
{
    struct session s;

    (void)state;
    play(&s, "{\"method\":\"signal\"}\n", true);
    assert_str(buf_str(&s.out), STR("opened\nsignal\nclosed in a hurry\n"));
    assert_int_equal(s.exit_code, 3);
    end(&s);
}

static void the_upstream_is_started_by_an_action(void **state)
{
    static char *const cat[] = { "cat", NULL }, *const none[] = { "./no-such-program", NULL };
    struct session s;

    (void)state;
    play_with(&s, "{\"method\":\"start\"}\n", true, cat);
    assert_str(buf_str(&s.out), STR("opened\nstart\n{\"method\":\"up\"}\n"));
    assert_int_equal(s.exit_code, 5);
    end(&s);
    play_with(&s, "{\"method\":\"start\"}\n", true, none);
    assert_non_null(strstr(buf_z(&s.out), "'./no-such-program'"));
    assert_int_equal(s.exit_code, 6);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_become_events_and_actions_become_lines),
        cmocka_unit_test(the_engine_decides_when_the_run_ends),
        cmocka_unit_test(a_timer_expires),
        cmocka_unit_test(a_signal_becomes_input_closed_with_shutting_down),
        cmocka_unit_test(the_upstream_is_started_by_an_action),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
