#include "ops/open-ops.h"

#include <stdio.h>

#include "op-lines.h"
#include "terse.h"
#include "test.h"
#include "trace/limits.h"

/* The open operations at a point in time; reports go to the statistics. */
struct open_ops_run {
    struct op_lines tally;
    struct open_ops open_ops;
    struct terse_scanned msg;
    struct record record;
};

static void run_init(struct open_ops_run *d)
{
    op_lines_init(&d->tally);
    open_ops_init(&d->open_ops, &d->tally.sink);
    d->record = (struct record){ .kind = RECORD_MESSAGE, .has = HAS_US };
    d->record.message.msg = terse_scan(&d->msg, "{'id':1}");
}

static void run_release(struct open_ops_run *d)
{
    open_ops_release(&d->open_ops);
    op_lines_release(&d->tally);
    terse_scanned_release(&d->msg);
}

static void turn(struct open_ops_run *d, int64_t us)
{
    d->record.us = us;
    open_ops_set_record(&d->open_ops, &d->record);
}

static struct open_op *begin(struct open_ops_run *d, struct open_op *parent, const char *method)
{
    struct op_start start = {
        .kind = OPERATION_REQUEST, .dir = TO_SERVER, .id = STR("1"), .method = str_z(method)
    };

    if (parent)
        start.link = open_ops_link_to(parent, LINK_SERVER_REQUEST, false);
    return open_ops_begin(&d->open_ops, &start);
}

static void add(struct open_ops_run *d, struct open_op *op)
{
    open_ops_add_message(&d->open_ops, op, ROLE_REQUEST, TO_SERVER, false);
}

static void end(struct open_ops_run *d, struct open_op *op)
{
    op->op.outcome = OUTCOME_OK;
    open_ops_end(&d->open_ops, op);
}

static void assert_reported(const struct open_ops_run *d, const char *want)
{
    struct buf got;

    buf_init(&got, 1 << 16);
    op_lines_write(&d->tally, &got);
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
}

static void operations_are_numbered_at_their_start_and_reported_at_their_end(void **state)
{
    struct open_op *a, *b, *c;
    struct open_ops_run d;

    (void)state;
    run_init(&d);
    turn(&d, 5);
    a = begin(&d, NULL, "a");
    add(&d, a);
    turn(&d, 7);
    b = begin(&d, a, "b");
    add(&d, b);
    c = begin(&d, b, "c");
    add(&d, c);
    end(&d, c);
    turn(&d, 9);
    add(&d, a);
    end(&d, a);
    turn(&d, 19);
    add(&d, b);
    end(&d, b);
    assert_reported(
        &d, "1 c2s a id=1 ok server-request*1 total=4 | 1:request 3:request\n"
            "2<1:server-request c2s b id=1 ok server-request*1 total=12 | 2:request 4:request\n"
            "3<2:server-request c2s c id=1 ok total=0 | 2:request\n");
    assert_null(d.open_ops.lowest);
    assert_null(d.open_ops.lru_first);
    assert_int_equal(d.open_ops.count, 0);
    assert_int_equal(d.open_ops.bytes, 0);
    run_release(&d);
}

/* Three generations: each waits while any below it does, and once for all of them. */
static void a_parent_and_its_children_end_together(void **state)
{
    struct open_op *a, *b, *c, *b2;
    struct open_ops_run d;

    (void)state;
    run_init(&d);
    turn(&d, 0);
    add(&d, a = begin(&d, NULL, "a"));
    add(&d, b = begin(&d, a, "b"));
    add(&d, c = begin(&d, b, "c"));
    add(&d, b2 = begin(&d, a, "b2"));
    turn(&d, 10);
    open_ops_begin_wait(&d.open_ops, c);
    open_ops_begin_wait(&d.open_ops, c);
    turn(&d, 20);
    open_ops_begin_wait(&d.open_ops, b2);
    turn(&d, 30);
    open_ops_end_wait(&d.open_ops, c);
    open_ops_end_wait(&d.open_ops, c);
    add(&d, c);
    end(&d, c);
    turn(&d, 40);
    add(&d, b2);
    end(&d, b2); /* while it waits */
    turn(&d, 50);
    add(&d, b);
    end(&d, b);
    turn(&d, 60);
    open_ops_begin_wait(&d.open_ops, a);
    turn(&d, 65);
    add(&d, a);
    end(&d, a);
    assert_reported(
        &d,
        "1 c2s a id=1 ok server-request*2 total=65 server=30 wait=35 | 1:request 8:request\n"
        "2<1:server-request c2s b id=1 ok server-request*1 total=50 server=30 wait=20 | "
        "1:request "
        "6:request\n"
        "3<2:server-request c2s c id=1 ok total=30 server=10 wait=20 | 1:request 4:request\n"
        "4<1:server-request c2s b2 id=1 ok total=40 server=20 wait=20 | 1:request "
        "5:request\n");
    run_release(&d);
}

static void a_child_may_outlive_its_parents(void **state)
{
    struct open_op *a, *b, *c;
    struct open_ops_run d;

    (void)state;
    run_init(&d);
    turn(&d, 0);
    add(&d, a = begin(&d, NULL, "a"));
    add(&d, b = begin(&d, a, "b"));
    add(&d, c = begin(&d, b, "c"));
    open_ops_begin_wait(&d.open_ops, c);
    end(&d, b);
    assert_int_equal(a->wait_reasons, 0);
    assert_null(c->parent);
    end(&d, a);
    turn(&d, 5);
    open_ops_end_wait(&d.open_ops, c);
    add(&d, c);
    end(&d, c);
    op_lines_assert_ended(&d.tally);
    run_release(&d);
}

static void the_least_recently_used_operation_is_dropped_first(void **state)
{
    static struct open_op *ops[LIMIT_OPEN_OPERATIONS + 1];
    struct open_ops_run d;

    (void)state;
    run_init(&d);
    turn(&d, 0);
    for (size_t i = 0; i < LIMIT_OPEN_OPERATIONS; i++)
        add(&d, ops[i] = begin(&d, i == 3 ? ops[1] : NULL, "a"));
    assert_null(open_ops_find_excess(&d.open_ops));
    add(&d, ops[0]);
    add(&d, ops[3]); /* and so its parent, 1 */
    add(&d, ops[LIMIT_OPEN_OPERATIONS] = begin(&d, NULL, "a"));
    assert_ptr_equal(open_ops_find_excess(&d.open_ops), ops[2]);
    end(&d, ops[2]);
    assert_null(open_ops_find_excess(&d.open_ops));
    begin(&d, NULL, "a");
    assert_ptr_equal(open_ops_find_excess(&d.open_ops), ops[4]);
    run_release(&d);
}

static void the_memory_of_operations_is_limited(void **state)
{
    struct open_op *op;
    struct open_ops_run d;
    size_t held;

    (void)state;
    run_init(&d);
    turn(&d, 0);
    op = begin(&d, NULL, "a");
    held = d.open_ops.bytes;
    assert_true(held >= sizeof *op);
    for (int i = 0; i < 1000; i++)
        add(&d, op);
    assert_true(d.open_ops.bytes <= held + 32 * sizeof(struct operation_message));
    open_ops_set_task(&d.open_ops, op, STR("a task"));
    open_ops_set_task(&d.open_ops, op, STR("task"));
    assert_str(op->op.task, STR("task"));
    open_ops_add_bytes(&d.open_ops, op, LIMIT_OPEN_OPERATION_BYTES);
    assert_ptr_equal(open_ops_find_excess(&d.open_ops), op);
    open_ops_release_bytes(&d.open_ops, op, LIMIT_OPEN_OPERATION_BYTES);
    assert_null(open_ops_find_excess(&d.open_ops));
    end(&d, op);
    assert_int_equal(d.open_ops.bytes, 0);
    run_release(&d);
}

static void a_text_is_clipped_between_characters(void **state)
{
    char text[OPERATION_TEXT_MAX + 8];

    (void)state;
    memset(text, 'a', sizeof text);
    assert_int_equal(open_ops_clip(str_n(text, OPERATION_TEXT_MAX)).len, OPERATION_TEXT_MAX);
    assert_int_equal(open_ops_clip(str_n(text, OPERATION_TEXT_MAX + 1)).len,
                     OPERATION_TEXT_MAX);
    memcpy(text + OPERATION_TEXT_MAX - 1, "\xF0\x9F\x98\x80", 4);
    assert_int_equal(open_ops_clip(str_n(text, sizeof text)).len, OPERATION_TEXT_MAX - 1);
    memset(text, 'a', sizeof text);
    memcpy(text + OPERATION_TEXT_MAX - 4, "\xF0\x9F\x98\x80", 4);
    assert_int_equal(open_ops_clip(str_n(text, sizeof text)).len, OPERATION_TEXT_MAX);
    memset(text, '\x80', sizeof text); /* no text at all: some of it, then */
    assert_int_equal(open_ops_clip(str_n(text, sizeof text)).len, OPERATION_TEXT_MAX - 4);
}

static void truncated_text_is_flagged(void **state)
{
    char text[OPERATION_TEXT_MAX + 2];
    struct open_op *op;
    struct open_ops_run d;

    (void)state;
    run_init(&d);
    turn(&d, 0);
    memset(text, 'a', sizeof text);
    text[OPERATION_TEXT_MAX] = '\0';
    op = begin(&d, NULL, text);
    assert_false(op->op.flags & OP_TRUNCATED);
    text[OPERATION_TEXT_MAX] = 'a';
    text[OPERATION_TEXT_MAX + 1] = '\0';
    op = begin(&d, NULL, text);
    assert_true(op->op.flags & OP_TRUNCATED);
    assert_int_equal(op->op.method.len, OPERATION_TEXT_MAX);
    run_release(&d);
}

/* No time in a file causes an overflow. */
static void extreme_times_do_not_overflow(void **state)
{
    static const int64_t times[] = { 0, 1, -1, INT64_MAX, INT64_MIN, INT64_MAX / 4 };
    enum { COUNT = sizeof times / sizeof *times };
    struct open_ops_run d;

    (void)state;
    run_init(&d);
    for (size_t i = 0; i < COUNT * COUNT * 2; i++) {
        struct open_op *op, *child;

        d.record.has = i % 2 ? HAS_US : HAS_US | HAS_WALL;
        d.open_ops.start_known = false;
        turn(&d, times[i / 2 % COUNT]);
        add(&d, op = begin(&d, NULL, "a"));
        add(&d, child = begin(&d, op, "b"));
        open_ops_begin_wait(&d.open_ops, child);
        turn(&d, times[i / 2 / COUNT]);
        open_ops_end_wait(&d.open_ops, child);
        add(&d, child);
        end(&d, child);
        add(&d, op);
        end(&d, op);
    }
    op_lines_assert_ended(&d.tally);
    run_release(&d);
}

static void an_invalid_or_too_long_number_is_not_stored(void **state)
{
    static const struct {
        const char *json, *kept;
    } rows[] = {
        { "1", "1" },
        { "-1.50e+10", "-1.50e+10" },
        { "123456789012345678901234", "123456789012345678901234" },
        { "1234567890123456789012345", "" },
        { "'1'", "" },
        { "null", "" },
    };
    struct open_ops_run d;

    (void)state;
    run_init(&d);
    turn(&d, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct open_op *op = begin(&d, NULL, "a");
        struct terse_scanned s;

        open_ops_set_progress(&d.open_ops, op, terse_scan(&s, rows[i].json), JSON_VAL_NONE);
        terse_scanned_release(&s);
        assert_str(op->op.progress.progress, str_z(rows[i].kept));
        assert_int_equal(op->op.progress.total.len, 0);
        assert_int_equal(op->op.progress.seq, 1);
    }
    run_release(&d);
}

static void messages_without_sequence_number_are_counted(void **state)
{
    struct open_op *op;
    struct open_ops_run d;

    (void)state;
    run_init(&d);
    turn(&d, 0);
    op = begin(&d, NULL, "a");
    add(&d, op);
    turn(&d, 0);
    add(&d, op);
    d.record.has |= HAS_SEQ;
    d.record.message.seq = 40;
    turn(&d, 0);
    add(&d, op);
    assert_int_equal(operation_message_at(&op->op, 0)->seq, 1);
    assert_int_equal(operation_message_at(&op->op, 1)->seq, 2);
    assert_int_equal(operation_message_at(&op->op, 2)->seq, 40);
    run_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_numbered_at_their_start_and_reported_at_their_end),
        cmocka_unit_test(a_parent_and_its_children_end_together),
        cmocka_unit_test(a_child_may_outlive_its_parents),
        cmocka_unit_test(the_least_recently_used_operation_is_dropped_first),
        cmocka_unit_test(the_memory_of_operations_is_limited),
        cmocka_unit_test(a_text_is_clipped_between_characters),
        cmocka_unit_test(truncated_text_is_flagged),
        cmocka_unit_test(extreme_times_do_not_overflow),
        cmocka_unit_test(an_invalid_or_too_long_number_is_not_stored),
        cmocka_unit_test(messages_without_sequence_number_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
