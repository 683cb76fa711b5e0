#include "engine/wanted.h"

#include "engine/compare.h"
#include "engine/script-mask.h"

struct wanted wanted_by(const struct matcher *m, struct spent *spent, uint32_t session,
                        const struct mcp_message *live)
{
    bool stateless = script_is_stateless(m->script, session);

    return (struct wanted){ .live = live,
                            .spent = spent,
                            .session = session,
                            .exhausted =
                                stateless ? m->options.stateless : m->options.exhausted };
}

struct json_val wanted_recorded(struct matcher *m, uint32_t op)
{
    struct json_val root = JSON_VAL_NONE;

    if (wanted_is_broken(m) || !script_read_op(m->script, op, &m->text, &root, &m->trouble))
        return JSON_VAL_NONE;
    return json_get(root, STR("params"));
}

bool wanted_same_subject(struct matcher *m, const struct wanted *w, struct json_val params)
{
    struct json_val subject = mcp_subject(w->live->method, params);
    struct json_val live = mcp_subject(w->live->method, w->live->params);

    if (leaves_is_redacted(subject) || leaves_is_redacted(live))
        return leaves_may_be_same(subject, live);
    return str_eq(json_text(subject, &m->text.arena), json_text(live, &m->text.arena));
}

static bool same_params(struct matcher *m, const struct wanted *w, uint32_t op,
                        struct json_val params)
{
    return compare_same(params, w->live->params, &m->options.rules,
                        script_mask_hidden(m->script, op));
}

/* Compares a recorded request with the live one: equal hashes do not prove equal requests. */
static void compare(struct matcher *m, const struct wanted *w, uint32_t op)
{
    struct match_insight *known = &m->insight;
    struct json_val params;

    known->compared = op;
    known->about = known->equal = true; /* if it cannot be read, the search is over */
    if (wanted_is_broken(m) || !script_fetch_op(m->script, op, &m->text.text, &m->trouble))
        return;
    if (compare_same_text(buf_str(&m->text.text), w->live)) {
        known->same_text = op;
        return;
    }
    params = wanted_recorded(m, op);
    if (wanted_is_broken(m))
        return;
    known->equal = same_params(m, w, op, params);
    known->about = known->equal || wanted_same_subject(m, w, params);
}

bool wanted_fits(struct matcher *m, const struct wanted *w, const struct queues *q, uint32_t op,
                 bool *differs)
{
    struct match_insight *known = &m->insight;
    bool by_params = queues_goes_by_params(q, w->method);

    if (known->compared != op)
        compare(m, w, op);
    if (by_params ? !known->equal : !known->about)
        return false;
    *differs = !known->equal;
    return true;
}

/* The key of a request that was asked in these very words before, by the recorded one that it
 * was: that one has it. */
static bool recall_key(struct matcher *m, const struct wanted *w)
{
    struct match_insight *known = &m->insight;
    uint32_t op = wording_find(&m->wording, json_raw(w->live->params), &known->hash);
    bool differs;

    if (!op || m->script->ops[op].method != w->method ||
        !wanted_fits(m, w, &m->queues, op, &differs) || known->same_text != op)
        return false;
    known->key = m->script->ops[op].params_key;
    return true;
}

uint32_t wanted_key(struct matcher *m, const struct wanted *w)
{
    struct match_insight *known = &m->insight;

    if (!known->keyed && !recall_key(m, w)) {
        leaves_take(&m->leaves, w->live->params, &m->options.rules,
                    (struct leaf_mask){ NULL, 0 });
        known->key = script_fold(leaves_key(&m->leaves));
    }
    known->keyed = true;
    return known->key;
}

/* What was redacted is left out of the key of the recorded one. */
void wanted_keep_key(struct matcher *m)
{
    const struct match_insight *known = &m->insight;

    if (known->keyed && known->same_text && !wanted_is_masked(m, known->same_text))
        wording_keep(&m->wording, known->hash, known->same_text);
}
