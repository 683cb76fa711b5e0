#include "desk.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/dispatch.h"
#include "terse.h"
#include "test.h"

enum { DESK_MAX = 64 << 20, DESK_WORDS = 16 };

static ssize_t capture(const struct sys *s, int fd, const void *from, size_t n)
{
    struct desk *d = (struct desk *)(uintptr_t)s;

    if (fd != STDOUT_FILENO)
        return d->write(s, fd, from, n);
    buf_add(&d->out, str_n(from, n));
    return (ssize_t)n;
}

int desk_open(void **state)
{
    struct desk *d = mem_new(struct desk);

    *state = d;
    fault_init(&d->faults);
    d->write = d->faults.sys.write;
    d->faults.sys.write = capture;
    buf_init(&d->out, DESK_MAX);
    buf_init(&d->err, DESK_MAX);
    buf_init(&d->text, DESK_MAX);
    memcpy(d->dir, "/tmp/mcpreel-desk-XXXXXX", sizeof "/tmp/mcpreel-desk-XXXXXX");
    return mkdtemp(d->dir) && chdir(d->dir) == 0 ? 0 : -1;
}

static bool is_ours(const char *name)
{
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

int desk_close(void **state)
{
    struct desk *d = *state;
    DIR *dir = opendir(".");
    int r;

    for (const struct dirent *entry; (entry = readdir(dir));)
        if (is_ours(entry->d_name))
            unlink(entry->d_name);
    closedir(dir);
    r = chdir("/") == 0 && rmdir(d->dir) == 0 ? 0 : -1;
    buf_release(&d->out);
    buf_release(&d->err);
    buf_release(&d->text);
    free(d);
    return r;
}

void desk_put(struct desk *d, const char *name, const char *text)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    struct arena a = { 0 };
    struct str json = terse_json(&a, text);

    (void)d;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, json.at, json.len), json.len);
    close(fd);
    arena_release(&a);
}

const char *desk_get(struct desk *d, const char *name)
{
    struct err e = ERR_NONE;

    buf_clear(&d->text);
    if (!file_slurp(&d->text, &sys_real, name, &e))
        fail_msg("%s", e.msg);
    for (char *c = d->text.at; c < d->text.at + d->text.len; c++)
        *c = *c == '"' ? '\'' : *c == '\\' ? '`' : *c;
    return buf_z(&d->text);
}

size_t desk_count(struct desk *d)
{
    DIR *dir = opendir(d->dir);
    size_t n = 0;

    for (const struct dirent *entry; (entry = readdir(dir));)
        n += is_ours(entry->d_name);
    closedir(dir);
    return n;
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
                                    .log = { .put = say, .to = &d->err } };
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
