#include "transport/curl-conn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "loop/poll.h"
#include "loop/timer.h"
#include "transport/curl-load.h"

enum {
    CHUNK = 64 << 10,
    READS = 16,            /* of CHUNK bytes, of one connection in a row */
    MULTI_GROUP_MAX = 256, /* connections of one multi handle: libcurl searches them linearly */
    CURL_BUFFER = 1024,   /* libcurl's own, only used while connecting: the smallest possible */
    TCP_KEEPALIVE_S = 60, /* idle time before TCP keep-alive probes */
};

/* Queued bytes. They must not move once TLS has seen them. */
struct send_chunk {
    struct send_chunk *next;
    size_t sent, len;
    char bytes[];
};

/* The connections of one multi handle. */
struct multi_group {
    struct multi_group *next;
    struct curl_conn_shared *shared;
    CURLM *multi;
    struct timer *timer;
    size_t count;
};

struct curl_conn {
    struct curl_conn_shared *shared;
    struct multi_group *group;
    CURL *easy;
    void *to;
    char *error_text;                /* libcurl's error buffer; NULL once connected */
    char *proxy;                     /* its name, for users; NULL: none, or connected */
    struct fd_poll *poll;            /* NULL until connected */
    struct timer *read_timer;        /* NULL until first needed */
    struct send_chunk *first, *last; /* the queue */
    size_t queued;
    unsigned call_depth; /* calls on the stack: it is freed when the last one returns */
    bool reading;
    bool send_failed; /* set by a failed send: drop what is written */
    bool done, closed;
};

struct curl_conn_shared {
    struct curl_api curl;
    struct loop *loop;
    struct curl_conn_config config;
    const struct curl_conn_events *events;
    struct multi_group *groups;
    char read_buf[CHUNK];
};

/* A socket that libcurl is connecting. */
struct connecting_socket {
    struct multi_group *group;
    curl_socket_t fd;
    struct fd_poll *poll;
};

static void set_long(const struct curl_conn *f, CURLoption option, long value)
{
    BUG_IF(f->shared->curl.easy_setopt(f->easy, option, value) != CURLE_OK);
}

static void set_pointer(const struct curl_conn *f, CURLoption option, const void *value)
{
    BUG_IF(f->shared->curl.easy_setopt(f->easy, option, value) != CURLE_OK);
}

static void clear_queue(struct curl_conn *f)
{
    struct send_chunk *p;

    while ((p = f->first)) {
        f->first = p->next;
        free(p);
    }
    f->last = NULL;
    f->queued = 0;
}

static void enter(struct curl_conn *f)
{
    f->call_depth++;
}

static void leave(struct curl_conn *f)
{
    if (--f->call_depth || !f->closed)
        return;
    free(f->error_text);
    free(f->proxy);
    free(f);
}

static void update_poll(struct curl_conn *f)
{
    if (f->poll)
        fd_poll_set(f->poll, f->reading && !f->done, f->first != NULL);
}

static void report_end(struct curl_conn *f, bool clean)
{
    if (f->done || f->closed)
        return;
    f->done = true;
    clear_queue(f);
    update_poll(f);
    f->shared->events->end(f->to, clean);
}

static void send_first(struct curl_conn *f)
{
    struct send_chunk *p = f->first;
    size_t n = 0;
    CURLcode code =
        f->shared->curl.easy_send(f->easy, p->bytes + p->sent, p->len - p->sent, &n);

    if (code == CURLE_AGAIN)
        return;
    if (code != CURLE_OK) { /* reading reports the end, after the data before it */
        f->send_failed = true;
        clear_queue(f);
        return;
    }
    p->sent += n;
    f->queued -= n;
    if (p->sent < p->len)
        return;
    f->first = p->next;
    if (!f->first)
        f->last = NULL;
    free(p);
}

static void send_queued(struct curl_conn *f)
{
    while (f->first && f->poll) {
        size_t before = f->queued;

        send_first(f);
        if (f->queued == before)
            break;
    }
    update_poll(f);
}

static void send_and_notify(struct curl_conn *f)
{
    bool had = f->first != NULL;

    send_queued(f);
    if (had && !f->first && !f->done && !f->closed)
        f->shared->events->drained(f->to);
}

static void read_available(struct curl_conn *f);

static void on_read_timer(void *to)
{
    struct curl_conn *f = to;

    enter(f);
    read_available(f);
    leave(f);
}

/* TLS may have read more from the socket than it returned: polling would not report that. */
static void schedule_read(struct curl_conn *f)
{
    if (!f->read_timer)
        f->read_timer = timer_new(f->shared->loop, on_read_timer, f);
    timer_set(f->read_timer, 0);
}

/* Reads until the socket is empty or READS is reached. */
static void read_available(struct curl_conn *f)
{
    for (int i = 0; i < READS; i++) {
        size_t n = 0;
        CURLcode code;

        if (!f->reading || f->done || f->closed)
            return;
        code = f->shared->curl.easy_recv(f->easy, f->shared->read_buf, CHUNK, &n);
        if (code == CURLE_AGAIN)
            return;
        if (code != CURLE_OK || n == 0) {
            report_end(f, code == CURLE_OK);
            return;
        }
        f->shared->events->data(f->to, str_n(f->shared->read_buf, n));
    }
    schedule_read(f);
}

static void on_ready(void *to, bool can_read, bool can_write)
{
    struct curl_conn *f = to;

    enter(f);
    if (can_write)
        send_and_notify(f);
    if (can_read && !f->closed)
        read_available(f);
    if (!f->closed)
        update_poll(f);
    leave(f);
}

static void on_connected(struct curl_conn *f)
{
    curl_socket_t fd = CURL_SOCKET_BAD;

    f->shared->curl.easy_getinfo(f->easy, CURLINFO_ACTIVESOCKET, &fd);
    BUG_IF(fd == CURL_SOCKET_BAD);
    free(f->error_text);
    free(f->proxy);
    f->error_text = f->proxy = NULL;
    set_pointer(f, CURLOPT_ERRORBUFFER, NULL);
    set_long(f, CURLOPT_VERBOSE, 0);
    f->poll = fd_poll_open(f->shared->loop, (int)fd, on_ready, f);
    update_poll(f);
    f->shared->events->connected(f->to);
}

enum { HOST_PORT_MAX = 255 };

/* Returns whether the text is host[:port]. The port must be a number: a word after a colon
 * could be a password. */
static bool is_host_port(struct str text)
{
    static const struct str others = STR_INIT(".-_:[]");
    size_t port = text.len;

    for (size_t i = 0; i < text.len; i++)
        if (!ascii_is_alnum(text.at[i]) && str_find(others, text.at[i]) == others.len)
            return false;
    while (port && ascii_is_digit(text.at[port - 1]))
        port--;
    return text.len && text.len <= HOST_PORT_MAX &&
           (str_find(text, ':') == text.len || text.at[text.len - 1] == ']' ||
            (port && text.at[port - 1] == ':'));
}

/* Returns the host and port of a proxy URL. Everything before the last '@' may be a password.
 */
static struct str host_port_in(struct str value)
{
    size_t at = value.len, end = 0;
    struct str host_port;

    while (at && value.at[at - 1] != '@')
        at--;
    host_port = str_skip(value, at);
    if (!at && str_contains(host_port, STR("://")))
        while (!str_starts(host_port, STR("://")))
            host_port = str_skip(host_port, 1);
    if (str_starts(host_port, STR("://")))
        host_port = str_skip(host_port, 3);
    while (end < host_port.len && host_port.at[end] != '/')
        end++;
    return str_n(host_port.at, end);
}

/* Removes a prefix; false if there is none. */
static bool skip_prefix(struct str *rest, struct str text)
{
    if (!str_starts(*rest, text))
        return false;
    *rest = str_skip(*rest, text.len);
    return true;
}

/* Cuts off the name of a proxy variable; empty if there is none. */
static struct str parse_variable(struct str *rest)
{
    static const struct str names[] = { STR_INIT("http_proxy"), STR_INIT("https_proxy"),
                                        STR_INIT("HTTPS_PROXY"), STR_INIT("all_proxy"),
                                        STR_INIT("ALL_PROXY") };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (skip_prefix(rest, names[i]))
            return names[i];
    return STR_NONE;
}

bool curl_conn_parse_proxy(struct str debug_line, char text[CURL_CONN_PROXY_SIZE])
{
    struct str rest = str_trim(debug_line), name, host_port;

    if (!skip_prefix(&rest, STR("Uses proxy env variable ")))
        return false;
    name = parse_variable(&rest);
    if (!name.len || !skip_prefix(&rest, STR(" == '")))
        return false;
    if (rest.len && rest.at[rest.len - 1] == '\'')
        host_port = host_port_in(str_n(rest.at, rest.len - 1));
    else /* libcurl cut the text off: it may end in a password */
        host_port = STR_NONE;
    if (is_host_port(host_port))
        snprintf(text, CURL_CONN_PROXY_SIZE, "'%.*s' (%.*s)", STR_ARG(host_port),
                 STR_ARG(name));
    else
        snprintf(text, CURL_CONN_PROXY_SIZE, "of %.*s", STR_ARG(name));
    return true;
}

/* Learns the proxy that libcurl uses; see curl_conn_parse_proxy(). */
static int on_debug_text(CURL *easy, curl_infotype what, char *text, size_t len, void *to)
{
    struct curl_conn *f = to;
    char proxy[CURL_CONN_PROXY_SIZE];

    (void)easy;
    if (what == CURLINFO_TEXT && f->error_text && !f->proxy &&
        curl_conn_parse_proxy(str_n(text, len), proxy)) {
        f->proxy = mem_alloc(sizeof proxy);
        memcpy(f->proxy, proxy, sizeof proxy);
    }
    return 0;
}

/* Returns whether the proxy itself was not reached. A proxy that cannot reach the server
 * responds with an error, or is silent after it accepted the connection. */
static bool is_proxy_unreachable(const struct curl_conn *f, CURLcode code)
{
    curl_off_t reached = 0;

    f->shared->curl.easy_getinfo(f->easy, CURLINFO_CONNECT_TIME_T, &reached);
    return f->proxy && (code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_COULDNT_CONNECT ||
                        (code == CURLE_OPERATION_TIMEDOUT && !reached));
}

static enum upstream_conn_error error_of(const struct curl_conn *f, CURLcode code)
{
    long reason = 0, answer = 0;

    f->shared->curl.easy_getinfo(f->easy, CURLINFO_OS_ERRNO, &reason);
    f->shared->curl.easy_getinfo(f->easy, CURLINFO_HTTP_CONNECTCODE, &answer);
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return UPSTREAM_CONN_UNKNOWN_HOST;
    case CURLE_OPERATION_TIMEDOUT:
        return UPSTREAM_CONN_TIMEOUT;
    case CURLE_COULDNT_CONNECT:
        return reason == ECONNREFUSED ? UPSTREAM_CONN_REFUSED : UPSTREAM_CONN_UNREACHABLE;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY:
        return UPSTREAM_CONN_PROXY;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
        return UPSTREAM_CONN_TLS;
    default:
        return answer ? UPSTREAM_CONN_PROXY : UPSTREAM_CONN_UNREACHABLE;
    }
}

static void describe_proxy_error(const struct curl_conn *f, CURLcode code, struct err *e)
{
    long reason = 0;
    const char *text = f->error_text[0] ? f->error_text : f->shared->curl.easy_strerror(code);

    f->shared->curl.easy_getinfo(f->easy, CURLINFO_OS_ERRNO, &reason);
    if (code == CURLE_COULDNT_RESOLVE_PROXY)
        text = "cannot resolve its name";
    else if (code == CURLE_OPERATION_TIMEDOUT)
        text = "timed out";
    else if (reason == ECONNREFUSED)
        text = "connection refused";
    err_set(e, ERR_PEER, "cannot connect to the proxy %s, on the way to '%s': %s", f->proxy,
            f->shared->config.url, text);
    err_hint(e, "is the proxy running? NO_PROXY lists servers to connect to without it");
}

static void describe_error(const struct curl_conn *f, enum upstream_conn_error fault,
                           CURLcode code, struct err *e)
{
    static const char *const texts[UPSTREAM_CONN_ERROR_COUNT] = {
        [UPSTREAM_CONN_UNKNOWN_HOST] = "cannot resolve its name",
        [UPSTREAM_CONN_REFUSED] = "connection refused",
        [UPSTREAM_CONN_TIMEOUT] = "timed out",
    };
    const char *text = texts[fault];

    if (!text)
        text = f->error_text[0] ? f->error_text : f->shared->curl.easy_strerror(code);
    err_set(e, ERR_PEER, "cannot connect to '%s': %s", f->shared->config.url, text);
    if (fault == UPSTREAM_CONN_REFUSED)
        err_hint(e, "is the server running there?");
    else if (fault == UPSTREAM_CONN_TLS)
        err_hint(e, "use --cacert FILE to trust the certificates of a file");
}

static void on_failed(struct curl_conn *f, CURLcode code)
{
    enum upstream_conn_error fault = error_of(f, code);
    struct err e = ERR_NONE;

    if (is_proxy_unreachable(f, code)) {
        fault = fault == UPSTREAM_CONN_TIMEOUT ? fault : UPSTREAM_CONN_PROXY;
        describe_proxy_error(f, code, &e);
    } else {
        describe_error(f, fault, code, &e);
    }
    f->done = true;
    clear_queue(f);
    f->shared->events->failed(f->to, fault, &e);
}

static void handle_results(struct multi_group *b)
{
    const struct curl_api *curl = &b->shared->curl;
    CURLMsg *msg;
    int left;

    while ((msg = curl->multi_info_read(b->multi, &left))) {
        CURLcode code = msg->data.result;
        char *user = NULL;
        struct curl_conn *f;

        BUG_IF(msg->msg != CURLMSG_DONE);
        curl->easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &user);
        f = (struct curl_conn *)(void *)user;
        enter(f);
        if (code == CURLE_OK)
            on_connected(f);
        else
            on_failed(f, code);
        leave(f);
    }
}

static void run_socket_action(struct multi_group *b, curl_socket_t fd, int what)
{
    int running;

    BUG_IF(b->shared->curl.multi_socket_action(b->multi, fd, what, &running) != CURLM_OK);
    handle_results(b);
}

static void on_multi_timeout(void *to)
{
    run_socket_action(to, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer(CURLM *multi, long ms, void *to)
{
    struct multi_group *b = to;

    (void)multi;
    if (ms < 0)
        timer_stop(b->timer);
    else
        timer_set(b->timer, (uint64_t)ms);
    return 0;
}

static void on_connecting_ready(void *to, bool can_read, bool can_write)
{
    struct connecting_socket *w = to;

    run_socket_action(w->group, w->fd,
                      (can_read ? CURL_CSELECT_IN : 0) | (can_write ? CURL_CSELECT_OUT : 0));
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *to, void *user)
{
    struct multi_group *b = to;
    struct connecting_socket *w = user;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        fd_poll_close(w->poll);
        free(w);
        b->shared->curl.multi_assign(b->multi, fd, NULL);
        return 0;
    }
    if (!w) {
        w = mem_new(struct connecting_socket);
        *w = (struct connecting_socket){ .group = b, .fd = fd };
        w->poll = fd_poll_open(b->shared->loop, (int)fd, on_connecting_ready, w);
        b->shared->curl.multi_assign(b->multi, fd, w);
    }
    fd_poll_set(w->poll, what & CURL_POLL_IN, what & CURL_POLL_OUT);
    return 0;
}

static struct multi_group *multi_group_new(struct curl_conn_shared *h)
{
    struct multi_group *b = mem_new(struct multi_group);
    const struct curl_api *curl = &h->curl;
    bool ok;

    b->shared = h;
    b->timer = timer_new(h->loop, on_multi_timeout, b);
    b->multi = mem_checked(curl->multi_init());
    ok = curl->multi_setopt(b->multi, CURLMOPT_SOCKETFUNCTION, on_socket) == CURLM_OK &&
         curl->multi_setopt(b->multi, CURLMOPT_SOCKETDATA, b) == CURLM_OK &&
         curl->multi_setopt(b->multi, CURLMOPT_TIMERFUNCTION, on_timer) == CURLM_OK &&
         curl->multi_setopt(b->multi, CURLMOPT_TIMERDATA, b) == CURLM_OK;
    BUG_IF(!ok);
    b->next = h->groups;
    h->groups = b;
    return b;
}

static struct multi_group *multi_group_with_room(struct curl_conn_shared *h)
{
    for (struct multi_group *b = h->groups; b; b = b->next) {
        if (b->count < MULTI_GROUP_MAX)
            return b;
    }
    return multi_group_new(h);
}

bool curl_conn_shared_new(struct curl_conn_shared **out, struct loop *l,
                          const struct curl_conn_config *config,
                          const struct curl_conn_events *events, struct err *e)
{
    struct curl_conn_shared *h = mem_new(struct curl_conn_shared);

    if (!curl_load(&h->curl, curl_load_name, e)) {
        free(h);
        return false;
    }
    h->loop = l;
    h->config = *config;
    h->events = events;
    *out = h;
    return true;
}

void curl_conn_shared_free(struct curl_conn_shared *h)
{
    if (!h)
        return;
    while (h->groups) {
        struct multi_group *b = h->groups;

        BUG_IF(b->count);
        h->groups = b->next;
        h->curl.multi_cleanup(b->multi);
        timer_close(b->timer);
        free(b);
    }
    free(h);
}

static void set_options(struct curl_conn *f)
{
    const struct curl_conn_config *config = &f->shared->config;

    set_pointer(f, CURLOPT_URL, config->url);
    set_pointer(f, CURLOPT_PROTOCOLS_STR, "http,https");
    set_long(f, CURLOPT_CONNECT_ONLY, 1);
    set_long(f, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    set_long(f, CURLOPT_HTTPPROXYTUNNEL, 1);
    if (config->is_loopback)
        set_pointer(f, CURLOPT_PROXY, "");
    set_long(f, CURLOPT_NOSIGNAL, 1);
    set_long(f, CURLOPT_BUFFERSIZE, CURL_BUFFER);
    set_long(f, CURLOPT_TCP_NODELAY, 1);
    set_long(f, CURLOPT_TCP_KEEPALIVE, 1);
    set_long(f, CURLOPT_TCP_KEEPIDLE, TCP_KEEPALIVE_S);
    set_long(f, CURLOPT_TCP_KEEPINTVL, TCP_KEEPALIVE_S);
    set_long(f, CURLOPT_CONNECTTIMEOUT_MS, (long)config->connect_ms);
    set_pointer(f, CURLOPT_ERRORBUFFER, f->error_text);
    set_long(f, CURLOPT_VERBOSE, 1);
    BUG_IF(f->shared->curl.easy_setopt(f->easy, CURLOPT_DEBUGFUNCTION, on_debug_text) !=
           CURLE_OK);
    set_pointer(f, CURLOPT_DEBUGDATA, f);
    if (config->cacert)
        set_pointer(f, CURLOPT_CAINFO, config->cacert);
    set_pointer(f, CURLOPT_PRIVATE, f);
}

struct curl_conn *curl_conn_open(struct curl_conn_shared *h, void *to)
{
    struct curl_conn *f = mem_new(struct curl_conn);

    *f = (struct curl_conn){ .shared = h, .to = to, .reading = true };
    f->error_text = mem_alloc(CURL_ERROR_SIZE);
    f->easy = mem_checked(h->curl.easy_init());
    set_options(f);
    f->group = multi_group_with_room(h);
    f->group->count++;
    BUG_IF(h->curl.multi_add_handle(f->group->multi, f->easy) != CURLM_OK);
    return f;
}

void curl_conn_write(struct curl_conn *f, struct str bytes)
{
    struct send_chunk *p;

    BUG_IF(!f->poll);
    if (f->send_failed || f->done || !bytes.len)
        return;
    p = mem_grow(NULL, sizeof *p + bytes.len);
    *p = (struct send_chunk){ .len = bytes.len };
    memcpy(p->bytes, bytes.at, bytes.len);
    if (f->last)
        f->last->next = p;
    else
        f->first = p;
    f->last = p;
    f->queued += bytes.len;
    send_queued(f);
}

size_t curl_conn_queued(const struct curl_conn *f)
{
    return f->queued;
}

void curl_conn_read(struct curl_conn *f, bool on)
{
    if (f->reading == on || f->done)
        return;
    f->reading = on;
    update_poll(f);
    if (on && f->poll)
        schedule_read(f);
}

void curl_conn_close(struct curl_conn *f)
{
    if (!f || f->closed)
        return;
    enter(f);
    clear_queue(f);
    fd_poll_close(f->poll);
    f->poll = NULL;
    timer_close(f->read_timer);
    f->shared->curl.multi_remove_handle(f->group->multi, f->easy);
    f->shared->curl.easy_cleanup(f->easy);
    f->group->count--;
    f->closed = true;
    leave(f);
}
