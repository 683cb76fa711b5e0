#include "line-recorder.h"

#include "test.h"
#include "trace/limits.h"
#include "wire/sse-writer.h"

void line_recorder_init(struct line_recorder *t, struct sink *to)
{
    struct err e = ERR_NONE;

    *t = (struct line_recorder){ .ms = 0 };
    assert_true(url_parse(&t->server, STR("http://server/sse"), &e));
    recorder_init(&t->recorder, to);
    http_recorder_init(&t->http, &t->recorder, LIMIT_MESSAGE, NULL);
    t->http.server_url = &t->server;
    buf_init(&t->text, LIMIT_MESSAGE);
}

static struct recorder_time next_time(struct line_recorder *t)
{
    t->ms++;
    return (struct recorder_time){ .us = t->ms * 1000,
                                   .wall_us = 1700000000000000 + t->ms * 1000 };
}

static void end_exchange(struct line_recorder *t, uint64_t number, enum http_recorder_by by)
{
    http_recorder_end(t->open[number], by, by == HTTP_RECORDER_BY_SERVER, STR_NONE,
                      next_time(t));
    t->open[number] = NULL;
}

void line_recorder_release(struct line_recorder *t)
{
    for (uint64_t i = 0; i < LINE_RECORDER_EXCHANGES; i++)
        if (t->open[i])
            end_exchange(t, i, HTTP_RECORDER_BY_CLIENT);
    http_recorder_release(&t->http);
    recorder_release(&t->recorder);
    buf_release(&t->text);
}

static void record_request(struct line_recorder *t, const struct http_line *l)
{
    struct http_recorder_request q = {
        .conn = 1,
        .method = l->method,
        .path = l->path,
        .query = l->query,
        .headers = &l->fields,
        .host = l->host,
        .origin = l->origin,
        .is_endpoint = str_eq(l->path, STR("/mcp")) || str_eq(l->path, STR("/sse")) ||
                       http_recorder_is_sse_post(&t->http, l->method, l->path, l->query),
    };

    t->open[l->number] = http_recorder_begin(&t->http, &q);
    http_recorder_request_data(t->open[l->number], l->body);
    http_recorder_request_end(t->open[l->number], next_time(t));
}

static void record_response(struct line_recorder *t, const struct http_line *l)
{
    http_recorder_response(t->open[l->number], l->status, &l->fields, HTTP_RECORDER_BY_SERVER,
                           next_time(t));
    http_recorder_response_data(t->open[l->number], l->body, next_time(t));
    if (!l->stream)
        end_exchange(t, l->number, HTTP_RECORDER_BY_SERVER);
}

static void record_event(struct line_recorder *t, const struct http_line *l)
{
    struct err e = ERR_NONE;

    buf_clear(&t->text);
    assert_true(sse_writer_add(&t->text, &l->event, &e));
    http_recorder_response_data(t->open[l->number], buf_str(&t->text), next_time(t));
}

void line_recorder_add(struct line_recorder *t, struct str line)
{
    struct err e = ERR_NONE;
    struct http_line l;

    http_line_read(&l, line);
    if (l.number >= LINE_RECORDER_EXCHANGES ||
        !t->open[l.number] != (l.kind == HTTP_LINE_REQUEST))
        fail_msg("its exchange is open already, or is not: %.*s", STR_ARG(line));
    if (l.kind == HTTP_LINE_REQUEST)
        record_request(t, &l);
    else if (l.kind == HTTP_LINE_RESPONSE)
        record_response(t, &l);
    else if (l.kind == HTTP_LINE_EVENT)
        record_event(t, &l);
    else if (l.kind == HTTP_LINE_END)
        end_exchange(t, l.number, HTTP_RECORDER_BY_SERVER);
    else
        end_exchange(t, l.number, HTTP_RECORDER_BY_CLIENT);
    assert_true(http_recorder_check(&t->http, &e));
    http_line_release(&l);
}
