/* bench/bench-json.c - measures the speed of scanning JSON, and that of other parsers.
 *
 *     bench-json [MEGABYTES]
 *
 * Made-up traffic (100 MB of it unless told) in memory, line by line. Contenders take turns
 * for five rounds; the best CPU time of each counts. Every row is
 * `name | value | unit | ratio to the baseline | target`; the baseline of the scanner is the
 * packaged library that checks as much as it does. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench-json-libs.h"
#include "traffic.h"
#include "json/json.h"

enum { ROUNDS = 5 };

struct json_parser {
    const char *name;
    void (*run)(struct str text);
    double best; /* seconds */
};

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void require(bool ok, struct str line)
{
    if (!ok) {
        fprintf(stderr, "bench-json: refused: %.*s\n", (int)(line.len < 200 ? line.len : 200),
                line.at);
        exit(1);
    }
}

static void run_memcpy(struct str text)
{
    static char *copy;
    static size_t cap;

    if (cap < text.len) {
        copy = realloc(copy, cap = text.len);
        require(copy != NULL, text);
        memset(copy, 1, cap);
    }
    memcpy(copy, text.at, text.len);
    require(copy[text.len - 1] == text.at[text.len - 1], text);
}

static void run_memchr(struct str text)
{
    while (text.len)
        str_cut(&text, '\n');
}

static void run_scan(struct str text)
{
    static struct json j;
    struct json_fault fault;

    while (text.len) {
        struct str line = str_cut(&text, '\n');
        require(json_scan(&j, line, &fault), line);
    }
}

static void run_rapidjson(struct str text)
{
    while (text.len) {
        struct str line = str_cut(&text, '\n');
        require(bench_rapidjson_parse(line.at, line.len), line);
    }
}

static void run_simdjson(struct str text)
{
    while (text.len) {
        struct str line = str_cut(&text, '\n');
        /* It may read a little beyond the end if the caller declares that safe. */
        require(bench_simdjson_parse(line.at, line.len, line.len + text.len), line);
    }
}

enum { MEMCPY, MEMCHR, RAPIDJSON, SIMDJSON, SCAN, CONTENDERS };

static void compare_parsers(struct json_parser *all, struct str text)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CONTENDERS; i++) {
            double start = cpu_seconds(), took;
            all[i].run(text);
            took = cpu_seconds() - start;
            all[i].best = round == 0 || took < all[i].best ? took : all[i].best;
        }
    }
}

static void report(const char *kind, struct str text)
{
    struct json_parser all[CONTENDERS] = {
        [MEMCPY] = { "memcpy", run_memcpy, 0 },
        [MEMCHR] = { "memchr newline scan", run_memchr, 0 },
        [RAPIDJSON] = { "RapidJSON DOM, UTF-8 checked, numbers as text", run_rapidjson, 0 },
        [SIMDJSON] = { "simdjson DOM", run_simdjson, 0 },
        [SCAN] = { "json_scan", run_scan, 0 },
    };

    compare_parsers(all, text);
    for (int i = 0; i < CONTENDERS; i++)
        printf("%s, %zu MB %s | %.2f | GB/s | %.2f | %s\n", all[i].name, text.len / 1000000,
               kind, (double)text.len / all[i].best / 1e9, all[RAPIDJSON].best / all[i].best,
               i == SCAN        ? ">= 1"
               : i == RAPIDJSON ? "baseline"
                                : "for comparison");
}

int main(int argc, char **argv)
{
    size_t bytes = (argc > 1 ? strtoul(argv[1], NULL, 10) : 100) * 1000000;
    struct buf text;

    buf_init(&text, 2 * bytes + (4 << 20));
    traffic_mixed(&text, bytes);
    report("mixed", buf_str(&text));
    buf_clear(&text);
    traffic_small(&text, bytes);
    report("small", buf_str(&text));
    buf_release(&text);
    return 0;
}
