#include "trace/moment.h"

int64_t moment_add(int64_t a, int64_t b)
{
    int64_t sum;

    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return b > 0 ? INT64_MAX : -INT64_MAX;
}

static void start(struct moment *m, const struct record *r)
{
    int64_t us = r->has & HAS_US ? r->us : 0;

    m->started = true;
    m->start_us = moment_add(r->wall_us, us == INT64_MIN ? INT64_MAX : -us);
}

void moment_see(struct moment *m, const struct record *r)
{
    bool dated = r->has & HAS_WALL, timed = r->has & HAS_US;

    if (r->kind == RECORD_HEADER)
        m->started = false;
    if (!m->started && dated && (timed || r->kind == RECORD_HEADER))
        start(m, r);
    if (dated)
        m->now_us = r->wall_us;
    else if (timed && m->started)
        m->now_us = moment_add(m->start_us, r->us);
    else
        return;
    m->known = true;
}
