/* tests/unit/theatre.h - a recording in terse lines, played on a stage, and what comes of it.
 */
#ifndef THEATRE_H
#define THEATRE_H

#include "engine/review.h"
#include "engine/stage.h"
#include "scripted.h"

/* How long a question is waited for. */
enum { THEATRE_PATIENCE_US = 60000000 };

/* A call in which the client is asked something. */
#define THEATRE_QUESTION                                                                       \
    "c2s {'id':1,'method':'a'}\n"                                                              \
    "s2c {'id':5,'method':'q'}\n"                                                              \
    "c2s {'id':5,'result':{}}\n"                                                               \
    "s2c {'id':1,'result':{}}\n"

/* A script, a stage, and what comes out of it: one line per action. */
struct theatre {
    struct action_sink out;
    struct scripted of;
    struct say say;
    struct review review;
    struct stage stage;
    uint64_t timers;
    uint64_t patience; /* the timer of the last question */
    int64_t delay_us;  /* of the last other one */
    struct buf text;
};

static inline void theatre_write_down(struct action_sink *self, const struct action *a)
{
    static const char *const levels[] = { "error", "warn", "info", "debug" };
    struct theatre *t = (struct theatre *)self;
    size_t from = t->text.len;

    assert_int_not_equal(a->kind, ACTION_FINISH);
    if (a->kind == ACTION_SET_TIMER && a->delay_us == THEATRE_PATIENCE_US) {
        t->patience = a->timer;
        return;
    }
    if (a->kind == ACTION_REPORT)
        buf_printf(&t->text, "[%s] ", levels[a->level]);
    t->delay_us = a->delay_us;
    if (a->kind == ACTION_SET_TIMER)
        buf_printf(&t->text, "[timer %llu]", (unsigned long long)a->timer);
    buf_add(&t->text, a->text);
    buf_add_ch(&t->text, '\n');
    for (char *c = t->text.at + from; c < t->text.at + t->text.len; c++)
        *c = *c == '"' ? '\'' : *c;
}

static inline void theatre_open(struct theatre *t, const char *recording)
{
    *t = (struct theatre){ .out = { theatre_write_down } };
    buf_init(&t->text, 1 << 20);
    scripted_init(&t->of, MATCH_SEQUENTIAL, recording);
    say_init(&t->say, &t->out);
    review_init(&t->review, &t->of.script);
    stage_init(&t->stage, &t->of.script, &t->say, &t->review, 0, &t->timers);
}

static inline void theatre_close(struct theatre *t)
{
    stage_release(&t->stage);
    review_release(&t->review);
    say_release(&t->say);
    scripted_release(&t->of);
    buf_release(&t->text);
}

static inline void theatre_play(struct theatre *t, size_t index, const char *live, bool again)
{
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, live), &s.arena);

    stage_play(&t->stage, (uint32_t)index + 1, &m, again);
    /* What it keeps of the request must be its own. */
    terse_scanned_release(&s);
}

static inline bool theatre_answer(struct theatre *t, const char *id)
{
    struct arena a = { 0 };
    struct terse_scanned s;
    struct str text = arena_printf(&a, "{'id':%s,'result':{}}", id);
    struct mcp_message m = mcp_classify(terse_scan(&s, text.at), &s.arena);
    bool heard = stage_hear_answer(&t->stage, &m);

    terse_scanned_release(&s);
    arena_release(&a);
    return heard;
}

static inline void theatre_cancel(struct theatre *t, const char *id)
{
    struct terse_scanned s;

    stage_hear_cancel(&t->stage, terse_scan(&s, id));
    terse_scanned_release(&s);
}

static inline void theatre_reset(struct theatre *t, const char *capabilities)
{
    struct terse_scanned s;

    stage_reset(&t->stage, terse_scan(&s, capabilities), false);
    terse_scanned_release(&s);
}

#endif
