/* bench/bench-verify.c - the two sides that `mcpreel verify` is measured with.
 *
 *     bench-verify server SIZE              an MCP server on stdio
 *     bench-verify http-server SIZE         the same on a port of 127.0.0.1, which it prints
 *     bench-verify client FILE COMMAND…     a plain client of a server on stdio
 *     bench-verify http-client FILE PORT    a plain client of a server on HTTP
 *
 * The servers answer every request with the same SIZE bytes, but for the id. The clients send
 * each line of FILE, wait for the response, compare nothing, and end. All of them block and
 * look at no more of a message than they must. The HTTP server ends with its stdin. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUFFER = 1 << 20, CONNECTIONS = 64 };

/* Bytes that were read and not used yet. */
struct input {
    int fd;
    size_t len;
    char bytes[BUFFER + 1]; /* NUL-terminated */
};

static void fail(const char *what)
{
    fprintf(stderr, "bench-verify: %s\n", what);
    exit(1);
}

static void *alloc(size_t size)
{
    void *p = calloc(1, size);

    if (!p)
        fail("no memory");
    return p;
}

/* Reads more; false at the end. */
static int read_more(struct input *in)
{
    ssize_t n = read(in->fd, in->bytes + in->len, BUFFER - in->len);

    if (n <= 0)
        return 0;
    in->len += (size_t)n;
    in->bytes[in->len] = '\0';
    return 1;
}

static void drop(struct input *in, size_t n)
{
    in->len -= n;
    memmove(in->bytes, in->bytes + n, in->len + 1);
}

static void write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);

        if (n <= 0)
            fail("the peer does not read");
        bytes += n;
        len -= (size_t)n;
    }
}

/* Writes two pieces at once. */
static void write_both(int fd, char *a, size_t a_len, char *b, size_t b_len)
{
    struct iovec pieces[] = { { a, a_len }, { b, b_len } };
    ssize_t n = writev(fd, pieces, 2);
    size_t done = n < 0 ? 0 : (size_t)n, of_a = done < a_len ? done : a_len;

    write_all(fd, a + of_a, a_len - of_a);
    write_all(fd, b + (done - of_a), b_len - (done - of_a));
}

/* The response to every request, and to initialize. */
struct reply {
    char *text;
    size_t size, room;
};

static const char *find_id(const char *message, size_t *len)
{
    const char *id = strstr(message, "\"id\":");

    if (!id)
        return NULL;
    id += 5;
    *len = strcspn(id, ",}");
    return id;
}

/* Writes the response into `r->text`; returns its length, 0 for a notification. */
static size_t make_reply(struct reply *r, const char *message)
{
    size_t id_len = 0, n;
    const char *id = find_id(message, &id_len);

    if (!id)
        return 0;
    n = (size_t)snprintf(r->text, r->room,
                         "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":", (int)id_len, id);
    if (strstr(message, "\"method\":\"initialize\""))
        return n + (size_t)snprintf(r->text + n, r->room - n,
                                    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{"
                                    "\"tools\":{}},\"serverInfo\":{\"name\":\"fixed\","
                                    "\"version\":\"1\"}}}");
    n += (size_t)snprintf(r->text + n, r->room - n,
                          "{\"content\":[{\"type\":\"text\",\"text\":\"");
    memset(r->text + n, 'y', r->size);
    n += r->size;
    return n + (size_t)snprintf(r->text + n, r->room - n, "\"}]}}");
}

static void init_reply(struct reply *r, const char *size)
{
    r->size = strtoul(size, NULL, 10);
    r->room = r->size + 1024;
    r->text = alloc(r->room);
}

static int serve_stdio(const char *size)
{
    struct input *in = alloc(sizeof *in);
    struct reply reply;
    char *end;

    init_reply(&reply, size);
    while (read_more(in))
        while ((end = memchr(in->bytes, '\n', in->len))) {
            size_t n;

            *end = '\0';
            n = make_reply(&reply, in->bytes);
            if (n) {
                reply.text[n] = '\n';
                write_all(1, reply.text, n + 1);
            }
            drop(in, (size_t)(end + 1 - in->bytes));
        }
    return 0;
}

/* Returns the length of the head and its Content-Length; 0 if the head is not complete. */
static size_t parse_head(const char *bytes, size_t *body)
{
    const char *end = strstr(bytes, "\r\n\r\n"), *line = bytes;

    *body = 0;
    if (!end)
        return 0;
    while ((line = strstr(line, "\r\n")) && line < end) {
        line += 2;
        if (!strncasecmp(line, "content-length:", 15))
            *body = strtoul(line + 15, NULL, 10);
    }
    return (size_t)(end + 4 - bytes);
}

static void answer_http(struct input *in, struct reply *reply, size_t head, size_t body)
{
    char kept = in->bytes[head + body], text[256];
    size_t n;

    in->bytes[head + body] = '\0';
    n = strncmp(in->bytes, "POST", 4) ? 0 : make_reply(reply, in->bytes + head);
    in->bytes[head + body] = kept;
    if (!strncmp(in->bytes, "GET", 3))
        snprintf(text, sizeof text,
                 "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n");
    else if (!n)
        snprintf(text, sizeof text, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    else
        snprintf(text, sizeof text,
                 "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                 "Content-Length: %zu\r\n\r\n",
                 n);
    write_both(in->fd, text, strlen(text), reply->text, n);
}

static void serve_connection(struct input *in, struct reply *reply)
{
    size_t head, body;

    if (!read_more(in)) {
        close(in->fd);
        in->fd = -1;
        in->len = 0;
        return;
    }
    while ((head = parse_head(in->bytes, &body)) && in->len >= head + body) {
        answer_http(in, reply, head, body);
        drop(in, head + body);
    }
}

static void accept_connection(int listener, struct input **connections)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (size_t i = 0; i < CONNECTIONS; i++)
        if (connections[i]->fd < 0) {
            connections[i]->fd = fd;
            return;
        }
    close(fd);
}

static int listen_on_loopback(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) || listen(fd, CONNECTIONS) ||
        getsockname(fd, (struct sockaddr *)&at, &len))
        fail("cannot listen");
    printf("%u\n", (unsigned)ntohs(at.sin_port));
    fflush(stdout);
    return fd;
}

static int serve_http(const char *size)
{
    struct input *connections[CONNECTIONS];
    struct pollfd fds[CONNECTIONS + 2];
    struct reply reply;
    int listener = listen_on_loopback();

    init_reply(&reply, size);
    for (size_t i = 0; i < CONNECTIONS; i++) {
        connections[i] = alloc(sizeof **connections);
        connections[i]->fd = -1;
    }
    for (;;) {
        fds[CONNECTIONS] = (struct pollfd){ .fd = listener, .events = POLLIN };
        fds[CONNECTIONS + 1] = (struct pollfd){ .fd = 0, .events = POLLIN };
        for (size_t i = 0; i < CONNECTIONS; i++)
            fds[i] = (struct pollfd){ .fd = connections[i]->fd, .events = POLLIN };
        if (poll(fds, CONNECTIONS + 2, -1) < 0 || fds[CONNECTIONS + 1].revents)
            return 0;
        for (size_t i = 0; i < CONNECTIONS; i++)
            if (fds[i].fd >= 0 && fds[i].revents)
                serve_connection(connections[i], &reply);
        if (fds[CONNECTIONS].revents)
            accept_connection(listener, connections);
    }
}

/* Calls `send` for each line of a file, without its newline. */
static void each_line(const char *path, void (*send)(void *to, char *line, size_t len),
                      void *to)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;

    if (!file)
        fail("cannot read the requests");
    while ((n = getline(&line, &cap, file)) > 0)
        send(to, line, (size_t)n - (line[n - 1] == '\n'));
    free(line);
    fclose(file);
}

struct stdio_client {
    int to_server;
    struct input *in;
};

static void send_line(void *to, char *line, size_t len)
{
    struct stdio_client *c = to;
    const char *end;
    size_t id;

    line[len] = '\n';
    write_all(c->to_server, line, len + 1);
    line[len] = '\0';
    if (!find_id(line, &id))
        return;
    while (!(end = memchr(c->in->bytes, '\n', c->in->len)))
        if (!read_more(c->in))
            fail("the server has ended");
    drop(c->in, (size_t)(end + 1 - c->in->bytes));
}

static int run_stdio_client(const char *path, char **command)
{
    struct stdio_client c = { .in = alloc(sizeof *c.in) };
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
        fail("no pipe");
    if (fork() == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execvp(command[0], command);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    c.to_server = in[1];
    c.in->fd = out[0];
    each_line(path, send_line, &c);
    close(in[1]);
    wait(NULL);
    return 0;
}

static void post_line(void *to, char *line, size_t len)
{
    struct input *in = to;
    char head[256];
    size_t n, body;

    n = (size_t)snprintf(head, sizeof head,
                         "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
                         "Content-Type: application/json\r\nAccept: application/json, "
                         "text/event-stream\r\nContent-Length: %zu\r\n\r\n",
                         len);
    write_both(in->fd, head, n, line, len);
    while (!(n = parse_head(in->bytes, &body)) || in->len < n + body)
        if (!read_more(in))
            fail("the server has closed the connection");
    drop(in, n + body);
}

static int run_http_client(const char *path, const char *port)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    struct input *in = alloc(sizeof *in);
    int on = 1;

    at.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    in->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(in->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(in->fd, (struct sockaddr *)&at, sizeof at))
        fail("cannot connect");
    each_line(path, post_line, in);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "server"))
        return serve_stdio(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "http-server"))
        return serve_http(argv[2]);
    if (argc > 3 && !strcmp(argv[1], "client"))
        return run_stdio_client(argv[2], argv + 3);
    if (argc == 4 && !strcmp(argv[1], "http-client"))
        return run_http_client(argv[2], argv[3]);
    return 2;
}
