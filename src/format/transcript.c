#include "format/transcript.h"

#include <stdio.h>

#include "format/ndjson.h"
#include "mcp/id.h"
#include "mcp/method.h"
#include "json/path.h"

/* The last millisecond of the year 9999. */
#define MS_MAX INT64_C(253402300799999)

/* The year 2000. */
#define DATES_FROM_US INT64_C(946684800000000)

void transcript_init(struct transcript *t, enum format_rules rules)
{
    *t = (struct transcript){ .rules = rules, .typed_ids = rules == FORMAT_RULES_HEAD };
    pairing_init(&t->pairs);
    recent_keys_init(&t->calls, TRANSCRIPT_CALLS);
    json_member_index_init(&t->names);
    buf_init(&t->key, JSON_MAX_TEXT);
}

void transcript_release(struct transcript *t)
{
    pairing_release(&t->pairs);
    recent_keys_release(&t->calls);
    json_member_index_release(&t->names);
    arena_release(&t->arena);
    buf_release(&t->key);
}

bool transcript_error(const struct transcript_place *p, struct err *e, const char *fmt, ...)
{
    char text[sizeof e->msg];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (p->entry)
        format_error(p->window, p->at, e, "entry %llu: %s%s%s%s", (unsigned long long)p->entry,
                     p->member ? "'" : "", p->member ? p->member : "", p->member ? "': " : "",
                     text);
    else
        format_error(p->window, p->at, e, "%s", text);
    return false;
}

bool transcript_read_ms(struct json_val v, int64_t *ms)
{
    return json_type(v) == JSON_NUMBER && str_parse_i64(json_raw(v), ms) && *ms >= 0 &&
           *ms <= MS_MAX;
}

/* Methods that both sides may send, but that nearly always come from the server. */
static bool is_usually_from_server(struct str method)
{
    return str_eq(method, STR("notifications/progress")) ||
           str_eq(method, STR("notifications/tasks/status"));
}

/* The open request of a direction with an id; there is one connection. */
static const struct pairing_request *find_open_request(struct transcript *t,
                                                       enum record_dir dir, struct json_val id)
{
    struct record anywhere = { .kind = RECORD_MESSAGE };

    anywhere.message.ids_as_text = !t->typed_ids;
    return pairing_find(&t->pairs, &anywhere, dir, id, NULL);
}

static bool has_open_request(struct transcript *t, enum record_dir dir, struct json_val id)
{
    return find_open_request(t, dir, id) != NULL;
}

static enum record_dir dir_of_method(struct transcript *t, const struct mcp_message *m)
{
    const struct mcp_method *known = mcp_method_find(m->method);
    struct json_val cancelled = json_get(m->params, STR("requestId"));

    if (!known || known->dir == MCP_C2S)
        return TO_SERVER;
    if (known->dir == MCP_S2C || is_usually_from_server(m->method))
        return TO_CLIENT;
    /* Ids are not reused before the response, so this is a request of the other side; and
     * only the requester cancels a request. */
    if (m->kind == MCP_REQUEST)
        return has_open_request(t, TO_SERVER, m->id) ? TO_CLIENT : TO_SERVER;
    return !has_open_request(t, TO_SERVER, cancelled) &&
                   has_open_request(t, TO_CLIENT, cancelled)
               ? TO_CLIENT
               : TO_SERVER;
}

/* A response has the opposite direction of its request. If both sides have an open request with
 * its id (both count from 0), the later one is answered first: a server sends requests while it
 * works on a call. */
static enum record_dir dir_of_response(struct transcript *t, const struct mcp_message *m)
{
    const struct pairing_request *q = find_open_request(t, TO_CLIENT, m->id);
    uint64_t servers = q ? q->tag : 0;

    q = find_open_request(t, TO_SERVER, m->id);
    return servers > (q ? q->tag : 0) ? TO_SERVER : TO_CLIENT;
}

static enum record_dir infer_direction(struct transcript *t, const struct mcp_message *m)
{
    if (m->kind == MCP_OTHER)
        return TO_CLIENT;
    return mcp_is_response(m) ? dir_of_response(t, m) : dir_of_method(t, m);
}

static const char *wrong_type_of_id(struct json_val id)
{
    switch (json_type(id)) {
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_ARRAY:
        return "an array";
    case JSON_OBJECT:
        return "an object";
    default:
        return NULL;
    }
}

static bool check_id(const struct transcript_place *p, struct json_val v, struct err *e)
{
    const char *wrong = wrong_type_of_id(json_get(v, STR("id")));

    return !wrong || transcript_error(p, e, "a JSON-RPC id must not be %s", wrong);
}

/* An integer in its plain spelling; others never correlate under FORMAT_RULES_HEAD. */
static bool is_integer(struct json_val v)
{
    uint64_t n;
    int64_t negative;

    return json_type(v) == JSON_NUMBER &&
           (str_parse_u64(json_raw(v), &n) || str_parse_i64(json_raw(v), &negative));
}

static bool is_usable_id(struct json_val id)
{
    return json_type(id) == JSON_STRING || json_type(id) == JSON_NUMBER;
}

/* A response has exactly one of result and error, and an id unless it is an error. */
static bool check_strict_response(const struct transcript_place *p, struct json_val v,
                                  struct err *e)
{
    struct json_val error = json_get(v, STR("error")), id = json_get(v, STR("id"));
    bool is_error = json_exists(error);

    if (json_exists(json_get(v, STR("result"))) == is_error)
        return transcript_error(p, e, "a response must have either a result or an error");
    if (is_error && (!is_integer(json_get(error, STR("code"))) ||
                     json_type(json_get(error, STR("message"))) != JSON_STRING))
        return transcript_error(p, e,
                                "an error must have a whole number as 'code' and a "
                                "string as 'message'");
    return is_usable_id(id) || (is_error && json_type(id) <= JSON_NULL) ||
           transcript_error(p, e, "a JSON-RPC id must be a string or a number");
}

/* A request has an id; a notification has none, and is no method of requests. */
static bool check_strict_request(const struct transcript_place *p, struct json_val v,
                                 struct str method, struct err *e)
{
    const struct mcp_method *known = mcp_method_find(method);
    struct json_val id = json_get(v, STR("id"));
    bool is_request = known && !str_starts(method, STR("notifications/"));

    if (json_type(json_get(v, STR("method"))) != JSON_STRING)
        return transcript_error(p, e, "a JSON-RPC method must be a string");
    return is_usable_id(id) || (!json_exists(id) && !is_request) ||
           transcript_error(p, e, "a JSON-RPC id must be a string or a number");
}

static bool check_strictly(struct transcript *t, const struct transcript_place *p,
                           struct json_val v, struct err *e)
{
    struct json_val method = json_get(v, STR("method"));

    if (t->rules != FORMAT_RULES_HEAD)
        return true;
    if (!json_is(json_get(v, STR("jsonrpc")), STR("2.0")))
        return transcript_error(p, e, "a message must have \"jsonrpc\":\"2.0\"");
    return json_exists(method) ? check_strict_request(p, v, json_text(method, &t->arena), e)
                               : check_strict_response(p, v, e);
}

static bool has_duplicate(struct transcript *t, struct json_val object)
{
    struct json_member_list list = json_member_index_add(&t->names, object, NULL, 0);
    bool has = list.count < json_count(object);

    json_member_index_drop(&t->names, list);
    return has;
}

struct member_check {
    struct transcript *transcript;
    struct json_val found;
};

static bool check_members_of(void *arg, struct json_location location, struct json_val value)
{
    struct member_check *c = arg;

    (void)location;
    if (json_type(value) == JSON_OBJECT && has_duplicate(c->transcript, value))
        c->found = value;
    return !json_exists(c->found);
}

bool transcript_check_members(struct transcript *t, const struct transcript_place *p,
                              struct json_val root, struct err *e)
{
    static const struct json_path everything = {
        .parts = { { .kind = JSON_PATH_ANY, .any_depth = true } }, .count = 1
    };
    struct member_check c = { .transcript = t };
    struct json_location top = { .steps = NULL };
    struct transcript_place place = *p;

    if (t->rules != FORMAT_RULES_HEAD)
        return true;
    if (check_members_of(&c, top, root))
        json_path_select(&everything, root, check_members_of, &c);
    if (!json_exists(c.found))
        return true;
    place.at += json_offset(c.found) - json_offset(root);
    return transcript_error(&place, e, "an object has a member twice");
}

/* The number of an earlier tools/call with the id; 0: none. Remembers this one. */
static uint64_t add_call(struct transcript *t, struct json_val id, uint64_t number)
{
    const struct recent_keys_entry *earlier;
    uint64_t found;

    buf_clear(&t->key);
    mcp_id_add_text_key(&t->key, id);
    earlier = recent_keys_find(&t->calls, buf_str(&t->key));
    found = earlier ? earlier->value : 0;
    recent_keys_add(&t->calls, buf_str(&t->key), number, 0);
    return found;
}

static bool check_call_id(struct transcript *t, const struct transcript_place *p,
                          const struct mcp_message *m, struct err *e)
{
    uint64_t earlier;

    if (t->rules != FORMAT_RULES_DOCUMENTED || !str_eq(m->method, STR("tools/call")))
        return true;
    earlier = add_call(t, m->id, p->entry ? p->entry : p->window->line);
    if (!earlier)
        return true;
    transcript_error(p, e, "duplicate tools/call request id: %s %llu has it, too",
                     p->entry ? "entry" : "line", (unsigned long long)earlier);
    err_hint(e, "--rules head accepts an id again after its response, --rules none always");
    return false;
}

/* Pairs a message, and checks that the id of a request is not in use. */
static bool pair_message(struct transcript *t, const struct transcript_place *p,
                         const struct record *r, const struct mcp_message *m, struct err *e)
{
    bool correlates = !t->typed_ids || json_type(m->id) == JSON_STRING || is_integer(m->id);

    if (!correlates)
        return true;
    if (mcp_is_response(m)) {
        pairing_match_response(&t->pairs, r, m);
        return true;
    }
    if (m->kind != MCP_REQUEST)
        return true;
    if (r->message.dir == TO_SERVER && !check_call_id(t, p, m, e))
        return false;
    return pairing_add_request(&t->pairs, r, m, ++t->requests) ||
           t->rules != FORMAT_RULES_HEAD ||
           transcript_error(p, e, "two requests without a response have the same id");
}

static void set_time(struct record *r, struct json_val v)
{
    int64_t ms;

    if (r->has & HAS_WALL)
        return;
    if ((transcript_read_ms(json_get(v, STR("timestamp_ms")), &ms) ||
         transcript_read_ms(json_get(v, STR("timestamp")), &ms)) &&
        ms > 0) {
        r->has |= HAS_WALL;
        r->wall_us = ms * 1000;
    }
}

void transcript_note_time(struct transcript *t, const struct record *r)
{
    if (r->has & HAS_WALL && r->wall_us >= DATES_FROM_US &&
        (!t->start_us || r->wall_us < t->start_us))
        t->start_us = r->wall_us;
}

void transcript_set_start(const struct transcript *t, struct record *header)
{
    if (header->has & HAS_WALL || !t->start_us)
        return;
    header->has |= HAS_WALL;
    header->wall_us = t->start_us;
}

static bool has_result(struct json_val v)
{
    return json_exists(json_get(v, STR("result")));
}

static void make_raw(struct record *r, struct json_val v, enum record_dir dir)
{
    r->kind = RECORD_RAW;
    r->has |= HAS_FROM;
    r->bytes =
        (struct record_bytes){ .dir = dir, .bytes = json_raw(v), .why = STR("not JSON-RPC") };
}

bool transcript_read(struct transcript *t, const struct transcript_place *p, struct json_val v,
                     const enum record_dir *dir, bool any_object, struct record *r,
                     struct err *e)
{
    struct mcp_message m;

    arena_clear(&t->arena);
    if (json_type(v) == JSON_ARRAY && json_count(v))
        return transcript_error(p, e, "a batch: an entry must be one JSON-RPC message");
    if (json_type(v) != JSON_OBJECT)
        return transcript_error(p, e, "a JSON-RPC message must be an object");
    if (!check_id(p, v, e) || !check_strictly(t, p, v, e))
        return false;
    m = mcp_classify(v, &t->arena);
    if (m.kind == MCP_OTHER && !any_object && !has_result(v))
        return transcript_error(p, e, "not a JSON-RPC message");
    set_time(r, v);
    if (m.kind == MCP_OTHER) {
        make_raw(r, v, dir ? *dir : infer_direction(t, &m));
        return true;
    }
    r->kind = RECORD_MESSAGE;
    r->message.msg = v;
    r->message.ids_as_text = !t->typed_ids;
    r->message.dir = dir ? *dir : infer_direction(t, &m);
    return pair_message(t, p, r, &m, e);
}

bool transcript_is_message(struct json_val v)
{
    struct arena a = { 0 };
    bool is = json_type(v) == JSON_OBJECT && !wrong_type_of_id(json_get(v, STR("id"))) &&
              (has_result(v) || mcp_classify(v, &a).kind != MCP_OTHER);

    arena_release(&a);
    return is;
}

struct json_val transcript_message(const struct record *r, struct json *j)
{
    struct json_fault fault;
    struct json_val v = JSON_VAL_NONE;

    if (r->kind == RECORD_MESSAGE)
        v = r->message.msg;
    else if (r->kind == RECORD_RAW && !r->bytes.by.at &&
             features_is_other_json(r->bytes.bytes) && json_scan(j, r->bytes.bytes, &fault))
        v = json_root(j);
    return transcript_is_message(v) ? v : JSON_VAL_NONE;
}

/* For a first message that is longer than the head, truncated or damaged: the members that SDKs
 * and users write first. */
static bool starts_like_message(struct str head)
{
    static const struct str starts[] = {
        STR_INIT("{\"jsonrpc\":\"2.0\""), STR_INIT("{\"method\":\""), STR_INIT("{\"id\":"),
        STR_INIT("{\"result\":{"),        STR_INIT("{\"error\":{"),   STR_INIT("{\"params\":{"),
    };

    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (ndjson_starts_with(&head, starts[i]))
            return true;
    return false;
}

enum probe_rank transcript_probe(struct str head)
{
    struct json_fault fault;
    struct json j;
    size_t used;
    bool is;

    json_init(&j);
    if (json_scan_first(&j, head, &used, &fault))
        is = json_exists(json_get(json_root(&j), STR("jsonrpc"))) &&
             transcript_is_message(json_root(&j));
    else
        is = starts_like_message(head);
    json_release(&j);
    return is ? PROBE_SURE : PROBE_NONE;
}
