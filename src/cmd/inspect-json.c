#include "cmd/inspect-json.h"

#include "base/clock.h"
#include "cmd/inspect-odd.h"
#include "mcp/code.h"
#include "json/write.h"

static void key_count(struct json_out *o, struct str key, uint64_t n)
{
    json_out_key_int(o, key, (int64_t)n);
}

static void key_text(struct json_out *o, struct str key, struct str text)
{
    json_out_key(o, key);
    if (text.len)
        json_out_str(o, text);
    else
        json_out_null(o);
}

/* Microseconds as milliseconds; null if there is no clock. */
static void key_ms(struct json_out *o, struct str key, const struct stats *s, int64_t us)
{
    json_out_key(o, key);
    if (s->timed)
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
    key_text(o, STR("name"), peer->name);
    key_text(o, STR("version"), peer->version);
    json_out_end_object(o);
}

/* The strings of an array, spelled by us. */
static void key_words(struct json_out *o, struct str key, struct str words)
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
    key_count(o, STR("remarks"), file->remarks);
    json_out_end_object(o);
}

static void add_header(struct json_out *o, const struct stats_header *h)
{
    char text[CLOCK_TEXT];

    json_out_key(o, STR("header"));
    if (!h->there) {
        json_out_null(o);
        return;
    }
    json_out_object(o);
    key_text(o, STR("version"), h->version);
    key_text(o, STR("recorded_at"), h->dated ? clock_format(text, h->recorded_us) : STR_NONE);
    key_text(o, STR("name"), h->name);
    key_words(o, STR("tags"), h->tags);
    key_text(o, STR("upstream"), h->upstream);
    key_words(o, STR("command"), h->command);
    key_text(o, STR("transport"), h->transport);
    key_peer(o, STR("producer"), &h->producer);
    json_out_end_object(o);
}

static void add_sent(struct json_out *o, struct str key, const uint64_t *kinds)
{
    uint64_t messages = 0;

    for (size_t i = 0; i < STATS_KINDS; i++)
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
    json_out_key(o, STR("lines"));
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

static void add_totals(struct json_out *o, const struct stats *s)
{
    json_out_key(o, STR("totals"));
    json_out_object(o);
    key_ms(o, STR("duration_ms"), s, s->duration_us);
    add_sent(o, STR("client"), s->messages[TO_SERVER]);
    add_sent(o, STR("server"), s->messages[TO_CLIENT]);
    key_count(o, STR("redelivered"), s->redelivered);
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
        json_out_key_bool(o, STR("others"), true);
    } else {
        key_peer(o, STR("client"), &session->client);
        key_peer(o, STR("server"), &session->server);
        key_text(o, STR("protocol"), session->protocol);
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

static void add_latency(struct json_out *o, const struct histogram *h)
{
    if (!h)
        return;
    key_count(o, STR("p50_us"), histogram_quantile(h, 50));
    key_count(o, STR("p95_us"), histogram_quantile(h, 95));
    key_count(o, STR("max_us"), h->max);
}

static void add_operation(struct json_out *o, const struct operation *op, bool others)
{
    json_out_object(o);
    if (others) {
        json_out_key_bool(o, STR("others"), true);
    } else {
        key_from(o, op->dir);
        json_out_key_str(o, STR("method"), op->method);
        key_text(o, STR("subject"), op->subject);
    }
    key_count(o, STR("calls"), operations_calls(op));
    key_count(o, STR("retries"), op->retries);
    key_count(o, STR("answered"), op->answered);
    key_count(o, STR("wanted_input"), op->wanted_input);
    key_count(o, STR("rpc_errors"), op->rpc_errors);
    key_count(o, STR("tool_errors"), op->tool_errors);
    key_count(o, STR("cancelled"), op->cancelled);
    key_count(o, STR("unanswered"), operations_unanswered(op));
    add_latency(o, op->latency);
    json_out_end_object(o);
}

static void add_operations(struct json_out *o, const struct roster *rows)
{
    json_out_key(o, STR("operations"));
    json_out_array(o);
    for (size_t i = 0; i < rows->count; i++)
        add_operation(o, rows->rows[i], false);
    if (rows->others)
        add_operation(o, rows->others, true);
    json_out_end_array(o);
}

static void add_notification(struct json_out *o, const struct stats_notification *n,
                             bool others)
{
    json_out_object(o);
    if (others) {
        json_out_key_bool(o, STR("others"), true);
    } else {
        key_from(o, n->dir);
        json_out_key_str(o, STR("method"), n->method);
    }
    key_count(o, STR("count"), n->count);
    json_out_end_object(o);
}

static void add_notifications(struct json_out *o, const struct roster *rows)
{
    json_out_key(o, STR("notifications"));
    json_out_array(o);
    for (size_t i = 0; i < rows->count; i++)
        add_notification(o, rows->rows[i], false);
    if (rows->others)
        add_notification(o, rows->others, true);
    json_out_end_array(o);
}

static void add_tool(struct json_out *o, const struct stats_tool *tool, bool others)
{
    json_out_object(o);
    if (others) {
        json_out_key_bool(o, STR("others"), true);
    } else {
        json_out_key_str(o, STR("name"), tool->name);
        json_out_key_bool(o, STR("advertised"), tool->advertised);
    }
    key_count(o, STR("calls"), tool->calls);
    json_out_end_object(o);
}

static void add_tools(struct json_out *o, const struct roster *rows)
{
    json_out_key(o, STR("tools"));
    json_out_array(o);
    for (size_t i = 0; i < rows->count; i++)
        add_tool(o, rows->rows[i], false);
    if (rows->others)
        add_tool(o, rows->others, true);
    json_out_end_array(o);
}

static void add_code(struct json_out *o, const struct stats_code *row, bool others)
{
    json_out_object(o);
    if (others) {
        json_out_key_bool(o, STR("others"), true);
    } else {
        key_from(o, row->dir == TO_CLIENT ? TO_CLIENT : TO_SERVER);
        json_out_key(o, STR("code"));
        if (row->whole)
            json_out_int(o, row->code);
        else
            json_out_null(o);
        key_text(o, STR("name"), row->whole ? mcp_code_name(row->code) : STR_NONE);
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
    if (s->codes.others)
        add_code(o, s->codes.others, true);
    json_out_end_array(o);
    key_count(o, STR("tool"), s->tool_errors);
    key_count(o, STR("http"), s->http_errors);
    key_count(o, STR("unanswered"), s->unanswered);
    key_count(o, STR("cancelled"), s->cancelled);
    json_out_end_object(o);
}

static void add_odd(struct json_out *o, const struct stats *s)
{
    struct buf text;

    buf_init(&text, 16 * STATS_TEXT);
    json_out_key(o, STR("odd"));
    json_out_array(o);
    for (enum stats_odd what = 0; what < STATS_ODDS; what++) {
        if (!s->odd[what].count)
            continue;
        buf_clear(&text);
        inspect_odd_add(&text, s, what);
        json_out_object(o);
        json_out_key_str(o, STR("id"), str_z(inspect_odd_id(what)));
        key_count(o, STR("count"), s->odd[what].count);
        if (s->odd[what].seq)
            key_count(o, STR("seq"), s->odd[what].seq);
        json_out_key_str(o, STR("text"), buf_str(&text));
        json_out_end_object(o);
    }
    json_out_end_array(o);
    buf_release(&text);
}

void inspect_json_add(struct buf *to, const struct stats *s, const struct inspect_file *file)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), 1);
    json_out_key_str(&o, STR("command"), STR("inspect"));
    add_file(&o, file);
    add_header(&o, &s->header);
    key_peer(&o, STR("client"), &s->client);
    key_peer(&o, STR("server"), &s->server);
    key_text(&o, STR("protocol"), s->protocol);
    add_totals(&o, s);
    add_sessions(&o, s);
    add_operations(&o, &s->operations.rows);
    add_notifications(&o, &s->notifications);
    add_tools(&o, &s->tools);
    add_errors(&o, s);
    add_odd(&o, s);
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}
