#include "engine/other-era.h"

#include "http-spoken.h"
#include "terse.h"

static const struct http_rules old = { .legacy = true, .sessions = true };
static const struct http_rules new = { .modern = true };

/* What is said to the user. */
struct ear {
    struct action_sink sink;
    struct say say;
    struct buf heard;
    struct script script;
    struct other_era era;
};

static void hear(struct action_sink *self, const struct action *a)
{
    struct ear *e = (struct ear *)self;

    assert_int_equal(a->kind, ACTION_REPORT);
    assert_int_equal(a->level, LOG_WARN);
    buf_printf(&e->heard, "%.*s|", STR_ARG(a->text));
}

static void open_ear(struct ear *e, unsigned versions, bool modern)
{
    *e = (struct ear){ .sink = { hear }, .script = { .versions = versions, .modern = modern } };
    buf_init(&e->heard, 1 << 16);
    say_init(&e->say, &e->sink);
}

static void close_ear(struct ear *e, const char *want)
{
    other_era_end(&e->era, &e->say, &e->script);
    assert_str(buf_str(&e->heard), str_z(want));
    say_release(&e->say);
    buf_release(&e->heard);
}

static void say_http(struct ear *e, const struct http_rules *rules, const char *line)
{
    struct http_spoken s;
    const struct http_call *c = http_spoken(&s, SESSION_NONE, line);

    other_era_hear(&e->era, &e->say, &e->script, rules, c,
                   http_rules_judge(rules, c, &s.arena).status != 0, &s.arena);
    http_spoken_release(&s);
}

#define INIT(version)                                                                          \
    "POST {\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":" version "}}"
#define LIST "POST version=2026-07-28 {\"id\":1,\"method\":\"tools/list\",\"params\":{$META}}"
#define PROBE                                                                                  \
    "POST version=2026-07-28 {\"id\":1,\"method\":\"server/discover\",\"params\":{$META}}"

#define V(version) (1u << (version))

#define OLD_ONE                                                                                \
    "a client speaks 2025-06-18, the recording is of 2026-07-28, which the recorded client "   \
    "chose: record again with a client that speaks 2025-06-18, or replay to one that speaks "  \
    "2026-07-28|"
#define NEW_ONE                                                                                \
    "a client speaks 2026-07-28, the recorded server only 2025-11-25, 2025-03-26: use a "      \
    "client that speaks that, too, or record a server that speaks 2026-07-28|"

static void a_client_of_the_old_era_is_told_of_once(void **state)
{
    struct ear e;

    (void)state;
    open_ear(&e, V(MCP_2026_07_28), true);
    say_http(&e, &new, INIT("\"2025-06-18\""));
    say_http(&e, &new, INIT("\"2025-11-25\""));
    close_ear(&e, OLD_ONE);
}

static void a_client_of_the_new_era_is_told_of_once(void **state)
{
    struct ear e;

    (void)state;
    open_ear(&e, V(MCP_2025_11_25) | V(MCP_2025_03_26), false);
    say_http(&e, &old, LIST);
    say_http(&e, &old, LIST);
    close_ear(&e, NEW_ONE);
}

static void who_only_asks_is_told_of_if_nobody_greets_then(void **state)
{
    struct ear e;

    (void)state;
    open_ear(&e, V(MCP_2025_11_25) | V(MCP_2025_03_26), false);
    say_http(&e, &old, PROBE);
    say_http(&e, &old, INIT("\"2025-11-25\""));
    close_ear(&e, "");
    open_ear(&e, V(MCP_2025_11_25) | V(MCP_2025_03_26), false);
    say_http(&e, &old, PROBE);
    assert_int_equal(e.heard.len, 0);
    close_ear(&e, NEW_ONE);
}

static void what_fits_or_is_wrong_otherwise_is_not_told(void **state)
{
    struct ear e;

    (void)state;
    open_ear(&e, V(MCP_2026_07_28), true);
    say_http(&e, &new, PROBE);
    say_http(&e, &new, "POST {\"id\":1,\"method\":\"tools/list\"}");
    say_http(&e, &old, "POST {\"id\":1,\"method\":\"tools/list\"}");
    say_http(&e, &old, "POST {\"id\":1,\"result\":{}}");
    say_http(&e, &old, "POST [1]");
    say_http(&e, &old, "GET");
    close_ear(&e, "");
}

static void what_nobody_knows_is_told_as_that(void **state)
{
    struct ear e;

    (void)state;
    open_ear(&e, 0, true);
    say_http(&e, &new, INIT("5"));
    close_ear(&e,
              "a client speaks an older revision, the recording is of 2026-07-28, which the "
              "recorded client chose: record again with a client that speaks an older "
              "revision, or replay to one that speaks 2026-07-28|");
    open_ear(&e, 0, false);
    other_era_tell(&e.era, &e.say, &e.script, true, STR_NONE);
    close_ear(&e, "a client speaks 2026-07-28, the recorded server only an older one: use a "
                  "client that speaks that, too, or record a server that speaks 2026-07-28|");
}

static void a_name_is_not_told_at_any_length(void **state)
{
    struct ear e;

    (void)state;
    open_ear(&e, V(MCP_2026_07_28), true);
    other_era_tell(&e.era, &e.say, &e.script, false,
                   STR("0123456789012345678901234567890123456789"));
    close_ear(&e,
              "a client speaks 0123456789012345678901234567890, the recording is of "
              "2026-07-28, which the recorded client chose: record again with a client that "
              "speaks 0123456789012345678901234567890, or replay to one that speaks "
              "2026-07-28|");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_of_the_old_era_is_told_of_once),
        cmocka_unit_test(a_client_of_the_new_era_is_told_of_once),
        cmocka_unit_test(who_only_asks_is_told_of_if_nobody_greets_then),
        cmocka_unit_test(what_fits_or_is_wrong_otherwise_is_not_told),
        cmocka_unit_test(what_nobody_knows_is_told_as_that),
        cmocka_unit_test(a_name_is_not_told_at_any_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
