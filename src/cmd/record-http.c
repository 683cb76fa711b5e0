#include "cmd/record-http.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/troubles.h"
#include "cmd/old-server.h"
#include "cmd/record-oauth.h"
#include "engine/http-tap.h"
#include "engine/redirect.h"
#include "engine/sse-rewrite.h"
#include "loop/signals.h"
#include "transport/http-relay.h"

enum {
    GRACE_MS = 500, /* answers under way have, when we are to end */
    OK = 200,
};

/* The relay's events go through the taps into the file. */
struct sessions {
    struct reel reel;
    struct http_tap tap;
    struct http_gate gate;
    struct record_oauth oauth;
    struct old_server old;
    struct loop *loop;
    struct http_relay *relay;
    struct signals *signals;
    struct url server;
    bool ending;            /* somebody wants us to */
    bool beside;            /* something passed that is not for the endpoint */
    bool rigid;             /* a stream did that may tell where to post and cannot be changed */
    bool crowd;             /* somebody was told that there are too many */
    bool unread;            /* something passed that could not be unpacked */
    bool sent_away;         /* the user was told that it sends clients elsewhere */
    bool aside;             /* the user was told of a stream that is not the endpoint's */
    unsigned kept_out;      /* why others were not let in, as far as the user was told */
    struct troubles faults; /* the server's, that the user was told of */
};

/* One exchange, as far as we look at it. */
struct passing {
    struct http_seen *seen;
    bool may_be;                 /* a stream that tells where to post */
    struct sse_rewrite *rewrite; /* NULL: it is not */
    struct str fault;            /* in the arena: why there is no answer but ours, */
    struct str away;             /* or where the server's leads */
    struct arena arena;
};

static bool on_posted(void *to, const struct request *r)
{
    struct sessions *s = to;

    return http_tap_is_posted(&s->tap, r->method, r->path, r->query);
}

/* Logins are meant to pass so; a client that was given a wrong path should be told. */
static void tell_beside(struct sessions *s, const struct request *r)
{
    struct buf path;

    if (s->beside)
        return;
    s->beside = true;
    buf_init(&path, REQUEST_HEAD_MAX);
    redactor_path(&s->reel.how->redaction->redactor, r->path, &path);
    log_say(s->reel.app->log, LOG_INFO,
            "what is asked of '%.*s' passes, but only its head is recorded: it is not the "
            "server's own path",
            STR_ARG(buf_str(&path)));
    buf_release(&path);
}

static struct passing *passing_of(const struct http_passage *p)
{
    return p->user;
}

static struct passing *passing_new(const struct sessions *s, struct http_passage *p,
                                   const struct request *r)
{
    struct passing *x = mem_new(struct passing);

    x->may_be = s->tap.server && p->endpoint && sse_rewrite_may_be(r->method, &r->fields);
    p->unpacked = x->may_be;
    return x;
}

static void passing_free(struct passing *x)
{
    sse_rewrite_free(x->rewrite);
    arena_release(&x->arena);
    free(x);
}

static void on_request(void *to, struct http_passage *p, const struct request *r)
{
    struct sessions *s = to;
    struct http_tap_request q = {
        .conn = p->connection,
        .method = r->method,
        .path = r->path,
        .query = r->query,
        .fields = &r->fields,
        .host = p->host,
        .origin = p->origin,
        .endpoint = p->endpoint,
        .body = !body_is_none(r->body),
    };

    reel_log_request(&s->reel, r);
    p->user = passing_new(s, p, r);
    passing_of(p)->seen = http_tap_begin(&s->tap, &q);
    if (p->verdict.status)
        listening_kept_out(s->reel.app->log, &s->kept_out, NULL, &p->verdict);
    else if (!p->endpoint)
        tell_beside(s, r);
}

static void on_body(void *to, struct http_passage *p, struct str bytes)
{
    (void)to;
    http_tap_sent(passing_of(p)->seen, bytes);
}

static struct str on_asked(void *to, struct http_passage *p)
{
    struct sessions *s = to;

    http_tap_sent_all(passing_of(p)->seen, reel_now(&s->reel));
    return http_tap_asks(passing_of(p)->seen);
}

/* Who asked, by what; borrowed from that. */
static struct address_client client_of(const struct request *asked)
{
    return (struct address_client){ .host = fields_value(&asked->fields, STR("host")),
                                    .path = asked->path };
}

/* A stream that is packed all the same, or has a length, passes as it is: where it tells to
 * post to may be the server itself then. */
static void begin_stream(struct sessions *s, struct http_passage *p,
                         const struct request *asked, const struct reply *r)
{
    struct address_client client = client_of(asked);
    struct passing *x = passing_of(p);

    if (!x->may_be)
        return;
    if (sse_rewrite_can(r->status, &r->fields)) {
        x->rewrite = sse_rewrite_new(s->tap.server, &client);
        p->edited = true;
        old_server_streams(&s->old);
    } else if (!s->rigid && r->status == OK && media_of_fields(&r->fields) == MEDIA_SSE) {
        s->rigid = true;
        log_say(s->reel.app->log, LOG_INFO,
                "the server %s; if it tells clients where to post messages, that passes "
                "unchanged",
                fields_count(&r->fields, STR("content-encoding"))
                    ? "packs a stream although it was asked not to"
                    : "tells the length of a stream beforehand");
    }
    x->may_be = false;
}

/* It is no concern of ours where it tells to post messages to, so they may not even pass here.
 */
static void tell_aside(struct sessions *s, const struct http_passage *p,
                       const struct request *asked, const struct reply *r)
{
    struct buf path;

    if (p->endpoint || s->aside || !sse_rewrite_may_be(asked->method, &asked->fields) ||
        media_of_fields(&r->fields) != MEDIA_SSE)
        return;
    s->aside = true;
    buf_init(&path, REQUEST_HEAD_MAX);
    redactor_path(&s->reel.how->redaction->redactor, asked->path, &path);
    log_say(s->reel.app->log, LOG_WARN,
            "the stream of events at '%.*s' is not recorded, nor what is posted for it; to "
            "record clients of HTTP+SSE, give that path with --url",
            STR_ARG(buf_str(&path)));
    buf_release(&path);
}

/* The exchange came to nothing that is recorded: that stands at its end. */
static void see_redirect(struct sessions *s, struct http_passage *p,
                         const struct request *asked, const struct reply *r)
{
    struct address_client client = client_of(asked);
    struct passing *x = passing_of(p);
    struct redirect to;

    if (!p->endpoint ||
        !redirect_read(&to, r->status, &r->fields, &s->server, &client, &x->arena) ||
        !to.why.len)
        return;
    x->away = to.why;
    if (!s->sent_away)
        log_say(s->reel.app->log, LOG_WARN, "%.*s%s", STR_ARG(to.why),
                to.readable ? "; if it speaks MCP there, give that address with --url" : "");
    s->sent_away = true;
}

/* Once: who compresses one answer so does it with the others, too. */
static void tell_unread(struct sessions *s)
{
    if (s->unread || s->tap.packed.kind == ERR_OK)
        return;
    s->unread = true;
    log_say(s->reel.app->log, LOG_WARN, "a compressed answer passes, but is not recorded: %s",
            s->tap.packed.msg);
}

static void on_head(void *to, struct http_passage *p, const struct request *asked,
                    const struct reply *r)
{
    struct sessions *s = to;

    reel_log_response(&s->reel, r->status, &r->fields);
    http_tap_answer(passing_of(p)->seen, r->status, &r->fields, BY_SERVER, reel_now(&s->reel));
    begin_stream(s, p, asked, r);
    tell_aside(s, p, asked, r);
    see_redirect(s, p, asked, r);
    tell_unread(s);
    if (p->endpoint && !on_posted(s, asked))
        old_server_answered(&s->old, asked, r->status);
}

static void on_answer(void *to, struct http_passage *p, struct str bytes)
{
    struct sessions *s = to;

    http_tap_answered(passing_of(p)->seen, bytes, reel_now(&s->reel));
    tell_unread(s);
}

/* A client that is sent elsewhere would talk to somebody we know nothing of. */
static bool on_edit(void *to, struct http_passage *p, struct str *bytes, bool last,
                    const char **why)
{
    struct sessions *s = to;
    struct passing *x = passing_of(p);
    struct err e = ERR_NONE;

    if (sse_rewrite_feed(x->rewrite, bytes, last, &e))
        return true;
    *why = arena_printf(&x->arena, "%s", e.msg).at;
    log_say(s->reel.app->log, LOG_ERROR, "%s; the stream is broken off", e.msg);
    return false;
}

static void on_own(void *to, struct http_passage *p, unsigned status, const char *text)
{
    static const struct fields none = { .at = NULL };
    struct sessions *s = to;

    http_tap_answer(passing_of(p)->seen, status, &none, BY_MCPREEL, reel_now(&s->reel));
    passing_of(p)->fault = arena_str(&passing_of(p)->arena, str_z(text));
    log_say(s->reel.app->log, status >= 500 ? LOG_WARN : LOG_DEBUG, "answered %u: %s", status,
            text);
}

static enum http_tap_by ended_by(enum http_relay_by by)
{
    static const enum http_tap_by names[] = {
        [HTTP_RELAY_SERVER] = BY_SERVER,
        [HTTP_RELAY_CLIENT] = BY_CLIENT,
        [HTTP_RELAY_FAULT] = BY_ERROR,
        [HTTP_RELAY_SELF] = BY_MCPREEL,
    };

    return names[by];
}

/* That clients leave is their right. What a server does wrong is told once for each reason: it
 * may do so to a thousand streams. */
static enum log_level how_loud(struct sessions *s, const struct http_relay_end *end)
{
    enum { FAULT = 1 };
    struct err e = ERR_NONE;

    if (end->by != HTTP_RELAY_SERVER && end->by != HTTP_RELAY_FAULT)
        return LOG_DEBUG;
    err_set(&e, ERR_PEER, "%s", end->text);
    troubles_add(&s->faults, FAULT, true, &e);
    return troubles_take(&s->faults, &e) ? LOG_WARN : LOG_DEBUG;
}

static void on_end(void *to, struct http_passage *p, const struct http_relay_end *end)
{
    struct sessions *s = to;
    struct str why = end->text ? str_z(end->text) : STR_NONE;

    if (!why.len)
        why = end->by == HTTP_RELAY_SERVER ? passing_of(p)->away : passing_of(p)->fault;
    http_tap_end(passing_of(p)->seen, ended_by(end->by), end->clean, why, reel_now(&s->reel));
    passing_free(p->user);
    if (!end->clean && end->text)
        log_say(s->reel.app->log, how_loud(s, end), "request %llu was broken off: %s",
                (unsigned long long)p->number, end->text);
}

static void on_settle(void *to)
{
    struct sessions *s = to;

    reel_check(&s->reel, http_tap_trouble(&s->tap, &s->reel.why));
}

static void on_refused(void *to, uint64_t connection, const struct exchange_fault *why)
{
    struct sessions *s = to;

    listening_refused(s->reel.app->log, &s->crowd, connection, why);
}

static const struct http_relay_events relay_events = {
    .posted = on_posted,
    .request = on_request,
    .body = on_body,
    .asked = on_asked,
    .head = on_head,
    .answer = on_answer,
    .edit = on_edit,
    .own = on_own,
    .end = on_end,
    .settle = on_settle,
    .refused = on_refused,
};

static void on_done(void *to)
{
    struct sessions *s = to;

    loop_stop(s->loop);
}

static void on_signal(void *to, int signum)
{
    struct sessions *s = to;

    (void)signum;
    if (s->ending)
        loop_stop(s->loop); /* who asks twice does not want to wait */
    else
        http_relay_stop(s->relay, GRACE_MS, on_done, s);
    s->ending = true;
}

/* Only the disk is waited for: whoever is tired of that may end us as any other program. */
static void on_waits(void *to)
{
    struct sessions *s = to;

    signals_close(s->signals);
    s->signals = NULL;
}

static bool open_relay(struct sessions *s, const struct record_http_settings *http,
                       struct err *e)
{
    struct http_relay_config config = {
        .listen = { .host = http->at.host, .port = http->at.port },
        .server = { .url = str_z(http->server->url),
                    .extra = http->server->headers,
                    .cacert = str_z(http->server->cacert) },
        .gate = &s->gate,
        .keep_host = http->keep_host,
        .base = http->server->base,
        .changes = &record_oauth_changes,
        .changes_to = &s->oauth,
    };

    s->tap.server = &s->server;
    return url_parse(&s->server, config.server.url, e) &&
           http_relay_open(&s->relay, s->loop, &config, &relay_events, s, e);
}

/* The server's own path, unless it is a secret: '/' is the same. */
static bool tell(struct sessions *s, const struct record_http_settings *http, struct err *e)
{
    struct str path = s->server.path;

    return listening_tell(s->reel.app, http->listening, http_relay_at(s->relay),
                          redaction_tells(s->reel.how->redaction, path) ? path : STR("/"), e);
}

static int run(struct sessions *s, const struct record_http_settings *http, struct err *e)
{
    int code = 0;

    if (!open_relay(s, http, e))
        return app_exit_code(e);
    record_oauth_init(&s->oauth, s->reel.app, str_z(http->server->url));
    old_server_init(&s->old, s->loop, s->reel.app->log, s->server.path);
    s->signals = signals_watch_listener(s->loop, on_signal, s);
    if (!reel_settle(&s->reel, true, e)) {
        code = app_exit_code(e);
    } else if (!tell(s, http, e)) {
        code = app_exit_code(e);
        reel_abandon(&s->reel);
    } else {
        reel_begin(&s->reel, STR("http"));
        loop_run(s->loop);
    }
    http_relay_close(s->relay);
    old_server_end(&s->old);
    if (!code) {
        s->reel.too_long = s->tap.too_long;
        code = reel_end(&s->reel, 0, NULL);
    }
    signals_close(s->signals);
    return code;
}

int record_http_run(const struct app *app, struct record_place *place,
                    const struct record_settings *how, const struct record_http_settings *http,
                    struct err *e)
{
    struct sessions s = { .gate = listening_gate(http->listening, &http->at) };
    int code;

    s.gate.lends = http->server->secrets.count > 0;
    reel_init(&s.reel, app, place, how, on_waits, &s);
    s.reel.together = true;
    http_tap_init(&s.tap, &s.reel.tap, how->max_message, redaction_learnt(how->redaction));
    if (!how->redaction->redactor.keep_url)
        http_tap_hide_addresses(&s.tap, str_z(http->server->url));
    s.loop = loop_new();
    code = run(&s, http, e);
    loop_free(s.loop);
    record_oauth_release(&s.oauth);
    http_tap_release(&s.tap);
    reel_release(&s.reel);
    return code;
}
