#include "format/input.h"

enum { CHUNK = 64 << 10, MAGIC = 4 };

static struct str unread(const struct input *s)
{
    return str_skip(buf_str(&s->raw), s->consumed);
}

static bool read_raw(struct input *s, struct err *e)
{
    size_t got;
    char *to;

    buf_drop_front(&s->raw, s->consumed);
    s->consumed = 0;
    to = buf_reserve(&s->raw, CHUNK);
    BUG_IF(!to);
    if (!file_read(&s->file, to, CHUNK, &got, e))
        return false;
    buf_commit(&s->raw, got);
    s->ended = got == 0;
    return true;
}

bool input_open(struct input *s, const struct sys *sys, const char *path, struct err *e)
{
    *s = (struct input){ .file = FILE_CLOSED };
    buf_init(&s->raw, CHUNK + MAGIC);
    if (!file_open(&s->file, sys, path, e))
        return false;
    while (s->raw.len < MAGIC && !s->ended)
        if (!read_raw(s, e)) {
            input_close(s);
            return false;
        }
    s->kind = compress_detect(buf_str(&s->raw));
    if (s->kind != COMPRESS_NONE)
        s->decompressor = decompressor_new(s->kind);
    return true;
}

void input_close(struct input *s)
{
    struct err ignored = ERR_NONE;

    file_close(&s->file, &ignored);
    decompressor_free(s->decompressor);
    s->decompressor = NULL;
    buf_release(&s->raw);
}

static bool read_plain(struct input *s, char *to, size_t cap, size_t *got, struct err *e)
{
    struct str first = unread(s);

    if (!first.len) /* after detection, read into the caller's buffer */
        return s->ended ? (*got = 0, true) : file_read(&s->file, to, cap, got, e);
    *got = first.len < cap ? first.len : cap;
    memcpy(to, first.at, *got);
    s->consumed += *got;
    return true;
}

static bool read_compressed(struct input *s, char *to, size_t cap, size_t *got, struct err *e)
{
    for (;;) {
        struct str in = unread(s);

        if (!decompressor_feed(s->decompressor, &in, to, cap, got, e))
            return err_wrap(e, "cannot read '%s'", s->file.path);
        s->consumed = s->raw.len - in.len;
        if (*got)
            return true;
        if (in.len) /* an empty member has ended, and another follows */
            continue;
        if (s->ended) {
            s->truncated = !decompressor_end(s->decompressor, e);
            return !s->truncated || err_wrap(e, "cannot read '%s'", s->file.path);
        }
        if (!read_raw(s, e))
            return false;
    }
}

bool input_read(struct input *s, char *to, size_t cap, size_t *got, struct err *e)
{
    return (s->decompressor ? read_compressed : read_plain)(s, to, cap, got, e);
}
