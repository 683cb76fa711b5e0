/* format/recording.c - the native format: JSON objects, one per line. */
#include <stdlib.h>

#include "base/mem.h"
#include "format/ndjson.h"
#include "format/recording-line.h"

struct recording {
    struct ndjson lines;
    struct arena arena; /* decoded members of the current record */
    bool any, headed;
};

static void *recording_open(void)
{
    struct recording *s = mem_new(struct recording);

    ndjson_init(&s->lines);
    return s;
}

static void recording_close(void *state)
{
    struct recording *s = state;

    ndjson_release(&s->lines);
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

static bool check_header(struct recording *s, const struct window *w, const struct record *r,
                         size_t at, struct err *e)
{
    struct str major = r->header.version;

    if (r->kind != RECORD_HEADER) {
        if (!s->any)
            ndjson_note(w, at, "no header line; reading on without one");
        return true;
    }
    if (s->headed)
        ndjson_note(w, at, "another header line; its recording is taken as a continuation");
    s->headed = true;
    if (str_eq(str_cut(&major, '.'), STR("1")))
        return true;
    format_error(w, at, e, "this is a recording of version %.*s; this program reads version 1",
                 STR_ARG(r->header.version));
    return err_hint(e, "use a newer mcpreel");
}

static enum next recording_next(void *state, const struct window *w, struct taken *t,
                                struct record *r, struct err *e)
{
    struct recording *s = state;
    enum next next = ndjson_next(&s->lines, w, t, e);
    struct err inner = ERR_NONE;
    size_t at;

    if (next != NEXT_RECORD)
        return next;
    arena_clear(&s->arena);
    if (!recording_line_read(json_root(&s->lines.json), r, &s->arena, &at, &inner))
        return format_error(w, at, e, "%s", inner.msg);
    if (!check_header(s, w, r, at, e))
        return NEXT_ERROR;
    s->any = true;
    return NEXT_RECORD;
}

static void recording_put(void *state, struct buf *to, const struct record *r)
{
    (void)state;
    recording_line_write(to, r);
}

const struct format recording_format = {
    .name = "recording",
    .about = "mcpreel's own: JSON lines with everything that was seen",
    .ext = { ".jsonl" },
    .keeps = (1u << PART_COUNT) - 1,
    .probe = recording_probe,
    .open = recording_open,
    .next = recording_next,
    .close = recording_close,
    .put = recording_put,
};
