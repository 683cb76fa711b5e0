#include "base/mem.h"
#include "cuts.h"
#include "obedient.h"
#include "transport/http-conn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A connection that checks what is asked of its socket: nothing after it was closed, nothing
 * written after it was finished, nothing lost. */
struct rig {
    struct http_conn_house house;
    struct http_conn conn;
    struct obedient owner;
    size_t queued;
    bool stuck, soon, finished, closed;
    int64_t now;
};

static void do_write(void *at, struct str bytes)
{
    struct rig *r = at;

    BUG_IF(r->finished || r->closed);
    r->queued += r->stuck ? bytes.len : 0;
    buf_add(&r->owner.seen, bytes);
}

static void do_read(void *at, bool on)
{
    struct rig *r = at;

    BUG_IF(r->closed);
    buf_add(&r->owner.seen, on ? STR("<read>") : STR("<pause>"));
}

static void do_finish(void *at)
{
    struct rig *r = at;

    BUG_IF(r->finished || r->closed);
    r->finished = true;
    buf_add(&r->owner.seen, STR("<finish>"));
}

static void do_close(void *at, bool reset)
{
    struct rig *r = at;

    BUG_IF(r->closed);
    r->closed = true;
    buf_add(&r->owner.seen, reset ? STR("<reset>") : STR("<close>"));
}

static void do_soon(void *at)
{
    struct rig *r = at;

    r->soon = true;
}

static size_t get_queued(const void *at)
{
    const struct rig *r = at;

    return r->closed ? 0 : r->queued;
}

/* That nobody is there any longer is told by the input, not by the socket. */
static void do_watch(void *at)
{
    (void)at;
}

static const struct http_conn_port port = { do_write, do_read,    do_finish, do_close,
                                            do_soon,  get_queued, do_watch };
static const struct url_authority self = { .host = STR_INIT("localhost"), .port = 8080 };

static void open_rig(struct rig *r)
{
    *r = (struct rig){ .now = 0 };
    obedient_init(&r->owner);
    r->house = (struct http_conn_house){ .port = &port,
                                         .events = &obedient_events,
                                         .to = &r->owner,
                                         .self = &self,
                                         .patience = &http_conn_patience };
    buf_init(&r->house.desk, HTTP_CONN_DESK_MAX);
    http_conn_init(&r->conn, &r->house, r, 1);
}

static void close_rig(struct rig *r)
{
    http_conn_lost(&r->conn);
    BUG_IF(!r->closed || r->owner.open);
    http_conn_release(&r->conn);
    http_conn_house_release(&r->house);
    obedient_release(&r->owner);
}

static void run(struct cuts *c, struct buf *seen)
{
    struct rig r;
    struct str piece;

    open_rig(&r);
    while (cuts_next(c, &piece)) {
        http_conn_feed(&r.conn, piece);
        http_conn_go_on(&r.conn);
    }
    buf_add(seen, buf_str(&r.owner.seen));
    close_rig(&r);
}

static void must_not_depend_on_cuts(struct str text)
{
    struct buf one, two;

    buf_init(&one, 16 << 20);
    buf_init(&two, 16 << 20);
    cuts_once(text, text.len, 0, 1, run, &one);
    cuts_once(text, 1, 2, 3, run, &two);
    BUG_IF(!str_eq(buf_str(&one), buf_str(&two)));
    buf_release(&one);
    buf_release(&two);
}

enum { OPERATIONS = 240 };

/* What else can happen, in any order. */
static void happen(struct rig *r, unsigned char what)
{
    struct exchange *x = r->owner.latest;

    switch (what - OPERATIONS) {
    case 0:
        http_conn_ended(&r->conn);
        break;
    case 1:
        http_conn_tick(&r->conn, r->now += 7000);
        break;
    case 2:
        r->stuck = true;
        break;
    case 3:
        r->stuck = false;
        r->queued = 0;
        http_conn_drained(&r->conn);
        break;
    case 4:
        http_conn_stop(&r->conn);
        break;
    case 5:
        http_conn_abort(&r->conn);
        break;
    case 6:
        if (x)
            exchange_read(x, true);
        break;
    case 7:
        if (x && x->begun)
            exchange_write(x, STR("more"));
        break;
    case 8:
        if (x && x->begun)
            obedient_end(&r->owner);
        break;
    case 9:
        if (x)
            exchange_go_on(x);
        break;
    default:
        http_conn_go_on(&r->conn);
    }
}

static void must_survive(struct str text)
{
    struct rig r;
    size_t from = 0;

    open_rig(&r);
    for (size_t i = 0; i <= text.len && !r.closed; i++) {
        if (i < text.len && (unsigned char)text.at[i] < OPERATIONS)
            continue;
        http_conn_feed(&r.conn, str_n(text.at + from, i - from));
        if (i < text.len && !r.closed)
            happen(&r, (unsigned char)text.at[i]);
        from = i + 1;
    }
    close_rig(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);

    if (size > 1 << 16)
        return 0;
    must_not_depend_on_cuts(text);
    must_survive(text);
    return 0;
}
