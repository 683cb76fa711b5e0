#include "report/server-stats-json.h"

#include "mcp/context-cost.h"
#include "report/op-stats-json.h"

static void key_count(struct json_out *o, struct str key, uint64_t n)
{
    json_out_key_int(o, key, (int64_t)n);
}

/* Requests of the server have only time in which the server waited for the client. */
static void add_times(struct json_out *o, const struct op_stats_row *row)
{
    const struct op_stats_times *t = &row->times;
    const struct histogram none = { 0 };
    bool from_server = row->dir == TO_CLIENT && row->method.len;

    if (!t->total)
        return;
    op_stats_json_times(o, OP_STATS_JSON_TOTAL, t->total);
    if (from_server) {
        op_stats_json_times(o, OP_STATS_JSON_WAIT, t->total);
        return;
    }
    op_stats_json_times(o, OP_STATS_JSON_SERVER, t->server ? t->server : t->total);
    op_stats_json_times(o, OP_STATS_JSON_WAIT, t->wait ? t->wait : &none);
}

static void add_row(struct json_out *o, const struct op_stats_row *row, bool shared)
{
    json_out_object(o);
    if (shared)
        json_out_key_bool(o, STR("aggregate"), true);
    else
        op_stats_json_name(o, row);
    op_stats_json_counts(o, row);
    add_times(o, row);
    op_stats_json_context(o, row);
    json_out_end_object(o);
}

static void add_server(struct json_out *o, const struct server_stats *s,
                       const struct server_stats_server *server, bool shared)
{
    struct server_stats_rows rows = server_stats_rows_of(s, server);

    json_out_object(o);
    if (shared) {
        json_out_key_bool(o, STR("aggregate"), true);
    } else {
        json_out_key_str_or_null(o, STR("name"), server->name);
        json_out_key_str_or_null(o, STR("version"), server->version);
        json_out_key_str_or_null(o, STR("upstream"), server->upstream);
    }
    key_count(o, STR("recordings"), server->recordings);
    key_count(o, STR("calls"), server->calls);
    key_count(o, STR("errors"), server->errors);
    key_count(o, STR("tools"), server->tools);
    key_count(o, STR("definition_bytes"), server->definition_bytes);
    key_count(o, STR("definition_estimated_tokens"),
              mcp_context_tokens(server->definition_bytes));
    json_out_key(o, STR("operations"));
    json_out_array(o);
    for (size_t i = 0; i < rows.count; i++)
        add_row(o, rows.at[i], false);
    json_out_end_array(o);
    json_out_end_object(o);
}

static void add_servers(struct json_out *o, const struct server_stats *s)
{
    json_out_key(o, STR("servers"));
    json_out_array(o);
    for (size_t i = 0; i < s->servers.count; i++)
        add_server(o, s, s->servers.rows[i], false);
    if (s->servers.overflow)
        add_server(o, s, s->servers.overflow, true);
    json_out_end_array(o);
}

static void add_files(struct json_out *o, const struct server_stats_files *f)
{
    json_out_key(o, STR("files"));
    json_out_object(o);
    key_count(o, STR("read"), f->read);
    key_count(o, STR("bytes"), f->bytes);
    key_count(o, STR("notes"), f->notes);
    key_count(o, STR("other"), f->other);
    key_count(o, STR("failed"), f->failed);
    json_out_end_object(o);
    json_out_key(o, STR("failures"));
    json_out_array(o);
    for (size_t i = 0; i < f->failed && i < SERVER_STATS_FILES_FAILURES; i++) {
        json_out_object(o);
        json_out_key_str(o, STR("path"), f->failures[i].path);
        json_out_key_str(o, STR("error"), f->failures[i].error);
        json_out_end_object(o);
    }
    json_out_end_array(o);
}

void server_stats_json_write(struct buf *to, const struct server_stats_files *files)
{
    const struct server_stats *s = files->stats;
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&o, STR("command"), STR("stats"));
    add_files(&o, files);
    key_count(&o, STR("recordings"), s->recordings);
    key_count(&o, STR("evicted"), s->evicted);
    add_servers(&o, s);
    json_out_key(&o, STR("others"));
    if (s->calls.rows.overflow)
        add_row(&o, s->calls.rows.overflow, true);
    else
        json_out_null(&o);
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}
