#include "base/compress.h"

#include <stdint.h>
#include <stdlib.h>

#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"

enum {
    GZIP_BITS = 15 + 16, /* the largest window, and gzip's head and tail */
    SPACE = 64 << 10,
    PAD = 60 << 10, /* gzip has room for no more than 64 KB */
};

enum compress_kind compress_detect(struct str head)
{
    if (str_starts(head, STR("\x1f\x8b")))
        return COMPRESS_GZIP;
    return str_starts(head, STR("\x28\xb5\x2f\xfd")) ? COMPRESS_ZSTD : COMPRESS_NONE;
}

enum compress_kind compress_by_suffix(struct str name, struct str *stem)
{
    enum compress_kind kind = COMPRESS_NONE;

    if (str_ends(name, STR(".gz")))
        kind = COMPRESS_GZIP;
    else if (str_ends(name, STR(".zst")))
        kind = COMPRESS_ZSTD;
    *stem = name;
    if (kind != COMPRESS_NONE)
        stem->len -= kind == COMPRESS_GZIP ? 3 : 4;
    return kind;
}

struct decompressor {
    enum compress_kind kind;
    z_stream z;
    ZSTD_DStream *zstd;
    uint64_t in, out;
    bool in_part; /* inside a compressed stream: more must follow */
};

struct decompressor *decompressor_new(enum compress_kind kind)
{
    struct decompressor *u = mem_new(struct decompressor);

    u->kind = kind;
    if (kind == COMPRESS_GZIP) {
        BUG_IF(inflateInit2(&u->z, GZIP_BITS) != Z_OK);
    } else {
        u->zstd = ZSTD_createDStream();
        BUG_IF(!u->zstd || ZSTD_isError(ZSTD_initDStream(u->zstd)));
    }
    return u;
}

void decompressor_free(struct decompressor *u)
{
    if (!u)
        return;
    if (u->kind == COMPRESS_GZIP)
        inflateEnd(&u->z);
    ZSTD_freeDStream(u->zstd);
    free(u);
}

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

static bool decompress_gzip(struct decompressor *u, struct str *in, char *to, size_t cap,
                            size_t *got, struct err *e)
{
    int code;

    u->z.next_in = (Bytef *)(uintptr_t)in->at;
    u->z.avail_in = (uInt)at_most(in->len, UINT32_MAX);
    u->z.next_out = (Bytef *)to;
    u->z.avail_out = (uInt)at_most(cap, UINT32_MAX);
    code = inflate(&u->z, Z_NO_FLUSH);
    *got = (size_t)((char *)u->z.next_out - to);
    *in = str_skip(*in, (size_t)((const char *)u->z.next_in - in->at));
    u->in_part = code != Z_STREAM_END;
    if (code == Z_STREAM_END)
        BUG_IF(inflateReset(&u->z) != Z_OK);
    if (code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR)
        return true;
    return err_set(e, ERR_INPUT, "the gzip data is damaged: %s",
                   u->z.msg ? u->z.msg : "no reason");
}

static bool decompress_zstd(struct decompressor *u, struct str *in, char *to, size_t cap,
                            size_t *got, struct err *e)
{
    ZSTD_inBuffer from = { in->at, in->len, 0 };
    ZSTD_outBuffer into = { to, cap, 0 };
    size_t left = ZSTD_decompressStream(u->zstd, &into, &from);

    *got = into.pos;
    *in = str_skip(*in, from.pos);
    if (ZSTD_isError(left))
        return err_set(e, ERR_INPUT, "the zstd data is damaged: %s", ZSTD_getErrorName(left));
    u->in_part = left != 0;
    return true;
}

bool decompressor_feed(struct decompressor *u, struct str *in, char *to, size_t cap,
                       size_t *got, struct err *e)
{
    size_t before = in->len;

    *got = 0;
    /* A part that has ended is complete; only bytes that follow open another. */
    if (!in->len && !u->in_part)
        return true;
    if (!(u->kind == COMPRESS_GZIP ? decompress_gzip : decompress_zstd)(u, in, to, cap, got, e))
        return false;
    u->in += before - in->len;
    u->out += *got;
    if (u->out > u->in * COMPRESS_MAX_RATIO + COMPRESS_FREE_BYTES)
        return err_set(
            e, ERR_LIMIT,
            "decompresses to more than %d times its size: rejected as a compression bomb",
            COMPRESS_MAX_RATIO);
    return true;
}

bool decompressor_end(const struct decompressor *u, struct err *e)
{
    return !u->in_part || err_set(e, ERR_INPUT, "the compressed data is cut off");
}

struct compressor {
    enum compress_kind kind;
    z_stream z;
    ZSTD_CStream *zstd;
    uint64_t in, out;
};

struct compressor *compressor_new(enum compress_kind kind)
{
    struct compressor *p = mem_new(struct compressor);

    p->kind = kind;
    if (kind == COMPRESS_GZIP) {
        BUG_IF(deflateInit2(&p->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_BITS, 8,
                            Z_DEFAULT_STRATEGY) != Z_OK);
    } else {
        p->zstd = ZSTD_createCStream();
        BUG_IF(!p->zstd || ZSTD_isError(ZSTD_initCStream(p->zstd, ZSTD_CLEVEL_DEFAULT)));
        /* Without it damage may go unseen; gzip always has one. */
        BUG_IF(ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1)));
    }
    return p;
}

void compressor_free(struct compressor *p)
{
    if (!p)
        return;
    if (p->kind == COMPRESS_GZIP)
        deflateEnd(&p->z);
    ZSTD_freeCStream(p->zstd);
    free(p);
}

static void compress_gzip(struct compressor *p, struct str bytes, int flush, struct buf *to)
{
    p->z.next_in = (Bytef *)(uintptr_t)bytes.at;
    p->z.avail_in = (uInt)bytes.len;
    do {
        char *at = buf_reserve(to, SPACE);
        if (!at)
            return;
        p->z.next_out = (Bytef *)at;
        p->z.avail_out = SPACE;
        deflate(&p->z, flush);
        buf_commit(to, SPACE - p->z.avail_out);
    } while (!p->z.avail_out);
}

static void compress_zstd(struct compressor *p, struct str bytes, ZSTD_EndDirective end,
                          struct buf *to)
{
    ZSTD_inBuffer from = { bytes.at, bytes.len, 0 };
    size_t left;

    do {
        char *at = buf_reserve(to, SPACE);
        ZSTD_outBuffer into = { at, SPACE, 0 };
        if (!at)
            return;
        left = ZSTD_compressStream2(p->zstd, &into, &from, end);
        BUG_IF(ZSTD_isError(left));
        buf_commit(to, into.pos);
    } while (left || from.pos < from.size);
}

static void end_part(struct compressor *p, struct buf *to)
{
    if (p->kind == COMPRESS_GZIP)
        compress_gzip(p, STR_NONE, Z_FINISH, to);
    else
        compress_zstd(p, STR_NONE, ZSTD_e_end, to);
}

static void add_little_endian(struct buf *to, uint32_t n, size_t bytes)
{
    for (; bytes; bytes--, n >>= 8)
        buf_add_ch(to, (char)(n & 0xff));
}

static void add_zeros(struct buf *to, size_t count)
{
    char *at = buf_reserve(to, count);

    if (at) {
        memset(at, 0, count);
        buf_commit(to, count);
    }
}

/* Appends a stream that decompresses to nothing. For gzip it is an empty one with a comment in
 * its header, for zstd a skippable frame. */
static void add_padding(struct compressor *p, struct buf *to)
{
    enum { FRAME = 0x184d2a50, NAMED = 4, TAIL = 8 };

    if (p->kind == COMPRESS_ZSTD) {
        add_little_endian(to, FRAME, 4);
        add_little_endian(to, PAD, 4);
        add_zeros(to, PAD);
        return;
    }
    BUG_IF(deflateReset(&p->z) != Z_OK);
    buf_add(to, STR("\x1f\x8b\x08\x04\0\0\0\0\0\xff"));
    add_little_endian(to, PAD + NAMED, 2);
    buf_add(to, STR("mr"));
    add_little_endian(to, PAD, 2);
    add_zeros(to, PAD);
    buf_add(to, STR("\x03\0"));
    add_zeros(to, TAIL);
}

/* Returns whether a decompressor would reject the ratio if so much were added. It has read all
 * previous output before it comes to what is added now. */
static bool exceeds_ratio(const struct compressor *p, size_t more)
{
    return p->in + more > p->out * COMPRESS_MAX_RATIO + COMPRESS_FREE_BYTES;
}

void compressor_add(struct compressor *p, struct str bytes, bool flush, struct buf *to)
{
    size_t before = to->len;

    while (exceeds_ratio(p, bytes.len) && !to->full) {
        end_part(p, to);
        add_padding(p, to);
        p->out += to->len - before;
        before = to->len;
    }
    if (p->kind == COMPRESS_GZIP)
        compress_gzip(p, bytes, flush ? Z_SYNC_FLUSH : Z_NO_FLUSH, to);
    else
        compress_zstd(p, bytes, flush ? ZSTD_e_flush : ZSTD_e_continue, to);
    p->in += bytes.len;
    p->out += to->len - before;
}

void compressor_end(struct compressor *p, struct buf *to)
{
    end_part(p, to);
}
