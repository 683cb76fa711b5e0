#include "report/op-order.h"

#include <stdlib.h>

#include "base/mem.h"

struct op_family {
    uint64_t root;
    struct op_row *rows; /* sorted by number */
    size_t count, cap, open_rows;
    bool root_ended; /* set when the operation `root` ends */
};

void op_order_init(struct op_order *h, struct op_row_sink *to)
{
    *h = (struct op_order){ .sink = to };
}

static void free_text(struct op_order *h, struct str *text)
{
    h->bytes -= text->len;
    free((void *)(uintptr_t)text->at);
    *text = STR_NONE;
}

void op_order_set_text(struct op_order *h, struct str *at, struct str text)
{
    char *copy = mem_alloc(text.len + 1);

    if (text.len)
        memcpy(copy, text.at, text.len);
    free_text(h, at);
    *at = str_n(copy, text.len);
    h->bytes += text.len;
}

static void free_family(struct op_order *h, struct op_family *f)
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

void op_order_release(struct op_order *h)
{
    for (size_t i = 0; i < h->count; i++)
        free_family(h, h->families[h->first + i]);
    free(h->families);
}

/* Returns the index of the family of a root, or where to insert it. */
static size_t find_family(const struct op_order *h, uint64_t root)
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

static size_t find_row(const struct op_family *f, uint64_t number)
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

static struct op_family *add_family(struct op_order *h, size_t at, uint64_t root)
{
    struct op_family *f = mem_new(struct op_family);

    *f = (struct op_family){ .root = root };
    if (h->first + h->count == h->cap) {
        if (h->first > h->cap / 2) {
            memmove(h->families, h->families + h->first, h->count * sizeof(struct op_family *));
            h->first = 0;
        } else {
            h->cap = h->cap ? h->cap * 2 : 64;
            h->families = mem_grow(h->families, h->cap * sizeof(struct op_family *));
        }
    }
    memmove(&h->families[h->first + at + 1], &h->families[h->first + at],
            (h->count - at) * sizeof(struct op_family *));
    h->families[h->first + at] = f;
    h->count++;
    return f;
}

static struct op_row *add_row(struct op_order *h, struct op_family *f, size_t at,
                              const struct operation *op)
{
    if (f->count == f->cap) {
        f->cap = f->cap ? f->cap * 2 : 2;
        f->rows = mem_grow(f->rows, f->cap * sizeof *f->rows);
    }
    memmove(&f->rows[at + 1], &f->rows[at], (f->count - at) * sizeof *f->rows);
    h->highest_number = op->number > h->highest_number ? op->number : h->highest_number;
    f->rows[at] = (struct op_row){ .number = op->number,
                                   .parent = op->parent,
                                   .filter = FILTER_OPERATION_INIT };
    f->count++;
    f->open_rows++;
    h->rows++;
    return &f->rows[at];
}

/* Returns the family of an operation. If the family of its root was emitted before, the
 * operation gets its own. A root may be new although its children are known: a batch has no
 * messages, so its children come first. */
static struct op_family *find_or_add_family(struct op_order *h, const struct operation *op)
{
    size_t at = find_family(h, op->root);

    if (at < h->count && h->families[h->first + at]->root == op->root)
        return h->families[h->first + at];
    if (op->root > h->highest_number)
        return add_family(h, at, op->root);
    at = find_family(h, op->number);
    if (at < h->count && h->families[h->first + at]->root == op->number)
        return h->families[h->first + at];
    return add_family(h, at, op->number);
}

static struct op_row *find_or_add_row(struct op_order *h, struct op_family *f,
                                      const struct operation *op)
{
    size_t at = find_row(f, op->number);

    if (at < f->count && f->rows[at].number == op->number)
        return &f->rows[at];
    return add_row(h, f, at, op);
}

struct op_row *op_order_row(struct op_order *h, const struct operation *op)
{
    return find_or_add_row(h, find_or_add_family(h, op), op);
}

/* Links the rows to a tree. Parents precede their children, so one pass is enough. */
static void make_tree(struct op_family *f)
{
    for (size_t i = 0; i < f->count; i++) {
        struct op_row *row = &f->rows[i];
        size_t at = row->parent ? find_row(f, row->parent) : f->count;
        struct op_row *parent =
            at < i && f->rows[at].number == row->parent ? &f->rows[at] : NULL;

        row->child = row->last = row->next = row->depth = 0;
        row->shown = row->matches || (parent && parent->shown);
        if (!parent)
            continue;
        row->depth = parent->shown ? parent->depth + 1 : 0;
        *(parent->last ? &f->rows[parent->last - 1].next : &parent->child) = i + 1;
        parent->last = i + 1;
    }
}

/* Emits a row and its descendants. No recursion: a family may be a long chain. */
static bool put_branch(struct op_order *h, const struct op_family *f, size_t from,
                       size_t *stack, struct err *e)
{
    size_t height = 0;

    stack[height++] = from;
    while (height) {
        const struct op_row *row = &f->rows[stack[--height]];
        if (row->next && row->number != f->rows[from].number)
            stack[height++] = row->next - 1;
        if (row->child)
            stack[height++] = row->child - 1;
        if (row->shown && row->ended && !h->sink->put(h->sink, row, row->depth, e))
            return false;
    }
    return true;
}

static bool put_family(struct op_order *h, struct op_family *f, struct err *e)
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

static bool emit_family(struct op_order *h, size_t at, struct err *e)
{
    struct op_family *f = h->families[h->first + at];
    bool ok;

    memmove(&h->families[h->first + 1], &h->families[h->first],
            at * sizeof(struct op_family *));
    h->first++;
    h->count--;
    ok = put_family(h, f, e);
    free_family(h, f);
    return ok;
}

static bool is_complete(const struct op_family *f)
{
    return !f->open_rows && f->root_ended;
}

static bool is_full(const struct op_order *h)
{
    return h->rows > OP_ORDER_MAX_ROWS || h->bytes > OP_ORDER_MAX_BYTES;
}

bool op_order_end(struct op_order *h, const struct operation *op, struct str text, bool wanted,
                  struct err *e)
{
    struct op_family *f = find_or_add_family(h, op);
    struct op_row *row = find_or_add_row(h, f, op);

    op_order_set_text(h, &row->text, text);
    row->matches = wanted;
    row->ended = true;
    f->open_rows--;
    f->root_ended |= op->number == f->root;
    if (h->by_end && is_complete(f))
        return emit_family(h, find_family(h, f->root), e);
    while (h->count && (is_full(h) || is_complete(h->families[h->first])))
        if (!emit_family(h, 0, e))
            return false;
    return true;
}

bool op_order_finish(struct op_order *h, struct err *e)
{
    while (h->count)
        if (!emit_family(h, 0, e))
            return false;
    return true;
}
