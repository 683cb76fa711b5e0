#include "trace/array.h"

#include "base/hash.h"
#include "trace/moment.h"

struct place {
    uint64_t id;
    int64_t index, count;
};

static bool read_place(struct str batch, struct place *p)
{
    struct json_fault fault;
    struct json j;
    bool ok;

    json_init(&j);
    ok = batch.at && json_scan(&j, batch, &fault) &&
         json_int(json_get(json_root(&j), STR("index")), &p->index) &&
         json_int(json_get(json_root(&j), STR("count")), &p->count) && p->index >= 0 &&
         p->index < p->count;
    if (ok)
        p->id = hash_bytes(json_raw(json_get(json_root(&j), STR("id"))), 0);
    json_release(&j);
    return ok;
}

/* An array may end in elements that are no messages. */
static bool is_short(const struct array_lane *l)
{
    return l->open && l->count - l->next > l->raw;
}

static bool goes_on(const struct array_lane *l, const struct place *p)
{
    return l->open && l->id == p->id && l->count == p->count && p->index >= l->next;
}

bool array_see(struct array_watch *w, const struct record *r)
{
    struct array_lane *l;
    struct place p;
    bool missing;

    if (r->kind == RECORD_RAW) {
        l = &w->lanes[r->bytes.from_to];
        l->raw = moment_add(l->raw, r->has & HAS_COUNT ? (int64_t)r->bytes.count : 1);
        return false;
    }
    l = &w->lanes[r->message.dir];
    if (!read_place(r->message.batch, &p)) {
        missing = is_short(l);
        *l = (struct array_lane){ 0 };
        return missing;
    }
    if (goes_on(l, &p))
        missing = p.index - l->next > l->raw;
    else
        missing = is_short(l) || p.index > l->raw;
    *l = (struct array_lane){ .id = p.id, .next = p.index + 1, .count = p.count };
    l->open = l->next < l->count;
    return missing;
}

unsigned array_end(struct array_watch *w)
{
    unsigned n = (unsigned)is_short(&w->lanes[0]) + is_short(&w->lanes[1]);

    *w = (struct array_watch){ 0 };
    return n;
}
