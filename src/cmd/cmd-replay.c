/* cmd/cmd-replay.c - serve a recording as if the server were there. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "engine/mock.h"
#include "format/reader.h"
#include "loop/signals.h"
#include "loop/timer.h"
#include "trace/intake.h"
#include "trace/limits.h"
#include "transport/stdio.h"

enum on_unmatched { ON_UNMATCHED_ERROR, ON_UNMATCHED_WARN };

struct replay_args {
    const char *recording;
    int match, on_unmatched;
};

static const struct option_choice match_choices[] = {
    { .name = "sequential", .value = MATCH_SEQUENTIAL },
    { .name = "by-request", .value = MATCH_BY_REQUEST },
    { .name = "method_params", .value = MATCH_BY_REQUEST, .also = true },
    { 0 },
};

static const struct option_choice on_unmatched_choices[] = {
    { .name = "error", .value = ON_UNMATCHED_ERROR },
    { .name = "warn", .value = ON_UNMATCHED_WARN },
    { 0 },
};

static const struct option replay_options[] = {
    { .name = "match",
      .also = { "match-mode" },
      .arg = "MODE",
      .type = OPTION_CHOICE,
      .choices = match_choices,
      .preset = "sequential",
      .seed = true,
      .at = offsetof(struct replay_args, match),
      .help = "how a live request finds its recorded one" },
    { .name = "on-unmatched",
      .arg = "ACTION",
      .type = OPTION_CHOICE,
      .choices = on_unmatched_choices,
      .preset = "error",
      .seed = true,
      .at = offsetof(struct replay_args, on_unmatched),
      .help = "after a request that was not recorded: end with exit code 1, or go on" },
    { .key = 'r',
      .name = "recording",
      .arg = "FILE",
      .type = OPTION_PATH,
      .seed = true,
      .at = offsetof(struct replay_args, recording),
      .help = "the recording, instead of FILE" },
    { 0 },
};

/* One replay: the client's lines go through the mock, its wishes go back. */
struct replay_session {
    struct sink records;        /* what the client sends, one record at a time */
    struct action_sink actions; /* what the mock wants done */
    const struct app *app;
    struct loop *loop;
    struct stdio *client;
    struct intake intake;
    struct mock mock;
    struct alarm *alarms;
    bool asked_to_end; /* by a signal */
    int exit_code;
};

/* A timer the mock has set. */
struct alarm {
    struct alarm *next;
    struct replay_session *session;
    struct timer *timer;
    uint64_t name;
};

static struct replay_session *session_of_actions(struct action_sink *a)
{
    return (struct replay_session *)((char *)a - offsetof(struct replay_session, actions));
}

static void step(struct replay_session *s, enum event_kind kind, const struct record *r)
{
    struct event ev = { .kind = kind, .now_us = clock_mono_us(), .record = r };

    mock_step(&s->mock, &ev);
}

static void remove_alarm(struct alarm *gone)
{
    struct alarm **at = &gone->session->alarms;

    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    timer_close(gone->timer);
    free(gone);
}

static void ring(void *to)
{
    struct alarm *a = to;
    struct replay_session *s = a->session;
    struct event ev = { .kind = EVENT_TIMER, .now_us = clock_mono_us(), .timer = a->name };

    remove_alarm(a);
    mock_step(&s->mock, &ev);
}

static void set_alarm(struct replay_session *s, uint64_t name, int64_t delay_us)
{
    struct alarm *a = mem_new(struct alarm);

    a->session = s;
    a->name = name;
    a->timer = timer_new(s->loop, ring, a);
    a->next = s->alarms;
    s->alarms = a;
    timer_set(a->timer, (uint64_t)(delay_us + 999) / 1000);
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    (void)e;
    step((struct replay_session *)self, EVENT_RECORD, r);
    return true;
}

static void stop(void *to)
{
    struct replay_session *s = to;

    loop_stop(s->loop);
}

static void put_action(struct action_sink *self, const struct action *a)
{
    struct replay_session *s = session_of_actions(self);

    switch (a->kind) {
    case ACTION_SEND:
        stdio_send(s->client, a->text);
        break;
    case ACTION_REPORT:
        log_say(s->app->log, a->level, "%.*s", STR_ARG(a->text));
        break;
    case ACTION_SET_TIMER:
        set_alarm(s, a->timer, a->delay_us);
        break;
    case ACTION_FINISH:
        s->exit_code = a->exit_code;
        stdio_finish(s->client, stop, s);
        break;
    }
}

static void on_line(void *to, struct str line)
{
    struct replay_session *s = to;
    struct err e = ERR_NONE;

    if (!intake_line(&s->intake, TO_SERVER, line, &s->records, &e))
        BUG("a session takes every record");
}

static void on_too_long(void *to, uint64_t bytes)
{
    struct replay_session *s = to;

    log_say(s->app->log, LOG_WARN, "the client sent a line of %llu bytes; it was ignored",
            (unsigned long long)bytes);
}

static void on_closed(void *to)
{
    step(to, EVENT_CLOSED, NULL);
}

static const struct stdio_events client_events = {
    .line = on_line,
    .too_long = on_too_long,
    .closed = on_closed,
};

static void on_signal(void *to, int signum)
{
    struct replay_session *s = to;

    (void)signum; /* being ended by its client is how a stdio server ends */
    if (s->asked_to_end)
        stop(s); /* whoever asks twice does not want to read what is left */
    s->asked_to_end = true;
    step(s, EVENT_CLOSED, NULL);
}

static bool serve(struct replay_session *s, struct err *e)
{
    struct signals *signals;

    s->loop = loop_new();
    if (stdio_open(&s->client, s->loop, 0, 1, LIMIT_MESSAGE, &client_events, s, e)) {
        signals = signals_watch(s->loop, on_signal, s);
        step(s, EVENT_OPENED, NULL);
        loop_run(s->loop);
        signals_close(signals);
    }
    while (s->alarms)
        remove_alarm(s->alarms);
    stdio_close(s->client);
    loop_free(s->loop);
    return s->client != NULL;
}

static int replay_run(const struct app *app, const void *options, const struct operands *in,
                      struct err *e)
{
    const struct replay_args *args = options;
    const char *path = args->recording ? args->recording : in->count ? in->at[0] : NULL;
    struct replay_session s = { .records = { put_record }, .actions = { put_action } };
    struct mock_options mock = { .match = (enum match_mode)args->match,
                                 .finish_on_miss = args->on_unmatched == ON_UNMATCHED_ERROR };
    struct script script;
    bool ok;

    if (!path || (args->recording && in->count)) {
        err_set(e, ERR_USAGE, path ? "two recordings to replay" : "no recording to replay");
        err_hint(e, "name one: mcpreel replay session.jsonl");
        return EXIT_USAGE;
    }
    s.app = app;
    script_init(&script);
    ok = reader_pour(app->sys, path, app->log, &script.sink, e);
    script_finish(&script);
    if (ok) {
        intake_init(&s.intake);
        mock_init(&s.mock, &script, &mock, &s.actions);
        ok = serve(&s, e);
        mock_release(&s.mock);
        intake_release(&s.intake);
    }
    script_release(&script);
    return ok ? s.exit_code : (int)app_exit_code(e);
}

static const char *const replay_usage[] = { "[options] FILE", NULL };

static const struct command_example replay_examples[] = {
    { "mcpreel replay session.jsonl", "a stdio server that gives the recorded answers" },
    { "mcpreel replay --match by-request session.jsonl",
      "answer by what is asked, in any order" },
    { 0 },
};

const struct command cmd_replay = {
    .name = "replay",
    .summary = "serve a recording as a mock server",
    .usage = replay_usage,
    .about =
        "Speaks MCP on standard input and output and answers every request as the recorded "
        "server did. Ids and progress tokens are the live client's; notifications and requests "
        "of the server's come at their place. Contacts nothing and starts nothing.\n\n"
        "A request that was not recorded is answered with an error that names the nearest "
        "recorded one and what differs.",
    .examples = replay_examples,
    .options = replay_options,
    .args_size = sizeof(struct replay_args),
    .operand = "FILE",
    .min = 0,
    .max = 1,
    .run = replay_run,
};
