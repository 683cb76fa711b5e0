/* bench/bench-load.c - how fast a recording is read.
 *
 *     bench-load write FILE MEGABYTES    makes a recording of realistic traffic
 *     bench-load calls FILE MEGABYTES    a recording of tool calls with their results
 *     bench-load read FILE ROUNDS        times a memchr newline scan of its bytes, and
 *                                        reading all its records, in turn
 *
 * `read` prints the best CPU time of each in microseconds, and the bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "format/reader.h"
#include "format/recording-line.h"
#include "format/writer.h"
#include "traffic.h"

enum { BATCH = 8 << 20, ENVELOPE = 95 }; /* bytes of a line besides its message, about */

static int64_t cpu_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void die(const struct err *e)
{
    fprintf(stderr, "bench-load: %s\n", e->msg);
    exit(1);
}

static void put(struct writer *w, struct record *r)
{
    struct err e = ERR_NONE;

    if (!w->sink.put(&w->sink, r, &e))
        die(&e);
}

static void put_header(struct writer *w)
{
    struct record r = { .kind = RECORD_HEADER, .has = HAS_WALL };

    r.header = (struct record_header){ .version = STR(RECORDING_VERSION),
                                       .upstream = STR("made up"),
                                       .thoughtjack_version = STR("0.3.0") };
    put(w, &r);
}

static void put_message(struct writer *w, struct json *j, struct str line, uint64_t seq)
{
    struct record r = { .kind = RECORD_MESSAGE, .has = HAS_SEQ | HAS_WALL | HAS_US };
    struct json_fault fault;

    if (!json_scan(j, line, &fault))
        abort();
    r.us = (int64_t)seq * 100;
    r.wall_us = 1763240000000000 + r.us;
    r.message = (struct record_message){ .seq = seq, .msg = json_root(j) };
    r.message.dir = json_exists(json_get(json_root(j), STR("method"))) ? TO_SERVER : TO_CLIENT;
    put(w, &r);
}

static void write_file(const char *path, uint64_t megabytes,
                       void (*traffic)(struct buf *to, size_t bytes))
{
    struct err e = ERR_NONE;
    struct writer w;
    struct buf batch;
    struct json j;
    uint64_t seq = 0, size = 0;

    if (!writer_open(&w, &sys_real, path, true, &recording_format, NULL, &e))
        die(&e);
    buf_init(&batch, BATCH * 2);
    traffic(&batch, BATCH);
    json_init(&j);
    put_header(&w);
    while (size < megabytes * 1000000)
        for (struct str rest = buf_str(&batch); rest.len && size < megabytes * 1000000;) {
            struct str line = str_cut(&rest, '\n');
            if (!line.len)
                continue;
            put_message(&w, &j, line, ++seq);
            size += line.len + ENVELOPE;
        }
    json_release(&j);
    buf_release(&batch);
    if (!writer_finish(&w, &e))
        die(&e);
}

static bool count_record(struct sink *self, const struct record *r, struct err *e);

struct counter {
    struct sink sink;
    uint64_t messages;
};

static bool count_record(struct sink *self, const struct record *r, struct err *e)
{
    (void)e;
    ((struct counter *)self)->messages += r->kind == RECORD_MESSAGE;
    return true;
}

static uint64_t count_newlines(struct str text)
{
    uint64_t n = 0;

    for (size_t at; (at = str_find(text, '\n')) < text.len; n++)
        text = str_skip(text, at + 1);
    return n;
}

static void read_file(const char *path, int rounds)
{
    int64_t scan_best = INT64_MAX, load_best = INT64_MAX;
    struct err e = ERR_NONE;
    uint64_t lines = 0;
    struct buf bytes;
    struct log quiet;

    log_init_fd(&quiet, 2, LOG_ERROR, false);
    buf_init(&bytes, (size_t)4 << 30);
    if (!file_read_all(&bytes, &sys_real, path, &e))
        die(&e);
    for (int i = 0; i < rounds; i++) {
        struct counter c = { .sink = { count_record } };
        int64_t t0 = cpu_us(), t1, t2;

        lines = count_newlines(buf_str(&bytes));
        t1 = cpu_us();
        if (!reader_read_all(&sys_real, path, &quiet, &c.sink, &e))
            die(&e);
        t2 = cpu_us();
        if (c.messages + 1 != lines)
            abort();
        scan_best = t1 - t0 < scan_best ? t1 - t0 : scan_best;
        load_best = t2 - t1 < load_best ? t2 - t1 : load_best;
    }
    printf("%" PRId64 " %" PRId64 " %zu\n", scan_best, load_best, bytes.len);
    buf_release(&bytes);
}

int main(int argc, char **argv)
{
    if (argc == 4 && str_eq(str_z(argv[1]), STR("write")))
        write_file(argv[2], strtoull(argv[3], NULL, 10), traffic_mixed);
    else if (argc == 4 && str_eq(str_z(argv[1]), STR("calls")))
        write_file(argv[2], strtoull(argv[3], NULL, 10), traffic_calls);
    else if (argc == 4 && str_eq(str_z(argv[1]), STR("read")))
        read_file(argv[2], (int)strtol(argv[3], NULL, 10));
    else
        return fputs("usage: bench-load write | calls FILE MEGABYTES, or read FILE ROUNDS\n",
                     stderr),
               2;
    return 0;
}
