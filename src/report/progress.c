#include "report/progress.h"

#include "base/clock.h"
#include "base/term.h"
#include "base/text-wrap.h"
#include "base/units.h"

enum {
    FIRST_US = 500000,
    AGAIN_US = 100000,
    STEP = 256 << 10, /* bytes after which the clock is read again */
    LINE_MAX = 1024,
    SUBJECT = 36, /* columns */
};

/* The cursor is always in the first column. The line is overwritten with blanks, because not
 * every terminal knows escape sequences. */
void progress_clear(struct progress *p)
{
    struct buf line;

    if (!p->width)
        return;
    buf_init(&line, LINE_MAX);
    buf_printf(&line, "%*s\r", (int)p->width, "");
    p->inner->write(p->inner->arg, buf_str(&line));
    buf_release(&line);
    p->width = 0;
}

static void put_line(void *to, struct str line)
{
    struct progress *p = to;

    progress_clear(p);
    p->inner->write(p->inner->arg, line);
}

void progress_init(struct progress *p, const struct log *log, bool enabled, const char *action,
                   const char *subject)
{
    *p = (struct progress){
        .log = { log->level, log->color, put_line, p },
        .inner = log,
        .clock = clock_mono_us,
        .action = action,
        .subject = subject,
        .enabled = enabled,
    };
    p->started_us = p->clock();
}

/* "reading session.jsonl  61%  155 MB of 253 MB  3.1 s left" */
static void add_text(const struct progress *p, struct buf *to, uint64_t done, int64_t spent_us)
{
    char left[CLOCK_TEXT_SIZE];
    uint64_t rest;

    buf_printf(to, "%s ", p->action);
    term_escape_cut(to, str_z(p->subject), SUBJECT);
    if (done && done <= p->total)
        buf_printf(to, "  %u%%", (unsigned)((double)done * 100 / (double)p->total));
    buf_add(to, STR("  "));
    units_write_bytes(to, done);
    if (!done || done > p->total)
        return;
    buf_add(to, STR(" of "));
    units_write_bytes(to, p->total);
    rest = (uint64_t)((double)spent_us * ((double)p->total / (double)done - 1));
    buf_printf(to, "  %.*s left", STR_ARG(clock_format_duration(left, (int64_t)rest)));
}

static void draw(struct progress *p, uint64_t done, int64_t spent_us)
{
    struct buf line;
    size_t width;

    buf_init(&line, LINE_MAX);
    add_text(p, &line, done, spent_us);
    width = text_wrap_columns(buf_str(&line));
    if (width < p->width)
        buf_printf(&line, "%*s", (int)(p->width - width), "");
    buf_add_ch(&line, '\r');
    p->inner->write(p->inner->arg, buf_str(&line));
    p->width = width;
    buf_release(&line);
}

void progress_update(struct progress *p, uint64_t done)
{
    int64_t now;

    if (!p->enabled || done < p->next_check)
        return;
    p->next_check = done + STEP;
    now = p->clock();
    if (now - p->started_us < FIRST_US || now - p->drawn_us < AGAIN_US)
        return;
    p->drawn_us = now;
    draw(p, done, now - p->started_us);
}

void progress_end(struct progress *p)
{
    progress_clear(p);
    p->enabled = false;
}
