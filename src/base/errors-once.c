#include "base/errors-once.h"

#include <string.h>

static bool is_known(const struct errors_once *t, unsigned kind, bool by_reason,
                     const char *msg)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->at[i].kind == kind && (!by_reason || strcmp(t->at[i].err.msg, msg) == 0))
            return true;
    return false;
}

void errors_once_add(struct errors_once *t, unsigned kind, bool by_reason, const struct err *e)
{
    BUG_IF(!kind);
    if (t->count < ERRORS_ONCE_MAX && !is_known(t, kind, by_reason, e->msg))
        t->at[t->count++] = (struct errors_once_entry){ kind, *e };
}

unsigned errors_once_next(struct errors_once *t, struct err *e)
{
    if (t->reported == t->count)
        return 0;
    *e = t->at[t->reported].err;
    return t->at[t->reported++].kind;
}
