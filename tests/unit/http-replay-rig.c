#include "http-replay-rig.h"

#include <stdlib.h>

#include "base/mem.h"
#include "memory-file.h"
#include "trace/limits.h"
#include "transport/http-exchange.h"

enum {
    REQUESTS_MAX = 32, /* that are sent of a recording */
    TIMERS_MAX = 4096, /* that run out */
    OUTPUT_MAX = 1 << 28,
    REFUSED = 500,
};

/* A request to send. */
struct recorded_request {
    struct str method, path;
    struct headers fields;
    struct buf body;
    uint64_t exchange; /* of the recording */
    bool batch;
};

/* An HTTP request that was sent. */
struct live_request {
    struct http_exchange x;
    struct request_head head;
    struct replay_run *run;
    bool is_get;
};

struct replay_run {
    struct action_sink out;
    struct sink gather; /* stands before the HTTP script */
    struct http_exchange_io port;
    struct arena arena;
    struct message_store_memory shelf;
    struct fuzzy fuzzy;
    struct index script;
    struct http_index http;
    struct http_replay mock;
    struct recorded_request asking[REQUESTS_MAX];
    size_t asking_count;
    struct live_request sent[REQUESTS_MAX + 8];
    size_t sent_count;
    uint64_t timers[TIMERS_MAX];
    size_t timer_first, timer_count;
    int64_t now_us;
    char session[128]; /* the id that the last response named */
    struct buf desk;
    struct http_replay_rig *result;
    bool finished;
};

/* Collects the requests of the recorded clients. */

static struct recorded_request *find_recorded(struct replay_run *r, const struct record *of)
{
    for (size_t i = 0; of->has & HAS_EXCHANGE && i < r->asking_count; i++)
        if (r->asking[i].exchange == of->exchange)
            return &r->asking[i];
    return NULL;
}

static struct recorded_request *add_recorded(struct replay_run *r, struct str method,
                                             struct str path)
{
    struct recorded_request *a;

    if (r->asking_count == REQUESTS_MAX)
        return NULL;
    a = &r->asking[r->asking_count++];
    *a = (struct recorded_request){ .method = arena_str(&r->arena, method),
                                    .path = arena_str(&r->arena, path) };
    buf_init(&a->body, OUTPUT_MAX);
    return a;
}

static void read_headers(struct replay_run *r, struct recorded_request *a, struct str headers)
{
    struct json_fault fault;
    struct json_iter it;
    struct json j;

    json_init(&j);
    if (headers.len && json_scan(&j, headers, &fault)) {
        it = json_each(json_root(&j));
        while (json_next(&it))
            if (json_type(json_item(it.value, 1)) == JSON_STRING)
                headers_add(&a->fields,
                            arena_str(&r->arena, json_text(json_item(it.value, 0), &r->arena)),
                            arena_str(&r->arena, json_text(json_item(it.value, 1), &r->arena)));
    }
    json_release(&j);
}

static void read_message(struct replay_run *r, const struct record *of)
{
    struct recorded_request *a = find_recorded(r, of);

    if (!a)
        a = add_recorded(r, STR("POST"), STR("/mcp"));
    if (!a)
        return;
    if (of->message.batch.len || a->body.len) {
        a->batch = true;
        buf_add_ch(&a->body, a->body.len ? ',' : '[');
    }
    buf_add(&a->body, json_raw(of->message.msg));
}

static bool read_record(struct sink *self, const struct record *of, struct err *e)
{
    struct replay_run *r =
        (struct replay_run *)((char *)self - offsetof(struct replay_run, gather));
    struct recorded_request *a;

    if (of->kind == RECORD_HTTP_REQUEST && !find_recorded(r, of)) {
        a = add_recorded(r, of->http.method, of->http.path);
        if (a) {
            a->exchange = of->exchange;
            read_headers(r, a, of->http.headers);
        }
    }
    if (of->kind == RECORD_MESSAGE && of->message.dir == TO_SERVER)
        read_message(r, of);
    return r->http.sink.put(&r->http.sink, of, e);
}

/* The connection of an exchange. */

static void on_write(void *at, struct str bytes)
{
    const struct live_request *s = at;
    size_t found;

    buf_add(&s->run->result->last_bytes, bytes);
    while (bytes.len && !str_starts(bytes, STR("\r\n"))) { /* the lines of a head */
        struct str line = str_cut(&bytes, '\n');

        if (!str_starts(line, STR("Mcp-Session-Id: ")))
            continue;
        line = str_trim(str_skip(line, strlen("Mcp-Session-Id: ")));
        found = line.len < sizeof s->run->session ? line.len : 0;
        memcpy(s->run->session, line.at, found);
        s->run->session[found] = '\0';
    }
}

static struct buf *on_compose_buf(void *at)
{
    const struct live_request *s = at;

    buf_clear(&s->run->desk);
    return &s->run->desk;
}

static void on_read(void *at, bool on)
{
    (void)at;
    (void)on;
}

static void on_begun(void *at)
{
    const struct live_request *s = at;

    s->run->result->responses++;
}

static void on_ended(void *at)
{
    (void)at;
}

static void on_aborted(void *at, bool unframed)
{
    (void)at;
    (void)unframed;
    BUG("the engine has no reason to abort");
}

static size_t on_queued(const void *at)
{
    (void)at;
    return 0;
}

/* The engine. */

static void respond(struct live_request *s, const struct action *a)
{
    struct http_exchange_response head = { .status = a->status, .headers = *a->headers };
    struct err e = ERR_NONE;

    if (!http_exchange_respond(&s->x, &head, a->text, &e))
        http_exchange_send_error(&s->x, REFUSED, NULL, STR("it cannot be sent"));
}

static void open_stream(struct live_request *s, const struct action *a)
{
    struct http_exchange_response head = { .status = a->status,
                                           .headers = *a->headers,
                                           .body = HTTP_EXCHANGE_STREAM };
    struct err e = ERR_NONE;

    BUG_IF(!http_exchange_send_head(&s->x, &head, &e));
}

static void put_action(struct action_sink *self, const struct action *a)
{
    struct replay_run *r = (struct replay_run *)self;
    struct live_request *s;

    if (a->kind == ACTION_SET_TIMER && r->timer_count < TIMERS_MAX)
        r->timers[r->timer_count++] = a->timer;
    if (a->kind == ACTION_FINISH)
        r->finished = true;
    if (a->kind != ACTION_HTTP_RESPONSE && a->kind != ACTION_STREAM_OPEN &&
        a->kind != ACTION_STREAM_WRITE && a->kind != ACTION_STREAM_END)
        return;
    BUG_IF(!a->route.exchange || a->route.exchange > r->sent_count);
    s = &r->sent[a->route.exchange - 1];
    if (a->kind == ACTION_HTTP_RESPONSE)
        respond(s, a);
    else if (a->kind == ACTION_STREAM_OPEN)
        open_stream(s, a);
    else if (a->kind == ACTION_STREAM_WRITE)
        http_exchange_write(&s->x, a->text);
    else
        http_exchange_end(&s->x);
}

static void step(struct replay_run *r, const struct event *of)
{
    struct event ev = *of;

    ev.now_us = r->now_us += 1000;
    http_replay_step(&r->mock, &ev);
}

static void run_timers(struct replay_run *r)
{
    while (r->timer_first < r->timer_count) {
        r->now_us += 60000000;
        step(r, &(struct event){ .kind = EVENT_TIMER, .timer = r->timers[r->timer_first++] });
    }
}

static void send_request(struct replay_run *r, struct str method, struct str path,
                         const struct headers *fields, struct str body)
{
    struct live_request *s = &r->sent[r->sent_count++];
    struct event_request request = { .method = method,
                                     .path = path,
                                     .headers = fields,
                                     .host = ORIGIN_SELF,
                                     .origin = ORIGIN_NONE,
                                     .body = body };

    s->run = r;
    s->is_get = str_eq(method, STR("GET"));
    s->head = (struct request_head){ .method = method, .minor = 1, .keep_alive = true };
    http_exchange_init(&s->x, &s->head, &r->port, s);
    s->x.request_complete = true;
    buf_clear(&r->result->last_bytes);
    step(r, &(struct event){
                .kind = EVENT_HTTP_REQUEST, .exchange = r->sent_count, .request = &request });
    run_timers(r);
}

static void add_unless_there(struct headers *f, struct str name, struct str value)
{
    if (value.len && !headers_count(f, name))
        headers_add(f, name, value);
}

static void send_recorded(struct replay_run *r, struct recorded_request *a)
{
    bool begins = str_contains(buf_str(&a->body), STR("\"initialize\""));

    add_unless_there(&a->fields, STR("Accept"), STR("application/json, text/event-stream"));
    if (a->body.len)
        add_unless_there(&a->fields, STR("Content-Type"), STR("application/json"));
    if (!begins)
        add_unless_there(&a->fields, STR("Mcp-Session-Id"), str_z(r->session));
    if (a->batch)
        buf_add_ch(&a->body, ']');
    send_request(r, a->method, a->path, &a->fields, buf_str(&a->body));
}

static void send_plain(struct replay_run *r, const char *method, const char *name,
                       const char *value, const char *body)
{
    struct headers f = { .at = NULL };
    bool begins = strstr(body, "\"initialize\"") != NULL;

    headers_add(&f, STR("Accept"), STR("application/json, text/event-stream"));
    headers_add(&f, STR("Content-Type"), STR("application/json"));
    if (*name)
        headers_add(&f, str_z(name), str_z(value));
    if (!begins)
        add_unless_there(&f, STR("Mcp-Session-Id"), str_z(r->session));
    send_request(r, str_z(method), STR("/mcp"), &f, str_z(body));
    headers_release(&f);
}

/* Whether some recorded request has no response: its live one may wait as well. */
static bool has_unanswered(const struct replay_run *r)
{
    for (size_t i = 1; i < r->script.call_count; i++)
        if (!(r->script.calls[i].flags & CALL_HAS_RESPONSE))
            return true;
    return false;
}

static void check_unanswered(struct replay_run *r)
{
    for (size_t i = 0; i < r->sent_count; i++)
        r->result->unanswered += !r->sent[i].x.response_begun;
    BUG_IF(r->result->unanswered && !has_unanswered(r) && !r->finished);
}

static void send_all(struct replay_run *r)
{
    send_plain(r, "POST", "MCP-Protocol-Version", "2025-06-18",
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
               "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
               "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}");
    send_plain(r, "GET", "", "", "");
    for (size_t i = 0; i < r->asking_count; i++)
        send_recorded(r, &r->asking[i]);
    send_plain(r, "GET", "Last-Event-ID", "1-1", "");
    check_unanswered(r);
    send_plain(r, "DELETE", "", "", "");
}

static void end_all(struct replay_run *r)
{
    for (size_t i = 0; i < r->sent_count; i += 2)
        if (!r->sent[i].x.done) {
            r->sent[i].x.done = true;
            step(r, &(struct event){ .kind = EVENT_CLIENT_CLOSED, .exchange = i + 1 });
        }
    step(r, &(struct event){ .kind = EVENT_INPUT_CLOSED });
    run_timers(r);
    BUG_IF(!r->finished);
    for (size_t i = 0; i < r->sent_count; i++)
        BUG_IF(!r->sent[i].x.done);
}

/* Every session has a byte of its own. */
static void fill_fixed(void *to, size_t size)
{
    static unsigned char last;

    memset(to, ++last, size);
}

static void play(struct replay_run *r, const struct replay_options *how)
{
    struct http_replay_options options = { .replay = *how, .random = fill_fixed };

    http_replay_init(&r->mock, &r->script, &r->http, &r->fuzzy, &options, &r->out);
    step(r, &(struct event){ .kind = EVENT_OPENED });
    send_all(r);
    end_all(r);
    http_replay_release(&r->mock);
}

static void release(struct replay_run *r)
{
    for (size_t i = 0; i < r->asking_count; i++) {
        headers_release(&r->asking[i].fields);
        buf_release(&r->asking[i].body);
    }
    http_index_release(&r->http);
    index_release(&r->script);
    fuzzy_release(&r->fuzzy);
    message_store_memory_release(&r->shelf);
    buf_release(&r->desk);
    arena_release(&r->arena);
    free(r);
}

bool http_replay_rig_run(struct http_replay_rig *result, struct str recording,
                         const struct replay_options *how)
{
    struct replay_run *r = mem_new(struct replay_run);
    struct memory_reader p;
    bool ok;

    *result = (struct http_replay_rig){ .error = ERR_NONE };
    buf_init(&result->last_bytes, OUTPUT_MAX);
    r->out = (struct action_sink){ put_action };
    r->gather = (struct sink){ read_record };
    r->port = (struct http_exchange_io){ on_write, on_compose_buf, on_read,  on_begun,
                                         on_ended, on_aborted,     on_queued };
    r->result = result;
    buf_init(&r->desk, OUTPUT_MAX);
    message_store_memory_init(&r->shelf);
    fuzzy_init(&r->fuzzy, &r->script);
    index_init(&r->script, &r->shelf.store, &how->match.rules, &r->fuzzy.observer);
    http_index_init(&r->http, &r->script.sink, &r->shelf.store);
    memory_reader_run(&p, &recording_format, recording, recording.len + 1, &r->gather);
    ok = !p.failed;
    result->error = p.error;
    memory_reader_release(&p);
    index_finish(&r->script);
    http_index_finish(&r->http);
    if (ok)
        play(r, how);
    release(r);
    return ok;
}

void http_replay_rig_release(struct http_replay_rig *r)
{
    buf_release(&r->last_bytes);
}
