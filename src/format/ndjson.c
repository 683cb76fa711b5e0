#include "format/ndjson.h"

enum { ENVELOPE = 4 };

void ndjson_init(struct ndjson *n)
{
    *n = (struct ndjson){ 0 };
    json_init(&n->json);
    buf_init(&n->flat, JSON_MAX_TEXT);
    /* A message may use all the depth there is, and stands inside a line. */
    n->json.deeper = ENVELOPE;
}

void ndjson_release(struct ndjson *n)
{
    json_release(&n->json);
    buf_release(&n->flat);
}

void ndjson_drop(struct ndjson *n)
{
    n->searched = n->gathered = 0;
}

bool ndjson_starts(struct str *head, struct str text)
{
    struct str rest = *head;
    bool string = false;

    for (size_t i = 0; i < text.len; i++) {
        if (!string)
            rest = str_trim(rest);
        if (!rest.len || rest.at[0] != text.at[i])
            return false;
        string ^= text.at[i] == '"';
        rest = str_skip(rest, 1);
    }
    *head = rest;
    return true;
}

/* Everything before the torn end was used; the rest is let go. */
static enum next torn_end(const struct window *w, struct taken *t, size_t at, const char *text)
{
    format_note(w, at, "%s", text);
    t->bytes = w->bytes.len;
    return NEXT_END;
}

static bool is_all_nul(struct str s)
{
    while (s.len && s.at[0] == '\0')
        s = str_skip(s, 1);
    return !s.len;
}

/* After a power cut a file may end in NUL bytes, as many as the file system had
 * promised. They are let go piece by piece: there may be more than fit in memory. */
static enum next nul_tail(const struct window *w, struct taken *t, struct err *e)
{
    if (!is_all_nul(w->bytes))
        return format_error(w, 0, e, "NUL bytes in the middle of the file");
    if (!w->last) {
        /* One NUL stays, so that the next look still starts with one. */
        t->bytes = w->bytes.len - 1;
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
    ndjson_drop(n);
    return NEXT_RECORD;
}

/* Line breaks in JSON are blanks, and blanks they become. The nodes stay as they are:
 * they know places in the text, and those do not change. */
static void flatten(struct ndjson *n, struct str text)
{
    buf_clear(&n->flat);
    buf_add(&n->flat, text);
    BUG_IF(n->flat.full);
    for (size_t i = 0; i < text.len; i++)
        if (n->flat.at[i] == '\n' || n->flat.at[i] == '\r')
            n->flat.at[i] = ' ';
    n->json.text = buf_str(&n->flat);
}

/* A value over several lines has ended at `used`; its last line must end there, too. */
static enum next end_of_spread(struct ndjson *n, const struct window *w, size_t used,
                               struct taken *t, struct err *e)
{
    struct str after = str_skip(w->bytes, used);
    size_t blank = str_find(after, '\n');
    struct str more = str_trim(str_n(after.at, blank));

    if (more.len)
        return format_error(w, (size_t)(more.at - w->bytes.at), e,
                            "a value must be followed by a new line");
    if (blank == after.len && !w->last) {
        t->want = w->bytes.len * 2; /* the value will be scanned again: not too often */
        return NEXT_MORE;
    }
    flatten(n, str_n(w->bytes.at, used));
    used += blank < after.len ? blank + 1 : blank;
    return take(n, used, count_lines(str_n(w->bytes.at, used)), t);
}

/* A line that was cut off in the middle of the file swallows the next one: things go
 * wrong at its own end, in a string, or where a later one starts. */
static enum next bad_spread(const struct ndjson *n, const struct window *w,
                            const struct json_fault *fault, struct err *e)
{
    static const char cut_off[] = "the line ends inside a JSON value";
    struct str from = str_skip(w->bytes, fault->at);

    if (str_starts(from, STR("\n")))
        return format_error(w, fault->at, e, "%s", cut_off);
    if (str_starts(from, STR("{")) && fault->at && from.at[-1] == '\n')
        return format_error(w, n->first_fault, e, "%s", cut_off);
    return format_error(w, fault->at, e, "not valid JSON: %s", fault->what);
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
        return end_of_spread(n, w, used, t, e);
    if (fault.kind != JSON_FAULT_END)
        return bad_spread(n, w, &fault, e);
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
