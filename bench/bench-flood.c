/* bench/bench-flood.c - how many messages a second pass to a stdio server and back.
 *
 *     bench-flood SIZE COUNT WINDOW COMMAND ARGS…
 *
 * Sends COUNT requests of SIZE bytes, at most WINDOW of them unanswered, and prints
 * messages per second of both directions together, and the command's resident memory in
 * KB when a sixteenth had passed and when all had. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ID_DIGITS = 9, FIRST_ID = 100000000 };

static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":";
static const char middle[] = ",\"method\":\"tools/call\","
                             "\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"";
static const char tail[] = "\"}}}\n";

struct flood {
    size_t size, count, window;
    size_t sent, answered;
    char *request;
    size_t done; /* bytes of `request` that are written */
    int in, out;
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void number_request(struct flood *f)
{
    char id[ID_DIGITS + 1];

    snprintf(id, sizeof id, "%zu", FIRST_ID + f->sent);
    memcpy(f->request + sizeof head - 1, id, ID_DIGITS);
}

static void make_request(struct flood *f)
{
    size_t used = sizeof head - 1 + ID_DIGITS;

    f->request = malloc(f->size);
    if (!f->request || f->size < used + sizeof middle + sizeof tail)
        exit(2);
    memset(f->request, 'x', f->size);
    memcpy(f->request, head, sizeof head - 1);
    memcpy(f->request + used, middle, sizeof middle - 1);
    memcpy(f->request + f->size - (sizeof tail - 1), tail, sizeof tail - 1);
    number_request(f);
}

static int may_send(const struct flood *f)
{
    return f->sent < f->count && f->sent - f->answered < f->window;
}

static void send_some(struct flood *f)
{
    while (may_send(f)) {
        ssize_t n = write(f->in, f->request + f->done, f->size - f->done);

        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0)
            exit(1);
        f->done += (size_t)n;
        if (f->done < f->size)
            return;
        f->done = 0;
        f->sent++;
        number_request(f);
    }
}

static void read_some(struct flood *f)
{
    static char chunk[1 << 20];
    ssize_t n = read(f->out, chunk, sizeof chunk);

    if (n <= 0)
        exit(1);
    for (const char *at = chunk, *end = chunk + n; (at = memchr(at, '\n', (size_t)(end - at)));
         at++)
        f->answered++;
}

static long resident_kb(pid_t pid)
{
    char path[64], line[256], *resident = NULL;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    file = fopen(path, "r");
    if (!file)
        return 0;
    if (fgets(line, sizeof line, file))
        resident = strchr(line, ' ');
    fclose(file);
    return resident ? strtol(resident, NULL, 10) * (sysconf(_SC_PAGESIZE) / 1024) : 0;
}

static pid_t start(struct flood *f, char **command)
{
    int in[2], out[2];
    pid_t pid;

    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        exit(2);
    pid = fork();
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execvp(command[0], command);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    f->in = in[1];
    f->out = out[0];
    fcntl(f->in, F_SETFL, O_NONBLOCK);
    return pid;
}

int main(int argc, char **argv)
{
    struct flood f = { 0 };
    long early = 0, late;
    double began;
    pid_t pid;

    if (argc < 5)
        return 2;
    f.size = strtoul(argv[1], NULL, 10);
    f.count = strtoul(argv[2], NULL, 10);
    f.window = strtoul(argv[3], NULL, 10);
    make_request(&f);
    pid = start(&f, argv + 4);
    for (began = 0; f.answered < f.count;) {
        struct pollfd fds[] = { { .fd = f.out, .events = POLLIN },
                                { .fd = may_send(&f) ? f.in : -1, .events = POLLOUT } };

        poll(fds, 2, -1);
        if (fds[0].revents)
            read_some(&f);
        if (f.answered && began == 0)
            began = seconds(); /* starting up is another matter */
        if (!early && f.answered >= f.count / 16)
            early = resident_kb(pid);
        if (fds[1].revents)
            send_some(&f);
    }
    late = resident_kb(pid);
    printf("%.0f %ld %ld\n", 2 * (double)f.count / (seconds() - began), early, late);
    close(f.in);
    waitpid(pid, NULL, 0);
    return 0;
}
