#include "index/attribute.h"

#include <stdlib.h>

#include "base/mem.h"

struct message_owner attribute_message(const struct pairing *pairs, const struct record *r,
                                       bool is_request, struct str task)
{
    struct scope_chain scopes = pairing_scopes(pairs, r);
    struct message_owner found = message_owner_find(pairs, &scopes, is_request, task);

    if (found.request && found.request->detached) {
        if (message_owner_is_subscription(found.request))
            return message_owner_in_session(pairs, &scopes, is_request, task);
        found.kind = OWNER_NONE;
        found.request = NULL;
    }
    return found;
}

/* Server requests that were sent one after the other for one client request. */
struct unattributed_group {
    struct unattributed_group *next;
    uint64_t number;
    struct scope_ref scope;
    uint32_t oldest_call;   /* first call that may own it */
    uint32_t previous_call; /* call of the message that was sent before it */
    uint32_t calls_end;     /* calls from this number on began after its first server request */
    size_t open_requests;   /* server requests without a response */
    uint64_t last_response; /* `response_count` at its latest client response */
    uint32_t *steps;        /* in recorded order */
    size_t count, cap;
};

static void add_group_step(struct unattributed_group *group, uint32_t step)
{
    group->steps =
        mem_reserve(group->steps, &group->cap, group->count + 1, sizeof *group->steps);
    group->steps[group->count++] = step;
}

static void free_group(struct unattributed *u, struct unattributed_group *group)
{
    struct unattributed_group **at = &u->first;

    while (*at != group)
        at = &(*at)->next;
    *at = group->next;
    u->count--;
    free(group->steps);
    free(group);
}

static bool is_in_scope(const struct unattributed_group *group, struct scope_ref scope)
{
    return group->scope.kind == scope.kind && group->scope.number == scope.number;
}

/* Finds the group in a scope that has no open server request and may be owned by `call`. If
 * there are several, the one whose response came first. */
static struct unattributed_group *longest_waiting_group(const struct unattributed *u,
                                                        struct scope_ref scope, uint32_t call)
{
    struct unattributed_group *found = NULL;

    for (struct unattributed_group *group = u->first; group; group = group->next)
        if (is_in_scope(group, scope) && !group->open_requests && call < group->calls_end &&
            (!found || group->last_response < found->last_response))
            found = group;
    return found;
}

/* Appends the steps of the oldest group to the call of the message before it: takes no search
 * and delays no other step. */
static void flush_oldest_group(struct unattributed *u, struct index *s)
{
    struct unattributed_group *group = u->first;

    for (size_t i = 0; i < group->count; i++)
        index_append_step(s, group->previous_call, group->steps[i]);
    free_group(u, group);
}

static struct unattributed_group *new_group(struct unattributed *u, struct index *s,
                                            struct scope_ref scope, uint32_t previous)
{
    struct unattributed_group **end = &u->first, *group = mem_new(struct unattributed_group);

    if (u->count == ATTRIBUTE_DEFERRED_MAX)
        flush_oldest_group(u, s);
    while (*end)
        end = &(*end)->next;
    *end = group;
    u->count++;
    group->number = ++u->last_number;
    group->scope = scope;
    group->previous_call = previous;
    group->calls_end = (uint32_t)s->call_count;
    return group;
}

uint64_t attribute_defer_request(struct unattributed *u, struct index *s,
                                 struct scope_ref scope, uint32_t step, uint32_t oldest,
                                 uint32_t previous)
{
    struct unattributed_group *group = longest_waiting_group(u, scope, oldest);

    if (!group) {
        group = new_group(u, s, scope, previous);
        group->oldest_call = oldest;
    }
    group->open_requests++;
    add_group_step(group, step);
    return group->number;
}

void attribute_defer_response(struct unattributed *u, uint64_t number, uint32_t step)
{
    struct unattributed_group *group = u->first;

    while (group && group->number != number)
        group = group->next;
    if (!group)
        return;
    group->open_requests -= group->open_requests > 0;
    group->last_response = ++u->response_count;
    add_group_step(group, step);
}

/* Sets whether a step waits for the client, and counts the open server requests of its call. */
static void count_open_requests(struct recorded_step *step, uint32_t *open)
{
    *open -= step->kind == STEP_CLIENT_RESPONSE && *open;
    step->waits_for_client = !*open;
    *open += step->kind == STEP_SERVER_REQUEST;
}

/* Merges the steps of a group into those of a call, in recorded order. */
static void merge_steps(struct index *s, uint32_t call, const struct unattributed_group *group)
{
    uint32_t old = index_first_step(s, call), head = 0, tail = 0, open = 0;
    size_t i = 0;

    while (old || i < group->count) {
        uint32_t step = old;

        if (i < group->count && (!old || group->steps[i] < old))
            step = group->steps[i++];
        else
            old = index_next_step(s, call, old);
        *(tail ? &s->steps[tail].next : &head) = step;
        tail = step;
        count_open_requests(&s->steps[step], &open);
    }
    s->steps[tail].next = head;
    s->calls[call].last_step = tail;
    s->calls[call].open_server_requests = (uint8_t)(open < UINT8_MAX ? open : UINT8_MAX);
}

void attribute_resolve(struct unattributed *u, struct index *s, struct scope_ref scope,
                       uint32_t call)
{
    struct unattributed_group *group;

    if (!u->first || !message_owner_allows_requests(index_method(s, call)->known))
        return;
    group = longest_waiting_group(u, scope, call);
    if (!group)
        return;
    merge_steps(s, call, group);
    free_group(u, group);
}

void attribute_resolve_rest(struct unattributed *u, struct index *s)
{
    while (u->first) {
        merge_steps(s, u->first->oldest_call, u->first);
        free_group(u, u->first);
    }
}
