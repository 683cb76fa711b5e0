/* cmd/cmd-show.c - the show command: lists operations or messages, or shows one of them. */
#include "base/file.h"
#include "cmd/command.h"
#include "loop/signals.h"
#include "loop/timer.h"
#include "report/show.h"

enum { LAST_MAX = 10000 };
enum { FOLLOW_MS = 100 }; /* between two reads of a file that is followed */

struct show_args {
    struct str_list filter;
    int64_t count, last;
    bool messages, raw, follow;
};

static const struct option show_options[] = {
    { .key = 'n',
      .name = "count",
      .arg = "COUNT",
      .type = OPTION_INT,
      .min = 1,
      .max = INT64_MAX,
      .offset = offsetof(struct show_args, count),
      .no_env = true,
      .help = "show at most the first COUNT" },
    { .name = "last",
      .arg = "COUNT",
      .type = OPTION_INT,
      .min = 1,
      .max = LAST_MAX,
      .offset = offsetof(struct show_args, last),
      .no_env = true,
      .help = "show at most the last COUNT" },
    { .key = 'm',
      .name = "messages",
      .type = OPTION_FLAG,
      .offset = offsetof(struct show_args, messages),
      .no_env = true,
      .help = "list messages, and what else is recorded, not operations" },
    { .key = 'f',
      .name = "follow",
      .type = OPTION_FLAG,
      .offset = offsetof(struct show_args, follow),
      .no_env = true,
      .help = "go on while FILE is being recorded, until its footer or Ctrl-C" },
    { .name = "raw",
      .type = OPTION_FLAG,
      .offset = offsetof(struct show_args, raw),
      .no_env = true,
      .help = "write the bytes of messages as they were recorded" },
    { .name = "filter",
      .arg = "FILTER",
      .type = OPTION_LIST,
      .offset = offsetof(struct show_args, filter),
      .no_env = true,
      .help = "the same as FILTER after FILE; may start with '-'" },
    { 0 },
};

static bool check_conflicts(const struct app *app, const struct show_args *a,
                            const struct show_options *wish, struct err *e)
{
    if (a->count && a->last)
        return err_set(e, ERR_USAGE, "'--count' and '--last' contradict each other");
    if (a->raw && app->json)
        return err_set(e, ERR_USAGE, "'--raw' and '--json' contradict each other");
    if (a->raw && a->last)
        return err_set(e, ERR_USAGE, "'--raw' and '--last' contradict each other");
    if (wish->target.number && (wish->filter || a->count || a->last)) {
        err_set(e, ERR_USAGE, "one operation or message is shown whole");
        return err_hint(e, "without ':%llu' a filter or a count chooses among all",
                        (unsigned long long)wish->target.number);
    }
    if (a->follow && a->last)
        return err_set(e, ERR_USAGE, "'--follow' and '--last' contradict each other");
    if (a->follow && (wish->target.number || file_is_stdio(wish->target.path)))
        return err_set(e, ERR_USAGE, "'--follow' needs the name of a file, and no number");
    if (a->raw && app->stdout_is_tty) {
        err_set(e, ERR_USAGE, "raw bytes could make a terminal do anything");
        return err_hint(e, "write them to a file or a pipe, or leave out '--raw'");
    }
    return true;
}

static bool write_stdout(const void *app, struct str bytes, bool *gone, struct err *e)
{
    return app_write_pipe(app, bytes, gone, e);
}

/* Waits for a file to grow, until a signal comes. */
struct follow_timer {
    struct loop *loop;
    struct timer *timer;
    struct signals *signals;
    bool stopped; /* set by a signal */
};

static void on_timer(void *to)
{
    struct follow_timer *f = to;

    loop_stop(f->loop);
}

static void on_signal(void *to, int signum)
{
    struct follow_timer *f = to;

    (void)signum;
    f->stopped = true;
    loop_stop(f->loop);
}

static void follow_begin(struct follow_timer *f)
{
    *f = (struct follow_timer){ .loop = loop_new() };
    f->timer = timer_new(f->loop, on_timer, f);
    f->signals = signals_watch(f->loop, on_signal, f);
}

static void follow_end(struct follow_timer *f)
{
    signals_close(f->signals);
    timer_close(f->timer);
    loop_run(f->loop);
    loop_free(f->loop);
}

static bool follow_wait(void *arg)
{
    struct follow_timer *f = arg;

    timer_set(f->timer, FOLLOW_MS);
    loop_run(f->loop);
    return !f->stopped;
}

static bool show_file(const struct app *app, struct show_options *options, bool follow,
                      struct err *e)
{
    const struct show_output output = { .write = write_stdout,
                                        .arg = app,
                                        .log = app->log,
                                        .json = app->json,
                                        .color = app->color,
                                        .flush_rows = app->stdout_is_tty,
                                        .show_progress = app_shows_progress(app),
                                        .columns = app->columns };
    struct follow_timer timer;
    const struct show_follow wait = { follow_wait, &timer };
    bool ok;

    if (!follow)
        return show_run(app->sys, &output, options, e);
    options->follow = &wait;
    follow_begin(&timer);
    ok = show_run(app->sys, &output, options, e);
    follow_end(&timer);
    options->follow = NULL;
    return ok;
}

static int show_command(const struct app *app, const void *args, const struct operands *in,
                        struct err *e)
{
    const struct show_args *a = args;
    struct show_options wish = { .messages = a->messages || a->raw,
                                 .raw = a->raw,
                                 .count = (uint64_t)a->count,
                                 .last = (uint64_t)a->last };
    struct filter *filter = NULL;
    struct arena arena = { 0 };
    bool ok = show_select_parse(&wish.target, app->sys, in->at[0], &arena, e);

    wish.target.is_message |= a->messages;
    if (ok && (in->count > 1 || a->filter.count))
        ok = show_select_filter(&filter, in->at + 1, in->count - 1, a->filter.at,
                                a->filter.count, e);
    wish.filter = filter;
    ok = ok && check_conflicts(app, a, &wish, e) && show_file(app, &wish, a->follow, e);
    filter_free(filter);
    arena_release(&arena);
    return ok ? EXIT_OK : app_exit_code(e);
}

static const struct command_example show_examples[] = {
    { "mcpreel show session.jsonl", "every operation, one line each" },
    { "mcpreel show session.jsonl 'is:error OR server-dur:>1s'", "what went wrong or slow" },
    { "mcpreel show session.jsonl:3", "all about operation 3" },
    { "mcpreel show session.jsonl:#7", "message 7, laid out" },
    { "mcpreel show -f session.jsonl", "while it is being recorded, until it ends" },
    { "mcpreel show --raw session.jsonl:3 | jq .result", "its messages, byte for byte" },
    { 0 },
};

const struct command cmd_show = {
    .name = "show",
    .summary = "list operations or messages, or show one whole",
    .usage = (const char *const[]){ "[-m] [-n COUNT] [-f] [--json|--raw] FILE [FILTER...]",
                                    "[--json|--raw] FILE:N | FILE:#SEQ", NULL },
    .about =
        "An operation is a request with all that belongs to it: its answer, progress, logs, "
        "questions of the server's, retries, polls of a task, further pages. Each is one line: "
        "number, seconds since the start, who began it, what it was, how it ended, how long it "
        "took, bytes, and its arguments or, if it failed, the error. What belongs to another "
        "operation stands below it. A column tells sessions apart where there are several. "
        "Lines fit the terminal; in a pipe names are not cut.\n\n"
        "FILE:N shows operation N with all its messages as they were spelt, and what it came "
        "to at the end. FILE:#SEQ, or FILE:N with --messages, shows the message with that "
        "number. Long base64 is shortened; --raw writes all of it.\n\n"
        "--follow goes on while FILE is being recorded and shows each operation once it is "
        "over. It ends with the recording, or with 0 at Ctrl-C.\n\n"
        "Words after FILE are a filter: see 'mcpreel help filters'. An operation matches "
        "by what is known of it as a whole, such as the kind and the way of what began it, and "
        "by what any of its messages carries; what belongs to it is shown with it. --messages "
        "asks each message for itself. As a word of its own a term cannot start with '-', "
        "which would be an option: write '!', 'NOT', or "
        "--filter.\n\n"
        "--raw writes one message per line, and not to a terminal; with a filter it looks at "
        "messages, not at operations. Lines come in the order of their numbers unless an "
        "operation stays open while 16384 others pass: then it comes when it ends.",
    .examples = show_examples,
    .options = show_options,
    .args_size = sizeof(struct show_args),
    .operand = "FILE",
    .min = 1,
    .max = COMMAND_ANY,
    .run = show_command,
};
