#include "cmd/repair.h"

static struct repair *repair_of(struct sink *mended)
{
    return (struct repair *)((char *)mended - offsetof(struct repair, repaired));
}

/* Returns whether the format writes the record: no unknown ones, and gaps only if it has
 * them. */
static bool is_written(const struct repair *r, const struct record *rec)
{
    if (rec->kind == RECORD_GAP)
        return r->writer.format->keeps & FEATURE_GAP;
    return rec->kind != RECORD_UNKNOWN;
}

static bool put_repaired(struct sink *self, const struct record *rec, struct err *e)
{
    struct repair *r = repair_of(self);

    return (!is_written(r, rec) || r->remaining.sink.put(&r->remaining.sink, rec, e)) &&
           r->loss.sink.put(&r->loss.sink, rec, e) &&
           r->writer.sink.put(&r->writer.sink, rec, e);
}

static bool open_copy(struct repair *r, struct err *e)
{
    const struct format *read = format_by_name(str_z(r->file->format));
    const struct format *format = r->target_format ? r->target_format : read;

    if (r->open)
        return true;
    if (!format->put)
        return err_set(e, ERR_USAGE, "cannot repair '%s': the format '%s' can only be read",
                       r->file->path, format->name);
    r->remaining.features = format->keeps;
    r->loss.same_format = format == read;
    if (r->target_format) {
        r->loss.source_keeps = read->keeps;
        r->loss.keeps = format->keeps;
    }
    combine_select_input(&r->combine, 0, read->keeps);
    r->open = writer_open(&r->writer, r->app->sys, r->path, r->replace, format, NULL, e);
    return r->open;
}

static bool repair_put(struct sink *self, const struct record *rec, struct err *e)
{
    struct repair *r = (struct repair *)self;

    return open_copy(r, e) && r->combine.sink.put(&r->combine.sink, rec, e);
}

void repair_init(struct repair *r, const struct app *app, const struct inspect_file *file,
                 const char *path, bool replace)
{
    *r = (struct repair){ .sink = { repair_put },
                          .repaired = { put_repaired },
                          .app = app,
                          .file = file,
                          .path = path,
                          .replace = replace };
    combine_init(&r->combine, 1, &r->repaired);
    r->combine.add_header_footer = true;
    stats_init(&r->remaining);
    loss_init(&r->loss, 0);
    r->remaining.thorough = true;
}

void repair_release(struct repair *r)
{
    if (r->open)
        writer_abort(&r->writer);
    combine_release(&r->combine);
    stats_release(&r->remaining);
    loss_release(&r->loss);
}

/* Writes a header and a footer even for a file without records, such as one cut off in its
 * first line. */
bool repair_finish(struct repair *r, struct err *e)
{
    if (!open_copy(r, e) || !combine_finish(&r->combine, e))
        return false;
    stats_finish(&r->remaining);
    r->open = false;
    return writer_finish(&r->writer, e);
}
