/* tests/fuzz/fuzz-recording.c - any bytes as a recording, shown whole and in pieces.
 *
 * Must hold: the reader ends, takes no more than it is shown, and gives the same
 * records whatever the pieces are; what it read can be written and read again. */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "format/format.h"
#include "format/recording-line.h"

struct seen {
    struct notes notes;
    struct buf lines; /* every record, written again */
    bool failed;
};

static void ignore_note(struct notes *self, uint64_t line, uint64_t byte, const char *text)
{
    (void)self, (void)line, (void)byte, (void)text;
}

static void read_all(struct seen *s, struct str text, size_t step)
{
    void *state = recording_format.open();
    size_t from = 0, shown = 0;
    struct err e = ERR_NONE;
    enum next next;

    *s = (struct seen){ .notes = { ignore_note } };
    buf_init(&s->lines, (size_t)1 << 30);
    do {
        struct window w = { str_skip(str_n(text.at, shown), from), shown == text.len, 1, "f",
                            &s->notes };
        struct taken t = { 0 };
        struct record r;

        next = recording_format.next(state, &w, &t, &r, &e);
        BUG_IF(t.bytes > w.bytes.len || (next == NEXT_MORE && w.last));
        from += t.bytes;
        if (next == NEXT_RECORD && r.kind != RECORD_UNKNOWN)
            recording_line_write(&s->lines, &r);
        if (next == NEXT_MORE)
            shown += step < text.len - shown ? step : text.len - shown;
    } while (next != NEXT_END && next != NEXT_ERROR);
    s->failed = next == NEXT_ERROR;
    recording_format.close(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);
    struct seen whole, pieces, again;

    (void)recording_format.probe(text);
    read_all(&whole, text, size ? size : 1);
    read_all(&pieces, text, size % 13 + 1);
    BUG_IF(!str_eq(buf_str(&whole.lines), buf_str(&pieces.lines)));
    BUG_IF(whole.failed != pieces.failed);
    read_all(&again, buf_str(&whole.lines), whole.lines.len ? whole.lines.len : 1);
    BUG_IF(again.failed || !str_eq(buf_str(&whole.lines), buf_str(&again.lines)));
    buf_release(&whole.lines);
    buf_release(&pieces.lines);
    buf_release(&again.lines);
    return 0;
}
