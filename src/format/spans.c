#include "format/spans.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "mcp/method.h"
#include "wire/url.h"

/* Numbers of spans: an operation's span has twice its number, that of its first request, if it
 * is apart, one more. */
enum { ROOT_NUMBER = 0 };

#define STATE_KEY "mplp"
#define PROMPT_VARIABLE "gen_ai.prompt.variable."

enum { PROMPT_VARIABLES_MAX = 16 };

enum { FLAG_SAMPLED = 1 };

void spans_init(struct spans *s, const struct spans_config *config)
{
    *s = (struct spans){ .config = *config, .status = SPAN_RUNNING };
    span_parties_init(&s->parties);
    span_drafts_init(&s->drafts);
    s->root = span_drafts_add(&s->drafts, ROOT_NUMBER);
}

void spans_release(struct spans *s)
{
    span_parties_release(&s->parties);
    span_drafts_release(&s->drafts);
    arena_release(&s->scratch);
    arena_release(&s->texts);
}

/* The seed of the ids is all that comes before the first message, and that message. */
static void add_to_seed(struct spans *s, const struct record *r)
{
    const int64_t numbers[] = { r->kind, r->has & HAS_US ? r->us : -1,
                                r->has & HAS_WALL ? r->wall_us : -1 };

    span_ids_add(&s->ids, str_n((const char *)numbers, sizeof numbers));
    if (r->kind == RECORD_HEADER) {
        span_ids_add(&s->ids, r->header.name);
        span_ids_add(&s->ids, r->header.upstream);
        span_ids_add(&s->ids, r->header.command);
    } else if (r->kind == RECORD_MESSAGE) {
        span_ids_add(&s->ids, json_raw(r->message.msg));
    }
}

static void complete_seed(struct spans *s, const struct record *r)
{
    struct uuid trace;

    if (s->has_ids)
        return;
    if (r)
        add_to_seed(s, r);
    s->has_ids = true;
    trace = span_ids_trace(&s->ids);
    s->root->trace_high = trace.high;
    s->root->trace_low = trace.low;
}

static void note_end(struct spans *s, enum span_status status)
{
    if (s->status == SPAN_RUNNING || s->status == SPAN_COMPLETED)
        s->status = status;
}

/* A process that a signal ended did not fail: the user or mcpreel ended it. */
static void note_process(struct spans *s, const struct record *r)
{
    if (str_eq(r->proc.event, STR("failed")))
        note_end(s, SPAN_FAILED);
    else if (r->has & HAS_SIGNAL || str_eq(r->proc.why, STR(RECORD_WHY_STOPPED)))
        note_end(s, SPAN_CANCELLED);
    else if (r->has & HAS_EXIT_CODE && r->proc.exit_code)
        note_end(s, SPAN_FAILED);
}

/* Takes host and port from the server's URL; `upstream` may be a command, too. */
static void note_address(struct spans *s, struct str upstream)
{
    struct err ignored = ERR_NONE;
    struct url url;

    s->address = STR_NONE;
    if (!str_starts(upstream, STR("http")) || !url_parse(&url, upstream, &ignored))
        return;
    s->address = arena_str(&s->texts, url.authority.host);
    s->port = url_port(&url);
}

static void note_header(struct spans *s, const struct record *r)
{
    span_parties_begin_recording(&s->parties);
    if (!s->label.len)
        s->label = arena_str(&s->texts, r->header.name);
    s->transport = arena_str(&s->texts, r->header.transport);
    note_address(s, r->header.upstream);
    if (r->has & HAS_WALL && !s->start_known) {
        s->start_known = true;
        s->start_wall_us = r->wall_us - (r->has & HAS_US ? r->us : 0);
    }
}

static void note_time(struct spans *s, const struct record *r)
{
    int64_t us = -1;

    if (r->has & HAS_US)
        us = r->us;
    else if (r->has & HAS_WALL && s->start_known)
        us = clock_since(r->wall_us, s->start_wall_us);
    if (us > s->last_us)
        s->last_us = us;
}

void spans_put(struct spans *s, const struct record *r)
{
    if (r->kind == RECORD_HEADER)
        note_header(s, r);
    if (!s->has_ids)
        add_to_seed(s, r);
    note_time(s, r);
    if (r->kind == RECORD_PROC)
        note_process(s, r);
    if (r->kind != RECORD_FOOTER)
        return;
    if (r->has & HAS_EXIT_CODE) {
        s->has_exit_code = true;
        s->exit_code = r->footer.exit_code;
    }
    note_end(s, s->has_exit_code && s->exit_code ? SPAN_FAILED : SPAN_COMPLETED);
}

/* Returns a text as valid UTF-8: half a surrogate pair and other bytes become U+FFFD. */
static struct str clean_text(struct spans *s, struct str text)
{
    struct str clean, rest = text;
    struct buf b;

    if (utf8_valid(text))
        return text;
    buf_init(&b, text.len * 3 + 1);
    while (rest.len) {
        size_t n = utf8_valid_prefix(rest);

        buf_add(&b, str_n(rest.at, n));
        rest = str_skip(rest, n);
        if (rest.len)
            buf_add(&b, STR("\xEF\xBF\xBD"));
        rest = str_skip(rest, 1);
    }
    clean = arena_str(&s->scratch, buf_str(&b));
    buf_release(&b);
    return clean;
}

static struct span_attribute *add(struct span *span, const char *key, enum span_value type)
{
    struct span_attribute *a = &span->attributes[span->attribute_count++];

    BUG_IF(span->attribute_count > SPAN_ATTRIBUTES_MAX);
    *a = (struct span_attribute){ .key = key, .type = type };
    return a;
}

static void add_text(struct spans *s, struct span *span, const char *key, struct str text)
{
    if (text.len)
        add(span, key, SPAN_TEXT)->text = clean_text(s, text);
}

static void add_json(struct span *span, const char *key, struct str json)
{
    if (json.len)
        add(span, key, SPAN_JSON)->text = json;
}

static void add_number(struct span *span, const char *key, enum span_value type, int64_t n)
{
    add(span, key, type)->number = n;
}

static void add_count(struct span *span, const char *key, int64_t n)
{
    if (n >= 0)
        add_number(span, key, SPAN_INT, n);
}

static bool is_tool_call(const struct operation *op)
{
    return str_eq(op->method, STR("tools/call"));
}

static bool is_about_resource(const struct operation *op)
{
    return str_starts(op->method, STR("resources/"));
}

/* A text for people: the JSON text of a string without its quotes, else as it is. */
static struct str id_text(struct spans *s, struct str id)
{
    struct json_fault fault;
    struct json doc;
    struct str text = id;

    if (!str_starts(id, STR("\"")))
        return id;
    json_init(&doc);
    if (json_scan(&doc, id, &fault))
        text = arena_str(&s->scratch, json_text(json_root(&doc), &s->scratch));
    json_release(&doc);
    return text;
}

static void add_network(struct spans *s, struct span *span, const struct operation *op)
{
    bool http = op->has & HAS_EXCHANGE || str_eq(s->transport, STR("http"));

    if (!http && !str_eq(s->transport, STR("stdio")))
        return;
    add_text(s, span, "network.transport", http ? STR("tcp") : STR("pipe"));
    if (http)
        add_text(s, span, "network.protocol.name", STR("http"));
    if (http && s->address.len && op->dir == TO_SERVER && span->kind == SPAN_CLIENT) {
        add_text(s, span, "server.address", s->address);
        add_number(span, "server.port", SPAN_INT, s->port);
    }
}

/* The id of a session is never recorded; ours has the number of the session in its trace. The
 * stateless protocol has no sessions. */
static void add_session(struct spans *s, struct span *span, const struct operation *op)
{
    if (op->has & HAS_SESSION && !(op->flags & OP_STATELESS))
        add_text(s, span, "mcp.session.id",
                 arena_printf(&s->scratch, "%016llx.%llu",
                              (unsigned long long)s->root->trace_high,
                              (unsigned long long)op->session));
}

/* The attributes of the semantic conventions for MCP that do not depend on the outcome. */
static void add_request_attributes(struct spans *s, struct span *span,
                                   const struct operation *op)
{
    add_text(s, span, "mcp.method.name", op->method);
    if (is_tool_call(op)) {
        add_text(s, span, "gen_ai.operation.name", STR("execute_tool"));
        add_text(s, span, "gen_ai.tool.name", op->subject);
    } else if (str_eq(op->method, STR("prompts/get"))) {
        add_text(s, span, "gen_ai.prompt.name", op->subject);
    } else if (is_about_resource(op)) {
        add_text(s, span, "mcp.resource.uri", op->subject);
    }
    if (span->kind != SPAN_INTERNAL)
        add_text(s, span, "jsonrpc.request.id", id_text(s, op->id));
    add_text(s, span, "mcp.protocol.version", span_parties_protocol(&s->parties, op));
    add_session(s, span, op);
    add_network(s, span, op);
    if (op->link != LINK_NONE)
        add_text(s, span, "mcpreel.link", str_z(operation_link_name(op->link)));
    if (op->flags & OP_INFERRED)
        add_number(span, "mcpreel.link_inferred", SPAN_BOOL, 1);
    if (op->flags & OP_GAP)
        add_number(span, "mcpreel.gap", SPAN_BOOL, 1);
}

/* Errors that the receiver is not to blame for: on its side they are no errors. */
static bool is_senders_fault(int64_t code)
{
    return code == -32700 || code == -32600 || code == -32601 || code == -32602 ||
           code == -32002;
}

static struct str number_text(struct spans *s, int64_t n)
{
    return arena_printf(&s->scratch, "%lld", (long long)n);
}

static bool is_subscription(const struct operation *op)
{
    const struct mcp_method *known = mcp_method_find(op->method);

    return known && known->class == MCP_CLASS_LISTEN;
}

/* Sets the status of a span. Returns the type of its error; empty: it is none. */
static struct str set_status(struct spans *s, struct span *span, const struct operation *op,
                             enum operation_outcome outcome, const struct span_draft *draft)
{
    span->status = SPAN_FAILED;
    switch (outcome) {
    case OUTCOME_RPC_ERROR:
        span->message = draft->error;
        if (!draft->has_code)
            return STR("_OTHER");
        add_text(s, span, "rpc.response.status_code", number_text(s, draft->code));
        return span->kind == SPAN_SERVER && is_senders_fault(draft->code)
                   ? STR_NONE
                   : number_text(s, draft->code);
    case OUTCOME_TOOL_ERROR:
        span->message = draft->error;
        return STR("tool_error");
    case OUTCOME_HTTP_ERROR:
        span->message = op->why;
        return op->status ? number_text(s, (int64_t)op->status) : STR("_OTHER");
    case OUTCOME_MALFORMED:
        return STR("_OTHER");
    case OUTCOME_SERVER_EXITED:
        return STR("server_exited");
    case OUTCOME_CANCELLED:
    case OUTCOME_LATE:
        span->status = SPAN_CANCELLED;
        return STR("cancelled");
    case OUTCOME_PENDING:
        span->status = SPAN_RUNNING;
        return is_subscription(op) ? STR_NONE : STR("no_response");
    case OUTCOME_NONE:
    case OUTCOME_OK:
    case OUTCOME_COUNT:
        break;
    }
    span->status = SPAN_COMPLETED;
    return STR_NONE;
}

static void add_outcome(struct spans *s, struct span *span, const struct operation *op,
                        enum operation_outcome outcome, const struct span_draft *draft)
{
    struct str type = set_status(s, span, op, outcome, draft);

    span->message = clean_text(s, span->message);
    span->is_error = type.len;
    add_text(s, span, "error.type", type);
    if (op->status)
        add_number(span, "http.response.status_code", SPAN_INT, (int64_t)op->status);
}

/* Further ones are in the arguments only. */
static void add_prompt_variables(struct spans *s, struct span *span, struct str arguments)
{
    struct json_fault fault;
    struct json_iter it;
    struct json doc;

    json_init(&doc);
    if (arguments.len && json_scan(&doc, arguments, &fault)) {
        it = json_each(json_root(&doc));
        for (size_t n = 0; n < PROMPT_VARIABLES_MAX && json_next(&it);) {
            struct str name = clean_text(s, json_text(it.key, &s->scratch));
            struct str value = arena_str(&s->scratch, json_text(it.value, &s->scratch));

            if (json_type(it.value) != JSON_STRING || !name.len ||
                str_find(name, '\0') < name.len)
                continue;
            add_text(s, span,
                     arena_printf(&s->scratch, PROMPT_VARIABLE "%.*s", STR_ARG(name)).at,
                     value);
            n++;
        }
    }
    json_release(&doc);
}

static void add_payloads(struct spans *s, struct span *span, const struct operation *op,
                         const struct span_draft *draft)
{
    if (draft->left_out)
        add_number(span, "mcpreel.left_out", SPAN_BOOL, 1);
    if (!s->config.options->payloads)
        return;
    if (is_tool_call(op)) {
        add_json(span, "gen_ai.tool.call.arguments", draft->arguments);
        add_json(span, "gen_ai.tool.call.result", draft->result);
    } else {
        if (str_eq(op->method, STR("prompts/get")))
            add_prompt_variables(s, span, draft->arguments);
        add_json(span, "mcpreel.arguments", draft->arguments);
        add_json(span, "mcpreel.result", draft->result);
    }
}

static struct str role_of(const struct spans *s, enum record_dir dir)
{
    if (s->config.options->agent_role.len)
        return s->config.options->agent_role;
    return dir == TO_SERVER ? STR("mcp.client") : STR("mcp.server");
}

static void add_mplp(struct spans *s, struct span *span, struct str operation,
                     enum record_dir dir)
{
    add_text(s, span, "mplp.module", STR("extension"));
    add_text(s, span, "mplp.operation", operation);
    add_text(s, span, "mplp.agent_role", role_of(s, dir));
    add_text(s, span, "mplp.step_id", s->config.options->step_id);
    if (span->has_start && span->status != SPAN_RUNNING)
        add_number(span, "mplp.duration_ms", SPAN_MS, span->end_us - span->start_us);
    if (span->status == SPAN_FAILED || span->status == SPAN_CANCELLED)
        add_text(s, span, "mplp.error",
                 span->message.len                ? span->message
                 : span->status == SPAN_CANCELLED ? STR("cancelled")
                                                  : STR("failed"));
}

static void add_mplp_request(struct spans *s, struct span *span, const struct operation *op,
                             const struct span_draft *draft)
{
    add_mplp(s, span, op->method, op->dir);
    if (is_tool_call(op)) {
        add_text(s, span, "mplp.tool.name", op->subject);
        add_json(span, "mplp.tool.args", draft->arguments);
    }
    add_text(s, span, "mplp.llm.model", draft->model);
    add_count(span, "mplp.llm.tokens_in", draft->tokens_in);
    add_count(span, "mplp.llm.tokens_out", draft->tokens_out);
    add_count(span, "mplp.tokens_used", draft->tokens);
}

/* Sets the times of a span in microseconds since the recording started; -1: unknown. */
static void set_times(struct spans *s, struct span *span, int64_t start, int64_t took)
{
    int64_t base = s->start_known ? s->start_wall_us : 0;

    span->is_dated = s->start_known;
    span->has_start = start >= 0;
    span->event_base_us = base;
    if (start < 0) {
        span->end_us = took < 0 ? 0 : took;
        return;
    }
    span->start_us = clock_add(base, start);
    span->end_us = clock_add(span->start_us, took < 0 ? 0 : took);
    if (span->start_us < 0)
        span->start_us = 0;
    if (span->end_us < span->start_us)
        span->end_us = span->start_us;
}

/* How long an operation took. One that is pending lasts until the recording ends. */
static int64_t duration_of(const struct spans *s, const struct operation *op)
{
    int64_t last = op->outcome == OUTCOME_PENDING ? s->last_us : op->last_us;

    if (op->total_us >= 0)
        return op->total_us;
    return op->first_us >= 0 && last > op->first_us ? last - op->first_us : 0;
}

/* The side that sends has the span, except for a context of the other trace. */
static void set_service(struct spans *s, struct span *span, const struct operation *op)
{
    bool of_client = (op->dir == TO_SERVER) == (span->kind != SPAN_SERVER);
    const struct party *party =
        of_client ? span_parties_client(&s->parties, op) : span_parties_server(&s->parties, op);

    span->service = party->name.len ? clean_text(s, party->name)
                    : of_client     ? STR("mcp-client")
                                    : STR("mcp-server");
    span->service_version = clean_text(s, party->version);
}

static bool is_hop(const struct operation *op)
{
    return op->link == LINK_RETRY || op->link == LINK_TASK || op->link == LINK_PAGE;
}

static bool has_hops(const struct operation *op)
{
    return op->children[LINK_RETRY] || op->children[LINK_TASK] || op->children[LINK_PAGE];
}

static struct span_draft *parent_of(const struct spans *s, const struct operation *op)
{
    struct span_draft *parent = op->parent ? span_drafts_find(&s->drafts, op->parent) : NULL;

    return parent ? parent : s->root;
}

/* A hop stays below its operation, and is linked to the context of its request. */
static bool is_in_context(const struct operation *op, const struct span_draft *draft,
                          const struct span_draft *parent)
{
    return draft->has_context && !(is_hop(op) && parent->number != ROOT_NUMBER);
}

static void set_trace(struct span *span, const struct spans *s, const struct span_draft *draft)
{
    span->trace_high = draft->trace_high;
    span->trace_low = draft->trace_low;
    span->in_other_trace =
        draft->trace_high != s->root->trace_high || draft->trace_low != s->root->trace_low;
}

static void set_parent(struct spans *s, struct span *span, const struct operation *op,
                       const struct span_draft *draft)
{
    const struct span_draft *parent = parent_of(s, op);

    set_trace(span, s, draft);
    span->has_parent = true;
    span->parent = span_ids_span(&s->ids, 2 * parent->number);
    span->w3c_parent = span->parent.high;
    span->flags = FLAG_SAMPLED;
    if (is_in_context(op, draft, parent)) {
        span->parent_is_remote = true;
        span->w3c_parent = draft->context.parent;
        span->flags = draft->context.flags;
        span->state = draft->state;
    } else if (draft->has_context) {
        span->link = draft;
    }
}

static struct str name_of(struct spans *s, const struct operation *op, bool as_operation)
{
    struct str method = op->method.len ? op->method : STR("unknown"), name = method;

    if (as_operation && is_tool_call(op))
        method = STR("execute_tool");
    if ((is_tool_call(op) || str_eq(op->method, STR("prompts/get"))) && op->subject.len)
        name = arena_printf(&s->scratch, "%.*s %.*s", STR_ARG(method), STR_ARG(op->subject));
    return clean_text(s, name);
}

static void write_span(struct spans *s, const struct span *span)
{
    s->config.sink->put(s->config.state, s->to, span);
}

static void complete_span(struct spans *s, struct span *span, const struct operation *op,
                          enum operation_outcome outcome, const struct span_draft *draft)
{
    span->name = name_of(s, op, span->kind == SPAN_INTERNAL);
    set_service(s, span, op);
    add_request_attributes(s, span, op);
    add_outcome(s, span, op, outcome, draft);
    if (s->config.mplp)
        add_mplp_request(s, span, op, draft);
    add_payloads(s, span, op, draft);
    write_span(s, span);
}

/* The outcome of the first request alone. */
static enum operation_outcome own_outcome(const struct operation *op,
                                          const struct span_draft *draft)
{
    if (op->response == RESPONSE_NONE)
        return op->outcome;
    if (op->response == RESPONSE_ERROR)
        return OUTCOME_RPC_ERROR;
    return draft->is_tool_error ? OUTCOME_TOOL_ERROR : OUTCOME_OK;
}

/* The span of the first request of an operation with retries, polls or pages. */
static void write_first_hop(struct spans *s, const struct operation *op,
                            const struct span_draft *draft)
{
    struct span span = { .kind = draft->has_context ? SPAN_SERVER : SPAN_CLIENT };

    span.id = span_ids_span(&s->ids, 2 * op->number + 1);
    span.has_parent = true;
    span.parent = span_ids_span(&s->ids, 2 * op->number);
    span.w3c_parent = span.parent.high;
    span.flags = FLAG_SAMPLED;
    set_trace(&span, s, draft);
    set_times(s, &span, op->first_us,
              op->response_us >= 0 ? op->response_us : duration_of(s, op));
    complete_span(s, &span, op, own_outcome(op, draft), draft);
}

static void write_operation(struct spans *s, const struct operation *op,
                            const struct span_draft *draft)
{
    const bool apart = has_hops(op);
    struct span span = { .events = draft->events,
                         .event_count = draft->event_count,
                         .events_dropped = draft->events_dropped };

    arena_clear(&s->scratch);
    if (apart)
        write_first_hop(s, op, draft);
    span.id = span_ids_span(&s->ids, 2 * op->number);
    set_parent(s, &span, op, draft);
    span.kind = apart ? SPAN_INTERNAL : draft->has_context ? SPAN_SERVER : SPAN_CLIENT;
    set_times(s, &span, op->first_us, duration_of(s, op));
    complete_span(s, &span, op, op->outcome, draft);
}

static void put_message(struct spans *s, enum span_message_kind kind,
                        const struct operation_event *ev, bool in_span)
{
    const struct operation *op = ev->op;
    struct span_message m = {
        .kind = kind,
        .has_span = in_span,
        .dir = ev->record->message.dir,
        .subject = op->subject,
        .success = ev->op->response != RESPONSE_ERROR,
        .msg = ev->record->message.msg,
    };

    m.method = json_text(json_get(m.msg, STR("method")), &s->scratch);
    if (!s->config.sink->put_message) {
        if (kind == SPAN_NOTIFICATION || kind == SPAN_ORPHAN)
            span_draft_add_event(
                &s->drafts, in_span ? span_drafts_find(&s->drafts, op->number) : s->root,
                s->last_us,
                kind == SPAN_ORPHAN ? STR("mcp.response.orphan") : clean_text(s, m.method));
        return;
    }
    m.id = span_ids_event(&s->ids, ++s->messages);
    if (in_span)
        m.span = span_ids_span(&s->ids, 2 * op->number);
    m.has_time = s->start_known;
    m.wall_us = clock_add(s->start_wall_us, s->last_us);
    s->config.sink->put_message(s->config.state, s->to, &m);
}

static void on_request(struct spans *s, const struct operation_event *ev)
{
    const struct operation *op = ev->op;
    struct span_draft *draft = span_drafts_add(&s->drafts, op->number),
                      *parent = parent_of(s, op);
    const struct format_options *o = s->config.options;

    draft->client = span_parties_request(&s->parties, ev);
    span_draft_take_request(&s->drafts, draft, ev, s->config.always_texts || o->payloads);
    if (is_in_context(op, draft, parent)) {
        draft->trace_high = draft->context.trace_high;
        draft->trace_low = draft->context.trace_low;
    } else {
        draft->trace_high = parent->trace_high;
        draft->trace_low = parent->trace_low;
    }
    if (is_tool_call(op))
        put_message(s, SPAN_CALL, ev, true);
}

static void note_parties(struct spans *s, const struct operation *op)
{
    struct str client = span_parties_client(&s->parties, op)->name,
               server = span_parties_server(&s->parties, op)->name,
               protocol = span_parties_protocol(&s->parties, op);

    if (!s->client.len)
        s->client = client;
    if (!s->server.len)
        s->server = server;
    if (protocol.len)
        s->protocol = protocol;
}

static void on_response(struct spans *s, const struct operation_event *ev)
{
    struct span_draft *draft = span_drafts_find(&s->drafts, ev->op->number);
    const struct format_options *o = s->config.options;

    if (ev->op->kind != OPERATION_REQUEST || !draft) {
        put_message(s, SPAN_ORPHAN, ev, false);
        return;
    }
    span_parties_response(&s->parties, ev, draft->client);
    span_draft_take_response(&s->drafts, draft, ev, s->config.always_texts || o->payloads,
                             o->payloads);
    if (is_tool_call(ev->op))
        put_message(s, SPAN_RESULT, ev, true);
}

static void on_message(struct spans *s, const struct operation_event *ev)
{
    bool in_span =
        ev->op->kind == OPERATION_REQUEST && span_drafts_find(&s->drafts, ev->op->number);

    if (!ev->record || ev->record->kind != RECORD_MESSAGE)
        return;
    note_time(s, ev->record);
    switch ((enum operation_role)ev->message->role) {
    case ROLE_REQUEST:
        on_request(s, ev);
        break;
    case ROLE_RESPONSE:
        on_response(s, ev);
        break;
    case ROLE_PROGRESS:
    case ROLE_LOG:
    case ROLE_CANCEL:
    case ROLE_TASK_STATUS:
    case ROLE_EVENT:
    case ROLE_NOTIFICATION:
        put_message(s, SPAN_NOTIFICATION, ev, in_span);
        break;
    case ROLE_NON_MESSAGE:
    case ROLE_REDELIVERED:
    case ROLE_COUNT:
        break;
    }
}

void spans_put_operation(struct spans *s, struct buf *to, const struct format_operation *o)
{
    const struct operation_event *ev = o->event;
    struct span_draft *draft;

    s->to = to;
    arena_clear(&s->scratch);
    if (o->start_known && !s->start_known) {
        s->start_known = true;
        s->start_wall_us = o->start_wall_us;
    }
    if (ev->message) {
        complete_seed(s, ev->record);
        on_message(s, ev);
        return;
    }
    note_parties(s, ev->op);
    draft = span_drafts_find(&s->drafts, ev->op->number);
    if (!draft)
        return;
    write_operation(s, ev->op, draft);
    span_drafts_remove(&s->drafts, draft);
}

static void write_root(struct spans *s)
{
    struct span root = {
        .kind = SPAN_INTERNAL,
        .status = s->status,
        .is_error = s->status == SPAN_FAILED,
        .flags = FLAG_SAMPLED,
        .events = s->root->events,
        .event_count = s->root->event_count,
        .events_dropped = s->root->events_dropped,
    };

    arena_clear(&s->scratch);
    root.id = span_ids_span(&s->ids, ROOT_NUMBER);
    set_trace(&root, s, s->root);
    root.name = STR("mcp session");
    if (s->label.len)
        root.name =
            clean_text(s, arena_printf(&s->scratch, "mcp session %.*s", STR_ARG(s->label)));
    root.service = s->client.len ? clean_text(s, s->client) : STR("mcp-client");
    set_times(s, &root, s->start_known || s->last_us ? 0 : -1, s->last_us);
    add_text(s, &root, "mcp.protocol.version", s->protocol);
    add_text(s, &root, "mcpreel.server", s->server);
    if (s->has_exit_code)
        add_number(&root, "mcpreel.exit_code", SPAN_INT, s->exit_code);
    if (root.is_error)
        add_text(s, &root, "error.type", STR("server_exited"));
    if (s->config.mplp)
        add_mplp(s, &root, STR("mcp.session"), TO_SERVER);
    write_span(s, &root);
}

void spans_finish(struct spans *s, struct buf *to)
{
    s->to = to;
    complete_seed(s, NULL);
    write_root(s);
}

void spans_write_context_id(const struct spans *s, struct buf *to)
{
    if (s->config.options->context_id.len)
        buf_add(to, s->config.options->context_id);
    else
        span_ids_write_uuid(to, span_ids_context(&s->ids));
}

/* Adds the members of others, as many as fit. An older member with our key is replaced. */
static void add_other_members(struct buf *to, struct str rest)
{
    struct str member;
    size_t count = 1;

    while (mcp_trace_context_next_member(&rest, &member)) {
        if (str_eq(mcp_trace_context_key(member), STR(STATE_KEY)))
            continue;
        if (++count > TRACE_STATE_MEMBERS || to->len + 1 + member.len > TRACE_STATE_BYTES)
            return;
        buf_add_ch(to, ',');
        buf_add(to, member);
    }
}

struct str spans_state(struct spans *s, const struct span *span)
{
    struct str state;
    struct buf to;

    buf_init(&to, 2 * TRACE_STATE_BYTES);
    buf_add(&to, STR(STATE_KEY "=trace_id:"));
    span_ids_write_uuid(&to, span_ids_trace(&s->ids));
    buf_add(&to, STR(";segment_id:"));
    span_ids_write_uuid(&to, span->id);
    add_other_members(&to, span->state);
    state = arena_str(&s->scratch, buf_str(&to));
    buf_release(&to);
    return state;
}

void spans_write_ms(struct buf *to, int64_t us)
{
    int64_t rest = us % 1000;

    buf_add_int(to, us / 1000);
    if (rest)
        buf_printf(to, ".%03lld", (long long)rest);
}
