#include "format/writer.h"

#include "base/file.h"
#include "trace/limits.h"

enum { PIECE = 256 << 10, PACKED = 4 * PIECE };

static bool write_bytes(struct writer *w, struct str bytes, struct err *e)
{
    size_t done;

    return file_write(&w->file, bytes, &done, e);
}

/* A document may come as one large text; what is packed never takes much room. */
static bool write_packed(struct writer *w, struct str text, bool last, struct err *e)
{
    bool ok;

    do {
        size_t piece = text.len < PIECE ? text.len : PIECE;

        packer_add(w->packer, str_n(text.at, piece), false, &w->packed);
        text = str_skip(text, piece);
        if (last && !text.len)
            packer_end(w->packer, &w->packed);
        BUG_IF(w->packed.full);
        ok = write_bytes(w, buf_str(&w->packed), e);
        buf_clear(&w->packed);
    } while (ok && text.len);
    return ok;
}

/* What was read is fine: it is the format that was asked for which does not suit it. */
static bool too_large(const struct writer *w, struct err *e)
{
    err_set(e, ERR_USAGE,
            "cannot write '%s': one document or line of format '%s' has %zu MB at most",
            w->file.path, w->format->name, LIMIT_LINE >> 20);
    return err_hint(e, "choose a format with one message per line: --to recording");
}

static bool write_text(struct writer *w, bool last, struct err *e)
{
    if (w->text.full)
        return too_large(w, e);
    if (w->packer)
        return write_packed(w, buf_str(&w->text), last, e);
    return write_bytes(w, buf_str(&w->text), e);
}

static bool writer_put(struct sink *self, const struct record *r, struct err *e)
{
    struct writer *w = (struct writer *)self;
    bool ok;

    w->format->put(w->state, &w->text, r);
    if (w->text.len < PIECE && !w->text.full)
        return true;
    ok = write_text(w, false, e);
    buf_clear(&w->text);
    return ok;
}

static bool begin(struct writer *w)
{
    if (w->format->begin)
        w->state = w->format->begin();
    return true;
}

bool writer_open_whole(struct writer *w, const struct sys *sys, const char *path, bool replace,
                       const struct format *format, struct err *e)
{
    enum pack_kind kind;
    struct str stem;

    *w = (struct writer){ .sink = { writer_put }, .format = format };
    buf_init(&w->text, LIMIT_LINE + PIECE);
    buf_init(&w->packed, PACKED);
    if (file_is_standard(path)) {
        w->file = file_standard_output(sys);
        return begin(w);
    }
    if (!draft_open(&w->draft, &w->file, sys, path, replace, e))
        return false;
    kind = pack_by_name(str_z(path), &stem);
    if (kind != PACK_NONE)
        w->packer = packer_new(kind);
    return begin(w);
}

/* What the format has left to write. */
static void end_text(struct writer *w)
{
    if (w->format->end)
        w->format->end(w->state, &w->text);
}

bool writer_is_empty(struct writer *w)
{
    return w->format->is_empty && w->format->is_empty(w->state);
}

static void release(struct writer *w)
{
    buf_release(&w->text);
    buf_release(&w->packed);
    packer_free(w->packer);
}

/* Standard output is neither synced nor closed: it may be a pipe, and is not ours. */
static bool close_whole(struct writer *w, bool ok, struct err *e)
{
    if (!w->draft.at)
        return ok;
    if (ok)
        return draft_keep(&w->draft, &w->file, e);
    draft_drop(&w->draft, &w->file);
    return false;
}

bool writer_finish(struct writer *w, struct err *e)
{
    bool ok;

    end_text(w);
    ok = write_text(w, true, e);
    release(w);
    return close_whole(w, ok, e);
}

void writer_abandon(struct writer *w)
{
    struct err ignored = ERR_NONE;

    end_text(w);
    release(w);
    close_whole(w, false, &ignored);
}
