#include "trace/id-scope.h"

#include "terse.h"
#include "test.h"
#include "trace/limits.h"

/* Writes down where each record stands. */
struct scope_checker {
    struct sink sink;
    struct scope_tracker scope;
    struct buf text;
};

static bool check_record(struct sink *self, const struct record *r, struct err *e)
{
    static const char letters[] = {
        [SCOPE_EXCHANGE] = 'x', [SCOPE_SESSION] = 's', [SCOPE_CONN] = 'c', [SCOPE_SERVER] = '*'
    };
    struct scope_checker *s = (struct scope_checker *)self;
    struct scope_chain p;

    (void)e;
    scope_track(&s->scope, r);
    p = scope_of(&s->scope, r);
    assert_true(p.count >= 1 && p.count <= SCOPE_LEVELS);
    assert_int_equal(scope_in_exchange(&p), p.levels[0].kind == SCOPE_EXCHANGE);
    assert_int_equal(scope_widest(&p).kind, p.levels[p.count - 1].kind);
    for (size_t i = 0; i < p.count; i++)
        buf_printf(&s->text, "%c%llu", letters[p.levels[i].kind],
                   (unsigned long long)p.levels[i].number);
    buf_add_ch(&s->text, ' ');
    return true;
}

static void check(const char *traffic, const char *want)
{
    struct scope_checker s = { .sink = { check_record } };

    scope_tracker_init(&s.scope);
    buf_init(&s.text, 1 << 20);
    terse_feed(&s.sink, traffic);
    assert_str(buf_str(&s.text), str_z(want));
    scope_tracker_release(&s.scope);
    buf_release(&s.text);
}

static void the_scope_on_stdio_is_the_connection(void **state)
{
    (void)state;
    check("c2s {}\nconn=2 c2s {}\nconn=2 s2c {}", "c0 c2 c2 ");
}

static void the_scope_on_http_is_the_exchange_then_the_session(void **state)
{
    (void)state;
    check("x=1 c2s {}\nsession=3 x=1 c2s {}\nsession=3 c2s {}\n"
          "conn=5 session=3 x=2 c2s {}\nconn=5 x=2 c2s {}",
          "x1*0 x1s3 s3 x2s3 x2*0 ");
}

static void a_resumed_stream_has_the_scope_of_its_request(void **state)
{
    (void)state;
    check("x=1 stream=1 http 200\n"
          "x=2 stream=2 http 200 resumes 1\n"
          "x=2 stream=2 s2c {}\n"
          "x=2 s2c {}\n"
          "x=3 stream=3 http 200 resumes 2\n"
          "x=3 http end client\n"
          "stream=3 s2c {}\n"
          "x=4 stream=4 http 200\n"
          "x=4 s2c {}",
          "x1*0 x1*0 x1*0 x1*0 x1*0 x1*0 x1*0 x4*0 x4*0 ");
}

static void a_stream_may_keep_its_number(void **state)
{
    (void)state;
    check("x=1 stream=1 s2c {}\nx=2 stream=1 s2c {}\nx=2 s2c {}", "x1*0 x1*0 x1*0 ");
}

static void a_resumed_unknown_stream_has_its_own_scope(void **state)
{
    (void)state;
    check("x=2 stream=2 http 200 resumes 1\nx=2 s2c {}\n"
          "x=3 stream=3 http 200 resumes x\nstream=9 s2c {}",
          "x2*0 x2*0 x3*0 c0 ");
}

/* Zero is a number like any other. */
static void exchange_and_stream_may_have_number_zero(void **state)
{
    (void)state;
    check("x=0 stream=0 http 200\nx=1 stream=1 http 200 resumes 0\n"
          "x=1 s2c {}",
          "x0*0 x0*0 x0*0 ");
}

static void old_streams_are_dropped(void **state)
{
    struct scope_chain p;
    struct scope_tracker s;
    struct record r = { .kind = RECORD_HTTP_RESPONSE, .has = HAS_EXCHANGE | HAS_STREAM };

    (void)state;
    scope_tracker_init(&s);
    for (uint64_t i = 0; i <= LIMIT_STREAMS; i++) {
        r.exchange = r.stream = i;
        scope_track(&s, &r);
    }
    r.exchange = LIMIT_STREAMS + 1;
    r.stream = 1;
    scope_track(&s, &r);
    p = scope_of(&s, &r);
    assert_int_equal(p.levels[0].number, 1);
    r.exchange = LIMIT_STREAMS + 2;
    r.stream = 0;
    scope_track(&s, &r);
    p = scope_of(&s, &r);
    assert_int_equal(p.levels[0].number, LIMIT_STREAMS + 2);
    scope_tracker_release(&s);
}

static void keys_differ_by_kind_number_and_direction(void **state)
{
    static const struct scope_ref reaches[] = {
        { SCOPE_CONN, 0 },     { SCOPE_CONN, 1 },   { SCOPE_SESSION, 1 },
        { SCOPE_EXCHANGE, 1 }, { SCOPE_SERVER, 0 }, { SCOPE_CONN, 1ull << 40 },
    };
    enum { COUNT = sizeof reaches / sizeof *reaches };
    struct buf keys[COUNT][2];

    (void)state;
    for (size_t i = 0; i < COUNT * 2; i++) {
        struct buf *key = &keys[i / 2][i % 2];
        buf_init(key, 64);
        scope_add_key(key, reaches[i / 2], (enum record_dir)(i % 2));
        assert_int_equal(key->len, SCOPE_KEY_LEN);
        for (size_t k = 0; k < i; k++)
            assert_false(str_eq(buf_str(key), buf_str(&keys[k / 2][k % 2])));
    }
    for (size_t i = 0; i < COUNT * 2; i++)
        buf_release(&keys[i / 2][i % 2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scope_on_stdio_is_the_connection),
        cmocka_unit_test(the_scope_on_http_is_the_exchange_then_the_session),
        cmocka_unit_test(a_resumed_stream_has_the_scope_of_its_request),
        cmocka_unit_test(a_stream_may_keep_its_number),
        cmocka_unit_test(a_resumed_unknown_stream_has_its_own_scope),
        cmocka_unit_test(exchange_and_stream_may_have_number_zero),
        cmocka_unit_test(old_streams_are_dropped),
        cmocka_unit_test(keys_differ_by_kind_number_and_direction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
