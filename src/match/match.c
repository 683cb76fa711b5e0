#include "match/match.h"

#include <stdlib.h>

#include "base/mem.h"
#include "index/redacted-params.h"
#include "match/match-query.h"

/* Whether all modes, or one of them, are `mode`. */
static bool uses_only(const struct match_options *o, enum match_mode mode)
{
    size_t i = 0;

    while (i < o->tool_count && o->tools[i].mode == mode)
        i++;
    return o->mode == mode && i == o->tool_count;
}

static bool uses_any_mode(const struct match_options *o, enum match_mode mode)
{
    size_t i = 0;

    while (i < o->tool_count && o->tools[i].mode != mode)
        i++;
    return o->mode == mode || i < o->tool_count;
}

/* If only some requests are compared with their _meta, it is not hashed: equal params still
 * have equal hashes. */
struct params_rules matcher_rules(const struct match_options *options, bool number_text)
{
    return (struct params_rules){ .include_meta = uses_only(options, MATCH_STRICT),
                                  .numbers_as_text = number_text,
                                  .detect_volatile = matcher_needs_fuzzy(options) };
}

bool matcher_needs_fuzzy(const struct match_options *options)
{
    return uses_any_mode(options, MATCH_FUZZY);
}

size_t matcher_tool_row(const struct match_options *options, const struct mcp_message *live)
{
    struct json_val name;
    size_t i = 0;

    if (!options->tool_count || !str_eq(live->method, STR("tools/call")))
        return options->tool_count;
    name = mcp_subject(live->method, live->params);
    while (i < options->tool_count && !json_is(name, options->tools[i].tool))
        i++;
    return i;
}

enum match_mode matcher_mode(const struct match_options *options,
                             const struct mcp_message *live)
{
    size_t row = matcher_tool_row(options, live);

    return row < options->tool_count ? options->tools[row].mode : options->mode;
}

struct params_rules matcher_compare_rules(const struct match_options *options,
                                          const struct mcp_message *live)
{
    struct params_rules rules = options->rules;

    rules.include_meta = rules.include_meta || matcher_mode(options, live) == MATCH_STRICT;
    return rules;
}

/* Whether requests of the mode match calls with equal params only. */
static bool is_exact(enum match_mode mode)
{
    return mode == MATCH_BY_REQUEST || mode == MATCH_STRICT;
}

/* The same for all modes: then calls need not be listed by subject. */
static bool is_always_exact(const struct match_options *o)
{
    return !uses_any_mode(o, MATCH_SEQUENTIAL) && !uses_any_mode(o, MATCH_FUZZY);
}

static enum mcp_class method_class(const struct matcher *m, uint32_t method)
{
    return candidates_method_class(&m->candidates, method);
}

void matcher_init(struct matcher *m, const struct index *idx,
                  const struct match_options *options, struct fuzzy *fuzzy)
{
    *m = (struct matcher){ .index = idx, .options = *options, .fuzzy = fuzzy };
    BUG_IF(matcher_needs_fuzzy(options) && !fuzzy);
    BUG_IF(options->rules.ignore && !idx->rules.ignore);
    params_leaves_init(&m->leaves);
    index_message_init(&m->recorded);
    candidates_init(&m->candidates, idx,
                    is_always_exact(options) ? CANDIDATES_BY_PARAMS : CANDIDATES_BY_SUBJECT, 0);
}

void matcher_release(struct matcher *m)
{
    candidates_release(&m->candidates);
    candidates_release(&m->equal_candidates);
    candidates_release(&m->reduced_candidates);
    free(m->candidate_lists.heads);
    params_leaves_release(&m->leaves);
    index_message_release(&m->recorded);
}

const struct candidates *matcher_candidates(const struct matcher *m, enum candidates_by by)
{
    switch (by) {
    case CANDIDATES_BY_SUBJECT:
        break;
    case CANDIDATES_BY_PARAMS:
        return &m->equal_candidates;
    case CANDIDATES_BY_REDUCED_PARAMS:
        return &m->reduced_candidates;
    }
    return &m->candidates;
}

/* Returns the candidates by params. Built on first use: a client that keeps to the recorded
 * order in sequential mode never needs it. */
static const struct candidates *params_candidates(struct matcher *m)
{
    if (m->candidates.by == CANDIDATES_BY_PARAMS)
        return &m->candidates;
    if (!m->equal_candidates.heads)
        candidates_init(&m->equal_candidates, m->index, CANDIDATES_BY_PARAMS, USED_SET_EQUAL);
    return &m->equal_candidates;
}

/* Returns the candidates by params without ignored values. Built on first use: by the first
 * request without an equal call. */
static const struct candidates *reduced_candidates(struct matcher *m)
{
    if (!m->reduced_candidates.heads)
        candidates_init(&m->reduced_candidates, m->index, CANDIDATES_BY_REDUCED_PARAMS,
                        USED_SET_REDUCED);
    return &m->reduced_candidates;
}

static void add_list(struct candidate_lists *p, uint32_t head)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->heads[i] == head)
            return;
    if (!head)
        return;
    p->heads = mem_reserve(p->heads, &p->cap, p->count + 1, sizeof *p->heads);
    p->heads[p->count++] = head;
}

static void add_lists_by_params(struct matcher *m, const struct match_query *w,
                                uint32_t subject_key, struct candidate_lists *to)
{
    const struct redacted_params *masks =
        redacted_params_find(m->index, w->method, subject_key);
    uint32_t key =
        to->candidates->by == CANDIDATES_BY_PARAMS
            ? match_query_params_key(m, w)
            : match_query_masked_key(m, w, to->candidates, (struct params_mask){ NULL, 0 });

    add_list(to, candidates_find(to->candidates, to->session, w->method, key));
    for (; masks; masks = masks->next) {
        key =
            candidates_redacted_key(match_query_masked_key(m, w, to->candidates, masks->mask));
        add_list(to, candidates_find(to->candidates, to->session, w->method, key));
    }
}

/* Finds the lists of candidates. `redacted_subject`: of calls whose subject was redacted, else
 * of the others. Valid until the next search. */
static const struct candidate_lists *find_lists(struct matcher *m, const struct match_query *w,
                                                const struct candidates *q, uint32_t session,
                                                bool redacted_subject)
{
    bool masked = m->index->redacted_params.count != 0;
    bool params = candidates_uses_params(q, w->method);
    struct candidate_lists *found = &m->candidate_lists;
    uint32_t key;

    if (found->candidates == q && found->session == session &&
        found->redacted_subject == redacted_subject)
        return found;
    key = masked || !params
              ? index_subject_key(w->live->method, w->live->params, redacted_subject)
              : 0;
    *found = (struct candidate_lists){ .candidates = q,
                                       .session = session,
                                       .redacted_subject = redacted_subject,
                                       .heads = found->heads,
                                       .cap = found->cap };
    if (params)
        add_lists_by_params(m, w, key, found);
    else
        add_list(found, candidates_find(q, session, w->method, key));
    return found;
}

/* Advances a list past its used calls and returns its state. `equal_candidates` and
 * `reduced_candidates` are not informed of used calls: their last success is updated here. */
static struct candidate_state *skip_used(struct matcher *m, const struct match_query *w,
                                         const struct candidates *q, uint32_t head)
{
    struct candidate_state *state = candidates_state(q, w->used_set, head);

    while (state->next_unused && used_set_has(w->used_set, state->next_unused)) {
        if (q != &m->candidates && m->index->calls[state->next_unused].flags & CALL_SUCCEEDED)
            state->last_success = state->next_unused;
        state->next_unused = q->next[state->next_unused];
    }
    return state;
}

/* Returns the oldest unused call of a list that fits; 0: none. */
static uint32_t find_unused_in(struct matcher *m, const struct match_query *w,
                               const struct candidates *q, uint32_t head, bool *differs)
{
    uint32_t call;

    for (call = skip_used(m, w, q, head)->next_unused; call; call = q->next[call])
        if (!used_set_has(w->used_set, call) && match_query_fits(m, w, q, call, differs))
            break;
    return call;
}

static void mark_used(struct matcher *m, struct used_set *used, uint32_t head, uint32_t call)
{
    used_set_mark(used, call, true);
    if (m->index->calls[call].flags & CALL_SUCCEEDED)
        used_set_state(used, head)->last_success = call;
}

static bool set_found(struct matcher *m, const struct match_query *w, struct match *out,
                      uint32_t call)
{
    out->outcome = MATCH_FOUND;
    out->call = call;
    mark_used(m, w->used_set, candidates_list_of(&m->candidates, call), call);
    return true;
}

/* Takes the params of the live request: all of them (NULL), or without those that a mask leaves
 * out. */
static void hash_live_params(struct matcher *m, const struct match_query *w,
                             const struct redacted_params *mask, struct fuzzy_query *q)
{
    params_leaves_read(&m->leaves, w->live->params, &m->options.rules,
                       mask ? mask->mask : (struct params_mask){ NULL, 0 });
    q->masked = mask != NULL;
}

static struct fuzzy_found find_similar(struct matcher *m, const struct match_query *w,
                                       struct fuzzy_query *q)
{
    const struct redacted_params *mask =
        redacted_params_find(m->index, w->method, q->subject_key);
    struct fuzzy_found best;

    hash_live_params(m, w, NULL, q);
    best = fuzzy_find(m->fuzzy, q);
    for (; mask; mask = mask->next) {
        hash_live_params(m, w, mask, q);
        best = fuzzy_better(best, fuzzy_find(m->fuzzy, q));
    }
    return best;
}

/* Visits all calls that find_similar() rates equal. */
static void visit_similar(struct matcher *m, const struct match_query *w, struct fuzzy_query *q,
                          struct similarity like, fuzzy_visit_fn *visit, void *arg)
{
    const struct redacted_params *mask =
        redacted_params_find(m->index, w->method, q->subject_key);

    hash_live_params(m, w, NULL, q);
    fuzzy_each(m->fuzzy, q, like, visit, arg);
    for (; mask; mask = mask->next) {
        hash_live_params(m, w, mask, q);
        fuzzy_each(m->fuzzy, q, like, visit, arg);
    }
}

/* Sets the subject key in `q` by which the result was found. */
static struct fuzzy_found find_most_similar(struct matcher *m, const struct match_query *w,
                                            struct fuzzy_query *q)
{
    struct fuzzy_found best = { .call = 0 };

    for (int redacted_subject = 0;
         redacted_subject <= m->index->has_redacted_subject && !best.call; redacted_subject++) {
        q->subject_key = index_subject_key(w->live->method, w->live->params, redacted_subject);
        best = find_similar(m, w, q);
    }
    if (m->fuzzy->error.kind != ERR_OK)
        m->error = m->fuzzy->error;
    /* Hashes were equal; the subject has to be compared. */
    if (best.call && !match_query_same_subject(m, w, match_query_recorded_params(m, best.call)))
        best.call = 0;
    return best;
}

static struct fuzzy_query fuzzy_query_for(struct matcher *m, const struct match_query *w,
                                          uint32_t session, bool used)
{
    return (struct fuzzy_query){ .session = session,
                                 .method = w->method,
                                 .live = &m->leaves,
                                 .used_set = w->used_set,
                                 .only_used = used };
}

static bool use_similar(struct matcher *m, const struct match_query *w, uint32_t session,
                        struct match *out)
{
    struct fuzzy_query q = fuzzy_query_for(m, w, session, false);
    struct fuzzy_found best = find_most_similar(m, w, &q);

    if (!best.call)
        return false;
    out->tie = best.tie;
    match_query_fits(m, w, &m->candidates, best.call, &out->params_differ);
    return set_found(m, w, out, best.call);
}

static bool uses_fuzzy(const struct matcher *m, const struct match_query *w)
{
    return w->mode == MATCH_FUZZY && !candidates_is_sequence(&m->candidates, w->method);
}

/* A call without redacted params is better than an older one with some. */
static bool is_better(const struct matcher *m, const struct candidates *q, uint32_t call,
                      uint32_t than)
{
    if (candidates_uses_params(q, m->index->calls[call].method) &&
        match_query_is_redacted(m, call) != match_query_is_redacted(m, than))
        return match_query_is_redacted(m, than);
    return call < than;
}

static uint32_t find_best_in(struct matcher *m, const struct match_query *w,
                             const struct candidate_lists *places, bool *differs)
{
    uint32_t best = 0;

    for (size_t i = 0; i < places->count; i++) {
        bool other = false;
        uint32_t call = find_unused_in(m, w, places->candidates, places->heads[i], &other);
        if (call && (!best || is_better(m, places->candidates, call, best))) {
            best = call;
            *differs = other;
        }
    }
    return best;
}

/* Returns the subscription with the same params, else the first unused or the last used one; 0:
 * none. */
static uint32_t find_subscription(struct matcher *m, const struct match_query *w,
                                  uint32_t session, bool used)
{
    uint32_t subject = index_subject_key(w->live->method, w->live->params, false);
    uint32_t key = match_query_params_key(m, w), any = 0, same = 0;

    for (uint32_t call = candidates_find(&m->candidates, session, w->method, subject); call;
         call = m->candidates.next[call]) {
        if (used_set_has(w->used_set, call) != used)
            continue;
        if (m->index->calls[call].params_key == key && (used || !same))
            same = call;
        if (used || !any)
            any = call;
    }
    return same ? same : any;
}

static bool use_subscription(struct matcher *m, const struct match_query *w, uint32_t session,
                             bool used, struct match *out)
{
    uint32_t call = find_subscription(m, w, session, used);

    if (!call || !match_query_fits(m, w, &m->candidates, call, &out->params_differ))
        return false;
    set_found(m, w, out, call);
    if (used)
        out->outcome = MATCH_REPEAT;
    return true;
}

/* Returns the best unused call of a session that fits; 0: none. */
static uint32_t find_unused(struct matcher *m, const struct match_query *w,
                            const struct candidates *q, uint32_t session, bool *differs)
{
    uint32_t best = 0;

    for (int redacted_subject = 0; redacted_subject <= m->index->has_redacted_subject && !best;
         redacted_subject++)
        best = find_best_in(m, w, find_lists(m, w, q, session, redacted_subject), differs);
    return best;
}

static bool use_unused(struct matcher *m, const struct match_query *w,
                       const struct candidates *q, uint32_t session, struct match *out)
{
    uint32_t best;

    if (method_class(m, w->method) == MCP_CLASS_LISTEN)
        return use_subscription(m, w, session, false, out);
    if (q->by == CANDIDATES_BY_SUBJECT && uses_fuzzy(m, w))
        return use_similar(m, w, session, out);
    best = find_unused(m, w, q, session, &out->params_differ);
    return best && set_found(m, w, out, best);
}

/* Only calls have effects, so only they are not repeated; unknown methods count as calls. */
static bool may_repeat(const struct matcher *m, uint32_t method)
{
    const struct mcp_method *known = m->index->methods[method].known;

    return known && known->class != MCP_CLASS_CALL;
}

static bool may_cycle(const struct matcher *m, const struct match_query *w)
{
    return w->exhausted == EXHAUSTED_CYCLE && method_class(m, w->method) != MCP_CLASS_POLL;
}

/* Makes a call unused again. */
static void reset_call(struct matcher *m, struct used_set *used, uint32_t call)
{
    candidates_reset_call(&m->candidates, used, call);
    candidates_reset_call(&m->equal_candidates, used, call);
    candidates_reset_call(&m->reduced_candidates, used, call);
}

/* Makes a list unused again except for one call. */
static void reset_list(struct matcher *m, struct used_set *used, const struct candidates *q,
                       uint32_t head, uint32_t except)
{
    for (uint32_t call = head; call; call = q->next[call])
        if (call != except)
            reset_call(m, used, call);
}

/* Returns the last success, if possible one with equal params. */
static uint32_t last_success(struct matcher *m, const struct match_query *w,
                             const struct candidates *q, uint32_t head)
{
    uint32_t last = candidates_state(q, w->used_set, head)->last_success, alike = 0, key;

    if (!last || candidates_uses_params(q, w->method))
        return last;
    key = match_query_params_key(m, w);
    if (m->index->calls[last].params_key == key)
        return last;
    for (uint32_t call = head; call; call = q->next[call])
        if (m->index->calls[call].params_key == key &&
            m->index->calls[call].flags & CALL_SUCCEEDED)
            alike = call;
    return alike ? alike : last;
}

/* Repeats a call of a list that is used up, as the policy for exhausted calls says. */
static bool repeat_list(struct matcher *m, const struct match_query *w,
                        const struct candidates *q, uint32_t head, struct match *out)
{
    bool differs = false;
    uint32_t call;

    if (may_cycle(m, w)) {
        for (call = head; call && !match_query_fits(m, w, q, call, &out->params_differ);)
            call = q->next[call];
        reset_list(m, w->used_set, q, head, call);
        if (call)
            set_found(m, w, out, call);
        out->outcome = call ? MATCH_REPEAT : MATCH_EXHAUSTED;
        out->replay_fully = !may_repeat(m, w->method);
        return call != 0;
    }
    if (!may_repeat(m, w->method) && w->exhausted == EXHAUSTED_ERROR)
        return false;
    call = last_success(m, w, q, head);
    if (!call || !match_query_fits(m, w, q, call, &differs))
        return false;
    out->outcome = MATCH_REPEAT;
    out->call = call;
    out->params_differ = differs;
    return true;
}

/* Notes which policies would have found a response for a list that is used up. */
static void note_exhausted(struct matcher *m, const struct match_query *w,
                           const struct candidates *q, uint32_t head, struct match *out)
{
    out->outcome = MATCH_EXHAUSTED;
    for (uint32_t call = head; call; call = q->next[call])
        if (used_set_has(w->used_set, call))
            out->last_used = call;
    out->last_helps = candidates_state(q, w->used_set, head)->last_success != 0;
    out->cycle_helps = method_class(m, w->method) != MCP_CLASS_POLL;
}

static bool has_used(struct matcher *m, const struct match_query *w, const struct candidates *q,
                     uint32_t head)
{
    bool differs;

    while (head &&
           !(used_set_has(w->used_set, head) && match_query_fits(m, w, q, head, &differs)))
        head = q->next[head];
    return head != 0;
}

struct reset_visit {
    struct matcher *matcher;
    struct used_set *used_set;
};

static void reset_visited(void *arg, uint32_t call)
{
    const struct reset_visit *r = arg;

    reset_call(r->matcher, r->used_set, call);
}

struct latest_success {
    const struct index *index;
    uint32_t call; /* the last success so far; 0: none */
};

static void note_latest(void *arg, uint32_t call)
{
    struct latest_success *l = arg;

    if (l->index->calls[call].flags & CALL_SUCCEEDED && call > l->call)
        l->call = call;
}

/* Does what repeat_list() does, with all calls that are most similar. */
static bool repeat_fuzzy(struct matcher *m, const struct match_query *w, uint32_t session,
                         struct match *out)
{
    struct fuzzy_query q = fuzzy_query_for(m, w, session, true);
    struct fuzzy_found best = find_most_similar(m, w, &q);
    struct latest_success last = { .index = m->index };
    struct reset_visit renewal = { m, w->used_set };

    if (!best.call)
        return false;
    visit_similar(m, w, &q, best.similarity, note_latest, &last);
    *out = (struct match){ .outcome = MATCH_EXHAUSTED,
                           .last_used = last.call ? last.call : best.call,
                           .last_helps = last.call != 0,
                           .cycle_helps = true };
    if (may_cycle(m, w)) {
        visit_similar(m, w, &q, best.similarity, reset_visited, &renewal);
        set_found(m, w, out, best.call);
        out->replay_fully = !may_repeat(m, w->method);
    } else if (may_repeat(m, w->method) || w->exhausted == EXHAUSTED_LAST) {
        out->call = last.call;
    }
    if (!out->call)
        return false;
    out->outcome = MATCH_REPEAT;
    out->tie = best.tie == out->call ? best.call : best.tie;
    match_query_fits(m, w, &m->candidates, out->call, &out->params_differ);
    return true;
}

/* Repeats a used call of a session. */
static bool repeat_used(struct matcher *m, const struct match_query *w,
                        const struct candidates *q, uint32_t session, struct match *out)
{
    bool done = false;

    if (method_class(m, w->method) == MCP_CLASS_LISTEN)
        return use_subscription(m, w, session, true, out);
    if (q->by == CANDIDATES_BY_SUBJECT && uses_fuzzy(m, w))
        return repeat_fuzzy(m, w, session, out);
    for (int redacted_subject = 0; redacted_subject <= m->index->has_redacted_subject && !done;
         redacted_subject++) {
        const struct candidate_lists *places = find_lists(m, w, q, session, redacted_subject);
        for (size_t i = 0; i < places->count && !done; i++)
            if (has_used(m, w, q, places->heads[i])) {
                done = repeat_list(m, w, q, places->heads[i], out);
                if (!done)
                    note_exhausted(m, w, q, places->heads[i], out);
            }
    }
    return done;
}

static bool use_from_sessions(struct matcher *m, const struct match_query *w,
                              const struct candidates *q, size_t first, size_t end,
                              struct match *out)
{
    const uint32_t *from = m->index->sessions_with_calls;

    for (size_t i = first; i < end; i++)
        if (from[i] != w->session && use_unused(m, w, q, from[i], out))
            return true;
    for (size_t i = first; i < end; i++)
        if (from[i] != w->session && repeat_used(m, w, q, from[i], out))
            return true;
    return false;
}

/* Looks at the other sessions of the same protocol, in order; at the other protocol only if
 * nothing like the request was recorded in this one. */
static bool use_from_others(struct matcher *m, const struct match_query *w,
                            const struct candidates *q, struct match *out)
{
    const struct index *s = m->index;
    size_t count = s->sessions_with_calls_count;
    size_t older = count - index_is_stateless(s, s->sessions_with_calls[count - 1]);
    bool newer = index_is_stateless(s, w->session);

    out->from_other_session = !newer && use_from_sessions(m, w, q, 0, older, out);
    if (!out->from_other_session && out->outcome == MATCH_NOT_RECORDED)
        out->from_other_session =
            use_from_sessions(m, w, q, newer ? 0 : older, newer ? older : count, out);
    return out->from_other_session;
}

/* Returns the oldest unused call of a session; 0: none is left. */
static uint32_t oldest_unused(const struct matcher *m, struct used_set *used, uint32_t session)
{
    const struct index *s = m->index;

    for (; used->oldest_unused < s->call_count; used->oldest_unused++) {
        const struct recorded_call *o = &s->calls[used->oldest_unused];
        if (o->session == session && o->flags & CALL_MATCHABLE &&
            !used_set_has(used, used->oldest_unused))
            return used->oldest_unused;
    }
    return 0;
}

static bool matches_next(struct matcher *m, const struct match_query *w, bool known,
                         uint32_t call, bool *differs)
{
    return call && known && m->index->calls[call].method == w->method &&
           match_query_fits(m, w, &m->candidates, call, differs) && !match_query_has_failed(m);
}

/* Whether a session has a response that may be sent, in any order. */
static bool has_response(struct matcher *m, const struct match_query *w, uint32_t session,
                         bool *recorded)
{
    bool may = may_repeat(m, w->method) || w->exhausted == EXHAUSTED_LAST;
    bool differs, has = false;

    for (int redacted_subject = 0; redacted_subject <= m->index->has_redacted_subject && !has;
         redacted_subject++) {
        const struct candidate_lists *places =
            find_lists(m, w, &m->candidates, session, redacted_subject);
        for (size_t i = 0; i < places->count && !has; i++) {
            *recorded = true;
            has = find_unused_in(m, w, places->candidates, places->heads[i], &differs) ||
                  may_cycle(m, w) ||
                  (may && used_set_state(w->used_set, places->heads[i])->last_success);
        }
    }
    return has;
}

static void note_out_of_order(struct matcher *m, const struct match_query *w, bool known,
                              uint32_t next, struct match *out)
{
    const struct index *s = m->index;
    bool recorded = false;

    for (size_t i = 0; known && i < s->sessions_with_calls_count && !out->any_order_helps; i++)
        out->any_order_helps = has_response(m, w, s->sessions_with_calls[i], &recorded);
    if (!recorded)
        return; /* it would not match later, either */
    out->outcome = MATCH_OUT_OF_ORDER;
    out->call = next;
}

/* Whether using a call that differs would skip one with equal params. */
static bool skips_equal(struct matcher *m, const struct match_query *w, bool differs)
{
    return differs && !candidates_is_sequence(&m->candidates, w->method) &&
           find_unused(m, w, params_candidates(m), w->session, &differs);
}

/* In total order only the next call can be used. A session that is used up starts over with its
 * first call if the policy is to cycle. Returns true if that decides the result. */
static bool use_next_in_order(struct matcher *m, const struct match_query *w, bool known,
                              struct match *out)
{
    uint32_t next = oldest_unused(m, w->used_set, w->session);
    bool over = !next && w->exhausted == EXHAUSTED_CYCLE;

    if (over)
        next = candidates_first_call(&m->candidates, w->session);
    if (!next)
        return false;
    if (!matches_next(m, w, known, next, &out->params_differ)) {
        note_out_of_order(m, w, known, next, out);
        return true;
    }
    if (over)
        used_set_clear(w->used_set);
    if (skips_equal(m, w, out->params_differ))
        *out = (struct match){ .outcome = MATCH_OUT_OF_ORDER,
                               .call = next,
                               .any_order_helps = true };
    else
        set_found(m, w, out, next);
    return true;
}

/* In total order, a session that is used up can only start over with its first call. */
static void apply_total_order(struct matcher *m, const struct match_query *w, struct match *out)
{
    bool differs;

    if (m->options.total_order && out->outcome == MATCH_EXHAUSTED)
        out->cycle_helps = matches_next(
            m, w, true, candidates_first_call(&m->candidates, w->session), &differs);
}

/* The order of mcp-recorder: the next response, whatever the request is. */
static void use_next_any_method(struct matcher *m, const struct match_query *w,
                                struct match *out)
{
    uint32_t call = oldest_unused(m, w->used_set, w->session);
    bool over = !call;

    out->last_used = candidates_last_call(&m->candidates, w->session, CALL_MATCHABLE);
    out->outcome = out->last_used ? MATCH_EXHAUSTED : MATCH_NOT_RECORDED;
    out->last_helps =
        candidates_last_call(&m->candidates, w->session, CALL_MATCHABLE | CALL_SUCCEEDED) != 0;
    out->cycle_helps = out->last_used != 0;
    if (over && w->exhausted == EXHAUSTED_CYCLE) {
        used_set_clear(w->used_set);
        call = candidates_first_call(&m->candidates, w->session);
    } else if (over && w->exhausted == EXHAUSTED_LAST) {
        call =
            candidates_last_call(&m->candidates, w->session, CALL_MATCHABLE | CALL_SUCCEEDED);
    }
    if (!call)
        return;
    set_found(m, w, out, call);
    out->outcome = over ? MATCH_REPEAT : MATCH_FOUND;
    out->replay_fully = over && w->exhausted == EXHAUSTED_CYCLE;
}

/* Pages whose cursors were redacted cannot be distinguished: they are sent in order. When the
 * list is requested from its start, they start over. */
static void reset_pages(struct matcher *m, const struct match_query *w, uint32_t first)
{
    const struct index *s = m->index;

    if (!s->redacted_params.count || m->options.total_order ||
        method_class(m, w->method) != MCP_CLASS_LIST || match_query_is_redacted(m, first))
        return;
    for (uint32_t call = 1; call < s->call_count; call++)
        if (s->calls[call].method == w->method &&
            s->calls[call].session == s->calls[first].session &&
            match_query_is_redacted(m, call) && used_set_has(w->used_set, call))
            reset_list(m, w->used_set, &m->candidates, candidates_list_of(&m->candidates, call),
                       0);
}

/* Whether the live request also fits another call with redacted params. */
static bool also_fits(struct matcher *m, const struct match_query *w, uint32_t call)
{
    bool differs = false;

    return match_query_fits(m, w, &m->candidates, call, &differs) &&
           (!differs || uses_fuzzy(m, w));
}

/* Returns another call that differs only in redacted values; 0: none. Compares 16 at most.
 * Pages of a list are sent in order, so they are not ambiguous. */
static uint32_t find_ambiguous(struct matcher *m, const struct match_query *w, uint32_t call)
{
    const struct recorded_call *calls = m->index->calls;
    uint32_t other;
    unsigned left = 16;

    if (!match_query_is_redacted(m, call) || method_class(m, w->method) == MCP_CLASS_LIST)
        return 0;
    if ((!is_exact(w->mode) || candidates_is_sequence(&m->candidates, w->method)) &&
        !uses_fuzzy(m, w) &&
        calls[call].subject_key != index_subject_key(w->live->method, w->live->params, true))
        return 0; /* redacted values are not compared */
    for (other = candidates_list_of(&m->candidates, call); other && left;
         other = m->candidates.next[other]) {
        if (other == call || !match_query_is_redacted(m, other) ||
            calls[other].params_key != calls[call].params_key)
            continue;
        if (also_fits(m, w, other))
            return other;
        left--;
    }
    return 0;
}

static void note_skipped(struct matcher *m, const struct match_query *w, struct match *out)
{
    uint32_t older = oldest_unused(m, w->used_set, w->session);

    out->skipped_first = older < out->call ? older : 0;
    out->skipped_after = w->used_set->newest_found;
    if (w->used_set->newest_found < out->call)
        w->used_set->newest_found = out->call;
}

static void begin_query(struct matcher *m)
{
    m->error = (struct err)ERR_NONE;
    m->query_cache = (struct match_query_cache){ .has_key = false };
    m->candidate_lists.candidates = NULL;
}

/* Searches the lists of `q`: first the client's own session, then the others. */
static bool use_by(struct matcher *m, const struct match_query *w, const struct candidates *q,
                   struct match *out)
{
    return use_unused(m, w, q, w->session, out) || repeat_used(m, w, q, w->session, out) ||
           (!m->options.total_order && use_from_others(m, w, q, out));
}

/* Uses the oldest unused call of the same subject if its params are equal: then no other search
 * is needed. */
static bool use_oldest_equal(struct matcher *m, const struct match_query *w, struct match *out)
{
    uint32_t subject = index_subject_key(w->live->method, w->live->params, false);
    uint32_t head = candidates_find(&m->candidates, w->session, w->method, subject);
    uint32_t call = head ? skip_used(m, w, &m->candidates, head)->next_unused : 0;
    bool differs = false;

    return call && !match_query_is_redacted(m, call) &&
           match_query_fits(m, w, &m->candidates, call, &differs) &&
           m->query_cache.equal_params && set_found(m, w, out, call);
}

static void use_any(struct matcher *m, const struct match_query *w, struct match *out)
{
    if (candidates_is_sequence(&m->candidates, w->method)) {
        use_by(m, w, &m->candidates, out);
        return;
    }
    if ((w->mode == MATCH_SEQUENTIAL && use_oldest_equal(m, w, out)) ||
        use_by(m, w, params_candidates(m), out))
        return;
    if (m->options.rules.ignore) {
        *out = (struct match){ .outcome = MATCH_NOT_RECORDED };
        if (use_by(m, w, reduced_candidates(m), out))
            return;
    }
    if (is_exact(w->mode))
        return;
    *out = (struct match){ .outcome = MATCH_NOT_RECORDED };
    use_by(m, w, &m->candidates, out);
}

/* Notes whether the match needs a rule of the user. */
static void note_ignored(struct matcher *m, const struct match_query *w, struct match *out)
{
    bool differs;

    if (!m->options.rules.ignore || out->params_differ || !out->call ||
        (out->outcome != MATCH_FOUND && out->outcome != MATCH_REPEAT))
        return;
    match_query_fits(m, w, &m->candidates, out->call, &differs);
    out->values_ignored = !m->query_cache.equal_params;
}

struct match matcher_match(struct matcher *m, struct used_set *used, uint32_t session,
                           const struct mcp_message *live)
{
    struct match_query w = match_query_of(m, used, session, live);
    bool known = index_find_method(m->index, live->method, &w.method);
    struct match out = { .outcome = MATCH_NOT_RECORDED };

    begin_query(m);
    if (m->options.any_method) {
        use_next_any_method(m, &w, &out);
        return out;
    }
    if (!(m->options.total_order && use_next_in_order(m, &w, known, &out)) && known)
        use_any(m, &w, &out);
    apply_total_order(m, &w, &out);
    if (out.outcome == MATCH_REPEAT)
        reset_pages(m, &w, out.call);
    match_query_cache_key(m);
    note_ignored(m, &w, &out);
    if (match_query_has_failed(m)) {
        out.outcome = MATCH_READ_ERROR;
    } else if (out.outcome == MATCH_FOUND) {
        out.ambiguous_with = find_ambiguous(m, &w, out.call);
        if (!out.from_other_session)
            note_skipped(m, &w, &out);
    }
    return out;
}

/* Returns the first unassigned session in which `q` has a call that fits. */
static size_t find_session_by(struct matcher *m, const struct match_query *w,
                              const struct match_sessions *among, const struct candidates *q)
{
    for (size_t i = among->first; i < among->count; i++) {
        uint32_t session = among->sessions[i], call;
        bool differs = false;

        if (used_set_has(among->assigned, session))
            continue;
        call = find_unused(m, w, q, session, &differs);
        if (call && !differs &&
            (!m->options.total_order || call == candidates_first_call(&m->candidates, session)))
            return i;
    }
    return among->count;
}

size_t matcher_find_session(struct matcher *m, const struct match_sessions *among,
                            const struct mcp_message *live)
{
    struct used_set unused;
    struct match_query w = match_query_of(m, &unused, 0, live);
    size_t found;

    begin_query(m);
    if (m->options.any_method || !index_find_method(m->index, live->method, &w.method))
        return among->count;
    used_set_init(&unused, m->index->call_count);
    found = find_session_by(m, &w, among, params_candidates(m));
    if (found == among->count && m->options.rules.ignore)
        found = find_session_by(m, &w, among, reduced_candidates(m));
    used_set_release(&unused);
    return match_query_has_failed(m) ? among->count : found;
}

struct match matcher_match_used(struct matcher *m, struct used_set *used, uint32_t session,
                                const struct mcp_message *live)
{
    struct match_query w = match_query_of(m, used, session, live);
    struct match out = { .outcome = MATCH_NOT_RECORDED };

    begin_query(m);
    if (index_find_method(m->index, live->method, &w.method))
        repeat_used(m, &w, &m->candidates, session, &out);
    note_ignored(m, &w, &out);
    if (match_query_has_failed(m))
        out.outcome = MATCH_READ_ERROR;
    return out;
}
