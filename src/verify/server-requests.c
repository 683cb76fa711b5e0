#include "verify/server-requests.h"

#include "mcp/id.h"
#include "mcp/params-compare.h"

/* The passes of a search, in order. */
enum pass {
    PASS_OPEN_EQUAL,
    PASS_ANY_EQUAL,
    PASS_USED_EQUAL,
    PASS_OPEN_METHOD,
    PASS_COUNT,
};

struct search {
    struct server_requests *of;
    const struct mcp_message *live;
    bool (*is_open)(void *arg, uint32_t call);
    void *arg;
    enum pass pass;
    struct server_request_reply *reply;
};

void server_requests_init(struct server_requests *s, const struct index *index,
                          const struct index_order *order, uint32_t session)
{
    *s = (struct server_requests){ .index = index, .order = order, .session = session };
    map_init(&s->used);
    index_message_init(&s->request);
    index_message_init(&s->response);
}

void server_requests_release(struct server_requests *s)
{
    map_release(&s->used);
    index_message_release(&s->request);
    index_message_release(&s->response);
}

static bool is_used(const struct server_requests *s, uint32_t step)
{
    uint64_t key = step;

    return map_get(&s->used, map_number_key(&key)) != NULL;
}

static void set_used(struct server_requests *s, uint32_t step)
{
    uint64_t key = step;

    map_put(&s->used, map_number_key(&key), s);
}

/* Finds the client's response to the request that `request` holds. */
static bool find_response(struct search *q, uint32_t call, uint32_t step,
                          struct json_val request)
{
    const struct index *index = q->of->index;
    struct err e = ERR_NONE;
    struct json_val root;
    struct str id = mcp_id_key(json_get(request, STR("id")), &q->of->request.arena);

    while ((step = index_next_step(index, call, step))) {
        if (index->steps[step].kind != STEP_CLIENT_RESPONSE)
            continue;
        if (!index_read_step(index, step, &q->of->response, &root, &e))
            return false;
        if (!str_eq(id, mcp_id_key(json_get(root, STR("id")), &q->of->response.arena)))
            continue;
        q->reply->response = root;
        return true;
    }
    return false;
}

static bool fits(const struct search *q, uint32_t step, struct json_val request)
{
    static const struct params_rules rules = { .include_meta = false };
    static const struct params_mask nothing = { .count = 0 };

    if (!json_is(json_get(request, STR("method")), q->live->method))
        return false;
    if (q->pass == PASS_OPEN_METHOD)
        return !is_used(q->of, step);
    return is_used(q->of, step) == (q->pass == PASS_USED_EQUAL) &&
           params_equal(json_get(request, STR("params")), q->live->params, &rules, nothing);
}

static bool search_call(struct search *q, uint32_t call)
{
    const struct index *index = q->of->index;
    struct err e = ERR_NONE;
    struct json_val root;

    for (uint32_t step = index_first_step(index, call); step;
         step = index_next_step(index, call, step)) {
        if (index->steps[step].kind != STEP_SERVER_REQUEST)
            continue;
        if (!index_read_step(index, step, &q->of->request, &root, &e) || !fits(q, step, root) ||
            !find_response(q, call, step, root))
            continue;
        q->reply->call = call;
        q->reply->recorded = root;
        q->reply->differs = q->pass == PASS_OPEN_METHOD;
        set_used(q->of, step);
        return true;
    }
    return false;
}

static bool search_session(struct search *q)
{
    const struct server_requests *s = q->of;
    bool open_only = q->pass == PASS_OPEN_EQUAL || q->pass == PASS_OPEN_METHOD;
    uint32_t preamble = s->index->sessions[s->session].preamble;

    if (preamble && !open_only && search_call(q, preamble))
        return true;
    for (uint32_t i = index_order_first(s->order, s->session); i; i = s->order->items[i].next) {
        const struct index_order_item *item = &s->order->items[i];

        if (item->kind == ORDER_REQUEST && (!open_only || q->is_open(q->arg, item->number)) &&
            search_call(q, item->number))
            return true;
    }
    return false;
}

bool server_requests_find(struct server_requests *s, const struct mcp_message *live,
                          bool (*is_open)(void *arg, uint32_t call), void *arg,
                          struct server_request_reply *reply)
{
    struct search q = { .of = s, .live = live, .is_open = is_open, .arg = arg, .reply = reply };

    for (q.pass = 0; q.pass < PASS_COUNT; q.pass++)
        if (search_session(&q))
            return true;
    return false;
}
