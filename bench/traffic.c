#include "traffic.h"

#include <stdint.h>

struct traffic {
    struct buf *to;
    uint64_t random;
    bool escaped; /* this line: \u instead of UTF-8 */
    unsigned id;
};

static uint32_t roll(struct traffic *t, uint32_t sides)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((t->random >> 33) % sides);
}

static void put(struct traffic *t, const char *text)
{
    buf_add(t->to, str_z(text));
}

static void word(struct traffic *t)
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

    if (roll(t, 12))
        put(t, plain[roll(t, 24)]);
    else
        put(t, t->escaped ? escaped[roll(t, 5)] : raw[roll(t, 5)]);
}

static void prose(struct traffic *t, unsigned words)
{
    for (unsigned i = 0; i < words; i++) {
        uint32_t r = roll(t, 40);
        word(t);
        put(t, r < 4 ? "\\n" : r == 4 ? ": \\\"" : r == 5 ? "\\\", " : " ");
    }
}

static void begin(struct traffic *t)
{
    t->escaped = roll(t, 10) < 3;
    t->id++;
}

static void request(struct traffic *t)
{
    begin(t);
    buf_printf(
        t->to,
        "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"search_files\",\"arguments\":{\"path\":\"/home/user/project/src\",\"query\":\"",
        t->id);
    prose(t, 4 + roll(t, 12));
    buf_printf(t->to,
               "\",\"limit\":%u,\"recursive\":%s,\"ratio\":0.%u},\"_meta\":{\"progressToken\":"
               "%u}}}\n",
               roll(t, 500), roll(t, 2) ? "true" : "false", roll(t, 10000), t->id);
}

static void progress(struct traffic *t)
{
    begin(t);
    buf_printf(t->to,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
               "\"progressToken\":%u,\"progress\":%u,\"total\":100,\"message\":\"",
               t->id, roll(t, 100));
    prose(t, 2 + roll(t, 8));
    put(t, "\"}}\n");
}

static void text_result(struct traffic *t, unsigned words)
{
    begin(t);
    buf_printf(t->to,
               "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"content\":[{\"type\":\"text\","
               "\"text\":\"",
               t->id);
    prose(t, words);
    put(t, "\"}],\"isError\":false}}\n");
}

static void tool_list(struct traffic *t)
{
    begin(t);
    buf_printf(t->to, "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"tools\":[", t->id);
    for (unsigned i = 0, n = 5 + roll(t, 20); i < n; i++) {
        buf_printf(t->to, "%s{\"name\":\"tool_%u\",\"description\":\"", i ? "," : "", i);
        prose(t, 8 + roll(t, 20));
        put(t, "\",\"inputSchema\":{\"type\":\"object\",\"properties\":{");
        for (unsigned k = 0, m = 1 + roll(t, 6); k < m; k++) {
            buf_printf(t->to, "%s\"field_%u\":{\"type\":\"%s\",\"description\":\"",
                       k ? "," : "", k, roll(t, 2) ? "string" : "integer");
            prose(t, 3 + roll(t, 8));
            put(t, roll(t, 3) ? "\"}" : "\",\"minimum\":0,\"maximum\":1000}");
        }
        put(t, "},\"required\":[\"field_0\"],\"additionalProperties\":false,"
               "\"$schema\":\"http://json-schema.org/draft-07/schema#\"}}");
    }
    put(t, "]}}\n");
}

static void rows(struct traffic *t)
{
    begin(t);
    buf_printf(t->to,
               "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"structuredContent\":{\"rows\":[",
               t->id);
    for (unsigned i = 0, n = 10 + roll(t, 60); i < n; i++) {
        buf_printf(t->to,
                   "%s{\"id\":%u,\"name\":\"user %u\",\"score\":%u.%02u,\"active\":%s,"
                   "\"parent\":null,\"tags\":[\"a%u\",\"b\"],\"lat\":-%u.%06u}",
                   i ? "," : "", roll(t, 1000000), roll(t, 5000), roll(t, 100), roll(t, 100),
                   roll(t, 2) ? "true" : "false", roll(t, 90), roll(t, 90), roll(t, 1000000));
    }
    put(t, "]},\"content\":[]}}\n");
}

static void image(struct traffic *t)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char chunk[1024];

    begin(t);
    buf_printf(t->to,
               "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"content\":[{\"type\":\"image\","
               "\"mimeType\":\"image/png\",\"data\":\"",
               t->id);
    for (unsigned i = 0; i < 1024; i++) {
        for (unsigned k = 0; k < sizeof chunk; k++)
            chunk[k] = digits[roll(t, 64)];
        buf_add(t->to, str_n(chunk, sizeof chunk));
    }
    put(t, "\"}]}}\n");
}

void traffic_mixed(struct buf *to, size_t bytes)
{
    struct traffic t = { .to = to, .random = 1 };

    /* Of the bytes: a quarter tool lists, a third text, a fifth rows, a fifth
     * base64, the rest small messages. */
    for (unsigned line = 0; to->len < bytes && !to->full; line++) {
        request(&t);
        progress(&t);
        if (line % 10 == 0)
            tool_list(&t);
        if (line % 2 == 0)
            text_result(&t, 100 + roll(&t, 800));
        if (line % 5 == 1)
            rows(&t);
        if (line % 1200 == 600)
            image(&t);
    }
}

void traffic_small(struct buf *to, size_t bytes)
{
    struct traffic t = { .to = to, .random = 1 };

    while (to->len < bytes && !to->full) {
        request(&t);
        progress(&t);
        text_result(&t, 20 + roll(&t, 40));
    }
}
