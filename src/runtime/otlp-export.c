#include "runtime/otlp-export.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/compress.h"
#include "base/mem.h"
#include "format/encoder.h"
#include "loop/timer.h"
#include "trace/limits.h"
#include "transport/http-client.h"

enum { RESPONSE_MAX = 4 << 20, EXCERPT_MAX = 160, REUSE_KEY = 1, WAIT_MS = 1000 };

/* How the current attempt ended. */
enum attempt_state {
    ATTEMPT_PENDING,
    ATTEMPT_RESPONDED, /* `status` and `response` are valid */
    ATTEMPT_FAILED,    /* `failure` says why there is no response */
    ATTEMPT_TIMED_OUT,
};

struct otlp_export {
    struct sink sink;
    const struct app *app;
    const struct otlp_config *config;
    struct encoder encoder;
    struct buf text; /* of the format: complete lines and the start of another */
    struct buf body; /* of the request, compressed */
    struct loop *loop;
    struct timer *timer;
    struct http_client *client;
    struct headers headers;
    uint64_t batches, rejected;

    enum attempt_state state;
    unsigned status;
    bool has_retry_after;
    uint64_t retry_after_s;
    struct buf response;
    struct err failure;
};

/* Seconds from now on, or the date of HTTP. */
static bool parse_retry_after(struct str text, uint64_t *seconds)
{
    int64_t at, us;

    if (str_parse_u64(text, seconds))
        return true;
    if (!clock_parse_http(text, &at))
        return false;
    us = clock_since(at, clock_wall_us());
    *seconds = us > 0 ? (uint64_t)us / 1000000 : 0;
    return true;
}

static void on_head(void *to, const struct response_head *head, struct str body)
{
    struct otlp_export *x = to;
    struct str after = headers_value(&head->headers, STR("Retry-After"));

    x->status = head->status;
    x->has_retry_after = parse_retry_after(after, &x->retry_after_s);
    buf_add(&x->response, body);
}

static void on_data(void *to, struct str bytes)
{
    struct otlp_export *x = to;

    buf_add(&x->response, bytes);
}

static void end_attempt(struct otlp_export *x, enum attempt_state state)
{
    x->state = state;
    loop_stop(x->loop);
}

static void on_complete(void *to)
{
    end_attempt(to, ATTEMPT_RESPONDED);
}

static void on_failed(void *to, enum http_client_error fault, const struct err *why)
{
    struct otlp_export *x = to;

    (void)fault;
    x->failure = *why;
    end_attempt(x, ATTEMPT_FAILED);
}

static void on_timer(void *to)
{
    end_attempt(to, ATTEMPT_TIMED_OUT);
}

static const struct http_transfer_events events = {
    .head = on_head, .data = on_data, .complete = on_complete, .failed = on_failed
};

static void wait_ms(struct otlp_export *x, uint64_t ms)
{
    timer_set(x->timer, ms);
    loop_run(x->loop);
}

static struct str target_of(const struct otlp_export *x)
{
    const struct url *url = http_client_url(x->client);

    return url->query.at
               ? str_n(url->path.at, (size_t)(url->query.at + url->query.len - url->path.at))
               : url->path;
}

/* Sends the body once and waits for the response. */
static void attempt(struct otlp_export *x)
{
    struct outgoing_request request = { .method = STR("POST"),
                                        .target = target_of(x),
                                        .headers = x->headers };
    struct http_transfer *transfer;

    request.body = (struct body_framing){ .kind = BODY_LENGTH, .length = x->body.len };
    x->state = ATTEMPT_PENDING;
    x->has_retry_after = false;
    buf_clear(&x->response);
    transfer = http_transfer_start(x->client, REUSE_KEY, &request, &events, x);
    http_transfer_send(transfer, buf_str(&x->body));
    http_transfer_finish(transfer);
    wait_ms(x, x->config->timeout_ms);
    timer_stop(x->timer);
    http_transfer_close(transfer);
}

static bool is_worth_a_retry(unsigned status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

/* The start of the response's text, for a message. */
static struct str excerpt(const struct otlp_export *x)
{
    struct str text = str_trim(buf_str(&x->response));

    text.len = str_find(text, '\n');
    return text.len > EXCERPT_MAX ? str_n(text.at, EXCERPT_MAX) : text;
}

static bool report_status(const struct otlp_export *x, struct err *e)
{
    struct str text = excerpt(x);

    err_set(e, ERR_PEER, "the collector '%s' rejected the spans with HTTP %u%s%.*s",
            x->config->display_url, x->status, text.len ? ": " : "", STR_ARG(text));
    if (is_worth_a_retry(x->status))
        return err_hint(e, "tried %d times; try again later", OTLP_EXPORT_ATTEMPTS);
    if (x->status == 401 || x->status == 403)
        return err_hint(e, "OTEL_EXPORTER_OTLP_HEADERS sets headers such as authorization");
    return err_hint(e, "is it the address for OTLP over HTTP? The usual path is /v1/traces");
}

/* A web server may accept any POST; the response of a collector is JSON, or empty. */
static bool is_page(const struct otlp_export *x)
{
    return str_starts(str_trim(buf_str(&x->response)), STR("<"));
}

static bool report_page(const struct otlp_export *x, struct err *e)
{
    err_set(e, ERR_PEER, "'%s' is no collector: it responded with HTML: %.*s",
            x->config->display_url, STR_ARG(excerpt(x)));
    return err_hint(e, "give the address for OTLP over HTTP; the usual port is 4318");
}

static bool report_failure(const struct otlp_export *x, struct err *e)
{
    if (x->state == ATTEMPT_TIMED_OUT) {
        err_set(e, ERR_PEER, "the collector '%s' did not respond within %u ms",
                x->config->display_url, x->config->timeout_ms);
        return err_hint(e, "OTEL_EXPORTER_OTLP_TIMEOUT gives it more time");
    }
    err_set(e, ERR_PEER, "cannot send spans to '%s': %s", x->config->display_url,
            x->failure.msg);
    return err_hint(e, "is the collector running? The usual port for OTLP over HTTP is 4318");
}

/* A collector may take a batch without some of its spans; these must not be sent again. */
static void note_partial_success(struct otlp_export *x)
{
    struct json_fault fault;
    struct json_val partial, count;
    struct arena a = { 0 };
    struct json doc;
    struct str why;
    int64_t rejected = 0;

    json_init(&doc);
    if (json_scan(&doc, buf_str(&x->response), &fault)) {
        partial = json_get(json_root(&doc), STR("partialSuccess"));
        count = json_get(partial, STR("rejectedSpans"));
        why = json_text(json_get(partial, STR("errorMessage")), &a);
        if (!str_parse_i64(json_text(count, &a), &rejected) && !json_int(count, &rejected))
            rejected = 0;
        if (rejected > 0)
            x->rejected += (uint64_t)rejected;
        if (rejected > 0 || why.len)
            log_printf(x->app->log, LOG_WARN, "the collector rejected %lld span%s%s%.*s",
                       (long long)rejected, rejected == 1 ? "" : "s", why.len ? ": " : "",
                       STR_ARG(why));
    }
    json_release(&doc);
    arena_release(&a);
}

/* Returns how long to wait before the next attempt. */
static uint64_t pause_ms(const struct otlp_export *x, int attempts)
{
    if (!x->has_retry_after)
        return (uint64_t)WAIT_MS * (uint64_t)attempts;
    return (x->retry_after_s < OTLP_EXPORT_WAIT_MAX_S ? x->retry_after_s
                                                      : OTLP_EXPORT_WAIT_MAX_S) *
           1000;
}

static void compose_body(struct otlp_export *x, struct str line)
{
    buf_clear(&x->body);
    if (x->config->gzip) {
        struct compressor *p = compressor_new(COMPRESS_GZIP);

        compressor_add(p, line, false, &x->body);
        compressor_end(p, &x->body);
        compressor_free(p);
    } else {
        buf_add(&x->body, line);
    }
}

static bool send_batch(struct otlp_export *x, struct str line, struct err *e)
{
    compose_body(x, line);
    for (int attempts = 1;; attempts++) {
        attempt(x);
        if (x->state != ATTEMPT_RESPONDED)
            return report_failure(x, e);
        if (x->status / 100 == 2)
            break;
        if (!is_worth_a_retry(x->status) || attempts == OTLP_EXPORT_ATTEMPTS)
            return report_status(x, e);
        log_printf(x->app->log, LOG_WARN,
                   "the collector responded with HTTP %u; trying again in %llu s", x->status,
                   (unsigned long long)pause_ms(x, attempts) / 1000);
        wait_ms(x, pause_ms(x, attempts));
    }
    if (is_page(x))
        return report_page(x, e);
    x->batches++;
    note_partial_success(x);
    return true;
}

/* Sends the complete lines. */
static bool send_lines(struct otlp_export *x, struct err *e)
{
    struct str rest = buf_str(&x->text);
    size_t len;

    if (x->text.full)
        return err_set(e, ERR_LIMIT, "a batch of spans has more than %zu MB", LIMIT_LINE >> 20);
    while ((len = str_find(rest, '\n')) < rest.len) {
        if (!send_batch(x, str_n(rest.at, len), e))
            return false;
        rest = str_skip(rest, len + 1);
    }
    buf_drop_front(&x->text, x->text.len - rest.len);
    return true;
}

static bool put(struct sink *self, const struct record *r, struct err *e)
{
    struct otlp_export *x = (struct otlp_export *)self;

    encoder_put(&x->encoder, &x->text, r);
    return !x->text.len || send_lines(x, e);
}

static void add_headers(struct otlp_export *x)
{
    headers_add(&x->headers, STR("Content-Type"), STR("application/json"));
    if (x->config->gzip)
        headers_add(&x->headers, STR("Content-Encoding"), STR("gzip"));
    headers_add(&x->headers, STR("User-Agent"), STR("mcpreel/" MCPREEL_VERSION));
}

bool otlp_export_open(struct otlp_export **out, const struct app *app,
                      const struct otlp_config *config, const struct format_options *options,
                      struct err *e)
{
    struct otlp_export *x = mem_new(struct otlp_export);
    const struct http_client_config http = { .url = str_z(config->url),
                                             .extra_headers = config->headers,
                                             .cacert = str_z(config->cacert),
                                             .connect_ms = config->timeout_ms };

    *x = (struct otlp_export){ .sink = { put }, .app = app, .config = config };
    x->loop = loop_new();
    buf_init(&x->text, LIMIT_LINE);
    buf_init(&x->body, LIMIT_LINE);
    buf_init(&x->response, RESPONSE_MAX);
    encoder_begin(&x->encoder, &otlp_format, options);
    x->timer = timer_new(x->loop, on_timer, x);
    add_headers(x);
    *out = x;
    if (http_client_new(&x->client, x->loop, &http, e))
        return true;
    x->client = NULL;
    otlp_export_close(x);
    *out = NULL;
    return false;
}

struct sink *otlp_export_sink(struct otlp_export *x)
{
    return &x->sink;
}

bool otlp_export_finish(struct otlp_export *x, struct err *e)
{
    encoder_end(&x->encoder, &x->text);
    return send_lines(x, e);
}

uint64_t otlp_export_batches(const struct otlp_export *x)
{
    return x->batches;
}

uint64_t otlp_export_rejected(const struct otlp_export *x)
{
    return x->rejected;
}

void otlp_export_close(struct otlp_export *x)
{
    if (!x)
        return;
    encoder_end(&x->encoder, &x->text);
    timer_close(x->timer);
    http_client_free(x->client);
    loop_free(x->loop);
    headers_release(&x->headers);
    buf_release(&x->text);
    buf_release(&x->body);
    buf_release(&x->response);
    free(x);
}
