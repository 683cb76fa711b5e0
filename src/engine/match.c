#include "engine/match.h"

#include <stdlib.h>

#include "base/mem.h"
#include "engine/script-mask.h"
#include "engine/wanted.h"

struct leaf_rules matcher_rules(enum match_mode mode, bool number_text)
{
    return (struct leaf_rules){ .meta = mode == MATCH_STRICT,
                                .number_text = number_text,
                                .volatiles = mode == MATCH_FUZZY };
}

static enum mcp_class class_of(const struct matcher *m, uint32_t method)
{
    return queues_class(&m->queues, method);
}

void matcher_init(struct matcher *m, const struct script *script,
                  const struct match_options *options, struct fuzzy *fuzzy)
{
    *m = (struct matcher){ .script = script, .options = *options, .fuzzy = fuzzy };
    BUG_IF(options->mode == MATCH_FUZZY && !fuzzy);
    leaves_init(&m->leaves);
    script_text_init(&m->text);
    queues_init(&m->queues, script,
                options->mode == MATCH_BY_REQUEST || options->mode == MATCH_STRICT);
}

void matcher_release(struct matcher *m)
{
    queues_release(&m->queues);
    queues_release(&m->equal);
    free(m->places.at);
    leaves_release(&m->leaves);
    script_text_release(&m->text);
}

/* Recorded requests with equal params. Clients that keep to the recorded order in sequential
 * mode never need an index of their own for that. */
static const struct queues *by_params(struct matcher *m)
{
    if (m->queues.by_params)
        return &m->queues;
    if (!m->equal.heads) {
        queues_init(&m->equal, m->script, true);
        m->equal.second = true;
    }
    return &m->equal;
}

static void add_place(struct match_places *p, uint32_t head)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->at[i] == head)
            return;
    if (!head)
        return;
    p->at = mem_reserve(p->at, &p->cap, p->count + 1, sizeof *p->at);
    p->at[p->count++] = head;
}

static void add_by_params(struct matcher *m, const struct wanted *w, uint32_t subject_key,
                          struct match_places *to)
{
    const struct script_mask *masks = script_mask_find(m->script, w->method, subject_key);
    uint32_t key = wanted_key(m, w);

    add_place(to, queues_find(to->in, to->session, w->method, key));
    for (; masks; masks = masks->next) {
        leaves_take(&m->leaves, w->live->params, &m->options.rules, masks->mask);
        key = queues_masked(script_fold(leaves_key(&m->leaves)));
        add_place(to, queues_find(to->in, to->session, w->method, key));
    }
}

/* `wild`: among requests whose subject was redacted, else among the others. Valid until there
 * is another search. */
static const struct match_places *find_places(struct matcher *m, const struct wanted *w,
                                              const struct queues *q, uint32_t session,
                                              bool wild)
{
    bool masked = m->script->masks.count != 0;
    bool params = queues_goes_by_params(q, w->method);
    struct match_places *found = &m->places;
    uint32_t key;

    if (found->in == q && found->session == session && found->wild == wild)
        return found;
    key = masked || !params ? script_subject_key(w->live->method, w->live->params, wild) : 0;
    *found = (struct match_places){
        .in = q, .session = session, .wild = wild, .at = found->at, .cap = found->cap
    };
    if (params)
        add_by_params(m, w, key, found);
    else
        add_place(found, queues_find(q, session, w->method, key));
    return found;
}

/* The first of a queue that may be unused, and its state. What was used in the second index is
 * not told to it: its last success is the last one of those before. */
static struct spent_queue *skip_used(struct matcher *m, const struct wanted *w,
                                     const struct queues *q, uint32_t head)
{
    struct spent_queue *state = queues_state(q, w->spent, head);

    while (state->next && spent_has(w->spent, state->next)) {
        if (q == &m->equal && m->script->ops[state->next].flags & STRAND_SUCCEEDED)
            state->last = state->next;
        state->next = q->next[state->next];
    }
    return state;
}

/* The oldest unused one of a queue that fits; 0: none. */
static uint32_t unused_in(struct matcher *m, const struct wanted *w, const struct queues *q,
                          uint32_t head, bool *differs)
{
    uint32_t op;

    for (op = skip_used(m, w, q, head)->next; op; op = q->next[op])
        if (!spent_has(w->spent, op) && wanted_fits(m, w, q, op, differs))
            break;
    return op;
}

static void use(struct matcher *m, struct spent *spent, uint32_t head, uint32_t op)
{
    spent_mark(spent, op, true);
    if (m->script->ops[op].flags & STRAND_SUCCEEDED)
        spent_queue(spent, head)->last = op;
}

static bool found(struct matcher *m, const struct wanted *w, struct match *out, uint32_t op)
{
    out->outcome = MATCH_FOUND;
    out->op = op;
    use(m, w->spent, queues_of(&m->queues, op), op);
    return true;
}

/* The live request as a query sees it: with nothing left out (NULL), or with what was
 * redacted in requests of this subject. */
static void take_leaves(struct matcher *m, const struct wanted *w,
                        const struct script_mask *mask, struct fuzzy_query *q)
{
    leaves_take(&m->leaves, w->live->params, &m->options.rules,
                mask ? mask->mask : (struct leaf_mask){ NULL, 0 });
    q->masked = mask != NULL;
}

static struct fuzzy_found find_alike(struct matcher *m, const struct wanted *w,
                                     struct fuzzy_query *q)
{
    const struct script_mask *mask = script_mask_find(m->script, w->method, q->subject_key);
    struct fuzzy_found best;

    take_leaves(m, w, NULL, q);
    best = fuzzy_find(m->fuzzy, q);
    for (; mask; mask = mask->next) {
        take_leaves(m, w, mask, q);
        best = fuzzy_better(best, fuzzy_find(m->fuzzy, q));
    }
    return best;
}

/* All that find_alike() would have found as well. */
static void each_alike(struct matcher *m, const struct wanted *w, struct fuzzy_query *q,
                       struct likeness like, fuzzy_visit_fn *visit, void *arg)
{
    const struct script_mask *mask = script_mask_find(m->script, w->method, q->subject_key);

    take_leaves(m, w, NULL, q);
    fuzzy_each(m->fuzzy, q, like, visit, arg);
    for (; mask; mask = mask->next) {
        take_leaves(m, w, mask, q);
        fuzzy_each(m->fuzzy, q, like, visit, arg);
    }
}

/* Afterwards `q` has the subject by which it was found. */
static struct fuzzy_found most_alike(struct matcher *m, const struct wanted *w,
                                     struct fuzzy_query *q)
{
    struct fuzzy_found best = { .op = 0 };

    for (int wild = 0; wild <= m->script->wild && !best.op; wild++) {
        q->subject_key = script_subject_key(w->live->method, w->live->params, wild);
        best = find_alike(m, w, q);
    }
    if (m->fuzzy->trouble.kind != ERR_OK)
        m->trouble = m->fuzzy->trouble;
    /* Whatever was alike by its hashes is read once more. */
    if (best.op && !wanted_same_subject(m, w, wanted_recorded(m, best.op)))
        best.op = 0;
    return best;
}

static struct fuzzy_query query_for(struct matcher *m, const struct wanted *w, uint32_t session,
                                    bool used)
{
    return (struct fuzzy_query){ .session = session,
                                 .method = w->method,
                                 .live = &m->leaves,
                                 .spent = w->spent,
                                 .used = used };
}

static bool take_alike(struct matcher *m, const struct wanted *w, uint32_t session,
                       struct match *out)
{
    struct fuzzy_query q = query_for(m, w, session, false);
    struct fuzzy_found best = most_alike(m, w, &q);

    if (!best.op)
        return false;
    out->rival = best.rival;
    wanted_fits(m, w, &m->queues, best.op, &out->differs);
    return found(m, w, out, best.op);
}

static bool goes_by_likeness(const struct matcher *m, uint32_t method)
{
    return m->options.mode == MATCH_FUZZY && !queues_is_sequence(&m->queues, method);
}

/* One that was compared as a whole is better than an older one that could not be. */
static bool is_better(const struct matcher *m, const struct queues *q, uint32_t op,
                      uint32_t than)
{
    if (queues_goes_by_params(q, m->script->ops[op].method) &&
        wanted_is_masked(m, op) != wanted_is_masked(m, than))
        return wanted_is_masked(m, than);
    return op < than;
}

static uint32_t best_in(struct matcher *m, const struct wanted *w,
                        const struct match_places *places, bool *differs)
{
    uint32_t best = 0;

    for (size_t i = 0; i < places->count; i++) {
        bool other = false;
        uint32_t op = unused_in(m, w, places->in, places->at[i], &other);
        if (op && (!best || is_better(m, places->in, op, best))) {
            best = op;
            *differs = other;
        }
    }
    return best;
}

/* The subscription that asked for the same, else the first of those that nobody has, or the
 * last of those that somebody has. 0: there is none. */
static uint32_t find_subscription(struct matcher *m, const struct wanted *w, uint32_t session,
                                  bool used)
{
    uint32_t subject = script_subject_key(w->live->method, w->live->params, false);
    uint32_t key = wanted_key(m, w), any = 0, same = 0;

    for (uint32_t op = queues_find(&m->queues, session, w->method, subject); op;
         op = m->queues.next[op]) {
        if (spent_has(w->spent, op) != used)
            continue;
        if (m->script->ops[op].params_key == key && (used || !same))
            same = op;
        if (used || !any)
            any = op;
    }
    return same ? same : any;
}

static bool take_subscription(struct matcher *m, const struct wanted *w, uint32_t session,
                              bool used, struct match *out)
{
    uint32_t op = find_subscription(m, w, session, used);

    if (!op || !wanted_fits(m, w, &m->queues, op, &out->differs))
        return false;
    found(m, w, out, op);
    if (used)
        out->outcome = MATCH_AGAIN;
    return true;
}

/* The best unused one of a session that fits; 0: none. */
static uint32_t find_unused(struct matcher *m, const struct wanted *w, const struct queues *q,
                            uint32_t session, bool *differs)
{
    uint32_t best = 0;

    for (int wild = 0; wild <= m->script->wild && !best; wild++)
        best = best_in(m, w, find_places(m, w, q, session, wild), differs);
    return best;
}

static bool take_unused(struct matcher *m, const struct wanted *w, const struct queues *q,
                        uint32_t session, struct match *out)
{
    uint32_t best;

    if (class_of(m, w->method) == MCP_CLASS_LISTEN)
        return take_subscription(m, w, session, false, out);
    if (!q->by_params && goes_by_likeness(m, w->method))
        return take_alike(m, w, session, out);
    best = find_unused(m, w, q, session, &out->differs);
    return best && found(m, w, out, best);
}

/* Only a call does something each time. What no revision knows may, too. */
static bool may_repeat(const struct matcher *m, uint32_t method)
{
    const struct mcp_method *known = m->script->methods[method].known;

    return known && known->class != MCP_CLASS_CALL;
}

static bool may_cycle(const struct matcher *m, const struct wanted *w)
{
    return w->exhausted == EXHAUSTED_CYCLE && class_of(m, w->method) != MCP_CLASS_POLL;
}

/* Makes a recorded request unused again. */
static void renew(struct matcher *m, struct spent *spent, uint32_t op)
{
    queues_renew(&m->queues, spent, op);
    queues_renew(&m->equal, spent, op);
}

/* Makes a queue unused again but for one request: its state need not be found out anew. */
static void start_over(struct matcher *m, struct spent *spent, const struct queues *q,
                       uint32_t head, uint32_t except)
{
    for (uint32_t op = head; op; op = q->next[op])
        if (op != except)
            renew(m, spent, op);
}

/* The last success, if possible one that was asked for with the same params. */
static uint32_t last_success(struct matcher *m, const struct wanted *w, const struct queues *q,
                             uint32_t head)
{
    uint32_t last = queues_state(q, w->spent, head)->last, alike = 0, key;

    if (!last || queues_goes_by_params(q, w->method))
        return last;
    key = wanted_key(m, w);
    if (m->script->ops[last].params_key == key)
        return last;
    for (uint32_t op = head; op; op = q->next[op])
        if (m->script->ops[op].params_key == key && m->script->ops[op].flags & STRAND_SUCCEEDED)
            alike = op;
    return alike ? alike : last;
}

/* All of a queue were given. */
static bool take_again(struct matcher *m, const struct wanted *w, const struct queues *q,
                       uint32_t head, struct match *out)
{
    bool differs = false;
    uint32_t op;

    if (may_cycle(m, w)) {
        for (op = head; op && !wanted_fits(m, w, q, op, &out->differs);)
            op = q->next[op];
        start_over(m, w->spent, q, head, op);
        if (op)
            found(m, w, out, op);
        out->outcome = op ? MATCH_AGAIN : MATCH_EXHAUSTED;
        out->anew = !may_repeat(m, w->method);
        return op != 0;
    }
    if (!may_repeat(m, w->method) && w->exhausted == EXHAUSTED_ERROR)
        return false;
    op = last_success(m, w, q, head);
    if (!op || !wanted_fits(m, w, q, op, &differs))
        return false;
    out->outcome = MATCH_AGAIN;
    out->op = op;
    out->differs = differs;
    return true;
}

/* What would help whoever has used up a queue. */
static void note_exhausted(struct matcher *m, const struct wanted *w, const struct queues *q,
                           uint32_t head, struct match *out)
{
    out->outcome = MATCH_EXHAUSTED;
    for (uint32_t op = head; op; op = q->next[op])
        if (spent_has(w->spent, op))
            out->used = op;
    out->by_last = queues_state(q, w->spent, head)->last != 0;
    out->by_cycle = class_of(m, w->method) != MCP_CLASS_POLL;
}

static bool was_given(struct matcher *m, const struct wanted *w, const struct queues *q,
                      uint32_t head)
{
    bool differs;

    while (head && !(spent_has(w->spent, head) && wanted_fits(m, w, q, head, &differs)))
        head = q->next[head];
    return head != 0;
}

struct renewal {
    struct matcher *matcher;
    struct spent *spent;
};

static void renew_one(void *arg, uint32_t op)
{
    const struct renewal *r = arg;

    renew(r->matcher, r->spent, op);
}

struct latest {
    const struct script *script;
    uint32_t op; /* the last success so far; 0: none */
};

static void note_latest(void *arg, uint32_t op)
{
    struct latest *l = arg;

    if (l->script->ops[op].flags & STRAND_SUCCEEDED && op > l->op)
        l->op = op;
}

/* What take_again() does with a queue, with all that are most alike. */
static bool take_alike_again(struct matcher *m, const struct wanted *w, uint32_t session,
                             struct match *out)
{
    struct fuzzy_query q = query_for(m, w, session, true);
    struct fuzzy_found best = most_alike(m, w, &q);
    struct latest last = { .script = m->script };
    struct renewal renewal = { m, w->spent };

    if (!best.op)
        return false;
    each_alike(m, w, &q, best.like, note_latest, &last);
    *out = (struct match){ .outcome = MATCH_EXHAUSTED,
                           .used = last.op ? last.op : best.op,
                           .by_last = last.op != 0,
                           .by_cycle = true };
    if (may_cycle(m, w)) {
        each_alike(m, w, &q, best.like, renew_one, &renewal);
        found(m, w, out, best.op);
        out->anew = !may_repeat(m, w->method);
    } else if (may_repeat(m, w->method) || w->exhausted == EXHAUSTED_LAST) {
        out->op = last.op;
    }
    if (!out->op)
        return false;
    out->outcome = MATCH_AGAIN;
    out->rival = best.rival == out->op ? best.op : best.rival;
    wanted_fits(m, w, &m->queues, out->op, &out->differs);
    return true;
}

/* Something like it is in this session, but used up. */
static bool take_used(struct matcher *m, const struct wanted *w, const struct queues *q,
                      uint32_t session, struct match *out)
{
    bool done = false;

    if (class_of(m, w->method) == MCP_CLASS_LISTEN)
        return take_subscription(m, w, session, true, out);
    if (!q->by_params && goes_by_likeness(m, w->method))
        return take_alike_again(m, w, session, out);
    for (int wild = 0; wild <= m->script->wild && !done; wild++) {
        const struct match_places *places = find_places(m, w, q, session, wild);
        for (size_t i = 0; i < places->count && !done; i++)
            if (was_given(m, w, q, places->at[i])) {
                done = take_again(m, w, q, places->at[i], out);
                if (!done)
                    note_exhausted(m, w, q, places->at[i], out);
            }
    }
    return done;
}

static bool borrow_from(struct matcher *m, const struct wanted *w, const struct queues *q,
                        size_t first, size_t end, struct match *out)
{
    const uint32_t *from = m->script->playable;

    for (size_t i = first; i < end; i++)
        if (from[i] != w->session && take_unused(m, w, q, from[i], out))
            return true;
    for (size_t i = first; i < end; i++)
        if (from[i] != w->session && take_used(m, w, q, from[i], out))
            return true;
    return false;
}

/* Whoever has nothing of its own left looks at the other sessions of its era, in order; at the
 * other era only for what its own was never asked for. */
static bool borrow(struct matcher *m, const struct wanted *w, const struct queues *q,
                   struct match *out)
{
    const struct script *s = m->script;
    size_t count = s->playable_count;
    size_t older = count - script_is_stateless(s, s->playable[count - 1]);
    bool newer = script_is_stateless(s, w->session);

    out->borrowed = !newer && borrow_from(m, w, q, 0, older, out);
    if (!out->borrowed && out->outcome == MATCH_NEVER)
        out->borrowed = borrow_from(m, w, q, newer ? 0 : older, newer ? older : count, out);
    return out->borrowed;
}

/* The oldest strand of a session that nobody has asked for; 0: none is left. */
static uint32_t oldest_unused(const struct matcher *m, struct spent *spent, uint32_t session)
{
    const struct script *s = m->script;

    for (; spent->oldest < s->op_count; spent->oldest++) {
        const struct script_op *o = &s->ops[spent->oldest];
        if (o->session == session && o->flags & STRAND_COUNTS &&
            !spent_has(spent, spent->oldest))
            return spent->oldest;
    }
    return 0;
}

static bool is_for(struct matcher *m, const struct wanted *w, bool known, uint32_t op,
                   bool *differs)
{
    return op && known && m->script->ops[op].method == w->method &&
           wanted_fits(m, w, &m->queues, op, differs) && !wanted_is_broken(m);
}

/* Whether a session has an answer that may be given, in any order. */
static bool has_answer(struct matcher *m, const struct wanted *w, uint32_t session,
                       bool *recorded)
{
    bool may = may_repeat(m, w->method) || w->exhausted == EXHAUSTED_LAST;
    bool differs, has = false;

    for (int wild = 0; wild <= m->script->wild && !has; wild++) {
        const struct match_places *places = find_places(m, w, &m->queues, session, wild);
        for (size_t i = 0; i < places->count && !has; i++) {
            *recorded = true;
            has = unused_in(m, w, places->in, places->at[i], &differs) || may_cycle(m, w) ||
                  (may && spent_queue(w->spent, places->at[i])->last);
        }
    }
    return has;
}

static void note_too_early(struct matcher *m, const struct wanted *w, bool known, uint32_t next,
                           struct match *out)
{
    const struct script *s = m->script;
    bool recorded = false;

    for (size_t i = 0; known && i < s->playable_count && !out->by_order; i++)
        out->by_order = has_answer(m, w, s->playable[i], &recorded);
    if (!recorded)
        return; /* nor would it be right later */
    out->outcome = MATCH_TOO_EARLY;
    out->op = next;
}

/* Whether taking a request that differs passes over one with equal params. */
static bool passes_equal(struct matcher *m, const struct wanted *w, bool differs)
{
    return differs && !queues_is_sequence(&m->queues, w->method) &&
           find_unused(m, w, by_params(m), w->session, &differs);
}

/* In total order only the next one can be taken, and of a session that is over the first, if
 * it may start over: then all of it does. True if that decides what is found. */
static bool take_in_order(struct matcher *m, const struct wanted *w, bool known,
                          struct match *out)
{
    uint32_t next = oldest_unused(m, w->spent, w->session);
    bool over = !next && w->exhausted == EXHAUSTED_CYCLE;

    if (over)
        next = queues_first(&m->queues, w->session);
    if (!next)
        return false;
    if (!is_for(m, w, known, next, &out->differs)) {
        note_too_early(m, w, known, next, out);
        return true;
    }
    if (over)
        spent_clear(w->spent);
    if (passes_equal(m, w, out->differs))
        *out = (struct match){ .outcome = MATCH_TOO_EARLY, .op = next, .by_order = true };
    else
        found(m, w, out, next);
    return true;
}

/* When a session in total order is over, only its first request can start it over. */
static void limit_to_order(struct matcher *m, const struct wanted *w, struct match *out)
{
    bool differs;

    if (m->options.total && out->outcome == MATCH_EXHAUSTED)
        out->by_cycle = is_for(m, w, true, queues_first(&m->queues, w->session), &differs);
}

/* mcp-recorder's order: whatever is asked, the next answer is given. */
static void take_next(struct matcher *m, const struct wanted *w, struct match *out)
{
    uint32_t op = oldest_unused(m, w->spent, w->session);
    bool over = !op;

    out->used = queues_last(&m->queues, w->session, STRAND_COUNTS);
    out->outcome = out->used ? MATCH_EXHAUSTED : MATCH_NEVER;
    out->by_last = queues_last(&m->queues, w->session, STRAND_COUNTS | STRAND_SUCCEEDED) != 0;
    out->by_cycle = out->used != 0;
    if (over && w->exhausted == EXHAUSTED_CYCLE) {
        spent_clear(w->spent);
        op = queues_first(&m->queues, w->session);
    } else if (over && w->exhausted == EXHAUSTED_LAST) {
        op = queues_last(&m->queues, w->session, STRAND_COUNTS | STRAND_SUCCEEDED);
    }
    if (!op)
        return;
    found(m, w, out, op);
    out->outcome = over ? MATCH_AGAIN : MATCH_FOUND;
    out->anew = over && w->exhausted == EXHAUSTED_CYCLE;
}

/* Pages whose cursors were redacted cannot be told apart: they come in order, and in order
 * again when the list is asked for from its start. */
static void turn_back_pages(struct matcher *m, const struct wanted *w, uint32_t first)
{
    const struct script *s = m->script;

    if (!s->masks.count || m->options.total || class_of(m, w->method) != MCP_CLASS_LIST ||
        wanted_is_masked(m, first))
        return;
    for (uint32_t op = 1; op < s->op_count; op++)
        if (s->ops[op].method == w->method && s->ops[op].session == s->ops[first].session &&
            wanted_is_masked(m, op) && spent_has(w->spent, op))
            start_over(m, w->spent, &m->queues, queues_of(&m->queues, op), 0);
}

/* Whether the live request fits another masked one as well. */
static bool fits_too(struct matcher *m, const struct wanted *w, uint32_t op)
{
    bool differs = false;

    return wanted_fits(m, w, &m->queues, op, &differs) &&
           (!differs || goes_by_likeness(m, w->method));
}

/* What is compared says as little of another one; of many only some are read. Pages of a list
 * come in their order. */
static uint32_t find_blur(struct matcher *m, const struct wanted *w, uint32_t op)
{
    const struct script_op *ops = m->script->ops;
    uint32_t other = queues_of(&m->queues, op);
    unsigned left = 16;

    if (!wanted_is_masked(m, op) || class_of(m, w->method) == MCP_CLASS_LIST)
        return 0;
    if (!queues_goes_by_params(&m->queues, w->method) && !goes_by_likeness(m, w->method) &&
        ops[op].subject_key != script_subject_key(w->live->method, w->live->params, true))
        return 0; /* what was redacted is not looked at */
    for (; other && left; other = m->queues.next[other]) {
        if (other == op || !wanted_is_masked(m, other) ||
            ops[other].params_key != ops[op].params_key)
            continue;
        if (fits_too(m, w, other))
            return other;
        left--;
    }
    return 0;
}

static void note_passed(struct matcher *m, const struct wanted *w, struct match *out)
{
    uint32_t older = oldest_unused(m, w->spent, w->session);

    out->passed = older < out->op ? older : 0;
    out->before = w->spent->newest;
    if (w->spent->newest < out->op)
        w->spent->newest = out->op;
}

static void begin(struct matcher *m)
{
    m->trouble = (struct err)ERR_NONE;
    m->insight = (struct match_insight){ .keyed = false };
    m->places.in = NULL;
}

/* In the order that the queues `q` know: of its own session, then from the others. */
static bool take_by(struct matcher *m, const struct wanted *w, const struct queues *q,
                    struct match *out)
{
    return take_unused(m, w, q, w->session, out) || take_used(m, w, q, w->session, out) ||
           (!m->options.total && borrow(m, w, q, out));
}

/* Takes the oldest unused request of the same subject if its params are equal: then no other
 * one has to be looked for. */
static bool take_oldest_equal(struct matcher *m, const struct wanted *w, struct match *out)
{
    uint32_t subject = script_subject_key(w->live->method, w->live->params, false);
    uint32_t head = queues_find(&m->queues, w->session, w->method, subject);
    uint32_t op = head ? skip_used(m, w, &m->queues, head)->next : 0;
    bool differs = false;

    return op && !wanted_is_masked(m, op) && wanted_fits(m, w, &m->queues, op, &differs) &&
           !differs && found(m, w, out, op);
}

static void take_any(struct matcher *m, const struct wanted *w, struct match *out)
{
    bool sequential = m->options.mode == MATCH_SEQUENTIAL;

    if (m->queues.by_params || queues_is_sequence(&m->queues, w->method)) {
        take_by(m, w, &m->queues, out);
        return;
    }
    if ((sequential && take_oldest_equal(m, w, out)) || take_by(m, w, by_params(m), out))
        return;
    *out = (struct match){ .outcome = MATCH_NEVER };
    take_by(m, w, &m->queues, out);
}

struct match matcher_take(struct matcher *m, struct spent *spent, uint32_t session,
                          const struct mcp_message *live)
{
    struct wanted w = wanted_by(m, spent, session, live);
    bool known = script_find_method(m->script, live->method, &w.method);
    struct match out = { .outcome = MATCH_NEVER };

    begin(m);
    if (m->options.any_method) {
        take_next(m, &w, &out);
        return out;
    }
    if (!(m->options.total && take_in_order(m, &w, known, &out)) && known)
        take_any(m, &w, &out);
    limit_to_order(m, &w, &out);
    if (out.outcome == MATCH_AGAIN)
        turn_back_pages(m, &w, out.op);
    wanted_keep_key(m);
    if (wanted_is_broken(m)) {
        out.outcome = MATCH_BROKEN;
    } else if (out.outcome == MATCH_FOUND) {
        out.blur = find_blur(m, &w, out.op);
        if (!out.borrowed)
            note_passed(m, &w, &out);
    }
    return out;
}

size_t matcher_find_session(struct matcher *m, const struct match_sessions *among,
                            const struct mcp_message *live)
{
    struct spent unused;
    struct wanted w = wanted_by(m, &unused, 0, live);
    bool differs, found = false;
    size_t i = among->count;

    begin(m);
    if (m->options.any_method || !script_find_method(m->script, live->method, &w.method))
        return i;
    spent_init(&unused, m->script->op_count);
    for (i = among->from; i < among->count && !found; i++) {
        uint32_t session = among->at[i], op;

        if (spent_has(among->played, session))
            continue;
        differs = false;
        op = find_unused(m, &w, by_params(m), session, &differs);
        found =
            op && !differs && (!m->options.total || op == queues_first(&m->queues, session));
    }
    spent_release(&unused);
    return found && !wanted_is_broken(m) ? i - 1 : among->count;
}

struct match matcher_repeat(struct matcher *m, struct spent *spent, uint32_t session,
                            const struct mcp_message *live)
{
    struct wanted w = wanted_by(m, spent, session, live);
    struct match out = { .outcome = MATCH_NEVER };

    begin(m);
    if (script_find_method(m->script, live->method, &w.method))
        take_used(m, &w, &m->queues, session, &out);
    if (wanted_is_broken(m))
        out.outcome = MATCH_BROKEN;
    return out;
}
