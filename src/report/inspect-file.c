#include "report/inspect-file.h"

#include "report/progress.h"

static bool put_record(const struct record *r, struct stats *s, struct sink *also,
                       struct err *e)
{
    return s->sink.put(&s->sink, r, e) && (!also || also->put(also, r, e));
}

/* Reads all records. A note that is counted at the end of the file means that the bytes after
 * the last record are damaged. */
static bool read_records(struct reader *r, bool find_lines, struct stats *s, struct sink *also,
                         struct progress *progress, struct err *e)
{
    struct record rec;

    for (;;) {
        uint64_t remarks = reader_note_count(r), offset = reader_offset(r);

        switch (reader_next(r, &rec, e)) {
        case NEXT_RECORD:
            if (find_lines && rec.kind == RECORD_MESSAGE)
                rec.message.line = reader_find_line(r, json_raw(rec.message.msg));
            if (!put_record(&rec, s, also, e))
                return false;
            progress_update(progress, reader_offset(r));
            break;
        case NEXT_END:
            if (reader_note_count(r) > remarks)
                stats_damaged_end(s, reader_offset(r) - offset);
            return true;
        default:
            return false;
        }
    }
}

bool inspect_file_read(struct inspect_file *file, const struct sys *sys, const struct log *log,
                       struct stats *s, struct sink *also, struct err *e)
{
    struct progress progress;
    struct reader *r;
    bool ok;

    progress_init(&progress, log, file->show_progress, "reading", file->path);
    if (!(file->salvage ? reader_open_for_repair : reader_open)(&r, sys, file->path,
                                                                progress_log(&progress), e))
        return false;
    progress.total = reader_size(r);
    file->format = reader_format(r)->name;
    s->features = reader_format(r)->keeps;
    ok = read_records(r, file->find_lines, s, also, &progress, e);
    progress_end(&progress);
    file->bytes = reader_offset(r);
    file->notes = reader_note_count(r);
    file->damage = *reader_damage(r);
    reader_close(r);
    return ok;
}
