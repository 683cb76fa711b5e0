/* tests/unit/relay-rig.h - an http_relay between a client and a server. */
#ifndef RELAY_RIG_H
#define RELAY_RIG_H

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fake-server.h"
#include "raw-client.h"
#include "test.h"
#include "transport/http-relay.h"

/* An owner that logs its events, the server behind the relay, and a client. */
struct rig {
    bool own_host; /* the server gets its own Host, not the client's */
    struct loop *loop;
    struct http_relay *relay;
    struct http_access gate;
    struct fake_server server;
    struct buf seen, received;
    int client, at_end; /* bytes that the client could have read at the `end` event */
    int at_commit;      /* the same when anything was last settled */
    bool uncommitted;   /* an event was reported since */
    size_t ends, sent, bytes;
    bool count_only; /* bytes are counted, not kept */
    bool edits;      /* see rig_on_edit() */
    struct http_relay_end end;
};

/* Each step is forwarded and complete before the next begins; only a response may come with
 * its head, and the end with either. */
static inline void rig_on_request(void *to, struct http_relay_exchange *p,
                                  const struct request_head *r)
{
    struct rig *g = to;

    assert_false(g->uncommitted);
    g->uncommitted = true;
    buf_printf(&g->seen, "%d:%d %.*s %.*s%s\n", (int)p->number, (int)p->connection,
               STR_ARG(r->method), STR_ARG(r->target), p->is_endpoint ? " endpoint" : "");
    p->user = g;
    p->no_compression = g->edits;
}

static inline void rig_on_body(void *to, struct http_relay_exchange *p, struct str bytes)
{
    struct rig *g = to;

    assert_false(g->uncommitted);
    g->uncommitted = true;
    assert_ptr_equal(p->user, g);
    g->sent += bytes.len;
    if (!g->count_only)
        buf_printf(&g->seen, "body '%.*s'\n", STR_ARG(bytes));
}

static inline struct str rig_on_request_end(void *to, struct http_relay_exchange *p)
{
    struct rig *g = to;

    assert_false(g->uncommitted || p->user != g);
    g->uncommitted = true;
    buf_printf(&g->seen, "asked\n");
    return g->sent ? STR("7") : STR_NONE;
}

static inline void rig_on_head(void *to, struct http_relay_exchange *p,
                               const struct request_head *request_head_of,
                               const struct response_head *r)
{
    struct rig *g = to;

    assert_false(g->uncommitted || !request_head_of->path.len);
    g->uncommitted = true;
    p->is_rewritten = g->edits;
    buf_printf(&g->seen, "head %u\n", r->status);
}

static inline bool rig_is_posted(void *to, const struct request_head *r)
{
    (void)to;
    return str_eq(r->query, STR("post"));
}

static inline bool rig_on_edit(void *to, struct http_relay_exchange *p, struct str *bytes,
                               bool last, const char **why)
{
    size_t len = bytes->len, x = str_find(*bytes, 'x');

    (void)to, (void)p;
    *why = "there is an x in it";
    *bytes = x < len ? str_n(bytes->at, x) : last ? STR("rest") : STR("other");
    return x == len;
}

static inline void rig_on_response(void *to, struct http_relay_exchange *p, struct str bytes)
{
    struct rig *g = to;

    g->uncommitted = true;
    (void)p;
    g->bytes += bytes.len;
    if (!g->count_only)
        buf_printf(&g->seen, "answer '%.*s'\n", STR_ARG(bytes));
}

static inline void rig_on_local_response(void *to, struct http_relay_exchange *p,
                                         unsigned status, const char *text)
{
    struct rig *g = to;

    g->uncommitted = true;
    (void)p;
    buf_printf(&g->seen, "own %u %s\n", status, text);
}

static inline void rig_on_end(void *to, struct http_relay_exchange *p,
                              const struct http_relay_end *end)
{
    static const char *const by[] = { "server", "client", "fault", "self" };
    struct rig *g = to;

    g->uncommitted = true;
    assert_ptr_equal(p->user, g);
    g->ends++;
    buf_printf(&g->seen, "end %s%s%s\n", by[end->cause], end->complete ? " clean" : " ",
               end->complete ? "" : end->text);
    if (g->client >= 0)
        ioctl(g->client, FIONREAD, &g->at_end);
}

static inline void rig_on_rejected(void *to, uint64_t connection,
                                   const struct http_exchange_failure *why)
{
    struct rig *g = to;

    (void)connection;
    buf_printf(&g->seen, "refused %s\n", why->text);
}

static inline void rig_on_commit(void *to)
{
    struct rig *g = to;

    if (g->client >= 0 && g->uncommitted)
        ioctl(g->client, FIONREAD, &g->at_commit);
    g->uncommitted = false;
}

static const struct http_relay_events events = { .is_to_sse_endpoint = rig_is_posted,
                                                 .request = rig_on_request,
                                                 .request_body = rig_on_body,
                                                 .request_complete = rig_on_request_end,
                                                 .response_head = rig_on_head,
                                                 .response_body = rig_on_response,
                                                 .rewrite_stream = rig_on_edit,
                                                 .local_response = rig_on_local_response,
                                                 .end = rig_on_end,
                                                 .commit_records = rig_on_commit,
                                                 .rejected = rig_on_rejected };

static inline int port_of(const struct rig *g)
{
    return http_relay_address(g->relay)->port;
}

/* `path` is the target's, with its query. */
static inline void open_url(struct rig *g, const char *url)
{
    struct http_relay_config config = { .access = &g->gate,
                                        .server.url = str_z(url),
                                        .keep_host = !g->own_host };
    struct err e = ERR_NONE;

    if (!http_relay_open(&g->relay, g->loop, &config, &events, g, &e))
        fail_msg("%s", e.msg);
    g->client = raw_client_connect(port_of(g));
}

static inline void rig_init(struct rig *g)
{
    *g = (struct rig){ .loop = loop_new(), .client = -1 };
    buf_init(&g->seen, 1 << 20);
    buf_init(&g->received, 1 << 24);
}

static inline void open_rig(struct rig *g, const struct fake_server_step *script,
                            const char *path)
{
    char url[128];

    rig_init(g);
    fake_server_start(&g->server, script);
    snprintf(url, sizeof url, "http://127.0.0.1:%d%s", g->server.port, path);
    open_url(g, url);
}

static inline void close_rig(struct rig *g)
{
    http_relay_close(g->relay);
    if (g->client >= 0)
        close(g->client);
    loop_free(g->loop);
    buf_release(&g->seen);
    buf_release(&g->received);
}

/* Sends the client's text, and reads its response to the end. */
static inline void rig_exchange(struct rig *g, const char *request_bytes,
                                const char *expected_bytes)
{
    buf_clear(&g->received);
    raw_client_send(g->client, str_z(request_bytes));
    raw_client_receive(g->loop, g->client, &g->received, str_z(expected_bytes));
    assert_str(buf_str(&g->received), str_z(expected_bytes));
}

static inline void assert_seen(struct rig *g, const char *want)
{
    assert_str(buf_str(&g->seen), str_z(want));
    assert_false(g->uncommitted);
    buf_clear(&g->seen);
}

static inline void rig_close_client(struct rig *g)
{
    close(g->client);
    g->client = -1;
}

#endif
