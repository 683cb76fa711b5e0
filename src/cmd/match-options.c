#include "cmd/match-options.h"

#include "cmd/option-value.h"

const struct option_choice match_options_modes[] = {
    { .name = "by-request", .value = MATCH_BY_REQUEST },
    { .name = "sequential", .value = MATCH_SEQUENTIAL },
    { .name = "fuzzy", .value = MATCH_FUZZY },
    { .name = "strict", .value = MATCH_STRICT },
    { .name = "method_params", .value = MATCH_BY_REQUEST, .is_alias = true },
    { 0 },
};

void match_config_init(struct match_config *c)
{
    c->tool_count = 0;
    compare_rules_init(&c->rules);
}

void match_config_release(struct match_config *c)
{
    compare_rules_release(&c->rules);
}

/* Returns the row of a tool, new if there is none: the last of several modes counts. */
static struct match_tool_mode *row_of(struct match_config *c, struct str tool)
{
    size_t i = 0;

    while (i < c->tool_count && !str_eq(c->tools[i].tool, tool))
        i++;
    if (i == MATCH_OPTIONS_TOOLS_MAX)
        return NULL;
    if (i == c->tool_count)
        c->tools[c->tool_count++] = (struct match_tool_mode){ .tool = tool };
    return &c->tools[i];
}

/* The name of a tool may contain '=': the mode is behind the last one. */
static bool read_mode(struct match_config *c, const char *text, int *mode, struct err *e)
{
    const char *equals = strrchr(text, '=');
    struct match_tool_mode *row;
    int chosen;

    if (!equals)
        return option_value_choose(match_options_modes, text, mode, e);
    if (equals == text)
        return err_set(e, ERR_USAGE, "'%s' names no tool", text);
    if (!option_value_choose(match_options_modes, equals + 1, &chosen, e))
        return false;
    row = row_of(c, str_n(text, (size_t)(equals - text)));
    if (!row)
        return err_set(e, ERR_USAGE, "too many tools: %d are allowed", MATCH_OPTIONS_TOOLS_MAX);
    row->mode = (enum match_mode)chosen;
    return true;
}

/* The paths of options are the last ones. */
static void log_ineffective_rules(const struct match_config *c, const struct app *app,
                                  const struct match_args *args)
{
    size_t count = c->rules.path_count;

    for (size_t i = 0; i < count; i++) {
        bool from_option = i >= count - args->rules.ignore_paths.count;
        struct str path;
        const char *rule = compare_rules_describe(&c->rules, i, &path);

        if (!params_ignore_is_effective(&c->rules, i))
            log_printf(app->log, from_option ? LOG_WARN : LOG_DEBUG,
                       "%s '%.*s' has no effect: replay compares the params of requests, and "
                       "never ignores their name, URI, task, cursor and state",
                       from_option ? "--ignore-paths" : rule, STR_ARG(path));
    }
}

bool match_config_read(struct match_config *c, const struct app *app,
                       const struct match_args *args, enum match_mode preset, bool number_text,
                       struct match_options *to, struct err *e)
{
    int mode = (int)preset;

    for (size_t i = 0; i < args->modes.count; i++)
        if (!read_mode(c, args->modes.at[i], &mode, e))
            return err_wrap(e, "option '--match'");
    if (!rules_options_read(&c->rules, app, &args->rules, e))
        return false;
    log_ineffective_rules(c, app, args);
    to->mode = (enum match_mode)mode;
    to->tools = c->tools;
    to->tool_count = c->tool_count;
    to->rules = matcher_rules(to, number_text);
    to->rules.include_meta = to->rules.include_meta || c->rules.include_meta;
    to->rules.ignore = params_ignore_has_effect(&c->rules) ? &c->rules : NULL;
    return true;
}
