#include "base/needles.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/mem.h"

enum { GRAM = 0xFFFFFF };

enum { WINDOWS = 48 }; /* so far into a needle its oddest bytes are looked for */

void needles_init(struct needles *n)
{
    *n = (struct needles){ 0 };
}

void needles_release(struct needles *n)
{
    free(n->all);
    arena_release(&n->arena);
}

static inline uint32_t hash_of(uint32_t gram)
{
    return (gram & GRAM) * 0x9E3779B1u >> (32 - NEEDLES_HASH_BITS);
}

static uint32_t hash_at(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;

    return hash_of((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16);
}

static uint32_t chain_of(uint32_t hash)
{
    return hash >> (NEEDLES_HASH_BITS - NEEDLES_CHAIN_BITS);
}

/* How often a byte is to be expected in JSON and in what people write, roughly. */
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

static size_t chain_length(const struct needles *n, uint32_t hash)
{
    size_t length = 0;

    for (uint32_t i = n->chains[chain_of(hash)]; i; i = n->all[i - 1].next)
        length++;
    return length;
}

/* The other spelling of a byte of a needle; the byte itself if there is none. */
static char other(char c, enum needles_case fold)
{
    if (fold == NEEDLES_ANY_CASE)
        return ascii_upper(c);
    return fold == NEEDLES_SPACE_OR_PLUS && c == ' ' ? '+' : c;
}

/* Where the three bytes stand that cost least: seldom seen, not those of many others, and
 * with few spellings. */
static size_t oddest(const struct needles *n, struct str text, enum needles_case fold)
{
    enum { SPELLING = 6, SHARED = 4 };
    size_t best = 0, least = SIZE_MAX;

    for (size_t i = 0; i + NEEDLES_SHORTEST <= text.len && i < WINDOWS; i++) {
        size_t cost = SHARED * chain_length(n, hash_at(text.at + i));

        for (size_t k = 0; k < NEEDLES_SHORTEST; k++) {
            cost += commonness(text.at[i + k]);
            if (other(text.at[i + k], fold) != text.at[i + k])
                cost += SPELLING;
        }
        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    return best;
}

static struct str keep(struct needles *n, struct str text, enum needles_case fold)
{
    char *copy = arena_z(&n->arena, text);

    for (size_t i = 0; fold == NEEDLES_ANY_CASE && i < text.len; i++)
        copy[i] = ascii_lower(copy[i]);
    return str_n(copy, text.len);
}

static void chain(struct needles *n, const struct needle *needle, uint32_t hash)
{
    uint32_t *first = &n->chains[chain_of(hash)];

    n->seen[hash] = 1;
    for (uint32_t i = *first; i; i = n->all[i - 1].next)
        if (n->all[i - 1].hash == hash && n->all[i - 1].text.at == needle->text.at)
            return;
    n->all = mem_reserve(n->all, &n->cap, n->count + 1, sizeof *n->all);
    n->all[n->count] = *needle;
    n->all[n->count].hash = hash;
    n->all[n->count++].next = *first;
    *first = (uint32_t)n->count;
}

/* Once for every way in which its three bytes may be spelled. */
static void chain_spellings(struct needles *n, const struct needle *needle)
{
    const char *plain = needle->text.at + needle->offset;

    for (unsigned others = 0; others < 1 << NEEDLES_SHORTEST; others++) {
        char gram[NEEDLES_SHORTEST];
        bool same = false;

        for (unsigned i = 0; i < NEEDLES_SHORTEST; i++) {
            bool changed = others >> i & 1;
            gram[i] = changed ? other(plain[i], needle->fold) : plain[i];
            same |= changed && gram[i] == plain[i];
        }
        if (!same) {
            sieve_add(&n->sieve, gram);
            chain(n, needle, hash_at(gram));
        }
    }
}

void needles_add(struct needles *n, struct str text, enum needles_case fold, uint32_t id)
{
    struct needle needle = { .text = keep(n, text, fold), .id = id, .fold = fold };

    BUG_IF(text.len < NEEDLES_SHORTEST);
    if (fold == NEEDLES_EXACT) {
        size_t len = text.len < sizeof needle.head ? text.len : sizeof needle.head;
        memcpy(&needle.head, text.at, len);
        memset(&needle.mask, 0xFF, len);
    }
    needle.offset = oddest(n, needle.text, fold);
    chain_spellings(n, &needle);
}

static bool spelled_so(const struct needle *needle, const char *at)
{
    for (size_t i = 0; i < needle->text.len; i++)
        if (at[i] != needle->text.at[i] && at[i] != other(needle->text.at[i], needle->fold))
            return false;
    return true;
}

/* `at` has room for the needle. */
static bool stands_at(const struct needle *needle, struct str at)
{
    uint64_t w;

    if (at.len >= sizeof w) {
        memcpy(&w, at.at, sizeof w);
        if ((w ^ needle->head) & needle->mask)
            return false;
        if (needle->text.len <= sizeof w && needle->fold == NEEDLES_EXACT)
            return true;
    }
    if (needle->fold != NEEDLES_EXACT)
        return spelled_so(needle, at.at);
    return memcmp(at.at, needle->text.at, needle->text.len) == 0;
}

static __attribute__((noinline)) bool compare(const struct needles *n, struct str text,
                                              size_t place, needles_fn *fn, void *to)
{
    uint32_t hash = hash_at(text.at + place);

    for (uint32_t i = n->chains[chain_of(hash)]; i; i = n->all[i - 1].next) {
        const struct needle *needle = &n->all[i - 1];
        size_t at = place - needle->offset;
        if (needle->hash != hash || place < needle->offset ||
            text.len - at < needle->text.len ||
            !stands_at(needle, str_n(text.at + at, text.len - at)))
            continue;
        if (!fn(to, at, at + needle->text.len, needle->id))
            return false;
    }
    return true;
}

/* Which of the six grams of eight bytes are in the table; any bit may stand for it. */
static inline unsigned seen_in(const struct needles *n, const char *at)
{
    uint64_t w = mem_load64(at);

    return n->seen[hash_of((uint32_t)w)] | n->seen[hash_of((uint32_t)(w >> 8))] |
           n->seen[hash_of((uint32_t)(w >> 16))] | n->seen[hash_of((uint32_t)(w >> 24))] |
           n->seen[hash_of((uint32_t)(w >> 32))] | n->seen[hash_of((uint32_t)(w >> 40))];
}

/* Where the sieve found something. */
static bool look(const struct needles *n, struct str text, size_t from, uint32_t places,
                 needles_fn *fn, void *to)
{
    for (; places; places &= places - 1) {
        size_t i = from + (unsigned)__builtin_ctz(places);
        if (n->seen[hash_at(text.at + i)] && !compare(n, text, i, fn, to))
            return false;
    }
    return true;
}

bool needles_scan(const struct needles *n, struct str text, needles_fn *fn, void *to)
{
    size_t i = 0, end;
    uint32_t places;

    if (n->count == 0)
        return true;
    for (; (places = sieve_next(&n->sieve, text, &i)); i += SIEVE_PLACES)
        if (!look(n, text, i, places, fn, to))
            return false;
    while (i + NEEDLES_SHORTEST <= text.len) {
        while (i + 8 <= text.len && !seen_in(n, text.at + i))
            i += 6;
        end = i + 8 <= text.len ? i + 6 : text.len - NEEDLES_SHORTEST + 1;
        for (; i < end; i++)
            if (n->seen[hash_at(text.at + i)] && !compare(n, text, i, fn, to))
                return false;
    }
    return true;
}
