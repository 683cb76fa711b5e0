#include "report/op-text.h"

#include "base/clock.h"
#include "base/term.h"
#include "base/text-wrap.h"
#include "base/units.h"
#include "mcp/error-code.h"
#include "mcp/message.h"
#include "mcp/method.h"

enum {
    ROLE = 14, /* columns */
    SESSION = 9,
    WIDE = 110, /* terminal width from which all columns fit */
    NAME_LEAST = 20,
    NAME_MOST = 42,
    DETAIL_LEAST = 12,
    DETAIL_BYTES = 1024, /* limit of arguments or an error */
};

/* Returns the width of the columns before the details. */
static size_t fixed_columns(const struct op_text_layout *l)
{
    return l->number + l->time + 2 + l->session + l->sender + l->name + 1 + l->outcome +
           l->duration + l->size;
}

struct op_text_layout op_text_layout(size_t width, bool color)
{
    struct op_text_layout l = { .width = width,
                                .number = 6,
                                .time = 11,
                                .sender = 8,
                                .outcome = 14,
                                .duration = 10,
                                .size = 10,
                                .color = color };
    size_t left;

    if (width && width < WIDE) {
        l.number = 5;
        l.time = 8;
        l.sender = 7;
        l.outcome = 12;
        l.duration = 8;
        l.size = 0;
    }
    left = width > fixed_columns(&l) ? (width - fixed_columns(&l)) * 3 / 5 : 0;
    l.name = left < NAME_LEAST ? NAME_LEAST : left;
    if (!width || l.name > NAME_MOST)
        l.name = NAME_MOST;
    return l;
}

void op_text_add_session_column(struct op_text_layout *l)
{
    l->session = SESSION;
    if (l->width)
        l->name = l->name > NAME_LEAST + SESSION ? l->name - SESSION : NAME_LEAST;
}

/* Returns the width that is left for details and notes. */
static size_t tail_columns(const struct op_text_layout *l)
{
    size_t fixed = fixed_columns(l);

    return l->width > fixed ? l->width - fixed : 0;
}

/* Pads the column that starts at byte `from` with blanks, at least one. */
static void pad(struct buf *to, size_t from, size_t columns)
{
    size_t taken = text_wrap_columns(str_n(to->at + from, to->len - from));

    do
        buf_add_ch(to, ' ');
    while (++taken < columns);
}

/* Appends seconds since the start; blanks if unknown. */
static void add_time(struct buf *to, int64_t us, const struct op_text_layout *l)
{
    if (us < 0)
        buf_printf(to, "%*s", (int)l->time, "");
    else
        buf_printf(to, "%*lld.%03lld", (int)l->time - 4, (long long)(us / 1000000),
                   (long long)(us / 1000 % 1000));
}

static void add_session(struct buf *to, uint64_t session, const struct op_text_layout *l)
{
    if (!l->session)
        return;
    if (session)
        buf_printf(to, "  %-*llu", (int)l->session - 2, (unsigned long long)session);
    else
        buf_printf(to, "%*s", (int)l->session, "");
}

static const char *sender(enum record_dir dir)
{
    return dir == TO_SERVER ? "client" : "server";
}

static void add_duration_column(struct buf *to, int64_t us, const struct op_text_layout *l)
{
    char text[CLOCK_TEXT_SIZE];
    struct str took = us < 0 ? STR_NONE : clock_format_duration(text, us);

    buf_printf(to, "%*.*s", (int)l->duration, STR_ARG(took));
}

static void add_size(struct buf *to, uint64_t bytes, const struct op_text_layout *l)
{
    struct buf size;

    if (!l->size)
        return;
    buf_init(&size, 64);
    units_write_bytes(&size, bytes);
    buf_printf(to, "%*.*s", (int)l->size, STR_ARG(buf_str(&size)));
    buf_release(&size);
}

static void add_header_start(struct buf *to, const struct op_text_layout *l)
{
    term_style(to, l->color, TERM_BOLD);
    buf_printf(to, "%*s%*s", (int)l->number, "#", (int)l->time, "seconds");
    if (l->session)
        buf_printf(to, "  %-*s", (int)l->session - 2, "session");
    buf_printf(to, "  %-*s", (int)l->sender, "from");
}

static void add_header_end(struct buf *to, const struct op_text_layout *l)
{
    buf_printf(to, "%*s", (int)l->duration, "took");
    if (l->size)
        buf_printf(to, "%*s", (int)l->size, "size");
    if (!l->width || tail_columns(l) >= 2 + sizeof "arguments or error" - 1)
        buf_add(to, STR("  arguments or error"));
    term_style(to, l->color, TERM_PLAIN);
    buf_add_ch(to, '\n');
}

void op_text_write_operations_header(struct buf *to, const struct op_text_layout *l)
{
    add_header_start(to, l);
    buf_printf(to, "%-*s %-*s", (int)l->name, "operation", (int)l->outcome, "outcome");
    add_header_end(to, l);
}

void op_text_write_messages_header(struct buf *to, const struct op_text_layout *l)
{
    add_header_start(to, l);
    buf_printf(to, "%-*s%-*s", ROLE, "what", (int)l->name, "about");
    add_header_end(to, l);
}

static void add_outcome(struct buf *to, const struct operation *op)
{
    switch (op->outcome) {
    case OUTCOME_RPC_ERROR:
        buf_add(to, STR("rpc "));
        if (op->flags & OP_HAS_CODE)
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
    case OUTCOME_SERVER_EXITED:
        buf_add(to, STR("server exited"));
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
    case OUTCOME_SERVER_EXITED:
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
        [OPERATION_REQUEST] = "request",           [OPERATION_BATCH] = "batch",
        [OPERATION_NOTIFICATION] = "notification", [OPERATION_RESPONSE] = "unexpected response",
        [OPERATION_NON_MESSAGE] = "not a message",
    };

    if (op->link != LINK_NONE && op->link != LINK_BATCH)
        buf_printf(to, "%s: ", operation_link_name(op->link));
    if (op->flags & OP_HTTP_REJECTED)
        buf_add(to, STR("rejected by HTTP"));
    else if (!op->method.len)
        buf_add(to, str_z(names[op->kind]));
    buf_add(to, op->method);
    if (op->subject.len)
        buf_add_ch(to, ' ');
    buf_add(to, op->subject);
}

/* Appends the properties that have no column. */
static void add_notes(struct buf *to, const struct operation *op)
{
    static const unsigned flags[] = { OP_INFERRED,  OP_ORPHAN, OP_DUPLICATE,
                                      OP_ID_REUSED, OP_GAP,    OP_EVICTED };

    if (op->outcome == OUTCOME_SERVER_EXITED && op->has & HAS_SIGNAL)
        buf_printf(to, "  signal %lld", (long long)op->signal);
    else if (op->outcome == OUTCOME_SERVER_EXITED && op->has & HAS_EXIT_CODE)
        buf_printf(to, "  exit code %lld", (long long)op->exit_code);
    if (op->progress.progress.len)
        buf_printf(to, "  progress %.*s%s%.*s", STR_ARG(op->progress.progress),
                   op->progress.total.len ? "/" : "", STR_ARG(op->progress.total));
    if (op->items) {
        buf_add(to, STR("  "));
        units_write_count(to, op->items, "item", "items");
    }
    if (op->children[LINK_PAGE])
        buf_printf(to, "  %u pages", op->children[LINK_PAGE] + 1);
    if (op->roles[ROLE_LOG] && op->kind == OPERATION_REQUEST) {
        buf_add(to, STR("  "));
        units_write_count(to, op->roles[ROLE_LOG], "log", "logs");
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
    char text[CLOCK_TEXT_SIZE];

    if (us >= 0)
        buf_printf(to, "%s%.*s", before, STR_ARG(clock_format_duration(text, us)));
}

/* Appends the shares of server and client in the time of a client request, if the client had
 * one. */
static void add_time_shares(struct buf *to, const char *before, const struct operation *op)
{
    if (op->wait_us <= 0 || op->dir != TO_SERVER)
        return;
    buf_add(to, str_z(before));
    add_duration(to, "server ", op->server_us);
    add_duration(to, ", client ", op->wait_us);
}

/* Appends arguments or error, then notes; only the former if the terminal is too narrow. */
static void add_detail_and_notes(struct buf *to, struct str text, enum term_style style,
                                 struct str notes, const struct op_text_layout *l)
{
    size_t noted = text_wrap_columns(notes), room = tail_columns(l), columns = OP_TEXT_DETAIL;

    if (l->width) {
        columns = room > noted + 2 ? room - noted - 2 : 0;
        if (text.len && columns < DETAIL_LEAST) {
            notes = STR_NONE;
            columns = room > 2 ? room - 2 : 0;
        }
    }
    if (text.len && columns) {
        buf_add(to, STR("  "));
        term_style(to, l->color && style != TERM_PLAIN, style);
        term_escape_cut(to, text, columns);
        term_style(to, l->color && style != TERM_PLAIN, TERM_PLAIN);
    }
    if (!notes.len)
        return;
    term_style(to, l->color, TERM_DIM);
    term_escape_cut(to, notes, l->width ? room : notes.len);
    term_style(to, l->color, TERM_PLAIN);
}

static void add_columns(struct buf *to, const struct operation *op,
                        const struct op_row_detail *detail, const struct op_text_layout *l)
{
    enum term_style style = outcome_style(op->outcome);
    bool styled = l->color && style != TERM_PLAIN;
    struct buf notes;
    size_t from;

    term_style(to, styled, style);
    from = to->len;
    add_outcome(to, op);
    pad(to, from, l->outcome);
    term_style(to, styled, TERM_PLAIN);
    add_duration_column(to, op->total_us, l);
    if (op->messages.count)
        add_size(to, op->bytes, l);
    else /* a batch has no messages of its own */
        buf_printf(to, "%*s", (int)l->size, "");
    buf_init(&notes, 8 * OPERATION_TEXT_MAX);
    add_time_shares(&notes, "  ", op);
    add_notes(&notes, op);
    add_detail_and_notes(to, detail->error.len ? detail->error : detail->arguments,
                         detail->error.len ? style : TERM_PLAIN, buf_str(&notes), l);
    buf_release(&notes);
}

/* Appends a name; on a terminal it is cut to its column. */
static void add_name_column(struct buf *to, struct str name, size_t columns,
                            const struct op_text_layout *l)
{
    if (l->width)
        term_escape_cut(to, name, columns);
    else
        term_escape(to, name, TERM_ONE_LINE);
}

void op_text_write_operation(struct buf *to, const struct operation *op,
                             const struct op_row_detail *detail, const struct op_text_layout *l)
{
    struct buf name;

    buf_printf(to, "%*llu", (int)l->number, (unsigned long long)op->number);
    add_time(to, op->first_us, l);
    buf_printf(to, "\n  %-*s\n", (int)l->sender, sender(op->dir));
    buf_init(&name, 4 * OPERATION_TEXT_MAX);
    add_name(&name, op);
    term_escape(to, buf_str(&name), TERM_ONE_LINE);
    buf_release(&name);
    buf_add_ch(to, '\n');
    add_columns(to, op, detail, l);
}

void op_text_write_row(struct buf *to, const struct op_row *row, size_t depth,
                       const struct op_text_layout *l)
{
    struct str parts = row->text, number = str_cut(&parts, '\n'), from = str_cut(&parts, '\n');
    struct str name = str_cut(&parts, '\n');
    size_t most = l->name / 4, indent = 2 * (depth < most ? depth : most), start;

    buf_add(to, number);
    add_session(to, row->session, l);
    buf_add(to, from);
    start = to->len;
    buf_printf(to, "%*s", (int)indent, "");
    add_name_column(to, name, l->name - indent, l);
    pad(to, start, l->name + 1);
    buf_add(to, parts);
    if (row->parent && !depth)
        buf_printf(to, "  of %llu", (unsigned long long)row->parent);
    while (to->len && to->at[to->len - 1] == ' ')
        to->len--;
    buf_add_ch(to, '\n');
}

/* Cuts a text to DETAIL_BYTES, between characters. */
static struct str clip_detail(struct str text)
{
    size_t n = DETAIL_BYTES;

    if (text.len <= n)
        return text;
    while (n && ((unsigned char)text.at[n] & 0xC0) == 0x80)
        n--;
    return str_n(text.at, n);
}

/* Appends JSON without blanks between its values, cut to DETAIL_BYTES. */
static void add_compact(struct buf *to, struct str json)
{
    bool quoted = false;

    json = clip_detail(json);
    for (size_t i = 0; i < json.len; i++) {
        char c = json.at[i];

        if (!quoted && (c == ' ' || c == '\t' || c == '\n' || c == '\r'))
            continue;
        buf_add_ch(to, c);
        if (quoted && c == '\\' && i + 1 < json.len)
            buf_add_ch(to, json.at[++i]);
        else if (c == '"')
            quoted = !quoted;
    }
}

static struct str compact_json(struct json_val v, struct arena *a)
{
    struct str text;
    struct buf b;

    buf_init(&b, DETAIL_BYTES);
    add_compact(&b, json_raw(v));
    text = arena_str(a, buf_str(&b));
    buf_release(&b);
    return text;
}

/* Returns the params without the subject and _meta. */
static struct str other_members(struct json_val params, struct str subject, struct arena *a)
{
    struct json_iter it = json_each(params);
    struct str text;
    struct buf b;

    buf_init(&b, 4 * DETAIL_BYTES);
    while (json_next(&it) && b.len < DETAIL_BYTES)
        if (!json_is(it.key, STR("_meta")) && !(subject.len && json_is(it.key, subject))) {
            buf_add_ch(&b, b.len ? ',' : '{');
            add_compact(&b, json_raw(it.key));
            buf_add_ch(&b, ':');
            add_compact(&b, json_raw(it.value));
        }
    if (b.len)
        buf_add_ch(&b, '}');
    text = arena_str(a, clip_detail(buf_str(&b)));
    buf_release(&b);
    return text;
}

/* Returns the bytes of a line that is not a message, or the number of lines of the record. */
static struct str non_message_text(const struct record *r, struct arena *a)
{
    if (!(r->has & HAS_COUNT))
        return r->bytes.bytes;
    return arena_printf(a, "%llu more lines, %llu bytes", (unsigned long long)r->bytes.count,
                        (unsigned long long)r->bytes.count_bytes);
}

struct str op_text_arguments(const struct operation_event *ev, struct arena *a)
{
    const struct record *r = ev->record;
    const struct mcp_method *known;
    struct json_val params;
    struct str method;

    if (r->kind != RECORD_MESSAGE)
        return clip_detail(non_message_text(r, a));
    params = json_get(r->message.msg, STR("params"));
    method = json_text(json_get(r->message.msg, STR("method")), a);
    if (!method.len || json_type(params) != JSON_OBJECT)
        return STR_NONE;
    if (str_eq(method, STR("tools/call")) || str_eq(method, STR("prompts/get"))) {
        params = json_get(params, STR("arguments"));
        return json_type(params) == JSON_OBJECT && !json_count(params)
                   ? STR_NONE
                   : compact_json(params, a);
    }
    known = mcp_method_find(method);
    return other_members(params, known ? known->subject : STR_NONE, a);
}

struct str op_text_error(const struct operation_event *ev, struct arena *a)
{
    struct json_val msg, result, content;
    struct json_iter it;

    if (ev->record->kind != RECORD_MESSAGE || ev->message->role != ROLE_RESPONSE)
        return STR_NONE;
    msg = ev->record->message.msg;
    result = json_get(msg, STR("result"));
    if (json_exists(json_get(msg, STR("error"))))
        return clip_detail(json_text(json_get(json_get(msg, STR("error")), STR("message")), a));
    if (json_type(json_get(result, STR("isError"))) != JSON_TRUE)
        return STR_NONE;
    content = json_get(result, STR("content"));
    for (it = json_each(content); json_type(content) == JSON_ARRAY && json_next(&it);)
        if (json_type(json_get(it.value, STR("text"))) == JSON_STRING)
            return clip_detail(json_text(json_get(it.value, STR("text")), a));
    return STR_NONE;
}

/* Appends "rpc -32602: " or "tool error: " for a failed response. */
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

/* Appends method and subject of a message; of a response, those of its request. */
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

/* The first columns of the row of a message. */
struct row_start {
    uint64_t seq; /* 0: none */
    int64_t us;
    const char *from, *what;
};

static void add_start(struct buf *to, const struct row_start *start, const struct record *r,
                      const struct op_text_layout *l)
{
    if (start->seq)
        buf_printf(to, "%*llu", (int)l->number, (unsigned long long)start->seq);
    else
        buf_printf(to, "%*s", (int)l->number, "");
    add_time(to, start->us, l);
    add_session(to, r->has & HAS_SESSION ? r->session : 0, l);
    buf_printf(to, "  %-*s%-*s", (int)l->sender, start->from, ROLE, start->what);
}

static void add_about_column(struct buf *to, struct str text, const struct op_text_layout *l)
{
    size_t from = to->len;

    add_name_column(to, text, l->name, l);
    pad(to, from, l->name);
}

void op_text_write_message(struct buf *to, const struct operation_event *ev, int64_t us,
                           const struct op_text_layout *l)
{
    struct row_start start = { ev->message->seq, us, sender(ev->message->dir),
                               operation_role_name(ev->message->role) };
    const struct record *r = ev->record;
    struct arena a = { 0 };
    struct buf about;
    struct str error;
    bool failed;

    add_start(to, &start, r, l);
    if (r->kind != RECORD_MESSAGE) {
        size_t from = to->len;

        term_escape_cut(to, non_message_text(r, &a), l->name);
        pad(to, from, l->name);
        buf_printf(to, "%*s", (int)l->duration, "");
        add_size(to, r->bytes.bytes.len, l);
        buf_add_ch(to, '\n');
        arena_release(&a);
        return;
    }
    buf_init(&about, 4 * OPERATION_TEXT_MAX);
    add_about(&about, ev);
    failed = str_starts(buf_str(&about), STR("rpc ")) ||
             str_starts(buf_str(&about), STR("tool error: "));
    term_style(to, l->color && failed, TERM_RED);
    add_about_column(to, buf_str(&about), l);
    term_style(to, l->color && failed, TERM_PLAIN);
    buf_release(&about);
    add_duration_column(to, ev->message->role == ROLE_RESPONSE ? ev->op->response_us : -1, l);
    add_size(to, json_raw(r->message.msg).len, l);
    error = op_text_error(ev, &a);
    add_detail_and_notes(to, error.len ? error : op_text_arguments(ev, &a),
                         error.len ? TERM_RED : TERM_PLAIN, STR_NONE, l);
    arena_release(&a);
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
        if (r->has & HAS_COUNT)
            buf_printf(to, "%llu more comments", (unsigned long long)r->sse.count);
        else
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

void op_text_write_record(struct buf *to, const struct record *r, int64_t us,
                          const struct op_text_layout *l)
{
    static const char *const names[] = {
        [RECORD_STDERR] = "stderr",     [RECORD_PROC] = "process",
        [RECORD_HTTP_REQUEST] = "http", [RECORD_HTTP_RESPONSE] = "http",
        [RECORD_HTTP_END] = "http",     [RECORD_SSE] = "sse",
        [RECORD_GAP] = "gap",
    };
    struct row_start start = { 0, us, r->kind == RECORD_HTTP_REQUEST ? "client" : "server",
                               names[r->kind] };
    size_t before = l->number + l->time + l->session + 2 + l->sender + ROLE, columns;
    struct buf text;

    buf_init(&text, (size_t)128 << 20);
    add_record(&text, r);
    term_style(to, l->color, TERM_DIM);
    add_start(to, &start, r, l);
    if (l->width)
        columns = l->width > before ? l->width - before : 0;
    else /* the reason of an error is not cut to a column */
        columns = r->kind == RECORD_HTTP_END ? OPERATION_TEXT_MAX : OP_TEXT_DETAIL;
    term_escape_cut(to, buf_str(&text), columns);
    term_style(to, l->color, TERM_PLAIN);
    buf_add_ch(to, '\n');
    buf_release(&text);
}

void op_text_write_title(struct buf *to, const struct operation_event *ev, int64_t us,
                         bool color)
{
    const struct operation *op = ev->op;
    char text[CLOCK_TEXT_SIZE];

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
    if (ev->message->role == ROLE_RESPONSE && op->response_us >= 0)
        buf_printf(to, ", after %.*s", STR_ARG(clock_format_duration(text, op->response_us)));
    if (ev->message->inferred)
        buf_add(to, STR(", inferred"));
    term_style(to, color, TERM_PLAIN);
    buf_add_ch(to, '\n');
}

void op_text_write_summary(struct buf *to, const struct operation *op, bool color)
{
    struct buf text;

    buf_init(&text, 8 * OPERATION_TEXT_MAX);
    buf_printf(&text, "%llu  ", (unsigned long long)op->number);
    add_name(&text, op);
    buf_add(&text, STR(": "));
    if (op->outcome == OUTCOME_NONE)
        buf_add(&text, STR("not a request"));
    add_outcome(&text, op);
    if (op->outcome == OUTCOME_RPC_ERROR && op->flags & OP_HAS_CODE &&
        mcp_error_code_name(op->code).len)
        buf_printf(&text, " (%.*s)", STR_ARG(mcp_error_code_name(op->code)));
    add_duration(&text, ", took ", op->total_us);
    add_time_shares(&text, ": ", op);
    buf_add(&text, STR(", "));
    units_write_count(&text, op->messages.count, "message", "messages");
    buf_add(&text, STR(", "));
    units_write_bytes(&text, op->bytes);
    add_notes(&text, op);
    term_style(to, color, outcome_style(op->outcome));
    term_escape(to, buf_str(&text), TERM_ONE_LINE);
    term_style(to, color, TERM_PLAIN);
    buf_add_ch(to, '\n');
    buf_release(&text);
}
