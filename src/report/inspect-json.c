#include "report/inspect-json.h"

#include "base/clock.h"
#include "mcp/context-cost.h"
#include "mcp/error-code.h"
#include "report/findings.h"
#include "report/op-stats-json.h"
#include "json/write.h"

static void key_count(struct json_out *o, struct str key, uint64_t n)
{
    json_out_key_int(o, key, (int64_t)n);
}

/* Writes microseconds as milliseconds; null if the recording has no times. */
static void key_ms(struct json_out *o, struct str key, const struct stats *s, int64_t us)
{
    json_out_key(o, key);
    if (s->has_times)
        json_out_int(o, us / 1000);
    else
        json_out_null(o);
}

static void key_from(struct json_out *o, enum record_dir dir)
{
    json_out_key_str(o, STR("from"), dir == TO_SERVER ? STR("client") : STR("server"));
}

static void key_peer(struct json_out *o, struct str key, const struct stats_peer *peer)
{
    json_out_key(o, key);
    if (!peer->name.len && !peer->version.len) {
        json_out_null(o);
        return;
    }
    json_out_object(o);
    json_out_key_str_or_null(o, STR("name"), peer->name);
    json_out_key_str_or_null(o, STR("version"), peer->version);
    json_out_end_object(o);
}

/* Writes the strings of a JSON array again, with our escapes. */
static void key_strings(struct json_out *o, struct str key, struct str words)
{
    struct arena a = { 0 };
    struct json_fault fault;
    struct json_iter it;
    struct json j;

    json_out_key(o, key);
    json_init(&j);
    if (!words.len || !json_scan(&j, words, &fault)) {
        json_out_null(o);
    } else {
        json_out_array(o);
        it = json_each(json_root(&j));
        while (json_next(&it))
            json_out_str(o, json_text(it.value, &a));
        json_out_end_array(o);
    }
    json_release(&j);
    arena_release(&a);
}

static void add_file(struct json_out *o, const struct inspect_file *file)
{
    json_out_key(o, STR("file"));
    json_out_object(o);
    json_out_key_str(o, STR("path"), str_z(file->path));
    json_out_key_str(o, STR("format"), str_z(file->format));
    key_count(o, STR("bytes"), file->bytes);
    key_count(o, STR("notes"), file->notes);
    json_out_end_object(o);
}

static void add_header(struct json_out *o, const struct stats_header *h)
{
    char text[CLOCK_TEXT_SIZE];

    json_out_key(o, STR("header"));
    if (!h->present) {
        json_out_null(o);
        return;
    }
    json_out_object(o);
    json_out_key_str_or_null(o, STR("version"), h->version);
    json_out_key_str_or_null(o, STR("recorded_at"),
                             h->has_date ? clock_format(text, h->recorded_us) : STR_NONE);
    json_out_key_str_or_null(o, STR("name"), h->name);
    key_strings(o, STR("tags"), h->tags);
    json_out_key_str_or_null(o, STR("upstream"), h->upstream);
    key_strings(o, STR("command"), h->command);
    json_out_key_str_or_null(o, STR("transport"), h->transport);
    key_peer(o, STR("producer"), &h->producer);
    json_out_end_object(o);
}

static void add_sent(struct json_out *o, struct str key, const uint64_t *kinds)
{
    uint64_t messages = 0;

    for (size_t i = 0; i < STATS_MESSAGE_KINDS; i++)
        messages += kinds[i];
    json_out_key(o, key);
    json_out_object(o);
    key_count(o, STR("messages"), messages);
    key_count(o, STR("requests"), kinds[MCP_REQUEST]);
    key_count(o, STR("results"), kinds[MCP_RESULT]);
    key_count(o, STR("errors"), kinds[MCP_ERROR]);
    key_count(o, STR("notifications"), kinds[MCP_NOTIFICATION]);
    json_out_end_object(o);
}

static void add_lines(struct json_out *o, const uint64_t *lines)
{
    json_out_key(o, STR("records"));
    json_out_object(o);
    key_count(o, STR("header"), lines[RECORD_HEADER]);
    key_count(o, STR("message"), lines[RECORD_MESSAGE]);
    key_count(o, STR("raw"), lines[RECORD_RAW]);
    key_count(o, STR("stderr"), lines[RECORD_STDERR]);
    key_count(o, STR("proc"), lines[RECORD_PROC]);
    key_count(o, STR("http"),
              lines[RECORD_HTTP_REQUEST] + lines[RECORD_HTTP_RESPONSE] +
                  lines[RECORD_HTTP_END]);
    key_count(o, STR("sse"), lines[RECORD_SSE]);
    key_count(o, STR("gap"), lines[RECORD_GAP]);
    key_count(o, STR("footer"), lines[RECORD_FOOTER]);
    key_count(o, STR("unknown"), lines[RECORD_UNKNOWN]);
    json_out_end_object(o);
}

/* Writes the outcomes by the names that `show` uses. */
static void add_all_outcomes(struct json_out *o, const uint64_t outcomes[OUTCOME_COUNT])
{
    json_out_key(o, STR("outcomes"));
    json_out_object(o);
    for (enum operation_outcome outcome = 0; outcome < OUTCOME_COUNT; outcome++)
        key_count(o, str_z(operation_outcome_name(outcome)), outcomes[outcome]);
    json_out_end_object(o);
}

static void add_totals(struct json_out *o, const struct stats *s)
{
    json_out_key(o, STR("totals"));
    json_out_object(o);
    key_ms(o, STR("duration_ms"), s, s->duration_us);
    add_sent(o, STR("client"), s->messages[TO_SERVER]);
    add_sent(o, STR("server"), s->messages[TO_CLIENT]);
    key_count(o, STR("redelivered"), s->redelivered);
    key_count(o, STR("operations"), s->op_stats.count);
    key_count(o, STR("children"), s->op_stats.continuations);
    add_all_outcomes(o, s->op_stats.outcomes);
    key_count(o, STR("sessions"), s->session_count);
    key_count(o, STR("stderr_lines"), s->stderr_lines);
    add_lines(o, s->lines);
    json_out_end_object(o);
}

static void add_session(struct json_out *o, const struct stats *s,
                        const struct stats_session *session, bool others)
{
    json_out_object(o);
    if (others) {
        json_out_key_bool(o, STR("aggregate"), true);
    } else {
        key_peer(o, STR("client"), &session->client);
        key_peer(o, STR("server"), &session->server);
        json_out_key_str_or_null(o, STR("protocol_version"), session->protocol);
        key_ms(o, STR("start_ms"), s, session->first_us);
        key_ms(o, STR("duration_ms"), s, session->last_us - session->first_us);
    }
    key_count(o, STR("messages"), session->messages);
    key_count(o, STR("requests"), session->requests);
    key_count(o, STR("errors"), session->errors);
    json_out_end_object(o);
}

static void add_sessions(struct json_out *o, const struct stats *s)
{
    json_out_key(o, STR("sessions"));
    json_out_array(o);
    for (size_t i = 0; i < s->session_count && i <= STATS_SESSIONS; i++)
        add_session(o, s, &s->sessions[i], i == STATS_SESSIONS);
    json_out_end_array(o);
}

static void add_operation(struct json_out *o, const struct op_stats_row *row, bool others)
{
    json_out_object(o);
    if (others) {
        json_out_key_bool(o, STR("aggregate"), true);
    } else {
        op_stats_json_name(o, row);
    }
    op_stats_json_counts(o, row);
    op_stats_json_times(o, OP_STATS_JSON_TOTAL, row->times.total);
    op_stats_json_times(o, OP_STATS_JSON_SERVER, row->times.server);
    op_stats_json_times(o, OP_STATS_JSON_WAIT, row->times.wait);
    op_stats_json_context(o, row);
    json_out_end_object(o);
}

static void add_operations(struct json_out *o, const struct capped_table *rows)
{
    json_out_key(o, STR("operations"));
    json_out_array(o);
    for (size_t i = 0; i < rows->count; i++)
        add_operation(o, rows->rows[i], false);
    if (rows->overflow)
        add_operation(o, rows->overflow, true);
    json_out_end_array(o);
}

static void add_notification(struct json_out *o, const struct stats_notification *n,
                             bool others)
{
    json_out_object(o);
    if (others) {
        json_out_key_bool(o, STR("aggregate"), true);
    } else {
        key_from(o, n->dir);
        json_out_key_str(o, STR("method"), n->method);
    }
    key_count(o, STR("count"), n->count);
    json_out_end_object(o);
}

static void add_notifications(struct json_out *o, const struct capped_table *rows)
{
    json_out_key(o, STR("notifications"));
    json_out_array(o);
    for (size_t i = 0; i < rows->count; i++)
        add_notification(o, rows->rows[i], false);
    if (rows->overflow)
        add_notification(o, rows->overflow, true);
    json_out_end_array(o);
}

static void add_tool(struct json_out *o, const struct stats_tool *tool, bool others)
{
    json_out_object(o);
    if (others) {
        json_out_key_bool(o, STR("aggregate"), true);
    } else {
        json_out_key_str(o, STR("name"), tool->name);
        json_out_key_bool(o, STR("listed"), tool->advertised);
    }
    key_count(o, STR("calls"), tool->calls);
    if (tool->definition_bytes) {
        key_count(o, STR("definition_bytes"), tool->definition_bytes);
        key_count(o, STR("definition_estimated_tokens"),
                  mcp_context_tokens(tool->definition_bytes));
    }
    json_out_end_object(o);
}

static void add_tools(struct json_out *o, const struct capped_table *rows)
{
    json_out_key(o, STR("tools"));
    json_out_array(o);
    for (size_t i = 0; i < rows->count; i++)
        add_tool(o, rows->rows[i], false);
    if (rows->overflow)
        add_tool(o, rows->overflow, true);
    json_out_end_array(o);
}

static void add_code(struct json_out *o, const struct stats_code *row, bool others)
{
    json_out_object(o);
    if (others) {
        json_out_key_bool(o, STR("aggregate"), true);
    } else {
        key_from(o, row->dir == TO_CLIENT ? TO_CLIENT : TO_SERVER);
        json_out_key(o, STR("code"));
        if (row->is_integer)
            json_out_int(o, row->code);
        else
            json_out_null(o);
        json_out_key_str_or_null(o, STR("name"),
                                 row->is_integer ? mcp_error_code_name(row->code) : STR_NONE);
    }
    key_count(o, STR("count"), row->count);
    json_out_end_object(o);
}

static void add_errors(struct json_out *o, const struct stats *s)
{
    json_out_key(o, STR("errors"));
    json_out_object(o);
    json_out_key(o, STR("rpc"));
    json_out_array(o);
    for (size_t i = 0; i < s->codes.count; i++)
        add_code(o, s->codes.rows[i], false);
    if (s->codes.overflow)
        add_code(o, s->codes.overflow, true);
    json_out_end_array(o);
    key_count(o, STR("tool"), s->tool_errors);
    key_count(o, STR("http"), s->http_errors);
    key_count(o, STR("unanswered"), s->op_stats.unanswered);
    key_count(o, STR("cancelled"), s->op_stats.cancelled);
    json_out_end_object(o);
}

static void add_findings(struct json_out *o, const struct stats *s)
{
    struct finding_list found;

    finding_list_init(&found);
    findings_collect(&found, s, NULL);
    findings_write_json(o, &found);
    finding_list_release(&found);
}

void inspect_json_write(struct buf *to, const struct stats *s, const struct inspect_file *file)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&o, STR("command"), STR("inspect"));
    add_file(&o, file);
    add_header(&o, &s->header);
    key_peer(&o, STR("client"), &s->client);
    key_peer(&o, STR("server"), &s->server);
    json_out_key_str_or_null(&o, STR("protocol_version"), s->protocol);
    add_totals(&o, s);
    add_sessions(&o, s);
    add_operations(&o, &s->op_stats.rows);
    add_notifications(&o, &s->notifications);
    add_tools(&o, &s->tools);
    add_errors(&o, s);
    add_findings(&o, s);
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}
