#include "transport/line-io.h"

void line_reader_init(struct line_reader *in, size_t max_line,
                      const struct line_reader_events *events, void *to)
{
    lines_init(&in->lines, max_line);
    in->events = events;
    in->to = to;
}

void line_reader_release(struct line_reader *in)
{
    lines_release(&in->lines);
}

static void report_line(const struct line_reader *in, enum lines_next kind, struct str line,
                        uint64_t skipped)
{
    if (kind == LINES_LINE)
        in->events->line(in->to, line);
    else
        in->events->too_long(in->to, skipped);
}

void line_reader_feed(struct line_reader *in, struct str bytes)
{
    enum lines_next next;
    uint64_t skipped = 0;
    struct str line = STR_NONE;

    lines_feed(&in->lines, bytes);
    while ((next = lines_next(&in->lines, &line, &skipped)) != LINES_MORE)
        report_line(in, next, line, skipped);
}

void line_reader_end(struct line_reader *in)
{
    uint64_t skipped = 0;
    struct str line = STR_NONE;
    enum lines_next next = lines_end(&in->lines, &line, &skipped);

    if (next != LINES_MORE)
        report_line(in, next, line, skipped);
}

enum { ONE_WRITE = 64 << 10 };

void line_writer_init(struct line_writer *o)
{
    buf_init(&o->line, ONE_WRITE + 1);
}

void line_writer_release(struct line_writer *o)
{
    buf_release(&o->line);
}

void line_writer_send(struct line_writer *o, struct stream *into, struct str message)
{
    buf_clear(&o->line);
    if (message.len <= ONE_WRITE)
        buf_add(&o->line, message);
    else
        stream_write(into, message);
    buf_add_ch(&o->line, '\n');
    stream_write(into, buf_str(&o->line));
}
