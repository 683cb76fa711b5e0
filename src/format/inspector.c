/* format/inspector.c - JSON-RPC messages in one document: an array, or the member `events` of
 * an object.
 *
 * As Assay reads under this name. Messages have no direction, so it is inferred
 * (format/transcript.h). All messages are checked before the first record is returned. */
#include <stdlib.h>

#include "base/mem.h"
#include "format/json-document.h"
#include "format/transcript.h"
#include "trace/unknown-members.h"
#include "json/write.h"

#define NAME "inspector"
#define EVENTS "events"

struct inspector {
    struct json_document document;
    struct transcript transcript;
    struct json_iter events;
    struct arena arena; /* texts of the header */
    uint64_t entry;     /* number of the latest event */
    bool header_read;
};

static void *inspector_open(void)
{
    struct inspector *s = mem_new(struct inspector);

    json_document_init(&s->document);
    transcript_init(&s->transcript, FORMAT_RULES_NONE);
    return s;
}

static void inspector_close(void *state)
{
    struct inspector *s = state;

    json_document_release(&s->document);
    transcript_release(&s->transcript);
    arena_release(&s->arena);
    free(s);
}

static void restart(struct inspector *s, enum format_rules rules)
{
    transcript_release(&s->transcript);
    transcript_init(&s->transcript, rules);
}

static void inspector_set_rules(void *state, enum format_rules rules)
{
    restart(state, rules);
}

/* Whether a value follows the array at the front, which may be cut off. */
static bool has_more_values(struct str head)
{
    struct json_fault fault;
    struct json j;
    size_t used;
    bool more;

    json_init(&j);
    more = json_scan_first(&j, head, &used, &fault) && str_trim(str_skip(head, used)).len;
    json_release(&j);
    return more;
}

static enum probe_rank rank_of_array(struct str text)
{
    struct str first = str_trim(str_skip(text, 1));

    return str_starts(text, STR("[")) && first.len ? transcript_probe(first) : PROBE_NONE;
}

static bool is_empty_array(struct str text)
{
    return str_starts(text, STR("[")) && str_starts(str_trim(str_skip(text, 1)), STR("]"));
}

/* An empty array alone may be anything. */
static enum probe_rank inspector_probe(struct str head)
{
    enum probe_rank rank = PROBE_NONE;
    struct json_document_head h;

    head = str_trim(head);
    if (str_starts(head, STR("[")))
        return has_more_values(head) ? PROBE_NONE : rank_of_array(head);
    json_document_head_init(&h, head);
    while (json_document_head_next(&h))
        if (json_is(h.name, STR(EVENTS)))
            rank = is_empty_array(h.value) ? PROBE_WEAK : rank_of_array(h.value);
    json_document_head_release(&h);
    return rank;
}

static bool is_known_member(const void *self, struct str name)
{
    (void)self;
    return str_eq(name, STR(EVENTS));
}

static bool check_events(struct inspector *s, const struct window *w, struct err *e)
{
    struct transcript_place place = { .window = w };
    struct json_iter it = s->events;
    bool ok = true;

    while (ok && json_next(&it)) {
        struct record r = { 0 };

        place.at = json_offset(it.value);
        place.entry++;
        ok = transcript_read(&s->transcript, &place, it.value, NULL, false, &r, e);
        if (ok)
            transcript_note_time(&s->transcript, &r);
    }
    return ok;
}

static enum next_result read_header(struct inspector *s, const struct window *w,
                                    struct record *r, struct err *e)
{
    struct json_val root = json_root(&s->document.json), events = root;
    struct transcript_place place = { .window = w, .at = json_offset(root) };
    int64_t start_us;
    bool typed_ids;

    if (json_type(root) == JSON_OBJECT)
        events = json_get(root, STR(EVENTS));
    if (json_type(events) != JSON_ARRAY)
        return format_error(w, json_offset(json_exists(events) ? events : root), e,
                            "the document must be an array of messages, or have one in '" EVENTS
                            "'");
    s->events = json_each(events);
    if (!transcript_check_members(&s->transcript, &place, root, e) || !check_events(s, w, e))
        return NEXT_ERROR;
    typed_ids = s->transcript.typed_ids;
    start_us = s->transcript.start_us;
    restart(s, FORMAT_RULES_NONE);
    s->transcript.typed_ids = typed_ids;
    s->transcript.start_us = start_us;
    s->header_read = true;
    *r = (struct record){ .kind = RECORD_HEADER };
    r->header.source = STR("{\"format\":\"" NAME "\"}");
    r->unknown_members =
        unknown_members_collect(root, STR(NAME), is_known_member, NULL, STR_NONE, &s->arena);
    transcript_set_start(&s->transcript, r);
    return NEXT_RECORD;
}

static enum next_result inspector_next(void *state, const struct window *w, struct consumed *t,
                                       struct record *r, struct err *e)
{
    struct inspector *s = state;
    struct transcript_place place = { .window = w };
    enum next_result next = json_document_scan(&s->document, w, t, e);

    if (next != NEXT_RECORD)
        return next;
    if (!s->header_read)
        return read_header(s, w, r, e);
    if (!json_next(&s->events)) {
        t->bytes = w->bytes.len;
        return NEXT_END;
    }
    place.at = json_offset(s->events.value);
    place.entry = ++s->entry;
    *r = (struct record){ 0 };
    if (!transcript_read(&s->transcript, &place, s->events.value, NULL, false, r, e))
        BUG("a valid event is invalid on the second read");
    if (r->kind == RECORD_MESSAGE)
        t->message = json_document_source(w, s->events.value);
    return NEXT_RECORD;
}

struct inspector_writer {
    bool begun, is_object, any;
};

static void *inspector_begin(const struct format_options *o)
{
    (void)o;
    return mem_new(struct inspector_writer);
}

/* The document is an object if it has other members than the events. */
static void write_head(struct inspector_writer *s, struct buf *to, struct str unknown_members)
{
    struct json_out o = json_out_to(to);
    size_t before;

    if (s->begun)
        return;
    s->begun = true;
    json_out_object(&o);
    before = to->len;
    unknown_members_write_own(&o, unknown_members, STR(NAME));
    s->is_object = to->len > before;
    if (s->is_object) {
        json_out_key(&o, STR(EVENTS));
    } else if (!to->full) {
        to->len = before - 1;
    }
    buf_add_ch(to, '[');
}

static void inspector_put(void *state, struct buf *to, const struct record *r)
{
    struct inspector_writer *s = state;
    struct json_val message;
    struct json j;

    if (r->kind == RECORD_HEADER && r->unknown_members.at)
        write_head(s, to, r->unknown_members);
    json_init(&j);
    message = transcript_message(r, &j);
    if (json_exists(message)) {
        write_head(s, to, STR_NONE);
        buf_add(to, s->any ? STR(",\n") : STR("\n"));
        buf_add(to, json_raw(message));
        s->any = true;
    }
    json_release(&j);
}

static bool inspector_is_empty(void *state)
{
    const struct inspector_writer *s = state;

    return !s->any;
}

static void inspector_end(void *state, struct buf *to)
{
    struct inspector_writer *s = state;

    if (!s->begun)
        buf_add(to, STR("{\"" EVENTS "\":["));
    buf_add(to, s->any ? STR("\n]") : STR("]"));
    buf_add(to, s->is_object || !s->begun ? STR("}\n") : STR("\n"));
    free(s);
}

const struct format inspector_format = {
    .name = NAME,
    .about = "JSON-RPC messages in one document, as Assay's format inspector",
    .alias = { "mcp-inspector", "mcp-inspector@v1" },
    .ext = { ".inspector.json" },
    .keeps = FEATURE_BYTES | FEATURE_SERVER_MESSAGES | FEATURE_UNPAIRED | FEATURE_ORDER,
    .probe = inspector_probe,
    .open = inspector_open,
    .next = inspector_next,
    .close = inspector_close,
    .set_rules = inspector_set_rules,
    .begin = inspector_begin,
    .put = inspector_put,
    .end = inspector_end,
    .is_empty = inspector_is_empty,
};
