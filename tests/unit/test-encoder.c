#include "format/encoder.h"

#include "terse.h"
#include "test.h"

/* Formats that show what they get: records as "[kind]", operations as "number:role" and, when
 * they end, "number=outcome". */
static void put_kind(void *state, struct buf *to, const struct record *r)
{
    (void)state;
    buf_printf(to, "[%d]", (int)r->kind);
}

static void put_event(void *state, struct buf *to, const struct format_operation *o)
{
    const struct operation *op = o->event->op;

    (void)state;
    if (o->event->message)
        buf_printf(to, " %d:%s", (int)op->number, operation_role_name(o->event->message->role));
    else
        buf_printf(to, " %d=%s at %lld", (int)op->number, operation_outcome_name(op->outcome),
                   o->start_known ? (long long)o->start_wall_us : -1);
}

static void put_end(void *state, struct buf *to)
{
    (void)state;
    buf_add(to, STR(" end"));
}

static void put_message(struct encoder *c, struct buf *to, enum record_dir dir,
                        const char *json)
{
    struct record r = { .kind = RECORD_MESSAGE };
    struct terse_scanned s;

    r.message.dir = dir;
    r.message.msg = terse_scan(&s, json);
    encoder_put(c, to, &r);
    terse_scanned_release(&s);
}

static void put_session(struct encoder *c, struct buf *to)
{
    struct record head = { .kind = RECORD_HEADER, .has = HAS_WALL, .wall_us = 5000000 };

    encoder_put(c, to, &head);
    put_message(c, to, TO_SERVER, "{'jsonrpc':'2.0','id':1,'method':'initialize','params':{}}");
    put_message(c, to, TO_CLIENT,
                "{'jsonrpc':'2.0','id':1,'result':{'serverInfo':{'name':'s'}}}");
    put_message(c, to, TO_SERVER, "{'jsonrpc':'2.0','id':2,'method':'ping'}");
}

static void assert_encoded(const struct format *f, const char *want)
{
    struct encoder c;
    struct buf to;

    buf_init(&to, 1 << 16);
    encoder_begin(&c, f, NULL);
    put_session(&c, &to);
    encoder_end(&c, &to);
    encoder_end(&c, &to); /* does nothing */
    assert_string_equal(buf_z(&to), want);
    buf_release(&to);
}

static void a_format_that_takes_records_gets_each_record(void **state)
{
    static const struct format plain = { .name = "plain", .put = put_kind, .end = put_end };

    (void)state;
    assert_encoded(&plain, "[0][1][1][1] end");
}

static void a_format_that_takes_operations_gets_each_record_after_its_events(void **state)
{
    static const struct format both = {
        .name = "both", .put = put_kind, .put_operation = put_event, .end = put_end
    };

    (void)state;
    assert_encoded(&both, "[0] 1:request[1] 1:response 1=ok at 5000000[1] 2:request[1]"
                          " 2=pending at 5000000 end");
}

static bool is_empty(void *state)
{
    (void)state;
    return true;
}

static void only_a_format_of_one_document_can_be_empty(void **state)
{
    static const struct format document = { .name = "document", .is_empty = is_empty };
    static const struct format lines = { .name = "lines", .put = put_kind };
    struct encoder c;
    struct buf to;

    (void)state;
    buf_init(&to, 100);
    encoder_begin(&c, &document, NULL);
    assert_true(encoder_is_empty(&c));
    encoder_end(&c, &to);
    encoder_begin(&c, &lines, NULL);
    assert_false(encoder_is_empty(&c));
    encoder_end(&c, &to);
    assert_int_equal(to.len, 0);
    buf_release(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_format_that_takes_records_gets_each_record),
        cmocka_unit_test(a_format_that_takes_operations_gets_each_record_after_its_events),
        cmocka_unit_test(only_a_format_of_one_document_can_be_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
