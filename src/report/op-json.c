#include "report/op-json.h"

#include "json/write.h"

/* Writes a number; null if it is negative, which means unknown. */
static void add_int_or_null(struct json_out *o, struct str key, int64_t n)
{
    json_out_key(o, key);
    if (n < 0)
        json_out_null(o);
    else
        json_out_int(o, n);
}

/* Writes recorded JSON unchanged, but on one line. */
static void add_raw(struct json_out *o, struct str key, struct str json)
{
    size_t from;

    json_out_key(o, key);
    if (!json.len) {
        json_out_null(o);
        return;
    }
    from = o->to->len;
    json_out_raw(o, json);
    for (size_t i = from; i < o->to->len; i++)
        if (o->to->at[i] == '\n' || o->to->at[i] == '\r')
            o->to->at[i] = ' ';
}

static struct str sender(enum record_dir dir)
{
    return dir == TO_SERVER ? STR("client") : STR("server");
}

static void add_flags(struct json_out *o, unsigned flags)
{
    json_out_key(o, STR("flags"));
    json_out_array(o);
    for (unsigned i = 0; i < OP_FLAG_COUNT; i++)
        if (flags & 1u << i && 1u << i != OP_HAS_CODE)
            json_out_str(o, str_z(operation_flag_name(1u << i)));
    json_out_end_array(o);
}

static void add_messages(struct json_out *o, const struct operation *op)
{
    json_out_key_int(o, STR("message_count"), (int64_t)op->messages.count);
    json_out_key(o, STR("messages"));
    json_out_array(o);
    for (size_t i = 0; i < op->messages.kept; i++) {
        const struct operation_message *m = operation_message_at(op, i);
        json_out_object(o);
        add_int_or_null(o, STR("seq"), m->seq ? (int64_t)m->seq : -1);
        json_out_key_str(o, STR("role"), str_z(operation_role_name(m->role)));
        json_out_key_str(o, STR("from"), sender(m->dir));
        json_out_key_bool(o, STR("inferred"), m->inferred);
        json_out_end_object(o);
    }
    json_out_end_array(o);
}

/* Writes how the server process exited, if that left the operation without a response. */
static void add_exit(struct json_out *o, const struct operation *op)
{
    unsigned has = op->outcome == OUTCOME_SERVER_EXITED ? op->has : 0;

    add_int_or_null(o, STR("exit_code"), has & HAS_EXIT_CODE ? op->exit_code : -1);
    add_int_or_null(o, STR("signal"), has & HAS_SIGNAL ? op->signal : -1);
}

static void add_outcome(struct json_out *o, const struct operation *op)
{
    json_out_key_str(o, STR("outcome"), str_z(operation_outcome_name(op->outcome)));
    json_out_key(o, STR("error_code"));
    if (op->flags & OP_HAS_CODE)
        json_out_int(o, op->code);
    else
        json_out_null(o);
    add_int_or_null(o, STR("http_status"), op->status ? (int64_t)op->status : -1);
    json_out_key_str_or_null(o, STR("http_failure"), op->why);
    add_exit(o, op);
    json_out_key_str(o, STR("response"), str_z(operation_response_name(op->response)));
    add_int_or_null(o, STR("start_us"), op->first_us);
    add_int_or_null(o, STR("total_us"), op->total_us);
    add_int_or_null(o, STR("server_us"), op->server_us);
    add_int_or_null(o, STR("wait_us"), op->wait_us);
    json_out_key_int(o, STR("bytes"), (int64_t)op->bytes);
    json_out_key_int(o, STR("request_bytes"), (int64_t)op->request_bytes);
    json_out_key_int(o, STR("response_bytes"), (int64_t)op->response_bytes);
}

void op_json_write_operation(struct buf *to, const struct operation *op,
                             const struct op_row_detail *detail)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&o, STR("type"), STR("operation"));
    json_out_key_int(&o, STR("number"), (int64_t)op->number);
    add_int_or_null(&o, STR("parent"), op->parent ? (int64_t)op->parent : -1);
    json_out_key_str(&o, STR("link"), str_z(operation_link_name(op->link)));
    json_out_key_str(&o, STR("kind"), str_z(operation_kind_name(op->kind)));
    json_out_key_str(&o, STR("from"), sender(op->dir));
    json_out_key_str_or_null(&o, STR("method"), op->method);
    json_out_key_str_or_null(&o, STR("subject"), op->subject);
    json_out_key_str_or_null(&o, STR("arguments_text"), detail->arguments);
    json_out_key_str_or_null(&o, STR("error_text"), detail->error);
    add_raw(&o, STR("id"), op->id);
    json_out_key_str_or_null(&o, STR("task_id"), op->task);
    add_int_or_null(&o, STR("session"), op->has & HAS_SESSION ? (int64_t)op->session : -1);
    add_outcome(&o, op);
    add_int_or_null(&o, STR("items"), op->items ? (int64_t)op->items : -1);
    add_raw(&o, STR("progress"), op->progress.progress);
    add_raw(&o, STR("progress_total"), op->progress.total);
    add_flags(&o, op->flags);
    add_messages(&o, op);
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}

static void add_payload(struct json_out *o, const struct record *r)
{
    if (r->kind == RECORD_MESSAGE)
        add_raw(o, STR("msg"), json_raw(r->message.msg));
    else
        json_out_key_str(o, STR("text"), r->bytes.bytes);
}

void op_json_write_message(struct buf *to, const struct operation_event *ev, int64_t us,
                           bool whole)
{
    const struct record *r = ev->record;
    struct json_out o = json_out_to(to);
    bool message = r->kind == RECORD_MESSAGE;

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&o, STR("type"), STR("message"));
    add_int_or_null(&o, STR("seq"), ev->message->seq ? (int64_t)ev->message->seq : -1);
    add_int_or_null(&o, STR("us"), us);
    json_out_key_str(&o, STR("from"), sender(ev->message->dir));
    json_out_key_str(&o, STR("role"), str_z(operation_role_name(ev->message->role)));
    json_out_key_int(&o, STR("operation"), (int64_t)ev->op->number);
    json_out_key_str_or_null(&o, STR("method"), ev->op->method);
    json_out_key_str_or_null(&o, STR("subject"), ev->op->subject);
    add_raw(&o, STR("id"), message ? json_raw(json_get(r->message.msg, STR("id"))) : STR_NONE);
    add_int_or_null(&o, STR("latency_us"),
                    ev->message->role == ROLE_RESPONSE ? ev->op->response_us : -1);
    json_out_key_int(&o, STR("bytes"),
                     (int64_t)(message ? json_raw(r->message.msg).len : r->bytes.bytes.len));
    if (!message && r->has & HAS_COUNT)
        json_out_key_int(&o, STR("count"), (int64_t)r->bytes.count);
    if (whole)
        add_payload(&o, r);
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}

static struct str record_type(const struct record *r)
{
    switch (r->kind) {
    case RECORD_STDERR:
        return STR("stderr");
    case RECORD_PROC:
        return STR("proc");
    case RECORD_SSE:
        return STR("sse");
    case RECORD_GAP:
        return STR("gap");
    default:
        return STR("http");
    }
}

void op_json_write_record(struct buf *to, const struct record *r, int64_t us)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&o, STR("type"), record_type(r));
    add_int_or_null(&o, STR("us"), us);
    if (r->kind == RECORD_STDERR)
        json_out_key_str(&o, STR("text"), r->bytes.bytes);
    if (r->kind == RECORD_SSE && r->has & HAS_COUNT)
        json_out_key_int(&o, STR("count"), (int64_t)r->sse.count);
    if (r->kind == RECORD_HTTP_REQUEST) {
        json_out_key_str_or_null(&o, STR("method"), r->http.method);
        json_out_key_str_or_null(&o, STR("path"), r->http.path);
    }
    if (r->kind == RECORD_HTTP_RESPONSE)
        add_int_or_null(&o, STR("status"), r->has & HAS_STATUS ? (int64_t)r->http.status : -1);
    if (r->kind == RECORD_HTTP_END) {
        json_out_key_str_or_null(&o, STR("by"), r->http.by);
        json_out_key_str_or_null(&o, STR("why"), r->http.why);
    }
    if (r->kind == RECORD_PROC) {
        json_out_key_str_or_null(&o, STR("event"), r->proc.event);
        add_int_or_null(&o, STR("exit_code"), r->has & HAS_EXIT_CODE ? r->proc.exit_code : -1);
        json_out_key_str_or_null(&o, STR("why"), r->proc.why);
    }
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}
