#include "format/writer.h"

#include "trace/limits.h"

static bool writer_put(struct sink *self, const struct record *r, struct err *e)
{
    struct writer *w = (struct writer *)self;
    struct err ignored = ERR_NONE;
    size_t done;

    buf_clear(&w->text);
    w->format->put(&w->text, r);
    if (!buf_ok(&w->text, e))
        return err_wrap(e, "cannot write a record to '%s'", w->file.path);
    if (file_write(&w->file, buf_str(&w->text), &done, e)) {
        w->size += w->text.len;
        return true;
    }
    if (done && !file_truncate(&w->file, w->size, &ignored))
        w->size += done; /* the torn record stays; nothing more can be done here */
    return false;
}

bool writer_open(struct writer *w, const struct sys *sys, const char *path, bool replace,
                 const struct format *format, struct err *e)
{
    *w = (struct writer){ .sink = { writer_put }, .format = format };
    buf_init(&w->text, LIMIT_LINE);
    return file_create(&w->file, sys, path, replace, e);
}

bool writer_finish(struct writer *w, struct err *e)
{
    bool synced = file_sync(&w->file, e);
    struct err closing = ERR_NONE;
    bool closed = file_close(&w->file, synced ? e : &closing);

    buf_release(&w->text);
    return synced && closed;
}

void writer_abandon(struct writer *w)
{
    struct err ignored = ERR_NONE;

    w->file.sys->unlink(w->file.sys, w->file.path);
    file_close(&w->file, &ignored);
    buf_release(&w->text);
}
