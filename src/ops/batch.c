#include "ops/batch.h"

#include "base/hash.h"
#include "trace/timestamp.h"

void batch_init(struct batches *b, struct op_keys *keys, struct open_ops *open_ops)
{
    *b = (struct batches){ .keys = keys, .open_ops = open_ops };
    json_init(&b->json);
}

void batch_release(struct batches *b)
{
    json_release(&b->json);
}

/* The position of a message in its batch. */
struct batch_position {
    struct op_key key;
    bool last;
};

static bool read_position(struct batches *b, const struct op_message *msg,
                          struct batch_position *p)
{
    struct str text = msg->record->message.batch;
    struct json_fault fault;
    struct json_val root;
    int64_t index, count;

    if (!text.len || !json_scan(&b->json, text, &fault))
        return false;
    root = json_root(&b->json);
    p->key = (struct op_key){ .kind = OP_KEY_BATCH,
                              .dir = msg->dir,
                              .scopes = &msg->scopes,
                              .parts = { json_raw(json_get(root, STR("id"))) } };
    p->last = json_int(json_get(root, STR("index")), &index) &&
              json_int(json_get(root, STR("count")), &count) && index >= count - 1;
    return p->key.parts[0].len > 0;
}

bool batch_link_message(struct batches *b, const struct op_message *msg, struct op_link *link)
{
    struct op_start start = { .kind = OPERATION_BATCH, .dir = msg->dir };
    struct open_op *op;
    struct batch_position p;

    if (!read_position(b, msg, &p))
        return false;
    if (!op_keys_find(b->keys, &p.key, link)) {
        op = open_ops_begin(b->open_ops, &start);
        op->scopes = msg->scopes;
        op->op.outcome = OUTCOME_PENDING;
        op_keys_add(b->keys, b->open_ops, &p.key, op);
        *link = open_ops_link_to(op, LINK_BATCH, false);
    }
    link->kind = LINK_BATCH;
    return true;
}

struct open_op *batch_note_message(struct batches *b, const struct op_message *msg)
{
    struct op_link link;
    struct batch_position p;

    if (!read_position(b, msg, &p) || !p.last || !op_keys_find(b->keys, &p.key, &link))
        return NULL;
    link.open->batch_complete = true;
    op_keys_remove(b->keys, b->open_ops, link.open, OP_KEY_BATCH);
    return batch_close_if_over(link.open) ? link.open : NULL;
}

struct open_op *batch_add_outcome(const struct open_op *member)
{
    struct open_op *batch = member->op.link == LINK_BATCH ? member->parent : NULL;

    if (!batch || member->op.outcome == OUTCOME_NONE ||
        (batch->batch_outcome != OUTCOME_NONE && batch->batch_outcome != OUTCOME_OK))
        return batch;
    batch->batch_outcome = member->op.outcome;
    batch->op.code = member->op.code;
    batch->op.flags |= member->op.flags & OP_HAS_CODE;
    return batch;
}

void batch_set_outcome(struct open_op *batch)
{
    if (!batch->children)
        batch->op.outcome = batch->batch_outcome;
}

bool batch_close_if_over(struct open_op *batch)
{
    if (!batch->batch_complete || batch->children)
        return false;
    batch_set_outcome(batch);
    return true;
}

struct batch_element {
    uint64_t id;
    int64_t index, count;
};

static bool read_element(struct str batch, struct batch_element *p)
{
    struct json_fault fault;
    struct json j;
    bool ok;

    json_init(&j);
    ok = batch.at && json_scan(&j, batch, &fault) &&
         json_int(json_get(json_root(&j), STR("index")), &p->index) &&
         json_int(json_get(json_root(&j), STR("count")), &p->count) && p->index >= 0 &&
         p->index < p->count;
    if (ok)
        p->id = hash_bytes(json_raw(json_get(json_root(&j), STR("id"))), 0);
    json_release(&j);
    return ok;
}

/* Raw records may be the missing elements. */
static bool is_incomplete(const struct batch_check_side *side)
{
    return side->open && side->count - side->next_index > side->raw_lines;
}

static bool is_next_element(const struct batch_check_side *side, const struct batch_element *p)
{
    return side->open && side->id == p->id && side->count == p->count &&
           p->index >= side->next_index;
}

bool batch_check_record(struct batch_check *w, const struct record *r)
{
    struct batch_check_side *side;
    struct batch_element p;
    bool missing;

    if (r->kind == RECORD_RAW) {
        side = &w->sides[r->bytes.dir];
        side->raw_lines =
            timestamp_add(side->raw_lines, r->has & HAS_COUNT ? (int64_t)r->bytes.count : 1);
        return false;
    }
    side = &w->sides[r->message.dir];
    if (!read_element(r->message.batch, &p)) {
        missing = is_incomplete(side);
        *side = (struct batch_check_side){ 0 };
        return missing;
    }
    if (is_next_element(side, &p))
        missing = p.index - side->next_index > side->raw_lines;
    else
        missing = is_incomplete(side) || p.index > side->raw_lines;
    *side =
        (struct batch_check_side){ .id = p.id, .next_index = p.index + 1, .count = p.count };
    side->open = side->next_index < side->count;
    return missing;
}

unsigned batch_check_finish(struct batch_check *w)
{
    unsigned n = (unsigned)is_incomplete(&w->sides[0]) + is_incomplete(&w->sides[1]);

    *w = (struct batch_check){ 0 };
    return n;
}
