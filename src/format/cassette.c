/* format/cassette.c - the JSON of mcp-recorder: one document, one object per exchange.
 *
 * Reading gives each interaction as one exchange: the HTTP request if the cassette
 * says something about it, the client's message, the HTTP response, the server's
 * message. All of the document is checked before the first record comes out.
 *
 * Python writes and reads numbers that are not JSON: NaN, Infinity, -Infinity. They are
 * read as null, for no record can hold them, and that is told and counted. */
#include <stdlib.h>

#include "base/mem.h"
#include "format/cassette-gather.h"
#include "format/pretty.h"
#include "trace/limits.h"

/* What an interaction gives, in this order; not each gives all. */
enum step { STEP_HTTP_REQUEST, STEP_ASK, STEP_HTTP_RESPONSE, STEP_ANSWER, STEP_DONE };

struct cassette {
    struct json document;
    struct buf replaced; /* its text, if there was something in it that is no JSON */
    struct json_iter interactions;
    struct arena arena; /* decoded texts of the header or the current interaction */
    struct cassette_interaction now;
    enum step step;
    uint64_t exchange, seq;
    struct buf text; /* the current message, on one line */
    struct json message;
    bool open;
};

static void *cassette_open(void)
{
    struct cassette *s = mem_new(struct cassette);

    json_init(&s->document);
    json_init(&s->message);
    buf_init(&s->text, LIMIT_LINE);
    buf_init(&s->replaced, 2 * LIMIT_LINE);
    s->step = STEP_DONE;
    return s;
}

static void cassette_close(void *state)
{
    struct cassette *s = state;

    json_release(&s->document);
    json_release(&s->message);
    buf_release(&s->text);
    buf_release(&s->replaced);
    arena_release(&s->arena);
    free(s);
}

/* The names of an object's members, as far as the text goes. */
struct names {
    bool version, metadata, interactions, other, of_lines;
};

static void note_name(struct names *n, struct json_val name)
{
    if (json_is(name, STR("interactions")))
        n->interactions = true;
    else if (json_is(name, STR("version")))
        n->version = true;
    else if (json_is(name, STR("metadata")))
        n->metadata = true;
    else
        n->other = true;
    /* What the lines of other formats are known by. */
    n->of_lines = n->of_lines || json_is(name, STR("type")) || json_is(name, STR("jsonrpc")) ||
                  json_is(name, STR("raw"));
}

static struct names names_of(struct str object)
{
    struct str rest = str_trim(object);
    struct json_fault fault;
    struct names n = { 0 };
    struct json j;
    size_t used;

    json_init(&j);
    while (str_starts(rest, STR("{")) || str_starts(rest, STR(","))) {
        rest = str_skip(rest, 1);
        if (!json_scan_first(&j, rest, &used, &fault) ||
            json_type(json_root(&j)) != JSON_STRING)
            break;
        note_name(&n, json_root(&j));
        rest = str_trim(str_skip(rest, used));
        if (!str_starts(rest, STR(":")) ||
            !json_scan_first(&j, str_skip(rest, 1), &used, &fault))
            break;
        rest = str_trim(str_skip(rest, 1 + used));
    }
    json_release(&j);
    return n;
}

/* A cassette may lack anything, but then nothing tells what it is. */
static bool cassette_probe(struct str head)
{
    struct names n = names_of(head);

    return !n.of_lines && (n.interactions || (n.version && n.metadata && !n.other));
}

/* The length of one of Python's numbers that are none, at the front of `s`; 0: there is
 * none. */
static size_t pythons(struct str s)
{
    static const struct str words[] = { STR_INIT("NaN"), STR_INIT("Infinity"),
                                        STR_INIT("-Infinity") };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (str_starts(s, words[i]))
            return words[i].len;
    return 0;
}

static size_t string_length(struct str s)
{
    size_t i = 1;

    while (i < s.len && s.at[i] != '"')
        i += s.at[i] == '\\' ? 2 : 1;
    return i < s.len ? i + 1 : s.len;
}

/* Copies the text with null for them, as long as they are where that is possible: then
 * places stay what they are. Returns how many there were; `*first` is the first. */
static uint64_t replace_pythons(struct cassette *s, struct str text, size_t *first)
{
    struct str rest = text;
    uint64_t count = 0;

    while (rest.len) {
        size_t len = pythons(rest);

        if (len) {
            if (!count++)
                *first = (size_t)(rest.at - text.at);
            buf_printf(&s->replaced, "%-*s", (int)len, "null");
        } else {
            len = rest.at[0] == '"' ? string_length(rest) : 1;
            buf_add(&s->replaced, str_n(rest.at, len));
        }
        rest = str_skip(rest, len);
    }
    return count;
}

/* `w` becomes a window on the text that was scanned. `*left_out`: numbers that no record
 * will have. */
static bool scan(struct cassette *s, struct window *w, uint64_t *left_out, struct err *e)
{
    struct json_fault fault;
    size_t first = 0;

    if (json_scan(&s->document, w->bytes, &fault))
        return true;
    if (pythons(str_skip(w->bytes, fault.at))) {
        *left_out = replace_pythons(s, w->bytes, &first);
        format_note(w, first, "NaN and Infinity are not JSON; read as null");
        w->bytes = buf_str(&s->replaced);
        if (json_scan(&s->document, w->bytes, &fault))
            return true;
    }
    if (fault.kind == JSON_FAULT_END)
        format_error(w, fault.at, e, "the cassette is cut off");
    else
        format_error(w, fault.at, e, "not valid JSON: %s", fault.what);
    return false;
}

/* `*left_out`: values that no record will have. */
static bool check_interactions(struct json_iter it, const struct window *w, uint64_t *left_out,
                               struct err *e)
{
    struct cassette_interaction i;
    struct json_val beyond;
    struct arena a = { 0 };
    bool ok = true;

    while (ok && json_next(&it)) {
        arena_clear(&a);
        ok = cassette_model_read_interaction(w, it.value, &a, &i, &beyond, e);
        if (ok && json_exists(beyond))
            format_note(w, json_at(beyond), "a number out of range; left out");
        *left_out += (uint64_t)!i.has_status + !i.has_latency;
        *left_out += cassette_model_unknown_in(it.value);
    }
    arena_release(&a);
    return ok;
}

static enum next read_header(struct cassette *s, const struct window *shown, struct record *r,
                             struct err *e)
{
    struct window w = *shown;
    struct cassette_metadata m;
    uint64_t left_out = 0;

    if (!scan(s, &w, &left_out, e))
        return NEXT_ERROR;
    left_out += cassette_model_unknown(json_root(&s->document));
    s->open = true;
    s->interactions = json_each(json_get(json_root(&s->document), STR("interactions")));
    if (!cassette_model_read(&w, json_root(&s->document), &s->arena, &m, e) ||
        !check_interactions(s->interactions, &w, &left_out, e))
        return NEXT_ERROR;
    cassette_model_to_header(&m, &s->arena, r);
    r->left_out = left_out;
    return NEXT_RECORD;
}

static struct record record_of(const struct cassette *s, enum record_kind kind)
{
    return (struct record){ .kind = kind, .has = HAS_EXCHANGE, .exchange = s->exchange };
}

/* Only what does not follow from the rest. */
static bool http_request(struct cassette *s, struct record *r)
{
    struct json_val request = json_get(s->interactions.value, STR("request"));
    bool usual;

    if (json_type(request) != JSON_OBJECT)
        request = JSON_VAL_NONE;
    usual = cassette_model_usual_type(request, s->now.method) == s->now.type;
    *r = record_of(s, RECORD_HTTP_REQUEST);
    r->http.method = s->now.method;
    r->http.path = s->now.path;
    if (!usual)
        r->http.kind = cassette_model_type_name(s->now.type);
    return !usual || s->now.method.at || s->now.path.at;
}

static bool http_response(struct cassette *s, struct record *r)
{
    *r = record_of(s, RECORD_HTTP_RESPONSE);
    r->has |= HAS_STATUS;
    r->http.status = s->now.status;
    if (s->now.sse)
        r->http.media = STR("sse");
    else if (s->now.response.at)
        r->http.media = STR("json");
    if (s->now.has_latency && !s->now.response.at) {
        r->has |= HAS_LATENCY;
        r->http.took_ms = s->now.latency_ms;
    }
    return s->now.has_status;
}

static bool message(struct cassette *s, enum record_dir dir, struct str json, struct record *r)
{
    struct json_fault fault;

    if (!json.at)
        return false;
    buf_clear(&s->text);
    pretty_flatten(&s->text, json);
    if (!json_scan(&s->message, buf_str(&s->text), &fault))
        BUG("a value is no value on one line");
    *r = record_of(s, RECORD_MESSAGE);
    r->has |= HAS_SEQ;
    r->message = (struct record_message){ .seq = ++s->seq,
                                          .dir = dir,
                                          .msg = json_root(&s->message),
                                          .latency_ms = s->now.latency_ms };
    if (dir == TO_CLIENT && s->now.has_latency)
        r->has |= HAS_LATENCY;
    return true;
}

/* The next record of the current interaction; false: there is none. */
static bool next_step(struct cassette *s, struct record *r)
{
    while (s->step != STEP_DONE) {
        bool is_there = false;

        switch (s->step++) {
        case STEP_HTTP_REQUEST:
            is_there = http_request(s, r);
            break;
        case STEP_ASK:
            is_there = message(s, TO_SERVER, s->now.request, r);
            break;
        case STEP_HTTP_RESPONSE:
            is_there = http_response(s, r);
            break;
        default:
            is_there = message(s, TO_CLIENT, s->now.response, r);
        }
        if (is_there)
            return true;
    }
    return false;
}

static bool next_interaction(struct cassette *s, const struct window *w)
{
    struct err checked = ERR_NONE;
    struct json_val beyond;

    if (!json_next(&s->interactions))
        return false;
    arena_clear(&s->arena);
    if (!cassette_model_read_interaction(w, s->interactions.value, &s->arena, &s->now, &beyond,
                                         &checked))
        BUG("it was fine a moment ago");
    s->exchange++;
    s->step = STEP_HTTP_REQUEST;
    return true;
}

/* The document stays in the window until all of it is used. */
static enum next cassette_next(void *state, const struct window *w, struct taken *t,
                               struct record *r, struct err *e)
{
    struct cassette *s = state;

    if (!w->last) {
        t->want = SIZE_MAX;
        return NEXT_MORE;
    }
    if (!s->open)
        return read_header(s, w, r, e);
    BUG_IF(s->document.text.at != (s->replaced.len ? s->replaced.at : w->bytes.at));
    do {
        if (next_step(s, r))
            return NEXT_RECORD;
    } while (next_interaction(s, w));
    t->bytes = w->bytes.len;
    return NEXT_END;
}

/* The metadata comes first in the file, but is known last. */
struct cassette_writer {
    struct cassette_sink sink;
    struct cassette_gather *gather;
    struct buf interactions;
    bool failed;
};

static void write_interaction(struct cassette_sink *self, const struct cassette_interaction *i)
{
    struct cassette_writer *s = (struct cassette_writer *)self;

    cassette_model_write_interaction(&s->interactions, i, !s->interactions.len);
}

static void *cassette_begin(void)
{
    struct cassette_writer *s = mem_new(struct cassette_writer);

    s->sink.put = write_interaction;
    s->gather = cassette_gather_new(&s->sink);
    buf_init(&s->interactions, LIMIT_LINE);
    return s;
}

/* A buffer that is full is how a format says that something is too much. */
static void cassette_put(void *state, struct buf *to, const struct record *r)
{
    struct cassette_writer *s = state;

    s->failed = s->failed || !cassette_gather_put(s->gather, r);
    to->full = to->full || s->failed || s->interactions.full;
}

static bool cassette_is_empty(void *state)
{
    struct cassette_writer *s = state;

    cassette_gather_end(s->gather);
    return !s->interactions.len && !s->failed;
}

static void cassette_end(void *state, struct buf *to)
{
    struct cassette_writer *s = state;
    struct cassette_metadata m = cassette_gather_finish(s->gather);

    cassette_model_write_head(to, &m);
    buf_add(to, buf_str(&s->interactions));
    cassette_model_write_tail(to, s->interactions.len);
    to->full = to->full || s->failed || s->interactions.full;
    buf_release(&s->interactions);
    cassette_gather_free(s->gather);
    free(s);
}

const struct format cassette_format = {
    .name = "cassette",
    .about = "mcp-recorder's JSON: requests with their answers",
    .ext = { ".json" },
    .keeps = PART_LATENCY | PART_SIDE,
    .probe = cassette_probe,
    .open = cassette_open,
    .next = cassette_next,
    .close = cassette_close,
    .begin = cassette_begin,
    .put = cassette_put,
    .end = cassette_end,
    .is_empty = cassette_is_empty,
};
