/* cmd/cmd-show.c - what happened, line by line, or one thing whole. */
#include "base/file.h"
#include "cmd/commands.h"
#include "cmd/show-run.h"

enum { LAST_MAX = 10000 };

struct show_args {
    struct option_list filter;
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
      .at = offsetof(struct show_args, count),
      .line_only = true,
      .help = "show at most the first COUNT" },
    { .name = "last",
      .arg = "COUNT",
      .type = OPTION_INT,
      .min = 1,
      .max = LAST_MAX,
      .at = offsetof(struct show_args, last),
      .line_only = true,
      .help = "show at most the last COUNT" },
    { .key = 'm',
      .name = "messages",
      .type = OPTION_FLAG,
      .at = offsetof(struct show_args, messages),
      .line_only = true,
      .help = "list messages, and what else is recorded, not operations" },
    { .key = 'f',
      .name = "follow",
      .type = OPTION_FLAG,
      .at = offsetof(struct show_args, follow),
      .line_only = true,
      .help = "go on while FILE is being recorded, until its footer or Ctrl-C" },
    { .name = "raw",
      .type = OPTION_FLAG,
      .at = offsetof(struct show_args, raw),
      .line_only = true,
      .help = "write the bytes of messages as they were recorded" },
    { .name = "filter",
      .arg = "FILTER",
      .type = OPTION_LIST,
      .at = offsetof(struct show_args, filter),
      .line_only = true,
      .help = "the same as FILTER after FILE; may start with '-'" },
    { 0 },
};

static bool check(const struct app *app, const struct show_args *a,
                  const struct show_wish *wish, struct err *e)
{
    if (a->count && a->last)
        return err_set(e, ERR_USAGE, "'--count' and '--last' contradict each other");
    if (a->raw && app->json)
        return err_set(e, ERR_USAGE, "'--raw' and '--json' contradict each other");
    if (a->raw && a->last)
        return err_set(e, ERR_USAGE, "'--raw' and '--last' contradict each other");
    if (wish->pick.number && (wish->filter || a->count || a->last)) {
        err_set(e, ERR_USAGE, "one operation or message is shown whole");
        return err_hint(e, "without ':%llu' a filter or a count chooses among all",
                        (unsigned long long)wish->pick.number);
    }
    if (a->follow && a->last)
        return err_set(e, ERR_USAGE, "'--follow' and '--last' contradict each other");
    if (a->follow && (wish->pick.number || file_is_standard(wish->pick.path)))
        return err_set(e, ERR_USAGE, "'--follow' needs the name of a file, and no number");
    if (a->raw && app->tty) {
        err_set(e, ERR_USAGE, "raw bytes could make a terminal do anything");
        return err_hint(e, "write them to a file or a pipe, or leave out '--raw'");
    }
    return true;
}

static int show_command(const struct app *app, const void *args, const struct operands *in,
                        struct err *e)
{
    const struct show_args *a = args;
    struct show_wish wish = { .messages = a->messages || a->raw,
                              .raw = a->raw,
                              .follow = a->follow,
                              .count = (uint64_t)a->count,
                              .last = (uint64_t)a->last };
    struct filter *filter = NULL;
    struct arena arena = { 0 };
    bool ok = show_pick_file(&wish.pick, app->sys, in->at[0], &arena, e);

    wish.pick.message |= a->messages;
    if (ok && (in->count > 1 || a->filter.count))
        ok = show_pick_filter(&filter, in->at + 1, in->count - 1, &a->filter, e);
    wish.filter = filter;
    ok = ok && check(app, a, &wish, e) && show_run(app, &wish, e);
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
        "number. Long base64 is shortened; --raw writes it whole.\n\n"
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
