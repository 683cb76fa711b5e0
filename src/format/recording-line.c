#include "format/recording-line.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "trace/unknown-members.h"
#include "json/write.h"

enum member_type {
    MEMBER_TEXT,
    MEMBER_JSON,   /* kept as text; `json` is its required type */
    MEMBER_TEXTS,  /* the same: an array of strings */
    MEMBER_VALUE,  /* kept as a value; the message itself */
    MEMBER_COUNT,  /* a whole number from 0 */
    MEMBER_NUMBER, /* a whole number */
    MEMBER_TIME,
    MEMBER_DIR,  /* "c2s" or "s2c" */
    MEMBER_FROM, /* "client" or "server" */
    MEMBER_BOOL,
    MEMBER_BYTES,   /* "text", or "base64" when they are not UTF-8 */
    MEMBER_BASE64,  /* reads "base64"; never written */
    MEMBER_FOREIGN, /* unknown members of other formats; written by write_unknown_members() */
    MEMBER_STATUS,  /* of a final HTTP response */
    MEMBER_HEADERS, /* kept as text, like the objects below */
    MEMBER_EVENT,
    MEMBER_BATCH,
    MEMBER_RESUMES,
};

struct recording_member {
    struct str name;
    struct str key; /* as written, with a leading comma */
    enum member_type type;
    size_t at;    /* offset in struct record */
    unsigned has; /* bit of record.has; 0: the value itself shows whether it is present */
    bool required;
    enum json_type json;
};

#define FOREIGN "foreign"
#define AT(field) offsetof(struct record, field)
#define NAMED(text) STR_INIT(text), STR_INIT(",\"" text "\":")
#define END                                                                                    \
    {                                                                                          \
        .name = { NULL, 0 }                                                                    \
    }

static const struct recording_member common_members[] = {
    { NAMED("us"), MEMBER_NUMBER, AT(us), HAS_US, false, 0 },
    { NAMED("conn"), MEMBER_COUNT, AT(conn), HAS_CONN, false, 0 },
    { NAMED("session"), MEMBER_COUNT, AT(session), HAS_SESSION, false, 0 },
    { NAMED("exchange"), MEMBER_COUNT, AT(exchange), HAS_EXCHANGE, false, 0 },
    { NAMED("stream"), MEMBER_COUNT, AT(stream), HAS_STREAM, false, 0 },
    { NAMED(FOREIGN), MEMBER_FOREIGN, AT(unknown_members), 0, false, JSON_OBJECT },
    END,
};

static const struct recording_member header_members[] = {
    { NAMED("version"), MEMBER_TEXT, AT(header.version), 0, true, 0 },
    { NAMED("name"), MEMBER_TEXT, AT(header.name), 0, false, 0 },
    { NAMED("tags"), MEMBER_TEXTS, AT(header.tags), 0, false, 0 },
    { NAMED("recorded_at"), MEMBER_TIME, AT(wall_us), HAS_WALL, true, 0 },
    { NAMED("upstream"), MEMBER_TEXT, AT(header.upstream), 0, true, 0 },
    { NAMED("thoughtjack_version"), MEMBER_TEXT, AT(header.thoughtjack_version), 0, true, 0 },
    { NAMED("producer"), MEMBER_JSON, AT(header.producer), 0, false, JSON_OBJECT },
    { NAMED("command"), MEMBER_TEXTS, AT(header.command), 0, false, 0 },
    { NAMED("transport"), MEMBER_TEXT, AT(header.transport), 0, false, 0 },
    { NAMED("source"), MEMBER_JSON, AT(header.source), 0, false, JSON_OBJECT },
    { NAMED("part"), MEMBER_COUNT, AT(header.part), HAS_PART, false, 0 },
    END,
};

static const struct recording_member message_members[] = {
    { NAMED("seq"), MEMBER_COUNT, AT(message.seq), HAS_SEQ, true, 0 },
    { NAMED("ts"), MEMBER_TIME, AT(wall_us), HAS_WALL, true, 0 },
    { NAMED("dir"), MEMBER_DIR, AT(message.dir), 0, true, 0 },
    { NAMED("msg"), MEMBER_VALUE, AT(message.msg), 0, true, JSON_OBJECT },
    { NAMED("latency_ms"), MEMBER_COUNT, AT(message.latency_ms), HAS_LATENCY, false, 0 },
    { NAMED("event"), MEMBER_EVENT, AT(message.event), 0, false, 0 },
    { NAMED("batch"), MEMBER_BATCH, AT(message.batch), 0, false, 0 },
    { NAMED("redelivers"), MEMBER_COUNT, AT(message.redelivers), HAS_REDELIVERS, false, 0 },
    { NAMED("redacted"), MEMBER_TEXTS, AT(message.redacted), 0, false, 0 },
    END,
};

static const struct recording_member raw_members[] = {
    { NAMED("ts"), MEMBER_TIME, AT(wall_us), HAS_WALL, false, 0 },
    { NAMED("from"), MEMBER_FROM, AT(bytes.dir), HAS_FROM, true, 0 },
    { NAMED("why"), MEMBER_TEXT, AT(bytes.why), 0, false, 0 },
    { NAMED("by"), MEMBER_TEXT, AT(bytes.by), 0, false, 0 },
    { NAMED("count"), MEMBER_COUNT, AT(bytes.count), HAS_COUNT, false, 0 },
    { NAMED("bytes"), MEMBER_COUNT, AT(bytes.count_bytes), HAS_COUNT, false, 0 },
    { NAMED("text"), MEMBER_BYTES, AT(bytes.bytes), 0, true, 0 },
    { NAMED("base64"), MEMBER_BASE64, AT(bytes.bytes), 0, false, 0 },
    END,
};

static const struct recording_member stderr_members[] = {
    { NAMED("text"), MEMBER_BYTES, AT(bytes.bytes), 0, true, 0 },
    { NAMED("base64"), MEMBER_BASE64, AT(bytes.bytes), 0, false, 0 },
    END,
};

static const struct recording_member proc_members[] = {
    { NAMED("ev"), MEMBER_TEXT, AT(proc.event), 0, true, 0 },
    { NAMED("exit_code"), MEMBER_NUMBER, AT(proc.exit_code), HAS_EXIT_CODE, false, 0 },
    { NAMED("signal"), MEMBER_NUMBER, AT(proc.signal), HAS_SIGNAL, false, 0 },
    { NAMED("why"), MEMBER_TEXT, AT(proc.why), 0, false, 0 },
    END,
};

static const struct recording_member http_request_members[] = {
    { NAMED("state"), MEMBER_TEXT, AT(http.state), 0, false, 0 },
    { NAMED("kind"), MEMBER_TEXT, AT(http.kind), 0, false, 0 },
    { NAMED("method"), MEMBER_TEXT, AT(http.method), 0, false, 0 },
    { NAMED("path"), MEMBER_TEXT, AT(http.path), 0, false, 0 },
    { NAMED("query"), MEMBER_TEXT, AT(http.query), 0, false, 0 },
    { NAMED("host"), MEMBER_TEXT, AT(http.host), 0, false, 0 },
    { NAMED("origin"), MEMBER_TEXT, AT(http.origin), 0, false, 0 },
    { NAMED("headers"), MEMBER_HEADERS, AT(http.headers), 0, false, 0 },
    { NAMED("auth"), MEMBER_BOOL, AT(http.auth), 0, false, 0 },
    { NAMED("body"), MEMBER_TEXT, AT(http.body), 0, false, 0 },
    END,
};

static const struct recording_member http_response_members[] = {
    { NAMED("status"), MEMBER_STATUS, AT(http.status), HAS_STATUS, true, 0 },
    { NAMED("took_ms"), MEMBER_COUNT, AT(http.took_ms), HAS_LATENCY, false, 0 },
    { NAMED("by"), MEMBER_TEXT, AT(http.by), 0, false, 0 },
    { NAMED("media"), MEMBER_TEXT, AT(http.media), 0, false, 0 },
    { NAMED("resumes"), MEMBER_RESUMES, AT(http.resumes), 0, false, 0 },
    { NAMED("mints_session"), MEMBER_BOOL, AT(http.mints_session), 0, false, 0 },
    { NAMED("headers"), MEMBER_HEADERS, AT(http.headers), 0, false, 0 },
    END,
};

static const struct recording_member http_end_members[] = {
    { NAMED("by"), MEMBER_TEXT, AT(http.by), 0, true, 0 },
    { NAMED("clean"), MEMBER_BOOL, AT(http.clean), 0, true, 0 },
    { NAMED("why"), MEMBER_TEXT, AT(http.why), 0, false, 0 },
    END,
};

static const struct recording_member sse_members[] = {
    { NAMED("n"), MEMBER_COUNT, AT(sse.n), HAS_N, false, 0 },
    { NAMED("id"), MEMBER_TEXT, AT(sse.id), 0, false, 0 },
    { NAMED("event"), MEMBER_TEXT, AT(sse.event), 0, false, 0 },
    { NAMED("retry"), MEMBER_COUNT, AT(sse.retry), HAS_RETRY, false, 0 },
    { NAMED("data"), MEMBER_TEXT, AT(sse.data), 0, false, 0 },
    { NAMED("comment"), MEMBER_TEXT, AT(sse.comment), 0, false, 0 },
    { NAMED("count"), MEMBER_COUNT, AT(sse.count), HAS_COUNT, false, 0 },
    { NAMED("bytes"), MEMBER_COUNT, AT(sse.count_bytes), HAS_COUNT, false, 0 },
    END,
};

static const struct recording_member gap_members[] = {
    { NAMED("from"), MEMBER_FROM, AT(gap.dir), HAS_FROM, false, 0 },
    { NAMED("messages"), MEMBER_COUNT, AT(gap.messages), HAS_TOTALS, true, 0 },
    { NAMED("bytes"), MEMBER_COUNT, AT(gap.bytes), HAS_TOTALS, true, 0 },
    { NAMED("why"), MEMBER_TEXT, AT(gap.why), 0, true, 0 },
    END,
};

static const struct recording_member footer_members[] = {
    { NAMED("total_messages"), MEMBER_COUNT, AT(footer.messages), HAS_TOTALS, true, 0 },
    { NAMED("duration_ms"), MEMBER_COUNT, AT(footer.duration_ms), HAS_TOTALS, true, 0 },
    { NAMED("client_messages"), MEMBER_COUNT, AT(footer.client_messages), HAS_TOTALS, true, 0 },
    { NAMED("server_messages"), MEMBER_COUNT, AT(footer.server_messages), HAS_TOTALS, true, 0 },
    { NAMED("exit_code"), MEMBER_NUMBER, AT(footer.exit_code), HAS_EXIT_CODE, false, 0 },
    { NAMED("protocol_version"), MEMBER_TEXT, AT(footer.protocol), 0, false, 0 },
    { NAMED("server_info"), MEMBER_JSON, AT(footer.server_info), 0, false, JSON_OBJECT },
    { NAMED("client_info"), MEMBER_JSON, AT(footer.client_info), 0, false, JSON_OBJECT },
    { NAMED("errors"), MEMBER_COUNT, AT(footer.errors), HAS_ERRORS, false, 0 },
    END,
};

struct line_type {
    struct str type;
    struct str ev;   /* "ev" of types with several variants */
    struct str head; /* start of the line */
    enum record_kind kind;
    const struct recording_member *members;
};

#define TYPE(text) STR_INIT(text), { NULL, 0 }, STR_INIT("{\"type\":\"" text "\"")
#define TYPE_OF(text, ev)                                                                      \
    STR_INIT(text), STR_INIT(ev), STR_INIT("{\"type\":\"" text "\",\"ev\":\"" ev "\"")

/* The order is that of enum record_kind. */
static const struct line_type line_types[] = {
    { TYPE("header"), RECORD_HEADER, header_members },
    { TYPE("message"), RECORD_MESSAGE, message_members },
    { TYPE("raw"), RECORD_RAW, raw_members },
    { TYPE("stderr"), RECORD_STDERR, stderr_members },
    { TYPE("proc"), RECORD_PROC, proc_members },
    { TYPE_OF("http", "request"), RECORD_HTTP_REQUEST, http_request_members },
    { TYPE_OF("http", "response"), RECORD_HTTP_RESPONSE, http_response_members },
    { TYPE_OF("http", "end"), RECORD_HTTP_END, http_end_members },
    { TYPE("sse"), RECORD_SSE, sse_members },
    { TYPE("gap"), RECORD_GAP, gap_members },
    { TYPE("footer"), RECORD_FOOTER, footer_members },
};

enum { LINE_TYPES = sizeof line_types / sizeof line_types[0] };

static const struct line_type *find_type(struct str type, struct json_val line)
{
    for (size_t i = 0; i < LINE_TYPES; i++)
        if (str_eq(line_types[i].type, type) &&
            (!line_types[i].ev.len || json_is(json_get(line, STR("ev")), line_types[i].ev)))
            return &line_types[i];
    return NULL;
}

bool recording_line_is_known_type(struct str type)
{
    for (size_t i = 0; i < LINE_TYPES; i++)
        if (str_eq(line_types[i].type, type))
            return true;
    return false;
}

/* Members mostly come in the order of the table: `*guess` is where to look first. */
static const struct recording_member *find_member(const struct recording_member *rows,
                                                  struct str name, size_t *guess)
{
    if (rows[*guess].name.len && str_eq(name, rows[*guess].name))
        return &rows[(*guess)++];
    for (size_t i = 0; rows[i].name.len; i++)
        if (str_eq(name, rows[i].name)) {
            *guess = i + 1;
            return &rows[i];
        }
    return NULL;
}

static bool read_word(struct json_val v, struct str zero, struct str one, enum record_dir *out)
{
    *out = json_is(v, zero) ? TO_SERVER : TO_CLIENT;
    return *out == TO_SERVER || json_is(v, one);
}

static bool read_bool(struct json_val v, bool *out)
{
    *out = json_type(v) == JSON_TRUE;
    return *out || json_type(v) == JSON_FALSE;
}

static bool read_text(struct json_val v, struct arena *a, struct str *out)
{
    *out = json_text(v, a);
    if (!out->at)
        out->at = ""; /* present, and empty */
    return json_type(v) == JSON_STRING;
}

static bool is_array_of_strings(struct json_val v)
{
    struct json_iter it = json_each(v);

    while (json_next(&it))
        if (json_type(it.value) != JSON_STRING)
            return false;
    return json_type(v) == JSON_ARRAY;
}

static bool is_count(struct json_val v)
{
    int64_t n;

    return json_int(v, &n) && n >= 0;
}

/* Whether a member is absent or `is` holds for it. */
static bool optional_member_is(struct json_val object, struct str name,
                               bool (*is)(struct json_val))
{
    struct json_val v = json_get(object, name);

    return !json_exists(v) || is(v);
}

static bool is_string(struct json_val v)
{
    return json_type(v) == JSON_STRING;
}

/* [[name,value],…], with a length in place of a value that was not kept. */
static bool is_headers(struct json_val v)
{
    struct json_iter it = json_each(v);

    while (json_next(&it)) {
        struct json_val value = json_item(it.value, 1);

        if (json_type(it.value) != JSON_ARRAY || !is_string(json_item(it.value, 0)) ||
            !(is_string(value) || is_count(value)) || json_exists(json_item(it.value, 2)))
            return false;
    }
    return json_type(v) == JSON_ARRAY;
}

static bool is_event(struct json_val v)
{
    return json_type(v) == JSON_OBJECT && optional_member_is(v, STR("n"), is_count) &&
           optional_member_is(v, STR("id"), is_string) &&
           optional_member_is(v, STR("event"), is_string) &&
           optional_member_is(v, STR("retry"), is_count);
}

static bool is_batch(struct json_val v)
{
    return json_type(v) == JSON_OBJECT && optional_member_is(v, STR("id"), is_count) &&
           optional_member_is(v, STR("index"), is_count) &&
           optional_member_is(v, STR("count"), is_count);
}

static bool is_resumes(struct json_val v)
{
    return json_type(v) == JSON_OBJECT && optional_member_is(v, STR("stream"), is_count) &&
           optional_member_is(v, STR("after"), is_count);
}

/* Reads a value; false if it has the wrong type. */
static bool read_value(const struct recording_member *m, struct json_val v, struct record *r,
                       struct arena *a)
{
    void *to = (char *)r + m->at;
    int64_t n;

    switch (m->type) {
    case MEMBER_TEXT:
    case MEMBER_BYTES:
        return read_text(v, a, to);
    case MEMBER_JSON:
    case MEMBER_FOREIGN:
        *(struct str *)to = json_raw(v);
        return json_type(v) == m->json;
    case MEMBER_TEXTS:
        *(struct str *)to = json_raw(v);
        return is_array_of_strings(v);
    case MEMBER_VALUE:
        *(struct json_val *)to = v;
        return json_type(v) == m->json;
    case MEMBER_COUNT:
    case MEMBER_NUMBER:
        if (!json_int(v, &n) || (m->type == MEMBER_COUNT && n < 0))
            return false;
        *(int64_t *)to = n;
        return true;
    case MEMBER_TIME:
        return json_type(v) == JSON_STRING && clock_parse(json_text(v, a), to);
    case MEMBER_DIR:
        return read_word(v, STR("c2s"), STR("s2c"), to);
    case MEMBER_FROM:
        return read_word(v, STR("client"), STR("server"), to);
    case MEMBER_BOOL:
        return read_bool(v, to);
    case MEMBER_BASE64:
        return json_type(v) == JSON_STRING && base64_decode(json_text(v, a), a, to);
    case MEMBER_STATUS:
        if (!json_int(v, &n) || n < RECORD_STATUS_MIN || n > RECORD_STATUS_MAX)
            return false;
        *(uint64_t *)to = (uint64_t)n;
        return true;
    case MEMBER_HEADERS:
        *(struct str *)to = json_raw(v);
        return is_headers(v);
    case MEMBER_EVENT:
        *(struct str *)to = json_raw(v);
        return is_event(v);
    case MEMBER_BATCH:
        *(struct str *)to = json_raw(v);
        return is_batch(v);
    case MEMBER_RESUMES:
        *(struct str *)to = json_raw(v);
        return is_resumes(v);
    }
    BUG("unknown type of member");
}

static const char *expected_type(const struct recording_member *m)
{
    switch (m->type) {
    case MEMBER_TEXT:
    case MEMBER_BYTES:
        return "a string";
    case MEMBER_JSON:
    case MEMBER_FOREIGN:
    case MEMBER_VALUE:
        return m->json == JSON_ARRAY ? "an array" : "an object";
    case MEMBER_TEXTS:
        return "an array of strings";
    case MEMBER_COUNT:
        return "a whole number from 0";
    case MEMBER_NUMBER:
        return "a whole number";
    case MEMBER_TIME:
        return "a date and time like 2025-02-04T10:00:00.000Z";
    case MEMBER_DIR:
        return "\"c2s\" or \"s2c\"";
    case MEMBER_FROM:
        return "\"client\" or \"server\"";
    case MEMBER_BOOL:
        return "true or false";
    case MEMBER_BASE64:
        return "base64 text";
    case MEMBER_STATUS:
        return "an HTTP status from 200 to 599";
    case MEMBER_HEADERS:
        return "an array of [name, value] pairs";
    case MEMBER_EVENT:
        return "an object of 'n', 'id', 'event' and 'retry'";
    case MEMBER_BATCH:
        return "an object of the numbers 'id', 'index' and 'count'";
    case MEMBER_RESUMES:
        return "an object of the numbers 'stream' and 'after'";
    }
    BUG("unknown type of member");
}

/* Whether it is a member that identifies the type of a line. */
static bool is_type_member(const struct line_type *t, struct str name)
{
    return str_eq(name, STR("type")) || (t->ev.len && str_eq(name, STR("ev")));
}

static bool is_known_member(const void *self, struct str name)
{
    const struct line_type *t = self;
    size_t guess = 0;

    return is_type_member(t, name) || find_member(t->members, name, &guess) ||
           find_member(common_members, name, (guess = 0, &guess));
}

/* The name of a required member that is missing; NULL: none is. Bytes may be text or base64.
 * The lines of an HTTP exchange need its number. */
static const char *find_missing(const struct line_type *t, const struct record *r,
                                uint32_t seen)
{
    for (const struct recording_member *m = t->members; m->name.len; m++) {
        bool there = seen & 1u << (m - t->members);

        if (m->type == MEMBER_BYTES)
            there = r->bytes.bytes.at != NULL;
        if (m->required && !there)
            return m->name.at;
    }
    return t->ev.len && !(r->has & HAS_EXCHANGE) ? "exchange" : NULL;
}

static bool read_members(const struct line_type *t, struct json_val line, struct record *r,
                         struct arena *a, size_t *at, struct err *e)
{
    struct json_iter it = json_each(line);
    size_t own = 0, common = 0;
    const char *missing;
    uint32_t seen = 0;
    bool unknown = false;

    while (json_next(&it)) {
        struct str name = json_text(it.key, a);
        const struct recording_member *m;

        if (is_type_member(t, name))
            continue;
        m = find_member(t->members, name, &own);
        if (m)
            seen |= 1u << (m - t->members);
        else
            m = find_member(common_members, name, &common);
        if (!m) {
            unknown = true;
            continue;
        }
        if (!read_value(m, it.value, r, a)) {
            *at = json_offset(it.value);
            return err_set(e, ERR_INPUT, "'%s' of a %s line must be %s", m->name.at, t->type.at,
                           expected_type(m));
        }
        r->has |= m->has;
    }
    missing = find_missing(t, r, seen);
    if (missing) {
        *at = json_offset(line);
        return err_set(e, ERR_INPUT, "a %s line without '%s'", t->type.at, missing);
    }
    if (unknown || r->unknown_members.at)
        r->unknown_members = unknown_members_collect(line, STR(RECORDING_NAME), is_known_member,
                                                     t, r->unknown_members, a);
    return true;
}

bool recording_line_read(struct json_val line, struct record *r, struct arena *a, size_t *at,
                         struct err *e)
{
    struct json_val type = json_get(line, STR("type"));
    const struct line_type *t;

    *at = json_offset(line);
    if (json_type(line) != JSON_OBJECT)
        return err_set(e, ERR_INPUT, "a line of a recording must be an object");
    if (json_type(type) != JSON_STRING)
        return err_set(e, ERR_INPUT, "a line without a 'type' that is a string");
    t = find_type(json_text(type, a), line);
    *r = (struct record){ .kind = t ? t->kind : RECORD_UNKNOWN };
    if (t)
        return read_members(t, line, r, a, at, e);
    if (recording_line_is_known_type(json_text(type, a)) &&
        json_type(json_get(line, STR("ev"))) != JSON_STRING)
        return err_set(e, ERR_INPUT, "a %.*s line without an 'ev' that is a string",
                       STR_ARG(json_text(type, a)));
    r->unknown_type = json_text(type, a);
    return true;
}

static bool is_present(const struct recording_member *m, const struct record *r)
{
    const void *from = (const char *)r + m->at;

    if (m->has)
        return r->has & m->has;
    switch (m->type) {
    case MEMBER_TEXT:
    case MEMBER_JSON:
    case MEMBER_TEXTS:
    case MEMBER_BYTES:
    case MEMBER_HEADERS:
    case MEMBER_EVENT:
    case MEMBER_BATCH:
    case MEMBER_RESUMES:
        return ((const struct str *)from)->at != NULL;
    case MEMBER_BOOL:
        return m->required || *(const bool *)from;
    case MEMBER_BASE64:
    case MEMBER_FOREIGN:
        return false;
    default:
        return true;
    }
}

/* Whether the bytes are readable, and not much longer as JSON text than as base64. */
static bool is_readable_text(struct str bytes)
{
    size_t controls = 0;

    for (size_t i = 0; i < bytes.len; i++)
        controls += (unsigned char)bytes.at[i] < ' ' && bytes.at[i] != '\n';
    return controls <= bytes.len / 16 + 16 && utf8_valid(bytes);
}

/* Writes bytes as text, else as "base64". */
static void write_bytes(struct buf *to, const struct recording_member *m, struct str bytes)
{
    if (is_readable_text(bytes)) {
        buf_add(to, m->key);
        json_write_str(to, bytes);
        return;
    }
    buf_add(to, STR(",\"base64\":\""));
    base64_encode(to, bytes);
    buf_add_ch(to, '"');
}

static void write_time(struct buf *to, int64_t wall_us)
{
    char text[CLOCK_TEXT_SIZE];

    buf_add_ch(to, '"');
    buf_add(to, clock_format(text, wall_us));
    buf_add_ch(to, '"');
}

static struct str dir_word(const enum record_dir *dir, struct str zero, struct str one)
{
    return *dir == TO_SERVER ? zero : one;
}

static void write_value(struct buf *to, const struct recording_member *m, const void *from)
{
    switch (m->type) {
    case MEMBER_TEXT:
        json_write_str(to, *(const struct str *)from);
        break;
    case MEMBER_JSON:
    case MEMBER_TEXTS:
    case MEMBER_HEADERS:
    case MEMBER_EVENT:
    case MEMBER_BATCH:
    case MEMBER_RESUMES:
        buf_add(to, *(const struct str *)from);
        break;
    case MEMBER_VALUE:
        buf_add(to, json_raw(*(const struct json_val *)from));
        break;
    case MEMBER_COUNT:
    case MEMBER_NUMBER:
    case MEMBER_STATUS:
        buf_add_int(to, *(const int64_t *)from);
        break;
    case MEMBER_TIME:
        write_time(to, *(const int64_t *)from);
        break;
    case MEMBER_DIR:
        buf_add(to, dir_word(from, STR("\"c2s\""), STR("\"s2c\"")));
        break;
    case MEMBER_FROM:
        buf_add(to, dir_word(from, STR("\"client\""), STR("\"server\"")));
        break;
    case MEMBER_BOOL:
        buf_add(to, *(const bool *)from ? STR("true") : STR("false"));
        break;
    case MEMBER_BYTES:
    case MEMBER_BASE64:
    case MEMBER_FOREIGN:
        BUG("this type of member is not written by its name");
    }
}

static void write_members(struct buf *to, const struct recording_member *m,
                          const struct record *r)
{
    for (; m->name.len; m++) {
        const void *from = (const char *)r + m->at;
        if (!is_present(m, r))
            continue;
        if (m->type == MEMBER_BYTES) {
            write_bytes(to, m, *(const struct str *)from);
            continue;
        }
        buf_add(to, m->key);
        write_value(to, m, from);
    }
}

static void write_unknown_members(struct buf *to, struct str extra)
{
    struct json_out o = { .to = to, .comma = true };

    unknown_members_write_own(&o, extra, STR(RECORDING_NAME));
    unknown_members_write_foreign(&o, STR(FOREIGN), extra, STR(RECORDING_NAME));
}

void recording_line_write(struct buf *to, const struct record *r)
{
    const struct line_type *t = &line_types[r->kind];

    BUG_IF(r->kind >= RECORD_UNKNOWN || t->kind != r->kind);
    buf_add(to, t->head);
    write_members(to, t->members, r);
    write_members(to, common_members, r);
    if (r->unknown_members.at)
        write_unknown_members(to, r->unknown_members);
    buf_add(to, STR("}\n"));
}
