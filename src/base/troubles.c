#include "base/troubles.h"

#include <string.h>

static bool is_known(const struct troubles *t, unsigned kind, bool by_reason, const char *msg)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->at[i].kind == kind && (!by_reason || strcmp(t->at[i].err.msg, msg) == 0))
            return true;
    return false;
}

void troubles_add(struct troubles *t, unsigned kind, bool by_reason, const struct err *e)
{
    BUG_IF(!kind);
    if (t->count < TROUBLES_MAX && !is_known(t, kind, by_reason, e->msg))
        t->at[t->count++] = (struct trouble){ kind, *e };
}

unsigned troubles_take(struct troubles *t, struct err *e)
{
    if (t->told == t->count)
        return 0;
    *e = t->at[t->told].err;
    return t->at[t->told++].kind;
}
