#include "format/source.h"

enum { CHUNK = 64 << 10, MAGIC = 4 };

static struct str left(const struct source *s)
{
    return str_skip(buf_str(&s->raw), s->used);
}

static bool read_raw(struct source *s, struct err *e)
{
    size_t got;
    char *to;

    buf_drop_front(&s->raw, s->used);
    s->used = 0;
    to = buf_space(&s->raw, CHUNK);
    BUG_IF(!to);
    if (!file_read(&s->file, to, CHUNK, &got, e))
        return false;
    buf_grew(&s->raw, got);
    s->ended = got == 0;
    return true;
}

bool source_open(struct source *s, const struct sys *sys, const char *path, struct err *e)
{
    enum pack_kind kind;

    *s = (struct source){ .file = FILE_CLOSED };
    buf_init(&s->raw, CHUNK + MAGIC);
    if (!file_open(&s->file, sys, path, e))
        return false;
    while (s->raw.len < MAGIC && !s->ended)
        if (!read_raw(s, e)) {
            source_close(s);
            return false;
        }
    kind = pack_detect(buf_str(&s->raw));
    if (kind != PACK_NONE)
        s->unpacker = unpacker_new(kind);
    return true;
}

void source_close(struct source *s)
{
    struct err ignored = ERR_NONE;

    file_close(&s->file, &ignored);
    unpacker_free(s->unpacker);
    s->unpacker = NULL;
    buf_release(&s->raw);
}

static bool read_plain(struct source *s, char *to, size_t cap, size_t *got, struct err *e)
{
    struct str first = left(s);

    if (!first.len) /* after the first look the file fills the caller's buffer itself */
        return s->ended ? (*got = 0, true) : file_read(&s->file, to, cap, got, e);
    *got = first.len < cap ? first.len : cap;
    memcpy(to, first.at, *got);
    s->used += *got;
    return true;
}

static bool read_packed(struct source *s, char *to, size_t cap, size_t *got, struct err *e)
{
    for (;;) {
        struct str in = left(s);

        if (!unpacker_feed(s->unpacker, &in, to, cap, got, e))
            return err_wrap(e, "cannot read '%s'", s->file.path);
        s->used = s->raw.len - in.len;
        if (*got)
            return true;
        if (in.len) /* a part that unpacks to nothing has ended, and another follows */
            continue;
        if (s->ended) {
            s->cut = !unpacker_end(s->unpacker, e);
            return !s->cut || err_wrap(e, "cannot read '%s'", s->file.path);
        }
        if (!read_raw(s, e))
            return false;
    }
}

bool source_read(struct source *s, char *to, size_t cap, size_t *got, struct err *e)
{
    return (s->unpacker ? read_packed : read_plain)(s, to, cap, got, e);
}
