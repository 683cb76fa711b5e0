#include "transport/far.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "loop/timer.h"
#include "loop/watch.h"
#include "transport/libcurl.h"
#include "transport/proxy.h"

enum {
    CHUNK = 64 << 10,
    READS = 16,         /* at most so many chunks of one connection in a row */
    BOARD_MAX = 256,    /* connections of one board: libcurl searches them one by one */
    CURL_BUFFER = 1024, /* libcurl's own, while it connects: the smallest there is */
    QUIET_S = 60,       /* after which a silent connection is probed: somebody there? */
};

/* Bytes on their way. They must not move once TLS has seen them. */
struct piece {
    struct piece *next;
    size_t from, len;
    char bytes[];
};

/* Connections that libcurl keeps together. */
struct board {
    struct board *next;
    struct far_house *house;
    CURLM *multi;
    struct timer *timer;
    size_t count;
};

struct far {
    struct far_house *house;
    struct board *board;
    CURL *easy;
    void *to;
    char *words;                /* libcurl's about a failure; NULL once connected */
    char *proxy;                /* the one between, for people; NULL: none, or connected */
    struct watch *watch;        /* once connected */
    struct timer *soon;         /* NULL: was never needed */
    struct piece *first, *last; /* to be sent */
    size_t queued;
    unsigned inside; /* calls of ours that are under way */
    bool reading;
    bool deaf; /* nothing can be sent any more */
    bool over, closed;
};

struct far_house {
    struct libcurl curl;
    struct loop *loop;
    struct far_config config;
    const struct far_events *events;
    struct board *boards;
    char chunk[CHUNK];
};

/* A socket that libcurl is connecting. */
struct wait {
    struct board *board;
    curl_socket_t fd;
    struct watch *watch;
};

static void set(const struct far *f, CURLoption option, long value)
{
    BUG_IF(f->house->curl.easy_setopt(f->easy, option, value) != CURLE_OK);
}

static void set_at(const struct far *f, CURLoption option, const void *value)
{
    BUG_IF(f->house->curl.easy_setopt(f->easy, option, value) != CURLE_OK);
}

static void forget(struct far *f)
{
    struct piece *p;

    while ((p = f->first)) {
        f->first = p->next;
        free(p);
    }
    f->last = NULL;
    f->queued = 0;
}

static void enter(struct far *f)
{
    f->inside++;
}

static void leave(struct far *f)
{
    if (--f->inside || !f->closed)
        return;
    free(f->words);
    free(f->proxy);
    free(f);
}

static void watch_on(struct far *f)
{
    if (f->watch)
        watch_set(f->watch, f->reading && !f->over, f->first != NULL);
}

static void tell_end(struct far *f, bool clean)
{
    if (f->over || f->closed)
        return;
    f->over = true;
    forget(f);
    watch_on(f);
    f->house->events->end(f->to, clean);
}

static void send_first(struct far *f)
{
    struct piece *p = f->first;
    size_t n = 0;
    CURLcode code = f->house->curl.easy_send(f->easy, p->bytes + p->from, p->len - p->from, &n);

    if (code == CURLE_AGAIN)
        return;
    if (code != CURLE_OK) { /* reading will tell why, and what was said before */
        f->deaf = true;
        forget(f);
        return;
    }
    p->from += n;
    f->queued -= n;
    if (p->from < p->len)
        return;
    f->first = p->next;
    if (!f->first)
        f->last = NULL;
    free(p);
}

static void push(struct far *f)
{
    while (f->first && f->watch) {
        size_t before = f->queued;

        send_first(f);
        if (f->queued == before)
            break;
    }
    watch_on(f);
}

static void push_and_tell(struct far *f)
{
    bool had = f->first != NULL;

    push(f);
    if (had && !f->first && !f->over && !f->closed)
        f->house->events->drained(f->to);
}

static void take(struct far *f);

static void take_now(void *to)
{
    struct far *f = to;

    enter(f);
    take(f);
    leave(f);
}

/* TLS may have taken more off the socket than it has told: no watch would tell of that. */
static void take_later(struct far *f)
{
    if (!f->soon)
        f->soon = timer_new(f->house->loop, take_now, f);
    timer_set(f->soon, 0);
}

/* Until there is nothing, or enough for this turn. */
static void take(struct far *f)
{
    for (int i = 0; i < READS; i++) {
        size_t n = 0;
        CURLcode code;

        if (!f->reading || f->over || f->closed)
            return;
        code = f->house->curl.easy_recv(f->easy, f->house->chunk, CHUNK, &n);
        if (code == CURLE_AGAIN)
            return;
        if (code != CURLE_OK || n == 0) {
            tell_end(f, code == CURLE_OK);
            return;
        }
        f->house->events->data(f->to, str_n(f->house->chunk, n));
    }
    take_later(f);
}

static void ready(void *to, bool can_read, bool can_write)
{
    struct far *f = to;

    enter(f);
    if (can_write)
        push_and_tell(f);
    if (can_read && !f->closed)
        take(f);
    if (!f->closed)
        watch_on(f);
    leave(f);
}

static void connected(struct far *f)
{
    curl_socket_t fd = CURL_SOCKET_BAD;

    f->house->curl.easy_getinfo(f->easy, CURLINFO_ACTIVESOCKET, &fd);
    BUG_IF(fd == CURL_SOCKET_BAD);
    free(f->words);
    free(f->proxy);
    f->words = f->proxy = NULL;
    set_at(f, CURLOPT_ERRORBUFFER, NULL);
    set(f, CURLOPT_VERBOSE, 0);
    f->watch = watch_open(f->house->loop, (int)fd, ready, f);
    watch_on(f);
    f->house->events->connected(f->to);
}

/* It is libcurl's own affair whether there is one: see transport/proxy.h. */
static int on_remark(CURL *easy, curl_infotype what, char *text, size_t len, void *to)
{
    struct far *f = to;
    char proxy[PROXY_TEXT];

    (void)easy;
    if (what == CURLINFO_TEXT && f->words && !f->proxy && proxy_told(str_n(text, len), proxy)) {
        f->proxy = mem_alloc(sizeof proxy);
        memcpy(f->proxy, proxy, sizeof proxy);
    }
    return 0;
}

/* Whether it did not even come to the proxy. One that is there and cannot go on says so, or
 * keeps silent after it has taken the connection. */
static bool missed_proxy(const struct far *f, CURLcode code)
{
    curl_off_t reached = 0;

    f->house->curl.easy_getinfo(f->easy, CURLINFO_CONNECT_TIME_T, &reached);
    return f->proxy && (code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_COULDNT_CONNECT ||
                        (code == CURLE_OPERATION_TIMEDOUT && !reached));
}

static enum dial_fault fault_of(const struct far *f, CURLcode code)
{
    long reason = 0, answer = 0;

    f->house->curl.easy_getinfo(f->easy, CURLINFO_OS_ERRNO, &reason);
    f->house->curl.easy_getinfo(f->easy, CURLINFO_HTTP_CONNECTCODE, &answer);
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return DIAL_UNKNOWN_HOST;
    case CURLE_OPERATION_TIMEDOUT:
        return DIAL_TIMEOUT;
    case CURLE_COULDNT_CONNECT:
        return reason == ECONNREFUSED ? DIAL_REFUSED : DIAL_UNREACHABLE;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY:
        return DIAL_PROXY;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
        return DIAL_TLS;
    default:
        return answer ? DIAL_PROXY : DIAL_UNREACHABLE;
    }
}

static void explain_proxy(const struct far *f, CURLcode code, struct err *e)
{
    long reason = 0;
    const char *text = f->words[0] ? f->words : f->house->curl.easy_strerror(code);

    f->house->curl.easy_getinfo(f->easy, CURLINFO_OS_ERRNO, &reason);
    if (code == CURLE_COULDNT_RESOLVE_PROXY)
        text = "its name has no address";
    else if (code == CURLE_OPERATION_TIMEDOUT)
        text = "it took too long";
    else if (reason == ECONNREFUSED)
        text = "connection refused";
    err_set(e, ERR_PEER, "cannot connect to the proxy %s, on the way to '%s': %s", f->proxy,
            f->house->config.url, text);
    err_hint(e, "is the proxy running there? NO_PROXY names the servers that need none");
}

static void explain(const struct far *f, enum dial_fault fault, CURLcode code, struct err *e)
{
    static const char *const texts[DIAL_FAULTS] = {
        [DIAL_UNKNOWN_HOST] = "its name has no address",
        [DIAL_REFUSED] = "connection refused",
        [DIAL_TIMEOUT] = "it took too long",
    };
    const char *text = texts[fault];

    if (!text)
        text = f->words[0] ? f->words : f->house->curl.easy_strerror(code);
    err_set(e, ERR_PEER, "cannot connect to '%s': %s", f->house->config.url, text);
    if (fault == DIAL_REFUSED)
        err_hint(e, "is the server running there?");
    else if (fault == DIAL_TLS)
        err_hint(e, "--cacert FILE trusts the certificates of a file");
}

static void failed(struct far *f, CURLcode code)
{
    enum dial_fault fault = fault_of(f, code);
    struct err e = ERR_NONE;

    if (missed_proxy(f, code)) {
        fault = fault == DIAL_TIMEOUT ? fault : DIAL_PROXY;
        explain_proxy(f, code, &e);
    } else {
        explain(f, fault, code, &e);
    }
    f->over = true;
    forget(f);
    f->house->events->failed(f->to, fault, &e);
}

static void hear(struct board *b)
{
    const struct libcurl *curl = &b->house->curl;
    CURLMsg *said;
    int left;

    while ((said = curl->multi_info_read(b->multi, &left))) {
        CURLcode code = said->data.result;
        char *mine = NULL;
        struct far *f;

        BUG_IF(said->msg != CURLMSG_DONE);
        curl->easy_getinfo(said->easy_handle, CURLINFO_PRIVATE, &mine);
        f = (struct far *)(void *)mine;
        enter(f);
        if (code == CURLE_OK)
            connected(f);
        else
            failed(f, code);
        leave(f);
    }
}

static void act(struct board *b, curl_socket_t fd, int what)
{
    int running;

    BUG_IF(b->house->curl.multi_socket_action(b->multi, fd, what, &running) != CURLM_OK);
    hear(b);
}

static void time_is_up(void *to)
{
    act(to, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer(CURLM *multi, long ms, void *to)
{
    struct board *b = to;

    (void)multi;
    if (ms < 0)
        timer_stop(b->timer);
    else
        timer_set(b->timer, (uint64_t)ms);
    return 0;
}

static void connecting(void *to, bool can_read, bool can_write)
{
    struct wait *w = to;

    act(w->board, w->fd, (can_read ? CURL_CSELECT_IN : 0) | (can_write ? CURL_CSELECT_OUT : 0));
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *to, void *mine)
{
    struct board *b = to;
    struct wait *w = mine;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        watch_close(w->watch);
        free(w);
        b->house->curl.multi_assign(b->multi, fd, NULL);
        return 0;
    }
    if (!w) {
        w = mem_new(struct wait);
        *w = (struct wait){ .board = b, .fd = fd };
        w->watch = watch_open(b->house->loop, (int)fd, connecting, w);
        b->house->curl.multi_assign(b->multi, fd, w);
    }
    watch_set(w->watch, what & CURL_POLL_IN, what & CURL_POLL_OUT);
    return 0;
}

static struct board *board_new(struct far_house *h)
{
    struct board *b = mem_new(struct board);
    const struct libcurl *curl = &h->curl;
    bool ok;

    b->house = h;
    b->timer = timer_new(h->loop, time_is_up, b);
    b->multi = mem_checked(curl->multi_init());
    ok = curl->multi_setopt(b->multi, CURLMOPT_SOCKETFUNCTION, on_socket) == CURLM_OK &&
         curl->multi_setopt(b->multi, CURLMOPT_SOCKETDATA, b) == CURLM_OK &&
         curl->multi_setopt(b->multi, CURLMOPT_TIMERFUNCTION, on_timer) == CURLM_OK &&
         curl->multi_setopt(b->multi, CURLMOPT_TIMERDATA, b) == CURLM_OK;
    BUG_IF(!ok);
    b->next = h->boards;
    h->boards = b;
    return b;
}

static struct board *board_with_room(struct far_house *h)
{
    for (struct board *b = h->boards; b; b = b->next) {
        if (b->count < BOARD_MAX)
            return b;
    }
    return board_new(h);
}

bool far_house_new(struct far_house **out, struct loop *l, const struct far_config *config,
                   const struct far_events *events, struct err *e)
{
    struct far_house *h = mem_new(struct far_house);

    if (!libcurl_load(&h->curl, libcurl_name, e)) {
        free(h);
        return false;
    }
    h->loop = l;
    h->config = *config;
    h->events = events;
    *out = h;
    return true;
}

void far_house_free(struct far_house *h)
{
    if (!h)
        return;
    while (h->boards) {
        struct board *b = h->boards;

        BUG_IF(b->count);
        h->boards = b->next;
        h->curl.multi_cleanup(b->multi);
        timer_close(b->timer);
        free(b);
    }
    free(h);
}

static void set_up(struct far *f)
{
    const struct far_config *config = &f->house->config;

    set_at(f, CURLOPT_URL, config->url);
    set_at(f, CURLOPT_PROTOCOLS_STR, "http,https");
    set(f, CURLOPT_CONNECT_ONLY, 1);
    set(f, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    set(f, CURLOPT_HTTPPROXYTUNNEL, 1);
    if (config->here)
        set_at(f, CURLOPT_PROXY, "");
    set(f, CURLOPT_NOSIGNAL, 1);
    set(f, CURLOPT_BUFFERSIZE, CURL_BUFFER);
    set(f, CURLOPT_TCP_NODELAY, 1);
    set(f, CURLOPT_TCP_KEEPALIVE, 1);
    set(f, CURLOPT_TCP_KEEPIDLE, QUIET_S);
    set(f, CURLOPT_TCP_KEEPINTVL, QUIET_S);
    set(f, CURLOPT_CONNECTTIMEOUT_MS, (long)config->connect_ms);
    set_at(f, CURLOPT_ERRORBUFFER, f->words);
    set(f, CURLOPT_VERBOSE, 1);
    BUG_IF(f->house->curl.easy_setopt(f->easy, CURLOPT_DEBUGFUNCTION, on_remark) != CURLE_OK);
    set_at(f, CURLOPT_DEBUGDATA, f);
    if (config->cacert)
        set_at(f, CURLOPT_CAINFO, config->cacert);
    set_at(f, CURLOPT_PRIVATE, f);
}

struct far *far_open(struct far_house *h, void *to)
{
    struct far *f = mem_new(struct far);

    *f = (struct far){ .house = h, .to = to, .reading = true };
    f->words = mem_alloc(CURL_ERROR_SIZE);
    f->easy = mem_checked(h->curl.easy_init());
    set_up(f);
    f->board = board_with_room(h);
    f->board->count++;
    BUG_IF(h->curl.multi_add_handle(f->board->multi, f->easy) != CURLM_OK);
    return f;
}

void far_write(struct far *f, struct str bytes)
{
    struct piece *p;

    BUG_IF(!f->watch);
    if (f->deaf || f->over || !bytes.len)
        return;
    p = mem_grow(NULL, sizeof *p + bytes.len);
    *p = (struct piece){ .len = bytes.len };
    memcpy(p->bytes, bytes.at, bytes.len);
    if (f->last)
        f->last->next = p;
    else
        f->first = p;
    f->last = p;
    f->queued += bytes.len;
    push(f);
}

size_t far_queued(const struct far *f)
{
    return f->queued;
}

void far_read(struct far *f, bool on)
{
    if (f->reading == on || f->over)
        return;
    f->reading = on;
    watch_on(f);
    if (on && f->watch)
        take_later(f);
}

void far_close(struct far *f)
{
    if (!f || f->closed)
        return;
    enter(f);
    forget(f);
    watch_close(f->watch);
    f->watch = NULL;
    timer_close(f->soon);
    f->house->curl.multi_remove_handle(f->board->multi, f->easy);
    f->house->curl.easy_cleanup(f->easy);
    f->board->count--;
    f->closed = true;
    leave(f);
}
