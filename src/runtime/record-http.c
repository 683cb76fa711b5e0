#include "runtime/record-http.h"

#include <stdlib.h>

#include "base/errors-once.h"
#include "base/mem.h"
#include "mcphttp/url-rewrite.h"
#include "record/sse-rewrite.h"
#include "runtime/http-sse-hint.h"
#include "runtime/record-oauth.h"
#include "runtime/record-session.h"
#include "transport/http-relay.h"

enum {
    GRACE_MS = 500, /* for open responses at the end */
    OK = 200,
};

/* Records the events of the relay. */
struct http_recording {
    struct record_session session;
    const struct record_http_settings *settings;
    struct http_access access_rules;
    struct record_oauth oauth;
    struct http_sse_hint sse_hint;
    struct http_relay *relay;
    struct url server_url;
    bool logged_other_path;           /* a request to another path was logged */
    bool logged_unrewritable_stream;  /* a stream was logged that cannot be rewritten */
    bool logged_fd_limit;             /* the warning about too many clients was logged */
    bool logged_undecodable;          /* a failure to decompress was logged */
    bool logged_redirect;             /* a redirect to elsewhere was logged */
    bool logged_foreign_stream;       /* an event stream on another path was logged */
    unsigned logged_rejections;       /* reasons for rejections that were logged */
    struct errors_once logged_faults; /* faults of the server that were logged */
};

/* An exchange being recorded. */
struct recorded_exchange {
    struct http_recorder_exchange *recorded;
    bool may_be_sse;             /* the response may be an HTTP+SSE stream */
    struct sse_rewrite *rewrite; /* NULL: it is none */
    struct str local_error;      /* in the arena: why mcpreel itself answered, */
    struct str redirected_to;    /* or where the server redirects to */
    struct arena arena;
};

static struct traffic_recorder *recorder_of(struct http_recording *s)
{
    return &s->session.output.recorder;
}

static struct recorder_time now(struct http_recording *s)
{
    return traffic_recorder_now(recorder_of(s));
}

static bool on_is_sse_post(void *to, const struct request_head *r)
{
    struct http_recording *s = to;

    return http_recorder_is_sse_post(&recorder_of(s)->http, r->method, r->path, r->query);
}

/* Logs the first request to another path. Logins are forwarded like that, but a client may have
 * a wrong path. */
static void log_other_path(struct http_recording *s, const struct request_head *r)
{
    struct buf path;

    if (s->logged_other_path)
        return;
    s->logged_other_path = true;
    buf_init(&path, REQUEST_HEAD_BYTES_MAX);
    redactor_redact_path(&s->session.output.settings->redaction->redactor, r->path, &path);
    log_printf(s->session.output.app->log, LOG_INFO,
               "requests to '%.*s' are forwarded, but only their headers are recorded: it is "
               "not the MCP endpoint",
               STR_ARG(buf_str(&path)));
    buf_release(&path);
}

static struct recorded_exchange *exchange_of(const struct http_relay_exchange *p)
{
    return p->user;
}

static struct recorded_exchange *exchange_new(struct http_relay_exchange *p,
                                              const struct request_head *r)
{
    struct recorded_exchange *x = mem_new(struct recorded_exchange);

    x->may_be_sse = p->is_endpoint && sse_rewrite_may_apply(r->method, &r->headers);
    p->no_compression = x->may_be_sse;
    return x;
}

static void exchange_free(struct recorded_exchange *x)
{
    sse_rewrite_free(x->rewrite);
    arena_release(&x->arena);
    free(x);
}

static void on_request(void *to, struct http_relay_exchange *p, const struct request_head *r)
{
    struct http_recording *s = to;
    struct http_recorder_request q = {
        .conn = p->connection,
        .method = r->method,
        .path = r->path,
        .query = r->query,
        .headers = &r->headers,
        .host = p->host,
        .origin = p->origin,
        .is_endpoint = p->is_endpoint,
        .has_body = !body_is_empty(r->body),
    };

    record_output_log_request(&s->session.output, r);
    p->user = exchange_new(p, r);
    exchange_of(p)->recorded = http_recorder_begin(&recorder_of(s)->http, &q);
    if (p->access.status)
        listen_config_log_rejected(s->session.output.app->log, &s->logged_rejections, NULL,
                                   &p->access);
    else if (!p->is_endpoint)
        log_other_path(s, r);
}

static void on_body(void *to, struct http_relay_exchange *p, struct str bytes)
{
    (void)to;
    http_recorder_request_data(exchange_of(p)->recorded, bytes);
}

static struct str on_request_end(void *to, struct http_relay_exchange *p)
{
    struct http_recording *s = to;

    http_recorder_request_end(exchange_of(p)->recorded, now(s));
    return http_recorder_request_id(exchange_of(p)->recorded);
}

/* Returns the client's view of a request; borrows from it. */
static struct url_rewrite_client client_of(const struct request_head *asked)
{
    return (struct url_rewrite_client){ .host = headers_value(&asked->headers, STR("host")),
                                        .path = asked->path };
}

/* Starts to rewrite an HTTP+SSE stream. One that is compressed or has a length is forwarded
 * unchanged, so its endpoint may lead to the server itself. */
static void start_rewrite(struct http_recording *s, struct http_relay_exchange *p,
                          const struct request_head *asked, const struct response_head *r)
{
    struct url_rewrite_client client = client_of(asked);
    struct recorded_exchange *x = exchange_of(p);

    if (!x->may_be_sse)
        return;
    if (sse_rewrite_is_possible(r->status, &r->headers)) {
        x->rewrite = sse_rewrite_new(&s->server_url, &client);
        p->is_rewritten = true;
        http_sse_hint_note_stream(&s->sse_hint);
    } else if (!s->logged_unrewritable_stream && r->status == OK &&
               media_type_of_headers(&r->headers) == MEDIA_SSE) {
        s->logged_unrewritable_stream = true;
        log_printf(s->session.output.app->log, LOG_INFO,
                   "the server %s; an 'endpoint' event in it cannot be rewritten",
                   headers_count(&r->headers, STR("content-encoding"))
                       ? "compressed an SSE stream"
                       : "sent an SSE stream with a Content-Length");
    }
    x->may_be_sse = false;
}

/* Logs an event stream on another path: its endpoint is not rewritten, so posted messages may
 * bypass mcpreel. */
static void log_foreign_stream(struct http_recording *s, const struct http_relay_exchange *p,
                               const struct request_head *asked, const struct response_head *r)
{
    struct buf path;

    if (p->is_endpoint || s->logged_foreign_stream ||
        !sse_rewrite_may_apply(asked->method, &asked->headers) ||
        media_type_of_headers(&r->headers) != MEDIA_SSE)
        return;
    s->logged_foreign_stream = true;
    buf_init(&path, REQUEST_HEAD_BYTES_MAX);
    redactor_redact_path(&s->session.output.settings->redaction->redactor, asked->path, &path);
    log_printf(s->session.output.app->log, LOG_WARN,
               "the SSE stream at '%.*s' and the messages posted for it are not recorded: it "
               "is not the recorded endpoint; for legacy HTTP+SSE, give that path with --url",
               STR_ARG(buf_str(&path)));
    buf_release(&path);
}

/* Notes a redirect as the reason at the end of the exchange. */
static void note_redirect(struct http_recording *s, struct http_relay_exchange *p,
                          const struct request_head *asked, const struct response_head *r)
{
    struct url_rewrite_client client = client_of(asked);
    struct recorded_exchange *x = exchange_of(p);
    struct redirect to;

    if (!p->is_endpoint ||
        !url_rewrite_redirect(&to, r->status, &r->headers, &s->server_url, &client,
                              &x->arena) ||
        !to.warning.len)
        return;
    x->redirected_to = to.warning;
    if (!s->logged_redirect)
        log_printf(s->session.output.app->log, LOG_WARN, "%.*s%s", STR_ARG(to.warning),
                   to.is_valid_url ? "; if that is the MCP endpoint, give that URL with --url"
                                   : "");
    s->logged_redirect = true;
}

/* Logs once that a response cannot be decompressed. */
static void log_undecodable(struct http_recording *s)
{
    const struct err *why = &recorder_of(s)->http.decompress_error;

    if (s->logged_undecodable || why->kind == ERR_OK)
        return;
    s->logged_undecodable = true;
    log_printf(s->session.output.app->log, LOG_WARN,
               "a compressed response was forwarded but not recorded: %s", why->msg);
}

static void on_head(void *to, struct http_relay_exchange *p, const struct request_head *asked,
                    const struct response_head *r)
{
    struct http_recording *s = to;

    record_output_log_response(&s->session.output, r->status, &r->headers);
    http_recorder_response(exchange_of(p)->recorded, r->status, &r->headers,
                           HTTP_RECORDER_BY_SERVER, now(s));
    start_rewrite(s, p, asked, r);
    log_foreign_stream(s, p, asked, r);
    note_redirect(s, p, asked, r);
    log_undecodable(s);
    if (p->is_endpoint && !on_is_sse_post(s, asked))
        http_sse_hint_note_response(&s->sse_hint, asked, r->status);
}

static void on_response_data(void *to, struct http_relay_exchange *p, struct str bytes)
{
    struct http_recording *s = to;

    http_recorder_response_data(exchange_of(p)->recorded, bytes, now(s));
    log_undecodable(s);
}

/* Aborts a stream that would send its client to another server. */
static bool on_edit(void *to, struct http_relay_exchange *p, struct str *bytes, bool last,
                    const char **why)
{
    struct http_recording *s = to;
    struct recorded_exchange *x = exchange_of(p);
    struct err e = ERR_NONE;

    if (sse_rewrite_feed(x->rewrite, bytes, last, &e))
        return true;
    *why = arena_printf(&x->arena, "%s", e.msg).at;
    log_printf(s->session.output.app->log, LOG_ERROR, "%s; aborted the stream", e.msg);
    return false;
}

static void on_local_response(void *to, struct http_relay_exchange *p, unsigned status,
                              const char *text)
{
    static const struct headers none = { .at = NULL };
    struct http_recording *s = to;

    http_recorder_response(exchange_of(p)->recorded, status, &none, HTTP_RECORDER_BY_MCPREEL,
                           now(s));
    exchange_of(p)->local_error = arena_str(&exchange_of(p)->arena, str_z(text));
    log_printf(s->session.output.app->log, status >= 500 ? LOG_WARN : LOG_DEBUG,
               "responded to an HTTP request with %u: %s", status, text);
}

static enum http_recorder_by ended_by(enum http_relay_cause by)
{
    static const enum http_recorder_by names[] = {
        [HTTP_RELAY_BY_SERVER] = HTTP_RECORDER_BY_SERVER,
        [HTTP_RELAY_BY_CLIENT] = HTTP_RECORDER_BY_CLIENT,
        [HTTP_RELAY_BY_SERVER_ERROR] = HTTP_RECORDER_BY_ERROR,
        [HTTP_RELAY_BY_RELAY] = HTTP_RECORDER_BY_MCPREEL,
    };

    return names[by];
}

/* A client may close at any time. A fault of the server is logged once for each reason: there
 * may be a thousand streams. */
static enum log_level end_log_level(struct http_recording *s, const struct http_relay_end *end)
{
    enum { FAULT = 1 };
    struct err e = ERR_NONE;

    if (end->cause != HTTP_RELAY_BY_SERVER && end->cause != HTTP_RELAY_BY_SERVER_ERROR)
        return LOG_DEBUG;
    err_set(&e, ERR_PEER, "%s", end->text);
    errors_once_add(&s->logged_faults, FAULT, true, &e);
    return errors_once_next(&s->logged_faults, &e) ? LOG_WARN : LOG_DEBUG;
}

static void on_end(void *to, struct http_relay_exchange *p, const struct http_relay_end *end)
{
    struct http_recording *s = to;
    struct str why = end->text ? str_z(end->text) : STR_NONE;

    if (!why.len)
        why = end->cause == HTTP_RELAY_BY_SERVER ? exchange_of(p)->redirected_to
                                                 : exchange_of(p)->local_error;
    http_recorder_end(exchange_of(p)->recorded, ended_by(end->cause), end->complete, why,
                      now(s));
    exchange_free(p->user);
    if (!end->complete && end->text)
        log_printf(s->session.output.app->log, end_log_level(s, end),
                   "HTTP request %llu aborted: %s", (unsigned long long)p->number, end->text);
}

static void on_commit_record(void *to)
{
    struct http_recording *s = to;

    traffic_recorder_commit(recorder_of(s));
}

static void on_refused(void *to, uint64_t connection, const struct http_exchange_failure *why)
{
    struct http_recording *s = to;

    listen_config_log_refused(s->session.output.app->log, &s->logged_fd_limit, connection, why);
}

static const struct http_relay_events relay_events = {
    .is_to_sse_endpoint = on_is_sse_post,
    .request = on_request,
    .request_body = on_body,
    .request_complete = on_request_end,
    .response_head = on_head,
    .response_body = on_response_data,
    .rewrite_stream = on_edit,
    .local_response = on_local_response,
    .end = on_end,
    .commit_records = on_commit_record,
    .rejected = on_refused,
};

static void on_done(void *to)
{
    struct http_recording *s = to;

    loop_stop(s->session.loop);
}

static bool open_relay(struct http_recording *s, struct err *e)
{
    const struct record_http_settings *http = s->settings;
    struct http_relay_config config = {
        .listen = { .host = http->address.host, .port = http->address.port },
        .server = { .url = str_z(http->server->url),
                    .extra_headers = http->server->headers,
                    .cacert = str_z(http->server->cacert) },
        .access = &s->access_rules,
        .keep_host = http->keep_host,
        .base_path = http->server->target_path,
        .rewriter = &record_oauth_changes,
        .rewriter_to = &s->oauth,
    };

    traffic_recorder_set_server(recorder_of(s), &s->server_url, config.server.url);
    return url_parse(&s->server_url, config.server.url, e) &&
           http_relay_open(&s->relay, s->session.loop, &config, &relay_events, s, e);
}

/* Announces the server's path, or '/' if that is a secret. */
static bool announce(void *to, struct err *e)
{
    struct http_recording *s = to;
    struct record_output *output = &s->session.output;
    struct str path = s->server_url.path;

    return listen_config_announce(
        output->app, s->settings->listening, http_relay_address(s->relay),
        redaction_may_show_path(output->settings->redaction, path) ? path : STR("/"), e);
}

static void stop(void *to, int signum)
{
    struct http_recording *s = to;

    (void)signum;
    http_relay_stop(s->relay, GRACE_MS, on_done, s);
}

static int end(void *to, struct err *e)
{
    struct http_recording *s = to;

    (void)e;
    http_relay_close(s->relay);
    http_sse_hint_finish(&s->sse_hint);
    return EXIT_OK;
}

static const struct record_session_kind session_kind = {
    .transport = STR_INIT("http"),
    .listens = true,
    .announce = announce,
    .stop = stop,
    .end = end,
};

static int run(struct http_recording *s, struct err *e)
{
    const struct app *app = s->session.output.app;

    if (!open_relay(s, e))
        return app_exit_code(e);
    record_oauth_init(&s->oauth, app, str_z(s->settings->server->url));
    http_sse_hint_init(&s->sse_hint, s->session.loop, app->log, s->server_url.path);
    return record_session_run(&s->session, e);
}

int record_http_run(const struct app *app, struct record_path *target,
                    const struct record_settings *settings,
                    const struct record_http_settings *http, struct err *e)
{
    struct http_recording s = { .settings = http,
                                .access_rules =
                                    listen_config_access(http->listening, &http->address) };
    int code;

    s.access_rules.adds_credentials = http->server->secrets.count > 0;
    record_session_init(&s.session, app, target, settings, &session_kind, &s);
    s.session.end_with_stdin = http->listening->end_with_stdin;
    s.session.output.batch_writes = true;
    code = run(&s, e);
    record_oauth_release(&s.oauth);
    record_session_release(&s.session);
    return code;
}
