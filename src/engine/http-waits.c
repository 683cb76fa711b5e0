#include "engine/http-waits.h"

#include <stdlib.h>

#include "base/mem.h"
#include "mcp/id.h"

void http_waits_release(struct http_waits *w)
{
    while (w->first)
        http_waits_remove(w, w->first);
}

static enum http_wait_for kind_of(struct str method)
{
    if (str_eq(method, STR("initialize")))
        return HTTP_WAIT_GREETING;
    if (str_eq(method, STR("tools/list")))
        return HTTP_WAIT_TOOLS;
    if (str_eq(method, STR("subscriptions/listen")))
        return HTTP_WAIT_NEWS;
    return HTTP_WAIT_ANY;
}

void http_waits_add(struct http_waits *w, const struct mcp_message *request, const void *by)
{
    struct str id = json_raw(request->id), key;
    struct http_wait *new;
    struct arena a = { 0 };
    char *at;

    key = mcp_id_key(request->id, &a);
    new = mem_alloc(sizeof *new + id.len + key.len + request->method.len);
    at = (char *)(new + 1);
    new->by = by;
    new->what = kind_of(request->method);
    new->id = str_keep(&at, id);
    new->key = str_keep(&at, key);
    new->method = str_keep(&at, request->method);
    arena_release(&a);
    *(w->last ? &w->last->next : &w->first) = new;
    w->last = new;
}

void http_waits_add_all(struct http_waits *w, struct json_val batch, const void *by)
{
    struct json_iter it = json_each(batch);
    struct arena a = { 0 };

    while (json_next(&it)) {
        struct mcp_message one = mcp_classify(it.value, &a);

        if (one.kind == MCP_REQUEST)
            http_waits_add(w, &one, by);
    }
    arena_release(&a);
}

struct http_wait *http_waits_find(const struct http_waits *w, struct json_val id,
                                  const void *by)
{
    struct http_wait *found = NULL;
    struct arena a = { 0 };
    struct str key = mcp_id_key(id, &a);

    for (struct http_wait *at = w->first; key.len && at; at = at->next) {
        if (!str_eq(at->key, key))
            continue;
        if (!found)
            found = at;
        if (at->by == by) {
            found = at;
            break;
        }
    }
    arena_release(&a);
    return found;
}

struct http_wait *http_waits_of(const struct http_waits *w, const void *by)
{
    struct http_wait *at = w->first;

    while (at && at->by != by)
        at = at->next;
    return at;
}

struct http_wait *http_waits_only(const struct http_waits *w, const void *by)
{
    struct http_wait *first = http_waits_of(w, by), *at = first ? first->next : NULL;

    while (at && at->by != by)
        at = at->next;
    return at ? NULL : first;
}

void http_waits_remove(struct http_waits *w, struct http_wait *gone)
{
    struct http_wait *before = NULL;

    for (struct http_wait *at = w->first; at != gone; at = at->next)
        before = at;
    *(before ? &before->next : &w->first) = gone->next;
    if (w->last == gone)
        w->last = before;
    free(gone);
}

void http_waits_forget(struct http_waits *w, const void *by)
{
    struct http_wait *at;

    while ((at = http_waits_of(w, by)))
        http_waits_remove(w, at);
}

void http_waits_pass(struct http_waits *w, const void *from, const void *to)
{
    for (struct http_wait *at = w->first; at; at = at->next)
        if (at->by == from)
            at->by = to;
}

bool http_waits_any(const struct http_waits *w)
{
    const struct http_wait *at = w->first;

    while (at && (at->what == HTTP_WAIT_NEWS || at->given_up))
        at = at->next;
    return at != NULL;
}
