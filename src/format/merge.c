#include "format/merge.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/timestamp.h"

struct merge_input {
    struct reader *reader;
    struct record head;    /* next record; valid if not `ended` */
    struct timestamp time; /* of the head */
    bool ended;
};

struct merge {
    struct merge_input *inputs;
    size_t count;
    struct merge_input *current; /* the input of the record returned last */
    bool in_batch;               /* more of the same batch follows */
    size_t headers_checked;      /* inputs checked for a header at their start */
    struct json json;
};

static bool advance(struct merge_input *l, struct err *e)
{
    enum next_result next = reader_next(l->reader, &l->head, e);

    l->ended = next == NEXT_END;
    if (next == NEXT_RECORD)
        timestamp_update(&l->time, &l->head);
    return next != NEXT_ERROR;
}

static bool open_input(struct merge_input *l, const struct sys *sys, const char *path,
                       const struct reader_import *import, const struct log *log, struct err *e)
{
    return reader_open_import(&l->reader, sys, path, import, log, e) && advance(l, e);
}

bool merge_open(struct merge **out, const struct sys *sys, const char *const *paths,
                size_t count, const struct reader_import *import, const struct log *log,
                struct err *e)
{
    struct merge *m = mem_new(struct merge);

    m->inputs = mem_alloc(count * sizeof *m->inputs);
    m->count = count;
    json_init(&m->json);
    for (size_t i = 0; i < count; i++)
        if (!open_input(&m->inputs[i], sys, paths[i], import, log, e)) {
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
        reader_close(m->inputs[i].reader);
    json_release(&m->json);
    free(m->inputs);
    free(m);
}

static bool has_more_of_batch(struct merge *m, const struct record *r)
{
    struct json_fault fault;
    int64_t index, count;

    return r->kind == RECORD_MESSAGE && r->message.batch.at &&
           json_scan(&m->json, r->message.batch, &fault) &&
           json_int(json_get(json_root(&m->json), STR("index")), &index) &&
           json_int(json_get(json_root(&m->json), STR("count")), &count) && index < count - 1;
}

/* Records without a time come first. */
static bool is_earlier(const struct merge_input *a, const struct merge_input *b)
{
    if (!a->time.now_known || !b->time.now_known)
        return !a->time.now_known && b->time.now_known;
    return a->time.now_us < b->time.now_us;
}

static struct merge_input *choose_input(struct merge *m)
{
    struct merge_input *first = NULL;

    if (m->in_batch && !m->current->ended)
        return m->current;
    while (m->headers_checked < m->count) {
        struct merge_input *l = &m->inputs[m->headers_checked++];
        if (!l->ended && l->head.kind == RECORD_HEADER)
            return l;
    }
    for (struct merge_input *l = m->inputs; l < m->inputs + m->count; l++)
        if (!l->ended && (!first || is_earlier(l, first)))
            first = l;
    return first;
}

enum next_result merge_next(struct merge *m, struct record *rec, size_t *from, struct err *e)
{
    if (m->current && !advance(m->current, e))
        return NEXT_ERROR;
    m->current = choose_input(m);
    if (!m->current)
        return NEXT_END;
    *rec = m->current->head;
    *from = (size_t)(m->current - m->inputs);
    m->in_batch = has_more_of_batch(m, rec);
    return NEXT_RECORD;
}

/* Before the first merge_next() the heads are the first records of their files. */
bool merge_start(const struct merge *m, int64_t *us)
{
    bool any = false;

    BUG_IF(m->current);
    for (const struct merge_input *l = m->inputs; l < m->inputs + m->count; l++) {
        int64_t start = l->time.start_known ? l->time.start_us : l->time.now_us;
        if (l->ended || !l->time.now_known || (any && start >= *us))
            continue;
        *us = start;
        any = true;
    }
    return any;
}

const struct format *merge_format(const struct merge *m, size_t from)
{
    return reader_format(m->inputs[from].reader);
}

uint64_t merge_offset(const struct merge *m)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < m->count; i++)
        sum += reader_offset(m->inputs[i].reader);
    return sum;
}

uint64_t merge_size(const struct merge *m)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < m->count; i++) {
        uint64_t size = reader_size(m->inputs[i].reader);
        if (!size)
            return 0;
        sum += size;
    }
    return sum;
}
