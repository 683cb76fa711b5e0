#include "trace/part.h"

#include "mcp/message.h"

static const struct {
    const char *name, *about;
} texts[PART_COUNT] = {
    { "bytes", "the exact bytes of messages" },
    { "time", "times of messages" },
    { "latency", "latencies of answers" },
    { "server", "notifications and requests of the server" },
    { "pending", "requests without an answer" },
    { "batch", "batches that messages came in" },
    { "raw", "lines that are no message" },
    { "stderr", "lines of standard error" },
    { "process", "starts and ends of the server" },
    { "http", "HTTP around messages" },
    { "gap", "gaps of the recorder" },
    { "name", "the recording's name" },
    { "tags", "the recording's tags" },
    { "command", "the server's command, word by word" },
    { "redacted", "marks of redacted values" },
    { "side", "which side sent a message" },
    { "end", "how the recording ended" },
    { "order", "the order of messages of calls that overlap" },
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

static unsigned of_header(const struct record_header *h)
{
    return (h->name.at ? PART_NAME : 0u) | (h->tags.at ? PART_TAGS : 0u) |
           (h->command.at ? PART_COMMAND : 0u);
}

unsigned part_of(const struct record *r)
{
    switch (r->kind) {
    case RECORD_HEADER:
        return of_header(&r->header);
    case RECORD_MESSAGE:
        return of_message(r);
    case RECORD_RAW:
        return PART_RAW;
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
