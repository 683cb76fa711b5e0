#include "format/message-file.h"

#include "trace/limits.h"

enum { WRITE_SIZE = 256 << 10, LINE_PIECE = 4 << 10 };

void message_file_cache_init(struct message_file_cache *r)
{
    for (size_t i = 0; i < MESSAGE_FILE_CACHE_SLOTS; i++) {
        r->slots[i].at = 0;
        buf_init(&r->slots[i].text, MESSAGE_FILE_CACHE_TEXT);
    }
}

void message_file_cache_release(struct message_file_cache *r)
{
    for (size_t i = 0; i < MESSAGE_FILE_CACHE_SLOTS; i++)
        buf_release(&r->slots[i].text);
}

/* Multiplicative hash: neighbouring offsets are read together, and need different slots. */
static size_t slot_of(uint64_t at)
{
    return (size_t)(at * UINT64_C(0x9e3779b97f4a7c15) >> 32) % MESSAGE_FILE_CACHE_SLOTS;
}

void message_file_cache_add(struct message_file_cache *r, uint64_t at, struct str text)
{
    struct message_file_slot *s = &r->slots[slot_of(at)];

    if (text.len > MESSAGE_FILE_CACHE_TEXT)
        return;
    buf_clear(&s->text);
    buf_add(&s->text, text);
    s->at = at;
}

bool message_file_cache_find(const struct message_file_cache *r, uint64_t at, size_t len,
                             struct str *text)
{
    const struct message_file_slot *s = &r->slots[slot_of(at)];

    if (s->at != at || s->text.len != len || !len)
        return false;
    *text = buf_str(&s->text);
    return true;
}

static bool flush_copy(struct message_file *f, struct err *e)
{
    size_t done;

    if (!f->unwritten.len)
        return true;
    if (!file_write(&f->copy, buf_str(&f->unwritten), &done, e))
        return false;
    buf_clear(&f->unwritten);
    return true;
}

/* Appends to `unwritten`. The lowest bit of a reference is 1 for the copy, 0 for the file. */
static bool add_to_copy(struct message_file *f, struct str bytes, struct message_ref *where,
                        struct err *e)
{
    if (f->copy.fd < 0 && !file_create_unnamed(&f->copy, f->sys, f->tmp_dir, e))
        return false;
    *where = (struct message_ref){ .at = f->copy_size << 1 | 1, .len = (uint32_t)bytes.len };
    buf_add(&f->unwritten, bytes);
    f->copy_size += bytes.len;
    return true;
}

/* Stores the place of a message right before its copy. */
static bool add_origin(struct message_file *f, struct str message, struct err *e)
{
    struct message_origin o = { 0 };
    struct message_ref ignored;

    reader_find_origin(f->reader, message, &o);
    return add_to_copy(f, str_n((const char *)&o, sizeof o), &ignored, e);
}

static bool flush_if_large(struct message_file *f, struct err *e)
{
    return f->unwritten.len < WRITE_SIZE || flush_copy(f, e);
}

static bool add_bytes(struct message_store *self, struct str bytes, struct message_ref *where,
                      struct err *e)
{
    struct message_file *f = (struct message_file *)self;

    return add_to_copy(f, bytes, where, e) && flush_if_large(f, e);
}

static bool copy_message(struct message_file *f, struct str message, struct message_ref *where,
                         struct err *e)
{
    if (f->keep_origins && !add_origin(f, message, e))
        return false;
    if (!add_to_copy(f, message, where, e))
        return false;
    message_store_flatten(f->unwritten.at + f->unwritten.len - message.len, message.len);
    return flush_if_large(f, e);
}

static bool add_message(struct message_store *self, struct str message,
                        struct message_ref *where, struct err *e)
{
    struct message_file *f = (struct message_file *)self;
    uint64_t at, line = f->keep_lines ? reader_find_line(f->reader, message) : 0;

    if (reader_locate(f->reader, message, &at))
        *where = (struct message_ref){ .at = at << 1, .len = (uint32_t)message.len };
    else if (!copy_message(f, message, where, e))
        return false;
    where->line = line <= UINT32_MAX ? (uint32_t)line : 0;
    return true;
}

static bool fetch(struct message_store *self, struct message_ref where, struct buf *to,
                  struct err *e)
{
    struct message_file *f = (struct message_file *)self;
    struct str known;
    char *text;
    bool ok;

    buf_clear(to);
    if (message_file_cache_find(&f->cache, where.at, where.len, &known)) {
        buf_add(to, known);
        return true;
    }
    text = buf_reserve(to, where.len);
    BUG_IF(!text);
    ok = where.at & 1 ? flush_copy(f, e) &&
                            read_ahead_read(&f->read_ahead, where.at >> 1, text, where.len, e)
                      : reader_read_at(f->reader, where.at >> 1, text, where.len, e);
    if (!ok)
        return false;
    buf_commit(to, where.len);
    if (!(where.at & 1))
        message_store_flatten(to->at, to->len);
    message_file_cache_add(&f->cache, where.at, buf_str(to));
    return true;
}

/* Extends the record to the start and the end of its line. A message that was not copied is on
 * one line, with all of its record. */
static bool find_line(struct message_file *f, struct message_origin *o, struct err *e)
{
    uint64_t size = reader_size(f->reader), end = o->at + o->len;
    char piece[LINE_PIECE];
    const char *newline = NULL;

    o->record_at = o->at;
    while (o->record_at && !newline) {
        size_t len = o->record_at < sizeof piece ? (size_t)o->record_at : sizeof piece;

        if (!reader_read_at(f->reader, o->record_at - len, piece, len, e))
            return false;
        newline = memrchr(piece, '\n', len);
        o->record_at -= newline ? (size_t)(piece + len - newline) - 1 : len;
    }
    for (newline = NULL; end < size && !newline;) {
        size_t len = size - end < sizeof piece ? (size_t)(size - end) : sizeof piece;

        if (!reader_read_at(f->reader, end, piece, len, e))
            return false;
        newline = memchr(piece, '\n', len);
        end += newline ? (size_t)(newline - piece) + 1 : len;
    }
    o->record_len = end - o->record_at;
    return true;
}

bool message_file_find_origin(struct message_file *f, struct message_ref where,
                              struct message_origin *o, struct err *e)
{
    BUG_IF(!f->keep_origins);
    if (!(where.at & 1)) {
        *o = (struct message_origin){ .at = where.at >> 1, .len = where.len };
        return find_line(f, o, e);
    }
    if (!flush_copy(f, e) ||
        !file_read_at(&f->copy, (where.at >> 1) - sizeof *o, (char *)o, sizeof *o, e))
        return false;
    return o->len || err_set(e, ERR_INPUT, "the text of a message is not in the file");
}

bool message_file_open(struct message_file *f, const struct sys *sys, const char *path,
                       const char *tmp_dir, const struct log *log, struct err *e)
{
    *f = (struct message_file){ .store = { add_message, add_bytes, fetch },
                                .sys = sys,
                                .tmp_dir = tmp_dir,
                                .copy = FILE_CLOSED };
    buf_init(&f->unwritten, LIMIT_LINE + WRITE_SIZE);
    read_ahead_init(&f->read_ahead, &f->copy);
    message_file_cache_init(&f->cache);
    return reader_open(&f->reader, sys, path, log, e);
}

void message_file_close(struct message_file *f)
{
    struct err ignored = ERR_NONE;

    reader_close(f->reader);
    read_ahead_release(&f->read_ahead);
    message_file_cache_release(&f->cache);
    file_close(&f->copy, &ignored);
    buf_release(&f->unwritten);
}

const struct format *message_file_format(const struct message_file *f)
{
    return reader_format(f->reader);
}

bool message_file_read_all(struct message_file *f, struct sink *to, struct err *e)
{
    struct record rec;
    enum next_result next;
    bool ok = true;

    while (ok && (next = reader_next(f->reader, &rec, e)) != NEXT_END)
        ok = next == NEXT_RECORD && to->put(to, &rec, e);
    ok = ok && flush_copy(f, e);
    reader_end_records(f->reader);
    return ok;
}
