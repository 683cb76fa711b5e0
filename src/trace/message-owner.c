#include "trace/message-owner.h"

/* A message that is being attributed. */
struct server_message {
    const struct scope_chain *scopes;
    bool is_request;
    bool stateless; /* protocol of the request on whose exchange it came */
    struct str task;
};

bool message_owner_allows_requests(const struct mcp_method *known)
{
    return !known || known->class == MCP_CLASS_CALL || known->class == MCP_CLASS_READ ||
           str_eq(known->name, STR("tasks/result"));
}

static bool is_initialize(const struct pairing_request *q)
{
    return q->known && q->known->class == MCP_CLASS_SESSION &&
           str_eq(q->known->name, STR("initialize"));
}

/* Whether a request in flight can own a message that was sent in `scope`. */
static bool is_candidate(const struct pairing_request *q, struct scope_ref scope,
                         const struct server_message *m)
{
    if (message_owner_is_subscription(q) ||
        (q->known && q->known->class == MCP_CLASS_SESSION && !is_initialize(q)))
        return false;
    return scope.kind != SCOPE_SERVER || (q->stateless == m->stateless && !is_initialize(q));
}

/* A server request about a task is sent while the client waits for the task's result. */
static bool waits_for_task(const struct pairing_request *q, struct str task)
{
    return task.len && str_eq(q->method, STR("tasks/result")) && str_eq(q->subject, task);
}

/* Candidates in a scope. */
struct owner_candidates {
    const struct pairing_request *oldest;
    size_t count; /* exact up to 2 */
};

static void add_candidate(struct owner_candidates *c, const struct pairing_request *q)
{
    c->oldest = c->oldest ? c->oldest : q;
    c->count++;
}

static enum owner_kind kind_of_only(const struct pairing_request *q,
                                    const struct message_owner *at,
                                    const struct server_message *m)
{
    bool has_stream = q->level_count > 1 && !q->accepted;
    bool other_stream = at->scope.kind != SCOPE_EXCHANGE && scope_in_exchange(m->scopes);

    return at->scope.kind == SCOPE_SERVER || (has_stream && other_stream) ? OWNER_CONCURRENT
                                                                          : OWNER_INFERRED;
}

static void choose(struct message_owner *to, const struct owner_candidates *c,
                   const struct server_message *m)
{
    to->request = c->oldest;
    if (c->count)
        to->kind = c->count > 1 ? OWNER_AMBIGUOUS : kind_of_only(c->oldest, to, m);
}

/* Rules 2 and 3 in one scope. If more requests are open than are looked at, the message is
 * ambiguous. */
static struct message_owner find_in(const struct pairing *pairs, struct scope_ref scope,
                                    const struct server_message *m)
{
    const struct pairing_request *q = pairing_first(pairs, scope, TO_SERVER);
    struct message_owner found = { .scope = scope };
    struct owner_candidates all = { 0 }, first = { 0 };

    for (size_t n = 0; q && !q->detached; q = pairing_next(q, scope), n++) {
        bool too_many = n == MESSAGE_OWNER_MAX;

        if (waits_for_task(q, m->task)) {
            found.kind = OWNER_CERTAIN;
            found.request = q;
            found.any_open = true;
            return found;
        }
        if (too_many || is_candidate(q, scope, m))
            add_candidate(&all, q);
        if (!too_many && m->is_request && is_candidate(q, scope, m) &&
            message_owner_allows_requests(q->known))
            add_candidate(&first, q);
        if (too_many || (!m->task.len && (m->is_request ? first.count : all.count) > 1))
            break;
    }
    found.any_open = all.count > 0;
    choose(&found, first.count ? &first : &all, m);
    return found;
}

static struct server_message message_of(const struct pairing *pairs,
                                        const struct scope_chain *scopes, bool is_request,
                                        struct str task)
{
    const struct pairing_request *q = pairing_first(pairs, scopes->levels[0], TO_SERVER);

    return (struct server_message){
        .scopes = scopes, .is_request = is_request, .stateless = q && q->stateless, .task = task
    };
}

struct message_owner message_owner_in_session(const struct pairing *pairs,
                                              const struct scope_chain *scopes, bool is_request,
                                              struct str task)
{
    struct server_message m = message_of(pairs, scopes, is_request, task);

    return find_in(pairs, scope_widest(scopes), &m);
}

struct message_owner message_owner_find(const struct pairing *pairs,
                                        const struct scope_chain *scopes, bool is_request,
                                        struct str task)
{
    struct server_message m = message_of(pairs, scopes, is_request, task);
    struct scope_ref stream = scopes->levels[0];
    const struct pairing_request *q = pairing_first(pairs, stream, TO_SERVER);

    if (!scope_in_exchange(scopes) || !q)
        return find_in(pairs, scope_widest(scopes), &m);
    if (!pairing_next(q, stream))
        return (struct message_owner){
            .kind = OWNER_CERTAIN, .request = q, .scope = stream, .any_open = !q->detached
        };
    return find_in(pairs, stream, &m);
}
