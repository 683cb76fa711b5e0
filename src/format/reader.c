#include "format/reader.h"

#include <stdlib.h>

#include "base/atfile.h"
#include "base/mem.h"
#include "format/source.h"
#include "trace/limits.h"

enum { CHUNK = 256 << 10, PROBE_HEAD = 64 << 10 };

struct reader {
    struct notes notes;
    struct source source;
    const char *path;
    const struct log *log;
    const struct format *format;
    void *state;
    struct buf held; /* what was read and may still be needed */
    size_t taken;    /* held[0..taken) is consumed */
    uint64_t offset; /* of held[taken] in the unpacked file */
    uint64_t line;   /* of held[taken] */
    uint64_t remarks;
    bool ended;
};

static void note_put(struct notes *self, uint64_t line, uint64_t byte, const char *text)
{
    struct reader *r = (struct reader *)self;

    r->remarks++;
    log_say(r->log, LOG_WARN, "%s:%llu:%llu: %s", r->path, (unsigned long long)line,
            (unsigned long long)byte, text);
}

/* Grows what is held by one chunk, first giving back what was consumed. */
static bool read_more(struct reader *r, struct err *e)
{
    size_t got;
    char *to;

    buf_drop_front(&r->held, r->taken);
    r->taken = 0;
    to = buf_space(&r->held, CHUNK);
    if (!to)
        return err_set(e, ERR_LIMIT, "%s:%llu:1: a line or document of more than %zu MB",
                       r->path, (unsigned long long)r->line, LIMIT_LINE >> 20);
    if (!source_read(&r->source, to, CHUNK, &got, e))
        return false;
    buf_grew(&r->held, got);
    r->ended = got == 0;
    return true;
}

static struct str rest(const struct reader *r)
{
    return str_skip(buf_str(&r->held), r->taken);
}

/* Some editors and shells put a mark before UTF-8 text; it says nothing. */
static void skip_mark(struct reader *r)
{
    if (str_starts(rest(r), STR("\xef\xbb\xbf")))
        r->taken = r->offset = 3;
}

/* What PowerShell's '>' makes of JSON. */
static bool is_utf16(struct str head)
{
    return str_starts(head, STR("\xff\xfe")) || str_starts(head, STR("\xfe\xff")) ||
           str_starts(head, STR("{\0")) || str_starts(head, STR("\0{"));
}

static bool unknown_format(const struct reader *r, struct err *e)
{
    if (!is_utf16(rest(r)))
        return err_set(e, ERR_INPUT,
                       "%s:1:1: not a recording: no known format starts like this", r->path);
    err_set(e, ERR_INPUT, "%s:1:1: not a recording: it is UTF-16, not UTF-8", r->path);
    return err_hint(e, "convert it first: iconv -f UTF-16 -t UTF-8");
}

static bool find_format(struct reader *r, struct err *e)
{
    while (!r->ended && r->held.len < PROBE_HEAD)
        if (!read_more(r, e))
            return false;
    if (!r->held.len)
        return err_set(e, ERR_INPUT, "cannot read '%s': it is empty", r->path);
    skip_mark(r);
    for (const struct format *const *f = format_table; *f; f++)
        if ((*f)->probe(rest(r))) {
            r->format = *f;
            r->state = r->format->open();
            return true;
        }
    return unknown_format(r, e);
}

bool reader_open(struct reader **out, const struct sys *sys, const char *path,
                 const struct log *log, struct err *e)
{
    struct reader *r = mem_new(struct reader);

    *r = (struct reader){ .notes = { note_put }, .path = path, .log = log, .line = 1 };
    buf_init(&r->held, LIMIT_LINE + CHUNK);
    if (!source_open(&r->source, sys, path, e)) {
        free(r);
        return false;
    }
    if (!find_format(r, e)) {
        reader_close(r);
        return false;
    }
    *out = r;
    return true;
}

void reader_close(struct reader *r)
{
    if (!r)
        return;
    if (r->format)
        r->format->close(r->state);
    source_close(&r->source);
    buf_release(&r->held);
    free(r);
}

enum next reader_next(struct reader *r, struct record *rec, struct err *e)
{
    for (;;) {
        struct window w = { rest(r), r->ended, r->line, r->path, &r->notes };
        struct taken t = { 0 };
        enum next next = r->format->next(r->state, &w, &t, rec, e);

        BUG_IF(t.bytes > w.bytes.len);
        r->taken += t.bytes;
        r->offset += t.bytes;
        r->line += t.lines;
        if (next == NEXT_SKIP)
            continue;
        if (next != NEXT_MORE)
            return next;
        do {
            BUG_IF(r->ended);
            if (!read_more(r, e))
                return NEXT_ERROR;
        } while (!r->ended && rest(r).len < t.want);
    }
}

const struct format *reader_format(const struct reader *r)
{
    return r->format;
}

uint64_t reader_notes(const struct reader *r)
{
    return r->remarks;
}

uint64_t reader_offset(const struct reader *r)
{
    return r->offset;
}

uint64_t reader_size(struct reader *r)
{
    struct err ignored = ERR_NONE;
    uint64_t size;

    if (r->source.unpacker || !file_size(&r->source.file, &size, &ignored))
        return 0;
    return size;
}

bool reader_locate(const struct reader *r, struct str bytes, uint64_t *at)
{
    const char *from = r->held.at;

    if (r->source.unpacker || !from || bytes.at < from ||
        bytes.at + bytes.len > from + r->held.len)
        return false;
    /* `offset` is where held[taken] stands. */
    *at = r->offset - r->taken + (uint64_t)(bytes.at - from);
    return true;
}

bool reader_read_at(struct reader *r, uint64_t at, char *to, size_t len, struct err *e)
{
    return atfile_read(&r->source.file, at, to, len, e);
}

void reader_settle(struct reader *r)
{
    r->format->close(r->state);
    r->state = r->format->open();
    buf_release(&r->held);
    buf_init(&r->held, LIMIT_LINE + CHUNK);
    r->taken = 0;
}

bool reader_pour(const struct sys *sys, const char *path, const struct log *log,
                 struct sink *to, struct err *e)
{
    struct reader *r;
    struct record rec;
    enum next next;
    bool ok = true;

    if (!reader_open(&r, sys, path, log, e))
        return false;
    while (ok && (next = reader_next(r, &rec, e)) != NEXT_END)
        ok = next == NEXT_RECORD && to->put(to, &rec, e);
    reader_close(r);
    return ok;
}
