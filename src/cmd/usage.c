#include "cmd/usage.h"

#include <inttypes.h>

#include "base/term.h"
#include "cmd/globals.h"
#include "cmd/prose.h"
#include "cmd/topic.h"

/* Where help texts start, and how far an option may reach before its help moves to
 * the next line. */
enum { OPTION_COLUMN = 28, COMMAND_COLUMN = 15 };

static void heading(struct buf *to, const struct app *app, const char *text)
{
    buf_add_ch(to, '\n');
    term_style(to, app->color, TERM_BOLD);
    buf_printf(to, "%s:", text);
    term_style(to, app->color, TERM_PLAIN);
    buf_add_ch(to, '\n');
}

/* "--output FILE", "--[no-]redact", "--help" */
static void option_name(struct buf *to, const struct option *o)
{
    buf_printf(to, "--%s%s", o->negatable ? "[no-]" : "", o->name);
    if (option_takes_value(o))
        buf_printf(to, " %s", o->arg);
}

/* Notes come one after another: opens the bracket or parts them. */
static void note(struct buf *to, size_t start)
{
    buf_add(to, to->len == start ? STR(" (") : STR("; "));
}

void usage_option_notes(struct buf *to, const struct option *o)
{
    size_t start = to->len;

    if (o->choices) {
        bool first = true;
        note(to, start);
        for (const struct option_choice *c = o->choices; c->name; c++)
            if (!c->also) {
                buf_printf(to, "%s%s", first ? "" : ", ", c->name);
                first = false;
            }
    }
    if (o->type == OPTION_INT && (o->min || o->max)) {
        note(to, start);
        if (o->max == INT64_MAX)
            buf_printf(to, "%" PRId64 " or more", o->min);
        else
            buf_printf(to, "%" PRId64 " to %" PRId64, o->min, o->max);
    }
    if (o->type == OPTION_LIST) {
        note(to, start);
        buf_add(to, o->split ? STR("repeatable, or with commas") : STR("repeatable"));
    }
    if (o->preset) {
        note(to, start);
        if (o->type == OPTION_FLAG)
            buf_add(to, STR("on by default"));
        else
            buf_printf(to, "default: %s", o->preset);
    }
    if (to->len > start)
        buf_add_ch(to, ')');
}

static void option_line(struct buf *to, const struct option *o)
{
    size_t start = to->len, taken;
    struct buf help;

    if (o->key)
        buf_printf(to, "  -%c, ", o->key);
    else
        buf_add(to, STR("      "));
    option_name(to, o);
    taken = prose_columns(str_n(to->at + start, to->len - start));
    if (taken + 2 > OPTION_COLUMN) {
        buf_add_ch(to, '\n');
        taken = 0;
    }
    buf_printf(to, "%*s", (int)(OPTION_COLUMN - taken), "");
    buf_init(&help, USAGE_MAX);
    buf_printf(&help, "%s", o->help);
    usage_option_notes(&help, o);
    prose_fill(to, buf_str(&help),
               (struct prose_shape){ PROSE_WIDTH, OPTION_COLUMN, OPTION_COLUMN });
    buf_release(&help);
}

static const char *group_of(const struct option *o)
{
    return o->group ? o->group : "Options";
}

/* Rows of one heading stand together in the table, so a change of heading is the
 * only thing to look for. */
static void option_lines(struct buf *to, const struct app *app, const struct option *rows,
                         const struct option *but_not)
{
    const char *group = NULL;

    for (const struct option *o = rows; o && o->name; o++) {
        if (!option_shown(o, but_not))
            continue;
        if (!group || strcmp(group, group_of(o)) != 0)
            heading(to, app, group_of(o));
        group = group_of(o);
        option_line(to, o);
    }
}

static void example_lines(struct buf *to, const struct app *app,
                          const struct command_example *examples)
{
    heading(to, app, "Examples");
    for (const struct command_example *x = examples; x->line; x++) {
        buf_printf(to, "  %s\n", x->line);
        if (x->about)
            buf_printf(to, "      %s\n", x->about);
    }
}

static void usage_lines(struct buf *to, const struct app *app, const struct command *c)
{
    heading(to, app, "Usage");
    for (const char *const *u = c->usage; *u; u++)
        buf_printf(to, "  mcpreel %s%s%s\n", c->name, **u ? " " : "", *u);
}

void usage_command(struct buf *to, const struct app *app, const struct command *c)
{
    prose_add(to, str_z(c->about));
    usage_lines(to, app, c);
    if (c->examples)
        example_lines(to, app, c->examples);
    option_lines(to, app, c->options, NULL);
    option_lines(to, app, globals_options, c->options);
    buf_printf(to,
               "\nEvery option can also come from the environment: see 'mcpreel help"
               " environment'.\nMore: man mcpreel-%s\n",
               c->name);
}

static void list_line(struct buf *to, const char *name, const char *summary)
{
    buf_printf(to, "  %-*s", COMMAND_COLUMN - 2, name);
    prose_fill(to, str_z(summary),
               (struct prose_shape){ PROSE_WIDTH, COMMAND_COLUMN, COMMAND_COLUMN });
}

static void command_lines(struct buf *to, const struct app *app)
{
    heading(to, app, "Commands");
    for (const struct command *const *c = app->commands; *c; c++)
        if (!(*c)->hidden)
            list_line(to, (*c)->name, (*c)->summary);
}

static void topic_lines(struct buf *to, const struct app *app)
{
    heading(to, app, "Topics");
    for (const struct topic *t = topic_list; t->name; t++)
        list_line(to, t->name, t->summary);
}

static void first_examples(struct buf *to, const struct app *app)
{
    heading(to, app, "Examples");
    buf_add(to, STR("  mcpreel record -o session.jsonl -- node server.js\n"
                    "  mcpreel replay session.jsonl\n"
                    "  mcpreel inspect session.jsonl\n"));
}

void usage_overview(struct buf *to, const struct app *app)
{
    buf_add(to, STR("mcpreel - " USAGE_ABOUT "\n"));
    first_examples(to, app);
    command_lines(to, app);
    buf_add(to, STR("\nMore: mcpreel help [COMMAND], man mcpreel\n"));
}

void usage_program(struct buf *to, const struct app *app)
{
    prose_add(to, STR(USAGE_DESCRIPTION));
    heading(to, app, "Usage");
    buf_add(to, STR("  mcpreel COMMAND [options] [operands] [-- SERVER [ARGS...]]\n"
                    "  mcpreel -- SERVER [ARGS...]\n"));
    first_examples(to, app);
    command_lines(to, app);
    topic_lines(to, app);
    option_lines(to, app, globals_options, NULL);
    buf_add(to, STR("\nMore: mcpreel help COMMAND, mcpreel help TOPIC, man mcpreel\n"));
}
