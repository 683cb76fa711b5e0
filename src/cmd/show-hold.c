#include "cmd/show-hold.h"

#include <stdlib.h>

#include "base/mem.h"

struct show_family {
    uint64_t root;
    struct show_row *rows; /* by number */
    size_t count, cap, open;
    bool whole; /* the root has ended */
};

void show_hold_init(struct show_hold *h, struct show_rows *to)
{
    *h = (struct show_hold){ .to = to };
}

static void free_text(struct show_hold *h, struct str *text)
{
    h->bytes -= text->len;
    free((void *)(uintptr_t)text->at);
    *text = STR_NONE;
}

void show_hold_keep(struct show_hold *h, struct str *at, struct str text)
{
    char *copy = mem_alloc(text.len + 1);

    if (text.len)
        memcpy(copy, text.at, text.len);
    free_text(h, at);
    *at = str_n(copy, text.len);
    h->bytes += text.len;
}

static void free_family(struct show_hold *h, struct show_family *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free_text(h, &f->rows[i].text);
        free_text(h, &f->rows[i].detail.arguments);
        free_text(h, &f->rows[i].detail.error);
    }
    h->rows -= f->count;
    free(f->rows);
    free(f);
}

void show_hold_release(struct show_hold *h)
{
    for (size_t i = 0; i < h->count; i++)
        free_family(h, h->families[h->first + i]);
    free(h->families);
}

/* Where the family of a root stands or would stand. */
static size_t find_family(const struct show_hold *h, uint64_t root)
{
    size_t low = 0, high = h->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (h->families[h->first + middle]->root < root)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t find_row(const struct show_family *f, uint64_t number)
{
    size_t low = 0, high = f->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->rows[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct show_family *add_family(struct show_hold *h, size_t at, uint64_t root)
{
    struct show_family *f = mem_new(struct show_family);

    *f = (struct show_family){ .root = root };
    if (h->first + h->count == h->cap) {
        if (h->first > h->cap / 2) {
            memmove(h->families, h->families + h->first,
                    h->count * sizeof(struct show_family *));
            h->first = 0;
        } else {
            h->cap = h->cap ? h->cap * 2 : 64;
            h->families = mem_grow(h->families, h->cap * sizeof(struct show_family *));
        }
    }
    memmove(&h->families[h->first + at + 1], &h->families[h->first + at],
            (h->count - at) * sizeof(struct show_family *));
    h->families[h->first + at] = f;
    h->count++;
    return f;
}

static struct show_row *add_row(struct show_hold *h, struct show_family *f, size_t at,
                                const struct operation *op)
{
    if (f->count == f->cap) {
        f->cap = f->cap ? f->cap * 2 : 2;
        f->rows = mem_grow(f->rows, f->cap * sizeof *f->rows);
    }
    memmove(&f->rows[at + 1], &f->rows[at], (f->count - at) * sizeof *f->rows);
    h->highest = op->number > h->highest ? op->number : h->highest;
    f->rows[at] = (struct show_row){ .number = op->number, .parent = op->parent, .gap = -1 };
    f->count++;
    f->open++;
    h->rows++;
    return &f->rows[at];
}

/* The family of an operation. If its root has come and gone, it makes a family of its own.
 * A batch is a root that is heard of last: it has no messages. */
static struct show_family *family_of(struct show_hold *h, const struct operation *op)
{
    size_t at = find_family(h, op->root);

    if (at < h->count && h->families[h->first + at]->root == op->root)
        return h->families[h->first + at];
    if (op->root > h->highest)
        return add_family(h, at, op->root);
    at = find_family(h, op->number);
    if (at < h->count && h->families[h->first + at]->root == op->number)
        return h->families[h->first + at];
    return add_family(h, at, op->number);
}

static struct show_row *row_of(struct show_hold *h, struct show_family *f,
                               const struct operation *op)
{
    size_t at = find_row(f, op->number);

    if (at < f->count && f->rows[at].number == op->number)
        return &f->rows[at];
    return add_row(h, f, at, op);
}

struct show_row *show_hold_row(struct show_hold *h, const struct operation *op)
{
    return row_of(h, family_of(h, op), op);
}

/* Parents stand before their children, so one pass finds every row's place. */
static void make_tree(struct show_family *f)
{
    for (size_t i = 0; i < f->count; i++) {
        struct show_row *row = &f->rows[i];
        size_t at = row->parent ? find_row(f, row->parent) : f->count;
        struct show_row *parent =
            at < i && f->rows[at].number == row->parent ? &f->rows[at] : NULL;

        row->child = row->last = row->next = row->depth = 0;
        row->shown = row->wanted || (parent && parent->shown);
        if (!parent)
            continue;
        row->depth = parent->shown ? parent->depth + 1 : 0;
        *(parent->last ? &f->rows[parent->last - 1].next : &parent->child) = i + 1;
        parent->last = i + 1;
    }
}

/* A row and what is below it, without recursion: a family may be a long chain. */
static bool put_branch(struct show_hold *h, const struct show_family *f, size_t from,
                       size_t *stack, struct err *e)
{
    size_t height = 0;

    stack[height++] = from;
    while (height) {
        const struct show_row *row = &f->rows[stack[--height]];
        if (row->next && row->number != f->rows[from].number)
            stack[height++] = row->next - 1;
        if (row->child)
            stack[height++] = row->child - 1;
        if (row->shown && row->ended && !h->to->put(h->to, row, row->depth, e))
            return false;
    }
    return true;
}

static bool put_family(struct show_hold *h, struct show_family *f, struct err *e)
{
    size_t *stack = mem_alloc(2 * f->count * sizeof *stack);
    bool ok = true;

    make_tree(f);
    for (size_t i = 0; i < f->count && ok; i++) {
        size_t at = f->rows[i].parent ? find_row(f, f->rows[i].parent) : f->count;
        if (at >= i || f->rows[at].number != f->rows[i].parent)
            ok = put_branch(h, f, i, stack, e);
    }
    free(stack);
    return ok;
}

static bool let_go(struct show_hold *h, size_t at, struct err *e)
{
    struct show_family *f = h->families[h->first + at];
    bool ok;

    memmove(&h->families[h->first + 1], &h->families[h->first],
            at * sizeof(struct show_family *));
    h->first++;
    h->count--;
    ok = put_family(h, f, e);
    free_family(h, f);
    return ok;
}

static bool is_over(const struct show_family *f)
{
    return !f->open && f->whole;
}

static bool is_full(const struct show_hold *h)
{
    return h->rows > SHOW_HOLD_ROWS || h->bytes > SHOW_HOLD_BYTES;
}

bool show_hold_end(struct show_hold *h, const struct operation *op, struct str text,
                   bool wanted, struct err *e)
{
    struct show_family *f = family_of(h, op);
    struct show_row *row = row_of(h, f, op);

    show_hold_keep(h, &row->text, text);
    row->wanted = wanted;
    row->ended = true;
    f->open--;
    f->whole |= op->number == f->root;
    if (h->eager && is_over(f))
        return let_go(h, find_family(h, f->root), e);
    while (h->count && (is_full(h) || is_over(h->families[h->first])))
        if (!let_go(h, 0, e))
            return false;
    return true;
}

bool show_hold_finish(struct show_hold *h, struct err *e)
{
    while (h->count)
        if (!let_go(h, 0, e))
            return false;
    return true;
}
