#include "trace/timestamp.h"

int64_t timestamp_add(int64_t a, int64_t b)
{
    int64_t sum;

    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return b > 0 ? INT64_MAX : -INT64_MAX;
}

static void set_start(struct timestamp *m, const struct record *r)
{
    int64_t us = r->has & HAS_US ? r->us : 0;

    m->start_known = true;
    m->start_us = timestamp_add(r->wall_us, us == INT64_MIN ? INT64_MAX : -us);
}

void timestamp_update(struct timestamp *m, const struct record *r)
{
    bool dated = r->has & HAS_WALL, timed = r->has & HAS_US;

    if (r->kind == RECORD_HEADER)
        m->start_known = false;
    if (!m->start_known && dated && (timed || r->kind == RECORD_HEADER))
        set_start(m, r);
    if (dated)
        m->now_us = r->wall_us;
    else if (timed && m->start_known)
        m->now_us = timestamp_add(m->start_us, r->us);
    else
        return;
    m->now_known = true;
}
