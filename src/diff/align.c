#include "diff/align.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

/* A part of both lists, without the ends. */
struct stretch {
    size_t a, a_end, b, b_end;
};

/* An item at its place, for sorting. */
struct placed {
    uint64_t key;
    size_t group; /* sorted by it first */
    uint32_t at;
};

static int compare_placed(const void *left, const void *right)
{
    const struct placed *x = left, *y = right;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void sort_placed(struct placed *at, size_t count)
{
    if (count)
        qsort(at, count, sizeof *at, compare_placed);
}

static void match(const struct align_list *a, const struct align_list *b, size_t i, size_t k,
                  enum align_how how)
{
    a->matches[i] = (struct align_match){ how, (uint32_t)k };
    b->matches[k] = (struct align_match){ how, (uint32_t)i };
}

/* Matches the equal items at both ends of a stretch, and takes them off. */
static void trim(const struct align_list *a, const struct align_list *b, struct stretch *s)
{
    while (s->a < s->a_end && s->b < s->b_end && a->items[s->a].key == b->items[s->b].key)
        match(a, b, s->a++, s->b++, ALIGN_IN_ORDER);
    while (s->a < s->a_end && s->b < s->b_end &&
           a->items[s->a_end - 1].key == b->items[s->b_end - 1].key)
        match(a, b, --s->a_end, --s->b_end, ALIGN_IN_ORDER);
}

static struct placed *place_keys(const struct align_list *l, size_t from, size_t end)
{
    struct placed *at = mem_alloc((end - from + 1) * sizeof *at);

    for (size_t i = from; i < end; i++)
        at[i - from] = (struct placed){ .key = l->items[i].key, .at = (uint32_t)i };
    sort_placed(at, end - from);
    return at;
}

/* Returns the end of the run of items that equal the first. */
static size_t run_end(const struct placed *at, size_t from, size_t count)
{
    size_t end = from + 1;

    while (end < count && at[end].group == at[from].group && at[end].key == at[from].key)
        end++;
    return end;
}

static bool is_before(const struct placed *x, const struct placed *y)
{
    return x->group != y->group ? x->group < y->group : x->key < y->key;
}

/* Exact longest common subsequence, in time and bits n·m. */

struct lcs {
    uint64_t *from_a; /* bit for each pair: the longest one leaves out the item of `a` */
    uint16_t *lengths;
    size_t width;
};

static bool lcs_bit(const struct lcs *l, size_t i, size_t k)
{
    size_t bit = i * l->width + k;

    return l->from_a[bit / 64] >> bit % 64 & 1;
}

/* Fills the table from the ends: the pair (i, k) is about the items from i and k on. */
static void fill_lcs(struct lcs *l, const struct align_item *a, size_t n,
                     const struct align_item *b, size_t m)
{
    for (size_t i = n; i-- > 0;) {
        uint16_t diagonal = 0; /* length of (i + 1, k + 1) */

        for (size_t k = m; k-- > 0;) {
            uint16_t below = l->lengths[k], right = l->lengths[k + 1], best;
            size_t bit = i * l->width + k;

            if (a[i].key == b[k].key)
                best = (uint16_t)(diagonal + 1);
            else
                best = below >= right ? below : right;
            if (below >= right)
                l->from_a[bit / 64] |= UINT64_C(1) << bit % 64;
            diagonal = below;
            l->lengths[k] = best;
        }
    }
}

static void match_exact(const struct align_list *a, const struct align_list *b,
                        const struct stretch *s)
{
    size_t n = s->a_end - s->a, m = s->b_end - s->b;
    struct lcs l = { .from_a = mem_alloc((n * m / 64 + 1) * sizeof *l.from_a),
                     .lengths = mem_alloc((m + 1) * sizeof *l.lengths),
                     .width = m };

    fill_lcs(&l, a->items + s->a, n, b->items + s->b, m);
    for (size_t i = 0, k = 0; i < n && k < m;) {
        if (a->items[s->a + i].key == b->items[s->b + k].key) {
            match(a, b, s->a + i, s->b + k, ALIGN_IN_ORDER);
            i++;
            k++;
        } else if (lcs_bit(&l, i, k)) {
            i++;
        } else {
            k++;
        }
    }
    free(l.from_a);
    free(l.lengths);
}

/* Greedy, for stretches that are too long: continues at the nearer of the next equal items. */

/* Returns the first place of a key from `from` on; SIZE_MAX: there is none. */
static size_t find_next(const struct placed *at, size_t count, uint64_t key, size_t from)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (at[middle].key < key || (at[middle].key == key && at[middle].at < from))
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && at[low].key == key ? at[low].at : SIZE_MAX;
}

static void match_greedy(const struct align_list *a, const struct align_list *b,
                         const struct stretch *s)
{
    size_t n = s->a_end - s->a, m = s->b_end - s->b, i = s->a, k = s->b;
    struct placed *in_a = place_keys(a, s->a, s->a_end), *in_b = place_keys(b, s->b, s->b_end);

    while (i < s->a_end && k < s->b_end) {
        size_t next_a = find_next(in_a, n, b->items[k].key, i);
        size_t next_b = find_next(in_b, m, a->items[i].key, k);
        bool skips_a = next_a != SIZE_MAX && (next_b == SIZE_MAX || next_a - i < next_b - k);

        if (next_a == SIZE_MAX && next_b == SIZE_MAX) {
            i++;
            k++;
            continue;
        }
        if (skips_a)
            i = next_a;
        else
            k = next_b;
        match(a, b, i++, k++, ALIGN_IN_ORDER);
    }
    free(in_a);
    free(in_b);
}

/* Matches the items between two anchors. Returns whether it was exact. */
static bool match_stretch(const struct align_list *a, const struct align_list *b,
                          struct stretch s)
{
    bool exact;

    trim(a, b, &s);
    if (s.a == s.a_end || s.b == s.b_end)
        return true;
    exact = s.a_end - s.a <= ALIGN_EXACT_MAX && s.b_end - s.b <= ALIGN_EXACT_MAX;
    (exact ? match_exact : match_greedy)(a, b, &s);
    return exact;
}

/* Items that are unique in both lists. */

struct anchor {
    uint32_t a, b;
    uint32_t previous; /* of the longest sequence that ends with it; 1 + its index; 0: none */
};

static int compare_anchors(const void *left, const void *right)
{
    const struct anchor *x = left, *y = right;

    return x->a < y->a ? -1 : x->a > y->a;
}

static struct anchor *find_unique(const struct align_list *a, const struct align_list *b,
                                  const struct stretch *s, size_t *count)
{
    size_t n = s->a_end - s->a, m = s->b_end - s->b, i = 0, k = 0;
    struct placed *in_a = place_keys(a, s->a, s->a_end), *in_b = place_keys(b, s->b, s->b_end);
    struct anchor *found = mem_alloc(((n < m ? n : m) + 1) * sizeof *found);

    *count = 0;
    while (i < n && k < m) {
        size_t i_end = run_end(in_a, i, n), k_end = run_end(in_b, k, m);

        if (in_a[i].key == in_b[k].key && i_end == i + 1 && k_end == k + 1)
            found[(*count)++] = (struct anchor){ .a = in_a[i].at, .b = in_b[k].at };
        if (is_before(&in_a[i], &in_b[k])) {
            i = i_end;
        } else if (is_before(&in_b[k], &in_a[i])) {
            k = k_end;
        } else {
            i = i_end;
            k = k_end;
        }
    }
    free(in_a);
    free(in_b);
    if (*count)
        qsort(found, *count, sizeof *found, compare_anchors);
    return found;
}

/* Matches the longest sequence of anchors that is in order in both lists (patience sorting). */
static void match_anchors(const struct align_list *a, const struct align_list *b,
                          struct anchor *at, size_t count)
{
    uint32_t *ends = mem_alloc((count + 1) * sizeof *ends); /* by length: best last anchor */
    size_t longest = 0;

    for (size_t i = 0; i < count; i++) {
        size_t low = 0, high = longest;

        while (low < high) {
            size_t middle = low + (high - low) / 2;

            if (at[ends[middle]].b < at[i].b)
                low = middle + 1;
            else
                high = middle;
        }
        at[i].previous = low ? ends[low - 1] + 1 : 0;
        ends[low] = (uint32_t)i;
        longest = low == longest ? longest + 1 : longest;
    }
    for (uint32_t i = longest ? ends[longest - 1] + 1 : 0; i; i = at[i - 1].previous)
        match(a, b, at[i - 1].a, at[i - 1].b, ALIGN_IN_ORDER);
    free(ends);
}

/* Steps 1 and 2. */
static bool match_in_order(const struct align_list *a, const struct align_list *b)
{
    struct stretch all = { .a_end = a->count, .b_end = b->count }, s;
    bool exact = true;
    struct anchor *anchors;
    size_t count;

    trim(a, b, &all);
    anchors = find_unique(a, b, &all, &count);
    match_anchors(a, b, anchors, count);
    free(anchors);
    s = all;
    for (size_t i = all.a; i < all.a_end; i++) {
        size_t other = a->matches[i].other;

        if (a->matches[i].how == ALIGN_NONE || other < s.b)
            continue; /* matched by this loop already */
        s.a_end = i;
        s.b_end = other;
        exact = match_stretch(a, b, s) && exact;
        s = (struct stretch){ .a = i + 1, .b = other + 1 };
    }
    s.a_end = all.a_end;
    s.b_end = all.b_end;
    return match_stretch(a, b, s) && exact;
}

/* Collects the items without a match, by key, or by kind and the neighbours they are between.
 */
static struct placed *place_rest(const struct align_list *l, bool by_kind, size_t *count)
{
    struct placed *at = mem_alloc((l->count + 1) * sizeof *at);
    size_t neighbours = 0;

    *count = 0;
    for (size_t i = 0; i < l->count; i++) {
        neighbours += l->matches[i].how == ALIGN_IN_ORDER;
        if (l->matches[i].how == ALIGN_NONE)
            at[(*count)++] =
                (struct placed){ .key = by_kind ? l->items[i].kind : l->items[i].key,
                                 .group = by_kind ? neighbours : 0,
                                 .at = (uint32_t)i };
    }
    sort_placed(at, *count);
    return at;
}

/* Steps 3 and 4. */
static void match_rest(const struct align_list *a, const struct align_list *b,
                       enum align_how how)
{
    size_t n, m, i = 0, k = 0;
    struct placed *in_a = place_rest(a, how == ALIGN_SAME_KIND, &n);
    struct placed *in_b = place_rest(b, how == ALIGN_SAME_KIND, &m);

    while (i < n && k < m) {
        if (is_before(&in_a[i], &in_b[k]))
            i++;
        else if (is_before(&in_b[k], &in_a[i]))
            k++;
        else
            match(a, b, in_a[i++].at, in_b[k++].at, how);
    }
    free(in_a);
    free(in_b);
}

/* An order of lists that does not depend on which is first. */
static int compare_lists(const struct align_list *a, const struct align_list *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    return a->count ? memcmp(a->items, b->items, a->count * sizeof *a->items) : 0;
}

static void clear(const struct align_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        l->matches[i] = (struct align_match){ .how = ALIGN_NONE };
}

/* Among several longest subsequences one is chosen by the order of the arguments, so these are
 * put into an order of their own first. */
bool align_lists(const struct align_list *a, const struct align_list *b)
{
    bool exact;

    BUG_IF(a->count >= UINT32_MAX || b->count >= UINT32_MAX);
    if (compare_lists(a, b) > 0)
        return align_lists(b, a);
    clear(a);
    clear(b);
    exact = match_in_order(a, b);
    match_rest(a, b, ALIGN_MOVED);
    match_rest(a, b, ALIGN_SAME_KIND);
    return exact;
}
