#include "transport/inlet.h"

#include "test.h"

static void note_line(void *to, struct str line)
{
    buf_printf(to, "line %.*s\n", STR_ARG(line));
}

static void note_too_long(void *to, uint64_t bytes)
{
    buf_printf(to, "too long %llu\n", (unsigned long long)bytes);
}

static const struct inlet_events events = { .line = note_line, .too_long = note_too_long };

static void assert_told(struct str bytes, size_t piece, const char *want)
{
    struct inlet in;
    struct buf told;

    buf_init(&told, 1 << 12);
    inlet_init(&in, 5, &events, &told);
    while (bytes.len) {
        struct str now = str_n(bytes.at, piece < bytes.len ? piece : bytes.len);

        inlet_feed(&in, now);
        bytes = str_skip(bytes, now.len);
    }
    inlet_end(&in);
    inlet_end(&in); /* said twice, told once */
    assert_str(buf_str(&told), str_z(want));
    inlet_release(&in);
    buf_release(&told);
}

static void however_the_bytes_come_the_lines_are_the_same(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 40; piece++) {
        assert_told(STR(""), piece, "");
        assert_told(STR("a\n\nbc\n"), piece, "line a\nline \nline bc\n");
        assert_told(STR("a\nrest"), piece, "line a\nline rest\n");
        assert_told(STR("12345\n123456\nok\n"), piece, "line 12345\ntoo long 6\nline ok\n");
        assert_told(STR("ok\n1234567"), piece, "line ok\ntoo long 7\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(however_the_bytes_come_the_lines_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
