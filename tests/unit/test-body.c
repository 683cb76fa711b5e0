#include "split-input.h"
#include "test.h"
#include "wire/body.h"

static void run_plan(struct split_input *c, struct buf *seen, struct body_framing plan)
{
    enum body_next next;
    struct str piece = STR_NONE, data;
    struct body b;

    body_init(&b, plan);
    do {
        while ((next = body_next(&b, &piece, &data)) == BODY_DATA)
            buf_add(seen, data);
    } while (next == BODY_MORE && split_input_next(c, &piece));
    buf_printf(seen, next == BODY_END ? "|" : next == BODY_MORE ? "..." : "!");
    buf_add(seen, piece);
    buf_add(seen, c->left);
    body_release(&b);
}

static void run_none(struct split_input *c, struct buf *seen)
{
    run_plan(c, seen, (struct body_framing){ .kind = BODY_NONE, .length = 3 });
}

static void run_length(struct split_input *c, struct buf *seen)
{
    run_plan(c, seen, (struct body_framing){ .kind = BODY_LENGTH, .length = 5 });
}

static void run_empty(struct split_input *c, struct buf *seen)
{
    run_plan(c, seen, (struct body_framing){ .kind = BODY_LENGTH });
}

static void run_chunked(struct split_input *c, struct buf *seen)
{
    run_plan(c, seen, (struct body_framing){ .kind = BODY_CHUNKED });
}

static void an_absent_body_ends_at_once(void **state)
{
    (void)state;
    assert_splits(STR("GET"), run_none, STR("|GET"));
    assert_splits(STR(""), run_none, STR("|"));
    assert_splits(STR("GET"), run_empty, STR("|GET"));
}

static void a_body_has_exactly_content_length_bytes(void **state)
{
    (void)state;
    assert_splits(STR("helloGET"), run_length, STR("hello|GET"));
    assert_splits(STR("hello"), run_length, STR("hello|"));
    assert_splits(STR("hell"), run_length, STR("hell..."));
    assert_splits(STR(""), run_length, STR("..."));
}

static void a_chunked_body_is_returned_without_framing(void **state)
{
    (void)state;
    assert_splits(STR("2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\nGET"), run_chunked, STR("hello|GET"));
    assert_splits(STR("2\r\nhe\r\n"), run_chunked, STR("he..."));
}

static void a_rejected_chunk_has_a_reason(void **state)
{
    struct str in = STR("5\nhello"), data;
    struct body b;

    (void)state;
    body_init(&b, (struct body_framing){ .kind = BODY_CHUNKED });
    assert_int_equal(body_next(&b, &in, &data), BODY_REJECTED);
    assert_int_equal(b.chunked.reason, REJECT_BARE_LF);
    assert_int_equal(body_next(&b, &in, &data), BODY_REJECTED);
    body_release(&b);
}

static void a_length_of_zero_is_no_body(void **state)
{
    (void)state;
    assert_true(body_is_empty((struct body_framing){ .kind = BODY_NONE, .length = 3 }));
    assert_true(body_is_empty((struct body_framing){ .kind = BODY_LENGTH }));
    assert_false(body_is_empty((struct body_framing){ .kind = BODY_LENGTH, .length = 1 }));
    assert_false(body_is_empty((struct body_framing){ .kind = BODY_CHUNKED }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_absent_body_ends_at_once),
        cmocka_unit_test(a_body_has_exactly_content_length_bytes),
        cmocka_unit_test(a_chunked_body_is_returned_without_framing),
        cmocka_unit_test(a_rejected_chunk_has_a_reason),
        cmocka_unit_test(a_length_of_zero_is_no_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
