#include "runtime/ca-file.h"

#include <errno.h>

#include "cli.h"
#include "test.h"

#define PEM "-----BEGIN CERTIFICATE-----\n"

static bool choose(struct cli *d, const char **out, const char *cacert, char *const *env,
                   bool search, struct err *e)
{
    struct app app = { .sys = &d->faults.sys, .env = env };

    *e = (struct err)ERR_NONE;
    return ca_file_choose(out, &app, cacert, search, e);
}

static void the_option_is_preferred_to_the_variable(void **state)
{
    char *const env[] = { "SSL_CERT_FILE=b.pem", NULL };
    struct cli *d = *state;
    const char *file;
    struct err e;

    cli_put_file(d, "a.pem", PEM);
    cli_put_file(d, "b.pem", PEM);
    assert_true(choose(d, &file, "a.pem", env, true, &e));
    assert_string_equal(file, "a.pem");
    assert_true(choose(d, &file, NULL, env, true, &e));
    assert_string_equal(file, "b.pem");
}

static void without_both_libcurl_chooses(void **state)
{
    char *const env[] = { "SSL_CERT_FILE=", NULL };
    const char *file = "";
    struct err e;

    assert_true(choose(*state, &file, NULL, env, false, &e));
    assert_null(file);
}

static void assert_unusable(struct cli *d, const char *cacert, char *const *env,
                            const char *msg, const char *hint)
{
    const char *file;
    struct err e;

    assert_false(choose(d, &file, cacert, env, true, &e));
    assert_int_equal(e.kind, ERR_USAGE);
    assert_string_equal(e.msg, msg);
    assert_string_equal(e.hint, hint);
}

static void an_unusable_file_is_reported_and_no_other_is_tried(void **state)
{
    char *const nowhere[] = { "SSL_CERT_FILE=nowhere.pem", NULL };
    char *const empty[] = { "SSL_CERT_FILE=empty.pem", NULL };
    struct cli *d = *state;

    cli_put_file(d, "empty.pem", "");
    assert_unusable(d, "nowhere.pem", NULL,
                    "cannot read 'nowhere.pem': No such file or directory", "");
    assert_unusable(d, "empty.pem", NULL, "'--cacert': there is no certificate in 'empty.pem'",
                    "give a PEM file of certificates (-----BEGIN CERTIFICATE-----)");
    assert_unusable(d, NULL, nowhere, "cannot read 'nowhere.pem': No such file or directory",
                    "the variable SSL_CERT_FILE names the file of trusted certificates");
    assert_unusable(d, NULL, empty, "'SSL_CERT_FILE': there is no certificate in 'empty.pem'",
                    "the variable SSL_CERT_FILE names the file of trusted certificates");
}

static const char *existing; /* the only usual file that exists */

static int open_existing(const struct sys *s, const char *path, int flags, mode_t mode)
{
    (void)s;
    for (size_t i = 0; ca_file_usual[i]; i++)
        if (strcmp(path, ca_file_usual[i]) == 0 && strcmp(path, existing) != 0) {
            errno = ENOENT;
            return -1;
        }
    return sys_real.open(&sys_real, "usual.pem", flags, mode);
}

static void each_usual_file_is_found(void **state)
{
    struct cli *d = *state;
    const char *file;
    struct err e;

    cli_put_file(d, "usual.pem", PEM);
    d->faults.sys.open = open_existing;
    for (size_t i = 0; ca_file_usual[i]; i++) {
        existing = ca_file_usual[i];
        assert_true(choose(d, &file, NULL, NULL, true, &e));
        assert_string_equal(file, ca_file_usual[i]);
    }
}

static void without_any_the_error_lists_them(void **state)
{
    struct cli *d = *state;
    const char *file = "";
    struct err e;

    fault_fail(&d->faults, FAULT_OPEN, 1, FAULT_FOREVER, ENOENT);
    assert_false(choose(d, &file, NULL, NULL, true, &e));
    assert_null(file);
    assert_int_equal(e.kind, ERR_PEER);
    assert_non_null(strstr(e.msg, "SSL_CERT_FILE is not set"));
    for (size_t i = 0; ca_file_usual[i]; i++)
        assert_non_null(strstr(e.msg, ca_file_usual[i]));
    assert_non_null(strstr(e.hint, "--cacert FILE"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CLI(the_option_is_preferred_to_the_variable),
        WITH_CLI(without_both_libcurl_chooses),
        WITH_CLI(an_unusable_file_is_reported_and_no_other_is_tried),
        WITH_CLI(each_usual_file_is_found),
        WITH_CLI(without_any_the_error_lists_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
