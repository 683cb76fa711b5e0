#include "format/shelf-file.h"

#include "base/atfile.h"
#include "trace/limits.h"

enum { WRITTEN_AT_ONCE = 256 << 10 };

static bool flush(struct shelf_file *f, struct err *e)
{
    size_t done;

    if (!f->waiting.len)
        return true;
    if (!file_write(&f->copy, buf_str(&f->waiting), &done, e))
        return false;
    buf_clear(&f->waiting);
    return true;
}

/* Adds to what waits. The last bit of a place tells the copy from the file. */
static bool copy(struct shelf_file *f, struct str bytes, struct shelf_place *where,
                 struct err *e)
{
    if (f->copy.fd < 0 && !atfile_nameless(&f->copy, f->sys, f->tmp, e))
        return false;
    *where = (struct shelf_place){ f->copied << 1 | 1, (uint32_t)bytes.len };
    buf_add(&f->waiting, bytes);
    f->copied += bytes.len;
    return true;
}

static bool flush_if_much(struct shelf_file *f, struct err *e)
{
    return f->waiting.len < WRITTEN_AT_ONCE || flush(f, e);
}

static bool store(struct shelf *self, struct str bytes, struct shelf_place *where,
                  struct err *e)
{
    struct shelf_file *f = (struct shelf_file *)self;

    return copy(f, bytes, where, e) && flush_if_much(f, e);
}

static bool keep(struct shelf *self, struct str message, struct shelf_place *where,
                 struct err *e)
{
    struct shelf_file *f = (struct shelf_file *)self;
    uint64_t at;

    if (reader_locate(f->reader, message, &at)) {
        *where = (struct shelf_place){ at << 1, (uint32_t)message.len };
        return true;
    }
    if (!copy(f, message, where, e))
        return false;
    shelf_flatten(f->waiting.at + f->waiting.len - message.len, message.len);
    return flush_if_much(f, e);
}

static bool fetch(struct shelf *self, struct shelf_place where, struct buf *to, struct err *e)
{
    struct shelf_file *f = (struct shelf_file *)self;
    struct str known;
    char *text;
    bool ok;

    buf_clear(to);
    if (recent_find(&f->recent, where.at, where.len, &known)) {
        buf_add(to, known);
        return true;
    }
    text = buf_space(to, where.len);
    BUG_IF(!text);
    ok = where.at & 1 ? flush(f, e) && ahead_read(&f->again, where.at >> 1, text, where.len, e)
                      : reader_read_at(f->reader, where.at >> 1, text, where.len, e);
    if (!ok)
        return false;
    buf_grew(to, where.len);
    if (!(where.at & 1))
        shelf_flatten(to->at, to->len);
    recent_keep(&f->recent, where.at, buf_str(to));
    return true;
}

bool shelf_file_open(struct shelf_file *f, const struct sys *sys, const char *path,
                     const char *tmp, const struct log *log, struct err *e)
{
    *f = (struct shelf_file){
        .shelf = { keep, store, fetch }, .sys = sys, .tmp = tmp, .copy = FILE_CLOSED
    };
    buf_init(&f->waiting, LIMIT_LINE + WRITTEN_AT_ONCE);
    ahead_init(&f->again, &f->copy);
    recent_init(&f->recent);
    return reader_open(&f->reader, sys, path, log, e);
}

void shelf_file_close(struct shelf_file *f)
{
    struct err ignored = ERR_NONE;

    reader_close(f->reader);
    ahead_release(&f->again);
    recent_release(&f->recent);
    file_close(&f->copy, &ignored);
    buf_release(&f->waiting);
}

bool shelf_file_pour(struct shelf_file *f, struct sink *to, struct err *e)
{
    struct record rec;
    enum next next;
    bool ok = true;

    while (ok && (next = reader_next(f->reader, &rec, e)) != NEXT_END)
        ok = next == NEXT_RECORD && to->put(to, &rec, e);
    ok = ok && flush(f, e);
    reader_settle(f->reader);
    return ok;
}
