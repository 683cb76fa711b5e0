#include "transport/inlet.h"

void inlet_init(struct inlet *in, size_t max_line, const struct inlet_events *events, void *to)
{
    lines_init(&in->lines, max_line);
    in->events = events;
    in->to = to;
}

void inlet_release(struct inlet *in)
{
    lines_release(&in->lines);
}

static void tell(const struct inlet *in, enum lines_next kind, struct str line,
                 uint64_t skipped)
{
    if (kind == LINES_LINE)
        in->events->line(in->to, line);
    else
        in->events->too_long(in->to, skipped);
}

void inlet_feed(struct inlet *in, struct str bytes)
{
    enum lines_next next;
    uint64_t skipped = 0;
    struct str line = STR_NONE;

    lines_feed(&in->lines, bytes);
    while ((next = lines_next(&in->lines, &line, &skipped)) != LINES_MORE)
        tell(in, next, line, skipped);
}

void inlet_end(struct inlet *in)
{
    uint64_t skipped = 0;
    struct str line = STR_NONE;
    enum lines_next next = lines_end(&in->lines, &line, &skipped);

    if (next != LINES_MORE)
        tell(in, next, line, skipped);
}
