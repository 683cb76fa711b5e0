#include "redact/seen-secrets.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/mem.h"
#include "trace/limits.h"

enum { NAMES_MAX = 256, NAME_MAX_BYTES = 64 };

/* The id of an entry: the encoding and the index of the value. */
enum {
    UNENCODED = ENCODING_HEX + 1,
    ENCODING_SHIFT = 28,
    VALUE_MASK = (1 << ENCODING_SHIFT) - 1
};

void seen_secrets_init(struct seen_secrets *l)
{
    *l = (struct seen_secrets){ .evict_at = LIMIT_SEEN_SECRETS };
    hashed_search_init(&l->search);
    capped_table_init(&l->names, sizeof(struct str), NAMES_MAX);
}

void seen_secrets_release(struct seen_secrets *l)
{
    hashed_search_release(&l->search);
    capped_table_release(&l->names);
    free(l->values);
}

static uint32_t make_id(unsigned encoding, uint32_t value)
{
    return encoding << ENCODING_SHIFT | value;
}

static enum hashed_search_fold fold_of(struct str text)
{
    return memchr(text.at, ' ', text.len) ? HASHED_SEARCH_SPACE_OR_PLUS : HASHED_SEARCH_EXACT;
}

struct value_adder {
    struct seen_secrets *seen;
    struct str text;
    uint32_t value;
};

/* Adds one encoding. It may be too short for the search, because a value may be short. */
static void add_encoding(void *to, enum encoding encoding, struct str text)
{
    struct value_adder *a = to;
    unsigned as = encoding == ENCODING_PLAIN && str_eq(text, a->text) ? UNENCODED : encoding;

    if (text.len >= HASHED_SEARCH_MIN)
        hashed_search_add(&a->seen->search, text,
                          encoding == ENCODING_HEX ? HASHED_SEARCH_ANY_CASE : fold_of(text),
                          make_id(as, a->value));
}

static bool is_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];

        if (!ascii_is_alnum(c) && !(c && strchr("-_.", c)))
            return false;
    }
    return name.len > 0 && name.len <= NAME_MAX_BYTES;
}

/* Keeps a name. The number is limited, because messages choose them: later ones are "value". */
static struct str add_name(struct seen_secrets *l, struct str name)
{
    struct str *row;
    bool fresh = false;

    if (!is_name(name))
        return STR("value");
    row = capped_table_row(&l->names, &name, 1, &fresh);
    if (fresh)
        *row = arena_str(&l->names.arena, name);
    return row->len ? *row : STR("value");
}

static bool is_active(const void *to, uint32_t id)
{
    const struct seen_secrets *l = to;

    return l->values[id & VALUE_MASK].active;
}

static int compare_uses(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Returns the median of the last uses of the values that may be evicted. */
static uint64_t median_use(const struct seen_secrets *l)
{
    uint64_t *uses = mem_alloc((l->count + 1) * sizeof *uses), middle;
    size_t count = 0;

    for (size_t i = 0; i < l->count; i++)
        if (l->values[i].active && !l->values[i].refs)
            uses[count++] = l->values[i].last_use;
    qsort(uses, count, sizeof *uses, compare_uses);
    middle = count ? uses[count / 2] : 0;
    free(uses);
    return middle;
}

/* Evicts half of the unreferenced values at once, so that it is rarely done. Raises the limit
 * if nearly all are referenced. */
static void evict_oldest(struct seen_secrets *l)
{
    uint64_t old = median_use(l);

    for (size_t i = 0; i < l->count; i++) {
        struct seen_secrets_value *v = &l->values[i];

        if (!v->active || v->refs || v->last_use > old)
            continue;
        *v = (struct seen_secrets_value){ .next_free = l->free_list };
        l->free_list = (uint32_t)i + 1;
        l->active--;
    }
    hashed_search_retain(&l->search, is_active, l);
    l->evict_at = l->active > LIMIT_SEEN_SECRETS / 2 ? 2 * l->active : LIMIT_SEEN_SECRETS;
}

static uint32_t new_value(struct seen_secrets *l)
{
    uint32_t index;

    if (l->active >= l->evict_at)
        evict_oldest(l);
    if (l->free_list) {
        index = l->free_list - 1;
        l->free_list = l->values[index].next_free;
    } else {
        l->values = mem_reserve(l->values, &l->cap, l->count + 1, sizeof *l->values);
        index = (uint32_t)l->count++;
        BUG_IF(index > VALUE_MASK);
    }
    l->values[index] = (struct seen_secrets_value){ .active = true };
    l->active++;
    return index;
}

static bool find_value(const struct seen_secrets *l, struct str value, uint32_t *index)
{
    uint32_t id = make_id(UNENCODED, 0);
    bool found = value.len && hashed_search_has(&l->search, value, fold_of(value), &id);

    *index = id & VALUE_MASK;
    return found;
}

static uint32_t find_or_add(struct seen_secrets *l, struct str value)
{
    struct value_adder a = { .seen = l, .text = value };

    if (find_value(l, value, &a.value))
        return a.value;
    a.value = new_value(l);
    encodings_each(value, add_encoding, &a);
    return a.value;
}

static void add_ref(struct seen_secrets *l, struct seen_secrets_refs *g, uint32_t value)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->values[i] == value)
            return;
    g->values = mem_reserve(g->values, &g->cap, g->count + 1, sizeof *g->values);
    g->values[g->count++] = value;
    l->values[value].refs++;
}

static struct seen_secrets_value *use_value(struct seen_secrets *l, struct seen_secrets_refs *g,
                                            uint32_t index)
{
    struct seen_secrets_value *v = &l->values[index];

    v->last_use = ++l->use_count;
    add_ref(l, g, index);
    return v;
}

bool seen_secrets_ref(struct seen_secrets *l, struct seen_secrets_refs *g, struct str value)
{
    uint32_t index;
    bool found = find_value(l, value, &index);

    if (found)
        use_value(l, g, index);
    return found;
}

void seen_secrets_add(struct seen_secrets *l, struct seen_secrets_refs *g, struct str name,
                      struct str value)
{
    struct seen_secrets_value *v;

    if (value.len < SEEN_SECRETS_MIN)
        return;
    v = use_value(l, g, find_or_add(l, value));
    if (!v->name.at && !v->session)
        v->name = add_name(l, name);
}

void seen_secrets_add_session(struct seen_secrets *l, struct seen_secrets_refs *g,
                              uint64_t number, struct str id)
{
    if (id.len >= SEEN_SECRETS_MIN)
        use_value(l, g, find_or_add(l, id))->session = number;
}

void seen_secrets_unref(struct seen_secrets *l, struct seen_secrets_refs *g)
{
    for (size_t i = 0; i < g->count; i++)
        l->values[g->values[i]].refs--;
    free(g->values);
    *g = (struct seen_secrets_refs){ .values = NULL };
}

struct scan_callback {
    seen_secrets_fn *fn;
    void *to;
};

static bool on_entry(void *to, size_t at, size_t end, uint32_t id)
{
    const struct scan_callback *t = to;
    unsigned as = id >> ENCODING_SHIFT;

    return t->fn(t->to, at, end, as == UNENCODED ? ENCODING_PLAIN : (enum encoding)as,
                 id & VALUE_MASK);
}

bool seen_secrets_scan(const struct seen_secrets *l, struct str text, seen_secrets_fn *fn,
                       void *to)
{
    struct scan_callback t = { fn, to };

    return hashed_search_scan(&l->search, text, on_entry, &t);
}

void seen_secrets_write_name(const struct seen_secrets *l, uint32_t value, struct buf *to)
{
    const struct seen_secrets_value *v = &l->values[value];

    if (v->session)
        buf_printf(to, "session-%llu", (unsigned long long)v->session);
    else
        buf_add(to, v->name);
}
