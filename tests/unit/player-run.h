/* tests/unit/player-run.h - plays calls of a recording in terse lines, and logs the actions. */
#ifndef PLAYER_RUN_H
#define PLAYER_RUN_H

#include "loaded-index.h"
#include "replay/player.h"
#include "replay/replay-report.h"

/* The time limit of a server request. */
enum { PLAYER_RUN_REPLY_US = 60000000 };

/* A call with a server request. */
#define PLAYER_RUN_SERVER_REQUEST                                                              \
    "c2s {'id':1,'method':'a'}\n"                                                              \
    "s2c {'id':5,'method':'q'}\n"                                                              \
    "c2s {'id':5,'result':{}}\n"                                                               \
    "s2c {'id':1,'result':{}}\n"

/* An index, a player, and its actions: one line each. */
struct player_run {
    struct action_sink out;
    struct loaded_index loaded;
    struct actions actions;
    struct replay_report report;
    struct player player;
    uint64_t timers;
    uint64_t reply_timer; /* the timer of the last server request */
    int64_t delay_us;     /* of the last other one */
    struct buf text;
};

static inline void player_run_put(struct action_sink *self, const struct action *a)
{
    static const char *const levels[] = { "error", "warn", "info", "debug" };
    struct player_run *t = (struct player_run *)self;
    size_t from = t->text.len;

    assert_int_not_equal(a->kind, ACTION_FINISH);
    if (a->kind == ACTION_SET_TIMER && a->delay_us == PLAYER_RUN_REPLY_US) {
        t->reply_timer = a->timer;
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

static inline void player_run_init(struct player_run *t, const char *recording)
{
    *t = (struct player_run){ .out = { player_run_put } };
    buf_init(&t->text, 1 << 20);
    loaded_index_init(&t->loaded, MATCH_SEQUENTIAL, recording);
    actions_init(&t->actions, &t->out);
    replay_report_init(&t->report, &t->loaded.index, loaded_index_exact());
    player_init(&t->player, &t->loaded.index, &t->actions, &t->report, 0, &t->timers);
}

static inline void player_run_release(struct player_run *t)
{
    player_release(&t->player);
    replay_report_release(&t->report);
    actions_release(&t->actions);
    loaded_index_release(&t->loaded);
    buf_release(&t->text);
}

static inline void player_run_play(struct player_run *t, size_t index, const char *live,
                                   bool again)
{
    struct terse_scanned s;
    struct mcp_message m = mcp_classify(terse_scan(&s, live), &s.arena);

    player_start(&t->player, (uint32_t)index + 1, &m, again);
    /* The player must copy the parts of the request that it keeps. */
    terse_scanned_release(&s);
}

static inline bool player_run_respond(struct player_run *t, const char *id)
{
    struct arena a = { 0 };
    struct terse_scanned s;
    struct str text = arena_printf(&a, "{'id':%s,'result':{}}", id);
    struct mcp_message m = mcp_classify(terse_scan(&s, text.at), &s.arena);
    bool was_handled = player_handle_response(&t->player, &m);

    terse_scanned_release(&s);
    arena_release(&a);
    return was_handled;
}

static inline void player_run_cancel(struct player_run *t, const char *id)
{
    struct terse_scanned s;

    player_handle_cancel(&t->player, terse_scan(&s, id));
    terse_scanned_release(&s);
}

static inline void player_run_reset(struct player_run *t, const char *capabilities)
{
    struct terse_scanned s;

    player_reset(&t->player, terse_scan(&s, capabilities), false);
    terse_scanned_release(&s);
}

#endif
