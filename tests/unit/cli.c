#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/dispatch.h"
#include "temp-dir.h"
#include "test.h"

enum { CLI_MAX = 64 << 20, CLI_WORDS = 16 };

static ssize_t capture_output(const struct sys *s, int fd, const void *from, size_t n)
{
    struct cli *d = (struct cli *)(uintptr_t)s;

    if (fd != STDOUT_FILENO)
        return d->write(s, fd, from, n);
    errno = d->out_fails;
    if (d->out_fails)
        return -1;
    buf_add(&d->out, str_n(from, n));
    return (ssize_t)n;
}

int cli_open(void **state)
{
    struct cli *d = mem_new(struct cli);
    void *dir;
    int r;

    *state = d;
    fault_init(&d->faults);
    d->write = d->faults.sys.write;
    d->faults.sys.write = capture_output;
    buf_init(&d->out, CLI_MAX);
    buf_init(&d->err, CLI_MAX);
    buf_init(&d->text, CLI_MAX);
    r = temp_dir_enter(&dir);
    d->dir = dir;
    return r;
}

int cli_close(void **state)
{
    struct cli *d = *state;
    void *dir = d->dir;
    int r = temp_dir_leave(&dir);

    buf_release(&d->out);
    buf_release(&d->err);
    buf_release(&d->text);
    free(d);
    return r;
}

void cli_put_file(struct cli *d, const char *name, const char *text)
{
    (void)d;
    temp_dir_put_terse(name, text);
}

const char *cli_get_file(struct cli *d, const char *name)
{
    buf_clear(&d->text);
    temp_dir_get(&d->text, name);
    for (char *c = d->text.at; c < d->text.at + d->text.len; c++)
        *c = *c == '"' ? '\'' : *c == '\\' ? '`' : *c;
    return buf_z(&d->text);
}

size_t cli_count_files(struct cli *d)
{
    return temp_dir_count(d->dir);
}

static void capture_log(void *to, struct str line)
{
    buf_add(to, line);
}

int cli_run(struct cli *d, const char *line)
{
    char *none[] = { NULL }, *argv[CLI_WORDS + 1], words[1024], *rest = words;
    const struct dispatch dispatch_config = { .sys = &d->faults.sys,
                                              .commands = command_table,
                                              .env = d->env ? d->env : none,
                                              .log = { .write = capture_log, .arg = &d->err },
                                              .out_is_tty = d->tty };
    int argc = 0;

    assert_true(strlen(line) < sizeof words);
    memcpy(words, line, strlen(line) + 1);
    for (char *word; (word = strsep(&rest, " "));) {
        assert_true(argc < CLI_WORDS);
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    buf_clear(&d->out);
    buf_clear(&d->err);
    return dispatch_run(&dispatch_config, argc, argv);
}
