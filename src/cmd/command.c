#include "cmd/command.h"

#include "base/nearest.h"
#include "cmd/option-value.h"

const struct command *command_find(const struct command *const *commands, const char *name,
                                   struct err *e)
{
    struct nearest near = nearest_to(str_z(name));

    for (; *commands; commands++) {
        if (strcmp((*commands)->name, name) == 0)
            return *commands;
        if (!(*commands)->hidden)
            nearest_try(&near, (*commands)->name);
    }
    err_set(e, ERR_USAGE, "unknown command '%s'", name);
    if (near.best)
        err_hint(e, "did you mean '%s'?", near.best);
    option_point_to_help(e, NULL);
    return NULL;
}

static bool check_count(const struct command *c, const struct operands *in, struct err *e)
{
    if (in->count < (size_t)c->min) {
        err_set(e, ERR_USAGE, "missing %s for '%s'", c->operand, c->name);
        return option_point_to_help(e, c->name);
    }
    if (c->max == COMMAND_ANY || in->count <= (size_t)c->max)
        return true;
    err_set(e, ERR_USAGE, "unexpected '%s' for '%s'", in->at[c->max], c->name);
    if (c->server && !in->server)
        err_hint(e, "the command of a server follows '--'");
    return option_point_to_help(e, c->name);
}

static bool check_words(const struct command *c, const struct operands *in, struct err *e)
{
    for (size_t i = 0; c->takes == COMMAND_WORDS && i < in->count; i++)
        if (!option_value_choose(c->words, in->at[i], &(int){ 0 }, e))
            return option_point_to_help(e, c->name);
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
    return option_point_to_help(e, c->name);
}

bool command_check(const struct command *c, const struct operands *in, struct err *e)
{
    return check_count(c, in, e) && check_words(c, in, e) && check_server(c, in, e);
}
