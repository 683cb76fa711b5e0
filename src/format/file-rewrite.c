#include "format/file-rewrite.h"

enum { PIECE = 64 << 10, COMPRESSED_MAX = 4 * PIECE };

static bool report_changed(const char *path, struct err *e)
{
    err_set(e, ERR_INPUT, "cannot update '%s': it was changed after it was read", path);
    return err_hint(e, "run the command again");
}

static bool check_version(struct file *f, const struct file_version *version, struct err *e)
{
    struct file_version now;

    return file_read_version(f, &now, e) &&
           (file_is_same_version(&now, version) || report_changed(f->path, e));
}

/* The same for the file that has the path now. */
static bool check_path(const struct sys *sys, const char *path,
                       const struct file_version *version, struct err *e)
{
    struct err ignored = ERR_NONE;
    struct file f;
    bool ok;

    if (!file_open(&f, sys, path, e))
        return false;
    ok = check_version(&f, version, e);
    file_close(&f, &ignored);
    return ok;
}

/* Opens the new file, with mode and owner of the old one. */
static bool open_draft(struct atomic_file *draft, struct file *f, const char *path,
                       struct file *old, struct err *e)
{
    if (!atomic_file_open(draft, f, old->sys, path, true, e))
        return false;
    if (file_copy_owner_and_mode(f, old, e))
        return true;
    atomic_file_abort(draft, f);
    return false;
}

/* A file that the user may not write could be replaced all the same, but is protected on
 * purpose. */
static bool can_replace(const char *path, struct file *opened, struct file_version *version,
                        struct err *e)
{
    struct atomic_file draft;
    struct file f;

    if (!file_read_version(opened, version, e) || !file_can_modify(opened->sys, path, e) ||
        !open_draft(&draft, &f, path, opened, e))
        return false;
    atomic_file_abort(&draft, &f);
    return check_path(opened->sys, path, version, e);
}

bool file_rewrite_check(const char *path, struct file *opened, struct file_version *version,
                        struct err *e)
{
    if (file_is_stdio(path)) {
        err_set(e, ERR_USAGE, "cannot update standard input");
        return err_hint(e, "name the file of the recording");
    }
    if (can_replace(path, opened, version, e))
        return true;
    e->kind = ERR_USAGE;
    return false;
}

static void release(struct file_rewrite *w)
{
    input_close(&w->input);
    compressor_free(w->compressor);
    buf_release(&w->text);
    buf_release(&w->compressed);
}

bool file_rewrite_open(struct file_rewrite *w, const struct sys *sys, const char *path,
                       const struct file_version *version, struct err *e)
{
    *w = (struct file_rewrite){ .path = path, .version = version };
    if (!input_open(&w->input, sys, path, e))
        return false;
    buf_init(&w->text, PIECE);
    buf_init(&w->compressed, COMPRESSED_MAX);
    if (w->input.kind != COMPRESS_NONE)
        w->compressor = compressor_new(w->input.kind);
    if (check_version(&w->input.file, version, e) &&
        open_draft(&w->draft, &w->file, path, &w->input.file, e))
        return true;
    release(w);
    return false;
}

static struct str unused(const struct file_rewrite *w)
{
    return str_skip(buf_str(&w->text), w->used);
}

/* Reads text if none is left; none at the end. Incomplete compressed data ends where it cannot
 * be decompressed any further, as for a reader. */
static bool read_text(struct file_rewrite *w, struct err *e)
{
    struct err incomplete = ERR_NONE;
    size_t got = 0;
    bool ok;

    if (unused(w).len)
        return true;
    buf_clear(&w->text);
    w->used = 0;
    ok = input_read(&w->input, buf_reserve(&w->text, PIECE), PIECE, &got, &incomplete);
    if (!ok && !w->input.truncated) {
        *e = incomplete;
        return false;
    }
    buf_commit(&w->text, got);
    return true;
}

static bool write_compressed(struct file_rewrite *w, struct err *e)
{
    size_t done;
    bool ok = file_write(&w->file, buf_str(&w->compressed), &done, e);

    BUG_IF(w->compressed.full);
    buf_clear(&w->compressed);
    return ok;
}

bool file_rewrite_put(struct file_rewrite *w, struct str text, struct err *e)
{
    size_t done;

    w->written += text.len;
    if (!w->compressor)
        return file_write(&w->file, text, &done, e);
    while (text.len) {
        size_t piece = text.len < PIECE ? text.len : PIECE;

        compressor_add(w->compressor, str_n(text.at, piece), false, &w->compressed);
        if (!write_compressed(w, e))
            return false;
        text = str_skip(text, piece);
    }
    return true;
}

/* Uses up to `max` bytes of the text. */
static struct str use(struct file_rewrite *w, uint64_t max)
{
    struct str text = unused(w);

    if (text.len > max)
        text.len = (size_t)max;
    w->used += text.len;
    w->offset += text.len;
    return text;
}

bool file_rewrite_copy_to(struct file_rewrite *w, uint64_t offset, struct err *e)
{
    BUG_IF(offset < w->offset);
    while (w->offset < offset) {
        if (!read_text(w, e))
            return false;
        if (!unused(w).len)
            return report_changed(w->path, e);
        if (!file_rewrite_put(w, use(w, offset - w->offset), e))
            return false;
    }
    return true;
}

bool file_rewrite_take(struct file_rewrite *w, uint64_t len, struct buf *to, struct err *e)
{
    uint64_t end = w->offset + len;

    while (w->offset < end) {
        if (!read_text(w, e))
            return false;
        if (!unused(w).len)
            return report_changed(w->path, e);
        buf_add(to, use(w, end - w->offset));
    }
    return buf_ok(to, e);
}

static bool copy_rest(struct file_rewrite *w, struct err *e)
{
    do {
        if (!read_text(w, e) || !file_rewrite_put(w, use(w, UINT64_MAX), e))
            return false;
    } while (w->text.len);
    if (!w->compressor)
        return true;
    compressor_end(w->compressor, &w->compressed);
    return write_compressed(w, e);
}

static bool check_size(const struct file_rewrite *w, struct err *e)
{
    return !w->max_text || w->written <= w->max_text ||
           err_set(e, ERR_USAGE, "cannot update '%s': it would have more than %llu MB", w->path,
                   (unsigned long long)w->max_text >> 20);
}

bool file_rewrite_finish(struct file_rewrite *w, struct err *e)
{
    if (!copy_rest(w, e) || !check_size(w, e) ||
        !check_path(w->file.sys, w->path, w->version, e)) {
        file_rewrite_abort(w);
        return false;
    }
    release(w);
    return atomic_file_commit(&w->draft, &w->file, e);
}

void file_rewrite_abort(struct file_rewrite *w)
{
    release(w);
    atomic_file_abort(&w->draft, &w->file);
}
