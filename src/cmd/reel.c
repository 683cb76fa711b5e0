#include "cmd/reel.h"

#include "base/clock.h"
#include "base/file.h"
#include "cmd/journal.h"
#include "format/recording-line.h"
#include "trace/limits.h"
#include "trace/secret-name.h"
#include "json/write.h"

enum {
    RESULT_TEXT = 1 << 16,
    LOGGED_PIECE = 3000, /* bytes of a body in one line of the log */
    ASK_US = 10000,      /* so long the wall clock is taken to go on as it did */
};

/* The wall clock is not asked again for every message: in between it goes as the other one
 * does. */
struct tap_time reel_now(struct reel *r)
{
    int64_t us = clock_mono_us() - r->started_us;

    if (us - r->asked.us >= ASK_US || !r->asked.wall_us)
        r->asked = (struct tap_time){ us, clock_wall_us() };
    return (struct tap_time){ us, r->asked.wall_us + us - r->asked.us };
}

/* What reaches the file goes through here, and there is no other way. */
static struct sink *way_to_the_file(struct reel *r)
{
    return redaction_door(r->how->redaction, &r->counting);
}

/* Whether there is something that is worth replacing an old file. A client that reaches no
 * server leaves only its own requests. */
static bool recorded_anything(const struct reel *r)
{
    return r->any_message && r->answered;
}

static void note_session(struct reel *r, const struct record *record)
{
    r->any_message |=
        record->kind == RECORD_MESSAGE || (record->kind == RECORD_GAP && record->gap.messages);
    if (!r->how->server)
        refused_request_see(&r->refused, record);
    r->answered |=
        record->kind == RECORD_HTTP_RESPONSE && str_eq(record->http.by, STR("server"));
}

/* Whether no value of a header is logged: it may be a credential, or hold one. */
static bool is_masked(struct str name)
{
    static const struct str names[] = {
        STR_INIT("authorization"), STR_INIT("proxy-authorization"), STR_INIT("cookie"),
        STR_INIT("set-cookie"),    STR_INIT("mcp-session-id"),      STR_INIT("location"),
        STR_INIT("referer"),
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (fields_same(name, names[i]))
            return true;
    return secret_name_says_secret(name);
}

static void log_fields(const struct reel *r, char way, const struct fields *fields)
{
    for (size_t i = 0; i < fields->count; i++) {
        const struct field *f = &fields->at[i];

        if (is_masked(f->name))
            log_say(r->app->log, LOG_DEBUG, "%c %.*s: [masked, %zu bytes]", way,
                    STR_ARG(f->name), f->value.len);
        else
            log_say(r->app->log, LOG_DEBUG, "%c %.*s: %.*s", way, STR_ARG(f->name),
                    STR_ARG(f->value));
    }
}

void reel_log_request(struct reel *r, const struct request *head)
{
    struct buf path;

    if (!r->how->log_http)
        return;
    buf_init(&path, REQUEST_HEAD_MAX);
    redactor_path(&r->how->redaction->redactor, head->path, &path);
    log_say(r->app->log, LOG_DEBUG, "> %.*s %.*s%s", STR_ARG(head->method),
            STR_ARG(buf_str(&path)), head->query.len ? "?…" : "");
    buf_release(&path);
    log_fields(r, '>', &head->fields);
}

void reel_log_response(const struct reel *r, unsigned status, const struct fields *fields)
{
    if (!r->how->log_http)
        return;
    log_say(r->app->log, LOG_DEBUG, "< HTTP %u", status);
    log_fields(r, '<', fields);
}

/* After redaction, so that no secret is cut in two. */
static void log_body(const struct reel *r, const struct record *record)
{
    bool message = record->kind == RECORD_MESSAGE;
    struct str text = message ? json_raw(record->message.msg) : record->bytes.bytes;
    enum record_dir dir = message ? record->message.dir : record->bytes.from_to;

    if (!message && record->kind != RECORD_RAW)
        return;
    while (text.len) {
        struct str piece = str_n(text.at, text.len < LOGGED_PIECE ? text.len : LOGGED_PIECE);

        log_say(r->app->log, LOG_DEBUG, "%c %.*s", dir == TO_SERVER ? '>' : '<',
                STR_ARG(piece));
        text = str_skip(text, piece.len);
    }
}

static bool put_counted(struct sink *self, const struct record *record, struct err *e)
{
    struct reel *r = (struct reel *)((char *)self - offsetof(struct reel, counting));

    note_session(r, record);
    if (r->how->log_http)
        log_body(r, record);
    if (r->place->format != &recording_format && !r->loss.sink.put(&r->loss.sink, record, e))
        return false;
    return r->live.sink.put(&r->live.sink, record, e);
}

void reel_init(struct reel *r, const struct app *app, struct record_place *place,
               const struct record_settings *how, void (*waits)(void *to), void *to)
{
    *r = (struct reel){
        .app = app,
        .place = place,
        .how = how,
        .started_us = clock_mono_us(),
        .counting = { put_counted },
        .answered = how->server != NULL,
        .waits = waits,
        .to = to,
    };
    loss_init(&r->loss, place->format->keeps);
    r->loss.had = recording_format.keeps;
    r->loss.name = str_z(place->format->name);
    if (!how->server)
        refused_request_init(&r->refused, app->log, str_z(how->url));
    tap_init(&r->tap, way_to_the_file(r));
}

void reel_release(struct reel *r)
{
    tap_release(&r->tap);
    loss_release(&r->loss);
}

static void tell_trouble(const struct reel *r, enum appender_trouble kind, const struct err *e)
{
    const struct log *log = r->app->log;

    switch (kind) {
    case APPENDER_SLOW:
        log_say(log, LOG_DEBUG, "%s", e->msg);
        break;
    case APPENDER_STALLED:
    case APPENDER_FAILED:
        log_say(log, LOG_WARN, "the recording waits in memory: %s", e->msg);
        break;
    case APPENDER_UNTURNED:
        log_say(log, LOG_WARN, "the recording goes on in the same part: %s", e->msg);
        break;
    case APPENDER_DROPPED:
    case APPENDER_GONE:
        log_say(log, LOG_ERROR, "the recording is incomplete: %s", e->msg);
        break;
    case APPENDER_UNSYNCED:
        log_say(log, LOG_ERROR, "the recording may not survive a power cut: %s", e->msg);
        break;
    case APPENDER_FINE:
        break;
    }
}

/* Tells the first failure; the next call tries again. */
static void replace_old(struct reel *r)
{
    bool ok = live_replace(&r->live, &r->why);

    if (!ok && !r->replace_failed)
        log_say(r->app->log, LOG_WARN, "%s; the recording is in '%s' for now", r->why.msg,
                live_path(&r->live));
    r->replace_failed = !ok;
}

/* The file takes it in any case, or says what it lost; what does not even come there is told
 * here, once. */
void reel_check(struct reel *r, bool kept)
{
    enum appender_trouble kind;

    if (!kept && !r->left_out)
        tell_trouble(r, APPENDER_DROPPED, &r->why);
    r->left_out |= !kept;
    live_flush(&r->live);
    while ((kind = live_trouble(&r->live, &r->why)) != APPENDER_FINE)
        tell_trouble(r, kind, &r->why);
    if (recorded_anything(r) && !r->live.finished)
        replace_old(r);
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
static struct record_header compose_header(const struct reel *r, struct str transport,
                                           struct arena *a)
{
    const struct record_settings *how = r->how;

    return (struct record_header){
        .version = STR(RECORDING_VERSION),
        .name = str_z(how->name),
        .tags = how->tags.count ? json_strings(a, (char *const *)how->tags.at, how->tags.count)
                                : STR_NONE,
        .upstream = how->server ? command_line(a, how->server) : str_z(how->url),
        .made_for = STR(RECORDING_MADE_FOR),
        .producer = STR("{\"name\":\"mcpreel\",\"version\":\"" MCPREEL_VERSION "\"}"),
        .command = how->server ? json_strings(a, how->server, how->server_count) : STR_NONE,
        .transport = transport,
    };
}

static void say_start(const struct reel *r)
{
    if (r->aside)
        log_say(r->app->log, LOG_WARN,
                "recording to %s; another broke off here: 'mcpreel check --fix %s' finishes it",
                r->place->path, r->aside);
    else
        log_say(r->app->log, LOG_INFO, "recording to %s", r->place->path);
}

void reel_begin(struct reel *r, struct str transport)
{
    struct arena a = { 0 };
    struct record_header header = compose_header(r, transport, &a);

    say_start(r);
    reel_check(r, tap_begin(&r->tap, &header, reel_now(r), &r->why));
    arena_release(&a);
}

static bool open_live(struct reel *r, struct err *e)
{
    const struct record_place *p = r->place;
    bool journal = record_place_is_journal(p);
    struct live_config config = {
        .path = p->live,
        .format = journal ? &recording_format : p->format,
        .replace = p->force && !journal,
        .plain = r->how->plain && !journal,
        .together = r->together,
        .rotate = r->how->rotate,
        .flush_us = r->how->flush_us,
        .waits = r->waits,
        .to = r->to,
    };

    return live_open(&r->live, r->app->sys, &config, e);
}

static bool make_file(struct reel *r, struct err *e)
{
    return record_place_set_aside(r->place, r->app->sys, &r->aside, e) && open_live(r, e);
}

/* Of names that we choose ourselves another one may do. */
bool reel_settle(struct reel *r, bool open, struct err *e)
{
    const struct sys *sys = r->app->sys;
    struct err why = ERR_NONE;
    unsigned attempt = 0;

    do {
        if (record_place_is_free(r->place, sys, &why) && (!open || make_file(r, &why)))
            return true;
    } while (why.kind == ERR_USAGE &&
             (record_place_give_way(r->place, sys) || record_place_next(r->place, ++attempt)));
    *e = why;
    return false;
}

void reel_abandon(struct reel *r)
{
    live_abandon(&r->live);
    live_release(&r->live);
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

/* What is in the file, if there is one. */
static void add_count(struct buf *text, const struct reel *r, const struct live_end *end,
                      bool empty)
{
    unsigned long long lost = end->lost + r->too_long, seen = r->tap.seq + r->too_long;
    struct err ignored = ERR_NONE;
    const char *path = r->place->path;

    if (lost)
        buf_printf(text, "recorded only %llu of %llu messages", seen - lost, seen);
    else if (empty)
        buf_printf(text, "nothing was recorded");
    else
        buf_printf(text, "recorded %llu message%s", seen, seen == 1 ? "" : "s");
    if (!empty)
        buf_printf(text, " in %s", path);
    else
        buf_printf(text, "; '%s' was not %s", path,
                   file_may_create(r->app->sys, path, false, &ignored) ? "made" : "changed");
}

/* The result in one line. `empty`: there was nothing to make a file of. */
static void say_result(const struct reel *r, const struct live_end *end, const char *remark,
                       bool empty)
{
    bool bad = end->lost || r->too_long || remark || r->journal_kept || empty || end->gone;
    struct buf text;

    buf_init(&text, RESULT_TEXT);
    add_count(&text, r, end, empty);
    if (end->parts > 1)
        buf_printf(&text, " and %u further part%s", end->parts - 1, end->parts == 2 ? "" : "s");
    if (end->gone)
        buf_printf(&text, ", which is not complete");
    if (r->too_long)
        buf_printf(&text, "; %llu %s longer than --max-message",
                   (unsigned long long)r->too_long, r->too_long == 1 ? "was" : "were");
    if (loss_any(&r->loss) && !empty) {
        buf_printf(&text, "; lost in '%s': ", r->place->format->name);
        loss_add(&text, &r->loss);
    }
    if (remark)
        buf_printf(&text, "; %s", remark);
    if (r->journal_kept)
        buf_printf(&text, "; everything that was recorded is in %s", r->place->live);
    log_say(r->app->log, bad ? LOG_WARN : LOG_INFO, "%.*s", STR_ARG(buf_str(&text)));
    buf_release(&text);
}

/* Makes the document of a journal. False: that failed, which was told. `*empty`: there is no
 * interaction to make one of. The journal stays as long as it has anything that a reader who
 * wants everything would miss. */
static bool make_document(struct reel *r, const struct live_end *end, bool *empty)
{
    const struct record_place *p = r->place;
    struct err e = ERR_NONE;

    if (!journal_finish(r->app, p->live, p->path, p->format, p->force, empty, &e)) {
        err_hint(&e, "everything that was recorded is in '%s'", p->live);
        log_err(r->app->log, &e);
        return false;
    }
    r->journal_kept = end->late || (r->how->strict && lost_said(&r->loss));
    if (!r->journal_kept)
        r->app->sys->unlink(r->app->sys, p->live);
    return true;
}

/* Whether all that was recorded is lost. */
static bool is_all_lost(const struct reel *r, const struct live_end *end)
{
    return end->lost >= r->tap.seq && live_path(&r->live) != r->place->live;
}

/* Puts the recording in the place of the old file, if that was not done. False: that failed,
 * which was told. On a disk that hangs a rename may hang, too. */
static bool keep_recording(struct reel *r, const struct live_end *end, bool *empty)
{
    struct err e = ERR_NONE;
    bool ok;

    *empty =
        r->place->force && end->parts == 1 && (!recorded_anything(r) || is_all_lost(r, end));
    if (*empty) {
        live_remove(&r->live);
        return true;
    }
    ok = end->late ? live_path(&r->live) == r->place->live : live_replace(&r->live, &e);
    if (!ok)
        log_say(r->app->log, LOG_ERROR, "'%s' was not replaced%s%s; the recording is in '%s'",
                r->place->path, e.msg[0] ? ": " : "", e.msg, live_path(&r->live));
    return ok;
}

int reel_end(struct reel *r, int code, const char *remark)
{
    bool missing, made, empty = false;
    struct live_end how;

    reel_check(r, tap_end(&r->tap, code, reel_now(r), &r->why));
    live_finish(&r->live, &how);
    reel_check(r, true);
    refused_request_end(&r->refused);
    made = record_place_is_journal(r->place) ? make_document(r, &how, &empty)
                                             : keep_recording(r, &how, &empty);
    live_release(&r->live);
    if (made)
        say_result(r, &how, remark, empty);
    missing =
        how.incomplete || how.unsynced || r->left_out || r->too_long || lost_said(&r->loss);
    return made && !(missing && r->how->strict) ? code : RECORD_SESSION_FAILED;
}
