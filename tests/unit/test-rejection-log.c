#include "runtime/rejection-log.h"

#include "test.h"

struct rig {
    struct log log;
    struct buf output;
    struct rejection_log q;
    struct json json;
};

static void put(void *to, struct str line)
{
    struct rig *g = to;

    buf_add(&g->output, line);
}

static void open_rig(struct rig *g, const char *url)
{
    *g = (struct rig){ .log = { .level = LOG_INFO, .write = put, .arg = g } };
    buf_init(&g->output, 1 << 14);
    json_init(&g->json);
    rejection_log_init(&g->q, &g->log, str_z(url));
}

static void close_rig(struct rig *g, const char *output)
{
    assert_string_equal(buf_z(&g->output), output);
    buf_release(&g->output);
    json_release(&g->json);
}

static void message(struct rig *g, uint64_t exchange, enum record_dir dir, const char *text)
{
    struct record r = { .kind = RECORD_MESSAGE, .has = HAS_EXCHANGE, .exchange = exchange };
    struct json_fault fault;

    assert_true(json_scan(&g->json, str_z(text), &fault));
    r.message.dir = dir;
    r.message.msg = json_root(&g->json);
    rejection_log_note(&g->q, &r);
}

static void response(struct rig *g, uint64_t exchange, unsigned status, const char *media,
                     const char *body)
{
    struct record r = { .kind = RECORD_HTTP_RESPONSE, .has = HAS_EXCHANGE };

    r.exchange = exchange;
    r.http.by = STR("server");
    r.http.status = status;
    r.http.media = str_z(media);
    rejection_log_note(&g->q, &r);
    if (!body)
        return;
    r = (struct record){ .kind = RECORD_RAW, .has = HAS_EXCHANGE, .exchange = exchange };
    r.bytes.dir = TO_CLIENT;
    r.bytes.bytes = str_z(body);
    rejection_log_note(&g->q, &r);
}

static void end(struct rig *g, uint64_t exchange)
{
    struct record r = { .kind = RECORD_HTTP_END, .has = HAS_EXCHANGE, .exchange = exchange };

    rejection_log_note(&g->q, &r);
}

#define INITIALIZE "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}"
#define LIST "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tools/list\"}"
#define RESULT "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}"
#define ERROR "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-32602,\"message\":\"no\"}}"

static void a_rejection_is_logged_once(void **state)
{
    struct rig g;

    (void)state;
    open_rig(&g, "http://h:1/api");
    for (unsigned i = 1; i < 4; i++) {
        message(&g, i, TO_SERVER, INITIALIZE);
        response(&g, i, i < 3 ? 403 : 404, "other", i < 3 ? "not\n here\t" : NULL);
        end(&g, i);
    }
    assert_true(rejection_log_never_served(&g.q));
    close_rig(&g,
              "mcpreel: warning: the server answered HTTP 403 to initialize: not  here\n"
              "mcpreel: warning: the server answered HTTP 404 to initialize: is this an MCP "
              "endpoint? try http://h:1/mcp\n");
}

static void after_a_message_only_initialize_is_observed(void **state)
{
    struct rig g;

    (void)state;
    open_rig(&g, "http://h:1/mcp");
    message(&g, 1, TO_SERVER, LIST);
    response(&g, 1, 200, "json", NULL);
    message(&g, 1, TO_CLIENT, RESULT);
    end(&g, 1);
    message(&g, 2, TO_SERVER, LIST);
    response(&g, 2, 404, "other", "no session");
    end(&g, 2);
    message(&g, 3, TO_SERVER, INITIALIZE);
    response(&g, 3, 200, "json", NULL);
    message(&g, 3, TO_CLIENT, ERROR);
    end(&g, 3);
    assert_false(rejection_log_never_served(&g.q));
    close_rig(&g, "mcpreel: the server rejected initialize with error -32602: no\n");
}

static void other_responses_are_not_logged(void **state)
{
    static const struct {
        unsigned status;
        const char *media;
    } cases[] = {
        { 200, "json" }, { 200, "sse" }, { 202, "none" }, { 307, "other" }, { 405, "other" }
    };
    struct rig g;

    (void)state;
    open_rig(&g, "http://h:1/mcp");
    for (uint64_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        message(&g, i, TO_SERVER, LIST);
        response(&g, i, cases[i].status, cases[i].media, NULL);
        end(&g, i);
        assert_int_equal(rejection_log_never_served(&g.q), cases[i].status > 300);
    }
    close_rig(&g, "");
}

static void with_log_at_end_a_rejection_is_logged_if_no_message_came(void **state)
{
    struct rig g;

    (void)state;
    for (int served = 0; served < 2; served++) {
        open_rig(&g, "https://h/");
        g.q.log_at_end = true;
        message(&g, 1, TO_SERVER, INITIALIZE);
        response(&g, 1, 405, "other", "<p>");
        end(&g, 1);
        message(&g, 2, TO_SERVER, LIST);
        response(&g, 2, 500, "other", "x");
        end(&g, 2);
        if (served)
            message(&g, 3, TO_CLIENT, RESULT);
        assert_int_equal(g.output.len, 0);
        rejection_log_end(&g.q);
        assert_int_equal(rejection_log_never_served(&g.q), !served);
        close_rig(
            &g, served ? ""
                       : "mcpreel: warning: the server answered HTTP 405 to initialize "
                         "with an HTML page: is this an MCP endpoint? try https://h:443/mcp\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rejection_is_logged_once),
        cmocka_unit_test(after_a_message_only_initialize_is_observed),
        cmocka_unit_test(other_responses_are_not_logged),
        cmocka_unit_test(with_log_at_end_a_rejection_is_logged_if_no_message_came),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
