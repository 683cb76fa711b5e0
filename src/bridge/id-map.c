#include "bridge/id-map.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "mcp/error-code.h"
#include "mcp/id.h"
#include "mcp/meta.h"
#include "trace/limits.h"
#include "json/splice.h"

void id_map_init(struct id_map *l, bool shared)
{
    *l = (struct id_map){ .shared = shared };
    map_init(&l->by_number);
    buf_init(&l->text, LIMIT_LINE * 3);
}

void id_map_release(struct id_map *l)
{
    while (l->first)
        id_map_remove(l, l->first);
    map_release(&l->by_number);
    buf_release(&l->text);
    arena_release(&l->arena);
}

void id_map_remove(struct id_map *l, struct id_map_request *c)
{
    *(c->prev ? &c->prev->next : &l->first) = c->next;
    *(c->next ? &c->next->prev : &l->last) = c->prev;
    if (l->shared)
        map_remove(&l->by_number, map_number_key(&c->number));
    l->count--;
    free(c);
}

/* Replaces line breaks between values by blanks: a message is one line. */
static struct str text_as_line(struct id_map *l)
{
    BUG_IF(l->text.full);
    for (size_t i = 0; i < l->text.len; i++)
        if (l->text.at[i] == '\n' || l->text.at[i] == '\r')
            l->text.at[i] = ' ';
    return buf_str(&l->text);
}

static struct str number_text(struct id_map *l, uint64_t number)
{
    return arena_printf(&l->arena, "%llu", (unsigned long long)number);
}

static struct str copy_message(struct id_map *l, const struct mcp_message *m)
{
    buf_clear(&l->text);
    buf_add(&l->text, json_raw(m->root));
    return text_as_line(l);
}

/* Both values may be absent. */
static struct str replace_values(struct id_map *l, const struct mcp_message *m,
                                 struct json_val one, struct str one_raw, struct json_val other,
                                 struct str other_raw)
{
    struct json_splice edit;

    buf_clear(&l->text);
    json_splice_init(&edit, m->root);
    json_splice_replace(&edit, one, one_raw);
    json_splice_replace(&edit, other, other_raw);
    json_splice_apply(&edit, &l->text);
    return text_as_line(l);
}

static struct id_map_request *add_request(struct id_map *l, uint64_t exchange,
                                          const struct mcp_message *m)
{
    struct json_val progress = mcp_progress_token(m->meta);
    struct str id = json_raw(m->id), token = json_raw(progress);
    struct str id_key = mcp_id_key(m->id, &l->arena),
               token_key = mcp_id_key(progress, &l->arena);
    struct id_map_request *c =
        mem_alloc(sizeof *c + id.len + token.len + id_key.len + token_key.len + m->method.len);
    char *at = (char *)(c + 1);

    *c = (struct id_map_request){ .number = ++l->last_number, .exchange = exchange };
    c->id = str_copy_to(&at, id);
    c->token = str_copy_to(&at, token);
    c->id_key = str_copy_to(&at, id_key);
    c->token_key = str_copy_to(&at, token_key);
    c->method = str_copy_to(&at, m->method);
    c->sets_log_level = json_exists(json_get(m->meta, MCP_META_LOG_LEVEL));
    c->prev = l->last;
    *(l->last ? &l->last->next : &l->first) = c;
    l->last = c;
    l->count++;
    if (l->shared)
        map_put(&l->by_number, map_number_key(&c->number), c);
    return c;
}

struct str id_map_add_request(struct id_map *l, uint64_t exchange, const struct mcp_message *m)
{
    struct id_map_request *c;
    struct str number;

    arena_clear(&l->arena);
    c = add_request(l, exchange, m);
    if (!l->shared)
        return copy_message(l, m);
    number = number_text(l, c->number);
    return replace_values(l, m, m->id, number, mcp_progress_token(m->meta), number);
}

size_t id_map_count_requests(struct json_val body, struct arena *a)
{
    struct json_iter it = json_each(body);
    size_t count = 0;

    if (json_type(body) != JSON_ARRAY)
        return mcp_classify(body, a).kind == MCP_REQUEST;
    while (json_next(&it))
        count += mcp_classify(it.value, a).kind == MCP_REQUEST;
    return count;
}

static bool is_jsonrpc_member(struct str name)
{
    return str_eq(name, STR("jsonrpc")) || str_eq(name, STR("id")) ||
           str_eq(name, STR("method")) || str_eq(name, STR("params")) ||
           str_eq(name, STR("result")) || str_eq(name, STR("error"));
}

/* Unknown members are ambiguous: a case-insensitive parser may take one for the id. */
static bool is_message_unambiguous(struct json_val message, struct arena *a)
{
    struct json_iter it = json_each(message);
    struct json_val params = json_get(message, STR("params"));

    while (json_next(&it)) {
        struct str name = json_text(it.key, a);

        if (!is_jsonrpc_member(name) || json_occurrences(message, name) > 1)
            return false;
    }
    return json_occurrences(params, STR("_meta")) <= 1 &&
           json_occurrences(json_get(params, STR("_meta")), STR("progressToken")) <= 1;
}

bool id_map_is_unambiguous(struct json_val body, struct arena *a)
{
    struct json_iter it = json_each(body);

    if (json_type(body) != JSON_ARRAY)
        return is_message_unambiguous(body, a);
    while (json_next(&it))
        if (!is_message_unambiguous(it.value, a))
            return false;
    return true;
}

static struct id_map_request *find_by_number(const struct id_map *l, struct json_val id)
{
    int64_t value;
    uint64_t number;

    if (json_type(id) != JSON_NUMBER || !json_int(id, &value) || value < 0)
        return NULL;
    number = (uint64_t)value;
    return map_get(&l->by_number, map_number_key(&number));
}

/* Returns the oldest request with that id or, if `token`, with that progress token. */
static struct id_map_request *find_request(struct id_map *l, struct json_val id, bool token)
{
    struct id_map_request *c = l->first;
    struct str key;

    if (l->shared) {
        c = find_by_number(l, id);
        return c && token && !c->token.len ? NULL : c;
    }
    key = mcp_id_key(id, &l->arena);
    while (c && !str_eq(token ? c->token_key : c->id_key, key))
        c = c->next;
    return key.len ? c : NULL;
}

/* Returns whether a message is about a request that a shared server does not have from this
 * client, or repeats the handshake. */
static bool is_client_specific(const struct mcp_message *m)
{
    return mcp_is_response(m) || str_eq(m->method, STR("notifications/initialized")) ||
           str_eq(m->method, STR("notifications/cancelled")) ||
           str_eq(m->method, STR("notifications/progress"));
}

struct str id_map_forward(struct id_map *l, const struct mcp_message *m)
{
    struct id_map_request *c;

    if (l->shared && is_client_specific(m))
        return STR_NONE;
    arena_clear(&l->arena);
    if (str_eq(m->method, STR("notifications/cancelled"))) {
        c = find_request(l, json_get(m->params, STR("requestId")), false);
        if (c)
            c->cancelled = true;
    }
    return copy_message(l, m);
}

static struct id_map_routed route_to_request(struct id_map *l, struct id_map_request *c,
                                             const struct mcp_message *m, struct json_val value,
                                             struct str raw)
{
    return (struct id_map_routed){
        .destination = ID_MAP_TO_REQUEST,
        .request = c,
        .text = l->shared ? replace_values(l, m, value, raw, JSON_VAL_NONE, STR_NONE)
                          : copy_message(l, m),
    };
}

static struct id_map_routed route_to_none(struct id_map *l, const struct mcp_message *m)
{
    return (struct id_map_routed){ .destination = ID_MAP_TO_NONE, .text = copy_message(l, m) };
}

/* An error without an id is the only response to a line that the server cannot parse. */
static struct id_map_routed route_response(struct id_map *l, const struct mcp_message *m)
{
    struct json_val subscription = mcp_meta(m->result, MCP_META_SUBSCRIPTION);
    struct id_map_request *c = find_request(l, m->id, false);
    struct id_map_routed s;

    if (!c && !l->shared && (!json_exists(m->id) || json_type(m->id) == JSON_NULL))
        return (struct id_map_routed){ .destination = ID_MAP_TO_CLIENT,
                                       .text = copy_message(l, m) };
    if (!c)
        return route_to_none(l, m);
    s = route_to_request(l, c, m, m->id, c->id);
    if (l->shared && find_by_number(l, subscription) == c)
        s.text = replace_values(l, m, m->id, c->id, subscription, c->id);
    s.is_final = true;
    return s;
}

/* mcpreel has declared no capabilities; a server request other than ping gets an error. */
static struct id_map_routed respond_to_server(struct id_map *l, const struct mcp_message *m)
{
    bool ping = str_eq(m->method, STR("ping"));

    buf_clear(&l->text);
    buf_printf(&l->text, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,", STR_ARG(json_raw(m->id)));
    if (ping)
        buf_add(&l->text, STR("\"result\":{}}"));
    else
        buf_printf(&l->text,
                   "\"error\":{\"code\":%d,\"message\":\"clients without a session do not "
                   "accept server requests\"}}",
                   MCP_METHOD_NOT_FOUND);
    return (struct id_map_routed){ .destination = ID_MAP_TO_SERVER, .text = text_as_line(l) };
}

/* Delivers a notification only if it can belong to no more than one client. */
static struct id_map_routed route_shared(struct id_map *l, const struct mcp_message *m)
{
    bool log = str_eq(m->method, STR("notifications/message")), wished = false;
    struct id_map_request *meant = NULL;
    size_t count = 0;

    for (struct id_map_request *c = l->first; c; c = c->next)
        wished |= c->sets_log_level;
    for (struct id_map_request *c = l->first; c; c = c->next)
        if (!log || !wished || c->sets_log_level) {
            meant = c;
            count++;
        }
    if (count != 1)
        return route_to_none(l, m);
    return route_to_request(l, meant, m, JSON_VAL_NONE, STR_NONE);
}

/* Returns whether a notification is caused by no request. */
static bool is_unsolicited(const struct mcp_message *m)
{
    return str_ends(m->method, STR("/list_changed")) ||
           str_eq(m->method, STR("notifications/resources/updated")) ||
           str_eq(m->method, STR("notifications/tasks/status"));
}

static struct id_map_routed route_notification(struct id_map *l, const struct mcp_message *m)
{
    struct json_val token = json_get(m->params, STR("progressToken")),
                    request = json_get(m->params, STR("requestId")),
                    subscription = json_get(m->meta, MCP_META_SUBSCRIPTION);
    struct id_map_routed s;
    struct id_map_request *c;

    if (str_eq(m->method, STR("notifications/progress"))) {
        c = find_request(l, token, true);
        if (c)
            return route_to_request(l, c, m, token, c->token);
        if (l->shared)
            return route_to_none(l, m);
    }
    c = json_exists(subscription) ? find_request(l, subscription, false) : NULL;
    if (c)
        return route_to_request(l, c, m, subscription, c->id);
    if (!l->shared)
        return (struct id_map_routed){ .destination = ID_MAP_TO_CLIENT,
                                       .text = copy_message(l, m),
                                       .other_stream = is_unsolicited(m) };
    c = str_eq(m->method, STR("notifications/cancelled")) ? find_request(l, request, false)
                                                          : NULL;
    if (!c)
        return json_exists(subscription) ? route_to_none(l, m) : route_shared(l, m);
    s = route_to_request(l, c, m, request, c->id);
    s.is_final = true;
    return s;
}

struct id_map_routed id_map_route(struct id_map *l, const struct mcp_message *m)
{
    arena_clear(&l->arena);
    if (mcp_is_response(m))
        return route_response(l, m);
    if (m->kind == MCP_NOTIFICATION)
        return route_notification(l, m);
    if (m->kind != MCP_REQUEST)
        return route_to_none(l, m);
    if (l->shared)
        return respond_to_server(l, m);
    return (struct id_map_routed){ .destination = ID_MAP_TO_CLIENT,
                                   .text = copy_message(l, m),
                                   .is_request = true };
}

struct str id_map_cancel(struct id_map *l, uint64_t exchange)
{
    struct id_map_request *c = l->first;

    while (c && c->exchange != exchange)
        c = c->next;
    if (!c)
        return STR_NONE;
    buf_clear(&l->text);
    buf_add(&l->text, STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                          "\"params\":{\"requestId\":"));
    if (l->shared)
        buf_printf(&l->text, "%llu", (unsigned long long)c->number);
    else
        buf_add(&l->text, c->id);
    buf_add(&l->text, STR("}}"));
    id_map_remove(l, c);
    return text_as_line(l);
}
