#include "playbook.h"

#include <stdlib.h>

#include "engine/http-mock.h"
#include "http-tape.h"
#include "terse.h"
#include "test.h"
#include "trace/intake.h"

enum { TIMERS = 64 };

struct playbook {
    struct action_sink out;
    struct sink from_client, from_server;
    struct shelf_memory shelf;
    struct fuzzy fuzzy;
    struct script script;
    struct http_script http;
    struct intake intake, upstream;
    struct mock mock;
    struct http_mock http_mock; /* instead of `mock`, if the client is on HTTP */
    struct buf recording;       /* its lines */
    struct buf got;             /* what the mock did and nobody has expected yet, a line each */
    struct buf *why;
    size_t line;
    int64_t now_us;
    struct {
        uint64_t timer;
        int64_t due_us;
    } timers[TIMERS];
    size_t timer_count;
    bool over_http;
    bool taped; /* the recording was made on HTTP */
    bool playing;
};

static void take_step(struct playbook *p, const struct event *ev)
{
    if (p->over_http)
        http_mock_step(&p->http_mock, ev);
    else
        mock_step(&p->mock, ev);
}

static void note_timer(struct playbook *p, const struct action *a)
{
    assert_true(p->timer_count < TIMERS);
    p->timers[p->timer_count].timer = a->timer;
    p->timers[p->timer_count++].due_us = p->now_us + a->delay_us;
}

static void write_down(struct action_sink *self, const struct action *a)
{
    static const char *const levels[] = { "error", "warn", "info", "debug" };
    struct playbook *p = (struct playbook *)self;

    switch (a->kind) {
    case ACTION_SEND:
        buf_add(&p->got, STR("<< "));
        buf_add(&p->got, a->text);
        break;
    case ACTION_REPORT:
        buf_printf(&p->got, "report %s ", levels[a->level]);
        buf_add(&p->got, a->text);
        break;
    case ACTION_SET_TIMER:
        buf_printf(&p->got, "wait %lld us", (long long)a->delay_us);
        note_timer(p, a);
        break;
    case ACTION_FINISH:
        buf_printf(&p->got, "finish %d", a->exit_code);
        break;
    case ACTION_BEGIN:
    case ACTION_DROP:
        buf_printf(&p->got, "%s #%u for %llu", a->kind == ACTION_BEGIN ? "begin" : "drop",
                   a->way.seq, (unsigned long long)a->way.exchange);
        break;
    case ACTION_ANSWER:
    case ACTION_OPEN:
    case ACTION_WRITE:
    case ACTION_END:
    case ACTION_ASK:
    case ACTION_ABANDON:
    case ACTION_FAULT:
        http_line_write(&p->got, a);
        break;
    case ACTION_START_UPSTREAM:
        buf_add(&p->got, STR("start upstream"));
        break;
    case ACTION_SEND_UPSTREAM:
        buf_add(&p->got, STR("up<< "));
        buf_add(&p->got, a->text);
        break;
    case ACTION_END_UPSTREAM:
    case ACTION_UNHEARD:
        buf_add(&p->got, STR("of several servers"));
        break;
    }
    buf_add_ch(&p->got, '\n');
}

static void step(struct playbook *p, enum event_kind kind, const struct record *r)
{
    struct event ev = { .kind = kind, .record = r, .now_us = p->now_us };

    take_step(p, &ev);
}

/* The timer that is due first rings; false: none is set. */
static bool ring(struct playbook *p)
{
    struct event ev = { .kind = EVENT_TIMER };
    size_t first = 0;

    for (size_t i = 1; i < p->timer_count; i++)
        if (p->timers[i].due_us < p->timers[first].due_us)
            first = i;
    if (!p->timer_count)
        return false;
    ev.now_us = p->now_us = p->timers[first].due_us;
    ev.timer = p->timers[first].timer;
    p->timers[first] = p->timers[--p->timer_count];
    take_step(p, &ev);
    return true;
}

static void upstream_ends(struct playbook *p, enum event_kind how, struct str why)
{
    struct event ev = { .kind = how, .why = why, .now_us = p->now_us };

    take_step(p, &ev);
}

static bool hear_upstream(struct sink *self, const struct record *r, struct err *e)
{
    (void)e;
    step((struct playbook *)((char *)self - offsetof(struct playbook, from_server)),
         EVENT_UPSTREAM, r);
    return true;
}

static bool hear(struct sink *self, const struct record *r, struct err *e)
{
    struct playbook *p =
        (struct playbook *)((char *)self - offsetof(struct playbook, from_client));

    (void)e;
    step(p, EVENT_RECORD, r);
    return true;
}

static bool fails(struct playbook *p, const char *what, struct str got, struct str want)
{
    buf_printf(p->why, "%zu: %s", p->line, what);
    if (got.len)
        buf_printf(p->why, "\n  got  %.*s", STR_ARG(got));
    if (want.len)
        buf_printf(p->why, "\n  want %.*s", STR_ARG(want));
    return false;
}

static bool nothing_is_left(struct playbook *p)
{
    struct str rest = buf_str(&p->got);

    return !rest.len || fails(p, "not expected", str_cut(&rest, '\n'), STR_NONE);
}

static void end_play(struct playbook *p)
{
    if (p->playing) {
        if (p->over_http)
            http_mock_release(&p->http_mock);
        else
            mock_release(&p->mock);
        intake_release(&p->intake);
        intake_release(&p->upstream);
        http_script_release(&p->http);
        script_release(&p->script);
        fuzzy_release(&p->fuzzy);
        shelf_memory_release(&p->shelf);
    }
    p->playing = false;
}

/* Every session has a byte of its own. */
static void not_random(void *to, size_t size)
{
    static unsigned char last;

    last = to ? (unsigned char)(last + 1) : 0;
    if (to)
        memset(to, last, size);
}

static void read_recording(struct playbook *p)
{
    struct str rest = buf_str(&p->recording);
    struct http_tape tape;

    if (!p->taped) {
        terse_pour_plain(&p->http.sink, rest);
        return;
    }
    http_tape_init(&tape, &p->http.sink);
    while (rest.len)
        http_tape_line(&tape, str_cut(&rest, '\n'));
    http_tape_release(&tape);
}

static void begin_play(struct playbook *p, const struct mock_options *options)
{
    struct http_mock_options over_http = { .mock = *options, .random = not_random };

    end_play(p);
    p->playing = true;
    p->now_us = 0;
    p->timer_count = 0;
    shelf_memory_init(&p->shelf);
    fuzzy_init(&p->fuzzy, &p->script);
    script_init(&p->script, &p->shelf.shelf, &options->match.rules, &p->fuzzy.reader);
    http_script_init(&p->http, &p->script.sink, &p->shelf.shelf);
    read_recording(p);
    script_finish(&p->script);
    http_script_finish(&p->http);
    intake_init(&p->intake);
    intake_init(&p->upstream);
    not_random(NULL, 0);
    if (p->over_http)
        http_mock_init(&p->http_mock, &p->script, &p->http, &p->fuzzy, &over_http, &p->out);
    else
        mock_init(&p->mock, &p->script, &p->fuzzy, options, &p->out);
    step(p, EVENT_OPENED, NULL);
}

static void set_exhausted(struct mock_options *o, enum match_exhausted what)
{
    o->exhausted_given = true;
    o->match.exhausted = what;
}

static bool read_flag(struct mock_options *o, struct str word)
{
    if (str_eq(word, STR("order=total")))
        o->match.total = true;
    else if (str_eq(word, STR("recorder")))
        o->recorder = o->match.any_method = o->match.rules.number_text = true;
    else if (str_eq(word, STR("fail-at-end")))
        o->fail_at_end = true;
    else if (str_eq(word, STR("strict-unused")))
        o->strict_unused = true;
    else if (str_eq(word, STR("far")))
        o->far = true;
    else
        return false;
    return true;
}

static bool read_option(struct mock_options *o, struct str word)
{
    static const struct {
        const char *word;
        enum match_mode mode;
    } modes[] = { { "match=sequential", MATCH_SEQUENTIAL },
                  { "match=by-request", MATCH_BY_REQUEST },
                  { "match=fuzzy", MATCH_FUZZY },
                  { "match=strict", MATCH_STRICT } };

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (str_eq(word, str_z(modes[i].word))) {
            o->match.mode = modes[i].mode;
            o->match.rules = matcher_rules(modes[i].mode, o->recorder);
            return true;
        }
    if (str_eq(word, STR("on-miss=error")))
        o->on_miss = ON_MISS_ERROR;
    else if (str_eq(word, STR("on-miss=warn")))
        o->on_miss = ON_MISS_WARN;
    else if (str_eq(word, STR("on-miss=pass")))
        o->on_miss = ON_MISS_PASS;
    else if (str_eq(word, STR("exhausted=error")))
        set_exhausted(o, EXHAUSTED_ERROR);
    else if (str_eq(word, STR("exhausted=last")))
        set_exhausted(o, EXHAUSTED_LAST);
    else if (str_eq(word, STR("exhausted=cycle")))
        set_exhausted(o, EXHAUSTED_CYCLE);
    else if (str_starts(word, STR("pace=")))
        o->pace = (word.at[5] - '0') + (word.len > 7 ? (word.at[7] - '0') / 10.0 : 0);
    else
        return read_flag(o, word);
    return true;
}

static bool read_options(struct playbook *p, struct str words)
{
    struct mock_options options = { .match = { .mode = MATCH_BY_REQUEST } };

    while (words.len) {
        struct str word = str_cut(&words, ' ');

        if (!read_option(&options, word))
            return fails(p, "no such option", word, STR_NONE);
    }
    /* mcp-recorder has a sequence of its own; its other ways are ours. */
    options.match.any_method =
        options.match.any_method && options.match.mode == MATCH_SEQUENTIAL;
    begin_play(p, &options);
    return true;
}

static bool expect(struct playbook *p, struct str want)
{
    struct str rest = buf_str(&p->got), got = str_cut(&rest, '\n');

    if (!str_eq(got, want))
        return fails(p, got.len ? "something else" : "nothing came", got, want);
    buf_drop_front(&p->got, p->got.len - rest.len);
    return true;
}

static enum http_line_kind http_kind(struct str line)
{
    struct http_line l;
    enum http_line_kind kind;

    http_line_read(&l, line);
    kind = l.kind;
    http_line_release(&l);
    return kind;
}

static bool is_expected(struct str line)
{
    enum http_line_kind kind = http_kind(line);

    return kind == HTTP_LINE_ANSWER || kind == HTTP_LINE_EVENT || kind == HTTP_LINE_END ||
           str_starts(line, STR("<< ")) || str_starts(line, STR("report ")) ||
           str_starts(line, STR("wait ")) || str_starts(line, STR("finish ")) ||
           str_starts(line, STR("up<< ")) || str_eq(line, STR("start upstream"));
}

static void write_report(struct playbook *p)
{
    buf_add(&p->got, STR("<< "));
    mock_report(p->over_http ? &p->http_mock.mock : &p->mock, &p->got);
    buf_add_ch(&p->got, '\n');
}

/* A client on HTTP asks for something, or has gone. */
static void hear_http(struct playbook *p, struct str line)
{
    struct step_request request;
    struct event ev = { .kind = EVENT_GONE, .now_us = p->now_us };
    struct http_line l;

    http_line_read(&l, line);
    ev.exchange = l.number;
    if (l.kind == HTTP_LINE_REQUEST) {
        request = http_line_request(&l);
        ev.kind = EVENT_REQUEST;
        ev.request = &request;
    }
    take_step(p, &ev);
    http_line_release(&l);
}

/* A line after those of the recording. */
static bool act(struct playbook *p, struct str line)
{
    struct err e = ERR_NONE;

    if (is_expected(line))
        return expect(p, line);
    if (!nothing_is_left(p))
        return false;
    if (str_starts(line, STR("options ")))
        return read_options(p, str_skip(line, 8));
    if (str_eq(line, STR("close")))
        step(p, EVENT_CLOSED, NULL);
    else if (str_eq(line, STR("hurry")))
        take_step(p,
                  &(struct event){ .kind = EVENT_CLOSED, .now_us = p->now_us, .hurry = true });
    else if (str_eq(line, STR("time")))
        return ring(p) || fails(p, "nobody waits", STR_NONE, STR_NONE);
    else if (str_eq(line, STR("report")))
        write_report(p);
    else if (str_starts(line, STR("up closed ")))
        upstream_ends(p, EVENT_UPSTREAM_CLOSED, str_skip(line, strlen("up closed ")));
    else if (str_starts(line, STR("up lost ")))
        upstream_ends(p, EVENT_UPSTREAM_LOST, str_skip(line, strlen("up lost ")));
    else if (str_starts(line, STR("up>> ")))
        assert_true(intake_line(&p->upstream, TO_CLIENT, str_skip(line, strlen("up>> ")),
                                &p->from_server, &e));
    else if (http_kind(line) != HTTP_LINE_NONE)
        hear_http(p, line);
    else if (!str_starts(line, STR(">> ")))
        return fails(p, "no such line in a playbook", line, STR_NONE);
    else if (!intake_line(&p->intake, TO_SERVER, str_skip(line, 3), &p->from_client, &e))
        return fails(p, e.msg, STR_NONE, STR_NONE);
    return true;
}

static bool is_recorded(struct str line)
{
    return str_starts(line, STR("c2s ")) || str_starts(line, STR("s2c ")) ||
           str_starts(line, STR("| ")) || str_starts(line, STR("@")) ||
           str_starts(line, STR("conn=")) || str_starts(line, STR("session="));
}

/* The recording is poured in one piece, so that its lines are numbered. What is about HTTP
 * is recorded up to the first options, and played from there. */
static void gather_recording(struct playbook *p, struct str text)
{
    bool played = false;

    while (text.len) {
        struct str line = str_cut(&text, '\n');
        bool http = http_kind(line) != HTTP_LINE_NONE;

        played = played || str_starts(line, STR("options "));
        p->over_http = p->over_http || http;
        p->taped = p->taped || (http && !played);
        if (!is_recorded(line) && (!http || played))
            continue;
        buf_add(&p->recording, line);
        buf_add_ch(&p->recording, '\n');
    }
}

static bool run_line(struct playbook *p, struct str line)
{
    static const struct mock_options defaults = { .match = { .mode = MATCH_BY_REQUEST } };

    p->line++;
    if (!line.len || line.at[0] == '#' || str_eq(line, STR("recording")))
        return true;
    if (is_recorded(line) || (!p->playing && http_kind(line) != HTTP_LINE_NONE))
        return !p->playing || fails(p, "the recording comes first", line, STR_NONE);
    if (!p->playing && !str_starts(line, STR("options ")))
        begin_play(p, &defaults);
    return act(p, line);
}

bool playbook_run(struct str text, struct buf *why)
{
    struct playbook p = { .out = { write_down },
                          .from_client = { hear },
                          .from_server = { hear_upstream },
                          .why = why };
    bool ok = true;

    buf_init(&p.got, (size_t)1 << 26);
    buf_init(&p.recording, (size_t)1 << 26);
    gather_recording(&p, text);
    while (ok && text.len)
        ok = run_line(&p, str_cut(&text, '\n'));
    p.line++;
    ok = ok && nothing_is_left(&p) &&
         (p.playing || fails(&p, "nothing happens in it", STR_NONE, STR_NONE));
    end_play(&p);
    buf_release(&p.recording);
    buf_release(&p.got);
    return ok;
}
