#include "base/swarm.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/random.h"

enum {
    FIRST_LOG = 16,
    STRIDE = 4,  /* from one place that is looked at to the next: windows of a text */
    WINDOW = 5,  /* bytes */
    SPARSE = 6,  /* for so many bits, as a power of two, there is one text: 1 of 16 is set */
    PLACES = 8,  /* of a text that are tried for its windows */
    PIECE = 256, /* bytes that are brought into one spelling at once */
    BITS = 8,
};
_Static_assert(WINDOW + STRIDE - 1 == SWARM_SHORTEST, "every text has all of its windows");

static const uint64_t CASE = 0x2020202020202020u;

static size_t bits_size(const struct swarm *s)
{
    return ((size_t)1 << s->log) / BITS;
}

static size_t chains_size(const struct swarm *s)
{
    return ((size_t)1 << (s->log - SPARSE)) * sizeof *s->chains;
}

static void lay_out(struct swarm *s, unsigned log)
{
    s->log = log;
    free(s->bits);
    free(s->chains);
    s->bits = mem_alloc(bits_size(s));
    s->chains = mem_alloc(chains_size(s));
}

void swarm_init(struct swarm *s)
{
    *s = (struct swarm){ .count = 0 };
    random_bytes(&s->seed, sizeof s->seed);
    random_bytes(&s->factor, sizeof s->factor);
    s->factor |= 1;
}

void swarm_release(struct swarm *s)
{
    free(s->all);
    free(s->bits);
    free(s->chains);
}

/* Of five bytes, of eight that can be read there. The same for both cases, so that one look
 * is enough for all spellings. */
static inline uint32_t window_in(const struct swarm *s, const char *at)
{
    uint64_t w = mem_load64(at);

    w <<= BITS * (sizeof w - WINDOW);
    return (uint32_t)((w | CASE) * s->factor >> 32);
}

/* Where there may be no more than the five. */
static uint32_t window_at(const struct swarm *s, const char *at)
{
    char bytes[sizeof(uint64_t)] = { 0 };

    memcpy(bytes, at, WINDOW);
    return window_in(s, bytes);
}

/* Of all eight bytes. */
static uint32_t key_at(const struct swarm *s, const char *at)
{
    uint64_t w;

    memcpy(&w, at, sizeof w);
    return (uint32_t)((w | CASE) * s->factor >> 32);
}

static uint32_t *chain_of(const struct swarm *s, uint32_t key)
{
    return &s->chains[key >> (32 - s->log + SPARSE)];
}

static inline uint64_t is_set(const struct swarm *s, uint32_t window)
{
    uint32_t bit = window >> (32 - s->log);

    return s->bits[bit >> 6] >> (bit & 63) & 1;
}

static void link_text(struct swarm *s, size_t index)
{
    struct swarm_text *t = &s->all[index];
    uint32_t *first = chain_of(s, t->key);

    for (size_t i = 0; i < STRIDE; i++) {
        uint32_t bit = t->windows[i] >> (32 - s->log);

        s->bits[bit >> 6] |= (uint64_t)1 << (bit & 63);
    }
    t->next = *first;
    *first = (uint32_t)index + 1;
}

static void link_all(struct swarm *s)
{
    for (size_t i = 0; i < s->count; i++)
        link_text(s, i);
}

static char spelled(char c, enum swarm_spelling spelling)
{
    if (spelling == SWARM_ANY_CASE)
        return ascii_lower(c);
    return spelling == SWARM_SPACE_OR_PLUS && c == '+' ? ' ' : c;
}

static uint64_t hash_of(const struct swarm *s, struct str text, enum swarm_spelling spelling)
{
    uint64_t hash = s->seed;
    char piece[PIECE];

    if (spelling == SWARM_EXACT)
        return hash_bytes(text, hash);
    while (text.len) {
        size_t n = text.len < PIECE ? text.len : PIECE;

        for (size_t i = 0; i < n; i++)
            piece[i] = spelled(text.at[i], spelling);
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

    for (size_t i = 0; i < SWARM_SHORTEST; i++)
        any |= is_blank(at[i]);
    return any;
}

static size_t chain_length(const struct swarm *s, uint32_t key)
{
    size_t length = 0;

    for (uint32_t i = *chain_of(s, key); i; i = s->all[i - 1].next)
        length++;
    return length;
}

/* The places of a text at which its windows may be: what is made up differs at its end sooner
 * than at its start. */
static size_t place_of(struct str text, size_t i)
{
    size_t last = text.len - SWARM_SHORTEST;

    return last - last * i / (PLACES - 1);
}

/* Eight bytes that few other texts have, and of one spelling if there are such. */
static size_t best_place(const struct swarm *s, struct str text, enum swarm_spelling spelling)
{
    size_t best = 0, least = SIZE_MAX;

    for (size_t i = 0; i < PLACES && least; i++) {
        size_t at = place_of(text, i), cost = chain_length(s, key_at(s, text.at + at));

        if (spelling == SWARM_SPACE_OR_PLUS && has_blank(text.at + at))
            cost += s->count + 1;
        if (cost < least) {
            least = cost;
            best = at;
        }
    }
    return best;
}

static void add_text(struct swarm *s, struct swarm_text *t, const char *bytes)
{
    for (size_t i = 0; i < STRIDE; i++)
        t->windows[i] = window_at(s, bytes + i);
    t->key = key_at(s, bytes);
    s->all = mem_reserve(s->all, &s->cap, s->count + 1, sizeof *s->all);
    s->all[s->count++] = *t;
    if (s->count <= (size_t)1 << (s->log - SPARSE)) {
        link_text(s, s->count - 1);
        return;
    }
    lay_out(s, s->log + 1);
    link_all(s);
}

/* If every eight bytes have a blank in them, they count in both of its spellings. */
static void add_with_blanks(struct swarm *s, struct swarm_text *t, const char *bytes)
{
    static const char blanks[] = { ' ', '+' };
    char spelt[SWARM_SHORTEST];

    for (size_t k = 0; k < sizeof blanks; k++) {
        for (size_t i = 0; i < sizeof spelt; i++)
            spelt[i] = is_blank(bytes[i]) ? blanks[k] : bytes[i];
        add_text(s, t, spelt);
    }
}

void swarm_add(struct swarm *s, struct str text, enum swarm_spelling spelling, uint32_t id)
{
    struct swarm_text t = { .len = (uint32_t)text.len, .id = id, .spelling = spelling };

    BUG_IF(text.len < SWARM_SHORTEST || text.len > UINT32_MAX);
    if (!s->log)
        lay_out(s, FIRST_LOG);
    t.hash = hash_of(s, text, spelling);
    t.offset = (uint32_t)best_place(s, text, spelling);
    if (spelling == SWARM_SPACE_OR_PLUS && has_blank(text.at + t.offset))
        add_with_blanks(s, &t, text.at + t.offset);
    else
        add_text(s, &t, text.at + t.offset);
}

static bool is_kept(const struct swarm *s, const struct swarm_text *want, struct str text,
                    size_t at, uint32_t *id)
{
    char bytes[SWARM_SHORTEST];
    uint32_t key;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = spelled(text.at[at + i], want->spelling);
    key = key_at(s, bytes);
    for (uint32_t i = *chain_of(s, key); i; i = s->all[i - 1].next) {
        const struct swarm_text *t = &s->all[i - 1];

        if (t->key == key && t->hash == want->hash && t->len == want->len && t->id >= *id) {
            *id = t->id;
            return true;
        }
    }
    return false;
}

bool swarm_has(const struct swarm *s, struct str text, enum swarm_spelling spelling,
               uint32_t *id)
{
    struct swarm_text want = { .len = (uint32_t)text.len, .spelling = spelling };

    if (text.len < SWARM_SHORTEST || !s->count)
        return false;
    want.hash = hash_of(s, text, spelling);
    for (size_t i = 0; i < PLACES; i++)
        if (is_kept(s, &want, text, place_of(text, i), id))
            return true;
    return false;
}

void swarm_keep(struct swarm *s, bool (*keeps)(const void *to, uint32_t id), const void *to)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->count; i++)
        if (keeps(to, s->all[i].id))
            s->all[kept++] = s->all[i];
    s->count = kept;
    if (!s->bits)
        return;
    memset(s->bits, 0, bits_size(s));
    memset(s->chains, 0, chains_size(s));
    link_all(s);
}

/* Those whose eight bytes stand at the place. */
static bool compare(const struct swarm *s, struct str haystack, size_t place, swarm_fn *fn,
                    void *to)
{
    uint32_t key = key_at(s, haystack.at + place);

    for (uint32_t i = *chain_of(s, key); i; i = s->all[i - 1].next) {
        const struct swarm_text *t = &s->all[i - 1];
        size_t at = place - t->offset;

        if (t->key != key || place < t->offset || haystack.len - at < t->len ||
            hash_of(s, str_n(haystack.at + at, t->len), t->spelling) != t->hash)
            continue;
        if (!fn(to, at, at + t->len, t->id))
            return false;
    }
    return true;
}

/* A window may stand here, which may be any of a text's: the first stands here or before. */
static __attribute__((noinline)) bool look_closer(const struct swarm *s, struct str haystack,
                                                  size_t place, swarm_fn *fn, void *to)
{
    size_t from = place < STRIDE ? 0 : place - STRIDE + 1;

    for (size_t i = from; i <= place && i + SWARM_SHORTEST <= haystack.len; i++)
        if (!compare(s, haystack, i, fn, to))
            return false;
    return true;
}

/* Four places at once: that none of them is one is what nearly always happens. */
static inline uint64_t any_set(const struct swarm *s, const char *at)
{
    return is_set(s, window_in(s, at)) | is_set(s, window_in(s, at + STRIDE)) |
           is_set(s, window_in(s, at + 2 * STRIDE)) | is_set(s, window_in(s, at + 3 * STRIDE));
}

bool swarm_scan(const struct swarm *s, struct str haystack, swarm_fn *fn, void *to)
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
            if (is_set(s, window_at(s, haystack.at + i)) &&
                !look_closer(s, haystack, i, fn, to))
                return false;
    }
    return true;
}
