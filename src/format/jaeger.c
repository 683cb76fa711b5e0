/* format/jaeger.c - a trace as the JSON that Jaeger's user interface reads, only written.
 *
 * One document with one trace; the clients and servers (processes) are after the spans. A
 * request of another trace has a reference to it: a file has one trace. */
#include <stdlib.h>

#include "base/mem.h"
#include "format/format.h"
#include "format/spans.h"
#include "json/write.h"

enum { PROCESSES_MAX = 4096 };

#define EXACT_MAX ((int64_t)1 << 53) /* of a number in JavaScript */

struct jaeger_process {
    uint64_t number; /* from 1 */
    struct str name, version;
};

struct jaeger_writer {
    struct spans spans;
    struct capped_table processes; /* of struct jaeger_process */
    bool has_spans;
};

static void key_hex(struct json_out *o, struct str key, uint64_t high, uint64_t low,
                    bool is_trace)
{
    json_out_key(o, key);
    buf_add_ch(o->to, '"');
    if (is_trace)
        span_ids_write_hex(o->to, high);
    span_ids_write_hex(o->to, low);
    buf_add_ch(o->to, '"');
    o->comma = true;
}

static void add_tag_value(struct json_out *o, const struct span_attribute *a)
{
    static const char *const types[] = { [SPAN_TEXT] = "string",
                                         [SPAN_INT] = "int64",
                                         [SPAN_MS] = "float64",
                                         [SPAN_BOOL] = "bool",
                                         [SPAN_JSON] = "string" };

    json_out_key_str(o, STR("type"), str_z(types[a->type]));
    json_out_key(o, STR("value"));
    if (a->type == SPAN_TEXT || a->type == SPAN_JSON) {
        json_out_str(o, a->text);
    } else if (a->type == SPAN_BOOL) {
        json_out_bool(o, a->number);
    } else if (a->type == SPAN_MS) {
        spans_write_ms(o->to, a->number);
    } else {
        bool is_exact = a->number <= EXACT_MAX && a->number >= -EXACT_MAX;

        buf_add(o->to, is_exact ? STR_NONE : STR("\""));
        buf_add_int(o->to, a->number);
        buf_add(o->to, is_exact ? STR_NONE : STR("\""));
    }
    o->comma = true;
}

static void add_tag(struct json_out *o, const struct span_attribute *a)
{
    json_out_object(o);
    json_out_key_str(o, STR("key"), str_z(a->key));
    add_tag_value(o, a);
    json_out_end_object(o);
}

static void add_text_tag(struct json_out *o, const char *key, struct str text)
{
    const struct span_attribute a = { .key = key, .type = SPAN_TEXT, .text = text };

    if (text.len)
        add_tag(o, &a);
}

static void add_tags(struct jaeger_writer *w, struct json_out *o, const struct span *span)
{
    static const char *const kinds[] = {
        [SPAN_INTERNAL] = "internal", [SPAN_SERVER] = "server", [SPAN_CLIENT] = "client"
    };
    const struct span_attribute error = { .key = "error", .type = SPAN_BOOL, .number = 1 };

    json_out_key(o, STR("tags"));
    json_out_array(o);
    for (size_t i = 0; i < span->attribute_count; i++)
        add_tag(o, &span->attributes[i]);
    add_text_tag(o, "span.kind", str_z(kinds[span->kind]));
    add_text_tag(o, "otel.scope.name", STR("mcpreel"));
    add_text_tag(o, "otel.scope.version", STR(MCPREEL_VERSION));
    add_text_tag(o, "w3c.tracestate", spans_state(&w->spans, span));
    if (span->is_error) {
        add_tag(o, &error);
        add_text_tag(o, "otel.status_code", STR("ERROR"));
        add_text_tag(o, "otel.status_description", span->message);
    }
    json_out_end_array(o);
}

static void add_reference(struct json_out *o, const char *type, const uint64_t ids[3])
{
    json_out_object(o);
    json_out_key_str(o, STR("refType"), str_z(type));
    key_hex(o, STR("traceID"), ids[0], ids[1], true);
    key_hex(o, STR("spanID"), 0, ids[2], false);
    json_out_end_object(o);
}

static void add_references(const struct jaeger_writer *w, struct json_out *o,
                           const struct span *span)
{
    struct uuid trace = span_ids_trace(&w->spans.ids);

    json_out_key(o, STR("references"));
    json_out_array(o);
    if (span->has_parent)
        add_reference(o, "CHILD_OF",
                      (const uint64_t[]){ trace.high, trace.low, span->parent.high });
    if (span->parent_is_remote)
        add_reference(
            o, "FOLLOWS_FROM",
            (const uint64_t[]){ span->trace_high, span->trace_low, span->w3c_parent });
    if (span->link)
        add_reference(o, "FOLLOWS_FROM",
                      (const uint64_t[]){ span->link->context.trace_high,
                                          span->link->context.trace_low,
                                          span->link->context.parent });
    json_out_end_array(o);
}

static void add_logs(struct json_out *o, const struct span *span)
{
    json_out_key(o, STR("logs"));
    json_out_array(o);
    for (size_t i = 0; i < span->event_count; i++) {
        json_out_object(o);
        json_out_key_int(o, STR("timestamp"), span->event_base_us + span->events[i].us);
        json_out_key(o, STR("fields"));
        json_out_array(o);
        add_text_tag(o, "event", span->events[i].name);
        json_out_end_array(o);
        json_out_end_object(o);
    }
    json_out_end_array(o);
}

/* Returns the number of the client or server of a span; those beyond the limit have 0. */
static uint64_t process_of(struct jaeger_writer *w, const struct span *span)
{
    const struct str parts[] = { span->service, span->service_version };
    struct jaeger_process *p;
    bool is_new;

    p = capped_table_row(&w->processes, parts, 2, &is_new);
    if (is_new) {
        p->number = w->processes.count;
        p->name = arena_str(&w->processes.arena, span->service);
        p->version = arena_str(&w->processes.arena, span->service_version);
    }
    return p->number;
}

static void key_process(struct json_out *o, uint64_t number)
{
    json_out_key(o, STR("processID"));
    buf_printf(o->to, "\"p%llu\"", (unsigned long long)number);
    o->comma = true;
}

static void put_span(void *state, struct buf *to, const struct span *span)
{
    struct jaeger_writer *w = state;
    struct uuid trace = span_ids_trace(&w->spans.ids);
    struct json_out o = json_out_to(to);

    if (w->has_spans) {
        buf_add(to, STR(",\n"));
    } else {
        json_out_object(&o);
        json_out_key(&o, STR("data"));
        json_out_array(&o);
        json_out_object(&o);
        key_hex(&o, STR("traceID"), trace.high, trace.low, true);
        json_out_key(&o, STR("spans"));
        json_out_array(&o);
        buf_add_ch(to, '\n');
    }
    w->has_spans = true;
    json_out_object(&o);
    key_hex(&o, STR("traceID"), trace.high, trace.low, true);
    key_hex(&o, STR("spanID"), 0, span->id.high, false);
    json_out_key_str(&o, STR("operationName"), span->name);
    add_references(w, &o, span);
    json_out_key_int(&o, STR("startTime"), span->start_us);
    json_out_key_int(&o, STR("duration"), span->end_us - span->start_us);
    add_tags(w, &o, span);
    add_logs(&o, span);
    key_process(&o, process_of(w, span));
    json_out_key(&o, STR("warnings"));
    json_out_null(&o);
    json_out_end_object(&o);
}

static void write_process(struct json_out *o, const struct jaeger_process *p)
{
    buf_printf(o->to, "%s\"p%llu\":", o->comma ? "," : "", (unsigned long long)p->number);
    o->comma = false;
    json_out_object(o);
    json_out_key_str(o, STR("serviceName"), p->name.len ? p->name : STR("other"));
    json_out_key(o, STR("tags"));
    json_out_array(o);
    add_text_tag(o, "service.version", p->version);
    json_out_end_array(o);
    json_out_end_object(o);
}

static const struct span_sink sink = { .put = put_span };

static void *jaeger_begin(const struct format_options *o)
{
    struct jaeger_writer *w = mem_new(struct jaeger_writer);
    const struct spans_config config = {
        .options = o, .sink = &sink, .state = w, .mplp = o->mplp
    };

    spans_init(&w->spans, &config);
    capped_table_init(&w->processes, sizeof(struct jaeger_process), PROCESSES_MAX);
    return w;
}

static void jaeger_put(void *state, struct buf *to, const struct record *r)
{
    struct jaeger_writer *w = state;

    (void)to;
    spans_put(&w->spans, r);
}

static void jaeger_put_operation(void *state, struct buf *to, const struct format_operation *o)
{
    struct jaeger_writer *w = state;

    spans_put_operation(&w->spans, to, o);
}

static void jaeger_end(void *state, struct buf *to)
{
    struct jaeger_writer *w = state;
    struct json_out o = json_out_to(to);

    spans_finish(&w->spans, to);
    buf_add(to, STR("\n],\"processes\":{"));
    for (size_t i = 0; i < w->processes.count; i++)
        write_process(&o, w->processes.rows[i]);
    if (w->processes.overflow)
        write_process(&o, w->processes.overflow);
    buf_add(to, STR("},\"warnings\":null}],\"total\":1,\"limit\":0,\"offset\":0,"
                    "\"errors\":null}\n"));
    spans_release(&w->spans);
    capped_table_release(&w->processes);
    free(w);
}

const struct format jaeger_format = {
    .name = "jaeger",
    .about = "a trace for Jaeger's user interface, as JSON",
    .ext = { ".jaeger.json" },
    .options = { "payloads", "mplp", "agent-role", "step-id" },
    .keeps = FEATURE_TIME | FEATURE_LATENCY | FEATURE_MICROSECONDS,
    .begin = jaeger_begin,
    .put = jaeger_put,
    .put_operation = jaeger_put_operation,
    .end = jaeger_end,
};
