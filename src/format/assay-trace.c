/* format/assay-trace.c - the trace that Assay's import writes, version 2; only written.
 *
 * One JSON object per line: the start of the episode, a step for each tools/list and
 * tools/call, a tool_call for each call, the end. The client's calls are ordered by time and
 * paired with the server's responses by id: the first response binds, later ones do not.
 * Notifications and other requests have no line. A time that is not known is 0.
 *
 * The first line depends on everything, so all calls are kept until the end: at most LIMIT_LINE
 * bytes. */
#include <stdio.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "format/python-json.h"
#include "format/transcript.h"
#include "mcp/id.h"
#include "trace/limits.h"
#include "trace/timestamp.h"
#include "json/write.h"

#define DEFAULT_EPISODE "session"
#define DEFAULT_PROMPT "<mcp:session>"

enum assay_event_kind { EVENT_OTHER, EVENT_LIST, EVENT_LISTED, EVENT_CALL, EVENT_RESPONSE };

struct assay_event {
    int64_t ms;     /* since 1970; 0: unknown */
    uint64_t order; /* in the file */
    enum assay_event_kind kind;
    bool is_error;
    struct str key;  /* of the id, with its connection; empty: it does not correlate */
    struct str id;   /* JSON; null or a string */
    struct str name; /* of the tool */
    struct str json; /* the arguments, the tools, the result or the error; NULL: null */
};

/* A call without a response, in the order of the calls. */
struct open_call {
    const struct assay_event *request;
    struct open_call *next;
    size_t step;
    int64_t ms; /* of its line */
    bool answered;
};

/* The visible parts of an authorization challenge. */
struct challenge {
    bool visible, resource_metadata, scope;
};

struct assay_trace {
    struct format_options options;
    struct arena arena; /* texts of the events */
    struct assay_event *events;
    size_t count, cap;
    struct timestamp time;
    struct challenge challenge;
    bool full;

    /* While writing. */
    struct str episode;
    struct map calls; /* of struct open_call: the oldest with a key */
    struct open_call *first, *last;
    size_t step;
    int64_t now_ms, start_ms;
    struct str final_output;
};

static void *assay_trace_begin(const struct format_options *o)
{
    struct assay_trace *s = mem_new(struct assay_trace);

    s->options = *o;
    map_init(&s->calls);
    return s;
}

static struct str compact(struct assay_trace *s, struct json_val v)
{
    struct str kept;
    struct buf text;

    if (!json_exists(v))
        return STR_NONE;
    buf_init(&text, LIMIT_LINE);
    python_json_write_compact(&text, json_raw(v));
    kept = arena_str(&s->arena, buf_str(&text));
    buf_release(&text);
    return kept;
}

/* The id as text, in JSON: null if it has none. */
static struct str id_text(struct assay_trace *s, struct json_val id)
{
    if (json_type(id) == JSON_STRING)
        return arena_str(&s->arena, json_raw(id));
    if (json_type(id) == JSON_NUMBER)
        return arena_printf(&s->arena, "\"%.*s\"", STR_ARG(json_raw(id)));
    return STR("null");
}

static bool is_integer(struct json_val id)
{
    uint64_t n;
    int64_t negative;

    return str_parse_u64(json_raw(id), &n) || str_parse_i64(json_raw(id), &negative);
}

/* Ids are unique in a session, or on a connection. */
static struct str correlation_key(struct assay_trace *s, const struct record *r,
                                  struct json_val id)
{
    uint64_t scope = r->has & HAS_SESSION ? r->session : r->has & HAS_CONN ? r->conn : 0;
    bool typed = s->options.rules == FORMAT_RULES_HEAD;
    struct str kept = STR_NONE;
    struct buf key;

    if (json_type(id) != JSON_STRING && json_type(id) != JSON_NUMBER)
        return STR_NONE;
    if (typed && json_type(id) == JSON_NUMBER && !is_integer(id))
        return STR_NONE;
    buf_init(&key, LIMIT_LINE);
    buf_printf(&key, "%llu ", (unsigned long long)scope);
    (typed ? mcp_id_add_key : mcp_id_add_text_key)(&key, id);
    if (!key.full)
        kept = arena_str(&s->arena, buf_str(&key));
    buf_release(&key);
    return kept;
}

/* The tools of a result, in Assay's form. */
static struct str tools_json(struct assay_trace *s, struct json_val tools)
{
    struct json_iter it = json_each(tools);
    struct arena a = { 0 };
    struct json_out o;
    struct str kept;
    struct buf text;

    buf_init(&text, LIMIT_LINE);
    o = json_out_to(&text);
    json_out_object(&o);
    json_out_key(&o, STR("tools"));
    json_out_array(&o);
    while (json_next(&it)) {
        struct json_val name = json_get(it.value, STR("name"));
        struct json_val about = json_get(it.value, STR("description"));
        struct json_val schema = json_get(it.value, STR("inputSchema"));

        if (!json_exists(schema))
            schema = json_get(it.value, STR("input_schema"));
        json_out_object(&o);
        json_out_key_str(&o, STR("name"),
                         json_type(name) == JSON_STRING ? json_text(name, &a) : STR("unknown"));
        json_out_key_raw(&o, STR("description"),
                         json_type(about) == JSON_STRING ? json_raw(about) : STR("null"));
        json_out_key_raw(&o, STR("input_schema"),
                         json_exists(schema) ? compact(s, schema) : STR("null"));
        json_out_key_raw(&o, STR("tool_identity"), STR("null"));
        json_out_end_object(&o);
    }
    json_out_end_array(&o);
    json_out_end_object(&o);
    s->full |= text.full;
    kept = arena_str(&s->arena, buf_str(&text));
    buf_release(&text);
    arena_release(&a);
    return kept;
}

static void set_request(struct assay_trace *s, struct assay_event *ev, struct json_val v)
{
    struct json_val params = json_get(v, STR("params")), name = json_get(params, STR("name"));
    struct json_val method = json_get(v, STR("method"));

    if (json_is(method, STR("tools/list"))) {
        ev->kind = EVENT_LIST;
    } else if (json_is(method, STR("tools/call"))) {
        struct arena a = { 0 };

        ev->kind = EVENT_CALL;
        ev->name = json_type(name) == JSON_STRING ? arena_str(&s->arena, json_text(name, &a))
                                                  : STR("unknown_tool");
        ev->json = compact(s, json_get(params, STR("arguments")));
        arena_release(&a);
    }
}

static void set_response(struct assay_trace *s, struct assay_event *ev, struct json_val v)
{
    struct json_val result = json_get(v, STR("result")), tools = json_get(result, STR("tools"));

    if (json_type(tools) == JSON_ARRAY) {
        ev->kind = EVENT_LISTED;
        ev->json = tools_json(s, tools);
        return;
    }
    ev->is_error = !json_exists(result);
    ev->json = compact(s, ev->is_error ? json_get(v, STR("error")) : result);
    ev->kind = ev->json.at ? EVENT_RESPONSE : EVENT_OTHER;
}

static void add_event(struct assay_trace *s, const struct record *r, enum record_dir dir,
                      struct json_val v)
{
    struct assay_event ev = { .order = s->count };
    bool is_request = json_type(json_get(v, STR("method"))) == JSON_STRING;

    if (r->has & (HAS_WALL | HAS_US) && s->time.now_known && s->time.now_us >= 1000)
        ev.ms = s->time.now_us / 1000;
    ev.id = id_text(s, json_get(v, STR("id")));
    ev.key = correlation_key(s, r, json_get(v, STR("id")));
    if (is_request && dir == TO_SERVER)
        set_request(s, &ev, v);
    else if (!is_request && dir == TO_CLIENT)
        set_response(s, &ev, v);
    s->events = mem_reserve(s->events, &s->cap, s->count + 1, sizeof *s->events);
    s->events[s->count++] = ev;
}

/* Finds the HTTP status of a transport context, or of the response in it. */
static bool find_status(struct json_val context, int64_t *status)
{
    static const struct str names[] = { STR_INIT("status"), STR_INIT("status_code"),
                                        STR_INIT("http_status") };

    for (; json_type(context) == JSON_OBJECT; context = json_get(context, STR("response")))
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            struct json_val v = json_get(context, names[i]);
            struct str text = json_type(v) == JSON_STRING ? json_unquoted(v) : json_raw(v);

            if (str_parse_i64(text, status) && *status >= 0 && *status <= UINT16_MAX)
                return true;
        }
    return false;
}

static bool equals_nocase(struct str text, struct str lower)
{
    for (size_t i = 0; i < text.len && text.len == lower.len; i++)
        if (ascii_lower(text.at[i]) != lower.at[i])
            return false;
    return text.len == lower.len;
}

enum { HEADER_DEPTH = 8 };

/* Finds a header by its name in lower case: in `headers`, in `response`, then among the
 * members.
 */
static struct json_val find_header(struct json_val context, struct str name, int depth)
{
    static const struct str nested[] = { STR_INIT("headers"), STR_INIT("response") };
    struct json_val found = JSON_VAL_NONE;
    struct json_iter it = json_each(context);
    struct arena a = { 0 };

    if (json_type(context) != JSON_OBJECT || depth > HEADER_DEPTH)
        return found;
    for (size_t i = 0; i < sizeof nested / sizeof nested[0] && !json_exists(found); i++)
        found = find_header(json_get(context, nested[i]), name, depth + 1);
    while (!json_exists(found) && json_next(&it))
        if (json_type(it.value) == JSON_STRING && equals_nocase(json_text(it.key, &a), name))
            found = it.value;
    arena_release(&a);
    return found;
}

/* Whether a challenge has a parameter: its name and '=' at the start, or behind a space, tab or
 * comma. */
static bool has_parameter(struct str challenge, struct str name)
{
    for (size_t i = 0; i + name.len < challenge.len; i++) {
        bool begins = i == 0 || strchr(" ,\t", challenge.at[i - 1]);

        if (begins && challenge.at[i + name.len] == '=' &&
            equals_nocase(str_n(challenge.at + i, name.len), name))
            return true;
    }
    return false;
}

/* Reads a challenge of a response with status 401. Outside of it, transport context has no
 * effect. */
static void note_challenge(struct assay_trace *s, struct json_val members)
{
    struct json_val context = json_get(members, STR("transport_context"));
    struct json_val headers = json_get(members, STR("headers")), header;
    const struct str name = STR("www-authenticate");
    struct challenge *c = &s->challenge;
    struct arena a = { 0 };
    bool metadata, scope;
    struct str text;
    int64_t status;

    if ((!find_status(context, &status) && !find_status(headers, &status)) || status != 401)
        return;
    header = find_header(context, name, 0);
    if (!json_exists(header))
        header = find_header(headers, name, 0);
    text = json_text(header, &a);
    metadata = has_parameter(text, STR("resource_metadata"));
    scope = has_parameter(text, STR("scope"));
    c->visible |= metadata || scope;
    c->resource_metadata |= metadata;
    c->scope |= scope;
    arena_release(&a);
}

/* The context of a response is kept with its record, as unknown members of its format. */
static void note_context(struct assay_trace *s, const struct record *r)
{
    struct json_fault fault;
    struct json_iter it;
    struct json j;

    if (!r->unknown_members.at)
        return;
    json_init(&j);
    if (json_scan(&j, r->unknown_members, &fault)) {
        it = json_each(json_root(&j));
        while (json_next(&it))
            if (json_is(it.key, str_z(streamable_http_format.name)) ||
                json_is(it.key, str_z(http_sse_format.name)))
                note_challenge(s, it.value);
    }
    json_release(&j);
}

static void assay_trace_put(void *state, struct buf *to, const struct record *r)
{
    struct assay_trace *s = state;
    bool is_raw = r->kind == RECORD_RAW;
    enum record_dir dir = is_raw ? r->bytes.dir : r->message.dir;
    struct json_val v;
    struct json j;

    timestamp_update(&s->time, r);
    json_init(&j);
    v = transcript_message(r, &j);
    if (json_exists(v))
        add_event(s, r, dir, v);
    if ((r->kind == RECORD_MESSAGE && !r->message.event.at) || is_raw)
        if (dir == TO_CLIENT)
            note_context(s, r);
    json_release(&j);
    to->full = to->full || s->full || s->arena.block_bytes > LIMIT_LINE ||
               s->count * sizeof *s->events > LIMIT_LINE;
}

static int by_time(const void *left, const void *right)
{
    const struct assay_event *a = left, *b = right;

    if (a->ms != b->ms)
        return a->ms < b->ms ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void begin_line(struct assay_trace *s, struct json_out *o, const char *type)
{
    json_out_object(o);
    json_out_key_str(o, STR("type"), str_z(type));
    json_out_key_str(o, STR("episode_id"), s->episode);
}

static void end_line(struct json_out *o)
{
    json_out_end_object(o);
    buf_add_ch(o->to, '\n');
    o->comma = false;
}

static void write_summary(struct json_out *o, const struct challenge *c)
{
    json_out_key(o, STR("mcp"));
    json_out_object(o);
    json_out_key(o, STR("authorization_discovery"));
    json_out_object(o);
    json_out_key_bool(o, STR("visible"), c->visible);
    json_out_key_str(o, STR("source_kind"),
                     c->visible ? STR("www_authenticate") : STR("unknown"));
    json_out_key_bool(o, STR("resource_metadata_visible"), c->resource_metadata);
    json_out_key_bool(o, STR("authorization_servers_visible"), false);
    json_out_key_bool(o, STR("scope_challenge_visible"), c->scope);
    json_out_end_object(o);
    json_out_end_object(o);
}

static void write_start(struct assay_trace *s, struct json_out *o)
{
    const char *prompt = s->options.prompt ? s->options.prompt : DEFAULT_PROMPT;

    begin_line(s, o, "episode_start");
    json_out_key_int(o, STR("timestamp"), s->start_ms);
    json_out_key(o, STR("input"));
    json_out_object(o);
    json_out_key_str(o, STR("prompt"), str_z(prompt));
    json_out_end_object(o);
    json_out_key(o, STR("meta"));
    json_out_object(o);
    json_out_key_str(o, STR("source"), STR("mcp_import"));
    json_out_key_str(o, STR("episode_id"), s->episode);
    write_summary(o, &s->challenge);
    if (s->options.test_id)
        json_out_key_str(o, STR("test_id"), str_z(s->options.test_id));
    json_out_end_object(o);
    end_line(o);
}

static void write_step_id(struct json_out *o, size_t step)
{
    char text[32];

    snprintf(text, sizeof text, "step_%03zu", step);
    json_out_key_str(o, STR("step_id"), str_z(text));
}

/* `content` is a text, or NULL for null. */
static void write_step(struct assay_trace *s, struct json_out *o, struct str name,
                       struct str content, struct str id)
{
    begin_line(s, o, "step");
    write_step_id(o, s->step);
    json_out_key_int(o, STR("idx"), (int64_t)s->step);
    json_out_key_int(o, STR("timestamp"), s->now_ms);
    json_out_key_str(o, STR("kind"), STR("tool"));
    json_out_key_str(o, STR("name"), name);
    json_out_key_str_or_null(o, STR("content"), content);
    json_out_key_raw(o, STR("content_sha256"), STR("null"));
    json_out_key_raw(o, STR("truncations"), STR("[]"));
    json_out_key(o, STR("meta"));
    json_out_object(o);
    if (id.at)
        json_out_key_raw(o, STR("jsonrpc_id"), id);
    json_out_end_object(o);
    end_line(o);
    s->step++;
}

/* The line of a call with its response; `response` is NULL if there is none. */
static void write_call(struct assay_trace *s, struct json_out *o,
                       const struct assay_event *call, size_t step, int64_t ms,
                       const struct assay_event *response, const char *error)
{
    begin_line(s, o, "tool_call");
    write_step_id(o, step);
    json_out_key_int(o, STR("timestamp"), ms);
    json_out_key_str(o, STR("tool_name"), call->name);
    json_out_key_int(o, STR("call_index"), 0);
    json_out_key_raw(o, STR("args"), call->json.at ? call->json : STR("null"));
    json_out_key_raw(o, STR("args_sha256"), STR("null"));
    json_out_key(o, STR("result"));
    if (response && response->is_error) {
        json_out_object(o);
        json_out_key_raw(o, STR("error"), response->json);
        json_out_end_object(o);
    } else {
        json_out_raw(o, response ? response->json : STR("null"));
    }
    json_out_key_raw(o, STR("result_sha256"), STR("null"));
    json_out_key_str_or_null(o, STR("error"), str_z(error));
    json_out_key_raw(o, STR("truncations"), STR("[]"));
    end_line(o);
}

/* Calls with one key wait in their order. */
static void add_open_call(struct assay_trace *s, const struct assay_event *ev)
{
    struct open_call *call = arena_new(&s->arena, struct open_call);

    *call = (struct open_call){ .request = ev, .step = s->step - 1, .ms = s->now_ms };
    *(s->last ? &s->last->next : &s->first) = call;
    s->last = call;
    if (!map_get(&s->calls, ev->key))
        map_put(&s->calls, ev->key, call);
}

/* Finds the oldest call that a response binds, and makes the next one with its key the oldest.
 */
static struct open_call *take_open_call(struct assay_trace *s, struct str key)
{
    struct open_call *call = key.at ? map_remove(&s->calls, key) : NULL, *next;

    if (!call)
        return NULL;
    for (next = call->next; next; next = next->next)
        if (!next->answered && str_eq(next->request->key, key))
            break;
    if (next)
        map_put(&s->calls, key, next);
    return call;
}

static void write_request(struct assay_trace *s, struct json_out *o,
                          const struct assay_event *ev)
{
    write_step(s, o, ev->name, STR_NONE, ev->id);
    if (ev->key.at)
        add_open_call(s, ev);
    else
        write_call(s, o, ev, s->step - 1, s->now_ms, NULL, NULL);
}

static void write_response(struct assay_trace *s, struct json_out *o,
                           const struct assay_event *ev)
{
    struct open_call *call = take_open_call(s, ev->key);

    s->final_output = ev->json;
    if (!call)
        return;
    call->answered = true;
    write_call(s, o, call->request, call->step, s->now_ms, ev,
               ev->is_error ? "mcp_error" : NULL);
}

static void write_event(struct assay_trace *s, struct json_out *o, const struct assay_event *ev)
{
    s->now_ms = ev->ms > s->now_ms ? ev->ms : s->now_ms;
    switch (ev->kind) {
    case EVENT_OTHER:
        break;
    case EVENT_LIST:
        write_step(s, o, STR("tools/list"), STR("{}"), STR_NONE);
        break;
    case EVENT_LISTED:
        write_step(s, o, STR("tools/list.result"), ev->json, STR_NONE);
        break;
    case EVENT_CALL:
        write_request(s, o, ev);
        break;
    case EVENT_RESPONSE:
        write_response(s, o, ev);
    }
}

static void write_end(struct assay_trace *s, struct json_out *o)
{
    for (const struct open_call *call = s->first; call; call = call->next)
        if (!call->answered)
            write_call(s, o, call->request, call->step, call->ms, NULL, "timeout/no_response");
    begin_line(s, o, "episode_end");
    json_out_key_int(o, STR("timestamp"), s->now_ms);
    json_out_key_raw(o, STR("outcome"), STR("null"));
    json_out_key_str_or_null(o, STR("final_output"), s->final_output);
    end_line(o);
}

/* The name of the input without folder and extension. */
static struct str name_of_source(struct str path)
{
    for (size_t i = path.len; i > 0; i--)
        if (path.at[i - 1] == '/') {
            path = str_skip(path, i);
            break;
        }
    for (size_t i = path.len; i > 1; i--)
        if (path.at[i - 1] == '.') {
            path.len = i - 1;
            break;
        }
    return path.len && !str_eq(path, STR("-")) ? path : STR(DEFAULT_EPISODE);
}

static int64_t earliest(const struct assay_trace *s)
{
    int64_t ms = 0;

    for (size_t i = 0; i < s->count; i++)
        if (s->events[i].ms && (!ms || s->events[i].ms < ms))
            ms = s->events[i].ms;
    return ms;
}

static void assay_trace_end(void *state, struct buf *to)
{
    struct assay_trace *s = state;
    struct json_out o = json_out_to(to);

    s->episode = s->options.episode_id ? str_z(s->options.episode_id)
                                       : name_of_source(s->options.source);
    s->start_ms = s->now_ms = earliest(s);
    if (s->count)
        qsort(s->events, s->count, sizeof *s->events, by_time);
    write_start(s, &o);
    for (size_t i = 0; i < s->count; i++)
        write_event(s, &o, &s->events[i]);
    write_end(s, &o);
    map_release(&s->calls);
    arena_release(&s->arena);
    free(s->events);
    free(s);
}

const struct format assay_trace_format = {
    .name = "assay-trace",
    .about = "Assay's trace, version 2: a line for each tool call with its result",
    .ext = { ".assay.jsonl" },
    .options = { "episode-id", "test-id", "prompt" },
    .begin = assay_trace_begin,
    .put = assay_trace_put,
    .end = assay_trace_end,
};
