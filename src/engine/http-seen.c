#include "engine/http-seen.h"

/* Numbers of answers. */
struct row {
    uint64_t first;
    uint64_t told; /* the first with data; 0: none had any */
};

static void open_ids(struct http_seen *s)
{
    roster_init(&s->ids, sizeof(struct row), HTTP_SEEN_MAX);
}

void http_seen_init(struct http_seen *s)
{
    s->answer = 1;
    open_ids(s);
}

void http_seen_release(struct http_seen *s)
{
    roster_release(&s->ids);
}

void http_seen_again(struct http_seen *s)
{
    s->answer++;
}

struct http_seen_event http_seen_note(struct http_seen *s, struct str id, bool data)
{
    struct http_seen_event as;
    struct row *row;
    bool fresh = false;

    if (s->ids.count == HTTP_SEEN_MAX) {
        roster_release(&s->ids);
        open_ids(s);
    }
    row = roster_row(&s->ids, &id, 1, &fresh);
    if (fresh)
        row->first = s->answer;
    if (data && !row->told)
        row->told = s->answer;
    as.placed = row->first == s->answer;
    as.repeated = data && row->told != s->answer;
    return as;
}
