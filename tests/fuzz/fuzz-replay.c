/* tests/fuzz/fuzz-replay.c - replays any recording to any client.
 *
 * The first byte chooses how. Then a line each: "> " and "< " recorded messages of the
 * client and of the server, "? " a line of the live client's, "! " one of the server behind
 * the recording, "t" lets the oldest timer expire, "x" ends that server.
 *
 * Must hold: what is sent is JSON on one line; no action follows the end, which comes once, and
 * does come after the client has disconnected and all timers have expired. */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "replay/replay.h"
#include "trace/parse-messages.h"

struct fuzz_run {
    struct action_sink out;
    struct sink live, upstream;
    struct message_store_memory shelf;
    struct fuzzy fuzzy;
    struct index script;
    struct replay mock;
    struct message_parser intake;
    struct json json;
    uint64_t *timers;
    size_t first, count, cap;
    int64_t now_us;
    bool finished, started;
};

static void check_sent(struct fuzz_run *s, struct str text)
{
    struct json_fault fault;

    BUG_IF(memchr(text.at, '\n', text.len));
    BUG_IF(!json_scan(&s->json, text, &fault));
}

static void put_action(struct action_sink *self, const struct action *a)
{
    struct fuzz_run *s = (struct fuzz_run *)self;

    BUG_IF(s->finished);
    switch (a->kind) {
    case ACTION_SEND:
    case ACTION_SEND_UPSTREAM:
        check_sent(s, a->text);
        break;
    case ACTION_SET_TIMER:
        BUG_IF(a->delay_us <= 0);
        s->timers = mem_reserve(s->timers, &s->cap, s->count + 1, sizeof *s->timers);
        s->timers[s->count++] = a->timer;
        break;
    case ACTION_FINISH:
        s->finished = true;
        break;
    case ACTION_END_UPSTREAM:
    case ACTION_UNDELIVERED:
        BUG("a mock has one server at most");
    case ACTION_START_UPSTREAM:
        BUG_IF(s->started);
        s->started = true;
        break;
    case ACTION_REPORT:
        break;
    case ACTION_CALL_STARTED:
    case ACTION_CANCELLED:
    case ACTION_HTTP_RESPONSE:
    case ACTION_STREAM_OPEN:
    case ACTION_STREAM_WRITE:
    case ACTION_STREAM_END:
    case ACTION_HTTP_REQUEST:
    case ACTION_HTTP_ABORT:
    case ACTION_INVALID_RESPONSE:
        BUG("nobody is on HTTP");
    }
}

static void step(struct fuzz_run *s, enum event_kind kind, const struct record *r,
                 uint64_t timer)
{
    struct event ev = { .kind = kind, .record = r, .timer = timer, .now_us = s->now_us++ };

    ev.why = STR("it fell");
    replay_step(&s->mock, &ev);
}

static bool put_client(struct sink *self, const struct record *r, struct err *e)
{
    (void)e;
    step((struct fuzz_run *)((char *)self - offsetof(struct fuzz_run, live)), EVENT_RECORD, r,
         0);
    return true;
}

static bool put_upstream(struct sink *self, const struct record *r, struct err *e)
{
    struct fuzz_run *s =
        (struct fuzz_run *)((char *)self - offsetof(struct fuzz_run, upstream));

    (void)e;
    if (s->started)
        step(s, EVENT_UPSTREAM_RECORD, r, 0);
    return true;
}

static void run_timer(struct fuzz_run *s)
{
    if (s->first == s->count)
        return;
    s->now_us += 60000000;
    step(s, EVENT_TIMER, NULL, s->timers[s->first++]);
}

static void add_recorded(struct fuzz_run *s, enum record_dir dir, struct str line)
{
    struct record r = { .kind = RECORD_MESSAGE, .has = HAS_US, .us = s->now_us += 1500 };
    struct json_fault fault;
    struct err e = ERR_NONE;

    if (!json_scan(&s->json, line, &fault) || json_type(json_root(&s->json)) != JSON_OBJECT)
        return;
    r.message.dir = dir;
    r.message.msg = json_root(&s->json);
    BUG_IF(!s->script.sink.put(&s->script.sink, &r, &e));
}

static void run_line(struct fuzz_run *s, struct str line)
{
    struct err e = ERR_NONE;
    bool ok = true;

    if (str_starts(line, STR("? ")))
        ok = message_parser_line(&s->intake, TO_SERVER, str_skip(line, 2), &s->live, &e);
    else if (str_starts(line, STR("! ")))
        ok = message_parser_line(&s->intake, TO_CLIENT, str_skip(line, 2), &s->upstream, &e);
    else if (str_starts(line, STR("t")))
        run_timer(s);
    else if (str_starts(line, STR("x")) && s->started)
        step(s, EVENT_UPSTREAM_CLOSED, NULL, 0);
    BUG_IF(!ok);
}

static void run_replay(struct fuzz_run *s, struct str text, const struct replay_options *how)
{
    struct buf report;

    replay_init(&s->mock, &s->script, &s->fuzzy, how, &s->out);
    step(s, EVENT_OPENED, NULL, 0);
    while (text.len)
        run_line(s, str_cut(&text, '\n'));
    step(s, EVENT_INPUT_CLOSED, NULL, 0);
    while (!s->finished && s->first < s->count)
        run_timer(s);
    BUG_IF(!s->finished);
    buf_init(&report, (size_t)1 << 28);
    replay_write_report(&s->mock, &report);
    check_sent(s, buf_str(&report));
    buf_release(&report);
    replay_release(&s->mock);
}

static struct replay_options options_of(uint8_t how)
{
    enum match_mode mode = how & 3;

    return (struct replay_options){
        .match = { .mode = mode,
                   .exhausted = (how >> 2 & 3) % 3,
                   .total_order = how & 64 && mode == MATCH_SEQUENTIAL,
                   .rules = matcher_rules(&(struct match_options){ .mode = mode }, how & 128) },
        .exhausted_given = how & 128,
        .on_miss = (how >> 4 & 3) % 3,
        .pace = how & 32 ? 0.5 : 0,
        .mcp_recorder_errors = how & 128,
        .strict_unused = true,
    };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_run s = { .out = { put_action },
                          .live = { put_client },
                          .upstream = { put_upstream } };
    struct replay_options how = options_of(size ? data[0] : 0);
    struct str text = str_skip(str_n((const char *)data, size), 1), rest = text;

    json_init(&s.json);
    message_parser_init(&s.intake);
    message_store_memory_init(&s.shelf);
    fuzzy_init(&s.fuzzy, &s.script);
    index_init(&s.script, &s.shelf.store, &how.match.rules, &s.fuzzy.observer);
    while (rest.len) {
        struct str line = str_cut(&rest, '\n');
        if (str_starts(line, STR("> ")) || str_starts(line, STR("< ")))
            add_recorded(&s, line.at[0] == '>' ? TO_SERVER : TO_CLIENT, str_skip(line, 2));
    }
    index_finish(&s.script);
    run_replay(&s, text, &how);
    index_release(&s.script);
    fuzzy_release(&s.fuzzy);
    message_store_memory_release(&s.shelf);
    message_parser_release(&s.intake);
    json_release(&s.json);
    free(s.timers);
    return 0;
}
