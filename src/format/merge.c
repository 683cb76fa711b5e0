#include "format/merge.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/moment.h"

struct lane {
    struct reader *reader;
    struct record head; /* if not `ended` */
    struct moment time; /* of the head */
    bool ended;
};

struct merge {
    struct lane *lanes;
    size_t count;
    struct lane *used; /* its head was handed out */
    bool amid_batch;   /* and more of the same batch follows */
    size_t headers;    /* so many lanes were looked at for the header they start with */
    struct json json;
};

static bool advance(struct lane *l, struct err *e)
{
    enum next next = reader_next(l->reader, &l->head, e);

    l->ended = next == NEXT_END;
    if (next == NEXT_RECORD)
        moment_see(&l->time, &l->head);
    return next != NEXT_ERROR;
}

static bool open_lane(struct lane *l, const struct sys *sys, const char *path,
                      const struct log *log, struct err *e)
{
    return reader_open(&l->reader, sys, path, log, e) && advance(l, e);
}

bool merge_open(struct merge **out, const struct sys *sys, const char *const *paths,
                size_t count, const struct log *log, struct err *e)
{
    struct merge *m = mem_new(struct merge);

    m->lanes = mem_alloc(count * sizeof *m->lanes);
    m->count = count;
    json_init(&m->json);
    for (size_t i = 0; i < count; i++)
        if (!open_lane(&m->lanes[i], sys, paths[i], log, e)) {
            merge_close(m);
            return false;
        }
    *out = m;
    return true;
}

void merge_close(struct merge *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->count; i++)
        reader_close(m->lanes[i].reader);
    json_release(&m->json);
    free(m->lanes);
    free(m);
}

static bool more_of_batch(struct merge *m, const struct record *r)
{
    struct json_fault fault;
    int64_t index, count;

    return r->kind == RECORD_MESSAGE && r->message.batch.at &&
           json_scan(&m->json, r->message.batch, &fault) &&
           json_int(json_get(json_root(&m->json), STR("index")), &index) &&
           json_int(json_get(json_root(&m->json), STR("count")), &count) && index < count - 1;
}

/* What nobody knows the time of comes before everything that has one. */
static bool is_earlier(const struct lane *a, const struct lane *b)
{
    if (!a->time.known || !b->time.known)
        return !a->time.known && b->time.known;
    return a->time.now_us < b->time.now_us;
}

static struct lane *choose(struct merge *m)
{
    struct lane *first = NULL;

    if (m->amid_batch && !m->used->ended)
        return m->used;
    while (m->headers < m->count) {
        struct lane *l = &m->lanes[m->headers++];
        if (!l->ended && l->head.kind == RECORD_HEADER)
            return l;
    }
    for (struct lane *l = m->lanes; l < m->lanes + m->count; l++)
        if (!l->ended && (!first || is_earlier(l, first)))
            first = l;
    return first;
}

enum next merge_next(struct merge *m, struct record *rec, size_t *from, struct err *e)
{
    if (m->used && !advance(m->used, e))
        return NEXT_ERROR;
    m->used = choose(m);
    if (!m->used)
        return NEXT_END;
    *rec = m->used->head;
    *from = (size_t)(m->used - m->lanes);
    m->amid_batch = more_of_batch(m, rec);
    return NEXT_RECORD;
}

/* Before the first merge_next() the heads are still the first of their files. */
bool merge_start(const struct merge *m, int64_t *us)
{
    bool any = false;

    BUG_IF(m->used);
    for (const struct lane *l = m->lanes; l < m->lanes + m->count; l++) {
        int64_t start = l->time.started ? l->time.start_us : l->time.now_us;
        if (l->ended || !l->time.known || (any && start >= *us))
            continue;
        *us = start;
        any = true;
    }
    return any;
}

const struct format *merge_format(const struct merge *m, size_t from)
{
    return reader_format(m->lanes[from].reader);
}

uint64_t merge_offset(const struct merge *m)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < m->count; i++)
        sum += reader_offset(m->lanes[i].reader);
    return sum;
}

uint64_t merge_size(const struct merge *m)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < m->count; i++) {
        uint64_t size = reader_size(m->lanes[i].reader);
        if (!size)
            return 0;
        sum += size;
    }
    return sum;
}
