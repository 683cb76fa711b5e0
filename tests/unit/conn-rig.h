/* tests/unit/conn-rig.h - a connection without a socket, for tests of it. */
#ifndef CONN_RIG_H
#define CONN_RIG_H

#include "obedient.h"
#include "test.h"
#include "transport/http-conn.h"

/* A connection without a socket, and an owner that does what it is told. What goes out and what
 * happens is written down where the owner writes. */
struct rig {
    struct http_conn_house house;
    struct http_conn conn;
    struct obedient owner;
    size_t queued; /* what the client has not taken */
    bool stuck;    /* it takes nothing */
    bool soon, reading;
    int64_t now;
};

static const struct url_authority rig_self = {
    .host = STR_INIT("127.0.0.1"),
    .ip = { .kind = IP_V4, .usual = true, .at = { [10] = 255, 255, 127, 0, 0, 1 } },
    .port = 8080,
};

static const struct http_patience rig_patience = {
    .head_ms = 100,
    .idle_ms = 1000,
    .body_ms = 300,
    .body_rate = 1000,
    .take_ms = 500,
    .linger_ms = 50,
};

static inline void rig_write(void *at, struct str bytes)
{
    struct rig *r = at;

    if (r->stuck)
        r->queued += bytes.len;
    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.at[i] != '\r')
            buf_add_ch(&r->owner.seen, bytes.at[i]);
    }
}

static inline void rig_read(void *at, bool on)
{
    struct rig *r = at;

    r->reading = on;
    buf_printf(&r->owner.seen, "<%s>", on ? "read" : "pause");
}

static inline void rig_finish(void *at)
{
    struct rig *r = at;

    buf_add(&r->owner.seen, STR("<finish>"));
}

static inline void rig_close(void *at, bool reset)
{
    struct rig *r = at;

    buf_add(&r->owner.seen, reset ? STR("<reset>") : STR("<close>"));
}

static inline void rig_soon(void *at)
{
    struct rig *r = at;

    r->soon = true;
}

static inline void rig_watch(void *at)
{
    struct rig *r = at;

    buf_add(&r->owner.seen, STR("<watch>"));
}

static inline size_t rig_queued(const void *at)
{
    const struct rig *r = at;

    return r->queued;
}

static const struct http_conn_port rig_port = { rig_write, rig_read,   rig_finish, rig_close,
                                                rig_soon,  rig_queued, rig_watch };

static inline void open_rig(struct rig *r)
{
    *r = (struct rig){ .reading = true };
    obedient_init(&r->owner);
    r->house = (struct http_conn_house){ .port = &rig_port,
                                         .events = &obedient_events,
                                         .to = &r->owner,
                                         .self = &rig_self,
                                         .patience = &rig_patience };
    buf_init(&r->house.desk, HTTP_CONN_DESK_MAX);
    http_conn_init(&r->conn, &r->house, r, 7);
}

static inline void close_rig(struct rig *r)
{
    http_conn_lost(&r->conn);
    assert_int_equal(r->owner.open, 0);
    http_conn_release(&r->conn);
    http_conn_house_release(&r->house);
    obedient_release(&r->owner);
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

/* What was written down since the last time. */
static inline void saw(struct rig *r, const char *want)
{
    assert_str(buf_str(&r->owner.seen), str_z(want));
    buf_clear(&r->owner.seen);
}

#endif
