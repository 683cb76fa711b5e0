#include "cmd/repair.h"

static struct repair *repair_of(struct sink *mended)
{
    return (struct repair *)((char *)mended - offsetof(struct repair, mended));
}

/* No format writes what it does not know, and not every one says where something is
 * missing. */
static bool is_written(const struct repair *r, const struct record *rec)
{
    if (rec->kind == RECORD_GAP)
        return r->writer.format->keeps & PART_GAP;
    return rec->kind != RECORD_UNKNOWN;
}

static bool put_mended(struct sink *self, const struct record *rec, struct err *e)
{
    struct repair *r = repair_of(self);

    return (!is_written(r, rec) || r->left.sink.put(&r->left.sink, rec, e)) &&
           r->loss.sink.put(&r->loss.sink, rec, e) &&
           r->writer.sink.put(&r->writer.sink, rec, e);
}

static bool open_copy(struct repair *r, struct err *e)
{
    const struct format *read = format_by_name(str_z(r->file->format));
    const struct format *format = r->as ? r->as : read;

    if (r->open)
        return true;
    if (!format->put)
        return err_set(e, ERR_USAGE, "cannot repair '%s': '%s' is only read", r->file->path,
                       format->name);
    r->left.parts = format->keeps;
    r->loss.same = format == read;
    if (r->as) {
        r->loss.had = read->keeps;
        r->loss.keeps = format->keeps;
    }
    join_from(&r->join, 0, read->keeps);
    r->open = writer_open_whole(&r->writer, r->app->sys, r->path, r->replace, format, e);
    return r->open;
}

static bool repair_put(struct sink *self, const struct record *rec, struct err *e)
{
    struct repair *r = (struct repair *)self;

    return open_copy(r, e) && r->join.sink.put(&r->join.sink, rec, e);
}

void repair_init(struct repair *r, const struct app *app, const struct inspect_file *file,
                 const char *path, bool replace)
{
    *r = (struct repair){ .sink = { repair_put },
                          .mended = { put_mended },
                          .app = app,
                          .file = file,
                          .path = path,
                          .replace = replace };
    join_init(&r->join, 1, &r->mended);
    r->join.whole = true;
    stats_init(&r->left);
    loss_init(&r->loss, 0);
    r->left.thorough = true;
}

void repair_release(struct repair *r)
{
    if (r->open)
        writer_abandon(&r->writer);
    join_release(&r->join);
    stats_release(&r->left);
    loss_release(&r->loss);
}

/* A file without any record, such as a last line that is cut off, becomes one with a
 * header and a footer. */
bool repair_finish(struct repair *r, struct err *e)
{
    if (!open_copy(r, e) || !join_finish(&r->join, e))
        return false;
    stats_finish(&r->left);
    r->open = false;
    return writer_finish(&r->writer, e);
}
