#include "transport/dial.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "loop/timer.h"
#include "loop/watch.h"
#include "transport/libcurl.h"

enum {
    CHUNK = 64 << 10,
    READS = 16,         /* at most so many chunks of one connection in a row */
    BOARD_MAX = 256,    /* connections of one board: libcurl searches them one by one */
    CURL_BUFFER = 1024, /* libcurl's own, while it connects: the smallest there is */
    QUIET_S = 60,       /* after which a silent connection is probed: somebody there? */
    ROOM_MIN = 1024,
};

/* Bytes on their way. They must not move once TLS has seen them. */
struct piece {
    struct piece *next;
    size_t from, len, room;
    char bytes[];
};

/* Connections that libcurl keeps together. */
struct board {
    struct board *next;
    struct dialer *dialer;
    CURLM *multi;
    struct timer *timer;
    size_t count;
};

struct dial {
    struct dialer *dialer;
    struct board *board;
    CURL *easy;
    const struct dial_events *events;
    void *to;
    char *words;                /* libcurl's about a failure; NULL once connected */
    struct watch *watch;        /* once connected */
    struct piece *first, *last; /* to be sent */
    struct dial *prev, *next;   /* among those with something to do at once */
    struct dial *todo;          /* the next one, while it is done */
    size_t queued;
    unsigned inside;       /* calls of ours that are under way */
    bool reading, waiting; /* wants to read; among those with something to do */
    bool deaf;             /* nothing can be sent any more */
    bool over, closed;
};

struct dialer {
    struct libcurl curl;
    struct loop *loop;
    char *url, *cacert;
    bool https;
    unsigned connect_ms;
    struct board *boards;
    struct dial *waiting;
    struct timer *soon;
    char chunk[CHUNK];
};

/* A socket that libcurl is connecting. */
struct wait {
    struct board *board;
    curl_socket_t fd;
    struct watch *watch;
};

static void set(const struct dial *d, CURLoption option, long value)
{
    BUG_IF(d->dialer->curl.easy_setopt(d->easy, option, value) != CURLE_OK);
}

static void set_at(const struct dial *d, CURLoption option, const void *value)
{
    BUG_IF(d->dialer->curl.easy_setopt(d->easy, option, value) != CURLE_OK);
}

static void forget(struct dial *d)
{
    struct piece *p;

    while ((p = d->first)) {
        d->first = p->next;
        free(p);
    }
    d->last = NULL;
    d->queued = 0;
}

static void wait_no_more(struct dial *d)
{
    if (!d->waiting)
        return;
    d->waiting = false;
    if (d->prev)
        d->prev->next = d->next;
    else
        d->dialer->waiting = d->next;
    if (d->next)
        d->next->prev = d->prev;
    d->prev = d->next = NULL;
}

/* There is something to do that no watch would tell: at the end of this turn. */
static void wait_a_turn(struct dial *d)
{
    if (d->waiting || d->over || d->closed)
        return;
    if (!d->dialer->waiting)
        timer_set(d->dialer->soon, 0);
    d->waiting = true;
    d->next = d->dialer->waiting;
    if (d->next)
        d->next->prev = d;
    d->dialer->waiting = d;
}

static void enter(struct dial *d)
{
    d->inside++;
}

static void leave(struct dial *d)
{
    if (--d->inside || !d->closed)
        return;
    free(d->words);
    free(d);
}

static void watch_on(struct dial *d)
{
    if (d->watch)
        watch_set(d->watch, d->reading && !d->over, d->first != NULL);
}

static void tell_end(struct dial *d, bool clean)
{
    if (d->over || d->closed)
        return;
    d->over = true;
    forget(d);
    watch_on(d);
    d->events->end(d->to, clean);
}

static void send_first(struct dial *d)
{
    struct piece *p = d->first;
    size_t n = 0;
    CURLcode code =
        d->dialer->curl.easy_send(d->easy, p->bytes + p->from, p->len - p->from, &n);

    if (code == CURLE_AGAIN)
        return;
    if (code != CURLE_OK) { /* reading will tell why, and what was said before */
        d->deaf = true;
        forget(d);
        return;
    }
    p->from += n;
    d->queued -= n;
    if (p->from < p->len)
        return;
    d->first = p->next;
    if (!d->first)
        d->last = NULL;
    free(p);
}

static void push(struct dial *d)
{
    while (d->first && d->watch) {
        size_t before = d->queued;

        send_first(d);
        if (d->queued == before)
            break;
    }
    watch_on(d);
}

static void push_and_tell(struct dial *d)
{
    bool had = d->first != NULL;

    push(d);
    if (had && !d->first && !d->over && !d->closed)
        d->events->drained(d->to);
}

/* Until there is nothing, or enough for this turn. TLS keeps some that no watch tells of. */
static void take(struct dial *d)
{
    for (int i = 0; i < READS; i++) {
        size_t n = 0;
        CURLcode code;

        if (!d->reading || d->over || d->closed)
            return;
        code = d->dialer->curl.easy_recv(d->easy, d->dialer->chunk, CHUNK, &n);
        if (code == CURLE_AGAIN)
            return;
        if (code != CURLE_OK || n == 0) {
            tell_end(d, code == CURLE_OK);
            return;
        }
        d->events->data(d->to, str_n(d->dialer->chunk, n));
        if (n < CHUNK && !d->dialer->https)
            return;
    }
    wait_a_turn(d);
}

static void ready(void *to, bool can_read, bool can_write)
{
    struct dial *d = to;

    enter(d);
    if (can_write)
        push_and_tell(d);
    if (can_read && !d->closed)
        take(d);
    if (!d->closed)
        watch_on(d);
    leave(d);
}

static void do_what_waits(void *to)
{
    struct dialer *dialer = to;
    struct dial *d, *todo = NULL;

    /* What is put there meanwhile is for the next turn. */
    while ((d = dialer->waiting)) {
        wait_no_more(d);
        d->todo = todo;
        todo = d;
        enter(d);
    }
    while ((d = todo)) {
        todo = d->todo;
        if (!d->closed && d->watch)
            push_and_tell(d);
        if (!d->closed && d->watch)
            take(d);
        leave(d);
    }
}

static void connected(struct dial *d)
{
    curl_socket_t fd = CURL_SOCKET_BAD;

    d->dialer->curl.easy_getinfo(d->easy, CURLINFO_ACTIVESOCKET, &fd);
    BUG_IF(fd == CURL_SOCKET_BAD);
    free(d->words);
    d->words = NULL;
    set_at(d, CURLOPT_ERRORBUFFER, NULL);
    d->watch = watch_open(d->dialer->loop, (int)fd, ready, d);
    push_and_tell(d);
    if (!d->closed)
        watch_on(d);
}

static enum dial_fault fault_of(const struct dial *d, CURLcode code)
{
    long reason = 0, answer = 0;

    d->dialer->curl.easy_getinfo(d->easy, CURLINFO_OS_ERRNO, &reason);
    d->dialer->curl.easy_getinfo(d->easy, CURLINFO_HTTP_CONNECTCODE, &answer);
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

static void explain(const struct dial *d, enum dial_fault fault, CURLcode code, struct err *e)
{
    static const char *const texts[DIAL_FAULTS] = {
        [DIAL_UNKNOWN_HOST] = "its name has no address",
        [DIAL_REFUSED] = "connection refused",
        [DIAL_TIMEOUT] = "it took too long",
    };
    const char *text = texts[fault];

    if (!text)
        text = d->words[0] ? d->words : d->dialer->curl.easy_strerror(code);
    err_set(e, ERR_PEER, "cannot connect to '%s': %s", d->dialer->url, text);
    if (fault == DIAL_REFUSED)
        err_hint(e, "is the server running there?");
    else if (fault == DIAL_TLS)
        err_hint(e, "--cacert FILE trusts the certificates of a file");
}

static void failed(struct dial *d, CURLcode code)
{
    enum dial_fault fault = fault_of(d, code);
    struct err e = ERR_NONE;

    explain(d, fault, code, &e);
    d->over = true;
    forget(d);
    d->events->failed(d->to, fault, &e);
}

static void hear(struct board *b)
{
    const struct libcurl *curl = &b->dialer->curl;
    CURLMsg *said;
    int left;

    while ((said = curl->multi_info_read(b->multi, &left))) {
        CURLcode code = said->data.result;
        char *mine = NULL;
        struct dial *d;

        BUG_IF(said->msg != CURLMSG_DONE);
        curl->easy_getinfo(said->easy_handle, CURLINFO_PRIVATE, &mine);
        d = (struct dial *)(void *)mine;
        enter(d);
        if (code == CURLE_OK)
            connected(d);
        else
            failed(d, code);
        leave(d);
    }
}

static void act(struct board *b, curl_socket_t fd, int what)
{
    int running;

    BUG_IF(b->dialer->curl.multi_socket_action(b->multi, fd, what, &running) != CURLM_OK);
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
        b->dialer->curl.multi_assign(b->multi, fd, NULL);
        return 0;
    }
    if (!w) {
        w = mem_new(struct wait);
        *w = (struct wait){ .board = b, .fd = fd };
        w->watch = watch_open(b->dialer->loop, (int)fd, connecting, w);
        b->dialer->curl.multi_assign(b->multi, fd, w);
    }
    watch_set(w->watch, what & CURL_POLL_IN, what & CURL_POLL_OUT);
    return 0;
}

static struct board *board_new(struct dialer *d)
{
    struct board *b = mem_new(struct board);
    const struct libcurl *curl = &d->curl;
    bool ok;

    b->dialer = d;
    b->timer = timer_new(d->loop, time_is_up, b);
    b->multi = mem_checked(curl->multi_init());
    ok = curl->multi_setopt(b->multi, CURLMOPT_SOCKETFUNCTION, on_socket) == CURLM_OK &&
         curl->multi_setopt(b->multi, CURLMOPT_SOCKETDATA, b) == CURLM_OK &&
         curl->multi_setopt(b->multi, CURLMOPT_TIMERFUNCTION, on_timer) == CURLM_OK &&
         curl->multi_setopt(b->multi, CURLMOPT_TIMERDATA, b) == CURLM_OK;
    BUG_IF(!ok);
    b->next = d->boards;
    d->boards = b;
    return b;
}

static struct board *board_with_room(struct dialer *d)
{
    for (struct board *b = d->boards; b; b = b->next) {
        if (b->count < BOARD_MAX)
            return b;
    }
    return board_new(d);
}

bool dialer_new(struct dialer **out, struct loop *l, const struct dialer_config *config,
                struct err *e)
{
    struct dialer *d = mem_new(struct dialer);
    struct buf text;

    if (!libcurl_load(&d->curl, libcurl_name, e)) {
        free(d);
        return false;
    }
    d->loop = l;
    d->https = config->https;
    d->connect_ms = config->connect_ms;
    d->soon = timer_new(l, do_what_waits, d);
    buf_init(&text, 4096);
    buf_printf(&text, "%s://%.*s:%d", d->https ? "https" : "http", STR_ARG(config->host),
               config->port);
    d->url = mem_checked(strdup(buf_z(&text)));
    buf_clear(&text);
    buf_add(&text, config->cacert);
    d->cacert = config->cacert.len ? mem_checked(strdup(buf_z(&text))) : NULL;
    buf_release(&text);
    *out = d;
    return true;
}

void dialer_free(struct dialer *d)
{
    if (!d)
        return;
    while (d->boards) {
        struct board *b = d->boards;

        BUG_IF(b->count);
        d->boards = b->next;
        d->curl.multi_cleanup(b->multi);
        timer_close(b->timer);
        free(b);
    }
    timer_close(d->soon);
    free(d->url);
    free(d->cacert);
    free(d);
}

static void set_up(struct dial *d)
{
    const struct dialer *dialer = d->dialer;

    set_at(d, CURLOPT_URL, dialer->url);
    set_at(d, CURLOPT_PROTOCOLS_STR, "http,https");
    set(d, CURLOPT_CONNECT_ONLY, 1);
    set(d, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    set(d, CURLOPT_HTTPPROXYTUNNEL, 1);
    set(d, CURLOPT_NOSIGNAL, 1);
    set(d, CURLOPT_BUFFERSIZE, CURL_BUFFER);
    set(d, CURLOPT_TCP_NODELAY, 1);
    set(d, CURLOPT_TCP_KEEPALIVE, 1);
    set(d, CURLOPT_TCP_KEEPIDLE, QUIET_S);
    set(d, CURLOPT_TCP_KEEPINTVL, QUIET_S);
    set(d, CURLOPT_CONNECTTIMEOUT_MS, (long)dialer->connect_ms);
    set_at(d, CURLOPT_ERRORBUFFER, d->words);
    if (dialer->cacert)
        set_at(d, CURLOPT_CAINFO, dialer->cacert);
    set_at(d, CURLOPT_PRIVATE, d);
}

struct dial *dial_open(struct dialer *dialer, const struct dial_events *events, void *to)
{
    struct dial *d = mem_new(struct dial);

    *d = (struct dial){ .dialer = dialer, .events = events, .to = to, .reading = true };
    d->words = mem_alloc(CURL_ERROR_SIZE);
    d->easy = mem_checked(dialer->curl.easy_init());
    set_up(d);
    d->board = board_with_room(dialer);
    d->board->count++;
    BUG_IF(dialer->curl.multi_add_handle(d->board->multi, d->easy) != CURLM_OK);
    return d;
}

void dial_write(struct dial *d, struct str bytes)
{
    struct piece *p = d->last;

    if (d->deaf || d->over || !bytes.len)
        return;
    if (!p || p->room - p->len < bytes.len) {
        size_t room = bytes.len < ROOM_MIN ? ROOM_MIN : bytes.len;

        p = mem_grow(NULL, sizeof *p + room);
        *p = (struct piece){ .room = room };
        if (d->last)
            d->last->next = p;
        else
            d->first = p;
        d->last = p;
    }
    memcpy(p->bytes + p->len, bytes.at, bytes.len);
    p->len += bytes.len;
    d->queued += bytes.len;
    if (d->watch)
        wait_a_turn(d);
}

void dial_flush(struct dial *d)
{
    if (!d->over)
        push(d);
}

size_t dial_queued(const struct dial *d)
{
    return d->queued;
}

void dial_read(struct dial *d, bool on)
{
    if (d->reading == on)
        return;
    d->reading = on;
    watch_on(d);
    if (on && d->watch && d->dialer->https)
        wait_a_turn(d);
}

void dial_close(struct dial *d)
{
    if (!d || d->closed)
        return;
    enter(d);
    wait_no_more(d);
    forget(d);
    watch_close(d->watch);
    d->watch = NULL;
    d->dialer->curl.multi_remove_handle(d->board->multi, d->easy);
    d->dialer->curl.easy_cleanup(d->easy);
    d->board->count--;
    d->closed = true;
    leave(d);
}
