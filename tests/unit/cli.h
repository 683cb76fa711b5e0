/* tests/unit/cli.h - runs the whole program in a temporary directory, without a process.
 *
 * Files are real and can be made to fail; standard output and standard error are
 * buffers. As a test's setup and teardown, `*state` is the desk. */
#ifndef CLI_H
#define CLI_H

#include "base/buf.h"
#include "fault-sys.h"

struct cli {
    struct fault_sys faults; /* first: a pointer to it is a pointer to the struct */
    struct buf out, err;     /* of the latest run */
    struct buf text;         /* of the latest cli_get_file() */
    char *dir;
    char *const *env; /* NULL-terminated NAME=value; NULL: nothing is set */
    bool tty;         /* standard output is a terminal */
    int out_fails;    /* errno of writing there; 0: it does not fail */
    ssize_t (*write)(const struct sys *s, int fd, const void *from, size_t n);
};

int cli_open(void **state);  /* makes the directory and goes there */
int cli_close(void **state); /* removes it with everything in it */

#define WITH_CLI(test) cmocka_unit_test_setup_teardown(test, cli_open, cli_close)

/* A file with ' for " and ` for \. */
void cli_put_file(struct cli *d, const char *name, const char *text);

/* Returns the content of a file, with ' for " and ` for \; valid until the next call. */
const char *cli_get_file(struct cli *d, const char *name);

size_t cli_count_files(struct cli *d); /* files there are, hidden ones included */

/* Runs the program; the line is cut at blanks. Returns its exit code. */
int cli_run(struct cli *d, const char *line);

/* A run must end so, and write exactly this. */
#define assert_run(d, line, code, want_out, want_err)                                          \
    do {                                                                                       \
        int code_ = cli_run((d), (line));                                                      \
        assert_str(buf_str(&(d)->err), str_z(want_err));                                       \
        assert_str(buf_str(&(d)->out), str_z(want_out));                                       \
        assert_int_equal(code_, (code));                                                       \
    } while (0)

#endif
