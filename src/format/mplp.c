/* format/mplp.c - runtime traces of MPLP 1.0: one document, or one JSON object in a line for
 * each segment and event. Only written.
 *
 * Valid against the published schemas, which differ from the example in the documentation of
 * the format. In the document, segments are written as they end and events after them, so the
 * events wait in memory, compressed. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/compress.h"
#include "base/mem.h"
#include "format/format.h"
#include "format/spans.h"
#include "json/write.h"

enum { PIECE = 64 << 10, TYPE_MAX = 128 };

#define EVENTS_MAX ((size_t)1 << 30)

struct mplp_writer {
    struct spans spans;
    bool lines; /* one object in a line */
    bool begun; /* the document */
    bool has_segments, has_events, finished;
    struct buf root;   /* members of the document that follow from the root span */
    struct buf event;  /* text of one event */
    struct buf events; /* compressed */
    struct compressor *compressor;
    struct decompressor *decompressor; /* not NULL once events are written */
    struct str unread;                 /* of `events` */
    char piece[PIECE];
};

static const char *status_name(enum span_status status)
{
    static const char *const names[] = { [SPAN_RUNNING] = "running",
                                         [SPAN_COMPLETED] = "completed",
                                         [SPAN_FAILED] = "failed",
                                         [SPAN_CANCELLED] = "cancelled" };

    return names[status];
}

static void key_uuid(struct json_out *o, struct str key, struct uuid id)
{
    json_out_key(o, key);
    buf_add_ch(o->to, '"');
    span_ids_write_uuid(o->to, id);
    buf_add_ch(o->to, '"');
    o->comma = true;
}

static void key_time(struct json_out *o, struct str key, int64_t wall_us)
{
    char text[CLOCK_TEXT_SIZE];

    json_out_key_str(o, key, clock_format(text, wall_us));
}

static void key_trace(const struct mplp_writer *w, struct json_out *o)
{
    key_uuid(o, STR("trace_id"), span_ids_trace(&w->spans.ids));
}

static void key_context(const struct mplp_writer *w, struct json_out *o)
{
    json_out_key(o, STR("context_id"));
    buf_add_ch(o->to, '"');
    spans_write_context_id(&w->spans, o->to);
    buf_add_ch(o->to, '"');
    o->comma = true;
}

static void add_attribute(struct json_out *o, const struct span_attribute *a)
{
    json_out_key(o, str_z(a->key));
    switch (a->type) {
    case SPAN_TEXT:
        json_out_str(o, a->text);
        break;
    case SPAN_INT:
        json_out_int(o, a->number);
        break;
    case SPAN_MS:
        spans_write_ms(o->to, a->number);
        o->comma = true;
        break;
    case SPAN_BOOL:
        json_out_bool(o, a->number);
        break;
    case SPAN_JSON:
        json_out_raw(o, a->text);
        break;
    }
}

/* The ids of W3C Trace Context follow from those of MPLP. */
static void add_w3c(struct mplp_writer *w, struct json_out *o, const struct span *span)
{
    struct uuid trace = span_ids_trace(&w->spans.ids);

    json_out_key(o, STR("w3c.traceparent"));
    buf_add(o->to, STR("\"00-"));
    span_ids_write_hex(o->to, trace.high);
    span_ids_write_hex(o->to, trace.low);
    buf_add_ch(o->to, '-');
    span_ids_write_hex(o->to, span->id.high);
    buf_add(o->to, STR("-01\""));
    o->comma = true;
    json_out_key_str(o, STR("w3c.tracestate"), spans_state(&w->spans, span));
}

static void add_attributes(struct mplp_writer *w, struct json_out *o, const struct span *span)
{
    json_out_key(o, STR("attributes"));
    json_out_object(o);
    for (size_t i = 0; i < span->attribute_count; i++)
        add_attribute(o, &span->attributes[i]);
    if (span->in_other_trace) {
        json_out_key(o, STR("w3c.parent_trace_id"));
        buf_add_ch(o->to, '"');
        span_ids_write_hex(o->to, span->trace_high);
        span_ids_write_hex(o->to, span->trace_low);
        buf_add_ch(o->to, '"');
        o->comma = true;
    }
    if (!span->has_parent)
        add_w3c(w, o, span);
    json_out_end_object(o);
}

static void add_times(struct json_out *o, const struct span *span)
{
    if (!span->has_start || !span->is_dated)
        return;
    key_time(o, STR("started_at"), span->start_us);
    if (span->status != SPAN_RUNNING)
        key_time(o, STR("finished_at"), span->end_us);
}

static void add_segment(struct mplp_writer *w, struct json_out *o, const struct span *span)
{
    key_uuid(o, STR("segment_id"), span->id);
    if (span->has_parent)
        key_uuid(o, STR("parent_segment_id"), span->parent);
    json_out_key_str(o, STR("label"), span->name);
    json_out_key_str(o, STR("status"), str_z(status_name(span->status)));
    add_times(o, span);
    add_attributes(w, o, span);
}

static void add_meta(const struct mplp_writer *w, struct json_out *o)
{
    json_out_key(o, STR("meta"));
    json_out_object(o);
    json_out_key_str(o, STR("protocol_version"), STR("1.0.0"));
    json_out_key_str(o, STR("schema_version"), STR("1.0.0"));
    if (w->spans.start_known)
        key_time(o, STR("created_at"), w->spans.start_wall_us);
    json_out_key_str(o, STR("created_by"), STR("mcpreel/" MCPREEL_VERSION));
    json_out_key_raw(o, STR("tags"), STR("[\"mcp\"]"));
    json_out_key_raw(o, STR("cross_cutting"), STR("[\"observability\"]"));
    json_out_end_object(o);
}

/* Writes everything of the document that is known before the first segment. */
static void begin_document(struct mplp_writer *w, struct buf *to)
{
    struct json_out o = json_out_to(to);
    const struct format_options *options = w->spans.config.options;

    if (w->begun || w->lines)
        return;
    w->begun = true;
    json_out_object(&o);
    add_meta(w, &o);
    json_out_key_raw(
        &o, STR("governance"),
        STR("{\"lifecyclePhase\":\"execution\",\"truthDomain\":\"mcp\",\"locked\":false}"));
    key_trace(w, &o);
    key_context(w, &o);
    if (options->plan_id.len)
        json_out_key_str(&o, STR("plan_id"), options->plan_id);
    json_out_key(&o, STR("segments"));
    json_out_array(&o);
    buf_add_ch(to, '\n');
}

/* Composes the members that the document has of its root span, for its end. */
static void keep_root(struct mplp_writer *w, const struct span *span)
{
    struct json_out o = json_out_to(&w->root);

    o.comma = true;
    json_out_key(&o, STR("root_span"));
    json_out_object(&o);
    key_trace(w, &o);
    key_uuid(&o, STR("span_id"), span->id);
    key_context(w, &o);
    add_attributes(w, &o, span);
    json_out_end_object(&o);
    json_out_key_str(&o, STR("status"), str_z(status_name(span->status)));
    add_times(&o, span);
}

static void put_line(struct mplp_writer *w, struct buf *to, const struct span *span)
{
    struct json_out o = json_out_to(to);
    struct str operation = STR("mcp.session");

    for (size_t i = 0; i < span->attribute_count; i++)
        if (strcmp(span->attributes[i].key, "mplp.operation") == 0)
            operation = span->attributes[i].text;
    json_out_object(&o);
    key_trace(w, &o);
    json_out_key_str(&o, STR("operation"), operation);
    key_context(w, &o);
    add_segment(w, &o, span);
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}

static void put_span(void *state, struct buf *to, const struct span *span)
{
    struct mplp_writer *w = state;
    struct json_out o = json_out_to(to);

    if (w->lines) {
        put_line(w, to, span);
        return;
    }
    begin_document(w, to);
    if (w->has_segments)
        buf_add(to, STR(",\n"));
    w->has_segments = true;
    json_out_object(&o);
    add_segment(w, &o, span);
    json_out_end_object(&o);
    if (!span->has_parent)
        keep_root(w, span);
}

/* "notifications/tools/list_changed" becomes "mcp.notifications.tools.listchanged": parts of
 * lower-case letters and digits that begin with a letter. */
static void add_type(struct buf *to, struct str method)
{
    size_t end = to->len + TYPE_MAX;
    bool in_part = false;

    buf_add(to, STR("mcp"));
    for (size_t i = 0; i < method.len && to->len < end; i++) {
        char c = method.at[i];

        if (c == '/')
            in_part = false;
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if ((c < 'a' || c > 'z') && (c < '0' || c > '9' || !in_part))
            continue;
        if (!in_part)
            buf_add_ch(to, '.');
        in_part = true;
        buf_add_ch(to, c);
    }
}

static void add_event_type(struct json_out *o, const struct span_message *m)
{
    json_out_key(o, STR("event_type"));
    buf_add_ch(o->to, '"');
    if (m->kind == SPAN_NOTIFICATION)
        add_type(o->to, m->method);
    else
        buf_add(o->to, m->kind == SPAN_CALL     ? STR("tool.call")
                       : m->kind == SPAN_RESULT ? STR("tool.result")
                                                : STR("mcp.response.orphan"));
    buf_add_ch(o->to, '"');
    o->comma = true;
}

static void add_member(struct json_out *o, const char *key, struct json_val v)
{
    if (json_exists(v))
        json_out_key_raw(o, str_z(key), json_raw(v));
}

static void add_event_payloads(struct json_out *o, const struct span_message *m)
{
    struct json_val params = json_get(m->msg, STR("params")),
                    error = json_get(m->msg, STR("error"));

    if (m->kind == SPAN_CALL)
        add_member(o, "tool_input", json_get(params, STR("arguments")));
    else if (m->kind == SPAN_RESULT)
        add_member(o, "tool_output",
                   json_exists(error) ? error : json_get(m->msg, STR("result")));
    else if (m->kind == SPAN_NOTIFICATION)
        add_member(o, "params", params);
    else
        add_member(o, "message", m->msg);
}

static void add_event_data(const struct mplp_writer *w, struct json_out *o,
                           const struct span_message *m)
{
    const bool is_tool = m->kind == SPAN_CALL || m->kind == SPAN_RESULT;

    json_out_key(o, STR("data"));
    json_out_object(o);
    if (is_tool) {
        json_out_key_str(o, STR("mcp_method"), STR("tools/call"));
        json_out_key_str(o, STR("tool_name"), m->subject);
        if (m->kind == SPAN_RESULT)
            json_out_key_bool(o, STR("success"), m->success);
    } else if (m->kind == SPAN_NOTIFICATION) {
        json_out_key_str(o, STR("method"), m->method);
    }
    if (m->has_span)
        key_uuid(o, STR("segment_id"), m->span);
    if (w->spans.config.options->payloads)
        add_event_payloads(o, m);
    json_out_end_object(o);
}

static void begin_event(const struct mplp_writer *w, struct json_out *o, struct uuid id)
{
    json_out_object(o);
    key_trace(w, o);
    key_uuid(o, STR("event_id"), id);
}

/* An event must have a time: one without is at the start of 1970. */
static void end_event(struct mplp_writer *w, struct buf *to)
{
    if (w->lines) {
        buf_add(to, buf_str(&w->event));
        buf_add_ch(to, '\n');
    } else {
        if (w->has_events)
            compressor_add(w->compressor, STR(",\n"), false, &w->events);
        compressor_add(w->compressor, buf_str(&w->event), false, &w->events);
        to->full |= w->event.full || w->events.full;
    }
    w->has_events = true;
    buf_clear(&w->event);
}

/* The trace has its own events of start and end. */
static void put_own_event(struct mplp_writer *w, struct buf *to, uint64_t number,
                          const char *type, int64_t wall_us)
{
    struct json_out o = json_out_to(&w->event);

    begin_event(w, &o, span_ids_event(&w->spans.ids, number));
    json_out_key_str(&o, STR("event_type"), str_z(type));
    json_out_key_str(&o, STR("source"), STR("mcpreel"));
    key_time(&o, STR("timestamp"), wall_us);
    json_out_key_raw(&o, STR("data"), STR("{\"event_family\":\"runtime_execution\"}"));
    json_out_end_object(&o);
    end_event(w, to);
}

enum { START_EVENT = 0 };

static void begin_events(struct mplp_writer *w, struct buf *to)
{
    if (!w->has_events)
        put_own_event(w, to, START_EVENT, "execution.started",
                      w->spans.start_known ? w->spans.start_wall_us : 0);
}

static void put_message(void *state, struct buf *to, const struct span_message *m)
{
    struct mplp_writer *w = state;
    struct json_out o = json_out_to(&w->event);

    begin_events(w, to);
    begin_event(w, &o, m->id);
    add_event_type(&o, m);
    json_out_key_str(&o, STR("source"),
                     m->dir == TO_SERVER ? STR("mcp.client") : STR("mcp.server"));
    key_time(&o, STR("timestamp"), m->has_time ? m->wall_us : 0);
    add_event_data(w, &o, m);
    json_out_end_object(&o);
    end_event(w, to);
}

static const struct span_sink sink = { put_span, put_message };

static void *begin(const struct format_options *o, bool lines)
{
    struct mplp_writer *w = mem_new(struct mplp_writer);
    const struct spans_config config = {
        .options = o, .sink = &sink, .state = w, .mplp = true, .always_texts = true
    };

    spans_init(&w->spans, &config);
    w->lines = lines;
    buf_init(&w->root, PIECE);
    buf_init(&w->event, EVENTS_MAX);
    buf_init(&w->events, EVENTS_MAX);
    if (!lines)
        w->compressor = compressor_new(COMPRESS_ZSTD);
    return w;
}

static void *mplp_begin(const struct format_options *o)
{
    return begin(o, false);
}

static void *mplp_jsonl_begin(const struct format_options *o)
{
    return begin(o, true);
}

static void mplp_put(void *state, struct buf *to, const struct record *r)
{
    struct mplp_writer *w = state;

    (void)to;
    spans_put(&w->spans, r);
}

static void mplp_put_operation(void *state, struct buf *to, const struct format_operation *o)
{
    struct mplp_writer *w = state;

    spans_put_operation(&w->spans, to, o);
}

static void end_events(struct mplp_writer *w, struct buf *to)
{
    const struct spans *s = &w->spans;

    begin_events(w, to);
    if (s->status != SPAN_RUNNING)
        put_own_event(w, to, s->messages + 1,
                      s->status == SPAN_COMPLETED ? "execution.completed"
                      : s->status == SPAN_FAILED  ? "execution.failed"
                                                  : "execution.cancelled",
                      s->start_known ? clock_add(s->start_wall_us, s->last_us) : 0);
}

/* Writes the root segment, and prepares the events to be read back. */
static void finish(struct mplp_writer *w, struct buf *to)
{
    w->finished = true;
    spans_finish(&w->spans, to);
    end_events(w, to);
    if (w->lines)
        return;
    compressor_end(w->compressor, &w->events);
    to->full |= w->events.full;
    w->decompressor = decompressor_new(COMPRESS_ZSTD);
    w->unread = buf_str(&w->events);
    buf_add(to, STR("\n],\"events\":[\n"));
}

static bool mplp_flush(void *state, struct buf *to)
{
    struct mplp_writer *w = state;
    struct err e = ERR_NONE;
    size_t got = 0;

    if (!w->finished) {
        finish(w, to);
        return true;
    }
    if (w->lines || w->events.full)
        return false;
    if (!decompressor_feed(w->decompressor, &w->unread, w->piece, PIECE, &got, &e))
        BUG("cannot decompress own text");
    buf_add(to, str_n(w->piece, got));
    return got || w->unread.len;
}

static void mplp_end(void *state, struct buf *to)
{
    struct mplp_writer *w = state;

    if (!w->lines) {
        buf_add_ch(to, ']');
        buf_add(to, buf_str(&w->root));
        buf_add(to, STR("}\n"));
    }
    spans_release(&w->spans);
    buf_release(&w->root);
    buf_release(&w->event);
    buf_release(&w->events);
    compressor_free(w->compressor);
    decompressor_free(w->decompressor);
    free(w);
}

const struct format mplp_format = {
    .name = "mplp",
    .about = "a runtime trace of MPLP 1.0: a segment for each request, events",
    .ext = { ".mplp.json" },
    .options = { "plan-id", "context-id", "agent-role", "step-id", "payloads" },
    .keeps = FEATURE_TIME | FEATURE_LATENCY | FEATURE_MICROSECONDS,
    .begin = mplp_begin,
    .put = mplp_put,
    .put_operation = mplp_put_operation,
    .flush = mplp_flush,
    .end = mplp_end,
};

const struct format mplp_jsonl_format = {
    .name = "mplp-jsonl",
    .about = "the segments and events of mplp, one JSON object in a line",
    .ext = { ".mplp.jsonl" },
    .options = { "plan-id", "context-id", "agent-role", "step-id", "payloads" },
    .keeps = FEATURE_TIME | FEATURE_LATENCY | FEATURE_MICROSECONDS,
    .begin = mplp_jsonl_begin,
    .put = mplp_put,
    .put_operation = mplp_put_operation,
    .flush = mplp_flush,
    .end = mplp_end,
};
