/* cmd/complete-bash.c - writes the completion script for bash from the option tables. */
#include "cmd/complete.h"
#include "cmd/global-options.h"
#include "cmd/help-topics.h"

/* bash splits "--color=always" into three words, so the option may be two words before the
 * one to complete. */
static const char head[] =
    "# bash completion for mcpreel, written by 'mcpreel completion bash'\n"
    "\n"
    "_mcpreel_files()\n"
    "{\n"
    "    local name\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    while IFS= read -r name; do\n"
    "        COMPREPLY+=(\"$name\")\n"
    "    done < <(compgen -f -- \"$cur\")\n"
    "}\n"
    "\n"
    "_mcpreel_words()\n"
    "{\n"
    "    COMPREPLY=($(compgen -W \"$1\" -- \"$cur\"))\n"
    "}\n"
    "\n"
    "# The words after \"--\" are the command line of a server.\n"
    "_mcpreel_server()\n"
    "{\n"
    "    if declare -F _command_offset >/dev/null; then\n"
    "        _command_offset \"$1\"\n"
    "    elif ((COMP_CWORD == $1)); then\n"
    "        COMPREPLY=($(compgen -c -- \"$cur\"))\n"
    "    else\n"
    "        _mcpreel_files\n"
    "    fi\n"
    "}\n"
    "\n"
    "_mcpreel()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command= i\n"
    "    COMPREPLY=()\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case ${COMP_WORDS[i]} in\n"
    "        --)\n"
    "            _mcpreel_server $((i + 1))\n"
    "            return\n"
    "            ;;\n";

static const char after_words[] = "        -*) ;;\n"
                                  "        *) [[ $command ]] || command=${COMP_WORDS[i]} ;;\n"
                                  "        esac\n"
                                  "    done\n"
                                  "    [[ $cur == = ]] && cur=\n"
                                  "    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
                                  "    case \"$command $prev\" in\n";

static const char after_values[] = "    esac\n"
                                   "    case \"$command $cur\" in\n";

static const char tail[] = "    esac\n"
                           "}\n"
                           "\n"
                           "complete -F _mcpreel mcpreel\n";

/* Adds a pattern for "$command $prev"; NULL is any command. */
static void add_pattern(struct buf *to, const char *command, const char *dashes,
                        const char *name)
{
    bool first = to->at[to->len - 1] == '\n';

    buf_add(to, first ? STR("    ") : STR(" | "));
    if (command)
        buf_printf(to, "\"%s %s%s\"", command, dashes, name);
    else
        buf_printf(to, "*\" %s%s\"", dashes, name);
}

static void add_choices(struct buf *to, const struct option_choice *choices)
{
    bool first = true;

    buf_add_ch(to, '\'');
    for (; choices->name; choices++)
        if (!choices->is_alias) {
            buf_printf(to, "%s%s", first ? "" : " ", choices->name);
            first = false;
        }
    buf_add_ch(to, '\'');
}

/* Adds what to offer after an option that takes a value. */
static void add_value(struct buf *to, const char *command, const struct option *o)
{
    add_pattern(to, command, "--", o->name);
    for (size_t i = 0; i < OPTION_ALIASES && o->aliases[i]; i++)
        add_pattern(to, command, "--", o->aliases[i]);
    if (o->key)
        add_pattern(to, command, "-", (char[]){ o->key, '\0' });
    buf_add(to, STR(")\n"));
    if (o->choices) {
        buf_add(to, STR("        _mcpreel_words "));
        add_choices(to, o->choices);
        buf_add_ch(to, '\n');
    } else if (option_takes_path(o)) {
        buf_add(to, STR("        _mcpreel_files\n"));
    }
    buf_add(to, STR("        return\n        ;;\n"));
}

static void add_values(struct buf *to, const struct app *app)
{
    for (const struct command *const *c = app->commands; *c; c++)
        for (const struct option *o = (*c)->options; o && o->name; o++)
            if (option_takes_value(o) && !(*c)->hidden && !o->hidden)
                add_value(to, (*c)->name, o);
    for (const struct option *o = global_options_table; o->name; o++)
        if (option_takes_value(o))
            add_value(to, NULL, o);
}

static void add_option_words(struct buf *to, const struct option *rows,
                             const struct option *over)
{
    for (const struct option *o = rows; o && o->name; o++) {
        if (!option_is_shown(o, over))
            continue;
        if (o->key)
            buf_printf(to, "-%c ", o->key);
        buf_printf(to, "--%s ", o->name);
        if (o->negatable)
            buf_printf(to, "--no-%s ", o->name);
    }
}

static void add_names(struct buf *to, const struct app *app, bool topics)
{
    for (const struct command *const *c = app->commands; *c; c++)
        if (!(*c)->hidden)
            buf_printf(to, "%s ", (*c)->name);
    for (const struct help_topic *t = help_topics; topics && t->name; t++)
        buf_printf(to, "%s ", t->name);
}

static void add_operands(struct buf *to, const struct app *app, const struct command *c)
{
    if (!c->max)
        return;
    buf_printf(to, "    \"%s \"*) ", c->name);
    if (c->takes == COMMAND_FILES) {
        buf_add(to, STR("_mcpreel_files"));
    } else if (c->takes == COMMAND_WORDS) {
        buf_add(to, STR("_mcpreel_words "));
        add_choices(to, c->words);
    } else {
        buf_add(to, STR("_mcpreel_words '"));
        add_names(to, app, true);
        buf_add_ch(to, '\'');
    }
    buf_add(to, STR(" ;;\n"));
}

static void add_command(struct buf *to, const struct app *app, const struct command *c)
{
    if (c->hidden)
        return;
    buf_printf(to, "    \"%s -\"*) _mcpreel_words '", c->name);
    add_option_words(to, c->options, NULL);
    add_option_words(to, global_options_table, c->options);
    buf_add(to, STR("' ;;\n"));
    add_operands(to, app, c);
}

/* Skips global options and their values when the command is searched for. */
static void add_value_skips(struct buf *to)
{
    for (const struct option *o = global_options_table; o->name; o++)
        if (option_takes_value(o))
            buf_printf(to,
                       "        --%s)\n"
                       "            ((i++))\n"
                       "            [[ ${COMP_WORDS[i]} == = ]] && ((i++))\n"
                       "            ;;\n",
                       o->name);
}

void complete_bash(struct buf *to, const struct app *app)
{
    buf_add(to, STR(head));
    add_value_skips(to);
    buf_add(to, STR(after_words));
    add_values(to, app);
    buf_add(to, STR(after_values));
    for (const struct command *const *c = app->commands; *c; c++)
        add_command(to, app, *c);
    buf_add(to, STR("    \" -\"*) _mcpreel_words '"));
    add_option_words(to, global_options_table, NULL);
    buf_add(to, STR("' ;;\n    \" \"*) _mcpreel_words '"));
    add_names(to, app, false);
    buf_add(to, STR("' ;;\n"));
    buf_add(to, STR(tail));
}
