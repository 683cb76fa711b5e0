#include "diff/contract-changes.h"

#include <stdlib.h>

#include "base/mem.h"

enum { NAME_MAX_BYTES = 200 }; /* of a name in a message */

void contract_changes_init(struct contract_changes *c, enum contract_profile profile,
                           struct str file)
{
    *c = (struct contract_changes){ .profile = profile };
    c->file = arena_str(&c->arena, file);
}

void contract_changes_release(struct contract_changes *c)
{
    free(c->at);
    arena_release(&c->arena);
}

static struct str message_of(struct contract_changes *c, const struct contract_rule *rule,
                             const struct contract_subject *subject)
{
    struct str name = arena_truncated(&c->arena, subject->name, NAME_MAX_BYTES);
    struct str kind = surface_kind_name(subject->kind);

    if (!name.len)
        return arena_printf(&c->arena, "%.*s: %.*s", STR_ARG(kind), STR_ARG(rule->text));
    return arena_printf(&c->arena, "%.*s '%.*s'%s %.*s", STR_ARG(kind), STR_ARG(name),
                        str_starts(rule->text, STR("was ")) ? "" : ":", STR_ARG(rule->text));
}

struct contract_change *contract_changes_add(struct contract_changes *c,
                                             enum contract_rule_number number,
                                             const struct contract_subject *subject,
                                             struct str path, struct str before,
                                             struct str after)
{
    const struct contract_rule *rule = contract_rule(number);
    struct contract_change *change;
    struct arena *a = &c->arena;

    BUG_IF(!rule->id.len);
    if (c->profile == CONTRACT_PROFILE_WIRE && rule->severity != CONTRACT_BREAKING &&
        rule->severity != CONTRACT_RISKY)
        return NULL;
    c->at = mem_reserve(c->at, &c->cap, c->count + 1, sizeof *c->at);
    change = &c->at[c->count++];
    *change = (struct contract_change){
        .rule = rule,
        .severity =
            c->profile == CONTRACT_PROFILE_SURFACE ? rule->surface_severity : rule->severity,
        .kind = subject->kind,
        .name = arena_str(a, subject->name),
        .finding = { .rule = rule->id,
                     .severity = FINDING_NOTE,
                     .message = message_of(c, rule, subject),
                     .file = subject->line ? c->file : STR_NONE,
                     .line = c->file.len ? subject->line : 0,
                     .subject =
                         arena_printf(a, "%.*s %.*s", STR_ARG(surface_kind_name(subject->kind)),
                                      STR_ARG(subject->name)),
                     .path = arena_str(a, path),
                     .recorded = arena_str(a, before),
                     .live = arena_str(a, after) },
    };
    return change;
}

static int compare_changes(const void *a, const void *b)
{
    const struct contract_change *x = a, *y = b;
    int order;

    if (x->severity != y->severity)
        return x->severity < y->severity ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    order = str_cmp(x->name, y->name);
    if (!order)
        order = str_cmp(x->finding.path, y->finding.path);
    if (!order)
        order = str_cmp(x->rule->id, y->rule->id);
    if (!order)
        order = str_cmp(x->finding.recorded, y->finding.recorded);
    return order ? order : str_cmp(x->finding.live, y->finding.live);
}

void contract_changes_sort(struct contract_changes *c)
{
    if (c->count)
        qsort(c->at, c->count, sizeof *c->at, compare_changes);
}
