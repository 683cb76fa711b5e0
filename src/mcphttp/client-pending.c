#include "mcphttp/client-pending.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/id.h"

void client_pending_release(struct client_pending *w)
{
    while (w->first)
        client_pending_remove(w, w->first);
}

static enum client_pending_kind request_kind(struct str method)
{
    if (str_eq(method, STR("initialize")))
        return CLIENT_PENDING_INITIALIZE;
    if (str_eq(method, STR("tools/list")))
        return CLIENT_PENDING_TOOLS_LIST;
    if (str_eq(method, STR("subscriptions/listen")))
        return CLIENT_PENDING_SUBSCRIPTION;
    return CLIENT_PENDING_OTHER;
}

void client_pending_add(struct client_pending *w, const struct mcp_message *request,
                        const void *carrier)
{
    struct str id = json_raw(request->id), key;
    struct client_pending_request *new;
    struct arena a = { 0 };
    char *at;

    key = mcp_id_key(request->id, &a);
    new = mem_alloc(sizeof *new + id.len + key.len + request->method.len);
    at = (char *)(new + 1);
    new->carrier = carrier;
    new->kind = request_kind(request->method);
    new->id = str_copy_to(&at, id);
    new->id_key = str_copy_to(&at, key);
    new->method = str_copy_to(&at, request->method);
    arena_release(&a);
    *(w->last ? &w->last->next : &w->first) = new;
    w->last = new;
}

void client_pending_add_batch(struct client_pending *w, struct json_val batch,
                              const void *carrier)
{
    struct json_iter it = json_each(batch);
    struct arena a = { 0 };

    while (json_next(&it)) {
        struct mcp_message one = mcp_classify(it.value, &a);

        if (one.kind == MCP_REQUEST)
            client_pending_add(w, &one, carrier);
    }
    arena_release(&a);
}

struct client_pending_request *client_pending_find(const struct client_pending *w,
                                                   struct json_val id, const void *carrier)
{
    struct client_pending_request *found = NULL;
    struct arena a = { 0 };
    struct str key = mcp_id_key(id, &a);

    for (struct client_pending_request *at = w->first; key.len && at; at = at->next) {
        if (!str_eq(at->id_key, key))
            continue;
        if (!found)
            found = at;
        if (at->carrier == carrier) {
            found = at;
            break;
        }
    }
    arena_release(&a);
    return found;
}

struct client_pending_request *client_pending_find_first(const struct client_pending *w,
                                                         const void *carrier)
{
    struct client_pending_request *at = w->first;

    while (at && at->carrier != carrier)
        at = at->next;
    return at;
}

struct client_pending_request *client_pending_find_only(const struct client_pending *w,
                                                        const void *carrier)
{
    struct client_pending_request *first = client_pending_find_first(w, carrier),
                                  *at = first ? first->next : NULL;

    while (at && at->carrier != carrier)
        at = at->next;
    return at ? NULL : first;
}

void client_pending_remove(struct client_pending *w, struct client_pending_request *request)
{
    struct client_pending_request *before = NULL;

    for (struct client_pending_request *at = w->first; at != request; at = at->next)
        before = at;
    *(before ? &before->next : &w->first) = request->next;
    if (w->last == request)
        w->last = before;
    free(request);
}

void client_pending_remove_all(struct client_pending *w, const void *carrier)
{
    struct client_pending_request *at;

    while ((at = client_pending_find_first(w, carrier)))
        client_pending_remove(w, at);
}

void client_pending_reassign(struct client_pending *w, const void *from, const void *to)
{
    for (struct client_pending_request *at = w->first; at; at = at->next)
        if (at->carrier == from)
            at->carrier = to;
}

bool client_pending_has_any(const struct client_pending *w)
{
    const struct client_pending_request *at = w->first;

    while (at && (at->kind == CLIENT_PENDING_SUBSCRIPTION || at->cancelled))
        at = at->next;
    return at != NULL;
}

void client_queue_release(struct client_queue *s)
{
    while (s->first)
        client_queue_pop(s);
}

static void add_unsent_requests(struct json *json, struct str text, struct client_pending *to)
{
    struct arena a = { 0 };
    struct json_fault fault;
    struct mcp_message m;

    if (!json_scan(json, text, &fault))
        BUG("a stored message is not valid JSON");
    m = mcp_classify(json_root(json), &a);
    if (m.kind == MCP_BATCH)
        client_pending_add_batch(to, m.root, NULL);
    else if (m.kind == MCP_REQUEST)
        client_pending_add(to, &m, NULL);
    arena_release(&a);
}

void client_queue_move_to_pending(struct client_queue *s, struct client_pending *to)
{
    struct json json;

    json_init(&json);
    for (; s->first; client_queue_pop(s))
        add_unsent_requests(&json, s->first->text, to);
    json_release(&json);
}

void client_queue_add(struct client_queue *s, struct str text, bool is_response)
{
    struct client_queue_line *l = mem_alloc(sizeof *l + text.len);

    l->is_response = is_response;
    l->text = str_n((char *)(l + 1), text.len);
    if (text.len)
        memcpy(l + 1, text.at, text.len);
    *(s->last ? &s->last->next : &s->first) = l;
    s->last = l;
    s->bytes += text.len;
}

void client_queue_pop(struct client_queue *s)
{
    struct client_queue_line *l = s->first;

    s->first = l->next;
    if (!s->first)
        s->last = NULL;
    s->bytes -= l->text.len;
    free(l);
}
