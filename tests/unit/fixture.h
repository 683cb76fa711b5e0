/* tests/unit/fixture.h - a small program on the real frame, for tests of the frame.
 *
 * Its command "tape" has every kind of option and says what it was given. The
 * world it runs in is made of buffers. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <errno.h>
#include <inttypes.h>

#include "base/buf.h"
#include "cmd/commands.h"
#include "cmd/dispatch.h"

struct fixture_args {
    const char *output, *label;
    struct option_list tags, rules;
    bool force, redact, odd;
    int match, level;
    int64_t port, flush_us;
    uint64_t limit;
    int64_t speed;
};

/* "half" is 1, "xN" is 2 N. */
static inline bool fixture_speed(void *field, const char *text, struct err *e)
{
    if (strcmp(text, "half") == 0)
        *(int64_t *)field = 1;
    else if (text[0] == 'x' && text[1] >= '1' && text[1] <= '9' && !text[2])
        *(int64_t *)field = 2 * (text[1] - '0');
    else
        return err_set(e, ERR_USAGE, "'%s' is no speed", text);
    return true;
}

static const struct option_choice fixture_matches[] = {
    { "sequential", 0, false }, { "by-request", 3, false }, { "method_params", 3, true }, { 0 }
};

static const struct option_choice fixture_speeds[] = { { "half", 1, false }, { 0 } };

#define FIXTURE_AT(field) .at = offsetof(struct fixture_args, field)

static const struct option fixture_options[] = {
    { FIXTURE_AT(output), .key = 'o', .name = "output", .also = { "out", "cassette" },
      .arg = "FILE", .type = OPTION_PATH, .seed = true, .help = "write the tape to FILE" },
    { FIXTURE_AT(label), .name = "label", .arg = "NAME", .type = OPTION_STRING,
      .help = "what it's called: [any] text, even one so long that its help has to go on"
              " in a second line" },
    { FIXTURE_AT(tags), .name = "tags", .arg = "TAG", .type = OPTION_LIST, .split = true,
      .help = "mark it" },
    { FIXTURE_AT(rules), .key = 'r', .name = "rule", .arg = "REGEX", .type = OPTION_LIST,
      .preset = "a,b", .help = "hide what matches" },
    { FIXTURE_AT(force), .key = 'f', .name = "force", .type = OPTION_FLAG, .group = "Safety",
      .help = "replace what is there" },
    { FIXTURE_AT(redact), .name = "redact", .type = OPTION_FLAG, .group = "Safety",
      .negatable = true, .preset = "true", .help = "hide secrets" },
    { FIXTURE_AT(match), .name = "match", .arg = "HOW", .type = OPTION_CHOICE,
      .choices = fixture_matches, .group = "Replay", .help = "how to match" },
    { FIXTURE_AT(port), .key = 'p', .name = "port", .arg = "N", .type = OPTION_INT, .min = 1,
      .max = 65535, .preset = "5555", .group = "Replay", .help = "listen there" },
    { FIXTURE_AT(flush_us), .name = "flush-interval-of-the-file", .arg = "TIME",
      .type = OPTION_DURATION, .preset = "1s", .group = "Replay", .help = "sync this often" },
    { FIXTURE_AT(limit), .name = "limit", .arg = "SIZE", .type = OPTION_SIZE, .preset = "64MB",
      .group = "Replay", .help = "largest message" },
    { FIXTURE_AT(speed), .name = "speed", .arg = "SPEED", .type = OPTION_CUSTOM,
      .parse = fixture_speed, .choices = fixture_speeds, .group = "Replay",
      .help = "how fast" },
    { FIXTURE_AT(level), .key = 'l', .name = "level", .type = OPTION_COUNT, .group = "Replay",
      .help = "one up" },
    { FIXTURE_AT(odd), .name = "odd", .type = OPTION_FLAG, .hidden = true, .line_only = true,
      .group = "Replay", .help = "nobody knows" },
    { 0 },
};

static inline void fixture_add_text(struct buf *to, const char *name, const char *text)
{
    if (text)
        buf_printf(to, "%s=%s ", name, text);
}

static inline void fixture_add_number(struct buf *to, const char *name, int64_t n,
                                      int64_t usual)
{
    if (n != usual)
        buf_printf(to, "%s=%" PRId64 " ", name, n);
}

static inline void fixture_add_list(struct buf *to, const char *name, struct option_list list)
{
    for (size_t i = 0; i < list.count; i++)
        buf_printf(to, "%s=%s ", name, list.at[i]);
}

/* Everything that is not as it is without any option. */
static inline void fixture_dump(struct buf *to, const struct fixture_args *a,
                                const struct operands *in)
{
    fixture_add_text(to, "output", a->output);
    fixture_add_text(to, "label", a->label);
    fixture_add_list(to, "tag", a->tags);
    if (a->rules.count != 1 || strcmp(a->rules.at[0], "a,b") != 0)
        fixture_add_list(to, "rule", a->rules);
    if (a->force)
        buf_printf(to, "force ");
    if (!a->redact)
        buf_printf(to, "bare ");
    if (a->odd)
        buf_printf(to, "odd ");
    fixture_add_number(to, "match", a->match, -1);
    fixture_add_number(to, "level", a->level, 0);
    fixture_add_number(to, "port", a->port, 5555);
    fixture_add_number(to, "flush", a->flush_us, 1000000);
    fixture_add_number(to, "limit", (int64_t)a->limit, 64000000);
    fixture_add_number(to, "speed", a->speed, 0);
    for (size_t i = 0; i < in->count; i++)
        buf_printf(to, "<%s>", in->at[i]);
    for (size_t i = 0; i < in->server_count; i++)
        buf_printf(to, "%s%s", i ? " " : "-- ", in->server[i]);
}

static inline int fixture_tape_run(const struct app *app, const void *args,
                                   const struct operands *in, struct err *e)
{
    const struct fixture_args *a = args;
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
    fixture_dump(&out, a, in);
    buf_add_ch(&out, '\n');
    log_say(app->log, LOG_INFO, "taping");
    log_say(app->log, LOG_DEBUG, "as %s", app->self);
    ok = app_write(app, buf_str(&out), e);
    buf_release(&out);
    return ok ? EXIT_OK : app_exit_code(e);
}

static const struct command fixture_tape = {
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
    .options = fixture_options,
    .args_size = sizeof(struct fixture_args),
    .operand = "FILE",
    .max = 2,
    .server = true,
    .run = fixture_tape_run,
};

static inline int fixture_plain_run(const struct app *app, const void *args,
                                    const struct operands *in, struct err *e)
{
    (void)args;
    return app_write(app, str_z(in->at[0]), e) ? EXIT_OK : app_exit_code(e);
}

struct fixture_plain_args {
    bool verbose;
    const char *label;
};

/* Has its own meaning of a global option, and an option that another has too. */
static const struct option fixture_plain_options[] = {
    { .key = 'v',
      .name = "verbose",
      .type = OPTION_FLAG,
      .at = offsetof(struct fixture_plain_args, verbose),
      .help = "print bodies" },
    { .name = "label",
      .arg = "NAME",
      .type = OPTION_STRING,
      .at = offsetof(struct fixture_plain_args, label),
      .help = "what it is called" },
    { 0 },
};

static const struct command fixture_plain = {
    .name = "plain",
    .summary = "print a file's name",
    .usage = (const char *const[]){ "FILE", NULL },
    .about = "Prints the name of a file.",
    .options = fixture_plain_options,
    .args_size = sizeof(struct fixture_plain_args),
    .operand = "FILE",
    .min = 1,
    .max = 1,
    .run = fixture_plain_run,
};

static const struct command fixture_secret = {
    .name = "recorder",
    .summary = "not shown",
    .usage = (const char *const[]){ "", NULL },
    .about = "Not shown.",
    .hidden = true,
    .run = fixture_plain_run,
};

/* Takes nothing but a server. */
static const struct command fixture_start = {
    .name = "start",
    .summary = "start a server",
    .usage = (const char *const[]){ "-- COMMAND", NULL },
    .about = "Starts a server.",
    .server = true,
    .run = fixture_plain_run,
};

static const struct command *const fixture_commands[] = {
    &fixture_tape,   &fixture_plain, &fixture_start, &fixture_secret,
    &cmd_completion, &cmd_help,      &cmd_version,   NULL,
};

/* The world: standard output and error as buffers. */
struct fixture {
    struct sys sys;
    struct buf out, err;
    bool out_fails;
    struct dispatch dispatch;
};

static inline ssize_t fixture_write(const struct sys *s, int fd, const void *from, size_t n)
{
    struct fixture *f = (struct fixture *)(uintptr_t)s;

    BUG_IF(fd != 1);
    if (f->out_fails)
        return errno = ENOSPC, -1;
    buf_add(&f->out, str_n(from, n));
    return (ssize_t)n;
}

static inline void fixture_say(void *to, struct str line)
{
    buf_add(to, line);
}

static inline void fixture_init(struct fixture *f, char *const *env)
{
    *f = (struct fixture){ .sys = { .write = fixture_write } };
    buf_init(&f->out, 1 << 20);
    buf_init(&f->err, 1 << 20);
    f->dispatch = (struct dispatch){
        .sys = &f->sys,
        .commands = fixture_commands,
        .env = env,
        .log = { .put = fixture_say, .to = &f->err },
    };
}

static inline void fixture_release(struct fixture *f)
{
    buf_release(&f->out);
    buf_release(&f->err);
}

enum { FIXTURE_WORDS = 16 };

/* Cuts a line at blanks into words, as a shell would without quotes; "~" is the
 * empty word. */
static inline int fixture_split(char *line, char *argv[FIXTURE_WORDS + 1])
{
    int argc = 0;

    for (line += strspn(line, " "); *line; line += strspn(line, " ")) {
        BUG_IF(argc == FIXTURE_WORDS);
        argv[argc++] = strcmp(line, "~") == 0 || strncmp(line, "~ ", 2) == 0 ? line + 1 : line;
        line += strcspn(line, " ");
        if (*line)
            *line++ = '\0';
    }
    argv[argc] = NULL;
    return argc;
}

static inline int fixture_run(struct fixture *f, const char *line)
{
    char words[512], *argv[FIXTURE_WORDS + 1];

    BUG_IF(strlen(line) >= sizeof words);
    memcpy(words, line, strlen(line) + 1);
    buf_clear(&f->out);
    buf_clear(&f->err);
    return dispatch_run(&f->dispatch, fixture_split(words, argv), argv);
}

#endif
