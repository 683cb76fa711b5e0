#include "scenario/scenario-file.h"
#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILLED_MAX = 1 << 20 };

static char key[] = "KEY=a\"\\{{id}}", url[] = "URL=http://h:80/mcp";
static char *env[] = { key, url, NULL };

static void check_json(struct str text)
{
    struct json_fault fault;
    struct json j;

    json_init(&j);
    BUG_IF(!json_scan(&j, text, &fault));
    json_release(&j);
}

/* Fills a text with saved values. */
static void check_filled(const struct scenario_values *values, struct str text)
{
    struct buf to;

    if (!text.len)
        return;
    check_json(text);
    buf_init(&to, FILLED_MAX);
    scenario_values_fill(values, text, &to);
    if (!to.full)
        check_json(buf_str(&to));
    buf_release(&to);
}

static void check_action(const struct scenario_values *values, const struct scenario_action *a)
{
    BUG_IF(!a->kind || !a->line);
    check_filled(values, a->params);
    for (size_t i = 0; i < a->expect.value_count; i++)
        check_filled(values, a->expect.values[i].json);
}

/* The requests and expectations of a file that is accepted are JSON, with saved values, too. An
 * error has the position. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scenario_values values;
    struct scenario_file f;
    struct err e = ERR_NONE;

    scenario_values_init(&values);
    scenario_values_set(&values, STR("id"), STR("42"));
    scenario_values_set(&values, STR("text"), STR("\"a\\\"\\\\\""));
    scenario_values_set(&values, STR("map"), STR("{\"k\":[\"{{id}}\"]}"));
    if (scenario_file_parse(&f, str_n((const char *)data, size), "f", env, &e)) {
        BUG_IF(!f.url && !f.argc);
        for (size_t i = 0; i < f.plan_count; i++)
            for (size_t k = 0; k < f.plans[i].action_count; k++)
                check_action(&values, &f.plans[i].actions[k]);
    } else {
        BUG_IF(e.kind != ERR_INPUT && e.kind != ERR_LIMIT && e.kind != ERR_USAGE);
        BUG_IF(!str_starts(str_z(e.msg), STR("f:")));
    }
    scenario_file_release(&f);
    scenario_values_release(&values);
    return 0;
}
