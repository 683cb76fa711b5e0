#include "transport/exchange.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "dies.h"
#include "test.h"

/* Where an exchange takes place: a head, and all that was wished. */
struct place_of_it {
    struct request request;
    struct exchange exchange;
    struct buf out, desk;
    size_t writes, begun, ended, aborted, unframed;
    bool reading;
};

static void do_write(void *at, struct str bytes)
{
    struct place_of_it *p = at;

    p->writes++;
    buf_add(&p->out, bytes);
}

static struct buf *get_desk(void *at)
{
    struct place_of_it *p = at;

    buf_clear(&p->desk);
    return &p->desk;
}

static void do_read(void *at, bool on)
{
    struct place_of_it *p = at;

    p->reading = on;
}

static void do_begin(void *at)
{
    struct place_of_it *p = at;

    p->begun++;
}

static void do_end(void *at)
{
    struct place_of_it *p = at;

    p->ended++;
}

static void do_abort(void *at, bool unframed)
{
    struct place_of_it *p = at;

    p->aborted++;
    p->unframed += unframed;
}

static size_t get_queued(const void *at)
{
    const struct place_of_it *p = at;

    return p->out.len;
}

static const struct exchange_port port = { do_write, get_desk, do_read,   do_begin,
                                           do_end,   do_abort, get_queued };

static struct exchange *open_place(struct place_of_it *p, const char *head)
{
    struct str in = str_z(head);

    *p = (struct place_of_it){ .reading = true };
    request_init(&p->request);
    buf_init(&p->out, 1 << 24);
    buf_init(&p->desk, 1 << 20);
    assert_int_equal(request_feed(&p->request, &in), REQUEST_WHOLE);
    exchange_init(&p->exchange, &p->request, &port, p);
    p->exchange.whole = true;
    return &p->exchange;
}

static void close_place(struct place_of_it *p)
{
    request_release(&p->request);
    buf_release(&p->out);
    buf_release(&p->desk);
}

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define OLD "GET / HTTP/1.0\r\nHost: a\r\n\r\n"
#define HEAD "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"
#define BYE "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
#define LENGTH "Content-Length: "
#define CHUNKS "Transfer-Encoding: chunked\r\n"
#define CLOSE "Connection: close\r\n"

static void how_a_body_ends_depends_on_who_asked(void **state)
{
    static const struct {
        const char *ask;
        unsigned status;
        enum exchange_body body;
        const char *lines, *follows;
    } cases[] = {
        { GET, 200, EXCHANGE_STREAM, CHUNKS, "3\r\nabc\r\n0\r\n\r\n" },
        { GET, 200, EXCHANGE_SIZED, LENGTH "3\r\n", "abc" },
        { GET, 200, EXCHANGE_EMPTY, LENGTH "0\r\n", "" },
        { GET, 202, EXCHANGE_EMPTY, LENGTH "0\r\n", "" },
        { GET, 204, EXCHANGE_STREAM, "", "" },
        { GET, 204, EXCHANGE_SIZED, "", "" },
        { GET, 204, EXCHANGE_EMPTY, "", "" },
        { GET, 304, EXCHANGE_STREAM, "", "" },
        { GET, 304, EXCHANGE_SIZED, LENGTH "3\r\n", "" },
        { GET, 304, EXCHANGE_EMPTY, "", "" },
        { OLD, 200, EXCHANGE_STREAM, CLOSE, "abc" },
        { OLD, 200, EXCHANGE_SIZED, LENGTH "3\r\n" CLOSE, "abc" },
        { OLD, 200, EXCHANGE_EMPTY, LENGTH "0\r\n" CLOSE, "" },
        { HEAD, 200, EXCHANGE_STREAM, "", "" },
        { HEAD, 200, EXCHANGE_SIZED, LENGTH "3\r\n", "" },
        { HEAD, 200, EXCHANGE_EMPTY, "", "" },
        { HEAD, 404, EXCHANGE_SIZED, LENGTH "3\r\n", "" },
        { BYE, 200, EXCHANGE_STREAM, CHUNKS CLOSE, "3\r\nabc\r\n0\r\n\r\n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answer a = {
            .status = cases[i].status, .phrase = STR("Well"), .body = cases[i].body, .length = 3
        };
        struct place_of_it p;
        struct exchange *x = open_place(&p, cases[i].ask);
        struct err e = ERR_NONE;
        struct buf want;

        buf_init(&want, 1000);
        buf_printf(&want, "HTTP/1.1 %u Well\r\n%s\r\n%s", cases[i].status, cases[i].lines,
                   cases[i].follows);
        assert_true(exchange_head(x, &a, &e));
        assert_null(x->head);
        if (a.body != EXCHANGE_EMPTY)
            exchange_write(x, STR("abc"));
        exchange_end(x);
        assert_str(buf_str(&p.out), buf_str(&want));
        assert_int_equal(p.begun, 1);
        assert_int_equal(p.ended, 1);
        assert_int_equal(p.aborted, 0);
        buf_release(&want);
        close_place(&p);
    }
}

static void what_breaks_off_is_told_apart(void **state)
{
    static const struct {
        const char *ask;
        enum exchange_body body;
        size_t unframed;
    } cases[] = {
        { GET, EXCHANGE_STREAM, 0 },  { GET, EXCHANGE_SIZED, 0 }, { OLD, EXCHANGE_SIZED, 0 },
        { OLD, EXCHANGE_STREAM, 1 }, /* the end would look like one */
        { HEAD, EXCHANGE_STREAM, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answer a = { .status = 200, .body = cases[i].body, .length = 10 };
        struct place_of_it p;
        struct exchange *x = open_place(&p, cases[i].ask);
        struct err e = ERR_NONE;

        assert_true(exchange_head(x, &a, &e));
        exchange_write(x, STR("abc"));
        if (a.body == EXCHANGE_SIZED)
            exchange_end(x); /* too early */
        else
            exchange_abort(x);
        assert_int_equal(p.aborted, 1);
        assert_int_equal(p.ended, 0);
        assert_int_equal(p.unframed, cases[i].unframed);
        assert_false(str_ends(buf_str(&p.out), STR("0\r\n\r\n")));
        close_place(&p);
    }
}

static void a_head_that_is_refused_leaves_everything_as_it_was(void **state)
{
    struct answer a = { .status = 200, .body = EXCHANGE_STREAM, .last = true };
    struct place_of_it p;
    struct exchange *x = open_place(&p, GET);
    struct err e = ERR_NONE;

    (void)state;
    fields_add(&a.fields, STR("X"), STR("a\r\nSet-Cookie: b"));
    assert_false(exchange_head(x, &a, &e));
    assert_int_equal(e.kind, ERR_INPUT);
    assert_false(exchange_answer(x, &a, STR("abc"), &e));
    assert_int_equal(p.out.len + p.begun + p.ended, 0);
    assert_ptr_equal(x->head, &p.request);
    fields_clear(&a.fields);
    fields_add(&a.fields, STR("Allow"), STR("POST"));
    exchange_refuse(x, 405, &a.fields, STR("only POST"));
    assert_str(buf_str(&p.out),
               STR("HTTP/1.1 405 Method Not Allowed\r\nAllow: POST\r\n"
                   "Content-Type: application/json\r\nContent-Length: 73\r\n\r\n"
                   "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,"
                   "\"message\":\"only POST\"}}"));
    fields_release(&a.fields);
    close_place(&p);
}

static void a_small_answer_goes_out_in_one_piece(void **state)
{
    struct answer a = { .status = 200 };
    struct place_of_it p;
    struct exchange *x = open_place(&p, GET);
    struct err e = ERR_NONE;

    (void)state;
    assert_true(exchange_answer(x, &a, STR("abc"), &e));
    assert_int_equal(p.writes, 1);
    assert_str(buf_str(&p.out), STR("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"));
    close_place(&p);

    x = open_place(&p, HEAD);
    assert_true(exchange_answer(x, &a, STR("abc"), &e));
    assert_str(buf_str(&p.out), STR("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"));
    close_place(&p);
}

static void a_large_one_is_the_same_to_who_reads_it(void **state)
{
    enum { SIZE = 100000 };
    char *much = mem_alloc(SIZE);
    struct answer a = { .status = 200, .body = EXCHANGE_STREAM };
    struct place_of_it p;
    struct exchange *x = open_place(&p, GET);
    struct err e = ERR_NONE;
    struct buf want;

    (void)state;
    memset(much, 'x', SIZE);
    buf_init(&want, 2 * SIZE);
    assert_true(exchange_answer(x, &a, str_n(much, SIZE), &e));
    buf_printf(&want, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%.*s", SIZE, SIZE, much);
    assert_true(str_eq(buf_str(&p.out), buf_str(&want)));
    close_place(&p);

    x = open_place(&p, GET);
    assert_true(exchange_head(x, &a, &e));
    buf_clear(&p.out);
    buf_clear(&want);
    exchange_write(x, str_n(much, SIZE));
    assert_int_equal(exchange_queued(x), p.out.len);
    buf_printf(&want, "%x\r\n%.*s\r\n", SIZE, SIZE, much);
    assert_true(str_eq(buf_str(&p.out), buf_str(&want)));
    close_place(&p);
    buf_release(&want);
    free(much);
}

static void an_answer_before_its_request_is_whole_is_the_last(void **state)
{
    struct answer a = { .status = 200 };
    struct place_of_it p;
    struct exchange *x =
        open_place(&p, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n");
    struct err e = ERR_NONE;

    (void)state;
    x->whole = false;
    exchange_read(x, false);
    assert_false(p.reading);
    assert_true(exchange_answer(x, &a, STR_NONE, &e));
    assert_str(buf_str(&p.out),
               STR("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
    close_place(&p);
}

static void one_goes_on_only_if_somebody_waits_for_it(void **state)
{
    static const char waiting[] =
        "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n";
    struct answer a = { .status = 200, .body = EXCHANGE_STREAM };
    struct place_of_it p;
    struct exchange *x = open_place(&p, waiting);
    struct err e = ERR_NONE;

    (void)state;
    exchange_go_on(x);
    exchange_go_on(x);
    assert_str(buf_str(&p.out), STR("HTTP/1.1 100 Continue\r\n\r\n"));
    close_place(&p);
    x = open_place(&p, waiting);
    assert_true(exchange_head(x, &a, &e));
    buf_clear(&p.out);
    exchange_go_on(x); /* it has its answer */
    assert_int_equal(p.out.len, 0);
    close_place(&p);
    x = open_place(&p, GET);
    exchange_go_on(x);
    assert_int_equal(p.out.len, 0);
    close_place(&p);
}

static void every_reason_to_refuse_can_be_told(void **state)
{
    struct buf text;

    (void)state;
    buf_init(&text, 4096);
    for (int why = REFUSAL_NONE + 1; why < REFUSAL_COUNT; why++) {
        buf_clear(&text);
        exchange_compose_refusal(&text, refusal_status((enum refusal)why), STR_NONE,
                                 str_z(refusal_text((enum refusal)why)));
        assert_true(str_ends(buf_str(&text), STR("\"}}")));
    }
    buf_release(&text);
}

static void a_refusal_is_for_the_request_that_is_named(void **state)
{
    static const char body[] = "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32000,"
                               "\"message\":\"no\"}}";
    char longest[EXCHANGE_ID_MAX + 1], longer[EXCHANGE_ID_MAX + 2], want[512];
    struct place_of_it p;

    (void)state;
    memset(longest, '1', sizeof longest);
    memset(longer, '1', sizeof longer);
    longest[sizeof longest - 1] = longer[sizeof longer - 1] = '\0';
    const char *const ids[][2] = {
        { "7", "7" }, { "\"a\\\"b\"", "\"a\\\"b\"" }, { longest, longest }, { longer, "null" }
    };

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct exchange *x = open_place(&p, GET);

        x->id = str_z(ids[i][0]);
        exchange_refuse(x, 502, NULL, STR("no"));
        snprintf(want, sizeof want, body, ids[i][1]);
        assert_true(str_ends(buf_str(&p.out), str_z(want)));
        close_place(&p);
    }
}

static void write_too_much(void)
{
    struct answer a = { .status = 200, .body = EXCHANGE_SIZED, .length = 2 };
    struct place_of_it p;
    struct exchange *x = open_place(&p, GET);
    struct err e = ERR_NONE;

    if (exchange_head(x, &a, &e))
        exchange_write(x, STR("abc"));
}

static void use_what_is_over(void)
{
    struct place_of_it p;
    struct exchange *x = open_place(&p, GET);

    exchange_abort(x);
    exchange_abort(x);
}

static void quote_in_a_refusal(void)
{
    struct place_of_it p;

    exchange_refuse(open_place(&p, GET), 404, NULL, STR("no \"x\""));
}

static void mistakes_of_ours_are_found(void **state)
{
    (void)state;
    assert_dies(write_too_much, "bytes.len > x->left");
    assert_dies(use_what_is_over, "x->over");
    assert_dies(quote_in_a_refusal, "!is_plain(text)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_a_body_ends_depends_on_who_asked),
        cmocka_unit_test(what_breaks_off_is_told_apart),
        cmocka_unit_test(a_head_that_is_refused_leaves_everything_as_it_was),
        cmocka_unit_test(a_small_answer_goes_out_in_one_piece),
        cmocka_unit_test(a_large_one_is_the_same_to_who_reads_it),
        cmocka_unit_test(an_answer_before_its_request_is_whole_is_the_last),
        cmocka_unit_test(one_goes_on_only_if_somebody_waits_for_it),
        cmocka_unit_test(every_reason_to_refuse_can_be_told),
        cmocka_unit_test(a_refusal_is_for_the_request_that_is_named),
        cmocka_unit_test(mistakes_of_ours_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
