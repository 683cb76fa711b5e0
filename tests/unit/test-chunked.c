#include "assert-aborts.h"
#include "split-input.h"
#include "test.h"
#include "wire/chunked.h"

/* The bytes of the body, then its end, its trailers and the bytes behind it. */
static void run(struct split_input *c, struct buf *seen)
{
    enum chunked_next next = CHUNKED_MORE;
    struct str piece = STR_NONE, data;
    struct chunked k;

    chunked_init(&k);
    while (next != CHUNKED_END && next != CHUNKED_REJECTED && split_input_next(c, &piece)) {
        while ((next = chunked_next(&k, &piece, &data)) == CHUNKED_DATA) {
            assert_true(data.len > 0);
            buf_add(seen, data);
        }
    }
    if (next == CHUNKED_REJECTED)
        buf_printf(seen, "! %s", reject_reason_text(k.reason));
    else if (next == CHUNKED_MORE)
        buf_printf(seen, "...");
    else
        buf_printf(seen, "|");
    if (next == CHUNKED_END) {
        for (size_t i = 0; i < k.trailers.count; i++)
            buf_printf(seen, "%.*s=%.*s|", STR_ARG(k.trailers.at[i].name),
                       STR_ARG(k.trailers.at[i].value));
        buf_add(seen, piece);
        buf_add(seen, c->left);
    }
    chunked_release(&k);
}

static void a_body_split_at_any_byte_gives_the_same_data(void **state)
{
    (void)state;
    assert_splits(STR("5\r\nhello\r\n3\r\n wo\r\n3\r\nrld\r\n0\r\n\r\nPOST"), run,
                  STR("hello world|POST"));
    assert_splits(STR("0\r\n\r\n"), run, STR("|"));
    assert_splits(STR("A\r\n0123456789\r\n0a\r\nabcdefghij\r\n000\r\n\r\n\0"), run,
                  STR("0123456789abcdefghij|\0"));
    assert_splits(STR("4\r\n\r\n\r\n\r\n0\r\n\r\n"), run, STR("\r\n\r\n|"));
}

static void an_unfinished_body_waits_for_more(void **state)
{
    (void)state;
    assert_splits(STR("5\r\nhel"), run, STR("hel..."));
    assert_splits(STR("5\r\nhello\r\n0\r\n"), run, STR("hello..."));
    assert_splits(STR("5\r\nhello\r\n0\r\na: b\r\n\r"), run, STR("hello..."));
}

static void trailers_are_separate_from_data(void **state)
{
    (void)state;
    assert_splits(STR("1\r\nx\r\n0\r\nA: b\r\na: c\r\n\r\nnext"), run, STR("x|A=b|a=c|next"));
}

static void bad_trailers_are_rejected_like_headers(void **state)
{
    (void)state;
    assert_splits(STR("0\r\na b\r\n\r\n"), run, STR("! a header line without a colon"));
    assert_splits(STR("0\r\na: b\n\r\n"), run, STR("! a line that ends in LF alone"));
    assert_splits(STR("0\r\na: b\r\n c\r\n\r\n"), run,
                  STR("! a header line that begins with whitespace"));
    assert_splits(STR("0\r\nContent-Length: 5\r\n\r\n"), run,
                  STR("! a trailer that changes the framing"));
    assert_splits(STR("0\r\na: b\r\ntransfer-encoding: chunked\r\n\r\n"), run,
                  STR("! a trailer that changes the framing"));
    assert_splits(STR("0\r\na\0: b\r\n\r\n"), run, STR("! a NUL byte"));
}

static void extensions_are_dropped(void **state)
{
    (void)state;
    assert_splits(STR("1;a=b;c=\"\t; d\\\"\";e\r\nx\r\n0;last\r\n\r\n"), run, STR("x|"));
}

static void invalid_extensions_are_rejected(void **state)
{
    static const char *const bad[] = {
        "1;\r\n",         "1; a\r\n",        "1;a =b\r\n", "1;a= b\r\n",  "1;a=\r\n",
        "1;=b\r\n",       "1;a=b;\r\n",      "1;;a\r\n",   "1;a=b=c\r\n", "1;a=\"b\r\n",
        "1;a=\"b\"c\r\n", "1;a=\"b\\\"\r\n", "1;a,b\r\n",  "1;a\xff\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_splits(str_z(bad[i]), run, STR("! a chunk extension that is not 'name=value'"));
}

static void sizes_with_other_characters_are_rejected(void **state)
{
    static const char *const bad[] = {
        "\r\n",     "g\r\n",   "0x5\r\n", "+5\r\n",  "-1\r\n",  " 5\r\n",  "5 \r\n",
        "5 ;a\r\n", "5\t\r\n", ";a\r\n",  "5,5\r\n", "5.0\r\n", "5_0\r\n", "\"5\"\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_splits(str_z(bad[i]), run,
                      STR("! a chunk whose size is not a hexadecimal number"));
}

static void incomplete_line_ends_are_rejected(void **state)
{
    (void)state;
    assert_splits(STR("5\nhello\r\n"), run, STR("! a line that ends in LF alone"));
    assert_splits(STR("5;a\nhello\r\n"), run, STR("! a line that ends in LF alone"));
    assert_splits(STR("5\rhello\r\n"), run, STR("! a CR without LF"));
    assert_splits(STR("5;a\rb\r\n"), run, STR("! a CR without LF"));
    assert_splits(STR("5;a\0b\r\n"), run, STR("! a NUL byte"));
    assert_splits(STR("5;a\x7f\r\n"), run, STR("! a control character"));
}

static void data_must_have_the_announced_size(void **state)
{
    (void)state;
    assert_splits(STR("3\r\nhello\r\n"), run,
                  STR("hel! a chunk that does not end after its size"));
    assert_splits(STR("5\r\nhello\n0\r\n\r\n"), run,
                  STR("hello! a chunk that does not end after its size"));
    assert_splits(STR("5\r\nhello\r0\r\n\r\n"), run,
                  STR("hello! a chunk that does not end after its size"));
    assert_splits(STR("7\r\nhello\r\n0\r\n\r\n"), run,
                  STR("hello\r\n! a chunk that does not end after its size"));
}

static void overflowing_sizes_are_rejected(void **state)
{
    (void)state;
    assert_splits(STR("fffffffffffffff\r\nabc"), run, STR("abc..."));
    assert_splits(STR("1000000000000000\r\nabc"), run, STR("! a chunk size that is too large"));
    assert_splits(STR("10000000000000005\r\nhello"), run,
                  STR("! a chunk size that is too large"));
    assert_splits(STR("0000000000000005\r\nhello"), run,
                  STR("! a chunk size that is too large"));
}

static void add_many(struct buf *to, char c, size_t n)
{
    while (n--)
        buf_add_ch(to, c);
}

static void an_extension_has_a_limit(void **state)
{
    struct buf text;

    (void)state;
    buf_init(&text, 4096);
    buf_add(&text, STR("1;"));
    add_many(&text, 'x', CHUNKED_EXTENSION_MAX);
    buf_add(&text, STR("\r\na\r\n0\r\n\r\n"));
    assert_splits(buf_str(&text), run, STR("a|"));
    buf_clear(&text);
    buf_add(&text, STR("1;"));
    add_many(&text, 'x', CHUNKED_EXTENSION_MAX + 1);
    assert_splits(buf_str(&text), run, STR("! chunk extensions that are too long"));
    buf_release(&text);
}

static void all_extensions_together_have_a_limit(void **state)
{
    const int full = CHUNKED_EXTENSIONS_MAX / CHUNKED_EXTENSION_MAX;
    struct buf text, seen;

    (void)state;
    buf_init(&text, 64 << 10);
    buf_init(&seen, 4096);
    for (int i = 0; i < full; i++) {
        buf_add(&text, STR("1;"));
        add_many(&text, 'x', CHUNKED_EXTENSION_MAX);
        buf_add(&text, STR("\r\na\r\n"));
    }
    split_input_once(buf_str(&text), 7, 7, 7, run, &seen);
    assert_int_equal(seen.len, full + 3);
    buf_add(&text, STR("1;x"));
    split_input_once(buf_str(&text), 7, 7, 7, run, &seen);
    assert_str(str_skip(buf_str(&seen), (size_t)full),
               STR("! chunk extensions that are too long"));
    buf_release(&text);
    buf_release(&seen);
}

static void trailers_have_a_limit(void **state)
{
    struct buf text, seen;

    (void)state;
    buf_init(&text, 64 << 10);
    buf_init(&seen, 64 << 10);
    buf_add(&text, STR("0\r\na:"));
    add_many(&text, 'x', CHUNKED_TRAILERS_MAX - 6);
    buf_add(&text, STR("\r\n\r\n"));
    split_input_once(buf_str(&text), 100, 100, 100, run, &seen);
    assert_int_equal(seen.at[seen.len - 1], '|');
    buf_clear(&text);
    buf_add(&text, STR("0\r\na:"));
    add_many(&text, 'x', CHUNKED_TRAILERS_MAX - 5);
    buf_add(&text, STR("\r\n\r\n"));
    split_input_once(buf_str(&text), 100, 100, 100, run, &seen);
    assert_str(buf_str(&seen), STR("! headers that are too long"));
    buf_release(&text);
    buf_release(&seen);
}

static void written_chunks_are_parsed_again(void **state)
{
    struct buf text;

    (void)state;
    buf_init(&text, 4096);
    chunked_write(&text, STR("hello"));
    chunked_write(&text, STR(""));
    chunked_write(&text, STR(" of sixteen bytes"));
    chunked_write_size(&text, 3);
    buf_add(&text, STR("end" CHUNKED_CHUNK_END CHUNKED_LAST_CHUNK));
    assert_str(buf_str(&text),
               STR("5\r\nhello\r\n11\r\n of sixteen bytes\r\n3\r\nend\r\n0\r\n\r\n"));
    assert_splits(buf_str(&text), run, STR("hello of sixteen bytesend|"));
    buf_release(&text);
}

static void open_an_empty_one(void)
{
    struct buf text;

    buf_init(&text, 4096);
    chunked_write_size(&text, 0);
}

static void writing_an_empty_chunk_writes_nothing(void **state)
{
    (void)state;
    assert_aborts(open_an_empty_one, "size == 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_split_at_any_byte_gives_the_same_data),
        cmocka_unit_test(an_unfinished_body_waits_for_more),
        cmocka_unit_test(trailers_are_separate_from_data),
        cmocka_unit_test(bad_trailers_are_rejected_like_headers),
        cmocka_unit_test(extensions_are_dropped),
        cmocka_unit_test(invalid_extensions_are_rejected),
        cmocka_unit_test(sizes_with_other_characters_are_rejected),
        cmocka_unit_test(incomplete_line_ends_are_rejected),
        cmocka_unit_test(data_must_have_the_announced_size),
        cmocka_unit_test(overflowing_sizes_are_rejected),
        cmocka_unit_test(an_extension_has_a_limit),
        cmocka_unit_test(all_extensions_together_have_a_limit),
        cmocka_unit_test(trailers_have_a_limit),
        cmocka_unit_test(written_chunks_are_parsed_again),
        cmocka_unit_test(writing_an_empty_chunk_writes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
