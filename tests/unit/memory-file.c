#include "memory-file.h"

#include <stdlib.h>

#include "base/mem.h"

enum { IDLE = 256 };

static void put_warning(struct notes *self, uint64_t line, uint64_t byte, const char *text)
{
    struct memory_reader *p = (struct memory_reader *)self;

    p->warning_count++;
    buf_printf(&p->warnings, "%llu:%llu %s\n", (unsigned long long)line,
               (unsigned long long)byte, text);
}

/* The window, in memory of its own. */
struct view {
    char *memory; /* the visible bytes, and how many of them were consumed */
    size_t used;  /* consumed */
    size_t from;  /* of memory[0] in the text */
    size_t shown; /* up to here in the text */
};

static void show_more(struct view *v, struct str text, size_t step)
{
    size_t len;

    v->from += v->used;
    v->used = 0;
    v->shown += step < text.len - v->shown ? step : text.len - v->shown;
    len = v->shown - v->from;
    free(v->memory);
    v->memory = mem_alloc(len ? len : 1);
    if (len)
        memcpy(v->memory, text.at + v->from, len);
}

static struct str rest(const struct view *v)
{
    return str_n(v->memory + v->used, v->shown - v->from - v->used);
}

/* Where the next window starts must be known to the line. */
static void check_lines(struct str window, const struct consumed *t)
{
    size_t lines = 0;

    for (size_t i = 0; i < t->bytes; i++)
        lines += window.at[i] == '\n';
    BUG_IF(lines != t->lines);
}

static bool put_read(struct memory_reader *p, struct sink *to, const struct record *r)
{
    p->failed = !to->put(to, r, &p->error);
    return !p->failed;
}

void memory_reader_run(struct memory_reader *p, const struct format *f, struct str text,
                       size_t step, struct sink *to)
{
    struct view v = { .memory = NULL };
    void *state = f->open();
    size_t idle = 0;
    uint64_t line = 1;
    enum next_result next;

    *p = (struct memory_reader){ .notes = { put_warning }, .error = ERR_NONE };
    buf_init(&p->warnings, (size_t)1 << 20);
    show_more(&v, text, 0);
    do {
        struct window w = { rest(&v), v.shown == text.len, line, "f", &p->notes };
        struct consumed t = { 0 };
        struct record r;

        next = f->next(state, &w, &t, &r, &p->error);
        BUG_IF(t.bytes > w.bytes.len || (next == NEXT_MORE && w.last));
        idle = t.bytes || next == NEXT_RECORD || next == NEXT_MORE ? 0 : idle + 1;
        BUG_IF(idle > IDLE);
        if (next == NEXT_RECORD || next == NEXT_SKIP)
            check_lines(w.bytes, &t);
        v.used += t.bytes;
        line += t.lines;
        if (next == NEXT_RECORD && !put_read(p, to, &r))
            break;
        if (next == NEXT_MORE)
            do
                show_more(&v, text, step);
            while (v.shown < text.len && rest(&v).len < t.want);
    } while (next != NEXT_END && next != NEXT_ERROR);
    p->failed |= next == NEXT_ERROR;
    f->close(state);
    free(v.memory);
}

void memory_reader_release(struct memory_reader *p)
{
    buf_release(&p->warnings);
}

const struct format *memory_reader_detect(const struct format *const *table, struct str text)
{
    const struct format *best = NULL;
    enum probe_rank highest = PROBE_NONE;

    for (; *table; table++) {
        enum probe_rank rank = (*table)->probe ? (*table)->probe(text) : PROBE_NONE;
        if (rank > highest) {
            highest = rank;
            best = *table;
        }
    }
    return best;
}

static bool put_record(struct sink *self, const struct record *r, struct err *e)
{
    struct memory_writer *f = (struct memory_writer *)self;

    encoder_put(&f->encoder, &f->text, r);
    return buf_ok(&f->text, e);
}

void memory_writer_init(struct memory_writer *f, const struct format *format)
{
    memory_writer_init_with(f, format, NULL);
}

void memory_writer_init_with(struct memory_writer *f, const struct format *format,
                             const struct format_options *options)
{
    *f = (struct memory_writer){ .sink = { put_record } };
    buf_init(&f->text, (size_t)1 << 30);
    encoder_begin(&f->encoder, format, options);
}

void memory_writer_finish(struct memory_writer *f)
{
    encoder_end(&f->encoder, &f->text);
}

void memory_writer_release(struct memory_writer *f)
{
    buf_release(&f->text);
}
