#include "format/reader.h"

#include <stdlib.h>

#include "base/mem.h"
#include "format/input.h"
#include "format/read-ahead.h"
#include "format/unread-format.h"
#include "trace/limits.h"

enum { CHUNK = 256 << 10, PROBE_HEAD = 64 << 10 };

struct reader {
    struct notes notes;
    struct input input;
    const char *path;
    const struct log *log;
    const struct format *format;
    void *state;
    struct buf window;             /* read, and may still be needed */
    size_t consumed;               /* window[0..consumed) was used */
    uint64_t offset;               /* of window[consumed] in the decompressed file */
    uint64_t line;                 /* of window[consumed] */
    struct consumed last;          /* by the last record; its position is before `consumed` */
    uint64_t known_at, known_line; /* an offset and its line, of reader_find_line() */
    uint64_t note_count;
    bool ended;
    bool following;               /* the file may grow: no data is not the end */
    bool no_data;                 /* set if the last read returned nothing */
    struct read_ahead read_ahead; /* of reader_read_at() */

    /* For repair. */
    bool repair;
    struct err decompress_error; /* of the compressed data, which ends there */
    struct reader_damage damage;
    struct record gap, after_gap;      /* if `gap_delivered`: `after_gap` is the next record */
    enum next_result after_gap_result; /* returned with `after_gap` */
    bool gap_delivered;
};

static void note_put(struct notes *self, uint64_t line, uint64_t byte, const char *text)
{
    struct reader *r = (struct reader *)self;

    r->note_count++;
    log_printf(r->log, LOG_WARN, "%s:%llu:%llu: %s", r->path, (unsigned long long)line,
               (unsigned long long)byte, text);
}

/* Damaged compressed data ends where it cannot be decompressed any further. Truncated data is
 * no damage: it is left by every writer that crashed. */
static bool read_input(struct reader *r, char *to, size_t *got, struct err *e)
{
    *got = 0;
    if (r->damage.decompress_failed || input_read(&r->input, to, CHUNK, got, e))
        return true;
    if (e->kind != ERR_INPUT || !(r->repair || r->input.truncated))
        return false;
    r->damage.decompress_failed = true;
    r->decompress_error = *e;
    *e = (struct err)ERR_NONE;
    return true;
}

/* Drops consumed bytes, then reads another chunk. */
static bool read_more(struct reader *r, struct err *e)
{
    size_t got;
    char *to;

    buf_drop_front(&r->window, r->consumed);
    r->consumed = 0;
    to = buf_reserve(&r->window, CHUNK);
    if (!to)
        return err_set(e, ERR_LIMIT, "%s:%llu:1: a line or document of more than %zu MB",
                       r->path, (unsigned long long)r->line, LIMIT_LINE >> 20);
    if (!read_input(r, to, &got, e))
        return false;
    buf_commit(&r->window, got);
    r->no_data = got == 0;
    r->ended = r->no_data && !r->following;
    return true;
}

static struct str unread(const struct reader *r)
{
    return str_skip(buf_str(&r->window), r->consumed);
}

/* Some editors and shells write a byte order mark before UTF-8 text. */
static void skip_bom(struct reader *r)
{
    if (str_starts(unread(r), STR("\xef\xbb\xbf")))
        r->consumed = r->offset = 3;
}

/* PowerShell's '>' writes UTF-16. */
static bool is_utf16(struct str head)
{
    return str_starts(head, STR("\xff\xfe")) || str_starts(head, STR("\xfe\xff")) ||
           str_starts(head, STR("{\0")) || str_starts(head, STR("\0{"));
}

static bool report_unread_format(const struct reader *r, const struct unread_format *f,
                                 struct err *e)
{
    if (f->written) {
        err_set(e, ERR_INPUT, "%s:1:1: a file of the format '%s', which mcpreel only writes",
                r->path, f->written);
        return err_hint(e, "give the recording that it was made from");
    }
    err_set(e, ERR_INPUT, "%s:1:1: a file of %s, which mcpreel does not read", r->path,
            f->program);
    return err_hint(e, "send us a file, so that mcpreel can read it: docs/formats/README.md");
}

static bool report_unknown_format(const struct reader *r, struct err *e)
{
    const struct unread_format *f = unread_format_find(unread(r));

    if (f)
        return report_unread_format(r, f, e);
    if (!is_utf16(unread(r)))
        return err_set(e, ERR_INPUT,
                       "%s:1:1: not a recording: no known format starts like this", r->path);
    err_set(e, ERR_INPUT, "%s:1:1: not a recording: it is UTF-16, not UTF-8", r->path);
    return err_hint(e, "convert it first: iconv -f UTF-16 -t UTF-8");
}

/* Hints at 'check --fix' for a damaged file. */
static void add_repair_hint(const struct reader *r, const struct format *f, struct err *e)
{
    if (f && f->resync && f->put && e->kind == ERR_INPUT && !e->hint[0] &&
        strcmp(r->path, "-") != 0)
        err_hint(e, "to save what can be read: mcpreel check --fix %s", r->path);
}

/* The format by content, or the expected one if the content leaves a doubt. NULL: unknown, or
 * that of a file that no format reads. */
static const struct format *choose_format(const struct reader *r, const struct format *expected)
{
    struct str head = unread(r);
    const struct format *found = format_by_content(head, str_z(r->path));

    if (expected && (!found || format_rank(expected, head) == PROBE_SURE ||
                     format_rank(found, head) == PROBE_WEAK))
        found = expected;
    if (found && format_rank(found, head) != PROBE_SURE && unread_format_find(head))
        return NULL;
    return found;
}

static bool find_format(struct reader *r, const struct reader_import *import, struct err *e)
{
    while (!r->no_data && r->window.len < PROBE_HEAD)
        if (!read_more(r, e)) {
            add_repair_hint(r, format_by_content(unread(r), str_z(r->path)), e);
            return false;
        }
    if (!r->window.len && r->damage.decompress_failed) {
        *e = r->decompress_error;
        return false;
    }
    if (!r->window.len) {
        err_set(e, ERR_INPUT, "cannot read '%s': it is empty", r->path);
        return err_hint(e, "a recorder that ended before its first line leaves such a file; "
                           "delete it and record again");
    }
    skip_bom(r);
    r->format = choose_format(r, is_utf16(unread(r)) ? NULL : import->format);
    if (!r->format)
        return report_unknown_format(r, e);
    r->state = r->format->open();
    if (r->format->set_rules)
        r->format->set_rules(r->state, import->rules);
    return true;
}

/* How a file is opened. */
enum reader_mode { READER_STRICT, READER_REPAIR, READER_FOLLOW };

static bool open_reader(struct reader **out, const struct sys *sys, const char *path,
                        const struct reader_import *import, const struct log *log,
                        enum reader_mode way, struct err *e)
{
    static const struct reader_import nothing;
    struct reader *r = mem_new(struct reader);

    *r = (struct reader){
        .notes = { note_put }, .path = path, .log = log, .line = 1, .known_line = 1
    };
    r->repair = way == READER_REPAIR;
    buf_init(&r->window, LIMIT_LINE + CHUNK);
    read_ahead_init(&r->read_ahead, &r->input.file);
    if (!input_open(&r->input, sys, path, e)) {
        free(r);
        return false;
    }
    r->following = way == READER_FOLLOW && !r->input.decompressor;
    if (!find_format(r, import ? import : &nothing, e)) {
        reader_close(r);
        return false;
    }
    *out = r;
    return true;
}

bool reader_open(struct reader **out, const struct sys *sys, const char *path,
                 const struct log *log, struct err *e)
{
    return open_reader(out, sys, path, NULL, log, READER_STRICT, e);
}

bool reader_open_import(struct reader **out, const struct sys *sys, const char *path,
                        const struct reader_import *import, const struct log *log,
                        struct err *e)
{
    return open_reader(out, sys, path, import, log, READER_STRICT, e);
}

bool reader_open_for_repair(struct reader **out, const struct sys *sys, const char *path,
                            const struct log *log, struct err *e)
{
    return open_reader(out, sys, path, NULL, log, READER_REPAIR, e);
}

bool reader_open_following(struct reader **out, const struct sys *sys, const char *path,
                           const struct log *log, struct err *e)
{
    return open_reader(out, sys, path, NULL, log, READER_FOLLOW, e);
}

void reader_stop_following(struct reader *r)
{
    r->following = false;
}

void reader_close(struct reader *r)
{
    if (!r)
        return;
    if (r->format)
        r->format->close(r->state);
    input_close(&r->input);
    buf_release(&r->window);
    read_ahead_release(&r->read_ahead);
    free(r);
}

static void consume(struct reader *r, const struct consumed *t)
{
    BUG_IF(t->bytes > unread(r).len);
    r->consumed += t->bytes;
    r->offset += t->bytes;
    r->line += t->lines;
}

/* The next result of the format; with an error, `*t` has its details. */
static enum next_result next_record(struct reader *r, struct record *rec, struct consumed *t,
                                    struct err *e)
{
    for (;;) {
        struct window w = { unread(r), r->ended, r->line, r->path, &r->notes };
        enum next_result next;

        *t = (struct consumed){ 0 };
        next = r->format->next(r->state, &w, t, rec, e);
        consume(r, t);
        if (next == NEXT_SKIP)
            continue;
        if (next != NEXT_MORE)
            return next;
        t->fatal = true; /* a read error cannot be skipped */
        do {
            BUG_IF(r->ended);
            if (!read_more(r, e)) {
                add_repair_hint(r, r->format, e);
                return NEXT_ERROR;
            }
        } while (!r->no_data && unread(r).len < t->want);
        if (r->no_data && r->following)
            return NEXT_MORE;
    }
}

static bool skip_line(struct reader *r, size_t *bytes, struct err *e)
{
    for (;;) {
        size_t len = str_find(unread(r), '\n');
        bool ended = len < unread(r).len;

        consume(r, &(struct consumed){ .bytes = len + ended, .lines = ended });
        *bytes += len + ended;
        if (ended || r->ended)
            return true;
        if (!read_more(r, e))
            return false;
    }
}

/* Adjacent lines are one range. */
static void add_damage(struct reader *r, uint64_t first, uint64_t last, const char *why)
{
    struct reader_damage *d = &r->damage;
    size_t n = d->range_count;

    d->lines += last - first + 1;
    if (n && n <= READER_DAMAGE_RANGES && d->ranges[n - 1].last + 1 == first) {
        d->ranges[n - 1].last = last;
        return;
    }
    if (n < READER_DAMAGE_RANGES) {
        d->ranges[n].first = first;
        d->ranges[n].last = last;
        log_printf(r->log, LOG_WARN, "%s; left out", why);
    }
    d->range_count++;
    r->note_count++;
}

/* Skips the damage of `t` and `e`. */
static bool skip_damage(struct reader *r, const struct consumed *t, struct err *e)
{
    uint64_t line = r->line - t->lines;
    struct err why = *e;
    size_t bytes = t->bytes;

    r->format->resync(r->state);
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

static enum next_result report_truncated(struct reader *r, enum next_result next)
{
    if (next != NEXT_END || !r->decompress_error.kind)
        return next;
    if (r->input.truncated) {
        note_put(&r->notes, r->line, 1, "the compressed data is cut off; used up to here");
    } else {
        r->note_count++;
        log_printf(r->log, LOG_WARN, "%s; used up to there", r->decompress_error.msg);
    }
    r->decompress_error = (struct err)ERR_NONE;
    return next;
}

/* Delivers the pending gap before the record that follows it. */
static enum next_result deliver_record(struct reader *r, enum next_result next,
                                       struct record *rec)
{
    if (!r->gap.gap.messages)
        return report_truncated(r, next);
    r->after_gap = *rec;
    r->after_gap_result = next;
    r->gap_delivered = true;
    *rec = r->gap;
    r->gap = (struct record){ 0 };
    return NEXT_RECORD;
}

enum next_result reader_next(struct reader *r, struct record *rec, struct err *e)
{
    if (r->gap_delivered) {
        r->gap_delivered = false;
        *rec = r->after_gap;
        return report_truncated(r, r->after_gap_result);
    }
    for (;;) {
        struct consumed *t = &r->last;
        enum next_result next = next_record(r, rec, t, e);

        if (next != NEXT_ERROR)
            return deliver_record(r, next, rec);
        if (t->fatal || !r->format->resync || e->kind != ERR_INPUT)
            return NEXT_ERROR;
        if (!r->repair) {
            add_repair_hint(r, r->format, e);
            return NEXT_ERROR;
        }
        if (!skip_damage(r, t, e))
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

uint64_t reader_note_count(const struct reader *r)
{
    return r->note_count;
}

uint64_t reader_offset(const struct reader *r)
{
    return r->offset;
}

struct file *reader_file(struct reader *r)
{
    return &r->input.file;
}

uint64_t reader_size(struct reader *r)
{
    struct err ignored = ERR_NONE;
    uint64_t size;

    if (r->input.decompressor || !file_size(&r->input.file, &size, &ignored))
        return 0;
    return size;
}

/* Finds the offset in the decompressed text. */
static bool locate_in_window(const struct reader *r, struct str bytes, uint64_t *at)
{
    const char *from = r->window.at;

    if (!from || bytes.at < from || bytes.at + bytes.len > from + r->window.len)
        return false;
    /* `offset` is that of window[consumed]. */
    *at = r->offset - r->consumed + (uint64_t)(bytes.at - from);
    return true;
}

bool reader_locate(const struct reader *r, struct str bytes, uint64_t *at)
{
    return !r->input.decompressor && locate_in_window(r, bytes, at);
}

bool reader_find_origin(const struct reader *r, struct str message, struct message_origin *o)
{
    struct str source = r->last.message.len ? r->last.message : message;

    if (!locate_in_window(r, source, &o->at))
        return false;
    o->len = source.len;
    o->record_at = r->offset - r->last.bytes;
    o->record_len = r->last.bytes;
    if (o->at < o->record_at || o->at + o->len > r->offset) {
        o->record_at = o->at;
        o->record_len = o->len;
    }
    return true;
}

static uint64_t count_lines(struct str text)
{
    uint64_t count = 0;

    while (text.len) {
        size_t len = str_find(text, '\n');

        count += len < text.len;
        text = str_skip(text, len < text.len ? len + 1 : len);
    }
    return count;
}

uint64_t reader_find_line(struct reader *r, struct str message)
{
    struct str source = r->last.message.len ? r->last.message : message;
    uint64_t start = r->offset - r->consumed, at; /* `start` is that of the window */
    const char *window = r->window.at;

    if (!locate_in_window(r, source, &at))
        return 0;
    if (r->known_at < start || r->known_at > start + r->window.len) {
        r->known_at = r->offset;
        r->known_line = r->line;
    }
    if (at >= r->known_at)
        r->known_line += count_lines(str_n(window + (r->known_at - start), at - r->known_at));
    else
        r->known_line -= count_lines(str_n(window + (at - start), r->known_at - at));
    r->known_at = at;
    return r->known_line;
}

bool reader_read_at(struct reader *r, uint64_t at, char *to, size_t len, struct err *e)
{
    return read_ahead_read(&r->read_ahead, at, to, len, e);
}

void reader_end_records(struct reader *r)
{
    r->format->close(r->state);
    r->state = r->format->open();
    buf_release(&r->window);
    buf_init(&r->window, LIMIT_LINE + CHUNK);
    r->consumed = 0;
}

bool reader_read_all(const struct sys *sys, const char *path, const struct log *log,
                     struct sink *to, struct err *e)
{
    struct reader *r;
    struct record rec;
    enum next_result next;
    bool ok = true;

    if (!reader_open(&r, sys, path, log, e))
        return false;
    while (ok && (next = reader_next(r, &rec, e)) != NEXT_END)
        ok = next == NEXT_RECORD && to->put(to, &rec, e);
    reader_close(r);
    return ok;
}
