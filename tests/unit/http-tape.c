#include "http-tape.h"

#include "test.h"
#include "trace/limits.h"
#include "wire/sse-writer.h"

void http_tape_init(struct http_tape *t, struct sink *to)
{
    struct err e = ERR_NONE;

    *t = (struct http_tape){ .ms = 0 };
    assert_true(url_parse(&t->server, STR("http://server/sse"), &e));
    tap_init(&t->tap, to);
    http_tap_init(&t->http, &t->tap, LIMIT_MESSAGE, NULL);
    t->http.server = &t->server;
    buf_init(&t->text, LIMIT_MESSAGE);
}

static struct tap_time tick(struct http_tape *t)
{
    t->ms++;
    return (struct tap_time){ .us = t->ms * 1000, .wall_us = 1700000000000000 + t->ms * 1000 };
}

static void end(struct http_tape *t, uint64_t number, enum http_tap_by by)
{
    http_tap_end(t->open[number], by, by == BY_SERVER, STR_NONE, tick(t));
    t->open[number] = NULL;
}

void http_tape_release(struct http_tape *t)
{
    for (uint64_t i = 0; i < HTTP_TAPE_EXCHANGES; i++)
        if (t->open[i])
            end(t, i, BY_CLIENT);
    http_tap_release(&t->http);
    tap_release(&t->tap);
    buf_release(&t->text);
}

static void begin(struct http_tape *t, const struct http_line *l)
{
    struct http_tap_request q = {
        .conn = 1,
        .method = l->method,
        .path = l->path,
        .query = l->query,
        .fields = &l->fields,
        .host = l->host,
        .origin = l->origin,
        .endpoint = str_eq(l->path, STR("/mcp")) || str_eq(l->path, STR("/sse")) ||
                    http_tap_is_posted(&t->http, l->method, l->path, l->query),
    };

    t->open[l->number] = http_tap_begin(&t->http, &q);
    http_tap_sent(t->open[l->number], l->body);
    http_tap_sent_all(t->open[l->number], tick(t));
}

static void answer(struct http_tape *t, const struct http_line *l)
{
    http_tap_answer(t->open[l->number], l->status, &l->fields, BY_SERVER, tick(t));
    http_tap_answered(t->open[l->number], l->body, tick(t));
    if (!l->stream)
        end(t, l->number, BY_SERVER);
}

static void write_event(struct http_tape *t, const struct http_line *l)
{
    struct err e = ERR_NONE;

    buf_clear(&t->text);
    assert_true(sse_writer_add(&t->text, &l->event, &e));
    http_tap_answered(t->open[l->number], buf_str(&t->text), tick(t));
}

void http_tape_line(struct http_tape *t, struct str line)
{
    struct err e = ERR_NONE;
    struct http_line l;

    http_line_read(&l, line);
    if (l.number >= HTTP_TAPE_EXCHANGES || !t->open[l.number] != (l.kind == HTTP_LINE_REQUEST))
        fail_msg("its exchange is open already, or is not: %.*s", STR_ARG(line));
    if (l.kind == HTTP_LINE_REQUEST)
        begin(t, &l);
    else if (l.kind == HTTP_LINE_ANSWER)
        answer(t, &l);
    else if (l.kind == HTTP_LINE_EVENT)
        write_event(t, &l);
    else if (l.kind == HTTP_LINE_END)
        end(t, l.number, BY_SERVER);
    else
        end(t, l.number, BY_CLIENT);
    assert_true(http_tap_trouble(&t->http, &e));
    http_line_release(&l);
}
