#include "report/op-stats-text.h"

#include "base/clock.h"
#include "base/term.h"
#include "base/text-wrap.h"
#include "base/units.h"

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
