/* tests/fuzz/fuzz-formats.c - reads any bytes as a file of every format.
 *
 * Must hold for each: the reader ends, reads no more than it gets, and gives the same result
 * for all pieces; the result can be written, the format recognizes it and reads it without a
 * warning, no kept feature is lost, and written again it is equal, byte for byte. */
#include <stdint.h>

#include "memory-file.h"
#include "record-summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct buf new_buf(void)
{
    struct buf b;

    buf_init(&b, (size_t)1 << 30);
    return b;
}

static void same_in_pieces(const struct format *f, struct str text)
{
    struct buf whole = new_buf(), pieces = new_buf();

    record_summary_of_file(&whole, f, text, text.len + 1, RECORD_SUMMARY_ALL);
    record_summary_of_file(&pieces, f, text, text.len % 13 + 1, RECORD_SUMMARY_ALL);
    BUG_IF(!str_eq(buf_str(&whole), buf_str(&pieces)));
    buf_release(&whole);
    buf_release(&pieces);
}

/* Reads as much as possible, and writes that; false if a part could not be read. */
static bool rewrite(const struct format *f, struct str text, struct memory_writer *to)
{
    struct memory_reader p;
    bool ok;

    memory_writer_init(to, f);
    memory_reader_run(&p, f, text, text.len + 1, &to->sink);
    memory_writer_finish(to);
    ok = !p.failed;
    memory_reader_release(&p);
    return ok;
}

/* The messages of a file as text. Their positions in batches are left out: where an element
 * is no message the others move up. */
static struct buf messages_of(const struct format *f, struct str text)
{
    unsigned parts = f->keeps & (FEATURE_BYTES | FEATURE_DIRECTION | FEATURE_SERVER_MESSAGES |
                                 FEATURE_UNPAIRED);
    struct buf seen = new_buf();
    struct record_summary l;
    struct memory_reader p;

    record_summary_init(&l);
    memory_reader_run(&p, f, text, text.len + 1, &l.sink);
    record_summary_write(&l, parts, &seen);
    record_summary_release(&l);
    memory_reader_release(&p);
    return seen;
}

static void survives_writing(const struct format *f, struct str text)
{
    struct buf before, after;
    struct memory_writer once, twice;

    rewrite(f, text, &once);
    BUG_IF(!rewrite(f, buf_str(&once.text), &twice));
    BUG_IF(!str_eq(buf_str(&once.text), buf_str(&twice.text)));
    before = messages_of(f, text);
    after = messages_of(f, buf_str(&once.text));
    BUG_IF(!str_eq(buf_str(&before), buf_str(&after)));
    buf_release(&before);
    buf_release(&after);
    memory_writer_release(&once);
    memory_writer_release(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);

    for (const struct format *const *f = format_table; *f; f++) {
        (void)((*f)->probe && (*f)->probe(text));
        if ((*f)->next)
            same_in_pieces(*f, text);
        if ((*f)->next && (*f)->put)
            survives_writing(*f, text);
    }
    return 0;
}
