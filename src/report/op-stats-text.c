#include "report/op-stats-text.h"

#include "base/clock.h"
#include "base/term.h"
#include "base/text-wrap.h"
#include "base/units.h"
#include "mcp/context-cost.h"

void op_stats_text_name(struct buf *to, const struct op_stats_row *row, int columns)
{
    struct buf name;
    size_t from = to->len;

    buf_init(&name, 4 * OP_STATS_TEXT);
    buf_add(&name, row->method);
    if (row->subject.len)
        buf_add_ch(&name, ' ');
    buf_add(&name, row->subject);
    term_escape_cut(to, buf_str(&name), (size_t)columns);
    buf_printf(to, "%*s",
               columns - (int)text_wrap_columns(str_n(to->at + from, to->len - from)), "");
    buf_release(&name);
}

static void add_time(struct buf *to, uint64_t us)
{
    char text[CLOCK_TEXT_SIZE];
    struct str duration = clock_format_duration(text, (int64_t)us);

    buf_printf(to, " %*.*s", OP_STATS_TEXT_TIME - 1, STR_ARG(duration));
}

void op_stats_text_times(struct buf *to, const struct histogram *h)
{
    if (!h)
        return;
    add_time(to, histogram_quantile(h, 50));
    add_time(to, histogram_quantile(h, 95));
    add_time(to, h->max);
}

void op_stats_text_kind(struct buf *to, const char **before, uint64_t n, const char *one,
                        const char *many)
{
    if (!n)
        return;
    buf_add(to, str_z(*before));
    units_write_count(to, n, one, many);
    *before = ", ";
}

void op_stats_text_outcome(struct buf *to, const char **before, enum operation_outcome outcome,
                           uint64_t n)
{
    static const struct {
        const char *one, *many;
    } words[OUTCOME_COUNT] = {
        [OUTCOME_NONE] = { "not a request", "not requests" },
        [OUTCOME_OK] = { "ok", "ok" },
        [OUTCOME_RPC_ERROR] = { "rpc error", "rpc errors" },
        [OUTCOME_TOOL_ERROR] = { "tool error", "tool errors" },
        [OUTCOME_HTTP_ERROR] = { "http error", "http errors" },
        [OUTCOME_MALFORMED] = { "malformed", "malformed" },
        [OUTCOME_PENDING] = { "pending", "pending" },
        [OUTCOME_CANCELLED] = { "cancelled", "cancelled" },
        [OUTCOME_LATE] = { "late", "late" },
        [OUTCOME_SERVER_EXITED] = { "server exited", "server exited" },
    };

    op_stats_text_kind(to, before, n, words[outcome].one, words[outcome].many);
}

void op_stats_text_bytes(struct buf *to, uint64_t bytes)
{
    struct buf text;

    buf_init(&text, 64);
    units_write_bytes(&text, bytes);
    buf_printf(to, " %*.*s", OP_STATS_TEXT_BYTES - 1, STR_ARG(buf_str(&text)));
    buf_release(&text);
}

/* The context table. */

enum { COUNT = 7, RESULTS = 8, BYTES = OP_STATS_TEXT_BYTES }; /* columns */

/* Definitions and results reach a model; the rest of a message does not. */
static bool has_context_cost(const struct op_stats_row *row)
{
    return row->dir == TO_SERVER && row->subject.len && (row->listings || row->results);
}

static void add_context_heading(struct buf *to, const struct op_stats_text_context *page)
{
    buf_add_ch(to, '\n');
    term_style(to, page->color, TERM_BOLD);
    buf_printf(to, "%-*s", page->name_columns, "Context (tokens are estimated)");
    term_style(to, page->color, TERM_PLAIN);
    buf_printf(to, "%*s%*s%*s%*s%*s%*s\n", BYTES, "defined", COUNT, "tokens", RESULTS,
               "results", BYTES, "bytes", BYTES, "tokens", BYTES, "largest");
}

static void add_context_row(struct buf *to, const struct op_stats_row *row, int name_columns)
{
    op_stats_text_name(to, row, name_columns);
    if (row->listings) {
        op_stats_text_bytes(to, row->definition_max);
        buf_printf(to, " %*llu", COUNT - 1,
                   (unsigned long long)mcp_context_tokens(row->definition_max));
    } else if (row->results) {
        buf_printf(to, "%*s", BYTES + COUNT, "");
    }
    if (row->results) {
        buf_printf(to, " %*llu", RESULTS - 1, (unsigned long long)row->results);
        op_stats_text_bytes(to, row->result_bytes);
        buf_printf(to, " %*llu", BYTES - 1,
                   (unsigned long long)mcp_context_tokens(row->result_bytes));
        op_stats_text_bytes(to, row->result_max);
    }
    buf_add_ch(to, '\n');
}

size_t op_stats_text_context(struct buf *to, const struct op_stats_text_context *page,
                             const struct op_stats_row *const *rows, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (!has_context_cost(rows[i]))
            continue;
        if (!n)
            add_context_heading(to, page);
        if (!page->max_rows || n < page->max_rows)
            add_context_row(to, rows[i], page->name_columns);
        n++;
    }
    return n;
}
