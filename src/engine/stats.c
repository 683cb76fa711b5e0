#include "engine/stats.h"

#include "base/hash.h"
#include "json/canon.h"
#include "json/portable.h"

/* The longest list of words from a header that is kept. */
enum { STATS_JSON = 64 << 10 };

/* Thirty years: what a file says beyond is a mistake, and must not overflow. */
#define STATS_MAX_US (INT64_C(1000000) * 1000000000)

static bool stats_put(struct sink *self, const struct record *r, struct err *e);
static bool put_event(struct operation_sink *self, const struct operation_event *ev,
                      struct err *e);

void stats_init(struct stats *s)
{
    *s = (struct stats){ .sink = { stats_put }, .events = { put_event }, .parts = ~0u };
    grouping_init(&s->grouping, &s->events);
    census_init(&s->census);
    roster_init(&s->notifications, sizeof(struct stats_notification), STATS_NOTIFICATIONS);
    roster_init(&s->tools, sizeof(struct stats_tool), STATS_TOOLS);
    roster_init(&s->codes, sizeof(struct stats_code), STATS_CODES);
    facts_init(&s->facts);
}

void stats_release(struct stats *s)
{
    grouping_release(&s->grouping);
    census_release(&s->census);
    roster_release(&s->notifications);
    roster_release(&s->tools);
    roster_release(&s->codes);
    facts_release(&s->facts);
    arena_release(&s->texts);
    arena_release(&s->scratch);
}

static struct str keep(struct stats *s, struct str text)
{
    return arena_clip(&s->texts, text, STATS_TEXT);
}

static struct str keep_text(struct stats *s, struct json_val v)
{
    return keep(s, json_text(v, &s->scratch));
}

static struct stats_peer keep_peer(struct stats *s, struct json_val info)
{
    return (struct stats_peer){ keep_text(s, json_get(info, STR("name"))),
                                keep_text(s, json_get(info, STR("version"))) };
}

static struct stats_peer keep_peer_json(struct stats *s, struct str info)
{
    struct stats_peer peer = { 0 };
    struct json_fault fault;
    struct json j;

    json_init(&j);
    if (info.len && json_scan(&j, info, &fault))
        peer = keep_peer(s, json_root(&j));
    json_release(&j);
    return peer;
}

/* True for the first of its kind, so that the caller may say more. */
static bool find_odd(struct stats *s, enum stats_odd what, const struct record *r)
{
    struct stats_finding *f = &s->odd[what];

    if (!f->count && r->kind == RECORD_MESSAGE && r->has & HAS_SEQ)
        f->seq = r->message.seq;
    return !f->count++;
}

static void find_odd_text(struct stats *s, enum stats_odd what, const struct record *r,
                          struct str example)
{
    if (find_odd(s, what, r))
        s->odd[what].example = keep(s, example);
}

/* Sums of what a file says stay numbers that JSON can hold. */
static uint64_t sum(uint64_t a, uint64_t b)
{
    return b > (uint64_t)INT64_MAX - a ? (uint64_t)INT64_MAX : a + b;
}

static int64_t now_us(const struct stats *s)
{
    return s->duration_us + s->part.us;
}

static int64_t sane_us(int64_t us)
{
    return us < 0 ? 0 : us > STATS_MAX_US ? STATS_MAX_US : us;
}

/* The time of a record: our own clock where the file has it, else the wall clock, which
 * may step back, else that of the line before. */
static void see_time(struct stats *s, const struct record *r)
{
    struct stats_part *p = &s->part;

    if (r->has & HAS_WALL && !p->dated) {
        p->dated = true;
        p->start_wall_us = r->wall_us;
    }
    if (r->has & HAS_US) {
        if (r->us < p->us)
            find_odd(s, STATS_TIME_ORDER, r);
        p->us = sane_us(r->us);
    } else if (r->has & HAS_WALL) {
        p->us = sane_us(r->wall_us - p->start_wall_us);
    }
    s->timed |= (r->has & (HAS_US | HAS_WALL)) != 0;
    if (p->us > p->last_us)
        p->last_us = p->us;
}

/* What stands before the first header is no recording and needs no footer. */
static void end_part(struct stats *s, bool needs_footer)
{
    s->odd[STATS_NO_FOOTER].count += needs_footer && !s->part.footed && s->parts & PART_END;
    s->stderr_lines += s->part.stderr_open;
    s->odd[STATS_SHORT_BATCH].count += array_end(&s->arrays);
    s->duration_us = sane_us(s->duration_us + s->part.last_us);
    s->part = (struct stats_part){ 0 };
}

static struct str keep_json(struct stats *s, struct str json)
{
    return json.len <= STATS_JSON ? arena_str(&s->texts, json) : STR_NONE;
}

static void see_header(struct stats *s, const struct record *r)
{
    const struct record_header *h = &r->header;

    if (s->header.there)
        find_odd(s, STATS_EXTRA_HEADER, r);
    else
        s->header = (struct stats_header){
            .there = true,
            .dated = r->has & HAS_WALL,
            .recorded_us = r->wall_us,
            .version = keep(s, h->version),
            .name = keep(s, h->name),
            .upstream = keep(s, h->upstream),
            .transport = keep(s, h->transport),
            .producer = keep_peer_json(s, h->producer),
            .command = keep_json(s, h->command),
            .tags = keep_json(s, h->tags),
        };
    s->part.on_http = str_eq(h->transport, STR("http"));
    s->first_session =
        s->session_count < STATS_SESSIONS ? (size_t)s->session_count : STATS_SESSIONS;
}

/* The latest with that number, or on that connection. */
static struct stats_session *find_session(struct stats *s, uint64_t conn, uint64_t session)
{
    size_t n =
        s->session_count <= STATS_SESSIONS ? (size_t)s->session_count : STATS_SESSIONS + 1;

    while (n-- > s->first_session)
        if (s->sessions[n].session == session && (session || s->sessions[n].conn == conn))
            return &s->sessions[n];
    return NULL;
}

/* A session has its number from the answer to its greeting on. */
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
        session->client = keep_peer(s, json_get(m->params, STR("clientInfo")));
    }
}

static void greet_session(struct stats *s, struct stats_session *session,
                          const struct mcp_message *m)
{
    if (!session || session == &s->sessions[STATS_SESSIONS])
        return;
    session->server = keep_peer(s, json_get(m->result, STR("serverInfo")));
    session->protocol = keep_text(s, json_get(m->result, STR("protocolVersion")));
}

static void see_session(struct stats *s, const struct record *r, const struct mcp_message *m,
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
    if (m->kind == MCP_RESULT && !from_client && str_eq(s->asked, STR("initialize")) &&
        !session->protocol.at)
        greet_session(s, session, m);
}

static struct stats_tool *tool_of(struct stats *s, struct json_val name)
{
    struct str text = json_text(name, &s->scratch);
    struct stats_tool *tool;
    bool fresh;

    tool = roster_row(&s->tools, &text, 1, &fresh);
    if (fresh)
        tool->name = arena_clip(&s->tools.arena, text, STATS_TEXT);
    return tool;
}

/* Most lists are spelled as the one before: only where they are not it takes a look
 * at what they mean. */
static void see_definition(struct stats *s, const struct record *r, struct json_val definition)
{
    struct stats_tool *tool = tool_of(s, json_get(definition, STR("name")));
    uint64_t spelling = hash_bytes(json_raw(definition), 0) | 1, meaning;

    tool->advertised = true;
    if (tool == s->tools.others || tool->spelling == spelling)
        return;
    meaning = json_hash(definition, NULL);
    if (tool->spelling && tool->meaning != meaning)
        find_odd_text(s, STATS_TOOL_CHANGED, r, tool->name);
    tool->spelling = spelling;
    tool->meaning = meaning;
}

static void see_tools(struct stats *s, const struct record *r, struct json_val tools)
{
    struct json_iter it = json_each(tools);

    s->listed = true;
    while (json_next(&it))
        if (json_type(json_get(it.value, STR("name"))) == JSON_STRING)
            see_definition(s, r, it.value);
}

static void see_code(struct stats *s, enum record_dir dir, struct json_val code)
{
    const char way = (char)dir;
    struct str name[] = { str_n(&way, 1), STR("?") };
    struct stats_code *row;
    bool fresh, whole;
    int64_t n = 0;

    whole = json_int(code, &n);
    if (whole)
        name[1] = str_n((const char *)&n, sizeof n);
    row = roster_row(&s->codes, name, 2, &fresh);
    if (fresh) {
        row->dir = dir;
        row->whole = whole;
        row->code = n;
    }
    row->count++;
}

static void see_answer(struct stats *s, const struct record *r, const struct mcp_message *m)
{
    if (m->kind == MCP_ERROR)
        see_code(s, r->message.dir, json_get(m->error, STR("code")));
    else if (r->message.dir == TO_CLIENT && str_eq(s->asked, STR("tools/list")))
        see_tools(s, r, json_get(m->result, STR("tools")));
}

static void see_notification(struct stats *s, enum record_dir dir, const struct mcp_message *m)
{
    const char way = (char)dir;
    const struct str name[] = { str_n(&way, 1), m->method };
    struct stats_notification *row;
    bool fresh;

    row = roster_row(&s->notifications, name, 2, &fresh);
    if (fresh) {
        row->dir = dir;
        row->method = arena_clip(&s->notifications.arena, m->method, STATS_TEXT);
    }
    row->count++;
}

static void place_request(struct stats *s, const struct operation *op, const struct record *r)
{
    if (op->flags & OP_ID_REUSED)
        find_odd(s, STATS_ID_IN_USE, r);
    if (op->dir == TO_SERVER && str_eq(op->method, STR("tools/call")) && census_is_call(op))
        tool_of(s, json_get(s->message->params, STR("name")))->calls++;
}

/* A task may fail without any message that is an error. */
static void place_task(struct stats *s, const struct record *r, struct json_val task)
{
    struct json_val status = json_get(task, STR("status")),
                    error = json_get(task, STR("error")),
                    result = json_get(task, STR("result"));

    if (json_is(status, STR("failed")) && json_exists(error))
        see_code(s, r->message.dir, json_get(error, STR("code")));
    else if (json_is(status, STR("completed")) &&
             json_type(json_get(result, STR("isError"))) == JSON_TRUE)
        s->tool_errors++;
}

static void place_answer(struct stats *s, const struct operation *op, const struct record *r)
{
    if (op->kind == OPERATION_REQUEST)
        s->asked = arena_str(&s->scratch, op->method);
    if (op->link == LINK_TASK && !(op->flags & OP_AFTER_END))
        place_task(s, r, s->message->result);
    if (op->flags & OP_DUPLICATE)
        find_odd(s, STATS_DUPLICATE_ANSWER, r);
    else if (op->flags & OP_ORPHAN)
        find_odd(s, STATS_UNASKED_ANSWER, r);
    else if (op->outcome == OUTCOME_LATE ||
             (op->kind == OPERATION_ANSWER && !(op->flags & OP_REFUSED)))
        find_odd(s, STATS_LATE_ANSWER, r);
}

static void place_notice(struct stats *s, const struct operation *op, const struct record *r,
                         enum operation_role role)
{
    if (op->flags & OP_ORPHAN)
        find_odd_text(s, STATS_ORPHAN, r, op->method);
    if (role == ROLE_STATUS && op->kind == OPERATION_REQUEST)
        place_task(s, r, s->message->params);
}

/* Whoever recorded it may have known why a request was not answered. */
static void see_end(struct stats *s, const struct operation *op)
{
    struct stats_finding *f = &s->odd[STATS_UNANSWERED];
    uint64_t before = s->census.unanswered;

    census_add(&s->census, op);
    if (s->census.unanswered > before && op->why.len && !f->example.len)
        f->example = keep(s, op->why);
}

/* It is known where a message belongs, or how an operation ended. */
static bool put_event(struct operation_sink *self, const struct operation_event *ev,
                      struct err *e)
{
    struct stats *s = (struct stats *)((char *)self - offsetof(struct stats, events));

    (void)e;
    if (!ev->message)
        see_end(s, ev->op);
    else if (ev->record->has & HAS_REDELIVERS)
        return true;
    else if (ev->message->role == ROLE_REQUEST)
        place_request(s, ev->op, ev->record);
    else if (ev->message->role == ROLE_ANSWER)
        place_answer(s, ev->op, ev->record);
    else
        place_notice(s, ev->op, ev->record, ev->message->role);
    return true;
}

static void group(struct stats *s, const struct record *r)
{
    struct err e = ERR_NONE;

    if (!s->grouping.sink.put(&s->grouping.sink, r, &e))
        BUG("operations are always taken");
}

/* What a message stands in, in a recording: the object of its line. */
static void see_values(struct stats *s, const struct record *r)
{
    unsigned odd = json_unportable(r->message.msg, JSON_NESTING_OBJECT);

    if (odd & JSON_LONE_SURROGATE)
        find_odd(s, STATS_LONE_SURROGATE, r);
    if (odd & JSON_TOO_DEEP)
        find_odd(s, STATS_TOO_DEEP, r);
}

static void count_message(struct stats *s, const struct record *r, const struct mcp_message *m,
                          bool error)
{
    struct stats_part *p = &s->part;

    s->messages[r->message.dir][m->kind]++;
    p->messages[r->message.dir]++;
    p->errors += error;
    s->tool_errors += error && m->kind == MCP_RESULT;
    if (m->duplicate)
        find_odd(s, STATS_DUPLICATE_KEY, r);
    if (m->kind == MCP_OTHER)
        find_odd(s, STATS_NOT_JSONRPC, r);
    if (r->has & HAS_SEQ) {
        if (r->message.seq <= p->seq)
            find_odd(s, STATS_SEQ_ORDER, r);
        p->seq = r->message.seq;
    }
}

/* The same message once more says nothing new. */
static void see_message(struct stats *s, const struct record *r)
{
    struct mcp_message m = mcp_classify(r->message.msg, &s->scratch);
    bool error = facts_is_error(&m);

    count_message(s, r, &m, error);
    if (s->thorough)
        see_values(s, r);
    s->message = &m;
    s->asked = STR_NONE;
    group(s, r);
    s->message = NULL;
    if (r->has & HAS_REDELIVERS) {
        s->redelivered++;
        return;
    }
    if (m.kind == MCP_NOTIFICATION)
        see_notification(s, r->message.dir, &m);
    else if (mcp_is_response(&m))
        see_answer(s, r, &m);
    facts_see(&s->facts, r->message.dir, &m, s->asked);
    see_session(s, r, &m, error);
}

static void see_stderr(struct stats *s, struct str text)
{
    for (size_t n; (n = str_find(text, '\n')) < text.len; s->stderr_lines++) {
        s->part.stderr_open = false;
        text = str_skip(text, n + 1);
    }
    s->part.stderr_open |= text.len > 0;
}

static void see_exit(struct stats *s, const struct record *r, int64_t code, int64_t signum,
                     struct str why)
{
    struct str how =
        arena_printf(&s->scratch, "%s %lld%s%.*s", signum ? "signal" : "exit code",
                     (long long)(signum ? signum : code), why.len ? ": " : "", STR_ARG(why));

    s->part.exited = true;
    if (code || signum)
        find_odd_text(s, STATS_SERVER_EXIT, r, how);
}

static void see_proc(struct stats *s, const struct record *r)
{
    if (str_eq(r->proc.event, STR("failed")))
        find_odd_text(s, STATS_SERVER_EXIT, r, r->proc.why);
    else if (str_eq(r->proc.event, STR("exit")))
        see_exit(s, r, r->has & HAS_EXIT_CODE ? r->proc.exit_code : 0,
                 r->has & HAS_SIGNAL ? r->proc.signal : 0, r->proc.why);
}

static unsigned long long llu(uint64_t number)
{
    return number;
}

/* The footer counts messages that were seen. Those that are missing must be in a gap; a gap may
 * stand for others, too, which were too long to be counted. */
static bool is_explained_by_gaps(const struct stats_part *p, const struct record_footer *f,
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
    const struct stats_part *p = &s->part;
    uint64_t errors = r->has & HAS_ERRORS ? f->errors : p->errors;
    uint64_t messages = p->messages[TO_SERVER] + p->messages[TO_CLIENT];

    if (f->messages == messages && f->client_messages == p->messages[TO_SERVER] &&
        f->server_messages == p->messages[TO_CLIENT] && errors == p->errors)
        return;
    if (p->gap_messages && is_explained_by_gaps(p, f, errors))
        return;
    find_odd_text(s, STATS_FOOTER_DIFFERS, r,
                  arena_printf(&s->scratch,
                               "it says client %llu, server %llu, all %llu, errors %llu; "
                               "there are %llu, %llu, %llu, %llu",
                               llu(f->client_messages), llu(f->server_messages),
                               llu(f->messages), llu(errors), llu(p->messages[TO_SERVER]),
                               llu(p->messages[TO_CLIENT]), llu(messages), llu(p->errors)));
}

/* On HTTP the exit code is the recorder's own. */
static void see_footer(struct stats *s, const struct record *r)
{
    if (r->has & HAS_TOTALS)
        check_totals(s, r);
    if (r->has & HAS_EXIT_CODE && !s->part.exited && !s->part.on_http)
        see_exit(s, r, r->footer.exit_code, 0, STR_NONE);
    s->part.footed = true;
}

/* What the recorder answers itself is as it should be. A stream of events that the server
 * breaks off may be gone on with, and one is often open when the recording ends. Whoever stays
 * without an answer by any of that is told of as such. */
static bool is_fault(const struct record *r)
{
    const struct record_http *h = &r->http;

    if (!h->why.len || str_eq(h->by, STR("client")))
        return false;
    if (h->clean)
        return !str_eq(h->by, STR("mcpreel"));
    return !(r->has & HAS_STREAM) ||
           (!str_eq(h->by, STR("server")) && !str_eq(h->why, STR(RECORD_WHY_ENDED)));
}

/* A record may stand for several lines. */
static void see_noise(struct stats *s, const struct record *r)
{
    enum stats_odd what =
        r->bytes.from_to == TO_CLIENT ? STATS_SERVER_NOISE : STATS_CLIENT_NOISE;

    find_odd_text(s, what, r, r->bytes.bytes);
    if (r->has & HAS_COUNT && r->bytes.count)
        s->odd[what].count = sum(s->odd[what].count, r->bytes.count - 1);
}

static void see_line(struct stats *s, const struct record *r)
{
    switch (r->kind) {
    case RECORD_HEADER:
        see_header(s, r);
        break;
    case RECORD_MESSAGE:
        see_message(s, r);
        break;
    case RECORD_RAW:
        if (grouping_is_noise(&s->grouping, r))
            see_noise(s, r);
        break;
    case RECORD_STDERR:
        see_stderr(s, r->bytes.bytes);
        break;
    case RECORD_PROC:
        see_proc(s, r);
        break;
    case RECORD_HTTP_RESPONSE:
        s->http_errors += r->http.status >= 400;
        break;
    case RECORD_GAP:
        s->gap_messages = sum(s->gap_messages, r->gap.messages);
        s->part.gap_messages = sum(s->part.gap_messages, r->gap.messages);
        s->gap_bytes = sum(s->gap_bytes, r->gap.bytes);
        find_odd_text(s, STATS_GAP, r, r->gap.why);
        break;
    case RECORD_FOOTER:
        see_footer(s, r);
        break;
    case RECORD_UNKNOWN:
        find_odd_text(s, STATS_UNKNOWN_LINE, r, r->unknown);
        break;
    case RECORD_HTTP_END:
        if (is_fault(r))
            find_odd_text(s, STATS_HTTP_FAULT, r, r->http.why);
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
    if (r->kind == RECORD_HEADER && s->begun)
        end_part(s, s->header.there);
    else if (r->kind != RECORD_HEADER && !s->begun && s->parts & PART_COMMAND)
        find_odd(s, STATS_NO_HEADER, r);
    else if (s->part.footed)
        find_odd(s, STATS_AFTER_FOOTER, r);
    s->begun = true;
    if ((r->kind == RECORD_MESSAGE || r->kind == RECORD_RAW) && array_see(&s->arrays, r))
        find_odd(s, STATS_SHORT_BATCH, r);
    s->lines[r->kind]++;
    see_time(s, r);
    see_line(s, r);
    if (r->kind != RECORD_MESSAGE)
        group(s, r);
    return true;
}

void stats_damaged_end(struct stats *s, uint64_t bytes)
{
    s->odd[STATS_DAMAGED_END].count = bytes;
}

static void check_listed(struct stats *s, const struct stats_tool *tool)
{
    struct stats_finding *f = &s->odd[STATS_UNLISTED_TOOL];

    if (!s->listed || tool->advertised || !tool->calls)
        return;
    if (!f->count)
        f->example = tool->name;
    f->count += tool->calls;
}

void stats_finish(struct stats *s)
{
    struct err e = ERR_NONE;

    end_part(s, true);
    if (!grouping_finish(&s->grouping, &e))
        BUG("operations are always taken");
    census_finish(&s->census);
    for (size_t i = 0; i < s->tools.count; i++)
        check_listed(s, s->tools.rows[i]);
    s->odd[STATS_UNANSWERED].count = s->census.unanswered;
    s->odd[STATS_EVICTED].count = grouping_evicted(&s->grouping);
    s->client = keep_peer_json(s, buf_str(&s->facts.client_info));
    s->server = keep_peer_json(s, buf_str(&s->facts.server_info));
    s->protocol = keep(s, buf_str(&s->facts.protocol));
}
