#include "filter/filter-view.h"

#include "mcp/message.h"

/* Sets the member of the view that holds the subject of this method. */
static void set_subject(struct filter_view *v, struct str method, struct str subject)
{
    static const struct {
        struct str prefix;
        size_t at;
    } keys[] = {
        { STR_INIT("tools/"), offsetof(struct filter_view, tool) },
        { STR_INIT("prompts/"), offsetof(struct filter_view, prompt) },
        { STR_INIT("resources/"), offsetof(struct filter_view, uri) },
        { STR_INIT("tasks/"), offsetof(struct filter_view, task) },
    };

    if (method.len)
        v->method = method;
    if (!subject.len)
        return;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (str_starts(method, keys[i].prefix))
            *(struct str *)((char *)v + keys[i].at) = subject;
}

/* Removes the quotes of a string id. */
static struct str unquote_id(struct str id)
{
    return id.len >= 2 && id.at[0] == '"' ? str_n(id.at + 1, id.len - 2) : id;
}

static void set_number(struct filter_view *v, enum filter_has bit, int64_t *field, int64_t n)
{
    if (n < 0)
        return;
    v->has |= bit;
    *field = n;
}

static uint64_t outcome_traits(enum operation_outcome outcome)
{
    static const uint64_t traits[OUTCOME_COUNT] = {
        [OUTCOME_OK] = FILTER_IS_OK,
        [OUTCOME_RPC_ERROR] = FILTER_IS_RPC_ERROR,
        [OUTCOME_TOOL_ERROR] = FILTER_IS_TOOL_ERROR,
        [OUTCOME_HTTP_ERROR] = FILTER_IS_HTTP_ERROR,
        [OUTCOME_MALFORMED] = FILTER_IS_MALFORMED,
        [OUTCOME_PENDING] = FILTER_IS_PENDING,
        [OUTCOME_CANCELLED] = FILTER_IS_CANCELLED,
        [OUTCOME_LATE] = FILTER_IS_LATE | FILTER_IS_CANCELLED,
        [OUTCOME_SERVER_EXITED] = FILTER_IS_SERVER_EXITED,
    };

    return traits[outcome];
}

static uint64_t operation_traits(const struct operation *op)
{
    static const struct {
        unsigned flag;
        uint64_t trait;
    } flags[] = {
        { OP_ORPHAN, FILTER_IS_ORPHAN },     { OP_DUPLICATE, FILTER_IS_DUPLICATE },
        { OP_RETRY, FILTER_IS_RETRY },       { OP_INPUT_REQUIRED, FILTER_IS_MRTR },
        { OP_TASK, FILTER_IS_TASK },         { OP_CANCELLED, FILTER_IS_CANCELLED },
        { OP_REDACTED, FILTER_IS_REDACTED }, { OP_INFERRED, FILTER_IS_INFERRED },
    };
    uint64_t traits = outcome_traits(op->outcome);

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        traits |= op->flags & flags[i].flag ? flags[i].trait : 0;
    if (op->roles[ROLE_PROGRESS])
        traits |= FILTER_IS_PROGRESS;
    if (op->server_us >= FILTER_SLOW_US)
        traits |= FILTER_IS_SLOW;
    return traits;
}

void filter_view_operation(struct filter_view *v, const struct operation *op)
{
    static const uint64_t kinds[] = {
        [OPERATION_REQUEST] = FILTER_KIND_REQ,           [OPERATION_BATCH] = 0,
        [OPERATION_NOTIFICATION] = FILTER_KIND_NOTIF,    [OPERATION_RESPONSE] = FILTER_KIND_RES,
        [OPERATION_NON_MESSAGE] = FILTER_KIND_MALFORMED,
    };

    *v = (struct filter_view){
        .kind = FILTER_KIND_OP | kinds[op->kind],
        .dir = op->dir == TO_SERVER ? FILTER_DIR_C2S : FILTER_DIR_S2C,
        .is = operation_traits(op),
        .code = op->code,
    };
    set_subject(v, op->method, op->subject);
    if (op->task.len)
        v->task = op->task;
    if (op->id.len)
        v->id = unquote_id(op->id);
    v->id_is_number = op->id.len && op->id.at[0] != '"';
    v->has |= op->flags & OP_HAS_CODE ? (unsigned)FILTER_HAS_CODE : 0;
    set_number(v, FILTER_HAS_STATUS, &v->status, op->status ? (int64_t)op->status : -1);
    set_number(v, FILTER_HAS_DUR, &v->dur, op->total_us);
    set_number(v, FILTER_HAS_SERVER_DUR, &v->server_dur, op->server_us);
    set_number(v, FILTER_HAS_WAIT, &v->wait, op->wait_us);
    set_number(v, FILTER_HAS_SIZE, &v->size, (int64_t)op->bytes);
    set_number(v, FILTER_HAS_T, &v->t, op->first_us);
    if (op->roles[ROLE_REQUEST])
        set_number(v, FILTER_HAS_REQ_SIZE, &v->req_size, (int64_t)op->request_bytes);
    if (op->roles[ROLE_RESPONSE])
        set_number(v, FILTER_HAS_RES_SIZE, &v->res_size, (int64_t)op->response_bytes);
}

void filter_view_payload(struct filter_view *v, const struct record *r)
{
    *v = (struct filter_view){ .has = 0 };
    if (r->kind == RECORD_MESSAGE)
        v->message = r->message.msg;
    else if (r->kind == RECORD_RAW || r->kind == RECORD_STDERR)
        v->bytes = r->bytes.bytes;
}

static void set_envelope(struct filter_view *v, const struct mcp_message *m)
{
    int64_t size = (int64_t)json_raw(m->root).len;

    set_number(v, FILTER_HAS_SIZE, &v->size, size);
    switch (m->kind) {
    case MCP_REQUEST:
        v->kind = FILTER_KIND_REQ;
        set_number(v, FILTER_HAS_REQ_SIZE, &v->req_size, size);
        break;
    case MCP_NOTIFICATION:
        v->kind = FILTER_KIND_NOTIF;
        break;
    case MCP_RESULT:
    case MCP_ERROR:
        v->kind = FILTER_KIND_RES;
        set_number(v, FILTER_HAS_RES_SIZE, &v->res_size, size);
        break;
    default:
        v->kind = FILTER_KIND_MALFORMED;
        v->is |= FILTER_IS_MALFORMED;
    }
    if (m->kind == MCP_ERROR) {
        v->is |= FILTER_IS_RPC_ERROR;
        if (json_int(json_get(m->error, STR("code")), &v->code))
            v->has |= FILTER_HAS_CODE;
    } else if (m->kind == MCP_RESULT) {
        v->is |= json_type(json_get(m->result, STR("isError"))) == JSON_TRUE
                     ? FILTER_IS_TOOL_ERROR
                     : FILTER_IS_OK;
    }
}

void filter_view_message(struct filter_view *v, const struct operation_event *ev,
                         struct arena *a)
{
    const struct record *r = ev->record;
    const struct operation *op = ev->op;
    struct mcp_message m;

    filter_view_payload(v, r);
    v->dir = ev->message->dir == TO_SERVER ? FILTER_DIR_C2S : FILTER_DIR_S2C;
    if (r->kind != RECORD_MESSAGE) {
        v->kind = FILTER_KIND_MALFORMED;
        v->is = FILTER_IS_MALFORMED;
        set_number(v, FILTER_HAS_SIZE, &v->size, (int64_t)v->bytes.len);
        return;
    }
    m = mcp_classify(r->message.msg, a);
    set_envelope(v, &m);
    if (m.method.len && !str_eq(m.method, op->method))
        v->method = m.method;
    else
        set_subject(v, op->method, op->subject);
    if (json_exists(m.id))
        v->id = json_type(m.id) == JSON_STRING ? json_text(m.id, a) : json_raw(m.id);
    v->id_is_number = json_type(m.id) == JSON_NUMBER;
    v->is |= operation_traits(op) & (FILTER_IS_ORPHAN | FILTER_IS_DUPLICATE | FILTER_IS_RETRY |
                                     FILTER_IS_TASK | FILTER_IS_INFERRED);
    v->is |= r->message.redacted.len ? FILTER_IS_REDACTED : 0;
    v->is |= ev->message->role == ROLE_PROGRESS ? FILTER_IS_PROGRESS : 0;
    v->is |= ev->message->role == ROLE_CANCEL ? FILTER_IS_CANCELLED : 0;
    v->is |=
        ev->message->role == ROLE_RESPONSE && op->outcome == OUTCOME_LATE ? FILTER_IS_LATE : 0;
    if (ev->message->role == ROLE_RESPONSE)
        set_number(v, FILTER_HAS_DUR, &v->dur, op->response_us);
}

void filter_view_record(struct filter_view *v, const struct record *r)
{
    filter_view_payload(v, r);
    switch (r->kind) {
    case RECORD_STDERR:
        v->kind = FILTER_KIND_STDERR;
        set_number(v, FILTER_HAS_SIZE, &v->size, (int64_t)v->bytes.len);
        break;
    case RECORD_HTTP_RESPONSE:
        v->is = r->has & HAS_STATUS && r->http.status >= OPERATION_REJECTED_STATUS
                    ? FILTER_IS_HTTP_ERROR
                    : 0;
        if (r->has & HAS_STATUS)
            set_number(v, FILTER_HAS_STATUS, &v->status, (int64_t)r->http.status);
        v->kind = FILTER_KIND_HTTP;
        v->dir = FILTER_DIR_S2C;
        break;
    case RECORD_HTTP_REQUEST:
        v->kind = FILTER_KIND_HTTP;
        v->dir = FILTER_DIR_C2S;
        break;
    case RECORD_HTTP_END:
    case RECORD_SSE:
        v->kind = FILTER_KIND_HTTP;
        break;
    default:
        break;
    }
}
