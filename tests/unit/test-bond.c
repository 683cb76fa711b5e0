#include "trace/bond.h"

#include "tally.h"
#include "terse.h"
#include "test.h"

static const struct scope_place on_stdio = { .at = { { SCOPE_CONN, 1 } }, .count = 1 };
static const struct scope_place in_session = {
    .at = { { SCOPE_EXCHANGE, 1 }, { SCOPE_SESSION, 1 } }, .count = 2
};
static const struct scope_place same_session = {
    .at = { { SCOPE_EXCHANGE, 2 }, { SCOPE_SESSION, 1 } }, .count = 2
};
static const struct scope_place no_session = {
    .at = { { SCOPE_EXCHANGE, 3 }, { SCOPE_SERVER, 0 } }, .count = 2
};
static const struct scope_place nobody_else = {
    .at = { { SCOPE_EXCHANGE, 4 }, { SCOPE_SERVER, 0 } }, .count = 2
};

struct desk {
    struct tally tally;
    struct ledger ledger;
    struct bonds bonds;
    struct terse_scanned msg;
    struct record record;
};

static void desk_init(struct desk *d)
{
    tally_init(&d->tally);
    ledger_init(&d->ledger, &d->tally.sink);
    bond_init(&d->bonds);
    d->record = (struct record){ .kind = RECORD_MESSAGE };
    d->record.message.msg = terse_scan(&d->msg, "{}");
    ledger_turn(&d->ledger, &d->record);
}

static struct ledger_op *begin(struct desk *d)
{
    struct ledger_start start = { .kind = OPERATION_REQUEST };

    return ledger_begin(&d->ledger, &start);
}

static void end(struct desk *d, struct ledger_op *op)
{
    bond_untie_all(&d->bonds, &d->ledger, op);
    ledger_end(&d->ledger, op);
}

static void desk_release(struct desk *d)
{
    while (d->ledger.lowest)
        end(d, d->ledger.lowest);
    assert_int_equal(d->ledger.held, 0);
    assert_int_equal(d->bonds.claims.count, 0);
    bond_release(&d->bonds);
    ledger_release(&d->ledger);
    tally_release(&d->tally);
    terse_scanned_release(&d->msg);
}

static struct bond bond_at(const struct scope_place *place, enum bond_kind kind,
                           const char *value)
{
    return (struct bond){
        .kind = kind, .dir = TO_SERVER, .place = place, .parts = { str_z(value) }
    };
}

static void tie(struct desk *d, const struct scope_place *place, enum bond_kind kind,
                const char *value, struct ledger_op *op)
{
    struct bond bond = bond_at(place, kind, value);

    bond_tie(&d->bonds, &d->ledger, &bond, op);
}

/* The number of the operation, 0 if there is none; negative if it has ended, and 1000 more
 * if it is inferred. */
static int64_t find(struct desk *d, const struct scope_place *place, enum bond_kind kind,
                    const char *value)
{
    struct bond bond = bond_at(place, kind, value);
    struct ledger_link link;

    if (!bond_find(&d->bonds, &bond, &link))
        return 0;
    assert_true(link.open || !link.inferred);
    return link.open ? (int64_t)link.number + (link.inferred ? 1000 : 0)
                     : -(int64_t)link.number;
}

static void a_value_leads_to_its_operation(void **state)
{
    struct desk d;

    (void)state;
    desk_init(&d);
    assert_int_equal(find(&d, &on_stdio, BOND_TOKEN, "t"), 0);
    tie(&d, &on_stdio, BOND_TOKEN, "t", begin(&d));
    tie(&d, &on_stdio, BOND_TASK, "t", begin(&d));
    assert_int_equal(find(&d, &on_stdio, BOND_TOKEN, "t"), 1);
    assert_int_equal(find(&d, &on_stdio, BOND_TASK, "t"), 2);
    assert_int_equal(find(&d, &on_stdio, BOND_TOKEN, "T"), 0);
    assert_int_equal(find(&d, &on_stdio, BOND_TOKEN, ""), 0);
    assert_int_equal(find(&d, &in_session, BOND_TOKEN, "t"), 0);
    desk_release(&d);
}

static void the_directions_do_not_meet(void **state)
{
    struct bond bond = bond_at(&on_stdio, BOND_TASK, "t");
    struct ledger_link link;
    struct desk d;

    (void)state;
    desk_init(&d);
    bond_tie(&d.bonds, &d.ledger, &bond, begin(&d));
    bond.dir = TO_CLIENT;
    assert_false(bond_find(&d.bonds, &bond, &link));
    desk_release(&d);
}

static void what_a_client_minted_is_good_in_its_exchange_and_session(void **state)
{
    struct desk d;

    (void)state;
    desk_init(&d);
    tie(&d, &in_session, BOND_TOKEN, "t", begin(&d));
    tie(&d, &no_session, BOND_TOKEN, "t", begin(&d));
    assert_int_equal(find(&d, &in_session, BOND_TOKEN, "t"), 1);
    assert_int_equal(find(&d, &same_session, BOND_TOKEN, "t"), 1);
    assert_int_equal(find(&d, &no_session, BOND_TOKEN, "t"), 2);
    assert_int_equal(find(&d, &nobody_else, BOND_TOKEN, "t"), 0);
    /* the exchange comes first */
    tie(&d, &same_session, BOND_TOKEN, "t", begin(&d));
    assert_int_equal(find(&d, &same_session, BOND_TOKEN, "t"), 3);
    assert_int_equal(find(&d, &in_session, BOND_TOKEN, "t"), 1);
    desk_release(&d);
}

static void what_a_server_minted_is_good_for_all_who_talk_to_it(void **state)
{
    struct desk d;

    (void)state;
    desk_init(&d);
    tie(&d, &no_session, BOND_TASK, "t", begin(&d));
    tie(&d, &in_session, BOND_TASK, "t", begin(&d));
    assert_int_equal(d.bonds.claims.count, 2); /* not in the exchange as well */
    assert_int_equal(find(&d, &nobody_else, BOND_TASK, "t"), 1);
    assert_int_equal(find(&d, &same_session, BOND_TASK, "t"), 2);
    desk_release(&d);
}

static void of_several_the_oldest_is_meant_but_inferred(void **state)
{
    struct ledger_op *a, *b;
    struct desk d;

    (void)state;
    desk_init(&d);
    tie(&d, &on_stdio, BOND_CURSOR, "1", a = begin(&d));
    tie(&d, &on_stdio, BOND_CURSOR, "1", b = begin(&d));
    assert_int_equal(find(&d, &on_stdio, BOND_CURSOR, "1"), 1001);
    bond_untie(&d.bonds, &d.ledger, a, BOND_CURSOR);
    assert_int_equal(find(&d, &on_stdio, BOND_CURSOR, "1"), 2);
    bond_untie(&d.bonds, &d.ledger, b, BOND_CURSOR);
    assert_int_equal(find(&d, &on_stdio, BOND_CURSOR, "1"), 0);
    desk_release(&d);
}

static void a_new_value_of_a_kind_replaces_the_old_one(void **state)
{
    struct ledger_op *op;
    struct desk d;
    size_t held;

    (void)state;
    desk_init(&d);
    op = begin(&d);
    tie(&d, &on_stdio, BOND_TOKEN, "token", op);
    tie(&d, &on_stdio, BOND_CURSOR, "1", op);
    held = d.ledger.held;
    for (int i = 0; i < 100; i++) {
        tie(&d, &on_stdio, BOND_CURSOR, "2", op);
        tie(&d, &on_stdio, BOND_CURSOR, "3", op);
    }
    assert_int_equal(d.ledger.held, held);
    assert_int_equal(find(&d, &on_stdio, BOND_CURSOR, "1"), 0);
    assert_int_equal(find(&d, &on_stdio, BOND_CURSOR, "3"), 1);
    assert_int_equal(find(&d, &on_stdio, BOND_TOKEN, "token"), 1);
    desk_release(&d);
}

static void what_is_unique_is_remembered_when_all_is_over(void **state)
{
    static const struct {
        enum bond_kind kind;
        bool remembered;
    } rows[] = {
        { BOND_TOKEN, true },  { BOND_TASK, true },    { BOND_STATE, true },
        { BOND_INPUT, false }, { BOND_CURSOR, false }, { BOND_BATCH, false },
    };
    struct desk d;

    (void)state;
    desk_init(&d);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ledger_op *op = begin(&d);
        int64_t number = (int64_t)op->op.number;

        tie(&d, &in_session, rows[i].kind, "v", op);
        end(&d, op);
        assert_int_equal(find(&d, &in_session, rows[i].kind, "v"),
                         rows[i].remembered ? -number : 0);
    }
    /* but what is open comes first */
    tie(&d, &in_session, BOND_TASK, "v", begin(&d));
    assert_true(find(&d, &in_session, BOND_TASK, "v") > 0);
    desk_release(&d);
}

static void it_is_remembered_whether_an_id_was_answered(void **state)
{
    struct bond bond = bond_at(&in_session, BOND_ID, "1");
    struct ledger_link link;
    struct ledger_op *op;
    struct desk d;
    bool answered = false;

    (void)state;
    desk_init(&d);
    assert_false(bond_recall(&d.bonds, &bond, &link, &answered));
    op = begin(&d);
    bond_remember(&d.bonds, &bond, op, true);
    bond.place = &same_session;
    assert_true(bond_recall(&d.bonds, &bond, &link, &answered));
    assert_true(answered);
    assert_int_equal(link.number, op->op.number);
    assert_int_equal(link.root, op->op.root);
    assert_null(link.open);
    bond_remember(&d.bonds, &bond, op, false);
    assert_true(bond_recall(&d.bonds, &bond, &link, &answered));
    assert_false(answered);
    bond.place = &no_session;
    assert_false(bond_recall(&d.bonds, &bond, &link, &answered));
    desk_release(&d);
}

static void parts_cannot_be_mistaken_for_each_other(void **state)
{
    struct bond one = { .kind = BOND_STATE,
                        .place = &on_stdio,
                        .parts = { STR("ab"), STR("c"), STR("d") } };
    struct bond two = one;
    struct ledger_link link;
    struct desk d;

    (void)state;
    desk_init(&d);
    bond_tie(&d.bonds, &d.ledger, &one, begin(&d));
    two.parts[0] = STR("a");
    two.parts[1] = STR("bc");
    assert_false(bond_find(&d.bonds, &two, &link));
    two.parts[0] = STR_NONE;
    two.parts[1] = STR("abc");
    assert_false(bond_find(&d.bonds, &two, &link));
    assert_true(bond_find(&d.bonds, &one, &link));
    desk_release(&d);
}

/* A state of a megabyte is no longer in the key than one of a hundred bytes. */
static void long_values_differ_in_any_byte(void **state)
{
    static char text[1 << 20];
    struct bond bond = { .kind = BOND_STATE, .place = &on_stdio };
    struct ledger_link link;
    struct ledger_op *op;
    struct desk d;
    size_t held;

    (void)state;
    desk_init(&d);
    memset(text, 'x', sizeof text);
    bond.parts[2] = str_n(text, sizeof text);
    op = begin(&d);
    held = d.ledger.held;
    bond_tie(&d.bonds, &d.ledger, &bond, op);
    assert_true(d.ledger.held - held < 512);
    assert_true(bond_find(&d.bonds, &bond, &link));
    bond.parts[2].len--;
    assert_false(bond_find(&d.bonds, &bond, &link));
    bond.parts[2].len++;
    text[sizeof text - 1] = 'y';
    assert_false(bond_find(&d.bonds, &bond, &link));
    desk_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_leads_to_its_operation),
        cmocka_unit_test(the_directions_do_not_meet),
        cmocka_unit_test(what_a_client_minted_is_good_in_its_exchange_and_session),
        cmocka_unit_test(what_a_server_minted_is_good_for_all_who_talk_to_it),
        cmocka_unit_test(of_several_the_oldest_is_meant_but_inferred),
        cmocka_unit_test(a_new_value_of_a_kind_replaces_the_old_one),
        cmocka_unit_test(what_is_unique_is_remembered_when_all_is_over),
        cmocka_unit_test(it_is_remembered_whether_an_id_was_answered),
        cmocka_unit_test(parts_cannot_be_mistaken_for_each_other),
        cmocka_unit_test(long_values_differ_in_any_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
