#include "cmd/dispatch.h"

#include "base/buf.h"
#include "base/term.h"
#include "base/text-wrap.h"
#include "cmd/global-options.h"
#include "cmd/help-text.h"
#include "cmd/redact-options.h"
#include "runtime/app.h"
#include "json/write.h"

enum { COLUMNS_MAX = 10000 };

/* One run of the program. */
struct cli_run {
    const struct dispatch *dispatch;
    struct arena arena;
    struct global_options globals;
    struct option_reader reader;
    const struct command *command; /* NULL: not given, or unknown */
    bool unknown;
    void *args;
    struct operands operands;
    struct log log;
    struct app app;
};

static void choose_command(struct cli_run *c, const char *name, struct err *e)
{
    c->command = command_find(c->dispatch->commands, name, e);
    c->unknown = !c->command;
    if (c->unknown)
        return;
    c->args = arena_alloc(&c->arena, c->command->args_size);
    c->reader.command = c->command->name;
    option_reader_add(&c->reader, (struct option_set){ c->command->options, c->args });
}

/* Parses the whole line even if the first word is wrong: the rest may have --json, which
 * decides how the error is written. */
static void parse_args(struct cli_run *c, int argc, char **argv, struct err *e)
{
    int at =
        1 + option_read_line(&c->reader, argc - 1, argv + 1, OPTION_LEADING, &c->operands, e);
    struct err unknown = ERR_NONE;

    if (at >= argc)
        return;
    /* "mcpreel -- COMMAND" is short for "mcpreel record -- COMMAND". */
    choose_command(c, strcmp(argv[at], "--") == 0 ? "record" : argv[at++], &unknown);
    if (e->kind == ERR_OK)
        *e = unknown;
    option_read_line(&c->reader, argc - at, argv + at,
                     c->command ? command_extent(c->command) : OPTION_ALL, &c->operands, e);
}

/* The command line wins over the environment, also if it has -q and MCPREEL_VERBOSE is set. */
static void parse_env(struct cli_run *c, struct err *e)
{
    const struct global_options line = c->globals;

    option_read_env(&c->reader, e);
    if (line.quiet)
        c->globals.verbose = line.verbose;
    if (line.verbose)
        c->globals.quiet = line.quiet;
    if (c->globals.quiet && c->globals.verbose && e->kind == ERR_OK) {
        err_set(e, ERR_USAGE, "'--quiet' and '--verbose' cannot be combined");
        option_hint_help(e, c->reader.command);
    }
}

/* Returns the width of the terminal; $COLUMNS wins over what the terminal reports. */
static size_t terminal_columns(const struct dispatch *d)
{
    const char *set = app_env_get(d->env, "COLUMNS");
    uint64_t n;

    if (!d->out_is_tty)
        return 0;
    if (set && str_parse_u64(str_z(set), &n) && n && n <= COLUMNS_MAX)
        return (size_t)n;
    return d->out_columns ? d->out_columns : TEXT_WRAP_WIDTH;
}

static void fill_app(struct cli_run *c, const char *self)
{
    const struct dispatch *d = c->dispatch;
    const struct global_options *g = &c->globals;

    c->log = d->log;
    c->log.level = global_options_log_level(g);
    c->log.color = global_options_use_color(g, d->err_is_tty, d->env);
    c->app = (struct app){
        .sys = d->sys,
        .commands = d->commands,
        .env = d->env,
        .argv0 = self,
        .log = &c->log,
        .json = g->json,
        .color = global_options_use_color(g, d->out_is_tty, d->env),
        .quiet = g->quiet,
        .verbose = g->verbose,
        .stdout_is_tty = d->out_is_tty,
        .columns = terminal_columns(d),
        .stderr_is_tty = d->err_is_tty,
    };
}

/* Runs the command that --help or --version stands for. */
static int run_other_command(struct cli_run *c, const char *name, const char *operand,
                             struct err *e)
{
    const struct command *command = command_find(c->dispatch->commands, name, e);
    char *word = arena_z(&c->arena, str_z(operand));
    const struct operands in = { .at = &word, .count = operand ? 1 : 0 };

    BUG_IF(!command);
    return command->run(&c->app, arena_alloc(&c->arena, command->args_size), &in, e);
}

static int write_overview(struct cli_run *c, struct err *e)
{
    struct buf out;
    bool ok;

    buf_init(&out, HELP_TEXT_MAX);
    help_text_overview(&out, &c->app);
    ok = buf_ok(&out, e) && app_write(&c->app, buf_str(&out), e);
    buf_release(&out);
    return ok ? EXIT_OK : app_exit_code(e);
}

static int run_command(struct cli_run *c, int argc, struct err *e)
{
    if (!c->unknown && (c->globals.help || c->globals.version)) {
        *e = (struct err)ERR_NONE;
        return c->globals.help ? run_other_command(c, "help", c->reader.command, e)
                               : run_other_command(c, "version", NULL, e);
    }
    if (e->kind != ERR_OK)
        return app_exit_code(e);
    if (argc <= 1)
        return write_overview(c, e);
    if (!c->command) {
        err_set(e, ERR_USAGE, "a command is missing");
        option_hint_help(e, NULL);
        return EXIT_USAGE;
    }
    if (!command_check(c->command, &c->operands, e))
        return EXIT_USAGE;
    return c->command->run(&c->app, c->args, &c->operands, e);
}

static struct str kind_name(enum err_kind kind)
{
    switch (kind) {
    case ERR_OK:
        break;
    case ERR_USAGE:
        return STR("usage");
    case ERR_INPUT:
        return STR("input");
    case ERR_LIMIT:
        return STR("limit");
    case ERR_PEER:
        return STR("server");
    case ERR_IO:
        return STR("io");
    }
    BUG("an error without a kind");
}

/* Writes the error; with --json as exactly one line. */
static void report_error(const struct cli_run *c, const struct err *e)
{
    struct json_out o;
    struct buf line, shown;

    if (!c->app.json) {
        log_err(&c->log, e);
        return;
    }
    buf_init(&line, 16 * sizeof *e);
    o = json_out_to(&line);
    json_out_object(&o);
    json_out_key(&o, STR("error"));
    json_out_object(&o);
    json_out_key_str(&o, STR("kind"), kind_name(e->kind));
    json_out_key_str(&o, STR("message"), str_z(e->msg));
    if (e->hint[0])
        json_out_key_str(&o, STR("hint"), str_z(e->hint));
    json_out_end_object(&o);
    json_out_end_object(&o);
    buf_add_ch(&line, '\n');
    buf_init(&shown, 64 * sizeof *e);
    if (c->app.stderr_is_tty)
        term_escape(&shown, buf_str(&line), TERM_JSON);
    c->log.write(c->log.arg, buf_str(c->app.stderr_is_tty ? &shown : &line));
    buf_release(&shown);
    buf_release(&line);
}

int dispatch_run(const struct dispatch *d, int argc, char **argv)
{
    struct cli_run c = { .dispatch = d };
    struct err e = ERR_NONE;
    int code;

    option_reader_init(&c.reader, d->env, &c.arena);
    option_reader_add(&c.reader, (struct option_set){ global_options_table, &c.globals });
    if (argc > 0)
        parse_args(&c, argc, argv, &e);
    parse_env(&c, &e);
    fill_app(&c, argc ? argv[0] : "mcpreel");
    code = run_command(&c, argc, &e);
    if (e.kind != ERR_OK) {
        redact_options_redact_early_err(argv, d->env, &e);
        report_error(&c, &e);
    }
    BUG_IF(e.kind != ERR_OK && code == EXIT_OK);
    arena_release(&c.arena);
    return code;
}
