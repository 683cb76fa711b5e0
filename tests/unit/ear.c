#include "ear.h"

#include "test.h"

static void resume(void *to)
{
    struct ear *e = to;

    e->read(e->connection, true);
}

void ear_init(struct ear *e, void (*read)(void *connection, bool on))
{
    *e = (struct ear){ .loop = loop_new(), .read = read };
    buf_init(&e->seen, 1 << 20);
    e->later = timer_new(e->loop, resume, e);
}

void ear_release(struct ear *e)
{
    timer_close(e->later);
    loop_free(e->loop);
    buf_release(&e->seen);
}

void ear_data(void *to, struct str bytes)
{
    struct ear *e = to;

    e->bytes += bytes.len;
    if (!e->quiet)
        buf_add(&e->seen, bytes);
    if (e->pauses) {
        e->read(e->connection, false);
        timer_set(e->later, 0);
    }
    if (e->stop_at && e->bytes >= e->stop_at)
        loop_stop(e->loop);
}

void ear_end(void *to, bool clean)
{
    struct ear *e = to;

    e->ends++;
    e->clean = clean;
    loop_stop(e->loop);
}

void ear_failed(void *to, enum dial_fault fault, const struct err *why)
{
    struct ear *e = to;

    assert_int_equal(why->kind, ERR_PEER);
    e->failed = true;
    e->fault = fault;
    buf_printf(&e->seen, "%s", why->msg);
    loop_stop(e->loop);
}

void ear_drained(void *to)
{
    struct ear *e = to;

    e->drains++;
}
