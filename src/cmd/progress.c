#include "cmd/progress.h"

#include "base/amount.h"
#include "base/clock.h"
#include "base/term.h"
#include "cmd/prose.h"

enum {
    FIRST_US = 500000,
    AGAIN_US = 100000,
    STEP = 256 << 10, /* bytes between two looks at the clock */
    LINE_MAX = 1024,
    SUBJECT = 36, /* columns */
};

/* The cursor always waits at the left. Blanks instead of an escape sequence: any
 * terminal knows them. */
void progress_wipe(struct progress *p)
{
    struct buf line;

    if (!p->width)
        return;
    buf_init(&line, LINE_MAX);
    buf_printf(&line, "%*s\r", (int)p->width, "");
    p->to->put(p->to->to, buf_str(&line));
    buf_release(&line);
    p->width = 0;
}

static void put_line(void *to, struct str line)
{
    struct progress *p = to;

    progress_wipe(p);
    p->to->put(p->to->to, line);
}

void progress_init(struct progress *p, const struct app *app, const char *doing,
                   const char *subject)
{
    *p = (struct progress){
        .log = { app->log->level, app->log->color, put_line, p },
        .to = app->log,
        .clock = clock_mono_us,
        .doing = doing,
        .subject = subject,
        .on = app->watched && !app->quiet,
    };
    p->started_us = p->clock();
}

/* "reading session.jsonl  61%  155 MB of 253 MB  3.1 s left" */
static void add_text(const struct progress *p, struct buf *to, uint64_t done, int64_t spent_us)
{
    char left[CLOCK_TEXT];
    uint64_t rest;

    buf_printf(to, "%s ", p->doing);
    term_escape_cut(to, str_z(p->subject), SUBJECT);
    if (done && done <= p->total)
        buf_printf(to, "  %u%%", (unsigned)((double)done * 100 / (double)p->total));
    buf_add(to, STR("  "));
    amount_bytes(to, done);
    if (!done || done > p->total)
        return;
    buf_add(to, STR(" of "));
    amount_bytes(to, p->total);
    rest = (uint64_t)((double)spent_us * ((double)p->total / (double)done - 1));
    buf_printf(to, "  %.*s left", STR_ARG(clock_duration(left, (int64_t)rest)));
}

static void draw(struct progress *p, uint64_t done, int64_t spent_us)
{
    struct buf line;
    size_t width;

    buf_init(&line, LINE_MAX);
    add_text(p, &line, done, spent_us);
    width = prose_columns(buf_str(&line));
    if (width < p->width)
        buf_printf(&line, "%*s", (int)(p->width - width), "");
    buf_add_ch(&line, '\r');
    p->to->put(p->to->to, buf_str(&line));
    p->width = width;
    buf_release(&line);
}

void progress_at(struct progress *p, uint64_t done)
{
    int64_t now;

    if (!p->on || done < p->next)
        return;
    p->next = done + STEP;
    now = p->clock();
    if (now - p->started_us < FIRST_US || now - p->drawn_us < AGAIN_US)
        return;
    p->drawn_us = now;
    draw(p, done, now - p->started_us);
}

void progress_end(struct progress *p)
{
    progress_wipe(p);
    p->on = false;
}
