/* tests/fuzz/fuzz-mcp-client.c - runs the MCP HTTP client between any client and any server.
 *
 * A line each: "?" and a line of the client's; "t" lets the oldest timer expire; "k" and a
 * digit: the request of that number is being sent; "h", a digit, a letter for the status and
 * one for the type: the head of its response; "d" some of its body; "e", "i", "p" an event of
 * it, with an id, or with the endpoint; "w" its end; "f" a failure; "c" and "g" the client
 * closes its side, and disconnects.
 *
 * Must hold: what is sent is JSON on one line; each request can be written as HTTP; only open
 * exchanges are abandoned; no action follows the end, which comes once, and does come after the
 * client has closed, all exchanges have failed and all timers have expired. */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "mcphttp/client.h"

struct fuzz_run {
    struct action_sink out;
    struct mcp_client client;
    struct json json;
    struct buf text;
    uint64_t *timers; /* that were set */
    struct open_request {
        uint64_t exchange;
        bool begun; /* to be answered */
    } * open;       /* open exchanges */
    size_t first, count, cap, open_count, open_cap;
    uint64_t latest;
    uint64_t ended; /* the exchange whose end is being reported; 0: none, or it was aborted */
    int64_t now_us;
    bool finished;
};

static void check_request(struct fuzz_run *s, const struct action *a)
{
    const struct action_request *sent_request = a->request;

    BUG_IF(a->route.exchange <= s->latest);
    BUG_IF(!str_starts(sent_request->target, STR("/")) ||
           !url_has_valid_chars(sent_request->target));
    for (size_t i = 0; i < sent_request->headers.count; i++)
        BUG_IF(!headers_is_token(sent_request->headers.at[i].name) ||
               !headers_is_value(sent_request->headers.at[i].value));
    s->latest = a->route.exchange;
    s->open = mem_reserve(s->open, &s->open_cap, s->open_count + 1, sizeof *s->open);
    s->open[s->open_count++] = (struct open_request){ .exchange = a->route.exchange };
}

static void remove_request(struct fuzz_run *s, uint64_t exchange)
{
    size_t i = 0;

    while (i < s->open_count && s->open[i].exchange != exchange)
        i++;
    BUG_IF(i == s->open_count);
    memmove(s->open + i, s->open + i + 1, (--s->open_count - i) * sizeof *s->open);
}

static void put_action(struct action_sink *self, const struct action *a)
{
    struct fuzz_run *s = (struct fuzz_run *)self;
    struct json_fault fault;

    BUG_IF(s->finished);
    switch (a->kind) {
    case ACTION_SEND:
        BUG_IF(memchr(a->text.at, '\n', a->text.len) || !json_scan(&s->json, a->text, &fault));
        break;
    case ACTION_SET_TIMER:
        BUG_IF(a->delay_us <= 0);
        s->timers = mem_reserve(s->timers, &s->cap, s->count + 1, sizeof *s->timers);
        s->timers[s->count++] = a->timer;
        break;
    case ACTION_HTTP_REQUEST:
        check_request(s, a);
        break;
    case ACTION_HTTP_ABORT:
        remove_request(s, a->route.exchange);
        break;
    case ACTION_INVALID_RESPONSE:
        BUG_IF(!a->text.len || a->route.exchange != s->ended);
        s->ended = 0;
        break;
    case ACTION_FINISH:
        s->finished = true;
        break;
    case ACTION_REPORT:
        break;
    default:
        BUG("a speaker does not wish for that");
    }
}

static void step(struct fuzz_run *s, struct event ev)
{
    ev.now_us = s->now_us += 1000;
    mcp_client_step(&s->client, &ev);
}

static void run_timer(struct fuzz_run *s)
{
    if (s->first == s->count)
        return;
    s->now_us += 1000000;
    step(s, (struct event){ .kind = EVENT_TIMER, .timer = s->timers[s->first++] });
}

static void send_head(struct fuzz_run *s, uint64_t exchange, struct str how)
{
    static const unsigned statuses[] = { 200, 202, 200, 400, 401, 404, 405, 307, 500, 204 };
    unsigned status = statuses[how.len ? (unsigned char)how.at[0] % 10 : 0];
    char type = how.len > 1 ? how.at[1] : 'j';
    struct headers f = { 0 };

    headers_add(&f, STR("Content-Type"),
                type == 's' ? STR("text/event-stream") : STR("application/json"));
    if (how.len > 2)
        headers_add(&f, STR("Mcp-Session-Id"), str_skip(how, 2));
    step(s, (struct event){ .kind = EVENT_RESPONSE_HEAD,
                            .exchange = exchange,
                            .status = status,
                            .headers = &f });
    headers_release(&f);
}

static void send_data(struct fuzz_run *s, uint64_t exchange, const char *before,
                      struct str text, const char *after)
{
    buf_clear(&s->text);
    buf_printf(&s->text, "%s%.*s%s", before, STR_ARG(text), after);
    step(s, (struct event){
                .kind = EVENT_RESPONSE_DATA, .exchange = exchange, .text = buf_str(&s->text) });
}

/* A line about an open exchange. */
static void run_response(struct fuzz_run *s, char what, struct open_request *open_req,
                         struct str rest)
{
    uint64_t exchange = open_req->exchange;

    if ((what == 'h') == open_req->begun && what != 'k' && what != 'f')
        return; /* as in HTTP: one head, then the body */
    open_req->begun = open_req->begun || what == 'h';
    if (what == 'k')
        step(s, (struct event){ .kind = EVENT_REQUEST_SENT, .exchange = exchange });
    else if (what == 'h')
        send_head(s, exchange, rest);
    else if (what == 'd')
        send_data(s, exchange, "", rest, "");
    else if (what == 'e')
        send_data(s, exchange, "data: ", rest, "\n\n");
    else if (what == 'i')
        send_data(s, exchange, "id: 7\nretry: 5\ndata: ", rest, "\n\n");
    else if (what == 'p')
        send_data(s, exchange, "event: endpoint\ndata: ", rest, "\n\n");
    else if (what == 'w' || what == 'f') {
        remove_request(s, exchange);
        s->ended = what == 'w' ? exchange : 0;
        step(s, (struct event){ .kind = what == 'w' ? EVENT_RESPONSE_END : EVENT_REQUEST_FAILED,
                                .exchange = exchange,
                                .why = STR("it fell") });
        s->ended = 0;
    }
}

static void run_line(struct fuzz_run *s, struct str line)
{
    char what = line.len ? line.at[0] : 't';
    size_t which = line.len > 1 ? (unsigned char)line.at[1] % 10 : 0;

    if (what == '?')
        step(s, (struct event){ .kind = EVENT_CLIENT_LINE, .text = str_skip(line, 1) });
    else if (what == 't')
        run_timer(s);
    else if (what == 'c')
        step(s, (struct event){ .kind = EVENT_INPUT_CLOSED });
    else if (what == 'g')
        step(s, (struct event){ .kind = EVENT_CLIENT_CLOSED });
    else if (which < s->open_count)
        run_response(s, what, &s->open[which], str_skip(line, 2));
}

static void end_run(struct fuzz_run *s)
{
    step(s, (struct event){ .kind = EVENT_INPUT_CLOSED });
    for (int i = 0; i < 100000 && !s->finished; i++) {
        if (s->open_count)
            run_response(s, 'f', &s->open[0], STR_NONE);
        else
            run_timer(s);
    }
    BUG_IF(!s->finished);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_run s = { .out = { put_action } };
    struct str text = str_n((const char *)data, size);
    struct err e = ERR_NONE;
    struct url url;

    BUG_IF(!url_parse(&url, STR("http://server/a/mcp?x=1"), &e));
    json_init(&s.json);
    buf_init(&s.text, size + 64);
    mcp_client_init(&s.client, &url, &s.out);
    while (text.len)
        run_line(&s, str_cut(&text, '\n'));
    end_run(&s);
    mcp_client_release(&s.client);
    json_release(&s.json);
    buf_release(&s.text);
    free(s.timers);
    free(s.open);
    return 0;
}
