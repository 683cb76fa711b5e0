#include "format/writer.h"

#include "trace/limits.h"

/* A record behind half a one would spoil both, and with them the recording. */
static bool cut_back(struct writer *w, struct err *e)
{
    w->torn = w->torn && !file_truncate(&w->file, w->size, e);
    return !w->torn;
}

/* What was composed, as one write. */
static bool write_text(struct writer *w, struct err *e)
{
    struct err ignored = ERR_NONE;
    size_t done;

    if (!buf_ok(&w->text, e))
        return err_wrap(e, "cannot write a record to '%s'", w->file.path);
    if (!cut_back(w, e))
        return false;
    if (file_write(&w->file, buf_str(&w->text), &done, e)) {
        w->size += w->text.len;
        return true;
    }
    w->torn = done > 0;
    cut_back(w, &ignored);
    return false;
}

static bool writer_put(struct sink *self, const struct record *r, struct err *e)
{
    struct writer *w = (struct writer *)self;

    buf_clear(&w->text);
    w->format->put(w->state, &w->text, r);
    return write_text(w, e);
}

bool writer_open(struct writer *w, const struct sys *sys, const char *path, bool replace,
                 const struct format *format, struct err *e)
{
    *w = (struct writer){ .sink = { writer_put }, .format = format };
    buf_init(&w->text, LIMIT_LINE);
    if (!file_create(&w->file, sys, path, replace, e))
        return false;
    if (format->begin)
        w->state = format->begin();
    return true;
}

static void end_text(struct writer *w)
{
    buf_clear(&w->text);
    if (w->format->end)
        w->format->end(w->state, &w->text);
}

bool writer_finish(struct writer *w, struct err *e)
{
    struct err later = ERR_NONE;
    bool ok;

    end_text(w);
    ok = write_text(w, e);
    ok = file_sync(&w->file, ok ? e : &later) && ok;
    ok = file_close(&w->file, ok ? e : &later) && ok;
    buf_release(&w->text);
    return ok;
}

void writer_abandon(struct writer *w)
{
    struct err ignored = ERR_NONE;

    end_text(w);
    w->file.sys->unlink(w->file.sys, w->file.path);
    file_close(&w->file, &ignored);
    buf_release(&w->text);
}
