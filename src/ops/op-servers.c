#include "ops/op-servers.h"

#include "mcp/meta.h"

/* A session over HTTP, else a connection. */
struct server_scope {
    uint64_t recording, number, is_session;
};

void op_servers_init(struct op_servers *s)
{
    *s = (struct op_servers){ 0 };
    recent_keys_init(&s->scopes, OP_SERVERS_SCOPES);
}

void op_servers_release(struct op_servers *s)
{
    recent_keys_release(&s->scopes);
}

void op_servers_begin_recording(struct op_servers *s)
{
    s->recording++;
}

struct json_val op_servers_info(const struct operation_event *ev)
{
    struct json_val result, info;

    if (!ev->message || ev->message->role != ROLE_RESPONSE ||
        ev->op->kind != OPERATION_REQUEST || ev->record->message.dir != TO_CLIENT)
        return JSON_VAL_NONE;
    result = json_get(ev->record->message.msg, STR("result"));
    info = str_eq(ev->op->method, STR("initialize")) ? json_get(result, STR("serverInfo"))
                                                     : mcp_meta(result, MCP_META_SERVER_INFO);
    return json_type(info) == JSON_OBJECT ? info : JSON_VAL_NONE;
}

static struct str key_text(const struct server_scope *key)
{
    return str_n((const char *)key, sizeof *key);
}

static struct server_scope make_scope(const struct op_servers *s, unsigned has, uint64_t conn,
                                      uint64_t session)
{
    return has & HAS_SESSION ? (struct server_scope){ s->recording, session, 1 }
                             : (struct server_scope){ s->recording, conn, 0 };
}

/* An operation that began before its session had a number is found by its connection. */
void op_servers_set(struct op_servers *s, const struct record *r, uint64_t server)
{
    const struct server_scope own = make_scope(s, r->has, r->conn, r->session),
                              conn = make_scope(s, 0, r->conn, 0);

    recent_keys_add(&s->scopes, key_text(&own), server, 0);
    if (own.is_session)
        recent_keys_add(&s->scopes, key_text(&conn), server, 0);
}

uint64_t op_servers_find(const struct op_servers *s, const struct operation *op)
{
    const struct server_scope key = make_scope(s, op->has, op->conn, op->session);
    const struct recent_keys_entry *found = recent_keys_find(&s->scopes, key_text(&key));

    return found ? found->value : 0;
}
