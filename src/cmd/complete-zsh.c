/* cmd/complete-zsh.c - writes the completion script for zsh from the option tables. */
#include "cmd/complete.h"
#include "cmd/global-options.h"
#include "cmd/help-topics.h"

/* Escapes text for a single-quoted spec of _arguments: quotes would end the string, colons
 * and brackets a part of the spec. */
static void add_quoted(struct buf *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'') {
            buf_add(to, STR("'\\''"));
            continue;
        }
        if (strchr(":[]\\", *text))
            buf_add_ch(to, '\\');
        buf_add_ch(to, *text);
    }
}

static void add_choices(struct buf *to, const struct option_choice *choices)
{
    bool first = true;

    buf_add_ch(to, '(');
    for (; choices->name; choices++)
        if (!choices->is_alias) {
            buf_add(to, first ? STR_NONE : STR(" "));
            add_quoted(to, choices->name);
            first = false;
        }
    buf_add_ch(to, ')');
}

static bool is_repeatable(const struct option *o)
{
    return o->type == OPTION_COUNT || o->type == OPTION_LIST;
}

/* Adds a spec such as '(-o --output)'{-o+,--output=}'[help]:FILE:_files'. */
static void add_option(struct buf *to, const struct option *o)
{
    bool value = option_takes_value(o);

    buf_add(to, STR("        "));
    if (is_repeatable(o))
        buf_add(to, STR("'*'"));
    else if (o->key)
        buf_printf(to, "'(-%c --%s)'", o->key, o->name);
    if (o->key)
        buf_printf(to, "{-%c%s,--%s%s}", o->key, value ? "+" : "", o->name, value ? "=" : "");
    else
        buf_printf(to, "--%s%s", o->name, value ? "=" : "");
    buf_add(to, STR("'["));
    add_quoted(to, o->help);
    buf_add_ch(to, ']');
    if (value) {
        buf_add_ch(to, ':');
        add_quoted(to, o->arg);
        buf_add_ch(to, ':');
        if (o->choices)
            add_choices(to, o->choices);
        else if (option_takes_path(o))
            buf_add(to, STR("_files"));
        else
            buf_add_ch(to, ' ');
    }
    buf_add(to, STR("' \\\n"));
    if (o->negatable) {
        buf_printf(to, "        '--no-%s[do not ", o->name);
        add_quoted(to, o->help);
        buf_add(to, STR("]' \\\n"));
    }
}

static void add_options(struct buf *to, const struct option *rows, const struct option *over)
{
    for (const struct option *o = rows; o && o->name; o++)
        if (option_is_shown(o, over))
            add_option(to, o);
}

static void add_operands(struct buf *to, const struct command *c)
{
    const char *place = c->max == 1 ? "1" : "*";

    buf_add(to, STR("        "));
    if (!c->max) {
        buf_add(to, STR("':: :_message nothing'\n"));
        return;
    }
    buf_printf(to, "'%s:", place);
    add_quoted(to, c->operand);
    buf_add_ch(to, ':');
    if (c->takes == COMMAND_WORDS)
        add_choices(to, c->words);
    else
        buf_add(to, c->takes == COMMAND_FILES ? STR("_files") : STR("_mcpreel_names"));
    buf_add(to, STR("'\n"));
}

static void add_described(struct buf *to, const char *name, const char *summary)
{
    buf_add(to, STR("        '"));
    add_quoted(to, name);
    buf_add_ch(to, ':');
    add_quoted(to, summary);
    buf_add(to, STR("'\n"));
}

/* Adds a function that offers the commands, and with `topics` the help topics. */
static void add_names(struct buf *to, const struct app *app, const char *function, bool topics)
{
    buf_printf(to, "%s()\n{\n    local -a names=(\n", function);
    for (const struct command *const *c = app->commands; *c; c++)
        if (!(*c)->hidden)
            add_described(to, (*c)->name, (*c)->summary);
    for (const struct help_topic *t = help_topics; topics && t->name; t++)
        add_described(to, t->name, t->summary);
    buf_add(to, STR("    )\n    _describe -t commands 'mcpreel command' names\n}\n\n"));
}

static void add_command(struct buf *to, const struct command *c)
{
    buf_printf(to, "_mcpreel-%s()\n{\n    _arguments -s -S : \\\n", c->name);
    add_options(to, c->options, NULL);
    add_options(to, global_options_table, c->options);
    add_operands(to, c);
    buf_add(to, STR("}\n\n"));
}

void complete_zsh(struct buf *to, const struct app *app)
{
    buf_add(to, STR("#compdef mcpreel\n"
                    "# zsh completion for mcpreel, written by 'mcpreel completion zsh'\n\n"));
    add_names(to, app, "_mcpreel_commands", false);
    add_names(to, app, "_mcpreel_names", true);
    for (const struct command *const *c = app->commands; *c; c++)
        if (!(*c)->hidden)
            add_command(to, *c);
    buf_add(to, STR("_mcpreel()\n{\n"
                    "    local curcontext=$curcontext state line\n"
                    "    typeset -A opt_args\n"
                    "    integer at=${words[(i)--]}\n"
                    "    if ((at < CURRENT)); then\n"
                    "        # The words after \"--\" are the command line of a server.\n"
                    "        shift $at words\n"
                    "        ((CURRENT -= at))\n"
                    "        _normal\n"
                    "        return\n"
                    "    fi\n"
                    "    _arguments -s -S -C : \\\n"));
    add_options(to, global_options_table, NULL);
    buf_add(to, STR("        '1: :_mcpreel_commands' \\\n"
                    "        '*:: :->rest' && return\n"
                    "    [[ $state == rest ]] || return\n"
                    "    curcontext=\"${curcontext%:*}-$line[1]:\"\n"
                    "    (( $+functions[_mcpreel-$line[1]] )) && _mcpreel-$line[1]\n"
                    "}\n\n"
                    "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
                    "    _mcpreel \"$@\"\n"
                    "else\n"
                    "    compdef _mcpreel mcpreel\n"
                    "fi\n"));
}
