#include "test.h"
#include "wire/sse-reader.h"
#include "wire/sse-writer.h"

static void check(struct sse_item item, struct str want)
{
    struct err e = ERR_NONE;
    struct buf seen;

    buf_init(&seen, 4096);
    if (!sse_writer_add(&seen, &item, &e)) {
        assert_int_equal(e.kind, ERR_INPUT);
        assert_int_equal(seen.len, 0);
        buf_printf(&seen, "%s", e.msg);
    }
    assert_str(buf_str(&seen), want);
    buf_release(&seen);
}

static void a_block_has_only_the_given_fields(void **state)
{
    struct sse_item item = SSE_ITEM_NONE;

    (void)state;
    item.data = STR("{}");
    check(item, STR("data: {}\n\n"));
    item.event = STR("message");
    item.id = STR("7");
    item.retry = 500;
    check(item, STR("event: message\nid: 7\nretry: 500\ndata: {}\n\n"));
    item = SSE_ITEM_NONE;
    item.id = STR("");
    item.data = STR("");
    check(item, STR("id: \ndata: \n\n"));
}

static void data_and_comments_may_have_several_lines(void **state)
{
    struct sse_item item = SSE_ITEM_NONE;

    (void)state;
    item.data = STR("a\nb\r\nc\rd\n");
    check(item, STR("data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"));
    item.data = STR("\r\r\n\n");
    check(item, STR("data: \ndata: \ndata: \ndata: \n\n"));
    item.data = STR_NONE;
    item.comment = STR(" ping");
    check(item, STR(": ping\n\n"));
    item.comment = STR("a\ndata: b");
    check(item, STR(":a\n:data: b\n\n"));
    item.comment = STR("");
    check(item, STR(":\n\n"));
}

static void line_breaks_in_event_and_id_are_rejected(void **state)
{
    static const struct str bad[] = { STR_INIT("a\nb"), STR_INIT("a\rb"), STR_INIT("\n") };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sse_item item = SSE_ITEM_NONE;

        item.event = bad[i];
        check(item, STR("the name of an event holds a line break"));
        item = SSE_ITEM_NONE;
        item.id = bad[i];
        check(item, STR("the id of an event holds a line break or NUL"));
    }
    check((struct sse_item){ .id = STR("a\0"), .retry = -1 },
          STR("the id of an event holds a line break or NUL"));
}

static void assert_same(struct str got, struct str want)
{
    assert_int_equal(got.at == NULL, want.at == NULL);
    assert_str(got, want);
}

static void written_items_are_parsed_again(void **state)
{
    const struct sse_item items[] = {
        { .event = STR(" x"), .data = STR(" {\"a\": 1}"), .id = STR("a:b"), .retry = 0 },
        { .data = STR(""), .retry = -1 },
        { .data = STR("\n\n"), .id = STR(""), .retry = -1 },
        { .data = STR("\xef\xbb\xbf\0\x0b\xe2\x80\xa8"), .retry = INT64_MAX },
        { .event = STR(""), .retry = -1 },
        { .comment = STR(": odd "), .retry = -1 },
    };
    struct err e = ERR_NONE;
    struct sse_reader r;
    struct sse_item item;
    struct buf text;

    (void)state;
    buf_init(&text, 4096);
    sse_reader_init(&r, 4096);
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        buf_clear(&text);
        assert_true(sse_writer_add(&text, &items[i], &e));
        sse_reader_feed(&r, buf_str(&text));
        assert_int_equal(sse_reader_next(&r, &item),
                         items[i].comment.at ? SSE_COMMENT : SSE_EVENT);
        assert_same(item.event, items[i].event);
        assert_same(item.data, items[i].data);
        assert_same(item.id, items[i].id);
        assert_same(item.comment, items[i].comment);
        assert_true(item.retry == items[i].retry);
        assert_int_equal(sse_reader_next(&r, &item), SSE_MORE);
    }
    sse_reader_release(&r);
    buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_has_only_the_given_fields),
        cmocka_unit_test(data_and_comments_may_have_several_lines),
        cmocka_unit_test(line_breaks_in_event_and_id_are_rejected),
        cmocka_unit_test(written_items_are_parsed_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
