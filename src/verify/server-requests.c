#include "verify/server-requests.h"

#include "mcp/id.h"
#include "mcp/params-compare.h"

/* A pass of a search: which recorded requests fit. */
struct pass {
    bool open; /* those of open calls; else of all */
    bool used; /* those that were used; else the others */
    enum { PARAMS_EQUAL, PARAMS_SAME, PARAMS_ANY } params;
};

static const struct pass passes[] = {
    { .open = true, .params = PARAMS_EQUAL },
    { .open = true, .params = PARAMS_SAME },
    { .params = PARAMS_EQUAL },
    { .params = PARAMS_SAME },
    { .used = true, .params = PARAMS_EQUAL },
    { .used = true, .params = PARAMS_SAME },
};

struct search {
    struct server_requests *of;
    const struct mcp_message *live;
    bool (*is_open)(void *arg, uint32_t call);
    void *arg;
    const struct pass *pass;
    struct server_request_reply *reply;
};

void server_requests_init(struct server_requests *s, const struct index *index,
                          const struct index_order *order, uint32_t session,
                          struct judge *judge)
{
    *s = (struct server_requests){
        .index = index, .order = order, .session = session, .judge = judge
    };
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
        q->reply->result = json_raw(json_get(root, STR("result")));
        q->reply->error = json_raw(json_get(root, STR("error")));
        return true;
    }
    return false;
}

static bool fits(const struct search *q, uint32_t step, struct json_val request)
{
    static const struct params_rules rules = { .include_meta = false };
    static const struct params_mask nothing = { .count = 0 };

    if (!json_is(json_get(request, STR("method")), q->live->method) ||
        is_used(q->of, step) != q->pass->used)
        return false;
    switch (q->pass->params) {
    case PARAMS_EQUAL:
        return params_equal(json_get(request, STR("params")), q->live->params, &rules, nothing);
    case PARAMS_SAME:
        return judge_request(q->of->judge, request, q->live, NULL);
    case PARAMS_ANY:
        break;
    }
    return true;
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
        if (q->pass->params == PARAMS_ANY)
            q->reply->changed =
                !judge_request(q->of->judge, root, q->live, &q->reply->difference);
        else
            set_used(q->of, step);
        return true;
    }
    return false;
}

static bool search_session(struct search *q)
{
    const struct server_requests *s = q->of;
    bool open_only = q->pass->open;
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
    static const struct pass near = { .open = true, .params = PARAMS_ANY };
    struct search q = { .of = s, .live = live, .is_open = is_open, .arg = arg, .reply = reply };

    *reply = (struct server_request_reply){ .changed = false };
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        q.pass = &passes[i];
        if (search_session(&q))
            return true;
    }
    q.pass = &near;
    (void)search_session(&q); /* it sets `changed` */
    if (reply->changed || !s->answer)
        return false;
    *reply = (struct server_request_reply){ .result = s->answer(s->answer_arg, live->method) };
    return reply->result.len > 0;
}
