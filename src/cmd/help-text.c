#include "cmd/help-text.h"

#include <inttypes.h>

#include "base/term.h"
#include "base/text-wrap.h"
#include "cmd/global-options.h"
#include "cmd/help-topics.h"

/* Column in which help texts start; the help of a longer option moves to the next line. */
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
    if (o->implied)
        buf_printf(to, "[=%s]", o->arg);
    else if (option_takes_value(o))
        buf_printf(to, " %s", o->arg);
}

/* Opens the parenthesis before the first note, or separates it from the last one. */
static void begin_note(struct buf *to, size_t start)
{
    buf_add(to, to->len == start ? STR(" (") : STR("; "));
}

void help_text_option_notes(struct buf *to, const struct option *o)
{
    size_t start = to->len;

    if (o->choices) {
        bool first = true;
        begin_note(to, start);
        for (const struct option_choice *c = o->choices; c->name; c++)
            if (!c->is_alias) {
                buf_printf(to, "%s%s", first ? "" : ", ", c->name);
                first = false;
            }
    }
    if (o->type == OPTION_INT && (o->min || o->max)) {
        begin_note(to, start);
        if (o->max == INT64_MAX)
            buf_printf(to, "%" PRId64 " or more", o->min);
        else
            buf_printf(to, "%" PRId64 " to %" PRId64, o->min, o->max);
    }
    if (o->type == OPTION_LIST) {
        begin_note(to, start);
        buf_add(to, o->split ? STR("repeatable, or with commas") : STR("repeatable"));
    }
    if (o->preset) {
        begin_note(to, start);
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
    taken = text_wrap_columns(str_n(to->at + start, to->len - start));
    if (taken + 2 > OPTION_COLUMN) {
        buf_add_ch(to, '\n');
        taken = 0;
    }
    buf_printf(to, "%*s", (int)(OPTION_COLUMN - taken), "");
    buf_init(&help, HELP_TEXT_MAX);
    buf_printf(&help, "%s", o->help);
    help_text_option_notes(&help, o);
    text_wrap_fill(to, buf_str(&help),
                   (struct text_wrap_shape){ TEXT_WRAP_WIDTH, OPTION_COLUMN, OPTION_COLUMN });
    buf_release(&help);
}

static const char *group_of(const struct option *o)
{
    return o->group ? o->group : "Options";
}

/* Adds all options. Rows with the same heading are adjacent, so each change of heading starts
 * a section. */
static void option_lines(struct buf *to, const struct app *app, const struct option *rows,
                         const struct option *but_not)
{
    const char *group = NULL;

    for (const struct option *o = rows; o && o->name; o++) {
        if (!option_is_shown(o, but_not))
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

void help_text_command(struct buf *to, const struct app *app, const struct command *c)
{
    text_wrap_add(to, str_z(c->about));
    usage_lines(to, app, c);
    if (c->examples)
        example_lines(to, app, c->examples);
    option_lines(to, app, c->options, NULL);
    option_lines(to, app, global_options_table, c->options);
    buf_printf(to,
               "\nMost options can also be set in the environment: see 'mcpreel help"
               " environment'.\nMore: man mcpreel-%s\n",
               c->name);
}

static void list_line(struct buf *to, const char *name, const char *summary)
{
    buf_printf(to, "  %-*s", COMMAND_COLUMN - 2, name);
    text_wrap_fill(to, str_z(summary),
                   (struct text_wrap_shape){ TEXT_WRAP_WIDTH, COMMAND_COLUMN, COMMAND_COLUMN });
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
    for (const struct help_topic *t = help_topics; t->name; t++)
        list_line(to, t->name, t->summary);
}

static void first_examples(struct buf *to, const struct app *app)
{
    heading(to, app, "Examples");
    buf_add(to, STR("  mcpreel record -o session.jsonl -- node server.js\n"
                    "  mcpreel replay session.jsonl\n"
                    "  mcpreel inspect session.jsonl\n"));
}

void help_text_overview(struct buf *to, const struct app *app)
{
    buf_add(to, STR("mcpreel - " HELP_TEXT_SUMMARY "\n"));
    first_examples(to, app);
    command_lines(to, app);
    buf_add(to, STR("\nMore: mcpreel help [COMMAND], man mcpreel\n"));
}

void help_text_program(struct buf *to, const struct app *app)
{
    text_wrap_add(to, STR(HELP_TEXT_DESCRIPTION));
    heading(to, app, "Usage");
    buf_add(to, STR("  mcpreel COMMAND [options] [operands] [-- SERVER [ARGS...]]\n"
                    "  mcpreel -- SERVER [ARGS...]\n"));
    first_examples(to, app);
    command_lines(to, app);
    topic_lines(to, app);
    option_lines(to, app, global_options_table, NULL);
    buf_add(to, STR("\nMore: mcpreel help COMMAND, mcpreel help TOPIC, man mcpreel\n"));
}
