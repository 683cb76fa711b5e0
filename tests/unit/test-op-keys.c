#include "ops/op-keys.h"

#include "op-lines.h"
#include "terse.h"
#include "test.h"

static const struct scope_chain on_stdio = { .levels = { { SCOPE_CONN, 1 } }, .count = 1 };
static const struct scope_chain in_session = {
    .levels = { { SCOPE_EXCHANGE, 1 }, { SCOPE_SESSION, 1 } }, .count = 2
};
static const struct scope_chain same_session = {
    .levels = { { SCOPE_EXCHANGE, 2 }, { SCOPE_SESSION, 1 } }, .count = 2
};
static const struct scope_chain no_session = {
    .levels = { { SCOPE_EXCHANGE, 3 }, { SCOPE_SERVER, 0 } }, .count = 2
};
static const struct scope_chain nobody_else = {
    .levels = { { SCOPE_EXCHANGE, 4 }, { SCOPE_SERVER, 0 } }, .count = 2
};

struct op_keys_run {
    struct op_lines tally;
    struct open_ops open_ops;
    struct op_keys keys;
    struct terse_scanned msg;
    struct record record;
};

static void run_init(struct op_keys_run *d)
{
    op_lines_init(&d->tally);
    open_ops_init(&d->open_ops, &d->tally.sink);
    op_keys_init(&d->keys);
    d->record = (struct record){ .kind = RECORD_MESSAGE };
    d->record.message.msg = terse_scan(&d->msg, "{}");
    open_ops_set_record(&d->open_ops, &d->record);
}

static struct open_op *begin(struct op_keys_run *d)
{
    struct op_start start = { .kind = OPERATION_REQUEST };

    return open_ops_begin(&d->open_ops, &start);
}

static void end(struct op_keys_run *d, struct open_op *op)
{
    op_keys_remove_all(&d->keys, &d->open_ops, op);
    open_ops_end(&d->open_ops, op);
}

static void run_release(struct op_keys_run *d)
{
    while (d->open_ops.lowest)
        end(d, d->open_ops.lowest);
    assert_int_equal(d->open_ops.bytes, 0);
    assert_int_equal(d->keys.open.count, 0);
    op_keys_release(&d->keys);
    open_ops_release(&d->open_ops);
    op_lines_release(&d->tally);
    terse_scanned_release(&d->msg);
}

static struct op_key key_at(const struct scope_chain *place, enum op_key_kind kind,
                            const char *value)
{
    return (struct op_key){
        .kind = kind, .dir = TO_SERVER, .scopes = place, .parts = { str_z(value) }
    };
}

static void bind_key(struct op_keys_run *d, const struct scope_chain *place,
                     enum op_key_kind kind, const char *value, struct open_op *op)
{
    struct op_key key = key_at(place, kind, value);

    op_keys_add(&d->keys, &d->open_ops, &key, op);
}

/* The number of the operation, 0 if there is none; negative if it has ended, and 1000 more
 * if it is inferred. */
static int64_t find(struct op_keys_run *d, const struct scope_chain *place,
                    enum op_key_kind kind, const char *value)
{
    struct op_key key = key_at(place, kind, value);
    struct op_link link;

    if (!op_keys_find(&d->keys, &key, &link))
        return 0;
    assert_true(link.open || !link.inferred);
    return link.open ? (int64_t)link.number + (link.inferred ? 1000 : 0)
                     : -(int64_t)link.number;
}

static void an_operation_is_found_by_its_key(void **state)
{
    struct op_keys_run d;

    (void)state;
    run_init(&d);
    assert_int_equal(find(&d, &on_stdio, OP_KEY_TOKEN, "t"), 0);
    bind_key(&d, &on_stdio, OP_KEY_TOKEN, "t", begin(&d));
    bind_key(&d, &on_stdio, OP_KEY_TASK, "t", begin(&d));
    assert_int_equal(find(&d, &on_stdio, OP_KEY_TOKEN, "t"), 1);
    assert_int_equal(find(&d, &on_stdio, OP_KEY_TASK, "t"), 2);
    assert_int_equal(find(&d, &on_stdio, OP_KEY_TOKEN, "T"), 0);
    assert_int_equal(find(&d, &on_stdio, OP_KEY_TOKEN, ""), 0);
    assert_int_equal(find(&d, &in_session, OP_KEY_TOKEN, "t"), 0);
    run_release(&d);
}

static void keys_of_the_two_directions_are_separate(void **state)
{
    struct op_key key = key_at(&on_stdio, OP_KEY_TASK, "t");
    struct op_link link;
    struct op_keys_run d;

    (void)state;
    run_init(&d);
    op_keys_add(&d.keys, &d.open_ops, &key, begin(&d));
    key.dir = TO_CLIENT;
    assert_false(op_keys_find(&d.keys, &key, &link));
    run_release(&d);
}

static void keys_of_a_client_count_in_its_exchange_and_session(void **state)
{
    struct op_keys_run d;

    (void)state;
    run_init(&d);
    bind_key(&d, &in_session, OP_KEY_TOKEN, "t", begin(&d));
    bind_key(&d, &no_session, OP_KEY_TOKEN, "t", begin(&d));
    assert_int_equal(find(&d, &in_session, OP_KEY_TOKEN, "t"), 1);
    assert_int_equal(find(&d, &same_session, OP_KEY_TOKEN, "t"), 1);
    assert_int_equal(find(&d, &no_session, OP_KEY_TOKEN, "t"), 2);
    assert_int_equal(find(&d, &nobody_else, OP_KEY_TOKEN, "t"), 0);
    /* the exchange comes first */
    bind_key(&d, &same_session, OP_KEY_TOKEN, "t", begin(&d));
    assert_int_equal(find(&d, &same_session, OP_KEY_TOKEN, "t"), 3);
    assert_int_equal(find(&d, &in_session, OP_KEY_TOKEN, "t"), 1);
    run_release(&d);
}

static void keys_of_a_server_count_for_all_its_clients(void **state)
{
    struct op_keys_run d;

    (void)state;
    run_init(&d);
    bind_key(&d, &no_session, OP_KEY_TASK, "t", begin(&d));
    bind_key(&d, &in_session, OP_KEY_TASK, "t", begin(&d));
    assert_int_equal(d.keys.open.count, 2); /* not in the exchange as well */
    assert_int_equal(find(&d, &nobody_else, OP_KEY_TASK, "t"), 1);
    assert_int_equal(find(&d, &same_session, OP_KEY_TASK, "t"), 2);
    run_release(&d);
}

static void the_oldest_of_several_operations_is_found_as_inferred(void **state)
{
    struct open_op *a, *b;
    struct op_keys_run d;

    (void)state;
    run_init(&d);
    bind_key(&d, &on_stdio, OP_KEY_CURSOR, "1", a = begin(&d));
    bind_key(&d, &on_stdio, OP_KEY_CURSOR, "1", b = begin(&d));
    assert_int_equal(find(&d, &on_stdio, OP_KEY_CURSOR, "1"), 1001);
    op_keys_remove(&d.keys, &d.open_ops, a, OP_KEY_CURSOR);
    assert_int_equal(find(&d, &on_stdio, OP_KEY_CURSOR, "1"), 2);
    op_keys_remove(&d.keys, &d.open_ops, b, OP_KEY_CURSOR);
    assert_int_equal(find(&d, &on_stdio, OP_KEY_CURSOR, "1"), 0);
    run_release(&d);
}

static void a_new_value_of_a_kind_replaces_the_old_one(void **state)
{
    struct open_op *op;
    struct op_keys_run d;
    size_t held;

    (void)state;
    run_init(&d);
    op = begin(&d);
    bind_key(&d, &on_stdio, OP_KEY_TOKEN, "token", op);
    bind_key(&d, &on_stdio, OP_KEY_CURSOR, "1", op);
    held = d.open_ops.bytes;
    for (int i = 0; i < 100; i++) {
        bind_key(&d, &on_stdio, OP_KEY_CURSOR, "2", op);
        bind_key(&d, &on_stdio, OP_KEY_CURSOR, "3", op);
    }
    assert_int_equal(d.open_ops.bytes, held);
    assert_int_equal(find(&d, &on_stdio, OP_KEY_CURSOR, "1"), 0);
    assert_int_equal(find(&d, &on_stdio, OP_KEY_CURSOR, "3"), 1);
    assert_int_equal(find(&d, &on_stdio, OP_KEY_TOKEN, "token"), 1);
    run_release(&d);
}

static void unique_keys_are_remembered_after_the_operation_has_ended(void **state)
{
    static const struct {
        enum op_key_kind kind;
        bool remembered;
    } rows[] = {
        { OP_KEY_TOKEN, true },  { OP_KEY_TASK, true },    { OP_KEY_STATE, true },
        { OP_KEY_INPUT, false }, { OP_KEY_CURSOR, false }, { OP_KEY_BATCH, false },
    };
    struct op_keys_run d;

    (void)state;
    run_init(&d);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct open_op *op = begin(&d);
        int64_t number = (int64_t)op->op.number;

        bind_key(&d, &in_session, rows[i].kind, "v", op);
        end(&d, op);
        assert_int_equal(find(&d, &in_session, rows[i].kind, "v"),
                         rows[i].remembered ? -number : 0);
    }
    /* but open ones have precedence */
    bind_key(&d, &in_session, OP_KEY_TASK, "v", begin(&d));
    assert_true(find(&d, &in_session, OP_KEY_TASK, "v") > 0);
    run_release(&d);
}

static void whether_an_id_was_answered_is_remembered(void **state)
{
    struct op_key key = key_at(&in_session, OP_KEY_ID, "1");
    struct op_link link;
    struct open_op *op;
    struct op_keys_run d;
    bool answered = false;

    (void)state;
    run_init(&d);
    assert_false(op_keys_find_ended(&d.keys, &key, &link, &answered));
    op = begin(&d);
    op_keys_remember(&d.keys, &key, op, true);
    key.scopes = &same_session;
    assert_true(op_keys_find_ended(&d.keys, &key, &link, &answered));
    assert_true(answered);
    assert_int_equal(link.number, op->op.number);
    assert_int_equal(link.root, op->op.root);
    assert_null(link.open);
    op_keys_remember(&d.keys, &key, op, false);
    assert_true(op_keys_find_ended(&d.keys, &key, &link, &answered));
    assert_false(answered);
    key.scopes = &no_session;
    assert_false(op_keys_find_ended(&d.keys, &key, &link, &answered));
    run_release(&d);
}

static void key_parts_stay_separate(void **state)
{
    struct op_key one = { .kind = OP_KEY_STATE,
                          .scopes = &on_stdio,
                          .parts = { STR("ab"), STR("c"), STR("d") } };
    struct op_key two = one;
    struct op_link link;
    struct op_keys_run d;

    (void)state;
    run_init(&d);
    op_keys_add(&d.keys, &d.open_ops, &one, begin(&d));
    two.parts[0] = STR("a");
    two.parts[1] = STR("bc");
    assert_false(op_keys_find(&d.keys, &two, &link));
    two.parts[0] = STR_NONE;
    two.parts[1] = STR("abc");
    assert_false(op_keys_find(&d.keys, &two, &link));
    assert_true(op_keys_find(&d.keys, &one, &link));
    run_release(&d);
}

/* A state of a megabyte is no longer in the key than one of a hundred bytes. */
static void long_values_are_compared_completely(void **state)
{
    static char text[1 << 20];
    struct op_key key = { .kind = OP_KEY_STATE, .scopes = &on_stdio };
    struct op_link link;
    struct open_op *op;
    struct op_keys_run d;
    size_t held;

    (void)state;
    run_init(&d);
    memset(text, 'x', sizeof text);
    key.parts[2] = str_n(text, sizeof text);
    op = begin(&d);
    held = d.open_ops.bytes;
    op_keys_add(&d.keys, &d.open_ops, &key, op);
    assert_true(d.open_ops.bytes - held < 512);
    assert_true(op_keys_find(&d.keys, &key, &link));
    key.parts[2].len--;
    assert_false(op_keys_find(&d.keys, &key, &link));
    key.parts[2].len++;
    text[sizeof text - 1] = 'y';
    assert_false(op_keys_find(&d.keys, &key, &link));
    run_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operation_is_found_by_its_key),
        cmocka_unit_test(keys_of_the_two_directions_are_separate),
        cmocka_unit_test(keys_of_a_client_count_in_its_exchange_and_session),
        cmocka_unit_test(keys_of_a_server_count_for_all_its_clients),
        cmocka_unit_test(the_oldest_of_several_operations_is_found_as_inferred),
        cmocka_unit_test(a_new_value_of_a_kind_replaces_the_old_one),
        cmocka_unit_test(unique_keys_are_remembered_after_the_operation_has_ended),
        cmocka_unit_test(whether_an_id_was_answered_is_remembered),
        cmocka_unit_test(key_parts_stay_separate),
        cmocka_unit_test(long_values_are_compared_completely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
