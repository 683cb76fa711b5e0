#include "format/op-export.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "ops/op-stats.h"

enum { SERVERS_MAX = 4096, NAME_MAX_BYTES = 1024 };

struct named_server {
    uint64_t number; /* from 1 */
    struct str name, version;
};

struct op_export {
    struct op_servers servers;
    struct capped_table names; /* of struct named_server */
    struct arena scratch;
    op_export_row_fn put_row;
};

const char *const op_export_names[OP_EXPORT_COLUMNS] = {
    "time",          "server",         "server_version", "session",   "number",  "parent",
    "link",          "is_call",        "from",           "method",    "subject", "outcome",
    "error_code",    "http_status",    "total_us",       "server_us", "wait_us", "bytes",
    "request_bytes", "response_bytes", "result_bytes",
};

static struct op_export_value text_value(struct str text)
{
    return (struct op_export_value){ text.len ? OP_EXPORT_TEXT : OP_EXPORT_NONE, text, 0 };
}

static struct op_export_value number_value(bool known, int64_t n)
{
    return (struct op_export_value){ known ? OP_EXPORT_NUMBER : OP_EXPORT_NONE, STR_NONE, n };
}

static struct op_export_value time_value(const struct format_operation *o,
                                         char text[CLOCK_TEXT_SIZE])
{
    if (o->event->op->first_us < 0 || !o->start_known)
        return text_value(STR_NONE);
    return text_value(clock_format(text, clock_add(o->start_wall_us, o->event->op->first_us)));
}

static const struct named_server *server_of(const struct op_export *x,
                                            const struct operation *op)
{
    static const struct named_server unknown = { 0 };
    uint64_t number = op_servers_find(&x->servers, op);

    return number ? x->names.rows[number - 1] : &unknown;
}

/* The bytes of a call are those of its retries, polls and pages, too. */
static void put_request(const struct op_export *x, struct buf *to,
                        const struct format_operation *o)
{
    const struct operation *op = o->event->op;
    const struct named_server *server = server_of(x, op);
    const bool is_call = op_stats_is_call(op);
    char time[CLOCK_TEXT_SIZE];
    const struct op_export_value row[OP_EXPORT_COLUMNS] = {
        time_value(o, time),
        text_value(server->name),
        text_value(server->version),
        number_value(op->has & HAS_SESSION, (int64_t)op->session),
        number_value(true, (int64_t)op->number),
        number_value(op->parent, (int64_t)op->parent),
        text_value(op->parent ? str_z(operation_link_name(op->link)) : STR_NONE),
        { OP_EXPORT_FLAG, STR_NONE, is_call },
        text_value(op->dir == TO_SERVER ? STR("client") : STR("server")),
        text_value(op->method),
        text_value(op->subject),
        text_value(str_z(operation_outcome_name(op->outcome))),
        number_value(op->flags & OP_HAS_CODE, op->code),
        number_value(op->status, (int64_t)op->status),
        number_value(op->total_us >= 0, op->total_us),
        number_value(op->server_us >= 0, op->server_us),
        number_value(op->wait_us >= 0, op->wait_us),
        number_value(true, (int64_t)(is_call ? op->family_bytes : op->bytes)),
        number_value(true, (int64_t)op->request_bytes),
        number_value(op->response_bytes, (int64_t)op->response_bytes),
        number_value(op->result_bytes, (int64_t)op->result_bytes),
    };

    x->put_row(to, row);
}

/* Remembers a name; servers beyond the limit stay unknown. */
static void note_server(struct op_export *x, const struct record *r, struct json_val info)
{
    const struct str parts[] = { json_text(json_get(info, STR("name")), &x->scratch),
                                 json_text(json_get(info, STR("version")), &x->scratch) };
    struct named_server *server;
    bool is_new;

    if (!parts[0].len)
        return;
    server = capped_table_row(&x->names, parts, 2, &is_new);
    if (is_new) {
        server->number = x->names.count;
        server->name = arena_truncated(&x->names.arena, parts[0], NAME_MAX_BYTES);
        server->version = arena_truncated(&x->names.arena, parts[1], NAME_MAX_BYTES);
    }
    op_servers_set(&x->servers, r, server->number);
}

struct op_export *op_export_new(op_export_row_fn put_row)
{
    struct op_export *x = mem_new(struct op_export);

    *x = (struct op_export){ .put_row = put_row };
    op_servers_init(&x->servers);
    capped_table_init(&x->names, sizeof(struct named_server), SERVERS_MAX);
    return x;
}

void op_export_put_operation(struct op_export *x, struct buf *to,
                             const struct format_operation *o)
{
    const struct operation_event *ev = o->event;
    struct json_val info = op_servers_info(ev);

    if (json_exists(info))
        note_server(x, ev->record, info);
    if (!ev->message && ev->op->kind == OPERATION_REQUEST && ev->op->roles[ROLE_REQUEST])
        put_request(x, to, o);
}

void op_export_put(struct op_export *x, const struct record *r)
{
    arena_clear(&x->scratch);
    if (r->kind == RECORD_HEADER)
        op_servers_begin_recording(&x->servers);
}

void op_export_free(struct op_export *x)
{
    op_servers_release(&x->servers);
    capped_table_release(&x->names);
    arena_release(&x->scratch);
    free(x);
}
