#include "diff/call-list.h"

#include "base/big-array.h"
#include "base/hash.h"

/* Whether a server generates what the request names: a cursor or the id of a task. */
static bool has_generated_subject(const struct mcp_method *known)
{
    return known && (known->class == MCP_CLASS_LIST || known->class == MCP_CLASS_POLL);
}

static bool add_call(struct index_observer *self, uint32_t call, const struct recorded_call *of,
                     const struct params_leaves *leaves, struct err *e)
{
    struct call_list *l = (struct call_list *)self;
    const struct index_method *method = &l->index->methods[of->method];
    uint64_t name = hash_bytes(method->name, 0);

    (void)e;
    l->items = big_array_reserve(l->items, &l->item_cap, l->count + 1, sizeof *l->items);
    l->calls = big_array_reserve(l->calls, &l->call_cap, l->count + 1, sizeof *l->calls);
    l->items[l->count] = (struct align_item){
        .key = hash_mix(name, params_leaves_hash(leaves)),
        .kind = has_generated_subject(method->known) ? name : hash_mix(name, of->subject_key),
    };
    l->calls[l->count++] = call;
    return true;
}

void call_list_init(struct call_list *l, const struct index *index)
{
    *l = (struct call_list){ .observer = { add_call }, .index = index };
}

void call_list_release(struct call_list *l)
{
    big_array_release(l->items, l->item_cap, sizeof *l->items);
    big_array_release(l->calls, l->call_cap, sizeof *l->calls);
}

bool call_list_select(struct call_list *l,
                      bool (*selected)(void *arg, uint32_t call, bool *is, struct err *e),
                      void *arg, struct err *e)
{
    size_t kept = 0;

    for (size_t i = 0; i < l->count; i++) {
        bool is;

        if (!selected(arg, l->calls[i], &is, e))
            return false;
        l->items[kept] = l->items[i];
        l->calls[kept] = l->calls[i];
        kept += is;
    }
    l->count = kept;
    return true;
}
