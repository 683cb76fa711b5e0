#include "engine/crossing.h"

static bool is_final(struct json_val root)
{
    struct json_val type = json_get(json_get(root, STR("result")), STR("resultType"));

    return !json_exists(type) || json_is(type, STR("complete"));
}

bool crossing_is_possible(const struct script *s, uint32_t op, struct err *e)
{
    bool possible = !(s->ops[op].flags & STRAND_TASK);
    struct json_val root = JSON_VAL_NONE;
    struct script_text t;

    script_text_init(&t);
    for (uint32_t step = script_first_step(s, op); step && possible;
         step = script_next_step(s, op, step))
        if (s->steps[step].kind == STEP_ANSWER)
            possible = script_read_step(s, step, &t, &root, e) && is_final(root);
    script_text_release(&t);
    return possible;
}

/* How long an answer stays good was not said: nobody is to rely on it. */
static bool may_be_kept(const struct mcp_method *of)
{
    return of && (of->class == MCP_CLASS_LIST || str_eq(of->name, STR("resources/read")));
}

void crossing_to_newer(struct json_splice *edit, struct json_val root,
                       const struct mcp_method *of)
{
    struct json_val result = json_get(root, STR("result"));

    json_splice_set(edit, result, STR("resultType"), STR("\"complete\""));
    if (!may_be_kept(of))
        return;
    json_splice_set(edit, result, STR("ttlMs"), STR("0"));
    json_splice_set(edit, result, STR("cacheScope"), STR("\"private\""));
}
