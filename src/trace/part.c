#include "trace/part.h"

#include "mcp/message.h"

/* What is not counted has no `many`. */
static const struct {
    const char *name, *about;
    const char *before, *one, *many;
} texts[PART_COUNT] = {
    { "bytes", "the exact bytes of messages", "the exact bytes of ", "message", "messages" },
    { "time", "times of messages", "the times of ", "message", "messages" },
    { "latency", "latencies of answers", "the latencies of ", "answer", "answers" },
    { "server", "notifications and requests of the server, and answers to them", "",
      "notification or request of the server, or answer to one",
      "notifications and requests of the server, and answers to them" },
    { "pending", "requests and answers without the other", "",
      "request or answer without the other", "requests and answers without the other" },
    { "batch", "batches that messages came in", "the batches of ", "message", "messages" },
    { "raw", "lines that are no JSON", "", "line that is no JSON", "lines that are no JSON" },
    { "stderr", "lines of standard error", "", "line of standard error",
      "lines of standard error" },
    { "process", "starts and ends of the server", "", "start or end of the server",
      "starts and ends of the server" },
    { "http", "HTTP around messages", "", "piece of HTTP around messages",
      "pieces of HTTP around messages" },
    { "gap", "gaps of the recorder", "", "gap of the recorder", "gaps of the recorder" },
    { "name", "the recording's name", "the recording's name", NULL, NULL },
    { "tags", "the recording's tags", "the recording's tags", NULL, NULL },
    { "command", "the words of the server's command", "the words of the server's command", NULL,
      NULL },
    { "redacted", "marks of redacted values", "the marks of redacted values in ", "message",
      "messages" },
    { "side", "which side sent a message", "which side sent ", "message", "messages" },
    { "end", "how the recording ended", "how the recording ended", NULL, NULL },
    { "order", "the order of messages of calls that overlap",
      "the order of what was sent during ", "call", "calls" },
    { "clock", "times to the microsecond", "the microseconds of ", "message", "messages" },
    { "conn", "which connection a message belongs to", "the connection of ", "message",
      "messages" },
    { "value", "JSON that is no message", "", "line of JSON that is no message",
      "lines of JSON that are no messages" },
    { "members", "members that the format does not know", "unknown members of ", "line",
      "lines" },
};

static size_t index_of(enum part p)
{
    size_t i = (size_t)__builtin_ctz(p);

    BUG_IF(i >= PART_COUNT || (unsigned)p != 1u << i);
    return i;
}

const char *part_name(enum part p)
{
    return texts[index_of(p)].name;
}

const char *part_about(enum part p)
{
    return texts[index_of(p)].about;
}

void part_add(struct buf *to, enum part p, uint64_t count)
{
    size_t i = index_of(p);

    buf_add(to, str_z(texts[i].before));
    if (texts[i].many)
        buf_printf(to, "%llu %s", (unsigned long long)count,
                   count == 1 ? texts[i].one : texts[i].many);
}

/* What the server starts, and what the client says to that. */
static bool is_servers(const struct record_message *m)
{
    struct arena a = { 0 };
    struct mcp_message rpc = mcp_classify(m->msg, &a);
    bool response = mcp_is_response(&rpc);

    arena_release(&a);
    return (m->dir == TO_CLIENT) != response;
}

static unsigned of_message(const struct record *r)
{
    const struct record_message *m = &r->message;
    unsigned parts = 0;

    if (r->has & (HAS_WALL | HAS_US))
        parts |= PART_TIME;
    if (r->has & HAS_US)
        parts |= PART_CLOCK;
    if (r->has & HAS_CONN)
        parts |= PART_CONN;
    if (is_servers(m))
        parts |= PART_SERVER;
    if (r->has & HAS_LATENCY)
        parts |= PART_LATENCY;
    if (m->batch.at)
        parts |= PART_BATCH;
    if (m->redacted.at)
        parts |= PART_REDACTED;
    if (m->event.at || r->has & (HAS_SESSION | HAS_EXCHANGE | HAS_STREAM | HAS_REDELIVERS))
        parts |= PART_HTTP;
    return parts;
}

bool part_is_value(struct str line)
{
    struct json_fault fault;
    struct arena a = { 0 };
    bool is = false;
    struct json j;

    json_init(&j);
    if (str_trim(line).len == line.len && str_find(line, '\n') == line.len &&
        json_scan(&j, line, &fault)) {
        enum mcp_kind kind = mcp_classify(json_root(&j), &a).kind;

        is = kind == MCP_OTHER || kind == MCP_BATCH;
    }
    json_release(&j);
    arena_release(&a);
    return is;
}

static unsigned of_header(const struct record_header *h)
{
    return (h->name.at ? PART_NAME : 0u) | (h->tags.at ? PART_TAGS : 0u) |
           (h->command.at ? PART_COMMAND : 0u);
}

static unsigned of_kind(const struct record *r)
{
    switch (r->kind) {
    case RECORD_HEADER:
        return of_header(&r->header);
    case RECORD_MESSAGE:
        return of_message(r);
    case RECORD_RAW:
        if (r->bytes.by.at)
            return PART_HTTP;
        return part_is_value(r->bytes.bytes) ? PART_VALUE : PART_RAW;
    case RECORD_STDERR:
        return PART_STDERR;
    case RECORD_PROC:
        return PART_PROCESS;
    case RECORD_HTTP_REQUEST:
    case RECORD_HTTP_RESPONSE:
    case RECORD_HTTP_END:
    case RECORD_SSE:
        return PART_HTTP;
    case RECORD_GAP:
        return PART_GAP;
    case RECORD_FOOTER:
        return PART_END;
    case RECORD_UNKNOWN:
        return 0;
    }
    BUG("unknown kind of record");
}

unsigned part_of(const struct record *r)
{
    return of_kind(r) | (r->extra.at ? PART_MEMBERS : 0u);
}
