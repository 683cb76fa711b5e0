/* bench/bench-echo.c - the fastest stdio server there is: a line in, an answer out.
 *
 *     bench-echo SIZE
 *
 * Every answer is the same SIZE bytes, with the id that bench-roundtrip sends. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":"
                               "[{\"type\":\"text\",\"text\":\"";
    static const char tail[] = "\"}]}}\n";
    size_t size = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    char *answer = malloc(size), chunk[65536];
    ssize_t n;

    if (!answer || size < sizeof head + sizeof tail)
        return 2;
    memset(answer, 'y', size);
    memcpy(answer, head, sizeof head - 1);
    memcpy(answer + size - sizeof tail + 1, tail, sizeof tail - 1);
    while ((n = read(0, chunk, sizeof chunk)) > 0)
        if (chunk[n - 1] == '\n' && write(1, answer, size) != (ssize_t)size)
            return 1;
    return 0;
}
