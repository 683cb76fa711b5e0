#include "cmd/check-secrets.h"

#include "desk.h"
#include "test.h"

#define HEADER                                                                                 \
    "{'type':'header','version':'1.0','recorded_at':'2026-01-01T00:00:01.000Z',"               \
    "'upstream':'u','thoughtjack_version':'0.3.0'}\n"
#define CALL(text)                                                                             \
    "{'type':'message','seq':1,'ts':'2026-01-01T00:00:02.000Z','dir':'c2s','msg':{'id':1,"     \
    "'method':'m','params':{'x':'" text "'}}}\n"

#define SEARCHED "searched for: well-known credential formats, values named as secrets\n"

static char *const env[] = { "KEY=hunter2hunter2", NULL };

static void a_file_without_secrets_passes(void **state)
{
    struct desk *d = *state;

    desk_put(d, "a", HEADER CALL("plain"));
    assert_run(d, "mcpreel check --secrets a", 0, "a: no secrets found\n" SEARCHED, "");
}

static void secrets_are_told_by_their_places(void **state)
{
    struct desk *d = *state;

    d->env = env;
    desk_put(d, "a", HEADER CALL("AKIAIOSFODNN7EXAMPLE hunter2hunter2"));
    assert_run(d, "mcpreel check --secrets a", 1,
               "a: 1 secret\n  message 1, /params/x: aws-access-key\n" SEARCHED, "");
    assert_run(d, "mcpreel check --secrets --redact-env KEY --no-redact-defaults a", 1,
               "a: 1 secret\n  message 1, /params/x: KEY\n"
               "searched for: no defaults; variables KEY\n",
               "");
    assert_run(
        d, "mcpreel check --secrets --json a", 1,
        "{\"v\":1,\"command\":\"check\",\"files\":[{\"path\":\"a\",\"format\":\"recording\","
        "\"count\":1,\"secrets\":[{\"record\":2,\"type\":\"message\",\"seq\":1,\"member\":"
        "\"msg\",\"pointer\":\"/params/x\",\"what\":\"aws-access-key\"}],\"not_searched\":{"
        "\"binary\":0,\"compressed\":0,\"too_large\":0}}],\"searched_for\":{\"defaults\":true,"
        "\"variables\":[],\"members\":[],\"patterns\":0}}\n",
        "");
}

static void an_unusable_file_is_not_clean(void **state)
{
    struct desk *d = *state;

    d->env = env;
    desk_put(d, "a", HEADER CALL("plain"));
    desk_put(d, "b", HEADER "{'type':'message','seq':'hunter2hunter2'}\n" CALL("x"));
    assert_int_equal(desk_run(d, "mcpreel check --secrets --redact-env KEY a b"), 3);
    assert_str(buf_str(&d->out),
               STR("a: no secrets found\nb: unusable\nsearched for: well-known credential "
                   "formats, values named as secrets; variables KEY\n"));
    assert_null(strstr(buf_z(&d->err), "hunter2"));
    assert_int_equal(desk_run(d, "mcpreel check --secrets --json b"), 3);
    assert_non_null(strstr(buf_z(&d->out), "\"error\":"));
    assert_int_equal(desk_run(d, "mcpreel check --secrets nowhere"), 3);
}

static void what_makes_no_sense_is_refused(void **state)
{
    struct desk *d = *state;

    desk_put(d, "a", HEADER);
    assert_run(d, "mcpreel check --secrets --no-redact-defaults a", 2, "",
               "mcpreel: nothing is secret: there is nothing to look for\n");
    assert_run(d, "mcpreel check --secrets --fix a", 2, "",
               "mcpreel: '--secrets' only looks, it mends nothing\n"
               "  take them out: mcpreel redact FILE -o OUT\n");
    assert_int_equal(desk_run(d, "mcpreel check --secrets --redact-env KEY a"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        AT_A_DESK(a_file_without_secrets_passes),
        AT_A_DESK(secrets_are_told_by_their_places),
        AT_A_DESK(an_unusable_file_is_not_clean),
        AT_A_DESK(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
