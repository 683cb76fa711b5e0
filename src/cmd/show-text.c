#include "cmd/show-text.h"

#include "base/amount.h"
#include "base/clock.h"
#include "base/term.h"
#include "cmd/prose.h"
#include "mcp/code.h"
#include "mcp/message.h"

enum {
    NUMBER = 6, /* columns */
    TIME = 11,
    FROM = 8,
    ROLE = 10,
    NAME = 42,
    OUTCOME = 13,
    TOOK = 10,
    SIZE = 10,
    EXCERPT = 60,
};

/* Fills up to so many columns with blanks; `from` is where the column starts. */
static void pad(struct buf *to, size_t from, size_t columns)
{
    size_t taken = prose_columns(str_n(to->at + from, to->len - from));

    do
        buf_add_ch(to, ' ');
    while (++taken < columns);
}

/* Seconds since the start; nothing if they are not known. */
static void add_time(struct buf *to, int64_t us)
{
    if (us < 0)
        buf_printf(to, "%*s", TIME, "");
    else
        buf_printf(to, "%*lld.%03lld", TIME - 4, (long long)(us / 1000000),
                   (long long)(us / 1000 % 1000));
}

static const char *sender(enum record_dir dir)
{
    return dir == TO_SERVER ? "client" : "server";
}

static void add_took(struct buf *to, int64_t us)
{
    char text[CLOCK_TEXT];
    struct str took = us < 0 ? STR_NONE : clock_duration(text, us);

    buf_printf(to, "%*.*s", TOOK, STR_ARG(took));
}

static void add_size(struct buf *to, uint64_t bytes)
{
    struct buf size;

    buf_init(&size, 64);
    amount_bytes(&size, bytes);
    buf_printf(to, "%*.*s", SIZE, STR_ARG(buf_str(&size)));
    buf_release(&size);
}

void show_text_operations_head(struct buf *to, bool color)
{
    term_style(to, color, TERM_BOLD);
    buf_printf(to, "%*s%*s  %-*s%-*s %-*s%*s%*s", NUMBER, "#", TIME, "seconds", FROM, "from",
               NAME, "operation", OUTCOME, "outcome", TOOK, "took", SIZE, "size");
    term_style(to, color, TERM_PLAIN);
    buf_add_ch(to, '\n');
}

void show_text_messages_head(struct buf *to, bool color)
{
    term_style(to, color, TERM_BOLD);
    buf_printf(to, "%*s%*s  %-*s%-*s%-*s%*s%*s", NUMBER, "#", TIME, "seconds", FROM, "from",
               ROLE, "what", NAME, "about", TOOK, "took", SIZE, "size");
    term_style(to, color, TERM_PLAIN);
    buf_add_ch(to, '\n');
}

static void add_outcome(struct buf *to, const struct operation *op)
{
    switch (op->outcome) {
    case OUTCOME_RPC_ERROR:
        buf_add(to, STR("rpc "));
        if (op->flags & OP_CODE)
            buf_add_int(to, op->code);
        else
            buf_add(to, STR("error"));
        break;
    case OUTCOME_TOOL_ERROR:
        buf_add(to, STR("tool error"));
        break;
    case OUTCOME_HTTP_ERROR:
        buf_printf(to, "http %llu", (unsigned long long)op->status);
        break;
    case OUTCOME_NONE:
        break;
    default:
        buf_add(to, str_z(operation_outcome_name(op->outcome)));
    }
}

static enum term_style outcome_style(enum operation_outcome outcome)
{
    switch (outcome) {
    case OUTCOME_RPC_ERROR:
    case OUTCOME_HTTP_ERROR:
    case OUTCOME_MALFORMED:
        return TERM_RED;
    case OUTCOME_TOOL_ERROR:
    case OUTCOME_PENDING:
    case OUTCOME_LATE:
        return TERM_YELLOW;
    case OUTCOME_CANCELLED:
        return TERM_DIM;
    default:
        return TERM_PLAIN;
    }
}

static void add_name(struct buf *to, const struct operation *op)
{
    static const char *const names[] = {
        [OPERATION_REQUEST] = "request",
        [OPERATION_BATCH] = "batch",
        [OPERATION_NOTIFICATION] = "notification",
        [OPERATION_ANSWER] = "answer nobody waited for",
        [OPERATION_NOISE] = "no message",
    };

    if (op->link != LINK_NONE && op->link != LINK_BATCH)
        buf_printf(to, "%s: ", operation_link_name(op->link));
    if (!op->method.len)
        buf_add(to, str_z(names[op->kind]));
    buf_add(to, op->method);
    if (op->subject.len)
        buf_add_ch(to, ' ');
    buf_add(to, op->subject);
}

/* What is worth a word besides the columns. */
static void add_notes(struct buf *to, const struct operation *op)
{
    static const unsigned flags[] = { OP_INFERRED,  OP_ORPHAN, OP_DUPLICATE,
                                      OP_ID_REUSED, OP_GAP,    OP_EVICTED };

    if (op->progress.progress.len)
        buf_printf(to, "  progress %.*s%s%.*s", STR_ARG(op->progress.progress),
                   op->progress.total.len ? "/" : "", STR_ARG(op->progress.total));
    if (op->items) {
        buf_add(to, STR("  "));
        amount_of(to, op->items, "item", "items");
    }
    if (op->children[LINK_PAGE])
        buf_printf(to, "  %u pages", op->children[LINK_PAGE] + 1);
    if (op->roles[ROLE_LOG] && op->kind == OPERATION_REQUEST) {
        buf_add(to, STR("  "));
        amount_of(to, op->roles[ROLE_LOG], "log", "logs");
    }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (op->flags & flags[i])
            buf_printf(to, "  %s", operation_flag_name(flags[i]));
    if (op->why.len) {
        buf_add(to, STR("  "));
        term_escape(to, op->why, TERM_ONE_LINE);
    }
}

static void add_duration(struct buf *to, const char *before, int64_t us)
{
    char text[CLOCK_TEXT];

    if (us >= 0)
        buf_printf(to, "%s%.*s", before, STR_ARG(clock_duration(text, us)));
}

/* Whose time it was, if it was not all the server's. What the client is asked is all
 * the client's. */
static void add_shares(struct buf *to, const char *before, const struct operation *op)
{
    if (op->wait_us <= 0 || op->dir != TO_SERVER)
        return;
    buf_add(to, str_z(before));
    add_duration(to, "server ", op->server_us);
    add_duration(to, ", client ", op->wait_us);
}

static void add_columns(struct buf *to, const struct operation *op, bool color)
{
    enum term_style style = outcome_style(op->outcome);
    size_t from, styled;

    term_style(to, color && style != TERM_PLAIN, style);
    from = to->len;
    add_outcome(to, op);
    pad(to, from, OUTCOME);
    term_style(to, color && style != TERM_PLAIN, TERM_PLAIN);
    add_took(to, op->total_us);
    if (op->messages.count)
        add_size(to, op->bytes);
    else /* a batch has none of its own */
        buf_printf(to, "%*s", SIZE, "");
    from = to->len;
    term_style(to, color, TERM_DIM);
    styled = to->len;
    add_shares(to, "  ", op);
    add_notes(to, op);
    if (to->len == styled)
        to->len = from;
    else
        term_style(to, color, TERM_PLAIN);
}

void show_text_operation(struct buf *to, const struct operation *op, bool color)
{
    struct buf name;

    buf_printf(to, "%*llu", NUMBER, (unsigned long long)op->number);
    add_time(to, op->first_us);
    buf_printf(to, "  %-*s\n", FROM, sender(op->dir));
    buf_init(&name, 4 * OPERATION_TEXT);
    add_name(&name, op);
    term_escape_cut(to, buf_str(&name), NAME);
    buf_release(&name);
    buf_add_ch(to, '\n');
    add_columns(to, op, color);
}

void show_text_row(struct buf *to, struct str parts, size_t depth, uint64_t parent)
{
    struct str before = str_cut(&parts, '\n'), name = str_cut(&parts, '\n');
    size_t indent = 2 * (depth < NAME / 4 ? depth : NAME / 4), from;

    buf_add(to, before);
    from = to->len;
    buf_printf(to, "%*s", (int)indent, "");
    term_escape_cut(to, name, NAME - indent);
    pad(to, from, NAME + 1);
    buf_add(to, parts);
    if (parent && !depth)
        buf_printf(to, "  of %llu", (unsigned long long)parent);
    while (to->len && to->at[to->len - 1] == ' ')
        to->len--;
    buf_add_ch(to, '\n');
}

/* "rpc -32602" or "tool error" of an answer; nothing if it is fine. */
static void add_failure(struct buf *to, struct json_val msg)
{
    struct json_val error = json_get(msg, STR("error"));
    int64_t code;

    if (json_int(json_get(error, STR("code")), &code))
        buf_printf(to, "rpc %lld: ", (long long)code);
    else if (json_type(error) == JSON_OBJECT)
        buf_add(to, STR("rpc error: "));
    else if (json_type(json_get(json_get(msg, STR("result")), STR("isError"))) == JSON_TRUE)
        buf_add(to, STR("tool error: "));
}

static struct str own_method(const struct record *r, struct arena *a)
{
    return json_text(json_get(r->message.msg, STR("method")), a);
}

/* What a message is about: for an answer, what was asked. */
static void add_about(struct buf *to, const struct operation_event *ev)
{
    struct arena a = { 0 };
    struct str method = own_method(ev->record, &a);
    const struct operation *op = ev->op;

    add_failure(to, ev->record->message.msg);
    buf_add(to, method.len ? method : op->method);
    if (op->subject.len && (!method.len || str_eq(method, op->method))) {
        buf_add_ch(to, ' ');
        buf_add(to, op->subject);
    }
    arena_release(&a);
}

static void add_start(struct buf *to, uint64_t seq, int64_t us, const char *from,
                      const char *what)
{
    if (seq)
        buf_printf(to, "%*llu", NUMBER, (unsigned long long)seq);
    else
        buf_printf(to, "%*s", NUMBER, "");
    add_time(to, us);
    buf_printf(to, "  %-*s%-*s", FROM, from, ROLE, what);
}

static void add_cut(struct buf *to, struct str text, size_t columns)
{
    size_t from = to->len;

    term_escape_cut(to, text, columns);
    pad(to, from, columns);
}

void show_text_message(struct buf *to, const struct operation_event *ev, int64_t us, bool color)
{
    const struct record *r = ev->record;
    struct buf about;
    bool failed;

    add_start(to, ev->message->seq, us, sender(ev->message->dir),
              operation_role_name(ev->message->role));
    if (r->kind != RECORD_MESSAGE) {
        add_cut(to, r->bytes.bytes, NAME);
        buf_printf(to, "%*s", TOOK, "");
        add_size(to, r->bytes.bytes.len);
        buf_add_ch(to, '\n');
        return;
    }
    buf_init(&about, 4 * OPERATION_TEXT);
    add_about(&about, ev);
    failed = str_starts(buf_str(&about), STR("rpc ")) ||
             str_starts(buf_str(&about), STR("tool error: "));
    term_style(to, color && failed, TERM_RED);
    add_cut(to, buf_str(&about), NAME);
    term_style(to, color && failed, TERM_PLAIN);
    buf_release(&about);
    add_took(to, ev->message->role == ROLE_ANSWER ? ev->op->own_us : -1);
    add_size(to, json_raw(r->message.msg).len);
    buf_add_ch(to, '\n');
}

static void add_http(struct buf *to, const struct record *r)
{
    if (r->kind == RECORD_HTTP_REQUEST)
        buf_printf(to, "%.*s %.*s", STR_ARG(r->http.method), STR_ARG(r->http.path));
    else if (r->kind == RECORD_HTTP_RESPONSE)
        buf_printf(to, "status %llu", (unsigned long long)r->http.status);
    else
        buf_printf(to, "end, by %.*s%s%.*s", STR_ARG(r->http.by), r->http.why.len ? ": " : "",
                   STR_ARG(r->http.why));
}

static void add_record(struct buf *to, const struct record *r)
{
    switch (r->kind) {
    case RECORD_STDERR:
        buf_add(to, str_trim(r->bytes.bytes));
        break;
    case RECORD_PROC:
        buf_add(to, r->proc.event);
        if (r->has & HAS_EXIT_CODE)
            buf_printf(to, " %lld", (long long)r->proc.exit_code);
        if (r->has & HAS_SIGNAL)
            buf_printf(to, " by signal %lld", (long long)r->proc.signal);
        if (r->proc.why.len)
            buf_printf(to, ": %.*s", STR_ARG(r->proc.why));
        break;
    case RECORD_SSE:
        buf_add(to, r->sse.comment.at ? r->sse.comment : r->sse.event);
        break;
    case RECORD_GAP:
        buf_printf(to, "%llu messages are missing: %.*s", (unsigned long long)r->gap.messages,
                   STR_ARG(r->gap.why));
        break;
    default:
        add_http(to, r);
    }
}

void show_text_record(struct buf *to, const struct record *r, int64_t us, bool color)
{
    static const char *const names[] = {
        [RECORD_STDERR] = "stderr",     [RECORD_PROC] = "process",
        [RECORD_HTTP_REQUEST] = "http", [RECORD_HTTP_RESPONSE] = "http",
        [RECORD_HTTP_END] = "http",     [RECORD_SSE] = "sse",
        [RECORD_GAP] = "gap",
    };
    struct buf text;

    buf_init(&text, (size_t)128 << 20);
    add_record(&text, r);
    term_style(to, color, TERM_DIM);
    add_start(to, 0, us, r->kind == RECORD_HTTP_REQUEST ? "client" : "server", names[r->kind]);
    /* What went wrong is worth more than a column. */
    term_escape_cut(to, buf_str(&text), r->kind == RECORD_HTTP_END ? OPERATION_TEXT : EXCERPT);
    term_style(to, color, TERM_PLAIN);
    buf_add_ch(to, '\n');
    buf_release(&text);
}

void show_text_title(struct buf *to, const struct operation_event *ev, int64_t us, bool color)
{
    const struct operation *op = ev->op;
    char text[CLOCK_TEXT];

    term_style(to, color, TERM_BOLD);
    if (ev->message->seq)
        buf_printf(to, "#%llu  ", (unsigned long long)ev->message->seq);
    buf_printf(to, "%s, %s of operation %llu", sender(ev->message->dir),
               operation_role_name(ev->message->role), (unsigned long long)op->number);
    if (op->parent)
        buf_printf(to, " (%s, of %llu)", operation_link_name(op->link),
                   (unsigned long long)op->parent);
    if (us >= 0)
        buf_printf(to, ", at %lld.%06lld s", (long long)(us / 1000000),
                   (long long)(us % 1000000));
    if (ev->message->role == ROLE_ANSWER && op->own_us >= 0)
        buf_printf(to, ", after %.*s", STR_ARG(clock_duration(text, op->own_us)));
    if (ev->message->inferred)
        buf_add(to, STR(", inferred"));
    term_style(to, color, TERM_PLAIN);
    buf_add_ch(to, '\n');
}

void show_text_verdict(struct buf *to, const struct operation *op, bool color)
{
    struct buf text;

    buf_init(&text, 8 * OPERATION_TEXT);
    buf_printf(&text, "%llu  ", (unsigned long long)op->number);
    add_name(&text, op);
    buf_add(&text, STR(": "));
    if (op->outcome == OUTCOME_NONE)
        buf_add(&text, STR("not a request"));
    add_outcome(&text, op);
    if (op->outcome == OUTCOME_RPC_ERROR && op->flags & OP_CODE && mcp_code_name(op->code).len)
        buf_printf(&text, " (%.*s)", STR_ARG(mcp_code_name(op->code)));
    add_duration(&text, ", took ", op->total_us);
    add_shares(&text, ": ", op);
    buf_add(&text, STR(", "));
    amount_of(&text, op->messages.count, "message", "messages");
    buf_add(&text, STR(", "));
    amount_bytes(&text, op->bytes);
    add_notes(&text, op);
    term_style(to, color, outcome_style(op->outcome));
    term_escape(to, buf_str(&text), TERM_ONE_LINE);
    term_style(to, color, TERM_PLAIN);
    buf_add_ch(to, '\n');
    buf_release(&text);
}
