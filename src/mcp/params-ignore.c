#include "mcp/params-ignore.h"

#include <stdlib.h>

#include "base/mem.h"

/* The members that identify a request, of all methods: its subject (mcp/method.h), the page,
 * the round of input, and whether it becomes a task. */
static bool is_identity(struct str name)
{
    static const struct str names[] = { STR_INIT("name"),   STR_INIT("uri"),
                                        STR_INIT("ref"),    STR_INIT("taskId"),
                                        STR_INIT("cursor"), STR_INIT("requestState"),
                                        STR_INIT("task"),   STR_INIT("inputResponses") };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(names[i], name))
            return true;
    return false;
}

static bool is_identity_step(const struct json_step *step)
{
    return !step->is_index && is_identity(step->name);
}

bool params_ignore_is_identity(struct json_location location)
{
    return !location.count || is_identity_step(location.steps);
}

/* Returns the state of a path at the params; 0: it cannot lead into them. */
static uint64_t start_of(const struct compare_path *p)
{
    static const struct json_step params = { .name = STR_INIT("params") };

    if (p->kind == COMPARE_PATH_REBIND)
        return 0;
    if (json_path_has_matched(&p->path, JSON_PATH_START))
        return JSON_PATH_START;
    return json_path_advance(&p->path, JSON_PATH_START, &params);
}

/* True for a path such as $.params.name. */
static bool is_identity_path(const struct json_path *p)
{
    const struct json_path_part *member = &p->parts[1];

    return p->count >= 2 && !p->parts[0].any_depth && !member->any_depth &&
           member->kind == JSON_PATH_NAME && is_identity(member->name);
}

bool params_ignore_is_effective(const struct compare_rules *rules, size_t rule)
{
    return rule >= rules->path_count ||
           (start_of(rules->paths[rule]) && !is_identity_path(&rules->paths[rule]->path));
}

bool params_ignore_has_effect(const struct compare_rules *rules)
{
    for (size_t i = 0; i < compare_rules_count(rules); i++)
        if (params_ignore_is_effective(rules, i))
            return true;
    return false;
}

static bool path_covers(const struct compare_path *p, struct json_location location)
{
    uint64_t state = start_of(p);
    size_t i = 0;

    while (state && !json_path_has_matched(&p->path, state) && i < location.count)
        state = json_path_advance(&p->path, state, &location.steps[i++]);
    return state && json_path_has_matched(&p->path, state);
}

static size_t find_field(const struct compare_rules *rules, struct json_location location)
{
    size_t rule = COMPARE_RULES_NONE;

    for (size_t i = 0; i < location.count && rule == COMPARE_RULES_NONE; i++)
        if (!location.steps[i].is_index)
            rule = compare_rules_find_field(rules, location.steps[i].name);
    return rule;
}

size_t params_ignore_find(const struct compare_rules *rules, struct json_location location)
{
    if (location.count && is_identity_step(location.steps))
        return COMPARE_RULES_NONE;
    for (size_t i = 0; i < rules->path_count; i++)
        if (path_covers(rules->paths[i], location))
            return i;
    return find_field(rules, location);
}

static uint64_t *states_at(struct params_ignore_walk *w, size_t depth)
{
    size_t n = w->rules->path_count;

    w->states = mem_reserve(w->states, &w->cap, (depth + 1) * n + 1, sizeof *w->states);
    return w->states + depth * n;
}

void params_ignore_begin(struct params_ignore_walk *w, const struct compare_rules *rules)
{
    uint64_t *states;

    w->rules = rules;
    w->all = false;
    states = states_at(w, 0);
    for (size_t i = 0; i < rules->path_count; i++) {
        states[i] = start_of(rules->paths[i]);
        w->all =
            w->all || (states[i] && json_path_has_matched(&rules->paths[i]->path, states[i]));
    }
}

void params_ignore_release(struct params_ignore_walk *w)
{
    free(w->states);
}

bool params_ignore_enter(struct params_ignore_walk *w, size_t depth,
                         const struct json_step *step)
{
    const struct compare_rules *rules = w->rules;
    uint64_t *to = states_at(w, depth), *from = to - rules->path_count;
    bool ignored = w->all || (!step->is_index && compare_rules_find_field(rules, step->name) !=
                                                     COMPARE_RULES_NONE);

    if (depth == 1)
        w->in_identity = is_identity_step(step);
    if (w->in_identity)
        return false;
    for (size_t i = 0; i < rules->path_count && !ignored; i++) {
        const struct json_path *path = &rules->paths[i]->path;

        to[i] = from[i] ? json_path_advance(path, from[i], step) : 0;
        ignored = to[i] && json_path_has_matched(path, to[i]);
    }
    return ignored;
}
