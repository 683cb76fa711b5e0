/* bench/bench-roundtrip.c - measures the round trip of a message to a stdio server.
 *
 *     bench-roundtrip SIZE[/KINDS] COUNT COMMAND ARGS…
 *
 * Sends COUNT requests of SIZE bytes, one after the other, and prints the median
 * round trip in nanoseconds, and the time from start to the first answer. With KINDS the text
 * of each begins with a number of six digits, from 0 to KINDS - 1 and from 0 again. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                           "\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"";

/* A request of exactly `size` bytes, newline included. */
static char *make_request(size_t size)
{
    static const char tail[] = "\"}}}\n";
    char *text = malloc(size);

    if (!text || size < sizeof head + sizeof tail)
        exit(2);
    memset(text, 'x', size);
    memcpy(text, head, sizeof head - 1);
    memcpy(text + size - sizeof tail + 1, tail, sizeof tail - 1);
    return text;
}

static void number_request(char *request, size_t number)
{
    char *at = request + sizeof head - 1;

    for (int i = 5; i >= 0; i--, number /= 10)
        at[i] = (char)('0' + number % 10);
}

static void read_line(int fd)
{
    static char chunk[1 << 20];
    ssize_t n;

    do {
        n = read(fd, chunk, sizeof chunk);
        if (n <= 0)
            exit(1);
    } while (chunk[n - 1] != '\n');
}

int main(int argc, char **argv)
{
    char *end = NULL;
    size_t size = argc > 3 ? strtoul(argv[1], &end, 10) : 0;
    size_t kinds = end && *end == '/' ? strtoul(end + 1, NULL, 10) : 0;
    size_t count = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
    char *request = make_request(size);
    int64_t *took = calloc(count, sizeof *took), started = now_ns(), first = 0;
    int in[2], out[2];

    if (!took || pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        return 2;
    if (fork() == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execvp(argv[3], argv + 3);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    for (size_t i = 0; i < count; i++) {
        int64_t t0;
        if (kinds)
            number_request(request, i % kinds);
        t0 = now_ns();
        if (write(in[1], request, size) != (ssize_t)size)
            return 1;
        read_line(out[0]);
        took[i] = now_ns() - t0;
        if (i == 0)
            first = now_ns() - started;
    }
    close(in[1]);
    wait(NULL);
    qsort(took, count, sizeof *took, by_size);
    printf("%lld %lld\n", (long long)took[count / 2], (long long)first);
    return 0;
}
