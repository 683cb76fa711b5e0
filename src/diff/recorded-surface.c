#include "diff/recorded-surface.h"

#include <stdlib.h>

#include "base/mem.h"

/* Finds the step that is the response to a call; 0: none. */
static uint32_t response_step(const struct index *index, uint32_t call)
{
    uint32_t step = index_first_step(index, call);

    while (step && index->steps[step].kind != STEP_RESPONSE)
        step = index_next_step(index, call, step);
    return step;
}

static bool is_of_surface(struct str method)
{
    if (str_eq(method, STR("initialize")) || str_eq(method, STR("server/discover")))
        return true;
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++)
        if (str_eq(method, surface_list_method(k)))
            return true;
    return false;
}

/* The two messages of a call. */
struct exchange_text {
    struct index_message request, response;
};

static bool read_call(struct surface *s, const struct index *index, uint32_t call,
                      struct exchange_text *t, struct err *e)
{
    uint32_t step = response_step(index, call);
    struct str method = index_method(index, call)->name;
    struct json_val request, response, cursor;

    if (!step)
        return true;
    if (!index_read_call(index, call, &t->request, &request, e) ||
        !index_read_step(index, step, &t->response, &response, e))
        return false;
    cursor = json_get(json_get(request, STR("params")), STR("cursor"));
    (void)surface_add_result(s, method, json_type(cursor) == JSON_STRING,
                             json_get(response, STR("result")),
                             index_lines(index, call).response);
    return true;
}

/* A call whose result is part of a surface. */
struct surface_call {
    uint32_t session, call;
};

struct surface_calls {
    struct surface_call *at; /* owned; sorted by session, then by call */
    size_t count, cap;
};

static int compare_calls(const void *a, const void *b)
{
    const struct surface_call *x = a, *y = b;

    if (x->session != y->session)
        return x->session < y->session ? -1 : 1;
    return x->call < y->call ? -1 : x->call > y->call;
}

static struct surface_calls list_calls(const struct index *index)
{
    struct surface_calls list = { NULL, 0, 0 };

    for (uint32_t call = 1; call < index->call_count; call++) {
        if (!is_of_surface(index_method(index, call)->name))
            continue;
        list.at = mem_reserve(list.at, &list.cap, list.count + 1, sizeof *list.at);
        list.at[list.count++] = (struct surface_call){ index->calls[call].session, call };
    }
    if (list.count)
        qsort(list.at, list.count, sizeof *list.at, compare_calls);
    return list;
}

static bool fail_conflict(struct err *e, uint32_t session, enum surface_kind kind,
                          struct str key)
{
    struct str word = surface_kind_name(kind);

    err_set(e, ERR_INPUT, "session %u has another surface than those before it: %.*s '%.*s'",
            session + 1, STR_ARG(word), STR_ARG(key));
    return err_hint(e, "choose one with --session N");
}

/* Merges the calls of one session, from `*next` on. */
static bool merge_session(struct surface *s, const struct index *index,
                          const struct surface_calls *list, size_t *next, struct err *e)
{
    uint32_t session = list->at[*next].session;
    enum surface_kind kind = SURFACE_TOOL;
    struct str key = STR_NONE;
    struct exchange_text t;
    struct surface one;
    bool ok = true;

    surface_init(&one);
    index_message_init(&t.request);
    index_message_init(&t.response);
    for (; *next < list->count && list->at[*next].session == session && ok; ++*next)
        ok = read_call(&one, index, list->at[*next].call, &t, e);
    surface_complete(&one);
    if (ok && !surface_merge(s, &one, &kind, &key))
        ok = fail_conflict(e, session, kind, key);
    index_message_release(&t.request);
    index_message_release(&t.response);
    surface_release(&one);
    return ok;
}

bool recorded_surface_read(struct surface *s, const struct index *index, uint32_t session,
                           struct err *e)
{
    struct surface_calls list;
    bool ok = true;

    if (session > index->session_count)
        return err_set(e, ERR_INPUT, "there is no session %u: the recording has %zu", session,
                       index->session_count);
    list = list_calls(index);
    for (size_t next = 0; next < list.count && ok;) {
        if (session && list.at[next].session != session - 1)
            next++;
        else
            ok = merge_session(s, index, &list, &next, e);
    }
    free(list.at);
    return ok;
}
