#include "mcphttp/client.h"

#include <stdio.h>
#include <stdlib.h>

#include "http-line.h"
#include "text-cases.h"
#include "wire/sse-writer.h"

/* Runs tests of the MCP HTTP client that are text files.
 *
 *     # What it is about.
 *     >> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}
 *     1 POST /mcp {"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}
 *     1 200 json session=7 {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}
 *     << {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}
 *
 * ">>" is a line of the client. A number and a method is an HTTP request of the engine: its
 * target, its headers except those that every request has, its body; "fault: WHY" and
 * "abandoned", with ": WHY" or without, are its actions, too. A number and anything else is
 * the reaction to that: a response, an event, "end" (see http-line.h), "endpoint URL" (an
 * event of that name), "bytes TEXT" (of the body), "much KILOBYTES" (of it), or "failed
 * WHY". The actions after a line stand below it, in order and byte for byte. A request is
 * sent at once, unless there is a line "slow" above; "taken N" reports it then. "url URL"
 * comes first, if it is another than http://server/mcp. "wait 5000 us" is a timer that was
 * set, "time" lets the one expire that is due first, and "later SECONDS" makes it late by
 * that; "close" and "gone" are the client's, "end: WHY" is ours. */

enum { TIMERS = 256, REQUESTS = 512 };

struct play {
    struct action_sink out;
    struct mcp_client client;
    struct url url;
    struct buf got;
    struct buf *why;
    size_t line;
    int64_t now_us;
    struct {
        uint64_t timer;
        int64_t due_us;
    } timers[TIMERS];
    size_t timer_count;
    uint64_t pending_requests[REQUESTS]; /* and not yet on their way */
    size_t request_count;
    bool slow, playing;
};

static void check_required_headers(const struct action_request *sent_request)
{
    bool post = str_eq(sent_request->method, STR("POST")),
         get = str_eq(sent_request->method, STR("GET"));
    const struct header *accept = headers_next(&sent_request->headers, STR("Accept"), NULL);
    const struct header *type = headers_next(&sent_request->headers, STR("Content-Type"), NULL);

    if (post || get)
        assert_str(accept->value, post ? STR("application/json, text/event-stream")
                                       : STR("text/event-stream"));
    assert_int_equal(type != NULL, post);
    if (post)
        assert_str(type->value, STR("application/json"));
    assert_str(headers_next(&sent_request->headers, STR("Accept-Encoding"), NULL)->value,
               STR("identity"));
    assert_non_null(headers_next(&sent_request->headers, STR("User-Agent"), NULL));
}

static bool is_required_header(struct str name)
{
    return headers_equal_nocase(name, STR("Accept")) ||
           headers_equal_nocase(name, STR("Content-Type")) ||
           headers_equal_nocase(name, STR("Accept-Encoding")) ||
           headers_equal_nocase(name, STR("User-Agent"));
}

static void write_request(struct play *p, const struct action *a)
{
    const struct action_request *sent_request = a->request;

    check_required_headers(sent_request);
    buf_printf(&p->got, "%llu %.*s %.*s", (unsigned long long)a->route.exchange,
               STR_ARG(sent_request->method), STR_ARG(sent_request->target));
    for (size_t i = 0; i < sent_request->headers.count; i++) {
        const struct header *f = &sent_request->headers.at[i];

        if (headers_equal_nocase(f->name, STR("Mcp-Session-Id")))
            buf_printf(&p->got, " session=%.*s", STR_ARG(f->value));
        else if (!is_required_header(f->name))
            buf_printf(&p->got, " %.*s:%.*s", STR_ARG(f->name), STR_ARG(f->value));
    }
    if (sent_request->body.at)
        buf_printf(&p->got, " %.*s", STR_ARG(sent_request->body));
    assert_true(p->request_count < REQUESTS);
    p->pending_requests[p->request_count++] = a->route.exchange;
}

static void write_down(struct action_sink *self, const struct action *a)
{
    static const char *const levels[] = { "error", "warn", "info", "debug" };
    struct play *p = (struct play *)self;

    switch (a->kind) {
    case ACTION_SEND:
        buf_printf(&p->got, "<< %.*s", STR_ARG(a->text));
        break;
    case ACTION_REPORT:
        buf_printf(&p->got, "report %s %.*s", levels[a->level], STR_ARG(a->text));
        break;
    case ACTION_SET_TIMER:
        assert_true(p->timer_count < TIMERS && a->delay_us > 0);
        p->timers[p->timer_count].timer = a->timer;
        p->timers[p->timer_count++].due_us = p->now_us + a->delay_us;
        buf_printf(&p->got, "wait %lld us", (long long)a->delay_us);
        break;
    case ACTION_HTTP_REQUEST:
        write_request(p, a);
        break;
    case ACTION_HTTP_ABORT:
        buf_printf(&p->got, "%llu abandoned%s%.*s", (unsigned long long)a->route.exchange,
                   a->text.len ? ": " : "", STR_ARG(a->text));
        break;
    case ACTION_INVALID_RESPONSE:
        buf_printf(&p->got, "%llu fault: %.*s", (unsigned long long)a->route.exchange,
                   STR_ARG(a->text));
        break;
    case ACTION_FINISH:
        buf_printf(&p->got, "finish %d", a->exit_code);
        break;
    default:
        fail_msg("a speaker does not wish for that");
    }
    buf_add_ch(&p->got, '\n');
}

static void step_engine(struct play *p, struct event ev)
{
    ev.now_us = p->now_us;
    mcp_client_step(&p->client, &ev);
    while (!p->slow && p->request_count) {
        struct event taken = { .kind = EVENT_REQUEST_SENT,
                               .exchange = p->pending_requests[0],
                               .now_us = p->now_us };

        memmove(p->pending_requests, p->pending_requests + 1,
                --p->request_count * sizeof *p->pending_requests);
        mcp_client_step(&p->client, &taken);
    }
}

static void begin(struct play *p, struct str url)
{
    struct err e = ERR_NONE;

    assert_true(url_parse(&p->url, url, &e));
    mcp_client_init(&p->client, &p->url, &p->out);
    p->playing = true;
}

static bool fails(struct play *p, const char *what, struct str got, struct str want)
{
    buf_printf(p->why, "%zu: %s\n  got  %.*s\n  want %.*s", p->line, what, STR_ARG(got),
               STR_ARG(want));
    return false;
}

static bool expect(struct play *p, struct str want)
{
    struct str rest = buf_str(&p->got), got = str_cut(&rest, '\n');

    if (!str_eq(got, want))
        return fails(p, got.len ? "something else" : "nothing came", got, want);
    buf_drop_front(&p->got, p->got.len - rest.len);
    return true;
}

static bool expire_timer(struct play *p)
{
    size_t first = 0;
    uint64_t timer;

    for (size_t i = 1; i < p->timer_count; i++)
        if (p->timers[i].due_us < p->timers[first].due_us)
            first = i;
    if (!p->timer_count)
        return fails(p, "nobody waits", STR_NONE, STR_NONE);
    if (p->now_us < p->timers[first].due_us)
        p->now_us = p->timers[first].due_us;
    timer = p->timers[first].timer;
    p->timers[first] = p->timers[--p->timer_count];
    step_engine(p, (struct event){ .kind = EVENT_TIMER, .timer = timer });
    return true;
}

static void feed_event(struct play *p, uint64_t exchange, const struct sse_item *item)
{
    struct err e = ERR_NONE;
    struct buf bytes;

    buf_init(&bytes, 1 << 20);
    assert_true(sse_writer_add(&bytes, item, &e));
    step_engine(p, (struct event){ .kind = EVENT_RESPONSE_DATA,
                                   .exchange = exchange,
                                   .text = buf_str(&bytes) });
    buf_release(&bytes);
}

static void feed_response(struct play *p, const struct http_line *l)
{
    step_engine(p, (struct event){ .kind = EVENT_RESPONSE_HEAD,
                                   .exchange = l->number,
                                   .status = l->status,
                                   .headers = &l->fields });
    if (l->stream)
        return;
    if (l->body.len)
        step_engine(p, (struct event){ .kind = EVENT_RESPONSE_DATA,
                                       .exchange = l->number,
                                       .text = l->body });
    step_engine(p, (struct event){ .kind = EVENT_RESPONSE_END, .exchange = l->number });
}

static void feed_body(struct play *p, uint64_t exchange, size_t kilobytes)
{
    char text[1 << 10];

    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < kilobytes; i++)
        step_engine(p, (struct event){ .kind = EVENT_RESPONSE_DATA,
                                       .exchange = exchange,
                                       .text = str_n(text, sizeof text) });
}

/* "N WORD REST", where WORD is none of HTTP's. */
static bool feed_rest(struct play *p, uint64_t number, struct str word, struct str rest)
{
    struct sse_item item = SSE_ITEM_NONE;
    struct event ev = { .exchange = number };

    if (str_eq(word, STR("failed"))) {
        ev.kind = EVENT_REQUEST_FAILED;
        ev.why = rest;
        step_engine(p, ev);
    } else if (str_eq(word, STR("bytes"))) {
        ev.kind = EVENT_RESPONSE_DATA;
        ev.text = rest;
        step_engine(p, ev);
    } else if (str_eq(word, STR("much"))) {
        feed_body(p, number, strtoul(rest.at, NULL, 10));
    } else if (str_eq(word, STR("endpoint"))) {
        item.event = word;
        item.data = rest;
        feed_event(p, number, &item);
    } else {
        return false;
    }
    return true;
}

static bool feed_http(struct play *p, struct str line)
{
    struct str rest = line;
    uint64_t number = strtoull(str_cut(&rest, ' ').at, NULL, 10);
    struct str word = str_cut(&rest, ' ');
    struct http_line l;
    bool ok = true;

    if (feed_rest(p, number, word, rest))
        return true;
    http_line_read(&l, line);
    if (l.kind == HTTP_LINE_RESPONSE)
        feed_response(p, &l);
    else if (l.kind == HTTP_LINE_EVENT)
        feed_event(p, l.number, &l.event);
    else if (l.kind == HTTP_LINE_END)
        step_engine(p, (struct event){ .kind = EVENT_RESPONSE_END, .exchange = l.number });
    else
        ok = fails(p, "no such line", line, STR_NONE);
    http_line_release(&l);
    return ok;
}

/* "N GET …" or "N abandoned": an action that the client must have returned. */
static bool is_expected(struct str line)
{
    struct str rest = line, word;

    if (str_starts(line, STR("<< ")) || str_starts(line, STR("report ")) ||
        str_starts(line, STR("wait ")) || str_starts(line, STR("finish ")))
        return true;
    str_cut(&rest, ' ');
    word = str_cut(&rest, ' ');
    return line.at[0] >= '0' && line.at[0] <= '9' &&
           (str_eq(word, STR("POST")) || str_eq(word, STR("GET")) ||
            str_eq(word, STR("DELETE")) || str_eq(word, STR("abandoned")) ||
            str_eq(word, STR("abandoned:")) || str_eq(word, STR("fault:")));
}

static bool act(struct play *p, struct str line)
{
    struct str left = buf_str(&p->got);

    if (is_expected(line))
        return expect(p, line);
    if (left.len)
        return fails(p, "not expected", str_cut(&left, '\n'), line);
    if (str_starts(line, STR(">>")))
        step_engine(p, (struct event){ .kind = EVENT_CLIENT_LINE, .text = str_skip(line, 3) });
    else if (str_eq(line, STR("close")))
        step_engine(p, (struct event){ .kind = EVENT_INPUT_CLOSED });
    else if (str_eq(line, STR("gone")))
        step_engine(p, (struct event){ .kind = EVENT_CLIENT_CLOSED });
    else if (str_starts(line, STR("end: ")))
        step_engine(p, (struct event){ .kind = EVENT_CLIENT_CLOSED, .why = str_skip(line, 5) });
    else if (str_eq(line, STR("slow")))
        p->slow = true;
    else if (str_eq(line, STR("time")))
        return expire_timer(p);
    else if (str_starts(line, STR("later ")))
        p->now_us += strtoll(line.at + strlen("later "), NULL, 10) * 1000000;
    else if (str_starts(line, STR("taken ")))
        step_engine(
            p, (struct event){ .kind = EVENT_REQUEST_SENT,
                               .exchange = strtoull(line.at + strlen("taken "), NULL, 10) });
    else if (line.at[0] >= '0' && line.at[0] <= '9')
        return feed_http(p, line);
    else
        return fails(p, "no such line", line, STR_NONE);
    return true;
}

static bool play_line(struct play *p, struct str line)
{
    p->line++;
    if (!line.len || line.at[0] == '#')
        return true;
    if (str_starts(line, STR("url "))) {
        begin(p, str_skip(line, 4));
        return true;
    }
    if (!p->playing)
        begin(p, STR("http://server/mcp"));
    return act(p, line);
}

static bool play(struct str text, struct buf *why)
{
    struct play p = { .out = { write_down }, .why = why, .now_us = 1 };
    struct str left;
    bool ok = true;

    buf_init(&p.got, 1 << 26);
    while (ok && text.len)
        ok = play_line(&p, str_cut(&text, '\n'));
    left = buf_str(&p.got);
    if (ok && left.len)
        ok = fails(&p, "not expected", str_cut(&left, '\n'), STR_NONE);
    if (p.playing)
        mcp_client_release(&p.client);
    buf_release(&p.got);
    return ok;
}

static void begin_quiet(struct play *p, struct buf *why)
{
    *p = (struct play){ .out = { write_down }, .why = why, .now_us = 1 };
    buf_init(&p->got, 1 << 26);
    begin(p, STR("http://server/mcp"));
}

static void end_quiet(struct play *p)
{
    mcp_client_release(&p->client);
    buf_release(&p->got);
}

static size_t count_lines(const struct buf *b, const char *with)
{
    struct str rest = buf_str(b);
    size_t count = 0;

    while (rest.len) {
        struct str line = str_cut(&rest, '\n');

        count += line.len && memmem(line.at, line.len, with, strlen(with)) != NULL;
    }
    return count;
}

static void the_number_of_concurrent_exchanges_is_limited(void **state)
{
    struct headers none = { 0 };
    struct play p;

    (void)state;
    begin_quiet(&p, NULL);
    for (int i = 0; i < MCP_CLIENT_REQUESTS_MAX + 10; i++) {
        char line[128];

        snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}", i);
        step_engine(&p, (struct event){ .kind = EVENT_CLIENT_LINE, .text = str_z(line) });
    }
    assert_int_equal(count_lines(&p.got, " POST "), MCP_CLIENT_REQUESTS_MAX);
    assert_true(p.client.send_queue.bytes > 0);
    for (uint64_t i = 1; i <= MCP_CLIENT_REQUESTS_MAX + 10; i++) {
        step_engine(&p, (struct event){ .kind = EVENT_RESPONSE_HEAD,
                                        .exchange = i,
                                        .status = 500,
                                        .headers = &none });
        step_engine(&p, (struct event){ .kind = EVENT_RESPONSE_END, .exchange = i });
    }
    assert_int_equal(count_lines(&p.got, " POST "), MCP_CLIENT_REQUESTS_MAX + 10);
    assert_int_equal(count_lines(&p.got, "<< "), MCP_CLIENT_REQUESTS_MAX + 10);
    assert_int_equal(p.client.send_queue.bytes, 0);
    end_quiet(&p);
}

static void a_client_without_any_response_is_reported_as_unanswered(void **state)
{
    struct headers none = { 0 };
    struct play p;

    (void)state;
    begin_quiet(&p, NULL);
    assert_false(mcp_client_never_answered(&p.client));
    step_engine(&p, (struct event){ .kind = EVENT_CLIENT_LINE,
                                    .text = STR("{\"id\":1,\"method\":\"ping\"}") });
    assert_true(mcp_client_never_answered(&p.client));
    step_engine(
        &p, (struct event){
                .kind = EVENT_RESPONSE_HEAD, .exchange = 1, .status = 500, .headers = &none });
    assert_false(mcp_client_never_answered(&p.client));
    end_quiet(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_number_of_concurrent_exchanges_is_limited),
        cmocka_unit_test(a_client_without_any_response_is_reported_as_unanswered),
    };

    return text_cases_run("client", tests, sizeof tests / sizeof *tests,
                          "tests/playbook/http-client/*.play", play);
}
