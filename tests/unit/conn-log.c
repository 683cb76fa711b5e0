#include "conn-log.h"

#include "test.h"

static void resume(void *to)
{
    struct conn_log *e = to;

    e->read(e->connection, true);
}

void conn_log_init(struct conn_log *e, void (*read)(void *connection, bool on))
{
    *e = (struct conn_log){ .loop = loop_new(), .read = read };
    buf_init(&e->text, 1 << 20);
    e->resume_timer = timer_new(e->loop, resume, e);
}

void conn_log_release(struct conn_log *e)
{
    timer_close(e->resume_timer);
    loop_free(e->loop);
    buf_release(&e->text);
}

void conn_log_data(void *to, struct str bytes)
{
    struct conn_log *e = to;

    e->bytes += bytes.len;
    if (!e->count_only)
        buf_add(&e->text, bytes);
    if (e->pauses) {
        e->read(e->connection, false);
        timer_set(e->resume_timer, 0);
    }
    if (e->stop_at && e->bytes >= e->stop_at)
        loop_stop(e->loop);
}

void conn_log_end(void *to, bool clean)
{
    struct conn_log *e = to;

    e->end_count++;
    e->clean = clean;
    loop_stop(e->loop);
}

void conn_log_failed(void *to, enum upstream_conn_error fault, const struct err *why)
{
    struct conn_log *e = to;

    assert_int_equal(why->kind, ERR_PEER);
    e->failed = true;
    e->fault = fault;
    buf_printf(&e->text, "%s", why->msg);
    loop_stop(e->loop);
}

void conn_log_drained(void *to)
{
    struct conn_log *e = to;

    e->drain_count++;
}
