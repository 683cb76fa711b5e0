/* bench/bench-http-relay.c - the least that an HTTP relay on libuv and libcurl can do: the
 * baseline of record.
 *
 *     bench-http-relay URL
 *
 * Listens on a port of 127.0.0.1, which it prints, and sends each request on to URL. Bodies
 * are forwarded as they come, in both directions; connections are kept on both sides, and
 * libcurl chooses which to use again. Stores and checks nothing, and does not wait for slow
 * readers. Ends with its stdin.
 */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <uv.h>

enum { HEAD_MAX = 16 << 10, CHUNK = 64 << 10, BACKLOG = 1024, CHUNK_HEAD = 20 };

struct bytes {
    char *at;
    size_t len, cap;
};

struct client {
    uv_tcp_t uv;     /* first: libuv's handle is ours */
    CURL *easy;      /* of this client's requests, one after the other */
    int asking;      /* there is a request under way */
    int paused;      /* libcurl waits for more of the body */
    int closing;     /* by libuv */
    int chunked;     /* how the answer goes out */
    int sized;       /* the server has sent its length */
    size_t body;     /* bytes of the request still to come */
    struct bytes in; /* an incomplete head, then the unread bytes of a body */
    struct bytes out;
    struct curl_slist *fields;
    struct client *next; /* in the list of clients with bytes to write */
    int is_listed;
};

struct unsent {
    uv_write_t uv;
    char bytes[];
};

struct socket {
    uv_poll_t uv; /* first */
    curl_socket_t fd;
};

static struct {
    uv_loop_t loop;
    uv_tcp_t listener;
    uv_pipe_t end;
    uv_timer_t timer;
    CURLM *multi;
    const char *url;
    struct client *written;
    char chunk[CHUNK];
} relay;

static void add(struct bytes *to, const void *from, size_t n)
{
    if (to->len + n > to->cap) {
        to->cap = 2 * (to->len + n);
        to->at = realloc(to->at, to->cap);
        if (!to->at)
            exit(1);
    }
    memcpy(to->at + to->len, from, n);
    to->len += n;
}

static void add_text(struct bytes *to, const char *text)
{
    add(to, text, strlen(text));
}

static void skip(struct bytes *of, size_t n)
{
    memmove(of->at, of->at + n, of->len - n);
    of->len -= n;
}

static void release(struct bytes *b)
{
    free(b->at);
    *b = (struct bytes){ NULL, 0, 0 };
}

static void on_written(uv_write_t *uv, int status)
{
    (void)status;
    free(uv);
}

static void write_out(struct client *c)
{
    uv_buf_t buf = uv_buf_init(c->out.at, (unsigned)c->out.len);
    int n = c->closing ? (int)c->out.len : uv_try_write((uv_stream_t *)&c->uv, &buf, 1);
    size_t done = n > 0 ? (size_t)n : 0, left = c->out.len - done;

    if (left) {
        struct unsent *w = malloc(sizeof *w + left);

        if (!w)
            exit(1);
        memcpy(w->bytes, c->out.at + done, left);
        buf = uv_buf_init(w->bytes, (unsigned)left);
        uv_write(&w->uv, (uv_stream_t *)&c->uv, &buf, 1, on_written);
    }
    if (c->asking && !c->sized)
        release(&c->out); /* a stream may be silent for long */
    c->out.len = 0;
}

static void list(struct client *c)
{
    if (c->is_listed)
        return;
    c->is_listed = 1;
    c->next = relay.written;
    relay.written = c;
}

static void unlist(struct client *c)
{
    for (struct client **at = &relay.written; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
}

static void on_closed(uv_handle_t *uv)
{
    struct client *c = (struct client *)uv;

    curl_easy_cleanup(c->easy);
    curl_slist_free_all(c->fields);
    release(&c->in);
    release(&c->out);
    free(c);
}

static void close_client(struct client *c)
{
    if (c->closing)
        return;
    c->closing = 1;
    unlist(c);
    if (c->asking)
        curl_multi_remove_handle(relay.multi, c->easy);
    uv_close((uv_handle_t *)&c->uv, on_closed);
}

static int has_name(const char *line, size_t len, const char *name)
{
    size_t n = strlen(name);

    return len > n && strncasecmp(line, name, n) == 0 && line[n] == ':';
}

/* Forwards the server's response unchanged, except for headers of its connection. */
static size_t on_header(char *line, size_t one, size_t len, void *to)
{
    struct client *c = to;

    (void)one;
    if (len == 2) {
        long status = 0;

        curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
        if (status < 200) {
            c->out.len = 0;
            return len;
        }
        c->chunked = !c->sized && status != 204 && status != 304;
        if (c->chunked)
            add_text(&c->out, "Transfer-Encoding: chunked\r\n");
    } else if (has_name(line, len, "content-length")) {
        c->sized = 1;
    } else if (has_name(line, len, "transfer-encoding") || has_name(line, len, "connection") ||
               has_name(line, len, "keep-alive")) {
        return len;
    }
    add(&c->out, line, len);
    if (len == 2)
        list(c);
    return len;
}

static size_t on_answer(char *bytes, size_t one, size_t len, void *to)
{
    struct client *c = to;
    char head[CHUNK_HEAD];

    (void)one;
    if (c->chunked) {
        snprintf(head, sizeof head, "%zx\r\n", len);
        add_text(&c->out, head);
    }
    add(&c->out, bytes, len);
    if (c->chunked)
        add_text(&c->out, "\r\n");
    list(c);
    return len;
}

static size_t on_body(char *to, size_t one, size_t room, void *from)
{
    struct client *c = from;
    size_t n = room < c->in.len ? room : c->in.len;

    (void)one;
    if (!n && c->body) {
        c->paused = 1;
        return CURL_READFUNC_PAUSE;
    }
    memcpy(to, c->in.at, n);
    skip(&c->in, n);
    return n;
}

static void run_socket(curl_socket_t fd, int events);

static void set_up(struct client *c)
{
    c->easy = curl_easy_init();
    curl_easy_setopt(c->easy, CURLOPT_URL, relay.url);
    curl_easy_setopt(c->easy, CURLOPT_PRIVATE, c);
    curl_easy_setopt(c->easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(c->easy, CURLOPT_HEADERDATA, c);
    curl_easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, on_answer);
    curl_easy_setopt(c->easy, CURLOPT_WRITEDATA, c);
    curl_easy_setopt(c->easy, CURLOPT_READFUNCTION, on_body);
    curl_easy_setopt(c->easy, CURLOPT_READDATA, c);
    curl_easy_setopt(c->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c->easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(c->easy, CURLOPT_NOPROXY, "*");
}

/* The fields of a request as they came; those of the connection are libcurl's own. Returns
 * how much follows. */
static size_t take_fields(struct client *c, char *at, char *end)
{
    size_t length = 0;

    curl_slist_free_all(c->fields);
    c->fields = curl_slist_append(NULL, "Expect:");
    while (at < end) {
        char *stop = memmem(at, (size_t)(end - at), "\r\n", 2);

        if (!stop)
            break;
        *stop = '\0';
        if (has_name(at, (size_t)(stop - at), "content-length"))
            length = strtoul(at + 15, NULL, 10);
        else if (!has_name(at, (size_t)(stop - at), "connection") &&
                 !has_name(at, (size_t)(stop - at), "expect"))
            c->fields = curl_slist_append(c->fields, at);
        at = stop + 2;
    }
    return length;
}

/* Some of a body. */
static void take_body(struct client *c, const char *at, size_t n)
{
    n = n < c->body ? n : c->body;
    add(&c->in, at, n);
    c->body -= n;
    if (c->paused) {
        c->paused = 0;
        curl_easy_pause(c->easy, CURLPAUSE_CONT);
        run_socket(CURL_SOCKET_TIMEOUT, 0);
    }
}

/* A head, if it is complete, with the bytes of its body. */
static void take_head(struct client *c)
{
    char *end = memmem(c->in.at, c->in.len, "\r\n\r\n", 4), *line;
    size_t head, length;
    int posts;

    if (!end) {
        if (c->in.len > HEAD_MAX)
            close_client(c);
        return;
    }
    head = (size_t)(end + 4 - c->in.at);
    posts = c->in.at[0] == 'P';
    line = memchr(c->in.at, '\n', head);
    length = take_fields(c, line + 1, end + 2);
    skip(&c->in, head);
    c->body = length > c->in.len ? length - c->in.len : 0;
    curl_easy_setopt(c->easy, CURLOPT_HTTPHEADER, c->fields);
    if (posts) {
        curl_easy_setopt(c->easy, CURLOPT_POST, 1L);
        curl_easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
    } else {
        curl_easy_setopt(c->easy, CURLOPT_HTTPGET, 1L);
    }
    c->asking = 1;
    c->sized = c->chunked = c->paused = 0;
    curl_multi_add_handle(relay.multi, c->easy);
    run_socket(CURL_SOCKET_TIMEOUT, 0);
}

static void give_chunk(uv_handle_t *uv, size_t suggested, uv_buf_t *buf)
{
    (void)uv;
    (void)suggested;
    *buf = uv_buf_init(relay.chunk, CHUNK);
}

/* Pipelined requests are not in this benchmark. */
static void on_read(uv_stream_t *uv, ssize_t n, const uv_buf_t *buf)
{
    struct client *c = (struct client *)uv;

    if (n < 0 || (n > 0 && c->asking && !c->body)) {
        close_client(c);
    } else if (n > 0 && c->asking) {
        take_body(c, buf->base, (size_t)n);
    } else if (n > 0) {
        add(&c->in, buf->base, (size_t)n);
        take_head(c);
    }
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct client *c = calloc(1, sizeof *c);

    if (!c)
        exit(1);
    uv_tcp_init(&relay.loop, &c->uv);
    if (status != 0 || uv_accept(listener, (uv_stream_t *)&c->uv) != 0) {
        close_client(c);
        return;
    }
    set_up(c);
    uv_tcp_nodelay(&c->uv, 1);
    uv_read_start((uv_stream_t *)&c->uv, give_chunk, on_read);
}

static void finish(struct client *c, CURLcode how)
{
    curl_multi_remove_handle(relay.multi, c->easy);
    c->asking = 0;
    if (how != CURLE_OK) {
        close_client(c);
        return;
    }
    if (c->chunked)
        add_text(&c->out, "0\r\n\r\n");
    list(c);
}

/* Runs libcurl, then sends its results with one write to each client. */
static void run_socket(curl_socket_t fd, int events)
{
    int running;
    CURLMsg *m;

    curl_multi_socket_action(relay.multi, fd, events, &running);
    while ((m = curl_multi_info_read(relay.multi, &running)))
        if (m->msg == CURLMSG_DONE) {
            struct client *c;

            curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&c);
            finish(c, m->data.result);
        }
    while (relay.written) {
        struct client *c = relay.written;

        relay.written = c->next;
        c->is_listed = 0;
        write_out(c);
    }
}

static void on_timer(uv_timer_t *uv)
{
    (void)uv;
    run_socket(CURL_SOCKET_TIMEOUT, 0);
}

static int set_timer(CURLM *multi, long ms, void *to)
{
    (void)multi;
    (void)to;
    if (ms < 0)
        uv_timer_stop(&relay.timer);
    else
        uv_timer_start(&relay.timer, on_timer, (uint64_t)ms, 0);
    return 0;
}

static void on_socket(uv_poll_t *uv, int status, int events)
{
    const struct socket *s = (const struct socket *)uv;

    run_socket(s->fd, status < 0 ? CURL_CSELECT_ERR
                                 : (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
                                       (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0));
}

static void on_socket_closed(uv_handle_t *uv)
{
    free(uv);
}

static int set_socket_events(CURL *easy, curl_socket_t fd, int what, void *to, void *of)
{
    struct socket *s = of;

    (void)easy;
    (void)to;
    if (what == CURL_POLL_REMOVE) {
        if (s)
            uv_close((uv_handle_t *)&s->uv, on_socket_closed);
        curl_multi_assign(relay.multi, fd, NULL);
        return 0;
    }
    if (!s) {
        s = calloc(1, sizeof *s);
        if (!s)
            exit(1);
        s->fd = fd;
        uv_poll_init_socket(&relay.loop, &s->uv, fd);
        curl_multi_assign(relay.multi, fd, s);
    }
    uv_poll_start(&s->uv,
                  (what & CURL_POLL_IN ? UV_READABLE : 0) |
                      (what & CURL_POLL_OUT ? UV_WRITABLE : 0),
                  on_socket);
    return 0;
}

static void on_stdin(uv_stream_t *uv, ssize_t n, const uv_buf_t *buf)
{
    (void)uv;
    (void)buf;
    if (n < 0)
        uv_stop(&relay.loop);
}

static void start_curl(void)
{
    curl_global_init(CURL_GLOBAL_ALL);
    uv_timer_init(&relay.loop, &relay.timer);
    relay.multi = curl_multi_init();
    curl_multi_setopt(relay.multi, CURLMOPT_SOCKETFUNCTION, set_socket_events);
    curl_multi_setopt(relay.multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(relay.multi, CURLMOPT_MAXCONNECTS, (long)BACKLOG);
}

int main(int argc, char **argv)
{
    struct sockaddr_in at;
    int len = sizeof at;

    if (argc != 2)
        return 2;
    relay.url = argv[1];
    uv_loop_init(&relay.loop);
    start_curl();
    uv_tcp_init(&relay.loop, &relay.listener);
    uv_ip4_addr("127.0.0.1", 0, &at);
    if (uv_tcp_bind(&relay.listener, (struct sockaddr *)&at, 0) != 0 ||
        uv_listen((uv_stream_t *)&relay.listener, BACKLOG, on_connection) != 0)
        return 1;
    uv_tcp_getsockname(&relay.listener, (struct sockaddr *)&at, &len);
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);
    uv_pipe_init(&relay.loop, &relay.end, 0);
    uv_pipe_open(&relay.end, 0);
    uv_read_start((uv_stream_t *)&relay.end, give_chunk, on_stdin);
    uv_run(&relay.loop, UV_RUN_DEFAULT);
    return 0;
}
