#include "match/fuzzy.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/limits.h"

/* The low bits of a 32-bit value tell why it is not compared. */
enum { VOLATILE_BIT = 1, REDACTED_BIT = 2, IGNORED_BITS = VOLATILE_BIT | REDACTED_BIT };

/* Rows are stored in blocks of this size */
enum { BLOCK_BYTES = 4 << 10 };

/* Calls of one group that have the same paths. A row is the number of a call and a value for
 * each path. */
struct shape {
    struct shape *next;
    size_t width;               /* number of paths */
    uint64_t *paths;            /* sorted */
    uint32_t *rows;             /* the latest, not stored yet */
    size_t len, cap;            /* in numbers */
    struct message_ref *blocks; /* of the earlier rows */
    size_t block_count, block_cap;
};

struct fuzzy_group {
    struct shape *first;
};

/* The params of a request, sorted by path. */
struct sorted_params {
    struct params_leaf *at;
    size_t count;
};

static bool add_call(struct index_observer *self, uint32_t call, const struct recorded_call *of,
                     const struct params_leaves *leaves, struct err *e);

void fuzzy_init(struct fuzzy *f, const struct index *idx)
{
    *f = (struct fuzzy){ .observer = { add_call }, .index = idx };
    map_init(&f->groups);
    buf_init(&f->block, LIMIT_LINE);
}

static void free_shapes(struct fuzzy_group *g)
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
        free_shapes(e->value);
        free(e->value);
    }
    map_release(&f->groups);
    buf_release(&f->block);
}

static int compare_path(const void *a, const void *b)
{
    const struct params_leaf *x = a, *y = b;

    return (x->path > y->path) - (x->path < y->path);
}

/* The subject is equal in all candidates and would make every request similar. */
static bool is_subject(const struct mcp_method *known, uint64_t path)
{
    struct json_step steps[2] = { { .name = known ? known->subject : STR_NONE } };
    static const struct str inside[] = { STR_INIT("name"), STR_INIT("uri"), STR_INIT("type") };

    if (!steps[0].name.len)
        return false;
    if (params_path_hash((struct json_location){ steps, 1 }) == path)
        return true;
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        steps[1].name = inside[i];
        if (params_path_hash((struct json_location){ steps, 2 }) == path)
            return true;
    }
    return false;
}

static struct sorted_params sort_params(const struct params_leaves *leaves,
                                        const struct mcp_method *known)
{
    struct sorted_params p = { mem_alloc((leaves->count + 1) * sizeof *p.at), 0 };

    for (size_t i = 0; i < leaves->count; i++)
        if (!is_subject(known, leaves->at[i].path))
            p.at[p.count++] = leaves->at[i];
    qsort(p.at, p.count, sizeof *p.at, compare_path);
    return p;
}

static uint32_t packed_value(const struct params_leaf *l)
{
    static const uint32_t marks[] = {
        [PARAMS_LEAF_VOLATILE] = VOLATILE_BIT, [PARAMS_LEAF_REDACTED] = REDACTED_BIT
    };

    return (index_fold_hash(l->value) & ~(uint32_t)IGNORED_BITS) | marks[l->kind];
}

static struct str group_key(uint32_t key[3], uint32_t session, uint32_t method,
                            uint32_t subject_key)
{
    key[0] = session;
    key[1] = method;
    key[2] = subject_key;
    return str_n((const char *)key, 3 * sizeof *key);
}

static bool has_shape(const struct shape *s, const struct sorted_params *p)
{
    if (s->width != p->count)
        return false;
    for (size_t i = 0; i < s->width; i++)
        if (s->paths[i] != p->at[i].path)
            return false;
    return true;
}

static struct shape *shape_for(struct fuzzy_group *g, const struct sorted_params *p)
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

static void add_row(struct shape *s, uint32_t call, const struct sorted_params *p)
{
    s->rows = mem_reserve(s->rows, &s->cap, s->len + 1 + s->width, sizeof *s->rows);
    s->rows[s->len++] = call;
    for (size_t i = 0; i < s->width; i++)
        s->rows[s->len++] = packed_value(&p->at[i]);
}

/* Stores full blocks: in memory they would outweigh the index of small messages. */
static bool flush_rows(struct shape *s, struct message_store *store, struct err *e)
{
    struct str bytes = str_n((const char *)s->rows, s->len * sizeof *s->rows);

    if (bytes.len < BLOCK_BYTES)
        return true;
    s->blocks = mem_reserve(s->blocks, &s->block_cap, s->block_count + 1, sizeof *s->blocks);
    s->len = 0;
    return store->add_bytes(store, bytes, &s->blocks[s->block_count++], e);
}

static bool add_call(struct index_observer *self, uint32_t call, const struct recorded_call *of,
                     const struct params_leaves *leaves, struct err *e)
{
    struct fuzzy *f = (struct fuzzy *)self;
    struct sorted_params p = sort_params(leaves, f->index->methods[of->method].known);
    uint32_t key[3];
    struct str at = group_key(key, of->session, of->method, of->subject_key);
    struct fuzzy_group *g = map_get(&f->groups, at);
    struct shape *s;

    if (!g) {
        g = mem_new(struct fuzzy_group);
        map_put(&f->groups, at, g);
    }
    s = shape_for(g, &p);
    add_row(s, call, &p);
    free(p.at);
    return flush_rows(s, f->index->store, e);
}

/* The paths of a shape with the live value of each, if there is one. */
struct alignment {
    uint32_t *live; /* by path of the shape */
    bool *has;
    uint64_t only_live; /* compared paths that the shape does not have */
    /* The live params were read without the paths at which some recorded call is redacted. The
     * value of such a path is marked as redacted although the client sent it. */
    bool masked;
};

static bool is_compared(const struct alignment *f, const struct params_leaf *live)
{
    return live->kind == PARAMS_LEAF_PLAIN || (f->masked && live->kind == PARAMS_LEAF_REDACTED);
}

static void align_shape(const struct shape *s, const struct sorted_params *p,
                        struct alignment *f)
{
    size_t i = 0;

    f->only_live = 0;
    for (size_t k = 0; k < s->width; k++) {
        for (; i < p->count && p->at[i].path < s->paths[k]; i++)
            f->only_live += is_compared(f, &p->at[i]);
        f->has[k] = i < p->count && p->at[i].path == s->paths[k];
        f->live[k] = f->has[k] ? packed_value(&p->at[i++]) : 0;
    }
    for (; i < p->count; i++)
        f->only_live += is_compared(f, &p->at[i]);
}

static struct similarity similarity_of(const struct shape *s, const uint32_t *values,
                                       const struct alignment *f)
{
    struct similarity l = { .total = f->only_live };

    for (size_t k = 0; k < s->width; k++) {
        uint32_t marks = (values[k] | (f->has[k] ? f->live[k] : 0)) & IGNORED_BITS;
        bool equal = f->has[k] && ((values[k] ^ f->live[k]) & ~(uint32_t)IGNORED_BITS) == 0;

        if (f->masked && f->has[k] && f->live[k] & REDACTED_BIT &&
            !(values[k] & REDACTED_BIT)) {
            l.total++; /* not redacted in this call: counts as a difference */
            continue;
        }
        l.total += !marks;
        l.equal += !marks && equal;
        l.volatile_equal += marks == VOLATILE_BIT && equal;
        l.redacted += (marks & REDACTED_BIT) != 0;
    }
    if (!l.total) /* no compared value differs */
        l.total = l.equal = 1;
    return l;
}

static int compare_similarity(struct similarity a, struct similarity b)
{
    uint64_t x = a.equal * b.total, y = b.equal * a.total;

    if (x != y)
        return x < y ? -1 : 1;
    if (a.redacted != b.redacted)
        return a.redacted > b.redacted ? -1 : 1;
    return (a.volatile_equal > b.volatile_equal) - (a.volatile_equal < b.volatile_equal);
}

static bool is_similar(struct similarity like)
{
    return like.equal * 2 >= like.total;
}

static void consider_call(const struct index *idx, struct fuzzy_found *b, uint32_t call,
                          struct similarity like)
{
    int c = b->call ? compare_similarity(like, b->similarity) : 1;
    uint32_t first = b->call < call ? b->call : call, second = b->call < call ? call : b->call;

    if (!is_similar(like) || c < 0)
        return;
    if (c > 0) {
        *b = (struct fuzzy_found){ .call = call, .similarity = like };
        return;
    }
    b->call = first;
    /* The same request recorded twice is no tie. */
    if (idx->calls[first].params_key != idx->calls[second].params_key)
        b->tie = second;
}

struct fuzzy_found fuzzy_better(struct fuzzy_found a, struct fuzzy_found b)
{
    int c;

    if (!a.call || !b.call)
        return a.call ? a : b;
    c = compare_similarity(a.similarity, b.similarity);
    return c > 0 || (c == 0 && a.call <= b.call) ? a : b;
}

/* Gets each call that a query is about, with its similarity. */
struct row_visitor {
    void (*row)(void *arg, uint32_t call, struct similarity like);
    void *arg;
};

/* Visits the rows of matchable calls that are used, or unused, as the query says. */
static void visit_rows(const struct index *idx, const struct shape *s, const uint32_t *rows,
                       size_t len, const struct fuzzy_query *q, const struct alignment *f,
                       const struct row_visitor *to)
{
    for (const uint32_t *row = rows; row < rows + len; row += 1 + s->width)
        if (idx->calls[row[0]].flags & CALL_MATCHABLE &&
            used_set_has(q->used_set, row[0]) == q->only_used)
            to->row(to->arg, row[0], similarity_of(s, row + 1, f));
}

static void visit_shape(struct fuzzy *f, const struct shape *s, const struct fuzzy_query *q,
                        const struct alignment *fitting, const struct row_visitor *to)
{
    struct message_store *store = f->index->store;

    for (size_t i = 0; i < s->block_count; i++) {
        if (f->error.kind != ERR_OK || !store->fetch(store, s->blocks[i], &f->block, &f->error))
            return;
        visit_rows(f->index, s, (const uint32_t *)(const void *)f->block.at,
                   f->block.len / sizeof *s->rows, q, fitting, to);
    }
    visit_rows(f->index, s, s->rows, s->len, q, fitting, to);
}

/* May be called again for another shape; free_alignment() frees it. */
static void align_to(struct alignment *f, const struct shape *s, const struct sorted_params *p)
{
    f->live = mem_grow(f->live, (s->width + 1) * sizeof *f->live);
    f->has = mem_grow(f->has, (s->width + 1) * sizeof *f->has);
    align_shape(s, p, f);
}

static void free_alignment(struct alignment *f)
{
    free(f->live);
    free(f->has);
}

static void visit_group(struct fuzzy *f, const struct fuzzy_query *q,
                        const struct row_visitor *to)
{
    struct sorted_params p = sort_params(q->live, f->index->methods[q->method].known);
    struct alignment fitting = { .masked = q->masked };
    struct fuzzy_group *g;
    uint32_t key[3];

    g = map_get(&f->groups, group_key(key, q->session, q->method, q->subject_key));
    for (const struct shape *s = g ? g->first : NULL; s; s = s->next) {
        align_to(&fitting, s, &p);
        visit_shape(f, s, q, &fitting, to);
    }
    free_alignment(&fitting);
    free(p.at);
}

bool fuzzy_are_similar(const struct mcp_method *known, const struct params_leaves *recorded,
                       const struct params_leaves *live)
{
    struct sorted_params left = sort_params(recorded, known), right = sort_params(live, known);
    struct fuzzy_group g = { NULL };
    struct shape *s = shape_for(&g, &left);
    struct alignment fitting = { .masked = false };
    bool alike;

    add_row(s, 0, &left);
    align_to(&fitting, s, &right);
    alike = is_similar(similarity_of(s, s->rows + 1, &fitting));
    free_alignment(&fitting);
    free_shapes(&g);
    free(left.at);
    free(right.at);
    return alike;
}

struct fuzzy_search {
    const struct index *index;
    struct fuzzy_found best;
};

static void consider_row(void *arg, uint32_t call, struct similarity like)
{
    struct fuzzy_search *s = arg;

    consider_call(s->index, &s->best, call, like);
}

struct fuzzy_found fuzzy_find(struct fuzzy *f, const struct fuzzy_query *q)
{
    struct fuzzy_search s = { .index = f->index };

    visit_group(f, q, &(struct row_visitor){ consider_row, &s });
    return s.best;
}

struct equal_visit {
    struct similarity similarity;
    fuzzy_visit_fn *visit;
    void *arg;
};

static void visit_row(void *arg, uint32_t call, struct similarity like)
{
    const struct equal_visit *v = arg;

    if (compare_similarity(like, v->similarity) == 0)
        v->visit(v->arg, call);
}

void fuzzy_each(struct fuzzy *f, const struct fuzzy_query *q, struct similarity like,
                fuzzy_visit_fn *visit, void *arg)
{
    struct equal_visit v = { like, visit, arg };

    visit_group(f, q, &(struct row_visitor){ visit_row, &v });
}
