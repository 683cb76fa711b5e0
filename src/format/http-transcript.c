/* format/http-transcript.c - the formats streamable-http and http-sse: one document with the
 * messages of an HTTP session, as Assay reads it.
 *
 * An entry has exactly one of request (from the client), response (from the server, in a body)
 * and sse (an event of the server). An event that carries no message (an endpoint, a
 * keep-alive) becomes a RECORD_SSE. Everything else in the document and its entries, such as
 * transport_context and headers, is kept as unknown members. All entries are checked before the
 * first record is returned. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "format/json-document.h"
#include "format/transcript.h"
#include "trace/limits.h"
#include "trace/timestamp.h"
#include "trace/unknown-members.h"
#include "json/write.h"

#define STREAMABLE_HTTP "streamable-http"
#define HTTP_SSE "http-sse"

/* A message in a string in a string. */
enum { STRINGS_MAX = 8 };

enum entry_slot { SLOT_REQUEST, SLOT_RESPONSE, SLOT_SSE, SLOTS };
static const char *const slot_names[SLOTS] = { "request", "response", "sse" };

struct http_transcript {
    const struct format *format;
    struct json_document document;
    struct transcript transcript;
    struct json_iter entries;
    struct arena arena;               /* texts of the current record */
    struct json strings[STRINGS_MAX]; /* values in strings */
    uint64_t entry;                   /* number of the latest entry */
    bool header_read;
    struct json_val message; /* of the latest record; maybe a string with it */
};

static void *open_reader(const struct format *format)
{
    struct http_transcript *s = mem_new(struct http_transcript);

    s->format = format;
    json_document_init(&s->document);
    transcript_init(&s->transcript, FORMAT_RULES_NONE);
    for (size_t i = 0; i < STRINGS_MAX; i++)
        json_init(&s->strings[i]);
    return s;
}

static void *open_streamable_http(void)
{
    return open_reader(&streamable_http_format);
}

static void *open_http_sse(void)
{
    return open_reader(&http_sse_format);
}

static void http_transcript_close(void *state)
{
    struct http_transcript *s = state;

    json_document_release(&s->document);
    transcript_release(&s->transcript);
    for (size_t i = 0; i < STRINGS_MAX; i++)
        json_release(&s->strings[i]);
    arena_release(&s->arena);
    free(s);
}

static void restart(struct http_transcript *s, enum format_rules rules)
{
    transcript_release(&s->transcript);
    transcript_init(&s->transcript, rules);
}

static void http_transcript_set_rules(void *state, enum format_rules rules)
{
    restart(state, rules);
}

/* The transport of a document whose text may be cut off. */
struct head_members {
    bool entries, streamable_http, http_sse, transport;
};

static struct head_members members_of(struct str head)
{
    struct head_members m = { 0 };
    struct json_document_head h;
    struct json_fault fault;
    struct json j;
    size_t used;

    json_init(&j);
    json_document_head_init(&h, head);
    while (json_document_head_next(&h)) {
        m.entries |= json_is(h.name, STR("entries")) && str_starts(h.value, STR("["));
        if (!json_is(h.name, STR("transport")) || !json_scan_first(&j, h.value, &used, &fault))
            continue;
        m.transport = true;
        m.streamable_http = json_is(json_root(&j), STR(STREAMABLE_HTTP));
        m.http_sse = json_is(json_root(&j), STR(HTTP_SSE));
    }
    json_document_head_release(&h);
    json_release(&j);
    return m;
}

/* A document with entries and another transport, or none, is read for its error. */
static enum probe_rank probe_streamable_http(struct str head)
{
    struct head_members m = members_of(head);

    if (m.streamable_http)
        return PROBE_SURE;
    return m.entries && !m.http_sse ? PROBE_WEAK : PROBE_NONE;
}

static enum probe_rank probe_http_sse(struct str head)
{
    return members_of(head).http_sse ? PROBE_SURE : PROBE_NONE;
}

static bool is_known_in_document(const void *self, struct str name)
{
    const struct record *header = self;

    return str_eq(name, STR("transport")) || str_eq(name, STR("entries")) ||
           (str_eq(name, STR("recorded_at")) && header->has & HAS_WALL);
}

static bool is_known_in_entry(const void *self, struct str name)
{
    bool is = str_eq(name, STR("timestamp_ms"));

    (void)self;
    for (size_t i = 0; i < SLOTS; i++)
        is |= str_eq(name, str_z(slot_names[i]));
    return is;
}

static struct transcript_place place_of(const struct http_transcript *s, const struct window *w,
                                        struct json_val v)
{
    return (struct transcript_place){ .window = w, .at = json_offset(v), .entry = s->entry };
}

static bool check_transport(const struct http_transcript *s, const struct window *w,
                            struct json_val root, struct err *e)
{
    struct json_val transport = json_get(root, STR("transport"));
    struct arena a = { 0 };
    struct str found;

    if (json_is(transport, str_z(s->format->name)))
        return true;
    found = json_text(transport, &a);
    if (json_type(transport) == JSON_STRING)
        format_error(w, json_offset(transport), e, "'transport' must be \"%s\", not \"%.*s\"",
                     s->format->name, (int)(found.len < 40 ? found.len : 40), found.at);
    else
        format_error(w, json_offset(json_exists(transport) ? transport : root), e,
                     json_exists(transport) ? "'transport' must be a string"
                                            : "the document has no 'transport'");
    err_hint(e, "it is \"" STREAMABLE_HTTP "\" or \"" HTTP_SSE "\"");
    arena_release(&a);
    return false;
}

/* A transport of an entry must be that of the document. */
static bool check_transport_of_entry(const struct http_transcript *s, const struct window *w,
                                     struct json_val entry, struct err *e)
{
    struct json_val transport = json_get(entry, STR("transport"));
    struct transcript_place place = place_of(s, w, transport);

    return json_type(transport) != JSON_STRING || json_is(transport, str_z(s->format->name)) ||
           transcript_error(&place, e, "another transport than \"%s\", that of the document",
                            s->format->name);
}

static bool read_time(const struct http_transcript *s, const struct window *w,
                      struct json_val entry, struct record *r, struct err *e)
{
    struct json_val v = json_get(entry, STR("timestamp_ms"));
    struct transcript_place place = place_of(s, w, v);
    int64_t ms;

    if (json_type(v) <= JSON_NULL)
        return true;
    if (!transcript_read_ms(v, &ms))
        return transcript_error(&place, e,
                                "'timestamp_ms' must be a whole number of milliseconds since "
                                "1970, up to the year 9999");
    if (ms > 0) {
        r->has |= HAS_WALL;
        r->wall_us = ms * 1000;
    }
    return true;
}

/* A member that is null counts as absent, except under FORMAT_RULES_HEAD. */
static bool has_slot(const struct http_transcript *s, struct json_val entry, size_t slot)
{
    struct json_val v = json_get(entry, str_z(slot_names[slot]));

    return s->transcript.typed_ids ? json_exists(v) : json_type(v) > JSON_NULL;
}

static bool find_slot(const struct http_transcript *s, const struct window *w,
                      struct json_val entry, enum entry_slot *slot, struct err *e)
{
    struct transcript_place place = place_of(s, w, entry);
    const char *first = NULL;

    for (size_t i = 0; i < SLOTS; i++) {
        if (!has_slot(s, entry, i))
            continue;
        if (first)
            return transcript_error(&place, e,
                                    "'%s' and '%s'; an entry must have exactly one of request, "
                                    "response and sse",
                                    first, slot_names[i]);
        first = slot_names[i];
        *slot = (enum entry_slot)i;
    }
    return first || transcript_error(&place, e,
                                     "an entry must have exactly one of request, response and "
                                     "sse");
}

/* A text that is present, also if it is empty. */
static struct str text_of(struct http_transcript *s, struct json_val v)
{
    struct str text = json_text(v, &s->arena);

    if (json_type(v) == JSON_STRING && !text.at)
        text.at = "";
    return text;
}

/* Looks through a value for JSON-RPC, which may be in strings. Sets `*v` to the innermost
 * value. Returns its text as it is sent. */
static struct str unwrap_strings(struct http_transcript *s, struct json_val *v)
{
    struct str text = json_type(*v) == JSON_STRING ? text_of(s, *v) : json_raw(*v);
    struct json_fault fault;

    for (size_t i = 0; i < STRINGS_MAX && json_type(*v) == JSON_STRING; i++) {
        struct str inner = json_document_one_line(json_text(*v, &s->arena), &s->arena);

        if (!json_scan(&s->strings[i], inner, &fault))
            break;
        *v = json_root(&s->strings[i]);
    }
    return text;
}

static bool is_like_message(struct json_val v)
{
    static const struct str names[] = { STR_INIT("method"), STR_INIT("result"),
                                        STR_INIT("error"), STR_INIT("jsonrpc") };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (json_exists(json_get(v, names[i])))
            return true;
    return false;
}

static bool check_text(const struct transcript_place *p, struct json_val v, const char *what,
                       struct err *e)
{
    return json_type(v) <= JSON_NULL || json_type(v) == JSON_STRING ||
           transcript_error(p, e, "'%s' must be a string", what);
}

static bool check_sse(const struct http_transcript *s, const struct window *w,
                      struct json_val sse, struct err *e)
{
    struct transcript_place place = place_of(s, w, sse);
    struct json_val data = json_get(sse, STR("data"));

    if (json_type(sse) != JSON_OBJECT)
        return transcript_error(&place, e, "'sse' must be an object");
    if (!check_text(&place, json_get(sse, STR("event")), "sse.event", e) ||
        !check_text(&place, json_get(sse, STR("id")), "sse.id", e))
        return false;
    if (!json_exists(data))
        return transcript_error(&place, e, "'sse' has no 'data'");
    return json_type(data) == JSON_OBJECT || json_type(data) == JSON_STRING ||
           transcript_error(&place, e, "'sse.data' must be an object or a string");
}

/* Text that begins like JSON must be JSON: else a message would be lost. */
static bool check_data(const struct transcript_place *p, struct json_val inner, struct str text,
                       struct err *e)
{
    struct json_fault fault;
    struct json j;
    bool ok;

    if (json_type(inner) == JSON_ARRAY)
        return transcript_error(p, e, "a batch in 'sse.data': it must be one JSON-RPC message");
    text = str_trim(text);
    if (!str_starts(text, STR("{")) && !str_starts(text, STR("[")))
        return true;
    json_init(&j);
    ok = json_scan(&j, text, &fault) ||
         transcript_error(p, e, "'sse.data' is not valid JSON: %s", fault.what);
    json_release(&j);
    return ok;
}

static struct str event_json(struct http_transcript *s, struct json_val id)
{
    if (json_type(id) != JSON_STRING)
        return STR("{}");
    return arena_printf(&s->arena, "{\"id\":%.*s}", STR_ARG(json_raw(id)));
}

static bool read_sse(struct http_transcript *s, const struct window *w, struct json_val sse,
                     struct record *r, struct err *e)
{
    static const enum record_dir dir = TO_CLIENT;
    struct json_val event = json_get(sse, STR("event")), id = json_get(sse, STR("id"));
    struct json_val data = json_get(sse, STR("data")), inner = data;
    struct transcript_place place = place_of(s, w, data);
    bool is_message = json_type(event) != JSON_STRING || json_is(event, STR("message"));
    struct str text;

    if (!check_sse(s, w, sse, e))
        return false;
    place.member = "sse";
    text = unwrap_strings(s, &inner);
    if (is_message && !check_data(&place, inner, text, e))
        return false;
    if (is_message && is_like_message(inner)) {
        if (inner.doc != data.doc &&
            !transcript_check_members(&s->transcript, &place, inner, e))
            return false;
        s->message = data;
        if (!transcript_read(&s->transcript, &place, inner, &dir, true, r, e))
            return false;
        if (r->kind == RECORD_MESSAGE)
            r->message.event = event_json(s, id);
        return true;
    }
    r->kind = RECORD_SSE;
    r->sse.event = text_of(s, event);
    r->sse.id = text_of(s, id);
    r->sse.data = text;
    return true;
}

/* The entry may be any value. */
static bool read_entry(struct http_transcript *s, const struct window *w, struct json_val entry,
                       struct record *r, struct err *e)
{
    struct transcript_place place = place_of(s, w, entry);
    enum entry_slot slot = SLOT_REQUEST;
    enum record_dir dir;
    struct json_val v;

    *r = (struct record){ 0 };
    s->message = JSON_VAL_NONE;
    arena_clear(&s->arena);
    if (json_type(entry) != JSON_OBJECT)
        return transcript_error(&place, e, "an entry must be an object");
    if (!check_transport_of_entry(s, w, entry, e) || !read_time(s, w, entry, r, e) ||
        !find_slot(s, w, entry, &slot, e))
        return false;
    r->unknown_members = unknown_members_collect(entry, str_z(s->format->name),
                                                 is_known_in_entry, NULL, STR_NONE, &s->arena);
    v = json_get(entry, str_z(slot_names[slot]));
    if (slot == SLOT_SSE)
        return read_sse(s, w, v, r, e);
    dir = slot == SLOT_REQUEST ? TO_SERVER : TO_CLIENT;
    s->message = v;
    place = place_of(s, w, v);
    place.member = slot_names[slot];
    return transcript_read(&s->transcript, &place, v, &dir, true, r, e);
}

static bool check_entries(struct http_transcript *s, const struct window *w, struct err *e)
{
    struct json_iter it = s->entries;
    struct record r;
    bool ok = true;

    while (ok && json_next(&it)) {
        s->entry++;
        ok = read_entry(s, w, it.value, &r, e);
        if (ok)
            transcript_note_time(&s->transcript, &r);
    }
    s->entry = 0;
    return ok;
}

static bool check_document(struct http_transcript *s, const struct window *w, struct err *e)
{
    struct json_val root = json_root(&s->document.json);
    struct json_val entries = json_get(root, STR("entries"));
    struct transcript_place place = { .window = w, .at = json_offset(root) };

    if (json_type(root) != JSON_OBJECT) {
        format_error(w, json_offset(root), e, "the document must be an object");
        return false;
    }
    if (!check_transport(s, w, root, e) ||
        !transcript_check_members(&s->transcript, &place, root, e))
        return false;
    if (json_exists(entries) && json_type(entries) != JSON_ARRAY) {
        format_error(w, json_offset(entries), e, "'entries' must be an array");
        return false;
    }
    s->entries = json_each(entries);
    return check_entries(s, w, e);
}

static enum next_result read_header(struct http_transcript *s, const struct window *w,
                                    struct record *r, struct err *e)
{
    struct json_val root = json_root(&s->document.json);
    int64_t start_us;
    bool typed_ids;

    if (!check_document(s, w, e))
        return NEXT_ERROR;
    typed_ids = s->transcript.typed_ids;
    start_us = s->transcript.start_us;
    restart(s, FORMAT_RULES_NONE);
    s->transcript.typed_ids = typed_ids;
    s->transcript.start_us = start_us;
    s->header_read = true;
    arena_clear(&s->arena);
    *r = (struct record){ .kind = RECORD_HEADER };
    r->header.transport = STR("http");
    r->header.source = arena_printf(&s->arena, "{\"format\":\"%s\"}", s->format->name);
    if (clock_parse(json_text(json_get(root, STR("recorded_at")), &s->arena), &r->wall_us) &&
        r->wall_us != 0)
        r->has |= HAS_WALL;
    r->unknown_members = unknown_members_collect(root, str_z(s->format->name),
                                                 is_known_in_document, r, STR_NONE, &s->arena);
    transcript_set_start(&s->transcript, r);
    return NEXT_RECORD;
}

static enum next_result http_transcript_next(void *state, const struct window *w,
                                             struct consumed *t, struct record *r,
                                             struct err *e)
{
    struct http_transcript *s = state;
    enum next_result next = json_document_scan(&s->document, w, t, e);

    if (next != NEXT_RECORD)
        return next;
    if (!s->header_read)
        return read_header(s, w, r, e);
    if (!json_next(&s->entries)) {
        t->bytes = w->bytes.len;
        return NEXT_END;
    }
    s->entry++;
    if (!read_entry(s, w, s->entries.value, r, e))
        BUG("a valid entry is invalid on the second read");
    if (r->kind == RECORD_MESSAGE && json_exists(s->message))
        t->message = json_document_source(w, s->message);
    return NEXT_RECORD;
}

struct http_transcript_writer {
    const struct format *format;
    struct timestamp time;
    bool begun, any;
    bool from_same_format; /* set by the header */
};

static void *begin_writer(const struct format *format)
{
    struct http_transcript_writer *s = mem_new(struct http_transcript_writer);

    s->format = format;
    return s;
}

static void *begin_streamable_http(const struct format_options *o)
{
    (void)o;
    return begin_writer(&streamable_http_format);
}

static void *begin_http_sse(const struct format_options *o)
{
    (void)o;
    return begin_writer(&http_sse_format);
}

static void write_head(struct http_transcript_writer *s, struct buf *to,
                       const struct record *header)
{
    struct json_out o = json_out_to(to);
    char date[CLOCK_TEXT_SIZE];

    if (s->begun)
        return;
    s->begun = true;
    json_out_object(&o);
    json_out_key_str(&o, STR("transport"), str_z(s->format->name));
    if (header && header->has & HAS_WALL)
        json_out_key_str(&o, STR("recorded_at"),
                         clock_format(date, header->wall_us - header->wall_us % 1000));
    if (header)
        unknown_members_write_own(&o, header->unknown_members, str_z(s->format->name));
    json_out_key(&o, STR("entries"));
    buf_add_ch(to, '[');
}

/* Begins an entry, with everything but request, response or sse. */
static struct json_out begin_entry(struct http_transcript_writer *s, struct buf *to,
                                   const struct record *r)
{
    struct json_out o;

    write_head(s, to, NULL);
    buf_add(to, s->any ? STR(",\n") : STR("\n"));
    s->any = true;
    o = json_out_to(to);
    json_out_object(&o);
    if (r->has & (HAS_WALL | HAS_US) && s->time.now_known && s->time.now_us >= 1000)
        json_out_key_int(&o, STR("timestamp_ms"), s->time.now_us / 1000);
    unknown_members_write_own(&o, r->unknown_members, str_z(s->format->name));
    return o;
}

static void write_sse(struct json_out *o, struct str event, struct str id, struct str data,
                      bool is_text)
{
    json_out_key(o, STR("sse"));
    json_out_object(o);
    if (event.at)
        json_out_key_str(o, STR("event"), event);
    if (id.at)
        json_out_key_str(o, STR("id"), id);
    if (is_text)
        json_out_key_str(o, STR("data"), data);
    else
        json_out_key_raw(o, STR("data"), data);
    json_out_end_object(o);
}

/* The string member of a JSON text; NULL: none. */
static struct str member_of(struct str json, struct str name, struct arena *a)
{
    struct str text = STR_NONE;
    struct json_fault fault;
    struct json_val v;
    struct json j;

    json_init(&j);
    if (json.at && json_scan(&j, json, &fault)) {
        v = json_get(json_root(&j), name);
        if (json_type(v) == JSON_STRING)
            text = arena_str(a, json_text(v, a));
    }
    json_release(&j);
    return text;
}

/* A message that was recorded as an event is one. In a session from another format, servers of
 * legacy HTTP+SSE send everything as events; others send a response in the body. */
static bool is_event(const struct http_transcript_writer *s, const struct record *r,
                     struct json_val message)
{
    struct arena a = { 0 };
    struct mcp_message m = mcp_classify(message, &a);
    bool is = s->format == &http_sse_format || (m.kind != MCP_OTHER && !mcp_is_response(&m));

    arena_release(&a);
    return r->message.event.at || (is && !s->from_same_format);
}

static void put_header(struct http_transcript_writer *s, struct buf *to, const struct record *r)
{
    struct arena a = { 0 };

    s->from_same_format =
        str_eq(member_of(r->header.source, STR("format"), &a), str_z(s->format->name));
    write_head(s, to, r);
    arena_release(&a);
}

static void write_message(struct http_transcript_writer *s, struct buf *to,
                          const struct record *r, struct json_val message)
{
    bool is_raw = r->kind == RECORD_RAW;
    enum record_dir dir = is_raw ? r->bytes.dir : r->message.dir;
    struct json_out o = begin_entry(s, to, r);
    struct arena a = { 0 };

    if (dir == TO_SERVER)
        json_out_key_raw(&o, STR("request"), json_raw(message));
    else if (is_raw || !is_event(s, r, message))
        json_out_key_raw(&o, STR("response"), json_raw(message));
    else
        write_sse(&o, STR("message"), member_of(r->message.event, STR("id"), &a),
                  json_raw(message), false);
    json_out_end_object(&o);
    arena_release(&a);
}

/* An object that is no message was in a body. */
static struct json_val message_of(const struct record *r, struct json *j)
{
    struct json_val v = transcript_message(r, j);
    struct json_fault fault;

    if (json_exists(v) || r->kind != RECORD_RAW || !str_starts(r->bytes.bytes, STR("{")) ||
        !features_is_other_json(r->bytes.bytes) || !json_scan(j, r->bytes.bytes, &fault))
        return v;
    return json_exists(json_get(json_root(j), STR("id"))) ? JSON_VAL_NONE : json_root(j);
}

/* Whether the reader takes an event for one without a message. */
static bool is_plain_event(const struct record_sse *sse)
{
    struct str data = str_trim(sse->data);
    bool is = !str_starts(data, STR("{")) && !str_starts(data, STR("["));
    struct json_fault fault;
    struct json j;

    if (is || (sse->event.at && !str_eq(sse->event, STR("message"))))
        return true;
    json_init(&j);
    if (json_scan(&j, data, &fault))
        is = json_type(json_root(&j)) == JSON_OBJECT && !is_like_message(json_root(&j));
    json_release(&j);
    return is;
}

/* Comments have no place. */
static void put_sse(struct http_transcript_writer *s, struct buf *to, const struct record *r)
{
    struct json_out o;

    if (r->sse.comment.at || !is_plain_event(&r->sse))
        return;
    o = begin_entry(s, to, r);
    write_sse(&o, r->sse.event, r->sse.id, r->sse.data, true);
    json_out_end_object(&o);
}

static void http_transcript_put(void *state, struct buf *to, const struct record *r)
{
    struct http_transcript_writer *s = state;
    struct json_val message;
    struct json j;

    timestamp_update(&s->time, r);
    json_init(&j);
    message = message_of(r, &j);
    if (r->kind == RECORD_HEADER)
        put_header(s, to, r);
    else if (r->kind == RECORD_SSE)
        put_sse(s, to, r);
    else if (json_exists(message))
        write_message(s, to, r, message);
    json_release(&j);
}

static bool http_transcript_is_empty(void *state)
{
    const struct http_transcript_writer *s = state;

    return !s->any;
}

static void http_transcript_end(void *state, struct buf *to)
{
    struct http_transcript_writer *s = state;

    write_head(s, to, NULL);
    buf_add(to, s->any ? STR("\n]}\n") : STR("]}\n"));
    free(s);
}

enum {
    KEEPS = FEATURE_BYTES | FEATURE_TIME | FEATURE_SERVER_MESSAGES | FEATURE_UNPAIRED |
            FEATURE_DIRECTION | FEATURE_ORDER,
};

const struct format streamable_http_format = {
    .name = STREAMABLE_HTTP,
    .about = "Assay's JSON of a session on Streamable HTTP",
    .ext = { ".streamable-http.json" },
    .keeps = KEEPS,
    .probe = probe_streamable_http,
    .open = open_streamable_http,
    .next = http_transcript_next,
    .close = http_transcript_close,
    .set_rules = http_transcript_set_rules,
    .begin = begin_streamable_http,
    .put = http_transcript_put,
    .end = http_transcript_end,
    .is_empty = http_transcript_is_empty,
};

const struct format http_sse_format = {
    .name = HTTP_SSE,
    .about = "Assay's JSON of a session on legacy HTTP+SSE",
    .alias = { "sse-legacy" },
    .ext = { ".http-sse.json" },
    .keeps = KEEPS,
    .probe = probe_http_sse,
    .open = open_http_sse,
    .next = http_transcript_next,
    .close = http_transcript_close,
    .set_rules = http_transcript_set_rules,
    .begin = begin_http_sse,
    .put = http_transcript_put,
    .end = http_transcript_end,
    .is_empty = http_transcript_is_empty,
};
