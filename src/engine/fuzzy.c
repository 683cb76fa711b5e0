#include "engine/fuzzy.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"

/* A leaf's value in 30 bits, and whether it does not count. */
enum { FICKLE = 1, HIDDEN = 2, IGNORED = FICKLE | HIDDEN };

/* So many bytes of rows are put away together. */
enum { BLOCK = 4 << 10 };

/* Requests of one group that have the same paths. A row is the number of its strand and a
 * value for each path. */
struct shape {
    struct shape *next;
    size_t width;               /* paths */
    uint64_t *paths;            /* in order */
    uint32_t *rows;             /* the latest */
    size_t len, cap;            /* numbers in them */
    struct shelf_place *blocks; /* of those before */
    size_t block_count, block_cap;
};

struct fuzzy_group {
    struct shape *first;
};

/* A request that is compared: leaves in order of their paths. */
struct probe {
    struct leaf *at;
    size_t count;
};

static bool put(struct script_reader *self, uint32_t op, const struct script_op *of,
                const struct leaves *leaves, struct err *e);

void fuzzy_init(struct fuzzy *f, const struct script *script)
{
    *f = (struct fuzzy){ .reader = { put }, .script = script };
    map_init(&f->groups);
    buf_init(&f->block, LIMIT_LINE);
}

static void drop_shapes(struct fuzzy_group *g)
{
    while (g->first) {
        struct shape *next = g->first->next;
        free(g->first->paths);
        free(g->first->rows);
        free(g->first->blocks);
        free(g->first);
        g->first = next;
    }
}

void fuzzy_release(struct fuzzy *f)
{
    for (struct map_entry *e = NULL; (e = map_next(&f->groups, e));) {
        drop_shapes(e->value);
        free(e->value);
    }
    map_release(&f->groups);
    buf_release(&f->block);
}

static int by_path(const void *a, const void *b)
{
    const struct leaf *x = a, *y = b;

    return (x->path > y->path) - (x->path < y->path);
}

/* The subject is the same by definition and would make everything alike. */
static bool is_subject(const struct mcp_method *known, uint64_t path)
{
    struct json_step steps[2] = { { .name = known ? known->subject : STR_NONE } };
    static const struct str inside[] = { STR_INIT("name"), STR_INIT("uri"), STR_INIT("type") };

    if (!steps[0].name.len)
        return false;
    if (leaves_path((struct json_place){ steps, 1 }) == path)
        return true;
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        steps[1].name = inside[i];
        if (leaves_path((struct json_place){ steps, 2 }) == path)
            return true;
    }
    return false;
}

static struct probe probe_of(const struct leaves *leaves, const struct mcp_method *known)
{
    struct probe p = { mem_alloc((leaves->count + 1) * sizeof *p.at), 0 };

    for (size_t i = 0; i < leaves->count; i++)
        if (!is_subject(known, leaves->at[i].path))
            p.at[p.count++] = leaves->at[i];
    qsort(p.at, p.count, sizeof *p.at, by_path);
    return p;
}

static uint32_t value_of(const struct leaf *l)
{
    static const uint32_t marks[] = { [LEAF_VOLATILE] = FICKLE, [LEAF_REDACTED] = HIDDEN };

    return (script_fold(l->value) & ~(uint32_t)IGNORED) | marks[l->kind];
}

static struct str group_key(uint32_t key[3], uint32_t session, uint32_t method,
                            uint32_t subject_key)
{
    key[0] = session;
    key[1] = method;
    key[2] = subject_key;
    return str_n((const char *)key, 3 * sizeof *key);
}

static bool has_shape(const struct shape *s, const struct probe *p)
{
    if (s->width != p->count)
        return false;
    for (size_t i = 0; i < s->width; i++)
        if (s->paths[i] != p->at[i].path)
            return false;
    return true;
}

static struct shape *shape_for(struct fuzzy_group *g, const struct probe *p)
{
    struct shape *s = g->first;

    while (s && !has_shape(s, p))
        s = s->next;
    if (s)
        return s;
    s = mem_new(struct shape);
    s->width = p->count;
    s->paths = mem_alloc((p->count + 1) * sizeof *s->paths);
    for (size_t i = 0; i < p->count; i++)
        s->paths[i] = p->at[i].path;
    s->next = g->first;
    g->first = s;
    return s;
}

static void add_row(struct shape *s, uint32_t op, const struct probe *p)
{
    s->rows = mem_reserve(s->rows, &s->cap, s->len + 1 + s->width, sizeof *s->rows);
    s->rows[s->len++] = op;
    for (size_t i = 0; i < s->width; i++)
        s->rows[s->len++] = value_of(&p->at[i]);
}

/* Kept in memory they would be most of what a recording of small messages takes. */
static bool put_away(struct shape *s, struct shelf *shelf, struct err *e)
{
    struct str bytes = str_n((const char *)s->rows, s->len * sizeof *s->rows);

    if (bytes.len < BLOCK)
        return true;
    s->blocks = mem_reserve(s->blocks, &s->block_cap, s->block_count + 1, sizeof *s->blocks);
    s->len = 0;
    return shelf->store(shelf, bytes, &s->blocks[s->block_count++], e);
}

static bool put(struct script_reader *self, uint32_t op, const struct script_op *of,
                const struct leaves *leaves, struct err *e)
{
    struct fuzzy *f = (struct fuzzy *)self;
    struct probe p = probe_of(leaves, f->script->methods[of->method].known);
    uint32_t key[3];
    struct str at = group_key(key, of->session, of->method, of->subject_key);
    struct fuzzy_group *g = map_get(&f->groups, at);
    struct shape *s;

    if (!g) {
        g = mem_new(struct fuzzy_group);
        map_put(&f->groups, at, g);
    }
    s = shape_for(g, &p);
    add_row(s, op, &p);
    free(p.at);
    return put_away(s, f->script->shelf, e);
}

/* A shape held against the live request: at each path the live value, if it has one. */
struct fitting {
    uint32_t *live; /* by path of the shape */
    bool *has;
    uint64_t only_live; /* paths the shape has not */
    bool masked;        /* what is hidden in the live request was hidden there for a mask */
};

static bool counts(const struct fitting *f, const struct leaf *live)
{
    return live->kind == LEAF_PLAIN || (f->masked && live->kind == LEAF_REDACTED);
}

static void fit(const struct shape *s, const struct probe *p, struct fitting *f)
{
    size_t i = 0;

    f->only_live = 0;
    for (size_t k = 0; k < s->width; k++) {
        for (; i < p->count && p->at[i].path < s->paths[k]; i++)
            f->only_live += counts(f, &p->at[i]);
        f->has[k] = i < p->count && p->at[i].path == s->paths[k];
        f->live[k] = f->has[k] ? value_of(&p->at[i++]) : 0;
    }
    for (; i < p->count; i++)
        f->only_live += counts(f, &p->at[i]);
}

static struct likeness liken(const struct shape *s, const uint32_t *values,
                             const struct fitting *f)
{
    struct likeness l = { .total = f->only_live };

    for (size_t k = 0; k < s->width; k++) {
        uint32_t marks = (values[k] | (f->has[k] ? f->live[k] : 0)) & IGNORED;
        bool equal = f->has[k] && ((values[k] ^ f->live[k]) & ~(uint32_t)IGNORED) == 0;

        if (f->masked && f->has[k] && f->live[k] & HIDDEN && !(values[k] & HIDDEN)) {
            l.total++; /* the mask is another request's */
            continue;
        }
        l.total += !marks;
        l.equal += !marks && equal;
        l.agree += marks == FICKLE && equal;
        l.hidden += (marks & HIDDEN) != 0;
    }
    if (!l.total) /* nothing that counts differs */
        l.total = l.equal = 1;
    return l;
}

static int compare(struct likeness a, struct likeness b)
{
    uint64_t x = a.equal * b.total, y = b.equal * a.total;

    if (x != y)
        return x < y ? -1 : 1;
    if (a.hidden != b.hidden)
        return a.hidden > b.hidden ? -1 : 1;
    return (a.agree > b.agree) - (a.agree < b.agree);
}

static bool is_enough(struct likeness like)
{
    return like.equal * 2 >= like.total;
}

static void consider(const struct script *script, struct fuzzy_found *b, uint32_t op,
                     struct likeness like)
{
    int c = b->op ? compare(like, b->like) : 1;
    uint32_t first = b->op < op ? b->op : op, second = b->op < op ? op : b->op;

    if (!is_enough(like) || c < 0)
        return;
    if (c > 0) {
        *b = (struct fuzzy_found){ .op = op, .like = like };
        return;
    }
    b->op = first;
    /* The same request recorded twice is no riddle. */
    if (script->ops[first].params_key != script->ops[second].params_key)
        b->rival = second;
}

struct fuzzy_found fuzzy_better(struct fuzzy_found a, struct fuzzy_found b)
{
    int c;

    if (!a.op || !b.op)
        return a.op ? a : b;
    c = compare(a.like, b.like);
    return c > 0 || (c == 0 && a.op <= b.op) ? a : b;
}

/* Who is shown each request that a query is about, with its likeness. */
struct viewer {
    void (*row)(void *arg, uint32_t op, struct likeness like);
    void *arg;
};

/* Those of them that can be asked for. */
static void show_rows(const struct script *script, const struct shape *s, const uint32_t *rows,
                      size_t len, const struct fuzzy_query *q, const struct fitting *f,
                      const struct viewer *to)
{
    for (const uint32_t *row = rows; row < rows + len; row += 1 + s->width)
        if (script->ops[row[0]].flags & STRAND_COUNTS && spent_has(q->spent, row[0]) == q->used)
            to->row(to->arg, row[0], liken(s, row + 1, f));
}

static void show_shape(struct fuzzy *f, const struct shape *s, const struct fuzzy_query *q,
                       const struct fitting *fitting, const struct viewer *to)
{
    struct shelf *shelf = f->script->shelf;

    for (size_t i = 0; i < s->block_count; i++) {
        if (f->trouble.kind != ERR_OK ||
            !shelf->fetch(shelf, s->blocks[i], &f->block, &f->trouble))
            return;
        show_rows(f->script, s, (const uint32_t *)(const void *)f->block.at,
                  f->block.len / sizeof *s->rows, q, fitting, to);
    }
    show_rows(f->script, s, s->rows, s->len, q, fitting, to);
}

/* To be fitted once more to another shape, or to be let go. */
static void fit_to(struct fitting *f, const struct shape *s, const struct probe *p)
{
    f->live = mem_grow(f->live, (s->width + 1) * sizeof *f->live);
    f->has = mem_grow(f->has, (s->width + 1) * sizeof *f->has);
    fit(s, p, f);
}

static void let_go(struct fitting *f)
{
    free(f->live);
    free(f->has);
}

static void show_all(struct fuzzy *f, const struct fuzzy_query *q, const struct viewer *to)
{
    struct probe p = probe_of(q->live, f->script->methods[q->method].known);
    struct fitting fitting = { .masked = q->masked };
    struct fuzzy_group *g;
    uint32_t key[3];

    g = map_get(&f->groups, group_key(key, q->session, q->method, q->subject_key));
    for (const struct shape *s = g ? g->first : NULL; s; s = s->next) {
        fit_to(&fitting, s, &p);
        show_shape(f, s, q, &fitting, to);
    }
    let_go(&fitting);
    free(p.at);
}

bool fuzzy_are_alike(const struct mcp_method *known, const struct leaves *recorded,
                     const struct leaves *live)
{
    struct probe left = probe_of(recorded, known), right = probe_of(live, known);
    struct fuzzy_group g = { NULL };
    struct shape *s = shape_for(&g, &left);
    struct fitting fitting = { .masked = false };
    bool alike;

    add_row(s, 0, &left);
    fit_to(&fitting, s, &right);
    alike = is_enough(liken(s, s->rows + 1, &fitting));
    let_go(&fitting);
    drop_shapes(&g);
    free(left.at);
    free(right.at);
    return alike;
}

struct search {
    const struct script *script;
    struct fuzzy_found best;
};

static void consider_row(void *arg, uint32_t op, struct likeness like)
{
    struct search *s = arg;

    consider(s->script, &s->best, op, like);
}

struct fuzzy_found fuzzy_find(struct fuzzy *f, const struct fuzzy_query *q)
{
    struct search s = { .script = f->script };

    show_all(f, q, &(struct viewer){ consider_row, &s });
    return s.best;
}

struct visit {
    struct likeness like;
    fuzzy_visit_fn *visit;
    void *arg;
};

static void visit_row(void *arg, uint32_t op, struct likeness like)
{
    const struct visit *v = arg;

    if (compare(like, v->like) == 0)
        v->visit(v->arg, op);
}

void fuzzy_each(struct fuzzy *f, const struct fuzzy_query *q, struct likeness like,
                fuzzy_visit_fn *visit, void *arg)
{
    struct visit v = { like, visit, arg };

    show_all(f, q, &(struct viewer){ visit_row, &v });
}
