#include "cmd/journal.h"

#include "format/reader.h"
#include "format/writer.h"
#include "trace/join.h"

static const char suffix[] = ".journal";

const char *journal_name(struct arena *a, const char *path, const struct format *format)
{
    return arena_printf(a, "%s.%s%s", path, format->name, suffix).at;
}

bool journal_is(const char *path, struct arena *a, const char **target,
                const struct format **format)
{
    struct str rest = str_z(path), end = str_z(suffix);

    if (!str_ends(rest, end))
        return false;
    rest.len -= end.len;
    for (const struct format *const *f = format_table; *f; f++) {
        struct str name = str_z((*f)->name);

        if ((*f)->lines || !(*f)->put || rest.len < name.len + 2 || !str_ends(rest, name) ||
            rest.at[rest.len - name.len - 1] != '.')
            continue;
        *target = arena_z(a, str_n(rest.at, rest.len - name.len - 1));
        *format = *f;
        return true;
    }
    return false;
}

static bool pour(const struct app *app, const char *journal, struct writer *w, struct err *e)
{
    struct join j;
    bool ok;

    join_init(&j, 1, &w->sink);
    j.whole = true;
    ok = reader_pour(app->sys, journal, app->log, &j.sink, e) && join_finish(&j, e);
    join_release(&j);
    return ok;
}

bool journal_finish(const struct app *app, const char *journal, const char *target,
                    const struct format *format, bool replace, bool *empty, struct err *e)
{
    struct writer w;

    if (!writer_open_whole(&w, app->sys, target, replace, format, e))
        return false;
    if (!pour(app, journal, &w, e)) {
        writer_abandon(&w);
        return false;
    }
    *empty = writer_is_empty(&w);
    if (!*empty)
        return writer_finish(&w, e);
    writer_abandon(&w);
    return true;
}
