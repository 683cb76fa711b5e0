#include "trace/drift.h"

#include "trace/limits.h"
#include "json/canon.h"

void drift_init(struct drift *d)
{
    *d = (struct drift){ .recordings = 0 };
    recall_init(&d->known, LIMIT_RECALL);
}

void drift_release(struct drift *d)
{
    recall_release(&d->known);
    arena_release(&d->scratch);
}

static bool see_tool(struct drift *d, const struct record *r, struct json_val tool)
{
    static const struct json_rules rules = { .numbers_by_value = true };
    struct str name = json_text(json_get(tool, STR("name")), &d->scratch);
    uint64_t conn = r->has & HAS_CONN ? r->conn : 0;
    struct str key =
        arena_printf(&d->scratch, "%llu %llu %.*s", (unsigned long long)d->recordings,
                     (unsigned long long)conn, STR_ARG(name));
    const struct recall_entry *before = recall_find(&d->known, key);
    uint64_t hash = json_hash(tool, &rules);
    bool changed = before && before->what != hash;

    if (!before || changed)
        recall_put(&d->known, key, hash, 0);
    return changed;
}

bool drift_see(struct drift *d, const struct record *r)
{
    struct json_iter it;
    bool changed = false;

    if (r->kind == RECORD_HEADER)
        d->recordings++;
    if (r->kind != RECORD_MESSAGE || r->message.dir != TO_CLIENT)
        return false;
    it = json_each(json_get(json_get(r->message.msg, STR("result")), STR("tools")));
    while (json_next(&it))
        if (json_type(json_get(it.value, STR("name"))) == JSON_STRING)
            changed |= see_tool(d, r, it.value);
    arena_clear(&d->scratch);
    return changed;
}
