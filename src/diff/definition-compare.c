#include "diff/definition-compare.h"

#include "diff/text-hazards.h"
#include "json/equal.h"
#include "json/write.h"

static const struct json_rules by_value = { .numbers_by_value = true };

/* Two definitions of one thing. */
struct definitions {
    struct contract_changes *changes;
    const struct contract_subject *subject;
    struct json_val before, after;
};

static bool differ(struct json_val a, struct json_val b)
{
    if (!json_exists(a) || !json_exists(b))
        return json_exists(a) != json_exists(b);
    return !json_equal(a, b, &by_value);
}

static void add(const struct definitions *d, enum contract_rule_number rule, struct str path,
                struct json_val before, struct json_val after)
{
    contract_changes_add(d->changes, rule, d->subject, path, json_raw(before), json_raw(after));
}

static struct str member_path(const struct definitions *d, struct str name)
{
    struct json_step step = { .name = name };
    struct buf b;
    struct str path;

    buf_init(&b, 1 << 20);
    json_location_write((struct json_location){ &step, 1 }, &b);
    path = arena_str(&d->changes->arena, buf_str(&b));
    buf_release(&b);
    return path;
}

static void compare_member(const struct definitions *d, struct str name,
                           enum contract_rule_number rule)
{
    struct json_val old = json_get(d->before, name), new = json_get(d->after, name);

    if (differ(old, new))
        add(d, rule, member_path(d, name), old, new);
}

/* Compares all members that are not in `known`. */
static void compare_others(const struct definitions *d, const struct str *known, size_t count,
                           enum contract_rule_number rule)
{
    struct arena names = { 0 };

    for (int side = 0; side < 2; side++) {
        struct json_iter it = json_each(side ? d->after : d->before);

        while (json_next(&it)) {
            struct str name = json_text(it.key, &names);
            bool is_known = side && json_exists(json_get(d->before, name));

            for (size_t i = 0; i < count && !is_known; i++)
                is_known = str_eq(name, known[i]);
            if (!is_known)
                compare_member(d, name, rule);
        }
    }
    arena_release(&names);
}

/* Schemas of tools. */

struct schema_side {
    const struct definitions *definitions;
    struct str member; /* "inputSchema" */
    enum contract_rule_number first_rule;
};

static void on_schema_change(void *to, const struct schema_change *change)
{
    const struct schema_side *s = to;
    struct contract_changes *c = s->definitions->changes;
    struct contract_change *added;
    struct buf path, whole;

    buf_init(&path, 1 << 20);
    buf_init(&whole, 2 << 20);
    json_location_write(change->path, &path);
    buf_printf(&whole, "$.%.*s", STR_ARG(s->member));
    buf_add(&whole, str_skip(buf_str(&path), 1));
    added = contract_changes_add(
        c, (enum contract_rule_number)((unsigned)s->first_rule + (unsigned)change->kind),
        s->definitions->subject, buf_str(&whole), change->before, change->after);
    if (added)
        added->instance = arena_str(&c->arena, change->instance);
    buf_release(&path);
    buf_release(&whole);
}

static void compare_schemas(const struct definitions *d, struct str member,
                            enum schema_direction direction)
{
    static const struct schema_compare_events events = { on_schema_change };
    struct schema_side side = { d, member,
                                direction == SCHEMA_INPUT ? RULE_INPUT : RULE_OUTPUT };

    schema_compare(json_get(d->before, member), json_get(d->after, member), direction, &events,
                   &side);
}

static bool is_schema(struct json_val v)
{
    return json_type(v) == JSON_OBJECT || json_type(v) == JSON_TRUE ||
           json_type(v) == JSON_FALSE;
}

static void compare_input(const struct definitions *d)
{
    struct str member = STR("inputSchema");
    struct json_val old = json_get(d->before, member), new = json_get(d->after, member);

    if (is_schema(old) && is_schema(new))
        compare_schemas(d, member, SCHEMA_INPUT);
    else if (is_schema(old) != is_schema(new))
        add(d, is_schema(old) ? RULE_TOOL_INPUT_INVALID : RULE_TOOL_INPUT_VALID,
            member_path(d, member), old, new);
    else if (differ(old, new)) /* both are invalid */
        add(d, RULE_TOOL_MEMBER, member_path(d, member), old, new);
}

static void compare_output(const struct definitions *d)
{
    struct str member = STR("outputSchema");
    struct json_val old = json_get(d->before, member), new = json_get(d->after, member);

    if (is_schema(old) && is_schema(new))
        compare_schemas(d, member, SCHEMA_OUTPUT);
    else if (is_schema(old) != is_schema(new))
        add(d, is_schema(new) ? RULE_TOOL_OUTPUT_ADDED : RULE_TOOL_OUTPUT_REMOVED,
            member_path(d, member), old, new);
    else if (differ(old, new))
        add(d, RULE_TOOL_MEMBER, member_path(d, member), old, new);
}

/* Annotations, with the protocol's defaults. */

static const struct hint {
    struct str name;
    bool preset;
    bool dangerous; /* the value that means more danger */
} hints[] = {
    { STR_INIT("readOnlyHint"), false, false },
    { STR_INIT("destructiveHint"), true, true },
    { STR_INIT("idempotentHint"), false, false },
    { STR_INIT("openWorldHint"), true, true },
};

static bool hint_value(struct json_val annotations, const struct hint *h)
{
    struct json_val v = json_get(annotations, h->name);

    if (json_type(v) == JSON_TRUE)
        return true;
    return json_type(v) == JSON_FALSE ? false : h->preset;
}

/* Appends the hints that changed to more, or to less danger, as they are on one side. Returns
 * an empty text if there are none. */
static struct str changed_hints(struct json_val old, struct json_val new, bool loosened,
                                bool after, struct buf *to)
{
    struct json_out o = json_out_to(to);
    bool any = false;

    buf_clear(to);
    json_out_object(&o);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        bool was = hint_value(old, &hints[i]), is = hint_value(new, &hints[i]);

        if (was == is || (is != hints[i].dangerous) != loosened)
            continue;
        any = true;
        json_out_key_bool(&o, hints[i].name, after ? is : was);
    }
    json_out_end_object(&o);
    return any ? buf_str(to) : STR_NONE;
}

/* A tool gets one change for all hints of a direction. */
static void compare_annotations(const struct definitions *d)
{
    struct json_val old = json_get(d->before, STR("annotations"));
    struct json_val new = json_get(d->after, STR("annotations"));
    struct json_val old_title = json_get(old, STR("title"));
    struct json_val new_title = json_get(new, STR("title"));
    struct buf before, after;

    buf_init(&before, 1 << 10);
    buf_init(&after, 1 << 10);
    for (int loosened = 0; loosened < 2; loosened++) {
        struct str was = changed_hints(old, new, loosened, false, &before);
        struct str is = changed_hints(old, new, loosened, true, &after);

        if (was.len)
            contract_changes_add(d->changes,
                                 loosened ? RULE_TOOL_ANNOTATION_LOOSENED
                                          : RULE_TOOL_ANNOTATION_TIGHTENED,
                                 d->subject, STR("$.annotations"), was, is);
    }
    buf_release(&before);
    buf_release(&after);
    if (differ(old_title, new_title))
        add(d, RULE_TOOL_TITLE, STR("$.annotations.title"), old_title, new_title);
}

static struct str bool_text(bool b)
{
    return b ? STR("true") : STR("false");
}

enum task_support { TASKS_FORBIDDEN, TASKS_OPTIONAL, TASKS_REQUIRED };

static enum task_support task_support(struct json_val tool)
{
    struct json_val v = json_get(json_get(tool, STR("execution")), STR("taskSupport"));

    if (json_is(v, STR("required")))
        return TASKS_REQUIRED;
    return json_is(v, STR("optional")) ? TASKS_OPTIONAL : TASKS_FORBIDDEN;
}

static void compare_tasks(const struct definitions *d)
{
    static const struct str words[] = { STR_INIT("\"forbidden\""), STR_INIT("\"optional\""),
                                        STR_INIT("\"required\"") };
    enum task_support old = task_support(d->before), new = task_support(d->after);

    if (old != new)
        contract_changes_add(d->changes,
                             new == TASKS_OPTIONAL   ? RULE_TOOL_TASK_WIDENED
                             : old == TASKS_OPTIONAL ? RULE_TOOL_TASK_NARROWED
                                                     : RULE_TOOL_TASK_CHANGED,
                             d->subject, STR("$.execution.taskSupport"), words[old],
                             words[new]);
}

static void compare_tool(const struct definitions *d)
{
    static const struct str known[] = {
        STR_INIT("name"),        STR_INIT("title"),        STR_INIT("description"),
        STR_INIT("inputSchema"), STR_INIT("outputSchema"), STR_INIT("annotations"),
        STR_INIT("execution"),   STR_INIT("icons"),        STR_INIT("_meta"),
    };

    compare_member(d, STR("description"), RULE_TOOL_DESCRIPTION);
    compare_member(d, STR("title"), RULE_TOOL_TITLE);
    compare_input(d);
    compare_output(d);
    compare_annotations(d);
    compare_tasks(d);
    compare_member(d, STR("icons"), RULE_TOOL_ICONS);
    compare_member(d, STR("_meta"), RULE_TOOL_META);
    compare_others(d, known, sizeof known / sizeof *known, RULE_TOOL_MEMBER);
}

/* Prompts. */

static struct json_val find_argument(struct json_val prompt, struct str name)
{
    struct json_iter it = json_each(json_get(prompt, STR("arguments")));

    while (json_next(&it))
        if (json_is(json_get(it.value, STR("name")), name))
            return it.value;
    return JSON_VAL_NONE;
}

static bool is_required(struct json_val argument)
{
    return json_type(json_get(argument, STR("required"))) == JSON_TRUE;
}

/* Adds a change of an argument; calls without it, or with it, may be affected. */
static void add_argument(const struct definitions *d, enum contract_rule_number rule,
                         struct str name, struct str before, struct str after)
{
    struct arena *a = &d->changes->arena;
    struct contract_change *change = contract_changes_add(
        d->changes, rule, d->subject, arena_printf(a, "$.arguments[%.*s]", STR_ARG(name)),
        before, after);

    if (change)
        change->instance = arena_printf(a, "$[%.*s]", STR_ARG(name));
}

/* `name` is JSON. */
static void compare_argument(const struct definitions *d, struct str name, struct json_val old,
                             struct json_val new)
{
    static const struct str members[] = { STR_INIT("title"), STR_INIT("description") };

    if (!json_exists(old)) {
        add_argument(d,
                     is_required(new) ? RULE_PROMPT_ARGUMENT_REQUIRED_ADDED
                                      : RULE_PROMPT_ARGUMENT_ADDED,
                     name, STR_NONE, json_raw(new));
        return;
    }
    if (!json_exists(new)) {
        add_argument(d, RULE_PROMPT_ARGUMENT_REMOVED, name, json_raw(old), STR_NONE);
        return;
    }
    if (is_required(old) != is_required(new))
        add_argument(
            d, is_required(new) ? RULE_PROMPT_REQUIRED_ADDED : RULE_PROMPT_REQUIRED_REMOVED,
            name, bool_text(is_required(old)), bool_text(is_required(new)));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (differ(json_get(old, members[i]), json_get(new, members[i])))
            add_argument(d, RULE_PROMPT_ARGUMENT_TEXT, name,
                         json_raw(json_get(old, members[i])),
                         json_raw(json_get(new, members[i])));
}

static void compare_arguments(const struct definitions *d)
{
    for (int side = 0; side < 2; side++) {
        struct json_val own = side ? d->after : d->before;
        struct json_iter it = json_each(json_get(own, STR("arguments")));

        while (json_next(&it)) {
            struct json_val key = json_get(it.value, STR("name"));
            struct str name = json_text(key, &d->changes->arena);
            struct json_val old = find_argument(d->before, name);

            if (json_type(key) != JSON_STRING || (side && json_exists(old)))
                continue;
            compare_argument(d, json_raw(key), old, find_argument(d->after, name));
        }
    }
}

static void compare_prompt(const struct definitions *d)
{
    static const struct str known[] = { STR_INIT("name"), STR_INIT("title"),
                                        STR_INIT("description"), STR_INIT("arguments") };

    compare_member(d, STR("description"), RULE_PROMPT_DESCRIPTION);
    compare_member(d, STR("title"), RULE_PROMPT_TITLE);
    compare_arguments(d);
    compare_others(d, known, sizeof known / sizeof *known, RULE_PROMPT_MEMBER);
}

/* Resources and templates differ in their rules only. */
static void compare_resource(const struct definitions *d, enum contract_rule_number text,
                             enum contract_rule_number mime_type,
                             enum contract_rule_number member)
{
    static const struct str known[] = { STR_INIT("name"),        STR_INIT("title"),
                                        STR_INIT("description"), STR_INIT("mimeType"),
                                        STR_INIT("uri"),         STR_INIT("uriTemplate") };

    compare_member(d, STR("name"), text);
    compare_member(d, STR("title"), text);
    compare_member(d, STR("description"), text);
    compare_member(d, STR("mimeType"), mime_type);
    compare_others(d, known, sizeof known / sizeof *known, member);
}

void definition_compare(struct contract_changes *c, const struct contract_subject *subject,
                        struct json_val before, struct json_val after)
{
    const struct definitions d = { c, subject, before, after };

    switch (subject->kind) {
    case SURFACE_TOOL:
        compare_tool(&d);
        break;
    case SURFACE_PROMPT:
        compare_prompt(&d);
        break;
    case SURFACE_RESOURCE:
        compare_resource(&d, RULE_RESOURCE_TEXT, RULE_RESOURCE_MIME_TYPE, RULE_RESOURCE_MEMBER);
        break;
    case SURFACE_TEMPLATE:
        compare_resource(&d, RULE_TEMPLATE_TEXT, RULE_TEMPLATE_MIME_TYPE, RULE_TEMPLATE_MEMBER);
        break;
    case SURFACE_SERVER:
        break;
    }
}

/* Text. */

static void compare_hidden(struct contract_changes *c, const struct contract_subject *subject,
                           const struct text_hazards *old, const struct text_hazards *new)
{
    for (enum text_hazard_class k = 0; k < HAZARD_CLASSES; k++) {
        struct str name = text_hazards_class(k);

        if (old->hidden[k] == new->hidden[k])
            continue;
        contract_changes_add(
            c, new->hidden[k] > old->hidden[k] ? RULE_HIDDEN_ADDED : RULE_HIDDEN_REMOVED,
            subject, STR("$"),
            arena_printf(&c->arena, "{\"%.*s\":%llu}", STR_ARG(name),
                         (unsigned long long)old->hidden[k]),
            arena_printf(&c->arena, "{\"%.*s\":%llu}", STR_ARG(name),
                         (unsigned long long)new->hidden[k]));
    }
}

static void compare_urls(struct contract_changes *c, const struct contract_subject *subject,
                         const struct text_hazards *old, const struct text_hazards *new)
{
    size_t i = 0, k = 0;

    while (i < old->url_count || k < new->url_count) {
        int order = i == old->url_count   ? 1
                    : k == new->url_count ? -1
                                          : str_cmp(old->urls[i], new->urls[k]);

        if (order < 0)
            contract_changes_add(c, RULE_URL_REMOVED, subject, STR("$"),
                                 json_write_str_in(&c->arena, old->urls[i]), STR_NONE);
        if (order > 0)
            contract_changes_add(c, RULE_URL_ADDED, subject, STR("$"), STR_NONE,
                                 json_write_str_in(&c->arena, new->urls[k]));
        i += order <= 0;
        k += order >= 0;
    }
}

void definition_compare_text(struct contract_changes *c, const struct contract_subject *subject,
                             struct json_val before, struct json_val after)
{
    struct text_hazards old, new;
    struct arena a = { 0 };

    text_hazards_read(&old, before, &a);
    text_hazards_read(&new, after, &a);
    compare_hidden(c, subject, &old, &new);
    if (json_exists(before) && json_exists(after))
        compare_urls(c, subject, &old, &new);
    arena_release(&a);
}
