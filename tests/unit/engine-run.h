/* tests/unit/engine-run.h - runs an engine: lines in, actions out as text.
 *
 *     engine_run_terse(&s, "{'id':1,'method':'ping'}");
 *     assert_actions(&s, "<< {'jsonrpc':'2.0','id':1,'result':{}}\n");
 *
 * JSON has ' for " and ` for \, as in terse lines. */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include "engine/engine.h"
#include "terse.h"
#include "test.h"
#include "trace/parse-messages.h"

struct engine_run {
    struct action_sink out; /* the sink for the engine */
    struct sink records;
    struct message_parser intake;
    enum record_dir dir; /* of the messages that it gets */
    void (*step)(void *engine, const struct event *ev);
    void *engine;
    struct buf actions; /* since the last assert_actions() */
};

static inline void engine_run_put(struct action_sink *self, const struct action *a)
{
    static const char *const levels[] = { "error", "warn", "info", "debug" };
    struct engine_run *s = (struct engine_run *)self;

    switch (a->kind) {
    case ACTION_SEND:
        buf_add(&s->actions, STR("<< "));
        buf_add(&s->actions, a->text);
        break;
    case ACTION_REPORT:
        buf_printf(&s->actions, "report %s %.*s", levels[a->level], STR_ARG(a->text));
        break;
    case ACTION_SET_TIMER:
        buf_printf(&s->actions, "timer %llu in %lld us", (unsigned long long)a->timer,
                   (long long)a->delay_us);
        break;
    case ACTION_FINISH:
        buf_printf(&s->actions, "finish %d", a->exit_code);
        break;
    case ACTION_CALL_STARTED:
        buf_printf(&s->actions, "begin #%u", a->route.seq);
        break;
    case ACTION_CANCELLED:
        buf_printf(&s->actions, "drop #%u", a->route.seq);
        break;
    case ACTION_HTTP_RESPONSE:
    case ACTION_STREAM_OPEN:
    case ACTION_STREAM_WRITE:
    case ACTION_STREAM_END:
    case ACTION_HTTP_REQUEST:
    case ACTION_HTTP_ABORT:
    case ACTION_INVALID_RESPONSE:
        buf_add(&s->actions, STR("over HTTP"));
        break;
    case ACTION_START_UPSTREAM:
        buf_add(&s->actions, STR("start upstream"));
        break;
    case ACTION_SEND_UPSTREAM:
        buf_printf(&s->actions, "up<< %.*s", STR_ARG(a->text));
        break;
    case ACTION_END_UPSTREAM:
        buf_add(&s->actions, STR("end upstream"));
        break;
    case ACTION_UNDELIVERED:
        buf_printf(&s->actions, "drop %.*s", STR_ARG(a->text));
        break;
    }
    buf_add_ch(&s->actions, '\n');
}

static inline void engine_run_event(struct engine_run *s, enum event_kind kind,
                                    const struct record *r)
{
    struct event ev = { .kind = kind, .record = r };

    s->step(s->engine, &ev);
}

/* The time of a timer has come. */
static inline void engine_run_timer(struct engine_run *s, uint64_t timer)
{
    struct event ev = { .kind = EVENT_TIMER, .timer = timer };

    s->step(s->engine, &ev);
}

static inline bool engine_run_record(struct sink *self, const struct record *r, struct err *e)
{
    (void)e;
    engine_run_event((struct engine_run *)((char *)self - offsetof(struct engine_run, records)),
                     EVENT_RECORD, r);
    return true;
}

static inline void engine_run_init(struct engine_run *s, enum record_dir dir,
                                   void (*step)(void *engine, const struct event *ev),
                                   void *engine)
{
    *s = (struct engine_run){ .out = { engine_run_put },
                              .records = { engine_run_record },
                              .dir = dir };
    s->step = step;
    s->engine = engine;
    message_parser_init(&s->intake);
    buf_init(&s->actions, 1 << 20);
}

static inline void engine_run_release(struct engine_run *s)
{
    message_parser_release(&s->intake);
    buf_release(&s->actions);
}

/* The peer sends a line, as it is. */
static inline void engine_run_line(struct engine_run *s, struct str line)
{
    struct err e = ERR_NONE;

    assert_true(message_parser_line(&s->intake, s->dir, line, &s->records, &e));
}

static inline void engine_run_terse(struct engine_run *s, const char *line)
{
    struct arena a = { 0 };

    engine_run_line(s, terse_json(&a, line));
    arena_release(&a);
}

/* `text` stands somewhere in `in`. */
static inline bool engine_run_has(const struct buf *in, const char *text)
{
    return in->len && memmem(in->at, in->len, text, strlen(text));
}

#define assert_actions(s, want)                                                                \
    do {                                                                                       \
        struct arena arena_ = { 0 };                                                           \
        assert_str(buf_str(&(s)->actions), terse_json(&arena_, (want)));                       \
        arena_release(&arena_);                                                                \
        buf_clear(&(s)->actions);                                                              \
    } while (0)

#endif
