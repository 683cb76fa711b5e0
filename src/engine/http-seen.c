#include "engine/http-seen.h"

enum { EVENT_ROWS = 2 };

/* Numbers of answers. */
struct row {
    uint64_t first;
    uint64_t told; /* the first with data; 0: none had any */
};

void http_seen_init(struct http_seen *s)
{
    *s = (struct http_seen){ .answer = 1 };
}

void http_seen_release(struct http_seen *s)
{
    roster_release(&s->rows);
}

void http_seen_again(struct http_seen *s)
{
    s->answer++;
}

/* For one event; before the first one there is none. */
static void make_room(struct http_seen *s)
{
    if (s->rows.count + EVENT_ROWS <= s->rows.max)
        return;
    roster_release(&s->rows);
    roster_init(&s->rows, sizeof(struct row), HTTP_SEEN_MAX);
}

/* Of an id, or of an id with its data. */
static struct row *row_of(struct http_seen *s, const struct str *parts, size_t count, bool data)
{
    bool fresh = false;
    struct row *row = roster_row(&s->rows, parts, count, &fresh);

    if (fresh)
        row->first = s->answer;
    if (data && !row->told)
        row->told = s->answer;
    return row;
}

struct http_seen_event http_seen_note(struct http_seen *s, struct str id, struct str data)
{
    const struct str parts[EVENT_ROWS] = { id, data };
    struct http_seen_event as = { 0 };
    const struct row *row;

    make_room(s);
    row = row_of(s, parts, 1, data.len);
    as.placed = row->first == s->answer;
    as.known = data.len && row->told != s->answer;
    if (data.len)
        as.repeated = row_of(s, parts, EVENT_ROWS, true)->first != s->answer;
    return as;
}
