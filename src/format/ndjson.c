#include "format/ndjson.h"

enum { ENVELOPE = 4 };

void ndjson_init(struct ndjson *n)
{
    *n = (struct ndjson){ 0 };
    json_init(&n->json);
    buf_init(&n->one_line, JSON_MAX_TEXT);
    /* A message may have the full depth, and is nested in the object of its line. */
    n->json.extra_depth = ENVELOPE;
}

void ndjson_release(struct ndjson *n)
{
    json_release(&n->json);
    buf_release(&n->one_line);
}

void ndjson_resync(struct ndjson *n)
{
    n->searched = n->multiline_scanned = 0;
}

void ndjson_set_message(const struct ndjson *n, struct json_val message, struct consumed *t)
{
    /* Offsets are the same: flatten() keeps the length. */
    if (n->json.text.at == n->one_line.at)
        t->message = str_n(n->source + json_offset(message), json_raw(message).len);
}

bool ndjson_starts_with(struct str *head, struct str text)
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

/* Ends the file before its truncated line, with a note. */
static enum next_result end_truncated(const struct window *w, struct consumed *t, size_t at,
                                      const char *text)
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

/* After a power failure a file may end in NUL bytes, as many as the file system had allocated.
 * They are consumed in pieces: there may be more than fit in memory. */
static enum next_result skip_nul_tail(const struct window *w, struct consumed *t, struct err *e)
{
    if (!is_all_nul(w->bytes))
        return format_error(w, 0, e, "NUL bytes in the middle of the file");
    if (!w->last) {
        /* One NUL stays, so that the next window starts with one. */
        t->bytes = w->bytes.len - 1;
        return NEXT_MORE;
    }
    return end_truncated(w, t, 0, "the file ends in NUL bytes; used up to here");
}

static size_t count_lines(struct str s)
{
    size_t lines = 0;

    for (size_t n; (n = str_find(s, '\n')) < s.len; lines++)
        s = str_skip(s, n + 1);
    return lines;
}

static enum next_result accept_value(struct ndjson *n, size_t bytes, size_t lines,
                                     struct consumed *t)
{
    t->bytes = bytes;
    t->lines = lines;
    ndjson_resync(n);
    return NEXT_RECORD;
}

/* Replaces line breaks by blanks. The scanned nodes stay valid: they hold offsets. */
static void flatten(struct ndjson *n, struct str text)
{
    buf_clear(&n->one_line);
    buf_add(&n->one_line, text);
    BUG_IF(n->one_line.full);
    for (size_t i = 0; i < text.len; i++)
        if (n->one_line.at[i] == '\n' || n->one_line.at[i] == '\r')
            n->one_line.at[i] = ' ';
    n->source = text.at;
    n->json.text = buf_str(&n->one_line);
}

/* A value over several lines has ended at `used`; its last line must end there, too. */
static enum next_result end_multiline(struct ndjson *n, const struct window *w, size_t used,
                                      struct consumed *t, struct err *e)
{
    struct str after = str_skip(w->bytes, used);
    size_t blank = str_find(after, '\n');
    struct str more = str_trim(str_n(after.at, blank));

    if (more.len)
        return format_error(w, (size_t)(more.at - w->bytes.at), e,
                            "a value must be followed by a new line");
    if (blank == after.len && !w->last) {
        t->want = w->bytes.len * 2; /* double it: the value is scanned again each time */
        return NEXT_MORE;
    }
    flatten(n, str_n(w->bytes.at, used));
    used += blank < after.len ? blank + 1 : blank;
    return accept_value(n, used, count_lines(str_n(w->bytes.at, used)), t);
}

/* A line that is cut off in the middle of the file is scanned together with the next one: the
 * error is at its end, in a string, or where a later line starts. */
static enum next_result report_multiline_error(const struct ndjson *n, const struct window *w,
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

/* The bytes up to `multiline_scanned` are the valid start of a value, which may continue on the
 * next lines. Each try scans twice as much as the last: linear in total. */
static enum next_result scan_multiline(struct ndjson *n, const struct window *w,
                                       struct consumed *t, struct err *e)
{
    struct json_fault fault;
    size_t used, goal = n->multiline_scanned * 2;

    if (goal > w->bytes.len && !w->last) {
        t->want = goal;
        return NEXT_MORE;
    }
    goal = goal < w->bytes.len ? goal : w->bytes.len;
    goal += str_find(str_skip(w->bytes, goal), '\n');
    if (json_scan_first(&n->json, str_n(w->bytes.at, goal), &used, &fault))
        return end_multiline(n, w, used, t, e);
    if (fault.kind != JSON_FAULT_TRUNCATED)
        return report_multiline_error(n, w, &fault, e);
    if (w->last && goal == w->bytes.len)
        return end_truncated(w, t, 0, "the last line is cut off; used up to here");
    n->multiline_scanned = goal;
    return NEXT_SKIP;
}

/* A crash leaves the start of a line, maybe followed by NUL bytes. Anything else is damage,
 * also at the end. */
static enum next_result handle_bad_line(struct ndjson *n, const struct window *w,
                                        struct str line, const struct json_fault *fault,
                                        struct consumed *t, struct err *e)
{
    bool ended = line.len < w->bytes.len;

    if (!ended && fault->kind == JSON_FAULT_TRUNCATED)
        return end_truncated(w, t, fault->at, "the last line is cut off; used up to here");
    if (!ended && is_all_nul(str_skip(line, fault->at)))
        return end_truncated(w, t, fault->at,
                             "the last line is cut off and ends in NUL bytes; used up to here");
    if (fault->kind != JSON_FAULT_TRUNCATED)
        return format_error(w, fault->at, e, "not valid JSON: %s", fault->what);
    n->multiline_scanned = line.len;
    n->first_fault = fault->at;
    return NEXT_SKIP;
}

enum next_result ndjson_next(struct ndjson *n, const struct window *w, struct consumed *t,
                             struct err *e)
{
    struct json_fault fault;
    struct str line;
    size_t end;
    bool ended;

    if (n->multiline_scanned)
        return scan_multiline(n, w, t, e);
    if (w->bytes.len && w->bytes.at[0] == '\0')
        return skip_nul_tail(w, t, e);
    end = n->searched + str_find(str_skip(w->bytes, n->searched), '\n');
    ended = end < w->bytes.len;
    if (!ended && !w->last) {
        n->searched = end;
        return NEXT_MORE;
    }
    line = str_n(w->bytes.at, end);
    if (json_scan(&n->json, line, &fault))
        return accept_value(n, end + ended, ended, t);
    if (str_trim(line).len)
        return handle_bad_line(n, w, line, &fault, t, e);
    accept_value(n, end + ended, ended, t);
    return ended ? NEXT_SKIP : NEXT_END;
}
