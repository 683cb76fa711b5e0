#include "scenario/scenario-expect.h"

#include "json/equal.h"

enum { EXPECTED_MAX = 16 << 20 };

static bool is_error(struct json_val root)
{
    struct json_val flag = json_get(json_get(root, STR("result")), STR("isError"));

    return json_exists(json_get(root, STR("error"))) || json_type(flag) == JSON_TRUE;
}

/* A search for a value at a path. */
struct expect_search {
    struct json_val wanted; /* absent: any value will do */
    struct json_val found;  /* the first that is wanted */
    struct json_val other;  /* the first that is not */
};

static bool on_value(void *arg, struct json_location location, struct json_val value)
{
    static const struct json_rules rules = { .numbers_by_value = true };
    struct expect_search *s = arg;

    (void)location;
    if (!json_exists(s->wanted) || json_equal(s->wanted, value, &rules)) {
        s->found = value;
        return false;
    }
    if (!json_exists(s->other))
        s->other = value;
    return true;
}

static struct finding no_value(struct str path, uint32_t line, struct arena *a)
{
    return (struct finding){ .rule = STR("expect-no-value"),
                             .severity = FINDING_ERROR,
                             .message = arena_printf(a, "the response has no value at %.*s",
                                                     STR_ARG(path)),
                             .line = line,
                             .path = path };
}

/* Returns whether the expectation holds; else sets the finding. */
static bool judge_value(const struct scenario_expect_value *x, struct json_val root,
                        const struct scenario_values *values, struct arena *a,
                        struct finding *f)
{
    struct expect_search search = { .found = JSON_VAL_NONE };
    struct json_fault fault;
    struct json wanted;
    struct buf text;
    bool holds;

    buf_init(&text, EXPECTED_MAX);
    json_init(&wanted);
    scenario_values_fill(values, x->json, &text);
    if (!json_scan(&wanted, buf_str(&text), &fault))
        BUG("an expected value is JSON");
    search.wanted = json_root(&wanted);
    holds = !json_path_select(x->path, root, on_value, &search);
    if (!holds && json_exists(search.other))
        *f = (struct finding){ .rule = STR("expect-value"),
                               .severity = FINDING_ERROR,
                               .message = arena_printf(a, "%.*s is not as expected",
                                                       STR_ARG(x->path_text)),
                               .line = x->line,
                               .path = x->path_text,
                               .recorded = arena_str(a, buf_str(&text)),
                               .live = json_raw(search.other) };
    else if (!holds)
        *f = no_value(x->path_text, x->line, a);
    json_release(&wanted);
    buf_release(&text);
    return holds;
}

static bool save_value(const struct scenario_expect_save *x, struct json_val root,
                       struct scenario_values *values, struct arena *a, struct finding *f)
{
    struct expect_search search = { .found = JSON_VAL_NONE };

    json_path_select(x->path, root, on_value, &search);
    if (json_exists(search.found)) {
        scenario_values_set(values, x->name, json_raw(search.found));
        return true;
    }
    *f = no_value(x->path_text, x->line, a);
    f->hint = arena_printf(a, "'save' needs it as '%.*s'", STR_ARG(x->name));
    return false;
}

static bool judge_error(const struct scenario_expect *x, struct json_val root,
                        struct finding *f)
{
    bool error = is_error(root);

    if (x->is_error == EXPECT_ANY || error == (x->is_error == EXPECT_AN_ERROR))
        return true;
    *f = (struct finding){ .rule = STR("expect-is-error"),
                           .severity = FINDING_ERROR,
                           .message = error ? STR("the response is an error")
                                            : STR("the response is no error"),
                           .line = x->is_error_line };
    if (error)
        f->live =
            json_raw(json_exists(json_get(root, STR("error"))) ? json_get(root, STR("error"))
                                                               : json_get(root, STR("result")));
    return false;
}

struct finding *scenario_expect_judge(const struct scenario_expect *x, struct json_val root,
                                      struct scenario_values *values, struct arena *a,
                                      size_t *count)
{
    struct finding *f =
        arena_alloc(a, (x->value_count + x->save_count + 1) * sizeof(struct finding));
    size_t n = 0;

    n += !judge_error(x, root, &f[n]);
    for (size_t i = 0; i < x->value_count; i++)
        n += !judge_value(&x->values[i], root, values, a, &f[n]);
    for (size_t i = 0; i < x->save_count; i++)
        n += !save_value(&x->saves[i], root, values, a, &f[n]);
    *count = n;
    return f;
}
