/* tests/fuzz/fuzz-cassette.c - any bytes as a cassette, shown whole and in pieces.
 *
 * Must hold: the reader ends, takes no more than it is shown, and gives all records or
 * none; what it read goes through a recording into a cassette that is read the same. */
#include <stdint.h>
#include <stdlib.h>

#include "format/format.h"

struct seen {
    struct notes notes;
    struct buf text; /* what was read, in another format */
    bool failed;
};

static void ignore_note(struct notes *self, uint64_t line, uint64_t byte, const char *text)
{
    (void)self, (void)line, (void)byte, (void)text;
}

static void transcribe(struct seen *s, const struct format *from, const struct format *to,
                       struct str text, size_t step)
{
    void *reading = from->open(), *writing = to->begin();
    size_t at = 0, shown = 0, records = 0;
    struct err e = ERR_NONE;
    enum next next;

    *s = (struct seen){ .notes = { ignore_note } };
    buf_init(&s->text, (size_t)1 << 30);
    do {
        struct window w = { str_n(text.at + at, shown - at), shown == text.len, 1, "f",
                            &s->notes };
        struct taken t = { 0 };
        struct record r;

        next = from->next(reading, &w, &t, &r, &e);
        BUG_IF(t.bytes > w.bytes.len || (next == NEXT_MORE && w.last));
        at += t.bytes;
        records += next == NEXT_RECORD;
        if (next == NEXT_RECORD)
            to->put(writing, &s->text, &r);
        if (next == NEXT_MORE)
            shown += step < text.len - shown ? step : text.len - shown;
    } while (next != NEXT_END && next != NEXT_ERROR);
    s->failed = next == NEXT_ERROR;
    BUG_IF(s->failed && records);
    to->end(writing, &s->text);
    from->close(reading);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);
    struct seen first, pieces, back, again;

    (void)cassette_format.probe(text);
    transcribe(&first, &cassette_format, &recording_format, text, size ? size : 1);
    transcribe(&pieces, &cassette_format, &recording_format, text, size % 13 + 1);
    BUG_IF(first.failed != pieces.failed);
    BUG_IF(!str_eq(buf_str(&first.text), buf_str(&pieces.text)));
    if (!first.failed) {
        transcribe(&back, &recording_format, &cassette_format, buf_str(&first.text), 1 << 20);
        BUG_IF(back.failed);
        transcribe(&again, &cassette_format, &cassette_format, buf_str(&back.text), 1 << 20);
        BUG_IF(again.failed || !str_eq(buf_str(&back.text), buf_str(&again.text)));
        buf_release(&back.text);
        buf_release(&again.text);
    }
    buf_release(&first.text);
    buf_release(&pieces.text);
    return 0;
}
