#include "mcp/compare-rules.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/suggest.h"
#include "mcp/meta.h"

void compare_rules_init(struct compare_rules *r)
{
    *r = (struct compare_rules){ .default_volatile = true };
}

void compare_rules_release(struct compare_rules *r)
{
    free(r->paths);
    free(r->ignored_fields);
    free(r->allow);
    arena_release(&r->strings);
    compare_rules_init(r);
}

bool compare_rules_add_field(struct compare_rules *r, struct str name, struct err *e)
{
    if (!name.len)
        return err_set(e, ERR_USAGE, "bad ignored field: the name is empty");
    if (r->field_count == COMPARE_RULES_MAX)
        return err_set(e, ERR_USAGE, "too many ignored fields: %d are allowed",
                       COMPARE_RULES_MAX);
    r->ignored_fields = mem_reserve(r->ignored_fields, &r->field_cap, r->field_count + 1,
                                    sizeof *r->ignored_fields);
    r->ignored_fields[r->field_count++] = arena_str(&r->strings, name);
    return true;
}

bool compare_rules_add_path(struct compare_rules *r, enum compare_path_kind kind,
                            struct str path, struct err *e)
{
    struct compare_path *p;

    if (r->path_count == COMPARE_RULES_MAX)
        return err_set(e, ERR_USAGE, "too many paths: %d are allowed", COMPARE_RULES_MAX);
    p = arena_new(&r->strings, struct compare_path);
    p->kind = kind;
    p->text = arena_str(&r->strings, path);
    if (!json_path_compile(&p->path, p->text, &r->strings, e))
        return false;
    r->paths = mem_reserve(r->paths, &r->path_cap, r->path_count + 1, sizeof *r->paths);
    r->paths[r->path_count++] = p;
    return true;
}

bool compare_rules_set_volatile(struct compare_rules *r, struct str value, struct err *e)
{
    bool on = str_eq(value, STR("on"));

    if (on || str_eq(value, STR("off"))) {
        r->default_volatile = on;
        return true;
    }
    if (!str_starts(value, STR("$")))
        return err_set(e, ERR_USAGE, "bad value '%.*s': expected 'on', 'off' or a path",
                       STR_ARG(value));
    return compare_rules_add_path(r, COMPARE_PATH_VOLATILE, value, e);
}

size_t compare_rules_find_field(const struct compare_rules *r, struct str name)
{
    for (size_t i = 0; i < r->field_count; i++)
        if (str_eq(r->ignored_fields[i], name))
            return r->path_count + i;
    return COMPARE_RULES_NONE;
}

bool compare_rules_strips_field(const struct compare_rules *r, struct str name)
{
    return r->like_mcp_recorder && (str_eq(name, STR("id")) || str_eq(name, MCP_META_KEY));
}

/* Puts the position of a byte of the text in front of the error. */
static bool fail_at(struct err *e, struct str text, size_t offset)
{
    size_t line = 1, start = 0;

    for (size_t i = 0; i < offset && i < text.len; i++)
        if (text.at[i] == '\n') {
            line++;
            start = i + 1;
        }
    return err_wrap(e, "bad rules at line %zu, column %zu", line, offset - start + 1);
}

static bool fail_at_value(struct err *e, struct json_val v)
{
    return fail_at(e, v.doc->text, json_offset(v));
}

enum rules_member {
    RULES_IGNORE_FIELDS,
    RULES_IGNORE_PATHS,
    RULES_VOLATILE,
    RULES_REBIND,
    RULES_INCLUDE_META,
    RULES_ALLOW,
    RULES_SCHEMA, /* the address of the schema, for editors; not read */
    RULES_MEMBERS,
};

static const char *const rules_members[RULES_MEMBERS] = {
    [RULES_IGNORE_FIELDS] = "ignore_fields",
    [RULES_IGNORE_PATHS] = "ignore_paths",
    [RULES_VOLATILE] = "volatile",
    [RULES_REBIND] = "rebind",
    [RULES_INCLUDE_META] = "include_meta",
    [RULES_ALLOW] = "allow",
    [RULES_SCHEMA] = "$schema",
};

static enum rules_member member_of(enum compare_path_kind kind)
{
    switch (kind) {
    case COMPARE_PATH_IGNORE:
        return RULES_IGNORE_PATHS;
    case COMPARE_PATH_VOLATILE:
        return RULES_VOLATILE;
    case COMPARE_PATH_REBIND:
        return RULES_REBIND;
    }
    BUG("no such kind of path");
}

const char *compare_rules_describe(const struct compare_rules *r, size_t rule,
                                   struct str *value)
{
    bool is_path = rule < r->path_count;

    *value = is_path ? r->paths[rule]->text : r->ignored_fields[rule - r->path_count];
    return rules_members[is_path ? member_of(r->paths[rule]->kind) : RULES_IGNORE_FIELDS];
}

static bool fail_type(enum rules_member member, struct json_val v, const char *want,
                      struct err *e)
{
    err_set(e, ERR_USAGE, "'%s' is not %s", rules_members[member], want);
    return fail_at_value(e, v);
}

static bool add_text(struct compare_rules *r, enum rules_member member, struct str text,
                     struct err *e)
{
    switch (member) {
    case RULES_IGNORE_FIELDS:
        return compare_rules_add_field(r, text, e);
    case RULES_IGNORE_PATHS:
        return compare_rules_add_path(r, COMPARE_PATH_IGNORE, text, e);
    case RULES_VOLATILE:
        return compare_rules_add_path(r, COMPARE_PATH_VOLATILE, text, e);
    case RULES_REBIND:
        return compare_rules_add_path(r, COMPARE_PATH_REBIND, text, e);
    default:
        BUG("no list of strings");
    }
}

static bool parse_strings(struct compare_rules *r, enum rules_member member,
                          struct json_val list, struct err *e)
{
    struct json_iter it = json_each(list);

    if (json_type(list) != JSON_ARRAY)
        return fail_type(member, list, "an array of strings", e);
    while (json_next(&it)) {
        if (json_type(it.value) != JSON_STRING)
            return fail_type(member, it.value, "an array of strings", e);
        if (!add_text(r, member, json_text(it.value, &r->strings), e))
            return fail_at_value(e, it.value);
    }
    return true;
}

static bool is_bool(struct json_val v)
{
    return json_type(v) == JSON_TRUE || json_type(v) == JSON_FALSE;
}

/* Returns whether a text is a date: "2027-01-31". */
static bool is_date(struct str text)
{
    uint64_t year, month, day;

    return text.len == 10 && text.at[4] == '-' && text.at[7] == '-' &&
           str_parse_u64(str_n(text.at, 4), &year) &&
           str_parse_u64(str_n(text.at + 5, 2), &month) &&
           str_parse_u64(str_n(text.at + 8, 2), &day) && month >= 1 && month <= 12 &&
           day >= 1 && day <= 31;
}

/* Reads a member of an entry of `allow`. */
static bool parse_allow_member(struct compare_rules *r, struct compare_allow *allow,
                               const struct json_iter *it, struct err *e)
{
    struct str name = json_text(it->key, &r->strings);
    struct str *field = str_eq(name, STR("rule"))     ? &allow->rule
                        : str_eq(name, STR("tool"))   ? &allow->tool
                        : str_eq(name, STR("until"))  ? &allow->until
                        : str_eq(name, STR("reason")) ? &allow->reason
                                                      : NULL;

    if (!field) {
        err_set(e, ERR_USAGE, "unknown member '%.*s' of 'allow'", STR_ARG(name));
        err_hint(e, "members are: rule, tool, until, reason");
        return fail_at_value(e, it->key);
    }
    if (json_type(it->value) != JSON_STRING || json_raw(it->value).len <= 2) {
        err_set(e, ERR_USAGE, "'%.*s' of 'allow' is not a string with text", STR_ARG(name));
        return fail_at_value(e, it->value);
    }
    *field = arena_str(&r->strings, json_text(it->value, &r->strings));
    return true;
}

static bool parse_allow_entry(struct compare_rules *r, struct json_val entry, struct err *e)
{
    struct compare_allow allow = { .tool = STR_NONE };
    struct json_iter it = json_each(entry);

    if (json_type(entry) != JSON_OBJECT)
        return fail_type(RULES_ALLOW, entry, "an array of objects", e);
    while (json_next(&it))
        if (!parse_allow_member(r, &allow, &it, e))
            return false;
    if (!allow.rule.len || !allow.until.len || !allow.reason.len) {
        err_set(e, ERR_USAGE, "an entry of 'allow' lacks its '%s'",
                !allow.rule.len    ? "rule"
                : !allow.until.len ? "until"
                                   : "reason");
        return fail_at_value(e, entry);
    }
    if (!is_date(allow.until)) {
        err_set(e, ERR_USAGE, "'until' of 'allow' is not a date such as 2027-01-31");
        return fail_at_value(e, entry);
    }
    if (r->allow_count == COMPARE_RULES_MAX)
        return err_set(e, ERR_USAGE, "too many entries of 'allow': %d are allowed",
                       COMPARE_RULES_MAX);
    r->allow = mem_reserve(r->allow, &r->allow_cap, r->allow_count + 1, sizeof *r->allow);
    r->allow[r->allow_count++] = allow;
    return true;
}

static bool parse_allow(struct compare_rules *r, struct json_val list, struct err *e)
{
    struct json_iter it = json_each(list);

    if (json_type(list) != JSON_ARRAY)
        return fail_type(RULES_ALLOW, list, "an array of objects", e);
    while (json_next(&it))
        if (!parse_allow_entry(r, it.value, e))
            return false;
    return true;
}

static bool parse_value(struct compare_rules *r, enum rules_member member, struct json_val v,
                        struct err *e)
{
    switch (member) {
    case RULES_VOLATILE:
        if (json_type(v) == JSON_ARRAY)
            return parse_strings(r, member, v, e);
        if (!is_bool(v))
            return fail_type(member, v, "true, false or an array of paths", e);
        r->default_volatile = json_type(v) == JSON_TRUE;
        return true;
    case RULES_INCLUDE_META:
        if (!is_bool(v))
            return fail_type(member, v, "true or false", e);
        r->include_meta = json_type(v) == JSON_TRUE;
        return true;
    case RULES_ALLOW:
        return parse_allow(r, v, e);
    case RULES_SCHEMA:
        return json_type(v) == JSON_STRING || fail_type(member, v, "a string", e);
    default:
        return parse_strings(r, member, v, e);
    }
}

static bool fail_unknown(struct str name, struct json_val key, struct err *e)
{
    struct suggest near = suggest_for(name);

    err_set(e, ERR_USAGE, "unknown member '%.*s'", STR_ARG(name));
    for (size_t i = 0; i < RULES_MEMBERS; i++)
        suggest_try(&near, rules_members[i]);
    if (near.best)
        err_hint(e, "did you mean '%s'?", near.best);
    else
        err_hint(e, "members are: ignore_fields, ignore_paths, volatile, rebind, include_meta, "
                    "allow");
    return fail_at_value(e, key);
}

static bool parse_member(struct compare_rules *r, struct json_val root,
                         const struct json_iter *it, struct err *e)
{
    struct str name = json_text(it->key, &r->strings);
    enum rules_member member = 0;

    while (member < RULES_MEMBERS && !str_eq(name, str_z(rules_members[member])))
        member++;
    if (member == RULES_MEMBERS)
        return fail_unknown(name, it->key, e);
    if (json_get(root, name).node != it->value.node) {
        err_set(e, ERR_USAGE, "'%s' occurs twice", rules_members[member]);
        return fail_at_value(e, it->key);
    }
    return parse_value(r, member, it->value, e);
}

bool compare_rules_parse(struct compare_rules *r, struct str text, struct err *e)
{
    struct json_fault fault;
    struct json_iter it;
    struct json j;
    bool ok = true;

    json_init(&j);
    if (!json_scan(&j, text, &fault)) {
        err_set(e, ERR_USAGE, "%s", fault.what);
        ok = fail_at(e, text, fault.at);
    } else if (json_type(json_root(&j)) != JSON_OBJECT) {
        err_set(e, ERR_USAGE, "expected an object");
        ok = fail_at_value(e, json_root(&j));
    }
    it = json_each(json_root(&j));
    while (ok && json_next(&it))
        ok = parse_member(r, json_root(&j), &it, e);
    json_release(&j);
    return ok;
}
