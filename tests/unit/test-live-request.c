#include "verify/live-request.h"

#include "terse.h"
#include "test.h"

static bool secret(void *arg, struct str name, struct str *value, struct str *why)
{
    (void)arg;
    *value = STR("k\"1");
    if (str_eq(name, STR("SHORT")))
        *why = STR("SHORT is too short");
    return str_eq(name, STR("API_KEY"));
}

struct rig {
    struct compare_rules rules;
    struct rebind rebind;
    struct live_request request;
    struct arena arena;
    struct json json, other;
};

static void begin(struct rig *r)
{
    *r = (struct rig){ 0 };
    compare_rules_init(&r->rules);
    rebind_init(&r->rebind, &r->rules);
    live_request_init(&r->request, &r->rebind, secret, NULL);
    json_init(&r->json);
    json_init(&r->other);
}

static void end(struct rig *r)
{
    live_request_release(&r->request);
    rebind_release(&r->rebind);
    compare_rules_release(&r->rules);
    arena_release(&r->arena);
    json_release(&r->json);
    json_release(&r->other);
}

static struct json_val parse(struct rig *r, struct json *j, const char *text)
{
    struct json_fault fault;

    if (!json_scan(j, terse_json(&r->arena, text), &fault))
        fail_msg("%s", text);
    return json_root(j);
}

/* `want` is the text, "blocked by N" or "skipped: REASON". */
static void check(struct rig *r, const char *recorded, const char *id, const char *want)
{
    struct json_val root = parse(r, &r->json, recorded);
    struct str got = STR_NONE;

    switch (live_request_make(&r->request, root, str_z(id))) {
    case LIVE_REQUEST_MADE:
        got = buf_str(&r->request.text);
        break;
    case LIVE_REQUEST_BLOCKED:
        got = arena_printf(&r->arena, "blocked by %u", r->request.loss.call);
        break;
    case LIVE_REQUEST_SKIPPED:
        got = arena_printf(&r->arena, "skipped: %s", buf_z(&r->request.reason));
        break;
    }
    assert_str(got, terse_json(&r->arena, want));
}

static void the_id_and_the_progress_token_are_replaced(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    check(&r,
          "{'id':'x', 'method':'tools/call','params':{'_meta':{'progressToken':4},"
          "'arguments':{'id':'x','progressToken':4}}}",
          "12",
          "{'id':12, 'method':'tools/call','params':{'_meta':{'progressToken':12},"
          "'arguments':{'id':'x','progressToken':4}}}");
    end(&r);
}

static void a_cancellation_names_the_live_request(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    check(&r, "{'method':'notifications/cancelled','params':{'requestId':3,'reason':'a'}}", "8",
          "{'method':'notifications/cancelled','params':{'requestId':8,'reason':'a'}}");
    end(&r);
}

static void live_values_replace_recorded_ones_in_params(void **state)
{
    struct rig r;
    struct json_val recorded, live;

    (void)state;
    begin(&r);
    recorded = parse(&r, &r.json, "{'result':{'h':'abc123'}}");
    live = parse(&r, &r.other, "{'result':{'h':'xyz789'}}");
    rebind_learn(&r.rebind, STR("tools/call"), recorded, live);
    check(&r,
          "{'id':1,'method':'tools/call','params':{'name':'abc123','arguments':"
          "{'h':'abc123','list':[ 'abc123' ],'text':'my abc123'}}}",
          "2",
          "{'id':2,'method':'tools/call','params':{'name':'abc123','arguments':"
          "{'h':'xyz789','list':[ 'xyz789' ],'text':'my abc123'}}}");
    end(&r);
}

static void a_value_of_a_failed_call_blocks_the_request(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    rebind_note_later(&r.rebind, parse(&r, &r.json, "{'taskId':'t1'}"));
    rebind_lose(&r.rebind, (struct rebind_loss){ 3, "failed" }, STR("tools/call"),
                parse(&r, &r.json, "{'result':{'taskId':'t1'}}"));
    check(&r, "{'id':1,'method':'tasks/get','params':{'taskId':'t1'}}", "2", "blocked by 3");
    end(&r);
}

static void secrets_of_known_names_are_inserted(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    check(&r, "{'id':1,'method':'a','params':{'k':'Bearer [REDACTED:API_KEY]!'}}", "2",
          "{'id':2,'method':'a','params':{'k':'Bearer k`'1!'}}");
    end(&r);
}

static void unknown_secrets_skip_the_request_with_a_reason(void **state)
{
    struct rig r;

    (void)state;
    begin(&r);
    check(&r, "{'id':1,'method':'a','params':{'k':'[REDACTED:OTHER]'}}", "2",
          "skipped: a redacted value is needed: set the environment variable OTHER");
    check(&r, "{'id':1,'method':'a','params':{'k':'[REDACTED:SHORT]'}}", "2",
          "skipped: SHORT is too short");
    check(&r, "{'id':1,'method':'a','params':{'k':'[REDACTED:rule-2]'}}", "2",
          "skipped: a value that was redacted by a rule is needed");
    check(&r, "{'id':1,'method':'a','params':{'k':'[REDACTED]'}}", "2",
          "skipped: a value that was redacted by a rule is needed");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_id_and_the_progress_token_are_replaced),
        cmocka_unit_test(a_cancellation_names_the_live_request),
        cmocka_unit_test(live_values_replace_recorded_ones_in_params),
        cmocka_unit_test(a_value_of_a_failed_call_blocks_the_request),
        cmocka_unit_test(secrets_of_known_names_are_inserted),
        cmocka_unit_test(unknown_secrets_skip_the_request_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
