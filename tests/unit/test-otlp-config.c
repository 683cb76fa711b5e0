#include "runtime/otlp-config.h"

#include "test.h"

static bool read(struct otlp_config *c, const char *url, char *const *env, struct err *e)
{
    const struct app app = { .env = env };

    return otlp_config_read(c, &app, url, e);
}

static void assert_url(const char *url, char *const *env, const char *want)
{
    struct err e = ERR_NONE;
    struct otlp_config c;

    assert_true(read(&c, url, env, &e));
    assert_string_equal(c.url, want);
    otlp_config_release(&c);
}

static void a_path_is_appended_to_a_base(void **state)
{
    char base[] = "OTEL_EXPORTER_OTLP_ENDPOINT=http://h/x/",
         traces[] = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://t";
    char *none[] = { NULL }, *one[] = { base, NULL }, *both[] = { base, traces, NULL };

    (void)state;
    assert_url("http://h:1", none, "http://h:1/v1/traces");
    assert_url("http://h:1/", none, "http://h:1/v1/traces");
    assert_url("http://h:1/in", none, "http://h:1/in");
    assert_url("http://h:1/?a=b", none, "http://h:1/v1/traces?a=b");
    assert_url(NULL, one, "http://h/x/v1/traces");
    assert_url(NULL, both, "http://t/");
    assert_url("http://o", both, "http://o/v1/traces");
}

static void variables_have_a_form_for_traces(void **state)
{
    char any[] = "OTEL_EXPORTER_OTLP_HEADERS=a=1,b=%41%zz",
         timeout[] = "OTEL_EXPORTER_OTLP_TIMEOUT=5",
         compression[] = "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION=none";
    char *env[] = { any, timeout, compression, NULL }, *none[] = { NULL };
    struct err e = ERR_NONE;
    struct otlp_config c;

    (void)state;
    assert_true(read(&c, "http://me:pw@h", env, &e));
    assert_str(headers_value(&c.headers, STR("a")), STR("1"));
    assert_str(headers_value(&c.headers, STR("b")), STR("A%zz"));
    assert_int_equal(c.timeout_ms, 5);
    assert_false(c.gzip);
    assert_string_equal(c.display_url, "http://h/v1/traces");
    otlp_config_release(&c);
    assert_true(read(&c, "http://h", none, &e));
    assert_int_equal(c.timeout_ms, 10000);
    assert_true(c.gzip);
    otlp_config_release(&c);
}

static void wrong_values_are_rejected(void **state)
{
    char *wrong[] = { "OTEL_EXPORTER_OTLP_TIMEOUT=0", "OTEL_EXPORTER_OTLP_COMPRESSION=br",
                      "OTEL_EXPORTER_OTLP_HEADERS=a b=pw", "OTEL_EXPORTER_OTLP_ENDPOINT=h" };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *env[] = { wrong[i], NULL };
        struct err e = ERR_NONE;
        struct otlp_config c;

        assert_false(read(&c, i == 3 ? NULL : "http://h", env, &e));
        assert_int_equal(e.kind, ERR_USAGE);
        assert_null(strstr(e.msg, "pw"));
        otlp_config_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_is_appended_to_a_base),
        cmocka_unit_test(variables_have_a_form_for_traces),
        cmocka_unit_test(wrong_values_are_rejected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
