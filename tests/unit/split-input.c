#include "split-input.h"

#include <stdlib.h>

#include "base/mem.h"

enum { SMALL = 80 };

bool split_input_next(struct split_input *c, struct str *piece)
{
    size_t n = c->count == 0 ? c->first : c->count == 1 ? c->second : c->step;

    free(c->piece);
    c->piece = NULL;
    if (!c->left.len)
        return false;
    n = n < c->left.len ? n : c->left.len;
    c->piece = mem_grow(NULL, n ? n : 1);
    memcpy(c->piece, c->left.at, n);
    c->left = str_skip(c->left, n);
    c->count++;
    *piece = str_n(c->piece, n);
    return true;
}

void split_input_once(struct str text, size_t first, size_t second, size_t step,
                      split_input_fn *run, struct buf *seen)
{
    struct split_input c = { .left = text, .first = first, .second = second, .step = step };

    buf_clear(seen);
    run(&c, seen);
    free(c.piece);
}

void split_input_agree(struct str text, split_input_fn *run, struct buf *seen)
{
    size_t odd = text.len ? (unsigned char)text.at[text.len / 2] % 61 + 1 : 1;
    struct buf pieces;

    buf_init(&pieces, seen->max);
    split_input_once(text, text.len, text.len, text.len, run, seen);
    split_input_once(text, 1, 1, 1, run, &pieces);
    BUG_IF(!str_eq(buf_str(seen), buf_str(&pieces)));
    split_input_once(text, odd, 1, odd, run, &pieces);
    BUG_IF(!str_eq(buf_str(seen), buf_str(&pieces)));
    buf_release(&pieces);
}

static bool is_same(struct str text, const size_t way[3], split_input_fn *run, struct str want,
                    struct buf *seen)
{
    split_input_once(text, way[0], way[1], way[2], run, seen);
    if (str_eq(buf_str(seen), want))
        return true;
    buf_printf(seen, " (in pieces of %zu, %zu, %zu)", way[0], way[1], way[2]);
    return false;
}

bool split_input_all(struct str text, split_input_fn *run, struct str want, struct buf *seen)
{
    const size_t all = text.len + 1;

    for (size_t n = 1; n <= 3; n++) {
        if (!is_same(text, (size_t[]){ n, n, n }, run, want, seen))
            return false;
    }
    for (size_t first = 0; first <= text.len; first++) {
        size_t most = text.len <= SMALL ? text.len - first : 0;

        for (size_t second = 0; second <= most; second++) {
            if (!is_same(text, (size_t[]){ first, second ? second : all, all }, run, want,
                         seen))
                return false;
        }
    }
    return true;
}
