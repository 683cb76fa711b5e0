#include "base/pack.h"

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

enum pack_kind pack_detect(struct str head)
{
    if (str_starts(head, STR("\x1f\x8b")))
        return PACK_GZIP;
    return str_starts(head, STR("\x28\xb5\x2f\xfd")) ? PACK_ZSTD : PACK_NONE;
}

enum pack_kind pack_by_name(struct str name, struct str *stem)
{
    enum pack_kind kind = PACK_NONE;

    if (str_ends(name, STR(".gz")))
        kind = PACK_GZIP;
    else if (str_ends(name, STR(".zst")))
        kind = PACK_ZSTD;
    *stem = name;
    if (kind != PACK_NONE)
        stem->len -= kind == PACK_GZIP ? 3 : 4;
    return kind;
}

struct unpacker {
    enum pack_kind kind;
    z_stream z;
    ZSTD_DStream *zstd;
    uint64_t in, out;
    bool open; /* inside a packed part: more must follow */
};

struct unpacker *unpacker_new(enum pack_kind kind)
{
    struct unpacker *u = mem_new(struct unpacker);

    u->kind = kind;
    if (kind == PACK_GZIP) {
        BUG_IF(inflateInit2(&u->z, GZIP_BITS) != Z_OK);
    } else {
        u->zstd = ZSTD_createDStream();
        BUG_IF(!u->zstd || ZSTD_isError(ZSTD_initDStream(u->zstd)));
    }
    return u;
}

void unpacker_free(struct unpacker *u)
{
    if (!u)
        return;
    if (u->kind == PACK_GZIP)
        inflateEnd(&u->z);
    ZSTD_freeDStream(u->zstd);
    free(u);
}

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

static bool gunzip(struct unpacker *u, struct str *in, char *to, size_t cap, size_t *got,
                   struct err *e)
{
    int code;

    u->z.next_in = (Bytef *)(uintptr_t)in->at;
    u->z.avail_in = (uInt)at_most(in->len, UINT32_MAX);
    u->z.next_out = (Bytef *)to;
    u->z.avail_out = (uInt)at_most(cap, UINT32_MAX);
    code = inflate(&u->z, Z_NO_FLUSH);
    *got = (size_t)((char *)u->z.next_out - to);
    *in = str_skip(*in, (size_t)((const char *)u->z.next_in - in->at));
    u->open = code != Z_STREAM_END;
    if (code == Z_STREAM_END)
        BUG_IF(inflateReset(&u->z) != Z_OK);
    if (code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR)
        return true;
    return err_set(e, ERR_INPUT, "the gzip data is damaged: %s",
                   u->z.msg ? u->z.msg : "no reason");
}

static bool unzstd(struct unpacker *u, struct str *in, char *to, size_t cap, size_t *got,
                   struct err *e)
{
    ZSTD_inBuffer from = { in->at, in->len, 0 };
    ZSTD_outBuffer into = { to, cap, 0 };
    size_t left = ZSTD_decompressStream(u->zstd, &into, &from);

    *got = into.pos;
    *in = str_skip(*in, from.pos);
    if (ZSTD_isError(left))
        return err_set(e, ERR_INPUT, "the zstd data is damaged: %s", ZSTD_getErrorName(left));
    u->open = left != 0;
    return true;
}

bool unpacker_feed(struct unpacker *u, struct str *in, char *to, size_t cap, size_t *got,
                   struct err *e)
{
    size_t before = in->len;

    *got = 0;
    /* A part that has ended is complete; only bytes that follow open another. */
    if (!in->len && !u->open)
        return true;
    if (!(u->kind == PACK_GZIP ? gunzip : unzstd)(u, in, to, cap, got, e))
        return false;
    u->in += before - in->len;
    u->out += *got;
    if (u->out > u->in * PACK_RATIO + PACK_FREE)
        return err_set(e, ERR_LIMIT, "unpacks to more than %d times its size: a bomb",
                       PACK_RATIO);
    return true;
}

bool unpacker_end(const struct unpacker *u, struct err *e)
{
    return !u->open || err_set(e, ERR_INPUT, "the packed data is cut off");
}

struct packer {
    enum pack_kind kind;
    z_stream z;
    ZSTD_CStream *zstd;
    uint64_t in, out;
};

struct packer *packer_new(enum pack_kind kind)
{
    struct packer *p = mem_new(struct packer);

    p->kind = kind;
    if (kind == PACK_GZIP) {
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

void packer_free(struct packer *p)
{
    if (!p)
        return;
    if (p->kind == PACK_GZIP)
        deflateEnd(&p->z);
    ZSTD_freeCStream(p->zstd);
    free(p);
}

static void gzip(struct packer *p, struct str bytes, int flush, struct buf *to)
{
    p->z.next_in = (Bytef *)(uintptr_t)bytes.at;
    p->z.avail_in = (uInt)bytes.len;
    do {
        char *at = buf_space(to, SPACE);
        if (!at)
            return;
        p->z.next_out = (Bytef *)at;
        p->z.avail_out = SPACE;
        deflate(&p->z, flush);
        buf_grew(to, SPACE - p->z.avail_out);
    } while (!p->z.avail_out);
}

static void zstd(struct packer *p, struct str bytes, ZSTD_EndDirective end, struct buf *to)
{
    ZSTD_inBuffer from = { bytes.at, bytes.len, 0 };
    size_t left;

    do {
        char *at = buf_space(to, SPACE);
        ZSTD_outBuffer into = { at, SPACE, 0 };
        if (!at)
            return;
        left = ZSTD_compressStream2(p->zstd, &into, &from, end);
        BUG_IF(ZSTD_isError(left));
        buf_grew(to, into.pos);
    } while (left || from.pos < from.size);
}

static void end_part(struct packer *p, struct buf *to)
{
    if (p->kind == PACK_GZIP)
        gzip(p, STR_NONE, Z_FINISH, to);
    else
        zstd(p, STR_NONE, ZSTD_e_end, to);
}

static void add_little_endian(struct buf *to, uint32_t n, size_t bytes)
{
    for (; bytes; bytes--, n >>= 8)
        buf_add_ch(to, (char)(n & 0xff));
}

static void add_zeros(struct buf *to, size_t count)
{
    char *at = buf_space(to, count);

    if (at) {
        memset(at, 0, count);
        buf_grew(to, count);
    }
}

/* A part that unpacks to nothing. With gzip it is an empty one with a comment for
 * programs in its head, zstd has frames to be skipped. */
static void add_padding(struct packer *p, struct buf *to)
{
    enum { FRAME = 0x184d2a50, NAMED = 4, TAIL = 8 };

    if (p->kind == PACK_ZSTD) {
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

/* Would so much more look like a bomb to an unpacker? It has seen all that is out
 * before it comes to what is added now. */
static bool is_too_dense(const struct packer *p, size_t more)
{
    return p->in + more > p->out * PACK_RATIO + PACK_FREE;
}

void packer_add(struct packer *p, struct str bytes, bool flush, struct buf *to)
{
    size_t before = to->len;

    while (is_too_dense(p, bytes.len) && !to->full) {
        end_part(p, to);
        add_padding(p, to);
        p->out += to->len - before;
        before = to->len;
    }
    if (p->kind == PACK_GZIP)
        gzip(p, bytes, flush ? Z_SYNC_FLUSH : Z_NO_FLUSH, to);
    else
        zstd(p, bytes, flush ? ZSTD_e_flush : ZSTD_e_continue, to);
    p->in += bytes.len;
    p->out += to->len - before;
}

void packer_end(struct packer *p, struct buf *to)
{
    end_part(p, to);
}
