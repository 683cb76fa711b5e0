#include "ops/stats.h"

#include "base/hash.h"
#include "json/equal.h"
#include "json/portability.h"

/* Longer lists of a header are not kept. */
enum { STATS_JSON = 64 << 10 };

/* Thirty years: larger times are errors of the file, and must not overflow. */
#define STATS_MAX_US (INT64_C(1000000) * 1000000000)

static bool stats_put(struct sink *self, const struct record *r, struct err *e);
static bool put_op_event(struct operation_sink *self, const struct operation_event *ev,
                         struct err *e);

void stats_init(struct stats *s)
{
    *s =
        (struct stats){ .sink = { stats_put }, .op_events = { put_op_event }, .features = ~0u };
    op_builder_init(&s->builder, &s->op_events);
    op_stats_init(&s->op_stats, OP_STATS_ROWS);
    capped_table_init(&s->notifications, sizeof(struct stats_notification),
                      STATS_NOTIFICATIONS);
    capped_table_init(&s->tools, sizeof(struct stats_tool), STATS_TOOLS);
    capped_table_init(&s->codes, sizeof(struct stats_code), STATS_CODES);
    recording_info_init(&s->info);
}

void stats_release(struct stats *s)
{
    op_builder_release(&s->builder);
    op_stats_release(&s->op_stats);
    capped_table_release(&s->notifications);
    capped_table_release(&s->tools);
    capped_table_release(&s->codes);
    recording_info_release(&s->info);
    arena_release(&s->texts);
    arena_release(&s->scratch);
}

static struct str copy_text(struct stats *s, struct str text)
{
    return arena_truncated(&s->texts, text, STATS_TEXT);
}

static struct str copy_json_text(struct stats *s, struct json_val v)
{
    return copy_text(s, json_text(v, &s->scratch));
}

static struct stats_peer copy_peer(struct stats *s, struct json_val info)
{
    return (struct stats_peer){ copy_json_text(s, json_get(info, STR("name"))),
                                copy_json_text(s, json_get(info, STR("version"))) };
}

static struct stats_peer copy_peer_json(struct stats *s, struct str info)
{
    struct stats_peer peer = { 0 };
    struct json_fault fault;
    struct json j;

    json_init(&j);
    if (info.len && json_scan(&j, info, &fault))
        peer = copy_peer(s, json_root(&j));
    json_release(&j);
    return peer;
}

/* Counts a finding. Returns true for the first of its kind: the caller may add an example. */
static bool add_finding(struct stats *s, enum stats_finding_kind what, const struct record *r)
{
    struct stats_finding *f = &s->findings[what];

    if (!f->count && r->kind == RECORD_MESSAGE) {
        f->seq = r->has & HAS_SEQ ? r->message.seq : 0;
        f->line = r->message.line;
    }
    return !f->count++;
}

static void add_finding_text(struct stats *s, enum stats_finding_kind what,
                             const struct record *r, struct str example)
{
    if (add_finding(s, what, r))
        s->findings[what].example = copy_text(s, example);
}

/* Saturates: files may hold any number, and JSON output holds int64. */
static uint64_t saturating_sum(uint64_t a, uint64_t b)
{
    return b > (uint64_t)INT64_MAX - a ? (uint64_t)INT64_MAX : a + b;
}

static int64_t now_us(const struct stats *s)
{
    return s->duration_us + s->current.us;
}

static int64_t clamp_us(int64_t us)
{
    return us < 0 ? 0 : us > STATS_MAX_US ? STATS_MAX_US : us;
}

/* Sets the time from `us`, else from the date, which may step back; else it stays. */
static void update_time(struct stats *s, const struct record *r)
{
    struct stats_recording *p = &s->current;

    if (r->has & HAS_WALL && !p->start_known) {
        p->start_known = true;
        p->start_wall_us = r->wall_us;
    }
    if (r->has & HAS_US) {
        if (r->us < p->us)
            add_finding(s, STATS_TIME_ORDER, r);
        p->us = clamp_us(r->us);
    } else if (r->has & HAS_WALL) {
        p->us = clamp_us(r->wall_us - p->start_wall_us);
    }
    s->has_times |= (r->has & (HAS_US | HAS_WALL)) != 0;
    if (p->us > p->last_us)
        p->last_us = p->us;
}

/* Ends a recording. Records before the first header need no footer. */
static void end_recording(struct stats *s, bool needs_footer)
{
    s->findings[STATS_NO_FOOTER].count +=
        needs_footer && !s->current.seen_footer && s->features & FEATURE_END;
    s->stderr_lines += s->current.stderr_in_line;
    s->findings[STATS_INCOMPLETE_BATCH].count += batch_check_finish(&s->batch_check);
    s->duration_us = clamp_us(s->duration_us + s->current.last_us);
    s->current = (struct stats_recording){ 0 };
}

static struct str copy_json(struct stats *s, struct str json)
{
    return json.len <= STATS_JSON ? arena_str(&s->texts, json) : STR_NONE;
}

static void handle_header(struct stats *s, const struct record *r)
{
    const struct record_header *h = &r->header;

    if (s->header.present)
        add_finding(s, STATS_EXTRA_HEADER, r);
    else
        s->header = (struct stats_header){
            .present = true,
            .has_date = r->has & HAS_WALL,
            .recorded_us = r->wall_us,
            .version = copy_text(s, h->version),
            .name = copy_text(s, h->name),
            .upstream = copy_text(s, h->upstream),
            .transport = copy_text(s, h->transport),
            .producer = copy_peer_json(s, h->producer),
            .command = copy_json(s, h->command),
            .tags = copy_json(s, h->tags),
        };
    s->current.on_http = str_eq(h->transport, STR("http"));
    s->first_session =
        s->session_count < STATS_SESSIONS ? (size_t)s->session_count : STATS_SESSIONS;
}

/* Finds the latest session with that number, or on that connection. */
static struct stats_session *find_session(struct stats *s, uint64_t conn, uint64_t session)
{
    size_t n =
        s->session_count <= STATS_SESSIONS ? (size_t)s->session_count : STATS_SESSIONS + 1;

    while (n-- > s->first_session)
        if (s->sessions[n].session == session && (session || s->sessions[n].conn == conn))
            return &s->sessions[n];
    return NULL;
}

/* The session of a record. A session has a number from the response to initialize on. */
static struct stats_session *session_of(struct stats *s, const struct record *r)
{
    uint64_t number = r->has & HAS_SESSION ? r->session : 0;
    struct stats_session *found = find_session(s, r->conn, number);

    if (found || !number)
        return found;
    found = find_session(s, r->conn, 0);
    if (found)
        found->session = number;
    return found;
}

static void begin_session(struct stats *s, const struct record *r, const struct mcp_message *m)
{
    struct stats_session *session =
        &s->sessions[s->session_count < STATS_SESSIONS ? s->session_count : STATS_SESSIONS];

    session->conn = r->conn;
    session->session = r->has & HAS_SESSION ? r->session : 0;
    if (s->session_count++ < STATS_SESSIONS) {
        session->first_us = session->last_us = now_us(s);
        session->client = copy_peer(s, json_get(m->params, STR("clientInfo")));
    }
}

static void set_session_server(struct stats *s, struct stats_session *session,
                               const struct mcp_message *m)
{
    if (!session || session == &s->sessions[STATS_SESSIONS])
        return;
    session->server = copy_peer(s, json_get(m->result, STR("serverInfo")));
    session->protocol = copy_json_text(s, json_get(m->result, STR("protocolVersion")));
}

static void update_session(struct stats *s, const struct record *r, const struct mcp_message *m,
                           bool error)
{
    bool from_client = r->message.dir == TO_SERVER;
    struct stats_session *session;

    if (m->kind == MCP_REQUEST && from_client && str_eq(m->method, STR("initialize")))
        begin_session(s, r, m);
    session = session_of(s, r);
    if (!session)
        return;
    session->messages++;
    session->requests += m->kind == MCP_REQUEST && from_client;
    session->errors += error;
    if (now_us(s) > session->last_us)
        session->last_us = now_us(s);
    if (m->kind == MCP_RESULT && !from_client &&
        str_eq(s->answered_method, STR("initialize")) && !session->protocol.at)
        set_session_server(s, session, m);
}

static struct stats_tool *tool_of(struct stats *s, struct json_val name)
{
    struct str text = json_text(name, &s->scratch);
    struct stats_tool *tool;
    bool is_new;

    tool = capped_table_row(&s->tools, &text, 1, &is_new);
    if (is_new)
        tool->name = arena_truncated(&s->tools.arena, text, STATS_TEXT);
    return tool;
}

/* Compares a definition with the one before: by text, and only if that differs by value. */
static void check_definition(struct stats *s, const struct record *r,
                             struct json_val definition)
{
    struct stats_tool *tool = tool_of(s, json_get(definition, STR("name")));
    uint64_t spelling = hash_bytes(json_raw(definition), 0) | 1, meaning;
    uint64_t bytes = json_raw(definition).len;

    tool->advertised = true;
    if (tool == s->tools.overflow)
        tool->definition_bytes = saturating_sum(tool->definition_bytes, bytes);
    else if (tool->definition_bytes < bytes)
        tool->definition_bytes = bytes;
    if (tool == s->tools.overflow || tool->text_hash == spelling)
        return;
    meaning = json_hash(definition, NULL);
    if (tool->text_hash && tool->value_hash != meaning)
        add_finding_text(s, STATS_TOOL_CHANGED, r, tool->name);
    tool->text_hash = spelling;
    tool->value_hash = meaning;
}

static void handle_tools(struct stats *s, const struct record *r, struct json_val tools)
{
    struct json_iter it = json_each(tools);

    s->tools_listed = true;
    while (json_next(&it))
        if (json_type(json_get(it.value, STR("name"))) == JSON_STRING)
            check_definition(s, r, it.value);
}

static void count_error_code(struct stats *s, enum record_dir dir, struct json_val code)
{
    const char dir_byte = (char)dir;
    struct str name[] = { str_n(&dir_byte, 1), STR("?") };
    struct stats_code *row;
    bool is_new, is_integer;
    int64_t n = 0;

    is_integer = json_int(code, &n);
    if (is_integer)
        name[1] = str_n((const char *)&n, sizeof n);
    row = capped_table_row(&s->codes, name, 2, &is_new);
    if (is_new) {
        row->dir = dir;
        row->is_integer = is_integer;
        row->code = n;
    }
    row->count++;
}

static void handle_response(struct stats *s, const struct record *r,
                            const struct mcp_message *m)
{
    if (m->kind == MCP_ERROR)
        count_error_code(s, r->message.dir, json_get(m->error, STR("code")));
    else if (r->message.dir == TO_CLIENT && str_eq(s->answered_method, STR("tools/list")))
        handle_tools(s, r, json_get(m->result, STR("tools")));
}

static void count_notification(struct stats *s, enum record_dir dir,
                               const struct mcp_message *m)
{
    const char dir_byte = (char)dir;
    const struct str name[] = { str_n(&dir_byte, 1), m->method };
    struct stats_notification *row;
    bool is_new;

    row = capped_table_row(&s->notifications, name, 2, &is_new);
    if (is_new) {
        row->dir = dir;
        row->method = arena_truncated(&s->notifications.arena, m->method, STATS_TEXT);
    }
    row->count++;
}

static void check_request_op(struct stats *s, const struct operation *op,
                             const struct record *r)
{
    if (op->flags & OP_ID_REUSED)
        add_finding(s, STATS_ID_IN_USE, r);
    if (op->dir == TO_SERVER && str_eq(op->method, STR("tools/call")) && op_stats_is_call(op))
        tool_of(s, json_get(s->message->params, STR("name")))->calls++;
}

/* Counts the error of a task, which may fail without an error message. */
static void count_task_error(struct stats *s, const struct record *r, struct json_val task)
{
    struct json_val status = json_get(task, STR("status")),
                    error = json_get(task, STR("error")),
                    result = json_get(task, STR("result"));

    if (json_is(status, STR("failed")) && json_exists(error))
        count_error_code(s, r->message.dir, json_get(error, STR("code")));
    else if (json_is(status, STR("completed")) &&
             json_type(json_get(result, STR("isError"))) == JSON_TRUE)
        s->tool_errors++;
}

static void check_response_op(struct stats *s, const struct operation *op,
                              const struct record *r)
{
    if (op->kind == OPERATION_REQUEST)
        s->answered_method = arena_str(&s->scratch, op->method);
    if (op->link == LINK_TASK && !(op->flags & OP_AFTER_END))
        count_task_error(s, r, s->message->result);
    if (op->flags & OP_DUPLICATE)
        add_finding(s, STATS_DUPLICATE_RESPONSE, r);
    else if (op->flags & OP_ORPHAN)
        add_finding(s, STATS_UNMATCHED_RESPONSE, r);
    else if (op->outcome == OUTCOME_LATE ||
             (op->kind == OPERATION_RESPONSE && !(op->flags & OP_HTTP_REJECTED)))
        add_finding(s, STATS_LATE_RESPONSE, r);
}

static void check_notification_op(struct stats *s, const struct operation *op,
                                  const struct record *r, enum operation_role role)
{
    if (op->flags & OP_ORPHAN)
        add_finding_text(s, STATS_ORPHAN, r, op->method);
    if (role == ROLE_TASK_STATUS && op->kind == OPERATION_REQUEST)
        count_task_error(s, r, s->message->params);
}

/* Keeps the first recorded reason for a missing response. */
static void handle_op_end(struct stats *s, const struct operation *op)
{
    struct stats_finding *f = &s->findings[STATS_UNANSWERED];
    uint64_t before = s->op_stats.unanswered;

    op_stats_add(&s->op_stats, op);
    if (s->op_stats.unanswered > before && op->why.len && !f->example.len)
        f->example = copy_text(s, op->why);
}

static void handle_op_message(struct stats *s, const struct operation_event *ev)
{
    if (ev->record->has & HAS_REDELIVERS)
        return;
    if (ev->message->role == ROLE_REQUEST)
        check_request_op(s, ev->op, ev->record);
    else if (ev->message->role == ROLE_RESPONSE)
        check_response_op(s, ev->op, ev->record);
    else
        check_notification_op(s, ev->op, ev->record, ev->message->role);
}

/* A message was attributed, or an operation has ended. */
static bool put_op_event(struct operation_sink *self, const struct operation_event *ev,
                         struct err *e)
{
    struct stats *s = (struct stats *)((char *)self - offsetof(struct stats, op_events));

    if (ev->message)
        handle_op_message(s, ev);
    else
        handle_op_end(s, ev->op);
    return !s->observer || s->observer->put(s->observer, ev, e);
}

static void build_ops(struct stats *s, const struct record *r)
{
    struct err e = ERR_NONE;

    if (!s->builder.sink.put(&s->builder.sink, r, &e))
        BUG("the sink rejected a record");
}

/* In a recording a message is nested in the object of its line. */
static void check_portability(struct stats *s, const struct record *r)
{
    unsigned odd = json_portability_issues(r->message.msg, JSON_OBJECT_DEPTH);

    if (odd & JSON_LONE_SURROGATE)
        add_finding(s, STATS_LONE_SURROGATE, r);
    if (odd & JSON_TOO_DEEP)
        add_finding(s, STATS_TOO_DEEP, r);
}

static void count_message(struct stats *s, const struct record *r, const struct mcp_message *m,
                          bool error)
{
    struct stats_recording *p = &s->current;

    s->messages[r->message.dir][m->kind]++;
    p->messages[r->message.dir]++;
    p->errors += error;
    s->tool_errors += error && m->kind == MCP_RESULT;
    if (m->duplicate_member)
        add_finding(s, STATS_DUPLICATE_KEY, r);
    if (m->kind == MCP_OTHER)
        add_finding(s, STATS_NOT_JSONRPC, r);
    if (r->has & HAS_SEQ) {
        if (r->message.seq <= p->seq)
            add_finding(s, STATS_SEQ_ORDER, r);
        p->seq = r->message.seq;
    }
}

/* A redelivered message is counted, but not evaluated again. */
static void handle_message(struct stats *s, const struct record *r)
{
    struct mcp_message m = mcp_classify(r->message.msg, &s->scratch);
    bool error = recording_info_is_error(&m);

    count_message(s, r, &m, error);
    if (s->thorough)
        check_portability(s, r);
    s->message = &m;
    s->answered_method = STR_NONE;
    build_ops(s, r);
    s->message = NULL;
    if (r->has & HAS_REDELIVERS) {
        s->redelivered++;
        return;
    }
    if (m.kind == MCP_NOTIFICATION)
        count_notification(s, r->message.dir, &m);
    else if (mcp_is_response(&m))
        handle_response(s, r, &m);
    recording_info_update(&s->info, r->message.dir, &m, s->answered_method);
    update_session(s, r, &m, error);
}

static void count_stderr_lines(struct stats *s, struct str text)
{
    for (size_t n; (n = str_find(text, '\n')) < text.len; s->stderr_lines++) {
        s->current.stderr_in_line = false;
        text = str_skip(text, n + 1);
    }
    s->current.stderr_in_line |= text.len > 0;
}

static void handle_exit(struct stats *s, const struct record *r, int64_t code, int64_t signum,
                        struct str why)
{
    struct str how =
        arena_printf(&s->scratch, "%s %lld%s%.*s", signum ? "signal" : "exit code",
                     (long long)(signum ? signum : code), why.len ? ": " : "", STR_ARG(why));

    s->current.server_exited = true;
    if (code || signum)
        add_finding_text(s, STATS_SERVER_EXIT, r, how);
}

static void handle_process(struct stats *s, const struct record *r)
{
    if (str_eq(r->proc.event, STR("failed")))
        add_finding_text(s, STATS_SERVER_EXIT, r, r->proc.why);
    else if (str_eq(r->proc.event, STR("exit")))
        handle_exit(s, r, r->has & HAS_EXIT_CODE ? r->proc.exit_code : 0,
                    r->has & HAS_SIGNAL ? r->proc.signal : 0, r->proc.why);
}

static unsigned long long llu(uint64_t number)
{
    return number;
}

/* The footer counts messages that were seen. Missing ones must be in a gap; a gap may also
 * stand for messages that were too long to be counted. */
static bool is_explained_by_gaps(const struct stats_recording *p, const struct record_footer *f,
                                 uint64_t errors)
{
    uint64_t messages = p->messages[TO_SERVER] + p->messages[TO_CLIENT];

    return f->client_messages >= p->messages[TO_SERVER] &&
           f->server_messages >= p->messages[TO_CLIENT] && errors >= p->errors &&
           f->messages == f->client_messages + f->server_messages &&
           f->messages - messages <= p->gap_messages;
}

static void check_totals(struct stats *s, const struct record *r)
{
    const struct record_footer *f = &r->footer;
    const struct stats_recording *p = &s->current;
    uint64_t errors = r->has & HAS_ERRORS ? f->errors : p->errors;
    uint64_t messages = p->messages[TO_SERVER] + p->messages[TO_CLIENT];

    if (f->messages == messages && f->client_messages == p->messages[TO_SERVER] &&
        f->server_messages == p->messages[TO_CLIENT] && errors == p->errors)
        return;
    if (p->gap_messages && is_explained_by_gaps(p, f, errors))
        return;
    add_finding_text(s, STATS_FOOTER_DIFFERS, r,
                     arena_printf(&s->scratch,
                                  "the footer has client %llu, server %llu, all %llu, errors "
                                  "%llu; the recording has %llu, %llu, %llu, %llu",
                                  llu(f->client_messages), llu(f->server_messages),
                                  llu(f->messages), llu(errors), llu(p->messages[TO_SERVER]),
                                  llu(p->messages[TO_CLIENT]), llu(messages), llu(p->errors)));
}

/* Over HTTP the exit code is that of the recorder. */
static void handle_footer(struct stats *s, const struct record *r)
{
    if (r->has & HAS_TOTALS)
        check_totals(s, r);
    if (r->has & HAS_EXIT_CODE && !s->current.server_exited && !s->current.on_http)
        handle_exit(s, r, r->footer.exit_code, 0, STR_NONE);
    s->current.seen_footer = true;
}

/* Whether an exchange failed. Responses of the recorder itself are no failure, nor is an event
 * stream that the server closes (it may be resumed) or that is open when recording stops.
 * Requests without a response are a finding of their own. */
static bool is_http_failure(const struct record *r)
{
    const struct record_http *h = &r->http;

    if (!h->why.len || str_eq(h->by, STR("client")))
        return false;
    if (h->clean)
        return !str_eq(h->by, STR("mcpreel"));
    return !(r->has & HAS_STREAM) ||
           (!str_eq(h->by, STR("server")) && !str_eq(h->why, STR(RECORD_WHY_STOPPED)));
}

/* One record may stand for several lines. */
static void count_non_message(struct stats *s, const struct record *r)
{
    enum stats_finding_kind what =
        r->bytes.dir == TO_CLIENT ? STATS_SERVER_NON_MESSAGE : STATS_CLIENT_NON_MESSAGE;

    add_finding_text(s, what, r, r->bytes.bytes);
    if (r->has & HAS_COUNT && r->bytes.count)
        s->findings[what].count = saturating_sum(s->findings[what].count, r->bytes.count - 1);
}

static void handle_record(struct stats *s, const struct record *r)
{
    switch (r->kind) {
    case RECORD_HEADER:
        handle_header(s, r);
        break;
    case RECORD_MESSAGE:
        handle_message(s, r);
        break;
    case RECORD_RAW:
        if (op_builder_is_unexpected_raw(&s->builder, r))
            count_non_message(s, r);
        break;
    case RECORD_STDERR:
        count_stderr_lines(s, r->bytes.bytes);
        break;
    case RECORD_PROC:
        handle_process(s, r);
        break;
    case RECORD_HTTP_RESPONSE:
        s->http_errors += r->http.status >= 400;
        break;
    case RECORD_GAP:
        s->gap_messages = saturating_sum(s->gap_messages, r->gap.messages);
        s->current.gap_messages = saturating_sum(s->current.gap_messages, r->gap.messages);
        s->gap_bytes = saturating_sum(s->gap_bytes, r->gap.bytes);
        add_finding_text(s, STATS_GAP, r, r->gap.why);
        break;
    case RECORD_FOOTER:
        handle_footer(s, r);
        break;
    case RECORD_UNKNOWN:
        add_finding_text(s, STATS_UNKNOWN_LINE, r, r->unknown_type);
        break;
    case RECORD_HTTP_END:
        if (is_http_failure(r))
            add_finding_text(s, STATS_HTTP_FAILURE, r, r->http.why);
        break;
    case RECORD_HTTP_REQUEST:
    case RECORD_SSE:
        break;
    }
}

static bool stats_put(struct sink *self, const struct record *r, struct err *e)
{
    struct stats *s = (struct stats *)self;

    (void)e;
    arena_clear(&s->scratch);
    if (r->kind == RECORD_HEADER && s->seen_line)
        end_recording(s, s->header.present);
    else if (r->kind != RECORD_HEADER && !s->seen_line && s->features & FEATURE_COMMAND)
        add_finding(s, STATS_NO_HEADER, r);
    else if (s->current.seen_footer)
        add_finding(s, STATS_AFTER_FOOTER, r);
    s->seen_line = true;
    if ((r->kind == RECORD_MESSAGE || r->kind == RECORD_RAW) &&
        batch_check_record(&s->batch_check, r))
        add_finding(s, STATS_INCOMPLETE_BATCH, r);
    s->lines[r->kind]++;
    update_time(s, r);
    handle_record(s, r);
    if (r->kind != RECORD_MESSAGE)
        build_ops(s, r);
    return true;
}

void stats_damaged_end(struct stats *s, uint64_t bytes)
{
    s->findings[STATS_DAMAGED_END].count = bytes;
}

static void check_listed(struct stats *s, const struct stats_tool *tool)
{
    struct stats_finding *f = &s->findings[STATS_UNLISTED_TOOL];

    if (!s->tools_listed || tool->advertised || !tool->calls)
        return;
    if (!f->count)
        f->example = tool->name;
    f->count += tool->calls;
}

uint64_t stats_definition_bytes(const struct stats *s)
{
    const struct stats_tool *others = s->tools.overflow;
    uint64_t sum = others ? others->definition_bytes : 0;

    for (size_t i = 0; i < s->tools.count; i++)
        sum += ((const struct stats_tool *)s->tools.rows[i])->definition_bytes;
    return sum;
}

void stats_finish(struct stats *s)
{
    struct err e = ERR_NONE;

    end_recording(s, true);
    if (!op_builder_finish(&s->builder, &e))
        BUG("the sink rejected a record");
    op_stats_finish(&s->op_stats);
    for (size_t i = 0; i < s->tools.count; i++)
        check_listed(s, s->tools.rows[i]);
    s->findings[STATS_UNANSWERED].count = s->op_stats.unanswered;
    s->findings[STATS_EVICTED].count = op_builder_evicted(&s->builder);
    s->client = copy_peer_json(s, buf_str(&s->info.client_info));
    s->server = copy_peer_json(s, buf_str(&s->info.server_info));
    s->protocol = copy_text(s, buf_str(&s->info.protocol));
}
