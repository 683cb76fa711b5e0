#include "diff/contract.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/suggest.h"
#include "diff/definition-compare.h"
#include "mcp/version.h"
#include "json/diff.h"
#include "json/write.h"

static const struct str name_members[] = { STR_INIT("name"), STR_INIT("title"),
                                           STR_INIT("uriTemplate") };
static const struct json_rules without_names = {
    .numbers_by_value = true,
    .skip = name_members,
    .skip_count = sizeof name_members / sizeof *name_members,
};

/* Lists. */

static const struct {
    enum contract_rule_number added, removed, renamed;
} list_rules[SURFACE_LISTS] = {
    [SURFACE_TOOL] = { RULE_TOOL_ADDED, RULE_TOOL_REMOVED, RULE_TOOL_RENAMED },
    [SURFACE_RESOURCE] = { RULE_RESOURCE_ADDED, RULE_RESOURCE_REMOVED, RULE_COUNT },
    [SURFACE_TEMPLATE] = { RULE_TEMPLATE_ADDED, RULE_TEMPLATE_REMOVED, RULE_TEMPLATE_URI },
    [SURFACE_PROMPT] = { RULE_PROMPT_ADDED, RULE_PROMPT_REMOVED, RULE_PROMPT_RENAMED },
};

/* An item that the other side does not have under its key. */
struct unpaired_item {
    const struct surface_item *item;
    uint64_t hash; /* of the definition without its name; of a template: of its name */
};

struct unpaired_items {
    struct unpaired_item *at; /* owned; sorted by hash, then by key */
    size_t count;
};

static int compare_unpaired(const void *a, const void *b)
{
    const struct unpaired_item *x = a, *y = b;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return str_cmp(x->item->key, y->item->key);
}

/* Two templates with the same name are versions of one; other things are if they have the same
 * definition. */
static uint64_t identity_hash(enum surface_kind kind, const struct surface_item *item)
{
    if (kind == SURFACE_TEMPLATE)
        return json_hash(item->name, NULL);
    return json_hash(item->def, &without_names);
}

static const struct surface_item *find_counterpart(const struct surface *other,
                                                   enum surface_kind kind,
                                                   const struct surface_item *item)
{
    return surface_find_repeat(other, kind, item->key, item->repeat);
}

static struct unpaired_items list_unpaired(const struct surface *of,
                                           const struct surface *other, enum surface_kind kind)
{
    const struct surface_list *l = &of->lists[kind];
    struct unpaired_items u = { mem_alloc((l->count + 1) * sizeof *u.at), 0 };

    for (size_t i = 0; i < l->count; i++)
        if (!find_counterpart(other, kind, &l->items[i]))
            u.at[u.count++] =
                (struct unpaired_item){ &l->items[i], identity_hash(kind, &l->items[i]) };
    qsort(u.at, u.count, sizeof *u.at, compare_unpaired);
    return u;
}

static void add_renamed(struct contract_changes *c, enum surface_kind kind,
                        const struct surface_item *old, const struct surface_item *new)
{
    struct contract_subject subject = { kind, old->key, old->line };

    contract_changes_add(c, list_rules[kind].renamed, &subject,
                         kind == SURFACE_TEMPLATE ? STR("$.uriTemplate") : STR("$.name"),
                         json_write_str_in(&c->arena, old->key),
                         json_write_str_in(&c->arena, new->key));
    if (kind == SURFACE_TEMPLATE)
        definition_compare(c, &subject, old->def, new->def);
}

static bool is_same_identity(enum surface_kind kind, const struct unpaired_item *a,
                             const struct unpaired_item *b)
{
    if (a->hash != b->hash || list_rules[kind].renamed == RULE_COUNT || a->item->repeat ||
        b->item->repeat)
        return false;
    return kind == SURFACE_TEMPLATE ? json_exists(a->item->name)
                                    : json_equal(a->item->def, b->item->def, &without_names);
}

static enum contract_rule_number unpaired_rule(enum surface_kind kind,
                                               const struct surface_item *item, bool added)
{
    if (item->repeat)
        return added ? RULE_REPEATED_ADDED : RULE_REPEATED_REMOVED;
    return added ? list_rules[kind].added : list_rules[kind].removed;
}

static void add_unpaired(struct contract_changes *c, enum surface_kind kind,
                         const struct surface_item *item, bool added)
{
    struct contract_subject subject = { kind, item->key, added ? 1 : item->line };
    struct str def = json_raw(item->def);

    contract_changes_add(c, unpaired_rule(kind, item, added), &subject, STR("$"),
                         added ? STR_NONE : def, added ? def : STR_NONE);
    definition_compare_text(c, &subject, added ? JSON_VAL_NONE : item->def,
                            added ? item->def : JSON_VAL_NONE);
}

/* Items of equal definition are paired in the order of their keys. */
static void compare_unpaired_items(struct contract_changes *c, const struct surface *before,
                                   const struct surface *after, enum surface_kind kind)
{
    struct unpaired_items old = list_unpaired(before, after, kind);
    struct unpaired_items new = list_unpaired(after, before, kind);
    size_t i = 0, k = 0;

    while (i < old.count || k < new.count) {
        bool both = i < old.count && k < new.count;

        if (both && is_same_identity(kind, &old.at[i], &new.at[k])) {
            add_renamed(c, kind, old.at[i++].item, new.at[k++].item);
        } else if (k == new.count || (both && old.at[i].hash <= new.at[k].hash)) {
            if (!after->lists[kind].has_more)
                add_unpaired(c, kind, old.at[i].item, false);
            i++;
        } else {
            if (!before->lists[kind].has_more)
                add_unpaired(c, kind, new.at[k].item, true);
            k++;
        }
    }
    free(old.at);
    free(new.at);
}

/* Compares the order of the items that both lists have. */
static void compare_order(struct contract_changes *c, const struct surface *before,
                          const struct surface *after)
{
    const struct surface_list *old = &before->lists[SURFACE_TOOL];
    const struct surface_list *new = &after->lists[SURFACE_TOOL];
    struct contract_subject subject = { SURFACE_TOOL, STR_NONE, 0 };
    size_t i = 0, k = 0;

    if (before->sorted || after->sorted)
        return;
    for (;;) {
        while (i < old->count && !find_counterpart(after, SURFACE_TOOL, &old->items[i]))
            i++;
        while (k < new->count && !find_counterpart(before, SURFACE_TOOL, &new->items[k]))
            k++;
        if (i == old->count || k == new->count)
            return;
        if (!str_eq(old->items[i].key, new->items[k].key))
            break;
        i++;
        k++;
    }
    contract_changes_add(c, RULE_TOOL_ORDER, &subject, STR("$"),
                         json_write_str_in(&c->arena, old->items[i].key),
                         json_write_str_in(&c->arena, new->items[k].key));
}

/* Nothing but the number of definitions without a name is known. */
static void compare_nameless(struct contract_changes *c, const struct surface *before,
                             const struct surface *after, enum surface_kind kind)
{
    size_t old = before->lists[kind].nameless, new = after->lists[kind].nameless;
    struct contract_subject subject = { kind, STR_NONE, 1 };

    if (old != new)
        contract_changes_add(c, new > old ? RULE_NAMELESS_ADDED : RULE_NAMELESS_REMOVED,
                             &subject, STR("$"), arena_printf(&c->arena, "%zu", old),
                             arena_printf(&c->arena, "%zu", new));
}

static void compare_list(struct contract_changes *c, const struct surface *before,
                         const struct surface *after, enum surface_kind kind)
{
    const struct surface_list *old = &before->lists[kind];

    for (size_t i = 0; i < old->count; i++) {
        const struct surface_item *item = &old->items[i];
        const struct surface_item *other = find_counterpart(after, kind, item);
        struct contract_subject subject = { kind, item->key, item->line };

        if (!other)
            continue;
        definition_compare(c, &subject, item->def, other->def);
        definition_compare_text(c, &subject, item->def, other->def);
    }
    compare_unpaired_items(c, before, after, kind);
    compare_nameless(c, before, after, kind);
    if (kind == SURFACE_TOOL)
        compare_order(c, before, after);
}

/* The server itself. */

struct server_comparison {
    struct contract_changes *changes;
    struct contract_subject subject;
    struct str member;
};

static struct str location_text(const struct server_comparison *s, struct json_location at)
{
    struct buf b, whole;
    struct str text;

    buf_init(&b, 1 << 20);
    buf_init(&whole, 2 << 20);
    json_location_write(at, &b);
    buf_printf(&whole, "$.%.*s", STR_ARG(s->member));
    buf_add(&whole, str_skip(buf_str(&b), 1));
    text = arena_str(&s->changes->arena, buf_str(&whole));
    buf_release(&b);
    buf_release(&whole);
    return text;
}

static enum contract_rule_number capability_rule(const struct json_difference *d)
{
    bool was = json_exists(d->left) && json_type(d->left) != JSON_FALSE;
    bool is = json_exists(d->right) && json_type(d->right) != JSON_FALSE;

    if (was && is)
        return RULE_CAPABILITY_CHANGED;
    return is ? RULE_CAPABILITY_ADDED : RULE_CAPABILITY_REMOVED;
}

/* `false` and absent are the same, and so are an empty `experimental` or `extensions` and none:
 * these only have capabilities as their members. */
static bool is_without_meaning(const struct json_difference *d)
{
    struct json_val one = json_exists(d->left) ? d->left : d->right;
    struct str name = d->location.count == 1 ? d->location.steps[0].name : STR_NONE;

    if (json_exists(d->left) && json_exists(d->right))
        return false;
    return json_type(one) == JSON_FALSE ||
           (json_type(one) == JSON_OBJECT && !json_count(one) &&
            (str_eq(name, STR("experimental")) || str_eq(name, STR("extensions"))));
}

static bool on_capability(void *arg, const struct json_difference *d)
{
    const struct server_comparison *s = arg;

    if (is_without_meaning(d))
        return true;
    contract_changes_add(s->changes, capability_rule(d), &s->subject,
                         location_text(s, d->location), json_raw(d->left), json_raw(d->right));
    return true;
}

static bool on_info(void *arg, const struct json_difference *d)
{
    const struct server_comparison *s = arg;

    contract_changes_add(s->changes, RULE_SERVER_INFO, &s->subject,
                         location_text(s, d->location), json_raw(d->left), json_raw(d->right));
    return true;
}

static enum contract_rule_number protocol_rule(struct str before, struct str after)
{
    enum mcp_version old = mcp_version_parse(before), new = mcp_version_parse(after);

    if (!old || !new || mcp_version_protocol(old) != mcp_version_protocol(new))
        return RULE_PROTOCOL_CHANGED;
    return new > old ? RULE_PROTOCOL_RAISED : RULE_PROTOCOL_LOWERED;
}

static void compare_instructions(const struct server_comparison *s, struct str before,
                                 struct str after)
{
    struct arena *a = &s->changes->arena;
    struct str old = before.len ? json_write_str_in(a, before) : STR_NONE;
    struct str new = after.len ? json_write_str_in(a, after) : STR_NONE;
    struct json texts[2];
    struct json_fault fault;

    if (str_eq(before, after))
        return;
    contract_changes_add(s->changes, RULE_INSTRUCTIONS, &s->subject, STR("$.instructions"), old,
                         new);
    json_init(&texts[0]);
    json_init(&texts[1]);
    if (!json_scan(&texts[0], old.len ? old : STR("\"\""), &fault) ||
        !json_scan(&texts[1], new.len ? new : STR("\"\""), &fault))
        BUG("a JSON string is no JSON");
    definition_compare_text(s->changes, &s->subject, json_root(&texts[0]),
                            json_root(&texts[1]));
    json_release(&texts[0]);
    json_release(&texts[1]);
}

static void diff_values(struct server_comparison *s, struct str member, struct json_val before,
                        struct json_val after,
                        bool (*found)(void *arg, const struct json_difference *d))
{
    static const struct json_rules by_value = { .numbers_by_value = true };

    s->member = member;
    if (json_exists(before) || json_exists(after))
        (void)json_diff(before, after, &by_value, found, s);
}

static void compare_servers(struct contract_changes *c, const struct surface *before,
                            const struct surface *after)
{
    struct server_comparison s = { c,
                                   { SURFACE_SERVER, STR_NONE, before->server_line },
                                   STR_NONE };

    diff_values(&s, STR("capabilities"), before->capabilities, after->capabilities,
                on_capability);
    diff_values(&s, STR("serverInfo"), before->server_info, after->server_info, on_info);
    compare_instructions(&s, before->instructions, after->instructions);
    if (!str_eq(before->protocol_version, after->protocol_version))
        contract_changes_add(
            c, protocol_rule(before->protocol_version, after->protocol_version), &s.subject,
            STR("$.protocolVersion"), json_write_str_in(&c->arena, before->protocol_version),
            json_write_str_in(&c->arena, after->protocol_version));
}

enum contract_gap contract_gap(const struct surface *before, const struct surface *after,
                               enum surface_kind kind)
{
    bool old = kind == SURFACE_SERVER ? before->described : before->lists[kind].known;
    bool new = kind == SURFACE_SERVER ? after->described : after->lists[kind].known;

    if (old != new)
        return old ? CONTRACT_GAP_AFTER : CONTRACT_GAP_BEFORE;
    if (kind != SURFACE_SERVER && (before->lists[kind].has_more || after->lists[kind].has_more))
        return CONTRACT_GAP_PAGES;
    return CONTRACT_GAP_NONE;
}

void contract_compare(struct contract_changes *c, const struct surface *before,
                      const struct surface *after)
{
    for (enum surface_kind k = 0; k < SURFACE_LISTS; k++)
        if (before->lists[k].known && after->lists[k].known)
            compare_list(c, before, after, k);
    if (before->described && after->described)
        compare_servers(c, before, after);
    contract_changes_sort(c);
}

/* Accepted changes. */

bool contract_check_allow(const struct compare_rules *rules, struct err *e)
{
    for (size_t i = 0; i < rules->allow_count; i++) {
        struct str id = rules->allow[i].rule;
        struct suggest near = suggest_for(id);

        if (contract_rules_find(id))
            continue;
        err_set(e, ERR_USAGE, "'allow' names the unknown rule '%.*s'", STR_ARG(id));
        for (enum contract_rule_number n = 0; n < RULE_COUNT; n++)
            if (contract_rule(n)->id.len)
                suggest_try(&near, contract_rule(n)->id.at);
        if (near.best)
            return err_hint(e, "did you mean '%s'?", near.best);
        return err_hint(e, "docs/contract-rules.md lists the rules");
    }
    return true;
}

static bool is_about(const struct compare_allow *allow, const struct contract_change *change)
{
    return str_eq(allow->rule, change->rule->id) &&
           (!allow->tool.len || str_eq(allow->tool, change->name));
}

size_t contract_allow(struct contract_changes *c, const struct compare_rules *rules,
                      struct str today)
{
    size_t ended = 0;

    for (size_t i = 0; i < rules->allow_count; i++) {
        const struct compare_allow *allow = &rules->allow[i];
        bool over = str_cmp(allow->until, today) < 0, found = false;

        for (size_t k = 0; k < c->count; k++) {
            if (!is_about(allow, &c->at[k]))
                continue;
            found = true;
            if (!over)
                c->at[k].allowed = allow;
        }
        ended += over && found;
    }
    return ended;
}

static bool fails(const struct contract_change *change, enum contract_fail_on fail_on)
{
    if (change->allowed || fail_on == FAIL_ON_NEVER)
        return false;
    if (change->severity <= CONTRACT_RISKY && change->usage.rejected)
        return true;
    if (fail_on == FAIL_ON_BREAKING_USED)
        return change->usage.rejected ||
               (change->severity == CONTRACT_BREAKING && change->usage.affected);
    return (int)change->severity <= (int)fail_on;
}

bool contract_decide(struct contract_changes *c, enum contract_fail_on fail_on)
{
    bool failed = false;

    for (size_t i = 0; i < c->count; i++) {
        struct contract_change *change = &c->at[i];
        bool error = fails(change, fail_on);

        failed = failed || error;
        change->finding.severity = error                                  ? FINDING_ERROR
                                   : change->allowed                      ? FINDING_NOTE
                                   : change->severity <= CONTRACT_ROUTING ? FINDING_WARNING
                                                                          : FINDING_NOTE;
    }
    return failed;
}
