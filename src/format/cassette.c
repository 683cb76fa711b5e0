/* format/cassette.c - the cassette format of mcp-recorder: one JSON document, one object per
 * exchange.
 *
 * Reads each interaction as one exchange: the HTTP request if the cassette has details of it,
 * the client's message, the HTTP response, the server's message. The whole document is checked
 * before the first record is returned.
 *
 * Python accepts numbers that are not JSON: NaN, Infinity, -Infinity. They are read as null,
 * with a note, and counted: no record can hold them. */
#include <stdlib.h>

#include "base/mem.h"
#include "format/cassette-pair.h"
#include "format/json-document.h"
#include "format/python-json.h"
#include "trace/limits.h"

/* The records of an interaction, in this order; some may be absent. */
enum cassette_step {
    CASSETTE_STEP_HTTP_REQUEST,
    CASSETTE_STEP_CLIENT,
    CASSETTE_STEP_HTTP_RESPONSE,
    CASSETTE_STEP_SERVER,
    CASSETTE_STEP_DONE
};

struct cassette {
    struct json document;
    struct buf replaced; /* its text with null for numbers that are not JSON; else empty */
    size_t *longer;      /* offsets in `replaced` where null is one byte longer than NaN */
    size_t longer_count, longer_cap;
    struct json_iter interactions;
    struct arena arena; /* decoded texts of the header or the current interaction */
    struct cassette_interaction current;
    enum cassette_step step;
    uint64_t exchange, seq;
    struct buf text; /* the current message, on one line */
    struct json message;
    bool header_read;
};

static void *cassette_open(void)
{
    struct cassette *s = mem_new(struct cassette);

    json_init(&s->document);
    json_init(&s->message);
    buf_init(&s->text, LIMIT_LINE);
    buf_init(&s->replaced, 2 * LIMIT_LINE);
    s->step = CASSETTE_STEP_DONE;
    return s;
}

static void cassette_close(void *state)
{
    struct cassette *s = state;

    json_release(&s->document);
    json_release(&s->message);
    buf_release(&s->text);
    buf_release(&s->replaced);
    free(s->longer);
    arena_release(&s->arena);
    free(s);
}

/* The member names of an object whose text may be cut off. */
struct cassette_names {
    bool version, metadata, interactions, other, of_lines;
};

static void note_name(struct cassette_names *n, struct json_val name)
{
    if (json_is(name, STR("interactions")))
        n->interactions = true;
    else if (json_is(name, STR("version")))
        n->version = true;
    else if (json_is(name, STR("metadata")))
        n->metadata = true;
    else
        n->other = true;
    /* Members that identify the line-based formats. */
    n->of_lines = n->of_lines || json_is(name, STR("type")) || json_is(name, STR("jsonrpc")) ||
                  json_is(name, STR("raw"));
}

static struct cassette_names names_of(struct str object)
{
    struct cassette_names n = { 0 };
    struct json_document_head h;

    json_document_head_init(&h, object);
    while (json_document_head_next(&h))
        note_name(&n, h.name);
    json_document_head_release(&h);
    return n;
}

/* All members are optional, but these identify a cassette. */
static enum probe_rank cassette_probe(struct str head)
{
    struct cassette_names n = names_of(head);

    bool ours = !n.of_lines && (n.interactions || (n.version && n.metadata && !n.other));

    return ours ? PROBE_SURE : PROBE_NONE;
}

/* The length of NaN, Infinity or -Infinity at the front of `s`; 0: none of them. */
static size_t python_number_len(struct str s)
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

static void add_longer(struct cassette *s)
{
    s->longer = mem_reserve(s->longer, &s->longer_cap, s->longer_count + 1, sizeof *s->longer);
    s->longer[s->longer_count++] = s->replaced.len;
}

/* Copies the text with null, padded to the same length where possible so that offsets stay.
 * Returns the number of replacements; `*first` is the offset of the first. */
static uint64_t replace_python_numbers(struct cassette *s, struct str text, size_t *first)
{
    struct str rest = text;
    uint64_t count = 0;

    while (rest.len) {
        size_t len = python_number_len(rest);

        if (len) {
            if (!count++)
                *first = (size_t)(rest.at - text.at);
            buf_printf(&s->replaced, "%-*s", (int)len, "null");
            if (len < strlen("null"))
                add_longer(s);
        } else {
            len = rest.at[0] == '"' ? string_length(rest) : 1;
            buf_add(&s->replaced, str_n(rest.at, len));
        }
        rest = str_skip(rest, len);
    }
    return count;
}

/* Scans the document; `w` becomes a window on the scanned text. `*dropped` counts values read
 * as null. */
static bool scan_document(struct cassette *s, struct window *w, uint64_t *dropped,
                          struct err *e)
{
    struct json_fault fault;
    size_t first = 0;

    if (json_scan(&s->document, w->bytes, &fault))
        return true;
    if (python_number_len(str_skip(w->bytes, fault.at))) {
        *dropped = replace_python_numbers(s, w->bytes, &first);
        format_note(w, first, "NaN and Infinity are not JSON; read as null");
        w->bytes = buf_str(&s->replaced);
        if (json_scan(&s->document, w->bytes, &fault))
            return true;
    }
    if (fault.kind == JSON_FAULT_TRUNCATED)
        format_error(w, fault.at, e, "the cassette is cut off");
    else
        format_error(w, fault.at, e, "not valid JSON: %s", fault.what);
    return false;
}

/* Checks all interactions; adds to `*dropped` the values that no record can hold. */
static bool check_interactions(struct json_iter it, const struct window *w, uint64_t *dropped,
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
            format_note(w, json_offset(beyond), "a number out of range; left out");
        *dropped += (uint64_t)!i.has_status + !i.has_latency;
        *dropped += cassette_model_count_unknown_in(it.value);
    }
    arena_release(&a);
    return ok;
}

static enum next_result read_header(struct cassette *s, const struct window *shown,
                                    struct record *r, struct err *e)
{
    struct window w = *shown;
    struct cassette_metadata m;
    uint64_t dropped = 0;

    if (!scan_document(s, &w, &dropped, e))
        return NEXT_ERROR;
    dropped += cassette_model_count_unknown(json_root(&s->document));
    s->header_read = true;
    s->interactions = json_each(json_get(json_root(&s->document), STR("interactions")));
    if (!cassette_model_read(&w, json_root(&s->document), &s->arena, &m, e) ||
        !check_interactions(s->interactions, &w, &dropped, e))
        return NEXT_ERROR;
    cassette_model_to_header(&m, &s->arena, r);
    r->unread_values = dropped;
    return NEXT_RECORD;
}

static struct record record_of(const struct cassette *s, enum record_kind kind)
{
    return (struct record){ .kind = kind, .has = HAS_EXCHANGE, .exchange = s->exchange };
}

/* Returns false if the request has nothing that does not follow from the message. */
static bool make_http_request(struct cassette *s, struct record *r)
{
    struct json_val request = json_get(s->interactions.value, STR("request"));
    bool usual;

    if (json_type(request) != JSON_OBJECT)
        request = JSON_VAL_NONE;
    usual = cassette_model_default_type(request, s->current.method) == s->current.type;
    *r = record_of(s, RECORD_HTTP_REQUEST);
    r->http.method = s->current.method;
    r->http.path = s->current.path;
    if (!usual)
        r->http.kind = cassette_model_type_name(s->current.type);
    return !usual || s->current.method.at || s->current.path.at;
}

static bool make_http_response(struct cassette *s, struct record *r)
{
    *r = record_of(s, RECORD_HTTP_RESPONSE);
    r->has |= HAS_STATUS;
    r->http.status = s->current.status;
    if (s->current.sse)
        r->http.media = STR("sse");
    else if (s->current.response.at)
        r->http.media = STR("json");
    if (s->current.has_latency && !s->current.response.at) {
        r->has |= HAS_LATENCY;
        r->http.took_ms = s->current.latency_ms;
    }
    return s->current.has_status;
}

static bool make_message(struct cassette *s, enum record_dir dir, struct str json,
                         struct record *r)
{
    struct json_fault fault;

    if (!json.at)
        return false;
    buf_clear(&s->text);
    python_json_write_compact(&s->text, json);
    if (!json_scan(&s->message, buf_str(&s->text), &fault))
        BUG("the compact form of a value is not JSON");
    *r = record_of(s, RECORD_MESSAGE);
    r->has |= HAS_SEQ;
    r->message = (struct record_message){ .seq = ++s->seq,
                                          .dir = dir,
                                          .msg = json_root(&s->message),
                                          .latency_ms = s->current.latency_ms };
    if (dir == TO_CLIENT && s->current.has_latency)
        r->has |= HAS_LATENCY;
    return true;
}

/* The offset in the window of an offset in the scanned text. */
static size_t offset_in_window(const struct cassette *s, size_t at)
{
    size_t low = 0, high = s->longer_count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->longer[middle] <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return at - low;
}

static void set_message(const struct cassette *s, const struct window *w, struct str json,
                        struct consumed *t)
{
    size_t at = (size_t)(json.at - s->document.text.at);
    size_t from = offset_in_window(s, at), end = offset_in_window(s, at + json.len);

    t->message = str_n(w->bytes.at + from, end - from);
}

/* The next record of the current interaction; false: no more. */
static bool next_step(struct cassette *s, const struct window *w, struct consumed *t,
                      struct record *r)
{
    while (s->step != CASSETTE_STEP_DONE) {
        bool is_there = false;

        switch (s->step++) {
        case CASSETTE_STEP_HTTP_REQUEST:
            is_there = make_http_request(s, r);
            break;
        case CASSETTE_STEP_CLIENT:
            is_there = make_message(s, TO_SERVER, s->current.request, r);
            break;
        case CASSETTE_STEP_HTTP_RESPONSE:
            is_there = make_http_response(s, r);
            break;
        default:
            is_there = make_message(s, TO_CLIENT, s->current.response, r);
        }
        if (is_there && r->kind == RECORD_MESSAGE)
            set_message(s, w,
                        r->message.dir == TO_SERVER ? s->current.request : s->current.response,
                        t);
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
    if (!cassette_model_read_interaction(w, s->interactions.value, &s->arena, &s->current,
                                         &beyond, &checked))
        BUG("a valid interaction is invalid on the second read");
    s->exchange++;
    s->step = CASSETTE_STEP_HTTP_REQUEST;
    return true;
}

/* The document stays in the window until the end. */
static enum next_result cassette_next(void *state, const struct window *w, struct consumed *t,
                                      struct record *r, struct err *e)
{
    struct cassette *s = state;

    if (!w->last) {
        t->want = SIZE_MAX;
        return NEXT_MORE;
    }
    if (!s->header_read)
        return read_header(s, w, r, e);
    BUG_IF(s->document.text.at != (s->replaced.len ? s->replaced.at : w->bytes.at));
    do {
        if (next_step(s, w, t, r))
            return NEXT_RECORD;
    } while (next_interaction(s, w));
    t->bytes = w->bytes.len;
    return NEXT_END;
}

/* The metadata comes first in the file, but is known last. */
struct cassette_writer {
    struct cassette_sink sink;
    struct cassette_pair *pair;
    struct buf interactions;
    bool failed;
};

static void write_interaction(struct cassette_sink *self, const struct cassette_interaction *i)
{
    struct cassette_writer *s = (struct cassette_writer *)self;

    cassette_model_write_interaction(&s->interactions, i, !s->interactions.len);
}

static void *cassette_begin(const struct format_options *o)
{
    struct cassette_writer *s = mem_new(struct cassette_writer);

    (void)o;
    s->sink.put = write_interaction;
    s->pair = cassette_pair_new(&s->sink);
    buf_init(&s->interactions, LIMIT_LINE);
    return s;
}

/* A format reports that a limit is exceeded by a full buffer. */
static void cassette_put(void *state, struct buf *to, const struct record *r)
{
    struct cassette_writer *s = state;

    s->failed = s->failed || !cassette_pair_put(s->pair, r);
    to->full = to->full || s->failed || s->interactions.full;
}

static bool cassette_is_empty(void *state)
{
    struct cassette_writer *s = state;

    cassette_pair_end(s->pair);
    return !s->interactions.len && !s->failed;
}

static void cassette_end(void *state, struct buf *to)
{
    struct cassette_writer *s = state;
    struct cassette_metadata m = cassette_pair_finish(s->pair);

    cassette_model_write_head(to, &m);
    buf_add(to, buf_str(&s->interactions));
    cassette_model_write_tail(to, s->interactions.len);
    to->full = to->full || s->failed || s->interactions.full;
    buf_release(&s->interactions);
    cassette_pair_free(s->pair);
    free(s);
}

const struct format cassette_format = {
    .name = "cassette",
    .about = "mcp-recorder's JSON: requests with their responses",
    .ext = { ".json" },
    .keeps = FEATURE_LATENCY | FEATURE_DIRECTION | FEATURE_URL,
    .probe = cassette_probe,
    .open = cassette_open,
    .next = cassette_next,
    .close = cassette_close,
    .begin = cassette_begin,
    .put = cassette_put,
    .end = cassette_end,
    .is_empty = cassette_is_empty,
    .write_message = cassette_model_write_message,
};
