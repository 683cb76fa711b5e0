#include "cmd/show-run.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/lock.h"
#include "base/mem.h"
#include "base/term.h"
#include "cmd/progress.h"
#include "cmd/show-hold.h"
#include "cmd/show-json.h"
#include "cmd/show-text.h"
#include "format/reader.h"
#include "loop/signals.h"
#include "loop/timer.h"
#include "trace/drift.h"
#include "trace/filter-view.h"
#include "trace/grouping.h"
#include "trace/limits.h"
#include "json/indent.h"

enum { CHUNK = 64 << 10, FAMILY_MAX = 65536, VERDICTS_MAX = 1 << 20, LABEL_MAX = 4096 };

/* Nothing that is put together at once is larger: a message as JSON, or a long string
 * with everything in it escaped. */
#define OUT_MAX (2 * LIMIT_LINE)

enum { FOLLOW_MS = 100 }; /* between two looks at a file that is followed */

/* Waiting for a file to grow. */
struct follow {
    struct loop *loop;
    struct timer *timer;
    struct signals *signals;
    bool stopped; /* by a signal */
    bool written; /* a recorder was seen to write it */
    bool gone;    /* and is not there any more */
    bool over;    /* the footer has come */
};

/* Rows wait here until it is known whether there are several sessions. */
struct undecided {
    struct waiting {
        struct show_row row; /* its text is in `text`, at `at` */
        size_t depth, at;
    } * rows;
    size_t count, cap, units;
    struct buf text;
    uint64_t session; /* the first that came; 0: none */
    bool on;
};

struct show {
    struct operation_sink events;
    struct show_rows rows;
    const struct app *app;
    const struct show_wish *wish;
    struct grouping grouping;
    struct show_hold hold;
    struct buf out, row;
    struct arena scratch;
    uint64_t units; /* rows that stand alone, with those below them */
    bool headed;    /* something is above: the first line of the list, another message */
    bool found;     /* what was asked for by its number */
    bool done;      /* nothing more is wanted */
    int64_t before; /* when the message before this one passed; -1: not known */
    struct drift drift;
    bool drifts; /* the record at hand */
    char session[24];
    struct buf server, trace; /* names */
    uint64_t *family;         /* numbers of those that belong to the one asked for */
    size_t family_count;
    struct buf verdicts;
    struct buf *ring; /* of --last: units */
    struct progress progress;
    struct show_layout layout;
    struct undecided undecided;
    struct follow follow;
};

/* Nobody reads any more: that is no failure, but there is nothing left to do. */
static bool flush(struct show *s, struct err *e)
{
    bool gone = false;

    progress_wipe(&s->progress);
    if (!buf_ok(&s->out, e) || !app_pour(s->app, buf_str(&s->out), &gone, e))
        return false;
    s->done |= gone;
    buf_clear(&s->out);
    return true;
}

static bool drain(void *arg, struct err *e)
{
    return flush(arg, e);
}

/* Who looks on sees every row at once. */
static bool flush_if_much(struct show *s, struct err *e)
{
    return s->out.len < (s->app->tty ? 1 : CHUNK) || flush(s, e);
}

static int64_t now(const struct show *s)
{
    return s->grouping.ledger.timed ? s->grouping.ledger.now : -1;
}

static void add_head(struct show *s)
{
    if (s->headed || s->app->json || s->wish->raw)
        return;
    s->headed = true;
    if (s->wish->messages)
        show_text_messages_head(&s->out, &s->layout);
    else
        show_text_operations_head(&s->out, &s->layout);
}

/* One row of a list; one of depth 0 begins a unit. */
static bool put_text(struct show *s, struct str text, size_t depth, struct err *e)
{
    const struct show_wish *w = s->wish;

    if (s->done)
        return true;
    if (!depth && w->count && s->units == w->count) {
        s->done = true;
        return true;
    }
    s->units += !depth;
    if (w->last && s->units) {
        struct buf *unit = &s->ring[(s->units - 1) % w->last];
        if (!depth)
            buf_clear(unit);
        buf_add(unit, text);
        return true;
    }
    add_head(s);
    buf_add(&s->out, text);
    return flush_if_much(s, e);
}

static bool put_text_row(struct show *s, const struct show_row *row, size_t depth,
                         struct err *e)
{
    buf_clear(&s->row);
    show_text_row(&s->row, row, depth, &s->layout);
    return put_text(s, buf_str(&s->row), depth, e);
}

/* Shows the rows that wait, in the layout as it is now. */
static bool decide(struct show *s, struct err *e)
{
    struct undecided *u = &s->undecided;
    bool ok = buf_ok(&u->text, e);

    u->on = false;
    for (size_t i = 0; i < u->count && ok; i++) {
        struct waiting *w = &u->rows[i];

        w->row.text.at = u->text.at + w->at;
        ok = put_text_row(s, &w->row, w->depth, e);
    }
    u->count = 0;
    buf_clear(&u->text);
    return ok;
}

static bool wait_to_decide(struct show *s, const struct show_row *row, size_t depth,
                           struct err *e)
{
    struct undecided *u = &s->undecided;

    u->rows = mem_reserve(u->rows, &u->cap, u->count + 1, sizeof *u->rows);
    u->rows[u->count++] = (struct waiting){ *row, depth, u->text.len };
    buf_add(&u->text, row->text);
    u->units += !depth;
    if (u->count < SHOW_HOLD_ROWS && u->text.len < SHOW_HOLD_BYTES &&
        !(s->wish->count && u->units > s->wish->count))
        return true;
    return decide(s, e);
}

static bool put_row(struct show_rows *self, const struct show_row *row, size_t depth,
                    struct err *e)
{
    struct show *s = (struct show *)((char *)self - offsetof(struct show, rows));

    if (s->app->json)
        return put_text(s, row->text, depth, e);
    return s->undecided.on ? wait_to_decide(s, row, depth, e) : put_text_row(s, row, depth, e);
}

/* What a filter may know besides the message or operation itself. */
static void add_surroundings(struct show *s, struct filter_view *v, unsigned has,
                             uint64_t session)
{
    const struct ledger *l = &s->grouping.ledger;

    v->server = buf_str(&s->server);
    v->trace = buf_str(&s->trace);
    if (has & HAS_SESSION) {
        int n = snprintf(s->session, sizeof s->session, "%llu", (unsigned long long)session);
        v->session = str_n(s->session, (size_t)n);
    }
    if (v->has & FILTER_T && l->dated) {
        v->has |= FILTER_WALL;
        v->wall = l->start_wall_us + v->t;
    }
}

static void set_time(struct show *s, struct filter_view *v)
{
    int64_t us = now(s);

    if (us < 0)
        return;
    v->has |= FILTER_T;
    v->t = us;
    if (s->before >= 0 && us >= s->before) {
        v->has |= FILTER_GAP;
        v->gap = us - s->before;
    }
}

/* Messages go out as they come, so a column for sessions is there if the recording is of HTTP.
 */
static void set_message_layout(struct show *s, const struct record *r)
{
    if (!s->headed && !s->layout.session && r->has & HAS_EXCHANGE)
        show_text_sessions(&s->layout);
}

static bool list_message(struct show *s, const struct operation_event *ev, struct err *e)
{
    const struct record *r = ev->record;
    struct filter_view v;

    if (s->wish->filter) {
        arena_clear(&s->scratch);
        filter_view_message(&v, ev, &s->scratch);
        v.is |= s->drifts ? IS_DRIFT : 0;
        set_time(s, &v);
        add_surroundings(s, &v, r->has, r->session);
        if (!filter_matches(s->wish->filter, &v))
            return true;
    }
    buf_clear(&s->row);
    if (s->wish->raw) {
        buf_add(&s->row, r->kind == RECORD_MESSAGE ? json_raw(r->message.msg) : r->bytes.bytes);
        buf_add_ch(&s->row, '\n');
    } else if (s->app->json) {
        show_json_message(&s->row, ev, now(s), false);
    } else {
        set_message_layout(s, r);
        show_text_message(&s->row, ev, now(s), &s->layout);
    }
    return buf_ok(&s->row, e) && put_text(s, buf_str(&s->row), 0, e);
}

/* Lists of messages also show what happened between them. */
static bool list_record(struct show *s, const struct record *r, struct err *e)
{
    struct filter_view v;

    if (s->wish->raw || r->kind == RECORD_HEADER || r->kind == RECORD_FOOTER ||
        r->kind == RECORD_UNKNOWN || r->kind == RECORD_MESSAGE || r->kind == RECORD_RAW)
        return true;
    if (s->wish->filter) {
        filter_view_record(&v, r);
        set_time(s, &v);
        add_surroundings(s, &v, r->has, r->session);
        if (!filter_matches(s->wish->filter, &v))
            return true;
    }
    buf_clear(&s->row);
    set_message_layout(s, r);
    if (s->app->json)
        show_json_record(&s->row, r, now(s));
    else
        show_text_record(&s->row, r, now(s), &s->layout);
    return buf_ok(&s->row, e) && put_text(s, buf_str(&s->row), 0, e);
}

static bool show_whole(struct show *s, const struct operation_event *ev, struct err *e)
{
    const struct record *r = ev->record;
    struct json_indent how = { .to = &s->out,
                               .color = s->app->color,
                               .drain = drain,
                               .arg = s,
                               .base64_hint = "--raw writes it whole" };

    if (s->wish->raw) {
        buf_add(&s->out, r->kind == RECORD_MESSAGE ? json_raw(r->message.msg) : r->bytes.bytes);
    } else if (s->app->json) {
        show_json_message(&s->out, ev, now(s), true);
        return flush_if_much(s, e);
    } else {
        if (s->headed)
            buf_add_ch(&s->out, '\n');
        s->headed = true;
        show_text_title(&s->out, ev, now(s), s->app->color);
        if (r->kind != RECORD_MESSAGE)
            term_escape(&s->out, r->bytes.bytes, TERM_MANY_LINES);
        else if (!json_indent_add(&how, r->message.msg, e))
            return false;
    }
    buf_add_ch(&s->out, '\n');
    return flush_if_much(s, e);
}

/* Numbers come in their order, so the list is sorted. */
static bool in_family(struct show *s, const struct operation *op)
{
    uint64_t wanted[2] = { op->number, op->parent };

    if (op->number == s->wish->pick.number)
        return true;
    for (size_t k = 0; k < 2; k++) {
        size_t low = 0, high = s->family_count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (s->family[middle] < wanted[k])
                low = middle + 1;
            else
                high = middle;
        }
        if (low < s->family_count && s->family[low] == wanted[k]) {
            if (k && s->family_count < FAMILY_MAX &&
                s->family[s->family_count - 1] < op->number)
                s->family[s->family_count++] = op->number;
            return true;
        }
    }
    return false;
}

static void keep_detail(struct show *s, struct show_row *row, const struct operation_event *ev)
{
    struct str text;

    arena_clear(&s->scratch);
    text = ev->op->messages.count == 1 ? show_text_arguments(ev, &s->scratch) : STR_NONE;
    if (text.len)
        show_hold_keep(&s->hold, &row->detail.arguments, text);
    text = show_text_error(ev, &s->scratch);
    if (text.len)
        show_hold_keep(&s->hold, &row->detail.error, text);
}

static bool on_message(struct show *s, const struct operation_event *ev, struct err *e)
{
    const struct show_pick *pick = &s->wish->pick;

    if (pick->number && pick->message) {
        if (s->found || ev->message->seq != pick->number)
            return true;
        s->found = s->done = true;
        return show_whole(s, ev, e);
    }
    if (pick->number && !in_family(s, ev->op))
        return true;
    if (pick->number && s->app->json)
        keep_detail(s, show_hold_row(&s->hold, ev->op), ev);
    if (pick->number)
        return show_whole(s, ev, e);
    if (s->wish->messages)
        return list_message(s, ev, e);
    struct show_row *row = show_hold_row(&s->hold, ev->op);
    keep_detail(s, row, ev);
    if (ev->op->messages.count == 1 && s->before >= 0 && now(s) >= s->before)
        row->gap = now(s) - s->before;
    row->drifts |= s->drifts;
    if (s->wish->filter) {
        struct filter_view v;
        filter_view_payload(&v, ev->record);
        row->seen |= filter_see(s->wish->filter, &v);
    }
    return true;
}

static bool is_wanted(struct show *s, const struct operation *op)
{
    const struct show_row *row = show_hold_row(&s->hold, op);
    struct filter_view v;

    if (!s->wish->filter)
        return true;
    filter_view_operation(&v, op);
    add_surroundings(s, &v, op->has, op->session);
    v.is |= row->drifts ? IS_DRIFT : 0;
    if (row->gap >= 0) {
        v.has |= FILTER_GAP;
        v.gap = row->gap;
    }
    return filter_decide(s->wish->filter, row->seen | filter_see(s->wish->filter, &v));
}

/* The number of its session: of HTTP, or of the server's process. 0: it has none. */
static uint64_t session_of(const struct operation *op)
{
    if (op->has & HAS_SESSION)
        return op->session;
    return op->has & HAS_CONN && !(op->has & HAS_EXCHANGE) ? op->conn : 0;
}

/* The second session that comes makes a column for them; where rows do not wait, the first of
 * HTTP does. */
static bool note_session(struct show *s, struct show_row *row, const struct operation *op,
                         struct err *e)
{
    struct undecided *u = &s->undecided;

    row->session = session_of(op);
    if (!u->on && !s->headed && !s->layout.session && op->has & HAS_SESSION)
        show_text_sessions(&s->layout);
    if (!row->session || !u->on)
        return true;
    if (!u->session)
        u->session = row->session;
    if (row->session == u->session)
        return true;
    show_text_sessions(&s->layout);
    return decide(s, e);
}

static bool on_end(struct show *s, const struct operation *op, struct err *e)
{
    const struct show_pick *pick = &s->wish->pick;
    struct show_row *row;

    if (pick->number && !pick->message) {
        if (!in_family(s, op))
            return true;
        s->found = true;
        if (s->app->json)
            show_json_operation(&s->verdicts, op, &show_hold_row(&s->hold, op)->detail);
        else if (!s->wish->raw)
            show_text_verdict(&s->verdicts, op, s->app->color);
        return true;
    }
    if (pick->number || s->wish->messages)
        return true;
    row = show_hold_row(&s->hold, op);
    if (!note_session(s, row, op, e))
        return false;
    buf_clear(&s->row);
    if (s->app->json)
        show_json_operation(&s->row, op, &row->detail);
    else
        show_text_operation(&s->row, op, &row->detail, &s->layout);
    return buf_ok(&s->row, e) &&
           show_hold_end(&s->hold, op, buf_str(&s->row), is_wanted(s, op), e);
}

static bool put_event(struct operation_sink *self, const struct operation_event *ev,
                      struct err *e)
{
    struct show *s = (struct show *)self;

    if (s->done)
        return true;
    return ev->message ? on_message(s, ev, e) : on_end(s, ev->op, e);
}

/* The latest names; an over-long one is cut by the buffer. */
static void note_names(struct show *s, const struct record *r)
{
    struct json_val name;

    if (r->kind == RECORD_HEADER && r->header.name.len) {
        buf_clear(&s->trace);
        buf_add(&s->trace, r->header.name);
    }
    if (r->kind != RECORD_MESSAGE || r->message.dir != TO_CLIENT)
        return;
    name = json_get(json_get(json_get(r->message.msg, STR("result")), STR("serverInfo")),
                    STR("name"));
    if (json_type(name) == JSON_STRING) {
        arena_clear(&s->scratch);
        buf_clear(&s->server);
        buf_add(&s->server, json_text(name, &s->scratch));
    }
}

static bool put_record(struct show *s, const struct record *r, struct err *e)
{
    if (s->wish->filter) {
        note_names(s, r);
        s->drifts = drift_see(&s->drift, r);
    }
    if (!s->grouping.sink.put(&s->grouping.sink, r, e))
        return false;
    if (s->wish->messages && !s->wish->pick.number && !list_record(s, r, e))
        return false;
    if (r->kind == RECORD_MESSAGE && now(s) >= 0)
        s->before = now(s);
    return true;
}

static void on_timer(void *to)
{
    struct follow *f = to;

    loop_stop(f->loop);
}

static void on_signal(void *to, int signum)
{
    struct follow *f = to;

    (void)signum;
    f->stopped = true;
    loop_stop(f->loop);
}

static void follow_begin(struct follow *f)
{
    f->loop = loop_new();
    f->timer = timer_new(f->loop, on_timer, f);
    f->signals = signals_watch(f->loop, on_signal, f);
}

static void follow_end(struct follow *f)
{
    if (!f->loop)
        return;
    signals_close(f->signals);
    timer_close(f->timer);
    loop_run(f->loop);
    loop_free(f->loop);
}

static void follow_wait(struct follow *f)
{
    if (f->stopped)
        return;
    timer_set(f->timer, FOLLOW_MS);
    loop_run(f->loop);
}

/* At the end of what is there. Nothing more will come after the footer, after a signal, or once
 * the recorder that was writing it is gone; it may have written until then, so look once more.
 */
static bool wait_for_more(struct show *s, struct reader *r, struct err *e)
{
    const char *path = s->wish->pick.path;
    struct follow *f = &s->follow;
    bool written = lock_is_held(s->app->sys, path);

    if (!flush(s, e))
        return false;
    if (reader_size(r) < reader_offset(r))
        return err_set(e, ERR_INPUT, "'%s' became shorter while it was followed", path);
    if (f->over || f->stopped || f->gone) {
        reader_stop_following(r);
        if (f->gone && !f->over)
            log_say(s->app->log, LOG_INFO, "'%s' has no footer: its recorder is gone", path);
        return true;
    }
    f->gone = f->written && !written;
    f->written |= written;
    if (!f->gone)
        follow_wait(f);
    return true;
}

static bool pour(struct show *s, struct reader *r, struct err *e)
{
    struct record rec;

    while (!s->done) {
        switch (reader_next(r, &rec, e)) {
        case NEXT_RECORD:
            if (!put_record(s, &rec, e))
                return false;
            s->follow.over = rec.kind == RECORD_FOOTER;
            progress_at(&s->progress, reader_offset(r));
            break;
        case NEXT_MORE:
            if (!wait_for_more(s, r, e))
                return false;
            break;
        case NEXT_END:
            return grouping_finish(&s->grouping, e) && show_hold_finish(&s->hold, e) &&
                   decide(s, e);
        default:
            return false;
        }
    }
    return true;
}

static bool not_found(const struct show *s, struct err *e)
{
    const struct show_pick *pick = &s->wish->pick;

    if (pick->message)
        return err_set(e, ERR_USAGE, "'%s' has no message %llu", pick->path,
                       (unsigned long long)pick->number);
    return err_set(e, ERR_USAGE, "'%s' has no operation %llu, only %llu", pick->path,
                   (unsigned long long)pick->number,
                   (unsigned long long)grouping_count(&s->grouping));
}

/* What could not be told before the end. */
static bool add_rest(struct show *s, struct err *e)
{
    const struct show_wish *w = s->wish;
    uint64_t from = w->last && s->units > w->last ? s->units - w->last : 0;

    if (w->pick.number && !s->found && !s->done)
        return not_found(s, e);
    for (uint64_t i = from; w->last && i < s->units; i++) {
        const struct buf *unit = &s->ring[i % w->last];
        add_head(s);
        if (!buf_ok(unit, e))
            return false;
        buf_add(&s->out, buf_str(unit));
        if (!flush_if_much(s, e))
            return false;
    }
    if (s->verdicts.len && s->headed)
        buf_add_ch(&s->out, '\n');
    buf_add(&s->out, buf_str(&s->verdicts));
    if (!flush(s, e))
        return false;
    if (w->filter && !s->units && !w->pick.number)
        log_say(s->app->log, LOG_INFO, "nothing in '%s' matches the filter", w->pick.path);
    return true;
}

/* Until something stands in the file that is followed: a recorder makes it first. */
static bool wait_for_first(struct show *s, struct err *e)
{
    struct follow *f = &s->follow;
    struct file file = FILE_CLOSED;
    uint64_t size = 0;

    while (!size && !f->stopped) {
        struct err ignored = ERR_NONE;
        bool ok =
            file_open(&file, s->app->sys, s->wish->pick.path, e) && file_size(&file, &size, e);

        file_close(&file, &ignored);
        if (!ok)
            return false;
        if (!size)
            follow_wait(f);
    }
    return true;
}

static bool check_followed(const struct reader *r, struct err *e)
{
    const struct format *f = reader_format(r);

    return f->lines ||
           err_set(e, ERR_USAGE, "cannot follow a file of format '%s': it is one document",
                   f->name);
}

static bool read_file(struct show *s, struct err *e)
{
    const char *path = s->wish->pick.path;
    const struct log *log = progress_log(&s->progress);
    bool follow = s->wish->follow, ok;
    struct reader *r;

    progress_init(&s->progress, s->app, "reading", path);
    if (follow)
        s->progress.on = false;
    if (follow && !wait_for_first(s, e))
        return false;
    if (s->follow.stopped)
        return true;
    if (!(follow ? reader_open_following(&r, s->app->sys, path, log, e)
                 : reader_open(&r, s->app->sys, path, log, e)))
        return false;
    s->progress.total = reader_size(r);
    ok = (!follow || check_followed(r, e)) && pour(s, r, e);
    progress_end(&s->progress);
    reader_close(r);
    return ok;
}

static void init(struct show *s)
{
    grouping_init(&s->grouping, &s->events);
    show_hold_init(&s->hold, &s->rows);
    s->layout = show_text_layout(s->app->columns, s->app->color);
    s->hold.eager = s->wish->follow;
    s->undecided.on =
        !s->wish->follow && !s->app->json && !file_is_standard(s->wish->pick.path);
    buf_init(&s->undecided.text, 2 * OUT_MAX);
    if (s->wish->follow)
        follow_begin(&s->follow);
    drift_init(&s->drift);
    buf_init(&s->out, OUT_MAX);
    buf_init(&s->row, OUT_MAX);
    buf_init(&s->server, LABEL_MAX);
    buf_init(&s->trace, LABEL_MAX);
    buf_init(&s->verdicts, VERDICTS_MAX);
    buf_add(&s->trace, str_z(s->wish->pick.path));
    s->family = mem_alloc(FAMILY_MAX * sizeof *s->family);
    s->family[s->family_count++] = s->wish->pick.number;
    if (s->wish->last)
        s->ring = mem_alloc(s->wish->last * sizeof *s->ring);
    for (size_t i = 0; i < s->wish->last; i++)
        buf_init(&s->ring[i], OUT_MAX);
}

static void release(struct show *s)
{
    follow_end(&s->follow);
    free(s->undecided.rows);
    buf_release(&s->undecided.text);
    for (size_t i = 0; i < s->wish->last; i++)
        buf_release(&s->ring[i]);
    free(s->ring);
    free(s->family);
    show_hold_release(&s->hold);
    drift_release(&s->drift);
    grouping_release(&s->grouping);
    buf_release(&s->out);
    buf_release(&s->row);
    buf_release(&s->server);
    buf_release(&s->trace);
    buf_release(&s->verdicts);
    arena_release(&s->scratch);
}

/* The file is broken here: what was read before is shown all the same. */
static void keep_going(struct show *s)
{
    struct err second = ERR_NONE;

    if (!s->done && show_hold_finish(&s->hold, &second) && decide(s, &second))
        (void)flush(s, &second);
}

bool show_run(const struct app *app, const struct show_wish *wish, struct err *e)
{
    struct show s = {
        .events = { put_event }, .rows = { put_row }, .app = app, .wish = wish, .before = -1
    };
    bool ok;

    init(&s);
    ok = read_file(&s, e);
    if (!ok)
        keep_going(&s);
    ok = ok && add_rest(&s, e);
    release(&s);
    return ok;
}
