#include "engine/script-under.h"

#include "engine/suspense.h"

/* A subscription is never being worked on, and no call is made on the stream of a GET. One that
 * its client gave up still has its stream for itself. */
static bool is_for_all(const struct script *s, const struct pairing *pairs,
                       struct scope_reach at)
{
    const struct pairing_request *q = pairing_first(pairs, at, TO_SERVER);
    const struct mcp_method *known = q ? script_method(s, script_under_op(q))->known : NULL;

    return !q || (known && known->class == MCP_CLASS_LISTEN);
}

/* Among those who share nothing but the server, an era is of no concern to the other, nor is
 * one who only greets to those who are listening already. */
static bool concerns(const struct script *s, const struct script_under *u,
                     const struct pairing_request *q)
{
    uint32_t op = script_under_op(q);

    return u->place.kind != SCOPE_SERVER ||
           (script_is_stateless(s, s->ops[op].session) == u->stateless &&
            !str_eq(q->method, STR("initialize")));
}

struct script_under script_under_of(const struct script *s, const struct pairing *pairs,
                                    const struct record *r, bool stateless)
{
    struct scope_place place = scope_of(&pairs->scope, r);
    bool wide = is_for_all(s, pairs, place.at[0]);
    struct script_under u = { .place = wide ? scope_widest(&place) : place.at[0],
                              .stateless = stateless };
    const struct pairing_request *q = pairing_first(pairs, u.place, TO_SERVER);

    for (size_t n = 0; q && !q->parked; q = pairing_next(q, u.place)) {
        bool too_many = n++ == SCRIPT_UNDER_MAX;

        if (!too_many && !concerns(s, &u, q))
            continue;
        u.sole = u.any || too_many ? 0 : script_under_op(q);
        u.any = true;
        if (!u.sole)
            break;
    }
    return u;
}

/* A question about a task comes while its result is waited for. */
static bool waits_for_task(const struct pairing_request *q, struct str task)
{
    return task.len && str_eq(q->method, STR("tasks/result")) && str_eq(q->subject, task);
}

struct script_askers script_under_askers(const struct script *s, const struct pairing *pairs,
                                         const struct script_under *u, struct str task)
{
    const struct pairing_request *q = pairing_first(pairs, u->place, TO_SERVER);
    struct script_askers found = { .sole = true };

    for (size_t n = 0; q && !q->parked && n < SCRIPT_UNDER_MAX;
         q = pairing_next(q, u->place), n++) {
        uint32_t op = script_under_op(q);

        if (waits_for_task(q, task))
            return (struct script_askers){ op, true };
        if (!concerns(s, u, q) || !suspense_may_ask(script_method(s, op)))
            continue;
        found.sole = !found.oldest;
        if (!found.sole && !task.len)
            break;
        found.oldest = found.oldest ? found.oldest : op;
    }
    return found;
}
