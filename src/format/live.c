#include "format/live.h"

#include <stdlib.h>

#include "trace/limits.h"

enum {
    TEXT_KEPT = 4 << 20, /* a buffer that grew beyond is given back */
    HELD_MAX = 64 << 10, /* bytes of lines that wait */
    NAME_TRIES = 100,
    LANE_OTHER = 2, /* of what is nobody's message */
};

static struct record gap_at(int64_t us, uint64_t messages, uint64_t bytes, struct str why)
{
    struct record r = { .kind = RECORD_GAP, .has = HAS_US | HAS_TOTALS, .us = us };

    r.gap.messages = messages;
    r.gap.bytes = bytes;
    r.gap.why = why;
    return r;
}

static void compose(struct live *l, struct buf *to, const struct record *r)
{
    l->config.format->put(l->state, to, r);
}

/* One line for each side, and one for what belongs to none. */
static void compose_gap(void *to, struct buf *text, const struct backlog_loss *loss,
                        const char *why)
{
    struct live *l = to;
    uint64_t lines = 0;
    struct record r;

    if (l->config.plain)
        return;
    for (unsigned i = 0; i < BACKLOG_LANES; i++) {
        if (!loss->lanes[i].lines)
            continue;
        lines += loss->lanes[i].lines;
        r = gap_at(loss->us, loss->lanes[i].messages, loss->lanes[i].bytes, str_z(why));
        if (i != LANE_OTHER) {
            r.has |= HAS_FROM;
            r.gap.from_to = (enum record_dir)i;
        }
        compose(l, text, &r);
    }
    if (!lines) { /* nothing is missing here, but a power cut may have taken it */
        struct arena a = { 0 };

        r = gap_at(loss->us, 0, loss->lanes[0].bytes,
                   arena_printf(&a, "written, but a sync failed: %s", why));
        compose(l, text, &r);
        arena_release(&a);
    }
}

static void tell_waiting(void *to)
{
    struct live *l = to;

    if (l->config.waits)
        l->config.waits(l->config.to);
}

static struct backlog_line line_of(const struct live *l, const struct record *r)
{
    struct backlog_line line = {
        .text = buf_str(&l->text), .lane = LANE_OTHER, .bytes = l->text.len, .us = l->us
    };

    if (r->kind == RECORD_MESSAGE) {
        line.lane = r->message.dir;
        line.messages = 1;
        line.bytes = json_raw(r->message.msg).len;
    } else if (r->kind == RECORD_RAW || r->kind == RECORD_STDERR) {
        line.lane = r->kind == RECORD_RAW ? r->bytes.from_to : LANE_OTHER;
        line.bytes = r->bytes.bytes.len;
    }
    return line;
}

/* The line would be longer than any reader takes: a gap stands in its place. */
static void replace_by_gap(struct live *l, const struct record *r)
{
    struct backlog_line line = line_of(l, r);
    struct record gap = gap_at(l->us, line.messages, line.bytes, STR("too long to be kept"));

    buf_clear(&l->text);
    l->left_out = true;
    if (line.lane != LANE_OTHER) {
        l->too_long[line.lane] += line.messages;
        gap.has |= HAS_FROM;
        gap.gap.from_to = (enum record_dir)line.lane;
    }
    if (!l->config.plain)
        compose(l, &l->text, &gap);
}

static void keep(struct live *l, struct str *text)
{
    if (text->at)
        *text = arena_str(&l->kept, *text);
}

static void keep_header(struct live *l, const struct record *r)
{
    struct record_header *h = &l->header.header;
    struct str *const texts[] = { &h->version,  &h->name,      &h->tags,
                                  &h->upstream, &h->made_for,  &h->producer,
                                  &h->command,  &h->transport, &h->source };

    l->header = *r;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        keep(l, texts[i]);
}

const char *live_name_beside(struct arena *a, const char *path, const struct format *format,
                             const char *mark)
{
    struct str stem = str_z(path), ext = STR_NONE;

    for (const char *const *e = format->ext; *e; e++)
        if (str_ends(stem, str_z(*e)) && strlen(*e) > ext.len)
            ext = str_z(*e);
    return arena_printf(a, "%.*s%s%.*s", (int)(stem.len - ext.len), stem.at, mark, STR_ARG(ext))
        .at;
}

const char *live_part_name(struct arena *a, const char *path, const struct format *format,
                           unsigned n)
{
    return live_name_beside(a, path, format, arena_printf(a, ".%u", n).at);
}

/* The next name that is free: nobody's file is overwritten, nor does one end the
 * recording. */
static bool make_next_file(struct live *l, struct file *f, struct err *e)
{
    struct draft named;

    for (unsigned i = 0; i < NAME_TRIES; i++) {
        const char *name =
            live_part_name(&l->kept, l->config.path, l->config.format, ++l->part);

        if (draft_open_locked(&named, f, l->sys, name, false, e))
            return true;
        if (e->kind != ERR_USAGE)
            break;
    }
    l->part--;
    return false;
}

static void begin_text(struct live *l)
{
    l->state = l->config.format->begin ? l->config.format->begin() : NULL;
}

static void end_text(struct live *l, struct buf *to)
{
    if (l->config.format->end)
        l->config.format->end(l->state, to);
}

static void turn(struct live *l, struct file *next)
{
    struct record footer = { .kind = RECORD_FOOTER, .has = HAS_US, .us = l->us };
    struct buf head;

    footer.footer.duration_ms = (uint64_t)l->us / 1000;
    buf_clear(&l->text);
    compose(l, &l->text, &footer);
    end_text(l, &l->text);
    begin_text(l);
    buf_init(&head, LIMIT_LINE);
    l->header.header.part = l->part;
    compose(l, &head, &l->header);
    appender_turn(l->file, next, buf_str(&l->text), buf_str(&head));
    buf_release(&head);
    buf_clear(&l->text);
}

/* A part that cannot be made is told, and tried again when there is as much again. */
static void go_on_in_next_part(struct live *l)
{
    struct err e = ERR_NONE;
    struct file next;

    if (live_replace(l, &e) && make_next_file(l, &next, &e)) {
        l->turn_at = l->config.rotate;
        turn(l, &next);
    } else {
        l->turn_at += l->config.rotate;
        troubles_add(&l->troubles, APPENDER_UNTURNED, false, &e);
    }
}

static bool is_turn_due(const struct live *l)
{
    return l->config.rotate && l->header.has && appender_is_well(l->file) &&
           appender_size(l->file) >= l->turn_at;
}

static void turn_if_due(struct live *l)
{
    if (!is_turn_due(l))
        return;
    live_flush(l); /* which may be too much for the disk */
    if (is_turn_due(l))
        go_on_in_next_part(l);
}

static bool is_wanted(const struct live *l, const struct record *r)
{
    return !l->config.plain || r->kind == RECORD_HEADER || r->kind == RECORD_MESSAGE ||
           r->kind == RECORD_FOOTER;
}

/* It is written at the very end; the totals of a part are its own. */
static void keep_footer(struct live *l, const struct record *r)
{
    struct record_footer *f = &l->footer.footer;

    l->footer = *r;
    keep(l, &f->protocol);
    keep(l, &f->server_info);
    keep(l, &f->client_info);
    if (l->part > 1)
        l->footer.has &= ~(unsigned)(HAS_TOTALS | HAS_ERRORS);
    compose(l, &l->last, &l->footer);
}

/* Where no gap says what is missing the totals are of what is there. How many errors are
 * among that nobody knows then. */
static void compose_plain_footer(void *to, struct buf *text, const struct backlog_loss *all)
{
    const struct live *l = to;
    struct record r = l->footer;
    struct record_footer *f = &r.footer;
    uint64_t seen = f->messages;

    f->client_messages =
        l->came[TO_SERVER] - l->too_long[TO_SERVER] - all->lanes[TO_SERVER].messages;
    f->server_messages =
        l->came[TO_CLIENT] - l->too_long[TO_CLIENT] - all->lanes[TO_CLIENT].messages;
    f->messages = f->client_messages + f->server_messages;
    if (f->messages != seen)
        r.has &= ~(unsigned)HAS_ERRORS;
    if (l->footer.has)
        compose(to, text, &r);
}

void live_flush(struct live *l)
{
    const char *at = l->held.at;

    for (size_t i = 0; i < l->held_count; i++) { /* they may have moved */
        l->lines[i].text.at = at;
        at += l->lines[i].text.len;
    }
    if (l->held_count)
        appender_put(l->file, l->lines, l->held_count, &l->held);
    l->held_count = 0;
    buf_clear(&l->held);
}

static void put_line(struct live *l, const struct backlog_line *line)
{
    if (!l->config.together) {
        appender_put(l->file, line, 1, &l->text);
        return;
    }
    if (l->held_count == LIVE_TOGETHER || l->held.len + line->text.len > HELD_MAX)
        live_flush(l);
    if (line->text.len > HELD_MAX) {
        appender_put(l->file, line, 1, &l->text);
        return;
    }
    buf_add(&l->held, line->text);
    l->lines[l->held_count++] = *line;
}

static void put_text(struct live *l, const struct record *r)
{
    struct backlog_line line;

    if (l->text.full)
        replace_by_gap(l, r);
    line = line_of(l, r);
    if (line.text.len)
        put_line(l, &line);
    if (l->text.cap > TEXT_KEPT) {
        buf_release(&l->text);
        buf_init(&l->text, LIMIT_LINE);
    }
    buf_clear(&l->text);
}

/* Every part says which one it is. */
static void put_numbered_header(struct live *l, const struct record *given)
{
    struct record r = *given;

    r.has |= HAS_PART;
    r.header.part = l->part;
    keep_header(l, &r);
    compose(l, &l->text, &r);
}

static bool live_put(struct sink *self, const struct record *r, struct err *e)
{
    struct live *l = (struct live *)self;

    (void)e;
    if (!is_wanted(l, r))
        return true;
    if (r->kind != RECORD_HEADER && r->kind != RECORD_FOOTER)
        turn_if_due(l);
    if (r->has & HAS_US)
        l->us = r->us;
    if (r->kind == RECORD_FOOTER) {
        keep_footer(l, r);
        return true;
    }
    if (r->kind == RECORD_MESSAGE)
        l->came[r->message.dir]++;
    if (r->kind == RECORD_HEADER && l->config.rotate)
        put_numbered_header(l, r);
    else
        compose(l, &l->text, r);
    put_text(l, r);
    return true;
}

static bool open_file(struct live *l, struct err *e)
{
    struct appender_config c = appender_defaults;
    struct file f;

    c.flush_us = l->config.flush_us;
    c.gap = compose_gap;
    c.last = l->config.plain ? compose_plain_footer : NULL;
    c.waits = tell_waiting;
    c.to = l;
    if (!draft_open_locked(&l->draft, &f, l->sys, l->config.path, l->config.replace, e))
        return false;
    if (appender_open(&l->file, &f, &c, e))
        return true;
    live_remove(l);
    return false;
}

bool live_open(struct live *l, const struct sys *sys, const struct live_config *config,
               struct err *e)
{
    BUG_IF(!config->format->lines);
    *l = (struct live){ .sink = { live_put },
                        .config = *config,
                        .sys = sys,
                        .part = 1,
                        .turn_at = config->rotate };
    if (!open_file(l, e))
        return false;
    buf_init(&l->text, LIMIT_LINE);
    buf_init(&l->last, LIMIT_LINE);
    buf_init(&l->held, HELD_MAX);
    begin_text(l);
    return true;
}

enum appender_trouble live_trouble(struct live *l, struct err *e)
{
    unsigned kind = troubles_take(&l->troubles, e);

    return kind ? (enum appender_trouble)kind : appender_trouble(l->file, e);
}

bool live_replace(struct live *l, struct err *e)
{
    if (!l->draft.at || (!l->finished && !appender_is_well(l->file)))
        return true;
    return draft_replace(&l->draft, l->sys, l->config.path, e);
}

const char *live_path(const struct live *l)
{
    return l->draft.at ? l->draft.at : l->config.path;
}

void live_finish(struct live *l, struct live_end *end)
{
    struct appender_end how;
    uint64_t lines = 0;

    live_flush(l);
    appender_finish(l->file, buf_str(&l->last), &how);
    end_text(l, &l->text); /* not before: a gap may have to be said */
    *end = (struct live_end){ .lost = l->too_long[TO_SERVER] + l->too_long[TO_CLIENT],
                              .unsynced = how.unsynced,
                              .late = how.late,
                              .gone = how.gone,
                              .parts = l->part };
    for (int i = 0; i < BACKLOG_LANES; i++) {
        end->lost += how.lost.lanes[i].messages;
        lines += how.lost.lanes[i].lines;
    }
    end->incomplete = lines || l->left_out || how.late || how.gone;
    l->finished = true;
}

void live_remove(struct live *l)
{
    if (l->draft.at)
        draft_remove(&l->draft, l->sys);
    else
        l->sys->unlink(l->sys, l->config.path);
}

void live_abandon(struct live *l)
{
    end_text(l, &l->last);
    appender_drop(l->file);
    live_remove(l);
}

void live_release(struct live *l)
{
    draft_leave(&l->draft, l->sys);
    appender_free(l->file);
    buf_release(&l->text);
    buf_release(&l->last);
    buf_release(&l->held);
    arena_release(&l->kept);
}
