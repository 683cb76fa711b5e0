#include "loop/stdin-end.h"

#include <fcntl.h>
#include <unistd.h>

#include "test.h"

/* Counts the ends, and stops the loop at each. */
struct end_count {
    struct loop *loop;
    int ends;
};

static void count_end(void *to)
{
    struct end_count *c = to;

    c->ends++;
    loop_stop(c->loop);
}

/* Standard input as `fd` for a test; returns the old one. */
static int replace_stdin(int fd)
{
    int old = dup(STDIN_FILENO);

    assert_true(dup2(fd, STDIN_FILENO) == STDIN_FILENO);
    close(fd);
    return old;
}

static void restore_stdin(int old)
{
    assert_true(dup2(old, STDIN_FILENO) == STDIN_FILENO);
    close(old);
}

static void the_end_is_reported_once_and_bytes_are_dropped(void **state)
{
    struct end_count c = { .loop = loop_new() };
    struct err e = ERR_NONE;
    struct stdin_end *s;
    int ends[2], old;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    old = replace_stdin(ends[0]);
    assert_true(stdin_end_watch(&s, c.loop, count_end, &c, &e));
    assert_int_equal(write(ends[1], "x\n", 2), 2);
    close(ends[1]);
    loop_run(c.loop);
    assert_int_equal(c.ends, 1);
    stdin_end_close(s);
    stdin_end_close(NULL);
    loop_run(c.loop); /* nothing is left */
    assert_int_equal(c.ends, 1);
    loop_free(c.loop);
    restore_stdin(old);
}

static void one_that_cannot_be_read_is_an_error(void **state)
{
    struct end_count c = { .loop = loop_new() };
    struct err e = ERR_NONE;
    struct stdin_end *s = NULL;
    int old = replace_stdin(open("/dev/null", O_WRONLY));

    (void)state;
    assert_false(stdin_end_watch(&s, c.loop, count_end, &c, &e));
    assert_non_null(strstr(e.msg, "cannot use standard input"));
    loop_free(c.loop);
    restore_stdin(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_is_reported_once_and_bytes_are_dropped),
        cmocka_unit_test(one_that_cannot_be_read_is_an_error),
    };
    alarm(60); /* a loop that does not end must not hang the tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
