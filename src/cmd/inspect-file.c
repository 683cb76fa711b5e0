#include "cmd/inspect-file.h"

#include "cmd/progress.h"

static bool put(const struct record *r, struct stats *s, struct sink *also, struct err *e)
{
    return s->sink.put(&s->sink, r, e) && (!also || also->put(also, r, e));
}

/* A remark that comes with the end is about the end: what follows the last record is
 * damaged. */
static bool pour(struct reader *r, struct stats *s, struct sink *also,
                 struct progress *progress, struct err *e)
{
    struct record rec;

    for (;;) {
        uint64_t remarks = reader_notes(r), offset = reader_offset(r);

        switch (reader_next(r, &rec, e)) {
        case NEXT_RECORD:
            if (!put(&rec, s, also, e))
                return false;
            progress_at(progress, reader_offset(r));
            break;
        case NEXT_END:
            if (reader_notes(r) > remarks)
                stats_damaged_end(s, reader_offset(r) - offset);
            return true;
        default:
            return false;
        }
    }
}

bool inspect_file_read(const struct app *app, struct inspect_file *file, struct stats *s,
                       struct sink *also, struct err *e)
{
    struct progress progress;
    struct reader *r;
    bool ok;

    progress_init(&progress, app, "reading", file->path);
    if (!(file->salvage ? reader_open_damaged : reader_open)(&r, app->sys, file->path,
                                                             progress_log(&progress), e))
        return false;
    progress.total = reader_size(r);
    file->format = reader_format(r)->name;
    s->parts = reader_format(r)->keeps;
    ok = pour(r, s, also, &progress, e);
    progress_end(&progress);
    file->bytes = reader_offset(r);
    file->remarks = reader_notes(r);
    file->damage = *reader_damage(r);
    reader_close(r);
    return ok;
}
