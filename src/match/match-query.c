#include "match/match-query.h"

#include "base/hash.h"
#include "index/redacted-params.h"
#include "mcp/params-compare.h"

struct match_query match_query_of(const struct matcher *m, struct used_set *used,
                                  uint32_t session, const struct mcp_message *live)
{
    bool stateless = index_is_stateless(m->index, session);

    return (struct match_query){ .live = live,
                                 .used_set = used,
                                 .session = session,
                                 .exhausted = stateless ? m->options.exhausted_stateless
                                                        : m->options.exhausted };
}

struct json_val match_query_recorded_params(struct matcher *m, uint32_t call)
{
    struct json_val root = JSON_VAL_NONE;

    if (match_query_has_failed(m) ||
        !index_read_call(m->index, call, &m->recorded, &root, &m->error))
        return JSON_VAL_NONE;
    return json_get(root, STR("params"));
}

bool match_query_same_subject(struct matcher *m, const struct match_query *w,
                              struct json_val params)
{
    struct json_val subject = mcp_subject(w->live->method, params);
    struct json_val live = mcp_subject(w->live->method, w->live->params);

    if (params_is_redacted(subject) || params_is_redacted(live))
        return params_may_be_equal(subject, live);
    return str_eq(json_text(subject, &m->recorded.arena), json_text(live, &m->recorded.arena));
}

static bool same_params(struct matcher *m, const struct match_query *w, uint32_t call,
                        struct json_val params)
{
    return params_equal(params, w->live->params, &m->options.rules,
                        redacted_params_unmarked(m->index, call));
}

/* Compares a call with the live request: equal hashes do not prove equal requests. */
static void compare_call(struct matcher *m, const struct match_query *w, uint32_t call)
{
    struct match_query_cache *known = &m->query_cache;
    struct json_val params;

    known->compared_call = call;
    known->same_subject = known->equal_params =
        true; /* if it cannot be read, the search ends */
    if (match_query_has_failed(m) ||
        !index_fetch_call(m->index, call, &m->recorded.text, &m->error))
        return;
    if (params_text_equal(buf_str(&m->recorded.text), w->live)) {
        known->same_text_call = call;
        return;
    }
    params = match_query_recorded_params(m, call);
    if (match_query_has_failed(m))
        return;
    known->equal_params = same_params(m, w, call, params);
    known->same_subject = known->equal_params || match_query_same_subject(m, w, params);
}

bool match_query_fits(struct matcher *m, const struct match_query *w,
                      const struct candidates *q, uint32_t call, bool *differs)
{
    struct match_query_cache *known = &m->query_cache;
    bool by_params = candidates_uses_params(q, w->method);

    if (known->compared_call != call)
        compare_call(m, w, call);
    if (by_params ? !known->equal_params : !known->same_subject)
        return false;
    *differs = !known->equal_params;
    return true;
}

/* Takes the params key from the call that had the same text last time, if it still has. */
static bool find_cached_key(struct matcher *m, const struct match_query *w)
{
    struct match_query_cache *known = &m->query_cache;
    uint32_t call =
        match_query_text_find(&m->text_cache, json_raw(w->live->params), &known->text_hash);
    bool differs;

    if (!call || m->index->calls[call].method != w->method ||
        !match_query_fits(m, w, &m->candidates, call, &differs) ||
        known->same_text_call != call)
        return false;
    known->params_key = m->index->calls[call].params_key;
    return true;
}

uint32_t match_query_params_key(struct matcher *m, const struct match_query *w)
{
    struct match_query_cache *known = &m->query_cache;

    if (!known->has_key && !find_cached_key(m, w)) {
        params_leaves_read(&m->leaves, w->live->params, &m->options.rules,
                           (struct params_mask){ NULL, 0 });
        known->params_key = index_fold_hash(params_leaves_hash(&m->leaves));
    }
    known->has_key = true;
    return known->params_key;
}

/* A call with redacted params is not cached: its key leaves them out. */
void match_query_cache_key(struct matcher *m)
{
    const struct match_query_cache *known = &m->query_cache;

    if (known->has_key && known->same_text_call &&
        !match_query_is_redacted(m, known->same_text_call))
        match_query_text_add(&m->text_cache, known->text_hash, known->same_text_call);
}

uint32_t match_query_text_find(const struct match_text_cache *r, struct str params,
                               uint64_t *hash)
{
    const struct match_text_slot *slot;

    *hash = hash_bytes(params, 0);
    slot = &r->slots[*hash % TEXT_CACHE_SLOTS];
    return slot->hash == *hash ? slot->call : 0;
}

void match_query_text_add(struct match_text_cache *r, uint64_t hash, uint32_t call)
{
    r->slots[hash % TEXT_CACHE_SLOTS] = (struct match_text_slot){ hash, call };
}
