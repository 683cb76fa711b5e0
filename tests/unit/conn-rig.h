/* tests/unit/conn-rig.h - an http_conn without a socket. */
#ifndef CONN_RIG_H
#define CONN_RIG_H

#include "path-responder.h"
#include "test.h"
#include "transport/http-conn.h"

/* A connection without a socket, and an owner that follows a script. Output and events are
 * written to the owner's log. */
struct rig {
    struct http_conn_shared shared;
    struct http_conn conn;
    struct path_responder owner;
    size_t queued;    /* bytes that the client has not read */
    bool never_reads; /* it takes nothing */
    bool soon, reading;
    int64_t now;
};

static const struct url_authority rig_self = {
    .host = STR_INIT("127.0.0.1"),
    .ip = { .kind = IP_V4, .canonical = true, .bytes = { [10] = 255, 255, 127, 0, 0, 1 } },
    .port = 8080,
};

static const struct http_conn_timeouts rig_timeouts = {
    .head_ms = 100,
    .idle_ms = 1000,
    .body_ms = 300,
    .body_rate = 1000,
    .write_ms = 500,
    .linger_ms = 50,
};

static inline void rig_write(void *at, struct str bytes)
{
    struct rig *r = at;

    if (r->never_reads)
        r->queued += bytes.len;
    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.at[i] != '\r')
            buf_add_ch(&r->owner.text, bytes.at[i]);
    }
}

static inline void rig_read(void *at, bool on)
{
    struct rig *r = at;

    r->reading = on;
    buf_printf(&r->owner.text, "<%s>", on ? "read" : "pause");
}

static inline void rig_finish(void *at)
{
    struct rig *r = at;

    buf_add(&r->owner.text, STR("<finish>"));
}

static inline void rig_close(void *at, bool reset)
{
    struct rig *r = at;

    buf_add(&r->owner.text, reset ? STR("<reset>") : STR("<close>"));
}

static inline void rig_soon(void *at)
{
    struct rig *r = at;

    r->soon = true;
}

static inline void rig_watch(void *at)
{
    struct rig *r = at;

    buf_add(&r->owner.text, STR("<watch>"));
}

static inline size_t rig_queued(const void *at)
{
    const struct rig *r = at;

    return r->queued;
}

static const struct http_conn_io rig_port = { rig_write, rig_read,   rig_finish, rig_close,
                                              rig_soon,  rig_queued, rig_watch };

static inline void open_rig(struct rig *r)
{
    *r = (struct rig){ .reading = true };
    path_responder_init(&r->owner);
    r->shared = (struct http_conn_shared){ .io = &rig_port,
                                           .events = &path_responder_events,
                                           .to = &r->owner,
                                           .self = &rig_self,
                                           .timeouts = &rig_timeouts };
    buf_init(&r->shared.compose_buf, HTTP_CONN_COMPOSE_MAX);
    http_conn_init(&r->conn, &r->shared, r, 7);
}

static inline void close_rig(struct rig *r)
{
    http_conn_lost(&r->conn);
    assert_int_equal(r->owner.open, 0);
    http_conn_release(&r->conn);
    http_conn_shared_release(&r->shared);
    path_responder_release(&r->owner);
}

static inline void feed(struct rig *r, struct str bytes)
{
    http_conn_feed(&r->conn, bytes);
}

static inline void tick(struct rig *r, int64_t ms)
{
    r->now += ms;
    http_conn_tick(&r->conn, r->now);
}

/* Returns the log since the last call. */
static inline void assert_rig_saw(struct rig *r, const char *want)
{
    assert_str(buf_str(&r->owner.text), str_z(want));
    buf_clear(&r->owner.text);
}

#endif
