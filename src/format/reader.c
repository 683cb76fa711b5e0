#include "format/reader.h"

#include <stdlib.h>

#include "base/ahead.h"
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
    bool follows;       /* the file may still grow: nothing read is not the end */
    bool starved;       /* the last read gave nothing */
    struct ahead again; /* for what is read once more */

    /* If it is to be repaired. */
    bool salvage;
    struct err cut; /* what is wrong with packed data; what follows it is not there */
    struct reader_damage damage;
    struct record gap, after; /* to come, in this order, if `amid_gap` */
    enum next next;           /* what comes with `after` */
    bool amid_gap;
};

static void note_put(struct notes *self, uint64_t line, uint64_t byte, const char *text)
{
    struct reader *r = (struct reader *)self;

    r->remarks++;
    log_say(r->log, LOG_WARN, "%s:%llu:%llu: %s", r->path, (unsigned long long)line,
            (unsigned long long)byte, text);
}

/* What was packed badly ends where it cannot be unpacked any further. That it is cut off
 * happens to every recording whose writer did not end well: it is a torn end like others. */
static bool read_source(struct reader *r, char *to, size_t *got, struct err *e)
{
    *got = 0;
    if (r->damage.packed || source_read(&r->source, to, CHUNK, got, e))
        return true;
    if (e->kind != ERR_INPUT || !(r->salvage || r->source.cut))
        return false;
    r->damage.packed = true;
    r->cut = *e;
    *e = (struct err)ERR_NONE;
    return true;
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
    if (!read_source(r, to, &got, e))
        return false;
    buf_grew(&r->held, got);
    r->starved = got == 0;
    r->ended = r->starved && !r->follows;
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

/* The strict reader's word to those who would rather have a part than nothing. */
static void point_to_repair(const struct reader *r, const struct format *f, struct err *e)
{
    if (f && f->drop && e->kind == ERR_INPUT && !e->hint[0] && strcmp(r->path, "-") != 0)
        err_hint(e, "to save what can be read: mcpreel check --fix %s", r->path);
}

static const struct format *probe(struct str head)
{
    for (const struct format *const *f = format_table; *f; f++)
        if ((*f)->probe(head))
            return *f;
    return NULL;
}

static bool find_format(struct reader *r, struct err *e)
{
    while (!r->starved && r->held.len < PROBE_HEAD)
        if (!read_more(r, e)) {
            point_to_repair(r, probe(rest(r)), e);
            return false;
        }
    if (!r->held.len && r->damage.packed) {
        *e = r->cut;
        return false;
    }
    if (!r->held.len) {
        err_set(e, ERR_INPUT, "cannot read '%s': it is empty", r->path);
        return err_hint(e, "a recorder that ended before its first line leaves such a file; "
                           "delete it and record again");
    }
    skip_mark(r);
    r->format = probe(rest(r));
    if (!r->format)
        return unknown_format(r, e);
    r->state = r->format->open();
    return true;
}

/* How a file is opened. */
enum way { AS_USUAL, TO_SALVAGE, TO_FOLLOW };

static bool open_reader(struct reader **out, const struct sys *sys, const char *path,
                        const struct log *log, enum way way, struct err *e)
{
    struct reader *r = mem_new(struct reader);

    *r = (struct reader){ .notes = { note_put }, .path = path, .log = log, .line = 1 };
    r->salvage = way == TO_SALVAGE;
    buf_init(&r->held, LIMIT_LINE + CHUNK);
    ahead_init(&r->again, &r->source.file);
    if (!source_open(&r->source, sys, path, e)) {
        free(r);
        return false;
    }
    r->follows = way == TO_FOLLOW && !r->source.unpacker;
    if (!find_format(r, e)) {
        reader_close(r);
        return false;
    }
    *out = r;
    return true;
}

bool reader_open(struct reader **out, const struct sys *sys, const char *path,
                 const struct log *log, struct err *e)
{
    return open_reader(out, sys, path, log, AS_USUAL, e);
}

bool reader_open_damaged(struct reader **out, const struct sys *sys, const char *path,
                         const struct log *log, struct err *e)
{
    return open_reader(out, sys, path, log, TO_SALVAGE, e);
}

bool reader_open_following(struct reader **out, const struct sys *sys, const char *path,
                           const struct log *log, struct err *e)
{
    return open_reader(out, sys, path, log, TO_FOLLOW, e);
}

void reader_stop_following(struct reader *r)
{
    r->follows = false;
}

void reader_close(struct reader *r)
{
    if (!r)
        return;
    if (r->format)
        r->format->close(r->state);
    source_close(&r->source);
    buf_release(&r->held);
    ahead_release(&r->again);
    free(r);
}

static void take(struct reader *r, const struct taken *t)
{
    BUG_IF(t->bytes > rest(r).len);
    r->taken += t->bytes;
    r->offset += t->bytes;
    r->line += t->lines;
}

/* What the format says next; if it is an error, `*t` is what it said of it. */
static enum next next_record(struct reader *r, struct record *rec, struct taken *t,
                             struct err *e)
{
    for (;;) {
        struct window w = { rest(r), r->ended, r->line, r->path, &r->notes };
        enum next next;

        *t = (struct taken){ 0 };
        next = r->format->next(r->state, &w, t, rec, e);
        take(r, t);
        if (next == NEXT_SKIP)
            continue;
        if (next != NEXT_MORE)
            return next;
        t->refused = true; /* what cannot be shown cannot be passed over either */
        do {
            BUG_IF(r->ended);
            if (!read_more(r, e)) {
                point_to_repair(r, r->format, e);
                return NEXT_ERROR;
            }
        } while (!r->starved && rest(r).len < t->want);
        if (r->starved && r->follows)
            return NEXT_MORE;
    }
}

static bool skip_line(struct reader *r, size_t *bytes, struct err *e)
{
    for (;;) {
        size_t len = str_find(rest(r), '\n');
        bool ended = len < rest(r).len;

        take(r, &(struct taken){ .bytes = len + ended, .lines = ended });
        *bytes += len + ended;
        if (ended || r->ended)
            return true;
        if (!read_more(r, e))
            return false;
    }
}

/* Lines that follow each other are one place. */
static void add_damage(struct reader *r, uint64_t first, uint64_t last, const char *why)
{
    struct reader_damage *d = &r->damage;
    size_t n = d->count;

    d->lines += last - first + 1;
    if (n && n <= READER_PLACES && d->at[n - 1].last + 1 == first) {
        d->at[n - 1].last = last;
        return;
    }
    if (n < READER_PLACES) {
        d->at[n].first = first;
        d->at[n].last = last;
        log_say(r->log, LOG_WARN, "%s; left out", why);
    }
    d->count++;
    r->remarks++;
}

/* Past the damage that `t` and `e` are about. */
static bool pass_over(struct reader *r, const struct taken *t, struct err *e)
{
    uint64_t line = r->line - t->lines;
    struct err why = *e;
    size_t bytes = t->bytes;

    r->format->drop(r->state);
    if (!bytes && !skip_line(r, &bytes, e))
        return false;
    *e = (struct err)ERR_NONE;
    add_damage(r, line, t->lines ? line + t->lines - 1 : line, why.msg);
    r->gap.kind = RECORD_GAP;
    r->gap.has = HAS_TOTALS;
    r->gap.gap.messages++;
    r->gap.gap.bytes += bytes;
    r->gap.gap.why = STR("damaged");
    return true;
}

static enum next tell_cut(struct reader *r, enum next next)
{
    if (next != NEXT_END || !r->cut.kind)
        return next;
    if (r->source.cut) {
        note_put(&r->notes, r->line, 1, "the packed data is cut off; used up to here");
    } else {
        r->remarks++;
        log_say(r->log, LOG_WARN, "%s; used up to there", r->cut.msg);
    }
    r->cut = (struct err)ERR_NONE;
    return next;
}

/* A gap comes before what follows it. */
static enum next come_to(struct reader *r, enum next next, struct record *rec)
{
    if (!r->gap.gap.messages)
        return tell_cut(r, next);
    r->after = *rec;
    r->next = next;
    r->amid_gap = true;
    *rec = r->gap;
    r->gap = (struct record){ 0 };
    return NEXT_RECORD;
}

enum next reader_next(struct reader *r, struct record *rec, struct err *e)
{
    if (r->amid_gap) {
        r->amid_gap = false;
        *rec = r->after;
        return tell_cut(r, r->next);
    }
    for (;;) {
        struct taken t;
        enum next next = next_record(r, rec, &t, e);

        if (next != NEXT_ERROR)
            return come_to(r, next, rec);
        if (t.refused || !r->format->drop || e->kind != ERR_INPUT)
            return NEXT_ERROR;
        if (!r->salvage) {
            point_to_repair(r, r->format, e);
            return NEXT_ERROR;
        }
        if (!pass_over(r, &t, e))
            return NEXT_ERROR;
    }
}

const struct reader_damage *reader_damage(const struct reader *r)
{
    return &r->damage;
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
    return ahead_read(&r->again, at, to, len, e);
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
