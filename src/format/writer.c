#include "format/writer.h"

#include "trace/limits.h"

enum { PIECE = 256 << 10 };

static bool write_text(struct writer *w, struct err *e)
{
    size_t done;

    if (!buf_ok(&w->text, e))
        return err_wrap(e, "cannot write a record to '%s'", w->file.path);
    return file_write(&w->file, buf_str(&w->text), &done, e);
}

static bool writer_put(struct sink *self, const struct record *r, struct err *e)
{
    struct writer *w = (struct writer *)self;
    bool ok;

    w->format->put(w->state, &w->text, r);
    if (w->text.len < PIECE && !w->text.full)
        return true;
    ok = write_text(w, e);
    buf_clear(&w->text);
    return ok;
}

static bool begin(struct writer *w)
{
    if (w->format->begin)
        w->state = w->format->begin();
    return true;
}

bool writer_open_whole(struct writer *w, const struct sys *sys, const char *path, bool replace,
                       const struct format *format, struct err *e)
{
    *w = (struct writer){ .sink = { writer_put }, .format = format };
    buf_init(&w->text, LIMIT_LINE + PIECE);
    if (!str_eq(str_z(path), STR("-")))
        return draft_open(&w->draft, &w->file, sys, path, replace, e) && begin(w);
    w->file = file_standard_output(sys);
    return begin(w);
}

static void end_text(struct writer *w)
{
    if (w->format->end)
        w->format->end(w->state, &w->text);
}

/* Standard output is neither synced nor closed: it may be a pipe, and is not ours. */
static bool close_whole(struct writer *w, bool ok, struct err *e)
{
    if (!w->draft.at)
        return ok;
    if (ok)
        return draft_keep(&w->draft, &w->file, e);
    draft_drop(&w->draft, &w->file);
    return false;
}

bool writer_finish(struct writer *w, struct err *e)
{
    bool ok;

    end_text(w);
    ok = write_text(w, e);
    buf_release(&w->text);
    return close_whole(w, ok, e);
}

void writer_abandon(struct writer *w)
{
    struct err ignored = ERR_NONE;

    end_text(w);
    buf_release(&w->text);
    close_whole(w, false, &ignored);
}
