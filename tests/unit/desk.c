#include "desk.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/dispatch.h"
#include "scratch.h"
#include "test.h"

enum { DESK_MAX = 64 << 20, DESK_WORDS = 16 };

static ssize_t capture(const struct sys *s, int fd, const void *from, size_t n)
{
    struct desk *d = (struct desk *)(uintptr_t)s;

    if (fd != STDOUT_FILENO)
        return d->write(s, fd, from, n);
    errno = d->out_fails;
    if (d->out_fails)
        return -1;
    buf_add(&d->out, str_n(from, n));
    return (ssize_t)n;
}

int desk_open(void **state)
{
    struct desk *d = mem_new(struct desk);
    void *dir;
    int r;

    *state = d;
    fault_init(&d->faults);
    d->write = d->faults.sys.write;
    d->faults.sys.write = capture;
    buf_init(&d->out, DESK_MAX);
    buf_init(&d->err, DESK_MAX);
    buf_init(&d->text, DESK_MAX);
    r = scratch_enter(&dir);
    d->dir = dir;
    return r;
}

int desk_close(void **state)
{
    struct desk *d = *state;
    void *dir = d->dir;
    int r = scratch_leave(&dir);

    buf_release(&d->out);
    buf_release(&d->err);
    buf_release(&d->text);
    free(d);
    return r;
}

void desk_put(struct desk *d, const char *name, const char *text)
{
    (void)d;
    scratch_put_terse(name, text);
}

const char *desk_get(struct desk *d, const char *name)
{
    buf_clear(&d->text);
    scratch_get(&d->text, name);
    for (char *c = d->text.at; c < d->text.at + d->text.len; c++)
        *c = *c == '"' ? '\'' : *c == '\\' ? '`' : *c;
    return buf_z(&d->text);
}

size_t desk_count(struct desk *d)
{
    return scratch_count(d->dir);
}

static void say(void *to, struct str line)
{
    buf_add(to, line);
}

int desk_run(struct desk *d, const char *line)
{
    char *none[] = { NULL }, *argv[DESK_WORDS + 1], words[1024], *rest = words;
    const struct dispatch world = { .sys = &d->faults.sys,
                                    .commands = commands,
                                    .env = d->env ? d->env : none,
                                    .log = { .put = say, .to = &d->err },
                                    .out_is_tty = d->tty };
    int argc = 0;

    assert_true(strlen(line) < sizeof words);
    memcpy(words, line, strlen(line) + 1);
    for (char *word; (word = strsep(&rest, " "));) {
        assert_true(argc < DESK_WORDS);
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    buf_clear(&d->out);
    buf_clear(&d->err);
    return dispatch_run(&world, argc, argv);
}
