#include "report/show.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file-lock.h"
#include "base/mem.h"
#include "base/term.h"
#include "filter/filter-view.h"
#include "format/reader.h"
#include "ops/op-builder.h"
#include "report/op-json.h"
#include "report/op-order.h"
#include "report/op-text.h"
#include "report/progress.h"
#include "trace/limits.h"
#include "json/indent.h"

enum { CHUNK = 64 << 10, FAMILY_MAX = 65536, SUMMARIES_MAX = 1 << 20 };

/* Limit of a buffer: a message as JSON, or a long string in which every byte is escaped. */
#define OUT_MAX (2 * LIMIT_LINE)

/* State of following a file. */
struct follow_state {
    bool stopped;     /* set when wait() returns false */
    bool was_locked;  /* set when a recorder holds the lock of the file */
    bool writer_gone; /* set when it no longer does */
    bool footer_seen; /* set when the last record is the footer */
};

/* Rows held until it is known whether there are several sessions. */
struct pending_rows {
    struct pending_row {
        struct op_row row; /* its text is in `text` at offset `at` */
        size_t depth, at;
    } * rows;
    size_t count, cap, units;
    struct buf text;
    uint64_t session; /* the first one seen; 0: none */
    bool active;      /* cleared by write_pending() */
};

struct show {
    struct operation_sink events;
    struct op_row_sink rows;
    const struct sys *sys;
    const struct show_output *output;
    const struct show_options *options;
    struct op_builder builder;
    struct op_order order;
    struct buf out, row;
    struct arena scratch;
    uint64_t units;      /* rows of depth 0 written so far */
    bool header_written; /* set with the header of a list or the first whole message */
    bool found;          /* set when the operation or message `target.number` is seen */
    bool done;           /* set when enough is written or the reader is gone */
    int64_t previous_us; /* time of the previous message; -1: unknown */
    struct filter_context context;
    uint64_t *family; /* sorted numbers of `target.number` and its descendants */
    size_t family_count;
    struct buf summaries;
    struct buf *last_units; /* ring of units for --last */
    struct progress progress;
    struct op_text_layout layout;
    struct pending_rows pending;
    struct follow_state follow;
};

/* Writes the buffered output. If the reader is gone, ends without an error. */
static bool flush(struct show *s, struct err *e)
{
    bool gone = false;

    progress_clear(&s->progress);
    if (!buf_ok(&s->out, e) || !s->output->write(s->output->arg, buf_str(&s->out), &gone, e))
        return false;
    s->done |= gone;
    buf_clear(&s->out);
    return true;
}

static bool flush_output(void *arg, struct err *e)
{
    return flush(arg, e);
}

/* Writes the output if there is enough of it, with `flush_rows` always. */
static bool flush_if_much(struct show *s, struct err *e)
{
    return s->out.len < (s->output->flush_rows ? 1 : CHUNK) || flush(s, e);
}

static int64_t current_us(const struct show *s)
{
    return op_builder_now_us(&s->builder);
}

static void add_header(struct show *s)
{
    if (s->header_written || s->output->json || s->options->raw)
        return;
    s->header_written = true;
    if (s->options->messages)
        op_text_write_messages_header(&s->out, &s->layout);
    else
        op_text_write_operations_header(&s->out, &s->layout);
}

/* Writes one row of a list; a row of depth 0 begins a unit. */
static bool put_text(struct show *s, struct str text, size_t depth, struct err *e)
{
    const struct show_options *w = s->options;

    if (s->done)
        return true;
    if (!depth && w->count && s->units == w->count) {
        s->done = true;
        return true;
    }
    s->units += !depth;
    if (w->last && s->units) {
        struct buf *unit = &s->last_units[(s->units - 1) % w->last];
        if (!depth)
            buf_clear(unit);
        buf_add(unit, text);
        return true;
    }
    add_header(s);
    buf_add(&s->out, text);
    return flush_if_much(s, e);
}

static bool put_text_row(struct show *s, const struct op_row *row, size_t depth, struct err *e)
{
    buf_clear(&s->row);
    op_text_write_row(&s->row, row, depth, &s->layout);
    return put_text(s, buf_str(&s->row), depth, e);
}

/* Writes the held rows with the current layout, and holds no more. */
static bool write_pending(struct show *s, struct err *e)
{
    struct pending_rows *u = &s->pending;
    bool ok = buf_ok(&u->text, e);

    u->active = false;
    for (size_t i = 0; i < u->count && ok; i++) {
        struct pending_row *w = &u->rows[i];

        w->row.text.at = u->text.at + w->at;
        ok = put_text_row(s, &w->row, w->depth, e);
    }
    u->count = 0;
    buf_clear(&u->text);
    return ok;
}

static bool add_pending(struct show *s, const struct op_row *row, size_t depth, struct err *e)
{
    struct pending_rows *u = &s->pending;

    u->rows = mem_reserve(u->rows, &u->cap, u->count + 1, sizeof *u->rows);
    u->rows[u->count++] = (struct pending_row){ *row, depth, u->text.len };
    buf_add(&u->text, row->text);
    u->units += !depth;
    if (u->count < OP_ORDER_MAX_ROWS && u->text.len < OP_ORDER_MAX_BYTES &&
        !(s->options->count && u->units > s->options->count))
        return true;
    return write_pending(s, e);
}

static bool put_row(struct op_row_sink *self, const struct op_row *row, size_t depth,
                    struct err *e)
{
    struct show *s = (struct show *)((char *)self - offsetof(struct show, rows));

    if (s->output->json)
        return put_text(s, row->text, depth, e);
    return s->pending.active ? add_pending(s, row, depth, e) : put_text_row(s, row, depth, e);
}

/* Returns the time since the previous message; -1: unknown. */
static int64_t gap_us(const struct show *s)
{
    int64_t us = current_us(s);

    return s->previous_us >= 0 && us >= s->previous_us ? us - s->previous_us : -1;
}

static void set_view_time(struct show *s, struct filter_view *v)
{
    int64_t us = current_us(s), gap = gap_us(s);

    if (us < 0)
        return;
    v->has |= FILTER_HAS_T;
    v->t = us;
    if (gap >= 0) {
        v->has |= FILTER_HAS_GAP;
        v->gap = gap;
    }
}

/* Adds the session column for HTTP recordings. Messages are not held, so it cannot be known
 * whether there are several sessions. */
static void set_message_layout(struct show *s, const struct record *r)
{
    if (!s->header_written && !s->layout.session && r->has & HAS_EXCHANGE)
        op_text_add_session_column(&s->layout);
}

static bool list_message(struct show *s, const struct operation_event *ev, struct err *e)
{
    const struct record *r = ev->record;
    struct filter_view v;

    if (s->options->filter) {
        arena_clear(&s->scratch);
        filter_view_message(&v, ev, &s->scratch);
        v.is |= s->context.has_drift ? FILTER_IS_DRIFT : 0;
        set_view_time(s, &v);
        filter_context_apply(&s->context, &v, r->has, r->session, &s->builder);
        if (!filter_matches(s->options->filter, &v))
            return true;
    }
    buf_clear(&s->row);
    if (s->options->raw) {
        buf_add(&s->row, r->kind == RECORD_MESSAGE ? json_raw(r->message.msg) : r->bytes.bytes);
        buf_add_ch(&s->row, '\n');
    } else if (s->output->json) {
        op_json_write_message(&s->row, ev, current_us(s), false);
    } else {
        set_message_layout(s, r);
        op_text_write_message(&s->row, ev, current_us(s), &s->layout);
    }
    return buf_ok(&s->row, e) && put_text(s, buf_str(&s->row), 0, e);
}

/* Writes a record that is not a message: lists of messages show them, too. */
static bool list_record(struct show *s, const struct record *r, struct err *e)
{
    struct filter_view v;

    if (s->options->raw || r->kind == RECORD_HEADER || r->kind == RECORD_FOOTER ||
        r->kind == RECORD_UNKNOWN || r->kind == RECORD_MESSAGE || r->kind == RECORD_RAW)
        return true;
    if (s->options->filter) {
        filter_view_record(&v, r);
        set_view_time(s, &v);
        filter_context_apply(&s->context, &v, r->has, r->session, &s->builder);
        if (!filter_matches(s->options->filter, &v))
            return true;
    }
    buf_clear(&s->row);
    set_message_layout(s, r);
    if (s->output->json)
        op_json_write_record(&s->row, r, current_us(s));
    else
        op_text_write_record(&s->row, r, current_us(s), &s->layout);
    return buf_ok(&s->row, e) && put_text(s, buf_str(&s->row), 0, e);
}

static bool show_whole(struct show *s, const struct operation_event *ev, struct err *e)
{
    const struct record *r = ev->record;
    struct json_indent how = { .to = &s->out,
                               .color = s->output->color,
                               .drain = flush_output,
                               .arg = s,
                               .base64_hint = "--raw writes all of it" };

    if (s->options->raw) {
        buf_add(&s->out, r->kind == RECORD_MESSAGE ? json_raw(r->message.msg) : r->bytes.bytes);
    } else if (s->output->json) {
        op_json_write_message(&s->out, ev, current_us(s), true);
        return flush_if_much(s, e);
    } else {
        if (s->header_written)
            buf_add_ch(&s->out, '\n');
        s->header_written = true;
        op_text_write_title(&s->out, ev, current_us(s), s->output->color);
        if (r->kind != RECORD_MESSAGE)
            term_escape(&s->out, r->bytes.bytes, TERM_MANY_LINES);
        else if (!json_indent_add(&how, r->message.msg, e))
            return false;
    }
    buf_add_ch(&s->out, '\n');
    return flush_if_much(s, e);
}

/* Returns whether an operation is the target or a descendant; adds it to `family`, which stays
 * sorted because numbers rise. */
static bool in_family(struct show *s, const struct operation *op)
{
    uint64_t wanted[2] = { op->number, op->parent };

    if (op->number == s->options->target.number)
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

static void set_row_detail(struct show *s, struct op_row *row, const struct operation_event *ev)
{
    struct str text;

    arena_clear(&s->scratch);
    text = ev->op->messages.count == 1 ? op_text_arguments(ev, &s->scratch) : STR_NONE;
    if (text.len)
        op_order_set_text(&s->order, &row->detail.arguments, text);
    text = op_text_error(ev, &s->scratch);
    if (text.len)
        op_order_set_text(&s->order, &row->detail.error, text);
}

static bool on_message(struct show *s, const struct operation_event *ev, struct err *e)
{
    const struct show_select *target = &s->options->target;

    if (target->number && target->is_message) {
        if (s->found || ev->message->seq != target->number)
            return true;
        s->found = s->done = true;
        return show_whole(s, ev, e);
    }
    if (target->number && !in_family(s, ev->op))
        return true;
    if (target->number && s->output->json)
        set_row_detail(s, op_order_row(&s->order, ev->op), ev);
    if (target->number)
        return show_whole(s, ev, e);
    if (s->options->messages)
        return list_message(s, ev, e);
    struct op_row *row = op_order_row(&s->order, ev->op);
    set_row_detail(s, row, ev);
    if (s->options->filter)
        filter_operation_add(&row->filter, s->options->filter, &s->context, ev, gap_us(s));
    return true;
}

static bool matches_filter(struct show *s, const struct operation *op)
{
    return !s->options->filter ||
           filter_operation_matches(&op_order_row(&s->order, op)->filter, s->options->filter,
                                    &s->context, op, &s->builder);
}

/* Returns the number of the HTTP session or of the server process; 0: there is none. */
static uint64_t session_of(const struct operation *op)
{
    if (op->has & HAS_SESSION)
        return op->session;
    return op->has & HAS_CONN && !(op->has & HAS_EXCHANGE) ? op->conn : 0;
}

/* Adds the session column at the second session; if rows are not held, at the first HTTP
 * session. */
static bool note_session(struct show *s, struct op_row *row, const struct operation *op,
                         struct err *e)
{
    struct pending_rows *u = &s->pending;

    row->session = session_of(op);
    if (!u->active && !s->header_written && !s->layout.session && op->has & HAS_SESSION)
        op_text_add_session_column(&s->layout);
    if (!row->session || !u->active)
        return true;
    if (!u->session)
        u->session = row->session;
    if (row->session == u->session)
        return true;
    op_text_add_session_column(&s->layout);
    return write_pending(s, e);
}

static bool on_end(struct show *s, const struct operation *op, struct err *e)
{
    const struct show_select *target = &s->options->target;
    struct op_row *row;

    if (target->number && !target->is_message) {
        if (!in_family(s, op))
            return true;
        s->found = true;
        if (s->output->json)
            op_json_write_operation(&s->summaries, op, &op_order_row(&s->order, op)->detail);
        else if (!s->options->raw)
            op_text_write_summary(&s->summaries, op, s->output->color);
        return true;
    }
    if (target->number || s->options->messages)
        return true;
    row = op_order_row(&s->order, op);
    if (!note_session(s, row, op, e))
        return false;
    buf_clear(&s->row);
    if (s->output->json)
        op_json_write_operation(&s->row, op, &row->detail);
    else
        op_text_write_operation(&s->row, op, &row->detail, &s->layout);
    return buf_ok(&s->row, e) &&
           op_order_end(&s->order, op, buf_str(&s->row), matches_filter(s, op), e);
}

static bool put_event(struct operation_sink *self, const struct operation_event *ev,
                      struct err *e)
{
    struct show *s = (struct show *)self;

    if (s->done)
        return true;
    return ev->message ? on_message(s, ev, e) : on_end(s, ev->op, e);
}

static bool put_record(struct show *s, const struct record *r, struct err *e)
{
    if (s->options->filter)
        filter_context_note(&s->context, r);
    if (!s->builder.sink.put(&s->builder.sink, r, e))
        return false;
    if (s->options->messages && !s->options->target.number && !list_record(s, r, e))
        return false;
    if (r->kind == RECORD_MESSAGE && current_us(s) >= 0)
        s->previous_us = current_us(s);
    return true;
}

static void follow_wait(struct show *s)
{
    const struct show_follow *f = s->options->follow;

    if (!s->follow.stopped)
        s->follow.stopped = !f->wait(f->arg);
}

/* Waits at the end of a followed file. Stops following after the footer, when the user stopped
 * it, or when the recorder is gone; the recorder may have written until then, so the file is
 * read once more. */
static bool wait_for_more(struct show *s, struct reader *r, struct err *e)
{
    const char *path = s->options->target.path;
    struct follow_state *f = &s->follow;
    bool written = file_lock_is_held(s->sys, path);

    if (!flush(s, e))
        return false;
    if (reader_size(r) < reader_offset(r))
        return err_set(e, ERR_INPUT, "'%s' became shorter while it was followed", path);
    if (f->footer_seen || f->stopped || f->writer_gone) {
        reader_stop_following(r);
        if (f->writer_gone && !f->footer_seen)
            log_printf(s->output->log, LOG_INFO, "'%s' has no footer: its recorder has ended",
                       path);
        return true;
    }
    f->writer_gone = f->was_locked && !written;
    f->was_locked |= written;
    if (!f->writer_gone)
        follow_wait(s);
    return true;
}

static bool read_records(struct show *s, struct reader *r, struct err *e)
{
    struct record rec;

    while (!s->done) {
        switch (reader_next(r, &rec, e)) {
        case NEXT_RECORD:
            if (!put_record(s, &rec, e))
                return false;
            s->follow.footer_seen = rec.kind == RECORD_FOOTER;
            progress_update(&s->progress, reader_offset(r));
            break;
        case NEXT_MORE:
            if (!wait_for_more(s, r, e))
                return false;
            break;
        case NEXT_END:
            return op_builder_finish(&s->builder, e) && op_order_finish(&s->order, e) &&
                   write_pending(s, e);
        default:
            return false;
        }
    }
    return true;
}

static bool reject_not_found(const struct show *s, struct err *e)
{
    const struct show_select *target = &s->options->target;

    if (target->is_message)
        return err_set(e, ERR_USAGE, "'%s' has no message %llu", target->path,
                       (unsigned long long)target->number);
    return err_set(e, ERR_USAGE, "'%s' has no operation %llu, only %llu", target->path,
                   (unsigned long long)target->number,
                   (unsigned long long)op_builder_count(&s->builder));
}

/* Writes the rows of --last and the summaries, which are known only at the end. */
static bool write_rest(struct show *s, struct err *e)
{
    const struct show_options *w = s->options;
    uint64_t from = w->last && s->units > w->last ? s->units - w->last : 0;

    if (w->target.number && !s->found && !s->done)
        return reject_not_found(s, e);
    for (uint64_t i = from; w->last && i < s->units; i++) {
        const struct buf *unit = &s->last_units[i % w->last];
        add_header(s);
        if (!buf_ok(unit, e))
            return false;
        buf_add(&s->out, buf_str(unit));
        if (!flush_if_much(s, e))
            return false;
    }
    if (s->summaries.len && s->header_written)
        buf_add_ch(&s->out, '\n');
    buf_add(&s->out, buf_str(&s->summaries));
    if (!flush(s, e))
        return false;
    if (w->filter && !s->units && !w->target.number)
        log_printf(s->output->log, LOG_INFO, "nothing in '%s' matches the filter",
                   w->target.path);
    return true;
}

/* Waits until the followed file is not empty: a recorder creates it before it writes. */
static bool wait_for_first(struct show *s, struct err *e)
{
    struct follow_state *f = &s->follow;
    struct file file = FILE_CLOSED;
    uint64_t size = 0;

    while (!size && !f->stopped) {
        struct err ignored = ERR_NONE;
        bool ok =
            file_open(&file, s->sys, s->options->target.path, e) && file_size(&file, &size, e);

        file_close(&file, &ignored);
        if (!ok)
            return false;
        if (!size)
            follow_wait(s);
    }
    return true;
}

static bool check_followed(const struct reader *r, struct err *e)
{
    const struct format *f = reader_format(r);

    return f->line_based ||
           err_set(e, ERR_USAGE, "cannot follow a file of format '%s': it is one document",
                   f->name);
}

static bool read_file(struct show *s, struct err *e)
{
    const char *path = s->options->target.path;
    const struct log *log = progress_log(&s->progress);
    bool follow = s->options->follow != NULL, ok;
    struct reader *r;

    progress_init(&s->progress, s->output->log, s->output->show_progress && !follow, "reading",
                  path);
    if (follow && !wait_for_first(s, e))
        return false;
    if (s->follow.stopped)
        return true;
    if (!(follow ? reader_open_following(&r, s->sys, path, log, e)
                 : reader_open(&r, s->sys, path, log, e)))
        return false;
    s->progress.total = reader_size(r);
    ok = (!follow || check_followed(r, e)) && read_records(s, r, e);
    progress_end(&s->progress);
    reader_close(r);
    return ok;
}

static void show_init(struct show *s)
{
    op_builder_init(&s->builder, &s->events);
    op_order_init(&s->order, &s->rows);
    s->layout = op_text_layout(s->output->columns, s->output->color);
    s->order.by_end = s->options->follow != NULL;
    s->pending.active =
        !s->options->follow && !s->output->json && !file_is_stdio(s->options->target.path);
    buf_init(&s->pending.text, 2 * OUT_MAX);
    filter_context_init(&s->context, s->options->target.path);
    buf_init(&s->out, OUT_MAX);
    buf_init(&s->row, OUT_MAX);
    buf_init(&s->summaries, SUMMARIES_MAX);
    s->family = mem_alloc(FAMILY_MAX * sizeof *s->family);
    s->family[s->family_count++] = s->options->target.number;
    if (s->options->last)
        s->last_units = mem_alloc(s->options->last * sizeof *s->last_units);
    for (size_t i = 0; i < s->options->last; i++)
        buf_init(&s->last_units[i], OUT_MAX);
}

static void show_release(struct show *s)
{
    free(s->pending.rows);
    buf_release(&s->pending.text);
    for (size_t i = 0; i < s->options->last; i++)
        buf_release(&s->last_units[i]);
    free(s->last_units);
    free(s->family);
    op_order_release(&s->order);
    filter_context_release(&s->context);
    op_builder_release(&s->builder);
    buf_release(&s->out);
    buf_release(&s->row);
    buf_release(&s->summaries);
    arena_release(&s->scratch);
}

/* Writes the rows read before an error. */
static void flush_after_error(struct show *s)
{
    struct err second = ERR_NONE;

    if (!s->done && op_order_finish(&s->order, &second) && write_pending(s, &second))
        (void)flush(s, &second);
}

bool show_run(const struct sys *sys, const struct show_output *output,
              const struct show_options *options, struct err *e)
{
    struct show s = { .events = { put_event },
                      .rows = { put_row },
                      .sys = sys,
                      .output = output,
                      .options = options,
                      .previous_us = -1 };
    bool ok;

    show_init(&s);
    ok = read_file(&s, e);
    if (!ok)
        flush_after_error(&s);
    ok = ok && write_rest(&s, e);
    show_release(&s);
    return ok;
}
