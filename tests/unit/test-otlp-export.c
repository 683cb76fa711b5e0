#include "runtime/otlp-export.h"

#include "terse.h"
#include "test.h"

/* Responses are tested with a real collector (tests/integration/test_otlp_export.py). */
static void an_unreachable_collector_is_an_error_of_the_server(void **state)
{
    const struct log log = { 0 };
    const struct app app = { .log = &log };
    const struct format_options options = { .mplp = true };
    const struct otlp_config config = { .url = "http://127.0.0.1:1/v1/traces",
                                        .display_url = "http://127.0.0.1:1/v1/traces",
                                        .gzip = true,
                                        .timeout_ms = 5000 };
    struct otlp_export *x;
    struct err e = ERR_NONE;

    (void)state;
    assert_true(otlp_export_open(&x, &app, &config, &options, &e));
    terse_feed(otlp_export_sink(x), "c2s {'id':1,'method':'ping'}\n");
    assert_false(otlp_export_finish(x, &e));
    assert_int_equal(e.kind, ERR_PEER);
    assert_true(str_starts(str_z(e.msg), STR("cannot send spans to 'http://127.0.0.1:1/v1")));
    assert_int_equal(otlp_export_batches(x), 0);
    assert_int_equal(otlp_export_rejected(x), 0);
    otlp_export_close(x);
}

static void an_invalid_address_is_rejected(void **state)
{
    const struct app app = { 0 };
    const struct format_options options = { 0 };
    const struct otlp_config config = { .url = "ftp://h", .display_url = "ftp://h" };
    struct otlp_export *x;
    struct err e = ERR_NONE;

    (void)state;
    assert_false(otlp_export_open(&x, &app, &config, &options, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    otlp_export_close(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unreachable_collector_is_an_error_of_the_server),
        cmocka_unit_test(an_invalid_address_is_rejected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
