#include "trace/learnt.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/mem.h"
#include "trace/limits.h"

enum { NAMES_MOST = 256, NAME_LONGEST = 64 };

/* What a text of the swarm is: a value, and in which form. */
enum { ITSELF = FORM_HEX + 1, FORM_SHIFT = 28, VALUE_MASK = (1 << FORM_SHIFT) - 1 };

void learnt_init(struct learnt *l)
{
    *l = (struct learnt){ .most = LIMIT_LEARNT };
    swarm_init(&l->swarm);
    roster_init(&l->names, sizeof(struct str), NAMES_MOST);
}

void learnt_release(struct learnt *l)
{
    swarm_release(&l->swarm);
    roster_release(&l->names);
    free(l->values);
}

static uint32_t id_of(unsigned form, uint32_t value)
{
    return form << FORM_SHIFT | value;
}

static enum swarm_spelling spelling_of(struct str text)
{
    return memchr(text.at, ' ', text.len) ? SWARM_SPACE_OR_PLUS : SWARM_EXACT;
}

struct adding {
    struct learnt *learnt;
    struct str text;
    uint32_t value;
};

/* A short value may have a form that is shorter than it. */
static void add_form(void *to, enum form form, struct str text)
{
    struct adding *a = to;
    unsigned as = form == FORM_PLAIN && str_eq(text, a->text) ? ITSELF : form;

    if (text.len >= SWARM_SHORTEST)
        swarm_add(&a->learnt->swarm, text,
                  form == FORM_HEX ? SWARM_ANY_CASE : spelling_of(text), id_of(as, a->value));
}

static bool is_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];

        if (!ascii_is_alnum(c) && !(c && strchr("-_.", c)))
            return false;
    }
    return name.len > 0 && name.len <= NAME_LONGEST;
}

/* Peers may think of ever more names: those that come late have one together. */
static struct str keep_name(struct learnt *l, struct str name)
{
    struct str *row;
    bool fresh = false;

    if (!is_name(name))
        return STR("value");
    row = roster_row(&l->names, &name, 1, &fresh);
    if (fresh)
        *row = arena_str(&l->names.arena, name);
    return row->len ? *row : STR("value");
}

static bool is_known(const void *to, uint32_t id)
{
    const struct learnt *l = to;

    return l->values[id & VALUE_MASK].known;
}

static int compare_uses(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Up to this use values are old: half of those that may be forgotten. */
static uint64_t oldest_uses(const struct learnt *l)
{
    uint64_t *uses = mem_alloc((l->count + 1) * sizeof *uses), middle;
    size_t count = 0;

    for (size_t i = 0; i < l->count; i++)
        if (l->values[i].known && !l->values[i].holds)
            uses[count++] = l->values[i].used;
    qsort(uses, count, sizeof *uses, compare_uses);
    middle = count ? uses[count / 2] : 0;
    free(uses);
    return middle;
}

/* Half at once, so that it is seldom done. If nearly all are in use there may be more. */
static void forget_oldest(struct learnt *l)
{
    uint64_t old = oldest_uses(l);

    for (size_t i = 0; i < l->count; i++) {
        struct learnt_value *v = &l->values[i];

        if (!v->known || v->holds || v->used > old)
            continue;
        *v = (struct learnt_value){ .next = l->free };
        l->free = (uint32_t)i + 1;
        l->known--;
    }
    swarm_keep(&l->swarm, is_known, l);
    l->most = l->known > LIMIT_LEARNT / 2 ? 2 * l->known : LIMIT_LEARNT;
}

static uint32_t new_value(struct learnt *l)
{
    uint32_t index;

    if (l->known >= l->most)
        forget_oldest(l);
    if (l->free) {
        index = l->free - 1;
        l->free = l->values[index].next;
    } else {
        l->values = mem_reserve(l->values, &l->cap, l->count + 1, sizeof *l->values);
        index = (uint32_t)l->count++;
        BUG_IF(index > VALUE_MASK);
    }
    l->values[index] = (struct learnt_value){ .known = true };
    l->known++;
    return index;
}

static bool find(const struct learnt *l, struct str value, uint32_t *index)
{
    uint32_t id = id_of(ITSELF, 0);
    bool found = value.len && swarm_has(&l->swarm, value, spelling_of(value), &id);

    *index = id & VALUE_MASK;
    return found;
}

static uint32_t find_or_add(struct learnt *l, struct str value)
{
    struct adding a = { .learnt = l, .text = value };

    if (find(l, value, &a.value))
        return a.value;
    a.value = new_value(l);
    forms_each(value, add_form, &a);
    return a.value;
}

static void hold(struct learnt *l, struct learnt_grip *g, uint32_t value)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->at[i] == value)
            return;
    g->at = mem_reserve(g->at, &g->cap, g->count + 1, sizeof *g->at);
    g->at[g->count++] = value;
    l->values[value].holds++;
}

static struct learnt_value *use(struct learnt *l, struct learnt_grip *g, uint32_t index)
{
    struct learnt_value *v = &l->values[index];

    v->used = ++l->uses;
    hold(l, g, index);
    return v;
}

bool learnt_again(struct learnt *l, struct learnt_grip *g, struct str value)
{
    uint32_t index;
    bool found = find(l, value, &index);

    if (found)
        use(l, g, index);
    return found;
}

void learnt_add(struct learnt *l, struct learnt_grip *g, struct str name, struct str value)
{
    struct learnt_value *v;

    if (value.len < LEARNT_SHORTEST)
        return;
    v = use(l, g, find_or_add(l, value));
    if (!v->name.at && !v->session)
        v->name = keep_name(l, name);
}

void learnt_add_session(struct learnt *l, struct learnt_grip *g, uint64_t number, struct str id)
{
    if (id.len >= LEARNT_SHORTEST)
        use(l, g, find_or_add(l, id))->session = number;
}

void learnt_let_go(struct learnt *l, struct learnt_grip *g)
{
    for (size_t i = 0; i < g->count; i++)
        l->values[g->at[i]].holds--;
    free(g->at);
    *g = (struct learnt_grip){ .at = NULL };
}

struct telling {
    learnt_fn *fn;
    void *to;
};

static bool tell(void *to, size_t at, size_t end, uint32_t id)
{
    const struct telling *t = to;
    unsigned as = id >> FORM_SHIFT;

    return t->fn(t->to, at, end, as == ITSELF ? FORM_PLAIN : (enum form)as, id & VALUE_MASK);
}

bool learnt_scan(const struct learnt *l, struct str text, learnt_fn *fn, void *to)
{
    struct telling t = { fn, to };

    return swarm_scan(&l->swarm, text, tell, &t);
}

void learnt_name(const struct learnt *l, uint32_t value, struct buf *to)
{
    const struct learnt_value *v = &l->values[value];

    if (v->session)
        buf_printf(to, "session-%llu", (unsigned long long)v->session);
    else
        buf_add(to, v->name);
}
