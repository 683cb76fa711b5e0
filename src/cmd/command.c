#include "cmd/command.h"

#include "base/suggest.h"
#include "cmd/option-value.h"

const struct command *const command_table[] = {
    &cmd_record,
    &cmd_replay,
    &cmd_verify,
    &cmd_run,
    &cmd_diff,
    &cmd_lock,
    &cmd_inspect,
    &cmd_stats,
    &cmd_show,
    &cmd_list,
    &cmd_convert,
    &cmd_check,
    &cmd_redact,
    &cmd_formats,
    &cmd_demo,
    &cmd_completion,
    &cmd_help,
    &cmd_version,
    &cmd_record_scenarios,
    &cmd_export,
    &cmd_import,
    &cmd_trace,
    NULL,
};

/* Verbs of other tools, and the command here that is closest. A row has no effect if a
 * command has that name. */
static const struct {
    const char *verb, *command;
} other_verbs[] = {
    { "capture", "record" },  { "intercept", "record" }, { "proxy", "record" },
    { "tap", "record" },      { "tape", "record" },      { "wrap", "record" },
    { "mock", "replay" },     { "play", "replay" },      { "playback", "replay" },
    { "serve", "replay" },    { "simulate", "replay" },  { "analyze", "inspect" },
    { "info", "inspect" },    { "report", "inspect" },   { "metrics", "stats" },
    { "summary", "inspect" }, { "cat", "show" },         { "dump", "show" },
    { "open", "show" },       { "print", "show" },       { "tail", "show" },
    { "timeline", "show" },   { "view", "show" },        { "dir", "list" },
    { "ls", "list" },         { "sessions", "list" },    { "traces", "list" },
    { "join", "convert" },    { "merge", "convert" },    { "compare", "diff" },
    { "fix", "check" },       { "lint", "check" },       { "repair", "check" },
    { "validate", "check" },  { "anonymize", "redact" }, { "mask", "redact" },
    { "snapshot", "lock" },   { "pin", "lock" },         { "sanitize", "redact" },
    { "scrub", "redact" },    { "man", "help" },
};

static const struct command *find_exact(const struct command *const *commands, const char *name)
{
    for (; *commands; commands++)
        if (strcmp((*commands)->name, name) == 0)
            return *commands;
    return NULL;
}

const char *command_alias(const struct command *const *commands, const char *name)
{
    for (size_t i = 0; i < sizeof other_verbs / sizeof other_verbs[0]; i++)
        if (strcmp(other_verbs[i].verb, name) == 0 &&
            find_exact(commands, other_verbs[i].command))
            return other_verbs[i].command;
    return NULL;
}

/* Returns the command to suggest for an unknown one; NULL if none is close. */
static const char *suggest_command(const struct command *const *commands, const char *name)
{
    struct suggest near = suggest_for(str_z(name));
    const char *alias = command_alias(commands, name);

    if (alias)
        return alias;
    for (; *commands; commands++)
        if (!(*commands)->hidden)
            suggest_try(&near, (*commands)->name);
    return near.best;
}

const struct command *command_find(const struct command *const *commands, const char *name,
                                   struct err *e)
{
    const struct command *found = find_exact(commands, name);
    const char *other = found ? NULL : suggest_command(commands, name);

    if (found)
        return found;
    err_set(e, ERR_USAGE, "unknown command '%s'", name);
    if (other)
        err_hint(e, "did you mean '%s'?", other);
    option_hint_help(e, NULL);
    return NULL;
}

enum option_extent command_extent(const struct command *c)
{
    return c->server && !c->operand ? OPTION_SERVER : OPTION_ALL;
}

static bool check_count(const struct command *c, const struct operands *in, struct err *e)
{
    if (in->count < (size_t)c->min) {
        err_set(e, ERR_USAGE, "missing %s for '%s'", c->operand, c->name);
        return option_hint_help(e, c->name);
    }
    if (c->max == COMMAND_ANY || in->count <= (size_t)c->max)
        return true;
    err_set(e, ERR_USAGE, "unexpected '%s' for '%s'", in->at[c->max], c->name);
    if (c->server && !in->server)
        err_hint(e, "the command of a server follows '--'");
    return option_hint_help(e, c->name);
}

static bool check_words(const struct command *c, const struct operands *in, struct err *e)
{
    for (size_t i = 0; c->takes == COMMAND_WORDS && i < in->count; i++)
        if (!option_value_choose(c->words, in->at[i], &(int){ 0 }, e))
            return option_hint_help(e, c->name);
    return true;
}

static bool check_server(const struct command *c, const struct operands *in, struct err *e)
{
    if (!in->server || (c->server && in->server_count))
        return true;
    if (!c->server)
        err_set(e, ERR_USAGE, "'%s' starts no server, so '--' has no meaning", c->name);
    else
        err_set(e, ERR_USAGE, "the command of the server is missing after '--'");
    return option_hint_help(e, c->name);
}

bool command_check(const struct command *c, const struct operands *in, struct err *e)
{
    return check_count(c, in, e) && check_words(c, in, e) && check_server(c, in, e);
}
