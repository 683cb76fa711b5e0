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
                                 .mode = matcher_mode(&m->options, live),
                                 .rules = matcher_compare_rules(&m->options, live),
                                 .exhausted = stateless ? m->options.exhausted_stateless
                                                        : m->options.exhausted };
}

struct json_val match_query_recorded_params(struct matcher *m, uint32_t call)
{
    struct json_val root = JSON_VAL_NONE;

    m->query_cache.parsed_call = 0;
    if (match_query_has_failed(m) ||
        !index_read_call(m->index, call, &m->recorded, &root, &m->error))
        return JSON_VAL_NONE;
    m->query_cache.parsed_call = call;
    return json_get(root, STR("params"));
}

bool match_query_same_subject(struct matcher *m, const struct match_query *query,
                              struct json_val params)
{
    struct json_val subject = mcp_subject(query->live->method, params);
    struct json_val live = mcp_subject(query->live->method, query->live->params);

    if (params_is_redacted(subject) || params_is_redacted(live))
        return params_may_be_equal(subject, live);
    return str_eq(json_text(subject, &m->recorded.arena), json_text(live, &m->recorded.arena));
}

/* Counts a rule once, as long as there is room to remember it. */
static void note_rule(struct match_query_cache *known, size_t rule)
{
    for (size_t i = 0; i < known->rule_count && i < MATCH_RULES_NOTED; i++)
        if (known->rules[i] == rule)
            return;
    if (known->rule_count < MATCH_RULES_NOTED)
        known->rules[known->rule_count] = (uint16_t)rule;
    if (known->rule_count <= MATCH_RULES_NOTED)
        known->rule_count++;
}

static bool note_difference(void *arg, const struct params_difference *d)
{
    struct match_query_cache *known = arg;

    if (d->excuse == PARAMS_REDACTED)
        return true;
    known->equal_params = false;
    if (d->excuse == PARAMS_IGNORED)
        note_rule(known, d->rule);
    else
        known->equal_reduced = false;
    return known->equal_reduced;
}

static void compare_params(struct matcher *m, const struct match_query *query, uint32_t call,
                           struct json_val params)
{
    struct match_query_cache *known = &m->query_cache;
    struct params_mask redacted = redacted_params_unmarked(m->index, call);

    if (query->rules.ignore)
        params_compare_all(params, query->live->params, &query->rules, redacted,
                           note_difference, known);
    else
        known->equal_params = known->equal_reduced =
            params_equal(params, query->live->params, &query->rules, redacted);
}

/* Compares a call with the live request: equal hashes do not prove equal requests. */
static void compare_call(struct matcher *m, const struct match_query *query, uint32_t call)
{
    struct match_query_cache *known = &m->query_cache;
    struct json_val params;

    known->compared_call = call;
    known->parsed_call = 0;
    known->rule_count = 0;
    known->same_subject = known->equal_params = known->equal_reduced =
        true; /* if it cannot be read, the search ends */
    if (match_query_has_failed(m) ||
        !index_fetch_call(m->index, call, &m->recorded.text, &m->error))
        return;
    if (params_text_equal(buf_str(&m->recorded.text), query->live)) {
        known->same_text_call = call;
        return;
    }
    params = match_query_recorded_params(m, call);
    if (match_query_has_failed(m))
        return;
    compare_params(m, query, call, params);
    known->same_subject = known->equal_reduced || match_query_same_subject(m, query, params);
}

/* Whether the call that was compared fits, by what `candidates` lists calls. */
static bool fits_as(const struct match_query_cache *known, const struct match_query *query,
                    const struct candidates *candidates)
{
    if (!candidates_uses_params(candidates, query->method))
        return known->same_subject;
    return candidates->by == CANDIDATES_BY_PARAMS ? known->equal_params : known->equal_reduced;
}

bool match_query_fits(struct matcher *m, const struct match_query *query,
                      const struct candidates *candidates, uint32_t call, bool *differs)
{
    struct match_query_cache *known = &m->query_cache;

    if (known->compared_call != call)
        compare_call(m, query, call);
    if (!fits_as(known, query, candidates))
        return false;
    *differs = !known->equal_reduced;
    return true;
}

/* Takes the params key from the call that had the same text last time, if it still has. */
static bool find_cached_key(struct matcher *m, const struct match_query *query)
{
    struct match_query_cache *known = &m->query_cache;
    uint32_t call =
        match_query_text_find(&m->text_cache, json_raw(query->live->params), &known->text_hash);
    bool differs;

    if (!call || m->index->calls[call].method != query->method ||
        !match_query_fits(m, query, &m->candidates, call, &differs) ||
        known->same_text_call != call)
        return false;
    known->params_key = m->index->calls[call].params_key;
    return true;
}

uint32_t match_query_params_key(struct matcher *m, const struct match_query *query)
{
    struct match_query_cache *known = &m->query_cache;

    if (!known->has_key && !find_cached_key(m, query)) {
        struct params_rules all = params_rules_without_ignore(&m->options.rules);

        params_leaves_read(&m->leaves, query->live->params, &all,
                           (struct params_mask){ NULL, 0 });
        known->params_key = index_fold_hash(params_leaves_hash(&m->leaves));
    }
    known->has_key = true;
    return known->params_key;
}

uint32_t match_query_masked_key(struct matcher *m, const struct match_query *query,
                                const struct candidates *candidates, struct params_mask mask)
{
    struct params_rules rules = candidates->by == CANDIDATES_BY_PARAMS
                                    ? params_rules_without_ignore(&m->options.rules)
                                    : m->options.rules;

    params_leaves_read(&m->leaves, query->live->params, &rules, mask);
    return index_fold_hash(params_leaves_hash(&m->leaves));
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
