#include "cmd/check-secrets.h"

#include "cli.h"
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
    struct cli *d = *state;

    cli_put_file(d, "a", HEADER CALL("plain"));
    assert_run(d, "mcpreel check --secrets a", 0, "a: no secrets found\n" SEARCHED, "");
}

static void secrets_are_listed_by_position(void **state)
{
    struct cli *d = *state;

    d->env = env;
    cli_put_file(d, "a", HEADER CALL("AKIAIOSFODNN7EXAMPLE hunter2hunter2"));
    assert_run(d, "mcpreel check --secrets a", 1,
               "a: 1 secret\n  message 1, /params/x: aws-access-key\n" SEARCHED, "");
    assert_run(d, "mcpreel check --secrets --redact-env KEY --no-redact-defaults a", 1,
               "a: 1 secret\n  message 1, /params/x: KEY\n"
               "searched for: no defaults; variables KEY\n",
               "");
    assert_run(
        d, "mcpreel check --secrets --json a", 1,
        "{\"v\":2,\"command\":\"check\",\"files\":[{\"path\":\"a\",\"format\":\"recording\","
        "\"count\":1,\"secrets\":[{\"record\":2,\"type\":\"message\",\"seq\":1,\"member\":"
        "\"msg\",\"pointer\":\"/params/x\",\"rule\":\"aws-access-key\"}],\"not_searched\":{"
        "\"binary\":0,\"compressed\":0,\"too_large\":0}}],\"searched_for\":{\"defaults\":true,"
        "\"variables\":[],\"members\":[],\"patterns\":0}}\n",
        "");
}

static void an_unreadable_file_is_not_reported_clean(void **state)
{
    struct cli *d = *state;

    d->env = env;
    cli_put_file(d, "a", HEADER CALL("plain"));
    cli_put_file(d, "b", HEADER "{'type':'message','seq':'hunter2hunter2'}\n" CALL("x"));
    assert_int_equal(cli_run(d, "mcpreel check --secrets --redact-env KEY a b"), 3);
    assert_str(buf_str(&d->out),
               STR("a: no secrets found\nb: unreadable\nsearched for: well-known credential "
                   "formats, values named as secrets; variables KEY\n"));
    assert_null(strstr(buf_z(&d->err), "hunter2"));
    assert_int_equal(cli_run(d, "mcpreel check --secrets --json b"), 3);
    assert_non_null(strstr(buf_z(&d->out), "\"error\":"));
    assert_int_equal(cli_run(d, "mcpreel check --secrets nowhere"), 3);
}

static void invalid_arguments_are_rejected(void **state)
{
    struct cli *d = *state;

    cli_put_file(d, "a", HEADER);
    assert_run(
        d, "mcpreel check --secrets --no-redact-defaults a", 2, "",
        "mcpreel: no secrets to search for: '--no-redact-defaults' without other rules\n");
    assert_run(d, "mcpreel check --secrets --fix a", 2, "",
               "mcpreel: '--secrets' cannot be combined with '--fix'\n"
               "  to redact secrets: mcpreel redact FILE -o OUT\n");
    assert_int_equal(cli_run(d, "mcpreel check --secrets --redact-env KEY a"), 2);
}

static void put_finding(struct secret_findings *l, enum record_kind kind, const char *member,
                        const char *pointer, const char *what)
{
    struct record r = { .kind = kind, .has = HAS_SEQ, .message = { .seq = 4 } };
    struct redactor_hit h = { .record = &r,
                              .member = member,
                              .pointer = str_z(pointer),
                              .rule_name = what,
                              .record_index = 6 };

    l->observer.hit(&l->observer, &h);
}

static void positions_are_written_as_text_and_as_json(void **state)
{
    struct secret_findings l;
    struct buf b;
    struct json_out o = json_out_to(&b);

    (void)state;
    secret_findings_init(&l);
    buf_init(&b, 1 << 12);
    put_finding(&l, RECORD_MESSAGE, "msg", "/params/\x1b[1m", "KEY");
    put_finding(&l, RECORD_STDERR, "text", "", "jwt");
    secret_findings_add_text(&b, &l);
    assert_string_equal(buf_z(&b), "  message 4, /params/\\x1b[1m: KEY\n"
                                   "  record 7 (stderr), text: jwt\n");
    buf_clear(&b);
    secret_findings_add_json(&o, &l);
    assert_string_equal(
        buf_z(&b), "[{\"record\":7,\"type\":\"message\",\"seq\":4,\"member\":\"msg\","
                   "\"pointer\":\"/params/\\u001b[1m\",\"rule\":\"KEY\"},"
                   "{\"record\":7,\"type\":\"stderr\",\"member\":\"text\",\"rule\":\"jwt\"}]");
    buf_release(&b);
    secret_findings_release(&l);
}

static void listed_secrets_are_limited_but_all_are_counted(void **state)
{
    struct secret_findings l;
    struct buf b;

    (void)state;
    secret_findings_init(&l);
    buf_init(&b, 1 << 20);
    for (int i = 0; i < SECRET_FINDINGS_MAX + 5; i++)
        put_finding(&l, RECORD_RAW, "text", "", "jwt");
    assert_int_equal(l.total, SECRET_FINDINGS_MAX + 5);
    secret_findings_add_text(&b, &l);
    assert_true(str_ends(buf_str(&b), STR("\n  and 5 more\n")));
    buf_release(&b);
    secret_findings_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(a_file_without_secrets_passes),
        WITH_CLI(secrets_are_listed_by_position),
        WITH_CLI(an_unreadable_file_is_not_reported_clean),
        WITH_CLI(invalid_arguments_are_rejected),
        cmocka_unit_test(positions_are_written_as_text_and_as_json),
        cmocka_unit_test(listed_secrets_are_limited_but_all_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
