/* format/recording.c - the native format: JSON objects, one per line.
 *
 * Reading forgives what real files contain: blank lines, CRLF, objects spread over
 * several lines (jq without -c), a missing or repeated header, a last line torn by
 * a crash, a tail of NUL bytes left by a power cut. It forgives nothing else: a
 * recording that is damaged before its end is not one to test against. */
#include <stdlib.h>

#include "base/mem.h"
#include "format/format.h"
#include "format/recording-line.h"

struct recording {
    struct json json;
    struct arena arena; /* decoded members of the current record */
    size_t searched;    /* no newline in the window before this */
    size_t gathered;    /* an object over several lines: how much was tried in vain */
    size_t first_fault; /* where the first of its lines turned out to be unfinished */
    bool any, headed;
};

static void *recording_open(void)
{
    struct recording *s = mem_new(struct recording);

    json_init(&s->json);
    return s;
}

static void recording_close(void *state)
{
    struct recording *s = state;

    json_release(&s->json);
    arena_release(&s->arena);
    free(s);
}

static bool recording_probe(struct str head)
{
    struct arena a = { 0 };
    struct json_fault fault;
    struct json j;
    size_t used;
    bool ours;

    head = str_trim(head);
    json_init(&j);
    if (json_scan_first(&j, head, &used, &fault))
        ours = recording_line_knows(json_text(json_get(json_root(&j), STR("type")), &a));
    else /* longer than the head, torn or broken; recorders put the type first */
        ours = str_starts(head, STR("{\"type\":\"")) || str_starts(head, STR("{\"type\": \""));
    json_release(&j);
    arena_release(&a);
    return ours;
}

static void note(const struct window *w, size_t byte, const char *text)
{
    w->notes->put(w->notes, w->line, byte + 1, text);
}

/* Everything before the torn end was used; the rest is let go. */
static enum next torn_end(const struct window *w, struct taken *t, size_t at, const char *text)
{
    note(w, at, text);
    t->bytes = w->bytes.len;
    return NEXT_END;
}

/* After a power cut a file may end in NUL bytes, as many as the file system had
 * promised. They are let go piece by piece: there may be more than fit in memory. */
static enum next nul_tail(struct recording *s, const struct window *w, struct taken *t,
                          struct err *e)
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
    s->any = true;
    return torn_end(w, t, 0, "the file ends in NUL bytes; used up to here");
}

static size_t count_lines(struct str s)
{
    size_t lines = 0;

    for (size_t n; (n = str_find(s, '\n')) < s.len; lines++)
        s = str_skip(s, n + 1);
    return lines;
}

static bool check_header(struct recording *s, const struct window *w, const struct record *r,
                         size_t at, struct err *e)
{
    struct str major = r->header.version;

    if (r->kind != RECORD_HEADER) {
        if (!s->any)
            note(w, at, "no header line; reading on without one");
        return true;
    }
    if (s->headed)
        note(w, at, "another header line; its recording is taken as a continuation");
    s->headed = true;
    if (str_eq(str_cut(&major, '.'), STR("1")))
        return true;
    format_error(w, at, e, "this is a recording of version %.*s; this program reads version 1",
                 STR_ARG(r->header.version));
    return err_hint(e, "use a newer mcpreel");
}

/* A value was scanned: the record, and `size` bytes and its lines are taken. */
static enum next take(struct recording *s, const struct window *w, size_t size, struct taken *t,
                      struct record *r, struct err *e)
{
    struct err inner = ERR_NONE;
    size_t at;

    arena_clear(&s->arena);
    if (!recording_line_read(json_root(&s->json), r, &s->arena, &at, &inner))
        return format_error(w, at, e, "%s", inner.msg);
    if (!check_header(s, w, r, at, e))
        return NEXT_ERROR;
    t->bytes = size;
    s->any = true;
    s->searched = s->gathered = 0;
    return NEXT_RECORD;
}

static bool holds_nul(struct str s)
{
    return s.len && memchr(s.at, '\0', s.len);
}

/* What stands up to `gathered` is a proper start of a value, so it may go on in
 * the next lines. Each try looks at twice as much as the last: linear in the end. */
static enum next gather(struct recording *s, const struct window *w, struct taken *t,
                        struct record *r, struct err *e)
{
    struct json_fault fault;
    size_t used, goal = s->gathered * 2;

    if (goal > w->bytes.len && !w->last) {
        t->want = goal;
        return NEXT_MORE;
    }
    goal = goal < w->bytes.len ? goal : w->bytes.len;
    goal += str_find(str_skip(w->bytes, goal), '\n');
    if (json_scan_first(&s->json, str_n(w->bytes.at, goal), &used, &fault)) {
        t->lines = count_lines(str_n(w->bytes.at, used));
        return take(s, w, used, t, r, e);
    }
    if (fault.kind != JSON_FAULT_END)
        return format_error(w, s->first_fault, e, "the line ends inside a JSON value");
    if (w->last && goal == w->bytes.len)
        return torn_end(w, t, 0, "the last line is cut off; used up to here");
    s->gathered = goal;
    return NEXT_SKIP;
}

static enum next bad_line(struct recording *s, const struct window *w, struct str line,
                          const struct json_fault *fault, struct taken *t, struct err *e)
{
    bool ended = line.len < w->bytes.len;

    if (!ended && holds_nul(line))
        return torn_end(w, t, fault->at,
                        "the last line is cut off and ends in NUL bytes; used up to here");
    if (!ended)
        return torn_end(w, t, fault->at, "the last line is cut off; used up to here");
    if (fault->kind != JSON_FAULT_END)
        return format_error(w, fault->at, e, "not valid JSON: %s", fault->what);
    s->gathered = line.len;
    s->first_fault = fault->at;
    return NEXT_SKIP;
}

static enum next recording_next(void *state, const struct window *w, struct taken *t,
                                struct record *r, struct err *e)
{
    struct recording *s = state;
    struct json_fault fault;
    struct str line;
    size_t n;

    if (s->gathered)
        return gather(s, w, t, r, e);
    if (w->bytes.len && w->bytes.at[0] == '\0')
        return nul_tail(s, w, t, e);
    n = s->searched + str_find(str_skip(w->bytes, s->searched), '\n');
    if (n == w->bytes.len && !w->last) {
        s->searched = n;
        return NEXT_MORE;
    }
    line = str_n(w->bytes.at, n);
    t->lines = n < w->bytes.len;
    if (json_scan(&s->json, line, &fault))
        return take(s, w, n + t->lines, t, r, e);
    if (!str_trim(line).len) {
        s->searched = 0;
        t->bytes = n + t->lines;
        return n < w->bytes.len ? NEXT_SKIP : NEXT_END;
    }
    t->lines = 0;
    return bad_line(s, w, line, &fault, t, e);
}

const struct format recording_format = {
    .name = "recording",
    .about = "mcpreel's own: JSON lines with everything that was seen",
    .ext = { ".jsonl" },
    .probe = recording_probe,
    .open = recording_open,
    .next = recording_next,
    .close = recording_close,
    .put = recording_line_write,
};
