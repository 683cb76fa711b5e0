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
      .help = "list messages and other records instead of operations" },
    { .key = 'f',
      .name = "follow",
      .type = OPTION_FLAG,
      .offset = offsetof(struct show_args, follow),
      .no_env = true,
      .help = "continue while FILE is being recorded, until its footer or Ctrl-C" },
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
        return err_set(e, ERR_USAGE, "'--count' and '--last' cannot be combined");
    if (a->raw && app->json)
        return err_set(e, ERR_USAGE, "'--raw' and '--json' cannot be combined");
    if (a->raw && a->last)
        return err_set(e, ERR_USAGE, "'--raw' and '--last' cannot be combined");
    if (wish->target.number && (wish->filter || a->count || a->last)) {
        err_set(e, ERR_USAGE, "FILE:N cannot be combined with a filter or a count");
        return err_hint(e, "leave out ':%llu' to choose from all operations",
                        (unsigned long long)wish->target.number);
    }
    if (a->follow && a->last)
        return err_set(e, ERR_USAGE, "'--follow' and '--last' cannot be combined");
    if (a->follow && (wish->target.number || file_is_stdio(wish->target.path)))
        return err_set(e, ERR_USAGE, "'--follow' needs the name of a file, and no number");
    if (a->raw && app->stdout_is_tty) {
        err_set(e, ERR_USAGE, "refusing to write raw bytes to a terminal");
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
    { "mcpreel show session.jsonl 'is:error OR server-dur:>1s'", "failed and slow operations" },
    { "mcpreel show session.jsonl:3", "operation 3 with all its messages" },
    { "mcpreel show session.jsonl:#7", "message 7, indented" },
    { "mcpreel show -f session.jsonl", "while it is being recorded, until it ends" },
    { "mcpreel show --raw session.jsonl:3 | jq .result", "its messages, byte for byte" },
    { 0 },
};

const struct command cmd_show = {
    .name = "show",
    .summary = "list operations or messages, or show one of them",
    .usage = (const char *const[]){ "[-m] [-n COUNT] [-f] [--json|--raw] FILE [FILTER...]",
                                    "[--json|--raw] FILE:N | FILE:#SEQ", NULL },
    .about =
        "An operation is a request with everything that belongs to it: response, progress, log "
        "messages, server requests, retries, polls of a task, further pages. Each is one line: "
        "number, seconds since the start, the side that began it, method and name, outcome, "
        "duration, bytes, and its arguments or, if it failed, the error. Operations that "
        "belong to another one are listed below it. A column shows the session if there are "
        "several. Lines fit the terminal; in a pipe names are not shortened.\n\n"
        "FILE:N shows operation N with all its messages as they were recorded, and its "
        "outcome. FILE:#SEQ, or FILE:N with --messages, shows the message with that number. "
        "Long base64 is shortened; --raw writes all of it.\n\n"
        "--follow continues while FILE is being recorded and shows each operation when it has "
        "ended. It ends with the recording, or with 0 at Ctrl-C.\n\n"
        "Words after FILE are a filter: see 'mcpreel help filters'. A term matches an "
        "operation by its properties as a whole, such as the kind and direction of its first "
        "message, or by the content of any of its messages; everything that belongs to the "
        "operation is shown with it. With --messages the filter is applied to each message. A "
        "word that starts with '-' is an option: write '!' or 'NOT' instead, or use "
        "--filter.\n\n"
        "--raw writes one message per line, and not to a terminal; with a filter it selects "
        "messages, not operations. Lines are in the order of their numbers, except that an "
        "operation that stays open while 16384 others end is listed when it ends.",
    .examples = show_examples,
    .options = show_options,
    .args_size = sizeof(struct show_args),
    .operand = "FILE",
    .min = 1,
    .max = COMMAND_ANY,
    .run = show_command,
};
