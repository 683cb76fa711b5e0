#include "format/cassette-model.h"

#include <strings.h>

#include "base/clock.h"
#include "format/python-json.h"
#include "trace/limits.h"
#include "json/write.h"

#define VERSION "1.0" /* written by mcp-recorder, and its default */

enum { INTERACTION_LEVEL = 3 }; /* nesting level of the members of an interaction */

static const struct str type_names[] = {
    STR_INIT("jsonrpc_request"),
    STR_INIT("notification"),
    STR_INIT("lifecycle"),
};

struct str cassette_model_type_name(enum cassette_type type)
{
    return type_names[type];
}

bool cassette_model_parse_type(struct str name, enum cassette_type *out)
{
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++)
        if (str_eq(name, type_names[i])) {
            *out = (enum cassette_type)i;
            return true;
        }
    return false;
}

enum cassette_type cassette_model_default_type(struct json_val request, struct str method)
{
    if (json_exists(request))
        return json_exists(json_get(request, STR("id"))) ? CASSETTE_REQUEST
                                                         : CASSETTE_NOTIFICATION;
    if (!method.at || str_eq(method, STR("GET")) || str_eq(method, STR("DELETE")))
        return CASSETTE_LIFECYCLE;
    return CASSETTE_REQUEST;
}

/* The decoded string; not NULL even if it is empty. */
static struct str text_of(struct json_val v, struct arena *a)
{
    struct str text = json_text(v, a);

    return text.at ? text : STR("");
}

static bool report_wrong_type(const struct window *w, struct json_val v, const char *name,
                              const char *what, struct err *e)
{
    format_error(w, json_offset(v), e, "'%s' must be %s", name, what);
    return false;
}

enum null { NULL_REFUSED, NULL_IS_NONE };

static bool read_text(const struct window *w, struct json_val in, const char *name,
                      enum null null, struct arena *a, struct str *out, struct err *e)
{
    struct json_val v = json_get(in, str_z(name));

    if (json_type(v) == JSON_STRING)
        *out = text_of(v, a);
    else if (json_type(v) == JSON_NULL && null == NULL_IS_NONE)
        *out = STR_NONE;
    else if (json_exists(v))
        return report_wrong_type(w, v, name,
                                 null == NULL_IS_NONE ? "a string or null" : "a string", e);
    return true;
}

static bool read_object(const struct window *w, struct json_val in, const char *name,
                        struct str *out, struct err *e)
{
    struct json_val v = json_get(in, str_z(name));

    if (json_type(v) == JSON_OBJECT)
        *out = json_raw(v);
    else if (json_exists(v) && json_type(v) != JSON_NULL)
        return report_wrong_type(w, v, name, "an object or null", e);
    return true;
}

static bool read_type(const struct window *w, struct json_val in, struct arena *a,
                      enum cassette_type *out, struct err *e)
{
    struct json_val v = json_get(in, STR("type"));

    if (cassette_model_parse_type(json_text(v, a), out))
        return true;
    if (json_exists(v))
        return report_wrong_type(w, v, "type",
                                 "\"jsonrpc_request\", \"notification\" or \"lifecycle\"", e);
    format_error(w, json_offset(in), e, "an interaction without 'type'");
    return false;
}

static bool is_one_of(struct str text, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == text.len && strncasecmp(*words, text.at, text.len) == 0)
            return true;
    return false;
}

static bool read_bool(const struct window *w, struct json_val in, const char *name,
                      struct arena *a, bool *out, struct err *e)
{
    static const char *const no[] = { "0", "f", "n", "no", "off", "false", NULL };
    static const char *const yes[] = { "1", "t", "y", "on", "yes", "true", NULL };
    struct json_val v = json_get(in, str_z(name));
    struct str text = json_text(v, a);
    int64_t n = -1;

    if (json_exists(v) && !json_int(v, &n)) {
        if (json_type(v) == JSON_TRUE || is_one_of(text, yes))
            n = 1;
        else if (json_type(v) == JSON_FALSE || is_one_of(text, no))
            n = 0;
    }
    if (json_exists(v) && n != 0 && n != 1)
        return report_wrong_type(w, v, name, "true or false", e);
    *out = n == 1;
    return true;
}

enum number { NUMBER_FITS, NUMBER_BEYOND, NUMBER_NONE };

/* Digits, single underscores between them. */
static enum number add_digits(struct str digits, bool negative, int64_t *out)
{
    enum number fits = NUMBER_FITS;
    bool after_digit = false;

    *out = 0;
    for (size_t i = 0; i < digits.len; i++) {
        int64_t digit = digits.at[i] - '0';

        if (digits.at[i] == '_' && after_digit && i + 1 < digits.len) {
            after_digit = false;
            continue;
        }
        if (digit < 0 || digit > 9)
            return NUMBER_NONE;
        after_digit = true;
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, negative ? -digit : digit, out))
            fits = NUMBER_BEYOND;
    }
    return after_digit ? fits : NUMBER_NONE;
}

/* A number in a string that mcp-recorder accepts: with blanks around it, a sign, a fraction of
 * zeros. */
static enum number number_in_text(struct str s, int64_t *out)
{
    static const char blanks[] = " \t\n\r\v\f";
    struct str whole;
    bool negative;

    while (s.len && memchr(blanks, s.at[0], sizeof blanks - 1))
        s = str_skip(s, 1);
    while (s.len && memchr(blanks, s.at[s.len - 1], sizeof blanks - 1))
        s.len--;
    negative = str_starts(s, STR("-"));
    if (negative || str_starts(s, STR("+")))
        s = str_skip(s, 1);
    whole = str_n(s.at, str_find(s, '.'));
    if (whole.len < s.len) {
        s = str_skip(s, whole.len + 1);
        if (!s.len)
            return NUMBER_NONE;
        for (size_t i = 0; i < s.len; i++)
            if (s.at[i] != '0')
                return NUMBER_NONE;
    }
    return add_digits(whole, negative, out);
}

static enum number number_of(struct json_val v, struct arena *a, int64_t *out)
{
    switch (json_type(v)) {
    case JSON_FALSE:
    case JSON_TRUE:
        *out = json_type(v) == JSON_TRUE;
        return NUMBER_FITS;
    case JSON_NUMBER: /* integers of any size, but only small ones with a point */
        if (json_int(v, out))
            return NUMBER_FITS;
        return number_in_text(json_raw(v), out) == NUMBER_BEYOND &&
                       str_find(json_raw(v), '.') == json_raw(v).len
                   ? NUMBER_BEYOND
                   : NUMBER_NONE;
    case JSON_STRING:
        return number_in_text(json_text(v, a), out);
    default:
        return NUMBER_NONE;
    }
}

static bool read_number(const struct window *w, struct json_val in, const char *name,
                        int64_t least, int64_t most, struct arena *a, uint64_t *out, bool *has,
                        struct json_val *beyond, struct err *e)
{
    struct json_val v = json_get(in, str_z(name));
    enum number number;
    int64_t n;

    *has = true;
    if (!json_exists(v))
        return true;
    number = number_of(v, a, &n);
    if (number == NUMBER_NONE)
        return report_wrong_type(w, v, name, "a whole number", e);
    *has = number == NUMBER_FITS && n >= least && n <= most;
    if (*has)
        *out = (uint64_t)n;
    else
        *beyond = v;
    return true;
}

bool cassette_model_read_interaction(const struct window *w, struct json_val v, struct arena *a,
                                     struct cassette_interaction *out, struct json_val *beyond,
                                     struct err *e)
{
    *out = (struct cassette_interaction){ .status = 200 };
    *beyond = JSON_VAL_NONE;
    if (json_type(v) != JSON_OBJECT) {
        format_error(w, json_offset(v), e, "an interaction must be an object");
        return false;
    }
    return read_type(w, v, a, &out->type, e) &&
           read_object(w, v, "request", &out->request, e) &&
           read_object(w, v, "response", &out->response, e) &&
           read_bool(w, v, "response_is_sse", a, &out->sse, e) &&
           read_number(w, v, "response_status", RECORD_STATUS_MIN, RECORD_STATUS_MAX, a,
                       &out->status, &out->has_status, beyond, e) &&
           read_number(w, v, "latency_ms", 0, INT64_MAX, a, &out->latency_ms, &out->has_latency,
                       beyond, e) &&
           read_text(w, v, "http_method", NULL_IS_NONE, a, &out->method, e) &&
           read_text(w, v, "http_path", NULL_IS_NONE, a, &out->path, e);
}

static bool read_metadata(const struct window *w, struct json_val v, struct arena *a,
                          struct cassette_metadata *out, struct err *e)
{
    if (json_exists(v) && json_type(v) != JSON_OBJECT)
        return report_wrong_type(w, v, "metadata", "an object", e);
    return read_text(w, v, "recorded_at", NULL_REFUSED, a, &out->recorded_at, e) &&
           read_text(w, v, "server_url", NULL_REFUSED, a, &out->server_url, e) &&
           read_text(w, v, "transport_type", NULL_IS_NONE, a, &out->transport, e) &&
           read_text(w, v, "protocol_version", NULL_IS_NONE, a, &out->protocol, e) &&
           read_object(w, v, "server_info", &out->server_info, e);
}

static size_t count_unknown(struct json_val object, const char *const *known)
{
    struct json_iter it = json_each(object);
    size_t count = 0;

    while (json_type(object) == JSON_OBJECT && json_next(&it)) {
        const char *const *name = known;

        while (*name && !json_is(it.key, str_z(*name)))
            name++;
        count += !*name;
    }
    return count;
}

size_t cassette_model_count_unknown(struct json_val document)
{
    static const char *const members[] = { "version", "metadata", "interactions", NULL };
    static const char *const of_metadata[] = { "recorded_at",    "server_url",
                                               "transport_type", "protocol_version",
                                               "server_info",    NULL };

    return count_unknown(document, members) +
           count_unknown(json_get(document, STR("metadata")), of_metadata);
}

size_t cassette_model_count_unknown_in(struct json_val interaction)
{
    static const char *const members[] = { "type",
                                           "request",
                                           "response",
                                           "response_is_sse",
                                           "response_status",
                                           "latency_ms",
                                           "http_method",
                                           "http_path",
                                           NULL };

    return count_unknown(interaction, members);
}

bool cassette_model_read(const struct window *w, struct json_val document, struct arena *a,
                         struct cassette_metadata *out, struct err *e)
{
    struct json_val version = json_get(document, STR("version"));
    struct json_val interactions = json_get(document, STR("interactions"));
    struct str major;

    *out = (struct cassette_metadata){ .version = STR(VERSION), .server_url = STR("") };
    if (json_type(document) != JSON_OBJECT) {
        format_error(w, json_offset(document), e, "a cassette must be an object");
        return false;
    }
    if (!read_text(w, document, "version", NULL_REFUSED, a, &out->version, e) ||
        !read_metadata(w, json_get(document, STR("metadata")), a, out, e))
        return false;
    if (json_exists(interactions) && json_type(interactions) != JSON_ARRAY)
        return report_wrong_type(w, interactions, "interactions", "an array", e);
    major = out->version;
    if (str_eq(str_cut(&major, '.'), STR("1")))
        return true;
    format_error(w, json_offset(version), e,
                 "this is a cassette of version '%.*s'; this program reads version 1",
                 STR_ARG(out->version));
    return err_hint(e, "record it again, or use a newer mcpreel");
}

struct str cassette_model_format_date(int64_t wall_us, struct arena *a)
{
    int64_t fraction = (wall_us % 1000000 + 1000000) % 1000000;
    char text[CLOCK_TEXT_SIZE];
    struct str second = str_n(clock_format(text, wall_us).at, strlen("2026-02-17T20:25:23"));

    if (!fraction)
        return arena_printf(a, "%.*s+00:00", STR_ARG(second));
    return arena_printf(a, "%.*s.%06d+00:00", STR_ARG(second), (int)fraction);
}

static struct str source_of(const struct cassette_metadata *m, bool own_date, struct arena *a)
{
    struct buf flat, text;
    struct json_out o = json_out_to(&text);
    struct str source;

    buf_init(&flat, LIMIT_LINE);
    buf_init(&text, LIMIT_LINE);
    json_out_object(&o);
    json_out_key_str(&o, STR("format"), STR("cassette"));
    if (!str_eq(m->version, STR(VERSION)))
        json_out_key_str(&o, STR("version"), m->version);
    if (own_date)
        json_out_key_str(&o, STR("recorded_at"), m->recorded_at);
    if (m->protocol.at)
        json_out_key_str(&o, STR("protocol_version"), m->protocol);
    if (m->server_info.at) {
        python_json_write_compact(&flat, m->server_info);
        json_out_key_raw(&o, STR("server_info"), buf_str(&flat));
    }
    json_out_end_object(&o);
    source = arena_str(a, buf_str(&text));
    buf_release(&flat);
    buf_release(&text);
    return source;
}

void cassette_model_to_header(const struct cassette_metadata *m, struct arena *a,
                              struct record *r)
{
    int64_t wall_us;
    bool dated = m->recorded_at.at && clock_parse(m->recorded_at, &wall_us) && wall_us != 0;
    bool own_date = m->recorded_at.at &&
                    !(dated && str_eq(cassette_model_format_date(wall_us, a), m->recorded_at));

    *r = (struct record){ .kind = RECORD_HEADER };
    if (dated) {
        r->has = HAS_WALL;
        r->wall_us = wall_us;
    }
    r->header.upstream = m->server_url;
    r->header.transport = m->transport;
    r->header.source = source_of(m, own_date, a);
}

/* A copy of the member; NULL if there is none. */
static struct str copy_member(struct json_val in, struct str name, struct arena *a)
{
    struct json_val v = json_get(in, name);

    return json_type(v) == JSON_STRING ? arena_str(a, text_of(v, a)) : STR_NONE;
}

static void parse_source(struct json_val source, struct arena *a, struct cassette_metadata *out)
{
    struct str version = copy_member(source, STR("version"), a);
    struct str recorded_at = copy_member(source, STR("recorded_at"), a);
    struct json_val info = json_get(source, STR("server_info"));

    if (version.at)
        out->version = version;
    if (recorded_at.at)
        out->recorded_at = recorded_at;
    out->protocol = copy_member(source, STR("protocol_version"), a);
    if (json_type(info) == JSON_OBJECT)
        out->server_info = arena_str(a, json_raw(info));
}

static struct str stdio_url(struct str command, struct arena *a)
{
    struct str scheme = STR("stdio://");
    char *url = arena_alloc(a, scheme.len + command.len);

    memcpy(url, scheme.at, scheme.len);
    if (command.len)
        memcpy(url + scheme.len, command.at, command.len);
    return str_n(url, scheme.len + command.len);
}

bool cassette_model_from_header(const struct record *r, struct arena *a,
                                struct cassette_metadata *out)
{
    const struct record_header *h = &r->header;
    struct json_fault fault;
    struct json source;
    bool ours;

    *out = (struct cassette_metadata){ .version = STR(VERSION) };
    if (r->has & HAS_WALL)
        out->recorded_at = cassette_model_format_date(r->wall_us, a);
    if (h->transport.at)
        out->transport = arena_str(a, h->transport);
    out->server_url = arena_str(a, h->upstream);
    json_init(&source);
    ours = h->source.at && json_scan(&source, h->source, &fault) &&
           json_is(json_get(json_root(&source), STR("format")), STR("cassette"));
    if (ours)
        parse_source(json_root(&source), a, out);
    else if (str_eq(h->transport, STR("stdio")) && !str_starts(h->upstream, STR("stdio://")))
        out->server_url = stdio_url(h->upstream, a);
    json_release(&source);
    return ours;
}

void cassette_model_write_message(struct buf *to, struct str message)
{
    python_json_write(to, message, INTERACTION_LEVEL);
}

/* One member a line, as in "name": value. */
static void write_name(struct buf *to, unsigned level, const char *name, bool first)
{
    if (!first)
        buf_add_ch(to, ',');
    python_json_write_newline(to, level);
    buf_printf(to, "\"%s\": ", name);
}

static void write_text(struct buf *to, const char *name, unsigned level, struct str text)
{
    write_name(to, level, name, false);
    if (text.at)
        python_json_write_string(to, text);
    else
        buf_add(to, STR("null"));
}

static void write_json(struct buf *to, const char *name, unsigned level, struct str json)
{
    write_name(to, level, name, false);
    if (json.at)
        python_json_write(to, json, level);
    else
        buf_add(to, STR("null"));
}

static void write_count(struct buf *to, const char *name, uint64_t n)
{
    write_name(to, INTERACTION_LEVEL, name, false);
    buf_add_int(to, (int64_t)n);
}

void cassette_model_write_head(struct buf *to, const struct cassette_metadata *m)
{
    buf_add_ch(to, '{');
    write_name(to, 1, "version", true);
    python_json_write_string(to, m->version);
    write_name(to, 1, "metadata", false);
    buf_add_ch(to, '{');
    write_name(to, 2, "recorded_at", true);
    python_json_write_string(to, m->recorded_at);
    write_name(to, 2, "server_url", false);
    python_json_write_string(to, m->server_url);
    write_text(to, "transport_type", 2, m->transport);
    write_text(to, "protocol_version", 2, m->protocol);
    write_json(to, "server_info", 2, m->server_info);
    python_json_write_newline(to, 1);
    buf_add_ch(to, '}');
    write_name(to, 1, "interactions", false);
    buf_add_ch(to, '[');
}

void cassette_model_write_interaction(struct buf *to, const struct cassette_interaction *i,
                                      bool first)
{
    if (!first)
        buf_add_ch(to, ',');
    python_json_write_newline(to, 2);
    buf_add_ch(to, '{');
    write_name(to, INTERACTION_LEVEL, "type", true);
    python_json_write_string(to, type_names[i->type]);
    write_json(to, "request", INTERACTION_LEVEL, i->request);
    write_json(to, "response", INTERACTION_LEVEL, i->response);
    write_name(to, INTERACTION_LEVEL, "response_is_sse", false);
    buf_add(to, i->sse ? STR("true") : STR("false"));
    write_count(to, "response_status", i->status);
    write_count(to, "latency_ms", i->latency_ms);
    write_text(to, "http_method", INTERACTION_LEVEL, i->method);
    write_text(to, "http_path", INTERACTION_LEVEL, i->path);
    python_json_write_newline(to, 2);
    buf_add_ch(to, '}');
}

void cassette_model_write_tail(struct buf *to, bool any)
{
    if (any)
        python_json_write_newline(to, 1);
    buf_add(to, STR("]\n}\n"));
}
