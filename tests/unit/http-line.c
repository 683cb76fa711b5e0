#include "http-line.h"

#include <stdio.h>

#include "base/ascii.h"
#include "mcp/message.h"
#include "mcp/method.h"
#include "test.h"
#include "wire/sse-reader.h"
#include "json/json.h"

#define META                                                                                   \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                   \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"

enum { ID_BYTES = 16, EVENT_MAX = 1 << 20 };

struct str http_line_session(uint64_t n, struct arena *a)
{
    char id[ID_BYTES * 2 + 1];

    for (size_t i = 0; i < ID_BYTES; i++)
        snprintf(id + 2 * i, 3, "%02x", (unsigned)(n & 255));
    return arena_str(a, str_n(id, sizeof id - 1));
}

static bool parse_number(struct str word, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < word.len; i++) {
        if (word.at[i] < '0' || word.at[i] > '9')
            return false;
        *number = *number * 10 + (uint64_t)(word.at[i] - '0');
    }
    return word.len > 0;
}

/* "NAME=" off the front of a word. */
static bool skip_prefix(struct str *word, const char *name)
{
    struct str key = str_z(name);

    if (!str_starts(*word, key))
        return false;
    *word = str_skip(*word, key.len);
    return true;
}

#define IN_QUERY "sessionId="

/* Returns the text after "sessionId="; the end of the text: there is none. */
static size_t find_session(struct str text)
{
    const char *at = text.len ? memmem(text.at, text.len, IN_QUERY, sizeof IN_QUERY - 1) : NULL;

    return at ? (size_t)(at - text.at) + sizeof IN_QUERY - 1 : text.len;
}

/* `text` with the number of the session in it written out. */
static struct str expand_session(struct str text, struct arena *a)
{
    size_t at = find_session(text);
    uint64_t n;

    if (at == text.len || !parse_number(str_skip(text, at), &n))
        return text;
    return arena_printf(a, "%.*s%.*s", (int)at, text.at, STR_ARG(http_line_session(n, a)));
}

struct str http_line_expand(struct str text, struct arena *a)
{
    const char *at = text.len ? memmem(text.at, text.len, "$META", 5) : NULL;
    size_t before = at ? (size_t)(at - text.at) : 0;
    struct str rest;

    if (!at)
        return text;
    rest = str_skip(text, before + 5);
    return arena_printf(a, "%.*s" META "%.*s", (int)before, text.at, STR_ARG(rest));
}

static enum origin_kind origin_named(struct str name)
{
    enum origin_kind p = ORIGIN_NONE;

    while (p <= ORIGIN_NULL && !str_eq(name, str_z(origin_kind_name(p))))
        p++;
    if (p > ORIGIN_NULL)
        fail_msg("no such place: %.*s", STR_ARG(name));
    return p;
}

static struct str media_named(struct str name)
{
    static const struct {
        const char *name, *is;
    } media[] = { { "json", "application/json" },
                  { "sse", "text/event-stream" },
                  { "text", "text/plain" },
                  { "any", "*/*" } };

    for (size_t i = 0; i < sizeof media / sizeof *media; i++)
        if (str_eq(name, str_z(media[i].name)))
            return str_z(media[i].is);
    return name;
}

/* A header that is present unless its value is "none". */
static void add_unless_none(struct http_line *l, const char *name, struct str value)
{
    if (!str_eq(value, STR("none")))
        headers_add(&l->fields, str_z(name), value);
}

static void add_session(struct http_line *l, struct str value)
{
    uint64_t n;

    if (parse_number(value, &n))
        value = http_line_session(n, &l->arena);
    headers_add(&l->fields, STR("Mcp-Session-Id"), value);
}

/* Headers that the stateless protocol requires beside the body. */
static void add_stateless(struct http_line *l)
{
    struct json_fault fault;
    struct mcp_message m;
    struct str subject;
    struct json j;

    json_init(&j);
    if (!json_scan(&j, l->body, &fault))
        fail_msg("not JSON: %.*s", STR_ARG(l->body));
    m = mcp_classify(json_root(&j), &l->arena);
    subject = json_text(mcp_subject(m.method, m.params), &l->arena);
    headers_add(&l->fields, STR("MCP-Protocol-Version"), STR("2026-07-28"));
    headers_add(&l->fields, STR("Mcp-Method"), arena_str(&l->arena, m.method));
    if (subject.len)
        headers_add(&l->fields, STR("Mcp-Name"), arena_str(&l->arena, subject));
    json_release(&j);
}

static void add_named(struct http_line *l, struct str word)
{
    struct str name = str_cut(&word, ':');

    if (!headers_is_token(name) || !word.len)
        fail_msg("no such word in a test case about HTTP: %.*s", STR_ARG(name));
    headers_add(&l->fields, name, word);
}

struct request_words {
    struct str accept, type;
    bool modern;
};

static void read_path(struct http_line *l, struct str word)
{
    size_t mark = str_find(word, '?');

    l->path = str_n(word.at, mark);
    if (mark < word.len)
        l->query = expand_session(str_skip(word, mark + 1), &l->arena);
}

static void read_request_word(struct http_line *l, struct request_words *w, struct str word)
{
    if (skip_prefix(&word, "session="))
        add_session(l, word);
    else if (skip_prefix(&word, "version="))
        headers_add(&l->fields, STR("MCP-Protocol-Version"), word);
    else if (skip_prefix(&word, "last="))
        headers_add(&l->fields, STR("Last-Event-ID"), word);
    else if (skip_prefix(&word, "accept="))
        w->accept = media_named(word);
    else if (skip_prefix(&word, "type="))
        w->type = media_named(word);
    else if (skip_prefix(&word, "host="))
        l->host = origin_named(word);
    else if (skip_prefix(&word, "origin="))
        l->origin = origin_named(word);
    else if (skip_prefix(&word, "path="))
        read_path(l, word);
    else if (str_eq(word, STR("modern")))
        w->modern = true;
    else
        add_named(l, word);
}

static bool begins_json(struct str text)
{
    return str_starts(text, STR("{")) || str_starts(text, STR("["));
}

static void read_request(struct http_line *l, struct str rest)
{
    bool post = str_eq(l->method, STR("POST"));
    struct request_words w = {
        .accept = post ? STR("application/json, text/event-stream") : STR("text/event-stream"),
        .type = post ? STR("application/json") : STR("none"),
    };

    l->kind = HTTP_LINE_REQUEST;
    l->path = STR("/mcp");
    l->host = ORIGIN_SELF;
    l->origin = ORIGIN_NONE;
    while (rest.len && !begins_json(rest)) {
        struct str word = str_cut(&rest, ' ');

        if (str_eq(word, STR("raw")))
            break;
        read_request_word(l, &w, word);
    }
    l->body = http_line_expand(rest, &l->arena);
    add_unless_none(l, "Accept", w.accept);
    add_unless_none(l, "Content-Type", w.type);
    if (w.modern)
        add_stateless(l);
}

static void read_response(struct http_line *l, struct str rest)
{
    l->kind = HTTP_LINE_RESPONSE;
    while (rest.len && !begins_json(rest)) {
        struct str word = str_cut(&rest, ' ');

        if (!str_eq(media_named(word), word))
            headers_add(&l->fields, STR("Content-Type"), media_named(word));
        else if (skip_prefix(&word, "session="))
            add_session(l, word);
        else
            add_named(l, word);
        l->stream = l->stream || str_eq(word, STR("sse"));
        if (str_eq(word, STR("text")))
            break;
    }
    l->body = http_line_expand(rest, &l->arena);
}

static void read_event(struct http_line *l, struct str word, struct str rest)
{
    uint64_t n;

    l->kind = HTTP_LINE_EVENT;
    l->event = SSE_ITEM_NONE;
    for (; !str_eq(word, STR("<<")); word = str_cut(&rest, ' ')) {
        if (skip_prefix(&word, "id="))
            l->event.id = word;
        else if (skip_prefix(&word, "retry=") && parse_number(word, &n))
            l->event.retry = (int64_t)n;
        else if (skip_prefix(&word, "event="))
            l->event.event = word;
        else
            fail_msg("no such word of an event: %.*s", STR_ARG(word));
    }
    l->event.data = rest.len ? http_line_expand(rest, &l->arena) : STR("");
    if (l->event.event.len)
        l->event.data = expand_session(l->event.data, &l->arena);
    else if (rest.len)
        l->event.event = STR("message");
}

void http_line_read(struct http_line *l, struct str text)
{
    struct str rest = text, word = str_cut(&rest, ' ');
    uint64_t status;

    *l = (struct http_line){ .kind = HTTP_LINE_NONE };
    if (!parse_number(word, &l->number) || !rest.len)
        return;
    word = str_cut(&rest, ' ');
    l->method = word;
    if (str_eq(word, STR("end"))) {
        l->kind = HTTP_LINE_END;
    } else if (str_eq(word, STR("gone"))) {
        l->kind = HTTP_LINE_CLIENT_CLOSED;
    } else if (parse_number(word, &status)) {
        l->status = (unsigned)status;
        read_response(l, rest);
    } else if (word.at[0] >= 'A' && word.at[0] <= 'Z') {
        read_request(l, rest);
    } else {
        read_event(l, word, rest);
    }
}

void http_line_release(struct http_line *l)
{
    headers_release(&l->fields);
    arena_release(&l->arena);
}

struct event_request http_line_request(const struct http_line *l)
{
    return (struct event_request){ .method = l->method,
                                   .path = l->path,
                                   .query = l->query,
                                   .headers = &l->fields,
                                   .host = l->host,
                                   .origin = l->origin,
                                   .body = l->body };
}

static bool is_text(struct str type)
{
    return str_starts(type, STR("text/plain"));
}

/* The session of an id. */
static unsigned number_of(struct str id)
{
    if (id.len != ID_BYTES * 2 || ascii_hex(id.at[0]) < 0 || ascii_hex(id.at[1]) < 0)
        return 0;
    return (unsigned)ascii_hex(id.at[0]) * 16 + (unsigned)ascii_hex(id.at[1]);
}

/* Returns the text of a header; those that every stream has are left out. */
static void write_field(struct buf *to, const struct header *f, bool stream)
{

    if (headers_equal_nocase(f->name, STR("Content-Type"))) {
        if (str_eq(f->value, STR("application/json")))
            buf_add(to, STR(" json"));
        else if (str_eq(f->value, STR("text/event-stream")))
            buf_add(to, STR(" sse"));
        else if (!is_text(f->value))
            buf_add(to, STR(" other"));
        return;
    }
    if (headers_equal_nocase(f->name, STR("Mcp-Session-Id"))) {
        buf_printf(to, " session=%u", number_of(f->value));
        return;
    }
    if (stream && (headers_equal_nocase(f->name, STR("Cache-Control")) ||
                   headers_equal_nocase(f->name, STR("X-Accel-Buffering"))))
        return;
    buf_printf(to, " %.*s:", STR_ARG(f->name));
    for (size_t i = 0; i < f->value.len; i++)
        if (f->value.at[i] != ' ')
            buf_add_ch(to, f->value.at[i]);
}

static void write_head(struct buf *to, const struct action *a, bool stream)
{
    const struct header *type = headers_next(a->headers, STR("Content-Type"), NULL);

    buf_printf(to, " %u", a->status);
    for (size_t i = 0; i < a->headers->count; i++)
        write_field(to, &a->headers->at[i], stream);
    if (stream) {
        assert_int_equal(headers_count(a->headers, STR("cache-control")), 1);
        assert_int_equal(headers_count(a->headers, STR("x-accel-buffering")), 1);
    }
    if (type && is_text(type->value))
        buf_add(to, STR(" text")); /* the rest is the body */
    if (a->text.len)
        buf_printf(to, " %.*s", STR_ARG(a->text));
}

/* Just one event has to come of the bytes, as a client would read them. */
static void write_event(struct buf *to, struct str bytes)
{
    struct sse_item item = SSE_ITEM_NONE;
    struct sse_reader r;

    sse_reader_init(&r, EVENT_MAX);
    sse_reader_feed(&r, bytes);
    assert_int_equal(sse_reader_next(&r, &item), SSE_EVENT);
    if (item.id.at)
        buf_printf(to, " id=%.*s", STR_ARG(item.id));
    if (item.retry >= 0)
        buf_printf(to, " retry=%lld", (long long)item.retry);
    if (item.data.len && !item.event.len)
        buf_add(to, STR(" nameless"));
    else if (item.data.len && !str_eq(item.event, STR("message")))
        buf_printf(to, " event=%.*s", STR_ARG(item.event));
    buf_add(to, STR(" <<"));
    if (str_eq(item.event, STR("endpoint")))
        buf_printf(to, " %.*s%u", (int)find_session(item.data), item.data.at,
                   number_of(str_skip(item.data, find_session(item.data))));
    else if (item.data.len)
        buf_printf(to, " %.*s", STR_ARG(item.data));
    assert_int_equal(sse_reader_next(&r, &item), SSE_MORE);
    assert_int_equal(sse_reader_end(&r, &item), SSE_MORE);
    sse_reader_release(&r);
}

void http_line_write(struct buf *to, const struct action *a)
{
    buf_printf(to, "%llu", (unsigned long long)a->route.exchange);
    if (a->kind == ACTION_HTTP_RESPONSE || a->kind == ACTION_STREAM_OPEN)
        write_head(to, a, a->kind == ACTION_STREAM_OPEN);
    else if (a->kind == ACTION_STREAM_WRITE)
        write_event(to, a->text);
    else
        buf_add(to, STR(" end"));
}
