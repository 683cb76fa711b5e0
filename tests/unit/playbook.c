#include "playbook.h"

#include <stdlib.h>

#include "engine/mock.h"
#include "terse.h"
#include "test.h"
#include "trace/intake.h"

struct playbook {
    struct action_sink out;
    struct sink from_client;
    struct script script;
    struct intake intake;
    struct mock mock;
    struct buf got; /* what the mock did and nobody has expected yet, a line each */
    struct buf *why;
    size_t line;
    uint64_t timer; /* the last that was set */
    bool scripted, playing;
};

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
        p->timer = a->timer;
        break;
    case ACTION_FINISH:
        buf_printf(&p->got, "finish %d", a->exit_code);
        break;
    }
    buf_add_ch(&p->got, '\n');
}

static void step(struct playbook *p, enum event_kind kind, const struct record *r)
{
    struct event ev = { .kind = kind, .record = r, .timer = p->timer };

    mock_step(&p->mock, &ev);
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
        mock_release(&p->mock);
        intake_release(&p->intake);
    }
    p->playing = false;
}

static void begin_play(struct playbook *p, const struct mock_options *options)
{
    end_play(p);
    if (!p->scripted)
        script_finish(&p->script);
    p->scripted = p->playing = true;
    intake_init(&p->intake);
    mock_init(&p->mock, &p->script, options, &p->out);
    step(p, EVENT_OPENED, NULL);
}

static bool read_options(struct playbook *p, struct str words)
{
    struct mock_options options = { .match = MATCH_SEQUENTIAL, .finish_on_miss = true };

    while (words.len) {
        struct str word = str_cut(&words, ' ');

        if (str_eq(word, STR("match=by-request")))
            options.match = MATCH_BY_REQUEST;
        else if (str_eq(word, STR("on-miss=warn")))
            options.finish_on_miss = false;
        else if (!str_eq(word, STR("match=sequential")) && !str_eq(word, STR("on-miss=error")))
            return fails(p, "no such option", word, STR_NONE);
    }
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

static bool is_expected(struct str line)
{
    return str_starts(line, STR("<< ")) || str_starts(line, STR("report ")) ||
           str_starts(line, STR("wait ")) || str_starts(line, STR("finish "));
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
    else if (str_eq(line, STR("time")))
        step(p, EVENT_TIMER, NULL);
    else if (!str_starts(line, STR(">> ")))
        return fails(p, "no such line in a playbook", line, STR_NONE);
    else if (!intake_line(&p->intake, TO_SERVER, str_skip(line, 3), &p->from_client, &e))
        return fails(p, e.msg, STR_NONE, STR_NONE);
    return true;
}

static bool is_recorded(struct str line)
{
    return str_starts(line, STR("c2s ")) || str_starts(line, STR("s2c ")) ||
           str_starts(line, STR("| "));
}

/* The recording is poured in one piece, so that its lines are numbered. */
static void pour_recording(struct playbook *p, struct str text)
{
    struct buf recording;

    buf_init(&recording, (size_t)1 << 26);
    while (text.len) {
        struct str line = str_cut(&text, '\n');
        if (!is_recorded(line))
            continue;
        buf_add(&recording, line);
        buf_add_ch(&recording, '\n');
    }
    terse_pour_plain(&p->script.sink, buf_str(&recording));
    buf_release(&recording);
}

static bool run_line(struct playbook *p, struct str line)
{
    static const struct mock_options defaults = { .match = MATCH_SEQUENTIAL,
                                                  .finish_on_miss = true };

    p->line++;
    if (!line.len || line.at[0] == '#' || str_eq(line, STR("recording")))
        return true;
    if (is_recorded(line))
        return !p->playing || fails(p, "the recording comes first", line, STR_NONE);
    if (!p->playing && !str_starts(line, STR("options ")))
        begin_play(p, &defaults);
    return act(p, line);
}

bool playbook_run(struct str text, struct buf *why)
{
    struct playbook p = { .out = { write_down }, .from_client = { hear }, .why = why };
    bool ok = true;

    buf_init(&p.got, (size_t)1 << 26);
    script_init(&p.script);
    pour_recording(&p, text);
    while (ok && text.len)
        ok = run_line(&p, str_cut(&text, '\n'));
    p.line++;
    ok = ok && nothing_is_left(&p) &&
         (p.playing || fails(&p, "nothing happens in it", STR_NONE, STR_NONE));
    end_play(&p);
    script_release(&p.script);
    buf_release(&p.got);
    return ok;
}
