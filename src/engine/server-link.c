#include "engine/server-link.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "mcp/code.h"
#include "mcp/id.h"
#include "mcp/meta.h"
#include "trace/limits.h"
#include "json/splice.h"

void server_link_init(struct server_link *l, bool shared)
{
    *l = (struct server_link){ .shared = shared };
    map_init(&l->numbers);
    buf_init(&l->text, LIMIT_LINE * 3);
}

void server_link_release(struct server_link *l)
{
    while (l->first)
        server_link_done(l, l->first);
    map_release(&l->numbers);
    buf_release(&l->text);
    arena_release(&l->arena);
}

void server_link_done(struct server_link *l, struct server_call *c)
{
    *(c->before ? &c->before->after : &l->first) = c->after;
    *(c->after ? &c->after->before : &l->last) = c->before;
    if (l->shared)
        map_remove(&l->numbers, map_number(&c->number));
    l->count--;
    free(c);
}

/* A message is a line: breaks between its values become blanks. */
static struct str as_line(struct server_link *l)
{
    BUG_IF(l->text.full);
    for (size_t i = 0; i < l->text.len; i++)
        if (l->text.at[i] == '\n' || l->text.at[i] == '\r')
            l->text.at[i] = ' ';
    return buf_str(&l->text);
}

static struct str number_text(struct server_link *l, uint64_t number)
{
    return arena_printf(&l->arena, "%llu", (unsigned long long)number);
}

static struct str as_it_is(struct server_link *l, const struct mcp_message *m)
{
    buf_clear(&l->text);
    buf_add(&l->text, json_raw(m->root));
    return as_line(l);
}

/* Both values may be absent. */
static struct str with_values(struct server_link *l, const struct mcp_message *m,
                              struct json_val one, struct str one_raw, struct json_val other,
                              struct str other_raw)
{
    struct json_splice edit;

    buf_clear(&l->text);
    json_splice_init(&edit, m->root);
    json_splice_replace(&edit, one, one_raw);
    json_splice_replace(&edit, other, other_raw);
    json_splice_apply(&edit, &l->text);
    return as_line(l);
}

static struct server_call *add_call(struct server_link *l, uint64_t exchange,
                                    const struct mcp_message *m)
{
    struct json_val progress = mcp_progress_token(m->meta);
    struct str id = json_raw(m->id), token = json_raw(progress);
    struct str id_key = mcp_id_key(m->id, &l->arena),
               token_key = mcp_id_key(progress, &l->arena);
    struct server_call *c =
        mem_alloc(sizeof *c + id.len + token.len + id_key.len + token_key.len + m->method.len);
    char *at = (char *)(c + 1);

    *c = (struct server_call){ .number = ++l->asked, .exchange = exchange };
    c->id = str_keep(&at, id);
    c->token = str_keep(&at, token);
    c->id_key = str_keep(&at, id_key);
    c->token_key = str_keep(&at, token_key);
    c->method = str_keep(&at, m->method);
    c->logs = json_exists(json_get(m->meta, MCP_META_LOG_LEVEL));
    c->before = l->last;
    *(l->last ? &l->last->after : &l->first) = c;
    l->last = c;
    l->count++;
    if (l->shared)
        map_put(&l->numbers, map_number(&c->number), c);
    return c;
}

struct str server_link_ask(struct server_link *l, uint64_t exchange,
                           const struct mcp_message *m)
{
    struct server_call *c;
    struct str number;

    arena_clear(&l->arena);
    c = add_call(l, exchange, m);
    if (!l->shared)
        return as_it_is(l, m);
    number = number_text(l, c->number);
    return with_values(l, m, m->id, number, mcp_progress_token(m->meta), number);
}

size_t server_link_asks(struct json_val body, struct arena *a)
{
    struct json_iter it = json_each(body);
    size_t count = 0;

    if (json_type(body) != JSON_ARRAY)
        return mcp_classify(body, a).kind == MCP_REQUEST;
    while (json_next(&it))
        count += mcp_classify(it.value, a).kind == MCP_REQUEST;
    return count;
}

static bool is_member(struct str name)
{
    return str_eq(name, STR("jsonrpc")) || str_eq(name, STR("id")) ||
           str_eq(name, STR("method")) || str_eq(name, STR("params")) ||
           str_eq(name, STR("result")) || str_eq(name, STR("error"));
}

/* Other names do not belong there, and may be an id to who does not look at the case. */
static bool is_clear(struct json_val message, struct arena *a)
{
    struct json_iter it = json_each(message);
    struct json_val params = json_get(message, STR("params"));

    while (json_next(&it)) {
        struct str name = json_text(it.key, a);

        if (!is_member(name) || json_occurrences(message, name) > 1)
            return false;
    }
    return json_occurrences(params, STR("_meta")) <= 1 &&
           json_occurrences(json_get(params, STR("_meta")), STR("progressToken")) <= 1;
}

bool server_link_is_clear(struct json_val body, struct arena *a)
{
    struct json_iter it = json_each(body);

    if (json_type(body) != JSON_ARRAY)
        return is_clear(body, a);
    while (json_next(&it))
        if (!is_clear(it.value, a))
            return false;
    return true;
}

static struct server_call *find_number(const struct server_link *l, struct json_val id)
{
    int64_t value;
    uint64_t number;

    if (json_type(id) != JSON_NUMBER || !json_int(id, &value) || value < 0)
        return NULL;
    number = (uint64_t)value;
    return map_get(&l->numbers, map_number(&number));
}

/* The oldest call with that id, or, by `token`, with that progress token. */
static struct server_call *find_call(struct server_link *l, struct json_val id, bool token)
{
    struct server_call *c = l->first;
    struct str key;

    if (l->shared) {
        c = find_number(l, id);
        return c && token && !c->token.len ? NULL : c;
    }
    key = mcp_id_key(id, &l->arena);
    while (c && !str_eq(token ? c->token_key : c->id_key, key))
        c = c->after;
    return key.len ? c : NULL;
}

/* What says something about a request or a question, which a shared server has not from this
 * client; and what it was told by us. */
static bool is_personal(const struct mcp_message *m)
{
    return mcp_is_response(m) || str_eq(m->method, STR("notifications/initialized")) ||
           str_eq(m->method, STR("notifications/cancelled")) ||
           str_eq(m->method, STR("notifications/progress"));
}

struct str server_link_tell(struct server_link *l, const struct mcp_message *m)
{
    struct server_call *c;

    if (l->shared && is_personal(m))
        return STR_NONE;
    arena_clear(&l->arena);
    if (str_eq(m->method, STR("notifications/cancelled"))) {
        c = find_call(l, json_get(m->params, STR("requestId")), false);
        if (c)
            c->cancelled = true;
    }
    return as_it_is(l, m);
}

static struct server_said to_call(struct server_link *l, struct server_call *c,
                                  const struct mcp_message *m, struct json_val value,
                                  struct str raw)
{
    return (struct server_said){
        .to = SAID_TO_CALL,
        .call = c,
        .text =
            l->shared ? with_values(l, m, value, raw, JSON_VAL_NONE, STR_NONE) : as_it_is(l, m),
    };
}

static struct server_said to_nobody(struct server_link *l, const struct mcp_message *m)
{
    return (struct server_said){ .to = SAID_TO_NOBODY, .text = as_it_is(l, m) };
}

/* A failure that names no request is all that a server says to what it cannot read. */
static struct server_said hear_response(struct server_link *l, const struct mcp_message *m)
{
    struct json_val subscription = mcp_meta(m->result, MCP_META_SUBSCRIPTION);
    struct server_call *c = find_call(l, m->id, false);
    struct server_said s;

    if (!c && !l->shared && (!json_exists(m->id) || json_type(m->id) == JSON_NULL))
        return (struct server_said){ .to = SAID_TO_CLIENT, .text = as_it_is(l, m) };
    if (!c)
        return to_nobody(l, m);
    s = to_call(l, c, m, m->id, c->id);
    if (l->shared && find_number(l, subscription) == c)
        s.text = with_values(l, m, m->id, c->id, subscription, c->id);
    s.last = true;
    return s;
}

/* We have said that we can do nothing; whoever asks all the same is told again. */
static struct server_said answer_for_all(struct server_link *l, const struct mcp_message *m)
{
    bool ping = str_eq(m->method, STR("ping"));

    buf_clear(&l->text);
    buf_printf(&l->text, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,", STR_ARG(json_raw(m->id)));
    if (ping)
        buf_add(&l->text, STR("\"result\":{}}"));
    else
        buf_printf(&l->text,
                   "\"error\":{\"code\":%d,\"message\":\"clients without a session cannot be "
                   "asked\"}}",
                   MCP_METHOD_NOT_FOUND);
    return (struct server_said){ .to = SAID_TO_US, .text = as_line(l) };
}

/* Of those who share a server, nobody hears what may be meant for another. */
static struct server_said hear_for_one_of_many(struct server_link *l,
                                               const struct mcp_message *m)
{
    bool log = str_eq(m->method, STR("notifications/message")), wished = false;
    struct server_call *meant = NULL;
    size_t count = 0;

    for (struct server_call *c = l->first; c; c = c->after)
        wished |= c->logs;
    for (struct server_call *c = l->first; c; c = c->after)
        if (!log || !wished || c->logs) {
            meant = c;
            count++;
        }
    if (count != 1)
        return to_nobody(l, m);
    return to_call(l, meant, m, JSON_VAL_NONE, STR_NONE);
}

/* What a server says of its own accord, not for the sake of a request. */
static bool is_apart(const struct mcp_message *m)
{
    return str_ends(m->method, STR("/list_changed")) ||
           str_eq(m->method, STR("notifications/resources/updated")) ||
           str_eq(m->method, STR("notifications/tasks/status"));
}

static struct server_said hear_notification(struct server_link *l, const struct mcp_message *m)
{
    struct json_val token = json_get(m->params, STR("progressToken")),
                    request = json_get(m->params, STR("requestId")),
                    subscription = json_get(m->meta, MCP_META_SUBSCRIPTION);
    struct server_said s;
    struct server_call *c;

    if (str_eq(m->method, STR("notifications/progress"))) {
        c = find_call(l, token, true);
        if (c)
            return to_call(l, c, m, token, c->token);
        if (l->shared)
            return to_nobody(l, m);
    }
    c = json_exists(subscription) ? find_call(l, subscription, false) : NULL;
    if (c)
        return to_call(l, c, m, subscription, c->id);
    if (!l->shared)
        return (struct server_said){ .to = SAID_TO_CLIENT,
                                     .text = as_it_is(l, m),
                                     .apart = is_apart(m) };
    c = str_eq(m->method, STR("notifications/cancelled")) ? find_call(l, request, false) : NULL;
    if (!c)
        return json_exists(subscription) ? to_nobody(l, m) : hear_for_one_of_many(l, m);
    s = to_call(l, c, m, request, c->id);
    s.last = true;
    return s;
}

struct server_said server_link_hear(struct server_link *l, const struct mcp_message *m)
{
    arena_clear(&l->arena);
    if (mcp_is_response(m))
        return hear_response(l, m);
    if (m->kind == MCP_NOTIFICATION)
        return hear_notification(l, m);
    if (m->kind != MCP_REQUEST)
        return to_nobody(l, m);
    if (l->shared)
        return answer_for_all(l, m);
    return (struct server_said){ .to = SAID_TO_CLIENT, .text = as_it_is(l, m), .asks = true };
}

struct str server_link_cancel(struct server_link *l, uint64_t exchange)
{
    struct server_call *c = l->first;

    while (c && c->exchange != exchange)
        c = c->after;
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
    server_link_done(l, c);
    return as_line(l);
}
