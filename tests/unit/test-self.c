#include "loop/self.h"

#include <stdlib.h>
#include <unistd.h>

#include "test.h"

static const char *started_as;

static void the_path_is_absolute_and_leads_to_this_program(void **state)
{
    struct buf path;
    struct err e = ERR_NONE;
    char *real = realpath(started_as, NULL);

    (void)state;
    assert_non_null(real);
    buf_init(&path, 64 << 10);
    assert_true(self_path(&path, &e));
    assert_int_equal(path.at[0], '/');
    assert_string_equal(buf_z(&path), real);
    assert_int_equal(access(buf_z(&path), X_OK), 0);
    buf_release(&path);
    free(real);
}

static void it_is_added_behind_what_is_there(void **state)
{
    struct buf path;
    struct err e = ERR_NONE;

    (void)state;
    buf_init(&path, 64 << 10);
    buf_add(&path, STR("at "));
    assert_true(self_path(&path, &e));
    assert_true(str_starts(buf_str(&path), STR("at /")));
    buf_release(&path);
}

static void a_buffer_too_small_is_an_error(void **state)
{
    struct buf path;
    struct err e = ERR_NONE;

    (void)state;
    buf_init(&path, 2);
    assert_false(self_path(&path, &e));
    assert_int_equal(e.kind, ERR_LIMIT);
    buf_release(&path);
}

static void the_number_is_that_of_this_process(void **state)
{
    (void)state;
    assert_int_equal(self_number(), getpid());
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_path_is_absolute_and_leads_to_this_program),
        cmocka_unit_test(it_is_added_behind_what_is_there),
        cmocka_unit_test(a_buffer_too_small_is_an_error),
        cmocka_unit_test(the_number_is_that_of_this_process),
    };
    started_as = argc ? argv[0] : "";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
