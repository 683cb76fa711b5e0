#include "format/ndjson.h"

enum { ENVELOPE = 4 };

void ndjson_init(struct ndjson *n)
{
    *n = (struct ndjson){ 0 };
    json_init(&n->json);
    /* A message may use all the depth there is, and stands inside a line. */
    n->json.deeper = ENVELOPE;
}

void ndjson_release(struct ndjson *n)
{
    json_release(&n->json);
}

/* Everything before the torn end was used; the rest is let go. */
static enum next torn_end(const struct window *w, struct taken *t, size_t at, const char *text)
{
    format_note(w, at, "%s", text);
    t->bytes = w->bytes.len;
    return NEXT_END;
}

/* After a power cut a file may end in NUL bytes, as many as the file system had
 * promised. They are let go piece by piece: there may be more than fit in memory. */
static enum next nul_tail(const struct window *w, struct taken *t, struct err *e)
{
    size_t n = 0;

    while (n < w->bytes.len && w->bytes.at[n] == '\0')
        n++;
    if (n < w->bytes.len)
        return format_error(w, 0, e, "NUL bytes in the middle of the recording");
    if (!w->last) {
        /* One NUL stays, so that the next look still starts with one. */
        t->bytes = n - 1;
        return NEXT_MORE;
    }
    return torn_end(w, t, 0, "the file ends in NUL bytes; used up to here");
}

static size_t count_lines(struct str s)
{
    size_t lines = 0;

    for (size_t n; (n = str_find(s, '\n')) < s.len; lines++)
        s = str_skip(s, n + 1);
    return lines;
}

static enum next take(struct ndjson *n, size_t bytes, size_t lines, struct taken *t)
{
    t->bytes = bytes;
    t->lines = lines;
    n->searched = n->gathered = 0;
    return NEXT_RECORD;
}

static bool is_all_nul(struct str s)
{
    size_t n = 0;

    while (n < s.len && s.at[n] == '\0')
        n++;
    return n && n == s.len;
}

/* What stands up to `gathered` is a proper start of a value, so it may go on in
 * the next lines. Each try looks at twice as much as the last: linear in the end. */
static enum next gather(struct ndjson *n, const struct window *w, struct taken *t,
                        struct err *e)
{
    struct json_fault fault;
    size_t used, goal = n->gathered * 2;

    if (goal > w->bytes.len && !w->last) {
        t->want = goal;
        return NEXT_MORE;
    }
    goal = goal < w->bytes.len ? goal : w->bytes.len;
    goal += str_find(str_skip(w->bytes, goal), '\n');
    if (json_scan_first(&n->json, str_n(w->bytes.at, goal), &used, &fault))
        return take(n, used, count_lines(str_n(w->bytes.at, used)), t);
    if (fault.kind != JSON_FAULT_END)
        return format_error(w, n->first_fault, e, "the line ends inside a JSON value");
    if (w->last && goal == w->bytes.len)
        return torn_end(w, t, 0, "the last line is cut off; used up to here");
    n->gathered = goal;
    return NEXT_SKIP;
}

/* A crash leaves the start of a line, maybe with NUL bytes behind it. Anything else
 * is damage, at the end as in the middle. */
static enum next bad_line(struct ndjson *n, const struct window *w, struct str line,
                          const struct json_fault *fault, struct taken *t, struct err *e)
{
    bool ended = line.len < w->bytes.len;

    if (!ended && fault->kind == JSON_FAULT_END)
        return torn_end(w, t, fault->at, "the last line is cut off; used up to here");
    if (!ended && is_all_nul(str_skip(line, fault->at)))
        return torn_end(w, t, fault->at,
                        "the last line is cut off and ends in NUL bytes; used up to here");
    if (fault->kind != JSON_FAULT_END)
        return format_error(w, fault->at, e, "not valid JSON: %s", fault->what);
    n->gathered = line.len;
    n->first_fault = fault->at;
    return NEXT_SKIP;
}

enum next ndjson_next(struct ndjson *n, const struct window *w, struct taken *t, struct err *e)
{
    struct json_fault fault;
    struct str line;
    size_t end;
    bool ended;

    if (n->gathered)
        return gather(n, w, t, e);
    if (w->bytes.len && w->bytes.at[0] == '\0')
        return nul_tail(w, t, e);
    end = n->searched + str_find(str_skip(w->bytes, n->searched), '\n');
    ended = end < w->bytes.len;
    if (!ended && !w->last) {
        n->searched = end;
        return NEXT_MORE;
    }
    line = str_n(w->bytes.at, end);
    if (json_scan(&n->json, line, &fault))
        return take(n, end + ended, ended, t);
    if (str_trim(line).len)
        return bad_line(n, w, line, &fault, t, e);
    take(n, end + ended, ended, t);
    return ended ? NEXT_SKIP : NEXT_END;
}
