/* cmd/complete-fish.c - writes the completion script for fish from the option tables. */
#include "cmd/complete.h"
#include "cmd/global-options.h"
#include "cmd/help-topics.h"

/* Functions that find the position on the command line. */
static const char head[] =
    "# fish completion for mcpreel, written by 'mcpreel completion fish'\n"
    "\n"
    "# Tests whether the command is $argv[1]; without an argument, whether there is none yet.\n"
    "function __mcpreel_in\n"
    "    set -l words (commandline -opc)\n"
    "    set -e words[1]\n"
    "    contains -- -- $words; and return 1\n"
    "    set -l command\n"
    "    set -l skip 0\n"
    "    for word in $words\n"
    "        if test $skip = 1\n"
    "            set skip 0\n"
    "        else if contains -- $word $__mcpreel_valued\n"
    "            set skip 1\n"
    "        else if not string match -q -- '-*' $word\n"
    "            set command $word\n"
    "            break\n"
    "        end\n"
    "    end\n"
    "    test \"$command\" = \"$argv[1]\"\n"
    "end\n"
    "\n"
    "# The words after \"--\" are the command line of a server.\n"
    "function __mcpreel_in_server\n"
    "    contains -- -- (commandline -opc)\n"
    "end\n"
    "\n"
    "function __mcpreel_server\n"
    "    set -l words (commandline -opc)\n"
    "    set -l at (contains -i -- -- $words)\n"
    "    set -l line (string escape -- $words[(math $at + 1)..-1]) (commandline -ct)\n"
    "    complete -C \"$line\"\n"
    "end\n"
    "\n"
    "complete -c mcpreel -f\n"
    "complete -c mcpreel -n __mcpreel_in_server -x -a '(__mcpreel_server)'\n";

static void add_quoted(struct buf *to, const char *text)
{
    buf_add_ch(to, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            buf_add_ch(to, '\\');
        buf_add_ch(to, *text);
    }
    buf_add_ch(to, '\'');
}

static void add_condition(struct buf *to, const char *command)
{
    buf_printf(to, "complete -c mcpreel -n '__mcpreel_in%s%s'", *command ? " " : "", command);
}

static void add_choices(struct buf *to, const struct option_choice *choices)
{
    bool first = true;

    buf_add(to, STR(" -a '"));
    for (; choices->name; choices++)
        if (!choices->is_alias) {
            buf_printf(to, "%s%s", first ? "" : " ", choices->name);
            first = false;
        }
    buf_add_ch(to, '\'');
}

static void add_option(struct buf *to, const char *command, const struct option *o)
{
    add_condition(to, command);
    if (o->key)
        buf_printf(to, " -s %c", o->key);
    buf_printf(to, " -l %s", o->name);
    if (option_takes_value(o))
        buf_add(to, option_takes_path(o) ? STR(" -r -F") : STR(" -x"));
    if (o->choices)
        add_choices(to, o->choices);
    buf_add(to, STR(" -d "));
    add_quoted(to, o->help);
    buf_add_ch(to, '\n');
    if (o->negatable) {
        add_condition(to, command);
        buf_printf(to, " -l no-%s\n", o->name);
    }
}

static void add_options(struct buf *to, const char *command, const struct option *rows,
                        const struct option *over)
{
    for (const struct option *o = rows; o && o->name; o++)
        if (option_is_shown(o, over))
            add_option(to, command, o);
}

static void add_name(struct buf *to, const char *command, const char *name, const char *summary)
{
    add_condition(to, command);
    buf_printf(to, " -a %s -d ", name);
    add_quoted(to, summary);
    buf_add_ch(to, '\n');
}

static void add_commands(struct buf *to, const struct app *app, const char *after)
{
    for (const struct command *const *c = app->commands; *c; c++)
        if (!(*c)->hidden)
            add_name(to, after, (*c)->name, (*c)->summary);
}

static void add_operands(struct buf *to, const struct app *app, const struct command *c)
{
    if (!c->max)
        return;
    if (c->takes == COMMAND_NAMES) {
        add_commands(to, app, c->name);
        for (const struct help_topic *t = help_topics; t->name; t++)
            add_name(to, c->name, t->name, t->summary);
        return;
    }
    add_condition(to, c->name);
    if (c->takes == COMMAND_FILES)
        buf_add(to, STR(" -F"));
    else
        add_choices(to, c->words);
    buf_add_ch(to, '\n');
}

/* Adds the options whose value must not be taken for the command. */
static void add_value_options(struct buf *to)
{
    buf_add(to, STR("\nset -g __mcpreel_valued"));
    for (const struct option *o = global_options_table; o->name; o++)
        if (option_takes_value(o))
            buf_printf(to, " --%s", o->name);
    buf_add(to, STR("\n\n"));
}

void complete_fish(struct buf *to, const struct app *app)
{
    buf_add(to, STR(head));
    add_value_options(to);
    add_commands(to, app, "");
    add_options(to, "", global_options_table, NULL);
    for (const struct command *const *c = app->commands; *c; c++) {
        if ((*c)->hidden)
            continue;
        add_operands(to, app, *c);
        add_options(to, (*c)->name, (*c)->options, NULL);
        add_options(to, (*c)->name, global_options_table, (*c)->options);
    }
}
