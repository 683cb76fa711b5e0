#include "report/word-diff.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/term.h"
#include "diff/align.h"
#include "json/json.h"

enum { LEAST_WORDS = 3 };

/* The words of a string, decoded. Blanks belong to the word before them. */
struct words {
    struct json json;
    struct arena arena;
    struct str *at;
    size_t count, cap;
    struct align_item *items;
    struct align_match *matches;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Returns the next word, without the blanks behind it, and removes both from `rest`. */
static struct str cut_word(struct str *rest)
{
    struct str word = *rest;
    size_t end = 0, next;

    while (end < rest->len && !is_blank(rest->at[end]))
        end++;
    next = end;
    while (next < rest->len && is_blank(rest->at[next]))
        next++;
    word.len = end;
    *rest = str_skip(*rest, next);
    return word;
}

static bool read_words(struct words *w, struct str json)
{
    struct json_fault fault;
    struct str rest;

    if (!json.len || json.at[0] != '"' || !json_scan(&w->json, json, &fault))
        return false;
    rest = json_text(json_root(&w->json), &w->arena);
    while (rest.len && w->count <= WORD_DIFF_WORDS) {
        w->at = mem_reserve(w->at, &w->cap, w->count + 1, sizeof *w->at);
        w->at[w->count++] = cut_word(&rest);
    }
    return w->count <= WORD_DIFF_WORDS && w->count >= LEAST_WORDS;
}

static void release_words(struct words *w)
{
    json_release(&w->json);
    arena_release(&w->arena);
    free(w->at);
    free(w->items);
    free(w->matches);
}

static struct align_list list_of(struct words *w)
{
    w->items = mem_alloc((w->count + 1) * sizeof *w->items);
    w->matches = mem_alloc((w->count + 1) * sizeof *w->matches);
    for (size_t i = 0; i < w->count; i++) {
        uint64_t hash = hash_bytes(w->at[i], 0);

        w->items[i] = (struct align_item){ hash, i }; /* no word is of the kind of another */
    }
    return (struct align_list){ w->items, w->count, w->matches };
}

static bool is_kept(const struct words *w, size_t i)
{
    return w->matches[i].how == ALIGN_IN_ORDER;
}

static bool are_similar(const struct words *a, const struct words *b)
{
    size_t kept = 0, longer = a->count > b->count ? a->count : b->count;

    for (size_t i = 0; i < a->count; i++)
        kept += is_kept(a, i);
    return kept * 3 >= longer;
}

static void add_words(struct buf *to, const struct words *w, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++) {
        if (i > from)
            buf_add_ch(to, ' ');
        term_escape(to, w->at[i], TERM_ONE_LINE);
    }
}

static void add_separator(struct buf *to, size_t start)
{
    if (to->len > start)
        buf_add_ch(to, ' ');
}

/* Appends words that both have; the middle of many is folded. `is_last`: no change follows. */
static void add_kept(struct buf *to, size_t start, const struct words *w, size_t from,
                     size_t end, bool is_last)
{
    size_t head = to->len > start ? WORD_DIFF_CONTEXT : 0;
    size_t tail = is_last ? 0 : WORD_DIFF_CONTEXT, count = end - from;

    if (from == end)
        return;
    add_separator(to, start);
    if (count <= head + tail + 2) {
        add_words(to, w, from, end);
        return;
    }
    add_words(to, w, from, from + head);
    buf_printf(to, "%s… %zu words …%s", head ? " " : "", count - head - tail, tail ? " " : "");
    add_words(to, w, end - tail, end);
}

static void add_changed(struct buf *to, const struct words *w, size_t from, size_t end,
                        const char *open, const char *close, enum term_style style, bool color)
{
    if (from == end)
        return;
    term_style(to, color, style);
    buf_add(to, str_z(open));
    add_words(to, w, from, end);
    buf_add(to, str_z(close));
    term_style(to, color, TERM_PLAIN);
}

static void write_words(struct buf *to, const struct words *a, const struct words *b,
                        bool color)
{
    size_t i = 0, k = 0, start = to->len;

    while ((i < a->count || k < b->count) && to->len - start < WORD_DIFF_BYTES) {
        size_t a_from = i, b_from = k;

        while (i < a->count && is_kept(a, i) && a->matches[i].other == k) {
            i++;
            k++;
        }
        add_kept(to, start, a, a_from, i, i == a->count && k == b->count);
        a_from = i;
        b_from = k;
        while (i < a->count && !is_kept(a, i))
            i++;
        while (k < b->count && !is_kept(b, k))
            k++;
        if (a_from == i && b_from == k)
            continue;
        add_separator(to, start);
        add_changed(to, a, a_from, i, "[-", "-]", TERM_RED, color);
        add_changed(to, b, b_from, k, "{+", "+}", TERM_GREEN, color);
    }
    if (i < a->count || k < b->count)
        buf_add(to, STR(" …"));
}

bool word_diff_write(struct buf *to, struct str before, struct str after, bool color)
{
    struct words a = { .count = 0 }, b = { .count = 0 };
    struct align_list left, right;
    bool helps;

    json_init(&a.json);
    json_init(&b.json);
    helps = read_words(&a, before) && read_words(&b, after);
    if (helps) {
        left = list_of(&a);
        right = list_of(&b);
        align_lists(&left, &right);
        helps = are_similar(&a, &b);
    }
    if (helps) {
        buf_add_ch(to, '"');
        write_words(to, &a, &b, color);
        buf_add_ch(to, '"');
    }
    release_words(&a);
    release_words(&b);
    return helps;
}
