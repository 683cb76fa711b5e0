/* bench/bench-redact.c - measures the search for secrets in usual and in unusual traffic.
 *
 *     bench-redact [MEGABYTES]
 *
 * Messages in memory go through a redactor that knows 20 values, all credentials and 30
 * patterns. Kinds of traffic take turns for five rounds; the best CPU time of each counts.
 * Every row is `name | value | unit | ratio to the usual | target`. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "redact/redactor.h"
#include "traffic.h"

enum { ROUNDS = 5, VALUES = 20, PATTERNS = 30 };

struct kind {
    const char *name, *target;
    struct buf text;
    struct json *lines; /* scanned before the clock starts */
    size_t count;
    double best;     /* seconds */
    unsigned learnt; /* so many sessions are known */
};

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void require(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "bench-redact: %s\n", what);
        exit(1);
    }
}

static void add_rules(struct secret_rules *s)
{
    struct err e = ERR_NONE;
    char text[64];

    secret_rules_init(s);
    for (unsigned i = 0; i < VALUES; i++) {
        snprintf(text, sizeof text, "v%08x/%08x+%08x=%u", i * 2654435761u, i * 40503u + 7,
                 ~i * 97u, i);
        require(secret_rules_add_value(s, STR("KEY"), str_z(text), &e), e.msg);
    }
    secret_rules_add_credentials(s);
    for (unsigned i = 0; i < PATTERNS; i++) {
        snprintf(text, sizeof text, "cust%c%c-[0-9a-f]{8,32}", 'a' + i / 26, 'a' + i % 26);
        require(secret_rules_add_pattern(s, str_z(text), &e), e.msg);
    }
    require(secret_rules_seal(s, &e), e.msg);
}

/* Lines of messages that are nothing but `unit`, up to so many bytes. */
static void repeat(struct buf *to, struct str unit, size_t bytes)
{
    enum { LINE = 4000 };

    while (to->len < bytes) {
        size_t start = to->len;
        buf_add(to, STR("{\"method\":\"m\",\"params\":{\"x\":\""));
        while (to->len - start < LINE)
            buf_add(to, unit);
        buf_add(to, STR("\"}}\n"));
    }
}

static void scan(struct kind *k)
{
    struct str rest = buf_str(&k->text);
    struct json_fault fault;
    size_t cap = 0;

    while (rest.len) {
        struct str line = str_cut(&rest, '\n');
        k->lines = mem_reserve(k->lines, &cap, k->count + 1, sizeof *k->lines);
        json_init(&k->lines[k->count]);
        require(json_scan(&k->lines[k->count], line, &fault), fault.what);
        k->count++;
    }
}

static bool discard_record(struct sink *self, const struct record *r, struct err *e)
{
    (void)self;
    (void)r;
    (void)e;
    return true;
}

static void add_seen_secrets(struct seen_secrets *l, unsigned sessions)
{
    struct seen_secrets_refs g = { .values = NULL };
    char text[64];

    for (unsigned i = 0; i < sessions; i++) {
        snprintf(text, sizeof text, "%08x-%04x-4938-8271-%08x%04x", i * 2654435761u, i & 0xFFFF,
                 i * 40503u + 7, ~i & 0xFFFF);
        seen_secrets_add_session(l, &g, i + 1, str_z(text));
    }
    seen_secrets_unref(l, &g);
}

static void run(struct kind *k, const struct secret_rules *s)
{
    struct sink nowhere = { discard_record };
    struct redactor *r = mem_new(struct redactor);
    double start, took;

    redactor_init(r, s, &nowhere);
    add_seen_secrets(&r->seen, k->learnt);
    start = cpu_seconds();
    for (size_t i = 0; i < k->count; i++) {
        struct record rec = { .kind = RECORD_MESSAGE };
        struct err e = ERR_NONE;
        rec.message.msg = json_root(&k->lines[i]);
        require(r->sink.put(&r->sink, &rec, &e), e.msg);
    }
    took = cpu_seconds() - start;
    k->best = k->best == 0 || took < k->best ? took : k->best;
    redactor_release(r);
    free(r);
}

int main(int argc, char **argv)
{
    size_t bytes = (argc > 1 ? strtoul(argv[1], NULL, 10) : 20) * 1000000;
    struct kind kinds[] = {
        { .name = "mixed traffic", .target = ">= 150" },
        { .name = "small messages", .target = ">= 150" },
        { .name = "starts of every credential", .target = ">= 0.33 x" },
        { .name = "escapes in escapes", .target = ">= 0.33 x" },
        { .name = "backslashes", .target = ">= 0.33 x" },
        { .name = "starts of patterns", .target = ">= 0.33 x" },
        { .name = "nothing but secrets", .target = ">= 0.33 x" },
        { .name = "mixed, one session", .target = ">= 150", .learnt = 1 },
        { .name = "mixed, 5,000 sessions", .target = ">= 150", .learnt = 5000 },
    };
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    struct secret_rules secrets;

    add_rules(&secrets);
    for (size_t i = 0; i < KINDS; i++)
        buf_init(&kinds[i].text, 4 * bytes + (8 << 20));
    traffic_mixed(&kinds[0].text, bytes);
    traffic_small(&kinds[1].text, bytes);
    repeat(&kinds[2].text, STR(" eyJ sk- ghp_ AKIA :// bearer SG. hf_ npm_ xoxb- -----BEGIN "),
           bytes);
    repeat(&kinds[3].text, STR("%25252525252541&amp;amp;amp;quot;"), bytes);
    repeat(&kinds[4].text, STR("\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\u0041"), bytes);
    repeat(&kinds[5].text, STR("custaa-0 custab-1 custba-2 "), bytes);
    repeat(&kinds[6].text, STR("AKIAIOSFODNN7EXAMPLE "), bytes);
    traffic_mixed(&kinds[7].text, bytes);
    traffic_mixed(&kinds[8].text, bytes);
    for (size_t i = 0; i < KINDS; i++)
        scan(&kinds[i]);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < KINDS; i++)
            run(&kinds[i], &secrets);
    for (size_t i = 0; i < KINDS; i++) {
        double speed = (double)kinds[i].text.len / kinds[i].best / 1e6;
        double usual = (double)kinds[0].text.len / kinds[0].best / 1e6;
        printf("redact, %s | %.0f | MB/s | %.2f x the usual | %s\n", kinds[i].name, speed,
               speed / usual, kinds[i].target);
    }
    return 0;
}
