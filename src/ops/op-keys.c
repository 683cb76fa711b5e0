#include "ops/op-keys.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "trace/limits.h"

enum { LONG_PART = 64, LONG_PART_START = 32 };

void op_keys_init(struct op_keys *b)
{
    multimap_init(&b->open);
    recent_keys_init(&b->ended, LIMIT_RECENT_KEYS);
    buf_init(&b->key, JSON_MAX_TEXT);
}

void op_keys_release(struct op_keys *b)
{
    multimap_release(&b->open);
    recent_keys_release(&b->ended);
    buf_release(&b->key);
}

static void add_bytes(struct buf *to, const void *at, size_t n)
{
    buf_add(to, str_n(at, n));
}

/* The length comes first, so that different lists of parts have different keys. */
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

static bool is_set_by_requester(enum op_key_kind kind)
{
    return kind == OP_KEY_ID || kind == OP_KEY_SUBSCRIPTION || kind == OP_KEY_TOKEN;
}

/* Builds the key in a scope; false if the value is not valid there. */
static bool build_key(struct op_keys *b, const struct op_key *key, size_t level)
{
    struct scope_ref scope = key->scopes->levels[level];
    const char kind = (char)key->kind;

    if (is_set_by_requester(key->kind) ? scope.kind == SCOPE_SERVER
                                       : level + 1 < key->scopes->count)
        return false;
    buf_clear(&b->key);
    add_bytes(&b->key, &kind, 1);
    scope_add_key(&b->key, scope, key->dir);
    for (size_t i = 0; i < OP_KEY_PARTS; i++)
        add_part(&b->key, key->parts[i]);
    return true;
}

void op_keys_add(struct op_keys *b, struct open_ops *open_ops, const struct op_key *key,
                 struct open_op *op)
{
    op_keys_remove(b, open_ops, op, key->kind);
    for (size_t i = 0; i < key->scopes->count; i++) {
        struct op_key_entry *entry;

        if (!build_key(b, key, i))
            continue;
        entry = mem_alloc(sizeof *entry + b->key.len);
        memcpy(entry + 1, b->key.at, b->key.len);
        entry->kind = key->kind;
        entry->node.key = str_n((const char *)(entry + 1), b->key.len);
        entry->node.value = op;
        entry->next = op->keys;
        op->keys = entry;
        multimap_add(&b->open, &entry->node);
        open_ops_add_bytes(open_ops, op, sizeof *entry + b->key.len);
    }
}

bool op_keys_find_ended(struct op_keys *b, const struct op_key *key, struct op_link *link,
                        bool *answered)
{
    for (size_t i = 0; i < key->scopes->count; i++) {
        const struct recent_keys_entry *ended =
            build_key(b, key, i) ? recent_keys_find(&b->ended, buf_str(&b->key)) : NULL;

        if (!ended)
            continue;
        *link = (struct op_link){ .number = ended->value, .root = ended->extra / 2 };
        *answered = ended->extra % 2;
        return true;
    }
    return false;
}

bool op_keys_find(struct op_keys *b, const struct op_key *key, struct op_link *link)
{
    bool answered;

    for (size_t i = 0; i < key->scopes->count; i++) {
        const struct multimap_entry *node =
            build_key(b, key, i) ? multimap_find(&b->open, buf_str(&b->key)) : NULL;

        if (!node)
            continue;
        *link = open_ops_link_to(node->value, LINK_NONE, node->same_key_next != NULL);
        return true;
    }
    return op_keys_find_ended(b, key, link, &answered);
}

static void remember_key(struct op_keys *b, struct str key, const struct open_op *op,
                         bool answered)
{
    recent_keys_add(&b->ended, key, op->op.number, op->op.root * 2 + answered);
}

/* Cursors and names of inputs may be used again for something else. */
static bool is_unique(enum op_key_kind kind)
{
    return kind == OP_KEY_TOKEN || kind == OP_KEY_TASK || kind == OP_KEY_STATE;
}

static void remove_entry(struct op_keys *b, struct open_ops *open_ops, struct open_op *op,
                         struct op_key_entry **at)
{
    struct op_key_entry *entry = *at;

    if (is_unique(entry->kind))
        remember_key(b, entry->node.key, op, true);
    *at = entry->next;
    open_ops_release_bytes(open_ops, op, sizeof *entry + entry->node.key.len);
    multimap_remove(&b->open, &entry->node);
    free(entry);
}

void op_keys_remove(struct op_keys *b, struct open_ops *open_ops, struct open_op *op,
                    enum op_key_kind kind)
{
    struct op_key_entry **at = &op->keys;

    while (*at) {
        if ((*at)->kind == kind)
            remove_entry(b, open_ops, op, at);
        else
            at = &(*at)->next;
    }
}

void op_keys_remove_all(struct op_keys *b, struct open_ops *open_ops, struct open_op *op)
{
    while (op->keys)
        remove_entry(b, open_ops, op, &op->keys);
}

void op_keys_remember(struct op_keys *b, const struct op_key *key, const struct open_op *op,
                      bool answered)
{
    for (size_t i = 0; i < key->scopes->count; i++)
        if (build_key(b, key, i))
            remember_key(b, buf_str(&b->key), op, answered);
}
