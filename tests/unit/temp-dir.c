#include "temp-dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "terse.h"
#include "test.h"

int temp_dir_enter(void **state)
{
    char *dir = strdup("/tmp/mcpreel-test-XXXXXX");

    *state = dir;
    return dir && mkdtemp(dir) && chdir(dir) == 0 ? 0 : -1;
}

static bool is_hidden_temp(const char *name)
{
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* False: there was something hidden in it, or something that cannot be removed. */
static bool remove_all(const char *path)
{
    DIR *dir = opendir(path);
    bool fine = true;

    if (!dir)
        return false;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        char at[PATH_MAX];

        if (!is_hidden_temp(entry->d_name))
            continue;
        fine = fine && entry->d_name[0] != '.';
        snprintf(at, sizeof at, "%s/%s", path, entry->d_name);
        if (unlink(at) != 0)
            fine = remove_all(at) && fine;
    }
    closedir(dir);
    return rmdir(path) == 0 && fine;
}

int temp_dir_leave(void **state)
{
    char *dir = *state;
    bool fine = chdir("/") == 0 && remove_all(dir);

    free(dir);
    return fine ? 0 : -1;
}

void temp_dir_put(const char *path, struct str content)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, content.at ? content.at : "", content.len), content.len);
    close(fd);
}

void temp_dir_put_terse(const char *path, const char *text)
{
    struct arena a = { 0 };

    temp_dir_put(path, terse_json(&a, text));
    arena_release(&a);
}

/* Does not use the code under test. */
void temp_dir_get(struct buf *to, const char *path)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char some[4096];
    ssize_t n;

    if (fd < 0)
        fail_msg("'%s' cannot be read", path);
    while ((n = read(fd, some, sizeof some)) > 0)
        buf_add(to, str_n(some, (size_t)n));
    close(fd);
    assert_int_equal(n, 0);
    assert_false(to->full);
}

void assert_content(const char *path, struct str want)
{
    struct buf got;

    buf_init(&got, (size_t)1 << 26);
    temp_dir_get(&got, path);
    assert_str(buf_str(&got), want);
    buf_release(&got);
}

size_t temp_dir_count(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;

    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir));)
        n += is_hidden_temp(entry->d_name);
    closedir(dir);
    return n;
}

int open_fd_count(void)
{
    int n = 0;

    for (int fd = 0; fd < 200; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}
