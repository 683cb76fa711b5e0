#include "report/server-stats-text.h"

#include "base/term.h"
#include "base/units.h"
#include "mcp/context-cost.h"
#include "report/op-stats-text.h"

/* Columns. */
enum { NAME = 34, NUMBER = 7, TITLE = 160 };

struct stats_page {
    struct buf *to;
    const struct server_stats *stats;
    size_t max_rows;
    bool color;
};

static void add_number(const struct stats_page *p, uint64_t n)
{
    buf_printf(p->to, " %*llu", NUMBER - 1, (unsigned long long)n);
}

static void add_errors(const struct stats_page *p, uint64_t errors)
{
    term_style(p->to, p->color && errors, TERM_RED);
    add_number(p, errors);
    term_style(p->to, p->color && errors, TERM_PLAIN);
}

/* "  2 tool errors, 1 pending": all outcomes other than success. */
static void add_outcomes(const struct stats_page *p, const struct op_stats_row *row)
{
    const char *before = "  ";

    for (enum operation_outcome outcome = OUTCOME_RPC_ERROR; outcome < OUTCOME_COUNT; outcome++)
        op_stats_text_outcome(p->to, &before, outcome, row->outcomes[outcome]);
    if (before[0] == ',')
        buf_add_ch(p->to, '\n');
}

static void add_cells(const struct stats_page *p, const struct op_stats_row *row,
                      const struct histogram *times)
{
    size_t from;

    add_number(p, row->calls);
    add_errors(p, op_stats_errors(row));
    from = p->to->len;
    op_stats_text_times(p->to, times);
    if (p->to->len == from)
        buf_printf(p->to, "%*s", 3 * OP_STATS_TEXT_TIME, "");
    op_stats_text_bytes(p->to, row->bytes);
    buf_add_ch(p->to, '\n');
}

static void add_row(const struct stats_page *p, const struct op_stats_row *row)
{
    const struct op_stats_times *t = &row->times;

    op_stats_text_name(p->to, row, NAME);
    add_cells(p, row, t->server ? t->server : t->total);
    if (t->wait) {
        buf_printf(p->to, "  %-*s", NAME - 2 + 2 * NUMBER, "waiting for the client");
        op_stats_text_times(p->to, t->wait);
        buf_add_ch(p->to, '\n');
    }
    add_outcomes(p, row);
}

static void add_heading(const struct stats_page *p, const char *title)
{
    buf_add_ch(p->to, '\n');
    term_style(p->to, p->color, TERM_BOLD);
    buf_printf(p->to, "%-*s", NAME, title);
    term_style(p->to, p->color, TERM_PLAIN);
}

static bool is_called_by(const struct op_stats_row *row, enum record_dir dir)
{
    return row->dir == dir && row->calls;
}

static void add_rest(const struct stats_page *p, size_t shown)
{
    if (p->max_rows && shown > p->max_rows)
        buf_printf(p->to, "and %zu more; -n 0 shows all\n", shown - p->max_rows);
}

static bool is_shown(const struct stats_page *p, size_t index)
{
    return !p->max_rows || index < p->max_rows;
}

static void add_calls(const struct stats_page *p, struct server_stats_rows rows,
                      enum record_dir dir, const char *title)
{
    size_t n = 0;

    for (size_t i = 0; i < rows.count; i++) {
        if (!is_called_by(rows.at[i], dir))
            continue;
        if (!n) {
            add_heading(p, title);
            buf_printf(p->to, "%*s%*s%*s%*s%*s%*s\n", NUMBER, "calls", NUMBER, "errors",
                       OP_STATS_TEXT_TIME, "p50", OP_STATS_TEXT_TIME, "p95", OP_STATS_TEXT_TIME,
                       "max", OP_STATS_TEXT_BYTES, "bytes");
        }
        if (is_shown(p, n++))
            add_row(p, rows.at[i]);
    }
    add_rest(p, n);
}

static void add_costs(const struct stats_page *p, struct server_stats_rows rows)
{
    const struct op_stats_text_context page = { NAME, p->max_rows, p->color };

    add_rest(p, op_stats_text_context(p->to, &page, rows.at, rows.count));
}

static void add_server_name(const struct stats_page *p,
                            const struct server_stats_server *server)
{
    term_style(p->to, p->color, TERM_BOLD);
    if (server == p->stats->servers.overflow)
        buf_add(p->to, STR("other servers"));
    else if (server->name.len)
        term_escape_cut(p->to, server->name, TITLE);
    else if (server->upstream.len)
        term_escape_cut(p->to, server->upstream, TITLE);
    else
        buf_add(p->to, STR("unknown server"));
    if (server->version.len) {
        buf_add_ch(p->to, ' ');
        term_escape_cut(p->to, server->version, TITLE);
    }
    term_style(p->to, p->color, TERM_PLAIN);
}

static void add_server(const struct stats_page *p, const struct server_stats_server *server)
{
    struct server_stats_rows rows = server_stats_rows_of(p->stats, server);
    const char *before = ", ";

    buf_add_ch(p->to, '\n');
    add_server_name(p, server);
    buf_add(p->to, STR(": "));
    units_write_count(p->to, server->recordings, "recording", "recordings");
    buf_add(p->to, STR(", "));
    units_write_count(p->to, server->calls, "call", "calls");
    op_stats_text_kind(p->to, &before, server->errors, "error", "errors");
    buf_add_ch(p->to, '\n');
    if (server->tools) {
        units_write_count(p->to, server->tools, "tool", "tools");
        buf_add(p->to, STR(" listed: definitions of "));
        units_write_bytes(p->to, server->definition_bytes);
        buf_printf(p->to, ", about %llu tokens\n",
                   (unsigned long long)mcp_context_tokens(server->definition_bytes));
    }
    add_calls(p, rows, TO_SERVER, "Requests from the client");
    add_calls(p, rows, TO_CLIENT, "Requests from the server");
    add_costs(p, rows);
}

static void add_summary(const struct stats_page *p, const struct server_stats_files *f)
{
    const char *before = "; ";
    size_t servers = p->stats->servers.count;

    units_write_count(p->to, p->stats->recordings, "recording", "recordings");
    buf_add(p->to, STR(" in "));
    units_write_count(p->to, f->read, "file", "files");
    buf_add(p->to, STR(" ("));
    units_write_bytes(p->to, f->bytes);
    buf_printf(p->to, "), %s", p->stats->servers.overflow ? "more than " : "");
    units_write_count(p->to, servers, "server", "servers");
    op_stats_text_kind(p->to, &before, f->failed, "file could not be read",
                       "files could not be read");
    op_stats_text_kind(p->to, &before, f->notes, "warning, see 'mcpreel check'",
                       "warnings, see 'mcpreel check'");
    op_stats_text_kind(p->to, &before, f->other, "other file", "other files");
    op_stats_text_kind(p->to, &before, p->stats->evicted,
                       "operation was not followed to its end",
                       "operations were not followed to their end");
    buf_add_ch(p->to, '\n');
}

void server_stats_text_write(struct buf *to, const struct server_stats_files *files,
                             size_t max_rows, bool color)
{
    const struct server_stats *s = files->stats;
    const struct stats_page p = { to, s, max_rows, color };
    const struct op_stats_row *others = s->calls.rows.overflow;

    add_summary(&p, files);
    for (size_t i = 0; i < s->servers.count; i++)
        add_server(&p, s->servers.rows[i]);
    if (s->servers.overflow)
        add_server(&p, s->servers.overflow);
    if (others) {
        buf_printf(to, "\n%-*s", NAME, "All other names together");
        add_cells(&p, others,
                  others->times.server ? others->times.server : others->times.total);
    }
}
