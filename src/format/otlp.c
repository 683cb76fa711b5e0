/* format/otlp.c - traces of OpenTelemetry as OTLP/JSON, only written.
 *
 * A line is one ExportTraceServiceRequest, as in the file format of OpenTelemetry: a collector
 * takes it as the body of a POST. Spans are collected until a line has OTLP_LINE_SPANS of them
 * or OTLP_LINE_BYTES, by the client or server that they are of. */
#include <stdlib.h>

#include "base/mem.h"
#include "format/format.h"
#include "format/spans.h"
#include "trace/limits.h"
#include "json/write.h"

enum {
    OTLP_LINE_SPANS = 512, /* the default of OpenTelemetry SDKs */
    OTLP_LINE_BYTES = 4 << 20,
    OTLP_SERVICES = 16, /* in one line */
    FLAG_REMOTE_KNOWN = 0x100,
    FLAG_REMOTE = 0x200,
    STATUS_ERROR = 2,
};

/* The spans of one client or server. */
struct otlp_group {
    struct buf service; /* the attributes of the resource */
    struct buf spans;
};

struct otlp_writer {
    struct spans spans;
    struct otlp_group groups[OTLP_SERVICES];
    size_t group_count, span_count, bytes;
    struct buf service;
};

static void add_value(struct json_out *o, const struct span_attribute *a)
{
    json_out_key(o, STR("value"));
    json_out_object(o);
    switch (a->type) {
    case SPAN_TEXT:
    case SPAN_JSON:
        json_out_key_str(o, STR("stringValue"), a->text);
        break;
    case SPAN_INT:
        json_out_key(o, STR("intValue"));
        buf_add_ch(o->to, '"');
        buf_add_int(o->to, a->number);
        buf_add_ch(o->to, '"');
        break;
    case SPAN_MS:
        json_out_key(o, STR("doubleValue"));
        spans_write_ms(o->to, a->number);
        break;
    case SPAN_BOOL:
        json_out_key_bool(o, STR("boolValue"), a->number);
        break;
    }
    json_out_end_object(o);
}

static void add_attribute(struct json_out *o, const struct span_attribute *a)
{
    json_out_object(o);
    json_out_key_str(o, STR("key"), str_z(a->key));
    add_value(o, a);
    json_out_end_object(o);
}

static void add_text_attribute(struct json_out *o, const char *key, struct str text)
{
    const struct span_attribute a = { .key = key, .type = SPAN_TEXT, .text = text };

    add_attribute(o, &a);
}

static void key_span(struct json_out *o, struct str key, uint64_t id)
{
    json_out_key(o, key);
    buf_add_ch(o->to, '"');
    span_ids_write_hex(o->to, id);
    buf_add_ch(o->to, '"');
    o->comma = true;
}

static void key_trace(struct json_out *o, uint64_t high, uint64_t low)
{
    json_out_key(o, STR("traceId"));
    buf_add_ch(o->to, '"');
    span_ids_write_hex(o->to, high);
    span_ids_write_hex(o->to, low);
    buf_add_ch(o->to, '"');
    o->comma = true;
}

static void key_time(struct json_out *o, struct str key, int64_t us)
{
    json_out_key(o, key);
    buf_add_ch(o->to, '"');
    buf_add_int(o->to, us > INT64_MAX / 1000 ? INT64_MAX : us * 1000);
    buf_add_ch(o->to, '"');
    o->comma = true;
}

static void add_events(struct json_out *o, const struct span *span)
{
    if (span->event_count) {
        json_out_key(o, STR("events"));
        json_out_array(o);
        for (size_t i = 0; i < span->event_count; i++) {
            json_out_object(o);
            key_time(o, STR("timeUnixNano"), span->event_base_us + span->events[i].us);
            json_out_key_str(o, STR("name"), span->events[i].name);
            json_out_end_object(o);
        }
        json_out_end_array(o);
    }
    if (span->events_dropped)
        json_out_key_int(o, STR("droppedEventsCount"),
                         span->events_dropped > UINT32_MAX ? UINT32_MAX
                                                           : (int64_t)span->events_dropped);
}

/* A span in the trace of its request is linked to ours, and one in ours to that trace. */
static void add_links(const struct otlp_writer *w, struct json_out *o, const struct span *span)
{
    struct uuid trace = span_ids_trace(&w->spans.ids), root = span_ids_span(&w->spans.ids, 0);
    bool to_root = span->in_other_trace && span->parent_is_remote;

    if (!to_root && !span->link)
        return;
    json_out_key(o, STR("links"));
    json_out_array(o);
    json_out_object(o);
    if (to_root) {
        key_trace(o, trace.high, trace.low);
        key_span(o, STR("spanId"), root.high);
    } else {
        key_trace(o, span->link->context.trace_high, span->link->context.trace_low);
        key_span(o, STR("spanId"), span->link->context.parent);
    }
    json_out_end_object(o);
    json_out_end_array(o);
}

static void add_status(struct json_out *o, const struct span *span)
{
    if (!span->is_error)
        return;
    json_out_key(o, STR("status"));
    json_out_object(o);
    if (span->message.len)
        json_out_key_str(o, STR("message"), span->message);
    json_out_key_int(o, STR("code"), STATUS_ERROR);
    json_out_end_object(o);
}

static void write_span(struct otlp_writer *w, struct buf *to, const struct span *span)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    key_trace(&o, span->trace_high, span->trace_low);
    key_span(&o, STR("spanId"), span->id.high);
    json_out_key_str(&o, STR("traceState"), spans_state(&w->spans, span));
    if (span->has_parent)
        key_span(&o, STR("parentSpanId"), span->w3c_parent);
    json_out_key_int(&o, STR("flags"),
                     span->flags | FLAG_REMOTE_KNOWN |
                         (span->parent_is_remote ? FLAG_REMOTE : 0));
    json_out_key_str(&o, STR("name"), span->name);
    json_out_key_int(&o, STR("kind"), span->kind);
    key_time(&o, STR("startTimeUnixNano"), span->start_us);
    key_time(&o, STR("endTimeUnixNano"), span->end_us);
    json_out_key(&o, STR("attributes"));
    json_out_array(&o);
    for (size_t i = 0; i < span->attribute_count; i++)
        add_attribute(&o, &span->attributes[i]);
    json_out_end_array(&o);
    add_events(&o, span);
    add_links(w, &o, span);
    add_status(&o, span);
    json_out_end_object(&o);
}

static void write_group(struct json_out *o, struct otlp_group *g)
{
    json_out_object(o);
    json_out_key(o, STR("resource"));
    json_out_object(o);
    json_out_key_raw(o, STR("attributes"), buf_str(&g->service));
    json_out_end_object(o);
    json_out_key(o, STR("scopeSpans"));
    json_out_array(o);
    json_out_object(o);
    json_out_key_raw(o, STR("scope"),
                     STR("{\"name\":\"mcpreel\",\"version\":\"" MCPREEL_VERSION "\"}"));
    json_out_key(o, STR("spans"));
    json_out_array(o);
    json_out_raw(o, buf_str(&g->spans));
    json_out_end_array(o);
    json_out_end_object(o);
    json_out_end_array(o);
    json_out_end_object(o);
}

static void write_line(struct otlp_writer *w, struct buf *to)
{
    struct json_out o = json_out_to(to);

    if (!w->span_count)
        return;
    json_out_object(&o);
    json_out_key(&o, STR("resourceSpans"));
    json_out_array(&o);
    for (size_t i = 0; i < w->group_count; i++) {
        to->full |= w->groups[i].spans.full;
        write_group(&o, &w->groups[i]);
        buf_release(&w->groups[i].service);
        buf_release(&w->groups[i].spans);
    }
    json_out_end_array(&o);
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
    w->group_count = w->span_count = w->bytes = 0;
}

static void write_service(struct buf *to, const struct span *span)
{
    struct json_out o = json_out_to(to);

    json_out_array(&o);
    add_text_attribute(&o, "service.name", span->service);
    if (span->service_version.len)
        add_text_attribute(&o, "service.version", span->service_version);
    json_out_end_array(&o);
}

static struct otlp_group *find_group(struct otlp_writer *w, struct buf *to,
                                     const struct span *span)
{
    struct otlp_group *g;

    buf_clear(&w->service);
    write_service(&w->service, span);
    for (size_t i = 0; i < w->group_count; i++)
        if (str_eq(buf_str(&w->groups[i].service), buf_str(&w->service)))
            return &w->groups[i];
    if (w->group_count == OTLP_SERVICES)
        write_line(w, to);
    g = &w->groups[w->group_count++];
    buf_init(&g->service, LIMIT_LINE);
    buf_init(&g->spans, LIMIT_LINE);
    buf_add(&g->service, buf_str(&w->service));
    return g;
}

static void put_span(void *state, struct buf *to, const struct span *span)
{
    struct otlp_writer *w = state;
    struct otlp_group *g = find_group(w, to, span);
    size_t len = g->spans.len;

    if (len)
        buf_add_ch(&g->spans, ',');
    write_span(w, &g->spans, span);
    w->bytes += g->spans.len - len;
    if (++w->span_count == OTLP_LINE_SPANS || w->bytes >= OTLP_LINE_BYTES)
        write_line(w, to);
}

static const struct span_sink sink = { .put = put_span };

static void *otlp_begin(const struct format_options *o)
{
    struct otlp_writer *w = mem_new(struct otlp_writer);
    const struct spans_config config = {
        .options = o, .sink = &sink, .state = w, .mplp = o->mplp
    };

    spans_init(&w->spans, &config);
    buf_init(&w->service, LIMIT_LINE);
    return w;
}

static void otlp_put(void *state, struct buf *to, const struct record *r)
{
    struct otlp_writer *w = state;

    (void)to;
    spans_put(&w->spans, r);
}

static void otlp_put_operation(void *state, struct buf *to, const struct format_operation *o)
{
    struct otlp_writer *w = state;

    spans_put_operation(&w->spans, to, o);
}

static void otlp_end(void *state, struct buf *to)
{
    struct otlp_writer *w = state;

    spans_finish(&w->spans, to);
    write_line(w, to);
    spans_release(&w->spans);
    buf_release(&w->service);
    free(w);
}

const struct format otlp_format = {
    .name = "otlp",
    .about = "OpenTelemetry spans as OTLP/JSON, a line for each 512 of them",
    .ext = { ".otlp.jsonl", ".otlp.json" },
    .options = { "payloads", "mplp", "agent-role", "step-id" },
    .keeps = FEATURE_TIME | FEATURE_LATENCY | FEATURE_MICROSECONDS,
    .begin = otlp_begin,
    .put = otlp_put,
    .put_operation = otlp_put_operation,
    .end = otlp_end,
};
