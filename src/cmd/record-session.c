#include "cmd/record-session.h"

#include <errno.h>

#include "base/clock.h"
#include "cmd/journal.h"
#include "engine/tap.h"
#include "format/live.h"
#include "format/recording-line.h"
#include "loop/signals.h"
#include "trace/limits.h"
#include "trace/loss.h"
#include "transport/relay.h"
#include "json/write.h"

enum {
    RESULT_TEXT = 1 << 16,
    ASK_US = 10000, /* so long the wall clock is taken to go on as it did */
};

/* The relay's events go through the tap into the file. */
struct session {
    const struct app *app;
    struct record_place *place;
    const struct record_settings *how;
    struct loop *loop;
    struct relay *relay;
    struct signals *signals;
    struct tap tap;
    struct live live;
    struct sink counting; /* before the file, if its format does not keep everything */
    struct loss loss;     /* what it does not keep */
    int64_t started_us;
    struct tap_time asked; /* when the wall clock was last */
    struct err why;        /* of what went wrong last; too large to be made for each line */
    int exit_code;
    bool left_out;     /* something did not come to the file */
    uint64_t too_long; /* messages that were, for us */
    bool hurried;      /* the server had to be told to end */
    const char *aside; /* what an earlier recorder has left here, by its new name; or NULL */
    bool journal_kept; /* it has what the document has not */
};

/* The wall clock is not asked again for every message: in between it goes as the other one
 * does. */
static struct tap_time now(struct session *s)
{
    int64_t us = clock_mono_us() - s->started_us;

    if (us - s->asked.us >= ASK_US || !s->asked.wall_us)
        s->asked = (struct tap_time){ us, clock_wall_us() };
    return (struct tap_time){ us, s->asked.wall_us + us - s->asked.us };
}

/* What reaches the file goes through here, and there is no other way. */
static struct sink *way_to_the_file(struct session *s)
{
    return redaction_door(s->how->redaction, &s->counting);
}

static bool put_counted(struct sink *self, const struct record *r, struct err *e)
{
    struct session *s = (struct session *)((char *)self - offsetof(struct session, counting));

    if (s->place->format != &recording_format && !s->loss.sink.put(&s->loss.sink, r, e))
        return false;
    return s->live.sink.put(&s->live.sink, r, e);
}

static void tell_trouble(const struct session *s, enum appender_trouble kind,
                         const struct err *e)
{
    const struct log *log = s->app->log;

    switch (kind) {
    case APPENDER_SLOW:
        log_say(log, LOG_DEBUG, "%s", e->msg);
        break;
    case APPENDER_STALLED:
    case APPENDER_FAILED:
        log_say(log, LOG_WARN, "the recording waits in memory: %s", e->msg);
        break;
    case APPENDER_DROPPED:
        log_say(log, LOG_ERROR, "the recording is incomplete: %s", e->msg);
        break;
    case APPENDER_UNSYNCED:
        log_say(log, LOG_ERROR, "the recording may not survive a power cut: %s", e->msg);
        break;
    case APPENDER_FINE:
        break;
    }
}

/* After everything that was put. The file takes it in any case, or says what it lost; what
 * does not even come there is told here, once. */
static void check(struct session *s, bool kept)
{
    enum appender_trouble kind;

    if (!kept && !s->left_out)
        tell_trouble(s, APPENDER_DROPPED, &s->why);
    s->left_out |= !kept;
    while ((kind = live_trouble(&s->live, &s->why)) != APPENDER_FINE)
        tell_trouble(s, kind, &s->why);
}

static void on_line(void *to, enum record_dir dir, struct str line)
{
    struct session *s = to;

    check(s, tap_line(&s->tap, dir, line, now(s), &s->why));
}

static void on_too_long(void *to, enum record_dir dir, uint64_t bytes)
{
    struct session *s = to;

    s->too_long++;
    check(s, tap_too_long(&s->tap, dir, bytes, now(s), &s->why));
}

static void on_stderr(void *to, struct str bytes)
{
    struct session *s = to;

    check(s, tap_stderr(&s->tap, bytes, now(s), &s->why));
}

static void on_hurried(void *to)
{
    struct session *s = to;

    s->hurried = true;
}

static void on_exited(void *to, int code, int signum)
{
    struct session *s = to;

    s->exit_code = signum ? 128 + signum : code;
    check(s, tap_exited(&s->tap, code, signum, now(s), &s->why));
}

static void on_done(void *to)
{
    struct session *s = to;

    loop_stop(s->loop);
}

static const struct relay_events session_events = {
    .line = on_line,
    .too_long = on_too_long,
    .stderr_text = on_stderr,
    .hurried = on_hurried,
    .exited = on_exited,
    .done = on_done,
};

static void on_signal(void *to, int signum)
{
    struct session *s = to;

    relay_signal(s->relay, signum);
}

static struct str json_strings(struct arena *a, char *const *at, size_t count)
{
    struct buf b;
    struct json_out o = json_out_to(&b);
    struct str list;

    buf_init(&b, LIMIT_MESSAGE);
    json_out_array(&o);
    for (size_t i = 0; i < count; i++)
        json_out_str(&o, str_z(at[i]));
    json_out_end_array(&o);
    list = arena_str(a, buf_str(&b));
    buf_release(&b);
    return list;
}

static struct str command_line(struct arena *a, char *const *argv)
{
    struct buf b;
    struct str line;

    buf_init(&b, LIMIT_MESSAGE);
    for (; *argv; argv++)
        buf_printf(&b, "%s%s", b.len ? " " : "", *argv);
    line = arena_str(a, buf_str(&b));
    buf_release(&b);
    return line;
}

/* All that the header says about the server and the command line stands here. */
static struct record_header compose_header(const struct session *s, struct arena *a)
{
    const struct record_settings *how = s->how;

    return (struct record_header){
        .version = STR(RECORDING_VERSION),
        .name = str_z(how->name),
        .tags = how->tags.count ? json_strings(a, (char *const *)how->tags.at, how->tags.count)
                                : STR_NONE,
        .upstream = command_line(a, how->server),
        .made_for = STR(RECORDING_MADE_FOR),
        .producer = STR("{\"name\":\"mcpreel\",\"version\":\"" MCPREEL_VERSION "\"}"),
        .command = json_strings(a, how->server, how->server_count),
        .transport = STR("stdio"),
    };
}

static void begin(struct session *s)
{
    struct arena a = { 0 };
    struct record_header header = compose_header(s, &a);

    check(s, tap_begin(&s->tap, &header, now(s), &s->why) &&
                 tap_started(&s->tap, now(s), &s->why));
    arena_release(&a);
}

/* As shells have it: not found, or found and not to be executed; the rest is trouble
 * of the usual kinds. */
static int start_failure(int errnum, const struct err *e)
{
    switch (errnum) {
    case 0:
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return app_exit_code(e);
    case ENOENT:
        return 127;
    default:
        return 126;
    }
}

/* The server has ended, and only the disk is waited for: whoever is tired of that may end
 * us as any other program. */
static void on_waits(void *to)
{
    struct session *s = to;

    signals_close(s->signals);
    s->signals = NULL;
}

static bool open_live(struct session *s, struct err *e)
{
    const struct record_place *p = s->place;
    bool journal = record_place_is_journal(p);
    struct live_config config = {
        .path = p->live,
        .format = journal ? &recording_format : p->format,
        .replace = p->force && !journal,
        .plain = s->how->plain && !journal,
        .rotate = s->how->rotate,
        .flush_us = s->how->flush_us,
        .waits = on_waits,
        .to = s,
    };

    return live_open(&s->live, s->app->sys, &config, e);
}

static bool make_file(struct session *s, struct err *e)
{
    return record_place_set_aside(s->place, s->app->sys, &s->aside, e) && open_live(s, e);
}

/* Finds a name that is free, and opens the file if it is time. Of names that we choose
 * ourselves another one may do. */
static bool settle(struct session *s, bool open, struct err *e)
{
    const struct sys *sys = s->app->sys;
    struct err why = ERR_NONE;
    unsigned attempt = 0;

    do {
        if (record_place_is_free(s->place, sys, &why) && (!open || make_file(s, &why)))
            return true;
    } while (why.kind == ERR_USAGE &&
             (record_place_give_way(s->place, sys) || record_place_next(s->place, ++attempt)));
    *e = why;
    return false;
}

/* A new file is made before the server starts: there is no session if it cannot be.
 * An old one is only replaced once there is something to replace it with. */
static int start(struct session *s, struct err *e)
{
    struct relay_config config = { s->how->server, 0, 1, 2, s->how->max_message };
    bool later = s->place->force;
    int errnum = 0;

    if (!settle(s, !later, e))
        return app_exit_code(e);
    if (!relay_start(&s->relay, s->loop, &config, &session_events, s, &errnum, e)) {
        if (!later) {
            live_abandon(&s->live);
            live_release(&s->live);
        }
        return start_failure(errnum, e);
    }
    if (later && !settle(s, true, e)) {
        relay_close(s->relay);
        return app_exit_code(e);
    }
    return 0;
}

/* Anything that was said, not only when or by which words. */
static bool lost_said(const struct loss *l)
{
    static const unsigned said =
        PART_SERVER | PART_PENDING | PART_BATCH | PART_RAW | PART_STDERR | PART_GAP;
    bool any = false;

    for (unsigned i = 0; i < PART_COUNT; i++)
        any |= (said >> i & 1u) && l->count[i];
    return any;
}

/* What the file is, in one line, with all that there is to be said about it. */
static void say_result(const struct session *s, const struct live_end *end)
{
    unsigned long long lost = end->lost + s->too_long, seen = s->tap.seq + s->too_long;
    enum log_level level = lost || s->hurried || s->journal_kept ? LOG_WARN : LOG_INFO;
    struct buf text;

    buf_init(&text, RESULT_TEXT);
    if (lost)
        buf_printf(&text, "recorded only %llu of %llu messages in %s", seen - lost, seen,
                   s->place->path);
    else
        buf_printf(&text, "recorded %llu message%s in %s", seen, seen == 1 ? "" : "s",
                   s->place->path);
    if (end->parts > 1)
        buf_printf(&text, " and %u further part%s", end->parts - 1, end->parts == 2 ? "" : "s");
    if (s->too_long)
        buf_printf(&text, "; %llu %s longer than --max-message",
                   (unsigned long long)s->too_long, s->too_long == 1 ? "was" : "were");
    if (loss_any(&s->loss)) {
        buf_printf(&text, "; lost in '%s': ", s->place->format->name);
        loss_add(&text, &s->loss);
    }
    if (s->hurried)
        buf_printf(&text, "; the server outlived its client for 0.8 s and got SIGTERM");
    if (s->journal_kept)
        buf_printf(&text, "; everything that was recorded is in %s", s->place->live);
    log_say(s->app->log, level, "%.*s", STR_ARG(buf_str(&text)));
    buf_release(&text);
}

/* The document of a journal; true if there is none to be made. The journal stays as long as
 * it has anything that whoever wants everything would miss. */
static bool make_document(struct session *s, const struct live_end *end)
{
    const struct record_place *p = s->place;
    struct err e = ERR_NONE;

    if (!record_place_is_journal(p))
        return true;
    if (!journal_finish(s->app, p->live, p->path, p->format, p->force, &e)) {
        err_hint(&e, "everything that was recorded is in '%s'", p->live);
        log_err(s->app->log, &e);
        return false;
    }
    s->journal_kept = end->late || (s->how->strict && lost_said(&s->loss));
    if (!s->journal_kept)
        s->app->sys->unlink(s->app->sys, p->live);
    return true;
}

/* The exit code of the session. */
static int end(struct session *s)
{
    struct live_end how;
    bool missing, made;

    check(s, tap_end(&s->tap, s->exit_code, now(s), &s->why));
    live_finish(&s->live, &how);
    check(s, true);
    live_release(&s->live);
    made = make_document(s, &how);
    if (made)
        say_result(s, &how);
    missing =
        how.incomplete || how.unsynced || s->left_out || s->too_long || lost_said(&s->loss);
    return made && !(missing && s->how->strict) ? s->exit_code : RECORD_SESSION_FAILED;
}

static void say_start(const struct session *s)
{
    if (s->aside)
        log_say(s->app->log, LOG_WARN,
                "recording to %s; another broke off here: 'mcpreel check --fix %s' finishes it",
                s->place->path, s->aside);
    else
        log_say(s->app->log, LOG_INFO, "recording to %s", s->place->path);
}

static int run(struct session *s, struct err *e)
{
    int code;

    s->signals = signals_watch(s->loop, on_signal, s);
    code = start(s, e);
    if (!code) {
        say_start(s);
        begin(s);
        loop_run(s->loop);
        code = end(s);
        relay_close(s->relay);
    }
    signals_close(s->signals);
    return code;
}

int record_session_run(const struct app *app, struct record_place *place,
                       const struct record_settings *how, struct err *e)
{
    /* A server that cannot be killed is left without an exit code. */
    struct session s = { .app = app,
                         .place = place,
                         .how = how,
                         .started_us = clock_mono_us(),
                         .exit_code = RECORD_SESSION_FAILED };
    int code;

    s.counting.put = put_counted;
    loss_init(&s.loss, place->format->keeps);
    s.loss.had = recording_format.keeps;
    s.loss.name = str_z(place->format->name);
    tap_init(&s.tap, way_to_the_file(&s));
    s.loop = loop_new();
    code = run(&s, e);
    loop_free(s.loop);
    tap_release(&s.tap);
    loss_release(&s.loss);
    return code;
}
