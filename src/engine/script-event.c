#include "engine/script-event.h"

#define USUAL "message"

static const struct script_event usual = { .name = STR_INIT(USUAL), .retry_ms = -1 };

/* Few do; they need not all be parsed for that. */
static bool may_stand_out(struct str event)
{
    return str_has(event, STR("\"retry\"")) ||
           (str_has(event, STR("\"event\"")) &&
            !str_has(event, STR("\"event\":\"" USUAL "\"")));
}

/* A name that nobody could have sent is none. */
static struct str name_of(struct json_val event, struct arena *a)
{
    struct str name = json_text(json_get(event, STR("event")), a);
    bool can_be =
        name.len && str_find(name, '\n') == name.len && str_find(name, '\r') == name.len;

    return can_be ? name : usual.name;
}

static int64_t retry_of(struct json_val event)
{
    int64_t ms;

    return json_int(json_get(event, STR("retry")), &ms) && ms >= 0 ? ms : -1;
}

void script_event_note(struct script *s, uint32_t step, struct str event)
{
    uint64_t key = step;
    struct script_event *x;
    struct json_fault fault;
    struct json j;

    if (!event.len || !may_stand_out(event))
        return;
    json_init(&j);
    if (json_scan(&j, event, &fault)) {
        x = arena_new(&s->arena, struct script_event);
        x->name = arena_str(&s->arena, name_of(json_root(&j), &s->arena));
        x->retry_ms = retry_of(json_root(&j));
        map_put(&s->events, map_number(&key), x);
    }
    json_release(&j);
}

const struct script_event *script_event_of(const struct script *s, uint32_t step)
{
    uint64_t key = step;
    const struct script_event *x =
        s->events.count ? map_get(&s->events, map_number(&key)) : NULL;

    return x ? x : &usual;
}
