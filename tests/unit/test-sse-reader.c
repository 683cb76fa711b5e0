#include "split-input.h"
#include "sse-text.h"
#include "test.h"
#include "wire/sse-reader.h"

enum { MAX = 40 };

static void run_max(struct split_input *c, struct buf *seen, size_t max)
{
    struct sse_reader r;
    struct sse_item item;
    enum sse_next next;
    struct str piece;

    sse_reader_init(&r, max);
    while (split_input_next(c, &piece)) {
        sse_reader_feed(&r, piece);
        while ((next = sse_reader_next(&r, &item)) != SSE_MORE)
            sse_text(seen, next, &item);
    }
    for (int n = 0; (next = sse_reader_end(&r, &item)) != SSE_MORE; n++) {
        buf_printf(seen, n ? "" : " cut off: ");
        sse_text(seen, next, &item);
    }
    sse_reader_release(&r);
}

static void run(struct split_input *c, struct buf *seen)
{
    run_max(c, seen, 1 << 20);
}

static void run_small(struct split_input *c, struct buf *seen)
{
    run_max(c, seen, MAX);
}

static void a_block_ends_with_an_empty_line(void **state)
{
    (void)state;
    assert_splits(STR("data: a\n\ndata: b\n\n"), run, STR("{data=a|8}{data=b|8}"));
    assert_splits(STR("event: message\nid: 7\nretry: 500\ndata: {}\n\n"), run,
                  STR("{event=message|id=7|retry=500|data={}|41}"));
    assert_splits(STR("\n\n\ndata:a\n\n\n\n"), run, STR("{data=a|7}"));
    assert_splits(STR(""), run, STR(""));
}

static void lines_end_in_lf_cr_or_crlf_in_any_mixture(void **state)
{
    (void)state;
    assert_splits(STR("data: a\rdata: b\r\rdata: c\r\r"), run, STR("{data=a\nb|16}{data=c|8}"));
    assert_splits(STR("data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n"), run,
                  STR("{data=a\nb|16}{data=c|8}"));
    assert_splits(STR("data: a\n\r\ndata: b\r\n\rdata: c\r\n\ndata: d\r\r\n"), run,
                  STR("{data=a|8}{data=b|8}{data=c|8}{data=d|8}"));
    assert_splits(STR("\r\n\r\n\r\ndata: a\r\n\r\n"), run, STR("{data=a|8}"));
}

static void an_event_is_reported_at_its_last_byte_with_its_size(void **state)
{
    struct sse_reader r;
    struct sse_item item;

    (void)state;
    sse_reader_init(&r, MAX);
    sse_reader_feed(&r, STR("data: a\r\n\r"));
    assert_int_equal(sse_reader_next(&r, &item), SSE_EVENT);
    assert_int_equal(sse_reader_next(&r, &item), SSE_MORE);
    sse_reader_feed(&r, STR("\ndata: b\r\n\r\ndata: c"));
    assert_int_equal(sse_reader_next(&r, &item), SSE_EVENT);
    assert_str(item.data, STR("b"));
    assert_str(r.input, STR("data: c")); /* its LF is taken with it if it is there */
    assert_int_equal(sse_reader_next(&r, &item), SSE_MORE);
    sse_reader_release(&r);
}

static void a_byte_order_mark_is_dropped_once_and_in_front_only(void **state)
{
    (void)state;
    assert_splits(STR("\xef\xbb\xbf"
                      "data: a\n\n"),
                  run, STR("{data=a|8}"));
    assert_splits(STR("\xef\xbb\xbf\xef\xbb\xbf"
                      "data: a\n\ndata: b\n\n"),
                  run, STR("{data=b|8}"));
    assert_splits(STR("data: a\n\n\xef\xbb\xbf"
                      "data: b\n\n"),
                  run, STR("{data=a|8}"));
    assert_splits(STR("\xef\xbb"
                      "data: a\n\ndata: b\n\n"),
                  run, STR("{data=b|8}"));
    assert_splits(STR("\xef"), run, STR(" cut off: {1}"));
    assert_splits(STR("\xef\xbb\n\ndata\n\n"), run, STR("{data=|5}"));
    assert_splits(STR("\xef\xbb\xbf"), run, STR(""));
    assert_splits(STR("\n\xef\xbb\xbf"
                      "data: a\n\n"),
                  run, STR(""));
}

static void data_lines_are_joined_by_line_feeds(void **state)
{
    (void)state;
    assert_splits(STR("data: a\ndata\ndata:\ndata: b\n\n"), run, STR("{data=a\n\n\nb|27}"));
    assert_splits(STR("data:\n\ndata\ndata\n\ndata:test\n\n"), run,
                  STR("{data=|6}{data=\n|10}{data=test|10}"));
}

static void one_blank_after_the_colon_is_not_part_of_the_value(void **state)
{
    (void)state;
    assert_splits(STR("data:a\n\ndata: a\n\ndata:  a \n\ndata:\ta\n\ndata: \n\n"), run,
                  STR("{data=a|7}{data=a|8}{data= a |10}{data=\ta|8}{data=|7}"));
}

static void values_may_hold_colons(void **state)
{
    (void)state;
    assert_splits(STR("data: a: b:\nid::x\n\n"), run, STR("{id=:x|data=a: b:|18}"));
}

static void unknown_fields_are_ignored(void **state)
{
    (void)state;
    assert_splits(
        STR("data : a\nDATA: b\n data: c\ndataa: d\ndat: e\nevents: f\n\ndata: g\n\n"), run,
        STR("{data=g|8}"));
    assert_splits(STR("a-very-long-name-of-a-field: x\ndata: y\n\n"), run, STR("{data=y|39}"));
    assert_splits(STR("data\0: a\n\n"), run, STR(""));
}

static void a_block_without_data_is_reported(void **state)
{
    (void)state;
    assert_splits(STR("id: 1\n\n"), run, STR("{id=1|6}"));
    assert_splits(STR("retry: 3000\n\n"), run, STR("{retry=3000|12}"));
    assert_splits(STR("event: ping\n\ndata: a\n\n"), run, STR("{event=ping|12}{data=a|8}"));
    assert_splits(STR("id: 5\nretry: 100\ndata: \n\n"), run, STR("{id=5|retry=100|data=|24}"));
}

static void the_last_event_and_id_of_a_block_count(void **state)
{
    (void)state;
    assert_splits(STR("event: a\nid: 1\nevent: b\nid: 2\ndata: x\n\n"), run,
                  STR("{event=b|id=2|data=x|38}"));
    assert_splits(STR("event: a\nevent\nid: 1\nid\n\n"), run, STR("{event=|id=|24}"));
    assert_splits(STR("id: 1\ndata: a\n\ndata: b\n\n"), run, STR("{id=1|data=a|14}{data=b|8}"));
}

static void an_id_with_a_nul_is_ignored(void **state)
{
    (void)state;
    assert_splits(STR("id: a\0b\ndata: x\n\n"), run, STR("{data=x|16}"));
    assert_splits(STR("id: \0\n\nretry: x\n\n"), run, STR(""));
    assert_splits(STR("id: 1\nid: \0\ndata: x\n\n"), run, STR("{id=1|data=x|20}"));
    assert_splits(STR("data: a\0b\nevent: \0\n\n"), run, STR("{event=\0|data=a\0b|19}"));
}

static void a_retry_with_other_characters_than_digits_is_ignored(void **state)
{
    (void)state;
    assert_splits(STR("retry: 1000x\ndata: a\n\n"), run, STR("{data=a|21}"));
    assert_splits(STR("retry: 10\nretry: -1\nretry:\nretry\nretry: 1.5\nretry:  7\n\n"), run,
                  STR("{retry=10|54}"));
    assert_splits(STR("retry: 0\nretry: 007\n\n"), run, STR("{retry=7|20}"));
    assert_splits(STR("retry: 99999999999999999999\n\n"), run,
                  STR("{retry=9223372036854775807|28}"));
}

static void comments_are_reported_at_the_end_of_their_line(void **state)
{
    (void)state;
    assert_splits(STR(": ping\n\n:\n: keepalive\r\rdata: a\n\n"), run,
                  STR("(comment= ping|7)(comment=|2)(comment= keepalive|12){data=a|8}"));
    assert_splits(STR("data: a\n:between\ndata: b\n\n"), run,
                  STR("(comment=between|9){data=a\nb|16}"));
    assert_splits(STR(":data: a\n::\n"), run, STR("(comment=data: a|9)(comment=:|3)"));
    assert_splits(STR(":a\0b\n"), run, STR("(comment=a\0b|5)"));
}

static void only_lf_and_cr_end_lines(void **state)
{
    (void)state;
    assert_splits(STR("data: a\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\x0b\x0c\x1c\x1e\xff z\n\n"), run,
                  STR("{data=a\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\x0b\x0c\x1c\x1e\xff z|23}"));
}

static void unfinished_items_are_returned_at_the_end(void **state)
{
    (void)state;
    assert_splits(STR("data: a\n\ndata: b\n"), run, STR("{data=a|8} cut off: {data=b|8}"));
    assert_splits(STR("data: b"), run, STR(" cut off: {data=b|7}"));
    assert_splits(STR("data: a\r\nid: 4"), run, STR(" cut off: {id=4|data=a|13}"));
    assert_splits(STR("da"), run, STR(" cut off: {2}"));
    assert_splits(STR("data: a\n: wh"), run, STR(" cut off: (comment= wh|4){data=a|8}"));
    assert_splits(STR("x: y\n"), run, STR(" cut off: {5}"));
    assert_splits(STR("data: a\r\r"), run, STR("{data=a|8}"));
}

static void a_block_of_exactly_the_limit_is_kept(void **state)
{
    (void)state;
    assert_splits(STR("data: 456789012345678901234567890123456\n\n"), run_small, /* 40 bytes */
                  STR("{data=456789012345678901234567890123456|40}"));
    assert_splits(STR("data: 4567890123456789\ndata: 3456789012\n\n"), run_small,
                  STR("{data=4567890123456789\n3456789012|40}"));
}

static void a_too_long_block_is_only_counted_and_the_next_is_kept(void **state)
{
    (void)state;
    assert_splits(STR("data: 4567890123456789012345678901234567\n\ndata: ok\n\n"), run_small,
                  STR("{too long: 41}{data=ok|9}"));
    assert_splits(
        STR("id: 1\nevent: e\nretry: 4\ndata: 4567890123\ndata: more\nid: 2\n\nid: 3\n\n"),
        run_small, STR("{too long: 58}{id=3|6}"));
    assert_splits(STR("x: 34567890123456789012345678901234567890123456\n\ndata: ok\n\n"),
                  run_small, STR("{data=ok|9}"));
}

static void comments_and_blocks_have_separate_limits(void **state)
{
    (void)state;
    assert_splits(STR("data: a\n: 345678901234567890123456789012345678901\n\n"), run_small,
                  STR("(too long: 42){data=a|8}"));
    assert_splits(
        STR("data: 4567890123456789\n: 3456789012345678901234567890\ndata: b\n\n"), run_small,
        STR("(comment= 3456789012345678901234567890|31){data=4567890123456789\nb|31}"));
}

static void long_unfinished_items_are_counted(void **state)
{
    (void)state;
    assert_splits(STR("data: 456789012345678901234567890123456789"), run_small,
                  STR(" cut off: {too long: 42}"));
}

static void a_large_event_frees_its_memory(void **state)
{
    struct sse_reader r;
    struct sse_item item;
    struct buf text;

    (void)state;
    buf_init(&text, 2 << 20);
    buf_add(&text, STR("data: "));
    while (text.len < 1 << 20)
        buf_add(&text, STR("0123456789"));
    buf_add(&text, STR("\n\n"));
    sse_reader_init(&r, 2 << 20);
    sse_reader_feed(&r, buf_str(&text));
    assert_int_equal(sse_reader_next(&r, &item), SSE_EVENT);
    assert_int_equal(item.data.len, text.len - 8);
    assert_int_equal(sse_reader_next(&r, &item), SSE_MORE);
    for (int i = 0; i < SSE_PARTS; i++)
        assert_true(r.part[i].cap <= 64 << 10);
    sse_reader_release(&r);
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_ends_with_an_empty_line),
        cmocka_unit_test(lines_end_in_lf_cr_or_crlf_in_any_mixture),
        cmocka_unit_test(an_event_is_reported_at_its_last_byte_with_its_size),
        cmocka_unit_test(a_byte_order_mark_is_dropped_once_and_in_front_only),
        cmocka_unit_test(data_lines_are_joined_by_line_feeds),
        cmocka_unit_test(one_blank_after_the_colon_is_not_part_of_the_value),
        cmocka_unit_test(values_may_hold_colons),
        cmocka_unit_test(unknown_fields_are_ignored),
        cmocka_unit_test(a_block_without_data_is_reported),
        cmocka_unit_test(the_last_event_and_id_of_a_block_count),
        cmocka_unit_test(an_id_with_a_nul_is_ignored),
        cmocka_unit_test(a_retry_with_other_characters_than_digits_is_ignored),
        cmocka_unit_test(comments_are_reported_at_the_end_of_their_line),
        cmocka_unit_test(only_lf_and_cr_end_lines),
        cmocka_unit_test(unfinished_items_are_returned_at_the_end),
        cmocka_unit_test(a_block_of_exactly_the_limit_is_kept),
        cmocka_unit_test(a_too_long_block_is_only_counted_and_the_next_is_kept),
        cmocka_unit_test(comments_and_blocks_have_separate_limits),
        cmocka_unit_test(long_unfinished_items_are_counted),
        cmocka_unit_test(a_large_event_frees_its_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
