#include "base/compress.h"

#include <stdlib.h>

#include "base/mem.h"
#include "test.h"

static const enum compress_kind kinds[] = { COMPRESS_GZIP, COMPRESS_ZSTD };

static void pack(struct buf *to, enum compress_kind kind, struct str text, size_t step,
                 bool flush)
{
    struct compressor *p = compressor_new(kind);

    for (size_t at = 0; at < text.len; at += step)
        compressor_add(p, str_n(text.at + at, step < text.len - at ? step : text.len - at),
                       flush, to);
    compressor_end(p, to);
    compressor_free(p);
}

/* Decompresses in pieces of `step` bytes in and `room` bytes out. Returns the error, else NULL.
 */
static const char *unpack(struct buf *to, enum compress_kind kind, struct str packed,
                          size_t step, size_t room, struct err *e)
{
    struct decompressor *u = decompressor_new(kind);
    char *space = mem_alloc(room);
    bool ok = true;

    for (size_t at = 0; ok && at < packed.len; at += step) {
        struct str in = str_n(packed.at + at, step < packed.len - at ? step : packed.len - at);
        size_t got;

        do {
            ok = decompressor_feed(u, &in, space, room, &got, e);
            buf_add(to, str_n(space, got));
        } while (ok && (in.len || got));
    }
    ok = ok && decompressor_end(u, e);
    decompressor_free(u);
    free(space);
    return ok ? NULL : e->msg;
}

static struct str sample(struct buf *b)
{
    buf_init(b, 1 << 20);
    for (int i = 0; i < 2000; i++)
        buf_printf(b, "{\"line\":%d,\"random\":%d}\n", i, i * 7919 % 1013);
    return buf_str(b);
}

static void compressed_text_is_decompressed_in_pieces_of_any_size(void **state)
{
    static const size_t steps[] = { 1, 17, 1 << 20 };
    struct buf text;
    struct str want = sample(&text);

    (void)state;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < 3; i++) {
            struct err e = ERR_NONE;
            struct buf packed, back;

            buf_init(&packed, 1 << 20);
            buf_init(&back, 1 << 20);
            pack(&packed, kinds[k], want, 501, false);
            assert_true(packed.len < want.len / 2);
            assert_int_equal(compress_detect(buf_str(&packed)), kinds[k]);
            assert_null(
                unpack(&back, kinds[k], buf_str(&packed), steps[i], 13 + steps[i] / 2, &e));
            assert_str(buf_str(&back), want);
            buf_release(&packed);
            buf_release(&back);
        }
    buf_release(&text);
}

static void flushed_text_can_be_read_before_the_end(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct compressor *p = compressor_new(kinds[k]);
        struct err e = ERR_NONE;
        struct buf packed, back;

        buf_init(&packed, 1 << 20);
        buf_init(&back, 1 << 20);
        compressor_add(p, STR("one line\n"), true, &packed);
        assert_string_equal(unpack(&back, kinds[k], buf_str(&packed), 1000, 100, &e),
                            "the compressed data is cut off");
        assert_str(buf_str(&back), STR("one line\n"));
        compressor_free(p);
        buf_release(&packed);
        buf_release(&back);
    }
}

static void concatenated_members_are_one_text(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct err e = ERR_NONE;
        struct buf packed, back;

        buf_init(&packed, 1 << 20);
        buf_init(&back, 1 << 20);
        pack(&packed, kinds[k], STR("first "), 100, false);
        pack(&packed, kinds[k], STR("second"), 100, false);
        assert_null(unpack(&back, kinds[k], buf_str(&packed), 7, 3, &e));
        assert_str(buf_str(&back), STR("first second"));
        buf_release(&packed);
        buf_release(&back);
    }
}

static void truncation_is_an_error_and_adds_no_text(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct buf packed;

        buf_init(&packed, 1 << 20);
        pack(&packed, kinds[k], STR("some text that is packed, some text"), 100, false);
        for (size_t cut = 1; cut < packed.len; cut++) {
            struct err e = ERR_NONE;
            struct buf back;

            buf_init(&back, 1 << 20);
            assert_non_null(unpack(&back, kinds[k], str_n(packed.at, cut), 5, 9, &e));
            assert_int_equal(e.kind, ERR_INPUT);
            assert_true(str_starts(STR("some text that is packed, some text"), buf_str(&back)));
            buf_release(&back);
        }
        buf_release(&packed);
    }
}

static void damage_is_an_error(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct err e = ERR_NONE;
        struct buf packed, back;

        buf_init(&packed, 1 << 20);
        buf_init(&back, 1 << 20);
        pack(&packed, kinds[k], STR("text"), 100, false);
        buf_add(&packed, STR("garbage behind it"));
        assert_non_null(unpack(&back, kinds[k], buf_str(&packed), 1000, 100, &e));
        assert_non_null(strstr(e.msg, "is damaged"));
        buf_release(&packed);
        buf_release(&back);
    }
}

static void a_damaged_byte_does_not_give_another_text(void **state)
{
    struct buf text;
    struct str want = sample(&text);

    (void)state;
    want = str_n(want.at, 3000);
    for (size_t k = 0; k < 2; k++) {
        struct buf packed, back;

        buf_init(&packed, 1 << 20);
        buf_init(&back, 1 << 20);
        pack(&packed, kinds[k], want, 100, false);
        for (size_t bit = 0; bit < 8 * packed.len; bit++) {
            struct err e = ERR_NONE;
            char flip = (char)(1 << bit % 8);

            packed.at[bit / 8] ^= flip;
            buf_clear(&back);
            if (!unpack(&back, kinds[k], buf_str(&packed), 1000, 5000, &e))
                assert_str(buf_str(&back), want);
            packed.at[bit / 8] ^= flip;
        }
        buf_release(&packed);
        buf_release(&back);
    }
    buf_release(&text);
}

enum { BLOCK_BYTES = 1 << 20 };

static void pack_blocks(struct buf *to, enum compress_kind kind, const char *block, int count)
{
    struct compressor *p = compressor_new(kind);

    buf_init(to, 1 << 26);
    for (int i = 0; i < count; i++)
        compressor_add(p, str_n(block, BLOCK_BYTES), false, to);
    compressor_end(p, to);
    compressor_free(p);
}

/* How many bytes come out; counts on from `*total`. */
static bool count_unpacked(struct decompressor *u, struct str in, size_t *total, struct err *e)
{
    char *room = mem_alloc(BLOCK_BYTES);
    size_t got;
    bool ok;

    do {
        ok = decompressor_feed(u, &in, room, BLOCK_BYTES, &got, e);
        *total += got;
    } while (ok && (in.len || got));
    free(room);
    return ok;
}

static void a_decompression_bomb_is_rejected(void **state)
{
    enum { BLOCKS = 32, TIMES = 20 };
    char *zeros = calloc(1, BLOCK_BYTES);

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct decompressor *u = decompressor_new(kinds[k]);
        struct err e = ERR_NONE;
        struct buf packed;
        size_t total = 0;
        bool ok = true;

        pack_blocks(&packed, kinds[k], zeros, BLOCKS);
        for (int i = 0; ok && i < TIMES; i++)
            ok = count_unpacked(u, buf_str(&packed), &total, &e);
        assert_false(ok);
        assert_int_equal(e.kind, ERR_LIMIT);
        decompressor_free(u);
        buf_release(&packed);
    }
    free(zeros);
}

static void our_own_well_compressed_text_is_accepted(void **state)
{
    enum { BLOCKS = 400 };
    char *zeros = calloc(1, BLOCK_BYTES);

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct decompressor *u = decompressor_new(kinds[k]);
        struct err e = ERR_NONE;
        struct buf packed;
        size_t total = 0;

        pack_blocks(&packed, kinds[k], zeros, BLOCKS);
        assert_in_range(packed.len, BLOCK_BYTES, BLOCK_BYTES * BLOCKS / 100);
        if (!count_unpacked(u, buf_str(&packed), &total, &e) || !decompressor_end(u, &e))
            fail_msg("%s", e.msg);
        assert_int_equal(total, (size_t)BLOCK_BYTES * BLOCKS);
        decompressor_free(u);
        buf_release(&packed);
    }
    free(zeros);
}

static void the_file_name_selects_the_compression(void **state)
{
    struct str stem;

    (void)state;
    assert_int_equal(compress_by_suffix(STR("a.jsonl.gz"), &stem), COMPRESS_GZIP);
    assert_str(stem, STR("a.jsonl"));
    assert_int_equal(compress_by_suffix(STR("a.jsonl.zst"), &stem), COMPRESS_ZSTD);
    assert_str(stem, STR("a.jsonl"));
    assert_int_equal(compress_by_suffix(STR("gz"), &stem), COMPRESS_NONE);
    assert_str(stem, STR("gz"));
    assert_int_equal(compress_detect(STR("{}")), COMPRESS_NONE);
    assert_int_equal(compress_detect(STR("\x1f")), COMPRESS_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compressed_text_is_decompressed_in_pieces_of_any_size),
        cmocka_unit_test(flushed_text_can_be_read_before_the_end),
        cmocka_unit_test(concatenated_members_are_one_text),
        cmocka_unit_test(truncation_is_an_error_and_adds_no_text),
        cmocka_unit_test(damage_is_an_error),
        cmocka_unit_test(a_damaged_byte_does_not_give_another_text),
        cmocka_unit_test(a_decompression_bomb_is_rejected),
        cmocka_unit_test(our_own_well_compressed_text_is_accepted),
        cmocka_unit_test(the_file_name_selects_the_compression),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
