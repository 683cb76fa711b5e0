#include "cuts.h"
#include "test.h"
#include "wire/body.h"

static void run_plan(struct cuts *c, struct buf *seen, struct body_plan plan)
{
    enum body_next next;
    struct str piece = STR_NONE, data;
    struct body b;

    body_init(&b, plan);
    do {
        while ((next = body_next(&b, &piece, &data)) == BODY_DATA)
            buf_add(seen, data);
    } while (next == BODY_MORE && cuts_next(c, &piece));
    buf_printf(seen, next == BODY_END ? "|" : next == BODY_MORE ? "..." : "!");
    buf_add(seen, piece);
    buf_add(seen, c->left);
    body_release(&b);
}

static void run_none(struct cuts *c, struct buf *seen)
{
    run_plan(c, seen, (struct body_plan){ .kind = BODY_NONE, .length = 3 });
}

static void run_length(struct cuts *c, struct buf *seen)
{
    run_plan(c, seen, (struct body_plan){ .kind = BODY_LENGTH, .length = 5 });
}

static void run_empty(struct cuts *c, struct buf *seen)
{
    run_plan(c, seen, (struct body_plan){ .kind = BODY_LENGTH });
}

static void run_chunked(struct cuts *c, struct buf *seen)
{
    run_plan(c, seen, (struct body_plan){ .kind = BODY_CHUNKED });
}

static void no_body_ends_at_once(void **state)
{
    (void)state;
    assert_cuts(STR("GET"), run_none, STR("|GET"));
    assert_cuts(STR(""), run_none, STR("|"));
    assert_cuts(STR("GET"), run_empty, STR("|GET"));
}

static void so_many_bytes_are_of_the_body_and_no_more(void **state)
{
    (void)state;
    assert_cuts(STR("helloGET"), run_length, STR("hello|GET"));
    assert_cuts(STR("hello"), run_length, STR("hello|"));
    assert_cuts(STR("hell"), run_length, STR("hell..."));
    assert_cuts(STR(""), run_length, STR("..."));
}

static void chunks_are_the_body_without_their_frames(void **state)
{
    (void)state;
    assert_cuts(STR("2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\nGET"), run_chunked, STR("hello|GET"));
    assert_cuts(STR("2\r\nhe\r\n"), run_chunked, STR("he..."));
}

static void a_chunk_that_is_refused_says_why(void **state)
{
    struct str in = STR("5\nhello"), data;
    struct body b;

    (void)state;
    body_init(&b, (struct body_plan){ .kind = BODY_CHUNKED });
    assert_int_equal(body_next(&b, &in, &data), BODY_REFUSED);
    assert_int_equal(b.chunked.why, REFUSAL_BARE_LF);
    assert_int_equal(body_next(&b, &in, &data), BODY_REFUSED);
    body_release(&b);
}

static void a_length_of_nothing_is_no_body(void **state)
{
    (void)state;
    assert_true(body_is_none((struct body_plan){ .kind = BODY_NONE, .length = 3 }));
    assert_true(body_is_none((struct body_plan){ .kind = BODY_LENGTH }));
    assert_false(body_is_none((struct body_plan){ .kind = BODY_LENGTH, .length = 1 }));
    assert_false(body_is_none((struct body_plan){ .kind = BODY_CHUNKED }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_body_ends_at_once),
        cmocka_unit_test(so_many_bytes_are_of_the_body_and_no_more),
        cmocka_unit_test(chunks_are_the_body_without_their_frames),
        cmocka_unit_test(a_chunk_that_is_refused_says_why),
        cmocka_unit_test(a_length_of_nothing_is_no_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
