#include "diff/align.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "test.h"

struct pair {
    struct align_item items[2][64];
    struct align_match matches[2][64];
    struct align_list a, b;
    bool exact;
};

/* Letters are items: "Ab" and "Ac" are of one kind. */
static void read_items(struct align_list *l, struct align_item *to, struct align_match *matches,
                       const char *text)
{
    size_t n = 0;

    for (; text[0]; text += 2)
        to[n++] = (struct align_item){ .key = (uint64_t)(text[0] * 256 + text[1]),
                                       .kind = (uint64_t)text[0] };
    *l = (struct align_list){ to, n, matches };
}

static void align_texts(struct pair *p, const char *a, const char *b)
{
    read_items(&p->a, p->items[0], p->matches[0], a);
    read_items(&p->b, p->items[1], p->matches[1], b);
    p->exact = align_lists(&p->a, &p->b);
}

/* "0=0" in order, "1>0" moved, "1~1" of the same kind, "-2" only in the first, "+3" only in the
 * second. */
static void check(const char *a, const char *b, const char *want)
{
    static const char marks[] = { '-', '=', '>', '~' };
    struct pair p;
    struct buf got;

    buf_init(&got, 1 << 16);
    align_texts(&p, a, b);
    for (size_t i = 0; i < p.a.count; i++)
        if (p.matches[0][i].how == ALIGN_NONE)
            buf_printf(&got, "%s-%zu", got.len ? " " : "", i);
        else
            buf_printf(&got, "%s%zu%c%u", got.len ? " " : "", i, marks[p.matches[0][i].how],
                       p.matches[0][i].other);
    for (size_t k = 0; k < p.b.count; k++)
        if (p.matches[1][k].how == ALIGN_NONE)
            buf_printf(&got, "%s+%zu", got.len ? " " : "", k);
    assert_str(buf_str(&got), str_z(want));
    buf_release(&got);
}

static void equal_lists_are_aligned_one_to_one(void **state)
{
    (void)state;
    check("", "", "");
    check("Aa", "Aa", "0=0");
    check("AaAaBbAa", "AaAaBbAa", "0=0 1=1 2=2 3=3");
}

static void items_are_added_and_removed(void **state)
{
    (void)state;
    check("AaBb", "AaCcBb", "0=0 1=2 +1");
    check("AaCcBb", "AaBb", "0=0 -1 2=1");
    check("", "AaBb", "+0 +1");
    check("AaBb", "", "-0 -1");
    check("AaAa", "AaAaAa", "0=0 1=1 +2");
}

static void an_item_elsewhere_is_moved(void **state)
{
    (void)state;
    check("AaBbCcDd", "BbCcDdAa", "0>3 1=0 2=1 3=2");
    check("AaBbCc", "CcAaBb", "0=1 1=2 2>0");
}

static void an_item_of_the_same_kind_between_the_same_neighbours_is_changed(void **state)
{
    (void)state;
    check("XxAaYy", "XxAbYy", "0=0 1~1 2=2");
    check("XxAaAbYy", "XxAcYy", "0=0 1~1 -2 3=2");
    check("AaXx", "XxAb", "-0 1=0 +1"); /* other neighbours */
    check("XxAaYy", "XxBbYy", "0=0 -1 2=2 +1");
}

/* Unique items bind first, although the repeated ones alone would give more matches. */
static void unique_items_are_anchors(void **state)
{
    (void)state;
    check("AaAaAaBb", "BbAaAaAa", "0>1 1>2 2>3 3=0");
}

struct random_case {
    struct align_item *items[2];
    struct align_match *matches[2];
    struct align_list l[2];
};

static void random_lists(struct random_case *c, unsigned *seed, size_t most, unsigned keys)
{
    for (int s = 0; s < 2; s++) {
        size_t n = (size_t)rand_r(seed) % (most + 1);

        c->items[s] = mem_alloc((n + 1) * sizeof *c->items[s]);
        c->matches[s] = mem_alloc((n + 1) * sizeof *c->matches[s]);
        for (size_t i = 0; i < n; i++) {
            uint64_t key = (uint64_t)rand_r(seed) % keys;

            c->items[s][i] = (struct align_item){ key, key % 5 };
        }
        c->l[s] = (struct align_list){ c->items[s], n, c->matches[s] };
    }
}

static void release_lists(struct random_case *c)
{
    for (int s = 0; s < 2; s++) {
        free(c->items[s]);
        free(c->matches[s]);
    }
}

/* A valid edit script: matches are mutual, in order where they say so, and of equal keys or
 * kinds; nothing that could be moved or changed is left. */
static void assert_valid(const struct random_case *c)
{
    const struct align_list *a = &c->l[0], *b = &c->l[1];
    int64_t last = -1;

    for (size_t i = 0; i < a->count; i++) {
        const struct align_match *m = &a->matches[i];

        if (m->how == ALIGN_NONE) {
            for (size_t k = 0; k < b->count; k++)
                assert_false(b->matches[k].how == ALIGN_NONE &&
                             b->items[k].key == a->items[i].key);
            continue;
        }
        assert_int_equal(b->matches[m->other].other, i);
        assert_int_equal(b->matches[m->other].how, m->how);
        if (m->how == ALIGN_SAME_KIND)
            assert_true(a->items[i].kind == b->items[m->other].kind &&
                        a->items[i].key != b->items[m->other].key);
        else
            assert_true(a->items[i].key == b->items[m->other].key);
        if (m->how != ALIGN_IN_ORDER)
            continue;
        assert_true((int64_t)m->other > last);
        last = m->other;
    }
}

static void assert_mirrored(const struct random_case *c)
{
    const struct align_list *a = &c->l[0], *b = &c->l[1];
    struct align_match *was = mem_alloc((a->count + 1) * sizeof *was);

    for (size_t i = 0; i < a->count; i++)
        was[i] = a->matches[i];
    align_lists(b, a);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->matches[i].how, was[i].how);
        if (was[i].how != ALIGN_NONE)
            assert_int_equal(a->matches[i].other, was[i].other);
    }
    free(was);
}

static void any_lists_give_a_valid_edit_script_and_its_mirror(void **state)
{
    unsigned seed = 1;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct random_case c;

        random_lists(&c, &seed, 30, 1 + (unsigned)i % 40);
        assert_true(align_lists(&c.l[0], &c.l[1]));
        assert_valid(&c);
        assert_mirrored(&c);
        release_lists(&c);
    }
}

static size_t count_in_order(const struct align_list *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->count; i++)
        n += l->matches[i].how == ALIGN_IN_ORDER;
    return n;
}

/* Without unique items the longest common subsequence is found, as a plain table has it. */
static void without_unique_items_it_is_the_longest_subsequence(void **state)
{
    unsigned seed = 7;

    (void)state;
    for (int round = 0; round < 500; round++) {
        uint16_t best[42][42] = { 0 };
        struct random_case c;
        bool unique = false;

        random_lists(&c, &seed, 40, 3);
        for (uint64_t key = 0; key < 3; key++) {
            size_t counts[2] = { 0, 0 };

            for (int s = 0; s < 2; s++)
                for (size_t i = 0; i < c.l[s].count; i++)
                    counts[s] += c.items[s][i].key == key;
            unique = unique || (counts[0] == 1 && counts[1] == 1);
        }
        for (size_t i = 1; i <= c.l[0].count; i++)
            for (size_t k = 1; k <= c.l[1].count; k++) {
                uint16_t up = best[i - 1][k], left = best[i][k - 1];

                best[i][k] = c.items[0][i - 1].key == c.items[1][k - 1].key
                                 ? (uint16_t)(best[i - 1][k - 1] + 1)
                             : up > left ? up
                                         : left;
            }
        align_lists(&c.l[0], &c.l[1]);
        if (!unique)
            assert_int_equal(count_in_order(&c.l[0]), best[c.l[0].count][c.l[1].count]);
        release_lists(&c);
    }
}

static void a_long_stretch_is_aligned_greedily_and_flagged(void **state)
{
    enum { LONG = ALIGN_EXACT_MAX + 100 };
    struct random_case c;
    unsigned seed = 3;

    (void)state;
    do { /* long enough on both sides */
        random_lists(&c, &seed, 3 * LONG, 50);
        if (c.l[0].count > LONG && c.l[1].count > LONG)
            break;
        release_lists(&c);
    } while (true);
    assert_false(align_lists(&c.l[0], &c.l[1]));
    assert_valid(&c);
    assert_true(count_in_order(&c.l[0]) > LONG / 10);
    assert_mirrored(&c);
    release_lists(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_lists_are_aligned_one_to_one),
        cmocka_unit_test(items_are_added_and_removed),
        cmocka_unit_test(an_item_elsewhere_is_moved),
        cmocka_unit_test(an_item_of_the_same_kind_between_the_same_neighbours_is_changed),
        cmocka_unit_test(unique_items_are_anchors),
        cmocka_unit_test(any_lists_give_a_valid_edit_script_and_its_mirror),
        cmocka_unit_test(without_unique_items_it_is_the_longest_subsequence),
        cmocka_unit_test(a_long_stretch_is_aligned_greedily_and_flagged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
