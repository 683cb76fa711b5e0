#include "cmd/command.h"

#include "cmd/nearest.h"
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
        err_hint(e, "did you mean '%s'?\nsee 'mcpreel --help'", near.best);
    else
        err_hint(e, "see 'mcpreel --help'");
    return NULL;
}

static bool point_to_help(const struct command *c, const char *first, struct err *e)
{
    return err_hint(e, "%ssee 'mcpreel %s --help'", first, c->name);
}

static bool check_count(const struct command *c, const struct operands *in, struct err *e)
{
    if (in->count < (size_t)c->min) {
        err_set(e, ERR_USAGE, "missing %s for '%s'", c->operand, c->name);
        return point_to_help(c, "", e);
    }
    if (c->max == COMMAND_ANY || in->count <= (size_t)c->max)
        return true;
    err_set(e, ERR_USAGE, "unexpected '%s' for '%s'", in->at[c->max], c->name);
    return point_to_help(
        c, c->server && !in->server ? "the command of a server follows '--'\n" : "", e);
}

static bool check_words(const struct command *c, const struct operands *in, struct err *e)
{
    for (size_t i = 0; c->takes == COMMAND_WORDS && i < in->count; i++)
        if (!option_value_choose(c->words, in->at[i], &(int){ 0 }, e))
            return false;
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
    return point_to_help(c, "", e);
}

bool command_check(const struct command *c, const struct operands *in, struct err *e)
{
    return check_count(c, in, e) && check_words(c, in, e) && check_server(c, in, e);
}
