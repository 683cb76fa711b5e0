#include "http-replay.h"

#include <stdlib.h>

#include "base/mem.h"
#include "pieces.h"
#include "trace/limits.h"
#include "transport/exchange.h"

enum {
    REQUESTS_MAX = 32, /* that are sent of a recording */
    TIMERS_MAX = 4096, /* that run out */
    OUTPUT_MAX = 1 << 28,
    REFUSED = 500,
};

/* A request to send. */
struct asking {
    struct str method, path;
    struct fields fields;
    struct buf body;
    uint64_t exchange; /* of the recording */
    bool batch;
};

/* An HTTP request that was sent. */
struct sent {
    struct exchange x;
    struct request head;
    struct run *run;
    bool is_get;
};

struct run {
    struct action_sink out;
    struct sink gather; /* stands before the HTTP script */
    struct exchange_port port;
    struct arena arena;
    struct shelf_memory shelf;
    struct fuzzy fuzzy;
    struct script script;
    struct http_script http;
    struct http_mock mock;
    struct asking asking[REQUESTS_MAX];
    size_t asking_count;
    struct sent sent[REQUESTS_MAX + 8];
    size_t sent_count;
    uint64_t timers[TIMERS_MAX];
    size_t timer_first, timer_count;
    int64_t now_us;
    char session[128]; /* the id that the last response named */
    struct buf desk;
    struct http_replay *result;
    bool finished;
};

/* Gathering what the recorded clients sent. */

static struct asking *find_asking(struct run *r, const struct record *of)
{
    for (size_t i = 0; of->has & HAS_EXCHANGE && i < r->asking_count; i++)
        if (r->asking[i].exchange == of->exchange)
            return &r->asking[i];
    return NULL;
}

static struct asking *add_asking(struct run *r, struct str method, struct str path)
{
    struct asking *a;

    if (r->asking_count == REQUESTS_MAX)
        return NULL;
    a = &r->asking[r->asking_count++];
    *a = (struct asking){ .method = arena_str(&r->arena, method),
                          .path = arena_str(&r->arena, path) };
    buf_init(&a->body, OUTPUT_MAX);
    return a;
}

static void gather_headers(struct run *r, struct asking *a, struct str headers)
{
    struct json_fault fault;
    struct json_iter it;
    struct json j;

    json_init(&j);
    if (headers.len && json_scan(&j, headers, &fault)) {
        it = json_each(json_root(&j));
        while (json_next(&it))
            if (json_type(json_item(it.value, 1)) == JSON_STRING)
                fields_add(&a->fields,
                           arena_str(&r->arena, json_text(json_item(it.value, 0), &r->arena)),
                           arena_str(&r->arena, json_text(json_item(it.value, 1), &r->arena)));
    }
    json_release(&j);
}

static void gather_message(struct run *r, const struct record *of)
{
    struct asking *a = find_asking(r, of);

    if (!a)
        a = add_asking(r, STR("POST"), STR("/mcp"));
    if (!a)
        return;
    if (of->message.batch.len || a->body.len) {
        a->batch = true;
        buf_add_ch(&a->body, a->body.len ? ',' : '[');
    }
    buf_add(&a->body, json_raw(of->message.msg));
}

static bool gather(struct sink *self, const struct record *of, struct err *e)
{
    struct run *r = (struct run *)((char *)self - offsetof(struct run, gather));
    struct asking *a;

    if (of->kind == RECORD_HTTP_REQUEST && !find_asking(r, of)) {
        a = add_asking(r, of->http.method, of->http.path);
        if (a) {
            a->exchange = of->exchange;
            gather_headers(r, a, of->http.headers);
        }
    }
    if (of->kind == RECORD_MESSAGE && of->message.dir == TO_SERVER)
        gather_message(r, of);
    return r->http.sink.put(&r->http.sink, of, e);
}

/* The connection of an exchange. */

static void on_write(void *at, struct str bytes)
{
    const struct sent *s = at;
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

static struct buf *on_desk(void *at)
{
    const struct sent *s = at;

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
    const struct sent *s = at;

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

static void respond(struct sent *s, const struct action *a)
{
    struct answer head = { .status = a->status, .fields = *a->fields };
    struct err e = ERR_NONE;

    if (!exchange_answer(&s->x, &head, a->text, &e))
        exchange_refuse(&s->x, REFUSED, NULL, STR("it cannot be sent"));
}

static void open_stream(struct sent *s, const struct action *a)
{
    struct answer head = { .status = a->status, .fields = *a->fields, .body = EXCHANGE_STREAM };
    struct err e = ERR_NONE;

    BUG_IF(!exchange_head(&s->x, &head, &e));
}

static void act(struct action_sink *self, const struct action *a)
{
    struct run *r = (struct run *)self;
    struct sent *s;

    if (a->kind == ACTION_SET_TIMER && r->timer_count < TIMERS_MAX)
        r->timers[r->timer_count++] = a->timer;
    if (a->kind == ACTION_FINISH)
        r->finished = true;
    if (a->kind != ACTION_ANSWER && a->kind != ACTION_OPEN && a->kind != ACTION_WRITE &&
        a->kind != ACTION_END)
        return;
    BUG_IF(!a->way.exchange || a->way.exchange > r->sent_count);
    s = &r->sent[a->way.exchange - 1];
    if (a->kind == ACTION_ANSWER)
        respond(s, a);
    else if (a->kind == ACTION_OPEN)
        open_stream(s, a);
    else if (a->kind == ACTION_WRITE)
        exchange_write(&s->x, a->text);
    else
        exchange_end(&s->x);
}

static void step(struct run *r, const struct event *of)
{
    struct event ev = *of;

    ev.now_us = r->now_us += 1000;
    http_mock_step(&r->mock, &ev);
}

static void run_timers(struct run *r)
{
    while (r->timer_first < r->timer_count) {
        r->now_us += 60000000;
        step(r, &(struct event){ .kind = EVENT_TIMER, .timer = r->timers[r->timer_first++] });
    }
}

static void send_request(struct run *r, struct str method, struct str path,
                         const struct fields *fields, struct str body)
{
    struct sent *s = &r->sent[r->sent_count++];
    struct step_request request = { .method = method,
                                    .path = path,
                                    .fields = fields,
                                    .host = PLACE_SELF,
                                    .origin = PLACE_NONE,
                                    .body = body };

    s->run = r;
    s->is_get = str_eq(method, STR("GET"));
    s->head = (struct request){ .method = method, .minor = 1, .keep_alive = true };
    exchange_init(&s->x, &s->head, &r->port, s);
    s->x.whole = true;
    buf_clear(&r->result->last_bytes);
    step(r, &(struct event){
                .kind = EVENT_REQUEST, .exchange = r->sent_count, .request = &request });
    run_timers(r);
}

static void add_unless_there(struct fields *f, struct str name, struct str value)
{
    if (value.len && !fields_count(f, name))
        fields_add(f, name, value);
}

static void send_recorded(struct run *r, struct asking *a)
{
    bool begins = str_has(buf_str(&a->body), STR("\"initialize\""));

    add_unless_there(&a->fields, STR("Accept"), STR("application/json, text/event-stream"));
    if (a->body.len)
        add_unless_there(&a->fields, STR("Content-Type"), STR("application/json"));
    if (!begins)
        add_unless_there(&a->fields, STR("Mcp-Session-Id"), str_z(r->session));
    if (a->batch)
        buf_add_ch(&a->body, ']');
    send_request(r, a->method, a->path, &a->fields, buf_str(&a->body));
}

static void send_plain(struct run *r, const char *method, const char *name, const char *value,
                       const char *body)
{
    struct fields f = { .at = NULL };
    bool begins = strstr(body, "\"initialize\"") != NULL;

    fields_add(&f, STR("Accept"), STR("application/json, text/event-stream"));
    fields_add(&f, STR("Content-Type"), STR("application/json"));
    if (*name)
        fields_add(&f, str_z(name), str_z(value));
    if (!begins)
        add_unless_there(&f, STR("Mcp-Session-Id"), str_z(r->session));
    send_request(r, str_z(method), STR("/mcp"), &f, str_z(body));
    fields_release(&f);
}

/* Whether some recorded request has no response: its live one may wait as well. */
static bool has_unanswered(const struct run *r)
{
    for (size_t i = 1; i < r->script.op_count; i++)
        if (!(r->script.ops[i].flags & STRAND_ANSWERED))
            return true;
    return false;
}

static void check_held(struct run *r)
{
    for (size_t i = 0; i < r->sent_count; i++)
        r->result->held += !r->sent[i].x.begun;
    BUG_IF(r->result->held && !has_unanswered(r) && !r->finished);
}

static void send_all(struct run *r)
{
    send_plain(r, "POST", "MCP-Protocol-Version", "2025-06-18",
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
               "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
               "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}");
    send_plain(r, "GET", "", "", "");
    for (size_t i = 0; i < r->asking_count; i++)
        send_recorded(r, &r->asking[i]);
    send_plain(r, "GET", "Last-Event-ID", "1-1", "");
    check_held(r);
    send_plain(r, "DELETE", "", "", "");
}

static void end_all(struct run *r)
{
    for (size_t i = 0; i < r->sent_count; i += 2)
        if (!r->sent[i].x.over) {
            r->sent[i].x.over = true;
            step(r, &(struct event){ .kind = EVENT_GONE, .exchange = i + 1 });
        }
    step(r, &(struct event){ .kind = EVENT_CLOSED });
    run_timers(r);
    BUG_IF(!r->finished);
    for (size_t i = 0; i < r->sent_count; i++)
        BUG_IF(!r->sent[i].x.over);
}

/* Every session has a byte of its own. */
static void not_random(void *to, size_t size)
{
    static unsigned char last;

    memset(to, ++last, size);
}

static void play(struct run *r, const struct mock_options *how)
{
    struct http_mock_options options = { .mock = *how, .random = not_random };

    http_mock_init(&r->mock, &r->script, &r->http, &r->fuzzy, &options, &r->out);
    step(r, &(struct event){ .kind = EVENT_OPENED });
    send_all(r);
    end_all(r);
    http_mock_release(&r->mock);
}

static void release(struct run *r)
{
    for (size_t i = 0; i < r->asking_count; i++) {
        fields_release(&r->asking[i].fields);
        buf_release(&r->asking[i].body);
    }
    http_script_release(&r->http);
    script_release(&r->script);
    fuzzy_release(&r->fuzzy);
    shelf_memory_release(&r->shelf);
    buf_release(&r->desk);
    arena_release(&r->arena);
    free(r);
}

bool http_replay_run(struct http_replay *result, struct str recording,
                     const struct mock_options *how)
{
    struct run *r = mem_new(struct run);
    struct pieces p;
    bool ok;

    *result = (struct http_replay){ .error = ERR_NONE };
    buf_init(&result->last_bytes, OUTPUT_MAX);
    r->out = (struct action_sink){ act };
    r->gather = (struct sink){ gather };
    r->port = (struct exchange_port){ on_write, on_desk,    on_read,  on_begun,
                                      on_ended, on_aborted, on_queued };
    r->result = result;
    buf_init(&r->desk, OUTPUT_MAX);
    shelf_memory_init(&r->shelf);
    fuzzy_init(&r->fuzzy, &r->script);
    script_init(&r->script, &r->shelf.shelf, &how->match.rules, &r->fuzzy.reader);
    http_script_init(&r->http, &r->script.sink, &r->shelf.shelf);
    pieces_read(&p, &recording_format, recording, recording.len + 1, &r->gather);
    ok = !p.failed;
    result->error = p.error;
    pieces_release(&p);
    script_finish(&r->script);
    http_script_finish(&r->http);
    if (ok)
        play(r, how);
    release(r);
    return ok;
}

void http_replay_release(struct http_replay *r)
{
    buf_release(&r->last_bytes);
}
