/* tests/unit/fake-cli.h - a small command table for tests of dispatch, options and help.
 *
 * Its command "tape" has every kind of option and says what it was given. The
 * world it runs in is made of buffers. */
#ifndef FAKE_CLI_H
#define FAKE_CLI_H

#include <errno.h>
#include <inttypes.h>

#include "base/buf.h"
#include "cmd/command.h"
#include "cmd/dispatch.h"

struct fake_cli_args {
    const char *output, *label;
    struct str_list tags, rules;
    bool force, redact, odd;
    int match, level;
    int64_t port, flush_us;
    uint64_t limit;
    int64_t speed;
};

/* "half" is 1, "xN" is 2 N. */
static inline bool fake_cli_speed(void *field, const char *text, struct err *e)
{
    if (strcmp(text, "half") == 0)
        *(int64_t *)field = 1;
    else if (text[0] == 'x' && text[1] >= '1' && text[1] <= '9' && !text[2])
        *(int64_t *)field = 2 * (text[1] - '0');
    else
        return err_set(e, ERR_USAGE, "'%s' is no speed", text);
    return true;
}

static const struct option_choice fake_cli_matches[] = {
    { "sequential", 0, false }, { "by-request", 3, false }, { "method_params", 3, true }, { 0 }
};

static const struct option_choice fake_cli_speeds[] = { { "half", 1, false }, { 0 } };

#define FAKE_CLI_FIELD(field) .offset = offsetof(struct fake_cli_args, field)

static const struct option fake_cli_options[] = {
    { FAKE_CLI_FIELD(output), .key = 'o', .name = "output", .aliases = { "out", "cassette" },
      .arg = "FILE", .type = OPTION_PATH, .thoughtjack_env = true,
      .help = "write the tape to FILE" },
    { FAKE_CLI_FIELD(label), .name = "label", .arg = "NAME", .type = OPTION_STRING,
      .help = "what it's called: [any] text, even one so long that its help has to go on"
              " in a second line" },
    { FAKE_CLI_FIELD(tags), .name = "tags", .arg = "TAG", .type = OPTION_LIST, .split = true,
      .help = "mark it" },
    { FAKE_CLI_FIELD(rules), .key = 'r', .name = "rule", .arg = "REGEX", .type = OPTION_LIST,
      .preset = "a,b", .help = "hide what matches" },
    { FAKE_CLI_FIELD(force), .key = 'f', .name = "force", .type = OPTION_FLAG,
      .group = "Safety", .help = "replace what is there" },
    { FAKE_CLI_FIELD(redact), .name = "redact", .type = OPTION_FLAG, .group = "Safety",
      .negatable = true, .preset = "true", .help = "hide secrets" },
    { FAKE_CLI_FIELD(match), .name = "match", .arg = "HOW", .type = OPTION_CHOICE,
      .choices = fake_cli_matches, .group = "Replay", .help = "how to match" },
    { FAKE_CLI_FIELD(port), .key = 'p', .name = "port", .arg = "N", .type = OPTION_INT,
      .min = 1, .max = 65535, .preset = "5555", .group = "Replay", .help = "listen there" },
    { FAKE_CLI_FIELD(flush_us), .name = "flush-interval-of-the-file", .arg = "TIME",
      .type = OPTION_DURATION, .preset = "1s", .group = "Replay", .help = "sync this often" },
    { FAKE_CLI_FIELD(limit), .name = "limit", .arg = "SIZE", .type = OPTION_SIZE,
      .preset = "64MB", .group = "Replay", .help = "largest message" },
    { FAKE_CLI_FIELD(speed), .name = "speed", .arg = "SPEED", .type = OPTION_CUSTOM,
      .parse = fake_cli_speed, .choices = fake_cli_speeds, .group = "Replay",
      .help = "how fast" },
    { FAKE_CLI_FIELD(level), .key = 'l', .name = "level", .type = OPTION_COUNT,
      .group = "Replay", .help = "one up" },
    { FAKE_CLI_FIELD(odd), .name = "odd", .type = OPTION_FLAG, .hidden = true, .no_env = true,
      .group = "Replay", .help = "nobody knows" },
    { 0 },
};

static inline void fake_cli_add_text(struct buf *to, const char *name, const char *text)
{
    if (text)
        buf_printf(to, "%s=%s ", name, text);
}

static inline void fake_cli_add_number(struct buf *to, const char *name, int64_t n,
                                       int64_t usual)
{
    if (n != usual)
        buf_printf(to, "%s=%" PRId64 " ", name, n);
}

static inline void fake_cli_add_list(struct buf *to, const char *name, struct str_list list)
{
    for (size_t i = 0; i < list.count; i++)
        buf_printf(to, "%s=%s ", name, list.at[i]);
}

/* Everything that is not as it is without any option. */
static inline void fake_cli_dump(struct buf *to, const struct fake_cli_args *a,
                                 const struct operands *in)
{
    fake_cli_add_text(to, "output", a->output);
    fake_cli_add_text(to, "label", a->label);
    fake_cli_add_list(to, "tag", a->tags);
    if (a->rules.count != 1 || strcmp(a->rules.at[0], "a,b") != 0)
        fake_cli_add_list(to, "rule", a->rules);
    if (a->force)
        buf_printf(to, "force ");
    if (!a->redact)
        buf_printf(to, "bare ");
    if (a->odd)
        buf_printf(to, "odd ");
    fake_cli_add_number(to, "match", a->match, -1);
    fake_cli_add_number(to, "level", a->level, 0);
    fake_cli_add_number(to, "port", a->port, 5555);
    fake_cli_add_number(to, "flush", a->flush_us, 1000000);
    fake_cli_add_number(to, "limit", (int64_t)a->limit, 64000000);
    fake_cli_add_number(to, "speed", a->speed, 0);
    for (size_t i = 0; i < in->count; i++)
        buf_printf(to, "<%s>", in->at[i]);
    for (size_t i = 0; i < in->server_count; i++)
        buf_printf(to, "%s%s", i ? " " : "-- ", in->server[i]);
}

static inline int fake_cli_record_run(const struct app *app, const void *args,
                                      const struct operands *in, struct err *e)
{
    const struct fake_cli_args *a = args;
    struct buf out;
    bool ok;

    if (a->label && strcmp(a->label, "findings") == 0)
        return EXIT_FINDINGS;
    if (a->label && strcmp(a->label, "trouble") == 0) {
        err_set(e, ERR_PEER, "cannot start 'it'");
        err_hint(e, "say \"please\"\ntwice");
        return app_exit_code(e);
    }
    buf_init(&out, 4096);
    buf_printf(&out, "%s%s%s", app->json ? "json " : "", app->color ? "color " : "",
               app->quiet ? "quiet " : "");
    if (app->verbose)
        buf_printf(&out, "verbose=%d ", app->verbose);
    fake_cli_dump(&out, a, in);
    buf_add_ch(&out, '\n');
    log_printf(app->log, LOG_INFO, "taping");
    log_printf(app->log, LOG_DEBUG, "as %s", app->argv0);
    ok = app_write(app, buf_str(&out), e);
    buf_release(&out);
    return ok ? EXIT_OK : app_exit_code(e);
}

static const struct command fake_cli_record = {
    .name = "record",
    .summary = "tape what's said [all: of it]",
    .usage = (const char *const[]){ "[options] [FILE...]", "[options] -- COMMAND", NULL },
    .about = "Tapes what is said. This text is long enough to need more than the one line of"
             " eighty columns.\n\n"
             "  a table\n"
             "  stays   as it is",
    .examples =
        (const struct command_example[]){
            { "mcpreel record -o a -- sh", "to tape a shell" },
            { 0 },
        },
    .options = fake_cli_options,
    .args_size = sizeof(struct fake_cli_args),
    .operand = "FILE",
    .max = 2,
    .server = true,
    .run = fake_cli_record_run,
};

static inline int fake_cli_plain_run(const struct app *app, const void *args,
                                     const struct operands *in, struct err *e)
{
    (void)args;
    return app_write(app, str_z(in->at[0]), e) ? EXIT_OK : app_exit_code(e);
}

struct fake_cli_plain_args {
    bool verbose;
    const char *label;
};

/* Has its own meaning of a global option, and an option that another has too. */
static const struct option fake_cli_plain_options[] = {
    { .key = 'v',
      .name = "verbose",
      .type = OPTION_FLAG,
      .offset = offsetof(struct fake_cli_plain_args, verbose),
      .help = "print bodies" },
    { .name = "label",
      .arg = "NAME",
      .type = OPTION_STRING,
      .offset = offsetof(struct fake_cli_plain_args, label),
      .help = "what it is called" },
    { 0 },
};

static const struct command fake_cli_plain = {
    .name = "plain",
    .summary = "print a file's name",
    .usage = (const char *const[]){ "FILE", NULL },
    .about = "Prints the name of a file.",
    .options = fake_cli_plain_options,
    .args_size = sizeof(struct fake_cli_plain_args),
    .operand = "FILE",
    .min = 1,
    .max = 1,
    .run = fake_cli_plain_run,
};

static const struct command fake_cli_hidden = {
    .name = "recorder",
    .summary = "not shown",
    .usage = (const char *const[]){ "", NULL },
    .about = "Not shown.",
    .hidden = true,
    .run = fake_cli_plain_run,
};

/* Takes nothing but a server. */
static const struct command fake_cli_start = {
    .name = "start",
    .summary = "start a server",
    .usage = (const char *const[]){ "-- COMMAND", NULL },
    .about = "Starts a server.",
    .server = true,
    .run = fake_cli_plain_run,
};

static const struct command *const fake_cli_commands[] = {
    &fake_cli_record, &fake_cli_plain, &fake_cli_start, &fake_cli_hidden,
    &cmd_completion,  &cmd_help,       &cmd_version,    NULL,
};

/* The world: standard output and error as buffers. */
struct fake_cli {
    struct sys sys;
    struct buf out, err;
    bool out_fails;
    struct dispatch dispatch;
};

static inline ssize_t fake_cli_write(const struct sys *s, int fd, const void *from, size_t n)
{
    struct fake_cli *f = (struct fake_cli *)(uintptr_t)s;

    BUG_IF(fd != 1);
    if (f->out_fails)
        return errno = ENOSPC, -1;
    buf_add(&f->out, str_n(from, n));
    return (ssize_t)n;
}

static inline void fake_cli_log(void *to, struct str line)
{
    buf_add(to, line);
}

static inline void fake_cli_init(struct fake_cli *f, char *const *env)
{
    *f = (struct fake_cli){ .sys = { .write = fake_cli_write } };
    buf_init(&f->out, 1 << 20);
    buf_init(&f->err, 1 << 20);
    f->dispatch = (struct dispatch){
        .sys = &f->sys,
        .commands = fake_cli_commands,
        .env = env,
        .log = { .write = fake_cli_log, .arg = &f->err },
    };
}

static inline void fake_cli_release(struct fake_cli *f)
{
    buf_release(&f->out);
    buf_release(&f->err);
}

enum { FAKE_CLI_WORDS = 16 };

/* Cuts a line at blanks into words, as a shell would without quotes; "~" is the
 * empty word. */
static inline int fake_cli_split(char *line, char *argv[FAKE_CLI_WORDS + 1])
{
    int argc = 0;

    for (line += strspn(line, " "); *line; line += strspn(line, " ")) {
        BUG_IF(argc == FAKE_CLI_WORDS);
        argv[argc++] = strcmp(line, "~") == 0 || strncmp(line, "~ ", 2) == 0 ? line + 1 : line;
        line += strcspn(line, " ");
        if (*line)
            *line++ = '\0';
    }
    argv[argc] = NULL;
    return argc;
}

static inline int fake_cli_run(struct fake_cli *f, const char *line)
{
    char words[512], *argv[FAKE_CLI_WORDS + 1];

    BUG_IF(strlen(line) >= sizeof words);
    memcpy(words, line, strlen(line) + 1);
    buf_clear(&f->out);
    buf_clear(&f->err);
    return dispatch_run(&f->dispatch, fake_cli_split(words, argv), argv);
}

#endif
