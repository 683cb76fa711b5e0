#include "base/mem.h"
#include "path-responder.h"
#include "split-input.h"
#include "transport/http-conn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A connection that checks the calls on its socket: none after it was closed, no write after it
 * was finished, no byte lost. */
struct rig {
    struct http_conn_shared shared;
    struct http_conn conn;
    struct path_responder owner;
    size_t queued;
    bool never_reads, soon, finished, closed;
    int64_t now;
};

static void do_write(void *at, struct str bytes)
{
    struct rig *r = at;

    BUG_IF(r->finished || r->closed);
    r->queued += r->never_reads ? bytes.len : 0;
    buf_add(&r->owner.text, bytes);
}

static void do_read(void *at, bool on)
{
    struct rig *r = at;

    BUG_IF(r->closed);
    buf_add(&r->owner.text, on ? STR("<read>") : STR("<pause>"));
}

static void do_finish(void *at)
{
    struct rig *r = at;

    BUG_IF(r->finished || r->closed);
    r->finished = true;
    buf_add(&r->owner.text, STR("<finish>"));
}

static void do_close(void *at, bool reset)
{
    struct rig *r = at;

    BUG_IF(r->closed);
    r->closed = true;
    buf_add(&r->owner.text, reset ? STR("<reset>") : STR("<close>"));
}

static void run_deferred(void *at)
{
    struct rig *r = at;

    r->soon = true;
}

static size_t get_queued(const void *at)
{
    const struct rig *r = at;

    return r->closed ? 0 : r->queued;
}

/* The input decides when the client is gone, not the socket. */
static void do_watch(void *at)
{
    (void)at;
}

static const struct http_conn_io port = { do_write,     do_read,    do_finish, do_close,
                                          run_deferred, get_queued, do_watch };
static const struct url_authority self = { .host = STR_INIT("localhost"), .port = 8080 };

static void open_rig(struct rig *r)
{
    *r = (struct rig){ .now = 0 };
    path_responder_init(&r->owner);
    r->shared = (struct http_conn_shared){ .io = &port,
                                           .events = &path_responder_events,
                                           .to = &r->owner,
                                           .self = &self,
                                           .timeouts = &http_conn_default_timeouts };
    buf_init(&r->shared.compose_buf, HTTP_CONN_COMPOSE_MAX);
    http_conn_init(&r->conn, &r->shared, r, 1);
}

static void close_rig(struct rig *r)
{
    http_conn_lost(&r->conn);
    BUG_IF(!r->closed || r->owner.open);
    http_conn_release(&r->conn);
    http_conn_shared_release(&r->shared);
    path_responder_release(&r->owner);
}

static void run(struct split_input *c, struct buf *seen)
{
    struct rig r;
    struct str piece;

    open_rig(&r);
    while (split_input_next(c, &piece)) {
        http_conn_feed(&r.conn, piece);
        http_conn_resume(&r.conn);
    }
    buf_add(seen, buf_str(&r.owner.text));
    close_rig(&r);
}

static void check_every_split(struct str text)
{
    struct buf one, two;

    buf_init(&one, 16 << 20);
    buf_init(&two, 16 << 20);
    split_input_once(text, text.len, 0, 1, run, &one);
    split_input_once(text, 1, 2, 3, run, &two);
    BUG_IF(!str_eq(buf_str(&one), buf_str(&two)));
    buf_release(&one);
    buf_release(&two);
}

enum { OPERATIONS = 240 };

/* The other events, in any order. */
static void apply_operation(struct rig *r, unsigned char what)
{
    struct http_exchange *x = r->owner.latest;

    switch (what - OPERATIONS) {
    case 0:
        http_conn_input_closed(&r->conn);
        break;
    case 1:
        http_conn_tick(&r->conn, r->now += 7000);
        break;
    case 2:
        r->never_reads = true;
        break;
    case 3:
        r->never_reads = false;
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
            http_exchange_read(x, true);
        break;
    case 7:
        if (x && x->response_begun)
            http_exchange_write(x, STR("more"));
        break;
    case 8:
        if (x && x->response_begun)
            path_responder_end(&r->owner);
        break;
    case 9:
        if (x)
            http_exchange_send_continue(x);
        break;
    default:
        http_conn_resume(&r->conn);
    }
}

static void check_text(struct str text)
{
    struct rig r;
    size_t from = 0;

    open_rig(&r);
    for (size_t i = 0; i <= text.len && !r.closed; i++) {
        if (i < text.len && (unsigned char)text.at[i] < OPERATIONS)
            continue;
        http_conn_feed(&r.conn, str_n(text.at + from, i - from));
        if (i < text.len && !r.closed)
            apply_operation(&r, (unsigned char)text.at[i]);
        from = i + 1;
    }
    close_rig(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);

    if (size > 1 << 16)
        return 0;
    check_every_split(text);
    check_text(text);
    return 0;
}
