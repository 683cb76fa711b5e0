#include "mcphttp/client-exchange.h"

#include <stdlib.h>

#include "base/mem.h"

enum {
    SECOND_US = 1000000,
    STEADY_S = 10,        /* a stream that lasted so long was no failure */
    RESUME_TRIES_MAX = 5, /* failed, in a row */
    DOUBLINGS_MAX = 6,    /* of the delay */
    POLL_MAX_S = 5,       /* unless the server's retry is longer */
    RETRY_MAX_S = 3600,
    RETRY_MIN_US = 100000,
    RETRY_MARGIN_US = 1000,
    UNEXPECTED_ID_MAX = 64,
    PARAM_HEADERS_TEXT_MAX = 1 << 20,
    STATUS_NOT_FOUND = 404,
};

struct client_exchange *client_exchange_add(struct client_exchanges *all,
                                            enum client_exchange_kind kind)
{
    struct client_exchange *t = mem_new(struct client_exchange);

    t->kind = kind;
    t->next = all->first;
    client_response_init(&t->response);
    buf_init(&t->unexpected_id, UNEXPECTED_ID_MAX);
    buf_init(&t->param_headers, PARAM_HEADERS_TEXT_MAX);
    all->first = t;
    return t;
}

struct client_exchange *client_exchange_find(const struct client_exchanges *all,
                                             uint64_t exchange)
{
    struct client_exchange *t = all->first;

    while (t && t->exchange != exchange)
        t = t->next;
    return t;
}

struct client_exchange *client_exchange_find_timer(const struct client_exchanges *all,
                                                   uint64_t timer)
{
    struct client_exchange *t = all->first;

    while (t && t->timer != timer)
        t = t->next;
    return t;
}

size_t client_exchange_count_open(const struct client_exchanges *all)
{
    size_t count = 0;

    for (const struct client_exchange *t = all->first; t; t = t->next)
        count += t->kind == CLIENT_EXCHANGE_POST && t->exchange && !t->timer;
    return count;
}

bool client_exchange_has_notification(const struct client_exchanges *all)
{
    const struct client_exchange *t = all->first;

    while (t && !(t->kind == CLIENT_EXCHANGE_POST && t->has_no_request && t->exchange &&
                  !t->response.status))
        t = t->next;
    return t != NULL;
}

struct client_exchange *client_exchange_find_held(const struct client_exchanges *all)
{
    struct client_exchange *t = all->first;

    while (t && !t->held)
        t = t->next;
    return t;
}

static void free_exchange(struct client_exchange *t)
{
    client_response_release(&t->response);
    buf_release(&t->unexpected_id);
    buf_release(&t->param_headers);
    free(t->body);
    free(t);
}

void client_exchange_free_finished(struct client_exchanges *all)
{
    for (struct client_exchange **at = &all->first, *t; (t = *at);) {
        if (!t->finished) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        free_exchange(t);
    }
}

void client_exchange_release_all(struct client_exchanges *all)
{
    for (struct client_exchange *t = all->first; t; t = t->next)
        t->finished = true;
    client_exchange_free_finished(all);
}

void client_exchange_keep_body(struct client_exchange *t, struct str text)
{
    if (t->body)
        return;
    t->body = mem_alloc(text.len + 1);
    t->body_len = text.len;
    memcpy(t->body, text.at, text.len);
}

void client_exchange_send(struct client_exchanges *all, struct client_exchange *t,
                          struct actions *actions, const struct action_request *request,
                          int64_t now_us)
{
    struct action a = { .kind = ACTION_HTTP_REQUEST, .request = request };

    client_response_reset(&t->response);
    buf_clear(&t->unexpected_id);
    t->exchange = a.route.exchange = ++all->exchange_count;
    t->started_us = now_us;
    t->request_sent = false;
    t->timer = 0;
    actions_put(actions, &a);
}

void client_exchange_abort(struct client_exchange *t, struct actions *actions, struct str why)
{
    struct action a = { .kind = ACTION_HTTP_ABORT,
                        .text = why,
                        .route = { .exchange = t->exchange } };

    if (t->exchange)
        actions_put(actions, &a);
    t->exchange = 0;
    t->held = false;
    t->finished = true;
}

void client_exchange_abort_all(struct client_exchanges *all, struct actions *actions,
                               struct str why)
{
    for (struct client_exchange *t = all->first; t; t = t->next)
        client_exchange_abort(t, actions, why);
}

void client_exchange_describe_failure(const struct client_exchange *t, struct str hint,
                                      struct str why, struct buf *to)
{
    if (why.len)
        buf_add(to, why);
    else if (t->unexpected_id.len)
        buf_printf(to, "the server responded to another request id, '%.*s'",
                   STR_ARG(buf_str(&t->unexpected_id)));
    else if (t->response.status == STATUS_NOT_FOUND && hint.len && !t->stateless)
        buf_printf(to, "the server has ended the session (status 404): %.*s", STR_ARG(hint));
    else
        client_response_describe_failure(&t->response, to);
}

void client_exchange_set_unexpected(struct client_exchange *t, struct str id)
{
    buf_clear(&t->unexpected_id);
    buf_add(&t->unexpected_id,
            str_n(id.at, id.len < UNEXPECTED_ID_MAX ? id.len : UNEXPECTED_ID_MAX));
}

/* The server's retry, within limits; one second if it gave none. */
static int64_t server_retry_us(const struct client_exchange *t)
{
    int64_t ms = t->response.retry_ms, us;

    if (ms < 0)
        return SECOND_US;
    if (ms / 1000 >= RETRY_MAX_S)
        return (int64_t)RETRY_MAX_S * SECOND_US;
    us = ms * 1000 + RETRY_MARGIN_US;
    return us < RETRY_MIN_US ? RETRY_MIN_US : us;
}

static int64_t double_delay(int64_t us, unsigned times)
{
    return us << (times < DOUBLINGS_MAX ? times : DOUBLINGS_MAX);
}

int64_t client_exchange_retry_delay_us(const struct client_exchange *t)
{
    const int64_t longest = (int64_t)POLL_MAX_S * SECOND_US;
    int64_t retry = server_retry_us(t), us;

    if (t->failed_tries)
        us = double_delay(SECOND_US, t->failed_tries);
    else
        us = double_delay(retry, t->empty_polls ? t->empty_polls - 1 : 0);
    if (!t->failed_tries && us > longest)
        us = longest;
    return us < retry ? retry : us;
}

bool client_exchange_can_resume(const struct client_exchange *t)
{
    bool refused = t->response.status >= 300 && t->response.status < 500;

    return !t->stateless && t->response.last_event_id.len &&
           t->failed_tries < RESUME_TRIES_MAX && !refused &&
           (t->resuming || client_response_is_stream(&t->response));
}

void client_exchange_count_try(struct client_exchange *t, int64_t now_us)
{
    bool opened = client_response_is_stream(&t->response);
    bool lasted = now_us - t->started_us >= (int64_t)STEADY_S * SECOND_US;

    if (opened && (t->response.new_events || lasted)) {
        t->failed_tries = t->empty_polls = 0;
    } else if (opened && t->response.has_new_event_id) {
        t->failed_tries = 0;
        t->empty_polls++;
    } else {
        t->failed_tries++;
    }
}
