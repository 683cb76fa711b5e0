#include "trace/bond.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "trace/limits.h"

enum { LONG_PART = 64, LONG_PART_START = 32 };

void bond_init(struct bonds *b)
{
    claim_init(&b->claims);
    recall_init(&b->past, LIMIT_RECALL);
    buf_init(&b->key, JSON_MAX_TEXT);
}

void bond_release(struct bonds *b)
{
    claim_release(&b->claims);
    recall_release(&b->past);
    buf_release(&b->key);
}

static void add_bytes(struct buf *to, const void *at, size_t n)
{
    buf_add(to, str_n(at, n));
}

/* The length first: no two lists of parts look alike. */
static void add_part(struct buf *key, struct str part)
{
    uint64_t hashes[2];

    add_bytes(key, &part.len, sizeof part.len);
    if (part.len <= LONG_PART) {
        buf_add(key, part);
        return;
    }
    hashes[0] = hash_bytes(part, LONG_PART);
    hashes[1] = hash_bytes(part, LONG_PART_START);
    buf_add(key, str_n(part.at, LONG_PART_START));
    add_bytes(key, hashes, sizeof hashes);
}

static bool is_of_requester(enum bond_kind kind)
{
    return kind == BOND_ID || kind == BOND_LISTEN || kind == BOND_TOKEN;
}

/* The key on a level of the scope; false if the value is not good there. */
static bool key_at(struct bonds *b, const struct bond *bond, size_t level)
{
    struct scope_reach reach = bond->place->at[level];
    const char kind = (char)bond->kind;

    if (is_of_requester(bond->kind) ? reach.kind == SCOPE_SERVER
                                    : level + 1 < bond->place->count)
        return false;
    buf_clear(&b->key);
    add_bytes(&b->key, &kind, 1);
    scope_key(&b->key, reach, bond->dir);
    for (size_t i = 0; i < BOND_PARTS; i++)
        add_part(&b->key, bond->parts[i]);
    return true;
}

void bond_tie(struct bonds *b, struct ledger *l, const struct bond *bond, struct ledger_op *op)
{
    bond_untie(b, l, op, bond->kind);
    for (size_t i = 0; i < bond->place->count; i++) {
        struct bond_claim *made;

        if (!key_at(b, bond, i))
            continue;
        made = mem_alloc(sizeof *made + b->key.len);
        memcpy(made + 1, b->key.at, b->key.len);
        made->kind = bond->kind;
        made->claim.key = str_n((const char *)(made + 1), b->key.len);
        made->claim.owner = op;
        made->next = op->claims;
        op->claims = made;
        claim_add(&b->claims, &made->claim);
        ledger_hold(l, op, sizeof *made + b->key.len);
    }
}

bool bond_recall(struct bonds *b, const struct bond *bond, struct ledger_link *link,
                 bool *answered)
{
    for (size_t i = 0; i < bond->place->count; i++) {
        const struct recall_entry *past =
            key_at(b, bond, i) ? recall_find(&b->past, buf_str(&b->key)) : NULL;

        if (!past)
            continue;
        *link = (struct ledger_link){ .number = past->what, .root = past->more / 2 };
        *answered = past->more % 2;
        return true;
    }
    return false;
}

bool bond_find(struct bonds *b, const struct bond *bond, struct ledger_link *link)
{
    bool answered;

    for (size_t i = 0; i < bond->place->count; i++) {
        const struct claim *claim =
            key_at(b, bond, i) ? claim_find(&b->claims, buf_str(&b->key)) : NULL;

        if (!claim)
            continue;
        *link = ledger_link_to(claim->owner, LINK_NONE, claim->after != NULL);
        return true;
    }
    return bond_recall(b, bond, link, &answered);
}

static void remember_key(struct bonds *b, struct str key, const struct ledger_op *op,
                         bool answered)
{
    recall_put(&b->past, key, op->op.number, op->op.root * 2 + answered);
}

/* Cursors and names of inputs mean something else the next time they are used. */
static bool is_unique(enum bond_kind kind)
{
    return kind == BOND_TOKEN || kind == BOND_TASK || kind == BOND_STATE;
}

static void drop(struct bonds *b, struct ledger *l, struct ledger_op *op,
                 struct bond_claim **at)
{
    struct bond_claim *gone = *at;

    if (is_unique(gone->kind))
        remember_key(b, gone->claim.key, op, true);
    *at = gone->next;
    ledger_let_go(l, op, sizeof *gone + gone->claim.key.len);
    claim_drop(&b->claims, &gone->claim);
    free(gone);
}

void bond_untie(struct bonds *b, struct ledger *l, struct ledger_op *op, enum bond_kind kind)
{
    struct bond_claim **at = &op->claims;

    while (*at) {
        if ((*at)->kind == kind)
            drop(b, l, op, at);
        else
            at = &(*at)->next;
    }
}

void bond_untie_all(struct bonds *b, struct ledger *l, struct ledger_op *op)
{
    while (op->claims)
        drop(b, l, op, &op->claims);
}

void bond_remember(struct bonds *b, const struct bond *bond, const struct ledger_op *op,
                   bool answered)
{
    for (size_t i = 0; i < bond->place->count; i++)
        if (key_at(b, bond, i))
            remember_key(b, buf_str(&b->key), op, answered);
}
