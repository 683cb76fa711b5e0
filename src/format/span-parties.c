#include "format/span-parties.h"

#include "mcp/meta.h"

enum { PARTIES_MAX = 4096, NAME_MAX_BYTES = 256 };

void span_parties_init(struct span_parties *p)
{
    *p = (struct span_parties){ 0 };
    capped_table_init(&p->known, sizeof(struct party), PARTIES_MAX);
    op_servers_init(&p->clients);
    op_servers_init(&p->servers);
    op_servers_init(&p->protocols);
}

void span_parties_release(struct span_parties *p)
{
    capped_table_release(&p->known);
    op_servers_release(&p->clients);
    op_servers_release(&p->servers);
    op_servers_release(&p->protocols);
    arena_release(&p->scratch);
}

void span_parties_begin_recording(struct span_parties *p)
{
    op_servers_begin_recording(&p->clients);
    op_servers_begin_recording(&p->servers);
    op_servers_begin_recording(&p->protocols);
}

static const struct party unknown = { 0 };

/* Parties beyond the limit stay unknown. */
static const struct party *set_party(struct span_parties *p, struct op_servers *in,
                                     const struct record *r, struct json_val name,
                                     struct json_val version)
{
    const struct str parts[] = { json_text(name, &p->scratch),
                                 json_text(version, &p->scratch) };
    struct party *party;
    bool is_new;

    if (!parts[0].len)
        return &unknown;
    party = capped_table_row(&p->known, parts, 2, &is_new);
    if (is_new) {
        party->number = p->known.count;
        party->name = arena_truncated(&p->known.arena, parts[0], NAME_MAX_BYTES);
        party->version = arena_truncated(&p->known.arena, parts[1], NAME_MAX_BYTES);
    }
    op_servers_set(in, r, party->number);
    return party;
}

static const struct party *set_info(struct span_parties *p, struct op_servers *in,
                                    const struct record *r, struct json_val info)
{
    return set_party(p, in, r, json_get(info, STR("name")), json_get(info, STR("version")));
}

const struct party *span_parties_request(struct span_parties *p,
                                         const struct operation_event *ev)
{
    struct json_val params = json_get(ev->record->message.msg, STR("params"));

    arena_clear(&p->scratch);
    if (ev->op->dir != TO_SERVER)
        return &unknown;
    if (str_eq(ev->op->method, STR("initialize")))
        return set_info(p, &p->clients, ev->record, json_get(params, STR("clientInfo")));
    set_party(p, &p->protocols, ev->record, mcp_meta(params, MCP_META_VERSION), JSON_VAL_NONE);
    return set_info(p, &p->clients, ev->record, mcp_meta(params, MCP_META_CLIENT_INFO));
}

void span_parties_response(struct span_parties *p, const struct operation_event *ev,
                           const struct party *client)
{
    struct json_val result = json_get(ev->record->message.msg, STR("result"));

    arena_clear(&p->scratch);
    set_info(p, &p->servers, ev->record, op_servers_info(ev));
    if (ev->op->dir != TO_SERVER || !str_eq(ev->op->method, STR("initialize")))
        return;
    set_party(p, &p->protocols, ev->record, json_get(result, STR("protocolVersion")),
              JSON_VAL_NONE);
    op_servers_set(&p->clients, ev->record, client->number);
}

static const struct party *find(const struct span_parties *p, const struct op_servers *in,
                                const struct operation *op)
{
    uint64_t number = op_servers_find(in, op);

    return number ? p->known.rows[number - 1] : &unknown;
}

const struct party *span_parties_client(const struct span_parties *p,
                                        const struct operation *op)
{
    return find(p, &p->clients, op);
}

const struct party *span_parties_server(const struct span_parties *p,
                                        const struct operation *op)
{
    return find(p, &p->servers, op);
}

struct str span_parties_protocol(const struct span_parties *p, const struct operation *op)
{
    return find(p, &p->protocols, op)->name;
}
