#include "format/live-writer.h"

#include <stdlib.h>

#include "trace/limits.h"

enum {
    TEXT_KEEP_MAX = 4 << 20,    /* larger buffers are freed */
    BATCH_BYTES_MAX = 64 << 10, /* of lines kept until live_writer_flush() */
    NAME_TRIES = 100,
    DIR_OTHER = 2, /* neither direction */
};

static struct record make_gap(int64_t us, uint64_t messages, uint64_t bytes, struct str why)
{
    struct record r = { .kind = RECORD_GAP, .has = HAS_US | HAS_TOTALS, .us = us };

    r.gap.messages = messages;
    r.gap.bytes = bytes;
    r.gap.why = why;
    return r;
}

static void write_record(struct live_writer *l, struct buf *to, const struct record *r)
{
    encoder_put(&l->encoder, to, r);
}

/* Writes a gap for each direction, and one for other lines. */
static void write_gap(void *to, struct buf *text, const struct line_queue_loss *loss,
                      const char *why)
{
    struct live_writer *l = to;
    uint64_t lines = 0;
    struct record r;

    if (l->config.messages_only)
        return;
    for (unsigned i = 0; i < LINE_QUEUE_DIRECTIONS; i++) {
        if (!loss->by_direction[i].lines)
            continue;
        lines += loss->by_direction[i].lines;
        r = make_gap(loss->us, loss->by_direction[i].messages, loss->by_direction[i].bytes,
                     str_z(why));
        if (i != DIR_OTHER) {
            r.has |= HAS_FROM;
            r.gap.dir = (enum record_dir)i;
        }
        write_record(l, text, &r);
    }
    if (!lines) { /* nothing is missing, but a power failure may have lost it */
        struct arena a = { 0 };

        r = make_gap(loss->us, 0, loss->by_direction[0].bytes,
                     arena_printf(&a, "written, but a sync failed: %s", why));
        write_record(l, text, &r);
        arena_release(&a);
    }
}

static void notify_wait(void *to)
{
    struct live_writer *l = to;

    if (l->config.on_wait)
        l->config.on_wait(l->config.to);
}

static struct line_queue_line make_line(const struct live_writer *l, const struct record *r)
{
    struct line_queue_line line = {
        .text = buf_str(&l->text), .direction = DIR_OTHER, .bytes = l->text.len, .us = l->us
    };

    if (r->kind == RECORD_MESSAGE) {
        line.direction = r->message.dir;
        line.messages = 1;
        line.bytes = json_raw(r->message.msg).len;
    } else if (r->kind == RECORD_RAW || r->kind == RECORD_STDERR) {
        line.direction = r->kind == RECORD_RAW ? r->bytes.dir : DIR_OTHER;
        line.bytes = r->bytes.bytes.len;
    }
    return line;
}

/* Replaces a line that is too long for readers by a gap. */
static void replace_by_gap(struct live_writer *l, const struct record *r)
{
    struct line_queue_line line = make_line(l, r);
    struct record gap = make_gap(l->us, line.messages, line.bytes, STR("too long to be kept"));

    buf_clear(&l->text);
    l->lost_any = true;
    if (line.direction != DIR_OTHER) {
        l->too_long[line.direction] += line.messages;
        gap.has |= HAS_FROM;
        gap.gap.dir = (enum record_dir)line.direction;
    }
    if (!l->config.messages_only)
        write_record(l, &l->text, &gap);
}

static void copy_text(struct live_writer *l, struct str *text)
{
    if (text->at)
        *text = arena_str(&l->texts, *text);
}

static void keep_header(struct live_writer *l, const struct record *r)
{
    struct record_header *h = &l->header.header;
    struct str *const texts[] = {
        &h->version,  &h->name,    &h->tags,      &h->upstream, &h->thoughtjack_version,
        &h->producer, &h->command, &h->transport, &h->source
    };

    l->header = *r;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        copy_text(l, texts[i]);
}

const char *live_writer_path_with_mark(struct arena *a, const char *path,
                                       const struct format *format, const char *mark)
{
    struct str stem = str_z(path), ext = STR_NONE;

    for (const char *const *e = format->ext; *e; e++)
        if (str_ends(stem, str_z(*e)) && strlen(*e) > ext.len)
            ext = str_z(*e);
    return arena_printf(a, "%.*s%s%.*s", (int)(stem.len - ext.len), stem.at, mark, STR_ARG(ext))
        .at;
}

const char *live_writer_part_path(struct arena *a, const char *path,
                                  const struct format *format, unsigned n)
{
    return live_writer_path_with_mark(a, path, format, arena_printf(a, ".%u", n).at);
}

/* Creates the next part under the next free name: existing files are skipped. */
static bool create_next_part(struct live_writer *l, struct file *f, struct err *e)
{
    struct atomic_file named;

    for (unsigned i = 0; i < NAME_TRIES; i++) {
        const char *name =
            live_writer_part_path(&l->texts, l->config.path, l->config.format, ++l->part);

        if (atomic_file_open_locked(&named, f, l->sys, name, false, e))
            return true;
        if (e->kind != ERR_USAGE)
            break;
    }
    l->part--;
    return false;
}

static void switch_file(struct live_writer *l, struct file *next)
{
    struct record footer = { .kind = RECORD_FOOTER, .has = HAS_US, .us = l->us };
    struct buf head;

    footer.footer.duration_ms = (uint64_t)l->us / 1000;
    buf_clear(&l->text);
    write_record(l, &l->text, &footer);
    encoder_end(&l->encoder, &l->text);
    encoder_begin(&l->encoder, l->config.format, NULL);
    buf_init(&head, LIMIT_LINE);
    l->header.header.part = l->part;
    write_record(l, &head, &l->header);
    appender_rotate(l->file, next, buf_str(&l->text), buf_str(&head));
    buf_release(&head);
    buf_clear(&l->text);
}

/* If the next part cannot be created, reports it and tries again after `rotate_bytes` more. */
static void rotate_file(struct live_writer *l)
{
    struct err e = ERR_NONE;
    struct file next;

    if (live_writer_replace(l, &e) && create_next_part(l, &next, &e)) {
        l->rotate_at = l->config.rotate_bytes;
        switch_file(l, &next);
    } else {
        l->rotate_at += l->config.rotate_bytes;
        errors_once_add(&l->errors, APPENDER_NOT_ROTATED, false, &e);
    }
}

static bool is_rotation_due(const struct live_writer *l)
{
    return l->config.rotate_bytes && l->header.has && appender_is_healthy(l->file) &&
           appender_size(l->file) >= l->rotate_at;
}

static void rotate_if_due(struct live_writer *l)
{
    if (!is_rotation_due(l))
        return;
    live_writer_flush(l); /* the disk may become slow with this */
    if (is_rotation_due(l))
        rotate_file(l);
}

static bool is_wanted(const struct live_writer *l, const struct record *r)
{
    return !l->config.messages_only || r->kind == RECORD_HEADER || r->kind == RECORD_MESSAGE ||
           r->kind == RECORD_FOOTER;
}

/* Keeps the footer for the end. Its totals are dropped if there are several parts. */
static void keep_footer(struct live_writer *l, const struct record *r)
{
    struct record_footer *f = &l->footer.footer;

    l->footer = *r;
    copy_text(l, &f->protocol);
    copy_text(l, &f->server_info);
    copy_text(l, &f->client_info);
    if (l->part > 1)
        l->footer.has &= ~(unsigned)(HAS_TOTALS | HAS_ERRORS);
    write_record(l, &l->footer_text, &l->footer);
}

/* Without gap lines the totals are those of the written messages. The number of errors among
 * them is unknown if any are missing. */
static void write_messages_only_footer(void *to, struct buf *text,
                                       const struct line_queue_loss *all)
{
    const struct live_writer *l = to;
    struct record r = l->footer;
    struct record_footer *f = &r.footer;
    uint64_t seen = f->messages;

    f->client_messages =
        l->messages[TO_SERVER] - l->too_long[TO_SERVER] - all->by_direction[TO_SERVER].messages;
    f->server_messages =
        l->messages[TO_CLIENT] - l->too_long[TO_CLIENT] - all->by_direction[TO_CLIENT].messages;
    f->messages = f->client_messages + f->server_messages;
    if (f->messages != seen)
        r.has &= ~(unsigned)HAS_ERRORS;
    if (l->footer.has)
        write_record(to, text, &r);
}

void live_writer_flush(struct live_writer *l)
{
    const char *at = l->batch_text.at;

    for (size_t i = 0; i < l->batch_count; i++) { /* the buffer may have moved */
        l->batch_lines[i].text.at = at;
        at += l->batch_lines[i].text.len;
    }
    if (l->batch_count)
        appender_add_lines(l->file, l->batch_lines, l->batch_count, &l->batch_text);
    l->batch_count = 0;
    buf_clear(&l->batch_text);
}

static void put_line(struct live_writer *l, const struct line_queue_line *line)
{
    if (!l->config.batch_writes) {
        appender_add_lines(l->file, line, 1, &l->text);
        return;
    }
    if (l->batch_count == LIVE_WRITER_BATCH_LINES ||
        l->batch_text.len + line->text.len > BATCH_BYTES_MAX)
        live_writer_flush(l);
    if (line->text.len > BATCH_BYTES_MAX) {
        appender_add_lines(l->file, line, 1, &l->text);
        return;
    }
    buf_add(&l->batch_text, line->text);
    l->batch_lines[l->batch_count++] = *line;
}

static void put_text(struct live_writer *l, const struct record *r)
{
    struct line_queue_line line;

    if (l->text.full)
        replace_by_gap(l, r);
    line = make_line(l, r);
    if (line.text.len)
        put_line(l, &line);
    if (l->text.cap > TEXT_KEEP_MAX) {
        buf_release(&l->text);
        buf_init(&l->text, LIMIT_LINE);
    }
    buf_clear(&l->text);
}

/* The header of each part has its number. */
static void put_numbered_header(struct live_writer *l, const struct record *given)
{
    struct record r = *given;

    r.has |= HAS_PART;
    r.header.part = l->part;
    keep_header(l, &r);
    write_record(l, &l->text, &r);
}

static bool live_writer_put(struct sink *self, const struct record *r, struct err *e)
{
    struct live_writer *l = (struct live_writer *)self;

    (void)e;
    if (!is_wanted(l, r))
        return true;
    if (r->kind != RECORD_HEADER && r->kind != RECORD_FOOTER)
        rotate_if_due(l);
    if (r->has & HAS_US)
        l->us = r->us;
    if (r->kind == RECORD_FOOTER) {
        keep_footer(l, r);
        return true;
    }
    if (r->kind == RECORD_MESSAGE)
        l->messages[r->message.dir]++;
    if (r->kind == RECORD_HEADER && l->config.rotate_bytes)
        put_numbered_header(l, r);
    else
        write_record(l, &l->text, r);
    put_text(l, r);
    return true;
}

static bool open_file(struct live_writer *l, struct err *e)
{
    struct appender_config c = appender_defaults;
    struct file f;

    c.flush_us = l->config.flush_us;
    c.write_gap = write_gap;
    c.write_last = l->config.messages_only ? write_messages_only_footer : NULL;
    c.on_slow_finish = notify_wait;
    c.arg = l;
    if (!atomic_file_open_locked(&l->draft, &f, l->sys, l->config.path, l->config.replace, e))
        return false;
    if (appender_open(&l->file, &f, &c, e))
        return true;
    live_writer_remove(l);
    return false;
}

bool live_writer_open(struct live_writer *l, const struct sys *sys,
                      const struct live_writer_config *config, struct err *e)
{
    BUG_IF(!config->format->line_based);
    *l = (struct live_writer){ .sink = { live_writer_put },
                               .config = *config,
                               .sys = sys,
                               .part = 1,
                               .rotate_at = config->rotate_bytes };
    if (!open_file(l, e))
        return false;
    buf_init(&l->text, LIMIT_LINE);
    buf_init(&l->footer_text, LIMIT_LINE);
    buf_init(&l->batch_text, BATCH_BYTES_MAX);
    encoder_begin(&l->encoder, l->config.format, NULL);
    return true;
}

enum appender_problem live_writer_next_error(struct live_writer *l, struct err *e)
{
    unsigned kind = errors_once_next(&l->errors, e);

    return kind ? (enum appender_problem)kind : appender_next_problem(l->file, e);
}

bool live_writer_replace(struct live_writer *l, struct err *e)
{
    if (!l->draft.temp_path || (!l->finished && !appender_is_healthy(l->file)))
        return true;
    return atomic_file_rename(&l->draft, l->sys, l->config.path, e);
}

const char *live_writer_path(const struct live_writer *l)
{
    return l->draft.temp_path ? l->draft.temp_path : l->config.path;
}

void live_writer_finish(struct live_writer *l, struct live_writer_result *end)
{
    struct appender_end how;
    uint64_t lines = 0;

    live_writer_flush(l);
    appender_finish(l->file, buf_str(&l->footer_text), &how);
    encoder_end(&l->encoder, &l->text); /* last: the appender may write a gap */
    *end = (struct live_writer_result){ .lost_messages =
                                            l->too_long[TO_SERVER] + l->too_long[TO_CLIENT],
                                        .unsynced = how.unsynced,
                                        .write_pending = how.timed_out,
                                        .file_replaced = how.file_changed,
                                        .parts = l->part };
    for (int i = 0; i < LINE_QUEUE_DIRECTIONS; i++) {
        end->lost_messages += how.lost.by_direction[i].messages;
        lines += how.lost.by_direction[i].lines;
    }
    end->incomplete = lines || l->lost_any || how.timed_out || how.file_changed;
    l->finished = true;
}

void live_writer_remove(struct live_writer *l)
{
    if (l->draft.temp_path)
        atomic_file_remove(&l->draft, l->sys);
    else
        l->sys->unlink(l->sys, l->config.path);
}

void live_writer_abort(struct live_writer *l)
{
    encoder_end(&l->encoder, &l->footer_text);
    appender_abort(l->file);
    live_writer_remove(l);
}

void live_writer_release(struct live_writer *l)
{
    atomic_file_release(&l->draft, l->sys);
    appender_free(l->file);
    buf_release(&l->text);
    buf_release(&l->footer_text);
    buf_release(&l->batch_text);
    arena_release(&l->texts);
}
