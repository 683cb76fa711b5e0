#include "cmd/leaks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/amount.h"
#include "base/mem.h"
#include "base/term.h"

static const char *const kinds[] = {
    [RECORD_HEADER] = "header",
    [RECORD_MESSAGE] = "message",
    [RECORD_RAW] = "raw",
    [RECORD_STDERR] = "stderr",
    [RECORD_PROC] = "proc",
    [RECORD_HTTP_REQUEST] = "http",
    [RECORD_HTTP_RESPONSE] = "http",
    [RECORD_HTTP_END] = "http",
    [RECORD_SSE] = "sse",
    [RECORD_GAP] = "gap",
    [RECORD_FOOTER] = "footer",
    [RECORD_UNKNOWN] = "unknown",
};

static void on_hit(struct redactor_watch *self, const struct redactor_hit *hit)
{
    struct leaks *l = (struct leaks *)self;
    const struct record *r = hit->record;

    if (++l->count > LEAKS_KEPT)
        return;
    l->rows = mem_reserve(l->rows, &l->cap, l->kept + 1, sizeof *l->rows);
    l->rows[l->kept++] = (struct leak){
        .kind = r->kind,
        .record = hit->index + 1,
        .seq = r->kind == RECORD_MESSAGE && r->has & HAS_SEQ ? r->message.seq : 0,
        .member = hit->member,
        .pointer = arena_str(&l->arena, hit->pointer),
        .what = arena_str(&l->arena, str_z(hit->what)),
    };
}

void leaks_init(struct leaks *l)
{
    *l = (struct leaks){ .watch = { on_hit } };
}

void leaks_release(struct leaks *l)
{
    free(l->rows);
    arena_release(&l->arena);
}

void leaks_add(struct buf *to, const struct leaks *l)
{
    for (size_t i = 0; i < l->kept; i++) {
        const struct leak *row = &l->rows[i];

        if (row->seq)
            buf_printf(to, "  message %" PRIu64, row->seq);
        else
            buf_printf(to, "  record %" PRIu64 " (%s)", row->record, kinds[row->kind]);
        buf_add(to, STR(", "));
        term_escape(to, row->pointer.len ? row->pointer : str_z(row->member), TERM_ONE_LINE);
        buf_printf(to, ": %.*s\n", STR_ARG(row->what));
    }
    if (l->count > l->kept) {
        buf_add(to, STR("  and "));
        amount_of(to, l->count - l->kept, "more", "more");
        buf_add_ch(to, '\n');
    }
}

void leaks_json(struct json_out *o, const struct leaks *l)
{
    json_out_array(o);
    for (size_t i = 0; i < l->kept; i++) {
        const struct leak *row = &l->rows[i];

        json_out_object(o);
        json_out_key_int(o, STR("record"), (int64_t)row->record);
        json_out_key_str(o, STR("type"), str_z(kinds[row->kind]));
        if (row->seq)
            json_out_key_int(o, STR("seq"), (int64_t)row->seq);
        json_out_key_str(o, STR("member"), str_z(row->member));
        if (row->kind == RECORD_MESSAGE)
            json_out_key_str(o, STR("pointer"), row->pointer);
        json_out_key_str(o, STR("what"), row->what);
        json_out_end_object(o);
    }
    json_out_end_array(o);
}
