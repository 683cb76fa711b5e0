#include "engine/crossing.h"

#include "engine/subscription.h"

static bool is_final(struct json_val root)
{
    struct json_val type = json_get(json_get(root, STR("result")), STR("resultType"));

    return !json_exists(type) || json_is(type, STR("complete"));
}

/* What a client answers to a ping changes nothing; any other question does. */
static bool can_step_cross(enum script_step_kind kind, struct json_val root)
{
    return kind == STEP_ASK ? json_is(json_get(root, STR("method")), STR("ping"))
                            : is_final(root);
}

bool crossing_is_possible(const struct script *s, uint32_t op, struct err *e)
{
    bool possible = !(s->ops[op].flags & STRAND_TASK), answered = false;
    struct json_val root = JSON_VAL_NONE;
    struct script_text t;

    script_text_init(&t);
    for (uint32_t step = script_first_step(s, op); step && possible && !answered;
         step = script_next_step(s, op, step)) {
        enum script_step_kind kind = s->steps[step].kind;

        answered = kind == STEP_ANSWER;
        if (answered || kind == STEP_ASK)
            possible = script_read_step(s, step, &t, &root, e) && can_step_cross(kind, root);
    }
    script_text_release(&t);
    return possible;
}

bool crossing_can_be_told(struct json_val root)
{
    struct arena a = { 0 };
    struct mcp_message m = mcp_classify(root, &a);
    const struct mcp_method *known = mcp_method_find(m.method);
    bool taken_back = str_eq(m.method, STR("notifications/cancelled"));
    bool can = !taken_back && (!known || known->until == MCP_VERSION_LATEST) &&
               subscription_wants(JSON_VAL_NONE, &m);

    arena_release(&a);
    return can;
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
