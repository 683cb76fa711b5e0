/* tests/unit/relay-rig.h - a relay between a client and a server, for tests of it. */
#ifndef RELAY_RIG_H
#define RELAY_RIG_H

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "dial.h"
#include "peer.h"
#include "test.h"
#include "transport/http-relay.h"

/* An owner that writes down what it is told, the server behind the relay, and a client. */
struct rig {
    bool own_host; /* the server gets its own Host, not the client's */
    struct loop *loop;
    struct http_relay *relay;
    struct http_gate gate;
    struct peer server;
    struct buf seen, heard;
    int client, at_end; /* bytes that the client could have read at the `end` event */
    int at_settle;      /* the same when anything was last settled */
    bool unsettled;     /* something was told since */
    size_t ends, sent, bytes;
    bool quiet; /* bytes are counted, not kept */
    bool edits; /* see take_edit() */
    struct http_relay_end end;
};

/* Of what is told one after the other, each goes on, and is settled, before the next; only an
 * answer may come with its head, and the end with either. */
static inline void take_request(void *to, struct http_passage *p, const struct request *r)
{
    struct rig *g = to;

    assert_false(g->unsettled);
    g->unsettled = true;
    buf_printf(&g->seen, "%d:%d %.*s %.*s%s\n", (int)p->number, (int)p->connection,
               STR_ARG(r->method), STR_ARG(r->target), p->endpoint ? " endpoint" : "");
    p->user = g;
    p->unpacked = g->edits;
}

static inline void take_body(void *to, struct http_passage *p, struct str bytes)
{
    struct rig *g = to;

    assert_false(g->unsettled);
    g->unsettled = true;
    assert_ptr_equal(p->user, g);
    g->sent += bytes.len;
    if (!g->quiet)
        buf_printf(&g->seen, "body '%.*s'\n", STR_ARG(bytes));
}

static inline struct str take_asked(void *to, struct http_passage *p)
{
    struct rig *g = to;

    assert_false(g->unsettled || p->user != g);
    g->unsettled = true;
    buf_printf(&g->seen, "asked\n");
    return g->sent ? STR("7") : STR_NONE;
}

static inline void take_head(void *to, struct http_passage *p, const struct request *asked,
                             const struct reply *r)
{
    struct rig *g = to;

    assert_false(g->unsettled || !asked->path.len);
    g->unsettled = true;
    p->edited = g->edits;
    buf_printf(&g->seen, "head %u\n", r->status);
}

static inline bool take_posted(void *to, const struct request *r)
{
    (void)to;
    return str_eq(r->query, STR("post"));
}

static inline bool take_edit(void *to, struct http_passage *p, struct str *bytes, bool last,
                             const char **why)
{
    size_t len = bytes->len, x = str_find(*bytes, 'x');

    (void)to, (void)p;
    *why = "there is an x in it";
    *bytes = x < len ? str_n(bytes->at, x) : last ? STR("rest") : STR("other");
    return x == len;
}

static inline void take_answer(void *to, struct http_passage *p, struct str bytes)
{
    struct rig *g = to;

    g->unsettled = true;
    (void)p;
    g->bytes += bytes.len;
    if (!g->quiet)
        buf_printf(&g->seen, "answer '%.*s'\n", STR_ARG(bytes));
}

static inline void take_own(void *to, struct http_passage *p, unsigned status, const char *text)
{
    struct rig *g = to;

    g->unsettled = true;
    (void)p;
    buf_printf(&g->seen, "own %u %s\n", status, text);
}

static inline void take_end(void *to, struct http_passage *p, const struct http_relay_end *end)
{
    static const char *const by[] = { "server", "client", "fault", "self" };
    struct rig *g = to;

    g->unsettled = true;
    assert_ptr_equal(p->user, g);
    g->ends++;
    buf_printf(&g->seen, "end %s%s%s\n", by[end->by], end->clean ? " clean" : " ",
               end->clean ? "" : end->text);
    if (g->client >= 0)
        ioctl(g->client, FIONREAD, &g->at_end);
}

static inline void take_refused(void *to, uint64_t connection, const struct exchange_fault *why)
{
    struct rig *g = to;

    (void)connection;
    buf_printf(&g->seen, "refused %s\n", why->text);
}

static inline void settle(void *to)
{
    struct rig *g = to;

    if (g->client >= 0 && g->unsettled)
        ioctl(g->client, FIONREAD, &g->at_settle);
    g->unsettled = false;
}

static const struct http_relay_events events = { .posted = take_posted,
                                                 .request = take_request,
                                                 .body = take_body,
                                                 .asked = take_asked,
                                                 .head = take_head,
                                                 .answer = take_answer,
                                                 .edit = take_edit,
                                                 .own = take_own,
                                                 .end = take_end,
                                                 .settle = settle,
                                                 .refused = take_refused };

static inline int port_of(const struct rig *g)
{
    return http_relay_at(g->relay)->port;
}

/* `path` is the target's, with its query. */
static inline void open_url(struct rig *g, const char *url)
{
    struct http_relay_config config = { .gate = &g->gate,
                                        .server.url = str_z(url),
                                        .keep_host = !g->own_host };
    struct err e = ERR_NONE;

    if (!http_relay_open(&g->relay, g->loop, &config, &events, g, &e))
        fail_msg("%s", e.msg);
    g->client = dial_port(port_of(g));
}

static inline void set_up(struct rig *g)
{
    *g = (struct rig){ .loop = loop_new(), .client = -1 };
    buf_init(&g->seen, 1 << 20);
    buf_init(&g->heard, 1 << 24);
}

static inline void open_rig(struct rig *g, const struct peer_step *script, const char *path)
{
    char url[128];

    set_up(g);
    peer_start(&g->server, script);
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
    buf_release(&g->heard);
}

/* What the client says, and what it hears then, to its end. */
static inline void talk(struct rig *g, const char *say, const char *hear)
{
    buf_clear(&g->heard);
    dial_say(g->client, str_z(say));
    dial_hear(g->loop, g->client, &g->heard, str_z(hear));
    assert_str(buf_str(&g->heard), str_z(hear));
}

static inline void assert_seen(struct rig *g, const char *want)
{
    assert_str(buf_str(&g->seen), str_z(want));
    assert_false(g->unsettled);
    buf_clear(&g->seen);
}

static inline void hang_up(struct rig *g)
{
    close(g->client);
    g->client = -1;
}

#endif
