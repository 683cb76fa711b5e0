/* tests/unit/stepper.h - a stepper on the bench: lines in, what it wants done out.
 *
 *     stepper_hear(&s, "{'id':1,'method':'ping'}");
 *     assert_did(&s, "<< {'jsonrpc':'2.0','id':1,'result':{}}\n");
 *
 * JSON has ' for " and ` for \, as in terse lines. */
#ifndef STEPPER_H
#define STEPPER_H

#include "engine/step.h"
#include "terse.h"
#include "test.h"
#include "trace/intake.h"

struct stepper {
    struct action_sink out; /* what the engine is given as its sink */
    struct sink records;
    struct intake intake;
    enum record_dir dir; /* the way of what it hears */
    void (*step)(void *engine, const struct event *ev);
    void *engine;
    struct buf did; /* since the last assert_did() */
};

static inline void stepper_put(struct action_sink *self, const struct action *a)
{
    static const char *const levels[] = { "error", "warn", "info", "debug" };
    struct stepper *s = (struct stepper *)self;

    switch (a->kind) {
    case ACTION_SEND:
        buf_add(&s->did, STR("<< "));
        buf_add(&s->did, a->text);
        break;
    case ACTION_REPORT:
        buf_printf(&s->did, "report %s %.*s", levels[a->level], STR_ARG(a->text));
        break;
    case ACTION_SET_TIMER:
        buf_printf(&s->did, "timer %llu in %lld us", (unsigned long long)a->timer,
                   (long long)a->delay_us);
        break;
    case ACTION_FINISH:
        buf_printf(&s->did, "finish %d", a->exit_code);
        break;
    case ACTION_BEGIN:
        buf_printf(&s->did, "begin #%u", a->way.seq);
        break;
    case ACTION_DROP:
        buf_printf(&s->did, "drop #%u", a->way.seq);
        break;
    case ACTION_ANSWER:
    case ACTION_OPEN:
    case ACTION_WRITE:
    case ACTION_END:
    case ACTION_ASK:
    case ACTION_ABANDON:
    case ACTION_FAULT:
        buf_add(&s->did, STR("over HTTP"));
        break;
    case ACTION_START_UPSTREAM:
        buf_add(&s->did, STR("start upstream"));
        break;
    case ACTION_SEND_UPSTREAM:
        buf_printf(&s->did, "up<< %.*s", STR_ARG(a->text));
        break;
    case ACTION_END_UPSTREAM:
        buf_add(&s->did, STR("end upstream"));
        break;
    case ACTION_UNHEARD:
        buf_printf(&s->did, "drop %.*s", STR_ARG(a->text));
        break;
    }
    buf_add_ch(&s->did, '\n');
}

static inline void stepper_feed(struct stepper *s, enum event_kind kind, const struct record *r)
{
    struct event ev = { .kind = kind, .record = r };

    s->step(s->engine, &ev);
}

/* The time of a timer has come. */
static inline void stepper_ring(struct stepper *s, uint64_t timer)
{
    struct event ev = { .kind = EVENT_TIMER, .timer = timer };

    s->step(s->engine, &ev);
}

static inline bool stepper_record(struct sink *self, const struct record *r, struct err *e)
{
    (void)e;
    stepper_feed((struct stepper *)((char *)self - offsetof(struct stepper, records)),
                 EVENT_RECORD, r);
    return true;
}

static inline void stepper_init(struct stepper *s, enum record_dir dir,
                                void (*step)(void *engine, const struct event *ev),
                                void *engine)
{
    *s = (struct stepper){ .out = { stepper_put }, .records = { stepper_record }, .dir = dir };
    s->step = step;
    s->engine = engine;
    intake_init(&s->intake);
    buf_init(&s->did, 1 << 20);
}

static inline void stepper_release(struct stepper *s)
{
    intake_release(&s->intake);
    buf_release(&s->did);
}

/* The peer sends a line, as it is. */
static inline void stepper_hear_line(struct stepper *s, struct str line)
{
    struct err e = ERR_NONE;

    assert_true(intake_line(&s->intake, s->dir, line, &s->records, &e));
}

static inline void stepper_hear(struct stepper *s, const char *line)
{
    struct arena a = { 0 };

    stepper_hear_line(s, terse_json(&a, line));
    arena_release(&a);
}

/* `text` stands somewhere in `in`. */
static inline bool stepper_has(const struct buf *in, const char *text)
{
    return in->len && memmem(in->at, in->len, text, strlen(text));
}

#define assert_did(s, want)                                                                    \
    do {                                                                                       \
        struct arena arena_ = { 0 };                                                           \
        assert_str(buf_str(&(s)->did), terse_json(&arena_, (want)));                           \
        arena_release(&arena_);                                                                \
        buf_clear(&(s)->did);                                                                  \
    } while (0)

#endif
