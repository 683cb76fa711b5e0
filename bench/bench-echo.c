/* bench/bench-echo.c - the fastest stdio server there is: a line in, an answer out.
 *
 *     bench-echo SIZE
 *
 * Every answer is SIZE bytes long, newline included, and carries the id of its request,
 * which must be a number. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 1 << 20 };

static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":";
static const char middle[] = ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"";
static const char tail[] = "\"}]}}\n";

/* The digits of a request's id; NULL if there are none. */
static const char *find_id(const char *line, size_t len, size_t *digits)
{
    const char *at = memmem(line, len, "\"id\":", 5), *end = line + len;

    if (!at)
        return NULL;
    for (at += 5; at < end && *at == ' ';)
        at++;
    for (*digits = 0; at + *digits < end && at[*digits] >= '0' && at[*digits] <= '9';)
        ++*digits;
    return *digits ? at : NULL;
}

/* `answer` ends as it should already; what stands before the text depends on the id. */
static int reply(char *answer, size_t size, const char *line, size_t len)
{
    size_t digits, used;
    const char *id = find_id(line, len, &digits);

    if (!id)
        return 0; /* a notification */
    used = sizeof head - 1 + digits + sizeof middle - 1;
    if (used + sizeof tail > size)
        return 1;
    memcpy(answer + sizeof head - 1, id, digits);
    memcpy(answer + sizeof head - 1 + digits, middle, sizeof middle - 1);
    memset(answer + used, 'y', size - used - (sizeof tail - 1));
    return write(1, answer, size) != (ssize_t)size;
}

int main(int argc, char **argv)
{
    size_t size = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, held = 0;
    char *answer = malloc(size), *chunk = malloc(ROOM), *end;
    ssize_t n;

    if (!answer || !chunk || size < sizeof head + sizeof middle + sizeof tail)
        return 2;
    memcpy(answer, head, sizeof head - 1);
    memcpy(answer + size - (sizeof tail - 1), tail, sizeof tail - 1);
    while ((n = read(0, chunk + held, ROOM - held)) > 0) {
        char *line = chunk;

        held += (size_t)n;
        while ((end = memchr(line, '\n', (size_t)(chunk + held - line)))) {
            if (reply(answer, size, line, (size_t)(end - line)))
                return 1;
            line = end + 1;
        }
        held = (size_t)(chunk + held - line);
        memmove(chunk, line, held);
    }
    return 0;
}
