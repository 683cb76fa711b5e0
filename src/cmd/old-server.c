#include "cmd/old-server.h"

enum {
    PATIENCE_MS = 1000,
    BAD_REQUEST = 400,
    NOT_FOUND = 404,
    NOT_ALLOWED = 405,
};

static void tell(void *to)
{
    struct old_server *o = to;

    if (!o->refused || o->told)
        return;
    o->told = true;
    log_say(o->log, LOG_WARN,
            "the server takes no messages at this path: it is another one, or the server "
            "speaks HTTP+SSE (2024-11-05); for clients that only speak Streamable HTTP, use "
            "'mcpreel record --listen PORT -- mcpreel record --url URL'");
}

void old_server_init(struct old_server *o, struct loop *l, const struct log *log,
                     struct str path)
{
    *o = (struct old_server){ .log = log, .path = path, .patience = timer_new(l, tell, o) };
}

/* Where no POST is taken at all, messages go elsewhere. The others have many a reason to refuse
 * one, unless they are where such servers usually are. */
static bool is_sign(const struct old_server *o, unsigned status)
{
    return status == NOT_ALLOWED ||
           ((status == BAD_REQUEST || status == NOT_FOUND) && str_ends(o->path, STR("/sse")));
}

void old_server_answered(struct old_server *o, const struct request *asked, unsigned status)
{
    if (o->refused || o->told || !is_sign(o, status) || !str_eq(asked->method, STR("POST")) ||
        fields_count(&asked->fields, STR("mcp-session-id")))
        return;
    o->refused = true;
    timer_set(o->patience, PATIENCE_MS);
}

void old_server_streams(struct old_server *o)
{
    o->refused = false;
    timer_stop(o->patience);
}

void old_server_end(struct old_server *o)
{
    tell(o);
    timer_close(o->patience);
}
