#include "cmd/dispatch.h"

#include "base/buf.h"
#include "base/term.h"
#include "cmd/globals.h"
#include "cmd/prose.h"
#include "cmd/redaction.h"
#include "cmd/usage.h"
#include "json/write.h"

enum { COLUMNS_MOST = 10000 };

/* One run of the program. */
struct call {
    const struct dispatch *world;
    struct arena arena;
    struct globals globals;
    struct option_reader reader;
    const struct command *command; /* NULL: none was given, or it is unknown */
    bool unknown;
    void *args;
    struct operands operands;
    struct log log;
    struct app app;
};

static void choose(struct call *c, const char *name, struct err *e)
{
    c->command = command_find(c->world->commands, name, e);
    c->unknown = !c->command;
    if (c->unknown)
        return;
    c->args = arena_alloc(&c->arena, c->command->args_size);
    c->reader.command = c->command->name;
    option_reader_add(&c->reader, (struct option_set){ c->command->options, c->args });
}

/* Reads all of the line even when the first word is wrong already: the error must
 * come out in the form the rest of the line asks for. */
static void read_words(struct call *c, int argc, char **argv, struct err *e)
{
    int at =
        1 + option_read_line(&c->reader, argc - 1, argv + 1, OPTION_LEADING, &c->operands, e);
    struct err unknown = ERR_NONE;

    if (at >= argc)
        return;
    /* "mcpreel -- server" stands for "mcpreel record -- server". */
    choose(c, strcmp(argv[at], "--") == 0 ? "record" : argv[at++], &unknown);
    if (e->kind == ERR_OK)
        *e = unknown;
    option_read_line(&c->reader, argc - at, argv + at,
                     c->command ? command_extent(c->command) : OPTION_ALL, &c->operands, e);
}

/* The line wins over the environment, also where -q meets MCPREEL_VERBOSE. */
static void read_environment(struct call *c, struct err *e)
{
    const struct globals line = c->globals;

    option_read_env(&c->reader, e);
    if (line.quiet)
        c->globals.verbose = line.verbose;
    if (line.verbose)
        c->globals.quiet = line.quiet;
    if (c->globals.quiet && c->globals.verbose && e->kind == ERR_OK) {
        err_set(e, ERR_USAGE, "'--quiet' and '--verbose' contradict each other");
        option_point_to_help(e, c->reader.command);
    }
}

/* COLUMNS comes before what the terminal says of itself. */
static size_t columns(const struct dispatch *d)
{
    const char *set = option_env_get(d->env, "COLUMNS");
    uint64_t n;

    if (!d->out_is_tty)
        return 0;
    if (set && str_u64(str_z(set), &n) && n && n <= COLUMNS_MOST)
        return (size_t)n;
    return d->out_columns ? d->out_columns : PROSE_WIDTH;
}

static void fill_app(struct call *c, const char *self)
{
    const struct dispatch *d = c->world;
    const struct globals *g = &c->globals;

    c->log = d->log;
    c->log.level = globals_level(g);
    c->log.color = globals_use_color(g, d->err_is_tty, d->env);
    c->app = (struct app){
        .sys = d->sys,
        .commands = d->commands,
        .env = d->env,
        .self = self,
        .log = &c->log,
        .json = g->json,
        .color = globals_use_color(g, d->out_is_tty, d->env),
        .quiet = g->quiet,
        .verbose = g->verbose,
        .tty = d->out_is_tty,
        .columns = columns(d),
        .watched = d->err_is_tty,
    };
}

/* What --help and --version stand for. */
static int stand_in(struct call *c, const char *name, const char *operand, struct err *e)
{
    const struct command *command = command_find(c->world->commands, name, e);
    char *word = arena_z(&c->arena, str_z(operand));
    const struct operands in = { .at = &word, .count = operand ? 1 : 0 };

    BUG_IF(!command);
    return command->run(&c->app, arena_alloc(&c->arena, command->args_size), &in, e);
}

static int overview(struct call *c, struct err *e)
{
    struct buf out;
    bool ok;

    buf_init(&out, USAGE_MAX);
    usage_overview(&out, &c->app);
    ok = buf_ok(&out, e) && app_write(&c->app, buf_str(&out), e);
    buf_release(&out);
    return ok ? EXIT_OK : app_exit_code(e);
}

static int finish(struct call *c, int argc, struct err *e)
{
    if (!c->unknown && (c->globals.help || c->globals.version)) {
        *e = (struct err)ERR_NONE;
        return c->globals.help ? stand_in(c, "help", c->reader.command, e)
                               : stand_in(c, "version", NULL, e);
    }
    if (e->kind != ERR_OK)
        return app_exit_code(e);
    if (argc <= 1)
        return overview(c, e);
    if (!c->command) {
        err_set(e, ERR_USAGE, "a command is missing");
        option_point_to_help(e, NULL);
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
    BUG("an error of no kind");
}

/* As JSON it is one line and nothing but the line, for programs to read. */
static void report(const struct call *c, const struct err *e)
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
    if (c->app.watched)
        term_escape(&shown, buf_str(&line), TERM_JSON);
    c->log.put(c->log.to, buf_str(c->app.watched ? &shown : &line));
    buf_release(&shown);
    buf_release(&line);
}

int dispatch_run(const struct dispatch *d, int argc, char **argv)
{
    struct call c = { .world = d };
    struct err e = ERR_NONE;
    int code;

    option_reader_init(&c.reader, d->env, &c.arena);
    option_reader_add(&c.reader, (struct option_set){ globals_options, &c.globals });
    if (argc > 0)
        read_words(&c, argc, argv, &e);
    read_environment(&c, &e);
    fill_app(&c, argc ? argv[0] : "mcpreel");
    code = finish(&c, argc, &e);
    if (e.kind != ERR_OK) {
        redaction_shield(argv, d->env, &e);
        report(&c, &e);
    }
    BUG_IF(e.kind != ERR_OK && code == EXIT_OK);
    arena_release(&c.arena);
    return code;
}
