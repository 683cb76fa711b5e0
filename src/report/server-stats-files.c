#include "report/server-stats-files.h"

#include "base/dir.h"
#include "format/reader.h"
#include "report/progress.h"

/* The operand that is being read. */
struct operand_read {
    struct server_stats_files *files;
    struct progress progress;
    struct log reader_log; /* without notes */
};

void server_stats_files_release(struct server_stats_files *f)
{
    arena_release(&f->arena);
}

static void note_failure(struct operand_read *o, const char *path, const struct err *e)
{
    struct server_stats_files *f = o->files;

    if (f->log_failures)
        log_err(progress_log(&o->progress), e);
    if (!f->failed)
        f->failure = e->kind;
    if (f->failed < SERVER_STATS_FILES_FAILURES)
        f->failures[f->failed] =
            (struct server_stats_failure){ arena_str(&f->arena, str_z(path)),
                                           arena_str(&f->arena, str_z(e->msg)) };
    f->failed++;
}

static bool read_records(struct operand_read *o, struct reader *r, struct err *e)
{
    struct sink *sink = &o->files->stats->sink;
    enum next_result next;
    struct record rec;

    while ((next = reader_next(r, &rec, e)) == NEXT_RECORD) {
        if (!sink->put(sink, &rec, e))
            return false;
        progress_update(&o->progress, o->files->bytes + reader_offset(r));
    }
    return next == NEXT_END;
}

/* A file of a folder may be anything, unless only recordings have such a name. */
static bool may_be_another_file(const char *path)
{
    return !format_is_recording_name(str_z(path)) || format_is_common_name(str_z(path));
}

static void read_file(struct operand_read *o, const char *path, bool in_folder)
{
    struct server_stats_files *f = o->files;
    struct err e = ERR_NONE;
    struct reader *r;

    if (!reader_open(&r, f->sys, path, &o->reader_log, &e)) {
        if (in_folder && e.kind == ERR_INPUT && may_be_another_file(path))
            f->other++;
        else
            note_failure(o, path, &e);
        return;
    }
    if (!read_records(o, r, &e))
        note_failure(o, path, &e);
    server_stats_end_file(f->stats);
    f->read++;
    f->bytes += reader_offset(r);
    f->notes += reader_note_count(r);
    reader_close(r);
}

static void read_folder_file(void *arg, const struct dir_file *file)
{
    read_file(arg, file->path, true);
}

void server_stats_files_add(struct server_stats_files *f, const char *path)
{
    struct operand_read o = { .files = f };
    struct err e = ERR_NONE;

    progress_init(&o.progress, f->log, f->show_progress, "reading", path);
    o.reader_log = *progress_log(&o.progress);
    o.reader_log.level = LOG_ERROR;
    if (!dir_exists(f->sys, path))
        read_file(&o, path, false);
    else if (!dir_each_file(path, read_folder_file, &o, &e))
        note_failure(&o, path, &e);
    progress_end(&o.progress);
}
