#include "traffic.h"

#include <stdint.h>

struct traffic {
    struct buf *to;
    uint64_t random;
    bool escaped; /* this line: \u instead of UTF-8 */
    bool in_call; /* messages belong together, and have one id */
    unsigned id;
};

static uint32_t random_below(struct traffic *t, uint32_t sides)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((t->random >> 33) % sides);
}

static void add_text(struct traffic *t, const char *text)
{
    buf_add(t->to, str_z(text));
}

static void add_word(struct traffic *t)
{
    static const char *const plain[] = {
        "the",     "request", "of",     "server", "returned", "a",        "list", "with",
        "entries", "and",     "config", "path",   "value",    "function", "is",   "not",
        "found",   "in",      "module", "error",  "line",     "import",   "test", "result",
    };
    static const char *const raw[] = { "caf\xc3\xa9", "na\xc3\xafve",
                                       "\xe6\x97\xa5\xe6\x9c\xac",
                                       "\xe2\x80\x9cquoted\xe2\x80\x9d", "\xf0\x9f\x9a\x80" };
    static const char *const escaped[] = { "caf\\u00e9", "na\\u00efve", "\\u65e5\\u672c",
                                           "\\u201cquoted\\u201d", "\\ud83d\\ude80" };

    if (random_below(t, 12))
        add_text(t, plain[random_below(t, 24)]);
    else
        add_text(t, t->escaped ? escaped[random_below(t, 5)] : raw[random_below(t, 5)]);
}

static void add_words(struct traffic *t, unsigned words)
{
    for (unsigned i = 0; i < words; i++) {
        uint32_t r = random_below(t, 40);
        add_word(t);
        add_text(t, r < 4 ? "\\n" : r == 4 ? ": \\\"" : r == 5 ? "\\\", " : " ");
    }
}

static void begin_message(struct traffic *t)
{
    t->escaped = random_below(t, 10) < 3;
    t->id += !t->in_call;
}

static void add_request(struct traffic *t)
{
    begin_message(t);
    buf_printf(
        t->to,
        "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"search_files\",\"arguments\":{\"path\":\"/home/user/project/src\",\"query\":\"",
        t->id);
    add_words(t, 4 + random_below(t, 12));
    buf_printf(t->to,
               "\",\"limit\":%u,\"recursive\":%s,\"ratio\":0.%u},\"_meta\":{\"progressToken\":"
               "%u}}}\n",
               random_below(t, 500), random_below(t, 2) ? "true" : "false",
               random_below(t, 10000), t->id);
}

static void add_progress(struct traffic *t)
{
    begin_message(t);
    buf_printf(t->to,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
               "\"progressToken\":%u,\"progress\":%u,\"total\":100,\"message\":\"",
               t->id, random_below(t, 100));
    add_words(t, 2 + random_below(t, 8));
    add_text(t, "\"}}\n");
}

static void add_text_result(struct traffic *t, unsigned words)
{
    begin_message(t);
    buf_printf(t->to,
               "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"content\":[{\"type\":\"text\","
               "\"text\":\"",
               t->id);
    add_words(t, words);
    add_text(t, "\"}],\"isError\":false}}\n");
}

static void add_tool_list(struct traffic *t)
{
    begin_message(t);
    buf_printf(t->to, "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"tools\":[", t->id);
    for (unsigned i = 0, n = 5 + random_below(t, 20); i < n; i++) {
        buf_printf(t->to, "%s{\"name\":\"tool_%u\",\"description\":\"", i ? "," : "", i);
        add_words(t, 8 + random_below(t, 20));
        add_text(t, "\",\"inputSchema\":{\"type\":\"object\",\"properties\":{");
        for (unsigned k = 0, m = 1 + random_below(t, 6); k < m; k++) {
            buf_printf(t->to, "%s\"field_%u\":{\"type\":\"%s\",\"description\":\"",
                       k ? "," : "", k, random_below(t, 2) ? "string" : "integer");
            add_words(t, 3 + random_below(t, 8));
            add_text(t, random_below(t, 3) ? "\"}" : "\",\"minimum\":0,\"maximum\":1000}");
        }
        add_text(t, "},\"required\":[\"field_0\"],\"additionalProperties\":false,"
                    "\"$schema\":\"http://json-schema.org/draft-07/schema#\"}}");
    }
    add_text(t, "]}}\n");
}

static void add_rows(struct traffic *t)
{
    begin_message(t);
    buf_printf(t->to,
               "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"structuredContent\":{\"rows\":[",
               t->id);
    for (unsigned i = 0, n = 10 + random_below(t, 60); i < n; i++) {
        buf_printf(t->to,
                   "%s{\"id\":%u,\"name\":\"user %u\",\"score\":%u.%02u,\"active\":%s,"
                   "\"parent\":null,\"tags\":[\"a%u\",\"b\"],\"lat\":-%u.%06u}",
                   i ? "," : "", random_below(t, 1000000), random_below(t, 5000),
                   random_below(t, 100), random_below(t, 100),
                   random_below(t, 2) ? "true" : "false", random_below(t, 90),
                   random_below(t, 90), random_below(t, 1000000));
    }
    add_text(t, "]},\"content\":[]}}\n");
}

static void add_image(struct traffic *t)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char chunk[1024];

    begin_message(t);
    buf_printf(t->to,
               "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"content\":[{\"type\":\"image\","
               "\"mimeType\":\"image/png\",\"data\":\"",
               t->id);
    for (unsigned i = 0; i < 1024; i++) {
        for (unsigned k = 0; k < sizeof chunk; k++)
            chunk[k] = digits[random_below(t, 64)];
        buf_add(t->to, str_n(chunk, sizeof chunk));
    }
    add_text(t, "\"}]}}\n");
}

void traffic_mixed(struct buf *to, size_t bytes)
{
    struct traffic t = { .to = to, .random = 1 };

    /* A quarter of the bytes are tool lists, a third text, a fifth rows, a fifth base64, the
     * rest small messages. */
    for (unsigned line = 0; to->len < bytes && !to->full; line++) {
        add_request(&t);
        add_progress(&t);
        if (line % 10 == 0)
            add_tool_list(&t);
        if (line % 2 == 0)
            add_text_result(&t, 100 + random_below(&t, 800));
        if (line % 5 == 1)
            add_rows(&t);
        if (line % 1200 == 600)
            add_image(&t);
    }
}

void traffic_small(struct buf *to, size_t bytes)
{
    struct traffic t = { .to = to, .random = 1 };

    while (to->len < bytes && !to->full) {
        add_request(&t);
        add_progress(&t);
        add_text_result(&t, 20 + random_below(&t, 40));
    }
}

void traffic_calls(struct buf *to, size_t bytes)
{
    struct traffic t = { .to = to, .random = 1, .in_call = true };

    /* Three quarters of the bytes are text, a fifth rows. */
    for (t.id = 1; to->len < bytes && !to->full; t.id++) {
        add_request(&t);
        add_progress(&t);
        if (t.id % 5)
            add_text_result(&t, 20 + random_below(&t, 300));
        else
            add_rows(&t);
    }
}
