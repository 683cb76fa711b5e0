#include "cmd/command.h"

#include "cmd/nearest.h"

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
        err_hint(e, "did you mean '%s'?\nsee 'mcpreel --help'", near.best);
    else
        err_hint(e, "see 'mcpreel --help'");
    return NULL;
}

static bool point_to_help(const struct command *c, struct err *e)
{
    return err_hint(e, "see 'mcpreel %s --help'", c->name);
}

static bool check_count(const struct command *c, size_t count, char *const *at, struct err *e)
{
    if (count < (size_t)c->min)
        err_set(e, ERR_USAGE, "'%s' needs %s%s", c->name, c->min > 1 ? "more: " : "",
                c->operand);
    else if (c->max != COMMAND_ANY && count > (size_t)c->max)
        err_set(e, ERR_USAGE, "'%s' is one too many for '%s'", at[c->max], c->name);
    else
        return true;
    return point_to_help(c, e);
}

static bool check_server(const struct command *c, const struct operands *in, struct err *e)
{
    if (!in->server || (c->server && in->server_count))
        return true;
    if (!c->server)
        err_set(e, ERR_USAGE, "'%s' starts no server, so '--' has no meaning", c->name);
    else
        err_set(e, ERR_USAGE, "the command of the server is missing after '--'");
    return point_to_help(c, e);
}

bool command_check(const struct command *c, const struct operands *in, struct err *e)
{
    return check_count(c, in->count, in->at, e) && check_server(c, in, e);
}
