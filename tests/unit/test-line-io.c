#include "transport/line-io.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

static void note_line(void *to, struct str line)
{
    buf_printf(to, "line %.*s\n", STR_ARG(line));
}

static void note_too_long(void *to, uint64_t bytes)
{
    buf_printf(to, "too long %llu\n", (unsigned long long)bytes);
}

static const struct line_reader_events events = { .line = note_line,
                                                  .too_long = note_too_long };

static void assert_reported(struct str bytes, size_t piece, const char *want)
{
    struct line_reader in;
    struct buf reported;

    buf_init(&reported, 1 << 12);
    line_reader_init(&in, 5, &events, &reported);
    while (bytes.len) {
        struct str now = str_n(bytes.at, piece < bytes.len ? piece : bytes.len);

        line_reader_feed(&in, now);
        bytes = str_skip(bytes, now.len);
    }
    line_reader_end(&in);
    line_reader_end(&in); /* seen twice, reported once */
    assert_str(buf_str(&reported), str_z(want));
    line_reader_release(&in);
    buf_release(&reported);
}

static void every_split_gives_the_same_lines(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 40; piece++) {
        assert_reported(STR(""), piece, "");
        assert_reported(STR("a\n\nbc\n"), piece, "line a\nline \nline bc\n");
        assert_reported(STR("a\nrest"), piece, "line a\nline rest\n");
        assert_reported(STR("12345\n123456\nok\n"), piece, "line 12345\ntoo long 6\nline ok\n");
        assert_reported(STR("ok\n1234567"), piece, "line ok\ntoo long 7\n");
    }
}

enum { TYPICAL = 64 << 10 };

/* Over a pipe that separates writes: each read gets the bytes of one write. */
struct writer_test {
    struct loop *loop;
    struct stream *into;
    struct line_writer writer;
    int peer;
};

static const struct stream_events nothing = { 0 };

static void begin(struct writer_test *b, int flags)
{
    struct err e = ERR_NONE;
    int ends[2];

    b->loop = loop_new();
    assert_int_equal(pipe2(ends, O_CLOEXEC | flags), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, TYPICAL * 4) >= TYPICAL * 4);
    b->peer = ends[0];
    if (!stream_open(&b->into, b->loop, ends[1], &nothing, NULL, &e))
        fail_msg("%s", e.msg);
    line_writer_init(&b->writer);
}

static void end(struct writer_test *b)
{
    line_writer_release(&b->writer);
    stream_close(b->into);
    loop_free(b->loop);
    close(b->peer);
}

static void assert_read(struct writer_test *b, size_t len)
{
    char *got = malloc(TYPICAL * 4);

    assert_int_equal(read(b->peer, got, TYPICAL * 4), len);
    assert_int_equal(got[len - 1], '\n');
    free(got);
}

static void a_message_and_its_newline_are_one_write(void **state)
{
    struct writer_test b;

    (void)state;
    begin(&b, O_DIRECT);
    line_writer_send(&b.writer, b.into, STR("{}"));
    line_writer_send(&b.writer, b.into, STR(""));
    assert_read(&b, 3);
    assert_read(&b, 1);
    end(&b);
}

static void every_message_gets_a_newline(void **state)
{
    char *big = malloc(TYPICAL + 1);
    struct writer_test b;

    (void)state;
    memset(big, 'x', TYPICAL + 1);
    begin(&b, 0);
    for (size_t len = TYPICAL - 1; len <= TYPICAL + 1; len++) {
        line_writer_send(&b.writer, b.into, str_n(big, len));
        assert_read(&b, len + 1);
    }
    end(&b);
    free(big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_split_gives_the_same_lines),
        cmocka_unit_test(a_message_and_its_newline_are_one_write),
        cmocka_unit_test(every_message_gets_a_newline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
