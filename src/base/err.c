#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
{
    va_list ap;

    e->kind = kind;
    e->hint[0] = '\0';
    va_start(ap, fmt);
    vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    return false;
}

bool err_errno(struct err *e, int errnum)
{
    return err_set(e, ERR_IO, "%s", strerror(errnum));
}

bool err_cannot(struct err *e, const char *verb, const char *path, int errnum)
{
    err_errno(e, errnum);
    return err_wrap(e, "cannot %s '%s'", verb, path);
}

bool err_wrap(struct err *e, const char *fmt, ...)
{
    char inner[sizeof e->msg];
    size_t used;
    int n;
    va_list ap;

    memcpy(inner, e->msg, sizeof inner);
    va_start(ap, fmt);
    n = vsnprintf(e->msg, sizeof e->msg, fmt, ap);
    va_end(ap);
    used = n < 0 ? 0 : (size_t)n;
    if (used + 2 < sizeof e->msg) {
        memcpy(e->msg + used, ": ", 3);
        strncat(e->msg, inner, sizeof e->msg - used - 3);
    }
    return false;
}

bool err_hint(struct err *e, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(e->hint, sizeof e->hint, fmt, ap);
    va_end(ap);
    return false;
}

const char *err_reason(const struct err *e)
{
    const char *at = e->msg;

    for (const char *more; (more = strstr(at, ": "));)
        at = more + 2;
    return at;
}

void err_bug(const char *file, int line, const char *what)
{
    fprintf(stderr, "mcpreel: bug at %s:%d: %s\n", file, line, what);
    abort();
}
