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

static bool goes_by_params(const struct matcher *m, uint32_t method)
{
    return queues_goes_by_params(&m->queues, method);
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
    free(m->places.at);
    leaves_release(&m->leaves);
    script_text_release(&m->text);
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

static void add_by_params(struct matcher *m, const struct wanted *w, uint32_t session,
                          uint32_t subject_key, struct match_places *to)
{
    const struct script_mask *masks = script_mask_find(m->script, w->method, subject_key);
    uint32_t key = wanted_key(m, w);

    add_place(to, queues_find(&m->queues, session, w->method, key));
    for (; masks; masks = masks->next) {
        leaves_take(&m->leaves, w->live->params, &m->options.rules, masks->mask);
        key = queues_masked(script_fold(leaves_key(&m->leaves)));
        add_place(to, queues_find(&m->queues, session, w->method, key));
    }
}

/* `wild`: among requests whose subject was redacted, else among the others. Valid until there
 * is another search. */
static const struct match_places *find_places(struct matcher *m, const struct wanted *w,
                                              uint32_t session, bool wild)
{
    bool masked = m->script->masks.count != 0;
    bool by_params = goes_by_params(m, w->method);
    struct match_places *found = &m->places;
    uint32_t key;

    if (found->known && found->session == session && found->wild == wild)
        return found;
    key = masked || !by_params ? script_subject_key(w->live->method, w->live->params, wild) : 0;
    *found = (struct match_places){
        .known = true, .session = session, .wild = wild, .at = found->at, .cap = found->cap
    };
    if (by_params)
        add_by_params(m, w, session, key, found);
    else
        add_place(found, queues_find(&m->queues, session, w->method, key));
    return found;
}

/* The oldest unused one of a queue that fits; 0: none. */
static uint32_t unused_in(struct matcher *m, const struct wanted *w, uint32_t head,
                          bool *differs)
{
    struct spent_queue *q = spent_queue(w->spent, head);
    uint32_t op;

    while (q->next && spent_has(w->spent, q->next))
        q->next = m->queues.next[q->next];
    for (op = q->next; op; op = m->queues.next[op])
        if (!spent_has(w->spent, op) && wanted_fits(m, w, op, differs))
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
    wanted_fits(m, w, best.op, &out->differs);
    return found(m, w, out, best.op);
}

static bool goes_by_likeness(const struct matcher *m, uint32_t method)
{
    enum mcp_class class = class_of(m, method);

    return m->options.mode == MATCH_FUZZY && class != MCP_CLASS_POLL &&
           class != MCP_CLASS_LISTEN;
}

/* One that was compared as a whole is better than an older one that could not be. */
static bool is_better(const struct matcher *m, uint32_t op, uint32_t than)
{
    if (goes_by_params(m, m->script->ops[op].method) &&
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
        uint32_t op = unused_in(m, w, places->at[i], &other);
        if (op && (!best || is_better(m, op, best))) {
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

    if (!op || !wanted_fits(m, w, op, &out->differs))
        return false;
    found(m, w, out, op);
    if (used)
        out->outcome = MATCH_AGAIN;
    return true;
}

static bool take_unused(struct matcher *m, const struct wanted *w, uint32_t session,
                        struct match *out)
{
    uint32_t best = 0;

    if (class_of(m, w->method) == MCP_CLASS_LISTEN)
        return take_subscription(m, w, session, false, out);
    if (goes_by_likeness(m, w->method))
        return take_alike(m, w, session, out);
    for (int wild = 0; wild <= m->script->wild && !best; wild++) {
        best = best_in(m, w, find_places(m, w, session, wild), &out->differs);
    }
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

static void start_over(struct matcher *m, struct spent *spent, uint32_t head)
{
    spent_queue(spent, head)->next = head;
    for (uint32_t op = head; op; op = m->queues.next[op])
        spent_mark(spent, op, false);
}

/* The last success, if possible one that was asked for with the same params. */
static uint32_t last_success(struct matcher *m, const struct wanted *w, uint32_t head)
{
    uint32_t last = spent_queue(w->spent, head)->last, alike = 0, key;

    if (!last || goes_by_params(m, w->method))
        return last;
    key = wanted_key(m, w);
    if (m->script->ops[last].params_key == key)
        return last;
    for (uint32_t op = head; op; op = m->queues.next[op])
        if (m->script->ops[op].params_key == key && m->script->ops[op].flags & STRAND_SUCCEEDED)
            alike = op;
    return alike ? alike : last;
}

/* All of a queue were given. */
static bool take_again(struct matcher *m, const struct wanted *w, uint32_t head,
                       struct match *out)
{
    bool differs = false;
    uint32_t op;

    if (may_cycle(m, w)) {
        start_over(m, w->spent, head);
        op = unused_in(m, w, head, &out->differs);
        if (op)
            found(m, w, out, op);
        out->outcome = op ? MATCH_AGAIN : MATCH_EXHAUSTED;
        out->anew = !may_repeat(m, w->method);
        return op != 0;
    }
    if (!may_repeat(m, w->method) && w->exhausted == EXHAUSTED_ERROR)
        return false;
    op = last_success(m, w, head);
    if (!op || !wanted_fits(m, w, op, &differs))
        return false;
    out->outcome = MATCH_AGAIN;
    out->op = op;
    out->differs = differs;
    return true;
}

/* What would help whoever has used up a queue. */
static void note_exhausted(struct matcher *m, const struct wanted *w, uint32_t head,
                           struct match *out)
{
    out->outcome = MATCH_EXHAUSTED;
    for (uint32_t op = head; op; op = m->queues.next[op])
        if (spent_has(w->spent, op))
            out->used = op;
    out->by_last = spent_queue(w->spent, head)->last != 0;
    out->by_cycle = class_of(m, w->method) != MCP_CLASS_POLL;
}

static bool was_given(struct matcher *m, const struct wanted *w, uint32_t head)
{
    bool differs;

    while (head && !(spent_has(w->spent, head) && wanted_fits(m, w, head, &differs)))
        head = m->queues.next[head];
    return head != 0;
}

static void renew_one(void *arg, uint32_t op)
{
    spent_mark(arg, op, false);
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

    if (!best.op)
        return false;
    each_alike(m, w, &q, best.like, note_latest, &last);
    *out = (struct match){ .outcome = MATCH_EXHAUSTED,
                           .used = last.op ? last.op : best.op,
                           .by_last = last.op != 0,
                           .by_cycle = true };
    if (may_cycle(m, w)) {
        each_alike(m, w, &q, best.like, renew_one, w->spent);
        found(m, w, out, best.op);
        out->anew = !may_repeat(m, w->method);
    } else if (may_repeat(m, w->method) || w->exhausted == EXHAUSTED_LAST) {
        out->op = last.op;
    }
    if (!out->op)
        return false;
    out->outcome = MATCH_AGAIN;
    out->rival = best.rival == out->op ? best.op : best.rival;
    wanted_fits(m, w, out->op, &out->differs);
    return true;
}

/* Something like it is in this session, but used up. */
static bool take_used(struct matcher *m, const struct wanted *w, uint32_t session,
                      struct match *out)
{
    bool done = false;

    if (class_of(m, w->method) == MCP_CLASS_LISTEN)
        return take_subscription(m, w, session, true, out);
    if (goes_by_likeness(m, w->method))
        return take_alike_again(m, w, session, out);
    for (int wild = 0; wild <= m->script->wild && !done; wild++) {
        const struct match_places *places = find_places(m, w, session, wild);
        for (size_t i = 0; i < places->count && !done; i++)
            if (was_given(m, w, places->at[i])) {
                done = take_again(m, w, places->at[i], out);
                if (!done)
                    note_exhausted(m, w, places->at[i], out);
            }
    }
    return done;
}

static bool borrow_from(struct matcher *m, const struct wanted *w, size_t first, size_t end,
                        struct match *out)
{
    const uint32_t *from = m->script->playable;

    for (size_t i = first; i < end; i++)
        if (from[i] != w->session && take_unused(m, w, from[i], out))
            return true;
    for (size_t i = first; i < end; i++)
        if (from[i] != w->session && take_used(m, w, from[i], out))
            return true;
    return false;
}

/* Whoever has nothing of its own left looks at the other sessions of its era, in order; at the
 * other era only for what its own was never asked for. */
static void borrow(struct matcher *m, const struct wanted *w, struct match *out)
{
    const struct script *s = m->script;
    size_t count = s->playable_count;
    size_t older = count - script_is_stateless(s, s->playable[count - 1]);
    bool newer = script_is_stateless(s, w->session);

    out->borrowed = !newer && borrow_from(m, w, 0, older, out);
    if (!out->borrowed && out->outcome == MATCH_NEVER)
        out->borrowed = borrow_from(m, w, newer ? 0 : older, newer ? older : count, out);
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

static bool is_for(struct matcher *m, const struct wanted *w, bool known, uint32_t op)
{
    bool differs = false;

    return op && known && m->script->ops[op].method == w->method &&
           wanted_fits(m, w, op, &differs) && !wanted_is_broken(m);
}

/* The first request of a session that counts; 0: it has none. */
static uint32_t first_of(const struct matcher *m, uint32_t session)
{
    const struct script *s = m->script;

    for (uint32_t op = 1; op < s->op_count; op++)
        if (s->ops[op].session == session && s->ops[op].flags & STRAND_COUNTS)
            return op;
    return 0;
}

/* Whether a session has an answer that may be given, in any order. */
static bool has_answer(struct matcher *m, const struct wanted *w, uint32_t session,
                       bool *recorded)
{
    bool may = may_repeat(m, w->method) || w->exhausted == EXHAUSTED_LAST;
    bool differs, has = false;

    for (int wild = 0; wild <= m->script->wild && !has; wild++) {
        const struct match_places *places = find_places(m, w, session, wild);
        for (size_t i = 0; i < places->count && !has; i++) {
            *recorded = true;
            has = unused_in(m, w, places->at[i], &differs) || may_cycle(m, w) ||
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

/* In total order only the next one can be taken, and of a session that is over the first, if
 * it may start over: then all of it does. */
static bool is_too_early(struct matcher *m, const struct wanted *w, bool known,
                         struct match *out)
{
    uint32_t next = oldest_unused(m, w->spent, w->session);
    bool over = !next && w->exhausted == EXHAUSTED_CYCLE;

    if (!m->options.total)
        return false;
    if (over)
        next = first_of(m, w->session);
    if (!next)
        return false;
    if (!is_for(m, w, known, next)) {
        note_too_early(m, w, known, next, out);
        return true;
    }
    if (over)
        spent_clear(w->spent);
    return false;
}

/* When a session in total order is over, only its first request can start it over. */
static void limit_to_order(struct matcher *m, const struct wanted *w, struct match *out)
{
    if (m->options.total && out->outcome == MATCH_EXHAUSTED)
        out->by_cycle = is_for(m, w, true, first_of(m, w->session));
}

/* The last request of a session that has all of `flags`; 0: there is none. */
static uint32_t last_of(const struct matcher *m, uint32_t session, uint8_t flags)
{
    const struct script *s = m->script;
    uint32_t op = (uint32_t)s->op_count;

    while (--op)
        if (s->ops[op].session == session && (s->ops[op].flags & flags) == flags)
            break;
    return op;
}

/* mcp-recorder's order: whatever is asked, the next answer is given. */
static void take_next(struct matcher *m, const struct wanted *w, struct match *out)
{
    uint32_t op = oldest_unused(m, w->spent, w->session);
    bool over = !op;

    out->used = last_of(m, w->session, STRAND_COUNTS);
    out->outcome = out->used ? MATCH_EXHAUSTED : MATCH_NEVER;
    out->by_last = last_of(m, w->session, STRAND_COUNTS | STRAND_SUCCEEDED) != 0;
    out->by_cycle = out->used != 0;
    if (over && w->exhausted == EXHAUSTED_CYCLE) {
        spent_clear(w->spent);
        op = first_of(m, w->session);
    } else if (over && w->exhausted == EXHAUSTED_LAST) {
        op = last_of(m, w->session, STRAND_COUNTS | STRAND_SUCCEEDED);
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
            start_over(m, w->spent, queues_of(&m->queues, op));
}

/* What is compared says as little of another one. Pages of a list come in their order. */
static uint32_t find_blur(struct matcher *m, const struct wanted *w, uint32_t op)
{
    const struct script_op *ops = m->script->ops;
    uint32_t other = queues_of(&m->queues, op);

    if (!wanted_is_masked(m, op) || class_of(m, w->method) == MCP_CLASS_LIST)
        return 0;
    if (!goes_by_params(m, w->method) && !goes_by_likeness(m, w->method) &&
        ops[op].subject_key != script_subject_key(w->live->method, w->live->params, true))
        return 0; /* what was redacted is not looked at */
    while (other && (other == op || !wanted_is_masked(m, other) ||
                     ops[other].params_key != ops[op].params_key))
        other = m->queues.next[other];
    return other;
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
    m->places.known = false;
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
    if (is_too_early(m, &w, known, &out) || !known)
        return out;
    if (!take_unused(m, &w, session, &out) && !take_used(m, &w, session, &out) &&
        !m->options.total)
        borrow(m, &w, &out);
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

struct match matcher_repeat(struct matcher *m, struct spent *spent, uint32_t session,
                            const struct mcp_message *live)
{
    struct wanted w = wanted_by(m, spent, session, live);
    struct match out = { .outcome = MATCH_NEVER };

    begin(m);
    if (script_find_method(m->script, live->method, &w.method))
        take_used(m, &w, session, &out);
    if (wanted_is_broken(m))
        out.outcome = MATCH_BROKEN;
    return out;
}
