#include "playbook.h"

#include <stdlib.h>

#include "line-recorder.h"
#include "replay/http-replay.h"
#include "terse.h"
#include "test.h"
#include "trace/parse-messages.h"

enum { TIMERS = 64, TOOLS = 4 };

struct playbook {
    struct action_sink out;
    struct sink from_client, from_server;
    struct message_store_memory shelf;
    struct compare_rules rules;
    struct match_tool_mode tools[TOOLS];
    struct fuzzy fuzzy;
    struct index script;
    struct http_index http;
    struct message_parser intake, upstream;
    struct replay replay;
    struct http_replay http_replay; /* instead of `replay`, if the client is on HTTP */
    struct buf recording;           /* its lines */
    struct buf got; /* actions of the replay that were not expected yet, a line each */
    struct buf *why;
    size_t line;
    int64_t now_us;
    struct {
        uint64_t timer;
        int64_t due_us;
    } timers[TIMERS];
    size_t timer_count;
    bool over_http;
    bool is_http_recording; /* the recording was made on HTTP */
    bool playing;
};

static void step_engine(struct playbook *p, const struct event *ev)
{
    if (p->over_http)
        http_replay_step(&p->http_replay, ev);
    else
        replay_step(&p->replay, ev);
}

static void add_timer(struct playbook *p, const struct action *a)
{
    assert_true(p->timer_count < TIMERS);
    p->timers[p->timer_count].timer = a->timer;
    p->timers[p->timer_count++].due_us = p->now_us + a->delay_us;
}

static void write_action(struct action_sink *self, const struct action *a)
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
        add_timer(p, a);
        break;
    case ACTION_FINISH:
        buf_printf(&p->got, "finish %d", a->exit_code);
        break;
    case ACTION_CALL_STARTED:
    case ACTION_CANCELLED:
        buf_printf(&p->got, "%s #%u for %llu",
                   a->kind == ACTION_CALL_STARTED ? "begin" : "drop", a->route.seq,
                   (unsigned long long)a->route.exchange);
        break;
    case ACTION_HTTP_RESPONSE:
    case ACTION_STREAM_OPEN:
    case ACTION_STREAM_WRITE:
    case ACTION_STREAM_END:
    case ACTION_HTTP_REQUEST:
    case ACTION_HTTP_ABORT:
    case ACTION_INVALID_RESPONSE:
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
    case ACTION_UNDELIVERED:
        buf_add(&p->got, STR("of several servers"));
        break;
    }
    buf_add_ch(&p->got, '\n');
}

static void send_event(struct playbook *p, enum event_kind kind, const struct record *r)
{
    struct event ev = { .kind = kind, .record = r, .now_us = p->now_us };

    step_engine(p, &ev);
}

/* The timer that is due first rings; false: none is set. */
static bool run_timer(struct playbook *p)
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
    step_engine(p, &ev);
    return true;
}

static void end_upstream(struct playbook *p, enum event_kind how, struct str why)
{
    struct event ev = { .kind = how, .why = why, .now_us = p->now_us };

    step_engine(p, &ev);
}

static bool put_upstream(struct sink *self, const struct record *r, struct err *e)
{
    (void)e;
    send_event((struct playbook *)((char *)self - offsetof(struct playbook, from_server)),
               EVENT_UPSTREAM_RECORD, r);
    return true;
}

static bool put_client(struct sink *self, const struct record *r, struct err *e)
{
    struct playbook *p =
        (struct playbook *)((char *)self - offsetof(struct playbook, from_client));

    (void)e;
    send_event(p, EVENT_RECORD, r);
    return true;
}

static bool set_mismatch(struct playbook *p, const char *what, struct str got, struct str want)
{
    buf_printf(p->why, "%zu: %s", p->line, what);
    if (got.len)
        buf_printf(p->why, "\n  got  %.*s", STR_ARG(got));
    if (want.len)
        buf_printf(p->why, "\n  want %.*s", STR_ARG(want));
    return false;
}

static bool check_no_actions(struct playbook *p)
{
    struct str rest = buf_str(&p->got);

    return !rest.len || set_mismatch(p, "not expected", str_cut(&rest, '\n'), STR_NONE);
}

static void end_replay(struct playbook *p)
{
    if (p->playing) {
        if (p->over_http)
            http_replay_release(&p->http_replay);
        else
            replay_release(&p->replay);
        message_parser_release(&p->intake);
        message_parser_release(&p->upstream);
        http_index_release(&p->http);
        index_release(&p->script);
        fuzzy_release(&p->fuzzy);
        message_store_memory_release(&p->shelf);
    }
    p->playing = false;
}

/* Every session has a byte of its own. */
static void fill_fixed(void *to, size_t size)
{
    static unsigned char last;

    last = to ? (unsigned char)(last + 1) : 0;
    if (to)
        memset(to, last, size);
}

static void read_recording(struct playbook *p)
{
    struct str rest = buf_str(&p->recording);
    struct line_recorder recorder;

    if (!p->is_http_recording) {
        terse_feed_plain(&p->http.sink, rest);
        return;
    }
    line_recorder_init(&recorder, &p->http.sink);
    while (rest.len)
        line_recorder_add(&recorder, str_cut(&rest, '\n'));
    line_recorder_release(&recorder);
}

static void start_replay(struct playbook *p, const struct replay_options *options)
{
    struct http_replay_options over_http = { .replay = *options, .random = fill_fixed };

    end_replay(p);
    p->playing = true;
    p->now_us = 0;
    p->timer_count = 0;
    message_store_memory_init(&p->shelf);
    fuzzy_init(&p->fuzzy, &p->script);
    index_init(&p->script, &p->shelf.store, &options->match.rules, &p->fuzzy.observer);
    http_index_init(&p->http, &p->script.sink, &p->shelf.store);
    read_recording(p);
    index_finish(&p->script);
    http_index_finish(&p->http);
    message_parser_init(&p->intake);
    message_parser_init(&p->upstream);
    fill_fixed(NULL, 0);
    if (p->over_http)
        http_replay_init(&p->http_replay, &p->script, &p->http, &p->fuzzy, &over_http, &p->out);
    else
        replay_init(&p->replay, &p->script, &p->fuzzy, options, &p->out);
    send_event(p, EVENT_OPENED, NULL);
}

static void set_exhausted(struct replay_options *o, enum match_exhausted what)
{
    o->exhausted_given = true;
    o->match.exhausted = what;
}

static bool read_flag(struct replay_options *o, struct str word)
{
    if (str_eq(word, STR("order=total")))
        o->match.total_order = true;
    else if (str_eq(word, STR("recorder")))
        o->mcp_recorder_errors = o->match.any_method = true;
    else if (str_eq(word, STR("fail-at-end")))
        o->fail_at_end = true;
    else if (str_eq(word, STR("strict-unused")))
        o->strict_unused = true;
    else if (str_eq(word, STR("far")))
        o->is_remote = true;
    else
        return false;
    return true;
}

static bool read_mode(struct str word, enum match_mode *mode)
{
    static const struct {
        const char *word;
        enum match_mode mode;
    } modes[] = { { "sequential", MATCH_SEQUENTIAL },
                  { "by-request", MATCH_BY_REQUEST },
                  { "fuzzy", MATCH_FUZZY },
                  { "strict", MATCH_STRICT } };

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (str_eq(word, str_z(modes[i].word))) {
            *mode = modes[i].mode;
            return true;
        }
    return false;
}

/* "match=MODE", "match=TOOL=MODE", "ignore-path=PATH" and "ignore-field=NAME". */
static bool read_match(struct playbook *p, struct replay_options *o, struct str word)
{
    struct str name = str_cut(&word, '=');
    struct err e = ERR_NONE;

    if (str_eq(name, STR("ignore-path")))
        return compare_rules_add_path(&p->rules, COMPARE_PATH_IGNORE, word, &e);
    if (str_eq(name, STR("ignore-field")))
        return compare_rules_add_field(&p->rules, word, &e);
    if (!str_eq(name, STR("match")))
        return false;
    if (read_mode(word, &o->match.mode))
        return true;
    assert_true(o->match.tool_count < TOOLS);
    p->tools[o->match.tool_count].tool = str_cut(&word, '=');
    return read_mode(word, &p->tools[o->match.tool_count++].mode);
}

static bool read_option(struct playbook *p, struct replay_options *o, struct str word)
{
    if (read_match(p, o, word))
        return true;
    if (str_eq(word, STR("on-miss=error")))
        o->on_miss = ON_MISS_ERROR;
    else if (str_eq(word, STR("on-miss=warn")))
        o->on_miss = ON_MISS_WARN;
    else if (str_eq(word, STR("on-miss=pass")))
        o->on_miss = ON_MISS_PASSTHROUGH;
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
    struct replay_options options = { .match = { .mode = MATCH_BY_REQUEST,
                                                 .tools = p->tools } };

    compare_rules_release(&p->rules);
    while (words.len) {
        struct str word = str_cut(&words, ' ');

        if (!read_option(p, &options, word))
            return set_mismatch(p, "no such option", word, STR_NONE);
    }
    /* mcp-recorder has a sequence of its own; its other ways are ours. */
    options.match.any_method =
        options.match.any_method && options.match.mode == MATCH_SEQUENTIAL;
    options.match.rules = matcher_rules(&options.match, options.mcp_recorder_errors);
    options.match.rules.ignore = params_ignore_has_effect(&p->rules) ? &p->rules : NULL;
    start_replay(p, &options);
    return true;
}

static bool expect(struct playbook *p, struct str want)
{
    struct str rest = buf_str(&p->got), got = str_cut(&rest, '\n');

    if (!str_eq(got, want))
        return set_mismatch(p, got.len ? "something else" : "nothing came", got, want);
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

    return kind == HTTP_LINE_RESPONSE || kind == HTTP_LINE_EVENT || kind == HTTP_LINE_END ||
           str_starts(line, STR("<< ")) || str_starts(line, STR("report ")) ||
           str_starts(line, STR("wait ")) || str_starts(line, STR("finish ")) ||
           str_starts(line, STR("up<< ")) || str_eq(line, STR("start upstream"));
}

static void write_report(struct playbook *p)
{
    buf_add(&p->got, STR("<< "));
    replay_write_report(p->over_http ? &p->http_replay.replay : &p->replay, &p->got);
    buf_add_ch(&p->got, '\n');
}

/* A client on HTTP sends a request, or has disconnected. */
static void send_http_line(struct playbook *p, struct str line)
{
    struct event_request request;
    struct event ev = { .kind = EVENT_CLIENT_CLOSED, .now_us = p->now_us };
    struct http_line l;

    http_line_read(&l, line);
    ev.exchange = l.number;
    if (l.kind == HTTP_LINE_REQUEST) {
        request = http_line_request(&l);
        ev.kind = EVENT_HTTP_REQUEST;
        ev.request = &request;
    }
    step_engine(p, &ev);
    http_line_release(&l);
}

/* A line after those of the recording. */
static bool run_command(struct playbook *p, struct str line)
{
    struct err e = ERR_NONE;

    if (is_expected(line))
        return expect(p, line);
    if (!check_no_actions(p))
        return false;
    if (str_starts(line, STR("options ")))
        return read_options(p, str_skip(line, 8));
    if (str_eq(line, STR("close")))
        send_event(p, EVENT_INPUT_CLOSED, NULL);
    else if (str_eq(line, STR("hurry")))
        step_engine(p, &(struct event){ .kind = EVENT_INPUT_CLOSED,
                                        .now_us = p->now_us,
                                        .shutting_down = true });
    else if (str_eq(line, STR("time")))
        return run_timer(p) || set_mismatch(p, "nobody waits", STR_NONE, STR_NONE);
    else if (str_eq(line, STR("report")))
        write_report(p);
    else if (str_starts(line, STR("up closed ")))
        end_upstream(p, EVENT_UPSTREAM_CLOSED, str_skip(line, strlen("up closed ")));
    else if (str_starts(line, STR("up lost ")))
        end_upstream(p, EVENT_UPSTREAM_LOST, str_skip(line, strlen("up lost ")));
    else if (str_starts(line, STR("up>> ")))
        assert_true(message_parser_line(&p->upstream, TO_CLIENT,
                                        str_skip(line, strlen("up>> ")), &p->from_server, &e));
    else if (http_kind(line) != HTTP_LINE_NONE)
        send_http_line(p, line);
    else if (!str_starts(line, STR(">> ")))
        return set_mismatch(p, "no such line in a playbook", line, STR_NONE);
    else if (!message_parser_line(&p->intake, TO_SERVER, str_skip(line, 3), &p->from_client,
                                  &e))
        return set_mismatch(p, e.msg, STR_NONE, STR_NONE);
    return true;
}

static bool is_recorded(struct str line)
{
    return str_starts(line, STR("c2s ")) || str_starts(line, STR("s2c ")) ||
           str_starts(line, STR("| ")) || str_starts(line, STR("@")) ||
           str_starts(line, STR("conn=")) || str_starts(line, STR("session="));
}

/* The recording is read in one piece, so that its lines are numbered. HTTP lines are
 * recorded up to the first options, and replayed from there. */
static void collect_recording(struct playbook *p, struct str text)
{
    bool played = false;

    while (text.len) {
        struct str line = str_cut(&text, '\n');
        bool http = http_kind(line) != HTTP_LINE_NONE;

        played = played || str_starts(line, STR("options "));
        p->over_http = p->over_http || http;
        p->is_http_recording = p->is_http_recording || (http && !played);
        if (!is_recorded(line) && (!http || played))
            continue;
        buf_add(&p->recording, line);
        buf_add_ch(&p->recording, '\n');
    }
}

static bool run_line(struct playbook *p, struct str line)
{
    static const struct replay_options defaults = { .match = { .mode = MATCH_BY_REQUEST } };

    p->line++;
    if (!line.len || line.at[0] == '#' || str_eq(line, STR("recording")))
        return true;
    if (is_recorded(line) || (!p->playing && http_kind(line) != HTTP_LINE_NONE))
        return !p->playing || set_mismatch(p, "the recording comes first", line, STR_NONE);
    if (!p->playing && !str_starts(line, STR("options ")))
        start_replay(p, &defaults);
    return run_command(p, line);
}

bool playbook_run(struct str text, struct buf *why)
{
    struct playbook p = { .out = { write_action },
                          .from_client = { put_client },
                          .from_server = { put_upstream },
                          .why = why };
    bool ok = true;

    buf_init(&p.got, (size_t)1 << 26);
    buf_init(&p.recording, (size_t)1 << 26);
    collect_recording(&p, text);
    while (ok && text.len)
        ok = run_line(&p, str_cut(&text, '\n'));
    p.line++;
    ok = ok && check_no_actions(&p) &&
         (p.playing || set_mismatch(&p, "nothing happens in it", STR_NONE, STR_NONE));
    end_replay(&p);
    buf_release(&p.recording);
    buf_release(&p.got);
    compare_rules_release(&p.rules);
    return ok;
}
