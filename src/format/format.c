#include "format/format.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/pack.h"

const struct format *const format_table[] = {
    &recording_format,
    &trace_format,
    &jsonrpc_format,
    NULL,
};

const struct format *format_by_name(struct str name)
{
    for (const struct format *const *f = format_table; *f; f++)
        if (str_eq(str_z((*f)->name), name))
            return *f;
    return NULL;
}

/* How much of the name the format's extensions explain. */
static size_t match_name(const struct format *f, struct str name)
{
    size_t longest = 0;

    for (const char *const *ext = f->ext; *ext; ext++)
        if (str_ends(name, str_z(*ext)) && strlen(*ext) > longest)
            longest = strlen(*ext);
    return longest;
}

const struct format *format_by_path(struct str path)
{
    const struct format *best = NULL;
    size_t longest = 0;

    pack_by_name(path, &path);
    for (const struct format *const *f = format_table; *f; f++) {
        size_t match = match_name(*f, path);
        if (match > longest && (*f)->put) {
            longest = match;
            best = *f;
        }
    }
    return best;
}

enum next format_error(const struct window *w, size_t at, struct err *e, const char *fmt, ...)
{
    struct str before = str_n(w->bytes.at, at < w->bytes.len ? at : w->bytes.len);
    uint64_t line = w->line;
    char text[sizeof e->msg];
    va_list ap;

    for (size_t n; (n = str_find(before, '\n')) < before.len; line++)
        before = str_skip(before, n + 1);
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    err_set(e, ERR_INPUT, "%s:%llu:%zu: %s", w->path, (unsigned long long)line, before.len + 1,
            text);
    return NEXT_ERROR;
}
