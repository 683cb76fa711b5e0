#include "report/inspect-cassette.h"

#include "base/term.h"
#include "base/utf8.h"
#include "trace/limits.h"

/* Appends a value like Python's str(): None, True, False; strings without quotes. */
static void add_value(struct buf *to, struct json_val v)
{
    struct arena a = { 0 };
    struct str text = json_raw(v);

    if (json_type(v) == JSON_STRING)
        text = json_text(v, &a);
    else if (json_type(v) == JSON_NULL)
        text = STR("None");
    else if (json_type(v) == JSON_TRUE)
        text = STR("True");
    else if (json_type(v) == JSON_FALSE)
        text = STR("False");
    term_escape(to, text, TERM_ONE_LINE);
    arena_release(&a);
}

/* Returns whether Python takes the value for true. */
static bool is_python_true(struct json_val v)
{
    int64_t n;

    switch (json_type(v)) {
    case JSON_TRUE:
        return true;
    case JSON_NUMBER:
        return !json_int(v, &n) || n != 0;
    case JSON_STRING:
        return json_unquoted(v).len;
    case JSON_ARRAY:
    case JSON_OBJECT:
        return json_count(v);
    default:
        return false;
    }
}

static void add_text_or_none(struct buf *to, struct str text)
{
    term_escape(to, text.at ? text : STR("None"), TERM_ONE_LINE);
}

static void add_subject(struct buf *to, struct json_val request)
{
    struct json_val method = json_get(request, STR("method"));
    struct json_val name = json_get(json_get(request, STR("params")), STR("name"));

    if (is_python_true(method))
        add_value(to, method);
    else
        buf_add(to, STR("unknown"));
    if (json_is(method, STR("tools/call")) && is_python_true(name)) {
        buf_add(to, STR(" ["));
        add_value(to, name);
        buf_add_ch(to, ']');
    }
}

static void add_message(struct buf *to, const struct cassette_interaction *i)
{
    struct json_fault fault;
    struct json request;

    json_init(&request);
    if (i->request.at && !json_scan(&request, i->request, &fault))
        BUG("a message is not JSON");
    add_subject(to, i->request.at ? json_root(&request) : JSON_VAL_NONE);
    json_release(&request);
}

static uint64_t count_all(const struct inspect_cassette_lines *l)
{
    return l->count[CASSETTE_REQUEST] + l->count[CASSETTE_NOTIFICATION] +
           l->count[CASSETTE_LIFECYCLE];
}

static void add_interaction(struct cassette_sink *self, const struct cassette_interaction *i)
{
    struct inspect_cassette_lines *l = (struct inspect_cassette_lines *)self;
    bool lifecycle = i->type == CASSETTE_LIFECYCLE;
    struct buf *to = &l->text;

    l->count[i->type]++;
    buf_printf(to, "    %llu. ", (unsigned long long)count_all(l));
    if (lifecycle) {
        add_text_or_none(to, i->method);
        buf_add_ch(to, ' ');
        add_text_or_none(to, i->path);
    } else {
        add_message(to, i);
    }
    buf_printf(to, " -> %llu%s (%llums)\n", (unsigned long long)i->status,
               i->sse && !lifecycle ? " SSE" : "", (unsigned long long)i->latency_ms);
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct inspect_cassette *c = (struct inspect_cassette *)self;

    if (!cassette_pair_put(c->pairs, r))
        return err_set(e, ERR_LIMIT, "too many interactions are open at the same time");
    return buf_ok(&c->lines.text, e);
}

void inspect_cassette_init(struct inspect_cassette *c)
{
    *c = (struct inspect_cassette){ .sink = { put_record },
                                    .lines = { .sink = { add_interaction } } };
    buf_init(&c->lines.text, LIMIT_LINE);
    c->pairs = cassette_pair_new(&c->lines.sink);
}

void inspect_cassette_release(struct inspect_cassette *c)
{
    cassette_pair_free(c->pairs);
    buf_release(&c->lines.text);
}

/* Appends the first 19 characters: a date and time without the fraction. */
static void add_date(struct buf *to, struct str date)
{
    struct arena a = { 0 };
    struct str rest = date;
    char *text;
    uint32_t code;

    for (int n = 0; n < 19 && rest.len; n++) {
        size_t bytes = utf8_decode(rest, &code);
        rest = str_skip(rest, bytes ? bytes : 1);
    }
    date.len -= rest.len;
    text = arena_z(&a, date);
    for (size_t n = 0; n < date.len; n++)
        text[n] = text[n] == 'T' ? ' ' : text[n];
    term_escape(to, str_n(text, date.len), TERM_ONE_LINE);
    arena_release(&a);
}

static void add_server(struct buf *to, struct str info)
{
    struct json_val name, version;
    struct json_fault fault;
    struct json j;

    json_init(&j);
    if (!json_scan(&j, info, &fault))
        BUG("the serverInfo is not JSON");
    name = json_get(json_root(&j), STR("name"));
    version = json_get(json_root(&j), STR("version"));
    if (is_python_true(json_root(&j))) {
        buf_add(to, STR("  Server:   "));
        if (json_exists(name))
            add_value(to, name);
        else
            buf_add(to, STR("unknown"));
        if (is_python_true(version)) {
            buf_add(to, STR(" v"));
            add_value(to, version);
        }
        buf_add_ch(to, '\n');
    }
    json_release(&j);
}

static void add_line(struct buf *to, const char *label, struct str text)
{
    if (!text.len)
        return;
    buf_printf(to, "  %-9s ", label);
    term_escape(to, text, TERM_ONE_LINE);
    buf_add_ch(to, '\n');
}

static void add_summary(struct buf *to, const uint64_t count[CASSETTE_LIFECYCLE + 1])
{
    static const char *const names[] = { "request", "notification", "lifecycle" };
    const char *comma = "";

    buf_add(to, STR("\n  Summary: "));
    for (int t = CASSETTE_REQUEST; t <= CASSETTE_LIFECYCLE; t++) {
        if (!count[t])
            continue;
        buf_printf(to, "%s%llu %s%s", comma, (unsigned long long)count[t], names[t],
                   t != CASSETTE_LIFECYCLE && count[t] != 1 ? "s" : "");
        comma = ", ";
    }
    buf_add_ch(to, '\n');
}

void inspect_cassette_write(struct buf *to, struct inspect_cassette *c, const char *path)
{
    struct cassette_metadata m = cassette_pair_finish(c->pairs);
    const char *slash = strrchr(path, '/');

    term_escape(to, str_z(slash ? slash + 1 : path), TERM_ONE_LINE);
    buf_add(to, STR("\n  Recorded: "));
    if (m.recorded_at.len)
        add_date(to, m.recorded_at);
    else
        buf_add(to, STR("unknown"));
    buf_add_ch(to, '\n');
    if (m.server_info.at)
        add_server(to, m.server_info);
    add_line(to, "Protocol:", m.protocol);
    add_line(to, "Target:", m.server_url);
    buf_printf(to, "\n  Interactions (%llu):\n", (unsigned long long)count_all(&c->lines));
    buf_add(to, buf_str(&c->lines.text));
    add_summary(to, c->lines.count);
}
