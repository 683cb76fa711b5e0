#include "record/transcript-secrets.h"

#include "record/header-secrets.h"
#include "record/sse-endpoints.h"
#include "redact/url-secrets.h"
#include "json/path.h"

/* The members of a transcript nest less deep than this below those of its records. */
enum { EXTRA_DEPTH = 16 };

/* record/header-secrets ignores shorter values that have only letters. */
enum { SESSION_ID_MIN = 12 };

static bool is_redacted(struct str text)
{
    return str_contains(text, STR("[REDACTED"));
}

/* "headers", "request_headers" */
static bool is_headers(struct str name)
{
    static const struct str end = STR_INIT("headers");

    return name.len >= end.len && headers_equal_nocase(str_skip(name, name.len - end.len), end);
}

/* The place of a value in the members of a record. */
struct member_place {
    struct str name;   /* of the value, or of the array that it is in */
    bool in_transport; /* in the headers or in the transport's context */
    bool in_headers;
    bool in_pair; /* a member of an object in an array */
};

static struct member_place place_of(struct json_location at)
{
    struct member_place p = { .name = STR_NONE };

    for (size_t i = 0; i < at.count; i++) {
        if (at.steps[i].is_index)
            continue;
        p.in_headers |= is_headers(p.name);
        p.in_transport |= p.in_headers || str_eq(p.name, STR("transport_context"));
        p.name = at.steps[i].name;
        p.in_pair = i && at.steps[i - 1].is_index;
    }
    return p;
}

/* The redactor does not search for short values, but a session id is never written. */
static void replace_short_id(struct transcript_secrets *t, struct str name, struct str text,
                             struct json_val value)
{
    if (text.len < SESSION_ID_MIN && headers_equal_nocase(name, STR("mcp-session-id")) &&
        t->short_ids.count < JSON_SPLICE_MAX)
        json_splice_replace(&t->short_ids, value, STR("\"[REDACTED]\""));
}

static void add_header(struct transcript_secrets *t, struct str name, struct json_val value)
{
    struct str text = json_text(value, &t->arena);

    if (json_type(value) != JSON_STRING || is_redacted(text))
        return;
    headers_add(&t->headers, arena_str(&t->arena, name), text);
    replace_short_id(t, name, text, value);
}

static void learn_url(struct transcript_secrets *t, struct json_val value)
{
    struct str text = json_text(value, &t->arena);

    if (t->redacts_urls && url_secrets_is_url(text) && !is_redacted(text))
        header_secrets_learn_url(t->seen, &t->refs, 0, text);
}

/* Headers are members, or pairs of `name` and `value`. */
static bool learn_member(void *self, struct json_location at, struct json_val value)
{
    struct transcript_secrets *t = self;
    struct member_place p = place_of(at);
    struct json_val name = json_get(value, STR("name"));

    if (json_type(value) == JSON_OBJECT && json_type(name) == JSON_STRING &&
        (p.in_headers || is_headers(p.name)))
        add_header(t, json_text(name, &t->arena), json_get(value, STR("value")));
    if (json_type(value) != JSON_STRING || !p.in_transport || (p.in_headers && p.in_pair))
        return true;
    if (p.in_headers || header_secrets_is_secret_name(p.name))
        add_header(t, p.name, value);
    else
        learn_url(t, value);
    return true;
}

/* Returns the members, without session ids that are too short for the redactor. */
static struct str learn_members(struct transcript_secrets *t, struct str members)
{
    static const struct json_path everything = {
        .parts = { { .kind = JSON_PATH_ANY, .any_depth = true } }, .count = 1
    };
    struct json_fault fault;
    struct buf text;

    headers_clear(&t->headers);
    t->json.extra_depth = EXTRA_DEPTH;
    if (!members.len || !json_scan(&t->json, members, &fault))
        return members;
    json_splice_init(&t->short_ids, json_root(&t->json));
    json_path_select(&everything, json_root(&t->json), learn_member, t);
    header_secrets_learn(t->seen, &t->refs, &t->headers);
    if (!t->short_ids.count)
        return members;
    buf_init(&text, JSON_MAX_TEXT);
    json_splice_apply(&t->short_ids, &text);
    members = text.full ? STR_NONE : arena_str(&t->arena, buf_str(&text));
    buf_release(&text);
    return members;
}

static bool is_endpoint(const struct record *r)
{
    return r->kind == RECORD_SSE && r->sse.event.at && str_eq(r->sse.event, STR("endpoint")) &&
           !is_redacted(r->sse.data);
}

static bool put_record(struct sink *self, const struct record *given, struct err *e)
{
    struct transcript_secrets *t = (struct transcript_secrets *)self;
    struct record r = *given;

    if (r.has & HAS_EXCHANGE)
        return t->next->put(t->next, given, e);
    arena_clear(&t->arena);
    r.unknown_members = learn_members(t, r.unknown_members);
    if (is_endpoint(&r)) {
        header_secrets_learn_url(t->seen, &t->refs, ++t->endpoints, r.sse.data);
        r.sse.data = sse_endpoints_mask(r.sse.data, &t->arena);
    }
    seen_secrets_unref(t->seen, &t->refs);
    return t->next->put(t->next, &r, e);
}

void transcript_secrets_init(struct transcript_secrets *t, struct seen_secrets *seen,
                             bool redacts_urls, struct sink *next)
{
    *t = (struct transcript_secrets){
        .sink = { put_record }, .next = next, .seen = seen, .redacts_urls = redacts_urls
    };
    json_init(&t->json);
}

void transcript_secrets_release(struct transcript_secrets *t)
{
    seen_secrets_unref(t->seen, &t->refs);
    headers_release(&t->headers);
    json_release(&t->json);
    arena_release(&t->arena);
}
