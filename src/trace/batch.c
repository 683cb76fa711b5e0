#include "trace/batch.h"

void batch_init(struct batches *b, struct bonds *bonds, struct ledger *ledger)
{
    *b = (struct batches){ .bonds = bonds, .ledger = ledger };
    json_init(&b->json);
}

void batch_release(struct batches *b)
{
    json_release(&b->json);
}

/* The place of a message in its array. */
struct place {
    struct bond bond;
    bool last;
};

static bool read_place(struct batches *b, const struct letter *l, struct place *p)
{
    struct str text = l->record->message.batch;
    struct json_fault fault;
    struct json_val root;
    int64_t index, count;

    if (!text.len || !json_scan(&b->json, text, &fault))
        return false;
    root = json_root(&b->json);
    p->bond = (struct bond){ .kind = BOND_BATCH,
                             .dir = l->dir,
                             .place = &l->place,
                             .parts = { json_raw(json_get(root, STR("id"))) } };
    p->last = json_int(json_get(root, STR("index")), &index) &&
              json_int(json_get(root, STR("count")), &count) && index >= count - 1;
    return p->bond.parts[0].len > 0;
}

bool batch_find(struct batches *b, const struct letter *l, struct ledger_link *link)
{
    struct ledger_start start = { .kind = OPERATION_BATCH, .dir = l->dir };
    struct ledger_op *op;
    struct place p;

    if (!read_place(b, l, &p))
        return false;
    if (!bond_find(b->bonds, &p.bond, link)) {
        op = ledger_begin(b->ledger, &start);
        op->place = l->place;
        op->op.outcome = OUTCOME_PENDING;
        bond_tie(b->bonds, b->ledger, &p.bond, op);
        *link = ledger_link_to(op, LINK_BATCH, false);
    }
    link->kind = LINK_BATCH;
    return true;
}

struct ledger_op *batch_see(struct batches *b, const struct letter *l)
{
    struct ledger_link link;
    struct place p;

    if (!read_place(b, l, &p) || !p.last || !bond_find(b->bonds, &p.bond, &link))
        return NULL;
    link.open->complete = true;
    bond_untie(b->bonds, b->ledger, link.open, BOND_BATCH);
    return batch_is_over(link.open) ? link.open : NULL;
}

struct ledger_op *batch_report(const struct ledger_op *member)
{
    struct ledger_op *batch = member->op.link == LINK_BATCH ? member->parent : NULL;

    if (!batch || member->op.outcome == OUTCOME_NONE ||
        (batch->worst != OUTCOME_NONE && batch->worst != OUTCOME_OK))
        return batch;
    batch->worst = member->op.outcome;
    batch->op.code = member->op.code;
    batch->op.flags |= member->op.flags & OP_CODE;
    return batch;
}

void batch_close(struct ledger_op *batch)
{
    if (!batch->children)
        batch->op.outcome = batch->worst;
}

bool batch_is_over(struct ledger_op *batch)
{
    if (!batch->complete || batch->children)
        return false;
    batch_close(batch);
    return true;
}
