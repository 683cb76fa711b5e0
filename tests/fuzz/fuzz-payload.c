#include "mcp/payload-compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    struct payload_counts counts;
    struct buf path;
};

static bool count(void *arg, const struct payload_difference *d)
{
    struct seen *s = arg;

    BUG_IF((d->kind == PAYLOAD_ADDED) != !json_exists(d->recorded));
    BUG_IF((d->kind == PAYLOAD_REMOVED) != !json_exists(d->live));
    BUG_IF((d->kind == PAYLOAD_REORDERED) != (d->class == PAYLOAD_ORDER));
    s->counts.of[d->class]++;
    buf_clear(&s->path);
    json_location_write(d->location, &s->path);
    return true;
}

static void check_rules(struct compare_rules *rules, struct str text)
{
    struct err e = ERR_NONE;

    if (compare_rules_parse(rules, text, &e)) {
        BUG_IF(e.kind != ERR_OK);
        return;
    }
    BUG_IF(e.kind != ERR_USAGE || !str_starts(str_z(e.msg), STR("bad rules at line ")));
    compare_rules_release(rules);
}

/* A payload equals itself. */
static void check_reflexive(struct json_val v, struct str text, struct str method,
                            const struct compare_rules *rules)
{
    struct payload_counts counts;
    struct json_fault fault;
    struct json again;

    json_init(&again);
    BUG_IF(!json_scan(&again, text, &fault));
    counts = payload_compare(v, json_root(&again), method, rules, NULL, NULL);
    for (int i = 0; i < PAYLOAD_CLASSES; i++)
        BUG_IF(counts.of[i]);
    json_release(&again);
}

static void check_pair(struct json_val a, struct json_val b, struct str method,
                       const struct compare_rules *rules, bool symmetric)
{
    struct seen s = { 0 };
    struct payload_counts counts;

    buf_init(&s.path, 1 << 16);
    counts = payload_compare(a, b, method, rules, count, &s);
    BUG_IF(memcmp(&counts, &s.counts, sizeof counts) != 0);
    BUG_IF(payload_equal(a, b, method, rules) != !counts.of[PAYLOAD_CONTENT]);
    BUG_IF(symmetric && payload_equal(b, a, method, rules) != !counts.of[PAYLOAD_CONTENT]);
    buf_release(&s.path);
}

/* True if no string of the text can be a placeholder, which matches in one direction. */
static bool has_no_placeholder(struct str text)
{
    return !str_contains(text, STR("REDACTED")) && !str_contains(text, STR("\\u"));
}

/* A line of rules, a line with a method, a line with the recorded message, then the live one.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str live = str_n((const char *)data, size), text = str_cut(&live, '\n');
    struct str method = str_cut(&live, '\n'), recorded = str_cut(&live, '\n');
    struct compare_rules rules;
    struct json_fault fault;
    struct json a, b;

    json_init(&a);
    json_init(&b);
    compare_rules_init(&rules);
    check_rules(&rules, text);
    if (json_scan(&a, recorded, &fault) && json_scan(&b, live, &fault)) {
        bool symmetric = has_no_placeholder(recorded) && has_no_placeholder(live);

        for (int mode = 0; mode < 2; mode++) {
            rules.like_mcp_recorder = mode;
            check_reflexive(json_root(&a), recorded, method, &rules);
            check_reflexive(json_root(&b), live, method, &rules);
            check_pair(json_root(&a), json_root(&b), method, &rules, symmetric);
        }
    }
    compare_rules_release(&rules);
    json_release(&a);
    json_release(&b);
    return 0;
}
