/* bench/bench-wire.c - measures the speed of parsing request heads and events.
 *
 *     bench-wire [MEGABYTES]
 *
 * Made-up traffic (100 MB of each kind unless told) in memory, fed in pieces of 64 KB as a
 * socket gives them. Contenders take turns for five rounds; the best CPU time of each counts.
 * Every row is `name | value | unit | ratio to the baseline | target`; the baseline is a
 * newline scan of the same bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "traffic.h"
#include "wire/request-read.h"
#include "wire/sse-reader.h"

enum { ROUNDS = 5, PIECE = 64 << 10, EVENT_MAX = 64 << 20 };

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void require(bool ok)
{
    if (!ok) {
        fprintf(stderr, "bench-wire: the traffic is not read as it was written\n");
        exit(1);
    }
}

static struct str cut_piece(struct str *text)
{
    struct str piece = str_n(text->at, text->len < PIECE ? text->len : PIECE);

    *text = str_skip(*text, piece.len);
    return piece;
}

static size_t scan_newlines(struct str text)
{
    size_t n = 0;

    for (; text.len; n++)
        str_cut(&text, '\n');
    return n;
}

static size_t read_heads(struct str text)
{
    struct request_head r;
    size_t n = 0;

    request_head_init(&r);
    while (text.len) {
        struct str piece = cut_piece(&text);

        while (piece.len) {
            enum request_head_next next = request_head_feed(&r, &piece);

            require(next != REQUEST_HEAD_REJECTED);
            if (next == REQUEST_HEAD_COMPLETE) {
                request_head_clear(&r);
                n++;
            }
        }
    }
    request_head_release(&r);
    return n;
}

static size_t read_events(struct str text)
{
    struct sse_reader r;
    struct sse_item item;
    size_t n = 0;

    sse_reader_init(&r, EVENT_MAX);
    while (text.len) {
        sse_reader_feed(&r, cut_piece(&text));
        while (sse_reader_next(&r, &item) != SSE_MORE) {
            require(item.data.len > 0);
            n++;
        }
    }
    sse_reader_release(&r);
    return n;
}

/* Headers that the official SDK sends with every message. */
/* For so many sessions, one after the other. */
static size_t add_heads(struct buf *to, size_t bytes, unsigned sessions)
{
    static const char head[] = "POST /mcp HTTP/1.1\r\n"
                               "host: localhost:8080\r\n"
                               "connection: keep-alive\r\n"
                               "content-type: application/json\r\n"
                               "accept: application/json, text/event-stream\r\n"
                               "mcp-session-id: 5f0c1d9e-52f0-4a3c-9f43-0b8a6b1b2c%02x\r\n"
                               "mcp-protocol-version: 2025-11-25\r\n"
                               "accept-language: *\r\n"
                               "sec-fetch-mode: cors\r\n"
                               "user-agent: node\r\n"
                               "accept-encoding: gzip, deflate\r\n"
                               "content-length: 0\r\n"
                               "\r\n";
    size_t n = 0;

    for (; to->len < bytes; n++)
        buf_printf(to, head, (unsigned)n % sessions);
    return n;
}

static size_t add_events(struct buf *to, struct str lines)
{
    size_t n = 0;

    for (; lines.len; n++) {
        buf_add(to, STR("event: message\ndata: "));
        buf_add(to, str_cut(&lines, '\n'));
        buf_add(to, STR("\n\n"));
    }
    return n;
}

static void compare_speed(const char *name, const char *target, struct str text, size_t count,
                          size_t (*read)(struct str text))
{
    double scan = 0, ours = 0;

    for (int round = 0; round < ROUNDS; round++) {
        double start = cpu_seconds(), middle, end;

        require(scan_newlines(text) >= count);
        middle = cpu_seconds();
        require(read(text) == count);
        end = cpu_seconds();
        scan = round == 0 || middle - start < scan ? middle - start : scan;
        ours = round == 0 || end - middle < ours ? end - middle : ours;
    }
    printf("memchr newline scan of the same | %.2f | GB/s | 1.00 | baseline\n",
           (double)text.len / scan / 1e9);
    printf("%s, %zu MB, %zu B each | %.2f | GB/s | %.1f x the scan | %s\n", name,
           text.len / 1000000, text.len / count, (double)text.len / ours / 1e9, ours / scan,
           target);
}

int main(int argc, char **argv)
{
    size_t bytes = (argc > 1 ? strtoul(argv[1], NULL, 10) : 100) * 1000000;
    struct buf lines, text;
    size_t n;

    buf_init(&lines, 2 * bytes + (4 << 20));
    buf_init(&text, 4 * bytes + (4 << 20));
    n = add_heads(&text, bytes, 256);
    compare_speed("request heads", "<= 12 x", buf_str(&text), n, read_heads);
    buf_clear(&text);
    n = add_heads(&text, bytes, 1);
    compare_speed("the same request head again", "<= 12 x", buf_str(&text), n, read_heads);
    buf_clear(&text);
    traffic_mixed(&lines, bytes);
    n = add_events(&text, buf_str(&lines));
    compare_speed("events of mixed traffic", "<= 4 x", buf_str(&text), n, read_events);
    buf_clear(&text);
    buf_clear(&lines);
    traffic_small(&lines, bytes);
    n = add_events(&text, buf_str(&lines));
    compare_speed("events of small messages", "<= 4 x", buf_str(&text), n, read_events);
    buf_release(&lines);
    buf_release(&text);
    return 0;
}
