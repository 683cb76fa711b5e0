#include "report/inspect-text.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/term.h"
#include "base/text-wrap.h"
#include "base/units.h"
#include "mcp/context-cost.h"
#include "mcp/error-code.h"
#include "report/findings.h"
#include "report/op-stats-text.h"

enum {
    LABEL = 11,     /* columns */
    NAME = 36,      /* of the name of an operation */
    NUMBER = 7,     /* of a count beside it */
    WORD = 30,      /* of a name in running text */
    SENTENCE = 160, /* of a finding */
    SHOWN_OPERATIONS = 16,
    SHOWN_SESSIONS = 5,
    SHOWN_NAMES = 8,
};

struct inspect_page {
    struct buf *to;
    const struct stats *stats;
    bool color;
};

static void add_styled(const struct inspect_page *p, enum term_style style, const char *text)
{
    term_style(p->to, p->color, style);
    buf_add(p->to, str_z(text));
    term_style(p->to, p->color, TERM_PLAIN);
}

static void add_label(const struct inspect_page *p, const char *name)
{
    add_styled(p, TERM_BOLD, name);
    buf_printf(p->to, "%*s", LABEL - (int)text_wrap_columns(str_z(name)), "");
}

static void add_heading(const struct inspect_page *p, const char *name)
{
    buf_add_ch(p->to, '\n');
    add_label(p, name);
}

static void add_word(const struct inspect_page *p, struct str text)
{
    term_escape_cut(p->to, text, WORD);
}

static void add_peer(const struct inspect_page *p, const struct stats_peer *peer)
{
    if (!peer->name.len) {
        buf_add(p->to, STR("unknown"));
        return;
    }
    add_word(p, peer->name);
    if (peer->version.len) {
        buf_add_ch(p->to, ' ');
        add_word(p, peer->version);
    }
}

static void add_duration(const struct inspect_page *p, int64_t us)
{
    char text[CLOCK_TEXT_SIZE];

    buf_add(p->to, clock_format_duration(text, us));
}

static void add_title(const struct inspect_page *p, const struct inspect_file *file)
{
    term_style(p->to, p->color, TERM_BOLD);
    term_escape(p->to, str_z(file->path), TERM_ONE_LINE);
    term_style(p->to, p->color, TERM_PLAIN);
    buf_printf(p->to, ": %s", file->format);
    if (p->stats->header.version.len) {
        buf_add_ch(p->to, ' ');
        add_word(p, p->stats->header.version);
    }
    buf_add(p->to, STR(", "));
    units_write_bytes(p->to, file->bytes);
    buf_add(p->to, STR("\n\n"));
}

static void add_upstream(const struct inspect_page *p, const struct stats_header *h)
{
    if (h->upstream.len) {
        add_label(p, str_eq(h->transport, STR("http")) ? "Address" : "Command");
        term_escape_cut(p->to, h->upstream, SENTENCE);
        if (h->transport.len)
            buf_add(p->to, STR(" ("));
    } else if (h->transport.len) {
        add_label(p, "Transport");
    }
    add_word(p, h->transport);
    if (h->upstream.len && h->transport.len)
        buf_add_ch(p->to, ')');
    if (h->upstream.len || h->transport.len)
        buf_add_ch(p->to, '\n');
}

static void add_header(const struct inspect_page *p)
{
    const struct stats_header *h = &p->stats->header;
    char text[CLOCK_TEXT_SIZE];

    if (!h->present)
        return;
    if (h->name.len) {
        add_label(p, "Name");
        term_escape_cut(p->to, h->name, SENTENCE);
        buf_add_ch(p->to, '\n');
    }
    if (h->has_date || h->producer.name.len)
        add_label(p, "Recorded");
    if (h->has_date)
        buf_add(p->to, clock_format(text, h->recorded_us));
    if (h->producer.name.len) {
        buf_add(p->to, h->has_date ? STR(" by ") : STR("by "));
        add_peer(p, &h->producer);
    }
    if (h->has_date || h->producer.name.len)
        buf_add_ch(p->to, '\n');
    add_upstream(p, h);
}

static void add_session(const struct inspect_page *p, size_t index)
{
    const struct stats_session *session = &p->stats->sessions[index];

    buf_printf(p->to, "%*s%zu: ", LABEL, "", index + 1);
    add_peer(p, &session->client);
    buf_add(p->to, STR(" -> "));
    add_peer(p, &session->server);
    buf_add(p->to, STR(", "));
    units_write_count(p->to, session->messages, "message", "messages");
    if (session->errors) {
        buf_add(p->to, STR(", "));
        units_write_count(p->to, session->errors, "error", "errors");
    }
    if (p->stats->has_times) {
        buf_add(p->to, STR(", "));
        add_duration(p, session->last_us - session->first_us);
    }
    buf_add_ch(p->to, '\n');
}

static void add_sessions(const struct inspect_page *p)
{
    uint64_t count = p->stats->session_count;

    if (!count)
        return;
    add_label(p, "Sessions");
    buf_printf(p->to, "%llu\n", (unsigned long long)count);
    for (size_t i = 0; count > 1 && i < count && i < SHOWN_SESSIONS; i++)
        add_session(p, i);
    if (count > SHOWN_SESSIONS)
        buf_printf(p->to, "%*sand %llu more\n", LABEL, "",
                   (unsigned long long)count - SHOWN_SESSIONS);
}

static uint64_t count_sent(const struct stats *s, enum record_dir dir)
{
    uint64_t n = 0;

    for (size_t kind = 0; kind < STATS_MESSAGE_KINDS; kind++)
        n += s->messages[dir][kind];
    return n;
}

static void add_sent(const struct inspect_page *p, enum record_dir dir)
{
    const uint64_t *kinds = p->stats->messages[dir];
    const char *before = ": ";

    buf_printf(p->to, "%*s%llu from the %s", LABEL, "",
               (unsigned long long)count_sent(p->stats, dir),
               dir == TO_SERVER ? "client" : "server");
    op_stats_text_kind(p->to, &before, kinds[MCP_REQUEST], "request", "requests");
    op_stats_text_kind(p->to, &before, kinds[MCP_RESULT], "result", "results");
    op_stats_text_kind(p->to, &before, kinds[MCP_ERROR], "error", "errors");
    op_stats_text_kind(p->to, &before, kinds[MCP_NOTIFICATION], "notification",
                       "notifications");
    buf_add_ch(p->to, '\n');
}

/* Writes the number of operations that `show` lists and their outcomes; children of other
 * operations are counted apart. */
static void add_outcomes(const struct inspect_page *p)
{
    const char *before = ": ";

    add_label(p, "Operations");
    buf_printf(p->to, "%llu", (unsigned long long)p->stats->op_stats.count);
    if (p->stats->op_stats.continuations)
        buf_printf(p->to, ", %llu of them part of others",
                   (unsigned long long)p->stats->op_stats.continuations);
    for (enum operation_outcome i = 0; i < OUTCOME_COUNT; i++) {
        enum operation_outcome outcome = (i + 1) % OUTCOME_COUNT; /* OUTCOME_NONE comes last */
        op_stats_text_outcome(p->to, &before, outcome, p->stats->op_stats.outcomes[outcome]);
    }
    buf_add_ch(p->to, '\n');
}

static void add_traffic(const struct inspect_page *p)
{
    const struct stats *s = p->stats;
    uint64_t messages = count_sent(s, TO_SERVER) + count_sent(s, TO_CLIENT);

    if (s->client.name.len) {
        add_label(p, "Client");
        add_peer(p, &s->client);
        buf_add_ch(p->to, '\n');
    }
    if (s->server.name.len) {
        add_label(p, "Server");
        add_peer(p, &s->server);
        buf_add_ch(p->to, '\n');
    }
    if (s->protocol.len) {
        add_label(p, "Protocol");
        add_word(p, s->protocol);
        buf_add_ch(p->to, '\n');
    }
    if (s->has_times) {
        add_label(p, "Duration");
        add_duration(p, s->duration_us);
        buf_add_ch(p->to, '\n');
    }
    add_sessions(p);
    add_label(p, "Messages");
    buf_printf(p->to, "%llu\n", (unsigned long long)messages);
    if (messages) {
        add_sent(p, TO_SERVER);
        add_sent(p, TO_CLIENT);
    }
    if (s->op_stats.count)
        add_outcomes(p);
    if (s->stderr_lines) {
        add_label(p, "Stderr");
        units_write_count(p->to, s->stderr_lines, "line", "lines");
        buf_add_ch(p->to, '\n');
    }
}

static int compare_calls(const void *a, const void *b)
{
    const struct op_stats_row *const *x = a, *const *y = b;
    uint64_t m = (*x)->calls, n = (*y)->calls;

    if (m != n)
        return m > n ? -1 : 1;
    return (*x)->first < (*y)->first ? -1 : 1;
}

/* Sorts the operations of one direction by calls. Returns their number. */
static size_t rank_operations(const struct stats *s, enum record_dir dir,
                              const struct op_stats_row *out[OP_STATS_ROWS])
{
    const struct capped_table *rows = &s->op_stats.rows;
    size_t n = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct op_stats_row *row = rows->rows[i];
        if (row->dir == dir)
            out[n++] = row;
    }
    qsort(out, n, sizeof *out, compare_calls);
    return n;
}

static void add_numbers(const struct inspect_page *p, uint64_t calls, uint64_t errors)
{
    buf_printf(p->to, "%*llu", NUMBER, (unsigned long long)calls);
    term_style(p->to, p->color && errors, TERM_RED);
    buf_printf(p->to, "%*llu", NUMBER, (unsigned long long)errors);
    term_style(p->to, p->color && errors, TERM_PLAIN);
}

static void add_time_share(const struct inspect_page *p, const char *name,
                           const struct histogram *h)
{
    if (!h)
        return;
    buf_printf(p->to, "  %-*s", NAME - 2 + 2 * NUMBER, name);
    op_stats_text_times(p->to, h);
    buf_add_ch(p->to, '\n');
}

/* Writes the retries, task requests and pages of the calls of a row. */
static void add_sequels(const struct inspect_page *p, const struct op_stats_row *row)
{
    const char *before = "  with ";

    op_stats_text_kind(p->to, &before, row->retries, "retry", "retries");
    op_stats_text_kind(p->to, &before, row->polls, "task request", "task requests");
    op_stats_text_kind(p->to, &before, row->pages, "further page", "further pages");
    if (row->retries || row->polls || row->pages)
        buf_add_ch(p->to, '\n');
}

static void add_operation(const struct inspect_page *p, const struct op_stats_row *row)
{
    op_stats_text_name(p->to, row, NAME);
    add_numbers(p, row->calls, op_stats_errors(row));
    op_stats_text_times(p->to, row->times.total);
    buf_add_ch(p->to, '\n');
    add_time_share(p, "server time", row->times.server);
    add_time_share(p, "waiting for the client", row->times.wait);
    add_sequels(p, row);
}

static void add_more_operations(const struct inspect_page *p,
                                const struct op_stats_row *const *rest, size_t count,
                                const struct op_stats_row *others)
{
    uint64_t calls = others ? others->calls : 0;
    uint64_t errors = others ? op_stats_errors(others) : 0;
    size_t from = p->to->len;

    if (!count && !others)
        return;
    for (size_t i = 0; i < count; i++) {
        calls += rest[i]->calls;
        errors += op_stats_errors(rest[i]);
    }
    buf_printf(p->to, others ? "and more than %zu others" : "and %zu more", count);
    buf_printf(p->to, "%*s", NAME - (int)(p->to->len - from), "");
    add_numbers(p, calls, errors);
    buf_add_ch(p->to, '\n');
}

static void add_operations(const struct inspect_page *p, enum record_dir dir, const char *title)
{
    const struct op_stats_row *rows[OP_STATS_ROWS];
    const struct op_stats_row *others =
        dir == TO_SERVER ? p->stats->op_stats.rows.overflow : NULL;
    size_t n = rank_operations(p->stats, dir, rows),
           shown = n < SHOWN_OPERATIONS ? n : SHOWN_OPERATIONS;

    if (!n)
        return;
    buf_add_ch(p->to, '\n');
    term_style(p->to, p->color, TERM_BOLD);
    buf_printf(p->to, "%-*s", NAME, title);
    term_style(p->to, p->color, TERM_PLAIN);
    buf_printf(p->to, "%*s%*s%*s%*s%*s\n", NUMBER, "calls", NUMBER, "errors",
               OP_STATS_TEXT_TIME, "p50", OP_STATS_TEXT_TIME, "p95", OP_STATS_TEXT_TIME, "max");
    for (size_t i = 0; i < shown; i++)
        add_operation(p, rows[i]);
    add_more_operations(p, rows + shown, n - shown, others);
}

static void add_notifications(const struct inspect_page *p)
{
    const struct capped_table *rows = &p->stats->notifications;
    size_t shown = rows->count < SHOWN_NAMES ? rows->count : SHOWN_NAMES;

    if (!rows->count)
        return;
    add_heading(p, "Notified");
    for (size_t i = 0; i < shown; i++) {
        const struct stats_notification *n = rows->rows[i];
        if (i)
            buf_printf(p->to, "%*s", LABEL, "");
        term_escape_cut(p->to, n->method, NAME);
        buf_printf(p->to, " (%s) %llu\n", n->dir == TO_SERVER ? "client" : "server",
                   (unsigned long long)n->count);
    }
    if (rows->count > shown)
        buf_printf(p->to, "%*sand %zu %s\n", LABEL, "", rows->count - shown,
                   rows->overflow ? "or more others" : "more");
}

static void add_uncalled_tools(const struct inspect_page *p)
{
    const struct capped_table *rows = &p->stats->tools;
    size_t unused = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct stats_tool *tool = rows->rows[i];
        if (!tool->advertised || tool->calls || unused++ >= SHOWN_NAMES)
            continue;
        buf_add(p->to, unused > 1 ? STR(", ") : STR("; never called: "));
        add_word(p, tool->name);
    }
    if (unused > SHOWN_NAMES)
        buf_printf(p->to, " and %zu more", unused - SHOWN_NAMES);
}

static void add_tools(const struct inspect_page *p)
{
    const struct capped_table *rows = &p->stats->tools;
    uint64_t definitions = stats_definition_bytes(p->stats);
    size_t advertised = 0, called = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct stats_tool *tool = rows->rows[i];
        advertised += tool->advertised;
        called += tool->calls > 0;
    }
    if (!rows->count)
        return;
    add_heading(p, "Tools");
    if (rows->overflow)
        buf_printf(p->to, "of the first %zu names ", rows->count);
    if (p->stats->tools_listed)
        buf_printf(p->to, "%zu advertised, %zu called", advertised, called);
    else
        buf_printf(p->to, "%zu called, no tools/list", called);
    add_uncalled_tools(p);
    buf_add_ch(p->to, '\n');
    if (!p->stats->tools_listed)
        return;
    buf_printf(p->to, "%*sdefinitions of ", LABEL, "");
    units_write_bytes(p->to, definitions);
    buf_printf(p->to, ", about %llu tokens\n",
               (unsigned long long)mcp_context_tokens(definitions));
}

static const struct stats_tool *find_listed_tool(const struct stats *s, struct str name)
{
    for (size_t i = 0; i < s->tools.count; i++) {
        const struct stats_tool *tool = s->tools.rows[i];
        if (tool->advertised && str_eq(tool->name, name))
            return tool;
    }
    return NULL;
}

static bool is_tool_call(const struct op_stats_row *row)
{
    return row->dir == TO_SERVER && str_eq(row->method, STR("tools/call"));
}

static void set_definition(struct op_stats_row *row, const struct stats_tool *tool)
{
    row->listings = 1;
    row->definition_max = tool->definition_bytes;
}

/* A listed tool without a row of its own was never called: its definition reaches the model,
 * too.
 */
static bool has_row(const struct op_stats_row *rows, size_t count, struct str tool)
{
    for (size_t i = 0; i < count; i++)
        if (is_tool_call(&rows[i]) && str_eq(rows[i].subject, tool))
            return true;
    return false;
}

/* Fills `rows`: those of all calls, and of tools that were not called. Returns their number. */
static size_t collect_context(const struct stats *s, struct op_stats_row *rows)
{
    size_t calls = s->op_stats.rows.count, n = calls;

    for (size_t i = 0; i < calls; i++) {
        const struct op_stats_row *row = s->op_stats.rows.rows[i];
        const struct stats_tool *tool =
            is_tool_call(row) ? find_listed_tool(s, row->subject) : NULL;

        rows[i] = *row;
        if (tool)
            set_definition(&rows[i], tool);
    }
    for (size_t i = 0; i < s->tools.count; i++) {
        const struct stats_tool *tool = s->tools.rows[i];

        if (!tool->advertised || has_row(rows, calls, tool->name))
            continue;
        rows[n] = (struct op_stats_row){ .dir = TO_SERVER,
                                         .method = STR("tools/call"),
                                         .subject = tool->name };
        set_definition(&rows[n++], tool);
    }
    return n;
}

static int compare_costs(const void *a, const void *b)
{
    const struct op_stats_row *const *x = a, *const *y = b;
    uint64_t m = (*x)->definition_max + (*x)->result_bytes,
             n = (*y)->definition_max + (*y)->result_bytes;

    if (m != n)
        return m > n ? -1 : 1;
    return *x < *y ? -1 : 1;
}

/* The largest come first. */
static void add_context(const struct inspect_page *p)
{
    const struct op_stats_text_context page = { NAME, SHOWN_OPERATIONS, p->color };
    size_t max = p->stats->op_stats.rows.count + p->stats->tools.count, n;
    struct op_stats_row *rows = mem_alloc((max + 1) * sizeof *rows);
    const struct op_stats_row **ranked = mem_alloc((max + 1) * sizeof *ranked);

    max = collect_context(p->stats, rows);
    for (size_t i = 0; i < max; i++)
        ranked[i] = &rows[i];
    qsort(ranked, max, sizeof *ranked, compare_costs);
    n = op_stats_text_context(p->to, &page, ranked, max);
    if (n > SHOWN_OPERATIONS)
        buf_printf(p->to, "and %zu more\n", n - SHOWN_OPERATIONS);
    free(ranked);
    free(rows);
}

/* Starts a line below the heading; the count and its unit are red. */
static void add_count(const struct inspect_page *p, bool *any, uint64_t n, const char *one,
                      const char *many)
{
    if (*any)
        buf_printf(p->to, "\n%*s", LABEL, "");
    *any = true;
    term_style(p->to, p->color, TERM_RED);
    units_write_count(p->to, n, one, many);
    term_style(p->to, p->color, TERM_PLAIN);
}

static void add_code(const struct inspect_page *p, bool *any, const struct stats_code *row)
{
    add_count(p, any, row->count, "rpc error", "rpc errors");
    if (row->is_integer)
        buf_printf(p->to, " %lld", (long long)row->code);
    else
        buf_add(p->to, STR(" without a code"));
    if (row->is_integer && mcp_error_code_name(row->code).len)
        buf_printf(p->to, " %.*s", STR_ARG(mcp_error_code_name(row->code)));
    buf_printf(p->to, " from the %s", row->dir == TO_CLIENT ? "server" : "client");
}

static void add_codes(const struct inspect_page *p, bool *any)
{
    const struct capped_table *rows = &p->stats->codes;
    size_t shown = rows->count < SHOWN_NAMES ? rows->count : SHOWN_NAMES;

    for (size_t i = 0; i < shown; i++)
        add_code(p, any, rows->rows[i]);
    if (rows->count > shown)
        buf_printf(p->to, "\n%*sand %zu %s", LABEL, "", rows->count - shown,
                   rows->overflow ? "or more other codes" : "more codes");
}

static void add_errors(const struct inspect_page *p)
{
    const struct stats *s = p->stats;
    bool any = false;

    add_heading(p, "Errors");
    if (s->tool_errors)
        add_count(p, &any, s->tool_errors, "tool error", "tool errors");
    add_codes(p, &any);
    if (s->http_errors)
        add_count(p, &any, s->http_errors, "HTTP status of 400 or more",
                  "HTTP statuses of 400 or more");
    if (s->op_stats.unanswered)
        add_count(p, &any, s->op_stats.unanswered, "request without a response",
                  "requests without a response");
    if (s->op_stats.cancelled)
        add_count(p, &any, s->op_stats.cancelled, "cancelled request", "cancelled requests");
    buf_add(p->to, any ? STR("\n") : STR("none\n"));
}

static void add_findings(const struct inspect_page *p)
{
    struct finding_list found;

    add_heading(p, "Findings");
    finding_list_init(&found);
    findings_collect(&found, p->stats, NULL);
    for (size_t i = 0; i < found.count; i++) {
        if (i)
            buf_printf(p->to, "%*s", LABEL, "");
        term_style(p->to, p->color, TERM_YELLOW);
        term_escape_cut(p->to, found.at[i].message, SENTENCE);
        term_style(p->to, p->color, TERM_PLAIN);
        buf_add_ch(p->to, '\n');
    }
    if (!found.count) {
        add_styled(p, TERM_GREEN, "none");
        buf_add_ch(p->to, '\n');
    }
    finding_list_release(&found);
}

void inspect_text_write(struct buf *to, const struct stats *s, const struct inspect_file *file,
                        bool color)
{
    const struct inspect_page p = { to, s, color };

    add_title(&p, file);
    add_header(&p);
    add_traffic(&p);
    add_operations(&p, TO_SERVER, "Requests from the client");
    add_operations(&p, TO_CLIENT, "Requests from the server");
    add_context(&p);
    add_notifications(&p);
    add_tools(&p);
    add_errors(&p);
    add_findings(&p);
}
