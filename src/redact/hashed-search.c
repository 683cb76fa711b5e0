#include "redact/hashed-search.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/random.h"

enum {
    INITIAL_LOG2 = 16,
    STRIDE = 4,     /* distance of the positions that are tested; windows of an entry */
    WINDOW = 5,     /* bytes */
    ENTRY_LOG2 = 6, /* log2 of the bits per entry: 1 of 16 bits is set */
    CANDIDATES = 8, /* offsets of a text that are tried for its eight bytes */
    PIECE = 256,    /* bytes that are folded at once */
    BITS = 8,
};
_Static_assert(WINDOW + STRIDE - 1 == HASHED_SEARCH_MIN, "every text has all of its windows");

static const uint64_t CASE_BITS = 0x2020202020202020u;

static size_t bits_size(const struct hashed_search *s)
{
    return ((size_t)1 << s->log2_bits) / BITS;
}

static size_t chains_size(const struct hashed_search *s)
{
    return ((size_t)1 << (s->log2_bits - ENTRY_LOG2)) * sizeof *s->chains;
}

static void resize_tables(struct hashed_search *s, unsigned log)
{
    s->log2_bits = log;
    free(s->bits);
    free(s->chains);
    s->bits = mem_alloc(bits_size(s));
    s->chains = mem_alloc(chains_size(s));
}

void hashed_search_init(struct hashed_search *s)
{
    *s = (struct hashed_search){ .count = 0 };
    random_bytes(&s->seed, sizeof s->seed);
    random_bytes(&s->factor, sizeof s->factor);
    s->factor |= 1;
}

void hashed_search_release(struct hashed_search *s)
{
    free(s->entries);
    free(s->bits);
    free(s->chains);
}

/* Hashes five bytes; eight must be readable. Case is ignored, so that one test serves all
 * folds. */
static inline uint32_t hash_window(const struct hashed_search *s, const char *at)
{
    uint64_t w = mem_load64(at);

    w <<= BITS * (sizeof w - WINDOW);
    return (uint32_t)((w | CASE_BITS) * s->factor >> 32);
}

/* The same where only five bytes are readable. */
static uint32_t hash_window_copy(const struct hashed_search *s, const char *at)
{
    char bytes[sizeof(uint64_t)] = { 0 };

    memcpy(bytes, at, WINDOW);
    return hash_window(s, bytes);
}

/* Hashes eight bytes. */
static uint32_t hash_key(const struct hashed_search *s, const char *at)
{
    uint64_t w;

    memcpy(&w, at, sizeof w);
    return (uint32_t)((w | CASE_BITS) * s->factor >> 32);
}

static uint32_t *chain_of(const struct hashed_search *s, uint32_t key)
{
    return &s->chains[key >> (32 - s->log2_bits + ENTRY_LOG2)];
}

static inline uint64_t is_set(const struct hashed_search *s, uint32_t window)
{
    uint32_t bit = window >> (32 - s->log2_bits);

    return s->bits[bit >> 6] >> (bit & 63) & 1;
}

static void link_entry(struct hashed_search *s, size_t index)
{
    struct hashed_search_entry *t = &s->entries[index];
    uint32_t *first = chain_of(s, t->key);

    for (size_t i = 0; i < STRIDE; i++) {
        uint32_t bit = t->windows[i] >> (32 - s->log2_bits);

        s->bits[bit >> 6] |= (uint64_t)1 << (bit & 63);
    }
    t->next = *first;
    *first = (uint32_t)index + 1;
}

static void link_all(struct hashed_search *s)
{
    for (size_t i = 0; i < s->count; i++)
        link_entry(s, i);
}

static char fold_char(char c, enum hashed_search_fold fold)
{
    if (fold == HASHED_SEARCH_ANY_CASE)
        return ascii_lower(c);
    return fold == HASHED_SEARCH_SPACE_OR_PLUS && c == '+' ? ' ' : c;
}

static uint64_t hash_text(const struct hashed_search *s, struct str text,
                          enum hashed_search_fold fold)
{
    uint64_t hash = s->seed;
    char piece[PIECE];

    if (fold == HASHED_SEARCH_EXACT)
        return hash_bytes(text, hash);
    while (text.len) {
        size_t n = text.len < PIECE ? text.len : PIECE;

        for (size_t i = 0; i < n; i++)
            piece[i] = fold_char(text.at[i], fold);
        hash = hash_bytes(str_n(piece, n), hash);
        text = str_skip(text, n);
    }
    return hash;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '+';
}

static bool has_blank(const char *at)
{
    bool any = false;

    for (size_t i = 0; i < HASHED_SEARCH_MIN; i++)
        any |= is_blank(at[i]);
    return any;
}

static size_t chain_length(const struct hashed_search *s, uint32_t key)
{
    size_t length = 0;

    for (uint32_t i = *chain_of(s, key); i; i = s->entries[i - 1].next)
        length++;
    return length;
}

/* Returns the i-th offset to try, from the end to the start: random values tend to differ at
 * their end. */
static size_t candidate_offset(struct str text, size_t i)
{
    size_t last = text.len - HASHED_SEARCH_MIN;

    return last - last * i / (CANDIDATES - 1);
}

/* Returns the offset of eight bytes that few entries share and, if possible, without a blank.
 */
static size_t best_offset(const struct hashed_search *s, struct str text,
                          enum hashed_search_fold fold)
{
    size_t best = 0, least = SIZE_MAX;

    for (size_t i = 0; i < CANDIDATES && least; i++) {
        size_t at = candidate_offset(text, i),
               cost = chain_length(s, hash_key(s, text.at + at));

        if (fold == HASHED_SEARCH_SPACE_OR_PLUS && has_blank(text.at + at))
            cost += s->count + 1;
        if (cost < least) {
            least = cost;
            best = at;
        }
    }
    return best;
}

static void add_entry(struct hashed_search *s, struct hashed_search_entry *t, const char *bytes)
{
    for (size_t i = 0; i < STRIDE; i++)
        t->windows[i] = hash_window_copy(s, bytes + i);
    t->key = hash_key(s, bytes);
    s->entries = mem_reserve(s->entries, &s->cap, s->count + 1, sizeof *s->entries);
    s->entries[s->count++] = *t;
    if (s->count <= (size_t)1 << (s->log2_bits - ENTRY_LOG2)) {
        link_entry(s, s->count - 1);
        return;
    }
    resize_tables(s, s->log2_bits + 1);
    link_all(s);
}

/* Adds the entry twice, with space and with plus, if its eight bytes have a blank. */
static void add_with_blanks(struct hashed_search *s, struct hashed_search_entry *t,
                            const char *bytes)
{
    static const char blanks[] = { ' ', '+' };
    char spelt[HASHED_SEARCH_MIN];

    for (size_t k = 0; k < sizeof blanks; k++) {
        for (size_t i = 0; i < sizeof spelt; i++)
            spelt[i] = is_blank(bytes[i]) ? blanks[k] : bytes[i];
        add_entry(s, t, spelt);
    }
}

void hashed_search_add(struct hashed_search *s, struct str text, enum hashed_search_fold fold,
                       uint32_t id)
{
    struct hashed_search_entry t = { .len = (uint32_t)text.len, .id = id, .fold = fold };

    BUG_IF(text.len < HASHED_SEARCH_MIN || text.len > UINT32_MAX);
    if (!s->log2_bits)
        resize_tables(s, INITIAL_LOG2);
    t.hash = hash_text(s, text, fold);
    t.offset = (uint32_t)best_offset(s, text, fold);
    if (fold == HASHED_SEARCH_SPACE_OR_PLUS && has_blank(text.at + t.offset))
        add_with_blanks(s, &t, text.at + t.offset);
    else
        add_entry(s, &t, text.at + t.offset);
}

static bool find_entry(const struct hashed_search *s, const struct hashed_search_entry *want,
                       struct str text, size_t at, uint32_t *id)
{
    char bytes[HASHED_SEARCH_MIN];
    uint32_t key;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = fold_char(text.at[at + i], want->fold);
    key = hash_key(s, bytes);
    for (uint32_t i = *chain_of(s, key); i; i = s->entries[i - 1].next) {
        const struct hashed_search_entry *t = &s->entries[i - 1];

        if (t->key == key && t->hash == want->hash && t->len == want->len && t->id >= *id) {
            *id = t->id;
            return true;
        }
    }
    return false;
}

bool hashed_search_has(const struct hashed_search *s, struct str text,
                       enum hashed_search_fold fold, uint32_t *id)
{
    struct hashed_search_entry want = { .len = (uint32_t)text.len, .fold = fold };

    if (text.len < HASHED_SEARCH_MIN || !s->count)
        return false;
    want.hash = hash_text(s, text, fold);
    for (size_t i = 0; i < CANDIDATES; i++)
        if (find_entry(s, &want, text, candidate_offset(text, i), id))
            return true;
    return false;
}

void hashed_search_retain(struct hashed_search *s, bool (*keeps)(const void *to, uint32_t id),
                          const void *to)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->count; i++)
        if (keeps(to, s->entries[i].id))
            s->entries[kept++] = s->entries[i];
    s->count = kept;
    if (!s->bits)
        return;
    memset(s->bits, 0, bits_size(s));
    memset(s->chains, 0, chains_size(s));
    link_all(s);
}

/* Compares the entries whose eight bytes are at this position. */
static bool compare_at(const struct hashed_search *s, struct str haystack, size_t position,
                       hashed_search_fn *fn, void *to)
{
    uint32_t key = hash_key(s, haystack.at + position);

    for (uint32_t i = *chain_of(s, key); i; i = s->entries[i - 1].next) {
        const struct hashed_search_entry *t = &s->entries[i - 1];
        size_t at = position - t->offset;

        if (t->key != key || position < t->offset || haystack.len - at < t->len ||
            hash_text(s, str_n(haystack.at + at, t->len), t->fold) != t->hash)
            continue;
        if (!fn(to, at, at + t->len, t->id))
            return false;
    }
    return true;
}

/* Compares around a window that may match: any of the four windows of an entry may be here. */
static __attribute__((noinline)) bool compare_around(const struct hashed_search *s,
                                                     struct str haystack, size_t position,
                                                     hashed_search_fn *fn, void *to)
{
    size_t from = position < STRIDE ? 0 : position - STRIDE + 1;

    for (size_t i = from; i <= position && i + HASHED_SEARCH_MIN <= haystack.len; i++)
        if (!compare_at(s, haystack, i, fn, to))
            return false;
    return true;
}

/* Tests four positions at once: nearly always none matches. */
static inline uint64_t any_set(const struct hashed_search *s, const char *at)
{
    return is_set(s, hash_window(s, at)) | is_set(s, hash_window(s, at + STRIDE)) |
           is_set(s, hash_window(s, at + 2 * STRIDE)) |
           is_set(s, hash_window(s, at + 3 * STRIDE));
}

bool hashed_search_scan(const struct hashed_search *s, struct str haystack,
                        hashed_search_fn *fn, void *to)
{
    enum { AT_ONCE = 4 * STRIDE, READ = AT_ONCE + STRIDE };
    size_t i = 0;

    if (!s->count)
        return true;
    while (i + WINDOW <= haystack.len) {
        size_t stop = i + AT_ONCE;

        if (i + READ <= haystack.len && !any_set(s, haystack.at + i)) {
            i = stop;
            continue;
        }
        for (; i < stop && i + WINDOW <= haystack.len; i += STRIDE)
            if (is_set(s, hash_window_copy(s, haystack.at + i)) &&
                !compare_around(s, haystack, i, fn, to))
                return false;
    }
    return true;
}
