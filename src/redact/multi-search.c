#include "redact/multi-search.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/mem.h"

enum { GRAM_MASK = 0xFFFFFF };

enum { GRAM_OFFSETS = 48 }; /* offsets of a pattern that are tried for its gram */

void multi_search_init(struct multi_search *n)
{
    *n = (struct multi_search){ 0 };
}

void multi_search_release(struct multi_search *n)
{
    free(n->patterns);
    arena_release(&n->arena);
}

static inline uint32_t hash_gram(uint32_t gram)
{
    return (gram & GRAM_MASK) * 0x9E3779B1u >> (32 - MULTI_SEARCH_HASH_BITS);
}

static uint32_t hash_at(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;

    return hash_gram((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16);
}

static uint32_t chain_of(uint32_t hash)
{
    return hash >> (MULTI_SEARCH_HASH_BITS - MULTI_SEARCH_CHAIN_BITS);
}

/* Returns a rough frequency of a byte in JSON and prose. */
static unsigned commonness(char c)
{
    if (c == '\0')
        return 0;
    if (strchr("\":,{}[]\\ ", c))
        return 8;
    if (strchr("etaoinsrETAOINSR", c))
        return 6;
    if (ascii_is_letter(c))
        return 4;
    return ascii_is_digit(c) ? 3 : 1;
}

static size_t chain_length(const struct multi_search *n, uint32_t hash)
{
    size_t length = 0;

    for (uint32_t i = n->chains[chain_of(hash)]; i; i = n->patterns[i - 1].next)
        length++;
    return length;
}

/* Returns the other spelling of a byte of a pattern, or the byte itself. */
static char other_spelling(char c, enum multi_search_fold fold)
{
    if (fold == MULTI_SEARCH_ANY_CASE)
        return ascii_upper(c);
    return fold == MULTI_SEARCH_SPACE_OR_PLUS && c == ' ' ? '+' : c;
}

/* Returns the offset of the cheapest gram: rare, shared with few patterns, with few
 * spellings. */
static size_t rarest_gram(const struct multi_search *n, struct str text,
                          enum multi_search_fold fold)
{
    enum { SPELLING = 6, SHARED = 4 };
    size_t best = 0, least = SIZE_MAX;

    for (size_t i = 0; i + MULTI_SEARCH_MIN <= text.len && i < GRAM_OFFSETS; i++) {
        size_t cost = SHARED * chain_length(n, hash_at(text.at + i));

        for (size_t k = 0; k < MULTI_SEARCH_MIN; k++) {
            cost += commonness(text.at[i + k]);
            if (other_spelling(text.at[i + k], fold) != text.at[i + k])
                cost += SPELLING;
        }
        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    return best;
}

static struct str copy_pattern(struct multi_search *n, struct str text,
                               enum multi_search_fold fold)
{
    char *copy = arena_z(&n->arena, text);

    for (size_t i = 0; fold == MULTI_SEARCH_ANY_CASE && i < text.len; i++)
        copy[i] = ascii_lower(copy[i]);
    return str_n(copy, text.len);
}

static void link_pattern(struct multi_search *n, const struct multi_search_pattern *pattern,
                         uint32_t hash)
{
    uint32_t *first = &n->chains[chain_of(hash)];

    n->has_gram[hash] = 1;
    for (uint32_t i = *first; i; i = n->patterns[i - 1].next)
        if (n->patterns[i - 1].hash == hash && n->patterns[i - 1].text.at == pattern->text.at)
            return;
    n->patterns = mem_reserve(n->patterns, &n->cap, n->count + 1, sizeof *n->patterns);
    n->patterns[n->count] = *pattern;
    n->patterns[n->count].hash = hash;
    n->patterns[n->count++].next = *first;
    *first = (uint32_t)n->count;
}

/* Links the pattern once for each spelling of its gram. */
static void link_spellings(struct multi_search *n, const struct multi_search_pattern *pattern)
{
    const char *plain = pattern->text.at + pattern->gram_offset;

    for (unsigned others = 0; others < 1 << MULTI_SEARCH_MIN; others++) {
        char gram[MULTI_SEARCH_MIN];
        bool same = false;

        for (unsigned i = 0; i < MULTI_SEARCH_MIN; i++) {
            bool changed = others >> i & 1;
            gram[i] = changed ? other_spelling(plain[i], pattern->fold) : plain[i];
            same |= changed && gram[i] == plain[i];
        }
        if (!same) {
            prefilter_add(&n->prefilter, gram);
            link_pattern(n, pattern, hash_at(gram));
        }
    }
}

void multi_search_add(struct multi_search *n, struct str text, enum multi_search_fold fold,
                      uint32_t id)
{
    struct multi_search_pattern pattern = { .text = copy_pattern(n, text, fold),
                                            .id = id,
                                            .fold = fold };

    BUG_IF(text.len < MULTI_SEARCH_MIN);
    if (fold == MULTI_SEARCH_EXACT) {
        size_t len = text.len < sizeof pattern.head ? text.len : sizeof pattern.head;
        memcpy(&pattern.head, text.at, len);
        memset(&pattern.mask, 0xFF, len);
    }
    pattern.gram_offset = rarest_gram(n, pattern.text, fold);
    link_spellings(n, &pattern);
}

static bool equals_folded(const struct multi_search_pattern *pattern, const char *at)
{
    for (size_t i = 0; i < pattern->text.len; i++)
        if (at[i] != pattern->text.at[i] &&
            at[i] != other_spelling(pattern->text.at[i], pattern->fold))
            return false;
    return true;
}

/* `at` is at least as long as the pattern. */
static bool matches_at(const struct multi_search_pattern *pattern, struct str at)
{
    uint64_t w;

    if (at.len >= sizeof w) {
        memcpy(&w, at.at, sizeof w);
        if ((w ^ pattern->head) & pattern->mask)
            return false;
        if (pattern->text.len <= sizeof w && pattern->fold == MULTI_SEARCH_EXACT)
            return true;
    }
    if (pattern->fold != MULTI_SEARCH_EXACT)
        return equals_folded(pattern, at.at);
    return memcmp(at.at, pattern->text.at, pattern->text.len) == 0;
}

static __attribute__((noinline)) bool compare_at(const struct multi_search *n, struct str text,
                                                 size_t position, multi_search_fn *fn, void *to)
{
    uint32_t hash = hash_at(text.at + position);

    for (uint32_t i = n->chains[chain_of(hash)]; i; i = n->patterns[i - 1].next) {
        const struct multi_search_pattern *pattern = &n->patterns[i - 1];
        size_t at = position - pattern->gram_offset;
        if (pattern->hash != hash || position < pattern->gram_offset ||
            text.len - at < pattern->text.len ||
            !matches_at(pattern, str_n(text.at + at, text.len - at)))
            continue;
        if (!fn(to, at, at + pattern->text.len, pattern->id))
            return false;
    }
    return true;
}

/* Returns non-zero if one of the six grams of eight bytes is in the table. */
static inline unsigned any_gram(const struct multi_search *n, const char *at)
{
    uint64_t w = mem_load64(at);

    return n->has_gram[hash_gram((uint32_t)w)] | n->has_gram[hash_gram((uint32_t)(w >> 8))] |
           n->has_gram[hash_gram((uint32_t)(w >> 16))] |
           n->has_gram[hash_gram((uint32_t)(w >> 24))] |
           n->has_gram[hash_gram((uint32_t)(w >> 32))] |
           n->has_gram[hash_gram((uint32_t)(w >> 40))];
}

/* Compares at the positions that the prefilter found. */
static bool compare_positions(const struct multi_search *n, struct str text, size_t from,
                              uint64_t positions, multi_search_fn *fn, void *to)
{
    for (; positions; positions &= positions - 1) {
        size_t i = from + (unsigned)__builtin_ctzll(positions);
        if (n->has_gram[hash_at(text.at + i)] && !compare_at(n, text, i, fn, to))
            return false;
    }
    return true;
}

bool multi_search_scan(const struct multi_search *n, struct str text, multi_search_fn *fn,
                       void *to)
{
    size_t i = 0, end;
    uint64_t positions;

    if (n->count == 0)
        return true;
    for (; (positions = prefilter_next(&n->prefilter, text, &i)); i += PREFILTER_POSITIONS)
        if (!compare_positions(n, text, i, positions, fn, to))
            return false;
    while (i + MULTI_SEARCH_MIN <= text.len) {
        while (i + 8 <= text.len && !any_gram(n, text.at + i))
            i += 6;
        end = i + 8 <= text.len ? i + 6 : text.len - MULTI_SEARCH_MIN + 1;
        for (; i < end; i++)
            if (n->has_gram[hash_at(text.at + i)] && !compare_at(n, text, i, fn, to))
                return false;
    }
    return true;
}
