#include "diff/contract.h"

#include <glob.h>
#include <stdlib.h>

#include "base/file.h"
#include "diff/lock-file.h"
#include "text-cases.h"
#include "json/equal.h"

#define CASES "tests/contract/*.json"

static const struct json_rules by_value = { .numbers_by_value = true };

/* A pair of surfaces, compared. */
struct compared {
    struct surface sides[2];
    struct contract_changes changes;
};

static void read_side(struct surface *s, struct json_val v)
{
    struct err e = ERR_NONE;

    surface_init(s);
    if (!lock_file_read_value(s, v, &e))
        fail_msg("%s", e.msg);
    s->sorted = false; /* the cases have the order of the server */
}

static void compare_sides(struct compared *c, struct json_val before, struct json_val after,
                          enum contract_profile profile)
{
    read_side(&c->sides[0], before);
    read_side(&c->sides[1], after);
    contract_changes_init(&c->changes, profile, STR("a.lock.json"));
    contract_compare(&c->changes, &c->sides[0], &c->sides[1]);
}

static void release_sides(struct compared *c)
{
    contract_changes_release(&c->changes);
    surface_release(&c->sides[0]);
    surface_release(&c->sides[1]);
}

static bool is_value(struct str text, struct json_val want)
{
    struct json_fault fault;
    struct json j;
    bool same;

    if (!text.len || !json_exists(want))
        return !text.len && !json_exists(want);
    json_init(&j);
    same = json_scan(&j, text, &fault) && json_equal(json_root(&j), want, &by_value);
    json_release(&j);
    return same;
}

static bool is_finding(const struct contract_change *c, struct json_val want)
{
    struct arena a = { 0 };
    struct str kind = surface_kind_name(c->kind);
    struct str subject =
        arena_printf(&a, "%.*s%s%.*s", STR_ARG(kind), c->name.len ? " " : "", STR_ARG(c->name));
    bool same =
        json_is(json_get(want, STR("rule")), c->rule->id) &&
        json_is(json_get(want, STR("severity")), contract_rules_severity(c->severity)) &&
        json_is(json_get(want, STR("subject")), subject) &&
        json_is(json_get(want, STR("path")), c->finding.path) &&
        is_value(c->finding.recorded, json_get(want, STR("before"))) &&
        is_value(c->finding.live, json_get(want, STR("after")));

    arena_release(&a);
    return same;
}

static void write_finding(struct buf *to, const struct contract_change *c)
{
    buf_printf(to, "%.*s %.*s: %.*s -> %.*s", STR_ARG(c->rule->id), STR_ARG(c->finding.path),
               STR_ARG(c->finding.recorded), STR_ARG(c->finding.live));
}

static bool has_findings(const struct contract_changes *c, struct json_val want,
                         struct buf *why)
{
    struct json_iter it = json_each(want);
    size_t i = 0;

    while (json_next(&it)) {
        if (i < c->count && is_finding(&c->at[i], it.value)) {
            i++;
            continue;
        }
        buf_printf(why, " want %.*s, got ", STR_ARG(json_raw(it.value)));
        if (i < c->count)
            write_finding(why, &c->at[i]);
        return false;
    }
    if (i == c->count)
        return true;
    buf_add(why, STR(" not expected: "));
    write_finding(why, &c->at[i]);
    return false;
}

/* The thing that a rule is about: its id without the last part. */
static struct str subject_of(struct str id)
{
    while (id.len && id.at[id.len - 1] != '.')
        id.len--;
    return id;
}

static enum contract_action opposite(enum contract_action a)
{
    return a == CONTRACT_ADDED ? CONTRACT_REMOVED : a == CONTRACT_REMOVED ? CONTRACT_ADDED : a;
}

static bool is_mirror(const struct contract_change *a, const struct contract_change *b)
{
    bool renamed = !str_eq(a->name, b->name); /* by the change itself */

    return a->kind == b->kind && str_eq(subject_of(a->rule->id), subject_of(b->rule->id)) &&
           a->rule->action == opposite(b->rule->action) &&
           (!renamed || a->rule->action == CONTRACT_CHANGED) &&
           str_eq(a->finding.path, b->finding.path) &&
           str_eq(a->finding.recorded, b->finding.live) &&
           str_eq(a->finding.live, b->finding.recorded);
}

/* Every change has its mirror in the comparison the other way round, and no other. */
static bool is_mirrored(const struct contract_changes *a, const struct contract_changes *b,
                        struct buf *why)
{
    if (a->count != b->count) {
        buf_printf(why, " %zu changes, %zu the other way round", a->count, b->count);
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        size_t k = 0;

        while (k < b->count && !is_mirror(&a->at[i], &b->at[k]))
            k++;
        if (k < b->count)
            continue;
        buf_add(why, STR(" no mirror of "));
        write_finding(why, &a->at[i]);
        return false;
    }
    return true;
}

static bool is_without_changes(struct json_val side, struct buf *why)
{
    struct compared c;
    bool none;

    compare_sides(&c, side, side, CONTRACT_PROFILE_SURFACE);
    none = !c.changes.count;
    if (!none)
        buf_add(why, STR(" a surface differs from itself"));
    release_sides(&c);
    return none;
}

/* wire has a part of the changes of contract, surface has all of them. */
static bool are_profiles_nested(struct json_val before, struct json_val after, struct buf *why)
{
    struct compared c[3];
    bool ok;

    for (enum contract_profile p = 0; p <= CONTRACT_PROFILE_SURFACE; p++)
        compare_sides(&c[p], before, after, p);
    ok = c[0].changes.count <= c[1].changes.count && c[1].changes.count == c[2].changes.count;
    for (size_t i = 0; i < c[0].changes.count; i++)
        ok = ok && (c[0].changes.at[i].severity == CONTRACT_BREAKING ||
                    c[0].changes.at[i].severity == CONTRACT_RISKY);
    if (!ok)
        buf_add(why, STR(" the profiles are not nested"));
    for (int p = 0; p < 3; p++)
        release_sides(&c[p]);
    return ok;
}

static bool is_listed(struct json_val list, struct str id)
{
    struct json_iter it = json_each(list);

    while (json_next(&it))
        if (json_is(json_type(it.value) == JSON_OBJECT ? json_get(it.value, STR("rule"))
                                                       : it.value,
                    id))
            return true;
    return false;
}

/* Rules that a case lists as not triggered must exist and must not be found. */
static bool is_not_true(struct json_val root, struct buf *why)
{
    struct json_iter it = json_each(json_get(root, STR("not")));
    struct arena a = { 0 };
    bool ok = true;

    while (ok && json_next(&it)) {
        struct str id = json_text(it.value, &a);

        ok = contract_rules_find(id) && !is_listed(json_get(root, STR("findings")), id);
        if (!ok)
            buf_printf(why, " 'not' has %.*s", STR_ARG(id));
    }
    arena_release(&a);
    return ok;
}

static bool play(struct str text, struct buf *why)
{
    struct json_fault fault;
    struct json_val before, after;
    struct compared forth, back;
    struct json j;
    bool ok;

    json_init(&j);
    if (!json_scan(&j, text, &fault)) {
        buf_printf(why, " %s", fault.what);
        return false;
    }
    before = json_get(json_root(&j), STR("before"));
    after = json_get(json_root(&j), STR("after"));
    compare_sides(&forth, before, after, CONTRACT_PROFILE_CONTRACT);
    compare_sides(&back, after, before, CONTRACT_PROFILE_CONTRACT);
    ok = has_findings(&forth.changes, json_get(json_root(&j), STR("findings")), why) &&
         is_mirrored(&forth.changes, &back.changes, why) && is_without_changes(before, why) &&
         is_without_changes(after, why) && are_profiles_nested(before, after, why) &&
         is_not_true(json_root(&j), why);
    release_sides(&forth);
    release_sides(&back);
    json_release(&j);
    return ok;
}

/* Counts for each rule the cases that trigger it and those that must not. */
static void count_rules(const char *path, unsigned triggers[RULE_COUNT],
                        unsigned misses[RULE_COUNT])
{
    struct err e = ERR_NONE;
    struct json_fault fault;
    struct buf text;
    struct json j;

    buf_init(&text, 1 << 20);
    json_init(&j);
    if (!file_read_all(&text, &sys_real, path, &e) || !json_scan(&j, buf_str(&text), &fault))
        fail_msg("%s", path);
    for (enum contract_rule_number n = 0; n < RULE_COUNT; n++) {
        struct str id = contract_rule(n)->id;

        triggers[n] += is_listed(json_get(json_root(&j), STR("findings")), id);
        misses[n] += is_listed(json_get(json_root(&j), STR("not")), id);
    }
    json_release(&j);
    buf_release(&text);
}

static void every_rule_has_a_case_that_triggers_it_and_one_that_must_not(void **state)
{
    unsigned triggers[RULE_COUNT] = { 0 }, misses[RULE_COUNT] = { 0 };
    glob_t files;

    (void)state;
    assert_int_equal(glob(CASES, GLOB_ERR, NULL, &files), 0);
    assert_true(files.gl_pathc >= 120);
    for (size_t i = 0; i < files.gl_pathc; i++)
        count_rules(files.gl_pathv[i], triggers, misses);
    globfree(&files);
    for (enum contract_rule_number n = 0; n < RULE_COUNT; n++) {
        struct str id = contract_rule(n)->id;

        if (id.len && !triggers[n])
            fail_msg("no case triggers %.*s", STR_ARG(id));
        if (id.len && !misses[n])
            fail_msg("no case has %.*s in 'not'", STR_ARG(id));
    }
}

static void a_wrong_case_fails(void **state)
{
    (void)state;
    text_cases_check(play,
                     "{\"before\":{\"tools\":[]},\"after\":{\"tools\":[]},"
                     "\"findings\":[{\"rule\":\"tool.removed\"}]}",
                     false, " want {\"rule\":\"tool.removed\"}, got ");
    text_cases_check(play,
                     "{\"before\":{\"capabilities\":{}},"
                     "\"after\":{\"capabilities\":{\"a\":{}}},\"findings\":[]}",
                     false, " not expected: server.capability.added $.capabilities.a:  -> {}");
    text_cases_check(play, "{\"before\":{},\"after\":{},\"findings\":[],\"not\":[\"tool.x\"]}",
                     false, " 'not' has tool.x");
}

/* Two surfaces of C text. */
struct pair_of_texts {
    struct json json[2];
    struct compared compared;
};

static void compare_texts(struct pair_of_texts *t, const char *before, const char *after,
                          enum contract_profile profile)
{
    struct json_fault fault;

    for (int i = 0; i < 2; i++) {
        json_init(&t->json[i]);
        if (!json_scan(&t->json[i], str_z(i ? after : before), &fault))
            fail_msg("%s", fault.what);
    }
    compare_sides(&t->compared, json_root(&t->json[0]), json_root(&t->json[1]), profile);
}

static void release_texts(struct pair_of_texts *t)
{
    release_sides(&t->compared);
    json_release(&t->json[0]);
    json_release(&t->json[1]);
}

static void an_item_of_a_page_that_is_missing_is_not_reported_as_removed(void **state)
{
    struct json_fault fault;
    struct surface before, after;
    struct contract_changes changes;
    struct json j;

    (void)state;
    json_init(&j);
    assert_true(json_scan(&j, STR("{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\"}]}"), &fault));
    read_side(&before, json_root(&j));
    assert_true(
        json_scan(&j, STR("{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"\"}"), &fault));
    surface_init(&after);
    assert_true(surface_add_result(&after, STR("tools/list"), false, json_root(&j), 0));
    contract_changes_init(&changes, CONTRACT_PROFILE_CONTRACT, STR_NONE);
    contract_compare(&changes, &before, &after);
    assert_int_equal(changes.count, 0);
    assert_int_equal(contract_gap(&before, &after, SURFACE_TOOL), CONTRACT_GAP_PAGES);
    assert_int_equal(contract_gap(&before, &after, SURFACE_PROMPT), CONTRACT_GAP_NONE);
    contract_changes_release(&changes);
    surface_release(&before);
    surface_release(&after);
    json_release(&j);
}

static void the_profile_surface_counts_additions(void **state)
{
    struct pair_of_texts t;

    (void)state;
    compare_texts(&t, "{\"tools\":[]}", "{\"tools\":[{\"name\":\"a\"}]}",
                  CONTRACT_PROFILE_SURFACE);
    assert_int_equal(t.compared.changes.count, 1);
    assert_int_equal(t.compared.changes.at[0].severity, CONTRACT_ROUTING);
    release_texts(&t);
}

static void parse_rules(struct compare_rules *r, const char *text)
{
    struct err e = ERR_NONE;

    compare_rules_init(r);
    if (!compare_rules_parse(r, str_z(text), &e))
        fail_msg("%s", e.msg);
}

static void an_entry_allows_its_rule_and_tool_until_its_day(void **state)
{
    struct compare_rules rules;
    struct pair_of_texts t;
    struct contract_changes *c = &t.compared.changes;

    (void)state;
    parse_rules(&rules, "{\"allow\":[{\"rule\":\"tool.removed\",\"tool\":\"a\","
                        "\"until\":\"2026-11-18\",\"reason\":\"old\"}]}");
    compare_texts(&t, "{\"tools\":[{\"name\":\"a\",\"title\":\"A\"},{\"name\":\"b\"}]}",
                  "{\"tools\":[]}", CONTRACT_PROFILE_CONTRACT);
    assert_int_equal(c->count, 2);
    assert_int_equal(contract_allow(c, &rules, STR("2026-11-19")), 1);
    assert_null(c->at[0].allowed);
    assert_int_equal(contract_allow(c, &rules, STR("2026-11-18")), 0);
    assert_ptr_equal(c->at[0].allowed, &rules.allow[0]);
    assert_null(c->at[1].allowed);
    assert_true(contract_decide(c, FAIL_ON_BREAKING));
    assert_int_equal(c->at[0].finding.severity, FINDING_NOTE);
    assert_int_equal(c->at[1].finding.severity, FINDING_ERROR);
    assert_int_equal(c->at[1].finding.line, 1);
    release_texts(&t);
    compare_rules_release(&rules);
}

static void an_entry_with_an_unknown_rule_is_an_error(void **state)
{
    struct compare_rules rules;
    struct err e = ERR_NONE;

    (void)state;
    parse_rules(&rules, "{\"allow\":[{\"rule\":\"tool.remove\",\"until\":\"2026-11-18\","
                        "\"reason\":\"old\"}]}");
    assert_false(contract_check_allow(&rules, &e));
    assert_string_equal(e.msg, "'allow' names the unknown rule 'tool.remove'");
    assert_string_equal(e.hint, "did you mean 'tool.removed'?");
    compare_rules_release(&rules);
}

static void the_exit_depends_on_the_severity(void **state)
{
    struct pair_of_texts t;
    struct contract_changes *c = &t.compared.changes;

    (void)state;
    compare_texts(&t, "{\"tools\":[{\"name\":\"a\",\"title\":\"A\"}]}",
                  "{\"tools\":[{\"name\":\"a\",\"title\":\"B\"}]}", CONTRACT_PROFILE_CONTRACT);
    assert_false(contract_decide(c, FAIL_ON_BREAKING));
    assert_int_equal(c->at[0].finding.severity, FINDING_WARNING);
    assert_true(contract_decide(c, (enum contract_fail_on)CONTRACT_ROUTING));
    assert_false(contract_decide(c, FAIL_ON_BREAKING_USED));
    assert_false(contract_decide(c, FAIL_ON_NEVER));
    release_texts(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_has_a_case_that_triggers_it_and_one_that_must_not),
        cmocka_unit_test(a_wrong_case_fails),
        cmocka_unit_test(an_item_of_a_page_that_is_missing_is_not_reported_as_removed),
        cmocka_unit_test(the_profile_surface_counts_additions),
        cmocka_unit_test(an_entry_allows_its_rule_and_tool_until_its_day),
        cmocka_unit_test(an_entry_with_an_unknown_rule_is_an_error),
        cmocka_unit_test(the_exit_depends_on_the_severity),
    };

    return text_cases_run("contract", tests, sizeof tests / sizeof *tests, CASES, play);
}
