#include "ops/tool-drift.h"

#include "trace/limits.h"
#include "json/equal.h"

void tool_drift_init(struct tool_drift *d)
{
    *d = (struct tool_drift){ .recordings = 0 };
    recent_keys_init(&d->definitions, LIMIT_RECENT_KEYS);
}

void tool_drift_release(struct tool_drift *d)
{
    recent_keys_release(&d->definitions);
    arena_release(&d->scratch);
}

static bool check_tool(struct tool_drift *d, const struct record *r, struct json_val tool)
{
    static const struct json_rules rules = { .numbers_by_value = true };
    struct str name = json_text(json_get(tool, STR("name")), &d->scratch);
    uint64_t conn = r->has & HAS_CONN ? r->conn : 0;
    struct str key =
        arena_printf(&d->scratch, "%llu %llu %.*s", (unsigned long long)d->recordings,
                     (unsigned long long)conn, STR_ARG(name));
    const struct recent_keys_entry *before = recent_keys_find(&d->definitions, key);
    uint64_t hash = json_hash(tool, &rules);
    bool changed = before && before->value != hash;

    if (!before || changed)
        recent_keys_add(&d->definitions, key, hash, 0);
    return changed;
}

bool tool_drift_check(struct tool_drift *d, const struct record *r)
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
            changed |= check_tool(d, r, it.value);
    arena_clear(&d->scratch);
    return changed;
}
