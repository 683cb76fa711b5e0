#include "format/writer.h"

#include "base/file.h"
#include "trace/limits.h"

enum { PIECE = 256 << 10, COMPRESSED_MAX = 4 * PIECE };

static bool write_bytes(struct writer *w, struct str bytes, struct err *e)
{
    size_t done;

    return file_write_limited(&w->file, bytes, &done, e);
}

/* Compresses in pieces: a document may be one large text. */
static bool write_compressed(struct writer *w, struct str text, bool last, struct err *e)
{
    bool ok;

    do {
        size_t piece = text.len < PIECE ? text.len : PIECE;

        compressor_add(w->compressor, str_n(text.at, piece), false, &w->compressed);
        text = str_skip(text, piece);
        if (last && !text.len)
            compressor_end(w->compressor, &w->compressed);
        BUG_IF(w->compressed.full);
        ok = write_bytes(w, buf_str(&w->compressed), e);
        buf_clear(&w->compressed);
    } while (ok && text.len);
    return ok;
}

/* The input is fine, but too large for the chosen format. */
static bool report_too_large(const struct writer *w, struct err *e)
{
    err_set(e, ERR_LIMIT, "cannot write '%s': the format '%s' holds %zu MB at most",
            w->file.path, w->format->name, LIMIT_LINE >> 20);
    if (!w->format->open)
        return err_hint(e, "it is made of all calls at the end: convert a recording with fewer "
                           "calls");
    return err_hint(e, "a format with one message per line has no limit: "
                       "mcpreel convert FILE -o OUT.jsonl");
}

static bool write_text(struct writer *w, bool last, struct err *e)
{
    if (w->text.full)
        return report_too_large(w, e);
    w->bytes += w->text.len;
    if (w->compressor)
        return write_compressed(w, buf_str(&w->text), last, e);
    return write_bytes(w, buf_str(&w->text), e);
}

/* Writes the text once there is enough of it. */
static bool write_piece(struct writer *w, struct err *e)
{
    bool ok;

    if (w->text.len < PIECE && !w->text.full)
        return true;
    ok = write_text(w, false, e);
    buf_clear(&w->text);
    return ok;
}

static bool writer_put(struct sink *self, const struct record *r, struct err *e)
{
    struct writer *w = (struct writer *)self;

    encoder_put(&w->encoder, &w->text, r);
    return write_piece(w, e);
}

bool writer_open(struct writer *w, const struct sys *sys, const char *path, bool replace,
                 const struct format *format, const struct format_options *options,
                 struct err *e)
{
    enum compress_kind kind;
    struct str stem;

    *w = (struct writer){ .sink = { writer_put }, .format = format };
    buf_init(&w->text, LIMIT_LINE + PIECE);
    buf_init(&w->compressed, COMPRESSED_MAX);
    if (file_is_stdio(path)) {
        w->file = file_stdout(sys);
        encoder_begin(&w->encoder, format, options);
        return true;
    }
    if (!atomic_file_open(&w->draft, &w->file, sys, path, replace, e))
        return false;
    kind = compress_by_suffix(str_z(path), &stem);
    if (kind != COMPRESS_NONE)
        w->compressor = compressor_new(kind);
    encoder_begin(&w->encoder, format, options);
    return true;
}

bool writer_is_empty(struct writer *w)
{
    return encoder_is_empty(&w->encoder);
}

bool writer_made_unreadable(const struct writer *w)
{
    return w->format->open && !w->format->resync && w->bytes > LIMIT_LINE;
}

static void release_buffers(struct writer *w)
{
    buf_release(&w->text);
    buf_release(&w->compressed);
    compressor_free(w->compressor);
}

/* Standard output is neither synced nor closed: it may be a pipe, and is not ours. */
static bool close_file(struct writer *w, bool ok, struct err *e)
{
    if (!w->draft.temp_path)
        return ok;
    if (ok)
        return atomic_file_commit(&w->draft, &w->file, e);
    atomic_file_abort(&w->draft, &w->file);
    return false;
}

bool writer_finish(struct writer *w, struct err *e)
{
    bool ok = true;

    while (ok && encoder_flush(&w->encoder, &w->text))
        ok = write_piece(w, e);
    encoder_end(&w->encoder, &w->text);
    ok = ok && write_text(w, true, e);
    release_buffers(w);
    return close_file(w, ok, e);
}

void writer_abort(struct writer *w)
{
    struct err ignored = ERR_NONE;

    w->text.full = true; /* nothing more is written, and nothing about it is reported */
    encoder_end(&w->encoder, &w->text);
    release_buffers(w);
    close_file(w, false, &ignored);
}
